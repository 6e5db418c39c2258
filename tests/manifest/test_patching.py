from __future__ import annotations

import pytest

from pinctl.errors import ManifestError
from pinctl.manifest import parse
from pinctl.model import Patch, Pin
from pinctl.patches.conditions import is_for_variant, is_for_version, of_source, when_problem

TEXT = """\
schema = 1
[pins.torch]
packages = ["torch"]
version = "2.8.1"
unused = true
[[pins.torch.patches]]
file = "p/one.patch"
when = "version >= 2.7, < 2.9"
variants = ["cu12"]
retire = "upstream"
supersedes = ["p/old.patch"]
executables = true
[[pins.torch.patches]]
target = "torch/include/a.h"
search = '''
if (x)
'''
replace = "if (y)"
count = 2
[variants.cu12]
"""


def test_both_forms_of_a_patch() -> None:
    one, two = parse(TEXT).pins["torch"].patches
    assert one == Patch("p/one.patch", when="version >= 2.7, < 2.9", variants=("cu12",), retire="upstream",
                        supersedes=("p/old.patch",), executables=True)  # fmt: skip
    assert two == Patch(target="torch/include/a.h", search="if (x)\n", replace="if (y)", times=2)
    assert (one.name, two.name) == ("p/one.patch", "edit of torch/include/a.h")


def test_a_backport_is_of_a_repository() -> None:
    text = TEXT.replace("executables = true", f'backport = "{"a1" * 20}"')
    with pytest.raises(ManifestError) as caught:
        parse(text)
    assert [(f.code, f.span and f.span.line) for f in caught.value.findings] == [("PIN104", 12)]


@pytest.mark.parametrize(
    ("lines", "codes"),
    [
        ("", ["PIN103"]),
        ('when = "version < 3"\n', []),
        ('variants = ["cu12"]\n', ["PIN103"]),
    ],
)
def test_a_build_has_no_patch_twice(lines: str, codes: list[str]) -> None:
    twice = f'[[pins.torch.patches]]\nfile = "p/two.patch"\n[[pins.torch.patches]]\nfile = "p/two.patch"\n{lines}'
    try:
        assert len(parse(TEXT + twice).pins["torch"].patches) == 4
        found = []
    except ManifestError as error:
        found = [(f.code, f.message) for f in error.findings]
    assert [code for code, _ in found] == codes
    assert not found or found[0][1] == "`pins.torch.patches[3].file`: p/two.patch is `patches[2]` already"


@pytest.mark.parametrize(
    ("when", "version", "holds"),
    [
        ("version < 2.8", "2.7.1", True),
        ("version < 2.8", "v2.7.1", True),
        ("version < 2.8", "2.8", False),
        ("version < 2.8", "2.8.0rc1", False),
        ("version >= 2.7, < 2.9", "2.8.1", True),
        ("version >= 2.7,!=2.8.*", "2.8.1", False),
        ("version == 2.8.1", "2.8.1+cu129", True),
        ("version < 2.8", None, False),
        ("version < 2.8", "nightly", False),
        (None, None, True),
    ],
)
def test_when(when: str | None, version: str | None, holds: bool) -> None:
    assert is_for_version(Patch("p", when=when), version) is holds


def test_conditions_that_are_none() -> None:
    assert when_problem("version < 2.8") is None
    for wrong in ("", "2.8", "version", "version 2.8", "torch < 2", "version < x y", "version < 2 or version > 3"):
        assert when_problem(wrong)


def test_variants() -> None:
    assert is_for_variant(Patch("p"), None)
    assert is_for_variant(Patch("p"), "cu12")
    assert is_for_variant(Patch("p", variants=("cu12",)), "cu12")
    assert not is_for_variant(Patch("p", variants=("cu12",)), "cu13")
    assert not is_for_variant(Patch("p", variants=("cu12",)), None)
    assert Pin(name="x").patches == ()


def test_what_a_source_gets() -> None:
    every, old, cu12 = Patch("a"), Patch("b", when="version < 2"), Patch("c", variants=("cu12",))
    pin = Pin(name="x", version="2.8", patches=(every, old, cu12, Patch(target="t", search="s", replace="r")))
    assert of_source(pin) == ["a"]
    assert of_source(pin, "cu12") == ["a", "c"]
    assert of_source(pin._replace(version="1.9"), "cu13") == ["a", "b"]
