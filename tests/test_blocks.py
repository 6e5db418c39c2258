import contextlib
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pinctl.blocks import (
    BlockError,
    Comment,
    Fault,
    Identity,
    State,
    all_blocks,
    compose,
    compose_file,
    file_state,
    locate,
    markers,
    renew,
    state,
)
from pinctl.plan import apply

HASH = ("# ", "")
STAR = ("/* ", " */")
ME = Identity(pin="deepgemm", recipe="fetchcontent")
OTHER = Identity(pin="deepgemm", recipe="include-dirs", name="jit")
BODY = "one\n\n  two\n"


def test_the_marker_lines() -> None:
    note = "(generated from pins.toml; run `pinctl sync`)"
    first, last = markers(HASH, ME, "0123456789abcdef")
    assert first == f"# >>> pinctl:deepgemm fetchcontent {note} sha256:0123456789abcdef"
    assert last == "# <<< pinctl:deepgemm"
    assert markers(STAR, OTHER)[0] == f"/* >>> pinctl:deepgemm include-dirs jit {note} */"
    own = Identity(pin=None, recipe="./pins/a b*/x.j2")
    assert markers(HASH, own)[0] == f"# >>> pinctl:* ./pins/a%20b%2A/x.j2 {note}"


def test_a_block_keeps_the_indentation_and_line_ends_of_its_place() -> None:
    block = compose(BODY, HASH, ME, indent=b"\t ", eol=b"\r\n")
    lines = block.split(b"\r\n")
    assert lines[1:4] == [b"\t one", b"", b"\t   two"]
    assert lines[0].startswith(b"\t # >>> pinctl:deepgemm")
    assert lines[4:] == [b"\t # <<< pinctl:deepgemm"]
    found = locate(b"before\r\n" + block, HASH, ME)
    assert (found.start, found.end, found.indent, found.eol) == (8, 8 + len(block), b"\t ", b"\r\n")


def test_the_three_states() -> None:
    source = b"a\n" + compose(BODY, HASH, ME) + b"\nz"

    def seen(text: bytes, rendered: str = BODY) -> State:
        return state(text, locate(text, HASH, ME), rendered)

    assert seen(source) is State.CURRENT
    assert seen(source, "newer\n") is State.STALE
    assert seen(source.replace(b"two", b"three")) is State.EDITED
    assert seen(source.replace(b"\n", b"\r\n")) is State.CURRENT
    # A digest made to fit hides nothing: what is rendered is compared.
    assert seen(b"a\n" + compose("forged\n", HASH, ME)) is State.STALE
    # A digest that does not fit is renewed, or the next move of the pin would look like an edit.
    assert seen(re.sub(rb"sha256:\w+", b"sha256:0000000000000000", source)) is State.STALE


def test_markers_written_by_hand_are_a_block_to_be_filled() -> None:
    empty = b"x = 1\n    # >>> pinctl:deepgemm fetchcontent\n    # <<< pinctl:deepgemm\n"
    found = locate(empty, HASH, ME)
    assert state(empty, found, BODY) is State.STALE
    filled = apply(empty, [renew(found, BODY, HASH, ME)])
    assert b"\n    one\n\n      two\n    # <<<" in filled
    assert state(filled, locate(filled, HASH, ME), BODY) is State.CURRENT
    around = empty.replace(b"    # <<<", b"    mine\n    # <<<")
    assert state(around, locate(around, HASH, ME), BODY) is State.EDITED


def test_renewing_moves_no_other_byte() -> None:
    source = b"\xff before\n" + compose("old\n", HASH, ME, indent=b"  ")  # and no newline at the end
    renewed = apply(source, [renew(locate(source, HASH, ME), BODY, HASH, ME)])
    assert renewed == b"\xff before\n" + compose(BODY, HASH, ME, indent=b"  ")


BEGIN, END = (line.encode() for line in markers(HASH, ME))
OTHER_BEGIN = markers(HASH, OTHER)[0].encode()


@pytest.mark.parametrize(
    ("lines", "fault", "line"),
    [
        ([], Fault.MISSING, None),
        ([b"# >>> pinctl:other fetchcontent", b"# <<< pinctl:other"], Fault.MISSING, None),
        ([OTHER_BEGIN, END], Fault.MISSING, None),
        ([b"text " + BEGIN, b"text " + END], Fault.MISSING, None),
        ([BEGIN, END, BEGIN, END], Fault.DOUBLED, 2),
        ([BEGIN], Fault.DISORDERED, 0),
        ([END], Fault.DISORDERED, 0),
        ([END, BEGIN], Fault.DISORDERED, 1),
        ([BEGIN, END, END], Fault.DISORDERED, 2),
        ([BEGIN, OTHER_BEGIN, END], Fault.DISORDERED, 0),
        ([BEGIN, OTHER_BEGIN, END, END], Fault.DISORDERED, 0),
    ],
)
def test_what_is_wrong_with_the_markers(lines: list[bytes], fault: Fault, line: int | None) -> None:
    with pytest.raises(BlockError) as caught:
        locate(b"\n".join(lines), HASH, ME)
    assert caught.value.fault is fault
    assert caught.value.offset == (None if line is None else len(b"".join(part + b"\n" for part in lines[:line])))


