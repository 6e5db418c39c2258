"""Shapes: what a value of a TOML document may be, as small combinators. Each checks a value and gives its JSON Schema.

A check reports every problem that it meets and returns what is left when the bad parts are taken out, or ABSENT:
the checks after it can then go on, and a person sees all problems at once.

Patterns are matched as a whole. They keep to what ECMA-262 and Python's `re` read alike: no `.`, `\\d`, `\\w`, `\\s`.
"""

import re
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any, Final, NamedTuple

from pinctl.model import KeyPath

Json = dict[str, Any]

ABSENT: Final = object()
"""What a check returns for a value of which nothing can be used."""


class Problem(NamedTuple):
    """Something wrong with the value at `key`; `related` is a second place that the message talks about."""

    code: str
    key: KeyPath
    message: str
    hint: str | None = None
    related: KeyPath | None = None


Report = Callable[[Problem], object]


class Shape:
    """What a value may be. `wanted` says it in a message: "expected WANTED"."""

    wanted = "a value"

    def takes(self, value: object) -> bool:
        """Whether `value` is of this shape's kind, so that its problems are worth telling in this shape's words."""
        raise NotImplementedError

    def check(self, value: object, key: KeyPath, report: Report) -> Any:
        """What is usable of `value`, which stands at `key`; ABSENT if nothing is."""
        raise NotImplementedError

    def json_schema(self) -> Json:
        """JSON Schema 2020-12 that accepts what `check` accepts without a report."""
        raise NotImplementedError


class Str(Shape):
    """A string that is not empty; `pattern` is what the whole of it must match."""

    def __init__(self, wanted: str = "a string", pattern: str | None = None, *, empty: bool = False) -> None:
        self.wanted, self.empty = wanted, empty
        self.pattern = None if pattern is None else anchored(pattern)

    def takes(self, value: object) -> bool:
        return isinstance(value, str)

    def fits(self, text: str) -> bool:
        return bool(text or self.empty) and (self.pattern is None or re.match(self.pattern, text) is not None)

    def check(self, value: object, key: KeyPath, report: Report) -> Any:
        if not isinstance(value, str):
            quotable = isinstance(value, int | float) and not isinstance(value, bool)
            return _refuse(self, value, key, report, f'write it in quotes: "{value}"' if quotable else None)
        return value if self.fits(value) else _refuse(self, value, key, report)

    def json_schema(self) -> Json:
        least: Json = {} if self.empty else {"minLength": 1}
        return {"type": "string"} | least | ({"pattern": self.pattern} if self.pattern else {})


class Broken(NamedTuple):
    """A rule that a text breaks: the finding's code, a clause that says what is wrong, and what mends it."""

    code: str
    clause: str
    hint: str | None = None


class Ruled(Str):
    """A string held to a rule that no JSON Schema can say. The text is kept all the same."""

    def __init__(self, wanted: str, rule: Callable[[str], Broken | None]) -> None:
        super().__init__(wanted)
        self.rule = rule

    def check(self, value: object, key: KeyPath, report: Report) -> Any:
        text = super().check(value, key, report)
        if text is not ABSENT and (broken := self.rule(text)):
            report(Problem(broken.code, key, f"{named(key)}: {broken.clause}", broken.hint))
        return text


def anchored(pattern: str) -> str:
    """`pattern` as one that matches whole strings wherever it is searched for. Python's `$` also matches before a last
    newline, ECMA-262's does not: hence the lookahead."""
    return f"^(?:{pattern})$(?!\\n)"


class Choice(Shape):
    """One of some words."""

    def __init__(self, *words: str) -> None:
        self.words = words
        self.wanted = " or ".join(f'"{word}"' for word in words)

    def takes(self, value: object) -> bool:
        return isinstance(value, str)

    def check(self, value: object, key: KeyPath, report: Report) -> Any:
        if value in self.words:
            return value
        hint = likely(value, self.words, 0.8) if isinstance(value, str) else None
        return _refuse(self, value, key, report, hint)

    def json_schema(self) -> Json:
        return {"enum": list(self.words)}


class Bool(Shape):
    wanted = "true or false"

    def takes(self, value: object) -> bool:
        return isinstance(value, bool)

    def check(self, value: object, key: KeyPath, report: Report) -> Any:
        return value if isinstance(value, bool) else _refuse(self, value, key, report)

    def json_schema(self) -> Json:
        return {"type": "boolean"}


