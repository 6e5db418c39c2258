"""YAML: paths, scalars of every style, types that must not creep in, lists, and shell text."""

import re
import time
from collections.abc import Iterator
from functools import partial
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from pinctl.sites import find
from pinctl.sites.base import BadSelector, Slot, Unparsable, Unwritable, write
from pinctl.sites.yaml import YamlDocument, parse

from . import support
from .support import one

WORKFLOW = rb"""# what is tested
on: [push, "pull_request"]
env: &env
  TORCH: "2.13.0"   # release
  PYTHON: 3.12
  JOBS: 16
  NOTHING: ~
  EMPTY:
  SHARED: ${{ vars.X }}
  IMAGE: 'x:${TAG}'
jobs:
  "build.all":
    env: *env
    strategy: {matrix: {python: ["3.10", '3.12'], cuda: [13.0.2]}}
    steps:
      - name: checkout
        uses: actions/checkout@v4
        with: {ref: main}
      - id: build
        env:
          <<: *env
          REF: &ref 0123456
        run: |
          set -e
          pip install "tilelang==0.1.11" sgl_deep.gemm==0.1.5.post1
          docker build --build-arg CUDA_VERSION=13.0.2 \
            --build-arg "REF=abc" --build-arg X=$Y .
      - run: uv pip install 'gpt-oss[eval]==0.0.5'
      - one: >-
          v1.2.3
        many: |
          a
          b
repos:
- repo: https://example.org/a
  rev: v1.2  # pinned
- repo: https://example.org/b
  rev: !!str v2
  tagged: !Ref x
versions:
  0.6.16:
    sha256: abc
"""


class Core(yaml.SafeLoader):
    """PyYAML with the types of YAML 1.2 (10.3.2, core schema) in place of those of 1.1; it keeps all but strings as
    the kind and the text."""

    yaml_implicit_resolvers: dict[Any, Any] = {}  # noqa: RUF012


for kind, pattern in {
    "null": r"null|Null|NULL|~|",
    "bool": r"true|True|TRUE|false|False|FALSE",
    "int": r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+",
    "float": r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?|[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)",
}.items():
    tag = f"tag:yaml.org,2002:{kind}"
    Core.add_implicit_resolver(tag, re.compile(rf"(?:{pattern})\Z"), None)
    Core.add_constructor(tag, lambda _, node: (node.tag, node.value))


def loaded(source: bytes, loader: type[yaml.SafeLoader]) -> Any:
    return yaml.load(source, loader)  # noqa: S506


named = partial(support.named, "yaml")
written = partial(support.written, "yaml")


def test_slots_of_a_workflow() -> None:
    assert named(WORKFLOW) == {
        "on": ("push", "pull_request"),
        "env.TORCH": "2.13.0",
        "env.PYTHON": "3.12",
        "env.JOBS": "16",
        "env.IMAGE": "x:${TAG}",
        'jobs."build.all".strategy.matrix.python': ("3.10", "3.12"),
        'jobs."build.all".strategy.matrix.cuda': ("13.0.2",),
        'jobs."build.all".steps.0.name': "checkout",
        'jobs."build.all".steps.0.uses': "actions/checkout@v4",
        'jobs."build.all".steps.0.with.ref': "main",
        'jobs."build.all".steps.1.id': "build",
        'jobs."build.all".steps.1.env.REF': "0123456",
        "pip install tilelang": "0.1.11",
        "pip install sgl-deep-gemm": "0.1.5.post1",
        "build-arg CUDA_VERSION": "13.0.2",
        "build-arg REF": "abc",
        'jobs."build.all".steps.2.run': "uv pip install 'gpt-oss[eval]==0.0.5'",
        "pip install gpt-oss": "0.0.5",
        'jobs."build.all".steps.3.one': "v1.2.3",
        "repos.0.repo": "https://example.org/a",
        "repos.0.rev": "v1.2",
        "repos.1.repo": "https://example.org/b",
        "repos.1.rev": "v2",
        'versions."0.6.16".sha256': "abc",
    }
    assert parse(WORKFLOW).errors == ()


