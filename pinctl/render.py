"""Recipes: Jinja2 templates that render a block or a whole file from a pin.

A recipe sees plain data only, in a sandbox without globals. It writes every value through a filter of the language
that it renders, so that a hostile value stays one literal there. A recipe of the consumer's own can still loop or
fill the memory, so it is rendered in a child process with limits: `python -P -m pinctl.render` reads
`{"template", "context"}` as JSON and writes `{"text"}` or `{"message", "line"}`.
"""

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from posixpath import dirname, relpath
from typing import TYPE_CHECKING, TextIO

from pinctl import facts, template
from pinctl.model import Manifest, Pin
from pinctl.patches.conditions import of_source
from pinctl.quoting import FILTERS, RecipeError

if TYPE_CHECKING:
    from jinja2 import Template

__all__ = ["LONGEST_OUTPUT", "LONGEST_RECIPE", "RecipeError", "context", "plain", "render"]

LONGEST_RECIPE = 64 * 1024
"""Bytes of UTF-8 that a recipe may have."""
LONGEST_OUTPUT = 1024 * 1024
"""Bytes of UTF-8 that a recipe may render."""

_DEEPEST = 16
_NAME = "recipe"
_PIN_FIELDS = (
    "name",
    "repo",
    "commit",
    "tag",
    "track",
    "version",
    "packages",
    "url",
    "sha256",
    "image",
    "digest",
    "submodules",
    "recursive",
    "lfs",
    "include_dirs",
    "header_globs",
    "archive",
    "nested",
    "system_packages",
    "facts",
    "patches",
    "contract",
)
# C0, DEL, C1, the line and paragraph separators, bidirectional overrides (CVE-2021-42574), lone surrogates
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def context(
    pin: Pin | None, manifest: Manifest, options: Mapping[str, object] | None = None, *, file: str = ""
) -> dict[str, object]:
    """What a recipe may see, as plain data: `pin` (none for a file of no single pin), `pins`, `variants`, `options`,
    and `root`, the way from the folder of `file` back to the folder of pins.toml ("" or "../../").

    Strings in `options` are templates as at a site. Raises RecipeError for a value with control characters, which
    no language holds safely, and for an option that names an unknown or unresolved fact.
    """
    up = relpath(".", dirname(file) or ".")
    return {
        "pin": None if pin is None else _pin(pin, manifest),
        "pins": {name: _pin(other, manifest) for name, other in manifest.pins.items()},
        "variants": {name: plain(variant, f"variants.{name}") for name, variant in manifest.variants.items()},
        "options": _evaluated(plain(options or {}, "options"), "options", pin, manifest),
        "root": "" if up == "." else f"{up}/",
    }


def _pin(pin: Pin, manifest: Manifest) -> dict[str, object]:
    """The facts of `pin`; `archive` holds an archive pin's own url and digest too, `source_patches` the files of the
    diffs that every build of the pinned version has."""
    known = {name: plain(getattr(pin, name), f"pins.{pin.name}.{name}") for name in _PIN_FIELDS}
    known["source_patches"] = plain(of_source(pin), f"pins.{pin.name}.patches")
    archive = dict(pin.archive)
    for name in ("url", "sha256"):
        try:
            value = facts.lookup((f"archive_{name}",), None, pin, manifest)
        except facts.FactError:
            continue
        if isinstance(value, facts.Fact) and isinstance(value.value, str):
            archive[name] = value.value
    return {**known, "archive": plain(archive, f"pins.{pin.name}.archive")}


def _evaluated(value: object, where: str, pin: Pin | None, manifest: Manifest) -> object:
    """`value` with every string taken as a template."""
    if isinstance(value, dict):
        return {key: _evaluated(item, f"{where}.{key}", pin, manifest) for key, item in value.items()}
    if isinstance(value, list):
        return [_evaluated(item, where, pin, manifest) for item in value]
    if not isinstance(value, str):
        return value
    try:
        expected = template.evaluate(template.parse(value), pin, manifest)
    except (facts.FactError, template.TemplateError) as error:
        raise RecipeError(f"{where}: {error}") from None
    if not isinstance(expected, template.Expected):
        raise RecipeError(f"{where}: {value} has several parts; name one fact")
    if not expected.resolved:
        raise RecipeError(f"{where}: {value} is unresolved; write its full value into pins.toml")
    return plain(expected.value, where)