class Int(Shape):
    """A whole number of at least `least`. As in JSON Schema, 1.0 is one."""

    def __init__(self, least: int = 0) -> None:
        self.least = least
        self.wanted = f"a whole number of {least} or more"

    def takes(self, value: object) -> bool:
        if isinstance(value, float):
            return value.is_integer()
        return isinstance(value, int) and not isinstance(value, bool)

    def check(self, value: object, key: KeyPath, report: Report) -> Any:
        if self.takes(value) and isinstance(value, int | float) and value >= self.least:
            return int(value)
        return _refuse(self, value, key, report)

    def json_schema(self) -> Json:
        return {"type": "integer", "minimum": self.least}


class Number(Shape):
    """A number of 0 or more."""

    wanted = "a number of 0 or more"

    def takes(self, value: object) -> bool:
        return isinstance(value, int | float) and not isinstance(value, bool)

    def check(self, value: object, key: KeyPath, report: Report) -> Any:
        if self.takes(value) and isinstance(value, int | float) and 0 <= value < float("inf"):
            return value
        return _refuse(self, value, key, report)

    def json_schema(self) -> Json:
        return {"type": "number", "minimum": 0}


class List(Shape):
    """An array. What is left of it keeps its length: a bad element leaves ABSENT, so that later ones keep their key."""

    def __init__(self, item: Shape, *, unique: bool = False, least: int = 0) -> None:
        self.item, self.unique, self.least = item, unique, least
        self.wanted = "an array of tables" if isinstance(item, Table) else f"an array, each {item.wanted}"

    def takes(self, value: object) -> bool:
        return isinstance(value, list)

    def check(self, value: object, key: KeyPath, report: Report) -> Any:
        if not isinstance(value, list):
            return _refuse(self, value, key, report, f'write an array: ["{value}"]' if isinstance(value, str) else None)
        if len(value) < self.least:
            return _refuse(self, value, key, report)
        if self.unique:
            _report_twins(value, key, report)
        return [self.item.check(item, (*key, n), report) for n, item in enumerate(value)]

    def json_schema(self) -> Json:
        bounds = ({"minItems": self.least} if self.least else {}) | ({"uniqueItems": True} if self.unique else {})
        return {"type": "array", "items": self.item.json_schema()} | bounds


class Map(Shape):
    """A table with keys of the user's own. `key` is what they must be, `least` how many there are at least."""

    def __init__(self, key: Str, value: Shape, *, least: int = 0, wanted: str = "a table") -> None:
        self.key, self.value, self.least, self.wanted = key, value, least, wanted

    def takes(self, value: object) -> bool:
        return isinstance(value, dict)

    def check(self, value: object, key: KeyPath, report: Report) -> Any:
        if not isinstance(value, dict):
            return _refuse(self, value, key, report)
        if len(value) < self.least:
            report(Problem("PIN103", key, f"{named(key)} is empty"))
        kept = {}
        for name, item in value.items():
            at = (*key, name)
            left = self.value.check(item, at, report)
            if self.key.check(name, at, report) is not ABSENT and left is not ABSENT:
                kept[name] = left
        return kept

    def json_schema(self) -> Json:
        names = {k: v for k, v in self.key.json_schema().items() if k != "type"}
        bounds = ({"propertyNames": names} if names else {}) | ({"minProperties": self.least} if self.least else {})
        return {"type": "object", "additionalProperties": self.value.json_schema()} | bounds


class Field(NamedTuple):
    """A key of a table: what it holds, and what a person should know of it."""

    shape: Shape
    doc: str
    required: bool = False


