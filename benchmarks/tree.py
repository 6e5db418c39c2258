"""The consumer trees that run.py measures `pinctl check` on: made here, the same on every machine."""

import json
import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from hashlib import sha1
from itertools import cycle, islice
from pathlib import Path

import filler

FRAMES = {
    "dockerfile": ("ARG BASE=ubuntu:24.04\nFROM ${BASE} AS base\n", ""),
    "json": ('{\n  "variable": {\n', '    "LAST": {"default": ""}\n  }\n}\n'),
    "python": ('"""Build helpers."""\n\nimport os\nimport subprocess\n\n\n', ""),
    "shell": ("#!/usr/bin/env bash\nset -euo pipefail\n\n", ""),
    "toml": ('[build-system]\nrequires = ["setuptools>=77"]\nbuild-backend = "setuptools.build_meta"\n\n', ""),
    "yaml": ("steps:\n", ""),
}
"""How a file of a language begins and ends."""

PACKAGE = {
    "cmake": ('set(<NAME>_VERSION "<version>")\n', "set(<NAME>_VERSION)", "{version}"),
    "dockerfile": ("ARG <NAME>_VERSION=<version>\n", "ARG <NAME>_VERSION", "{version}"),
    "hcl": ('variable "<NAME>" {\n  default = "<version>"\n}\n', "variable.<NAME>.default", "{version}"),
    "json": ('    "<NAME>": {"default": "<version>"},\n', "/variable/<NAME>/default", "{version}"),
    "python": ('<NAME>_REQUIRES = ["<name>==<version>"]\n', "requirement <name>", "{version}"),
    "requirements": ("<name>==<version>\n    # via -r test.in\n", "requirement <name>", "{version}"),
    "shell": ('<NAME>_VERSION="<version>"\n', "<NAME>_VERSION", "{version}"),
    "toml": ('[tool.pins.<name>]\nversion = "<version>"\n', "tool.pins.<name>.version", "{version}"),
    "yaml": ("  - commands:\n      - pip install <name>==<version>\n", "pip install <name>", "{version}"),
}
"""How a file of a language holds a package's version: the text, the selector, the template."""

SOURCE = {
    "cmake": (
        'set(_<NAME>_REPO "<repo>")\nset(_<NAME>_TAG "<commit>")\nFetchContent_Declare(\n  <name>\n'
        '  GIT_REPOSITORY "${_<NAME>_REPO}"\n  GIT_TAG "${_<NAME>_TAG}"\n'
        "  GIT_SUBMODULES third-party/fmt third-party/cutlass\n  GIT_PROGRESS TRUE)\n",
        "FetchContent(<name>)",
        "{git}",
    ),
    "dockerfile": ("ARG <NAME>_REF=<short>\n", "ARG <NAME>_REF", "{commit:.10}"),
    "json": ('    "<NAME>_REF": {"default": "<commit>"},\n', "/variable/<NAME>_REF/default", "{commit}"),
    "shell": ('<NAME>_GIT_REF="<commit>"\n', "<NAME>_GIT_REF", "{commit}"),
}
"""The same for a dependency that is built from source."""


@dataclass(slots=True)
class Pin:
    """One entry of pins.toml: its facts, and by file its site there, a selector and a template."""

    name: str
    facts: dict[str, object]
    sites: dict[str, tuple[str, str]] = field(default_factory=dict)

    def toml(self) -> str:
        """The pin as pins.toml says it."""
        lines = [f"[pins.{self.name}]", *(f"{key} = {json.dumps(value)}" for key, value in self.facts.items())]
        lines += [
            f"sites.{json.dumps(file)}.{json.dumps(selector)} = {json.dumps(template)}"
            for file, (selector, template) in self.sites.items()
        ]
        return "\n".join(lines) + "\n"

    def filled(self, text: str) -> str:
        """`text` with the marks of PACKAGE and SOURCE replaced."""
        facts = {"name": self.name, "NAME": self.name.upper().replace("-", "_"), **self.facts}
        facts["short"] = str(facts.get("commit"))[:10]
        for mark, value in facts.items():
            text = text.replace(f"<{mark}>", str(value))
        return text


def source(name: str) -> Pin:
    """A pin of a git repository."""
    repo, commit = f"https://github.com/example/{name}.git", sha1(name.encode()).hexdigest()
    return Pin(name, {"repo": repo, "commit": commit, "submodules": ["third-party/fmt", "third-party/cutlass"]})


def package(name: str, rng: random.Random) -> Pin:
    """A pin of a package at some version."""
    return Pin(name, {"packages": [name], "version": f"{rng.randrange(4)}.{rng.randrange(30)}.{rng.randrange(12)}"})


