"""The filters of recipes: how a value is written in the language that a recipe renders, and checks of values.

A quoting filter gives one literal that its language reads back as the very value, neither expanded nor split; where
the language has no such literal it refuses. Values with control characters do not come this far (`render.plain`).
"""

import re
import shlex
from collections.abc import Callable, Iterable, Mapping
from keyword import iskeyword
from typing import Any

from pinctl.credentials import is_secret, is_secret_name
from pinctl.errors import PinctlError
from pinctl.patches.shell import apply_patches
from pinctl.paths import path_problem


class RecipeError(PinctlError):
    """A recipe cannot be rendered; `line` is the recipe's, from 1, where it is known."""

    exit_code = 3

    def __init__(self, message: str, line: int | None = None) -> None:
        super().__init__(message)
        self.line = line


def _text(value: object) -> str:
    """A scalar as text. Raises RecipeError for anything else: a list where one value is meant, a missing value."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise RecipeError(f"one text or number is needed here, not {value!r}")
    return str(value)


_CMAKE_PLAIN = re.compile(r"[^\\\"$@;]*")
_CMAKE_UNSAFE = re.compile(r"[\\\"$@;<>\[\]]")
_CMAKE_BRACKETS = re.compile(r"\[[^\[\]]*\]")


def cmake(value: object) -> str:
    """A CMake argument: quoted, or a bracket argument where a quoted one would be expanded or split.

    cmake-language(7): nothing is evaluated in a bracket argument, and the first bracket of its own length closes it;
    so the length is chosen on the value together with its closer (`]` at the end of the value may begin one).
    """
    text = _text(value)
    if _CMAKE_PLAIN.fullmatch(text):
        return f'"{text}"'
    length = 0
    while (closer := f"]{'=' * length}]") in (text + closer)[:-1]:
        length += 1
    return f"[{'=' * length}[{text}{closer}"


def cmake_item(value: object) -> str:
    """A CMake argument that FetchContent or a list hands on: these evaluate and split it again, so a value that this
    would change is refused (an unbalanced bracket, too, keeps CMake from splitting a list)."""
    text = _text(value)
    if unsafe := _CMAKE_UNSAFE.search(_CMAKE_BRACKETS.sub("", text)):
        raise RecipeError(f"`{unsafe[0]}` in `{text}` would not survive CMake's lists")
    return f'"{text}"'


def cmake_name(value: object) -> str:
    """A name that may begin a CMake variable's: what `${...}` reads without escapes (cmake-language(7))."""
    return _matching(value, r"[A-Za-z0-9_.+-]+", "cannot be part of a CMake variable's name")


def identifier(value: object) -> str:
    """`value` as an identifier of most languages: what is no letter or digit becomes `_`."""
    name = re.sub(r"[^A-Za-z0-9_]", "_", _text(value))
    return f"_{name}" if not name or name[0].isdigit() else name


def bash(value: object) -> str:
    """A word of a POSIX shell, quoted where it must be."""
    return shlex.quote(_text(value))


def python(value: object) -> str:
    """A Python string literal in ASCII, with double quotes unless the value holds quotes."""
    text = _text(value)
    literal = ascii(text)
    return literal if "'" in text or '"' in text else f'"{literal[1:-1]}"'


def python_name(value: object) -> str:
    """A name that a Python module may assign to."""
    name = _matching(value, r"[A-Za-z_][A-Za-z0-9_]*", "is no Python name")
    if iskeyword(name):
        raise RecipeError(f"`{name}` is a keyword of Python")
    return name


def docker(value: object) -> str:
    """A default for ARG or ENV, in double quotes. What Docker would expand or unescape is refused, and so is a
    credential: build arguments stay readable in the image (`docker history`)."""
    text = _text(value)
    if unsafe := re.search(r"[\"\\`$]", text):
        raise RecipeError(f"`{unsafe[0]}` cannot stand in a Dockerfile's ARG")
    if is_secret(text):
        raise RecipeError("a credential would stay readable in the image; use a secret mount")
    return f'"{text}"'


