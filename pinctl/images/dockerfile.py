"""A consumer's Docker file, held against the build arguments that it gets.

- an argument that no ARG takes reaches nothing (PIN672)
- an ARG that names what git checks out, and which is given nothing, has a full commit id for its default: the cached
  layer of a branch stays when the branch moves (PIN223)
- no ARG and no ENV has the name of a credential, none has one for its value (PIN119); the value is not repeated
"""

from collections.abc import Collection, Iterator
from typing import NamedTuple

from pinctl.codes import finding
from pinctl.commits import is_full, is_short
from pinctl.credentials import is_secret, is_secret_name
from pinctl.finding import Finding, Severity, Span
from pinctl.manifest.imaging import REFERENCE
from pinctl.sites.dockerfile_lines import Instruction, instructions
from pinctl.sites.dockerfile_words import assignments

_PREDEFINED = frozenset(
    name
    for base in ("HTTP_PROXY", "HTTPS_PROXY", "FTP_PROXY", "NO_PROXY", "ALL_PROXY")
    for name in (base, base.lower())
)
"""Arguments that every Docker file has (Dockerfile reference, "Predefined ARGs")."""
_SHORTEST = 7


class Variable(NamedTuple):
    """A name that ARG or ENV gives a value; None: none, or one that is no literal."""

    keyword: str
    name: str
    value: str | None
    span: Span


def variables(source: bytes) -> Iterator[Variable]:
    """Every variable of the Docker file, in order."""
    escape, found = instructions(source)
    for instruction in found:
        if instruction.keyword in ("ARG", "ENV"):
            yield from _of(instruction, escape, source)


def _of(instruction: Instruction, escape: bytes, source: bytes) -> Iterator[Variable]:
    span = Span.of(source, *instruction.span(0, len(instruction.text)))
    keyword, text = instruction.keyword, instruction.text
    for name, word in assignments(text, escape, old_form=keyword == "ENV"):
        yield Variable(keyword, name, word.value, span)
    if keyword == "ARG":
        yield from (Variable(keyword, w.decode(), None, span) for w in text.split() if w.isascii() and b"=" not in w)


def judge(source: bytes, file: str, given: Collection[str]) -> Iterator[Finding]:
    """What is wrong with the Docker file `file` for a build that gives it the arguments `given`."""
    found = list(variables(source))
    declared = {variable.name for variable in found if variable.keyword == "ARG"}
    for name in sorted(set(given) - declared - _PREDEFINED):
        yield finding("PIN672", f"{file} has no ARG {name}: what pins.toml says of it reaches nothing", file=file,
                      hint=f"write: ARG {name}")  # fmt: skip
    for variable in found:
        yield from _secret(variable, file)
        if variable.keyword == "ARG" and variable.name not in given:
            yield from _moving(variable, file)


def _secret(variable: Variable, file: str) -> Iterator[Finding]:
    hint = f"mount it as a build secret: RUN --mount=type=secret,id={variable.name.lower()} ..."
    what = f"{variable.keyword} {variable.name}"
    if variable.value is not None and is_secret(variable.value):
        yield finding("PIN119", f"{what} holds what looks like a credential: whoever has the image reads it", file=file,
                      span=variable.span, hint=hint)  # fmt: skip
    elif is_secret_name(variable.name):
        yield finding("PIN119", f"{what} has the name of a credential: whoever has the image reads it", file=file,
                      span=variable.span, hint=hint)  # fmt: skip


def _moving(variable: Variable, file: str) -> Iterator[Finding]:
    value = variable.value
    if not value or not REFERENCE.fullmatch(variable.name) or is_full(value):
        return
    short = is_short(value) and len(value) >= _SHORTEST
    what = "an abbreviated commit id" if short else "no commit id"
    yield finding("PIN223", f"ARG {variable.name} is {what}: the cached layer stays when what it names moves",
                  file=file, span=variable.span, severity=Severity.WARNING if short else None,
                  hint=f'give it the commit: [images.NAME.args] {variable.name} = "{{pins.NAME.commit}}"')  # fmt: skip
