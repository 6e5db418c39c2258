import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pinctl import sites
from pinctl.plan import apply
from pinctl.sites.base import Document, Unparsable
from pinctl.sites.memory import Memory

SHELL = b'A=1\nB="two"\nC=x\nC=y\napt-get install -y a b\n'
CMAKE = b'set(REF "abc")\nFetchContent_Declare(x GIT_REPOSITORY https://h/o/r.git GIT_TAG ${REF})\n'


def again(memory: Memory) -> Memory:
    """What a later run knows, after the way through JSON."""
    return Memory(json.loads(json.dumps(memory.used)))


@pytest.mark.parametrize(
    ("language", "source", "selector"),
    [
        ("shell", SHELL, "B"),
        ("shell", SHELL, "apt-get install"),
        ("shell", SHELL, "C#2"),
        ("cmake", CMAKE, "FetchContent(x)"),
    ],
)
def test_what_was_found_is_found_again_without_parsing(
    language: str, source: bytes, selector: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = Memory()
    found = sites.find(first.open(language, source), selector)
    assert found
    assert first.learned
    later = again(first)
    monkeypatch.setattr(sites, "load", lambda _: pytest.fail("it was parsed"))
    assert sites.find(later.open(language, source), selector) == found
    assert not later.learned


def test_other_bytes_or_another_language_are_not_known() -> None:
    memory = Memory()
    sites.find(memory.open("shell", SHELL), "A")
    later = again(memory)
    assert [h[0].value for h in sites.find(later.open("shell", SHELL.replace(b"A=1", b"A=2")), "A")] == ["2"]
    assert [h[0].value for h in sites.find(later.open("env", SHELL), "A")] == ["1"]


def test_a_remembered_slot_is_written_as_a_parsed_one_is() -> None:
    memory = Memory()
    fresh = sites.parse("cmake", CMAKE)
    sites.find(memory.open("cmake", CMAKE), "FetchContent(x)")
    known = again(memory).open("cmake", CMAKE)

    def written(document: Document) -> bytes:
        hit = sites.find(document, "FetchContent(x)")[0]
        ref = next(slot for slot in hit if slot.part == "ref")
        return apply(CMAKE, [*document.edits(ref, "def"), *document.add(hit, "submodules", ("m",))])

    assert written(known) == written(fresh) != CMAKE


GOOD: list[Any] = [["A"], [["1", 2, 3, "bare"]], 2, 3, "", -1, False, False, ""]


def changed(at: int, value: object) -> list[list[list[Any]]]:
    """GOOD as the one hit of a selector, with another value in one of its fields."""
    return [[[*GOOD[:at], value, *GOOD[at + 1 :]]]]


SPOILT = [
    None, 1, [], [[]], [[1]], [[["x"]]], [{"a": 1}], "text", "123456789",
    changed(0, []), changed(0, "A"), changed(0, [1]), changed(0, ["\ud800"]),
    changed(1, []), changed(1, [["1", 2, 3]]), changed(1, [["1", 3, 2, ""]]), changed(1, [["1", -1, 3, ""]]),
    changed(1, [["1", 2, 10_000, ""]]), changed(1, [[1, 2, 3, ""]]), changed(1, [["\ud800", 2, 3, ""]]),
    changed(1, [["9", True, 3, ""]]), changed(1, [["9", 2.0, 3, ""]]), changed(2, -1), changed(2, 9),
    changed(3, 10_000), changed(2, None), changed(4, None),
    changed(5, "x"), changed(6, 0), changed(7, None), changed(8, 1),
]  # fmt: skip


def test_an_entry_is_what_the_spoilt_ones_begin_as() -> None:
    memory = Memory()
    sites.find(memory.open("shell", SHELL), "A")
    assert json.loads(json.dumps(list(memory.used.values()))) == [{"A": [[GOOD]]}]


@pytest.mark.parametrize("spoilt", SPOILT)
def test_a_spoilt_entry_is_read_anew(spoilt: object) -> None:
    memory = Memory()
    sites.find(memory.open("shell", SHELL), "A")
    ((key, places),) = memory.used.items()
    expected = sites.find(sites.parse("shell", SHELL), "A")
    later = Memory({key: {**places, "A": spoilt}})
    assert sites.find(later.open("shell", SHELL), "A") == expected
    assert later.learned


def test_what_is_not_there_is_not_remembered() -> None:
    memory = Memory()
    assert sites.find(memory.open("shell", SHELL), "NOPE") == []
    assert list(memory.used.values()) == [{}]


def test_a_file_that_cannot_be_parsed_is_told_each_time() -> None:
    source = b"a" * (2 * 1024 * 1024 + 1)
    memory = Memory()
    for _ in range(2):
        with pytest.raises(Unparsable):
            memory.open("toml", source)
        memory = again(memory)


def test_what_a_pattern_finds_is_written_through_a_memory() -> None:
    memory = Memory()
    document = memory.open("shell", SHELL)
    ((slot,),) = sites.find(document, 'regex:B="(?P<value>[a-z]+)"')
    assert apply(SHELL, document.edits(slot, "three")) == SHELL.replace(b"two", b"three")


@given(st.lists(st.sampled_from(["A", "B", "C#1", "C#2", "apt-get install", "apt-get install(a)", "NOPE"]), max_size=8))
def test_memory_never_changes_an_answer(asked: list[str]) -> None:
    memory = Memory()
    for selector in asked:
        expected = sites.find(sites.parse("shell", SHELL), selector)
        assert sites.find(memory.open("shell", SHELL), selector) == expected
        memory = again(memory)


def test_other_readers_do_not_trust_what_was_remembered() -> None:
    memory = Memory(salt="one build")
    sites.find(memory.open("shell", SHELL), "A")
    (key,) = memory.used
    for salt, known in (("one build", True), ("another", False), ("", False)):
        later = Memory(json.loads(json.dumps(memory.used)), salt)
        later.open("shell", SHELL)
        assert (key in later.used) is known
