"""Starlark sites: the shapes of Bazel's files, re-written by hand; what is written is read back by `ast`."""

import ast
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pinctl.sites import find, language_of
from pinctl.sites.base import BadSelector, Unwritable, Value, write
from pinctl.sites.starlark import COMMENT, NAME, parse
from sites.support import named, one

OLD, NEW = "0123456789abcdef0123456789abcdef01234567", "fedcba9876543210fedcba9876543210fedcba98"
HEX = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
SRI = "sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="
OTHER = "ab" * 32
OTHER_SRI = "sha256-q6urq6urq6urq6urq6urq6urq6urq6urq6urq6urq6s="

REVISION = f"""\
# To update: change the two together.
XLA_COMMIT = "{OLD}"
XLA_SHA256 = '{HEX}'  # of the tar.gz
"""
MODULE = f"""\
module(name = "engine", version = "0.1")
bazel_dep(name = "xla", version = "1.2.3")
archive_override(
    module_name = "xla",
    integrity = "{SRI}",
    strip_prefix = "xla-{OLD}",
    urls = ["https://github.com/openxla/xla/archive/{OLD}.tar.gz"],  # mirrored
)
git_override(module_name = "rules_x", remote = "https://github.com/o/rules_x.git", commit = "{OLD}")
"""
WORKSPACE = f"""\
load("//third_party:repo.bzl", "tf_http_archive", "tf_mirror_urls")
_COMMIT = "{OLD}"
_SHORT = _COMMIT
tf_http_archive(
    name = "eigen",
    sha256 = "{HEX}",
    strip_prefix = "eigen-" + _COMMIT,
    urls = tf_mirror_urls("https://gitlab.com/e/eigen/-/archive/{{c}}/eigen-{{c}}.tar.gz".format(c = _COMMIT)),
)
tf_http_archive(
    name = "fmt",
    strip_prefix = "fmt-%s" % _SHORT,
    urls = tf_mirror_urls("https://github.com/fmtlib/fmt/archive/{{}}.zip".format(_COMMIT)),
)
tf_http_archive(name = "abc", urls = tf_mirror_urls("https://example.com/abc-1.2.tar.gz"))
"""


def values(text: str, selector: str) -> list[Value]:
    return [slot.value for hit in parse(text.encode()).find(selector) for slot in hit]


def written(text: str, selector: str, value: Value) -> str:
    """`text` with the one slot of `selector` written; both are read back."""
    document = parse(text.encode())
    after = write(document, one(document, selector), value)
    assert one(parse(after), selector).value == value
    ast.parse(after)
    return after.decode()


# --- reading -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "path",
    [
        "third_party/xla/revision.bzl",
        "MODULE.bazel",
        "WORKSPACE",
        "x/BUILD",
        "BUILD.bazel",
        "WORKSPACE.bazel",
        "a.BUILD",
    ],
)
def test_the_files_of_bazel(path: str) -> None:
    assert language_of(path) == NAME == "starlark"
    assert COMMENT == ("# ", "")


def test_other_files_are_none() -> None:
    assert [language_of(path) for path in ("build", "BUILD.gn", "bzl", ".bazelrc", "BUILD.py")] == [
        "text", "text", "text", "text", "python",
    ]  # fmt: skip


def test_constants() -> None:
    assert named("starlark", REVISION.encode()) == {"XLA_COMMIT": OLD, "XLA_SHA256": HEX}


