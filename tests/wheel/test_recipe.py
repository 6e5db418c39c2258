import pytest

from pinctl.errors import UsageError
from pinctl.external import resources
from pinctl.model import Variant
from pinctl.wheel.recipe import When, parse


def test_a_recipe_is_read_whole() -> None:
    text = """
version = 2
requires = ["setuptools"]
torch = true
files = ["x/*"]
[env]
A = "1"
[[when]]
cuda = "<13"
reason = "an old header"
env = { CPPFLAGS = "-include cuda_fp8.h" }
"""
    made = parse(text, "x", "import x")
    assert (made.version, made.requires, made.torch, made.files, made.smoke) == (
        2, ("setuptools",), True, ("x/*",), "import x")  # fmt: skip
    assert made.when == (When("<13", "an old header", {"CPPFLAGS": "-include cuda_fp8.h"}),)
    assert made.environment(Variant(name="cu12", cuda="12.9")) == {"A": "1", "CPPFLAGS": "-include cuda_fp8.h"}
    assert made.environment(Variant(name="cu13", cuda="13.0")) == {"A": "1"}
    assert made.environment(Variant(name="rocm")) == {"A": "1"}


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("requires = 3", "`requires` is not what it must be, an array of texts"),
        ("requires = [3]", "`requires` is not what it must be, an array of texts"),
        ('requires = ["a\\nb"]', "`requires` is not what it must be, an array of texts"),
        ("torch = 1", "`torch` is not what it must be, true or false"),
        ("version = true", "`version` is not what it must be, a whole number of 1 or more"),
        ("gib_per_job = 0", "`gib_per_job` is not what it must be, a whole number of 1 or more"),
        ("nvcc_threads = -1", "`nvcc_threads` is not what it must be, a whole number of 1 or more"),
        ("need = []", "has the key `need`; known are version, requires"),
        ("[[when]]\nenv = {}", "a [[when]] of the recipe x lacks `cuda` or `reason`"),
        ('[[when]]\ncuda = "twelve"\nreason = "x"', "'twelve' is no version specifier"),
        ("env = { 'a b' = '1' }", "'a b' in `env` is no name of a variable"),
        ("when = [3]", "a [[when]] of the recipe x is no table"),
        ("env = { A = 1 }", "`env` is not what it must be, a table of texts"),
        ("=", "the recipe x is no TOML"),
    ],
)
def test_what_is_wrong_is_told(text: str, told: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse(text, "x")
    assert told in str(caught.value)


def test_deepgemm_includes_cuda_fp8_first_on_cuda_12_alone() -> None:
    made = parse(*_of("deepgemm"))
    assert made.environment(Variant(name="a", cuda="12.9"))["CPPFLAGS"] == "-include cuda_fp8.h"
    assert "CPPFLAGS" not in made.environment(Variant(name="a", cuda="13.0.2"))
    assert made.environment(Variant(name="a"))["DG_USE_LOCAL_VERSION"] == "0"
    assert made.torch
    compile(made.smoke, "smoke.py", "exec")


def test_the_plain_recipe_asks_for_nothing_of_its_own() -> None:
    made = parse(*_of("wheel"))
    assert (made.env, made.when, made.torch, made.smoke) == ({}, (), False, "")


def _of(name: str) -> tuple[str, str, str]:
    text, smoke = resources.wheel_recipe(name, "/nowhere")
    return text, name, smoke
