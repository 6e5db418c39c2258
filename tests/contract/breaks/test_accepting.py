from __future__ import annotations

import json

import pytest

from pinctl.contract.breaks.accepting import gone, read, waived, without, written
from pinctl.contract.breaks.model import Break, Class
from pinctl.contract.model import Place
from pinctl.errors import UsageError
from pinctl.manifest import parse
from pinctl.model import Manifest

NOW, NEXT = "a" * 40, "b" * 40


def manifest(*waivers: str, common: str = "") -> Manifest:
    """Pins `up`, with `waivers`, and `other`."""
    allow = "".join(f"[[pins.up.allow]]\nreason = 'known'\n{waiver}\n" for waiver in waivers)
    pin = 'repo = "https://github.com/o/{0}"\ncommit = "{1}"\nunused = true\n'
    head = f"schema = 1\n[pins.other]\n{pin.format('other', 'c' * 40)}[pins.up]\n{pin.format('up', NOW)}"
    return parse(f"{head}{allow}{common}")


def broken(kind: Class = Class.HARD, symbol: str = "up.f", file: str = "engine/a.py", **more: object) -> Break:
    return Break(kind, symbol, "gone", Place(file, 3))._replace(**more)


def left(parsed: Manifest, *breaks: Break, commit: str = NEXT) -> list[Break]:
    return waived(breaks, parsed, parsed.pins["up"], commit).left


@pytest.mark.parametrize(
    ("waiver", "accepted"),
    [
        ('symbol = "up.f"', True),
        ('symbol = "up.*"', True),
        ('symbol = "up.g"', False),
        ('code = "PIN401"', True),
        ('code = "PIN402"', False),
        ('code = "PIN401"\nsymbol = "up.f"\npath = "engine/*"', True),
        ('code = "PIN401"\npath = "tests/*"', False),
        ('path = "engine/*"', False),  # an error is accepted by name alone
        ('code = "PIN214"', False),
        (f'symbol = "up.f"\nuntil = "{"d" * 40}"', True),
        (f'symbol = "up.f"\nuntil = "{NEXT}"', False),
    ],
)
def test_a_waiver(waiver: str, *, accepted: bool) -> None:
    assert left(manifest(waiver), broken()) == [broken()] * (not accepted)


def test_a_path_alone_accepts_warnings() -> None:
    assert left(manifest('path = "engine/*"'), broken(Class.PRIVATE)) == []


def test_a_waiver_of_the_whole_file() -> None:
    common = '[[allow]]\nreason = "known"\nsymbol = "up.f"\n'
    assert left(manifest(common=common), broken()) == []


def test_why_it_is_accepted() -> None:
    parsed = manifest('symbol = "up.f"')
    assert waived([broken()], parsed, parsed.pins["up"], NEXT).accepted == [(broken(), "known")]


def test_a_waiver_that_accepts_nothing_is_stale() -> None:
    parsed = manifest('symbol = "up.f"', 'symbol = "up.g"\ncode = "PIN401"', 'path = "x"',
                      common='[[allow]]\nreason = "of all"\ncode = "PIN402"\n')  # fmt: skip
    stale = waived([broken()], parsed, parsed.pins["up"], NEXT).stale
    assert [(f.code, f.message, f.span and f.span.line) for f in stale] == [
        ("PIN123", "the waiver for PIN401 in up.g accepts nothing", 13)
    ]


# --- the baseline file ---


def test_what_is_written_is_known() -> None:
    breaks = [broken(), broken(symbol="up.g", subject="k"), broken(Class.PRIVATE)]
    text = written(breaks, "up", None)
    known = read(text, "known.json", "up")
    assert without(breaks, known) == []
    assert without([b._replace(place=Place("engine/a.py", 99)) for b in breaks], known) == []
    assert without([broken(subject="other")], known) == [broken(subject="other")]
    assert (gone(breaks, known), gone(breaks[:1], known)) == (0, 2)


def test_what_is_required_is_never_known() -> None:
    required = broken(Class.SILENT, required=True)
    assert without([required], read(written([required], "up", None), "known.json", "up")) == [required]


def test_other_pins_stay() -> None:
    first = written([broken()], "other", None)
    both = written([broken()], "up", first)
    assert read(both, "k", "other") == read(first, "k", "other") != frozenset()
    assert written([], "up", both) == written([], "up", first)
    assert json.loads(both)["schema"] == 1
    assert both.endswith(b"}\n")


@pytest.mark.parametrize(
    "text",
    [b"", b"[]", b"{}", b'{"schema": 2, "pins": {}}', b'{"schema": 1, "pins": {"up": [{}]}}', b"[" * 100_000, b"\xff"],
)
def test_another_file_is_refused(text: bytes) -> None:
    with pytest.raises(UsageError, match=r"known\.json is no baseline"):
        read(text, "known.json", "up")