@pytest.mark.parametrize(
    ("text", "selector", "expected"),
    [
        (MODULE, 'archive_override("xla").strip_prefix', [f"xla-{OLD}"]),
        (MODULE, "archive_override(xla).integrity", [SRI]),
        (MODULE, 'archive_override(module_name = "xla").integrity', [SRI]),
        (MODULE, "archive_override(module_name='xla').integrity", [SRI]),
        (MODULE, "archive_override(module_name = xla).urls", [(f"https://github.com/openxla/xla/archive/{OLD}.tar.gz",)]),
        (MODULE, 'bazel_dep("xla").version', ["1.2.3"]),
        (MODULE, "module().version", ["0.1"]),
        (MODULE, 'git_override("rules_x").commit', [OLD]),
        (WORKSPACE, 'tf_http_archive("eigen").strip_prefix', [f"eigen-{OLD}"]),
        (WORKSPACE, 'tf_http_archive("eigen").urls', []),
        (WORKSPACE, 'tf_http_archive("fmt").strip_prefix', [f"fmt-{OLD}"]),
        (WORKSPACE, 'tf_http_archive("fmt").urls', [f"https://github.com/fmtlib/fmt/archive/{OLD}.zip"]),
        (WORKSPACE, 'tf_http_archive("abc").urls', ["https://example.com/abc-1.2.tar.gz"]),
        ('crate.spec("serde", version = "1.0")', 'spec("serde").version', ["1.0"]),
        ('A = "1"\nf(name = "n", v = A)', 'f("n").v', ["1"]),
        ('A = "1"\nB = A\nC = (B)\nf(name = "n", v = C)', 'f("n").v', ["1"]),
        ('A = "1"\nB = "v" + A\nf(name = "n", v = "{}-x{{}}".format(B))', 'f("n").v', ["v1-x{}"]),
        ('A = "1"\nf(name = "n", v = "%s%%" % A)', 'f("n").v', ["1%"]),
        ('A = "1"\nf(name = "n", v = "%s-%s" % ("x", A))', 'f("n").v', ["x-1"]),
        ('A = "1"\nf(name = "n", v = "{1}-{0}".format(A, "x"))', 'f("n").v', ["x-1"]),
        ('A = {"k": "1"}\nf(name = "n", v = A["k"])', 'f("n").v', []),
        ('A = {"k": "1"}', "A[k]", ["1"]),
        ('A = "1"\nB = "2"\nf(name = "n", v = A + B)', 'f("n").v', []),
        ('A = "1"\nf(name = "n", v = A + A)', 'f("n").v', []),
        ('A = "1"\nA = "2"\nf(name = "n", v = A)', 'f("n").v', []),
        ('A = "1"\nA += "2"\nf(name = "n", v = A)', 'f("n").v', []),
        ('A = "1"\ndef g(A, *B):\n    f(name = "n", v = A)', 'f("n").v', []),
        ('A = "1"\ndef g(A = "3"):\n    f(name = "n", v = A)', 'f("n").v', []),
        ('A = "1"\n[f(name = "n", v = A) for A in x]', 'f("n").v', []),
        ('A = "1"\n[f(name = "n", v = A) for A, b in x]', 'f("n").v', []),
        ('A, B = "1", "2"\nf(name = "n", v = A)', 'f("n").v', []),
        ('load("x", "A")\nf(name = "n", v = A)', 'f("n").v', []),
        ("A = 1\nf(name = 'n', v = 'x' + A)", 'f("n").v', []),
        ('f(name = "n", v = "{} {}".format("a"))', 'f("n").v', []),
        ('A = "1"\nf(name = "n", v = "{:>9}".format(A))', 'f("n").v', []),
        ('A = "1"\nf(name = "n", v = "%d" % A)', 'f("n").v', []),
        ('A = B\nB = A\nf(name = "n", v = A)', 'f("n").v', []),
        ('f(name = "n", v = g("plain"))', 'f("n").v', []),
        ('f(name = "n", v = select({"a": "1"}))', 'f("n").v', []),
    ],
)  # fmt: skip
def test_values(text: str, selector: str, expected: list[Value]) -> None:
    assert values(text, selector) == expected


@pytest.mark.parametrize("selector", ["", "a b", "/x", "f(x).", "ARG X", "x = y"])
def test_what_is_no_selector(selector: str) -> None:
    with pytest.raises(BadSelector, match="Starlark"):
        parse(b"X = 'v'").find(selector)


def parts(text: str, selector: str) -> dict[str, Value]:
    ((*slots,),) = find(parse(text.encode()), selector)
    return {slot.part: slot.value for slot in slots}


