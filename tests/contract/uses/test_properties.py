"""Consumer modules that are put together from shapes with known uses: what is found is exactly these."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from textwrap import indent

from hypothesis import given
from hypothesis import strategies as st

from contract.uses.support import told
from pinctl.contract.model import Use
from pinctl.contract.uses import read

NAMES = ["pkg", "torch.ops.pkg"]

# `§` stands for a number of its own in each shape: `a§` is a symbol, `v§` a local name. What is expected is written as
# in support.told, without lines; the guards of the shape's surroundings are added.
SHAPES: Sequence[tuple[str, Sequence[str]]] = (
    ("pkg.a§(1, x=2)", ["pkg.a§(1, x)"]),
    ("v§ = pkg.a§", ["pkg.a§"]),
    ("v§ = pkg.a§\nv§(1)", ["pkg.a§", "pkg.a§(1)"]),
    ("v§ = pkg\nv§.a§.b(*x)", ["pkg.a§.b(*)"]),
    ("from pkg.m§ import a§ as v§\nv§(1, 2)", ["pkg.m§.a§", "pkg.m§.a§(2)"]),
    ("import pkg.m§ as v§\nv§.a§()", ["pkg.m§", "pkg.m§.a§()"]),
    ("import importlib\nv§ = importlib.import_module('pkg.m§')\nv§.a§(**x)", ["pkg.m§", "pkg.m§.a§(**)"]),
    ("v§ = getattr(pkg, 'a§', None)\nif v§ is not None:\n    v§(1)", ["pkg.a§!default", "pkg.a§(1)!hasattr, default"]),
    ("v§ = getattr(pkg, 'a§', None) or getattr(pkg, 'b§', None)",
     ["pkg.a§!default | pkg.b§", "pkg.b§!default | pkg.a§"]),
    ("if hasattr(pkg, 'a§'):\n    pkg.a§()\nelse:\n    pkg.b§()",
     ["pkg.a§?", "pkg.a§()!hasattr | pkg.b§", "pkg.b§() | pkg.a§"]),
    ("try:\n    pkg.a§(1)\nexcept TypeError:\n    pkg.a§()", ["pkg.a§(1)!misfit | pkg.a§", "pkg.a§() | pkg.a§"]),
    ("try:\n    from pkg.m§ import a§\nexcept ImportError:\n    a§ = None\nif a§: a§(1)",
     ["pkg.m§.a§!except", "pkg.m§.a§(1)!hasattr, except"]),
    ("v§ = {'k': 1}\nif c: v§['l'] = 2\npkg.a§(0, **v§)", ["pkg.a§(1, k)", "pkg.a§(1, k, l)"]),
    ("import functools\nv§ = functools.partial(pkg.a§, 1, k=2)\nv§(3, l=4)", ["pkg.a§", "pkg.a§(2, k, l)"]),
    ("def v§(*args, **kw):\n    return pkg.a§(*args, f=1, **kw)\nv§(1, g=2)", ["pkg.a§(f, *, **)", "pkg.a§(1, f, g)"]),
    ("v§ = lambda *a: pkg.a§(0, *a)\nv§(1)", ["pkg.a§(1, *)", "pkg.a§(2)"]),
    ("def v§(name): return getattr(pkg.m§, name)\nv§('a§')(5)", ["pkg.m§.a§", "pkg.m§.a§(1)"]),
    ("def v§(module):\n    return module.a§(1)\nv§(pkg.m§)", ["pkg.m§", "pkg.m§.a§(1)"]),
    ("for v§ in ('a§', 'b§'):\n    getattr(pkg, v§)", ["pkg.a§", "pkg.b§"]),
    ("v§ = {'x': pkg.a§, 'y': pkg.b§}\nv§['y'](1)", ["pkg.a§", "pkg.b§", "pkg.b§(1)"]),
    ("class V§:\n    f = staticmethod(pkg.a§)\n    def g(self): return self.f(1)", ["pkg.a§", "pkg.a§(1)"]),
    ("class V§(pkg.a§):\n    x: pkg.b§ = pkg.c§()", ["pkg.a§", "pkg.b§", "pkg.c§()"]),
    ("@pkg.a§(1)\ndef v§(x=pkg.b§): ...", ["pkg.a§(1)", "pkg.b§"]),
    ("with pkg.a§() as v§:\n    pkg.b§(v§)", ["pkg.a§()", "pkg.b§(1)"]),
    ("v§ = [pkg.a§(x) for x in y if pkg.b§]", ["pkg.a§(1)", "pkg.b§"]),
    ("v§ = other\nv§.a§(1)\nv§ = 'pkg.a§'", []),
    ("import torch\ntorch.ops.pkg.a§.default(1)", ["torch.ops.pkg.a§(1)"]),
)  # fmt: skip
AROUND: Sequence[tuple[str, str]] = (
    ("", ""),
    ("def w§(p, q=None):", ""),
    ("class W§:\n    def m(self):", ""),
    ("if c:", ""),
    ("for i in range(9):", ""),
    ("async def w§():", ""),
    ("if TYPE_CHECKING:", "typing"),
)

Piece = tuple[int, int]
PIECES = st.lists(st.tuples(st.integers(0, len(SHAPES) - 1), st.integers(0, len(AROUND) - 1)), min_size=1, max_size=12)
Found = tuple[str, frozenset[str], str]
"""A use: what is asked for, what hides that it is missing, and what is tried in its place."""


def block(number: int, piece: Piece) -> str:
    """A shape within its surroundings."""
    text, head = SHAPES[piece[0]][0], AROUND[piece[1]][0]
    whole = f"{head}\n{indent(text, '    ' * (head.count(chr(10)) + 1))}" if head else text
    return whole.replace("§", str(number))


def module(pieces: Iterable[Piece]) -> str:
    """The shapes one after the other."""
    return "\n".join(["import pkg", *(block(number, piece) for number, piece in enumerate(pieces))]) + "\n"


def split(text: str) -> Found:
    """A use out of its text `NAME!GUARDS | ALTERNATIVES`."""
    about, _, others = text.partition(" | ")
    name, _, guards = about.partition("!")
    return name, frozenset(filter(None, guards.split(", "))), others


def expected(pieces: Iterable[Piece]) -> Counter[Found]:
    """What the uses of these shapes are."""
    found = Counter([split("pkg")])
    for number, (shape, around) in enumerate(pieces):
        for text in SHAPES[shape][1]:
            name, guards, others = split(text.replace("§", str(number)))
            found[name, guards | frozenset(filter(None, [AROUND[around][1]])), others] += 1
    return found


def plain(uses: Iterable[Use]) -> Counter[Found]:
    """Uses without their places, when they happen, and what depends on them."""
    texts = (told(use._replace(dependents=())).partition(" ")[2] for use in uses)
    found = (split(text.replace("  ", "!", 1)) for text in texts)
    return Counter((name, guards - {"import"}, others) for name, guards, others in found)


def found(source: str) -> Counter[Found]:
    """The uses in a module."""
    return plain(read({"m.py": source.encode()}, NAMES).uses)


@given(PIECES)
def test_the_uses_of_known_shapes_are_found_exactly(pieces: list[Piece]) -> None:
    assert found(module(pieces)) == expected(pieces)


@given(PIECES)
def test_formatting_and_comments_do_not_matter(pieces: list[Piece]) -> None:
    source = module(pieces)
    commented = re.sub(r"\n(?=\S)", "\n\n# pkg.z(1)\n", source)
    assert found(ast.unparse(ast.parse(source))) == found(source) == found(commented)


@given(PIECES)
def test_local_names_do_not_matter(pieces: list[Piece]) -> None:
    source = module(pieces)
    assert found(re.sub(r"\b([vwVW])(\d+)\b", r"name_of_\1\2", source)) == found(source)


@given(PIECES, st.data())
def test_the_order_of_independent_shapes_does_not_matter(pieces: list[Piece], data: st.DataObject) -> None:
    blocks = data.draw(st.permutations([block(number, piece) for number, piece in enumerate(pieces)]))
    assert found("\n".join(["import pkg", *blocks, ""])) == found(module(pieces))


@given(PIECES, PIECES)
def test_another_file_changes_nothing(pieces: list[Piece], others: list[Piece]) -> None:
    files = {"m.py": module(pieces).encode(), "n.py": module(others).encode()}
    uses = read(files, NAMES).uses
    assert plain(use for use in uses if use.place.file == "m.py") == expected(pieces)


@given(PIECES)
def test_places_are_where_the_names_stand(pieces: list[Piece]) -> None:
    source = module(pieces)
    lines = source.split("\n")
    for use in read({"m.py": source.encode()}, NAMES).uses:
        if use.call is None:
            leaf = use.symbol.rpartition(".")[2]
            assert leaf in "\n".join(lines[use.place.line - 1 : use.place.line])
