"""RECORD against the members, exactly and both ways: what is not listed is installed all the same."""

from collections import Counter
from collections.abc import Iterator

from pinctl.finding import Finding
from pinctl.wheel.judgement.telling import Telling, some
from pinctl.wheel.record import UNLISTED, Row

_HINT = "do not install it: build it again, or get it again where it came from"
_MOST = 20
"""Members with a finding of their own."""


def judge(say: Telling) -> Iterator[Finding]:
    record, folder = say.found.record, say.found.dist_info
    if record is None:
        return
    member = f"{folder}/RECORD"
    for fault in record.faults[:_MOST]:
        yield say("PIN605", f"RECORD, {fault}", member, hint=_HINT)
    listed = Counter(row.path for row in record.rows)
    unlisted = [f"{folder}/{name}" for name in UNLISTED]
    for what, names in (
        ("RECORD lists files twice", [path for path, count in listed.items() if count > 1]),
        ("RECORD lists files that are not there", [path for path in listed if path not in say.found.contents]),
        ("RECORD does not list files that are there",
         [name for name in say.found.contents if name not in listed and name not in unlisted]),
        ("RECORD has no digest of files", [r.path for r in record.rows if r.sha256 is None and r.path not in unlisted]),
    ):  # fmt: skip
        if names:
            yield say("PIN605", f"{what}: {some(names)}", names[0], hint=_HINT)
    wrong = [told for row in record.rows if (told := _wrong(say, row)) is not None]
    yield from wrong[:_MOST]
    if len(wrong) > _MOST:
        yield say("PIN605", f"{len(wrong) - _MOST} more files are not what RECORD says", member, hint=_HINT)


def _wrong(say: Telling, row: Row) -> Finding | None:
    """The finding of a file that is not of the digest or the size that its line says."""
    content = say.found.contents.get(row.path)
    if content is None:
        return None
    if row.sha256 not in (None, content.sha256):
        return say("PIN605", f"{row.path} is not what RECORD says", row.path,
                   expected=f"sha256 {row.sha256.hex() if row.sha256 else ''}",
                   found=f"sha256 {content.sha256.hex()}", hint=_HINT)  # fmt: skip
    size = say.found.members[row.path].size
    if row.size not in (None, size):
        return say("PIN605", f"{row.path} is not of the size that RECORD says", row.path,
                   expected=f"{row.size} bytes", found=f"{size} bytes", hint=_HINT)  # fmt: skip
    return None
