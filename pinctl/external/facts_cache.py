"""What was read of pinned trees, kept between runs in the user's cache: one file a repository.

What is kept is known by ids of its content, so it is the same whoever asks for it, in either profile.
"""

import os
import sys

from pinctl import __version__, contract, upstream
from pinctl.contract import surface
from pinctl.contract.surface import Memory
from pinctl.external import cache

_SHELF = "facts"


def recall(repo: str) -> Memory:
    """The memory of the repository at `repo`; an empty one where nothing is kept."""
    return Memory(cache.load(repo, _SHELF), _salt())


def keep(repo: str, memory: Memory) -> None:
    """Keep what was learned of the repository at `repo`. No failure of that is one of the run."""
    if memory.learned:
        cache.save(repo, memory.kept(), _SHELF)


def _salt() -> str:
    """Text that changes when the readers of trees do: the names, sizes and times of their files."""
    files = (contract.__file__, surface.__file__, upstream.__file__)
    told = (line for file in files for line in cache.stamps(os.path.dirname(file), ".py"))
    return "\n".join((__version__, sys.version, *told))
