"""Named tuples as plain data and back, by their annotations: what JSON holds of them is lists."""

import types
import typing
from collections.abc import Callable, Mapping
from enum import StrEnum
from functools import cache
from typing import Any

Decode = Callable[[Any], Any]


@cache
def decoder(kind: Any) -> Decode:
    """What makes a value of the type `kind` of plain data: a named tuple, a StrEnum, `str`, `int`, `bool`, an optional
    or union of these, a tuple or a mapping of these. It raises TypeError or ValueError where the data has another
    shape."""
    origin, inner = typing.get_origin(kind), typing.get_args(kind)
    if origin in (typing.Union, types.UnionType):
        return _union([part for part in inner if part is not type(None)], optional=type(None) in inner)
    if origin is tuple:
        return _sequence(lambda: decoder(inner[0]))
    if origin is not None and issubclass(origin, Mapping):
        return _mapping(decoder(inner[0]), decoder(inner[1]))
    if issubclass(kind, tuple):
        return _record(kind)
    return kind if issubclass(kind, StrEnum) else _scalar(kind)


def _scalar(kind: type) -> Decode:
    def decode(value: Any) -> Any:
        if type(value) is not kind:
            raise TypeError(f"{value!r} is no {kind.__name__}")
        return value

    return decode


def _union(kinds: list[Any], *, optional: bool) -> Decode:
    if len(kinds) != 1 or not optional:
        raise TypeError("only optional types are known")
    inner = decoder(kinds[0])
    return lambda value: None if value is None else inner(value)


def _sequence(element: Callable[[], Decode]) -> Decode:
    """`element` is asked late, since a record may hold records of its own kind."""

    def decode(value: Any) -> Any:
        if type(value) is not list:
            raise TypeError("a list is wanted")
        return tuple(map(element(), value)) if value else ()

    return decode


def _mapping(key: Decode, item: Decode) -> Decode:
    def decode(value: Any) -> Any:
        if type(value) is not dict:
            raise TypeError("a mapping is wanted")
        return {key(k): item(v) for k, v in value.items()}

    return decode


def _record(kind: Any) -> Decode:
    hints = typing.get_type_hints(kind)
    fields: list[Decode] = []

    def decode(value: Any) -> Any:
        if not fields:
            fields.extend(decoder(hints[name]) for name in kind._fields)
        if type(value) is not list or len(value) != len(fields):
            raise TypeError(f"no {kind.__name__}")
        return kind(*[one(part) for one, part in zip(fields, value, strict=True)])

    return decode
