"""What recipes render, as text, and what they refuse."""

import ast
import re
from collections.abc import Callable
from typing import Any

import pytest

from pinctl.model import Pin, SystemPackage
from pinctl.quoting import RecipeError

Recipe = Callable[..., str]
COMMIT = "ad1f1726aa540a76c1d26d6a120effb8de21eaa4"
PIN = Pin(
    name="deep-gemm",
    repo="https://h/x.git",
    commit=COMMIT,
    version="2.8.0",
    include_dirs=("csrc", "a b/é"),
    system_packages=(
        SystemPackage(name="libdw", managers={"dnf": "elfutils-devel", "apt": "libdw-dev"}),
        SystemPackage(name="numa", managers={"dnf": "numactl-libs", "apt": "libnuma1"}, when="run"),
    ),
)


def test_include_dirs_are_a_python_list(recipe: Recipe) -> None:
    text = recipe("include-dirs", PIN)
    assert text == 'INCLUDE_DIRS = [\n    "csrc",\n    "a b/\\xe9",\n]\n'
    assert ast.literal_eval(text.removeprefix("INCLUDE_DIRS = ")) == ["csrc", "a b/é"]
    assert recipe("include-dirs", PIN._replace(include_dirs=()), name="DIRS") == "DIRS = [\n]\n"


