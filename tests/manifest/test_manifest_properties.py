"""What holds of every text: parse gives a manifest or findings with places; an edit changes its value and no more."""

import random
import tomllib
from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from sites.test_toml import Writer, tables

from pinctl.codes.table import CODES
from pinctl.errors import ManifestError, WriteRefused
from pinctl.finding import Finding
from pinctl.manifest import edit, parse, splice
from pinctl.sites.toml import parse as parse_toml

COMMIT = "ad1f1726aa540a76c1d26d6a120effb8de21eaa4"
TEXT = f"""\
schema = 1
# DeepGEMM, the fork
[pins.deepgemm]
repo       = "https://github.com/vllm-project/DeepGEMM.git"   # the fork
commit     = "{COMMIT}"  # always the full id
version    = '2.8.0'
unresolved = true
submodules = [
  "third-party/cutlass",  # headers
  "third-party/deep_jit",
]   # [] none; absent: all
upstream   = {{ repo = "https://github.com/deepseek-ai/DeepGEMM.git" }}
facts.min_cuda = "12.8"

[pins.deepgemm.sites."docker/Dockerfile"]
"ARG DEEPGEMM_REF"   = "{{commit:.10}}"
[[pins.deepgemm.patches]]
file = "a.patch"

[variants.cu13]
cuda = "13.0"
"""
quick = settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck))

words = st.sampled_from(
    ["[pins.a]", "[[sites]]", "schema = 1", 'repo = "https://h/r"', f'commit = "{COMMIT}"', 'commit = "x"', "[", "]",
     "sites.f.X = 1", "{", "}", 'file = "../x"', "\n", "\r\n", "a.b", "unused = true", "'''", "#", "\x00", "é",
     '"', "=", "1979-05-27"]
)  # fmt: skip


def findings(text: str) -> Sequence[Finding]:
    """What is wrong with `text`; none where it is a manifest."""
    try:
        parse(text)
    except ManifestError as error:
        return error.findings
    return ()


@quick
@given(st.text(max_size=80) | st.lists(words, max_size=12).map("\n".join))
def test_any_text_gives_a_manifest_or_findings_with_places(text: str) -> None:
    for found in findings(text):
        assert found.code in CODES
        assert found.file == "pins.toml"
        assert found.span is not None
        assert 1 <= found.span.line <= text.count("\n") + 1
        assert found.span.column >= 1


@quick
@given(st.data())
def test_a_damaged_file_gives_a_manifest_or_findings(data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(TEXT)))
    end = data.draw(st.integers(start, min(len(TEXT), start + 20)))
    text = TEXT[:start] + data.draw(st.text(max_size=5)) + TEXT[end:]
    assert all(found.span for found in findings(text))


# -------------------------------------------------------------------------------------------------------- edits

scalars = st.text(st.characters(exclude_categories=["Cc", "Cs", "Zl", "Zp"]), max_size=30)
lists = st.lists(scalars, max_size=4).map(tuple)
KEYS = {
    ("pins", "deepgemm", "commit"): scalars,
    ("pins", "deepgemm", "version"): scalars,
    ("pins", "deepgemm", "tag"): scalars,
    ("pins", "deepgemm", "unresolved"): scalars | st.booleans(),
    ("pins", "deepgemm", "submodules"): lists,
    ("pins", "deepgemm", "packages"): lists,
    ("pins", "deepgemm", "upstream", "repo"): scalars,
    ("pins", "deepgemm", "facts", "min_cuda"): scalars,
    ("pins", "deepgemm", "archive", "sha256"): scalars,
    ("pins", "deepgemm", "archive", "url"): scalars,
    ("pins", "deepgemm", "nested", "third-party/cutlass"): scalars,
    ("pins", "deepgemm", "patches", 0, "file"): scalars,
    ("variants", "cu13", "digest"): scalars,
    ("variants", "cu12", "cuda"): scalars,
}


def changed(data: dict[str, Any], changes: dict[Any, Any]) -> dict[str, Any]:
    for key, value in changes.items():
        table: Any = data
        if value is None and _at(data, key) is None:
            continue
        for step in key[:-1]:
            table = table.setdefault(step, {}) if isinstance(table, dict) else table[step]
        if value is None:
            del table[key[-1]]
        else:
            table[key[-1]] = list(value) if isinstance(value, tuple) else value
    return data


