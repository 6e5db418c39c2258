"""How long files are kept, by channel, and which ones stay all the same since a pin uses them."""

from collections.abc import Iterable, Iterator, Mapping
from datetime import date, timedelta
from typing import NamedTuple
from urllib.parse import unquote

from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

from pinctl.index.layout import Layout
from pinctl.index.records import Record
from pinctl.model import Manifest, Pin


class Pruning(NamedTuple):
    """`gone` are past their time; `kept` are too, but a pin, whose name stands beside them, uses them; of `undated`
    nobody knows the age."""

    gone: tuple[Record, ...] = ()
    kept: tuple[tuple[Record, str], ...] = ()
    undated: tuple[Record, ...] = ()


def prune(records: Iterable[Record], layout: Layout, manifest: Manifest | None, today: date) -> Pruning:
    """What is past the days that its channel keeps files, as of `today` (UTC)."""
    gone, kept, undated = [], [], []
    for record in records:
        days = layout.retention.get(record.channel)
        if days is None or record.withdrawn is not None:
            continue
        if record.uploaded is None:
            undated.append(record)
        elif date.fromisoformat(record.uploaded[:10]) + timedelta(days) < today:
            user = user_of(record, manifest)
            if user is None:
                gone.append(record)
            else:
                kept.append((record, user))
    return Pruning(tuple(gone), tuple(kept), tuple(undated))


def withdrawn(records: Iterable[Record], gone: Iterable[Record], today: date) -> tuple[Record, ...]:
    """The records with those of `gone` withdrawn: their names stay taken."""
    going = {_key(record) for record in gone}
    reason = f"pruned on {today.isoformat()}"
    return tuple(record._replace(withdrawn=reason) if _key(record) in going else record for record in records)


def _key(record: Record) -> tuple[str | None, ...]:
    return (*record.place, record.filename, record.sha256)


def user_of(record: Record, manifest: Manifest | None) -> str | None:
    """The pin that uses the file, or pins.toml where its text names it; None where nothing does.

    Rather one too many than one too few: a pin uses what has its packages' names, or its own, at its version, what was
    built of its commit, and what has its URL or its digest.
    """
    if manifest is None:
        return None
    for pin in manifest.pins.values():
        if _by_version(record, pin) or _by_content(record, pin):
            return pin.name
    for path, text in ((manifest.path, manifest.text), *manifest.bases):
        if record.filename in text or (record.sha256 and record.sha256 in text):
            return path
    return None


def _by_version(record: Record, pin: Pin) -> bool:
    if pin.version is None:
        return False
    try:
        wanted = Version(pin.version)
    except InvalidVersion:
        return False
    has = record.name.version
    same = has == wanted if wanted.local else has.public == wanted.public
    return same and record.name.project in set(_names(pin))


def _names(pin: Pin) -> Iterator[str]:
    imported = pin.contract.import_names if pin.contract else ()
    yield from map(canonicalize_name, (*pin.packages, pin.name, *(name.rpartition(".")[2] for name in imported)))


def _by_content(record: Record, pin: Pin) -> bool:
    digests = pin.sha256.values() if isinstance(pin.sha256, Mapping) else (pin.sha256,)
    if record.sha256 is not None and record.sha256 in digests:
        return True
    if pin.commit is not None and record.provenance.get("commit") == pin.commit:
        return True
    return pin.url is not None and unquote(_filled(pin)) == unquote(record.url)


def _filled(pin: Pin) -> str:
    url = pin.url or ""
    for name in ("version", "tag", "commit"):
        url = url.replace(f"{{{name}}}", getattr(pin, name) or "")
    return url
