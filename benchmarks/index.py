"""How long `pinctl index build` and `index verify` take for 700 files: whole processes, in seconds.

    python benchmarks/index.py [--rounds N] [--keep DIR]

Run it with the Python of an environment that pinctl is installed in. The index holds its files itself, so that
`verify` reads and hashes each, and looks into it for its METADATA; they are small, since what is measured is pinctl.
"""

import argparse
import base64
import hashlib
import sys
import tempfile
import zipfile
from pathlib import Path
from statistics import median

from run import Command, environment, spread

FILES = 700
BUILD, VERIFY = 1.0, 2.0
"""The most that they may take, in seconds."""

_VARIANTS = ("cu126", "cu128", "cu129", "cu130", "rocm700")
_TAGS = [f"cp3{minor}-cp3{minor}-manylinux_2_28_{cpu}" for minor in (10, 11, 12, 13) for cpu in ("x86_64", "aarch64")]


def write_wheels(folder: Path, count: int = FILES) -> list[Path]:
    """`count` small wheels of one project, by version, variant and tag."""
    folder.mkdir(parents=True)
    made: list[Path] = []
    number = 0
    while len(made) < count:
        for variant in _VARIANTS:
            made += [_wheel(folder, f"1.{number}+{variant}", tag) for tag in _TAGS[: count - len(made)]]
        number += 1
    return made


def _wheel(folder: Path, version: str, tag: str) -> Path:
    info = f"tinyk-{version}.dist-info"
    files = {
        "tinyk.py": f"VERSION = {version!r}\n",
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: tinyk\nVersion: {version}\nRequires-Python: >=3.10\n",
        f"{info}/WHEEL": f"Wheel-Version: 1.0\nRoot-Is-Purelib: false\nTag: {tag}\n",
    }
    rows = [f"{name},sha256={_encoded(text)},{len(text)}\n" for name, text in files.items()]
    files[f"{info}/RECORD"] = f"{''.join(rows)}{info}/RECORD,,\n"
    path = folder / f"tinyk-{version}-{tag}.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in files.items():
            archive.writestr(zipfile.ZipInfo(name), text)
    return path


def _encoded(text: str) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).decode().rstrip("=")


def commands(root: Path) -> list[Command]:
    """What is measured, in the folder `root` with its wheels."""
    pinctl = str(Path(sys.executable).parent / "pinctl")
    return [
        Command("index build, 700 files", [pinctl, "-q", "index", "build", "--out", "site"], root, BUILD),
        Command("index verify, 700 files", [pinctl, "-q", "index", "verify", "site"], root, VERIFY),
    ]


def prepare(root: Path, count: int = FILES) -> None:
    """Writes `count` wheels and pins.toml to `root`, and the records of the wheels."""
    variants = "".join(f'[variants.{name}]\nlabel = "{name}"\n' for name in _VARIANTS)
    (root / "pins.toml").write_text(f'schema = 1\n[index]\nurl = "https://whl.example"\n{variants}')
    write_wheels(root / "dist", count)
    pinctl = str(Path(sys.executable).parent / "pinctl")
    Command("add", [pinctl, "-q", "index", "build", "--add", "dist", "--out", "site"], root).run(environment())


def report(found: list[Command]) -> bool:
    """Prints a line a command; whether all are within their bounds."""
    print(f"{'':26}{'seconds':>24}{'CPU':>8}{'MB':>7}{'bound':>8}")
    for one in found:
        print(f"{one.name:26}{spread(one.wall, 2):>24}{median(one.cpu):8.2f}{max(one.peak):7.0f}{one.bound:8.1f}")
    return all(median(one.wall) <= (one.bound or 0) for one in found)


def main() -> int:
    """Exit status 1 where a bound is missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--keep", type=Path, help="a folder for the wheels and the index, which stays")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as spare:
        root = arguments.keep or Path(spare)
        root.mkdir(parents=True, exist_ok=True)
        prepare(root)
        found = commands(root)
        for _ in range(arguments.rounds):
            for command in found:
                command.run(environment())
    return 0 if report(found) else 1


if __name__ == "__main__":
    raise SystemExit(main())