@quick
@given(st.fixed_dictionaries({}, optional=KEYS), st.booleans())
def test_an_edit_changes_what_it_should_and_keeps_every_comment(changes: dict[Any, Any], crlf: bool) -> None:
    text = TEXT.replace("\n", "\r\n") if crlf else TEXT
    result = edit(text, changes)
    assert tomllib.loads(result) == changed(tomllib.loads(text), changes)
    for comment in ("# DeepGEMM, the fork", "   # the fork", "  # always the full id", "   # [] none; absent: all"):
        assert result.count(comment) == 1
    if crlf:
        assert "\n" not in result.replace("\r\n", "")
    same = {key: value for key, value in changes.items() if value == _at(tomllib.loads(text), key)}
    assert edit(text, same) == text


def _at(data: Any, key: Any) -> Any:
    for step in key:
        if isinstance(data, dict) and step not in data:
            return None
        data = data[step]
    return tuple(data) if isinstance(data, list) else data


plain = scalars | st.booleans() | st.integers(-9, 9) | st.lists(scalars, max_size=3)
mappings = st.dictionaries(
    st.sampled_from(["repo", "track", "a b", "min_cuda"]),
    plain | st.dictionaries(scalars, plain, max_size=2),
    max_size=4,
)
ANY = {key: values | st.none() for key, values in KEYS.items()} | {
    ("pins", "deepgemm", "upstream"): mappings | st.none(),
    ("pins", "deepgemm", "facts"): mappings | st.none(),
    ("pins", "deepgemm", "system_packages"): mappings | st.none(),
    ("variants", "cu13"): mappings | st.none(),
    ("pins", "deepgemm", "sites", "docker/Dockerfile"): mappings | st.none(),
}
STAYS = ("# DeepGEMM, the fork", "   # the fork", 'repo       = "https://github.com/vllm-project/DeepGEMM.git"')


@quick
@given(st.fixed_dictionaries({}, optional=ANY), st.booleans())
def test_keys_that_are_set_and_taken_out(changes: dict[Any, Any], crlf: bool) -> None:
    assume(not any(a != b and a == b[: len(a)] for a in changes for b in changes))  # each says its own
    text = TEXT.replace("\n", "\r\n") if crlf else TEXT
    result = edit(text, changes)
    assert tomllib.loads(result) == changed(tomllib.loads(text), changes)
    assert all(result.count(stays) == 1 for stays in STAYS)
    assert edit(result, changes) == result
    if crlf:
        assert "\n" not in result.replace("\r\n", "")


