"""Which places hold one fact: each rule with what it joins, and with what it must not join."""

import pytest

from .support import NEW, OLD, OTHER, Tree, pins, places

REPO = "https://github.com/deepseek-ai/DeepGEMM"
KDA = "https://github.com/vllm-project/FlashKDA"


def where(tree: Tree) -> dict[str, list[str]]:
    """The files of the places of each pin, in order."""
    return {name: [place.file for place in pin.places] for name, pin in pins(tree).items()}


# --- by the call ---


def test_a_repository_and_a_ref_that_one_clone_takes() -> None:
    tree = {"a.sh": f'URL={KDA}\nWHAT_REF={OLD}\ngit clone "$URL" x && cd x && git checkout "$WHAT_REF"\n'}
    (pin,) = pins(tree).values()
    assert (pin.name, pin.repo, pin.commit) == ("flashkda", KDA, OLD)
    assert places(pin) == {("a.sh", "URL"): "{repo}", ("a.sh", "WHAT_REF"): "{commit}"}


def test_two_clones_are_two_pins() -> None:
    tree = {"a.sh": f"git clone {KDA} -b v1.2\ngit clone {REPO} -b v1.2\n"}
    assert where(tree) == {"deepgemm": ["a.sh", "a.sh"], "flashkda": ["a.sh", "a.sh"]}


# --- by repository and ref, by commit ---


def test_one_repository_at_one_ref_in_two_files() -> None:
    tree = {
        "a.sh": f"git clone {REPO}.git one -b v1.2\n",
        "b.sh": f"git clone {REPO} two --branch v1.2\n",
    }
    assert where(tree) == {"deepgemm": ["a.sh", "a.sh", "b.sh", "b.sh"]}


def test_one_repository_at_two_refs_under_two_names_is_two_pins() -> None:
    tree = {
        "a.sh": f"ONE_URL={REPO}\nONE_TAG=v1.2\ngit clone $ONE_URL -b $ONE_TAG\n",
        "b.sh": f"TWO_URL={REPO}\nTWO_TAG=v1.3\ngit clone $TWO_URL -b $TWO_TAG\n",
    }
    assert sorted(pin.tag or pin.version or "" for pin in pins(tree).values()) == ["v1.2", "v1.3"]


def test_a_short_id_and_the_full_one_that_it_abbreviates() -> None:
    tree = {
        "a.cmake": f"FetchContent_Declare(kda GIT_REPOSITORY {KDA}.git GIT_TAG {OLD})\n",
        "Dockerfile": f"FROM scratch\nARG OTHER_NAME_REF={OLD[:10]}\n",
    }
    (pin,) = pins(tree).values()
    assert pin.commit == OLD
    assert places(pin)["Dockerfile", "ARG OTHER_NAME_REF"] == "{commit:.10}"


def test_short_ids_of_two_commits_join_nothing() -> None:
    tree = {
        "a.cmake": f"FetchContent_Declare(kda GIT_REPOSITORY {KDA}.git GIT_TAG {OLD})\n",
        "Dockerfile": f"FROM scratch\nARG OTHER_NAME_REF={NEW[:10]}\n",
    }
    assert where(tree) == {"flashkda": ["a.cmake"]}


def test_a_repository_alone_joins_its_pin() -> None:
    tree = {
        "a.cmake": f"FetchContent_Declare(kda GIT_REPOSITORY {KDA}.git GIT_TAG {OLD})\n",
        "b.sh": f"KDA_GIT_REPO={KDA}\n",
    }
    assert where(tree) == {"flashkda": ["a.cmake", "b.sh"]}


def test_the_branches_of_an_if_are_meant() -> None:
    call = f"FetchContent_Declare(kda GIT_REPOSITORY {KDA}.git GIT_TAG ${{TAG}})\n"
    tree = {"a.cmake": f"if(A)\n  set(TAG {OLD})\nelse()\n  set(TAG {NEW})\nendif()\n{call}"}
    assert sorted(pin.commit or "" for pin in pins(tree).values()) == [OLD, NEW]


# --- by name ---


