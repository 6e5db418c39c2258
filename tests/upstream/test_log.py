from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pinctl.upstream.log import FORMAT, LATEST, LONGEST, Commit, Entry, fold, parse

if TYPE_CHECKING:
    from repositories import GitRepository


def record(
    id_: str = "a" * 40, parents: str = "", time: bytes = b"1", author: str = "A", subject: str = "s", body: str = ""
) -> bytes:
    texts = (text.encode("utf-8", "surrogateescape") for text in (author, subject, body))
    return b"".join(field + b"\0" for field in (id_.encode(), parents.encode(), time, *texts))


def commit(name: str, *parents: str) -> Commit:
    return Commit(name, parents, 0, "A", name)


def told(entries: list[Entry]) -> list[tuple[str, str]]:
    return [(entry.commit.id, "".join(folded.id for folded in entry.folded)) for entry in entries]


def test_what_git_prints_is_read(repository: GitRepository) -> None:
    first = repository.commit("One\n\nIts body\nand more")
    second = repository.commit("Zwei: \x1b[31mrot\x07 \u202eab\ton\n")
    output = repository.git("log", "-z", f"--format={FORMAT}").encode("utf-8", "surrogateescape")
    clock = repository.CLOCK
    assert parse(output) == [
        Commit(second, (first,), clock + 7200, "Tester", "Zwei: [31mrot ab on"),
        Commit(first, (), clock + 3600, "Tester", "One", "Its body"),
    ]
    assert parse(b"") == []


@given(st.lists(st.tuples(*[st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]))] * 3)))
def test_any_text_is_one_clean_line_and_shifts_no_field(texts: list[tuple[str, str, str]]) -> None:
    output = b"".join(record(time=b"7", author=a, subject=s, body=b) for a, s, b in texts)
    commits = parse(output)
    assert [(c.id, c.parents, c.time) for c in commits] == [("a" * 40, (), 7)] * len(texts)
    for one, (author, subject, _) in zip(commits, texts, strict=True):
        assert all(len(line) <= LONGEST and (line.isprintable()) for line in (one.author, one.subject, one.lead))
        for line, text in ((one.author, author), (one.subject, subject)):
            if text.isprintable() and len(text) <= LONGEST:
                assert line == " ".join(text.split())


@given(st.binary())
def test_bytes_that_are_no_text_are_read(raw: bytes) -> None:
    subject = raw.replace(b"\0", b"")
    output = record(subject="SUBJECT").replace(b"SUBJECT", subject)
    assert len(parse(output)) == 1
    assert parse(output)[0].subject.isprintable()


def test_a_long_subject_is_cut() -> None:
    (one,) = parse(record(subject="x" * 10_000_000))
    assert one.subject == "x" * (LONGEST - 1) + "…"


@pytest.mark.parametrize(
    ("claimed", "time"),
    [(b"0", 0), (b"1700000000", 1_700_000_000), (b"1" + b"0" * 20, LATEST), (b"9" * 5000, LATEST), (b"", 0),
     (b"-5", 0), (b"253402300800", LATEST), (b"253402300799", LATEST), ("٣".encode(), 0)],
)  # fmt: skip
def test_a_claimed_time_is_one_that_calendars_hold(claimed: bytes, time: int) -> None:
    assert parse(record(time=claimed))[0].time == time


MERGE = ("p", "q")


@pytest.mark.parametrize(
    ("parents", "subject", "lead", "title"),
    [
        (MERGE, "Merge pull request #12 from a/b", "Add FP4", "Add FP4"),
        (MERGE, "Merge pull request #12 from a/b", "", "Merge pull request #12 from a/b"),
        (MERGE, "Merged in fp4 (pull request #3)", "Add FP4", "Add FP4"),
        (MERGE, "Merge branch 'fp4' into 'main'", "Add FP4", "Add FP4"),
        (MERGE, "Merge branch 'fp4' into 'main'", "See merge request g!1", "Merge branch 'fp4' into 'main'"),
        (MERGE, "Merge branch 'main' into fp4", "# Conflicts:", "Merge branch 'main' into fp4"),
        (("p",), "Merge pull request #12 from a/b", "Add FP4", "Merge pull request #12 from a/b"),
        (("p",), "Fix", "Because", "Fix"),
    ],
)
def test_a_merge_has_the_title_of_its_request(parents: tuple[str, ...], subject: str, lead: str, title: str) -> None:
    one = Commit("a", parents, 0, "A", subject, lead)
    assert (one.title, Entry(one).title) == (title, title)


@pytest.mark.parametrize(
    ("subject", "number"),
    [("Merge pull request #12 from a/b", 12), ("Updates (#364)", 364), ("Merged in x (pull request #3)", 3),
     ('Revert "A (#1)" (#22)', 22), ('Revert "A (#1)"', None), ("Fix #12", None), ("Fix (#1234567890)", None)],
)  # fmt: skip
def test_the_request_that_a_subject_names(subject: str, number: int | None) -> None:
    assert Commit("a", (), 0, "A", subject).request == number


def test_a_merge_tells_what_it_brought_in() -> None:
    # a - b - e - f, where e merges c - d, which left at a
    commits = [commit("f", "e"), commit("e", "b", "d"), commit("d", "c"), commit("c", "a"), commit("b", "a")]
    assert told(fold(commits, "f")) == [("f", ""), ("e", "dc"), ("b", "")]


def test_what_two_merges_reach_stands_under_the_older() -> None:
    commits = [
        commit("m2", "m1", "y"), commit("y", "x"), commit("m1", "a", "x", "z"), commit("x", "o"), commit("z", "o"),
        commit("a", "o"),
    ]  # fmt: skip
    assert told(fold(commits, "m2")) == [("m2", "y"), ("m1", "xz"), ("a", "")]


def test_what_the_tip_does_not_lead_to_follows() -> None:
    commits = [commit("b", "a"), commit("y", "x", "z"), commit("z", "a"), commit("x", "gone")]
    assert told(fold(commits, "b")) == [("b", ""), ("y", "z"), ("x", "")]
    assert told(fold(commits, "unknown")) == told(fold(commits, "b"))
    assert fold([], "b") == []


def test_a_long_line_does_not_recurse() -> None:
    line = [commit(str(n), str(n + 1)) for n in range(5000)]
    side = [commit("m", "z", "0"), *line]
    assert len(fold(line, "0")) == 5000
    assert [len(entry.folded) for entry in fold(side, "m")] == [5000]


@st.composite
def histories(draw: st.DrawFn) -> list[Commit]:
    """Commits, each before its parents; some parents are not among them."""
    number = draw(st.integers(0, 12))
    later = [st.lists(st.integers(n + 1, number + 2), max_size=3, unique=True) for n in range(number)]
    return [commit(str(n), *map(str, draw(parents))) for n, parents in enumerate(later)]


@given(histories(), st.integers(0, 12))
def test_every_commit_is_told_once(commits: list[Commit], tip: int) -> None:
    entries = fold(commits, str(tip))
    every = [one for entry in entries for one in (entry.commit, *entry.folded)]
    assert sorted(every) == sorted(commits)
    order = {one.id: number for number, one in enumerate(commits)}
    for entry in entries:
        assert [one.id for one in entry.folded] == sorted((one.id for one in entry.folded), key=order.__getitem__)
        assert not entry.folded or len(entry.commit.parents) > 1
    if entries and str(tip) in order:
        assert entries[0].commit.id == str(tip)
