"""The repositories that upstream.py pins: made here, the same on every machine, or mirrors that are there already.

Each is served at the path that its URL has behind `https://`.
"""

import random
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import filler
from tree import up_to

_HOST = "git.example"
_COMMITS = 130


class Module(NamedTuple):
    """A submodule of a pinned repository: its path in the tree, its URL, its commit."""

    path: str
    url: str
    commit: str


class Upstream(NamedTuple):
    """What is pinned: a commit of a repository's branch, and the submodules that the pin declares."""

    url: str
    branch: str
    commit: str
    modules: tuple[Module, ...]


def made(base: Path, number: int) -> list[Upstream]:
    """Make `number` repositories with two submodules each below `base`: of one content, each at URLs of its own."""
    first = base / _HOST / "0"
    inner = {"third-party/lib": _make(first / "lib.git", _library()),
             "third-party/text": _make(first / "text.git", _text())}  # fmt: skip
    entries = "".join(f'[submodule "{p}"]\n\tpath = {p}\n\turl = ../{Path(p).name}.git\n' for p in inner)
    commit = _make(first / "kernels.git", _kernels() | {".gitmodules": entries}, inner)
    for n in range(1, number):
        (base / _HOST / str(n)).symlink_to(first)
    return [
        Upstream(f"https://{_HOST}/{n}/kernels.git", "main", commit,
                 tuple(Module(p, f"https://{_HOST}/{n}/{Path(p).name}.git", id_) for p, id_ in inner.items()))
        for n in range(number)
    ]  # fmt: skip


def mirrored(base: Path, number: int, mirror: Path, submodules: Mapping[str, Path]) -> list[Upstream]:
    """Serve the repository at `mirror` `number` times, and those of its submodules for which there is a mirror, by the
    URLs that its .gitmodules gives them. The mirrors are only read."""
    branch = git(mirror, "symbolic-ref", "--short", "HEAD")
    modules = [Module(path, _url(mirror, branch, path), git(mirror, "rev-parse", f"{branch}:{path}"))
               for path in submodules]  # fmt: skip
    urls = [f"https://{_HOST}/{n}/mirror.git" for n in range(number)]
    served = dict.fromkeys(urls, mirror) | {module.url: submodules[module.path] for module in modules}
    for url, repository in served.items():
        place = base / url.removeprefix("https://")
        place.parent.mkdir(parents=True, exist_ok=True)
        place.symlink_to(repository.absolute())
    return [Upstream(url, branch, git(mirror, "rev-parse", branch), tuple(modules)) for url in urls]


def _url(repository: Path, branch: str, path: str) -> str:
    """The URL of the submodule at `path`, which is an absolute one."""
    pairs = git(repository, "config", f"--blob={branch}:.gitmodules", "--list").splitlines()
    (name,) = [key.removesuffix(".path") for key, _, value in (p.partition("=") for p in pairs)
               if key.endswith(".path") and value == path]  # fmt: skip
    return git(repository, "config", f"--blob={branch}:.gitmodules", f"{name}.url")


def git(repository: Path, *args: str, stdin: bytes = b"") -> str:
    """What `git ARGS` prints in a bare repository."""
    done = subprocess.run(["git", f"--git-dir={repository}", *args], input=stdin, stdout=subprocess.PIPE, check=True)
    return done.stdout.decode().strip()


# --- what is in those that are made -------------------------------------------------------------------------------

_HEADS = "acc attn block cache expert gemm head layer mask page quant route scale tile warp".split()
_TAILS = "_t _size _ptr s Desc Layout Shape Stride Tensor Traits Copy Mma Op _idx _mask Iter".split()
_WORDS = [head + tail for head in _HEADS for tail in _TAILS]
_STEPS = (17, 32)
"""How many headers of the library are reached by one step of `#include`, and by two: as many as DeepGEMM reaches of
CUTLASS, where there are six steps more."""


