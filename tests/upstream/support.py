"""Trees of tests, made of a mapping from paths to texts."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence

from pinctl.upstream.forest import Forest
from pinctl.upstream.tree import Entry, Tree

COMMIT = "c0" * 20


def blob(content: bytes) -> str:
    return hashlib.sha1(content, usedforsecurity=False).hexdigest()


class Repository:
    """The blobs of a tree; `asked` are the batches in which they were read."""

    def __init__(
        self, files: Mapping[str, str | bytes], links: Mapping[str, str] | None = None,
        gitlinks: Mapping[str, str] | None = None,
    ) -> None:  # fmt: skip
        contents = {path: text.encode() if isinstance(text, str) else text for path, text in files.items()}
        targets = {path: target.encode() for path, target in (links or {}).items()}
        self.blobs = {blob(content): content for content in (*contents.values(), *targets.values())}
        self.asked: list[list[str]] = []
        entries = [Entry(path, "100644", blob(content)) for path, content in contents.items()]
        entries += [Entry(path, "120000", blob(content)) for path, content in targets.items()]
        entries += [Entry(path, "160000", id_) for path, id_ in (gitlinks or {}).items()]
        self.tree = Tree.of(COMMIT, sorted(entries), self.read)

    def read(self, ids: Sequence[str], limit: int) -> dict[str, bytes]:
        self.asked.append(list(ids))
        return {id_: self.blobs[id_] for id_ in ids if len(self.blobs[id_]) <= limit}


def tree(
    files: Mapping[str, str | bytes], links: Mapping[str, str] | None = None, gitlinks: Mapping[str, str] | None = None
) -> Tree:
    return Repository(files, links, gitlinks).tree


def forest(files: Mapping[str, str | bytes], **modules: Mapping[str, str | bytes] | None) -> Forest:
    """A forest; the keyword `third_party` is the submodule `third-party`, None one whose tree could not be had."""
    paths = {name.replace("_", "-"): inner for name, inner in modules.items()}
    root = tree(files, gitlinks=dict.fromkeys(paths, COMMIT))
    return Forest(root, {path: None if inner is None else tree(inner) for path, inner in paths.items()})
