"""The records: one line of JSON for each file of each page, kept under version control. Text in and out.

Lines are sorted by their bytes, and a line never depends on another: two branches that each add a wheel merge without a
hand. A line stays when its file is no longer listed, so that no name is ever given to other bytes:

    {"filename": "…", "channel": "release", "variant": "cu129", "sha256": "…", "size": 1, "url": "…",
     "requires-python": ">=3.10", "metadata": "…", "uploaded": "2026-07-01T12:00:00Z", "yanked": "reason",
     "withdrawn": "reason", "attestations": "https://…", "provenance": {"commit": "…"}, "notes": ["…"]}
"""

import json
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

from pinctl.index import names
from pinctl.model import NOTHING
from pinctl.paths import path_problem
from pinctl.urls import check_url

FILE = "wheels.jsonl"
"""Where the records stand unless pins.toml says otherwise."""
LARGEST = 64 * 1024 * 1024
"""Bytes that the file of the records may have."""

_TIME = re.compile(r"\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{1,6})?Z")
LONGEST = 1000
"""Characters of a reason or a note."""
_MOST = 200
"""Problems of one file that are told."""


class Record(NamedTuple):
    """A file on one page.

    sha256        of its bytes; None where the index that it was taken from had none
    url           absolute, or relative to the root of the index, which then holds the file
    metadata      sha256 of its METADATA, which lies at `url` with `.metadata` behind it (PEP 658)
    uploaded      UTC, RFC 3339; never made up
    yanked        the reason (PEP 592), "" without one; None: it is not
    withdrawn     why no page lists it any more; its name stays taken
    attestations  URL of its attestations (PEP 740)
    provenance    what its builder says: pin, commit, variant ...
    notes         decisions that people made
    """

    filename: str
    channel: str
    variant: str
    sha256: str | None
    url: str
    size: int | None = None
    requires_python: str | None = None
    metadata: str | None = None
    uploaded: str | None = None
    yanked: str | None = None
    withdrawn: str | None = None
    attestations: str | None = None
    provenance: Mapping[str, Any] = NOTHING
    notes: tuple[str, ...] = ()

    @property
    def name(self) -> names.Name:
        return names.known(self.filename)

    @property
    def place(self) -> tuple[str, str]:
        """The channel and the variant."""
        return self.channel, self.variant

    @property
    def hosted(self) -> bool:
        """Whether the index itself holds the file."""
        return "://" not in self.url


class Broken(NamedTuple):
    """A line that is no record; `clause` completes "line 3 ..."."""

    line: int
    clause: str


def dump(records: Iterable[Record]) -> str:
    """The text of the file: a line a record, sorted, without twins."""
    return "".join(f"{text}\n" for text in sorted(set(map(line, records))))


def load(text: str) -> tuple[list[Record], list[Broken]]:
    """The records in `text`, in its order, and the lines that are none (at most 200 of them). Lines that are alike,
    as a merge by hand leaves them, are one."""
    found: dict[str, Record] = {}
    broken: list[Broken] = []
    for number, written in enumerate(text.split("\n"), start=1):
        if not written.strip():
            continue
        record = _record(written)
        if isinstance(record, Record):
            found[written.strip()] = record
        elif len(broken) < _MOST:
            broken.append(Broken(number, record))
    return list(found.values()), broken


def line(record: Record) -> str:
    """The line of a record, without its end."""
    said: dict[str, object] = {}
    for field, (key, _) in zip(Record._fields, _KEYS.items(), strict=True):
        value = getattr(record, field)
        if value is not None and value not in ((), {}):
            said[key] = dict(sorted(value.items())) if isinstance(value, Mapping) else value
    return json.dumps(said, ensure_ascii=False)


def _record(line: str) -> Record | str:
    """The record in `line`, or a clause that says why it is none."""
    try:
        said = json.loads(line, object_pairs_hook=_once)
    except (ValueError, RecursionError) as error:
        return f"is no JSON: {str(error)[:100]}"
    if not isinstance(said, dict):
        return "is no JSON object"
    if unknown := said.keys() - _KEYS:
        return f"has the unknown key {min(unknown)[:40]!r}"
    if missing := [key for key in _NEEDED if key not in said]:
        return f"has no {missing[0]!r}"
    for key, value in said.items():
        if clause := _KEYS[key](value):
            return f"has a {key!r} that cannot be used: {clause}"
    fields = dict(zip(_KEYS, Record._fields, strict=True))
    kept: dict[str, Any] = {"sha256": None}
    kept |= {fields[key]: tuple(value) if isinstance(value, list) else value for key, value in said.items()}
    return Record(**kept)


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) != len(pairs):
        raise ValueError("a key stands twice")
    return made


def _filename(value: object) -> str | None:
    return None if isinstance(value, str) and names.parse(value) else "it names no wheel and no source distribution"


def _folder(value: object) -> str | None:
    fits = isinstance(value, str) and names.is_folder(value)
    return None if fits else "lower-case letters and digits, with single `.`, `-` or `_` between them, are taken"


def _sha256(value: object) -> str | None:
    return None if isinstance(value, str) and names.SHA256.fullmatch(value) else "64 hex digits in lower case are taken"


def url_problem(value: object) -> str | None:
    """Why `value` cannot be the URL of a file, as a clause; None if it can."""
    if not isinstance(value, str):
        return "it is no text"
    if "://" in value:
        return check_url(value, transports=("https", "http"))
    if not value.isascii() or any(c in value for c in " ?#%:\\"):
        return "a path in the index holds plain ASCII, and no `%`"
    return path_problem(value)


def _size(value: object) -> str | None:
    fits = isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**63
    return None if fits else "a number of bytes is taken"


def text_problem(value: object) -> str | None:
    """Why `value` is no line of text, such as a reason, as a clause; None if it is one."""
    fits = isinstance(value, str) and len(value) <= LONGEST and all(c.isprintable() for c in value)
    return None if fits else f"one line of text of at most {LONGEST} characters is taken"


def is_time(text: str) -> bool:
    """Whether `text` is a time of UTC, as PEP 700 writes it: 2026-07-01T12:00:00Z."""
    return _TIME.fullmatch(text) is not None


def _time(value: object) -> str | None:
    return None if isinstance(value, str) and is_time(value) else "a time as 2026-07-01T12:00:00Z is taken"


def _https(value: object) -> str | None:
    return check_url(value, transports=("https",)) if isinstance(value, str) else "it is no text"


def _table(value: object) -> str | None:
    return None if isinstance(value, dict) else "an object is taken"


def _texts(value: object) -> str | None:
    fits = isinstance(value, list) and not any(map(text_problem, value))
    return None if fits else "an array of lines of text is taken"


_KEYS: Mapping[str, Callable[[object], str | None]] = {
    "filename": _filename,
    "channel": _folder,
    "variant": _folder,
    "sha256": _sha256,
    "url": url_problem,
    "size": _size,
    "requires-python": text_problem,
    "metadata": _sha256,
    "uploaded": _time,
    "yanked": text_problem,
    "withdrawn": text_problem,
    "attestations": _https,
    "provenance": _table,
    "notes": _texts,
}
"""What a record says, in the order of its fields and of the line, with what is wrong with a value."""
_NEEDED = ("filename", "channel", "variant", "url")
