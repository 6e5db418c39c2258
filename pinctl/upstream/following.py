"""What follows from a new commit: the keys of a pin that its tree settles, and those that a person decides. Pure."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from pinctl.model import Pin
from pinctl.upstream import difference, releases, versions
from pinctl.upstream.difference import Move
from pinctl.upstream.evidence import Evidence
from pinctl.upstream.forest import Forest
from pinctl.upstream.tree import Tree


class Decision(NamedTuple):
    """A list of a pin of which elements are `gone`: what took their place, if anything did, only a person can say.
    `offers` are the new elements that may have, `suggested` is the list with them in the place of what is gone."""

    key: str
    gone: tuple[str, ...]
    offers: tuple[str, ...]
    suggested: tuple[str, ...]


def moved_paths(pin: Pin, moves: Sequence[Move], after: Evidence) -> dict[str, tuple[str, ...]]:
    """`submodules` and `include_dirs` of `pin` where submodules have moved and kept their names."""
    moved = {move.was: move.path for move in moves if move.was}
    new = {
        "submodules": tuple(moved.get(path, path) for path in pin.submodules or ()),
        "include_dirs": tuple(_below(path, moved, after.forest) for path in pin.include_dirs or ()),
    }
    return {key: value for key, value in new.items() if value != (getattr(pin, key) or ())}


def _below(path: str, moved: Mapping[str, str], forest: Forest | None) -> str:
    """An include directory below a submodule that moved, where it went with it."""
    old = next((old for old in moved if path == old or path.startswith(f"{old}/")), None)
    if old is None or forest is None:
        return path
    new = moved[old] + path[len(old) :]
    return new if forest.has_folder(new) else path


def nested(pin: Pin, asked: Iterable[str], after: Evidence) -> dict[str, str]:
    """The gitlinks that pins.toml stores, and those that are `asked` for, as the new tree has them; what it lacks is
    left as it is."""
    stored = {**dict.fromkeys(asked, ""), **pin.nested}
    return {path: after.links[path] for path, commit in stored.items() if after.links.get(path, commit) != commit}


def version(pin: Pin, tag: str | None, before: Tree | None, after: Tree | None) -> str | None:
    """The version of the new commit: that of its tag where the pin's was its tag's, else the one that the file says
    which said the pin's. None where nothing that said the old one says a new one. `before` is None where the old tree
    is not to be had."""
    if pin.version is None:
        return None
    if tag and (not pin.tag or (said := releases.version_of(pin.tag)) is None or versions.agrees(pin.version, said)):
        return releases.version_of(tag, like=pin.tag)
    if after is None:
        return None
    if before is None:  # which file said it is not known, so it is the most telling one
        return next((one.version for one in versions.stated(after)), None)
    files = [one.file for one in versions.stated(before) if versions.agrees(pin.version, one.version)]
    now = {one.file: one.version for one in versions.stated(after)}
    return next((now[file] for file in files if file in now), None)


def archive(pin: Pin, commit: str, tag: str | None) -> dict[str, str]:
    """The URL and the folder of the archive of another commit: with its id, tag and version where those of the pin's
    commit stand."""
    old = (pin.commit, pin.tag, pin.tag and releases.version_of(pin.tag))
    new = (commit, tag, tag and releases.version_of(tag, like=pin.tag))
    pairs = [(a, b) for a, b in zip(old, new, strict=True) if a and b]
    return {key: _replaced(pin.archive[key], pairs) for key in ("url", "prefix") if key in pin.archive}


def _replaced(text: str, pairs: Sequence[tuple[str, str]]) -> str:
    """`text` with the first of each pair replaced by the second, the longer ones first."""
    pattern = "|".join(re.escape(old) for old, _ in sorted(pairs, key=lambda pair: -len(pair[0])))
    return re.sub(pattern, lambda match: dict(pairs)[match[0]], text) if pattern else text


def decisions(pin: Pin, moves: Sequence[Move], after: Forest) -> Iterator[Decision]:
    """The lists of `pin` that name what the new tree does not have. `after` holds the new submodules, too."""
    added = tuple(move.path for move in moves if move.before is None)
    links = after.root.gitlinks
    gone = tuple(path for path in pin.submodules or () if _outermost(path, after) not in links)
    if gone and pin.submodules:
        yield Decision("submodules", gone, added, _instead(pin.submodules, gone, added))
    lost = tuple(path for path in pin.include_dirs or () if after.has_folder(path) is False)
    if lost and pin.include_dirs:
        offered = tuple(path for module in added for path in difference.offers(after, module))
        offered = offered or _namesakes(lost, after)
        yield Decision("include_dirs", lost, offered, _instead(pin.include_dirs, lost, offered))


def _outermost(path: str, forest: Forest) -> str:
    """The submodule of the root that holds `path`, or `path` itself."""
    return next((link for link in forest.root.gitlinks if path == link or path.startswith(f"{link}/")), path)


def _namesakes(lost: Sequence[str], forest: Forest) -> tuple[str, ...]:
    """The folders that end in the last two parts of a lost one's path."""
    tails = {"/" + "/".join(path.split("/")[-2:]) for path in lost}
    every = (f"{prefix}{folder}" for prefix, tree in forest.trees for folder in tree.folders)
    return tuple(sorted(path for path in every if any(f"/{path}".endswith(tail) for tail in tails)))


def _instead(present: Sequence[str], gone: Sequence[str], new: Sequence[str]) -> tuple[str, ...]:
    """`present` with `new` where the first that is `gone` stood."""
    at = present.index(gone[0])
    kept = [path for path in present if path not in gone]
    fresh = [path for path in new if path not in kept]
    before = sum(path not in gone for path in present[:at])
    return (*kept[:before], *fresh, *kept[before:])
