"""What `pinctl contract` tells of made-up changes of a real package under its real consumer, and how long it takes.

    python benchmarks/contract.py CONSUMER PROVIDER [--commit ID] [--names A,B] [--roots A,B] [--rounds N]

CONSUMER and PROVIDER are git repositories, which are only read. See README.md.
"""

import argparse
import random
import resource
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from run import Command, environment, ratios, spread

from pinctl.contract import surface, uses
from pinctl.contract.breaks import Class, Lookup, find
from pinctl.contract.model import Call, Kind, Parameter, Place, Signature, Surface, Symbol, Use, Uses
from pinctl.contract.shown import parameters
from pinctl.external import objects
from pinctl.upstream.tree import Tree

URL = "https://provider.example/package.git"
SEED = 4
HARMLESS = 200
_PLACED = (Kind.POSITIONAL, Kind.EITHER)

# --- what is read -------------------------------------------------------------------------------------------------


def git(repository: str, *args: str) -> str:
    """What `git ARGS` prints in a repository, without the last line end."""
    done = subprocess.run(["git", "-C", repository, *args], check=True, capture_output=True)
    return done.stdout.decode("utf-8", "surrogateescape").removesuffix("\n")


def folder_of(repository: str) -> str:
    """The folder of git's own files."""
    return git(repository, "rev-parse", "--absolute-git-dir")


def tree_of(repository: str, commit: str) -> Tree:
    """The tree of a commit; files that the repository lacks are missing."""
    folder, id_ = folder_of(repository), git(repository, "rev-parse", f"{commit}^{{commit}}")

    def read(ids: Sequence[str], limit: int) -> Mapping[str, bytes]:
        sizes = objects.sizes(folder, list(ids)).items()
        return objects.contents(folder, {i: size for i, size in sizes if size is not None and 0 <= size <= limit})

    return Tree.of(id_, objects.tree(folder, id_), read)


# --- mutations ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Mutation:
    """A change of one symbol: `new` is what takes its place, None: nothing."""

    kind: str
    symbol: str
    new: tuple[Signature, ...] | None

    def of(self, known: Surface) -> Surface:
        """The surface with the change."""
        symbols = dict(known.symbols)
        if self.new is None:
            del symbols[self.symbol]
        else:
            symbols[self.symbol] = symbols[self.symbol]._replace(signatures=self.new)
        return known._replace(commit="f" * 40, symbols=symbols)


def mutations(known: Lookup, used: Uses) -> Iterator[Mutation]:
    """Each used symbol deleted, each used keyword renamed, each used parameter removed, one added that must be given,
    two that are given by position swapped."""
    calls: dict[str, list[Call]] = {}
    for use in used.uses:
        symbol = known.find(use.symbol).symbol
        if symbol is not None and symbol.name == use.symbol:
            calls.setdefault(use.symbol, []).extend([use.call] if use.call else [])
    for name, some in calls.items():
        yield Mutation("delete", name, None)
        symbol = known.find(name).symbol
        for kind, new in _changed(known.signatures(symbol), some) if symbol and some else ():
            yield Mutation(kind, name, new)


def _renamed(keyword: str, parameter: Parameter) -> Parameter:
    return parameter._replace(name=f"{keyword}_new") if parameter.name == keyword else parameter


def _changed(old: Sequence[Signature], calls: Sequence[Call]) -> Iterator[tuple[str, tuple[Signature, ...]]]:
    if not old:
        return
    keywords = sorted({keyword for call in calls for keyword in call.keywords})
    for keyword in keywords:
        yield "rename", tuple(_each(s, partial(_renamed, keyword)) for s in old)
    most = max(call.positional for call in calls)
    for at in range(most):
        yield "remove", tuple(_without(s, at) for s in old)
    for keyword in keywords:
        yield "remove", tuple(Signature(tuple(p for p in s.parameters if p.name != keyword)) for s in old)
    yield "add", tuple(_with_required(s) for s in old)
    if most >= 2:
        yield "swap", tuple(_swapped(s) for s in old)


def _each(signature: Signature, change: Callable[[Parameter], Parameter]) -> Signature:
    return Signature(tuple(map(change, signature.parameters)))


def _without(signature: Signature, at: int) -> Signature:
    return Signature(signature.parameters[:at] + signature.parameters[at + 1 :])


def _with_required(signature: Signature) -> Signature:
    old = signature.parameters
    at = next((n for n, p in enumerate(old) if p.default is not None or p.kind not in _PLACED), len(old))
    kind = old[at - 1].kind if at else Kind.EITHER
    return Signature((*old[:at], Parameter("extra", kind), *old[at:]))


def _swapped(signature: Signature) -> Signature:
    if len(signature.parameters) < 2:
        return signature
    one, two, *rest = signature.parameters
    both = (two._replace(default=one.default), one._replace(default=two.default))
    return Signature((*both, *rest))


