"""What stops a run. A domain outcome is a `Finding`; an exception means "cannot go on"."""

from collections.abc import Sequence
from typing import ClassVar

from pinctl.finding import Finding


class PinctlError(Exception):
    """A run that cannot go on; `str(error)` is the message for the user, without a traceback."""

    exit_code: ClassVar[int] = 4

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        super().__init__(message)
        self.hint = hint

    @property
    def headline(self) -> str:
        """The first line of the message: without what a program printed."""
        return str(self).partition("\n")[0]


class UsageError(PinctlError):
    """The command line, or the place where it was run, does not make sense."""

    exit_code = 2


class ManifestError(PinctlError):
    """pins.toml is invalid; `findings` holds every problem of it, not just the first; their files are
    relative to `root`."""

    exit_code = 3

    def __init__(self, findings: Sequence[Finding], root: str = ".") -> None:
        super().__init__(f"pins.toml has {len(findings)} problem(s)")
        self.findings = tuple(findings)
        self.root = root


class ExternalError(PinctlError):
    """git, Docker, the network or the file system failed."""

    exit_code = 4


class WriteRefused(PinctlError):
    """A file may not be written, or changed while we looked at it; nothing was written."""

    exit_code = 1
