"""How long `pinctl check` takes and how much memory, beside `python -c "import typer"` and `cog --check`.

    python benchmarks/run.py [--rounds N] [--keep DIR]

Run it with the Python of an environment that pinctl, typer and cogapp are installed in. The commands take turns, and
a ratio is taken within each turn, so that a busy machine slows both sides. See README.md.
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
from pathlib import Path
from statistics import median, quantiles

_MEMORY = 80
"""The bound of the peak memory, in MB."""
_WARM = 2
_RSS_UNIT = 1 if sys.platform == "darwin" else 1024
"""getrusage(2): ru_maxrss is in bytes on macOS, in kilobytes on Linux."""


@dataclass(slots=True)
class Command:
    """One command to measure; `bound` is the most that it may take, as a multiple of the first command. An exit status
    up to `accepted` is no failure; the folders `without` are taken away before each run.

    The samples: seconds from start to exit, seconds of processor time, and the peak of resident memory in MB.
    """

    name: str
    argv: Sequence[str]
    directory: Path
    bound: float | None = None
    wall: list[float] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)
    peak: list[float] = field(default_factory=list)
    accepted: int = 0
    without: Sequence[Path] = ()

    def run(self, environment: Mapping[str, str]) -> None:
        """Runs the command once and keeps what it took. Raises RuntimeError where it fails."""
        for folder in self.without:
            shutil.rmtree(folder, ignore_errors=True)
        start = time.perf_counter()
        process = subprocess.Popen(
            self.argv, cwd=self.directory, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
        )
        _, status, usage = os.wait4(process.pid, 0)
        self.wall.append(time.perf_counter() - start)
        process.returncode = os.waitstatus_to_exitcode(status)
        assert process.stderr is not None
        with process.stderr as stderr:
            if not 0 <= process.returncode <= self.accepted:
                raise RuntimeError(f"{self.name}: exit status {process.returncode}\n{stderr.read().decode()}")
        self.cpu.append(usage.ru_utime + usage.ru_stime)
        self.peak.append(usage.ru_maxrss * _RSS_UNIT / 1e6)

    def forget(self) -> None:
        self.wall, self.cpu, self.peak = [], [], []


def commands(root: Path) -> list[Command]:
    """What is measured, in the trees below `root`; the first is what the others are held against."""
    scripts = Path(sys.executable).parent
    pinctl, cog = str(scripts / "pinctl"), str(scripts / "cog")
    found = [
        Command("import typer", [sys.executable, "-c", "import typer"], root),
        Command("check, 4 sites", [pinctl, "check"], root / "small", 2.0),
        Command("check, 232 sites", [pinctl, "check"], root / "large", 3.0),
        Command("  nothing remembered", [pinctl, "check", "--untrusted"], root / "large"),
        Command("cog --check, 4 files", [cog, "--check", *COGGED], root / "cog"),
    ]
    return [command for command in found if os.path.exists(command.argv[0])]


COGGED = ("deepkernels.cmake", "install.sh", "Dockerfile", "versions.txt")


def write_trees(root: Path) -> None:
    """Writes the trees: `small`, `large` and `cog`, whose files hold one generated line each, and are current."""
    import tree

    small = tree.small()
    small.write(root / "small")
    tree.large().write(root / "large")
    folder = root / "cog"
    folder.mkdir()
    (folder / "pins.toml").write_bytes((root / "small" / "pins.toml").read_bytes())
    commit = small.pins[0].facts["commit"]
    block = (
        "# [[[cog\n# import cog, tomllib\n# pins = tomllib.load(open('pins.toml', 'rb'))['pins']\n"
        f"# cog.outl(pins['deepkernels']['commit'])\n# ]]]\n{commit}\n# [[[end]]]\n"
    )
    for name, file in zip(COGGED, small.files, strict=True):
        (folder / name).write_text(file.text() + block)


def environment() -> dict[str, str]:
    """The environment of a user's shell: nothing that tells Python where, or whether, to keep its bytecode."""
    return {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "PINCTL_"))}


def measure(found: Sequence[Command], rounds: int) -> None:
    """Runs all commands in turns, after a few that warm the caches of bytecode and files."""
    variables = environment()
    for number in range(_WARM + rounds):
        for command in found:
            if number == _WARM:
                command.forget()
            command.run(variables)


def spread(values: Sequence[float], digits: int) -> str:
    """Median and quartiles: `1.84 (1.80 .. 1.91)`."""
    low, middle, high = (f"{value:.{digits}f}" for value in quantiles(values, n=4, method="inclusive"))
    return f"{middle} ({low} .. {high})"


def ratios(of: Sequence[float], base: Sequence[float]) -> list[float]:
    """The ratio within each turn."""
    return [a / b for a, b in zip(of, base, strict=True)]


def row(command: Command, base: Command, floor: float) -> tuple[str, ...]:
    """One row of the table. A peak that is not above `floor` cannot be told from that of this process."""
    wall, peak = ratios(command.wall, base.wall), max(command.peak)
    return (
        command.name,
        spread([1000 * seconds for seconds in command.wall], 0),
        f"{1000 * min(command.wall):.0f}",
        spread(wall, 2),
        spread(ratios(command.cpu, base.cpu), 2),
        f"{command.bound:.1f}" if command.bound else "",
        f"{peak:.0f}" if peak > floor else f"<= {floor:.0f}",
        verdict(command, median(wall)),
    )


def verdict(command: Command, ratio: float) -> str:
    """Whether the command stays within its bounds."""
    if command.bound is None:
        return ""
    missed = [what for what, bad in (("time", ratio > command.bound), ("memory", max(command.peak) > _MEMORY)) if bad]
    return f"MISSED: {' and '.join(missed)}" if missed else "within"


def report(found: Sequence[Command]) -> None:
    """Prints the table."""
    base, floor = found[0], resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * _RSS_UNIT / 1e6
    titles = ("", "ms (quartiles)", "least", "ratio (quartiles)", "of CPU time", "bound", "peak MB", f"of {_MEMORY}")
    rows = [titles, *(row(command, base, floor) for command in found)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for cells in rows:
        print("  ".join(cell.ljust(width) for cell, width in zip(cells, widths, strict=True)).rstrip())
    from importlib.metadata import version

    versions = ", ".join(f"{name} {version(name)}" for name in ("pinctl", "typer"))
    print(f"{len(base.wall)} turns; Python {sys.version.split()[0]}, {versions}")


def main(argv: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(description="Measure pinctl check beside import typer and cog --check.")
    parser.add_argument("--rounds", type=int, default=20, help="turns that count (default: 20)")
    parser.add_argument("--keep", type=Path, metavar="DIR", help="write the trees there and keep them")
    options = parser.parse_args(argv)
    with tempfile.TemporaryDirectory(prefix="pinctl-benchmark-") as temporary:
        root = options.keep or Path(temporary)
        write_trees(root)
        found = commands(root.absolute())
        measure(found, max(options.rounds, 2))
    report(found)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