def test_deepgemm_in_cmake_and_a_script() -> None:
    tree = {
        "cmake/deepgemm.cmake": (
            f"FetchContent_Declare(deepgemm\n  GIT_REPOSITORY {REPO}.git\n  GIT_TAG {OLD}\n"
            "  GIT_SUBMODULES third-party/cutlass third-party/fmt)\n"
        ),
        "tools/install_deepgemm.sh": (
            f'DEEPGEMM_GIT_REPO="{REPO}.git"\nDEEPGEMM_GIT_REF="{OLD}"\n'
            'git clone --recursive "$DEEPGEMM_GIT_REPO" x\ncd x && git checkout "$DEEPGEMM_GIT_REF"\n'
        ),
    }
    (pin,) = pins(tree).values()
    assert (pin.name, pin.repo, pin.commit) == ("deepgemm", f"{REPO}.git", OLD)
    assert pin.submodules == ("third-party/cutlass", "third-party/fmt")
    assert places(pin) == {
        ("cmake/deepgemm.cmake", "FetchContent(deepgemm)"): "{git}",
        ("tools/install_deepgemm.sh", "DEEPGEMM_GIT_REPO"): "{repo}",
        ("tools/install_deepgemm.sh", "DEEPGEMM_GIT_REF"): "{commit}",
    }


def test_what_a_name_joins_and_what_then_differs_is_one_pin() -> None:
    tree = {
        "a.cmake": f"FetchContent_Declare(deepgemm GIT_REPOSITORY {REPO}.git GIT_TAG {OLD})\n",
        "b.sh": f"DEEPGEMM_GIT_REF={OTHER}\n",
        "c.sh": f"DEEPGEMM_GIT_REF={OLD}\n",
    }
    (pin,) = pins(tree).values()
    assert pin.commit == OLD
    assert [place.file for place in pin.places] == ["a.cmake", "b.sh", "c.sh"]


def test_a_short_id_and_a_long_one_with_the_repository_of_an_argument() -> None:
    tree = {
        "Dockerfile": f"FROM scratch\nARG DEEPEP_COMMIT_HASH={OLD[:7]}\n",
        "versions.json": f'{{"variable": {{"DEEPEP_COMMIT_HASH": {{"default": "{OLD[:7]}"}}}}}}',
        "install.sh": (
            f"DEEPEP_COMMIT_HASH=${{DEEPEP_COMMIT_HASH:-{OLD}}}\n"
            'build() { git clone "$1" x && cd x && git checkout "$2"; }\n'
            'build "https://github.com/deepseek-ai/DeepEP" "$DEEPEP_COMMIT_HASH"\n'
            "DEEPEP_REPO=https://github.com/deepseek-ai/DeepEP\n"
        ),
    }
    found = pins(tree)
    assert list(found) == ["deepep"]
    assert found["deepep"].commit == OLD
    assert {place.file for place in found["deepep"].places} == {"Dockerfile", "versions.json", "install.sh"}


@pytest.mark.parametrize("name", ["BUILD_VERSION", "DOCKER_VERSION", "APP_VERSION"])
def test_names_that_name_no_dependency_join_nothing(name: str) -> None:
    tree = {f"{folder}/a.sh": f"{name}={value}.0\n" for folder, value in (("a", 1), ("b", 1))}
    assert pins(tree) == {}


# --- packages ---


def test_a_package_in_every_place() -> None:
    lock = "# This file was autogenerated by uv via the following command:\n#    uv pip compile\n"
    tree = {
        "pyproject.toml": '[build-system]\nrequires = ["torch == 2.11.0"]\n',
        "CMakeLists.txt": 'set(TORCH_SUPPORTED_VERSION_CUDA "2.11.0")\n',
        "requirements/build/cuda.txt": "torch==2.11.0\n",
        "requirements/cuda.txt": "torch==2.11.0\ntorchaudio==2.11.0\n",
        "requirements/test/cuda.in": "torch==2.11.0\n",
        "requirements/test/cuda.txt": f"{lock}torch==2.11.0+cu130\n",
    }
    found = pins(tree)
    assert {place.file for place in found["torch"].places} == set(tree)
    assert places(found["torch"])["requirements/test/cuda.txt", "requirement torch"] == "{version}+cu130"
    assert [place.file for place in found["torchaudio"].places] == ["requirements/cuda.txt"]


def test_the_lock_of_another_version_is_left_to_its_tool() -> None:
    lock = "# This file was autogenerated by uv via the following command:\n"
    tree = {"a.in": "torch==2.11.0\n", "a.txt": f"{lock}torch==2.10.0\nother==1.2\n"}
    assert where(tree) == {"torch": ["a.in"]}


def test_a_variable_that_gives_the_version_of_a_package() -> None:
    tree = {
        "Dockerfile": (
            "FROM scratch\nARG FLASHINFER_VERSION=0.6.1\n"
            "RUN pip install flashinfer-python==${FLASHINFER_VERSION} flashinfer-cubin==${FLASHINFER_VERSION}\n"
        ),
        "requirements/cuda.txt": "flashinfer-python==0.6.1\nflashinfer-cubin==0.6.1\n",
        "versions.json": '{"variable": {"FLASHINFER_VERSION": {"default": "0.6.1"}}}',
    }
    (pin,) = pins(tree).values()
    assert pin.packages == ("flashinfer-python", "flashinfer-cubin")
    assert {place.file for place in pin.places} == set(tree)


