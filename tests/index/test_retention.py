from __future__ import annotations

from datetime import date

import pytest

from index.support import record, sha
from pinctl import manifest
from pinctl.index.layout import Layout
from pinctl.index.records import Record
from pinctl.index.retention import prune, user_of, withdrawn

LAYOUT = Layout(retention={"nightly": 30})
WHEEL = "tinyk-1.0+cu129-py3-none-any.whl"
COMMIT = "1" * 40
GIT = f'repo = "https://github.com/o/r.git"\ncommit = "{COMMIT}"'


def nightly(filename: str = WHEEL, **said: object) -> Record:
    return record(filename, **{"channel": "nightly", "uploaded": "2026-06-01T23:59:59Z"} | said)


@pytest.mark.parametrize(("today", "gone"), [(date(2026, 7, 1), 0), (date(2026, 7, 2), 1)])
def test_a_file_is_kept_the_days_of_its_channel(today: date, gone: int) -> None:
    assert len(prune([nightly()], LAYOUT, None, today).gone) == gone


def test_what_is_left_alone() -> None:
    today = date(2027, 1, 1)
    found = [nightly(channel="release"), nightly(withdrawn="x"), nightly(uploaded=None)]
    pruning = prune(found, LAYOUT, None, today)
    assert pruning.gone == ()
    assert pruning.undated == (found[2],)


def test_a_pruned_record_keeps_its_name() -> None:
    found = [nightly(), nightly("tinyk-2.0-py3-none-any.whl", uploaded="2026-12-31T00:00:00Z")]
    today = date(2027, 1, 1)
    after = withdrawn(found, prune(found, LAYOUT, None, today).gone, today)
    assert [one.withdrawn for one in after] == ["pruned on 2027-01-01", None]
    assert prune(after, LAYOUT, None, today).gone == ()


@pytest.mark.parametrize(
    ("pin", "said", "used"),
    [
        ('packages = ["TinyK"]\nversion = "1.0"', {}, True),
        ('packages = ["tinyk"]\nversion = "1.0+cu129"', {}, True),
        ('packages = ["tinyk"]\nversion = "1.0+cu128"', {}, False),
        ('packages = ["tinyk"]\nversion = "1.1"', {}, False),
        (GIT, {"provenance": {"commit": COMMIT}}, True),
        (GIT, {"provenance": {"commit": "2" * 40}}, False),
        (f'url = "https://h.example/x.whl"\nsha256 = "{sha(WHEEL)}"', {}, True),
        (f'url = "https://files.example/v{{version}}/{WHEEL}"\nversion = "1"\nsha256 = "{"ab" * 32}"', {}, True),
        (f'url = "https://h.example/x.whl"\nsha256 = "{"ab" * 32}"', {}, False),
        (f'{GIT}\nversion = "1.0"\ncontract.import_names = ["a.tinyk"]', {}, True),
        (f'{GIT}\nfacts.wheel = "{WHEEL}"', {}, True),
    ],
)  # fmt: skip
def test_what_a_pin_uses_is_never_removed(pin: str, said: dict[str, object], used: bool) -> None:
    pins = manifest.parse(f"schema = 1\n[pins.kernels]\nunused = true\n{pin}\n")
    one = nightly(**said)
    pruning = prune([one], LAYOUT, pins, date(2027, 1, 1))
    assert (len(pruning.kept), len(pruning.gone)) == ((1, 0) if used else (0, 1))
    assert (user_of(one, pins) is not None) is used
