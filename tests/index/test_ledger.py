from __future__ import annotations

import pytest

from index.support import record
from pinctl.finding import Severity
from pinctl.index import ledger
from pinctl.index.judge import Fault
from pinctl.index.layout import Layout, Variants
from pinctl.index.ledger import Undecided, add, settle
from pinctl.index.records import Record

WHEEL = "tinyk-1.0+cu129-py3-none-any.whl"
LAYOUT = Layout()


def codes(*found: Record, layout: Layout = LAYOUT) -> list[tuple[str, str]]:
    return [(fault.code, fault.page) for fault in ledger.problems(found, layout, Variants())]


def test_records_as_they_should_be() -> None:
    assert codes(record(WHEEL), record(WHEEL, channel="nightly"), record(WHEEL, sha256="ab" * 32, withdrawn="x")) == []


@pytest.mark.parametrize(
    ("found", "code"),
    [
        ([record(WHEEL, sha256=None)], "PIN704"),
        ([record(WHEEL), record(WHEEL, sha256="ab" * 32)], "PIN702"),
        ([record(WHEEL), record(WHEEL, url="https://other.example/x.whl")], "PIN705"),
        ([record("Tinyk-1.0-py3-none-any.whl")], "PIN709"),
    ],
)
def test_what_stops_a_build(found: list[Record], code: str) -> None:
    assert codes(*found) == [(code, "release/cu129/tinyk")]


def test_two_lines_that_disagree_are_no_warning() -> None:
    """One of them yanked: pip would take the last link, uv the first."""
    (fault,) = ledger.problems([record(WHEEL), record(WHEEL, yanked="wrong torch")], LAYOUT, Variants())
    assert (fault.code, fault.severity) == ("PIN705", Severity.ERROR)


def test_a_foreign_label_and_a_namesake_and_a_channel() -> None:
    stray = record("tinyk-1.0+cu128-py3-none-any.whl")
    assert ("PIN703", "release/cu129/tinyk") in codes(stray, record("other-1-py3-none-any.whl", variant="cu128"))
    assert codes(record(WHEEL), record(WHEEL, channel="pr", sha256="ab" * 32)) == [("PIN715", "pr/cu129/tinyk")]
    assert codes(record(WHEEL, channel="pr"), layout=Layout(channels=("release",))) == [("PIN716", "pr/cu129/tinyk")]


def test_adding() -> None:
    new = record(WHEEL)
    assert add([], new, LAYOUT) == new
    assert add([new], new, LAYOUT) is None
    elsewhere = new._replace(channel="nightly")
    assert add([new], elsewhere, LAYOUT) == elsewhere


@pytest.mark.parametrize("said", [{}, {"withdrawn": "pruned"}, {"channel": "nightly"}, {"yanked": "broken"}])
def test_a_name_is_never_given_again(said: dict[str, str]) -> None:
    old = record(WHEEL, sha256="ab" * 32, **said)
    refused = add([old], record(WHEEL), LAYOUT)
    assert isinstance(refused, Fault)
    assert refused.code == "PIN717"
    assert "was published with other bytes (abababababab" in refused.what


def test_settling_a_record_without_a_digest() -> None:
    (one,) = settle([record(WHEEL, sha256=None)], WHEEL, "ab" * 32, "downloaded")
    assert (one.sha256, one.notes, one.withdrawn) == ("ab" * 32, ("downloaded",), None)
    both = settle([record(WHEEL, sha256=None), record(WHEEL)], WHEEL, str(record(WHEEL).sha256), "downloaded")
    assert [one.withdrawn for one in both] == ["downloaded", None]


def test_settling_leaves_other_pages_and_files_alone() -> None:
    other = record(WHEEL, channel="nightly", sha256="cd" * 32)
    found = [record(WHEEL), record(WHEEL, sha256="ab" * 32), other, record("tinyk-2-py3-none-any.whl")]
    after = settle(found, WHEEL, "ab" * 32, "why")
    assert after[2:] == tuple(found[2:])
    assert [one.withdrawn for one in after] == ["why", None, None, None]
    assert settle(after, WHEEL, "ab" * 32, "why") == after


def test_a_decision_that_cannot_be() -> None:
    with pytest.raises(Undecided, match="no record lists"):
        settle([record(WHEEL, withdrawn="x")], WHEEL, "ab" * 32, "why")
    with pytest.raises(Undecided, match="has the digest abababababab"):
        settle([record(WHEEL)], WHEEL, "ab" * 32, "why")


def test_pages_stay_out_of_the_folder_of_files() -> None:
    assert (
        ledger.in_the_way(Layout(folders={"*": "{channel}/{variant}"}), [record(WHEEL, channel="files")])
        == "files/cu129"
    )
    assert ledger.in_the_way(LAYOUT, [record(WHEEL)]) is None
