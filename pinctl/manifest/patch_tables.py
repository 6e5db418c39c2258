"""The tables `[[pins.NAME.patches]]` of pins.toml: one added, some dropped; every other byte stays.

Tables are found by their headers, as TOML 1.0 has them ("Array of Tables"). What comes of it must read as it should,
else nothing is written: patches written in another form, such as an inline array, are left to the person.
"""

import re
import tomllib
from collections.abc import Collection, Iterator, Mapping
from copy import deepcopy
from typing import Any

from pinctl.errors import WriteRefused
from pinctl.manifest.pinsfile import Plain
from pinctl.sites.toml_edit import rendered

_HEADER = re.compile(r"[ \t]*\[")
_MULTILINE = ('"""', "'''")
_IDLE = re.compile(r"[ \t]*(#.*)?\r?\n?")


def added(text: str, pin: str, table: Mapping[str, Plain], path: str = "pins.toml") -> str:
    """`text` with one more patch of `pin`, behind all that it says of the pin. Raises WriteRefused."""
    lines = text.splitlines(keepends=True)
    headers = list(_headers(lines))
    own = [n for n, (_, key) in enumerate(headers) if key[:2] == ("pins", pin)]
    end = headers[own[-1] + 1][0] if own and own[-1] + 1 < len(headers) else len(lines)
    end = _trimmed(lines, end)
    ending = "\r\n" if "\r\n" in text else "\n"
    new = [f"[[pins.{pin}.patches]]", *(f"{name} = {rendered(value)}" for name, value in table.items())]
    before = "".join(lines[:end])
    before += "" if before.endswith("\n") or not before else ending
    result = before + ending + "".join(line + ending for line in new) + "".join(lines[end:])
    expected = _data(text)
    expected["pins"][pin].setdefault("patches", []).append(dict(table))
    return _proven(result, expected, path, "add its entry by hand")


def dropped(text: str, pin: str, numbers: Collection[int], path: str = "pins.toml") -> str:
    """`text` without the patches of `pin` that have these `numbers`, from 0. Raises WriteRefused."""
    lines = text.splitlines(keepends=True)
    headers = list(_headers(lines))
    own = [n for n, (_, key) in enumerate(headers) if key == ("pins", pin, "patches")]
    if max(numbers) >= len(own):
        raise WriteRefused(f"{path}: the patches of {pin} are in another form", hint="drop the entries by hand")
    spans = [(headers[n][0], _trimmed(lines, headers[n + 1][0] if n + 1 < len(headers) else len(lines))) for n in own]
    for start, end in reversed([spans[number] for number in sorted(numbers)]):
        del lines[start - (start > 0 and not lines[start - 1].strip()) : end]
    expected = _data(text)
    kept = [one for n, one in enumerate(expected["pins"][pin]["patches"]) if n not in numbers]
    expected["pins"][pin] |= {"patches": kept}
    if not kept:
        del expected["pins"][pin]["patches"]
    return _proven("".join(lines), expected, path, "drop the entries by hand")


def _trimmed(lines: list[str], end: int) -> int:
    """Where what ends at the line `end` does, without the empty lines and the comments that belong to what follows."""
    while end > 0 and _IDLE.fullmatch(lines[end - 1]):
        end -= 1
    return end


def _headers(lines: list[str]) -> Iterator[tuple[int, tuple[str, ...]]]:
    """The number of each line that is a header, with the key of its table."""
    within = ""
    for n, line in enumerate(lines):
        outside = not within
        for mark in _MULTILINE:
            if within in ("", mark) and line.count(mark) % 2:
                within = "" if within else mark
        if not (outside and _HEADER.match(line)):
            continue
        try:
            inner: Any = tomllib.loads(line)
        except tomllib.TOMLDecodeError:
            continue
        key: list[str] = []
        while isinstance(inner, dict) and inner:
            ((step, inner),) = inner.items()
            key.append(step)
            inner = inner[0] if isinstance(inner, list) else inner
        yield n, tuple(key)


def _data(text: str) -> dict[str, Any]:
    return deepcopy(tomllib.loads(text))


def _proven(result: str, expected: Mapping[str, Any], path: str, hint: str) -> str:
    """`result`, if it reads as what is `expected`. Raises WriteRefused."""
    try:
        same = tomllib.loads(result) == _listed(expected)
    except tomllib.TOMLDecodeError:
        same = False
    if not same:
        raise WriteRefused(f"{path} cannot be edited: its patches are written in another form", hint=hint)
    return result


def _listed(value: Any) -> Any:
    """`value` with its tuples as TOML has them."""
    if isinstance(value, Mapping):
        return {key: _listed(item) for key, item in value.items()}
    return [_listed(item) for item in value] if isinstance(value, list | tuple) else value