def _kernels() -> dict[str, str]:
    """The files of a library of kernels, about as many and as large as DeepGEMM's with its packaging."""
    files = {"kernels/__init__.py": '__version__ = "2.1.0"\n', "csrc/main.cu": _source("main", 3_000)}
    for n in range(45):
        inner = [f"<lib/step0/part{part}.h>" for part in _some(n, _STEPS[0])]
        files[f"kernels/include/kernels/k{n}.cuh"] = _source(f"k{n}", 13_000, "<cuda_runtime.h>", *inner)
        files[f"csrc/c{n}.hpp"] = _source(f"c{n}", 9_000, "<vector>", f"<kernels/k{n}.cuh>", "<text/text.h>")
    files |= {f"kernels/m{n}.py": _filler("python", f"m{n}", 7_000) for n in range(80)}
    return files | {f"ci/step{n}.yaml": _filler("yaml", f"y{n}", 2_000) for n in range(98)}


def _library() -> dict[str, str]:
    """The files of a library of templates, whose headers include one another as CUTLASS's do."""
    files = {f"include/lib/other/part{n}.h": _source(f"other/{n}", 18_000) for n in range(200)}
    files |= {f"test/unit/t{n}.cu": _source(f"t{n}", 5_000) for n in range(300)}
    for step, number in enumerate(_STEPS):
        for n in range(number):
            after = _some(n, _STEPS[step + 1]) if step + 1 < len(_STEPS) else ()
            inner = [f"<lib/step{step + 1}/part{part}.h>" for part in after]
            files[f"include/lib/step{step}/part{n}.h"] = _source(f"{step}/{n}", 18_000, "<cstdint>", *inner)
    return files


def _text() -> dict[str, str]:
    """The files of a small library."""
    files = {f"test/t{n}.cc": _source(f"x{n}", 9_000) for n in range(60)}
    files["include/text/text.h"] = _source("text", 30_000, "<string>", "<text/base.h>")
    return files | {"include/text/base.h": _source("base", 60_000, "<vector>")}


def _some(number: int, of: int) -> list[int]:
    """Some numbers below `of`; those of all `number` together are all of them."""
    return sorted({(4 * number + n) % of for n in range(4)})


def _source(name: str, size: int, *includes: str) -> str:
    """A C++ file of about `size` characters, in which no line is like another: else all would be deltas of one."""
    rng = random.Random(name)
    line = "    {} {}_{} = {}<{}>({}, {}.{}, " + "{});\n"
    text = "".join(f"#include {include}\n" for include in includes)
    while len(text) < size:
        text += line.format(*rng.choices(_WORDS, k=8), rng.randrange(10**6))
    return f"#pragma once\n\n{text}"


def _filler(language: str, seed: str, size: int) -> str:
    return "".join(up_to(size, filler.blocks(language, random.Random(seed))))


def _make(path: Path, files: Mapping[str, str], links: Mapping[str, str] = {}) -> str:
    """Make a bare repository that has `files` and the submodules `links` at its last commit, which is returned."""
    subprocess.run(["git", "init", "-q", "--bare", "-b", "main", path], check=True)
    git(path, "fast-import", "--quiet", stdin="".join(_history(files, links)).encode())
    git(path, "repack", "-q", "-a", "-d", "-f")
    return git(path, "rev-parse", "main")


def _history(files: Mapping[str, str], links: Mapping[str, str]) -> Iterator[str]:
    """A stream for git-fast-import(1): _COMMITS commits, each of which changes the end of some files."""
    rng = random.Random(len(files))
    names = sorted(files)
    for number in range(_COMMITS):
        yield f"commit refs/heads/main\ncommitter Tester <tester@example.org> {1_700_000_000 + 3600 * number} +0000\n"
        yield f"data <<END\nchange {number}\nEND\n"
        for path, commit in links.items():
            yield f"M 160000 {commit} {path}\n"
        for name in rng.sample(names, 4) if number else names:
            body = files[name] + "\n" * number
            yield f"M 100644 inline {name}\ndata {len(body)}\n{body}\n"
