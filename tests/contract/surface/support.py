"""Surfaces of trees that a test makes, and how their signatures are written down."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from upstream.support import tree

from pinctl.contract.model import Kind, Signature, Surface
from pinctl.contract.shown import parameters
from pinctl.contract.surface import Memory, read


def surface(files: Mapping[str, str | bytes], *roots: str) -> Surface:
    """The surface of a tree; of its package `pkg` where no other is named."""
    return read(tree(files), roots or ("pkg",), memory=Memory())


def told(signatures: Sequence[Signature]) -> list[str]:
    """Each signature as Python writes it, without types."""
    return [", ".join(parameters(signature)) for signature in signatures]


def typed(signature: Signature) -> list[str]:
    """Each parameter as `name: type = default`."""
    marks = {Kind.POSITIONAL: "/", Kind.KEYWORD: "*", Kind.REST: "*args", Kind.KEYWORD_REST: "**kwargs"}
    return [
        f"{marks.get(p.kind, '')}{p.name}: {p.type}" + ("" if p.default is None else f" = {p.default}")
        for p in signature.parameters
    ]
