import pytest
from hypothesis import given
from hypothesis import strategies as st

from pinctl.discovery import names

WORDS = st.text("abcXYZ019", min_size=1, max_size=8)
NAMES = st.lists(WORDS, min_size=1, max_size=4).map("_".join)


@pytest.mark.parametrize(
    ("selector", "expected"),
    [
        ("DEEPGEMM_GIT_REF", "DEEPGEMM_GIT_REF"),
        ("DEEPEP_COMMIT_HASH:-", "DEEPEP_COMMIT_HASH"),
        ("ARG NIXL_VERSION", "NIXL_VERSION"),
        ("base:ARG NIXL_VERSION", "NIXL_VERSION"),
        ("set(VLLM_FLASH_ATTN_TAG)", "VLLM_FLASH_ATTN_TAG"),
        ("/variable/DEEPEP_COMMIT_HASH/default", "DEEPEP_COMMIT_HASH"),
        ("variable.TORCH_VERSION.default", "TORCH_VERSION"),
        ("build-arg max_jobs", "max_jobs"),
        ("LABEL version", "version"),
        ("", ""),
    ],
)
def test_the_variable_in_a_selector(selector: str, expected: str) -> None:
    assert names.identifier(selector) == expected


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("DEEPGEMM_GIT_REF", "deepgemm"),
        ("_DEEPGEMM_UPSTREAM_TAG", "deepgemm"),
        ("VLLM_FLASH_ATTN_COMMIT", "vllmflashattn"),
        ("TORCH_SUPPORTED_VERSION_CUDA", "torch"),
        ("TORCH_SUPPORTED_VERSION_ROCM", "torch"),
        ("CUDA_VERSION", "cuda"),
        ("GDRCOPY_CUDA_VERSION", "gdrcopycuda"),
        ("ROCM_VERSION", "rocm"),
        ("nvidia-cutlass-dsl", "cutlassdsl"),
        ("BASE_IMAGE", ""),
        ("GIT_TAG", ""),
        ("PYTHON_VERSION", "python"),
        ("", ""),
    ],
)
def test_the_words_that_name_the_dependency(name: str, expected: str) -> None:
    assert names.stem(name) == expected


@pytest.mark.parametrize(
    ("selector", "expected"),
    [
        ("ARG NIXL_VERSION", "nixl"),
        ("/build_dependencies/nvidia-cutlass-dsl/version", "cutlassdsl"),
        ("build_dependencies.cutlass.version", "cutlass"),
        ("/variable/TORCH_VERSION/default", "torch"),
        ("/env/version", ""),
        ("/0/version", ""),
        ("version", ""),
    ],
)
def test_the_subject_is_the_key_around_where_the_last_one_names_nothing(selector: str, expected: str) -> None:
    assert names.subject(selector) == expected


@given(NAMES)
def test_a_stem_has_no_separators_and_knows_no_case(name: str) -> None:
    stem = names.stem(name)
    assert names.stem(name.lower()) == names.stem(name.upper()) == stem
    assert stem in ("", stem.lower())
    assert not set(stem) - set("abcxyz019")


@given(NAMES, st.sampled_from(["COMMIT", "TAG", "REF", "VERSION", "GIT_REPO", "SHA256"]))
def test_words_for_the_kind_of_value_are_no_part_of_a_stem(name: str, kind: str) -> None:
    assert names.stem(f"{name}_{kind}") in (names.stem(name), "".join(names.words(name)))


@given(NAMES)
def test_a_squashed_name_is_squashed(name: str) -> None:
    assert names.squash(names.squash(name)) == names.squash(name) == names.squash(name.replace("_", "-"))


@pytest.mark.parametrize("name", ["DEEPEP_COMMIT_HASH", "TAG", "x_ref", "AITER_BRANCH", "cmake.revision"])
def test_names_of_refs(name: str) -> None:
    assert names.is_ref(name)


@pytest.mark.parametrize("name", ["TAGGED", "PREFERRED", "COMMITTER", "DEEPEP", ""])
def test_names_of_no_refs(name: str) -> None:
    assert not names.is_ref(name)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("NIXL_VERSION", True),
        ("UCX_VER", True),
        ("MIN_CUDA_VERSION", False),
        ("API_VERSION", False),
        ("CMAKE_VERSION_MAJOR", False),
        ("CONVERSION", False),
    ],
)
def test_names_of_versions_that_are_no_bounds(name: str, expected: bool) -> None:
    assert names.is_version(name) is expected


def test_names_of_other_kinds() -> None:
    assert names.is_repo("DEEPGEMM_GIT_REPO")
    assert not names.is_repo("DEEPGEMM_REPORT")
    assert names.is_image("BASE_IMAGE")
    assert not names.is_image("IMAGENET")
    assert names.is_digest("SCCACHE_SHA256")
    assert not names.is_digest("SHADOW")


@pytest.mark.parametrize(
    "word", ["rocm", "xpu", "cu13", "cu130", "gfx942", "gfx1250", "rocm7", "sm90a", "gb200", "h100"]
)
def test_words_for_accelerators(word: str) -> None:
    assert names.is_accelerator(word)


@pytest.mark.parametrize("word", ["cuda", "cu1", "gfx", "smoke", "200", "cutlass", "c100", ""])
def test_words_for_no_accelerators(word: str) -> None:
    assert not names.is_accelerator(word)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("docker/Dockerfile.rocm_gfx1250", ("rocm", "gfx1250")),
        ("docker/gfx1250.Dockerfile.rocm", ("rocm", "gfx1250")),
        ("requirements/cpu.txt", ("cpu",)),
        ("docker/Dockerfile", ()),
        ("tools/processor.sh", ()),
    ],
)
def test_accelerators_of_a_path_are_told_with_the_general_one_first(text: str, expected: tuple[str, ...]) -> None:
    assert names.accelerators(text) == expected