# --- what Python makes of them ------------------------------------------------------------------------------------


def outcome(old: Sequence[Signature], new: Sequence[Signature], call: Call) -> str:
    """ "fails", "moves" or "" for a call that succeeds with `old`: what Python does with `new` in their place."""
    before = [bound for s in old if (bound := _bound(s, call)) is not None]
    after = [bound for s in new if (bound := _bound(s, call)) is not None]
    if not before or call.rest or call.keyword_rest:
        return ""
    if not after:
        return "fails"
    return "" if any(a == b for a in before for b in after) else "moves"


def _bound(signature: Signature, call: Call) -> dict[str, Any] | None:
    """By parameter, which argument it takes; None where the call fails."""
    named = Signature(tuple(p._replace(name=p.name or f"arg{n}", default=p.default and "None")
                            for n, p in enumerate(signature.parameters)))  # fmt: skip
    made: dict[str, Any] = {}
    try:
        exec(f"def f({', '.join(parameters(named))}): return locals()", made)
        values = made["f"](*range(call.positional), **{keyword: keyword for keyword in call.keywords})
    except (TypeError, SyntaxError):
        return None
    return {name: value for name, value in values.items() if value is not None}


_FAILING = frozenset(kind for kind in Class if kind.fails) | {Class.FALLBACK}


def held(known: Surface, used: Uses) -> tuple[Counter[str], Counter[str], list[str]]:
    """By kind, how many places must be told and how many are; and the places that are not."""
    lookup = Lookup(known)
    must, told, missed = Counter[str](), Counter[str](), list[str]()
    for mutation in mutations(lookup, used):
        breaks = find(known, mutation.of(known), used)
        places = {one.place for one in breaks if one.kind in _FAILING and one.symbol == mutation.symbol}
        places |= {place for one in breaks if one.place in places for place in one.dependents}
        for use in used.uses:
            if use.symbol == mutation.symbol and _must_be_told(lookup, mutation, use):
                must[mutation.kind] += 1
                told[mutation.kind] += use.place in places
                missed += [] if use.place in places else [f"{mutation.kind} {mutation.symbol}: {use.place}"]
    return must, told, missed


def _must_be_told(known: Lookup, mutation: Mutation, use: Use) -> bool:
    symbol = known.find(mutation.symbol).symbol
    assert symbol is not None
    if mutation.new is None:
        return True
    what = outcome(known.signatures(symbol), mutation.new, use.call) if use.call is not None else ""
    return what == "fails" or (what == "moves" and mutation.kind != "rename")  # by position, a name does not count


# --- what breaks nothing ------------------------------------------------------------------------------------------


def harmless(known: Surface, rng: random.Random) -> Surface:
    """The surface with its names in another order, new ones, optional parameters, and one that comes from elsewhere."""
    names = list(known.symbols)
    rng.shuffle(names)
    symbols = {name: known.symbols[name] for name in names}
    root = min(names, key=len)
    for number in range(3):
        symbols[f"{root}.new{number}"] = Symbol(
            f"{root}.new{number}", *known.symbols[names[0]][1:3], Place("new.py", 1)
        )
    for name in rng.sample(names, min(20, len(names))):
        old = symbols[name]
        symbols[name] = old._replace(signatures=tuple(map(_with_optional, old.signatures)))
    moved = rng.choice([name for name in names if known.symbols[name].signatures])
    symbols[f"{root}.elsewhere"] = symbols[moved]._replace(name=f"{root}.elsewhere")
    symbols[moved] = symbols[moved]._replace(target=f"{root}.elsewhere")
    return known._replace(commit="e" * 40, symbols=symbols)


def _with_optional(signature: Signature) -> Signature:
    old = signature.parameters
    at = next((n for n, p in enumerate(old) if p.kind not in _PLACED), len(old))
    kind = Kind.POSITIONAL if at and old[at - 1].kind is Kind.POSITIONAL else Kind.EITHER
    return Signature((*old[:at], Parameter("extra", kind, "None"), *old[at:]))


def false_alarms(known: Surface, used: Uses) -> int:
    """How many of HARMLESS edits are told to fail."""
    rng = random.Random(SEED)
    edits = (harmless(known, rng) for _ in range(HARMLESS))
    return sum(any(b.kind.fails and not b.baseline for b in find(known, edit, used)) for edit in edits)


# --- how long it takes --------------------------------------------------------------------------------------------


