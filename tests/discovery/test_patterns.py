import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pinctl import sites
from pinctl.discovery import patterns
from pinctl.discovery.literals import BARE, VALUE

ADDRESS = "https://github.com/o/r/releases/download/v1.20.0/ucx-1.20.0.tar.gz"


def value(text: str, selector: str) -> list[object]:
    """What a selector finds in a text."""
    return [slot.value for (slot,) in sites.find(sites.parse("text", text.encode()), selector)]


def test_each_place_of_an_address_has_its_pattern() -> None:
    tag, file = patterns.of_address(ADDRESS, "v1.20.0")
    assert (tag.text, tag.form) == ("v1.20.0", VALUE)
    assert (file.text, file.form) == ("1.20.0", BARE)
    assert value(f"curl {ADDRESS}\n", tag.selector) == ["v1.20.0"]
    assert value(f"curl {ADDRESS}\n", file.selector) == ["1.20.0"]


def test_a_pattern_holds_when_the_version_moves_and_at_a_mirror() -> None:
    moved = ADDRESS.replace("1.20.0", "1.21.0rc1").replace("github.com", "mirror.example.org")
    found = [value(moved, pattern.selector) for pattern in patterns.of_address(ADDRESS, "v1.20.0")]
    assert found == [["v1.21.0rc1"], ["1.21.0rc1"]]


def test_an_address_without_its_value_has_no_pattern() -> None:
    assert list(patterns.of_address(ADDRESS, "1.20")) == []
    assert list(patterns.of_address("https://github.com/v1.2/r", "v9")) == []


def test_a_ref_at_the_end_of_an_address() -> None:
    (pattern,) = patterns.of_address("https://github.com/o/r.git@v1.2", "v1.2")
    for behind in (" ", '"', "\\\n", "#subdirectory=x"):
        assert value(f"install git+https://github.com/o/r.git@v1.3{behind}\n", pattern.selector) == ["v1.3"]


def test_the_pattern_of_a_requirement() -> None:
    selector = patterns.of_requirement("my-pkg")
    assert value("a 'my-pkg[x,y]==1.2.0+cu130' my-pkg2==3 not-my-pkg==4\n", selector) == ["1.2.0+cu130"]


@pytest.mark.parametrize(
    ("text", "given_", "form"),
    [
        ("r-1.2.tar.gz?v=1.2", "1.2", f"r-{VALUE}.tar.gz?v={VALUE}"),
        ("v1.2/r-1.2.tgz", "v1.2", f"{VALUE}/r-{BARE}.tgz"),
        ("v1.2/r-1.2.3.tgz", "v1.2", f"{VALUE}/r-1.2.3.tgz".replace("1.2.3", "1.2.3")),
        ("v1.2/r11.2", "v1.2", f"{VALUE}/r11.2"),
    ],
)
def test_the_form_of_a_text(text: str, given_: str, form: str) -> None:
    assert patterns.form(text, given_) == form


@given(st.text(st.characters(codec="utf-8", exclude_characters="\n\0\1"), max_size=20))
def test_a_form_gives_the_text_back(rest: str) -> None:
    text = f"{rest}/v1.2/x-1.2{rest}"
    assert patterns.form(text, "v1.2").replace(VALUE, "v1.2").replace(BARE, "1.2") == text


@given(st.from_regex(r"[a-z.+~$()\[\]|-]{1,10}", fullmatch=True), st.from_regex(r"v?[0-9]\.[0-9]{1,3}", fullmatch=True))
def test_a_pattern_finds_what_it_was_made_of(name: str, version: str) -> None:
    address = f"https://h/o/{name}/{version}/{name}.tgz"
    for pattern in patterns.of_address(address, version):
        assert pattern.text in value(address, pattern.selector)
        re.compile(pattern.selector)