@pytest.mark.parametrize(
    ("selector", "value"),
    [
        ("on.1", "pull_request"),
        ("on[0]", "push"),
        ('"env".TORCH', "2.13.0"),
        ('jobs."build.all".steps[name=checkout].uses', "actions/checkout@v4"),
        ('jobs."build.all".steps[id=build].env.REF', "0123456"),
        ('jobs."build.all".steps[uses=actions/checkout@v4].name', "checkout"),
        ("repos[repo=https://example.org/b].rev", "v2"),
        ('repos["rev"="v1.2"].repo', "https://example.org/a"),
        ("requirement tilelang", "0.1.11"),
        ("pip install SGL-Deep_Gemm", "0.1.5.post1"),
        ('jobs."build.all".steps.1.run:requirement tilelang', "0.1.11"),
        ('jobs."build.all".steps[id=build].run:build-arg REF', "abc"),
        ("jobs.\"build.all\".steps[1].run:pip install sgl_deep.gemm", "0.1.5.post1"),
    ],
)  # fmt: skip
def test_selectors(selector: str, value: object) -> None:
    assert one(parse(WORKFLOW), selector).value == value


@pytest.mark.parametrize(
    "selector", ["env.NO", "env", "repos.2.rev", "on.2", "repos[repo=x].rev", "pip install no", "build-arg X", "2:on",
                 "env.NOTHING", "env.SHARED", "env.EMPTY", 'jobs."build.all".env.TORCH', "repos.1.tagged",
                 'jobs."build.all".steps.3.many', "on:pip install x"],
)  # fmt: skip
def test_selectors_that_find_nothing(selector: str) -> None:
    assert find(parse(WORKFLOW), selector) == []


@pytest.mark.parametrize("selector", ["", ".a", "a.", "a..b", 'a."b', "a[b", "pip install a b c[", "requirement a[b]"])
def test_selectors_that_are_no_paths(selector: str) -> None:
    with pytest.raises(BadSelector):
        find(parse(WORKFLOW), selector)


def test_what_github_fills_in_does_not_hide_what_stands_beside_it() -> None:
    source = b"""\
run: |
  pip install a==1 ${{ matrix.b && format('{0}"', c) || '' }} c==3 "d==${{ env.D }}"
  if ${{ x }}; then pip install e==5
  fi
"""
    found = {name: value for name, value in named(source).items() if name != "run"}
    assert found == {"pip install a": "1", "pip install c": "3", "pip install e": "5"}
    assert written(source, "pip install c", "3.1") == source.replace(b"c==3", b"c==3.1")


def test_later_documents_have_a_number() -> None:
    source = b'%YAML 1.2\n---\na: 1\n---\na: 2\nb: [{name: "x", v: 3}]\nc: pip install x==4\n...\n---\nz: 5\n'
    assert named(source) == {
        "a": "1", "2:a": "2", "2:b.0.name": "x", "2:b.0.v": "3", "2:c": "pip install x==4", "2:pip install x": "4",
        "3:z": "5",
    }  # fmt: skip
    assert one(parse(source), "2:b[name=x].v").value == "3"
    assert one(parse(source), "2:requirement x").value == "4"
    assert one(parse(source), "2:c:requirement x").value == "4"
    assert written(source, "2:a", "9") == source.replace(b"a: 2", b"a: 9")


def test_keys_and_what_is_no_key() -> None:
    source = b"\"a.b\": 1\n'it''s': 2\n? c\n: 3\n? [d]\n: 4\n? |\n  e\n: 5\n\"\\x66\": 6\n"
    source += b'*g : 7\n<<: {h: 8}\n"2:x": 9\n: 10\n'
    assert named(source) == {
        '"a.b"': "1", '"it\'s"': "2", "c": "3", "f": "6", '"<<".h': "8", '"2:x"': "9",
    }  # fmt: skip
    for selector, value in named(source).items():
        assert one(parse(source), selector).value == value


def test_a_key_that_stands_twice_is_ambiguous() -> None:
    document = parse(b"a: 1\nb: 2\na: 3\n")
    assert [hit[0].value for hit in find(document, "a")] == ["1", "3"]


