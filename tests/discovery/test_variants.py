"""What differs and is meant to, and what only differs."""

import pytest

from .support import DIGEST, NEW, OLD, Tree, pins, places

REPO = "https://github.com/ROCm/aiter.git"


def values(tree: Tree) -> dict[str, str]:
    """What each pin is at, by name."""
    return {name: pin.at for name, pin in pins(tree).items()}


# --- images ---


def test_several_images_of_one_name_in_one_file_are_meant() -> None:
    tree = {
        "Dockerfile": "FROM nvidia/cuda:13.0.3-devel AS build\nFROM nvidia/cuda:13.0.3-base\n",
        "b/Dockerfile": "FROM nvidia/cuda:13.0.3-devel\n",
    }
    found = pins(tree)
    assert list(found) == ["cuda-13-0-3-base", "cuda-13-0-3-devel"]
    assert [place.file for place in found["cuda-13-0-3-devel"].places] == ["Dockerfile", "b/Dockerfile"]


def test_so_are_those_that_one_variable_has_in_one_file() -> None:
    stages = "FROM scratch AS {0}\nARG BASE_IMAGE=rocm/dev:7.{0}\n"
    tree = {
        "Dockerfile": "".join(stages.format(n) for n in (0, 1)),
        "b/Dockerfile": "ARG BASE_IMAGE=rocm/dev:7.1\nFROM ${BASE_IMAGE}\n",
    }
    found = pins(tree)
    assert {pin.image: len(pin.places) for pin in found.values()} == {"rocm/dev:7.0": 1, "rocm/dev:7.1": 2}


def test_an_image_by_digest_is_resolved() -> None:
    (pin,) = pins({"Dockerfile": f"FROM rust:1.90@sha256:{DIGEST}\n"}).values()
    assert (pin.image, pin.unresolved) == (f"rust:1.90@sha256:{DIGEST}", False)


# --- accelerators ---


def test_another_value_for_another_accelerator_is_a_pin_of_its_own() -> None:
    tree = {
        "docker/Dockerfile": f"FROM scratch\nARG DEEPEP_REF={OLD}\nARG DEEPEP_REPO=https://github.com/o/DeepEP\n",
        "docker/Dockerfile.rocm": f"FROM scratch\nARG DEEPEP_REF={NEW}\nARG DEEPEP_REPO=https://github.com/ROCm/DeepEP\n",
    }
    found = pins(tree)
    assert {name: (pin.commit, pin.repo) for name, pin in found.items()} == {
        "deepep": (OLD, "https://github.com/o/DeepEP"),
        "deepep-rocm": (NEW, "https://github.com/ROCm/DeepEP"),
    }


def test_the_same_value_for_another_accelerator_is_not() -> None:
    tree = {
        "requirements/cuda.txt": "torch==2.11.0\n",
        "requirements/common.txt": "torch==2.11.0\n",
        "requirements/rocm.txt": "torch==2.11.0\n",
    }
    assert {n: len(p.places) for n, p in pins(tree).items()} == {"torch": 3}


def test_two_values_for_one_accelerator_differ() -> None:
    tree = {
        "requirements/common.txt": "torch==2.11.0\n",
        "requirements/rocm.txt": "torch==2.10.0\n",
        "docker/Dockerfile.rocm": "FROM scratch\nARG TORCH_VERSION=2.9.0\n",
        "rocm.sh": "TORCH_VERSION=2.10.0\n",
    }
    found = pins(tree)
    assert {name: (pin.version, len(pin.places)) for name, pin in found.items()} == {
        "torch": ("2.11.0", 1),
        "torch-rocm": ("2.10.0", 3),
    }


def test_two_values_for_none_differ() -> None:
    tree = {"requirements/a.txt": "torch==2.11.0\n", "requirements/b.txt": "torch==2.10.0\n"}
    assert {n: len(p.places) for n, p in pins(tree).items()} == {"torch": 2}


def test_the_special_one_is_told_from_the_general_one() -> None:
    tree = {
        f"docker/Dockerfile{suffix}": f"FROM scratch\nARG AITER_REF={ref}\nARG AITER_REPO={REPO}\n"
        for suffix, ref in (("", OLD), (".rocm", NEW), (".rocm_gfx1250", "c3d4" * 10))
    }
    assert values(tree) == {"aiter": OLD[:12], "aiter-rocm": NEW[:12], "aiter-gfx1250": ("c3d4" * 10)[:12]}


