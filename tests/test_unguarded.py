import tomllib

import pytest
import re2
from hypothesis import given
from hypothesis import strategies as st

from pinctl.model import Manifest, Pin
from pinctl.unguarded import Mention, pattern_of, searcher, toml_key, uncovered

COMMIT = "a1" * 20


def mentions(text: str, *pins: Pin, earlier: dict[str, list[str]] | None = None) -> list[Mention]:
    search = searcher(Manifest(path="pins.toml", text="", pins={p.name: p for p in pins}), earlier or {})
    return [] if search is None else uncovered(search.mentions(text.encode()), [])


def git(**facts: object) -> Pin:
    return Pin(**{"name": "dg", "repo": "https://github.com/o/r.git", "commit": COMMIT, **facts})  # type: ignore[arg-type]


def test_without_anything_to_search_for() -> None:
    assert searcher(Manifest(path="pins.toml", text="", pins={"z": Pin(name="z", image="x")}), {}) is None


@pytest.mark.parametrize(
    ("facts", "text", "template"),
    [
        ({}, COMMIT, "{commit}"),
        ({}, COMMIT[:8], "{commit:.8}"),
        ({}, "github.com/o/r@v1.2", "{commit}"),
        ({"tag": "v1.2"}, "github.com/o/r@v1.1", "{tag}"),
        ({"tag": "v1.2", "version": "1.2"}, "github.com/o/r@v1.1", "{tag}"),
        ({"tag": "v1.2", "version": "1.2"}, "github.com/o/r@1.1", "{version}"),
        ({"tag": "v1.2"}, "github.com/o/r@12345678", "{commit:.8}"),
        ({"version": "1.2", "commit": None}, "github.com/o/r@v1.1", "{version:tag}"),
        ({"version": "v1.2", "commit": None}, "github.com/o/r@1.1", "{version:bare}"),
        ({"commit": None, "unresolved": "a1a1a1a"}, "github.com/o/r@12345678", "{commit:.8}"),
        ({"track": "main"}, "github.com/o/r@main", "{track}"),
        ({"commit": None, "unresolved": True}, "github.com/o/r@v1.1", None),
    ],
)
def test_the_template_names_a_fact_that_the_pin_has(facts: dict[str, object], text: str, template: str | None) -> None:
    (found,) = mentions(text, git(**facts))
    assert found.template == template


def test_a_former_commit_of_a_pin_that_has_none_now() -> None:
    (found,) = mentions(f"at {COMMIT}", git(commit=None, tag="v1"), earlier={"dg": [COMMIT], "gone": ["b" * 40]})
    assert (found.why, found.template) == ("names a commit that pins.toml held before", "{tag}")


def test_what_a_site_covers_is_no_mention() -> None:
    text = f"{COMMIT} {COMMIT[:9]}".encode()
    search = searcher(Manifest(path="", text="", pins={"dg": git()}), {})
    assert search is not None
    assert [m.start for m in uncovered(search.mentions(text), [(3, 5)])] == [41]
    assert [m.start for m in uncovered(search.mentions(text), [(0, 40), (45, 60)])] == []
    assert [m.start for m in uncovered([*search.mentions(text)] * 2, [])] == [0, 41]


TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\n\r"), max_size=12) | st.sampled_from(
    ["(a|b)*", "[x]{2}^$", r"\d.\\", "#|?+-", "'\"`", "é ü\u2028", "\t", "<>=/&"]
)


@given(TEXTS, TEXTS, st.sampled_from(["", *"= :'\"(@/\t"]), st.sampled_from(["", *" ;'\")],\t\r\u00a0"]), TEXTS)
def test_a_pattern_finds_its_mention_alone(above: str, before: str, opening: str, closing: str, after: str) -> None:
    before = f"{before}{opening}" if opening else ""
    source = f"{above}\n{before}{COMMIT}{closing}{after if closing else ''}\n".encode()
    at = len(f"{above}\n{before}".encode())
    mention = Mention("dg", at, at + 40, "", "{commit}")
    pattern = pattern_of(source, mention)
    if pattern is None:
        assert not before.strip() or not before.lstrip().isprintable()
        return
    assert pattern.startswith("regex:")
    assert len(pattern) <= 206
    spans = [m.span(1) for m in re2.compile(pattern.removeprefix("regex:").encode()).finditer(source)]
    assert (at, at + 40) in spans


@given(st.text(st.characters(exclude_categories=["Cs", "Cc"])))
def test_a_key_reads_back(text: str) -> None:
    assert tomllib.loads(f"{toml_key(text)} = 1") == {text: 1}