@pytest.mark.parametrize(
    ("dirs", "options", "message"),
    [
        (None, {}, "needs the pin's `include_dirs`"), (("-fplugin=x.so",), {}, "starts with `-`"),
        (("../x",), {}, "holds `..`"), (("a",), {"name": "a b"}, "is no Python name"),
    ],
)  # fmt: skip
def test_include_dirs_that_are_refused(recipe: Recipe, dirs: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises(RecipeError, match=re.escape(message)):
        recipe("include-dirs", PIN._replace(include_dirs=dirs), **options)


def test_docker_args(recipe: Recipe) -> None:
    assert recipe("docker-args", PIN) == (
        f'ARG DEEP_GEMM_GIT_REPO="https://h/x.git"\nARG DEEP_GEMM_GIT_REF="{COMMIT}"\nARG DEEP_GEMM_VERSION="2.8.0"\n'
    )
    package = Pin(name="tilelang", packages=("tilelang",), version="0.1.11")
    assert recipe("docker-args", package) == 'ARG TILELANG_VERSION="0.1.11"\n'
    image = Pin(name="base", image="a/b:1", digest="sha256:" + "0" * 64)
    assert recipe("docker-args", image) == f'ARG BASE_IMAGE="a/b:1@sha256:{"0" * 64}"\n'
    args = ["GEMM_REF={commit}", "GEMM=v{version}=x"]
    assert recipe("docker-args", PIN, args=args) == f'ARG GEMM_REF="{COMMIT}"\nARG GEMM="v2.8.0=x"\n'
    other = ["GEMM_COMMIT={pins.deep-gemm.commit}"]
    assert recipe("docker-args", None, pins={"deep-gemm": PIN}, args=other) == f'ARG GEMM_COMMIT="{COMMIT}"\n'


@pytest.mark.parametrize(
    ("change", "args", "message"),
    [
        ({"commit": None, "unresolved": True}, [], "no commit yet; write its full id"),
        ({"commit": "ad1f1726"}, [], "no full commit id"),
        ({"track": "dev"}, ["X_REF={track}"], "`dev` is no full commit id"),
        ({}, ["X_REF={commit:.10}"], "no full commit id"),
        ({}, ["HF_TOKEN=x"], "looks like a credential"),
        ({}, ["X=https://u:pass@h/"], "a credential would stay readable"),
        ({}, ["A B=x"], "is no name of a build argument"),
        ({"version": "1$(x)"}, [], "cannot stand in a Dockerfile"),
        ({"name": "my-token"}, [], "looks like a credential"),
        ({"image": "a/b:1"}, [], "needs the pin's `digest`"),
    ],
)
def test_docker_args_that_are_refused(recipe: Recipe, change: dict[str, Any], args: list[str], message: str) -> None:
    with pytest.raises(RecipeError, match=re.escape(message)):
        recipe("docker-args", PIN._replace(**change), **({"args": args} if args else {}))


def test_packages_for_dnf(recipe: Recipe) -> None:
    text = "RUN dnf install -y \\\n        elfutils-devel \\\n    && dnf clean all\n"
    assert recipe("packages-dnf", PIN) == text
    assert recipe("packages-dnf", None, pins={"a": PIN, "b": PIN._replace(name="b")}) == text
    run = recipe("packages-dnf", PIN, when="run", command="microdnf")
    assert run == "RUN microdnf install -y \\\n        numactl-libs \\\n    && microdnf clean all\n"


def test_packages_for_apt(recipe: Recipe) -> None:
    assert recipe("packages-apt", PIN, when="all") == (
        "RUN apt-get update \\\n    && apt-get install -y --no-install-recommends \\\n"
        "        libdw-dev \\\n        libnuma1 \\\n    && rm -rf /var/lib/apt/lists/*\n"
    )


@pytest.mark.parametrize("name", ["packages-dnf", "packages-apt"])
def test_without_packages_there_is_no_line(recipe: Recipe, name: str) -> None:
    assert recipe(name, PIN._replace(system_packages=())).startswith("# There is no package to install with ")


def test_packages_that_are_refused(recipe: Recipe) -> None:
    def needing(name: str) -> Pin:
        return PIN._replace(system_packages=(SystemPackage(name="need", managers={"apt": name}),))

    with pytest.raises(RecipeError, match="`-oDpkg::Pre-Invoke::=c` is no package name"):
        recipe("packages-apt", needing("-oDpkg::Pre-Invoke::=c"))
    with pytest.raises(RecipeError, match="`need` has no name under dnf"):
        recipe("packages-dnf", needing("x"))
    with pytest.raises(RecipeError, match="`command` is"):
        recipe("packages-dnf", PIN, command="zypper")


@pytest.mark.parametrize("name", ["fetchcontent", "install-script", "include-dirs", "docker-args"])
def test_recipes_of_one_pin_need_it(recipe: Recipe, name: str) -> None:
    with pytest.raises(RecipeError):
        recipe(name, None, pins={"x": PIN})


def test_no_recipe_knows_the_day_or_the_machine(recipe: Recipe) -> None:
    pin = PIN._replace(header_globs=("*.h",), submodules=("a",))
    for name in ("fetchcontent", "install-script", "include-dirs", "docker-args", "packages-dnf", "packages-apt"):
        text = recipe(name, pin, file="a/b")
        assert text == recipe(name, pin, file="a/b")
        assert text.endswith("\n")
        assert not text.startswith("\n")
        assert not re.search(r"[ \t]\n|\n\n\n|\n\n\Z|/home|/tmp", text), name


def test_fetchcontent_says_what_it_means_of_submodules(recipe: Recipe) -> None:
    text = recipe("fetchcontent", PIN._replace(submodules=()))
    assert "GIT_SHALLOW" not in text
    assert '    GIT_SUBMODULES ""\n    GIT_SUBMODULES_RECURSE FALSE\n' in text
    assert f'set(commit "{COMMIT}")\n' in text
    assert f'set(commit "{COMMIT}")  # v2\n' in recipe("fetchcontent", PIN._replace(tag="v2"))
    undeclared = recipe("fetchcontent", PIN._replace(recursive=True))
    assert "GIT_SUBMODULES " not in undeclared
    assert "GIT_SUBMODULES_RECURSE TRUE" in undeclared


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"commit": "main"}, "`main` is no full commit id"),
        ({"commit": "ad1f1726"}, "`ad1f1726` is no full commit id"),
        ({"commit": None}, "no commit yet"),
        ({"repo": None}, "needs the pin's `repo`"),
        ({"repo": 'https://h/x")\nexecute_process(COMMAND touch x'}, "control character"),
        ({"repo": 'https://h/x")execute_process('}, "would not survive"),
        ({"repo": "https://h/$ENV{HOME}"}, "would not survive"),
        ({"submodules": ("a;b",)}, "would not survive"),
        ({"include_dirs": ("$ENV{HOME}",)}, "would not survive"),
        ({"name": "a b"}, "cannot be part of a CMake variable's name"),
    ],
)
def test_fetchcontent_that_is_refused(recipe: Recipe, change: dict[str, Any], message: str) -> None:
    with pytest.raises(RecipeError, match=re.escape(message)):
        recipe("fetchcontent", PIN._replace(**change))


def test_fetchcontent_options(recipe: Recipe) -> None:
    with pytest.raises(RecipeError, match="did you mean `make_available`"):
        recipe("fetchcontent", PIN, make_avaliable=True)
    with pytest.raises(RecipeError, match=r"needs the pin's `archive\.url`"):
        recipe("fetchcontent", PIN, form="url")
    with pytest.raises(RecipeError, match='"git" or "url"'):
        recipe("fetchcontent", PIN, form="svn")
