import pytest
from hypothesis import given
from hypothesis import strategies as st

from pinctl.report.cells import cells
from pinctl.report.values import compared, difference

from .samples import TEXTS


@pytest.mark.parametrize(
    ("a", "b", "parts"),
    [
        ("0.6.16", "0.6.14", ("6", "4")),
        ("2.10.0", "2.8.0", ("10", "8")),
        ("cutlass deep_jit", "cutlass fmt", ("deep_jit", "fmt")),
        ("2.8.0", "2.8", (".0", "")),
        ("abc", "abc", ("", "")),
        ("", "x", ("", "x")),
        ("aaaa", "aaa", ("a", "")),
    ],
)
def test_difference(a: str, b: str, parts: tuple[str, str]) -> None:
    start, end_a, end_b = difference(a, b)
    assert (a[start:end_a], b[start:end_b]) == parts


@given(st.text("ab.", max_size=8), st.text("ab.", max_size=8))
def test_around_the_difference_all_is_equal(a: str, b: str) -> None:
    start, end_a, end_b = difference(a, b)
    assert a[:start] == b[:start]
    assert a[end_a:] == b[end_b:]
    assert start <= min(end_a, end_b)


def texts(expected: str | None, found: str | None, room: int = 0, most: int = 12) -> list[tuple[str, str]]:
    return [(line.label, line.text) for line in compared(expected, found, room, most)]


def test_values_are_aligned_and_the_difference_is_marked() -> None:
    assert texts("0.6.16", "0.6.14") == [("expected", "0.6.16"), ("found", "0.6.14"), ("", "     ^")]
    assert texts("2.9.0", "2.123.0")[2] == ("", "  ^~~")


def test_marks_count_cells_not_characters() -> None:
    assert texts("日本 a", "日本 bb")[2] == ("", "     ^~")
    assert texts("x a", "x 日")[2] == ("", "  ^~")


def test_a_missing_end_is_marked_where_it_would_begin() -> None:
    assert texts("2.8.0", "2.8")[2] == ("", "   ^")


def test_no_marks_where_all_differs() -> None:
    assert texts("main", "478b2e1") == [("expected", "main"), ("found", "478b2e1")]


def test_one_value_stands_alone() -> None:
    assert texts("2.8.0", None) == [("expected", "2.8.0")]
    assert texts(None, "") == [("found", "")]


def test_a_long_value_is_cut_around_the_difference() -> None:
    head = "https://example.org/a/very/long/way/to/the/archive/"
    shown = texts(head + "v1.tar.gz", head + "v2.tar.gz", room=30)
    assert shown == [
        ("expected", "…he/archive/v1.tar.gz"),
        ("found", "…he/archive/v2.tar.gz"),
        ("", "             ^"),
    ]


def test_a_long_list_is_shown_by_its_elements() -> None:
    shared = [f"third-party/lib{n}/include" for n in range(20)]
    shown = texts(" ".join([*shared, "third-party/deep_jit"]), " ".join(["third-party/fmt", *shared]))
    assert shown == [("expected", "+ third-party/deep_jit"), ("found", "- third-party/fmt")]


def test_lines_are_elements_however_short() -> None:
    assert texts("a\nb", "a\nc\nd") == [("expected", "+ b"), ("found", "- c"), ("found", "- d")]


def test_another_order_is_seen() -> None:
    assert texts("a\nb", "b\na") == [("expected", "+ b"), ("found", "- b")]


def test_many_elements_are_counted() -> None:
    shown = texts("\n".join(map(str, range(15))), "x\ny", most=3)
    assert shown == [("expected", "+ 0"), ("expected", "+ 1"), ("expected", "+ 2"), ("expected", "+ … 12 more"),
                     ("found", "- x"), ("found", "- y")]  # fmt: skip


def test_very_long_lists_are_compared_as_sets() -> None:
    many = [str(n) for n in range(3000)]
    assert texts("\n".join(many), "\n".join([*many[1:], "x"])) == [("expected", "+ 0"), ("found", "- x")]


@given(TEXTS, TEXTS, st.sampled_from([0, 8, 20, 60]), st.sampled_from([0, 2]))
def test_every_line_is_printable_and_fits(expected: str, found: str, room: int, most: int) -> None:
    for line in compared(expected, found, room, most):
        assert line.text.isprintable()
        assert not room or cells(line.text) <= room
        assert 0 <= line.start <= line.end <= len(line.text)
