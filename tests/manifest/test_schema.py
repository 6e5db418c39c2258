"""The structure of pins.toml: our check and the JSON Schema say the same of every document."""

import dataclasses
import json
from collections.abc import Callable
from copy import deepcopy
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from pinctl.manifest.schema import IMAGE, PIN, PINS_TOML, VARIANT, json_schema
from pinctl.manifest.shapes import (
    ABSENT,
    Bool,
    Choice,
    Exactly,
    Int,
    List,
    Map,
    Number,
    OneOf,
    Problem,
    Ruled,
    Shape,
    Str,
    Table,
    dotted,
    shown,
)
from pinctl.model import (
    Check,
    Contract,
    Exclude,
    Image,
    Manifest,
    Patch,
    Pin,
    SystemPackage,
    Upstream,
    Variant,
    Waiver,
    Wheel,
)

RULES = {"PIN105", "PIN106", "PIN108"}
"""What `Ruled` texts are held to besides the structure: listed among the cross-checks."""

SHAPES = {"pins.toml": PINS_TOML, "a pin": PIN, "a variant": VARIANT, "an image": IMAGE}
COMMIT = "ad1f1726aa540a76c1d26d6a120effb8de21eaa4"


def problems(document: object, shape: Shape = PINS_TOML) -> list[Problem]:
    found: list[Problem] = []
    shape.check(document, (), found.append)
    return found


def accepts(document: object, shape: Shape = PINS_TOML) -> bool:
    return all(problem.code in RULES for problem in problems(document, shape))


# ------------------------------------------------------------------------------------------ documents of a shape


def documents(shape: Shape) -> st.SearchStrategy[Any]:
    """Values that `shape` accepts."""
    (kind,) = [kind for kind in STRATEGIES if type(shape) is kind]
    return STRATEGIES[kind](shape)


def strings(shape: Str) -> st.SearchStrategy[str]:
    text = st.from_regex(shape.pattern) if shape.pattern else st.text(min_size=1, max_size=8)
    return text.filter(shape.fits)


def lists(shape: List) -> st.SearchStrategy[list[Any]]:
    items = documents(shape.item)
    return st.lists(items, min_size=shape.least, max_size=shape.least + 2, unique=shape.unique)


def maps(shape: Map) -> st.SearchStrategy[dict[str, Any]]:
    least = shape.least
    return st.dictionaries(documents(shape.key), documents(shape.value), min_size=least, max_size=least + 2)


def tables(shape: Table) -> st.SearchStrategy[dict[str, Any]]:
    required = {name: documents(shape.fields[name].shape) for name in shape.required}
    optional = {name: documents(field.shape) for name, field in shape.fields.items() if name not in required}
    fixed = st.sets(st.sampled_from(sorted(optional)), max_size=4) if optional else st.just(set[str]())
    table = fixed.flatmap(lambda names: st.fixed_dictionaries(required | {name: optional[name] for name in names}))
    if shape.rest is None:
        return table.filter(lambda made: len(made) >= shape.least)
    others = st.dictionaries(st.text(min_size=1, max_size=3), documents(shape.rest), min_size=1, max_size=2)
    return st.builds(lambda a, b: b | a, table, others)


STRATEGIES: dict[type[Shape], Callable[[Any], st.SearchStrategy[Any]]] = {
    Str: strings,
    Ruled: strings,
    Choice: lambda shape: st.sampled_from(shape.words),
    Bool: lambda _: st.booleans(),
    Int: lambda shape: st.integers(shape.least, shape.least + 9) | st.just(float(shape.least)),
    Number: lambda _: st.floats(0, 9) | st.integers(0, 9),
    Exactly: lambda shape: st.just(shape.number),
    OneOf: lambda shape: st.one_of([documents(option) for option in shape.shapes]),
    List: lists,
    Map: maps,
    Table: lambda shape: st.deferred(lambda: tables(shape)),
}

JUNK = st.recursive(
    st.booleans() | st.integers(-2, 2) | st.sampled_from([0.5, 1.0, -1.0, "", "a", "a b", "1", "x\n", "\x00"]),
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(st.sampled_from(["a", "file", "repo", "contains"]), inner, max_size=2)
    ),
    max_leaves=3,
)


