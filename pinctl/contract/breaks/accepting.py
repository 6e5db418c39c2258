"""What of the breaks is known and accepted: by `allow` of pins.toml, or by a baseline file."""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from pinctl import waivers
from pinctl.contract.breaks.model import Break
from pinctl.errors import UsageError
from pinctl.finding import Finding
from pinctl.model import Manifest, Pin

_SCHEMA = 1
_KEYS = ("class", "symbol", "subject", "file")


class Sifted(NamedTuple):
    """The breaks that are left, those that a waiver accepts with its reason, and the waivers that accept nothing."""

    left: list[Break]
    accepted: list[tuple[Break, str]]
    stale: list[Finding]


def waived(breaks: Iterable[Break], manifest: Manifest, pin: Pin, commit: str) -> Sifted:
    """`breaks` of `pin`, which goes to `commit`, without those that pins.toml accepts.

    A waiver of the whole file may be of use to another pin, and one for a path alone to `check`: they are never stale.
    """
    holding = waivers.of_breaks(manifest, pin, commit)
    used = set()
    sifted = Sifted([], [], [])
    for one in breaks:
        failing = one.kind.fails and not one.baseline
        waiver = next(
            (w for w in holding if waivers.accepts(w, one.code, one.symbol, one.place.file, error=failing)), None
        )
        if waiver is None:
            sifted.left.append(one)
        else:
            used.add(waiver)
            sifted.accepted.append((one, waiver.reason))
    own = [w for w in holding if w in pin.allow and (w.code or w.symbol)]
    sifted.stale.extend(waivers.stale(w, manifest) for w in own if w not in used)
    return sifted


# --- the baseline file --------------------------------------------------------------------------------------------

Known = frozenset[tuple[str, ...]]
"""The breaks that a baseline file knows: lines move, so a break is known by its class, symbol, subject and file."""


def _key(one: Break) -> tuple[str, ...]:
    return (one.kind.value, one.symbol, one.subject, one.place.file)


def without(breaks: Iterable[Break], known: Known) -> list[Break]:
    """`breaks` without those that are known. What is required is never known: it is required."""
    return [one for one in breaks if one.required or _key(one) not in known]


def gone(breaks: Iterable[Break], known: Known) -> int:
    """How many of the known breaks are none any more."""
    return len(known - {_key(one) for one in breaks})


def read(text: bytes, path: str, pin: str) -> Known:
    """What the baseline file `path` with the content `text` knows of `pin`. Raises UsageError for another file."""
    try:
        document = json.loads(text)
        rows = document["pins"].get(pin, [])
        if document["schema"] != _SCHEMA or not all(isinstance(row[key], str) for row in rows for key in _KEYS):
            raise ValueError
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        hint = "run with --write-baseline to make one"
        raise UsageError(f"{path} is no baseline of `pinctl contract`", hint=hint) from None
    return frozenset(tuple(row[key] for key in _KEYS) for row in rows)


def written(breaks: Sequence[Break], pin: str, before: bytes | None) -> bytes:
    """A baseline file that knows `breaks` of `pin`, and of other pins what the file `before` does."""
    pins: Mapping[str, object] = json.loads(before)["pins"] if before else {}
    rows = sorted({_key(one) for one in breaks if not one.required})
    known = {**pins, pin: [dict(zip(_KEYS, row, strict=True)) for row in rows]}
    return json.dumps({"schema": _SCHEMA, "pins": known}, indent=2, sort_keys=True).encode() + b"\n"
