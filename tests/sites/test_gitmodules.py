"""`.gitmodules`: `git config --get` says what a value means."""

import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pinctl.sites import find, gitmodules
from pinctl.sites.base import BadSelector, Unwritable, write

SOURCE = b"""\
# submodules
[submodule "third-party/cutlass"]
\tpath = third-party/cutlass
\turl = https://github.com/NVIDIA/cutlass.git ; upstream
\tshallow
[Submodule "Fmt \\"x\\""]
    PATH = lib/fmt # comment
    url="https://h.example/a#b"
    branch =
    update = a "b # c"  d\\
e \\"f\\"
[submodule.Old] url = x
[core]
autocrlf = false"""


def read(source: bytes) -> dict[str, object]:
    return {slot.selector: slot.value for slot in gitmodules.parse(source).slots()}


def config(source: bytes, key: str, folder: Path) -> str:
    """What git reads at `key`."""
    (folder / "f").write_bytes(source)
    done = subprocess.run(["git", "config", "-z", "-f", "f", "--get", key], cwd=folder, capture_output=True, check=True)
    return done.stdout.decode().removesuffix("\0")


def test_shapes_as_git_reads_them(tmp_path: Path) -> None:
    found = read(SOURCE)
    assert found == {
        "submodule.third-party/cutlass.path": "third-party/cutlass",
        "submodule.third-party/cutlass.url": "https://github.com/NVIDIA/cutlass.git",
        'submodule.Fmt "x".path': "lib/fmt",
        'submodule.Fmt "x".url': "https://h.example/a#b",
        'submodule.Fmt "x".branch': "",
        'submodule.Fmt "x".update': 'a b # c  de "f"',
        "submodule.old.url": "x",
        "core.autocrlf": "false",
    }
    assert {key: config(SOURCE, key, tmp_path) for key in found} == found
    assert gitmodules.parse(SOURCE).errors == ()


@pytest.mark.parametrize(
    ("selector", "value"),
    [
        ("third-party/cutlass.url", "https://github.com/NVIDIA/cutlass.git"),
        ("third-party/cutlass.URL", "https://github.com/NVIDIA/cutlass.git"),
        ("lib/fmt.url", "https://h.example/a#b"),
        ("lib/fmt.path", "lib/fmt"),
        ("core.autocrlf", "false"),
    ],
)
def test_find(selector: str, value: str) -> None:
    ((slot,),) = find(gitmodules.parse(SOURCE), selector)
    assert slot.value == value


def test_nothing_and_bad_selectors() -> None:
    document = gitmodules.parse(SOURCE)
    assert document.find("submodule.none.url") == []
    for selector in ("", "url", "x.", "x.a b", "ARG X"):
        with pytest.raises(BadSelector):
            document.find(selector)


@pytest.mark.parametrize(
    ("selector", "value", "old", "new"),
    [
        ("third-party/cutlass.url", "https://x", b"https://github.com/NVIDIA/cutlass.git ;", b"https://x ;"),
        ("third-party/cutlass.url", "a#b", b"https://github.com/NVIDIA/cutlass.git ;", b'"a#b" ;'),
        ("lib/fmt.url", "https://x", b'"https://h.example/a#b"', b'"https://x"'),
        ("lib/fmt.branch", "main", b"branch =", b"branch =main"),
        ('submodule.Fmt "x".update', "none", b'a "b # c"  d\\\ne \\"f\\"', b"none"),
        ("core.autocrlf", "", b"autocrlf = false", b'autocrlf = ""'),
    ],
)
def test_write(selector: str, value: str, old: bytes, new: bytes) -> None:
    document = gitmodules.parse(SOURCE)
    assert write(document, document.find(selector)[0][0], value) == SOURCE.replace(old, new)


@pytest.mark.parametrize("value", ["a\nb", "\x7f", "a\tb", "\ud800"])
def test_unwritable(value: str) -> None:
    document = gitmodules.parse(SOURCE)
    with pytest.raises(Unwritable):
        write(document, document.find("lib/fmt.url")[0][0], value)