def test_blocks_of_one_pin_side_by_side() -> None:
    source = compose("1\n", HASH, ME) + b"\n" + compose("2\n", HASH, OTHER) + b"\n"
    for identity, text in ((ME, "1\n"), (OTHER, "2\n")):
        assert state(source, locate(source, HASH, identity), text) is State.CURRENT
    other = Identity(pin="deepgemm", recipe="include-dirs")
    with pytest.raises(BlockError, match="missing"):
        locate(source, HASH, other)


def test_every_block_of_a_file() -> None:
    first, second = compose(BODY, HASH, ME, indent=b" "), compose(BODY, STAR, Identity(pin=None, recipe="r"))
    source = b"a\n" + first + b"\nb\n" + second + b"\nc\n"
    assert [source[start:end] for start, end in all_blocks(source)] == [first, second]
    assert all_blocks(b"a\n" + BEGIN + b"\nb\n") == [(2, len(BEGIN) + 5)]
    assert all_blocks(b"nothing\n") == []


def test_a_whole_file() -> None:
    text = compose_file(BODY, HASH, ME).decode()
    header, body = text.split("\n", 1)
    assert re.fullmatch(r"# pinctl:deepgemm fetchcontent \(generated .*`pinctl sync`\) sha256:[0-9a-f]{16}", header)
    assert body == BODY
    assert file_state(text.encode(), HASH, ME, BODY) is State.CURRENT
    assert file_state(text.encode().replace(b"\n", b"\r\n"), HASH, ME, BODY) is State.CURRENT
    assert file_state(text.encode(), HASH, ME, "newer\n") is State.STALE
    assert file_state(text.encode() + b"mine\n", HASH, ME, BODY) is State.EDITED
    assert file_state(BODY.encode(), HASH, ME, BODY) is State.EDITED
    assert file_state(text.encode(), HASH, OTHER, BODY) is State.EDITED
    assert all_blocks(text.encode()) == []


@pytest.mark.parametrize(
    ("head", "rest"),
    [
        ("#!/usr/bin/env bash\n", "set -e\n"),
        ("# syntax=docker/dockerfile:1\n# escape=`\n", "# a comment\nFROM x\n"),
        ('<?xml version="1.0"?>\n', "<a/>\n"),
        ("", "# syntax is no directive\n"),
        ("", ""),
    ],
)
def test_what_must_stand_first_stays_first(head: str, rest: str) -> None:
    text = compose_file(head + rest, HASH, ME)
    assert text.startswith(head.encode() + b"# pinctl:deepgemm")
    assert text.endswith(b"\n" + rest.encode())
    assert file_state(text, HASH, ME, head + rest) is State.CURRENT


def test_a_whole_file_without_comments() -> None:
    assert compose_file('{"a": 1}', None, ME) == b'{"a": 1}\n'
    assert file_state(b'{"a": 1}\r\n', None, ME, '{"a": 1}\n') is State.CURRENT
    assert file_state(b'{"a": 2}\n', None, ME, '{"a": 1}\n') is State.EDITED
    assert file_state(b'{"a": 2}\r\n', None, ME, '{"a": 1}\n', '{"a": 2}') is State.STALE
    assert file_state(b'{"a": 3}\n', None, ME, '{"a": 1}\n', '{"a": 2}\n') is State.EDITED


LINES = st.text(st.characters(exclude_characters="\r\n", exclude_categories=["Cs"]), max_size=12)
BODIES = st.lists(LINES, max_size=6).map(lambda lines: "".join(f"{line}\n" for line in lines))
NAMES = st.text(min_size=1, max_size=8)
IDENTITIES = st.builds(Identity, pin=st.none() | NAMES, recipe=NAMES, name=st.just("") | NAMES)


@given(
    before=BODIES,
    body=BODIES,
    after=BODIES,
    identity=IDENTITIES,
    comment=st.sampled_from([HASH, STAR, ("// ", "")]),
    indent=st.sampled_from([b"", b"    ", b"\t"]),
    eol=st.sampled_from([b"\n", b"\r\n"]),
    renewed=BODIES,
)
def test_a_composed_block_is_found_and_current_and_renews(
    before: str, body: str, after: str, renewed: str, identity: Identity, comment: Comment, indent: bytes, eol: bytes
) -> None:
    head, tail = before.encode().replace(b"\n", eol), after.encode().replace(b"\n", eol)
    block = compose(body, comment, identity, indent=indent, eol=eol)
    source = head + block + eol + tail
    found = locate(source, comment, identity)
    assert (found.start, found.end) == (len(head), len(head) + len(block))
    assert all_blocks(source) == [(found.start, found.end)]
    assert state(source, found, body) is State.CURRENT
    assert (state(source, found, renewed) is State.CURRENT) == (renewed == body)
    assert state(source, found, renewed) is not State.EDITED
    again = apply(source, [renew(found, renewed, comment, identity)])
    assert again == head + compose(renewed, comment, identity, indent=indent, eol=eol) + eol + tail


@given(st.binary(max_size=200))
def test_no_bytes_crash_it(source: bytes) -> None:
    for text in (source, BEGIN + b"\n" + source, BEGIN + b"\r\n" + source + b"\n" + END):
        all_blocks(text)
        file_state(text, HASH, ME, BODY)
        with contextlib.suppress(BlockError):
            state(text, locate(text, HASH, ME), BODY)