def workplace(root: Path, options: argparse.Namespace, commit: str) -> tuple[Path, dict[str, str]]:
    """The consumer's files with a pins.toml below `root`, and the environment in which its provider is found."""
    engine, repository = root / "engine", options.consumer
    tree = tree_of(repository, options.revision)
    paths = list(tree.files)
    for start in range(0, len(paths), 500):
        for path, blob in tree_of(repository, options.revision).read(paths[start : start + 500], 1 << 20).items():
            file = engine / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(blob)
    names = ", ".join(f'"{name}"' for name in options.names.split(","))
    roots = ", ".join(f'"{name}"' for name in options.roots.split(",")) if options.roots else ""
    (engine / "pins.toml").write_text(
        f'schema = 1\n[pins.package]\nrepo = "{URL}"\ncommit = "{commit}"\nunused = true\n'
        f"[pins.package.contract]\nimport_names = [{names}]\nconsumer_roots = [{roots}]\n"
        'build_roots = ["cmake", "tools", "setup.py", "docker"]\n'
    )
    config = root / "gitconfig"
    lines = [f'[url "file://{folder_of(options.provider)}"]', f"insteadOf = {URL}", "[user]", "name = x", "email = x@y"]
    config.write_text("\n".join(lines) + "\n")
    variables = {**environment(), "GIT_CONFIG_GLOBAL": str(config), "XDG_CACHE_HOME": str(root / "cache")}
    for words in (["init", "-q", "-b", "main"], ["add", "-A"], ["commit", "-q", "-m", "all"]):
        subprocess.run(["git", *words], cwd=engine, env=variables, check=True)
    return engine, variables


def measured(options: argparse.Namespace, commit: str) -> list[Command]:
    """The processes, measured in turns."""
    with tempfile.TemporaryDirectory(prefix="pinctl-benchmark-") as temporary:
        engine, variables = workplace(Path(temporary), options, commit)
        kept = Path(temporary, "cache/pinctl/v1")
        facts, files = [kept / "facts"], [kept / "uses", kept / "uses-facts"]
        pinctl = str(Path(sys.executable).parent / "pinctl")
        contract = [pinctl, "contract", "package"]  # breaks are found: no failure of the measurement
        found = [
            Command("import typer", [sys.executable, "-c", "import typer"], engine),
            Command("contract, nothing remembered", contract, engine, accepted=1, without=facts + files),
            Command("  of the consumer alone", contract, engine, 1.5, accepted=1, without=files),
            Command("contract, all remembered", contract, engine, 0.2, accepted=1),
            Command("surface, nothing remembered", [pinctl, "surface", "package"], engine, 0.25, without=facts),
            Command("surface, all remembered", [pinctl, "surface", "package"], engine),
        ]
        for number in range(options.rounds + 1):
            for one in found:
                one.run(variables)
                if number == 0:
                    one.forget()
    return found


def shown(found: Sequence[Command]) -> Iterator[str]:
    """The table of times."""
    floor = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    yield f"{'':32}{'s (quartiles)':26}{'bound s':10}{'CPU time of typer':26}peak MB"
    for one in found:
        ratio = spread(ratios(one.cpu, found[0].cpu), 2)
        peak = f"{max(one.peak):.0f}" if max(one.peak) > floor else f"<= {floor:.0f}"
        bound = f"{one.bound:g}" if one.bound else ""
        yield f"{one.name:32}{spread(one.wall, 2):26}{bound:10}{ratio:26}{peak}"


# --- all of it ----------------------------------------------------------------------------------------------------


def main(argv: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(description="Mutate a package under its consumer, and measure pinctl contract.")
    parser.add_argument("consumer", help="the repository that calls the package")
    parser.add_argument("provider", help="the repository of the package")
    parser.add_argument("--revision", default="HEAD", help="the consumer's commit")
    parser.add_argument("--commit", default="HEAD", help="the provider's commit")
    parser.add_argument(
        "--names", default="deep_gemm,vllm.third_party.deep_gemm", help="the names that it is imported by"
    )
    parser.add_argument("--roots", default="", help="the consumer's folders that are looked at; all without")
    parser.add_argument("--rounds", type=int, default=10, help="turns that count; 0: nothing is timed")
    options = parser.parse_args(argv)
    names = options.names.split(",")
    upstream = tree_of(options.provider, options.commit)
    if options.rounds:  # first: a child inherits the peak of the process that starts it
        print(*shown(measured(options, upstream.commit)), "", sep="\n")
    known = surface.read(upstream, names, memory=surface.Memory())
    tree = tree_of(options.consumer, options.revision)
    sources = tree.read([path for path in tree.files if path.endswith(".py")])
    used = uses.read(sources, names)
    print(f"{len(sources)} files, {len(used.uses)} uses of {len({use.symbol for use in used.uses})} names")
    must, told, missed = held(known, used)
    for kind, number in must.items():
        print(f"{kind:8}{told[kind]} of {number} places told, {100 * told[kind] / number:.1f} %")
    print(f"{'all':8}{100 * sum(told.values()) / max(1, sum(must.values())):.2f} % of {sum(must.values())}")
    print(*missed[:20], sep="\n")
    print(f"harmless: {false_alarms(known, used)} of {HARMLESS} edits told to fail")
    return int(bool(missed))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
