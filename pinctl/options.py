"""The global options of the command line, as plain data for the verbs."""

import os
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import NamedTuple

Step = Callable[[int], None]
Progress = Callable[[str, int | None], AbstractContextManager[Step]]
"""Shows work of a name and a number of steps (None: not known); inside the context, each call says how many more are
done."""


def silent(label: str, total: int | None) -> AbstractContextManager[Step]:  # noqa: ARG001 - a `Progress` that shows nothing
    return nullcontext(lambda _: None)


class Options(NamedTuple):
    """`untrusted` None means: decided by the environment (a pull request in CI is untrusted)."""

    directory: str = "."
    pins: str | None = None
    format: str = "text"
    quiet: bool = False
    verbose: int = 0
    color: bool = True
    offline: bool = False
    untrusted: bool | None = None
    policy: str | None = None
    progress: Progress = silent

    @property
    def is_untrusted(self) -> bool:
        """Whether the checkout is a stranger's: as said, else where CI says that it tests a pull request."""
        if self.untrusted is not None:
            return self.untrusted
        return (
            os.environ.get("GITHUB_EVENT_NAME", "").startswith("pull_request")
            or bool(os.environ.get("CI_MERGE_REQUEST_IID"))
            or os.environ.get("BUILDKITE_PULL_REQUEST", "false") not in ("", "false")
        )
