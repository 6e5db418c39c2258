"""Anchors: places in a pinned source by whose text the consumer's build finds what it edits."""

from enum import StrEnum
from typing import NamedTuple, Protocol

from pinctl.finding import Span
from pinctl.patches.model import Diff

MOST = 300
"""Edits of one pin that are looked at."""
HOLE = "\0"
"""In a text that was read of a build file: what is computed, and not known."""


def is_patch(file: str) -> bool:
    """Whether a file is a patch by its name."""
    return file.endswith((".patch", ".diff"))


class Kind(StrEnum):
    """By what an edit is made."""

    CMAKE_REPLACE = "cmake-replace"
    CMAKE_REGEX = "cmake-regex"
    SED = "sed"
    PYTHON_REPLACE = "python-replace"
    PYTHON_REGEX = "python-regex"
    PATCH = "patch"


class State(StrEnum):
    """What an anchor is at a commit.

    MATCHES   the edit finds what it looks for
    REPLACED  the tree holds already what the edit would write
    MISSING   the file is there, and the edit finds nothing: a silent no-op
    GONE      the file is not there
    UNKNOWN   cannot be told, and `why` says what is in the way
    """

    MATCHES = "matches"
    REPLACED = "replaced"
    MISSING = "missing"
    GONE = "gone"
    UNKNOWN = "unknown"


class Action(Protocol):
    """What an edit does to the text of a file."""

    @property
    def new(self) -> bytes | None:
        """What it writes, where that is one plain text."""

    @property
    def inserts(self) -> bool:
        """Whether it takes nothing away, so that it finds the same as before once it was made."""

    @property
    def ascii_alone(self) -> bool:
        """Whether it cannot be told what it finds in texts that are not ASCII."""

    def count(self, text: bytes) -> int:
        """How often it finds what it looks for."""

    def apply(self, text: bytes) -> bytes | None:
        """The text behind it; None where that is not known."""


class Path(NamedTuple):
    """A path below the source of a pin; `glob`: None for one path, else whether the pattern is matched at any depth."""

    path: str
    glob: bool | None = None


class PatchFile(NamedTuple):
    """A patch that a command applies: `name` as the command has it, `strip` leading folders of its paths taken off,
    `folder` below the source of the pin that it is applied in (None where that is not known), how many lines around a
    change may differ, and what it says (None where it could not be read)."""

    name: str
    strip: int = 1
    folder: str | None = None
    reverse: bool = False
    fuzz: int = 0
    diff: Diff | None = None


class Edit(NamedTuple):
    """An edit that a build file makes of files below the source of a pin.

    pattern   what it looks for, as it is written; of a patch, its file
    action    what it does; None where that cannot be told, and `why` says so
    flow      edits of one path see one another's work where they stand in one file and have the same
    """

    file: str
    span: Span
    kind: Kind
    pattern: str
    paths: tuple[Path, ...]
    action: Action | None = None
    why: str = ""
    flow: int = 0
    patch: PatchFile | None = None


class Anchor(NamedTuple):
    """What became of an edit at one path of the tree. `matches` is None where it cannot be told."""

    edit: Edit
    path: str
    state: State
    matches: int | None = None
    why: str = ""
