from __future__ import annotations

import pytest

from pinctl import manifest
from pinctl.commands.courses import Goal, _spelled, _version, families, leads, subjects
from pinctl.model import Pin

PINS = """\
schema = 1
[pins.a]
packages = ["a"]
version = "1"
group = "g"
unused = true
[pins.b]
packages = ["b"]
version = "1"
unused = true
[pins.c]
packages = ["c"]
version = "1"
group = "g"
unused = true
[pins.g]
packages = ["g"]
version = "1"
unused = true
[variants.cu13]
image = "os:1"
[variants.cpu]
torch = "2.8"
"""


def test_pins_of_one_group_are_one_family() -> None:
    made = manifest.parse(PINS)
    pins = subjects(made)
    assert list(pins) == ["a", "b", "c", "g", "variants.cu13"]
    assert [[pin.name for pin in family] for family in families(pins.values(), made)] == [
        ["a", "c"], ["b"], ["g"], ["variants.cu13"],
    ]  # fmt: skip
    assert [[pin.name for pin in family] for family in families([pins["c"], pins["b"]], made)] == [["a", "c"], ["b"]]


@pytest.mark.parametrize(
    ("pin", "told"),
    [
        (Pin("x", repo="https://h.example/x"), True),
        (Pin("x", packages=("x",)), True),
        (Pin("x", image="x:1"), True),
        (Pin("x", url="https://github.com/o/n/archive/v{version}.tar.gz"), True),
        (Pin("x", url="https://h.example/x-{version}.tar.gz"), False),
        (Pin("x", version="1"), False),
    ],
)
def test_of_what_a_server_tells(pin: Pin, told: bool) -> None:
    assert leads(pin) is told


@pytest.mark.parametrize(
    ("text", "version"),
    [("0.6.17", "0.6.17"), ("v0.6.17rc1", "0.6.17rc1"), ("flashinfer-v1.0", "1.0"), ("1!2.0+cu129", "1!2.0+cu129"),
     ("main", None), ("ab" * 20, None), ("12" * 20, None), ("", None)],
)  # fmt: skip
def test_what_a_person_means_by_a_version(text: str, version: str | None) -> None:
    found = _version(text)
    assert (str(found) if found else None) == version


@pytest.mark.parametrize(
    ("tag", "template", "like", "version"),
    [
        ("v1.2", "v{version}", None, "1.2"),
        ("1.2", "v{version}", None, None),
        ("n-1.2-x", "n-{version}-x", None, "1.2"),
        ("v1.2-rc.1", "v{version}", None, "1.2-rc.1"),
        ("vx", "v{version}", None, None),
        ("v", "v{version}", None, None),
        ("v1.2", "{tag}", "v1.1", "1.2"),
        ("1.2", "{tag}", "v1.1", None),
        ("aa", "a{version}a", None, None),
        ("a", "a{version}a", None, None),
    ],
)
def test_the_version_of_a_tag_that_a_url_names(tag: str, template: str, like: str | None, version: str | None) -> None:
    assert _spelled(tag, template, like) == version


def test_a_goal_that_leads_nowhere_does_not_move() -> None:
    pin = Pin("x", packages=("x",), version="1", unresolved=True)
    assert not Goal(pin, pin, {}).moves
    assert Goal(pin, pin, {}, again=True).moves
    assert Goal(pin, pin, {("facts", "a"): "1"}).moves
    assert Goal(pin, pin._replace(version="2", unresolved=False), {}).changes == {
        ("version",): "2",
        ("unresolved",): None,
    }
    with_git = pin._replace(repo="https://h.example/x")
    assert Goal(with_git, with_git._replace(version="2"), {}).changes == {}
