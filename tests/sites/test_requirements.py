"""Requirements files: packaging says what a requirement means."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from packaging.requirements import InvalidRequirement, Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

from pinctl.plan import apply
from pinctl.sites import find, pep508, requirements
from pinctl.sites.base import BadSelector, Unwritable, write

SOURCE = b"""\
# torch==1.0
-r common.txt
-c constraints.txt
--extra-index-url https://flashinfer.ai/whl/ --trusted-host h
--extra-index-url=https://download.pytorch.org/whl/xpu
-i https://pypi.example/simple
-f ./wheels
--find-links https://${TOKEN}@h.example/x
numba == 0.65.0 # Required
Flash_Infer.python[cu13,x]===0.6.16.post3; platform_system == "Linux"
torch==2.13.0+cpu; platform_machine == "x86_64"
torch==2.13.0 ; platform_system == "Darwin"
setuptools>=77.0.3,<81.0.0   # range
timm (>= 1.0, <2)
ruff==0.11.*
numpy
locked==1.2.3 \\
    --hash=sha256:00 \\
    --hash=sha256:11
    # via
    #   numpy==9
split == \\
  4.5
tvm @ https://h.example/a.whl ; python_version > "3"
tvm2 @ https://${HOST}/a.whl
-e git+https://h.example/o/r.git@0123abc#egg=editable_pkg
https://h.example/dl/my_wheel-0.1+cu129-py3-none-any.whl#sha256=00
git+ssh://git@h.example/o/r.git@main#subdirectory=a&egg=named
./local/path
# \xc3\xa9 comment
after==1.0 \t# \xc3\xa9
last==3"""


def read(source: bytes) -> list[tuple[str, object]]:
    return [(slot.selector, slot.value) for slot in requirements.parse(source).slots()]


def test_shapes() -> None:
    assert read(SOURCE) == [
        ("extra-index-url", "https://flashinfer.ai/whl/"),
        ("extra-index-url", "https://download.pytorch.org/whl/xpu"),
        ("index-url", "https://pypi.example/simple"),
        ("requirement numba", "0.65.0"),
        ("requirement flash-infer-python", "0.6.16.post3"),
        ("requirement torch", "2.13.0+cpu"),
        ("requirement torch", "2.13.0"),
        ("specifier setuptools", ">=77.0.3,<81.0.0"),
        ("specifier timm", ">= 1.0, <2"),
        ("specifier ruff", "==0.11.*"),
        ("requirement locked", "1.2.3"),
        ("requirement split", "4.5"),
        ("url tvm", "https://h.example/a.whl"),
        ("url editable-pkg", "git+https://h.example/o/r.git@0123abc#egg=editable_pkg"),
        ("url my-wheel", "https://h.example/dl/my_wheel-0.1+cu129-py3-none-any.whl#sha256=00"),
        ("url named", "git+ssh://git@h.example/o/r.git@main#subdirectory=a&egg=named"),
        ("requirement after", "1.0"),
        ("requirement last", "3"),
    ]


def test_every_span_is_exact() -> None:
    for source in (SOURCE, SOURCE.replace(b"\n", b"\r\n"), b"\xef\xbb\xbf" + SOURCE):
        slots = list(requirements.parse(source).slots())
        assert len(slots) == 18
        assert [source[slot.start : slot.end].decode() for slot in slots] == [slot.value for slot in slots]


@pytest.mark.parametrize(
    ("selector", "values"),
    [
        ("requirement torch", ["2.13.0+cpu", "2.13.0"]),
        ("requirement torch#2", ["2.13.0"]),
        ("requirement FLASH-infer_python", ["0.6.16.post3"]),
        ("extra-index-url#1", ["https://flashinfer.ai/whl/"]),
        ("requirement setuptools", []),
        ("requirement none", []),
        ("find-links", []),
    ],
)
def test_find(selector: str, values: list[str]) -> None:
    assert [slot.value for (slot,) in find(requirements.parse(SOURCE), selector)] == values


@pytest.mark.parametrize("selector", ["torch", "requirement", "requirement t[x]", "url a b", "", "requirement t==1"])
def test_bad_selectors(selector: str) -> None:
    with pytest.raises(BadSelector):
        requirements.parse(SOURCE).find(selector)


@pytest.mark.parametrize(
    ("selector", "value", "old", "new"),
    [
        ("requirement numba", "0.66.0rc1", b"numba == 0.65.0 #", b"numba == 0.66.0rc1 #"),
        ("requirement torch#2", "2.14.0+cu130", b"torch==2.13.0 ;", b"torch==2.14.0+cu130 ;"),
        ("requirement split", "5", b"  4.5", b"  5"),
        ("specifier timm", "~=1.1", b"(>= 1.0, <2)", b"(~=1.1)"),
        ("url tvm", "https://h.example/b%2Bc.whl", b"https://h.example/a.whl ;", b"https://h.example/b%2Bc.whl ;"),
        ("extra-index-url#2", "https://x/y", b"=https://download.pytorch.org/whl/xpu", b"=https://x/y"),
        (
            "url editable-pkg",
            "git+https://h/r@1#egg=editable_pkg",
            b"git+https://h.example/o/r.git@0123abc#egg=editable_pkg",
            b"git+https://h/r@1#egg=editable_pkg",
        ),
        ("requirement after", "2", b"after==1.0", b"after==2"),
        ("requirement last", "3.1", b"last==3", b"last==3.1"),
    ],
)
def test_write(selector: str, value: str, old: bytes, new: bytes) -> None:
    document = requirements.parse(SOURCE)
    after = write(document, find(document, selector)[0][0], value)
    assert after == SOURCE.replace(old, new)
    assert find(requirements.parse(after), selector)[0][0].value == value


@pytest.mark.parametrize(
    ("selector", "value"),
    [
        *(("requirement numba", value) for value in ("", "1 2", "1;x", "1#x", "1 #x", "1,<2", "1.*", "${X}")),
        ("requirement numba", "1 --hash=x"),
        ("requirement numba", "1\n--index-url=https://evil.example"),
        ("requirement locked", "1.2.4"),
        ("url tvm", "https://${X}/a"),
        ("url tvm", "https://h/ x"),
        ("url tvm", "x"),
        ("specifier timm", "==1"),
        ("specifier timm", "1"),
        ("extra-index-url#1", "--pre"),
        ("extra-index-url#1", "https://h/\t"),
    ],
)
def test_unwritable(selector: str, value: str) -> None:
    document = requirements.parse(SOURCE)
    with pytest.raises(Unwritable):
        write(document, find(document, selector)[0][0], value)


def test_a_lock_file_reads_fast() -> None:
    source = b"".join(b"package-%d==1.%d\n    # via -r requirements.in\n    #   other\n" % (n, n) for n in range(500))
    start = time.process_time()
    assert len(read(source)) == 500
    assert time.process_time() - start < 1


@pytest.mark.parametrize(
    "source",
    [
        b"a" + b" " * 100_000 + b"x",
        b"a[" + b"," * 100_000,
        b"a\\\n" * 50_000,
        b"-" * 100_000,
        b"x==1" + b"," * 100_000,
        b" " * 100_000 + b"#",
        b"a-" * 50_000,
        b"--index-url " * 20_000,
        b"https://h/#" + b"&egg" * 50_000,
        b"https://h" + b"/a-b" * 50_000,
    ],
)
def test_hostile(source: bytes) -> None:
    start = time.process_time()
    assert list(requirements.parse(source).slots()) == []
    assert time.process_time() - start < 5


# One requirement, against packaging

_names = st.from_regex(r"[A-Za-z0-9]([A-Za-z0-9._-]{0,6}[A-Za-z0-9])?", fullmatch=True)
_versions = st.from_regex(r"[0-9]{1,3}(\.[0-9]{1,3}){0,3}((a|b|rc)[0-9])?(\.post[0-9])?(\.dev[0-9])?", fullmatch=True)
_locals = st.builds("{}+{}".format, _versions, st.sampled_from(["cu130", "cpu", "a1"]))
_spaces = st.sampled_from(["", " ", "  "])
_clauses = st.one_of(
    st.builds("{}{}{}".format, st.sampled_from(["==", "!=", "==="]), _spaces, _versions | _locals),
    st.builds("{}{}{}".format, st.sampled_from([">=", "<=", ">", "<"]), _spaces, _versions),
    st.builds("{}{}{}.*".format, st.sampled_from(["==", "!="]), _spaces, st.sampled_from(["1", "2.3"])),
    st.builds("~={}{}.{}".format, _spaces, st.integers(0, 9), st.integers(0, 9)),
)
_extras = st.sampled_from(["", "[cu13]", "[a, b-c]", "[]"])
_markers = st.sampled_from(["", '; python_version > "3.9"', " ; sys_platform == 'linux' and extra == 'x;y'"])
_sets = st.lists(_clauses, min_size=1, max_size=3).flatmap(lambda c: st.sampled_from([",".join(c), " , ".join(c)]))


@given(_names, _spaces, _extras, _sets, st.booleans(), _markers)
def test_packaging_agrees(name: str, gap: str, extras: str, specifiers: str, bracket: bool, marker: str) -> None:
    text = f"{name}{gap}{extras}{gap}{f'({gap}{specifiers}{gap})' if bracket else specifiers}{gap}{marker}"
    right = Requirement(text)
    read = pep508.parse(text)
    assert read is not None
    assert read.name == canonicalize_name(right.name)
    slot = text[read.start : read.end]
    if read.kind == "requirement":
        assert right.specifier in (SpecifierSet(f"=={slot}"), SpecifierSet(f"==={slot}"))
        assert Requirement(f"{text[: read.start]}9.9{text[read.end :]}").specifier.contains("9.9")
    else:
        assert read.kind == "specifier"
        assert SpecifierSet(slot) == right.specifier
        assert "," in slot or "*" in slot or not slot.startswith("==")


_urls = st.sampled_from(["https://h.example/a-1.whl", "git+https://h/r@0123#egg=x", "file:///x"])


@given(_names, _urls, _extras, _markers)
def test_packaging_agrees_on_urls(name: str, url: str, extras: str, marker: str) -> None:
    text = f"{name}{extras} @ {url} {marker}"
    read = pep508.parse(text)
    assert read is not None
    assert (read.kind, text[read.start : read.end]) == ("url", Requirement(text).url)


@given(st.text("ab-.[]()@=<>~!1*, ;#:/+\n", max_size=14))
def test_what_is_read_is_a_requirement(text: str) -> None:
    read = pep508.parse(text)
    if read is None or ";" in text:
        return
    try:
        right = Requirement(text)
    except InvalidRequirement:
        # Only versions that PEP 440 has not, such as `1-` or `==b`, and URLs without a host.
        Requirement(f"{text[: read.start]}{_stand_in(read.kind)}{text[read.end :]}")
        return
    assert canonicalize_name(right.name) == read.name
    assert (right.url or "") == (text[read.start : read.end] if read.kind == "url" else "")


def _stand_in(kind: str) -> str:
    return {"requirement": "1", "specifier": ">=1", "url": "https://h/x"}[kind]


_line = st.sampled_from(["", "# x", "y==1 # z", "--pre", "  # via x==3", "z==2 \\\n  --hash=sha256:0", "é"])
_lines = st.lists(_line, max_size=4)


@given(
    _lines,
    _lines,
    st.sampled_from(["x==1", "x[a] == 1 ; python_version > '3' # é", "  x===1\t# c"]),
    st.sampled_from(["\n", "\r\n"]),
    _versions | _locals | st.text(max_size=5),
)
def test_written_versions_read_back(above: list[str], below: list[str], line: str, newline: str, new: str) -> None:
    source = newline.join([*above, line, *below]).encode()
    document = requirements.parse(source)
    ((slot,),) = document.find("requirement x")
    try:
        after = write(document, slot, new)
    except Unwritable:
        if new == new.strip():
            with pytest.raises(InvalidVersion):
                Version(new)
        return
    assert after == source[: slot.start] + new.encode() + source[slot.end :]
    assert [v for n, v in read(after) if n != "requirement x"] == [v for n, v in read(source) if n != "requirement x"]
    assert [slot.value for (slot,) in requirements.parse(after).find("requirement x")] == [new]


@given(st.binary() | st.text("a=1-\\# \n\r@:/[];é\u2028\x85\x0c").map(str.encode))
def test_no_input_crashes_the_reader(source: bytes) -> None:
    for slot in requirements.parse(source).slots():
        assert source[slot.start : slot.end].decode() == slot.value


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("git+https://github.com/o/Some_Lib.git@v1.2", "some-lib"),
        ("git+https://github.com/o/r", "r"),
        ("git+ssh://git@host/o/r.git@v2#egg=other&subdirectory=x", "other"),
        ("https://github.com/o/r.git", None),
        ("r @ git+https://github.com/o/r", None),
        ("git+https://github.com/o/r b", None),
        ("git+https://", None),
    ],
)
def test_a_git_url_alone_is_called_after_its_repository(text: str, name: str | None) -> None:
    read = pep508.vcs(text)
    assert (read and read.name) == name
    assert read is None or (read.kind, text[read.start : read.end]) == ("url", text)


# ------------------------------------------------------------------------------------------- lines with digests


def relocked(source: bytes, *digests: str, value: str = "2.0") -> bytes:
    """`source` with the requirement x at another version, and with other digests."""
    document = requirements.parse(source)
    ((slot,),) = document.find("requirement x")
    assert slot.style == requirements.HASHED
    return apply(source, document.relocked(slot, value, digests))


A, B, C = ("a" * 64, "b" * 64, "c" * 64)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (f"x==1.0 --hash=sha256:{A}\n", f"x==2.0 --hash=sha256:{B} --hash=sha256:{C}\n"),
        (f"x==1.0 \\\n  --hash sha256:{A}  \\\n  # no\n",
         f"x==2.0 \\\n  --hash=sha256:{B} \\\n  --hash=sha256:{C}  \\\n  # no\n"),
        (f"x==1.0 \\\n    --hash=sha256:{A} \\\n    --hash=sha256:{B}\n    # via y\nz==1.0 --hash=sha256:{A}\n",
         f"x==2.0 \\\n    --hash=sha256:{B} \\\n    --hash=sha256:{C}\n    # via y\nz==1.0 --hash=sha256:{A}\n"),
        (f"# é\r\nx[a] == 1.0 ; python_version > '3' \\\r\n\t--hash=sha256:{A} \\\r\n\t--hash=sha256:{A}",
         f"# é\r\nx[a] == 2.0 ; python_version > '3' \\\r\n\t--hash=sha256:{B} \\\r\n\t--hash=sha256:{C}"),
        (f"x==1.0 --hash=sha256:{A} --config-settings=a --hash=sha256:{B}", None),
        (f"x==1.0 --hash=sha256:{A} --hash=sha512:{B}", None),
        (f"x==1.0 --hash=md5:{A}", None),
    ],
)  # fmt: skip
def test_digests_give_way_to_those_of_the_new_version(old: str, new: str | None) -> None:
    if new is None:
        with pytest.raises(Unwritable):
            relocked(old.encode(), C, B)
    else:
        assert relocked(old.encode(), C, B) == new.encode()


@pytest.mark.parametrize("digests", [(), (A, "A" * 64), (A + "\n",), (f"{A} --index-url=x",), ("",)])
def test_a_digest_is_one(digests: tuple[str, ...]) -> None:
    with pytest.raises(Unwritable):
        relocked(f"x==1.0 --hash=sha256:{A}\n".encode(), *digests)


@given(
    st.lists(st.integers(0, 16**64 - 1), min_size=1, max_size=4),
    st.lists(st.integers(0, 16**64 - 1), min_size=1, max_size=4),
    st.sampled_from([" ", " \\\n    ", "  \\\r\n  ", " \\\n"]),
    st.sampled_from(["", "# é\n", "y==1.0 --hash=sha256:00\n", "--pre\r\n"]),
    st.sampled_from(["", "\n", "\n# x==1.0 --hash=sha256:00\n", "\r\nz==1.0"]),
)
def test_nothing_else_moves(old: list[int], new: list[int], gap: str, before: str, behind: str) -> None:
    def line(version: str, digests: list[int]) -> str:
        return f"x=={version}{gap}" + gap.join(f"--hash=sha256:{digest:064x}" for digest in digests)

    texts = sorted(f"{digest:064x}" for digest in new)
    after = relocked(f"{before}{line('1.0', old)}{behind}".encode(), *texts)
    assert after == f"{before}{line('2.0', [int(text, 16) for text in texts])}{behind}".encode()
    ((slot,),) = requirements.parse(after).find("requirement x")
    assert slot.value == "2.0"
