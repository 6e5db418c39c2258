from __future__ import annotations

import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pinctl.errors import WriteRefused
from pinctl.manifest import patch_tables

TEXT = """\
schema = 1

[pins.a]  # the first
repo = "https://github.com/o/a.git"

[[pins.a.patches]]
file = "one.patch"  # why

[[pins.a.patches]]
file = "two.patch"

# about b
[pins.b]
notes = '''
[pins.a]
'''
"""


def test_one_is_added_behind_all_of_the_pin() -> None:
    after = patch_tables.added(TEXT, "a", {"file": "three.patch", "retire": "upstream"})
    assert after == TEXT.replace(
        "\n# about b", '\n[[pins.a.patches]]\nfile = "three.patch"\nretire = "upstream"\n\n# about b'
    )
    first = patch_tables.added(TEXT, "b", {"file": 'q"uote.patch'})
    assert first.startswith(TEXT)
    assert tomllib.loads(first)["pins"]["b"]["patches"] == [{"file": 'q"uote.patch'}]


def test_some_are_dropped() -> None:
    assert patch_tables.dropped(TEXT, "a", [1]) == TEXT.replace('\n[[pins.a.patches]]\nfile = "two.patch"\n', "")
    assert patch_tables.dropped(TEXT, "a", [0]) == TEXT.replace(
        '\n[[pins.a.patches]]\nfile = "one.patch"  # why\n', "")  # fmt: skip
    both = patch_tables.dropped(TEXT, "a", [0, 1])
    assert "patches" not in both
    assert "# about b" in both


def test_line_ends_stay_and_a_missing_one_is_made_up() -> None:
    crlf = patch_tables.added(TEXT.replace("\n", "\r\n"), "a", {"file": "x"})
    assert crlf.count("\n") == crlf.count("\r\n")
    bare = '[pins.a]\nrepo = "x"'
    assert patch_tables.added(bare, "a", {"file": "x"}) == f'{bare}\n\n[[pins.a.patches]]\nfile = "x"\n'


_INLINE = '[{ file = "x" }]'


@pytest.mark.parametrize(
    "text", [f"[pins]\na.patches = {_INLINE}\n", f"[pins.a]\npatches = {_INLINE}\n", "[pins.a]\npatches = []\n"]
)
def test_other_forms_are_left_to_the_person(text: str) -> None:
    with pytest.raises(WriteRefused, match="another form"):
        patch_tables.added(text, "a", {"file": "y"})
    with pytest.raises(WriteRefused, match="another form"):
        patch_tables.dropped(text, "a", [0])


@given(st.lists(st.sampled_from(["one", "two", "three", "four"]), unique=True, max_size=4), st.data())
def test_what_is_added_may_be_dropped(names: list[str], data: st.DataObject) -> None:
    text = "schema = 1\n[pins.a]\nunused = true\n[pins.b]\nunused = true\n"
    for name in names:
        text = patch_tables.added(text, "a", {"file": name})
    gone = data.draw(st.sets(st.integers(0, len(names) - 1))) if names else set()
    left = patch_tables.dropped(text, "a", gone) if gone else text
    kept = [{"file": name} for n, name in enumerate(names) if n not in gone]
    assert tomllib.loads(left)["pins"]["a"].get("patches", []) == kept
    if len(gone) == len(names):
        assert left == "schema = 1\n[pins.a]\nunused = true\n[pins.b]\nunused = true\n"