def test_a_series_fits_the_version_of_it() -> None:
    tree = {
        "Dockerfile": "FROM scratch\nARG ROCM_VERSION=7.0.2\n",
        "b/Dockerfile": "FROM scratch\nARG ROCM_VERSION=7.0.2\n",
        "rocm.sh": "ROCM_VERSION=7.0\n",
        "rocm2.sh": "ROCM_VERSION=7.0\n",
    }
    assert sorted(values(tree).values()) == ["7.0", "7.0.2"]


# --- what is weak ---


def test_an_override_of_another_value_is_no_disagreement() -> None:
    tree = {
        "Dockerfile": "FROM scratch\nARG TORCH_VERSION=2.11.0\nRUN pip install torch==${TORCH_VERSION}\n",
        "ci.sh": "docker build --build-arg TORCH_VERSION=2.10.0 .\n",
    }
    found = pins(tree)
    assert [place.file for place in found["torch"].places] == ["Dockerfile"]


def test_an_override_of_the_same_value_is_a_place_of_it() -> None:
    tree = {
        "Dockerfile": "FROM scratch\nARG TORCH_VERSION=2.11.0\nRUN pip install torch==${TORCH_VERSION}\n",
        "ci.sh": "docker build --build-arg TORCH_VERSION=2.11.0 .\n",
    }
    assert {place.file for place in pins(tree)["torch"].places} == set(tree)


def test_equal_overrides_of_another_value_are_a_pin_of_their_own() -> None:
    tree = {
        "Dockerfile": "FROM scratch\nARG CUDA_VERSION=13.0.3\n",
        "b/Dockerfile": "FROM scratch\nARG CUDA_VERSION=13.0.3\n",
        "a.sh": "docker build --build-arg CUDA_VERSION=12.9.1 .\n",
        "b.sh": "docker build --build-arg CUDA_VERSION=12.9.1 .\n",
    }
    assert values(tree) == {"cuda": "13.0.3", "cuda-12-9-1": "12.9.1"}


def test_a_version_of_other_precision_is_no_disagreement() -> None:
    tree = {
        "Dockerfile": "FROM scratch\nARG CUDA_VERSION=13.0.3\n",
        "b/Dockerfile": "FROM scratch\nARG CUDA_VERSION=13.0.3\n",
        "c/Dockerfile": "FROM scratch\nARG CUDA_VERSION=13.0.3\n",
        "a.sh": "CUDA_VERSION=13.0\n",
        "b.sh": "CUDA_VERSION=13.0\n",
    }
    assert values(tree) == {"cuda": "13.0.3", "cuda-13-0": "13.0"}


def test_a_version_of_another_series_is_a_disagreement() -> None:
    tree = {
        "Dockerfile": "FROM scratch\nARG CUDA_VERSION=13.0.3\n",
        "b/Dockerfile": "FROM scratch\nARG CUDA_VERSION=13.0.3\n",
        "a.sh": "CUDA_VERSION=12.9\n",
    }
    found = pins(tree)
    assert values(tree) == {"cuda": "13.0.3"}
    assert len(places(found["cuda"])) == 3


# --- repositories that move ---


@pytest.mark.parametrize(
    "text",
    [
        "AITER_REPO=https://github.com/me/aiter\ngit clone $AITER_REPO\n",
        "AITER_REPO=https://github.com/me/aiter\ngit clone -b main $AITER_REPO\n",
        "AITER_REPO=https://github.com/me/aiter\nAITER_BRANCH=main\n",
    ],
)
def test_a_fork_of_which_a_branch_is_taken_is_none_of_the_pin(text: str) -> None:
    tree = {"Dockerfile": f"FROM scratch\nARG AITER_REF={OLD}\nARG AITER_REPO={REPO}\n", "a.sh": text}
    found = pins(tree)["aiter"]
    assert found.repo == REPO
    assert {place.file for place in found.places} == {"Dockerfile"}


def test_a_branch_of_the_same_repository_is_no_ref_of_the_pin() -> None:
    tree = {
        "Dockerfile": f"FROM scratch\nARG AITER_REF={OLD}\nARG AITER_REPO={REPO}\n",
        "a.sh": f"AITER_REPO={REPO}\nAITER_BRANCH=main\n",
    }
    assert places(pins(tree)["aiter"]) == {
        ("Dockerfile", "ARG AITER_REF"): "{commit}",
        ("Dockerfile", "ARG AITER_REPO"): "{repo}",
        ("a.sh", "AITER_REPO"): "{repo}",
    }


def test_another_repository_at_a_fixed_ref_is_a_disagreement() -> None:
    tree = {
        "Dockerfile": f"FROM scratch\nARG AITER_REF={OLD}\nARG AITER_REPO={REPO}\n",
        "a.sh": f"AITER_REPO=https://github.com/me/aiter\nAITER_REF={OLD}\n",
    }
    assert len(places(pins(tree)["aiter"])) == 4
