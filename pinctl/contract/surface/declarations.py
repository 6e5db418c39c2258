"""The parameters of C++ functions, where a source declares or defines them."""

import re
from collections.abc import Collection, Iterable, Iterator, Sequence

from pinctl.contract.surface.cpp_signature import merged, parameters
from pinctl.contract.surface.cpp_text import Refused, Source
from pinctl.contract.surface.facts import Act, Declaration, Entry

MOST = 2000
"""Places of one name that are looked at."""

_AFTER = re.compile(r"\s*(?:(?:(?:const|noexcept|override|final|mutable)\b|&&?)\s*)*(?:->[^;{}()]{1,200})?\s*([{;])")
_BEFORE = re.compile(r"(?:[\w>&*\]]|::)\s*$")
_QUALIFIER = re.compile(r"(?:\w+\s*::\s*)+$")
_WINDOW = 200
_OPENER = re.compile(r"\s*(\()")
_WORD = re.compile(r"(\w+)\s*$")
_NO_TYPE = frozenset("return else new throw co_return co_await co_yield case goto delete and or not do".split())


def declared(source: bytes, names: Collection[str]) -> list[Declaration]:
    """The functions of `source` whose last name is one of `names`."""
    try:
        return list(_declared(Source(source), names))
    except Refused:
        return []


def mentions(source: bytes, names: Iterable[str]) -> list[str]:
    """Those of `names` that `source` has somewhere."""
    return [name for name in names if name.encode() in source]


def _declared(source: Source, names: Collection[str]) -> Iterator[Declaration]:
    for name in sorted(names):
        for at, opener in _calls(source.code, name):
            closer = source.closers.get(opener)
            after = _AFTER.match(source.code, closer + 1) if closer is not None else None
            if closer is None or after is None:
                continue
            qualifier = _QUALIFIER.search(source.code, max(at - _WINDOW, 0), at)
            held = re.sub(r"\s+", "", qualifier[0]).removesuffix("::") if qualifier else ""
            if _is_typed(source.code, qualifier.start() if qualifier else at):
                full = "::".join(filter(None, (source.scope(opener), held, name)))
                member = bool(held) or source.in_class(opener)
                yield Declaration(full, parameters(source, opener + 1, closer), after[1] == "{", member)


def _calls(code: str, name: str) -> Iterator[tuple[int, int]]:
    """Where `name` stands as a whole word before a parenthesis, and the parenthesis."""
    at = code.find(name)
    for _ in range(MOST):
        if at < 0:
            return
        if (match := _OPENER.match(code, at + len(name))) and not _WORD.match(code, max(at - 1, 0), at):
            yield at, match.start(1)
        at = code.find(name, at + 1)


def _is_typed(code: str, at: int) -> bool:
    """Whether a type stands before a function's name, as it does in a declaration and not in a call."""
    window = code[max(at - 100, 0) : at]
    if not _BEFORE.search(window):
        return False
    word = _WORD.search(window)
    return not (word and word[1] in _NO_TYPE)


def fill(source: Source, entries: Sequence[Entry]) -> Iterator[Entry]:
    """`entries` with the parameters of the functions that the source itself declares."""
    wanted = {entry.source.rpartition("::")[2] for entry in entries if wants(entry)}
    found = list(_declared(source, wanted))
    return (complete(entry, found) if wants(entry) else entry for entry in entries)


def wants(entry: Entry) -> bool:
    """Whether the declaration of its function would say more of an entry: its parameters, or their types."""
    if entry.act not in (Act.DEF, Act.METHOD) or not entry.source:
        return False
    return entry.signature is None or not any(p.type for p in entry.signature.parameters)


def complete(entry: Entry, found: Sequence[Declaration]) -> Entry:
    """`entry` with the parameters of its function, where `found` tells them apart from others of that name."""
    known = best(entry.source, entry.space, found)
    if known is None:
        return entry
    binding = entry.signature.parameters if entry.signature else None
    method = entry.act is Act.METHOD and not known.member
    return entry._replace(signature=merged(binding, known.parameters, method=method))


def best(name: str, space: str, found: Sequence[Declaration]) -> Declaration | None:
    """The function that `name` means within the namespaces `space`: the nearest that it may name; None where several
    that are equally near differ in what they take."""
    parts = space.split("::") if space else []
    for size in range(len(parts), -1, -1):
        full = "::".join((*parts[:size], name))
        if same := [d for d in found if d.name == full]:
            return _only(same)
    leaf = name.rpartition("::")[2]
    return _only(
        [d for d in found if d.name == name or d.name.endswith(f"::{name}")]
        or [d for d in found if d.name.rpartition("::")[2] == leaf]
    )


def _only(same: Sequence[Declaration]) -> Declaration | None:
    defined = [d for d in same if d.body] or same
    shapes = {tuple((p.type, p.kind) for p in d.parameters) for d in defined}
    return defined[0] if len(shapes) == 1 else None
