"""Credentials in pins.toml (PIN119): by their shape anywhere, by their name where a value would be built into an image.

A build argument and an ENV can be read in the image's history; a fact goes into files. No value is repeated here.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from pinctl.credentials import is_secret, is_secret_name
from pinctl.manifest.shapes import Problem, named
from pinctl.model import KeyPath, Manifest
from pinctl.urls import redact

_BUILT_IN = re.compile(r"(?:[^\s:]+:)?(?:ARG|ENV) +([A-Za-z0-9_]+).*")
_MEND = "take it out; a build secret (docker build --secret) or git's credential helper holds it"


def problems(manifest: Manifest, data: Mapping[str, Any]) -> Iterator[Problem]:
    """Everything in the manifest, made of `data`, that looks like a credential."""
    yield from _shaped(data)
    for pin in manifest.pins.values():
        yield from _named(pin.facts, ("pins", pin.name, "facts"))
        yield from _named(pin.wheel.env if pin.wheel else {}, ("pins", pin.name, "wheel", "env"))
    for variant in manifest.variants.values():
        yield from _named(variant.facts, ("variants", variant.name, "facts"))
        yield from _named(variant.env, ("variants", variant.name, "env"))
    for site in manifest.all_sites:
        argument = _BUILT_IN.fullmatch(site.selector)
        if argument and is_secret_name(argument[1]):
            what = f"{argument[1]} looks like the name of a credential, and build arguments are kept in the image"
            yield Problem("PIN119", site.key, what, _MEND)


def _named(table: Mapping[str, object], key: KeyPath) -> Iterator[Problem]:
    for name in table:
        if is_secret_name(name):
            at = (*key, name)
            yield Problem("PIN119", at, f"{named(at)} looks like a credential, and would be written into files", _MEND)


def _shaped(data: Mapping[str, Any]) -> Iterator[Problem]:
    texts = list(_texts(data, ()))
    if redact(joined := "\n".join(text for _, text in texts)) == joined:  # far faster than one by one
        return
    for key, text in texts:
        if is_secret(text):
            yield Problem("PIN119", key, f"{named(key)} holds what looks like a credential", _MEND)


def _texts(value: object, key: KeyPath) -> Iterator[tuple[KeyPath, str]]:
    """Every text of the data with its key; a table's keys too."""
    if isinstance(value, str):
        yield key, value
    elif isinstance(value, dict):
        for name, item in value.items():
            yield (*key, name), name
            yield from _texts(item, (*key, name))
    elif isinstance(value, list):
        for n, item in enumerate(value):
            yield from _texts(item, (*key, n))
