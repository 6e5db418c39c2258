"""New values in the text of pins.toml: the bytes of those values change, and every other byte stays.

tomllib reads values; the TOML site language knows their places. Where the two read the file differently, nothing is
written.
"""

from collections.abc import Iterable, Mapping, Sequence
from copy import deepcopy
from typing import Any

from pinctl.codes import finding
from pinctl.errors import ManifestError, WriteRefused
from pinctl.manifest.pinsfile import New, Plain, position, toml
from pinctl.manifest.shapes import named
from pinctl.model import KeyPath
from pinctl.plan import Edit, apply
from pinctl.sites.base import Unwritable
from pinctl.sites.toml import TomlDocument, parse
from pinctl.sites.toml_edit import key_removal, rendered

Changes = Mapping[KeyPath, New]

_NOTHING = object()


def edit(text: str, changes: Changes, path: str) -> str:
    """See `manifest.edit`."""
    data = toml(text, path)
    source = text.encode()
    document = parse(source)
    if (key := _disagreement(document, data, ())) is not None:
        raise _refusal(text, key, path)
    try:
        for key, value in changes.items():
            source = _with(source, key, value, path)
    except Unwritable as error:
        raise WriteRefused(f"{path} cannot be edited: {error}", hint="change it by hand") from error
    result = source.decode()
    if toml(result, path) != _changed(data, changes):
        raise _refusal(text, next(iter(changes)), path)
    return result


def _disagreement(document: TomlDocument, value: Any, key: KeyPath) -> KeyPath | None:
    """The first text that the TOML site reads as another than `value` says, which tomllib read."""
    if isinstance(value, str):
        slot = document.slot_at(key)
        # A key too long to be a selector has no slot; whether it is written right is proved afterwards.
        return key if slot is not None and slot.value != value else None
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    found = (_disagreement(document, item, (*key, step)) for step, item in items)
    return next((at for at in found if at is not None), None)


def _refusal(text: str, key: KeyPath, path: str) -> ManifestError:
    what = f"two TOML parsers read {named(key)} differently, so nothing is written"
    hint = "write the tables one after the other, each key once and under its own header"
    return ManifestError([finding("PIN116", what, file=path, span=position(text, key), hint=hint)])


def _with(source: bytes, key: KeyPath, value: New, path: str) -> bytes:
    """`source` with `value` at `key`. Raises Unwritable."""
    old = _at(toml(source.decode(), path), key)
    if value is None:
        return source if old is _NOTHING else _without(source, key, path)
    if old is _NOTHING:
        return _added(source, key, value, path)
    if isinstance(old, dict) and isinstance(value, Mapping):
        for step, item in (*value.items(), *((gone, None) for gone in old.keys() - value.keys())):
            source = _with(source, (*key, step), item, path)
        return source
    return source if _is_same(old, value) else apply(source, _replacing(parse(source), old, key, value))


def _without(source: bytes, key: KeyPath, path: str) -> bytes:
    """`source` without `key`, which is there. A table that only its keys wrote (dotted ones, or headers below it)
    is written as an empty one when it has lost the last of them."""
    if not isinstance(key[-1], str):
        raise Unwritable(f"{named(key)} is an element of an array, which is written as a whole")
    document = parse(source)
    source = apply(source, key_removal(document.reading, source, key))
    table = key[:-1]
    return _with(source, table, {}, path) if _at(toml(source.decode(), path), table) is _NOTHING else source


def _replacing(document: TomlDocument, old: Any, key: KeyPath, value: Plain) -> Iterable[Edit]:
    """The edits that put `value` in the place of `old`, which stands at `key`."""
    slot = document.slot_at(key)
    if slot is None:
        raise Unwritable(f"the place of {named(key)} is not known")
    if isinstance(value, str) and isinstance(old, str):
        return document.edits(slot, value)
    if isinstance(old, list) and isinstance(value, Sequence) and not isinstance(value, str):
        texts = tuple(item for item in value if isinstance(item, str))
        if len(texts) == len(value):
            return document.edits(slot, texts)
    return [Edit(slot.start, slot.end, rendered(value).encode())]


def _added(source: bytes, key: KeyPath, value: Plain, path: str) -> bytes:
    """`source` with `key = value` in the nearest table that exists; a table is an inline one."""
    data = toml(source.decode(), path)
    depth = max(n for n in range(len(key)) if isinstance(_at(data, key[:n]), dict))
    new: object = value
    for step in reversed(key[depth + 1 :]):
        new = {step: new}
    return apply(source, [parse(source).insert(key[:depth], str(key[depth]), new)])


def _changed(data: dict[str, Any], changes: Changes) -> dict[str, Any]:
    """`data` as it must read with `changes` made."""
    result = deepcopy(data)
    for key, value in changes.items():
        if value is None and _at(result, key) is _NOTHING:
            continue
        table: Any = result
        for step in key[:-1]:
            table = table.setdefault(step, {}) if isinstance(table, dict) else table[step]
        if value is None:
            del table[key[-1]]
        else:
            table[key[-1]] = _plain(value)
    return result


def _plain(value: Plain) -> object:
    """`value` as tomllib reads it."""
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_plain(item) for item in value]
    return value


def _is_same(old: Any, value: Plain) -> bool:
    """Whether `old`, which tomllib read, is `value`; `true` is not 1."""
    return isinstance(old, bool) == isinstance(value, bool) and bool(old == _plain(value))


def _at(data: Any, key: KeyPath) -> Any:
    for step in key:
        try:
            data = data[step]
        except (LookupError, TypeError):
            return _NOTHING
    return data
