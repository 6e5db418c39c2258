"""pins.toml as TOML data: the file itself, within bounds, and under it the files that it extends.

Bounds hold before a value is looked at, since a stranger may have written the file: size, depth, the range of
numbers, and what makes tomllib slow or raise something else than TOMLDecodeError.
"""

import re
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

from pinctl.codes import finding
from pinctl.errors import ManifestError
from pinctl.finding import Finding, Span
from pinctl.model import KeyPath
from pinctl.paths import path_problem, plain

if TYPE_CHECKING:
    from pinctl.sites.toml import TomlDocument

Load = Callable[[str], str]
Plain = str | bool | int | Sequence["Plain"] | Mapping[str, "Plain"]
New = Plain | None
"""What may be written at a key; None takes the key out."""

LONGEST = 256 * 1024
"""Bytes that pins.toml may have."""
DEEPEST = 8
"""Tables and arrays that may stand inside each other."""
LONGEST_KEY = 1024
"""Characters of one key."""
LONGEST_TEXT = 4096
"""Characters of one string."""
DOTS = 200
"""Dots on one line: tomllib takes quadratic time for a dotted key (66 s for 60,000 parts)."""
CHAIN = 8
"""Files that may extend each other."""

_TOLD = 20
_INT64 = range(-(2**63), 2**63)
_AT = re.compile(r" \(at line ([0-9]+), column ([0-9]+)\)$")


def position(text: str, key: KeyPath) -> Span:
    """Where `key` stands in the TOML `text`: its key, or for an array's element the element; for a key that is not
    there its nearest parent."""
    source = text.encode("utf-8", "replace")
    return Span.of(source, *_document(source).locate(key))


@lru_cache(maxsize=4)
def _document(source: bytes) -> "TomlDocument":
    from pinctl.sites.toml import parse

    return parse(source)


class Layer(NamedTuple):
    """One file: its path, its text, and what it says."""

    path: str
    text: str
    data: dict[str, Any]


def read(text: str, path: str, load: Load | None) -> list[Layer]:
    """pins.toml and the files that it extends, the nearest first.

    `load` gives the text of a file below the root, or raises ManifestError. Raises ManifestError.
    """
    layers = [Layer(path, text, toml(text, path))]
    while (name := layers[-1].data.get("extends")) is not None and isinstance(name, str):
        problem = _extends_problem(name, layers)
        if problem or load is None:
            code, message = problem or ("PIN205", "cannot be had here")
            span = position(layers[-1].text, ("extends",))
            raise ManifestError([finding(code, f"`extends`: {name!r} {message}", file=layers[-1].path, span=span)])
        base = load(name)
        layers.append(Layer(plain(name), base, toml(base, plain(name))))
    return layers


def _extends_problem(name: str, layers: Sequence[Layer]) -> tuple[str, str] | None:
    if problem := path_problem(name):
        return "PIN108", f"cannot be used: {problem}"
    if plain(name) in [layer.path for layer in layers]:
        return "PIN103", "extends itself in a circle"
    return ("PIN117", f"is one file too many; {CHAIN} may extend each other") if len(layers) == CHAIN else None


def merged(layers: Sequence[Layer]) -> dict[str, Any]:
    """What the layers say together: tables merge key by key, and the nearer file wins."""
    data = layers[-1].data
    for layer in reversed(layers[:-1]):
        data = _merge(layer.data, data)
    return data


def _merge(ours: dict[str, Any], base: dict[str, Any]) -> dict[str, Any]:
    result = base | ours
    for key in ours.keys() & base.keys():
        if isinstance(ours[key], dict) and isinstance(base[key], dict):
            result[key] = _merge(ours[key], base[key])
    return result


def toml(text: str, path: str) -> dict[str, Any]:
    """What the TOML file `path` says. Raises ManifestError: PIN101 it is no TOML, PIN117 it is out of bounds."""
    if problem := _unreadable(text):
        code, message, line = problem
        raise ManifestError([_at_line(path, code, message, line)])
    try:
        data = tomllib.loads(text.removeprefix("\ufeff"))
    except tomllib.TOMLDecodeError as error:
        raise ManifestError([_syntax(str(error), text, path)]) from None
    except RecursionError:
        raise ManifestError([_at_line(path, "PIN117", "it nests too deep", 1)]) from None
    except ValueError:
        # Python reads integers of at most 4,300 digits (sys.set_int_max_str_digits).
        raise ManifestError([_at_line(path, "PIN117", "it holds too long a number", 1)]) from None
    excesses = list(islice(_excesses(data, ()), _TOLD))
    if excesses:
        found = [finding("PIN117", message, file=path, span=position(text, key)) for key, message in excesses]
        raise ManifestError(found)
    return data


def _at_line(path: str, code: str, message: str, line: int) -> Finding:
    return finding(code, f"{path}: {message}", file=path, span=Span(line=line))


def _unreadable(text: str) -> tuple[str, str, int] | None:
    """Why `text` is not read at all: code, message and line."""
    try:
        size = len(text.encode())
    except UnicodeEncodeError as error:
        return "PIN101", "not UTF-8 text", text.count("\n", 0, error.start) + 1
    if size > LONGEST:
        return "PIN117", f"it has more than {LONGEST // 1024} KiB", 1
    for number, line in enumerate(text.split("\n"), 1):
        if line.count(".") > DOTS:
            return "PIN117", f"line {number} holds more than {DOTS} dots; break it up", number
    return None


def _syntax(message: str, text: str, path: str) -> Finding:
    at = _AT.search(message)
    line, column = (int(at[1]), int(at[2])) if at else (text.count("\n") + 1, 1)
    what = message[: at.start()] if at else message.removesuffix(" (at end of document)")
    return finding("PIN101", f"not TOML: {what[:200]}", file=path, span=Span(line=line, column=column))


def _excesses(value: Any, key: KeyPath) -> Iterator[tuple[KeyPath, str]]:
    """Keys below `key` where something is out of bounds, each with what it is."""
    if isinstance(value, str):
        if len(value) > LONGEST_TEXT:
            yield key, f"a text has at most {LONGEST_TEXT:,} characters"
    elif isinstance(value, int):
        if value not in _INT64:
            yield key, "an integer has 64 bits (TOML 1.0, Integer)"
    elif isinstance(value, dict | list):
        if len(key) > DEEPEST:
            yield key, f"tables and arrays stand more than {DEEPEST} deep in each other"
            return
        for step, item in value.items() if isinstance(value, dict) else enumerate(value):
            if isinstance(step, str) and len(step) > LONGEST_KEY:
                yield key, f"a key has at most {LONGEST_KEY:,} characters"
            else:
                yield from _excesses(item, (*key, step))
