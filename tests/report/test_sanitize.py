import pytest
from hypothesis import given
from hypothesis import strategies as st

from pinctl.report.sanitize import inert, oneline, visible, well_formed

from .samples import HOSTILE, TEXTS, command_lines

ANY = st.text(st.characters(), max_size=40)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain é 日本", "plain é 日本"),
        ("\x1b]8;;https://e\x1b\\x", "\\x1b]8;;https://e\\x1b\\x"),
        ("\x1b]52;c;ZQ==\x07", "\\x1b]52;c;ZQ==\\x07"),
        ("v1\r", "v1\\r"),
        ("\x9b31m", "\\x9b31m"),
        ("\u202egnp", "\\u202egnp"),
        ("a\xa0b\u2028", "a\\xa0b\\u2028"),
        ("\udcff", "\\xff"),
        ("\ud800", "\\ud800"),
        ("[link=https://e]x[/link]", "[link=https://e]x[/link]"),
        ("a\tb\nc", "a\tb\nc"),
    ],
)
def test_what_a_terminal_would_obey_or_hide_is_shown(text: str, shown: str) -> None:
    assert visible(text) == shown


def test_keep_says_which_controls_stay() -> None:
    assert visible("a\tb\nc", keep="") == "a\\tb\\nc"


@given(ANY)
def test_visible_text_prints_as_it_is(text: str) -> None:
    assert visible(text).replace("\n", "").replace("\t", "").isprintable()


@given(ANY, ANY)
def test_texts_that_differ_in_a_hidden_character_do_not_look_alike(a: str, b: str) -> None:
    assert visible(f"{a}\u200b{b}") != visible(a + b)


@given(TEXTS)
def test_oneline_is_one_printable_line(text: str) -> None:
    assert oneline(text).isprintable()


def test_oneline_makes_one_space_of_white_space() -> None:
    assert oneline("  a \n\t b ") == "a b"


@pytest.mark.parametrize(
    ("text", "safe"),
    [
        ("::add-mask::e", ": :add-mask::e"),
        ("x\n \t::error::e", "x\n \t: :error::e"),
        (":::x", ": ::x"),
        ("a ##[error]", "a # #[error]"),
        ("###[error]", "## #[error]"),
        ("##vso[task.x]", "# #vso[task.x]"),
        ("std::string a::b ## heading [x]", "std::string a::b ## heading [x]"),
    ],
)
def test_inert_parts_the_commands_of_a_runner(text: str, safe: str) -> None:
    assert inert(text) == safe


@given(TEXTS)
def test_nothing_stays_a_command(text: str) -> None:
    assert command_lines(inert(visible(text))) == []


@given(ANY)
def test_well_formed_text_is_utf8(text: str) -> None:
    assert well_formed(text).encode("utf-8").decode("utf-8") == well_formed(text)


def test_well_formed_keeps_what_is_well_formed() -> None:
    assert well_formed("a\U0001f600\ud800") == "a\U0001f600\ufffd"


def test_the_samples_hold_each_kind_of_attack() -> None:
    kinds = ("\x1b]8;;", "\x1b]52;", "\r", "\u202e", "[link=", "[/x]", "::add-mask::", "##[error]")
    assert all(kind in "".join(HOSTILE) for kind in kinds)