@pytest.mark.parametrize(
    ("scalar", "value"),
    [
        ("plain words", "plain words"), ("two\n  lines\n\n  and", "two lines\nand"), ("'it''s'", "it's"), ('""', ""),
        ('"a\\tb\\u00e9\\x41\\U0001F600\\/\\_"', "a\tb\xe9A\U0001f600/\xa0"), ('"a\\\n   b"', "ab"),
        ('"a  \n  b"', "a b"),
        ("'a\n\n  b'", "a\nb"), ("|\n  v1", "v1"), (">-\n  v1", "v1"), ("|+ # why\n  v1\n\n", "v1"), ("&x v1", "v1"),
        ("!!str v1", "v1"), ("&x !!str 'v1'", "v1"), ("$X-1", "$X-1"), ("a#b", "a#b"), ("x  # why", "x"),
        ("\N{SNOWMAN}", "\N{SNOWMAN}"), ("[x, 'y']", ("x", "y")), ("[]", ()), ("\n- x\n- y", ("x", "y")),
    ],
)  # fmt: skip
def test_scalars(scalar: str, value: object) -> None:
    source = f"k: 0\na: {scalar}\nz: 1\n".encode()
    assert named(source) == {"k": "0", "a": value, "z": "1"}
    crlf = source.replace(b"\n", b"\r\n")
    assert named(crlf) == {"k": "0", "a": value, "z": "1"}
    assert named(b"\xef\xbb\xbf" + source) == {"k": "0", "a": value, "z": "1"}


@pytest.mark.parametrize(
    "scalar",
    ["~", "null", "", "${X}", "$X", "'${{ a.b }}'", '"{{ version }}"', "!Ref x", "!!int '3'", "!reference [x, y]",
     "|\n  x\n  y", "|2\n  x", "|\n", '"\\q"', '"\\ud800"', '"a\x85b"', "{}", "[x, [y], *z]"],
)  # fmt: skip
def test_what_is_no_value(scalar: str) -> None:
    assert "a" not in named(f"k: &z 0\na: {scalar}\n".encode())


@pytest.mark.parametrize(
    ("before", "value", "after"),
    [
        ("a: v1  # why", "v2", "a: v2  # why"),
        ('a: "v1"', "v2", 'a: "v2"'),
        ("a: 'v1'", "it's", "a: 'it''s'"),
        ('a: "v1"', 'x"\\y', 'a: "x\\"\\\\y"'),
        ("a: |\n  v1\n", "v2: #3", "a: |\n  v2: #3\n"),
        ("a: >-  # why\r\n    v1\r\n", "v2", "a: >-  # why\r\n    v2\r\n"),
        ("a: two\n  lines\nz: 1", "v2", "a: v2\nz: 1"),
        ("a: &x v1", "v2", "a: &x v2"),
        ("{a: v1, b: [x]}", "v2", "{a: v2, b: [x]}"),
        ("{a: v1, b: [x]}", "v,2", '{a: "v,2", b: [x]}'),
        ("\ufeffa: \N{SNOWMAN}\r\n", "\N{COMET}", "\ufeffa: \N{COMET}\r\n"),
        # what would read as another type
        ("a: v1", "1.10", 'a: "1.10"'),
        ("a: v1", "0123456", 'a: "0123456"'),
        ("a: v1", "no", 'a: "no"'),
        ("a: v1", "1e3", 'a: "1e3"'),
        ("a: v1", "2026-01-02", 'a: "2026-01-02"'),
        ("a: 0.6.16", "0.7", 'a: "0.7"'),
        # numbers and booleans stay what they are where every reader gives their text back
        ("a: 16", "8", "a: 8"),
        ("a: 3.11", "3.12", "a: 3.12"),
        ("a: 3.11", "3.20", 'a: "3.20"'),
        ("a: 16", "016", 'a: "016"'),
        ("a: 3", "3.1", 'a: "3.1"'),
        ("a: 1.2", "1.2.3", "a: 1.2.3"),
        ("a: true", "false", "a: false"),
        ("a: true", "no", 'a: "no"'),
        # what stood there already may stay
        ("a: x:${TAG}-1", "x:${TAG}-2", "a: x:${TAG}-2"),
    ],
)
def test_write(before: str, value: str, after: str) -> None:
    assert written(before.encode(), "a", value) == after.encode()


@pytest.mark.parametrize(
    ("before", "value"),
    [
        ("a: v1", "a\nb"), ("a: v1", "\x1b"), ("a: v1", "a\x85b"), ("a: v1", "\ud800"), ("a: v1", "${{ secrets.X }}"),
        ("a: v1", "$(c)"), ("a: 'v1'", "$TOKEN"), ('a: "v1"', "${X}"), ("a: v1", "{{ x }}"), ("a: v${X}", "v${Y}"),
        ("a: |\n  v1\n", " v2"), ("a: |\n  v1\n", ""), ("a: |\n  v1\n", "\ufeff"),
    ],
)  # fmt: skip
def test_what_cannot_be_written(before: str, value: str) -> None:
    with pytest.raises(Unwritable):
        written(before.encode(), "a", value)


