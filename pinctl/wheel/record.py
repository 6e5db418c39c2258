"""RECORD: every file of a wheel with its digest and size (binary distribution format, "The .dist-info directory")."""

import csv
import io
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Iterable
from typing import NamedTuple

LIMIT = 16 * 1024 * 1024
"""Bytes that RECORD may have: 50,000 members with long names."""

UNLISTED = ("RECORD", "RECORD.jws", "RECORD.p7s")
"""Files of .dist-info that need no digest: RECORD cannot hold its own, and the signatures come after it."""


class Row(NamedTuple):
    """One line: the path, `sha256` as bytes or None where there is no digest, the size or None."""

    path: str
    sha256: bytes | None = None
    size: int | None = None


class Record(NamedTuple):
    """The lines of a RECORD in their order, and what is wrong with lines of it, each a clause that begins with the
    line's number."""

    rows: tuple[Row, ...] = ()
    faults: tuple[str, ...] = ()


def read(data: bytes) -> Record:
    """What RECORD says. A line that cannot be read is a fault, and no row."""
    rows, faults = [], []
    try:
        lines = csv.reader(io.StringIO(data.decode("utf-8"), newline=""), strict=True)
        for number, fields in enumerate(lines, 1):
            row = _row(fields)
            if isinstance(row, Row):
                rows.append(row)
            else:
                faults.append(f"line {number}: {row}")
    except (UnicodeDecodeError, csv.Error) as error:
        faults.append(f"it cannot be read: {error}")
    return Record(tuple(rows), tuple(faults))


def _row(fields: list[str]) -> Row | str:
    """One line, or why it is none."""
    if len(fields) != 3:
        return f"it has {len(fields)} fields, and a path, a digest and a size are meant"
    path, digest, size = fields
    if size and not (size.isascii() and size.isdecimal() and len(size) < 20):
        return f"{size[:40]!r} is no size"
    if not digest:
        return Row(path, None, int(size) if size else None)
    algorithm, _, value = digest.partition("=")
    if algorithm != "sha256":
        return f"{path} has a digest of {algorithm[:40]!r}, and sha256 is meant"
    try:
        raw = urlsafe_b64decode(value + "=" * (-len(value) % 4))
    except ValueError:
        raw = b""
    if len(raw) != 32 or _encoded(raw) != value:
        return f"the digest of {path} is no sha256 in URL-safe base64 without padding"
    return Row(path, raw, int(size) if size else None)


def _encoded(digest: bytes) -> str:
    return urlsafe_b64encode(digest).decode("ascii").rstrip("=")


def render(rows: Iterable[Row]) -> bytes:
    """RECORD of `rows`: the same bytes for the same rows."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    for row in rows:
        digest = "" if row.sha256 is None else f"sha256={_encoded(row.sha256)}"
        writer.writerow((row.path, digest, "" if row.size is None else row.size))
    return text.getvalue().encode("utf-8")
