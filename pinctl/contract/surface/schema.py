"""The schema strings of torch operators: `name(Tensor a, int b=1, *, bool c=False) -> Tensor`.

The grammar is that of PyTorch's aten/src/ATen/native/README.md; a `*` begins what is given by keyword alone.
"""

import re
from typing import NamedTuple

from pinctl.contract.model import Kind, Parameter, Signature
from pinctl.contract.surface.spelling import cpp_type, pieces, python_default

_HEAD = re.compile(r"\s*(?:([\w.]+)::)?(\w+)(?:\.(\w+))?\s*")
_ARGUMENT = re.compile(r"(?P<type>\S.*?)\s+(?P<name>\w+)\s*(?:=\s*(?P<default>.*))?", re.DOTALL)
_ALIAS = re.compile(r"\([^()]*\)|!|\s+(?=\?)")
"""What says of a tensor that it is written to, `(a!)` or `!`, and blanks before a `?`."""


class Schema(NamedTuple):
    """A schema: `namespace` is None where the string gives none, `signature` where it is a name alone."""

    namespace: str | None
    name: str
    signature: Signature | None


def parse(text: str) -> Schema | None:
    """What a schema string says; None for one that is none."""
    head = _HEAD.match(text)
    if head is None:
        return None
    rest = text[head.end() :]
    if not rest:
        return Schema(head[1], head[2], None)
    signature = arguments(rest)
    return None if signature is None else Schema(head[1], head[2], signature)


def arguments(text: str) -> Signature | None:
    """The signature that `(arguments) -> result` says; None where it is none."""
    end = _closing(text)
    if end is None:
        return None
    found, kind = [], Kind.EITHER
    for piece in pieces(text[1:end].replace("->", "  ")):
        argument = piece.replace(" !", "! ").strip()
        if argument == "*":
            kind = Kind.KEYWORD
        elif match := _ARGUMENT.fullmatch(argument):
            default = match["default"]
            value = None if default is None else python_default(default.strip())
            found.append(Parameter(match["name"], kind, value, spelled_type(match["type"])))
        elif argument:
            return None
    return Signature(tuple(found))


def _closing(text: str) -> int | None:
    """Where the parenthesis that `text` begins with is closed."""
    depth = 0
    for match in re.finditer(r"\"[^\"]*\"|'[^']*'|[()]", text if text.startswith("(") else ""):
        depth += {"(": 1, ")": -1}.get(match[0], 0)
        if depth == 0:
            return match.start()
    return None


def spelled_type(text: str) -> str:
    """`Tensor(a!)?` is `Optional[Tensor]`, `int[2]` is `list[int]`."""
    text = _ALIAS.sub("", text).strip()
    match = re.fullmatch(r"([\w.:]+)((?:\?|\[\w*\])*)", text)
    if match is None:
        return text
    told = cpp_type(match[1].rpartition(".")[2])
    for suffix in re.findall(r"\?|\[", match[2]):
        told = f"Optional[{told}]" if suffix == "?" else f"list[{told}]"
    return told
