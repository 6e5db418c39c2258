"""Templates: what must stand at a site, said in the words of pins.toml.

`{fact}` and `{fact:codec}` are placeholders; `{pins.x.fact}`, `{variants.x.fact}` and `{facts.x}` reach further;
`${...}` is literal, and so is a brace written twice. A list inside text maps over its elements. `{git}` and
`{archive}` are compounds: several parts that one call of the site's language holds together.
"""

import re
from collections.abc import Mapping
from enum import StrEnum
from typing import NamedTuple

from pinctl import facts
from pinctl.facts import FactError, UnstoredError
from pinctl.model import Manifest, Pin
from pinctl.sites.base import Value


class TemplateError(Exception):
    """A template is malformed; `offset` counts characters from its start."""

    def __init__(self, message: str, offset: int) -> None:
        super().__init__(message)
        self.offset = offset


class Placeholder(NamedTuple):
    """`{path:codec}`; `path` is split at its dots."""

    path: tuple[str, ...]
    codec: str | None = None

    def __str__(self) -> str:
        return "{" + ".".join(self.path) + (f":{self.codec}" if self.codec else "") + "}"


class Template(NamedTuple):
    text: str
    parts: tuple[str | Placeholder, ...]

    @property
    def placeholders(self) -> tuple[Placeholder, ...]:
        return tuple(p for p in self.parts if isinstance(p, Placeholder))

    @property
    def alone(self) -> Placeholder | None:
        """The placeholder, if the template is nothing but one."""
        return self.parts[0] if len(self.parts) == 1 and isinstance(self.parts[0], Placeholder) else None


class Kind(StrEnum):
    """How two values of a fact are compared."""

    TEXT = "text"
    REPO = "repo"
    COMMIT = "commit"


class Expected(NamedTuple):
    """What a slot must hold.

    `full` is the whole commit id of which `value` may be a prefix; `resolved` is False for an id known only short.
    `facts` are the key paths below the pin, or from the top, that the value was made of.
    """

    value: Value
    kind: Kind = Kind.TEXT
    full: str | None = None
    resolved: bool = True
    facts: tuple[tuple[str, ...], ...] = ()


Compound = Mapping[str, Expected]
"""Expected values by part: repo, ref, submodules; url, hash."""

_TOKEN = re.compile(
    r"(?P<shell>\$\{[^{}]*\})|(?P<brace>\{\{|\}\})"
    r"|\{(?P<path>[A-Za-z_][A-Za-z0-9_-]*(?:\.[A-Za-z0-9_-]+)*)(?::(?P<codec>[^{}\s]+))?\}|(?P<bad>\{)"
)


def parse(text: str) -> Template:
    """The template that `text` says. Raises TemplateError."""
    parts: list[str | Placeholder] = []
    literal, at = "", 0
    for match in _TOKEN.finditer(text):
        literal += text[at : match.start()]
        at = match.end()
        if match["bad"]:
            raise TemplateError("`{` opens no placeholder; write `{{` for a brace", match.start())
        if match["path"] is None:
            literal += match["shell"] or match[0][0]
            continue
        if literal:
            parts.append(literal)
        parts.append(Placeholder(tuple(match["path"].split(".")), match["codec"]))
        literal = ""
    literal += text[at:]
    if literal or not parts:
        parts.append(literal)
    return Template(text, tuple(parts))


def problems(template: Template, pin_name: str | None, manifest: Manifest) -> list[tuple[str, str]]:
    """What is wrong with `template` at a site of pin `pin_name`: pairs of a finding code and a message. A gitlink that
    is not stored yet is told where it is asked for, and no fault of pins.toml."""
    pin = manifest.pins.get(pin_name) if pin_name else None
    found = []
    for placeholder in template.placeholders:
        try:
            value = facts.lookup(placeholder.path, placeholder.codec, pin, manifest)
        except UnstoredError:
            continue
        except FactError as error:
            found.append((error.code, str(error)))
        else:
            if not isinstance(value, facts.Fact) and template.alone is None:
                found.append(("PIN111", f"{placeholder} has several parts and cannot stand inside text"))
    lists = [p for p in template.placeholders if p.path[-1] in facts.LISTS or p.path[0] == "system_packages"]
    if len(lists) > 1:
        found.append(("PIN111", "a template maps over one list only"))
    return found


def evaluate(template: Template, pin: Pin | None, manifest: Manifest) -> Expected | Compound:
    """What a site with `template` must hold. Raises FactError for what `problems` reports, and UnstoredError."""
    values = {p: facts.lookup(p.path, p.codec, pin, manifest) for p in template.placeholders}
    if template.alone is not None:
        value = values[template.alone]
        if not isinstance(value, facts.Fact):
            return {part: _expected(fact) for part, fact in value.items()}
        return _expected(value)
    return _text(template, {p: v for p, v in values.items() if isinstance(v, facts.Fact)})


def _expected(fact: facts.Fact) -> Expected:
    return Expected(value=fact.value, kind=Kind(fact.kind), full=fact.full, resolved=fact.resolved, facts=(fact.key,))


def _text(template: Template, values: Mapping[Placeholder, facts.Fact]) -> Expected:
    many = next((p for p, fact in values.items() if not isinstance(fact.value, str)), None)

    def text(element: str = "") -> str:
        return "".join(
            part if isinstance(part, str) else element if part == many else str(values[part].value)
            for part in template.parts
        )

    value: Value = text() if many is None else tuple(text(element) for element in values[many].value)
    return Expected(
        value=value,
        resolved=all(f.resolved for f in values.values()),
        facts=tuple(f.key for f in values.values()),
    )


def invert(template: Template, found: str) -> str | None:
    """The text of the one placeholder of `template` where the whole reads `found`; None where they do not fit."""
    if len(template.placeholders) != 1:
        return None
    at = next(n for n, part in enumerate(template.parts) if isinstance(part, Placeholder))
    before, after = "".join(map(str, template.parts[:at])), "".join(map(str, template.parts[at + 1 :]))
    if not (found.startswith(before) and found.endswith(after) and len(found) >= len(before) + len(after)):
        return None
    return found[len(before) : len(found) - len(after)]
