"""What the verbs that ask servers have in common."""

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from typing import NamedTuple

from pinctl.errors import ExternalError, PinctlError, UsageError
from pinctl.external import policy
from pinctl.external.gitcli import Profile
from pinctl.external.store import Gone, Hostile, Store, Unreachable
from pinctl.model import Pin
from pinctl.options import Options
from pinctl.outcome import counted
from pinctl.upstream.tree import Tree

_UNITS = ((86_400, "day"), (3600, "hour"), (60, "minute"), (1, "second"))


class Asking(NamedTuple):
    """Under which profile remotes are asked; `stack` keeps their stores open while their trees are read."""

    profile: Profile
    stack: ExitStack
    offline: bool = False

    def open(self, url: str, *, fresh: bool = False) -> Store:
        """The store of `url`. Raises ExternalError."""
        return self.stack.enter_context(Store.open(url, profile=self.profile, offline=self.offline, fresh=fresh))

    def tree(self, store: Store, commit: str) -> Tree:
        """The tree of `commit` in `store`. Raises Hostile, ExternalError."""
        return Tree.of(commit, store.tree(commit), store.blobs)


def chosen(pins: Mapping[str, Pin], names: Sequence[str]) -> list[Pin]:
    """The pins `names` in the order given, all without. Raises UsageError for one that there is not."""
    for name in names:
        if name not in pins:
            raise UsageError(f"there is no pin {name!r}", hint=f"the pins are: {', '.join(pins)}")
    return [pins[name] for name in dict.fromkeys(names)] if names else list(pins.values())


def profile(options: Options, root: str, *, allow: tuple[str, ...] = ()) -> Profile:
    """How far git may go in this run on the checkout `root`; `allow` are further transports of declared URLs.

    Raises UsageError: a policy that cannot be read, or none for a stranger's checkout.
    """
    found = policy.profile(untrusted=options.is_untrusted, path=options.policy, root=root)
    return found._replace(transports=(*found.transports, *allow))


def code(error: PinctlError, otherwise: str = "PIN802") -> str:
    """The code of the finding that a remote, or git, did not give what was asked."""
    codes: dict[type[PinctlError], str] = {Gone: "PIN301", Unreachable: "PIN320", Hostile: "PIN321"}
    return codes.get(type(error), "PIN802" if isinstance(error, ExternalError) else otherwise)


def ago(seconds: float) -> str:
    """`3 hours ago`."""
    size, unit = next((pair for pair in _UNITS if seconds >= pair[0]), _UNITS[-1])
    return f"{counted(int(seconds // size), unit)} ago"