def test_calls_that_fetch() -> None:
    url = f"https://github.com/openxla/xla/archive/{OLD}.tar.gz"
    assert parts(MODULE, 'archive_override("xla")') == {"url": url, "hash": f"SHA256={HEX}"}
    assert parts(MODULE, "archive_override(xla)") == {"url": url, "hash": f"SHA256={HEX}"}
    assert parts(MODULE, "git_override(module_name = rules_x)") == {
        "repo": "https://github.com/o/rules_x.git", "ref": OLD,
    }  # fmt: skip
    assert parts('git_repository(name = "n", remote = "r", tag = "v1")', "git_repository(n)") == {
        "repo": "r", "ref": "v1",
    }  # fmt: skip


# --- writing -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "selector", "value", "expected"),
    [
        (REVISION, "XLA_COMMIT", NEW, REVISION.replace(OLD, NEW)),
        (REVISION, "XLA_SHA256", OTHER, REVISION.replace(HEX, OTHER)),
        (MODULE, 'archive_override("xla").strip_prefix', f"xla-{NEW}", MODULE.replace(f"xla-{OLD}", f"xla-{NEW}")),
        (MODULE, 'archive_override("xla").integrity', OTHER_SRI, MODULE.replace(SRI, OTHER_SRI)),
        (WORKSPACE, "tf_http_archive(eigen).strip_prefix", f"eigen-{NEW}", WORKSPACE.replace(OLD, NEW)),
        (WORKSPACE, "tf_http_archive(fmt).strip_prefix", f"fmt-{NEW}", WORKSPACE.replace(OLD, NEW)),
        (WORKSPACE, "tf_http_archive(abc).urls", "https://x.y/z", WORKSPACE.replace(
            "https://example.com/abc-1.2.tar.gz", "https://x.y/z")),
        ("f(name = 'n', v = \"a\")", "f(n).v", 'q"\\', "f(name = 'n', v = \"q\\\"\\\\\")"),
        ("X = r'a'", "X", "b'", "X = 'b\\''"),
    ],
)  # fmt: skip
def test_writing(text: str, selector: str, value: Value, expected: str) -> None:
    assert written(text, selector, value) == expected


def test_a_call_that_fetches_is_written_part_by_part_in_the_codec_that_it_has() -> None:
    document = parse(MODULE.encode())
    ((*slots,),) = document.find('archive_override("xla")')
    by_part = {slot.part: slot for slot in slots}
    after = write(document, by_part["hash"], f"SHA256={OTHER}").decode()
    assert after == MODULE.replace(SRI, OTHER_SRI)
    after = write(document, by_part["hash"], f"SHA512={'ab' * 64}").decode()
    assert "sha512-q6ur" in after
    url = "https://example.com/x.zip"
    assert url in write(document, by_part["url"], url).decode()


@pytest.mark.parametrize(
    ("text", "selector", "value"),
    [
        (REVISION, "XLA_COMMIT", "a\nb"),
        (REVISION, "XLA_COMMIT", "a\0"),
        (REVISION, "XLA_COMMIT", "a\u202eb"),
        (REVISION, "XLA_COMMIT", "\ud800"),
        (REVISION, "XLA_COMMIT", ("a", "b")),
        (WORKSPACE, "tf_http_archive(eigen).strip_prefix", NEW),
        (WORKSPACE, "tf_http_archive(eigen).strip_prefix", "eigen"),
        ("A = 'a'\nf(name = 'n', v = 'ab' + A + 'bc')", "f(n).v", "abc"),
        ("A = 1", "A", "1; load('x', 'y')"),
    ],
)
def test_values_that_cannot_stand_there(text: str, selector: str, value: Value) -> None:
    document = parse(text.encode())
    with pytest.raises(Unwritable):
        write(document, one(document, selector), value)


