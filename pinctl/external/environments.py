"""A Python environment on this machine: what is installed, asked of its own Python; imports tried in a process each.

The probes run isolated (`python -I`: neither PYTHON* variables, nor the user's site-packages, nor the folder that one
stands in count), so that a checkout cannot slip a module under. Nothing of the environment is imported here.
"""

import json
import os
import stat
import sys
from collections.abc import Sequence
from typing import Any

from pinctl.errors import ExternalError
from pinctl.external import process
from pinctl.external.process import CommandFailed, ToolMissing
from pinctl.running import reading
from pinctl.running.model import LARGEST_LIBRARY, Environment, Installed
from pinctl.running.trials import Trial
from pinctl.wheel import elf

_PROBES = os.path.join(os.path.dirname(os.path.realpath(__file__)), "probes")
_ALLOWED = (
    "HOME", "LOGNAME", "TMPDIR", "USER", "XDG_CACHE_HOME", "LD_LIBRARY_PATH", "CUDA_HOME", "CUDA_PATH",
    "CUDA_VISIBLE_DEVICES", "NVIDIA_VISIBLE_DEVICES", "DG_JIT_CACHE_DIR", "FLASHINFER_WORKSPACE_BASE",
    "TILELANG_CACHE_DIR", "TRITON_CACHE_DIR", "TRITON_HOME",
)  # fmt: skip
MOST_ENTRIES = 100_000
"""Files of a cache that are looked at."""


class NoEnvironment(ExternalError):
    """The Python cannot be asked."""


def usual() -> str:
    """The Python of the environment that is active, else the one that runs pinctl."""
    for variable in ("VIRTUAL_ENV", "CONDA_PREFIX"):
        path = os.path.join(os.environ.get(variable, ""), "bin", "python")
        if os.environ.get(variable) and os.path.isfile(path):
            return path
    return sys.executable


def program(path: str) -> str:
    """The Python at `path`, which may be the folder of a virtual environment."""
    inside = os.path.join(path, "bin", "python")
    return os.path.abspath(inside if os.path.isfile(inside) else path)


def command(python: str, name: str) -> list[str]:
    """How a person tries the import of a module by hand."""
    return [python, "-I", "-X", "faulthandler", "-c", f"import {name}"]


def read(python: str, of: Sequence[str]) -> Environment:
    """What is installed for the program `python`; the libraries of the distributions that bring a name of `of`, or have
    one of them for theirs, are looked into. Raises NoEnvironment."""
    try:
        done = process.run([python, "-I", os.path.join(_PROBES, "installed.py")], env=process.environment(_ALLOWED))
        said = json.loads(done.stdout)
        distributions = [_complete(one, frozenset(of)) for one in said["installed"] if reading.is_name(one["name"])]
        return Environment(python, str(said["python"]), tuple(distributions), reading.torch_cuda(said["torch"]))
    except (CommandFailed, ToolMissing) as error:
        raise NoEnvironment(f"{python} cannot be asked what is installed: {error.headline}") from None
    except (ValueError, KeyError, TypeError, RecursionError):
        raise NoEnvironment(f"{python} cannot be asked what is installed: it is no Python, or too old") from None


def _complete(said: dict[str, Any], of: frozenset[str]) -> Installed:
    one = reading.installed(said)
    if not (of & {one.project, *one.imports} or one.provenance):
        return one
    needed: dict[str, tuple[str, ...]] = {}
    unread = []
    for path in said["libraries"]:
        try:
            needed[path] = _needed(os.path.join(os.path.dirname(one.place), path))
        except (elf.BadElf, OSError) as error:
            unread.append(f"{path} cannot be read: {getattr(error, 'strerror', None) or error}")
    return one._replace(needed=needed, unread=tuple(unread))


def _needed(path: str) -> tuple[str, ...]:
    with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode) or status.st_size > LARGEST_LIBRARY:
            raise elf.BadElf(f"it is no regular file of at most {LARGEST_LIBRARY >> 20} MiB")
        found = elf.read(file) if file.read(4) == elf.MAGIC else None
        return found.needed if found else ()


def attempt(python: str, name: str, requires: Sequence[tuple[str, str, Sequence[str]]], timeout: float) -> Trial:
    """Import the module `name`, torch first where it is there, and look for `requires`: for each its text, the dotted
    name and the keywords of the call. Raises ToolMissing."""
    asked = json.dumps({"name": name, "requires": [[text, symbol, list(words)] for text, symbol, words in requires]})
    argv = [python, "-I", "-X", "faulthandler", os.path.join(_PROBES, "trial.py")]
    try:
        done = process.run(argv, env=process.environment(_ALLOWED), stdin=asked.encode(), timeout=timeout, cwd="/")
    except CommandFailed as error:
        log = error.result.stderr.decode("utf-8", "replace")
        if error.headline.endswith(f"took longer than {timeout:g} s"):
            return Trial(name, hung=True, log=log)
        return Trial(name, ended=error.headline.rpartition("` ")[2], log=log)
    log = done.stderr.decode("utf-8", "replace")
    try:
        said = json.loads(done.stdout)
        missing = tuple((str(text), str(why)) for text, why in said.get("missing", ()))
        return Trial(name, str(said.get("absent", "")), str(said.get("error", "")), missing=missing, log=log)
    except (ValueError, AttributeError, TypeError):
        return Trial(name, ended="ended before the import was over", log=log)


def older(folder: str, than: float) -> int:
    """How many files below `folder` are older than the time `than`; links are not followed."""
    count = seen = 0
    for at, _, names in os.walk(folder):
        for name in names:
            seen += 1
            try:
                count += os.lstat(os.path.join(at, name)).st_mtime < than
            except OSError:
                continue
        if seen > MOST_ENTRIES:
            break
    return count