def paths(data: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """Every key of `data` that may be taken out."""
    for step, value in data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ():
        if isinstance(step, str):
            yield (*path, step)
        yield from paths(value, (*path, step))


@quick
@given(tables, st.randoms(use_true_random=False), st.data())
def test_in_any_file_keys_go_and_come(data: dict[str, Any], dice: random.Random, draw: st.DataObject) -> None:
    text = Writer(dice).file(data).decode()
    before = tomllib.loads(text.removeprefix("\ufeff"))
    known = list(paths(before))
    assume(known)
    key = draw.draw(st.sampled_from(known))
    value = draw.draw(st.none() | (mappings if isinstance(_at(before, key), dict) else st.none()))
    try:
        result = edit(text, {key: value})
    except (WriteRefused, ManifestError):  # control characters in its keys, numbers out of bounds
        return
    assert tomllib.loads(result.removeprefix("\ufeff")) == changed(before, {key: value})
    assert edit(result, {key: value}) == result


TEXTS_THERE = [key for key, values in KEYS.items() if values is scalars and _at(tomllib.loads(TEXT), key)]


@quick
@given(st.sampled_from(TEXTS_THERE), scalars)
def test_only_the_line_of_the_value_changes(key: Any, value: str) -> None:
    before, after = TEXT.split("\n"), edit(TEXT, {key: value}).split("\n")
    assert len(before) == len(after)
    assert sum(a != b for a, b in zip(before, after, strict=True)) <= 1


@pytest.mark.parametrize(
    ("changes", "before", "after"),
    [
        ({("pins", "deepgemm", "unresolved"): False}, "unresolved = true\n", "unresolved = false\n"),
        ({("pins", "deepgemm", "unresolved"): "ad1f172"}, "unresolved = true\n", 'unresolved = "ad1f172"\n'),
        ({("pins", "deepgemm", "version"): "2.9.0"}, "'2.8.0'", "'2.9.0'"),
        (
            {("pins", "deepgemm", "submodules"): ("third-party/cutlass", "third-party/fmt")},
            '  "third-party/deep_jit",\n', '  "third-party/fmt",\n',
        ),
        ({("pins", "deepgemm", "tag"): "v1"}, 'min_cuda = "12.8"\n', 'min_cuda = "12.8"\ntag = "v1"\n'),
        ({("pins", "deepgemm", "version"): None}, "version    = '2.8.0'\n", ""),
        ({("pins", "deepgemm", "none", "x"): None}, "schema = 1\n", "schema = 1\n"),
        ({("pins", "deepgemm", "facts", "min_cuda"): None}, 'facts.min_cuda = "12.8"\n', "facts = {}\n"),
        ({("pins", "deepgemm", "facts"): None}, 'facts.min_cuda = "12.8"\n', ""),
        (
            {("pins", "deepgemm", "upstream"): {"track": "main", "repo": "https://github.com/deepseek-ai/DeepGEMM.git"}},
            'DeepGEMM.git" }\n', 'DeepGEMM.git", track = "main" }\n',
        ),
        ({("variants", "cu13"): {"cuda": "13.1", "n": 1}}, 'cuda = "13.0"\n', 'cuda = "13.1"\nn = 1\n'),
        (
            {("pins", "deepgemm", "nested"): {"a/b": COMMIT, "c": {"d": True, "e": ["f"]}}},
            'min_cuda = "12.8"\n',
            f'min_cuda = "12.8"\nnested = {{ "a/b" = "{COMMIT}", c = {{ d = true, e = ["f"] }} }}\n',
        ),
        ({("pins", "deepgemm", "unresolved"): 1}, "unresolved = true\n", "unresolved = 1\n"),
        ({("pins", "deepgemm", "version"): {"a": 1}}, "'2.8.0'", "{ a = 1 }"),
        (
            {("pins", "deepgemm", "patches"): None},
            '[[pins.deepgemm.patches]]\nfile = "a.patch"\n', "",
        ),
        ({("variants", "cu13", "digest"): "sha256:x"}, 'cuda = "13.0"\n', 'cuda = "13.0"\ndigest = "sha256:x"\n'),
    ],
)  # fmt: skip
def test_edits(changes: dict[Any, Any], before: str, after: str) -> None:
    assert TEXT.count(before) == 1
    assert edit(TEXT, changes) == TEXT.replace(before, after)


def test_a_byte_order_mark_and_a_missing_last_newline_stay() -> None:
    assert edit('\ufeffa = "1"', {("a",): "2"}) == '\ufeffa = "2"'


@pytest.mark.parametrize(
    "changes",
    [
        {("pins",): "x"},  # a table
        {("pins", "deepgemm"): "x"},
        {("pins", "deepgemm", "patches", 1, "file"): "x"},  # no such element
        {("pins", "deepgemm", "version", "x"): "y"},  # inside a text
        {("pins", "deepgemm", "version"): "a\nb"},
        {("pins", "deepgemm", "submodules", 0): None},  # an element
        {("pins", "deepgemm", "upstream"): "x"},
    ],
)
def test_what_cannot_be_written_is_refused(changes: dict[Any, Any]) -> None:
    with pytest.raises(WriteRefused, match=r"pins\.toml cannot be edited"):
        edit(TEXT, changes)


def test_what_is_no_toml_is_not_edited() -> None:
    with pytest.raises(ManifestError) as raised:
        edit("a = [", {("a",): "x"})
    assert [found.code for found in raised.value.findings] == ["PIN101"]


def test_a_file_that_two_parsers_read_differently_is_not_edited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(splice, "parse", lambda source: parse_toml(source.replace(b'"12.8"', b'"12.9"')))
    with pytest.raises(ManifestError) as raised:
        edit(TEXT, {("pins", "deepgemm", "version"): "3"})
    (found,) = raised.value.findings
    assert (found.code, found.span and found.span.line) == ("PIN116", 13)


def test_an_edit_that_would_land_elsewhere_is_not_made(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(splice, "parse", lambda _: parse_toml(b'b = "1"\na = "1"\n'))
    with pytest.raises(ManifestError) as raised:
        edit('a = "1"\nb = "1"\n', {("a",): "2"})
    assert [found.code for found in raised.value.findings] == ["PIN116"]


def test_tables_in_an_odd_order_are_edited_right_or_not_at_all() -> None:
    text = '[[a.b]]\n[a]\n[a.b.c]\nx = "1"\n'
    assert edit(text, {("a", "b", 0, "c", "x"): "2"}) == text.replace('"1"', '"2"')