def places(value: Any) -> list[tuple[Any, Any]]:
    """Every container of `value` with each of its keys or indices."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    inner = [(key, places(item)) for key, item in items]
    return [(value, key) for key, _ in inner] + [place for _, found in inner for place in found]


@st.composite
def mutated(draw: st.DrawFn, shape: Shape) -> dict[str, Any]:
    """A valid document with one to three changes that may or may not make it invalid."""
    document = deepcopy(draw(documents(shape)))
    for _ in range(draw(st.integers(1, 3))):
        found = places(document)
        if not found:
            document[draw(st.text(max_size=5))] = draw(JUNK)
            continue
        container, key = draw(st.sampled_from(found))
        kind = draw(st.sampled_from(["replace", "remove", "rename", "add"]))
        if kind == "replace":
            container[key] = draw(JUNK)
        elif kind == "add" and isinstance(container, dict):
            container[draw(st.sampled_from(["x", "repo", "file", "equals", "reason", ""]))] = draw(JUNK)
        elif kind == "add":
            container.append(draw(st.sampled_from(container) | JUNK))
        elif kind == "rename" and isinstance(container, dict):
            container[f"{key}x"] = container.pop(key)
        else:
            del container[key]
    return document


common = settings(max_examples=30, deadline=None, suppress_health_check=list(HealthCheck))


@pytest.mark.parametrize("name", SHAPES)
@common
@given(st.data())
def test_what_the_structure_allows_both_accept(name: str, data: st.DataObject) -> None:
    shape = SHAPES[name]
    document = data.draw(documents(shape))
    assert accepts(document, shape), problems(document, shape)
    assert Draft202012Validator(shape.json_schema()).is_valid(document)


@pytest.mark.parametrize("name", SHAPES)
@common
@given(st.data())
def test_both_refuse_the_same_documents(name: str, data: st.DataObject) -> None:
    shape = SHAPES[name]
    document = data.draw(mutated(shape))
    assert accepts(document, shape) == Draft202012Validator(shape.json_schema()).is_valid(document), document


def _some(name: str, value: object) -> dict[str, Any]:
    return {"pins": {"x": {name: value}}}


@pytest.mark.parametrize(
    "document",
    [
        {},
        {"schema": 1},
        {"schema": 1.0},
        _some("packages", ["a"]),
        _some("unresolved", "73b6ea4"),
        _some("unresolved", True),
        _some("sha256", "0" * 64),
        _some("sha256", {"linux/amd64": "0" * 64}),
        _some("track", "v*"),
        _some("image", "registry.example.com:5000/a/b:1.2@sha256:" + "0" * 64),
        _some("sites", {"CMakeLists.txt": {"GIT_TAG": "{commit}", "X": {"contains": "{tag}"}, "Y": {"equals": "1"}}}),
        _some("generate", {"a": "x", "b": {"recipe": "x", "block": True, "options": {"n": 1}}, "c": [{"recipe": "x"}]}),
        _some("facts", {"a": "b", "n": 1, "yes": True, "l": ["x"]}),
        _some("bad", [{"commit": COMMIT, "reason": "x"}, {"version": "1", "reason": "x", "fix": "y"}]),
        _some("checks", [{"name": "a", "command": "b\nc", "tolerance": 0.5, "timeout": 1}]),
        {"sites": [{"file": "a", "ARG X": "1"}]},
        {"variants": {"cu13": {"cuda": "13.0", "python": ["3.13", "3.13t"], "env": {"A": ""}}}},
        {
            "languages": {"docker/*": "shell"},
            "index": {"retention": {"nightly": 30}},
            "contract": {"build_roots": ["a"]},
        },
    ],
)
def test_accepted(document: dict[str, Any]) -> None:
    assert problems(document) == []
    assert Draft202012Validator(json_schema()).is_valid(document)


@pytest.mark.parametrize(
    ("document", "key", "code"),
    [
        ({"pin": {}}, ("pin",), "PIN102"),
        ({"schema": 2}, ("schema",), "PIN115"),
        ({"schema": True}, ("schema",), "PIN103"),
        ({"schema": "1"}, ("schema",), "PIN103"),
        ({"pins": []}, ("pins",), "PIN103"),
        ({"pins": {"a.b": {}}}, ("pins", "a.b"), "PIN103"),
        ({"pins": {"x\n": {}}}, ("pins", "x\n"), "PIN103"),
        (_some("packages", []), ("pins", "x", "packages"), "PIN103"),
        (_some("packages", ["a", "a"]), ("pins", "x", "packages", 1), "PIN103"),
        (_some("packages", ["-oX=c"]), ("pins", "x", "packages", 0), "PIN103"),
        (_some("version", 2.8), ("pins", "x", "version"), "PIN103"),
        (_some("version", ""), ("pins", "x", "version"), "PIN103"),
        (_some("version", "1\n"), ("pins", "x", "version"), "PIN103"),
        (_some("unresolved", "main"), ("pins", "x", "unresolved"), "PIN103"),
        (_some("sha256", {}), ("pins", "x", "sha256"), "PIN103"),
        (_some("sha256", "A" * 64), ("pins", "x", "sha256"), "PIN103"),
        (_some("track", "--upload-pack=c"), ("pins", "x", "track"), "PIN103"),
        (_some("track", "a..b"), ("pins", "x", "track"), "PIN103"),
        (_some("tag", ":/good"), ("pins", "x", "tag"), "PIN103"),
        (_some("tag", "v@{1}"), ("pins", "x", "tag"), "PIN103"),
        (_some("image", "--volume=/:/host"), ("pins", "x", "image"), "PIN103"),
        (
            _some("system_packages", {"n": {"apt": "-oDpkg::Pre-Invoke::=c"}}),
            ("pins", "x", "system_packages", "n", "apt"),
            "PIN103",
        ),
        (
            _some("sites", {"CMakeLists": {"txt": {"GIT_TAG": "x"}}}),
            ("pins", "x", "sites", "CMakeLists", "txt"),
            "PIN103",
        ),
        (_some("sites", {"a": {}}), ("pins", "x", "sites", "a"), "PIN103"),
        (
            _some("sites", {"a": {"b": {"contains": "x", "equals": "y"}}}),
            ("pins", "x", "sites", "a", "b", "equals"),
            "PIN102",
        ),
        (_some("sites", {"a": {"b": "x\ny"}}), ("pins", "x", "sites", "a", "b"), "PIN103"),
        (_some("bad", [{"reason": "x"}]), ("pins", "x", "bad", 0), "PIN103"),
        (_some("patches", [{}]), ("pins", "x", "patches", 0), "PIN103"),
        (_some("patches", [{"target": "a", "search": "b"}]), ("pins", "x", "patches", 0), "PIN103"),
        (_some("patches", [{"file": "a", "search": "b"}]), ("pins", "x", "patches", 0, "search"), "PIN102"),
        (
            _some("patches", [{"target": "a", "search": "b", "replace": "c", "count": 0}]),
            ("pins", "x", "patches", 0, "count"),
            "PIN103",
        ),
        (_some("patches", [{"file": "a", "retire": "upsteam"}]), ("pins", "x", "patches", 0, "retire"), "PIN103"),
        (_some("facts", {"a": 12.8}), ("pins", "x", "facts", "a"), "PIN103"),
        (
            _some("checks", [{"name": "a", "command": "b", "timeout": 0}]),
            ("pins", "x", "checks", 0, "timeout"),
            "PIN103",
        ),
        ({"sites": [{"file": "a"}]}, ("sites", 0), "PIN104"),
        ({"sites": [{"X": "a"}]}, ("sites", 0, "file"), "PIN104"),
        ({"variants": {"v": {"cuda": "13"}}}, ("variants", "v", "cuda"), "PIN103"),
        ({"variants": {"v": {"python": ["2.7"]}}}, ("variants", "v", "python", 0), "PIN103"),
        ({"variants": {"v": {"platforms": ["linux/x86_64"]}}}, ("variants", "v", "platforms", 0), "PIN103"),
        ({"variants": {"v": {"label": "+cu129"}}}, ("variants", "v", "label"), "PIN103"),
        ({"variants": {"v": {"arch_list": ["9.0a;10.0f"]}}}, ("variants", "v", "arch_list", 0), "PIN103"),
        ({"languages": {"*": "bash"}}, ("languages", "*"), "PIN103"),
        ({"allow": [{"code": "PIN214"}]}, ("allow", 0, "reason"), "PIN104"),
    ],
)
def test_refused(document: dict[str, Any], key: tuple[str | int, ...], code: str) -> None:
    assert [(p.code, p.key) for p in problems(document)] == [(code, key)]
    assert not Draft202012Validator(json_schema()).is_valid(document)


@pytest.mark.parametrize(
    ("document", "hint"),
    [
        (_some("comit", "x"), "did you mean `commit`?"),
        (_some("include-dirs", []), "did you mean `include_dirs`?"),
        (_some("version", 2.8), 'write it in quotes: "2.8"'),
        (_some("submodules", "a"), 'write an array: ["a"]'),
        (_some("patches", [{"file": "a", "retire": "upsteam"}]), "did you mean `upstream`?"),
        (
            _some("sites", {"CMakeLists": {"txt": {"X": "y"}}}),
            'a file name with dots is one key, so quote it: sites."CMakeLists.txt"',
        ),
        ({"variants": {"v": {"platforms": ["linux/x86_64"]}}}, None),
    ],
)
def test_the_likely_correction_is_offered(document: dict[str, Any], hint: str | None) -> None:
    assert [problem.hint for problem in problems(document)] == [hint]


def test_what_is_left_keeps_good_parts_and_the_places_in_lists() -> None:
    sites = [{"file": 1, "X": "1"}, {"file": "b", "X": "1", "Y": 2}]
    document = {"pins": {"x": {"version": 1, "tag": "v1"}, "y z": {}}, "sites": sites}
    left = PINS_TOML.check(document, (), lambda _: None)
    assert left["pins"] == {"x": {"tag": "v1"}}
    assert left["sites"] == [ABSENT, {"file": "b", "X": "1"}]


def test_the_schema_is_valid_and_says_what_every_key_is() -> None:
    schema = json_schema()
    Draft202012Validator.check_schema(schema)
    assert json.loads(json.dumps(schema)) == schema
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    for table in (PINS_TOML, PIN, VARIANT, IMAGE):
        assert [name for name, field in table.fields.items() if len(field.doc) < 10] == []


@pytest.mark.parametrize(
    ("shape", "model"),
    [
        (PIN, Pin),
        (VARIANT, Variant),
        (IMAGE, Image),
        (PIN.fields["upstream"].shape, Upstream),
        (PIN.fields["wheel"].shape, Wheel),
        (PIN.fields["wheel"].shape.fields["exclude"].shape.item, Exclude),
        (PIN.fields["contract"].shape, Contract),
        (PIN.fields["checks"].shape.item, Check),
        (PIN.fields["allow"].shape.item, Waiver),
    ],
)
def test_the_model_has_every_key_and_no_other(shape: Table, model: type) -> None:
    fields = set(model._fields) - {"key"}
    assert fields - ({"name"} - set(shape.fields)) == set(shape.fields)


def test_the_model_has_every_key_of_both_forms_of_a_patch() -> None:
    diff, replacement = PIN.fields["patches"].shape.item.shapes
    keys = {*diff.fields, *replacement.fields} - {"count"} | {"times"}
    assert keys == set(Patch._fields)


def test_the_model_has_every_key_of_the_file_and_of_a_system_package() -> None:
    read_and_done_with = {"schema", "requires-pinctl", "extends"}
    fields = {field.name for field in dataclasses.fields(Manifest)} - {"path", "text", "bases"}
    assert fields == set(PINS_TOML.fields) - read_and_done_with
    package = PIN.fields["system_packages"].shape.value
    assert set(package.fields) == {"dnf", "microdnf", "apt", "apk", "header", "when"}
    assert set(SystemPackage._fields) == {"name", "managers", "header", "when"}


def test_patterns_read_alike_in_every_dialect() -> None:
    """ECMA-262 and Python differ in what these mean, so no pattern has them."""
    patterns = _patterns(json_schema())
    assert len(patterns) > 20
    for pattern in patterns:
        assert not any(mark in pattern for mark in ("\\d", "\\w", "\\s", "\\b", "\\Z", "\\A", "(?i", "(?P")), pattern


def _patterns(schema: Any) -> list[str]:
    if isinstance(schema, list):
        return [pattern for item in schema for pattern in _patterns(item)]
    if not isinstance(schema, dict):
        return []
    own = [schema["pattern"]] if isinstance(schema.get("pattern"), str) else []
    return own + [pattern for item in schema.values() for pattern in _patterns(item)]


@pytest.mark.parametrize(
    ("key", "text"),
    [
        ((), ""),
        (("pins", "x", "sites", "a/b.sh", "ARG X"), 'pins.x.sites."a/b.sh"."ARG X"'),
        (("sites", 0, "file"), "sites[0].file"),
    ],
)
def test_dotted(key: tuple[str | int, ...], text: str) -> None:
    assert dotted(key) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [("a", "'a'"), ("a" * 99, repr("a" * 57 + "...")), (True, "a boolean"), (1.5, "a number"), ([], "an array")],
)
def test_shown(value: object, text: str) -> None:
    assert shown(value) == text