@pytest.mark.parametrize(
    ("source", "found", "errors"),
    [
        (b"url = x\n", {}, []),
        (b'[a "b]\nurl = x\n[c]\nd = 1\n', {"c.d": "1"}, [b'[a "b]']),
        (b'[a]\nb = "x\nc = 1\n', {"a.c": "1"}, [b'b = "x']),
        (b"[a]\nb = \\x\nc = 1\n", {"a.c": "1"}, [b"b = \\x"]),
        (b"[a]\n!b = 1\nc = 1\n", {"a.c": "1"}, [b"!b = 1"]),
        (b"[a]\nb # no\nc = 1\n", {"a.c": "1"}, [b"b # no"]),
        (b"[a]\nb = x\ty\nc = 1\n", {"a.c": "1"}, []),
        (b'\xef\xbb\xbf[a]\r\nb = "1" \r\nc\r\nd = 2\r\n', {"a.b": "1", "a.d": "2"}, []),
    ],
)
def test_what_git_refuses(source: bytes, found: dict[str, str], errors: list[bytes]) -> None:
    document = gitmodules.parse(source)
    assert {slot.selector: slot.value for slot in document.slots()} == found
    assert [source[start:end] for start, end in document.errors] == errors


def test_the_same_name_twice_is_two_places() -> None:
    assert len(gitmodules.parse(b"[a]\nb = 1\n[a]\nb = 2\n").find("a.b")) == 2


@pytest.mark.parametrize("literal", ["old", '"old"', '"o"ld', ""])
def test_git_reads_every_value_back(literal: str, tmp_path: Path) -> None:
    hostile = ['"', "\\", "#", ";", " a", "a ", "a  b", "-x", "é", "$(x)", "[x]", "a=b", "", "\\n", '\\"', "\xa0"]
    for newline in ("\n", "\r\n"):
        source = newline.join(['[submodule "x"]', f"\turl = {literal} # c", "\tpath = y", ""]).encode()
        document = gitmodules.parse(source)
        ((slot,),) = document.find("submodule.x.url")
        for value in hostile:
            after = write(document, slot, value)
            assert config(after, "submodule.x.url", tmp_path) == value
            assert config(after, "submodule.x.path", tmp_path) == "y"


_line = st.sampled_from(["", "# x", "; [y]", "path = p", '[submodule "z"]', "b = \\\n c", "flag", '  q = "a;b" ; c'])
_lines = st.lists(_line, max_size=5)


@given(
    _lines,
    _lines,
    st.sampled_from(["u = old", 'u="old" # c', "u = o \\\n  ld ; c", "u ="]),
    st.sampled_from(["\n", "\r\n"]),
    st.text(),
)
def test_written_values_read_back(above: list[str], below: list[str], line: str, newline: str, new: str) -> None:
    source = newline.join([*above, "[x]", line, *below]).encode()
    document = gitmodules.parse(source)
    ((slot,),) = document.find("x.u")
    try:
        after = write(document, slot, new)
    except Unwritable:
        assert not new.isprintable()
        return
    assert read(after) == {**read(source), "x.u": new}
    assert after[: slot.start] == source[: slot.start]
    assert after.endswith(source[slot.end :])


@given(st.binary() | st.text('[a]"\\=;# \n\r.b').map(str.encode))
def test_no_input_crashes_the_reader(source: bytes) -> None:
    for slot in gitmodules.parse(source).slots():
        assert 0 <= slot.start <= slot.end <= len(source)


@given(st.text('a"\\=;# \n\tb', max_size=30))
def test_git_agrees_where_it_reads_the_file(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    folder = tmp_path_factory.getbasetemp()
    source = f"[a]\nb = {text}\n".encode()
    (folder / "f").write_bytes(source)
    done = subprocess.run(["git", "config", "-z", "-f", "f", "--list"], cwd=folder, capture_output=True, check=False)
    document = gitmodules.parse(source)
    assert (done.returncode == 0) == (document.errors == ())
    if done.returncode == 0:
        listed = [entry.split("\n", 1) for entry in done.stdout.decode().split("\0") if entry]
        values = [[slot.selector, slot.value] for slot in document.slots()]
        # Keys without a value are no slots, nor is white space that versions of git read differently.
        assert [entry for entry in listed if len(entry) == 2 and entry in values] == values
        doubtful = any(part in text for part in ("\t", '""', "\\\n"))
        assert doubtful or values == [entry for entry in listed if len(entry) == 2]
