"""An upstream whose next release swaps a submodule and needs a new header, a fork of it, and an engine that pins it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from consumer import Run, pinctl
from integration.servers import PUBLIC
from repositories import GitRepository, MakeRepository

DG, FORK, FMT, JIT = (f"{PUBLIC}{name}" for name in ("DeepGEMM", "fork", "fmt", "deep_jit"))

CMAKE = """\
FetchContent_Declare(
  deepgemm
  GIT_REPOSITORY {repo}
  GIT_TAG {commit}  # keep in sync
  GIT_SUBMODULES {submodules}
)
"""
SCRIPT = """\
#!/bin/bash
set -e
DEEPGEMM_GIT_REPO="{repo}"
DEEPGEMM_GIT_REF="{commit}"
git clone "$DEEPGEMM_GIT_REPO"
"""
DOCKERFILE = """\
FROM base AS build
ARG DEEPGEMM_REF={commit:.10}
RUN dnf install -y gcc{packages}
"""
HELPER = 'INCLUDES = [src / "csrc", {includes}]\n'
PINS = """\
schema = 1

[pins.deepgemm]
repo       = "{repo}"
commit     = "{commit}"  # the full id
track      = "main"
version    = "2.6"
submodules = ["third-party/cutlass", "third-party/fmt"]  # what the build needs
include_dirs = ["csrc", "third-party/fmt/include"]

[pins.deepgemm.sites."cmake/deepgemm.cmake"]
"FetchContent(deepgemm)" = "{{git}}"
[pins.deepgemm.sites."tools/install deepgemm.sh"]
DEEPGEMM_GIT_REPO = "{{repo}}"
DEEPGEMM_GIT_REF  = "{{commit}}"
[pins.deepgemm.sites."docker/Dockerfile"]
"ARG DEEPGEMM_REF" = "{{commit:.10}}"
[pins.deepgemm.sites."setup.py"]
"INCLUDES[src / *]" = "{{include_dirs}}"
"""


@dataclass(slots=True)
class World:
    """The repositories, of which `https://git.example/NAME` is served, and the engine.

    `first` is the commit of 2.6, which is pinned; `last` that of 2.8. In between lie commits that change less.
    """

    make: MakeRepository
    up: GitRepository
    fork: GitRepository
    modules: dict[str, GitRepository]
    engine: GitRepository
    first: str = ""
    last: str = ""

    @classmethod
    def made(cls, make: MakeRepository) -> World:
        names = ("cutlass", "fmt", "deep_jit")
        modules = {name: make(f"srv/{name}") for name in names}
        for name, repository in modules.items():
            repository.commit(f"{name} one", {f"include/{name}/{name}.h": "#include <vector>\n"})
        world = cls(make, make("srv/DeepGEMM"), make("srv/fork"), modules, make("the engine"))
        world.first = world.release("2.6", ("cutlass", "fmt"), "#include <fmt/fmt.h>\n")
        return world

    def release(self, version: str, modules: tuple[str, ...], source: str) -> str:
        """Commit a release of the upstream; its id."""
        up = self.up
        entries = (f'[submodule "{n}"]\n\tpath = third-party/{n}\n\turl = ../{n}\n' for n in modules)
        files = {"deep_gemm/__init__.py": f"__version__ = '{version}'\n", "csrc/api.cpp": source,
                 "setup.py": "from setuptools import setup\n", ".gitmodules": "".join(entries)}  # fmt: skip
        for path, text in files.items():
            up.write(path, text)
        for name in self.modules:
            folder = up.path / "third-party" / name
            if name in modules:
                folder.mkdir(parents=True, exist_ok=True)
            elif folder.is_dir():
                folder.rmdir()
        up.git("add", "-A")
        for name in modules:
            commit = self.modules[name].git("rev-parse", "HEAD")
            up.git("update-index", "--add", "--cacheinfo", f"160000,{commit},third-party/{name}")
        up.clock += 3600
        up.git("commit", "-q", "-m", f"Release {version}")
        return up.git("rev-parse", "HEAD")

    def next_release(self) -> str:
        """What a real release did: fmt gave way to deep_jit, and a header of elfutils is needed."""
        source = "#include <deep_jit/deep_jit.h>\n#include <elfutils/libdwfl.h>\n"
        self.last = self.release("2.8", ("cutlass", "deep_jit"), source)
        return self.last

    def consume(self, repo: str = DG, commit: str | None = None, pins: str = "") -> None:
        """Commit an engine whose sites agree with its pins.toml, which ends in `pins`."""
        commit = commit or self.first
        values = {"repo": repo, "commit": commit}
        files = {
            "pins.toml": PINS.format(**values) + pins,
            "cmake/deepgemm.cmake": CMAKE.format(**values, submodules="third-party/cutlass third-party/fmt"),
            "tools/install deepgemm.sh": SCRIPT.format(**values),
            "docker/Dockerfile": DOCKERFILE.format(commit=commit, packages="").replace(f"{commit:.10}", commit[:10]),
            "setup.py": HELPER.format(includes='src / "third-party/fmt/include"'),
        }
        self.engine.commit("an engine", files)

    def run(self, *words: str) -> Run:
        return pinctl(*words, cwd=self.engine.path)

    def bump(self, *words: str) -> Run:
        """`pinctl bump --format json WORDS`."""
        return self.run("bump", "--format", "json", *words)

    def text(self, file: str) -> str:
        return (self.engine.path / file).read_text()

    @property
    def status(self) -> list[str]:
        """What `git status --short` says of the engine."""
        return self.engine.git("status", "--short", "-uall").split("\n")

    @property
    def root(self) -> Path:
        return self.engine.path