def docker_arg(value: object) -> str:
    """The name of a build argument. One that looks like a credential's is refused: whoever has the image reads it."""
    name = _matching(value, r"[A-Za-z_][A-Za-z0-9_]*", "is no name of a build argument")
    if is_secret_name(name):
        raise RecipeError(f"`{name}` looks like a credential, readable to all who have the image; use a secret mount")
    return name


def package(value: object) -> str:
    """A system package's name. An option, or apt's `name-` (which removes a package), is refused."""
    return _matching(value, r"[A-Za-z0-9](?:[A-Za-z0-9+._:~=@/-]*[A-Za-z0-9+])?", "is no package name")


def packages(pins: Iterable[Mapping[str, Any]], manager: str, when: str) -> list[str]:
    """The names under `manager` of the system packages that `pins` need to "build", to "run" or for "all", sorted.

    Raises RecipeError for a need that has no name under it: it would be missing silently.
    """
    if when not in ("build", "run", "all"):
        raise RecipeError('`when` is "build", "run" or "all"')
    names = set()
    for need in (need for pin in pins for need in pin["system_packages"]):
        if when in ("all", need["when"]) or need["when"] == "both":
            if manager not in need["managers"]:
                raise RecipeError(f"`{need['name']}` has no name under {manager}")
            names.add(need["managers"][manager])
    return sorted(names)


def inside(value: object) -> str:
    """A path below the source, which no tool takes for an option (`-fplugin=x.so`)."""
    text = _text(value)
    if problem := path_problem(text):
        raise RecipeError(f"the path `{text}` cannot be used: {problem}")
    return text


def commit(value: object) -> str:
    """A full commit id."""
    if value is None:
        raise RecipeError("the pin has no commit yet; write its full id into pins.toml")
    return _matching(value, r"[0-9a-f]{40}|[0-9a-f]{64}", "is no full commit id")


def digest(value: object) -> str:
    """A sha256 in hex, in lower case."""
    return _matching(str(value).lower(), r"[0-9a-f]{64}", "is no sha256")


def number(value: object) -> str:
    """A whole number from 1, for shell arithmetic."""
    return _matching(value, r"[1-9][0-9]{0,8}", "is no whole number from 1")


def _matching(value: object, pattern: str, complaint: str) -> str:
    text = _text(value)
    if not re.fullmatch(pattern, text):
        raise RecipeError(f"`{text}` {complaint}")
    return text


def need(value: object, fact: str) -> object:
    """`value`, or a RecipeError that names the fact which the pin must declare for this recipe."""
    if value is None:
        raise RecipeError(f"this recipe needs the pin's `{fact}`")
    return value


def fail(message: object) -> str:
    """Stops the recipe with `message`."""
    raise RecipeError(_text(message))


def with_defaults(options: Mapping[str, object], **defaults: object) -> dict[str, object]:
    """The recipe's options with its defaults. An option that it does not have, or of another type than its default,
    is refused."""
    for name, value in options.items():
        if name not in defaults:
            from difflib import get_close_matches

            likely = get_close_matches(name, list(defaults), n=1)
            hint = f"; did you mean `{likely[0]}`?" if likely else ""
            raise RecipeError(f"the recipe has no option `{name}`{hint}")
        if defaults[name] is not None and type(value) is not type(defaults[name]):
            raise RecipeError(f"option `{name}` is a {type(defaults[name]).__name__}, not {value!r}")
    return {**defaults, **options}


FILTERS: Mapping[str, Callable[..., object]] = {
    f.__name__: f
    for f in (
        cmake,
        cmake_item,
        cmake_name,
        identifier,
        bash,
        python,
        python_name,
        docker,
        docker_arg,
        package,
        packages,
        inside,
        commit,
        digest,
        number,
        need,
        fail,
        with_defaults,
        apply_patches,
    )
}
"""By the name that recipes use."""
