"""Env files: bash says what a value means."""

import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pinctl.sites import env, find
from pinctl.sites.base import BadSelector, Unwritable, write

SOURCE = b"""\
# pins
VLLM_COMMIT_SHA=0f8cafe  # release/2.12
export TORCH_VERSION="2.13.0"
  IMAGE='h.example/a b:1'\t# c
URL=https://h.example/x#frag?a=b
ESCAPED="a \\"b\\" \\\\c"
EMPTY=
NOTHING= # a comment
EXPANDED=$TORCH_VERSION
EXPANDED2="a${TORCH_VERSION}"
EXPANDED3='${TORCH_VERSION}'
COMMAND=`id`
JOINED="a"b
JOINED2=a"b"
HOME_=~/x
TABBED="\\t"
LONG="one
INSIDE=1
"
NEXT=a\\
INSIDE2=2
build.version=1.0
LAST=x"""


def read(source: bytes) -> dict[str, object]:
    return {slot.selector: slot.value for slot in env.parse(source).slots()}


def sourced(source: bytes, name: str, folder: Path) -> str:
    """What bash has in `name` after it has read the file."""
    (folder / "env").write_bytes(source)
    script = f'set -a; . ./env; printf "%s" "${{{name}-unset}}"'
    done = subprocess.run(["bash", "-c", script], cwd=folder, capture_output=True, check=True)
    return done.stdout.decode()


def test_shapes() -> None:
    assert read(SOURCE) == {
        "VLLM_COMMIT_SHA": "0f8cafe",
        "TORCH_VERSION": "2.13.0",
        "IMAGE": "h.example/a b:1",
        "URL": "https://h.example/x#frag?a=b",
        "ESCAPED": 'a "b" \\c',
        "EMPTY": "",
        "NOTHING": "",
        "build.version": "1.0",
        "LAST": "x",
    }


def test_crlf_and_bom() -> None:
    assert read(b'\xef\xbb\xbfA=1\r\nB="2" \r\nC=3 # c\r\n') == {"A": "1", "B": "2", "C": "3"}


def test_the_same_name_twice_is_two_places() -> None:
    assert len(env.parse(b"A=1\nA=2\n").find("A")) == 2


@pytest.mark.parametrize("selector", ["", "A B", "A=1", "/x", "é"])
def test_bad_selectors(selector: str) -> None:
    with pytest.raises(BadSelector):
        env.parse(SOURCE).find(selector)


@pytest.mark.parametrize(
    ("name", "value", "old", "new"),
    [
        ("VLLM_COMMIT_SHA", "abc", b"=0f8cafe  #", b"=abc  #"),
        ("VLLM_COMMIT_SHA", "a b", b"=0f8cafe  #", b'="a b"  #'),
        ("VLLM_COMMIT_SHA", "a;$(id)", b"=0f8cafe  #", b"='a;$(id)'  #"),
        ("TORCH_VERSION", "3", b'"2.13.0"', b'"3"'),
        ("TORCH_VERSION", "", b'"2.13.0"', b'""'),
        ("IMAGE", "x", b"'h.example/a b:1'", b"'x'"),
        ("IMAGE", "it's", b"'h.example/a b:1'", b'"it\'s"'),
        ("EMPTY", "x", b"EMPTY=", b"EMPTY=x"),
        ("NOTHING", "x", b"NOTHING= #", b"NOTHING=x #"),
        ("LAST", "#", b"LAST=x", b'LAST="#"'),
    ],
)
def test_write(name: str, value: str, old: bytes, new: bytes) -> None:
    document = env.parse(SOURCE)
    ((slot,),) = find(document, name)
    after = write(document, slot, value)
    assert after == SOURCE.replace(old, new)
    assert read(after)[name] == value


@pytest.mark.parametrize("value", ["a\nb", "\x1b", "'$", "${HOME}", "a'`b`"])
def test_unwritable(value: str) -> None:
    document = env.parse(SOURCE)
    with pytest.raises(Unwritable):
        write(document, document.find("LAST")[0][0], value)


HOSTILE = [
    "$(touch x)",
    "`touch x`",
    "a;touch x",
    "a&touch x",
    "a|b",
    "a b",
    "#",
    " #x",
    "'",
    '"',
    "\\",
    "\\'",
    "~",
    "!x",
    "*",
    "{a,b}",
    "é",
    "a\\nb",
]


@pytest.mark.parametrize("literal", [b"bare", b'"double"', b"'single'"])
@pytest.mark.parametrize("value", HOSTILE)
def test_bash_reads_the_value_back(literal: bytes, value: str, tmp_path: Path) -> None:
    document = env.parse(b"B=1\nexport A=" + literal + b" # c\nC=3\n")
    after = write(document, document.find("A")[0][0], value)
    assert sourced(after, "A", tmp_path) == value
    assert sourced(after, "C", tmp_path) == "3"
    assert [path.name for path in tmp_path.iterdir()] == ["env"]


def test_bash_agrees_on_the_shapes(tmp_path: Path) -> None:
    source = SOURCE.replace(b"COMMAND=`id`\n", b"").replace(b"build.version=1.0\n", b"")
    for name, value in read(source).items():
        assert sourced(source, name, tmp_path) == value


_line = st.sampled_from(["", "# A=0", "B=1", 'C="x # y"', "D='é'", "nonsense", "E=$A", "F = 2 # c"])
_lines = st.lists(_line, max_size=4)


@given(
    _lines,
    _lines,
    st.sampled_from(["A=old", 'A="old"', "export A='old'", "A= old # c", "A="]),
    st.sampled_from(["\n", "\r\n"]),
    st.text(),
    st.booleans(),
)
def test_written_values_read_back(
    above: list[str], below: list[str], line: str, newline: str, new: str, final: bool
) -> None:
    source = (newline.join([*above, line, *below]) + newline * final).encode()
    document = env.parse(source)
    ((slot,),) = document.find("A")
    try:
        after = write(document, slot, new)
    except Unwritable:
        assert not new.isprintable() or "$" in new or "`" in new
        return
    assert read(after) == {**read(source), "A": new}
    assert after[: slot.start] == source[: slot.start]
    assert after.endswith(source[slot.end :])


@given(st.binary() | st.text("A=\"'\\#$ \n\r").map(str.encode))
def test_no_input_crashes_the_reader(source: bytes) -> None:
    for slot in env.parse(source).slots():
        assert 0 <= slot.start <= slot.end <= len(source)