LINES = "a:\n  - x  # on x\n  # on w\n  - 'w'\nz: 1\n"


@pytest.mark.parametrize(
    ("before", "values", "after"),
    [
        ("a: []", "xw", "a: [x, w]"),
        ("a: []", "xn", 'a: [x, "n"]'),
        ("a: [x, 'w']", "xwp", "a: [x, 'w', 'p']"),
        ("a: [\n  x, # on x\n  # on w\n  w,\n]", "x", "a: [\n  x, # on x\n  # on w\n]"),
        ("a: [\n  x, # on x\n  w # on w\n]", "xwp", "a: [\n  x, # on x\n  w, # on w\n  p\n]"),
        ("a: [x, w]", "", "a: []"),
        (LINES, "xwp", "a:\n  - x  # on x\n  # on w\n  - 'w'\n  - 'p'\nz: 1\n"),
        (LINES, "pxw", "a:\n  - 'p'\n  - x  # on x\n  # on w\n  - 'w'\nz: 1\n"),
        (LINES, "xpw", "a:\n  - x  # on x\n  - 'p'\n  # on w\n  - 'w'\nz: 1\n"),
        (LINES, "x", "a:\n  - x  # on x\n  # on w\nz: 1\n"),
        (LINES, "w", "a:\n  # on w\n  - 'w'\nz: 1\n"),
        (LINES, "pw", "a:\n  - p  # on x\n  # on w\n  - 'w'\nz: 1\n"),
        (LINES, "", "a:\n    []  # on x\n  # on w\nz: 1\n"),
        ("a:\n- x\n- w", "xwp", "a:\n- x\n- w\n- p"),
        ("a:\n- x\n- w", "x", "a:\n- x"),
        ("a:\n- x\n- w\n- p", "x", "a:\n- x"),
        ("a:\n- x\n- w", "", "a:\n  []"),
        ("a:\r\n-   x\r\n-   w\r\n", "xpw", "a:\r\n-   x\r\n-   p\r\n-   w\r\n"),
        ("a:\r\n-   x\r\n-   w\r\n", "w", "a:\r\n-   w\r\n"),
    ],
)
def test_lists(before: str, values: str, after: str) -> None:
    assert written(before.encode(), "a", tuple(values)) == after.encode()
    assert (yaml.safe_load(after)["a"] or ()) == [*values] or not values


@pytest.mark.parametrize(
    ("values", "after"),
    [
        ("xwp", "- - x # on x\n  - w\n  - p\n- z\n"),
        ("pxw", "- - p\n  - x # on x\n  - w\n- z\n"),
        ("w", "- - w\n- z\n"),
        ("", "- [] # on x\n- z\n"),
    ],
)
def test_a_list_that_begins_behind_another_dash(values: str, after: str) -> None:
    source = b"- - x # on x\n  - w\n- z\n"
    assert written(source, "0", tuple(values)) == after.encode()


def test_lists_with_anchors_and_tags_are_read_by_element() -> None:
    source = b"a:\n- &x v1\n- !!str v2\n- *x\n-\n- |\n  v3\n"
    assert named(source) == {"a.0": "v1", "a.1": "v2", "a.4": "v3"}
    assert written(source, "a.1", "v4") == source.replace(b"v2", b"v4")


TEXTS = {
    "block": "run: |\n  echo 'it''s' # no\n  pip install a==1 \\\n    b==2 -r c\n",
    "folded": "run: >-\n  pip install a==1\n  b==2\n",
    "plain": "run: pip install a==1\n  b==2 # no\n",
    "single": "run: 'pip install a==1 ''b==2'' '\n",
    "double": 'run: "X=\\"\\" pip install a==1 \\"b==2\\" && true"\n',
    "flow": "{run: pip install a==1 b==2}",
    "list": "steps:\n- pip install a==1\n- - python3 -m pip install b==2\n",
    "list of flow": '{steps: ["pip install a==1", pip install b==2]}',
}


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_requirements_in_shell_text(text: str) -> None:
    source = text.encode()
    for name, old, new in (("a", b"a==1", b"a==1.1rc1"), ("b", b"b==2", b"b==2.0")):
        after = written(source, f"requirement {name}", new.decode().partition("==")[2])
        assert after == source.replace(old, new)
        assert one(parse(after), f"pip install {name}").value == new.decode().partition("==")[2]


