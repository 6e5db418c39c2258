"""`pinctl surface`: what a pin's tree exports to Python. Reads its remote, and writes nothing but the cache."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import ExitStack

from pinctl.commands import network
from pinctl.commands.network import Asking, chosen
from pinctl.commands.workspace import Workspace
from pinctl.commits import is_full
from pinctl.contract.model import Sort, Surface, Symbol
from pinctl.contract.own import is_own, is_private
from pinctl.contract.shown import at, parameters
from pinctl.contract.surface import read, remembered
from pinctl.errors import UsageError
from pinctl.external import facts_cache
from pinctl.model import Pin
from pinctl.options import Options
from pinctl.outcome import Outcome, Table, counted

_COLUMNS = ("name", "from", "at", "if")


def run(options: Options, name: str, commit: str | None = None, *, allow_transport: Sequence[str] = ()) -> Outcome:
    """What the pin `name` exports at `commit`, also a tag or branch, or at the pinned one. Raises ManifestError,
    UsageError, ExternalError."""
    workspace = Workspace.open(options)
    (pin,) = chosen(workspace.manifest.pins, [name])
    wish = _demand_commit(pin, commit)
    profile = network.profile(options, workspace.root, allow=tuple(allow_transport))
    with ExitStack() as stack, options.progress("surface", 1) as step:
        asking = Asking(profile, stack, options.offline)
        found = take(pin, resolved(pin, wish, asking), asking)
        step(1)
    own = [symbol for symbol in found.symbols.values() if is_own(symbol, found)]
    return Outcome(
        command="surface",
        root=workspace.root,
        result={"pin": pin.name, **_plain(found)},
        summary=_summary(pin, found, len(own)),
        body=tuple(_tables(found, own, private=options.verbose > 0)),
    )


def resolved(pin: Pin, wish: str, asking: Asking) -> str:
    """The full id that `wish` is, or that a tag, a branch or a short id leads to. Raises UsageError, ExternalError."""
    if is_full(wish):
        return wish
    from pinctl.commands import targets

    return targets.resolve(pin, targets.Wish(wish), asking).commit


def take(pin: Pin, commit: str, asking: Asking) -> Surface:
    """The surface of `pin`, which has a repository, at `commit`. What was read before is not asked for again.

    Raises Gone, Unreachable, Hostile, ExternalError.
    """
    repo, roots = pin.repo or "", pin.contract.import_names if pin.contract else ()
    memory = facts_cache.recall(repo)
    known = remembered(commit, roots, memory=memory)
    if known is None:
        store = asking.open(repo)
        store.fetch(commit, depth=1)
        known = read(asking.tree(store, commit), roots, memory=memory)
        facts_cache.keep(repo, memory)
    return known


def _demand_commit(pin: Pin, commit: str | None) -> str:
    """Raises UsageError where there is nothing to look at."""
    if pin.repo is None:
        raise UsageError(f"{pin.name} has no git repository")
    wanted = commit or pin.commit
    if wanted is None:
        raise UsageError(f"no commit of {pin.name} is known", hint="run: pinctl bump --resolve")
    return wanted


# --- what is shown ------------------------------------------------------------------------------------------------


def _summary(pin: Pin, found: Surface, own: int) -> str:
    modules = sum(symbol.sort is Sort.MODULE and symbol.target is None for symbol in found.symbols.values())
    told = f"{pin.name} exports {counted(own, 'name')}, {modules} of them modules"
    told += f"; of {len(found.open)} not all names can be known" if found.open else ""
    return f"{told}; {counted(len(found.unread), 'file')} not read" if found.unread else told


def _tables(found: Surface, own: Sequence[Symbol], *, private: bool) -> Iterator[Table]:
    """One table a module that has names of its own; names with an underscore where they are asked for."""
    by_module = defaultdict[str, list[Symbol]](list)
    for symbol in own:
        if symbol.sort is not Sort.MODULE and (private or not is_private(symbol.name)):
            by_module[_module(symbol.name, found)].append(symbol)
    for module, symbols in sorted(by_module.items()):
        title = f"{module} (not all names can be known)" if module in found.open else module
        yield Table(_COLUMNS, tuple(_cells(symbol, module) for symbol in symbols), title)


def _module(name: str, found: Surface) -> str:
    """The module that a name lies in."""
    module = name.rpartition(".")[0]
    while (held := found.symbols.get(module)) is not None and held.sort is Sort.CLASS:
        module = module.rpartition(".")[0]
    return module


def _cells(symbol: Symbol, module: str) -> tuple[str, ...]:
    name = symbol.name.removeprefix(f"{module}.")
    told = " or ".join(f"{name}({', '.join(parameters(one))})" for one in symbol.signatures)
    if not told:
        told = f"{name}(?)" if symbol.sort in (Sort.FUNCTION, Sort.CLASS) else name
    return told, symbol.mechanism.value, at(symbol.place), "; ".join(symbol.guards)


# --- what scripts read --------------------------------------------------------------------------------------------


def _plain(found: Surface) -> dict[str, object]:
    return {
        "commit": found.commit,
        "symbols": [_symbol(symbol) for symbol in found.symbols.values()],
        "open": dict(found.open),
        "imports": {file: list(others) for file, others in found.imports.items()},
        "unread": dict(found.unread),
    }


def _symbol(symbol: Symbol) -> dict[str, object]:
    return {
        "name": symbol.name,
        "sort": symbol.sort.value,
        "mechanism": symbol.mechanism.value,
        "file": symbol.place.file,
        "line": symbol.place.line,
        "signatures": [[parameter._asdict() for parameter in one.parameters] for one in symbol.signatures],
        "guards": list(symbol.guards),
        "target": symbol.target,
    }