@pytest.mark.parametrize(("keyword", "value"), [
    ("sha256", f"SHA512={'ab' * 64}"), ("integrity", f"SHA1={'ab' * 20}"), ("sha256", f"SHA256={OTHER[:-1]}"),
    ("sha256", "SHA256=x\"), evil(\""), ("sha256", OTHER),
])  # fmt: skip
def test_digests_that_cannot_stand_there(keyword: str, value: str) -> None:
    present = HEX if keyword == "sha256" else SRI
    document = parse(f'http_archive(name = "n", {keyword} = "{present}")'.encode())
    ((slot,),) = document.find("http_archive(n)")
    assert slot.value == f"SHA256={HEX}"
    with pytest.raises(Unwritable):
        write(document, slot, value)


# --- properties --------------------------------------------------------------------------------------------------

hostile = st.text(st.sampled_from("ab\\'\"{}%$()#\n\r\0\t\u2028é") | st.characters(), max_size=12)
SHAPES = (
    ("A = {}\n", "A", "", ""),
    ("A = {}\nf(name = 'n', v = A)\n", "f(n).v", "", ""),
    ("A = {}\nf(name = 'n', v = 'x-' + A)\n", "f(n).v", "x-", ""),
    ("A = {}\nf(name = 'n', v = 'x-%s%%' % A)\n", "f(n).v", "x-", "%"),
    ("A = {}\nf(name = 'n', v = '{{{{{{}}}}}}'.format(A))\n", "f(n).v", "{", "}"),
)


@settings(max_examples=150)
@given(st.sampled_from(SHAPES), st.sampled_from(["'", '"', '"""', "r'"]), hostile, hostile)
def test_what_is_written_is_read_back_and_nothing_else_moves(
    shape: tuple[str, str, str, str], quotes: str, before: str, value: str
) -> None:
    text, selector, head, tail = shape
    source = text.format(f"{quotes}old{quotes.lstrip('r')}") + "# " + before.replace("\n", " ").replace("\r", " ")
    raw = source.encode("utf-8", "replace")
    document = parse(raw)
    slot = one(document, selector)
    assert slot.value == f"{head}old{tail}"
    try:
        after = write(document, slot, f"{head}{value}{tail}")
    except Unwritable:
        assert not value.isprintable()
        return
    (token,) = slot.tokens
    assert after.startswith(raw[: token.start])
    assert after.endswith(raw[token.end :])
    assert one(parse(after), selector).value == f"{head}{value}{tail}"
    (assignment, *_) = ast.parse(after.replace(b"\0", b" ")).body
    assert isinstance(assignment, ast.Assign)
    assert ast.literal_eval(assignment.value) == value


ALL = (REVISION + MODULE + WORKSPACE).encode()


@given(st.binary(max_size=30) | st.text(max_size=20).map(str.encode), st.integers(0, len(ALL)), st.integers(0, 9))
def test_no_input_crashes_the_reader(junk: bytes, at: int, drop: int) -> None:
    for source in (junk, ALL[:at] + junk + ALL[at + drop :]):
        for slot in parse(source).slots():
            assert all(token.start <= token.end for token in slot.tokens)
            assert slot.many or len(slot.tokens) == 1


@pytest.mark.parametrize(
    "source",
    [
        b"A0 = 'a'\n" + b"".join(b"A%d = A%d + A%d\n" % (n + 1, n, n) for n in range(200)) + b"f(name='n', v=A200)",
        b"f(name = 'n', v = " + b"A + " * 20_000 + b"A)",
        b"f(name = 'n', v = " + b"(" * 20_000 + b"A" + b")" * 20_000 + b")",
        b"A = 'a'\nf(name = 'n', v = '" + b"%s" * 20_000 + b"' % A)",
        b"A = 'a'\nf(name = 'n', v = '{}'.format(" + b"A, " * 20_000 + b"))",
        b"A = 'a'\n" + b"f(name = 'n', v = 'x' + A)\n" * 5_000,
        b"A = '{" + b"9" * 5_000 + b"}'\nf(name = 'n', v = '{99999999999999999999}'.format(A))",
        b"A" + b" = A" * 5_000,
    ],
    ids=range(8),
)
def test_hostile_files_take_no_time(source: bytes) -> None:
    began = time.perf_counter()
    document = parse(source)
    document.find('f("n").v')
    assert time.perf_counter() - began < 5
