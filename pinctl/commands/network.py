"""What the verbs that ask servers have in common."""

from pinctl.errors import ExternalError, PinctlError
from pinctl.external import policy
from pinctl.external.gitcli import Profile
from pinctl.external.remote import Gone, Hostile, Unreachable
from pinctl.options import Options
from pinctl.outcome import counted

_UNITS = ((86_400, "day"), (3600, "hour"), (60, "minute"), (1, "second"))


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
