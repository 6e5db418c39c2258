"""A small engine that pins two dependencies, and `pinctl` run on it as a user runs it."""

import io
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import chdir, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from repositories import GitRepository

OLD, NEW, OTHER = "a1" * 20, "b2" * 20, "c3" * 20
"""Commit ids of one dependency: the pinned one, a later one, another one."""

PINS = f"""\
schema = 1

[pins.dg]
repo       = "https://github.com/o/DeepGEMM.git"
commit     = "{OLD}"  # the full id
submodules = ["third-party/cutlass", "third-party/fmt"]

[pins.dg.sites."cmake/dg.cmake"]
"FetchContent(dg)" = "{{git}}"
[pins.dg.sites."tools/install dg.sh"]
DG_REF = "{{commit}}"
[pins.dg.sites."docker/Dockerfile"]
"ARG DG_REF" = "{{commit:.10}}"

[pins.tl]
packages = ["tilelang"]
version  = "0.1.11"
sites."requirements.txt"."requirement tilelang" = "{{version}}"
"""
CMAKE = f"""\
include(FetchContent)
FetchContent_Declare(
  dg
  GIT_REPOSITORY https://github.com/o/DeepGEMM.git
  GIT_TAG {OLD}  # see tools/
  GIT_SUBMODULES third-party/cutlass third-party/fmt
)
FetchContent_MakeAvailable(dg)
"""
SHELL = f"""\
#!/bin/bash
set -e
DG_REF="{OLD}"
git checkout "$DG_REF"
"""
DOCKERFILE = f"""\
FROM base AS build
ARG DG_REF={OLD[:10]}
RUN dnf install -y git gcc
"""
FILES = {
    "pins.toml": PINS,
    "cmake/dg.cmake": CMAKE,
    "tools/install dg.sh": SHELL,
    "docker/Dockerfile": DOCKERFILE,
    "requirements.txt": "torch\ntilelang==0.1.11\n",
}
AGREES = "4 sites of 2 pins agree with pins.toml\n"


@dataclass(frozen=True, slots=True)
class Run:
    """How one call of pinctl ended, and what it printed."""

    code: int
    out: str
    err: str = ""

    @property
    def document(self) -> Any:
        """What `--format json` printed."""
        return json.loads(self.out)

    @property
    def codes(self) -> list[str]:
        """The codes of the findings of the document, in its order."""
        return [found["code"] for found in self.document["findings"]]

    @property
    def told(self) -> list[tuple[str, str]]:
        """Code and severity of the findings of the document."""
        return [(found["code"], found["severity"]) for found in self.document["findings"]]


def pinctl(*words: str, cwd: Path) -> Run:
    """`pinctl WORDS` started in `cwd`, through the whole command line but in this process."""
    from pinctl.cli import main

    with chdir(cwd), _streams() as (out, err):
        code = main(list(words))
    return Run(code, out.getvalue().decode("utf-8", "surrogateescape"), err.getvalue().decode())


@contextmanager
def _streams() -> Iterator[tuple[io.BytesIO, io.BytesIO]]:
    """sys.stdout and sys.stderr as bytes, the first one as strict about its encoding as a pipe is."""
    before, raw = (sys.stdout, sys.stderr), (io.BytesIO(), io.BytesIO())
    sys.stdout, sys.stderr = (io.TextIOWrapper(stream, "utf-8", newline="", write_through=True) for stream in raw)
    try:
        yield raw
    finally:
        for stream in (sys.stdout, sys.stderr):
            stream.detach()
        sys.stdout, sys.stderr = before


def process(*words: str, cwd: Path, module: bool = True, **settings: Any) -> "subprocess.CompletedProcess[str]":
    """`python -m pinctl WORDS` as a process of its own; without `module`, `python WORDS`."""
    argv = command(*words) if module else [sys.executable, *words]
    return subprocess.run(argv, cwd=cwd, env=environment(), text=True, capture_output=True, **settings)


def command(*words: str) -> list[str]:
    return [sys.executable, "-m", "pinctl", *words]


def environment(**more: str) -> dict[str, str]:
    """The environment of a process that finds this pinctl from any directory."""
    return {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1]), **more}


@dataclass(slots=True)
class Consumer:
    """The engine: a git repository with a space in its name, and a committed tree in which every site agrees."""

    repository: GitRepository

    @property
    def path(self) -> Path:
        return self.repository.path

    def run(self, *words: str, cwd: str = ".") -> Run:
        return pinctl(*words, cwd=self.path / cwd)

    def check(self, *words: str) -> Run:
        """`pinctl check --format json WORDS`."""
        return self.run("check", "--format", "json", *words)

    def text(self, file: str) -> str:
        return (self.path / file).read_bytes().decode()

    def tree(self) -> dict[str, bytes]:
        """Every file outside of `.git`."""
        files = (path for path in self.path.rglob("*") if path.is_file())
        return {name: path.read_bytes() for path in files if not (name := self._name(path)).startswith(".git/")}

    def _name(self, path: Path) -> str:
        return path.relative_to(self.path).as_posix()

    def put(self, file: str, text: str | bytes) -> None:
        """Write a file, and commit nothing."""
        self.repository.write(file, text)

    def edit(self, file: str, old: str, new: str) -> None:
        """Put `new` in the place of `old`, which must be there, everywhere in a file; commit nothing."""
        text = self.text(file)
        assert old in text, f"{file} holds no {old!r}"
        self.put(file, text.replace(old, new))

    def commit(self, message: str = "change") -> str:
        return self.repository.commit(message)
