import pytest

from pinctl.discovery import literals
from pinctl.discovery.literals import VALUE, Literal, Meaning, What

from .support import DIGEST, OLD


def means(name: str, value: str, *roles: str, **more: object) -> tuple[str, str] | None:
    """The kind and the value of a literal."""
    found = Literal(name, value, frozenset(roles), **more).meaning()  # type: ignore[arg-type]
    return found and (found.what.value, found.value)


@pytest.mark.parametrize(
    ("name", "value", "what"),
    [
        ("DEEPGEMM_GIT_REPO", "https://github.com/deepseek-ai/DeepGEMM", What.REPO),
        ("DEEPGEMM", "https://github.com/deepseek-ai/DeepGEMM.git", What.REPO),
        ("DEEPGEMM_GIT_REF", OLD, What.COMMIT),
        ("DEEPEP_COMMIT_HASH", OLD[:10], What.COMMIT),
        ("DEEPEP_VERSION", OLD, What.COMMIT),
        ("UCX_TAG", "v1.20.0", What.TAG),
        ("UCX_BRANCH", "release/1.20", What.BRANCH),
        ("UCX_VERSION", "1.20.0", What.VERSION),
        ("NVSHMEM_VER", "3.2.5-1", What.VERSION),
        ("BASE_IMAGE", "ubuntu:22.04", What.IMAGE),
        ("SCCACHE_SHA256", DIGEST, What.DIGEST),
        ("GDRCOPY_URL", "https://example.org/gdrcopy-2.5.1.tar.gz", What.URL),
    ],
)
def test_what_a_variable_pins_by_its_name_and_value(name: str, value: str, what: What) -> None:
    assert means(name, value) == (what.value, value)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("DEEPGEMM", "https://github.com/deepseek-ai/DeepGEMM"),  # a page, perhaps
        ("DEEPGEMM_KEY", OLD),
        ("UCX_VERSION", "1"),
        ("MIN_UCX_VERSION", "1.20.0"),
        ("UCX", "1.20.0"),
        ("BASE_IMAGE", "ubuntu"),
        ("BASE_IMAGE", "ubuntu:latest"),
        ("ROOT", "ubuntu:22.04"),
        ("KEY", DIGEST),
        ("HOME_URL", "https://example.org/2"),
        ("UCX_TAG", "${OTHER}"),
        ("UCX_TAG", ""),
    ],
)
def test_what_pins_nothing(name: str, value: str) -> None:
    assert means(name, value) is None


def test_a_command_says_what_its_argument_is() -> None:
    assert means("", "v1.2", "git checkout") == ("tag", "v1.2")
    assert means("", "main", "git clone --branch") == ("branch", "main")
    assert means("", "https://github.com/o/r", "git clone") == ("repo", "https://github.com/o/r")
    assert means("", "ubuntu:22.04", "FROM base") == ("image", "ubuntu:22.04")
    assert means("", "v1.2", "git push") is None


def test_a_package_that_is_asked_for_makes_a_version_of_any_name() -> None:
    assert means("FLASHINFER", "0.6.1", packages=("flashinfer-python",)) == ("version", "0.6.1")
    assert means("FLASHINFER", "0.6.1") is None


def test_a_requirement_in_a_variable() -> None:
    found = Literal("TRITON", "triton[x]==3.5.0; python_version > '3'").meaning()
    assert found == Meaning(What.VERSION, "3.5.0", f"triton[x]=={VALUE}; python_version > '3'", ("triton",))
    assert Literal("TRITON", "triton>=3.5.0").meaning() is None


def test_a_hash_with_its_algorithm() -> None:
    found = Literal("URL_HASH", f"SHA256={DIGEST}").meaning()
    assert found == Meaning(What.DIGEST, DIGEST, f"SHA256={VALUE}")


def test_what_stands_around_a_value_stays_around_it() -> None:
    found = Literal("TAG", "v1.2", around=f"TAG={VALUE}").meaning()
    assert found == Meaning(What.TAG, "v1.2", f"TAG={VALUE}")


@pytest.mark.parametrize(
    ("selector", "expected"),
    [
        ("requirement Foo_Bar", "foo-bar"),
        ("project.dependencies:requirement torch", "torch"),
        ("base:pip install torch", "torch"),
        ("pip install torch", "torch"),
        ("apt-get install gcc", None),
        ("ARG TORCH_VERSION", None),
        ("specifier torch", None),
    ],
)
def test_the_package_in_a_selector(selector: str, expected: str | None) -> None:
    assert literals.requirement(selector) == expected


def about(name: str, value: str, selector: str, **more: object) -> str:
    literal = Literal(name, value, **more)  # type: ignore[arg-type]
    found = literal.meaning()
    assert found is not None
    return literals.about(found, literal, selector)


def test_what_a_literal_is_about() -> None:
    assert about("UCX_TAG", "v1.2", "ARG UCX_TAG") == "ucx"
    assert about("version", "1.2", "/deps/cutlass/version") == "cutlass"
    assert about("BASE_IMAGE", "nvcr.io/nvidia/cuda:13.0", "ARG BASE_IMAGE") == "cuda"
    assert about("VERSION", "1.2", "VERSION", packages=("my-pkg",)) == "mypkg"
    assert about("TAG", "v1.2", "TAG") == ""
    assert about("UCX_TAG", "v1.2", "build 1", override=True) == "ucx"


def test_an_argument_of_a_command_says_nothing_of_its_dependency() -> None:
    assert about("", OLD, "do_build 1", roles=frozenset({"git checkout"}), argument=True) == ""