@pytest.mark.parametrize(
    ("text", "value", "after"),
    [
        ("run: docker build --build-arg V=1 .", "2", "run: docker build --build-arg V=2 ."),
        ("run: docker build --build-arg V=1 .", "a b", "run: docker build --build-arg V=\"a b\" ."),
        ("run: docker build --build-arg 'V=1' .", "it's", "run: docker build --build-arg \"V=it's\" ."),
        ("run: 'docker build --build-arg V=1 .'", "a b", "run: 'docker build --build-arg V=\"a b\" .'"),
        ('run: "docker build --build-arg V=1 ."', '"', 'run: "docker build --build-arg V=\'\\"\' ."'),
        ('run: "docker build --build-arg V=\\"1\\" ."', "a`b", 'run: "docker build --build-arg V=\\"a\\\\`b\\" ."'),
        ("run: |\n  docker build \\\n    --build-arg \\\n    V=1", "a: #b",
         "run: |\n  docker build \\\n    --build-arg \\\n    V=\"a: #b\""),
    ],
)  # fmt: skip
def test_build_arguments_in_shell_text(text: str, value: str, after: str) -> None:
    assert written(text.encode(), "build-arg V", value) == after.encode()
    assert one(parse(after.encode()), "build-arg V").value == value


@pytest.mark.parametrize(
    ("text", "value"),
    [("run: docker build --build-arg V=1 .", "a: b"), ("run: docker build --build-arg V=1 .", "a #b"),
     ("{run: docker build --build-arg V=1 .}", "a,b"), ("run: docker build --build-arg V=1 .", "a\nb"),
     ("run: |\n  docker build --build-arg V=1 .", "${{ x }}"), ("run: |\n  docker build --build-arg V=1 .", "$X"),
     ("run: |\n  docker build --build-arg V=1 .", "\ufeff")],
)  # fmt: skip
def test_what_would_end_a_plain_scalar_is_refused(text: str, value: str) -> None:
    with pytest.raises(Unwritable):
        written(text.encode(), "build-arg V", value)


def test_templates_and_broken_files() -> None:
    assert named(b'{% set version = "1.2" %}\npackage:\n  name: x\n  version: {{ version }}\n') == {}
    assert parse(b'{% set version = "1.2" %}\n').errors
    assert named(b"a: 1\nb: [x, y\nc: 2\n").get("b") is None
    assert named(b"a: 'un\nb: 2\n") == {}
    assert named(b"") == named(b"# nothing\n") == named(b"just text\n") == named(b"---\n...\n") == {}


text = st.text(
    st.characters(exclude_categories=["Cs", "Cc", "Zl", "Zp"])
    | st.sampled_from(" '\"\\:#-{}[],&*!|>%@`?0123456789.eExo+_abcyno~=<")
).filter(lambda value: not re.search(r"\$[{(\w]|\{\{|\{%", value))
odd = st.sampled_from(
    ["no", "Yes", "y", "on", "null", "~", "", "0123456", "012345678901", "1.10", "1e3", "1_0", "1:30", "0x1F", "0o17",
     "-1", "+.5", ".inf", ".NaN", "2026-01-02", "<<", "=", "- a", "a: b", "a #b", "a:", "#a", "---", "...", "[a]",
     "{a", "&a", "*a", "!a", "|", ">", "'a", '"a', "%a", "@a", "`a", "?", "-", ":", "a,b", " a", "a ",
     "a\\n", "\ufeffa", "\uffff"]
)  # fmt: skip
value_of_any_kind = text | odd
data_of_any_shape = st.recursive(
    value_of_any_kind,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(value_of_any_kind, inner, max_size=3),
    max_leaves=4,
)


def leaves(value: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[tuple[str | int, ...], str]]:
    if isinstance(value, dict | list):
        for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
            yield from leaves(inner, (*path, key))
    else:
        yield path, value


