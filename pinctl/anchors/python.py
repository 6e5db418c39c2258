"""Edits that Python code makes of a pinned source: what it reads, changes by `replace` or `re.sub`, and writes."""

import ast
import re
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from pinctl.anchors.actions import Flags, Regex, Replace, compiled, encoded, template
from pinctl.anchors.model import HOLE, MOST, Action, Edit, Kind, Path
from pinctl.anchors.patterns import LONGEST
from pinctl.anchors.programs import shown
from pinctl.contract.uses.copying import Paths, called, in_order
from pinctl.finding import Span
from pinctl.upstream import references

_FLAGS = {"M": "multiline", "MULTILINE": "multiline", "S": "dot_all", "DOTALL": "dot_all", "I": "ignore_case",
          "IGNORECASE": "ignore_case"}  # fmt: skip
_TOKEN = re.compile(
    r"\\(?P<escaped>.)|(?P<bracket>\[\^?\]?(?:\\.|[^\]\\])*\])|(?P<group>\(\?(?::|P<\w+>)?)|(?P<char>\{,|.)", re.DOTALL
)
_ESCAPED = re.compile(r"[AbBdDsSwWnrtfav]|[^a-zA-Z0-9]", re.DOTALL)
_IN_BRACKET = re.compile(r"\[:|\\(?![dDsSwWnrtfv]|[^a-zA-Z0-9])", re.DOTALL)
_MOST_NAMES = 100
_CLASSES = re.compile(r"\\[bBdDsSwW]")


class _Held(NamedTuple):
    """The text of files: which ones, what was done to it, and where it was read."""

    files: tuple[Path, ...]
    edits: tuple[Edit, ...] = ()
    flow: int = 0


def find(file: str, source: bytes, names: frozenset[str]) -> list[Edit]:
    """The edits in a Python file, which calls the pinned source by one of `names`."""
    tree = references.parsed(source)
    reader = _Reader(file, names)
    try:
        reader.read(tree or ast.Module([], []))
    except (RecursionError, MemoryError):
        return []
    return list(dict.fromkeys(reader.found))


