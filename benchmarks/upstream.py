"""How long `pinctl verify` takes and what it receives, beside the same git commands run by hand.

    python benchmarks/upstream.py [--rounds N] [--mirror PATH [--submodule TREE_PATH=PATH]...]

Everything is served by a git daemon on loopback, through a relay that counts bytes and can delay messages. See
README.md.
"""

import argparse
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from statistics import median

from libraries import Upstream, git, made, mirrored
from run import environment, ratios, spread
from wire import Wire, daemon

PINS = 10
LATENCY = 0.1
"""Seconds that a message to the server takes in the rows that say so."""
MOST_BYTES = 1.1
"""The bound of the bytes that are received, as a multiple of those that git receives by hand."""

_WARM = 1
_BY_ID = "-c fetch.negotiationAlgorithm=noop fetch -q --no-tags --no-write-fetch-head"


@dataclass(slots=True, kw_only=True)
class Case:
    """A command in a `folder`, which asks through `wire`. `base` is what it is held against, `most` the bound of its
    time as a multiple of that; the folder `cold` is emptied before each run.

    The samples: seconds from start to exit, seconds of processor time, and bytes received.
    """

    name: str
    argv: Sequence[str]
    folder: Path
    wire: Wire
    cold: Path | None = None
    base: "Case | None" = None
    most: float | None = None
    wall: list[float] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)
    received: list[float] = field(default_factory=list)

    def run(self, variables: Mapping[str, str]) -> None:
        """Run it once and keep what it took. Raises RuntimeError where it fails; findings are no failure."""
        if self.cold:
            shutil.rmtree(self.cold)
            self.cold.mkdir()
        rule = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_COUNT": "1",
                "GIT_CONFIG_KEY_0": f"url.git://127.0.0.1:{self.wire.own_port}/.insteadOf",
                "GIT_CONFIG_VALUE_0": "https://"}  # fmt: skip
        received, processor, start = self.wire.received, _processor(), time.perf_counter()
        done = subprocess.run(self.argv, cwd=self.folder, env={**variables, **rule}, capture_output=True, check=False)
        self.wall.append(time.perf_counter() - start)
        self.cpu.append(_processor() - processor)
        self.received.append(self.wire.received - received)
        if done.returncode > 1:
            raise RuntimeError(f"{self.name}: exit status {done.returncode}\n{(done.stdout + done.stderr).decode()}")

    def forget(self) -> None:
        self.wall, self.cpu, self.received = [], [], []


def _processor() -> float:
    """Seconds of processor time that ended children of this process, and theirs, have used."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


# --- what is run --------------------------------------------------------------------------------------------------


def pins_toml(upstreams: Sequence[Upstream]) -> str:
    """A pins.toml that pins them."""
    text = "schema = 1\n"
    for number, one in enumerate(upstreams):
        paths = ", ".join(f'"{module.path}"' for module in one.modules)
        text += f'\n[pins.p{number}]\nrepo = "{one.url}"\ncommit = "{one.commit}"\ntrack = "{one.branch}"\n'
        text += f"submodules = [{paths}]\nunused = true\n"
    return text


def by_hand(upstream: Upstream, blobs: Path, *, warm: bool) -> str:
    """The git commands that prove `upstream` and read it, as a person would write them: what `verify` asks and reads.

    The ids of the blobs that are read of its Nth repository are in the file N of the folder `blobs`. What is `warm` is
    there from an earlier run; a submodule's commit is then asked for by a repository that has not seen it.
    """
    lines = ["set -e"]
    for number, (url, commit) in enumerate([(upstream.url, upstream.commit), *(m[1:] for m in upstream.modules)]):
        repository, listed = f"git -C r{number}", f"'{blobs}/{number}'"
        asked, kind = ("new", "tree:0") if warm else (f"r{number}", "blob:none")
        branch = f"+{upstream.branch}:refs/heads/b"
        if number == 0:
            lines += [] if warm else ["git init -q --bare r0"]
            lines += [f"{repository} fetch -q --no-tags --filter=blob:none {url} {branch}",
                      f"{repository} merge-base --is-ancestor {commit} refs/heads/b"]  # fmt: skip
        else:
            lines += ["rm -rf new"] if warm else []
            lines += [
                f"git init -q --bare {asked}",
                f"git -C {asked} {_BY_ID} --filter={kind} --depth=1 {url} {commit}",
            ]
        lines += [f"{repository} ls-tree -r -z --full-tree {commit} > tree"]
        lines += [] if warm else [f"{repository} {_BY_ID} --filter=blob:none --stdin {url} < {listed}"]
        lines += [f"{repository} cat-file --batch < {listed} > blobs"]
    return "\n".join(lines)


def learn(verify: Case, variables: Mapping[str, str], upstream: Upstream, blobs: Path) -> None:
    """Have `verify` run, and write down which blobs it has read."""
    verify.run(variables)
    for number, url in enumerate([upstream.url, *(module.url for module in upstream.modules)]):
        cached = Path(variables["PINCTL_CACHE"], "v1", "git", sha256(url.encode()).hexdigest())
        listed = git(cached, "cat-file", "--batch-all-objects", "--batch-check=%(objecttype) %(objectname)")
        ids = [line.removeprefix("blob ") for line in listed.splitlines() if line.startswith("blob ")]
        (blobs / str(number)).write_text("".join(f"{id_}\n" for id_ in ids))


def cases(
    root: Path, upstreams: Sequence[Upstream], fast: Wire, slow: Wire, variables: Mapping[str, str]
) -> list[Case]:
    """What is measured, in folders below `root`; the folder `cache` is pinctl's."""
    one, ten, hand, blobs, cache = (root / name for name in ("one", "ten", "hand", "blobs", "cache"))
    for folder in (one, ten, hand, blobs, cache):
        folder.mkdir()
    (one / "pins.toml").write_text(pins_toml(upstreams[:1]))
    (ten / "pins.toml").write_text(pins_toml(upstreams))
    pinctl = [str(Path(sys.executable).parent / "pinctl"), "verify", "-q"]
    cold, warm = (["bash", "-c", by_hand(upstreams[0], blobs, warm=known)] for known in (False, True))
    first = Case(name="git by hand", argv=cold, folder=hand, wire=fast, cold=hand)
    again = Case(name="git by hand, warm", argv=warm, folder=hand, wire=fast)
    slowly = Case(name=f"verify, {LATENCY:g} s a message", argv=pinctl, folder=one, wire=slow, cold=cache)
    found = [
        first,
        again,
        Case(name="verify", argv=pinctl, folder=one, wire=fast, cold=cache, base=first, most=1.5),
        Case(name="verify, warm", argv=pinctl, folder=one, wire=fast, base=again, most=1.5),
        slowly,
        Case(name=f"verify {PINS} pins, {LATENCY:g} s", argv=pinctl, folder=ten, wire=slow, cold=cache, base=slowly,
             most=2.5),
    ]  # fmt: skip
    learn(found[2], variables, upstreams[0], blobs)
    return found


