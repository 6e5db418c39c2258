"""Reads shell text with the grammar of bash: statements, commands, expansions.

The grammar gives the structure; what a word means is read from its own bytes. A Dockerfile hands over each of its
RUN texts, with the way from a position in it to the file.
"""

import re
from collections.abc import Callable, Sequence
from time import monotonic
from typing import NamedTuple

from tree_sitter import Node, Parser, Tree

from pinctl.sites import shell_commands
from pinctl.sites.base import Unparsable
from pinctl.sites.grammar import grammar
from pinctl.sites.packages import Span
from pinctl.sites.shell_text import DEFAULT, PATIENCE, Text
from pinctl.sites.shell_words import Word, default, text

_LANGUAGE = grammar("bash")
_KIND = {
    name: _LANGUAGE.id_for_node_kind(name, True) or 0
    for name in (
        "array binary_expression c_style_for_statement command command_substitution comment declaration_command"
        " expansion file_redirect for_statement function_definition heredoc_body heredoc_redirect herestring_redirect"
        " pipeline postfix_expression process_substitution redirected_statement string subshell test_command"
        " unary_expression unset_command variable_assignment variable_name word"
    ).split()
}
_ERROR = 0xFFFF
_CHUNK = 1 << 16
_BOM = b"\xef\xbb\xbf"
# All that is not ASCII is part of a word to the shell. The grammar's scanner (0.25.1) looks such characters up in a
# table that ends before them, and may crash: it sees letters in their place.
_ASCII = bytes(range(128)) + b"_" * 128
_NO_WORDS = frozenset(
    _KIND[name] for name in "comment file_redirect heredoc_redirect herestring_redirect variable_assignment".split()
)
_SHELLS = frozenset(_KIND[name] for name in "command_substitution pipeline process_substitution subshell".split())
"""What a shell of its own runs, which leaves the variables of this one alone."""
_NAMES = frozenset({_KIND["variable_name"], _KIND["word"]})
_SETS = re.compile(r"\+\+|--|(?:[-+*/%&|^]|<<|>>)?=")
_LOCALS = frozenset({"declare", "local", "typeset"})
_UNQUOTES = frozenset({_KIND["command_substitution"], _KIND["process_substitution"]})

# The grammar stumbles over some of what bash takes: `;` and the like in a default, two backquotes, `fi fi` without
# `;`. A second parse sees other bytes in their place.
_STUMBLES = re.compile(
    rb"(?P<opening>\$\{\w+:?[-=+?])(?P<default>(?:[^{}$\"'`\\\n]|\\[^\n])*)(?=\})"
    rb"|(?P<ends>[;&\n][ \t]*(?:(?:fi|done|esac)[ \t]+)+)(?=(?:fi|done|esac|else|elif|then|do)\b)"
    rb"|``"
)
_END = re.compile(rb"(fi|done|esac)[ \t]")
_NOT_PLAIN = re.compile(rb"[^\w./]")
# What may hold an expansion with a default, or a command, inside a word.
_NESTED = re.compile(rb"\$[{(]|`|[<>]\(")
_ESCAPED_BLANK = re.compile(rb"^[^#\n]*\\[ \t\v\f]", re.MULTILINE)
_JOINT_BEFORE = re.compile(rb"[^\s;&|()<>\\]\\\r?\n\Z")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_DEFAULT = re.compile(rb"\$\{(?P<name>[A-Za-z_]\w*|[0-9]+)(?P<operator>:?[-=])(?P<default>.*)\}", re.DOTALL)


class _Parent(NamedTuple):
    """What a node stands in: the kind of its parent, whether that stands in double quotes, and the innermost shell and
    function around it."""

    kind: int
    quoted: bool
    shell: Span
    function: Span | None = None