class Table(Shape):
    """A table with fixed keys. `rest` is the shape of any others (with `least` of them); None refuses them."""

    wanted = "a table"

    def __init__(self, fields: Mapping[str, Field], *, rest: Shape | None = None, least: int = 0) -> None:
        self.fields, self.rest = fields, rest
        self.required = tuple(name for name, field in fields.items() if field.required)
        self.least = len(self.required) + least

    def takes(self, value: object) -> bool:
        return isinstance(value, dict) and all(name in value for name in self.required)

    def check(self, value: object, key: KeyPath, report: Report) -> Any:
        if not isinstance(value, dict):
            return _refuse(self, value, key, report)
        kept = {}
        for name, item in value.items():
            shape = self.fields[name].shape if name in self.fields else self.rest
            if shape is None:
                hint = likely(name, self.fields) or f"known here: {', '.join(self.fields)}"
                report(Problem("PIN102", (*key, name), f"unknown key `{name}`{_within(key)}", hint))
            elif (left := shape.check(item, (*key, name), report)) is not ABSENT:
                kept[name] = left
        for name in self.required:
            if name not in value:
                missing = f"the key `{name}` is missing{_within(key)}"
                report(Problem("PIN104", (*key, name), missing, f"it holds {self.fields[name].doc}"))
        if all(name in value for name in self.required) and len(value) < self.least:
            report(Problem("PIN104", key, f"{named(key)} holds nothing but `{', '.join(self.required)}`"))
        return kept if all(name in kept for name in self.required) else ABSENT

    def json_schema(self) -> Json:
        fields = {name: {"description": f.doc} | f.shape.json_schema() for name, f in self.fields.items()}
        rest = self.rest.json_schema() if self.rest else False
        schema: Json = {"type": "object", "properties": fields, "additionalProperties": rest}
        schema |= {"required": list(self.required)} if self.required else {}
        return schema | ({"minProperties": self.least} if self.least > len(self.required) else {})


class OneOf(Shape):
    """One of several shapes, of which no value fits two: the first that takes a value checks it."""

    def __init__(self, wanted: str, *shapes: Shape, hint: str | None = None) -> None:
        self.wanted, self.shapes, self.hint = wanted, shapes, hint

    def takes(self, value: object) -> bool:
        return any(shape.takes(value) for shape in self.shapes)

    def check(self, value: object, key: KeyPath, report: Report) -> Any:
        for shape in self.shapes:
            if shape.takes(value):
                return shape.check(value, key, report)
        return _refuse(self, value, key, report, self.hint)

    def json_schema(self) -> Json:
        return {"oneOf": [shape.json_schema() for shape in self.shapes]}


class Exactly(Shape):
    """One number alone; another is a problem with the code `code`."""

    def __init__(self, number: int, code: str, hint: str) -> None:
        self.number, self.code, self.hint = number, code, hint
        self.wanted = str(number)

    def takes(self, value: object) -> bool:
        return value == self.number and not isinstance(value, bool)

    def check(self, value: object, key: KeyPath, report: Report) -> Any:
        if self.takes(value):
            return value
        if Int().takes(value):
            report(Problem(self.code, key, f"{named(key)} is {value}, and this pinctl knows {self.number}", self.hint))
            return ABSENT
        return _refuse(self, value, key, report)

    def json_schema(self) -> Json:
        return {"const": self.number}


def present(items: Iterable[Any]) -> tuple[Any, ...]:
    """`items` without those that a check took out."""
    return tuple(item for item in items if item is not ABSENT)


def likely(word: str, words: Collection[str], least: float = 0.6) -> str | None:
    """A hint that names the word of `words` that was probably meant: one that is alike to the degree `least`."""
    from difflib import get_close_matches

    close = get_close_matches(word, list(words), n=1, cutoff=least)
    return f"did you mean `{close[0]}`?" if close else None


def dotted(key: KeyPath) -> str:
    """`key` as a person writes it: `pins.x.sites."a/b.sh".REF`, `sites[0].file`."""
    text = ""
    for step in key:
        if isinstance(step, int):
            text += f"[{step}]"
        else:
            bare = re.fullmatch(r"[A-Za-z0-9_-]+", step)
            text += ("." if text else "") + (step if bare else f'"{step}"')
    return text


def shown(value: object) -> str:
    """A value as a message shows it: its kind, or a short string itself."""
    if isinstance(value, str):
        return f"{value if len(value) <= 60 else value[:57] + '...'!r}"
    kinds = {bool: "a boolean", int: "a number", float: "a number", list: "an array", dict: "a table"}
    return kinds.get(type(value), "a date or time")


def _report_twins(items: list[object], key: KeyPath, report: Report) -> None:
    seen = set()
    for n, item in enumerate(items):
        if isinstance(item, str) and item in seen:
            report(Problem("PIN103", (*key, n), f"{named(key)} holds {shown(item)} twice"))
        seen.add(item if isinstance(item, str) else None)


def named(key: KeyPath) -> str:
    """`key` for a message."""
    return f"`{dotted(key)}`"


def _within(key: KeyPath) -> str:
    return f" in {named(key)}" if key else ""


def _refuse(shape: Shape, value: object, key: KeyPath, report: Report, hint: str | None = None) -> object:
    report(Problem("PIN103", key, f"{named(key)}: expected {shape.wanted}, found {shown(value)}", hint))
    return ABSENT
