"""New values in the text of pins.toml: the bytes of those values change, and every other byte stays.

tomllib reads values; the TOML site language knows their places. Where the two read the file differently, nothing is
written.
"""

from collections.abc import Iterator, Mapping
from copy import deepcopy
from itertools import chain
from typing import Any

from pinctl.codes import finding
from pinctl.errors import ManifestError, WriteRefused
from pinctl.manifest.pinsfile import position, toml
from pinctl.manifest.shapes import named
from pinctl.model import KeyPath
from pinctl.plan import Edit, apply
from pinctl.sites.base import Unwritable, Value
from pinctl.sites.toml import TomlDocument, parse
from pinctl.sites.toml_edit import rendered

Changes = Mapping[KeyPath, Value | bool]

_NOTHING = object()


def edit(text: str, changes: Changes, path: str) -> str:
    """See `manifest.edit`."""
    data = toml(text, path)
    source = text.encode()
    document = parse(source)
    if (key := _disagreement(document, data, ())) is not None:
        raise _refusal(text, key, path)
    try:
        source = apply(source, chain.from_iterable(_replacing(document, data, *change) for change in changes.items()))
        for key, value in changes.items():
            source = _added(source, key, value, path)
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


def _replacing(document: TomlDocument, data: Any, key: KeyPath, value: Value | bool) -> Iterator[Edit]:
    """The edits that put `value` in the place of the value at `key`; none where there is none, or it is the same."""
    old = _at(data, key)
    if old is _NOTHING or old == _plain(value):
        return
    slot = document.slot_at(key)
    if slot is None:
        raise Unwritable(f"the place of {named(key)} is not known")
    if not isinstance(value, bool) and isinstance(old, str if isinstance(value, str) else list):
        yield from document.edits(slot, value)
    else:
        yield Edit(slot.start, slot.end, rendered(value).encode())


def _added(source: bytes, key: KeyPath, value: Value | bool, path: str) -> bytes:
    """`source` with `key = value` in the nearest table that exists, if the key does not."""
    data = toml(source.decode(), path)
    if _at(data, key) is not _NOTHING:
        return source
    depth = max(n for n in range(len(key)) if isinstance(_at(data, key[:n]), dict))
    new: object = value
    for step in reversed(key[depth + 1 :]):
        new = {step: new}
    return apply(source, [parse(source).insert(key[:depth], str(key[depth]), new)])


def _changed(data: dict[str, Any], changes: Changes) -> dict[str, Any]:
    """`data` as it must read with `changes` made."""
    result = deepcopy(data)
    for key, value in changes.items():
        table: Any = result
        for step in key[:-1]:
            table = table.setdefault(step, {}) if isinstance(table, dict) else table[step]
        table[key[-1]] = _plain(value)
    return result


def _plain(value: Value | bool) -> object:
    return list(value) if isinstance(value, tuple) else value


def _at(data: Any, key: KeyPath) -> Any:
    for step in key:
        try:
            data = data[step]
        except (LookupError, TypeError):
            return _NOTHING
    return data
