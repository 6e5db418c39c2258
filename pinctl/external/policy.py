"""Under which profile git reaches servers: the one of the run, narrowed and helped by the policy file."""

import os

from pinctl import policy
from pinctl.errors import UsageError
from pinctl.external import files
from pinctl.external.gitcli import TRUSTED, UNTRUSTED, Profile

_LARGEST = 256 * 1024


def read(path: str, root: str | None = None) -> policy.Policy:
    """The policy in the file `path`, which may not lie below `root`, a checkout. Raises UsageError."""
    real = os.path.realpath(path)
    if root is not None and real.startswith(os.path.join(os.path.realpath(root), "")):
        raise UsageError(f"the policy file {path} lies in the checkout that it is to judge", hint="keep it outside")
    folder, name = os.path.split(real)
    try:
        return policy.parse(files.read_site(folder, name, _LARGEST).decode("utf-8"), path)
    except (files.Unreadable, UnicodeDecodeError) as error:
        raise UsageError(f"the policy file {path} cannot be read: {error}") from error


def profile(*, untrusted: bool, path: str | None, root: str | None = None) -> Profile:
    """The profile of a run that reaches servers; `path` is the policy file.

    A stranger's checkout may name any server, so nothing is asked for it without a policy. Raises UsageError.
    """
    base = UNTRUSTED if untrusted else TRUSTED
    if path is not None:
        return applied(base, read(path, root))
    if untrusted:
        raise UsageError(
            "this checkout is a stranger's, and no policy says which servers may be asked for it",
            hint="give --policy FILE, or --trusted where the checkout is yours",
        )
    return base


def applied(base: Profile, rules: policy.Policy) -> Profile:
    """`base` under `rules`. An untrusted run reaches no host that they do not name; a mirror adds its protocol."""
    if base is UNTRUSTED and rules.hosts is None:
        rules = rules._replace(hosts=())
    mirrors = rules.mirrors.get("git", {})
    protocols = dict.fromkeys((*base.protocols, *map(_protocol, mirrors.values())))
    settings = [f"url.{mirror}.insteadOf={prefix}" for prefix, mirror in mirrors.items()]
    settings += [f"http.sslCAInfo={rules.ca}"] if rules.ca else []
    settings += [f"http.proxy={rules.proxy}"] if rules.proxy else []
    return base._replace(
        protocols=tuple(protocols), own_config=(*base.own_config, *settings), policy=rules,
        timeout=rules.timeout or base.timeout,
    )  # fmt: skip


def _protocol(address: str) -> str:
    """The word that git's GIT_ALLOW_PROTOCOL has for an address."""
    scheme, mark, _ = address.partition("://")
    if mark:
        return scheme
    return "file" if address.startswith("/") else "ssh"
