"""How long `pinctl build` takes beside the docker commands that it runs, and how long where there is nothing to do.

    python benchmarks/build.py --image NAME [--rounds N]

NAME is an image that the engine has, of Debian or Ubuntu, with git, g++ and python3-venv. See README.md.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import median

from run import Command, environment, measure, report, spread

_MOST_SECONDS, _MOST_SHARE = 1.0, 0.03
"""What pinctl may take besides the docker commands: whichever of the two is more."""

_SETUP = """\
from setuptools import Extension, setup

setup(name="tinyk", version="1.0", packages=["tinyk"], ext_modules=[Extension("tinyk._C", ["k.c"])])
"""
_KERNEL = """\
#include <Python.h>
static PyModuleDef module = {PyModuleDef_HEAD_INIT, "_C", "", -1, NULL};
PyMODINIT_FUNC PyInit__C(void) { return PyModule_Create(&module); }
"""
_PINS = """\
schema = 1
[pins.tinyk]
repo = "https://git.example/tinyk.git"
commit = "{commit}"
unused = true
wheel = {{ recipe = "wheel" }}
[variants.cu13]
cuda = "13.0"
image = "{image}"
digest = "{digest}"
python = ["{python}"]
platforms = ["{platform}"]
manylinux = "manylinux_2_{glibc}"
"""
_WRAPPER = """\
#!/bin/sh
start=$(date +%s.%N)
{docker} "$@"
code=$?
echo "$start $(date +%s.%N)" >>{log}
exit $code
"""


def _output(*argv: str, cwd: Path | None = None) -> str:
    return subprocess.run(argv, cwd=cwd, check=True, capture_output=True, text=True).stdout.strip()


def make(root: Path, image: str) -> dict[str, str]:
    """A consumer of a small kernel below `root`, and the environment in which pinctl builds it: each docker command is
    timed by a wrapper."""
    from pinctl.external import docker

    upstream, consumer, programs = root / "tinyk.git", root / "consumer", root / "bin"
    for folder in (upstream / "tinyk", consumer, programs):
        folder.mkdir(parents=True)
    for name, text in (("setup.py", _SETUP), ("k.c", _KERNEL), ("tinyk/__init__.py", "")):
        (upstream / name).write_text(text)
    who = ("-c", "user.name=x", "-c", "user.email=x@example.org")
    for words in (["init", "-q"], ["add", "-A"], [*who, "commit", "-q", "-m", "start"],
                  ["config", "uploadpack.allowAnySHA1InWant", "true"]):  # fmt: skip
        _output("git", *words, cwd=upstream)
    client = docker.find()
    found = docker.image_id(client, image)
    if found is None:
        raise SystemExit(f"the engine has no image {image}")
    seen = 'import sys, platform; print("%d.%d" % sys.version_info[:2], platform.libc_ver()[1].partition(".")[2])'
    python, glibc = _output(client.path, "run", "--rm", image, "python3", "-c", seen).split()
    (consumer / "pins.toml").write_text(_PINS.format(
        commit=_output("git", "rev-parse", "HEAD", cwd=upstream), image=image, digest=found[0], python=python,
        platform=docker.native(), glibc=glibc))  # fmt: skip
    (root / "gitconfig").write_text(f'[url "file://{root}/"]\n  insteadOf = https://git.example/\n')
    (programs / "docker").write_text(_WRAPPER.format(docker=client.path, log=root / "docker.log"))
    (programs / "docker").chmod(0o755)
    path = f"{programs}{os.pathsep}{os.environ['PATH']}"
    return {**environment(), "PATH": path, "GIT_CONFIG_GLOBAL": str(root / "gitconfig"), "XDG_CACHE_HOME": str(root)}


def build(root: Path, variables: dict[str, str], number: int) -> tuple[float, float]:
    """Build with an empty cache of wheels: the seconds of the whole, and those of its docker commands."""
    log = root / "docker.log"
    log.write_text("")
    pinctl = str(Path(sys.executable).parent / "pinctl")
    argv = [pinctl, "-q", "build", "--cache", str(root / f"wheels-{number}"), "--out", str(root / "dist")]
    start = time.time()
    subprocess.run(argv, cwd=root / "consumer", env=variables, check=True, capture_output=True)
    whole = time.time() - start
    spans = [tuple(map(float, line.split())) for line in log.read_text().splitlines()]
    return whole, sum(end - begin for begin, end in spans)


def main(argv: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(description="Measure pinctl build beside the docker commands that it runs.")
    parser.add_argument("--image", required=True, metavar="NAME", help="the image to build in")
    parser.add_argument("--rounds", type=int, default=5, help="builds that count (default: 5)")
    options = parser.parse_args(argv)
    with tempfile.TemporaryDirectory(prefix="pinctl-benchmark-") as temporary:
        root = Path(temporary).resolve()
        variables = make(root, options.image)
        build(root, variables, 0)
        samples = [build(root, variables, number) for number in range(1, max(options.rounds, 2) + 1)]
        over = [whole - raw for whole, raw in samples]
        most = max(_MOST_SECONDS, _MOST_SHARE * median(raw for _, raw in samples))
        print(f"docker commands of a build: {spread([raw for _, raw in samples], 2)} s")
        print(f"pinctl besides them:        {spread(over, 2)} s; bound {most:.2f} s:"
              f" {'within' if median(over) <= most else 'MISSED'}\n")  # fmt: skip
        os.environ.update({name: variables[name] for name in ("GIT_CONFIG_GLOBAL", "XDG_CACHE_HOME", "PATH")})
        pinctl = str(Path(sys.executable).parent / "pinctl")
        cached = [pinctl, "build", "--cache", str(root / "wheels-1"), "--out", str(root / "dist")]
        found = [
            Command("import typer", [sys.executable, "-c", "import typer"], root),
            Command("build, nothing to do", cached, root / "consumer", 3.0),
        ]
        measure(found, 20)
    report(found)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