class _Walk:
    """One way through the tree of a text. Each handler takes a node, and says whether its children are to be read."""

    def __init__(self, into: Text) -> None:
        self.into, self.code = into, into.code
        self.parents = [_Parent(0, False, (0, len(into.code)))]
        self.behind: dict[int, list[Node]] = {}
        """For the command that begins there, the words behind its redirections."""
        self.handlers: dict[int, Callable[[Node], bool]] = {
            _KIND["variable_assignment"]: self._assignment,
            _KIND["command"]: self._command,
            _KIND["redirected_statement"]: self._redirected,
            _KIND["expansion"]: self._expansion,
            # Between backquotes a backslash means something else once more (POSIX XCU 2.6.3).
            _KIND["command_substitution"]: lambda node: not self.code.startswith(b"`", node.start_byte),
            _KIND["heredoc_body"]: lambda _: False,
            _KIND["string"]: self._nests,
            _KIND["test_command"]: self._nests,
            _KIND["declaration_command"]: self._declaration,
            _KIND["for_statement"]: self._loop,
            _KIND["unset_command"]: self._names_unknown,
            **{_KIND[f"{arity}_expression"]: self._arithmetic for arity in ("binary", "postfix", "unary")},
            _ERROR: self._error,
        }

    def walk(self, tree: Tree) -> None:
        """Through the whole tree, without recursion: its depth is the author's choice."""
        cursor, broken = tree.walk(), tree.root_node.has_error
        while True:
            node = cursor.node
            assert node is not None  # noqa: S101  # a cursor that came from a tree stands on a node
            kind = node.kind_id
            if broken and node.is_missing:
                self._error(node)
            handler = self.handlers.get(kind)
            if (handler is None or handler(node)) and cursor.goto_first_child():
                self.parents.append(self._parent(node))
                continue
            while not cursor.goto_next_sibling():
                if not cursor.goto_parent():
                    return
                self.parents.pop()

    def _parent(self, node: Node) -> _Parent:
        outer, kind = self.parents[-1], node.kind_id
        return _Parent(
            kind,
            kind == _KIND["string"] or (outer.quoted and kind not in _UNQUOTES),
            (node.start_byte, node.end_byte) if kind in _SHELLS else outer.shell,
            (node.start_byte, node.end_byte) if kind == _KIND["function_definition"] else outer.function,
        )

    def _nests(self, node: Node) -> bool:
        return _NESTED.search(self.code, node.start_byte, node.end_byte) is not None

    def _error(self, node: Node) -> bool:
        self.into.into.errors.append(self.into.span(node.start_byte, node.end_byte))
        return False

    def _assignment(self, node: Node) -> bool:
        name, value = node.child_by_field_name("name"), node.child_by_field_name("value")
        variable = self._text(name) if name is not None and name.kind_id == _KIND["variable_name"] else ""
        if name is None or not _NAME.fullmatch(variable) or node.has_error:
            return True
        if self.code.startswith(b"+", name.end_byte) or self.parents[-1].kind == _KIND["c_style_for_statement"]:
            self.into.unknown(variable)
        elif value is None or value.kind_id != _KIND["array"]:
            start, end = (value.start_byte, value.end_byte) if value else (node.end_byte, node.end_byte)
            # The grammar may leave out an escaped blank before the value.
            if start == name.end_byte + len(b"="):
                self._value(variable, self.into.word(start, end, assigned=True))
        if value is not None and value.kind_id == _KIND["array"]:
            self._array(variable, value)
        return self._nests(node)

    def _value(self, variable: str, word: Word) -> None:
        """`variable=word`; before a command it is set for that alone."""
        parent = self.parents[-1]
        lasts = parent.kind != _KIND["command"]
        if word.value is not None:
            self.into.add((variable,), word, variable=variable if lasts else "", shell=parent.shell)
        elif lasts:
            self.into.assigned(variable, word)
        else:
            self.into.defaults(variable, word)

    def _declaration(self, node: Node) -> bool:
        function = self.parents[-1].function
        if function and node.children[0].type in _LOCALS:
            for child in node.named_children:
                name = child.child_by_field_name("name") or child
                self.into.local(self._text(name), function)
        return True

    def _loop(self, node: Node) -> bool:
        if name := node.child_by_field_name("variable"):
            self.into.unknown(self._text(name))
        return True

    def _names_unknown(self, node: Node) -> bool:
        for child in node.named_children:
            if child.kind_id in _NAMES:
                self.into.unknown(self._text(child))
        return True

    def _arithmetic(self, node: Node) -> bool:
        """`V++`, `V = 3` and the like."""
        return self._names_unknown(node) if any(_SETS.fullmatch(child.type) for child in node.children) else True

    def _array(self, variable: str, node: Node) -> None:
        children = [c for c in node.named_children if c.kind_id != _KIND["comment"]]
        spans = self._spans(children, node.start_byte + 1)
        elements = [self.into.word(start, end) for start, end in spans]
        if bool(spans) == bool(children) and not any(e.raw.startswith(b"[") and b"]=" in e.raw for e in elements):
            bracket = (node.start_byte, node.start_byte + 1)
            self.into.add_list(f"{variable}[]", elements, [bracket], (node.start_byte, node.end_byte))

    def _expansion(self, node: Node) -> bool:
        match = _DEFAULT.fullmatch(self.code, node.start_byte, node.end_byte)
        if match is None or node.has_error:
            return True
        name, read = text(match["name"]), default(match["default"], self.parents[-1].quoted)
        variable = "" if name.isdigit() else name
        if read is not None and read[0]:
            names = [f"{name}:-", *([name] if match["operator"].endswith(b"=") else [])]
            word = Word(*match.span("default"), match["default"], *read)
            names += self.into.names_of_default(node.start_byte)
            self.into.add(names, word, style=DEFAULT, variable=variable, shell=self.parents[-1].shell)
        elif variable:
            self.into.link(variable, match["default"])
        return _NESTED.search(match["default"]) is not None

    def _redirected(self, node: Node) -> bool:
        # The grammar gives a redirection what follows it on the line: `install a >log b`.
        behind = [
            word
            for child in node.children
            if child.kind_id == _KIND["file_redirect"]
            for word in child.children_by_field_name("destination")[1:]
        ]
        if behind:
            self.behind[node.start_byte] = behind
        return True

    def _command(self, node: Node) -> bool:
        if node.has_error:
            return True
        children = node.children
        behind = self.behind.pop(node.start_byte, [])
        spans = self._spans([*(c for c in children if c.kind_id not in _NO_WORDS), *behind], node.start_byte)
        if spans and not _JOINT_BEFORE.search(self.code, max(0, spans[0][0] - 4), spans[0][0]):
            shell_commands.read(self.into, [self.into.word(start, end) for start, end in spans])
        return children[0].kind_id == _KIND["variable_assignment"] or self._nests(node)

    def _spans(self, nodes: Sequence[Node], begin: int) -> list[Span]:
        """The spans of the words that `nodes` are, `begin` being where the first may begin; what touches, if only over
        an escaped line end, is one word. None at all where the grammar took escaped blanks for no word."""
        spans: list[Span] = []
        for node in nodes:
            start, end = node.start_byte, node.end_byte
            gap = self.code[spans[-1][1] if spans else begin : start]
            if b"\\" in gap and _ESCAPED_BLANK.search(gap):
                return []
            if spans and gap in (b"", b"\\\n", b"\\\r\n"):
                spans[-1] = (spans[-1][0], end)
            else:
                spans.append((start, end))
        return spans

    def _text(self, node: Node) -> str:
        return text(self.code[node.start_byte : node.end_byte])


def read(into: Text) -> None:
    """Adds the slots of a shell text, and the spans that do not parse. Raises Unparsable where that takes too long."""
    code = into.code.translate(_ASCII)
    if into.code.startswith(_BOM):
        code = b" " * len(_BOM) + code[len(_BOM) :]
    tree = _tree(into, code)
    if tree.root_node.has_error and (smooth := _STUMBLES.sub(_harmless, code)) != code:
        tree = _tree(into, smooth)
    _Walk(into).walk(tree)


def _tree(into: Text, code: bytes) -> Tree:
    deadline = into.into.deadline
    try:
        return Parser(_LANGUAGE).parse(
            lambda offset, _: code[offset : offset + _CHUNK],
            progress_callback=lambda _offset, _error: monotonic() > deadline,
        )
    except ValueError:
        raise Unparsable(f"its shell text takes more than {PATIENCE:g} seconds to parse") from None


def _harmless(match: re.Match[bytes]) -> bytes:
    if match["default"] is not None:
        return match["opening"] + _NOT_PLAIN.sub(b"_", match["default"])
    return _END.sub(rb"\1;", match["ends"]) if match["ends"] is not None else b"''"
