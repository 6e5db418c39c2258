"""Edits held against a tree: what each finds in the files that it is made to."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import groupby
from typing import NamedTuple

from pinctl.anchors.model import Action, Anchor, Edit, Kind, Path, State
from pinctl.upstream.forest import Forest

_MOST_FILES = 500
"""Files that one glob is followed to."""
_TELLING = 8
"""Characters without white space of a text that, where it is found, says that an edit was made already."""
_ODD = re.compile(rb"[\x0b\x1c-\x1f\x80-\xff]")
"""What classes such as `\\s` differ on."""
_PYTHON = (Kind.PYTHON_REPLACE, Kind.PYTHON_REGEX)
_UNFETCHED = "the tree was not fetched"


def wanted(edits: Sequence[Edit], forest: Forest) -> list[str]:
    """The files of `forest` that `judge` reads, so that they can be fetched with others."""
    files = (
        file for edit in edits if edit.action or edit.patch for path in edit.paths for file in _files(forest, path)
    )
    return list(dict.fromkeys(files))


def judge(edits: Sequence[Edit], forest: Forest | None) -> list[Anchor]:
    """What each edit is at the commit of `forest`, one anchor for each path, of a patch one for all; None: of a tree
    that could not be had. Raises ExternalError."""
    if forest is None:
        return [Anchor(edit, path.path, State.UNKNOWN, None, _UNFETCHED)
                for edit in edits for path in edit.paths or (Path(""),)]  # fmt: skip
    texts = _Texts(forest.read(wanted(edits, forest)), {})
    found = [_anchor(edit, path, forest, texts) for edit in edits if edit.kind is not Kind.PATCH for path in edit.paths]
    found += _patches([edit for edit in edits if edit.kind is Kind.PATCH], forest, texts.blobs)
    return sorted(found, key=lambda anchor: (anchor.edit.file, anchor.edit.span.line))


def _patches(edits: Sequence[Edit], forest: Forest, blobs: Mapping[str, bytes]) -> Iterator[Anchor]:
    """The patches of each build file."""
    if edits:
        from pinctl.anchors import patching

        for _, group in groupby(edits, key=lambda edit: edit.file):
            yield from patching.judge(list(group), forest, blobs)


class _Texts(NamedTuple):
    """The files of the tree, and what edits have made of them, by build file, flow and path; None: it is not known."""

    blobs: dict[str, bytes]
    edited: dict[tuple[str, int, str], bytes | None]


def _files(forest: Forest, path: Path) -> list[str]:
    if path.glob is None:
        return [path.path] if forest.id(path.path) else []
    return sorted(forest.glob(path.path, recursive=path.glob))[:_MOST_FILES]


def _anchor(edit: Edit, path: Path, forest: Forest, texts: _Texts) -> Anchor:
    make = partial(Anchor, edit, path.path)
    files = _files(forest, path)
    if not files:
        return _without(path, forest, make)
    if edit.action is None:
        texts.edited.update({(edit.file, edit.flow, file): None for file in files})
        return make(State.UNKNOWN, None, edit.why)
    seen = [_seen(edit, edit.action, file, texts) for file in files]
    matches = sum(one.matches or 0 for one in seen)
    replaced = any(one.replaced for one in seen) and all(one.replaced or not one.matches for one in seen)
    if matches or replaced:
        return make(State.REPLACED if replaced else State.MATCHES, matches)
    why = next((one.why for one in seen if one.why), "")
    return make(State.UNKNOWN, None, why) if why else make(State.MISSING, 0)


def _without(path: Path, forest: Forest, make: Callable[..., Anchor]) -> Anchor:
    """What to say of a path at which no file is."""
    there = forest.has(path.path) if path.glob is None else None
    if there or forest.unknown(path.path):
        return make(State.UNKNOWN, None, "it is not known which file is edited" if there else _UNFETCHED)
    return make(State.GONE)


class _Seen(NamedTuple):
    """What an edit finds in one file; `why` it cannot be told."""

    matches: int = 0
    replaced: bool = False
    why: str = ""


def _seen(edit: Edit, action: Action, file: str, texts: _Texts) -> _Seen:
    """What an edit finds in a file: as earlier edits have made it, or as it was, for it may be another branch of the
    build that they stand in."""
    blob = texts.blobs.get(file)
    if blob is None:
        return _Seen(why="the file is too large")
    if edit.kind in _PYTHON:  # universal newlines
        blob = blob.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    key = (edit.file, edit.flow, file)
    now = texts.edited.get(key, blob)
    if action.ascii_alone and _ODD.search(blob):
        texts.edited[key] = None
        return _Seen(why="its pattern may mean another thing in a text that is not ASCII")
    texts.edited[key] = None if now is None else action.apply(now)
    matches = (action.count(now) if now is not None else 0) or action.count(blob)
    replaced = _is_there(action, blob) if now in (None, blob) or not matches else False
    if not matches and not replaced and now is None:
        return _Seen(why="an earlier edit cannot be told")
    return _Seen(matches, replaced)


def _is_there(action: Action, text: bytes) -> bool:
    """Whether a text holds what the edit would write, and nothing else that the edit finds."""
    new = action.new
    if new is None or len(b"".join(new.split())) < _TELLING or new not in text:
        return False
    return action.inserts or action.count(b"\0".join(text.split(new))) == 0