class _Reader:
    """Goes through a file with what its variables hold."""

    def __init__(self, file: str, names: frozenset[str]) -> None:
        self.file = file
        self.paths = Paths(names)
        self.texts: dict[str, ast.expr | None] = {}
        """What a variable is set to; None of one that is set more than once."""
        self.held: dict[str, _Held] = {}
        self.handles: dict[str, ast.expr] = {}
        """Open files, by the expression of their path."""
        self.found: list[Edit] = []
        self.budget = 0
        """Names that may yet be looked up for one text."""

    def read(self, tree: ast.Module) -> None:
        """Collect the edits that are written."""
        for node in in_order(tree):
            self.paths.follow(node)
            if isinstance(node, ast.For | ast.comprehension):
                self._unknown(node.target)
            elif isinstance(node, ast.arg):
                self.texts[node.arg] = None
            elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
                self._assign(node.targets[0].id, node.value)
            elif isinstance(node, ast.withitem) and isinstance(node.optional_vars, ast.Name):
                self._open(node.optional_vars.id, node.context_expr)
            elif isinstance(node, ast.Call):
                self._write(node)

    def _unknown(self, target: ast.expr) -> None:
        self.texts |= {node.id: None for node in ast.walk(target) if isinstance(node, ast.Name)}

    def _assign(self, name: str, value: ast.expr) -> None:
        self._open(name, value)
        held = self._text(value)
        if held is not None:
            self.held[name] = held
        else:
            self.held.pop(name, None)
        self.texts[name] = None if name in self.texts else value

    def _open(self, name: str, value: ast.expr) -> None:
        """`open(path)` or `path.open()`."""
        self.handles.pop(name, None)
        if isinstance(value, ast.Call) and called(value.func) == "open":
            path = value.func.value if isinstance(value.func, ast.Attribute) else next(iter(value.args), None)
            self.handles |= {name: path} if path is not None else {}

    def _write(self, node: ast.Call) -> None:
        """`path.write_text(text)`, or `file.write(text)`."""
        if (
            called(node.func) not in ("write_text", "write")
            or not node.args
            or not isinstance(node.func, ast.Attribute)
        ):
            return
        held = self._text(node.args[0])
        if held is None:
            return
        to = self._files(node.func.value)
        flow = 0 if to == held.files else held.flow
        self.found += [edit._replace(flow=flow) for edit in held.edits[: max(MOST - len(self.found), 0)]]

    def _files(self, node: ast.expr) -> tuple[Path, ...]:
        """The files of the pinned source that an expression for a path, or an open file, may be."""
        if isinstance(node, ast.Name) and node.id in self.handles:
            node = self.handles[node.id]
        elif isinstance(node, ast.Call) and called(node.func) == "open":
            node = node.func.value if isinstance(node.func, ast.Attribute) else node.args[0] if node.args else node
        return tuple(Path(path, glob) for path, glob in self.paths.of(node) if path not in ("", "."))

    def _text(self, node: ast.expr) -> _Held | None:
        """The text of files that an expression is; None of another one."""
        if isinstance(node, ast.Name):
            return self.held.get(node.id)
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
            return None
        name, base = node.func.attr, node.func.value
        if name in ("read_text", "read"):
            files = self._files(base)
            return _Held(files, flow=node.lineno) if files else None
        if name == "replace" and len(node.args) > 1 and (held := self._text(base)):
            return self._edited(held, node, self._replace(node.args), Kind.PYTHON_REPLACE, node.args[0])
        if name == "sub" and len(node.args) > 2 and called(base) == "re" and (held := self._text(node.args[2])):
            return self._edited(held, node, self._sub(node), Kind.PYTHON_REGEX, node.args[0])
        return None

    def _edited(self, held: _Held, node: ast.Call, action: Action | None, kind: Kind, old: ast.expr) -> _Held:
        pattern = self._known(old)
        computed = "its pattern is computed" if HOLE in pattern else "its pattern has no exact translation"
        end = node.func.end_lineno or node.lineno
        span = Span(end, (node.func.end_col_offset or 0) - len(called(node.func)) + 1)
        edit = Edit(self.file, span, kind, shown(pattern), held.files, action, "" if action else computed)
        return held._replace(edits=(*held.edits, edit))

    def _replace(self, args: Sequence[ast.expr]) -> Replace | None:
        old, new = self._known(args[0]), self._known(args[1])
        return None if HOLE in old or not old else Replace(encoded(old), None if HOLE in new else encoded(new))

    def _sub(self, node: ast.Call) -> Action | None:
        pattern = self._known(node.args[0])
        flags = _flags(node)
        expression = None if flags is None or HOLE in pattern else _expression(pattern, flags)
        if expression is None:
            return None
        made = template(self._known(node.args[1]), expression.groups, lambda char: {"n": "\n", "\\": "\\"}.get(char))
        counted = len(node.args) > 3 or any(keyword.arg == "count" for keyword in node.keywords)
        ascii_alone = bool(_CLASSES.search(pattern)) or "ignore_case" in (flags or ())
        return Regex(expression, None if counted else made, ascii_alone=ascii_alone)

    def _known(self, node: ast.expr) -> str:
        """The text that an expression is, HOLE where it is not known."""
        self.budget = _MOST_NAMES
        return "".join(self._parts(node))

    def _parts(self, node: ast.expr) -> Iterator[str]:
        if isinstance(node, ast.Constant):
            yield node.value if isinstance(node.value, str) else HOLE
        elif isinstance(node, ast.Name) and self.budget and (value := self.texts.get(node.id)) is not None:
            self.budget -= 1
            yield from self._parts(value)
        elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
            yield from self._parts(node.left)
            yield from self._parts(node.right)
        elif isinstance(node, ast.JoinedStr):
            for value in node.values:
                yield from self._parts(value)
        elif isinstance(node, ast.FormattedValue) and node.conversion == -1 and node.format_spec is None:
            yield from self._parts(node.value)
        else:
            yield HOLE


def _flags(node: ast.Call) -> frozenset[str] | None:
    """The flags of a call of re.sub(); None where one is not known."""
    given = [keyword.value for keyword in node.keywords if keyword.arg == "flags"] + node.args[4:5]
    found: set[str] = set()
    while given:
        one = given.pop()
        if isinstance(one, ast.BinOp) and isinstance(one.op, ast.BitOr):
            given += [one.left, one.right]
        elif isinstance(one, ast.Attribute) and one.attr in _FLAGS:
            found.add(_FLAGS[one.attr])
        else:
            return None
    return frozenset(found)


def _expression(pattern: str, flags: frozenset[str]) -> Any:
    """A regular expression of Python's as RE2 has it compiled; None where the two differ, or may."""
    multiline = "multiline" in flags
    tokens = list(_TOKEN.finditer(pattern[:LONGEST]))
    if sum(len(token[0]) for token in tokens) != len(pattern) or not all(_same(token, multiline) for token in tokens):
        return None
    ways = Flags(ignore_case="ignore_case" in flags, dot_all="dot_all" in flags, text=True)
    return compiled(f"(?m){pattern}" if multiline else pattern, ways)


def _same(token: re.Match[str], multiline: bool) -> bool:
    """Whether RE2 takes a piece of a pattern as Python does."""
    if token["escaped"] is not None:
        return _ESCAPED.fullmatch(token["escaped"]) is not None
    if token["bracket"]:
        return _IN_BRACKET.search(token["bracket"]) is None
    if token["group"]:
        return token["group"] != "(?"
    return token["char"] not in ("[", "\\", "{,") and (multiline or token["char"] != "$")