def found(document: YamlDocument) -> dict[str, str]:
    """Every literal by its selector, elements of lists one by one."""
    values: dict[str, str] = {}
    for slot in document.slots():
        if slot.many:
            values.update({document.join(slot.selector, str(n)): t.value for n, t in enumerate(slot.tokens)})
        else:
            values[slot.selector] = str(slot.value)
    return values


def selector(document: YamlDocument, path: tuple[Any, ...]) -> str:
    name = ""
    for step in path:
        name = document.join(name, str(step[1] if isinstance(step, tuple) else step))
    return name


@given(
    st.dictionaries(value_of_any_kind, data_of_any_shape, min_size=1, max_size=3),
    st.sampled_from([None, '"', "'"]), st.sampled_from([True, False, None]), st.sampled_from(["\n", "\r\n"]), st.data(),
)  # fmt: skip
def test_what_pyyaml_writes_is_read_and_what_is_written_pyyaml_reads(
    value: dict[str, Any], style: str | None, flow: bool | None, newline: str, data: st.DataObject
) -> None:
    dumped = yaml.safe_dump(value, default_style=style, default_flow_style=flow, allow_unicode=True, sort_keys=False)
    source = dumped.replace("\n", newline).encode()
    document = parse(source)
    expected = {selector(document, path): leaf for path, leaf in leaves(value)}
    assert found(document) == expected
    slots = list(document.slots())
    if not slots:
        return
    slot = data.draw(st.sampled_from(slots))
    new: Any = data.draw(st.lists(value_of_any_kind, max_size=3).map(tuple) if slot.many else value_of_any_kind)
    after = write(document, slot, new)
    names = {document.join(slot.selector, str(n)): v for n, v in enumerate(new)} if slot.many else {slot.selector: new}
    others = {name: leaf for name, leaf in expected.items() if not (slot.many and inside(slot, name))}
    assert {selector(document, path): leaf for path, leaf in leaves(yaml.safe_load(after))} == {**others, **names}
    assert names.items() <= {selector(document, path): leaf for path, leaf in leaves(loaded(after, Core))}.items()
    if slot.style != "lines":
        assert after.startswith(source[: slot.start])
        assert after.endswith(source[slot.end :])


def inside(slot: Slot, name: str) -> bool:
    """Whether `name` is an element of the list `slot`."""
    return re.fullmatch(re.escape(slot.selector) + r"\.[0-9]+", name) is not None


@given(value_of_any_kind, st.sampled_from(["a: %s", "a: '%s'", 'a: "%s"', "a: |\n  %s\n", "{a: %s, b: 1}"]))
def test_every_reader_gets_the_text_that_was_written(value: str, form: str) -> None:
    document = parse((form % "v1").encode())
    try:
        after = write(document, one(document, "a"), value)
    except Unwritable:
        assert "|" in form
        return
    for loader in (yaml.SafeLoader, Core):
        assert loaded(after, loader)["a"].removesuffix("\n") == value
    assert one(parse(after), "a").value == value


@given(
    st.lists(st.tuples(st.sampled_from(["", "\n", "  # own\n", "# own\n"]), st.sampled_from("abc"),
                       st.sampled_from(["", " # on it", "   "])), min_size=1, max_size=4),
    st.sampled_from(["a:\n", "- "]), st.booleans(), st.sampled_from(["\n", "\r\n"]),
    st.lists(st.sampled_from("abcd"), max_size=5),
)  # fmt: skip
def test_lists_between_comments(
    elements: list[tuple[str, str, str]], head: str, last: bool, newline: str, new: list[str]
) -> None:
    dashes = [
        f"{'' if head == '- ' and n == 0 else before}  - {word}{behind}"
        for n, (before, word, behind) in enumerate(elements)
    ]
    body = "\n".join(dashes)
    text = (head + (body.lstrip() if head == "- " else body) + ("\n" if last else "")).replace("\n", newline)
    path = "0" if head == "- " else "a"
    after = written(text.encode(), path, tuple(new))
    assert one(parse(after), path).value == tuple(new)
    assert (yaml.safe_load(after)[0 if path == "0" else "a"]) == new
    assert after.count(b"# own") == text.count("# own")
    assert after.endswith(newline.encode()) or not last


