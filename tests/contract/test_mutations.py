"""Every change of a package that breaks a call is told, in the right class; none that does not is."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pytest

from pinctl.contract import surface, uses
from pinctl.contract.breaks import Break, Class, find
from pinctl.contract.model import Surface
from pinctl.upstream.tree import Entry, Tree

from . import synthetic
from .synthetic import Function

COUNT = 210
FUNCTIONS = synthetic.functions(COUNT)
BATCHES = 3
"""Functions are changed a third at a time: they have nothing to do with each other."""


class World:
    """The package and the engine, read once."""

    def __init__(self) -> None:
        self.memory = surface.Memory()
        self.uses = uses.read({p: t.encode() for p, t in synthetic.engine(FUNCTIONS).items()}, ["up", "torch.ops.up"])
        self.before = self.surface(synthetic.package(FUNCTIONS))

    def surface(self, files: Mapping[str, str]) -> Surface:
        blobs = {
            hashlib.sha1(text.encode(), usedforsecurity=False).hexdigest(): text.encode() for text in files.values()
        }
        ids = {path: hashlib.sha1(text.encode(), usedforsecurity=False).hexdigest() for path, text in files.items()}
        commit = hashlib.sha1(repr(ids).encode(), usedforsecurity=False).hexdigest()
        entries = [Entry(path, "100644", id_) for path, id_ in sorted(ids.items())]
        return surface.read(
            Tree.of(commit, entries, lambda wanted, _: {i: blobs[i] for i in wanted}), ["up"], memory=self.memory
        )

    def breaks(self, files: Mapping[str, str]) -> list[Break]:
        return find(self.before, self.surface(files), self.uses)


@pytest.fixture(scope="module")
def world() -> World:
    return World()


def test_all_of_it_is_seen(world: World) -> None:
    asked = {use.symbol for use in world.uses.uses if use.call is not None and not use.call.rest}
    assert asked == {f.dotted for f in FUNCTIONS}
    assert not world.before.open
    assert world.breaks(synthetic.package(FUNCTIONS)) == []


def wrong(
    world: World, change: Callable[[Function], Function | None], expected: Callable[[Function], set[Class]]
) -> list[str]:
    """What is not told as it should be when each function is changed."""
    wrong = []
    for batch in range(BATCHES):
        some = {f.name: change(f) for f in FUNCTIONS if f.number % BATCHES == batch}
        told: dict[str, set[Class]] = {}
        for found in world.breaks(synthetic.package(synthetic.changed(FUNCTIONS, some))):
            told.setdefault(found.symbol, set()).add(found.kind)
        for f in FUNCTIONS:
            should = expected(f) if f.name in some else set()
            if told.get(f.dotted, set()) != should:
                wrong.append(f"{f}: {told.get(f.dotted)} and not {should}")
    return wrong


def in_python(old: Function, new: Function) -> set[Class]:
    """What Python makes of the engine's call when the package has `new` in the place of `old`."""
    args = [f"v{k}" for k, _ in enumerate(old.given)]
    named = {p.name: v for p, v in zip(old.given[1:], args[1:], strict=True)} if old.by_keyword else {}
    values = [_bound(f, args[: len(args) - len(named)], named) for f in (old, new)]
    if values[1] is None:
        return {Class.HARD}
    assert values[0] is not None
    places = [{v: k for k, v in bound.items() if v in args} for bound in (values[0], values[1])]
    return {Class.REBIND} if places[0] != places[1] else set()


def _bound(f: Function, args: Sequence[str], named: Mapping[str, str]) -> dict[str, Any] | None:
    made: dict[str, Any] = {}
    params = ", ".join(p.name + (f"={p.default}" if p.default is not None else "") for p in f.params)
    exec(f"def f({params}): return locals()", made)  # noqa: S102 - of our own making
    try:
        bound: dict[str, Any] = made["f"](*args, **named)
    except TypeError:
        return None
    return bound


def test_each_symbol_that_is_deleted(world: World) -> None:
    hidden = {"getattr": Class.SILENT, "except": Class.SILENT}
    assert wrong(world, lambda _: None, lambda f: {hidden.get(f.form, Class.HARD)}) == []


def test_each_keyword_that_is_renamed(world: World) -> None:
    for at in (0, 1):

        def change(f: Function, at: int = at) -> Function:
            return synthetic.rename(f, at)

        def expected(f: Function, at: int = at) -> set[Class]:
            return {Class.HARD} if f.by_keyword and at else {Class.RENAMED}

        assert wrong(world, change, expected) == []


def test_each_parameter_that_is_removed(world: World) -> None:
    for at in (0, 1):

        def change(f: Function, at: int = at) -> Function:
            return synthetic.without(f, at)

        assert wrong(world, change, lambda f, change=change: in_python(f, change(f))) == []  # type: ignore[misc]


def test_each_parameter_that_must_be_given(world: World) -> None:
    assert wrong(world, synthetic.with_required, lambda f: in_python(f, synthetic.with_required(f))) == []


def test_each_pair_that_is_swapped(world: World) -> None:
    assert wrong(world, synthetic.swapped, lambda f: in_python(f, synthetic.swapped(f))) == []


# --- what breaks nothing ---


def test_two_hundred_harmless_edits(world: World) -> None:
    rng = random.Random(4)  # noqa: S311 - the same edits each time
    for _ in range(40):
        found = list(FUNCTIONS)
        rng.shuffle(found)
        optional = {f.name: synthetic.with_optional(f) for f in rng.sample(FUNCTIONS, 5)}
        more = synthetic.functions(COUNT + 1 + rng.randrange(30))[COUNT:]
        files = _moved(_commented(synthetic.package([*synthetic.changed(found, optional), *more]), rng), rng)
        assert world.breaks(files) == []


def _commented(files: dict[str, str], rng: random.Random) -> dict[str, str]:
    """A comment that looks like code, at any line of a file."""
    path = rng.choice(sorted(path for path in files if path.startswith(("up/part", "csrc/apis"))))
    mark = "#" if path.endswith(".py") else "//"
    lines = files[path].split("\n")
    lines.insert(rng.randrange(len(lines)), f'{mark} m.def("gone", &gone); def gone(')
    return {**files, path: "\n".join(lines)}


def _moved(files: dict[str, str], rng: random.Random) -> dict[str, str]:
    """A file goes elsewhere, and a new one in its place gives its names again."""
    part = rng.choice(sorted(path for path in files if path.startswith("up/part"))).removeprefix("up/")
    text = files.pop(f"up/{part}")
    names = ", ".join(line.split("(")[0].removeprefix("def ") for line in text.split("\n") if line.startswith("def "))
    return {**files, "up/inner/__init__.py": "", f"up/inner/{part}": text,
            f"up/{part}": f"from .inner.{part.removesuffix('.py')} import {names}\n"}  # fmt: skip
