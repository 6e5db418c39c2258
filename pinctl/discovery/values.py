"""What the text of a literal is by itself: a commit id, a version, a tag, a repository, an image."""

import re

_FULL = re.compile(r"[0-9a-f]{40}")
_SHORT = re.compile(r"(?=[0-9a-f]*[0-9])(?=[0-9]*[a-f])[0-9a-f]{7,39}")
_DIGEST = re.compile(r"[0-9a-fA-F]{64}")
_VERSION = re.compile(r"v?\d+(?:\.\d+)+(?:[._-]?(?:alpha|beta|rc|post|dev|pre|a|b)(?:\.?\d+)?)*(?:\+[0-9A-Za-z.]+)?")
_LONG_VERSION = re.compile(rf"(?:{_VERSION.pattern})(?:[-.][0-9A-Za-z]+)*(?<!\.x)")
_TAG = re.compile(r"(?:[A-Za-z][A-Za-z0-9_-]*?)?\d+(?:\.\d+)+[\w.+-]*(?<!\.x)|[A-Za-z]{0,2}\d{2,}")
_REPO = re.compile(
    r"(?:https?|ssh|git)://(?:[\w.-]+@)?[\w.-]+(?::\d+)?/[\w.~-]+(?:/[\w.~-]+)+?(?:\.git)?/?"
    r"|[\w-]+@[\w.-]+:[\w.~/-]+?(?:\.git)?"
)
_IMAGE = re.compile(
    r"(?P<name>(?:[\w.-]+(?::\d+)?/)*[a-z0-9][\w.-]*)(?::(?P<tag>\w[\w.-]*))?(?P<digest>@sha256:[0-9a-f]{64})?"
)
_FORGES = ("github.com", "gitlab.com", "bitbucket.org", "codeberg.org", "gitee.com", "gitcode.com", "googlesource.com")
_MOVING = frozenset("canary dev edge latest main master nightly stable".split())


def is_commit(text: str) -> bool:
    """A full commit id."""
    return _FULL.fullmatch(text) is not None


def is_short(text: str) -> bool:
    """What may abbreviate a commit id: seven digits and more, with both letters and numbers."""
    return _SHORT.fullmatch(text) is not None


def is_digest(text: str) -> bool:
    """A sha256 in hex."""
    return _DIGEST.fullmatch(text) is not None


def is_version(text: str) -> bool:
    """Numbers with dots, with or without a leading v, a pre- or post-release and a local label: `v1.2rc1+cu130`."""
    return _VERSION.fullmatch(text) is not None


def is_long_version(text: str) -> bool:
    """A version that may go on as those of system packages do: `2.5.1-1`, `3.2.0-125000-25.10`."""
    return _LONG_VERSION.fullmatch(text) is not None


def is_tag(text: str) -> bool:
    """What reads like a tag, and not like a branch: it ends in a version, or is little more than a number."""
    return _TAG.fullmatch(text) is not None


def is_repo(text: str, *, certain: bool) -> bool:
    """A URL of a git repository. Where nothing else says that it is one (not `certain`), it must end in .git."""
    if not _REPO.fullmatch(text):
        return False
    on_forge = any(f"{forge}/" in text or f"{forge}:" in text for forge in _FORGES)
    return text.endswith(".git") or (certain and on_forge and text.rstrip("/").count("/") == 4)


def image_name(text: str) -> str | None:
    """The name of the image that `text` gives with a fixed tag or a digest; None where it is no such image.

    Tags that move by their very names (latest, nightly), and images of this machine alone (local/...), pin nothing.
    """
    match = _IMAGE.fullmatch(text)
    if match is None or not (match["tag"] or match["digest"]) or match["name"].startswith(("local/", "localhost")):
        return None
    moving = not match["digest"] and match["tag"] in _MOVING
    return None if moving else match["name"]


def bare(version: str) -> str:
    """A version without a leading v and a local label."""
    return version.partition("+")[0].removeprefix("v")
