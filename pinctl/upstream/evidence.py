"""What was learned of a pin from its remotes, for `verify` to judge."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple, Optional

from pinctl.upstream.submodules import Listing, Submodule

if TYPE_CHECKING:
    from pinctl.upstream.forest import Forest


class Reach(StrEnum):
    """Where a commit stands: on the tracked branch, given by its id alone, no longer there; MIRROR where a mirror that
    a policy names was asked, which says nothing of branches."""

    BRANCH = "branch"
    ID = "id"
    GONE = "gone"
    MIRROR = "mirror"


class Module(NamedTuple):
    """A submodule that the pin uses, as its own remote knows it. `reach` is None where it was not asked or did not
    answer, `failure` then says why; `refused`: what it sent may not be used."""

    submodule: Submodule
    reach: Reach | None = None
    failure: str | None = None
    refused: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """Of one pin: `reach` of its commit (None: not asked, with `failure` where that was not by choice), `branch` that
    was looked at, `tag` as the remote has it (None: it has none), its `forest` where the tree could be had, the
    submodules of the root, and those that the pin uses by their full path."""

    reach: Reach | None = None
    branch: str | None = None
    tag: str | None = None
    tag_asked: bool = False
    forest: Optional["Forest"] = None
    listing: Listing = field(default_factory=Listing)
    modules: Mapping[str, Module] = field(default_factory=dict)
    failure: str | None = None
    hint: str | None = None
    age: float | None = None
    """Offline, the seconds since the remote last answered."""
    refused: bool = False
    """Whether the failure is that what the remote sent may not be used."""

    @property
    def links(self) -> dict[str, str]:
        """The commits of the tree's gitlinks, and of those in the trees of its submodules that are known, by path from
        the root."""
        if self.forest:
            trees = self.forest.trees
            found = {prefix + path: commit for prefix, tree in trees for path, commit in tree.gitlinks.items()}
        else:
            found = {path: module.commit for path, module in self.listing.submodules.items()}
        return found | {path: module.submodule.commit for path, module in self.modules.items()}