@given(st.binary(max_size=60) | st.text(max_size=60).map(str.encode))
def test_no_bytes_crash_the_reader(source: bytes) -> None:
    try:
        slots = list(parse(source).slots())
    except Unparsable:
        assert b"\0" in source
        return
    for slot in slots:
        assert slot.start <= slot.end <= len(source)


@given(st.data(), st.integers(0, len(WORKFLOW) - 1), st.integers(0, 9))
def test_no_damage_crashes_the_reader(data: st.DataObject, at: int, cut: int) -> None:
    patch = data.draw(
        st.sampled_from([b"", b'"', b"{", b"}", b"[", b"- ", b": ", b"\\", b"|\n", b"\xff", b"\t", b"\n", b"? "])
    )
    source = WORKFLOW[:at] + patch + WORKFLOW[at + cut :]
    document = parse(source)
    for slot in document.slots():
        for token in slot.tokens:
            assert not any(a < token.end and token.start < b for a, b in document.errors)


@pytest.mark.parametrize(
    "source",
    [b"- " * 100_000, b"? " * 100_000, b": " * 100_000, b"".join(b" " * n + b"a:\n" for n in range(400)),
     b"".join(b" " * n + b"a:\r" + b" " * n + b"-\r" for n in range(400))],
)  # fmt: skip
def test_nesting_that_the_grammar_cannot_hold_is_refused(source: bytes) -> None:
    with pytest.raises(Unparsable, match="nested"):
        parse(source)


@pytest.mark.parametrize(
    "source",
    [b"{" * 100_000, b"[" * 100_000, b"a: " + b"[" * 50_000 + b"]" * 50_000, b"{a: " * 50_000, b"a: - " * 50_000,
     b"a: |\n" + b"".join(b" " * (n % 90 + 1) + b"- x\n" for n in range(20_000)), b"-\n" * 100_000, b"\n" * 100_000,
     b"a: " + b"'" * 100_001],
)  # fmt: skip
def test_hostile_text_is_read_in_good_time(source: bytes) -> None:
    start = time.perf_counter()
    assert list(parse(source).slots()) == []
    assert time.perf_counter() - start < 10


def test_what_is_too_large_for_a_place_of_pins_is_refused() -> None:
    for source in (b"- " + b"a, " * 700_000, b"a: [" + b"x, " * 300_000 + b"]"):
        with pytest.raises(Unparsable, match="values"):
            list(parse(source).slots())


def test_indentation_as_deep_as_people_write_is_read() -> None:
    source = b"".join(b"  " * n + b"k:\n" for n in range(50)) + b"  " * 50 + b"k: v\n"
    assert named(source) == {".".join("k" * 51): "v"}
    wide = b"a: x\nb: |\n" + b"".join(b" " * (n % 2 * 150 + 2) + b"- text\n" for n in range(50))
    assert named(wide) == {"a": "x"}


STEPS = """\
jobs:
  a:
    steps:
      - uses: actions/checkout@v4
      - uses: astral-sh/setup-uv@v5
        with: {version: "0.5"}
      - name: Build
        env: {X: "1"}
      - name: Build
        id: again
        env: {X: "2"}
      - run: pip install x
        env: {X: "3"}
      - uses: actions/cache@v4
        env: {X: "4"}
      - uses: actions/cache@v5
        env: {X: "5"}
"""


@pytest.mark.parametrize(
    ("selector", "value"),
    [
        ("jobs.a.steps[uses=astral-sh/setup-uv].with.version", "0.5"),
        ("jobs.a.steps[uses=astral-sh/setup-uv@v5].with.version", "0.5"),
        ("jobs.a.steps[id=again].env.X", "2"),
        ("jobs.a.steps.2.env.X", "1"),
        ("jobs.a.steps[uses=actions/cache@v5].env.X", "5"),
    ],
)
def test_elements_by_what_they_alone_are_called(selector: str, value: str) -> None:
    ((slot,),) = parse(STEPS.encode()).find(selector)
    assert slot.value == value


def test_the_names_of_an_element_are_by_number_and_by_what_it_alone_is_called() -> None:
    names = {slot.value: slot.names[1:] for slot in parse(STEPS.encode()).slots() if "env" in slot.names[0]}
    assert names == {"1": (), "2": ("jobs.a.steps[id=again].env.X",), "3": (), "4": (), "5": ()}
    assert len(parse(STEPS.encode()).find("jobs.a.steps[name=Build].env.X")) == 2