# --- what is told -------------------------------------------------------------------------------------------------


def report(found: Sequence[Case]) -> None:
    """Print the table."""
    titles = ("", "ms (quartiles)", "ratio (quartiles)", "of CPU time", "bound", "KB received", "ratio", "")
    rows = [titles, *map(row, found)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for cells in rows:
        print("  ".join(cell.ljust(width) for cell, width in zip(cells, widths, strict=True)).rstrip())
    version = subprocess.run(["git", "version"], check=True, capture_output=True, text=True).stdout.strip()
    print(f"{len(found[0].wall)} turns; Python {sys.version.split()[0]}, {version}, {os.cpu_count()} processors")


def row(case: Case) -> tuple[str, ...]:
    """One row of the table: each ratio is that to the base within a turn."""
    told = (case.name, spread([1000 * seconds for seconds in case.wall], 0))
    received = f"{median(case.received) / 1000:.0f}"
    if case.base is None or case.most is None:
        return (*told, "", "", "", received, "", "")
    wall, size = ratios(case.wall, case.base.wall), median(ratios(case.received, case.base.received))
    fair = case.wire.latency == 0  # of ten pins, ten times the bytes
    missed = ["time"] * (median(wall) > case.most) + ["bytes"] * (fair and size > MOST_BYTES)
    return (*told, spread(wall, 2), spread(ratios(case.cpu, case.base.cpu), 2), f"{case.most:.1f}", received,
            f"{size:.2f}", f"MISSED: {' and '.join(missed)}" if missed else "within")  # fmt: skip


def main(argv: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(description="Measure pinctl verify beside the same git commands run by hand.")
    parser.add_argument("--rounds", type=int, default=15, help="turns that count (default: 15)")
    parser.add_argument("--mirror", type=Path, metavar="PATH", help="pin the tip of this bare repository instead")
    parser.add_argument("--submodule", action="append", default=[], metavar="TREE_PATH=PATH",
                        help="a bare repository that has a submodule of it; may be repeated")  # fmt: skip
    options = parser.parse_args(argv)
    with tempfile.TemporaryDirectory(prefix="pinctl-benchmark-") as temporary:
        root, served = Path(temporary), Path(temporary, "served")
        modules = {
            path: Path(repository) for path, _, repository in (word.partition("=") for word in options.submodule)
        }
        upstreams = mirrored(served, PINS, options.mirror, modules) if options.mirror else made(served, PINS)
        variables = {**environment(), "PINCTL_CACHE": str(root / "cache")}
        with daemon(served) as port:
            found = cases(root, upstreams, Wire(port), Wire(port, LATENCY), variables)
            for number in range(_WARM + max(options.rounds, 2)):
                for case in found:
                    if number == _WARM:
                        case.forget()
                    case.run(variables)
    report(found)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
