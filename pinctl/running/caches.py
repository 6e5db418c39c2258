"""Where kernels that are compiled at run time are kept: a table.

As in DeepGEMM's csrc/jit, FlashInfer's jit/env.py, TileLang's env.py and Triton's knobs.py.
"""

from collections.abc import Iterator, Mapping
from posixpath import join
from typing import NamedTuple


class Cache(NamedTuple):
    """The cache of a library that is installed as one of `projects` (normalised names). `settings` are pairs of a
    variable of the environment and the folder below what it says; the first that is set counts, else `usual`, below
    the home folder."""

    owner: str
    projects: tuple[str, ...]
    settings: tuple[tuple[str, str], ...]
    usual: str


CACHES = (
    Cache("DeepGEMM", ("deep-gemm", "deepgemm", "sgl-deep-gemm"), (("DG_JIT_CACHE_DIR", ""),), ".deep_gemm"),
    Cache("FlashInfer", ("flashinfer", "flashinfer-python"), (("FLASHINFER_WORKSPACE_BASE", ".cache/flashinfer"),),
          ".cache/flashinfer"),
    Cache("TileLang", ("tilelang",), (("TILELANG_CACHE_DIR", ""),), ".tilelang/cache"),
    Cache("Triton", ("triton",), (("TRITON_CACHE_DIR", ""), ("TRITON_HOME", ".triton/cache")), ".triton/cache"),
)  # fmt: skip


def of(project: str, variables: Mapping[str, str], home: str) -> Iterator[tuple[str, str]]:
    """The library and the folder of each cache that belongs to an installed project."""
    for cache in CACHES:
        if project in cache.projects:
            said = [join(variables[name], below) for name, below in cache.settings if variables.get(name)]
            yield cache.owner, (said[0] if said else join(home, cache.usual)).rstrip("/")