def plain(value: object, where: str = "context", depth: int = 0) -> object:
    """A copy of `value` made of dict, list, str, int, float, bool and None alone (TOML's dates become text).

    Raises RecipeError for control characters, for objects that are no data and for data nested too deep; `where` names
    the value there.
    """
    if depth > _DEEPEST:
        raise RecipeError(f"{where} is nested too deep")
    if isinstance(value, str):
        if _CONTROL.search(value):
            raise RecipeError(f"{where} holds a control character, which cannot be written safely")
        return str(value)
    if value is None or isinstance(value, bool | int | float):
        return value
    if isinstance(value, tuple) and hasattr(value, "_asdict"):  # a record of the model
        value = value._asdict()
    if isinstance(value, list | tuple):
        return [plain(item, f"{where}[{n}]", depth + 1) for n, item in enumerate(value)]
    if isinstance(value, Mapping):
        return {str(plain(key, where)): plain(item, f"{where}.{key}", depth + 1) for key, item in value.items()}
    if type(value).__module__ == "datetime":
        return str(value)
    raise RecipeError(f"{where} is no plain data")


def render(template_text: str, context: Mapping[str, object]) -> str:
    """What the recipe `template_text` renders in `context`: with LF line ends, and as pure as its inputs.

    Raises RecipeError. Safe for any recipe as to what it can reach; how long it takes, and how much memory, is
    bounded only for a recipe that does not mean ill.
    """
    from jinja2 import TemplateError
    from jinja2.exceptions import TemplateSyntaxError

    if len(template_text.encode("utf-8", "surrogatepass")) > LONGEST_RECIPE:
        raise RecipeError(f"a recipe has at most {LONGEST_RECIPE // 1024} KiB")
    data = plain(context)
    assert isinstance(data, dict)  # noqa: S101 - a mapping stays one
    try:
        return _bounded(_compiled(template_text).generate(data))
    except RecipeError as error:
        raise RecipeError(str(error), error.line or _line(error)) from None
    except TemplateSyntaxError as error:
        raise RecipeError(str(error.message), error.lineno) from None
    except TemplateError as error:
        raise RecipeError(str(error.message), _line(error)) from None
    except MemoryError:
        raise RecipeError("the recipe needs too much memory") from None
    except Exception as error:  # whatever the recipe's expressions do wrong is the recipe's fault
        raise RecipeError(f"{type(error).__name__}: {error}", _line(error)) from None


def _bounded(pieces: Iterator[str]) -> str:
    text, size = [], 0
    for piece in pieces:
        size += len(piece.encode())
        if size > LONGEST_OUTPUT:
            raise RecipeError(f"a recipe renders at most {LONGEST_OUTPUT // 1024} KiB")
        text.append(piece)
    return "".join(text)


def _line(error: BaseException) -> int | None:
    """The recipe's line where `error` came up: Jinja2 maps the frames of a template back to its source."""
    line, trace = None, error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == "<template>":
            line = trace.tb_lineno
        trace = trace.tb_next
    return line


@lru_cache(maxsize=16)
def _compiled(text: str) -> "Template":
    """The recipe `text`, compiled once for all the pins that it renders. Raises jinja2.TemplateError."""
    from jinja2 import DictLoader, StrictUndefined
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    environment = ImmutableSandboxedEnvironment(
        undefined=StrictUndefined,
        loader=DictLoader({_NAME: text}),
        keep_trailing_newline=True,
        trim_blocks=True,
        lstrip_blocks=True,
        autoescape=False,  # no HTML: the filters quote, language by language
    )
    environment.globals.clear()
    environment.filters.update(FILTERS)
    return environment.get_template(_NAME)


def _answer(request: Mapping[str, object]) -> dict[str, object]:
    """The child's answer to one request: `text`, or `message` and `line`."""
    text, data = request.get("template"), request.get("context")
    if not isinstance(text, str) or not isinstance(data, Mapping):
        return {"message": "a request holds `template` and `context`", "line": None}
    try:
        return {"text": render(text, data)}
    except RecipeError as error:
        return {"message": str(error), "line": error.line}


def main(stdin: TextIO, stdout: TextIO) -> None:
    """The child process: one JSON request in, one JSON answer out."""
    import json

    json.dump(_answer(json.load(stdin)), stdout)


if __name__ == "__main__":
    import sys

    main(sys.stdin, sys.stdout)
