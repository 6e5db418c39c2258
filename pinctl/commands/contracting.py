"""The consumer's uses of a pin held against its tree at two commits: for `contract`, `bump` and `diff`."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import NamedTuple

from pinctl import manifest as pins_toml
from pinctl.codes import finding
from pinctl.commands.consumption import Consumer
from pinctl.commands.workspace import Workspace
from pinctl.contract import requires, surface
from pinctl.contract.breaks import Break, Lookup, accepting, build, find, fragile, in_order, telling
from pinctl.contract.breaks.accepting import Known
from pinctl.contract.breaks.judgement import Judgement
from pinctl.contract.model import Place, Surface, Uses
from pinctl.contract.requires import Requirement
from pinctl.external import facts_cache
from pinctl.finding import Finding
from pinctl.model import NOTHING, Contract, Pin
from pinctl.upstream.forest import Forest

First = Callable[[Requirement], str | None]
"""Where a requirement that the tree does not meet is met, as a hint; None where that is not known."""

_MOST_UNREAD = 10
_OF_TORCH = frozenset("aten prim prims c10d quantized _quantized mkldnn cuda profiler inductor".split())
"""Namespaces of torch.ops that are PyTorch's own."""


class Sides(NamedTuple):
    """The trees of a pin at A and at B, each with its repository: at A that may be another one. Not `known`: the tree
    at A is not to be had, and that at B stands in its place; every use is judged by B alone."""

    before: Forest
    after: Forest
    repo_before: str
    repo_after: str
    known: bool = True


def judge(
    workspace: Workspace,
    pin: Pin,
    sides: Sides,
    *,
    lint: bool = False,
    known: Known = frozenset(),
    first: First = lambda _: None,
    planned: Mapping[str, bytes] = NOTHING,
) -> Judgement:
    """What breaks of the consumer when `pin`, as it is at B, goes from one tree to the other.

    `lint`: also what would fail in silence the next time. `known` are the breaks of a baseline file. `planned` are
    files of the consumer as they become, where they are not yet written. Raises ExternalError.
    """
    before, after = surfaces(pin, sides)
    names = import_names(pin, after)
    consumer = Consumer(workspace, pin, names, planned)
    asked = consumer.uses(_operators(before, after))
    old, new = Lookup(before), Lookup(after)
    found = find(before, after, asked, fresh=consumer.freshness(asked))
    found += build.paths(sides.before, sides.after, asked.build)
    found += build.submodules(
        sides.before, sides.after, pin.submodules or (), lambda n: _place(workspace, pin, "submodules", n)
    )
    found += build.vendored(old, new, asked)
    found += _required(workspace, pin, new, first)
    found += fragile(asked) if lint else []
    sifted = accepting.waived(in_order(found), workspace.manifest, pin, after.commit)
    left = accepting.without(sifted.left, known)
    told = [*telling.findings(left, pin.name), *telling.baseline(left, pin.name), *_unread(pin, after, asked)]
    told += sifted.stale if before.commit != after.commit else []
    return Judgement(
        pin.name, before, after, asked, names, tuple(left), tuple(sifted.accepted), len(sifted.left) - len(left),
        tuple(told),
    )  # fmt: skip


def surfaces(pin: Pin, sides: Sides) -> tuple[Surface, Surface]:
    """What the package offers at A and at B. Raises ExternalError."""
    if not sides.known:
        after = _surface(pin, sides.after, sides.repo_after)
        roots = {name.partition(".")[0] for name in after.symbols}
        return Surface("", open=dict.fromkeys(roots, "the commit of before is not to be had")), after
    before = _surface(pin, sides.before, sides.repo_before)
    return before, before if sides.after is sides.before else _surface(pin, sides.after, sides.repo_after)


def _surface(pin: Pin, forest: Forest, repo: str) -> Surface:
    memory = facts_cache.recall(repo)
    found = surface.read(forest.root, _contract(pin).import_names, memory=memory)
    facts_cache.keep(repo, memory)
    return found


def _contract(pin: Pin) -> Contract:
    return pin.contract or Contract()


def concerns(pin: Pin, forest: Forest) -> bool:
    """Whether the pin has a contract: pins.toml says so, or its tree has a package that is called like it."""
    packages = (path.split("/")[-2] for path in forest.root.files if path.endswith("/__init__.py"))
    return pin.contract is not None or any(_slug(package) == _slug(pin.name) for package in packages)


def import_names(pin: Pin, after: Surface) -> tuple[str, ...]:
    """The names under which the consumer imports the package: as pins.toml says, else those of the packages that the
    tree has as its own; the one that is called like the pin, where there is one."""
    if said := _contract(pin).import_names:
        return said
    own = dict.fromkeys(name.partition(".")[0] for name in after.symbols if not name.startswith("torch."))
    same = [name for name in own if _slug(name) == _slug(pin.name)]
    return tuple(same or own or [pin.name.replace("-", "_")])


def _slug(name: str) -> str:
    return name.replace("-", "").replace("_", "").casefold()


def _operators(*known: Surface) -> tuple[str, ...]:
    """The namespaces of torch.ops in which the package has operators."""
    spaces = {name.split(".")[2] for one in known for name in one.symbols if name.startswith("torch.ops.")}
    return tuple(sorted(spaces - _OF_TORCH))


def _unread(pin: Pin, after: Surface, asked: Uses) -> Iterator[Finding]:
    """The files that could not be read, on either side."""
    for path, reason in sorted(asked.unread.items())[:_MOST_UNREAD]:
        yield finding("PIN417", f"it is not looked into: {reason}", file=path, pin=pin.name)
    for path, reason in sorted(after.unread.items())[:_MOST_UNREAD]:
        yield finding("PIN417", f"{path} of the pinned tree is not looked into: {reason}", pin=pin.name)


def _required(workspace: Workspace, pin: Pin, after: Lookup, first: First) -> Iterable[Break]:
    """What `requires` asks for and the tree at B does not offer."""
    for number, text in enumerate(_contract(pin).requires):
        requirement = requires.parse(text)
        for why in requires.unmet([requirement], after):
            one = requires.broken(why, _place(workspace, pin, "contract", "requires", number), after)
            yield one._replace(hint=first(requirement) or one.hint) if one.required else one


def _place(workspace: Workspace, pin: Pin, *key: str | int) -> Place:
    at = pins_toml.locate(workspace.manifest, ("pins", pin.name, *key))
    return Place(at.file, at.span.line, at.span.column) if at.span else Place(at.file, 0)
