from __future__ import annotations

import json

from hypothesis import given, settings
from hypothesis import strategies as st

from pinctl.upstream.includes import Include, scan
from pinctl.upstream.scans import POINTER, Scanned, Scans

LINES = st.sampled_from(
    [b"#include <a.h>\n", b'#include "b c.h"\n', b"#if __has_include(<x.h>)\n", b"#ifdef Y\n", b"#endif\n", b"/* ",
     b" */\n", b"int x;\n", b"#include <caf\xff.h>\n"]
)  # fmt: skip


def kept(scans: Scans) -> Scans:
    """What the next run knows of what this one has kept."""
    return Scans(json.loads(json.dumps(scans.entries())))


@settings(max_examples=100)
@given(st.lists(LINES, max_size=12).map(b"".join))
def test_what_is_kept_is_what_was_found(source: bytes) -> None:
    scans = Scans()
    scans.learn("1", source)
    again = kept(scans)
    assert "1" in again
    assert again["1"] == scans["1"] == Scanned(tuple(scan(source)))
    assert again.entries() == scans.entries()
    assert (scans.learned, again.learned) == (True, False)


def test_pointers_and_files_that_are_too_large() -> None:
    scans = Scans()
    scans.learn("lfs", POINTER + b"v1\n#include <a.h>\n")
    scans.learn("large", None)
    scans.learn("empty", b"")
    again = kept(scans)
    assert {"lfs", "large", "empty"} <= {id_ for id_ in ("lfs", "large", "empty", "x") if id_ in again}
    assert (again["lfs"], again["large"], again["empty"]) == (Scanned(pointer=True), None, Scanned())


def test_only_what_a_run_used_is_kept() -> None:
    scans = Scans()
    for id_ in ("1", "2"):
        scans.learn(id_, b"#include <a.h>\n")
    again = kept(scans)
    assert "1" in again
    assert list(again.entries()) == ["1"]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=6) | st.dictionaries(st.text(max_size=3), inner, max_size=2),
    max_leaves=12,
)


@settings(max_examples=200)
@given(JSON)
def test_what_is_no_entry_is_not_taken(entry: object) -> None:
    scans = Scans({"1": entry})
    if "1" in scans:
        found = scans["1"]
        assert found is None or all(
            isinstance(i, Include) and isinstance(i.name, str) and isinstance(i.line, int) for i in found.includes
        )
