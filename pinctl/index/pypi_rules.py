"""What PyPI refuses, looked at before anything is sent: each rule with the code of its finding.

Sources: the upload interface of Warehouse (forklift/legacy.py), PyPI's help on limits, PEP 440, PEP 600, PEP 656, and
since July 2026 that a release takes no new files 14 days after its first.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import date, timedelta
from typing import NamedTuple

from pinctl.index import names

LARGEST = 100 * 1024 * 1024
"""Bytes of a file, unless PyPI was asked for more."""
OPEN_DAYS = 14
"""Days after its first file in which a release takes further ones."""

_READMES = ("text/markdown", "text/x-rst", "text/plain")
_PROCESSORS = "(?:x86_64|i686|aarch64|armv7l|ppc64le|ppc64|s390x|riscv64|loongarch64)"
_PLATFORM = re.compile(
    rf"any|win32|win_amd64|win_arm64|linux_armv[67]l|manylinux(?:1|2010|2014)_{_PROCESSORS}|"
    rf"(?:many|musl)linux_[0-9]+_[0-9]+_{_PROCESSORS}|macosx_[0-9]+_[0-9]+_[a-z0-9_]+|"
    r"(?:ios|android)_[0-9]+(?:_[0-9]+)?_[a-z0-9_]+|(?:pyodide|pyemscripten)_[0-9]+_[0-9]+_wasm32"
)


class Upload(NamedTuple):
    """A file that is to be sent. `variant` is what it was built for; `readme` the description of its METADATA, of the
    type `readme_type`; `opened` the day of the first file of its release that PyPI has, None for a new release."""

    filename: str
    size: int
    variant: str = ""
    readme: str = ""
    readme_type: str | None = None
    opened: date | None = None


class Refusal(NamedTuple):
    """`what` is a clause that goes on after the file's name."""

    code: str
    filename: str
    what: str
    fix: str


def refusals(uploads: Sequence[Upload], today: date, *, largest: int = LARGEST) -> list[Refusal]:
    """What PyPI would refuse of `uploads` on the day `today` (UTC); `largest` in bytes, where it allows the project
    more."""
    found = [refusal for upload in uploads for refusal in _alone(upload, today, largest)]
    return found + list(_shared(uploads))


def _alone(upload: Upload, today: date, largest: int) -> Iterator[Refusal]:
    name = names.parse(upload.filename)
    if name is None or (clause := names.problem(upload.filename)):
        what = clause if name else "is no name of a wheel or a source distribution"
        yield Refusal("PIN709", upload.filename, what or "", "build it anew with a current backend")
        return
    if name.label:
        fix = "send the wheel of the one variant without a label, and the others to an index of your own"
        yield Refusal("PIN720", upload.filename, f"has the local version +{name.label}, which PyPI refuses", fix)
    for platform in sorted({tag.platform for tag in name.tags if not _PLATFORM.fullmatch(tag.platform)}):
        yield Refusal("PIN721", upload.filename, f"is for {platform}, which PyPI refuses", "repair it with auditwheel")
    if upload.size > largest:
        what = f"has {upload.size / 2**20:.1f} MiB, and PyPI takes {largest / 2**20:.0f}"
        yield Refusal("PIN722", upload.filename, what, "ask PyPI for more, strip it, or publish it to your index")
    if clause := readme_problem(upload.readme, upload.readme_type):
        yield Refusal("PIN724", upload.filename, clause, "run: twine check --strict FILE")
    if upload.opened and today > upload.opened + timedelta(OPEN_DAYS):
        age = (today - upload.opened).days
        what = f"is of a release that is {age} days old, and PyPI takes no new file after {OPEN_DAYS}"
        yield Refusal("PIN725", upload.filename, what, "make a new release: a post release where nothing else changed")


def _shared(uploads: Iterable[Upload]) -> Iterator[Refusal]:
    """One name can be sent once: two variants without a label would be one file there."""
    first: dict[str, Upload] = {}
    for upload in uploads:
        other = first.setdefault(upload.filename, upload)
        if other is not upload:
            what = f"is the name of the wheels of {other.variant or 'one build'} and {upload.variant or 'another'}"
            yield Refusal("PIN723", upload.filename, what, "let one variant go to PyPI, and give the other a label")


def readme_problem(readme: str, kind: str | None) -> str | None:
    """Why PyPI would not show the description `readme` of the content type `kind`, as a clause; None if it would.

    Without a type it is reStructuredText, which, unlike Markdown, may be malformed.
    """
    media, _, parameters = (kind or "text/x-rst").partition(";")
    if media.strip().lower() not in _READMES:
        return f"has a README of the type {media[:60]!r}; {', '.join(_READMES)} are known"
    for parameter in filter(None, map(str.strip, parameters.split(";"))):
        key, _, value = parameter.partition("=")
        known = {"charset": ("utf-8",), "variant": ("gfm", "commonmark")}.get(key.strip().lower(), ())
        if value.strip(" \"'").lower() not in known:
            return f"has a README with {parameter[:60]!r} in its type, which PyPI does not know"
    if media.strip().lower() != "text/x-rst" or not readme.strip():
        return None
    return _rst_problem(readme)


def _rst_problem(readme: str) -> str | None:
    try:
        from readme_renderer import rst
    except ImportError:
        return "has a README in reStructuredText, which cannot be judged without readme-renderer"
    import io

    said = io.StringIO()
    if rst.render(readme, stream=said) is not None:
        return None
    first = next((line for line in said.getvalue().splitlines() if line.strip()), "no reason given")
    return f"has a README that does not render: {first.removeprefix('<string>:')[:120]}"