def test_a_variable_that_only_shares_a_value_joins_nothing() -> None:
    tree = {"requirements/a.txt": "flashinfer-python==0.6.1\n", "a.sh": "SOMETHING_VERSION=0.6.1\n"}
    assert where(tree) == {"flashinfer-python": ["requirements/a.txt"]}


def test_packages_of_one_family_at_one_version_in_one_file() -> None:
    tree = {"requirements/a.txt": "grpcio==1.78.0\ngrpcio-tools==1.78.0\n"}
    assert where(tree) == {"grpcio": ["requirements/a.txt"] * 2}


@pytest.mark.parametrize(
    "text",
    [
        "grpcio==1.78.0\ngrpcio-tools==1.79.0\n",  # of two versions
        "nvidia-cutlass-dsl==4.2.1\nnvidia-cudnn==4.2.1\n",  # many share that first word
        "grpcio==1.78.0\nprotobuf==1.78.0\n",
    ],
)
def test_other_packages_are_pins_of_their_own(text: str) -> None:
    assert len(pins({"requirements/a.txt": text})) == 2


def test_a_package_and_the_repository_of_its_name_and_version() -> None:
    tree = {
        "a.sh": f"git clone {KDA} -b v1.2\n",
        "requirements/a.txt": "flashkda==1.2\n",
    }
    assert where(tree) == {"flashkda": ["a.sh", "a.sh", "requirements/a.txt"]}


def test_a_package_of_another_version_is_none_of_the_repository() -> None:
    tree = {
        "a.sh": f"git clone {KDA} -b v1.2\n",
        "requirements/a.txt": "flashkda==1.3\n",
    }
    assert where(tree) == {"flashkda": ["a.sh", "a.sh"], "flashkda-package": ["requirements/a.txt"]}


def test_a_variable_goes_to_the_one_of_its_name() -> None:
    tree = {
        "a.sh": f"git clone {KDA} -b v1.2\n",
        "b.sh": "FLASHKDA_VERSION=1.2\n",
        "c.sh": "KDA_VERSION=1.2\n",
    }
    assert where(tree) == {"flashkda": ["a.sh", "a.sh", "b.sh"]}


# --- images, submodules, records ---


def test_an_image_in_two_files() -> None:
    tree = {
        "a/Dockerfile": "FROM nvidia/cuda:13.0.3-devel\n",
        "b/Dockerfile": "ARG CUDA_IMAGE=nvidia/cuda:13.0.3-devel\nFROM ${CUDA_IMAGE}\n",
    }
    (pin,) = pins(tree).values()
    assert (pin.image, pin.unresolved, len(pin.places)) == ("nvidia/cuda:13.0.3-devel", True, 2)


def test_images_of_other_tags_are_pins_of_their_own() -> None:
    tree = {"a/Dockerfile": "FROM nvidia/cuda:13.0.3-devel\n", "b/Dockerfile": "FROM nvidia/cuda:13.0.3-base\n"}
    assert len(pins(tree)) == 2


def test_a_variable_of_one_name_for_two_tags_of_an_image_differs() -> None:
    tree = {f"{n}/Dockerfile": f"ARG BASE_IMAGE=rocm/dev:7.{n}\nFROM ${{BASE_IMAGE}}\n" for n in (1, 2)}
    (pin,) = pins(tree).values()
    assert len(pin.places) == 2


def test_what_many_files_of_a_folder_say_alike_are_records() -> None:
    record = '{"triton_version": "3.5.0"}'
    many = {f"configs/{n}.json": record for n in range(5)}
    assert pins(many) == {}
    few = dict(list(many.items())[:2])
    assert where(few) == {"triton": ["configs/0.json", "configs/1.json"]}


def test_the_order_of_files_does_not_matter() -> None:
    tree = {
        "a.cmake": f"FetchContent_Declare(deepgemm GIT_REPOSITORY {REPO}.git GIT_TAG {OLD})\n",
        "b.sh": f"DEEPGEMM_GIT_REF={OLD}\n",
        "Dockerfile": "FROM ubuntu:22.04\nARG TORCH_VERSION=2.11.0\nRUN pip install torch==${TORCH_VERSION}\n",
        "requirements/a.txt": "torch==2.11.0\n",
    }
    backwards = pins(dict(reversed(tree.items())))
    assert {n: places(p) for n, p in pins(tree).items()} == {n: places(p) for n, p in backwards.items()}
    assert list(pins(tree)) == list(backwards)
