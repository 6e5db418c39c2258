import pytest
from hypothesis import given
from hypothesis import strategies as st

from pinctl.report.cells import cells, clipped, padded, wrapped


@pytest.mark.parametrize(
    ("text", "width"), [("", 0), ("abc", 3), ("日本", 4), ("e\u0301", 1), ("\uff57", 2), ("é…", 2)]
)
def test_cells(text: str, width: int) -> None:
    assert cells(text) == width


@pytest.mark.parametrize(
    ("text", "room", "cut"), [("abcdef", 6, "abcdef"), ("abcdef", 5, "abcd…"), ("日本語", 4, "日…"), ("ab", 1, "…")]
)
def test_clipped(text: str, room: int, cut: str) -> None:
    assert clipped(text, room) == cut


@given(st.text("ab日\u0301", max_size=20), st.integers(1, 20))
def test_clipped_text_fits(text: str, room: int) -> None:
    assert cells(clipped(text, room)) <= room


def test_padded_counts_cells() -> None:
    assert padded("日", 4) == "日  "
    assert padded("abcd", 2) == "abcd"


def test_wrapped_leaves_room_for_what_stands_before() -> None:
    assert wrapped("aaa bbb ccc", 8, 4, 0) == ["aaa", "bbb ccc"]
    assert wrapped("aaa bbb", 0, 4, 0) == ["aaa bbb"]


@given(
    st.lists(st.text("ab日", min_size=1, max_size=6), min_size=1, max_size=8).map(" ".join),
    st.integers(1, 30),
    st.integers(0, 9),
)
def test_wrapped_text_loses_nothing_and_fits(text: str, width: int, indent: int) -> None:
    lines = wrapped(text, width, indent, indent)
    assert " ".join(lines) == text
    assert all(cells(line) <= width - indent or " " not in line for line in lines)
