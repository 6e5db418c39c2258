"""The rewrites of URLs that the user's git configuration asks for (git-config(1), `url.<base>.insteadOf`)."""

import os

from pinctl.external import process
from pinctl.external.gitcli import Profile
from pinctl.upstream.rewrites import Rule

_KEY = r"^url\..*\.insteadof$"


def rules(profile: Profile) -> list[Rule]:
    """The rules that git follows under `profile`: none in one without the user's configuration. Raises ToolMissing,
    CommandFailed."""
    argv = ["git", *profile.config(), "config", "--null", "--get-regexp", _KEY]
    done = process.run(argv, cwd="/", env=profile.environment(), accept=(0, 1))
    pairs = (record.split("\n", 1) for record in os.fsdecode(done.stdout).split("\0") if "\n" in record)
    return [Rule(key[len("url.") : -len(".insteadof")], prefix) for key, prefix in pairs]