@dataclass(slots=True)
class File:
    """A file to be written: `sites` are the pieces of text that hold pins, `size` what it is filled up to, in bytes."""

    path: str
    language: str
    size: int
    sites: list[str] = field(default_factory=list)

    def hold(self, pin: Pin) -> None:
        """Makes the file a site of `pin`."""
        text, selector, template = (SOURCE if "repo" in pin.facts else PACKAGE)[self.language]
        self.sites.append(pin.filled(text))
        pin.sites[self.path] = (pin.filled(selector), template)

    def text(self) -> str:
        """The sites, evenly apart between blocks of filler."""
        blocks = list(up_to(self.size, filler.blocks(self.language, random.Random(self.path))))
        step = max(len(blocks) // (len(self.sites) + 1), 1)
        for n, site in enumerate(self.sites, 1):
            blocks.insert(n * (step + 1) - 1, site)
        head, tail = FRAMES.get(self.language, ("", ""))
        return head + "".join(blocks) + tail


def up_to(size: int, blocks: Iterator[str]) -> Iterator[str]:
    """Blocks until they have `size` characters."""
    total = 0
    while total < size:
        block = next(blocks)
        total += len(block)
        yield block


@dataclass(slots=True)
class Tree:
    """Files and the pins that they hold."""

    files: list[File]
    pins: list[Pin]

    @property
    def sites(self) -> int:
        """How many there are."""
        return sum(len(pin.sites) for pin in self.pins)

    def write(self, root: Path) -> int:
        """Writes the tree and its pins.toml below `root`; the bytes of the files without pins.toml."""
        size = 0
        for file in self.files:
            path = root / file.path
            path.parent.mkdir(parents=True, exist_ok=True)
            size += path.write_bytes(file.text().encode())
        (root / "pins.toml").write_text("schema = 1\n\n" + "\n".join(pin.toml() for pin in self.pins))
        return size


def small() -> Tree:
    """One pin at four sites: FetchContent, an install script, a Dockerfile and a JSON manifest."""
    pin = source("deepkernels")
    files = [
        File("cmake/deepkernels.cmake", "cmake", 3_000),
        File("tools/install_deepkernels.sh", "shell", 3_000),
        File("docker/Dockerfile", "dockerfile", 3_000),
        File("docker/versions.json", "json", 1_000),
    ]
    for file in files:
        file.hold(pin)
    return Tree(files, [pin])


def large() -> Tree:
    """An engine's tree: 51 files of 0.9 MB in nine languages, 45 pins at 232 sites."""
    files = [File(path, language, size) for language, sizes in FILES.items() for path, size in sizes.items()]
    by_path = {file.path: file for file in files}
    sources = [source(name) for name in SOURCES]
    for pin, script in zip(sources, cycle(SCRIPTS), strict=False):
        by_path.get(f"cmake/external_projects/{pin.name}.cmake", by_path["CMakeLists.txt"]).hold(pin)
        for path in (script, "docker/Dockerfile", "docker/versions.json"):
            by_path[path].hold(pin)
    rng = random.Random(0)
    packages = [package(f"{first}-{second}", rng) for first in FIRST for second in SECOND]
    holders = [file for file in files if "external_projects" not in file.path]
    rng.shuffle(holders)
    turns = cycle(holders)
    for n, pin in enumerate(packages):
        for file in islice(turns, 6 if n < AT_SIX_SITES else 5):
            file.hold(pin)
    return Tree(files, [*sources, *packages])


SOURCES = (
    "attentiongrid", "deepkernels", "expertlink", "flashrows", "gemmforge", "headmerge", "quantblocks", "sparsemill",
    "tritonport", "cutplates",
)  # fmt: skip
FIRST = ("tensor", "router", "kernel", "graph", "shard", "cache", "block")
SECOND = ("attention", "runtime", "tools", "codec", "ffi")
AT_SIX_SITES = 17
SCRIPTS = tuple(f"tools/install_{name}.sh" for name in ("cubins", "gemm", "links", "nccl", "rows"))
FILES = {
    "cmake": {
        "CMakeLists.txt": 68_000,
        "cmake/utils.cmake": 25_000,
        "cmake/cpu_extension.cmake": 22_000,
        **{f"cmake/external_projects/{name}.cmake": 6_000 for name in SOURCES[:-1]},
    },
    "dockerfile": {
        "docker/Dockerfile": 47_000,
        "docker/Dockerfile.rocm": 40_000,
        "docker/Dockerfile.cpu": 16_000,
        "docker/Dockerfile.nightly": 12_000,
        "docker/Dockerfile.xpu": 10_000,
    },
    "requirements": {
        **{f"requirements/{name}.txt": 1_500 for name in ("build", "common", "cpu", "cuda", "rocm", "xpu")},
        **{f"requirements/test/{name}.txt": 31_000 for name in ("cpu", "cuda", "rocm", "xpu")},
    },
    "python": {"setup.py": 58_000, **{f"tools/build_{name}.py": 15_000 for name in ("docs", "ext", "index", "wheel")}},
    "yaml": {
        "ci/release.yaml": 50_000,
        **{f"ci/areas/{name}.yaml": 15_000 for name in ("basic", "compile", "kernels", "lora", "misc", "models")},
    },
    "shell": {
        "ci/scripts/bake.sh": 44_000,
        "ci/scripts/hardware.sh": 44_000,
        **dict.fromkeys(SCRIPTS, 7_000),
    },
    "json": {"docker/versions.json": 1_000, "ci/cells.json": 12_000},
    "hcl": {"docker/docker-bake.hcl": 16_000, "docker/ci-rocm.hcl": 17_000},
    "toml": {"pyproject.toml": 6_000},
}
"""The files of the large tree by language, each with about its size in bytes."""
