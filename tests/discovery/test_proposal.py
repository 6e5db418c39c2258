import pytest

from pinctl.discovery.proposal import alone, propose

from .support import DIGEST, NEW, OLD, Tree, grouped, pins, places

REPO = "https://github.com/openucx/ucx"


def templates(tree: Tree) -> dict[str, str]:
    """The templates of the one pin of a tree, by selector."""
    (pin,) = pins(tree).values()
    return {selector: template for (_, selector), template in places(pin).items()}


# --- facts ---


def test_a_full_id_beats_short_ones() -> None:
    tree = {
        "a.cmake": f"FetchContent_Declare(ucx GIT_REPOSITORY {REPO} GIT_TAG {OLD})\n",
        **{f"{n}.sh": f"UCX_REF={OLD[:8]}\n" for n in range(3)},
    }
    (pin,) = pins(tree).values()
    assert (pin.commit, pin.unresolved) == (OLD, False)


def test_a_short_id_alone_leaves_the_pin_unresolved() -> None:
    tree = {"a.sh": f"UCX_REPO={REPO}\nUCX_REF={OLD[:8]}\n"}
    (pin,) = pins(tree).values()
    assert (pin.commit, pin.unresolved, pin.at) == (None, OLD[:8], OLD[:8])
    assert templates(tree) == {"UCX_REPO": "{repo}", "UCX_REF": "{commit}"}


def test_of_two_full_ids_the_one_with_more_short_ones_wins() -> None:
    tree = {
        "a.sh": f"UCX_REPO={REPO}\nUCX_REF={NEW}\n",
        "b.sh": f"UCX_REF={OLD}\n",
        "c.sh": f"UCX_REF={OLD[:8]}\n",
    }
    (pin,) = pins(tree).values()
    assert pin.commit == OLD
    assert len(pin.places) == 4


def test_a_tag_is_no_commit() -> None:
    (pin,) = pins({"a.sh": f"UCX_REPO={REPO}\nUCX_TAG=v1.20.0\n"}).values()
    assert (pin.tag, pin.version, pin.commit, pin.unresolved) == ("v1.20.0", None, None, True)


def test_a_tag_that_a_version_says_is_left_to_it() -> None:
    tree = {"a.sh": f"UCX_REPO={REPO}\nUCX_TAG=v1.20.0\n", "b.sh": "UCX_VERSION=1.20.0\n"}
    (pin,) = pins(tree).values()
    assert (pin.tag, pin.version) == (None, "1.20.0")
    assert templates(tree) == {"UCX_REPO": "{repo}", "UCX_TAG": "{version:tag}", "UCX_VERSION": "{version}"}


def test_a_tag_with_a_name_stays_a_tag_beside_a_version() -> None:
    tree = {"a.sh": f"UCX_REPO={REPO}\nUCX_TAG=ucx-1.20.0\n", "b.sh": "UCX_VERSION=1.20.0\n"}
    (pin,) = pins(tree).values()
    assert (pin.tag, pin.version) == ("ucx-1.20.0", "1.20.0")


def test_a_tag_that_no_version_says_is_not_lost_beside_those_that_one_says() -> None:
    tree = {
        "a.sh": f"UCX_REPO={REPO}\nUCX_TAG=v1.20.0\nUCX_VERSION=1.20.0\n",
        "b.sh": "UCX_TAG=v1.20.0\n",
        "c.sh": "UCX_TAG=ucx-1.19.0\n",
    }
    (pin,) = pins(tree).values()
    assert (pin.tag, pin.version) == ("v1.20.0", "1.20.0")
    assert places(pin)["c.sh", "UCX_TAG"] == "{tag}"


def test_a_tag_of_a_package_is_its_version_or_nothing() -> None:
    tree = {"requirements/a.txt": "torch==2.11.0\n", "a.sh": "TORCH_TAG=v2.11.0\n", "b.sh": "TORCH_TAG=nv-2.11\n"}
    (pin,) = pins(tree).values()
    assert (pin.tag, pin.version) == (None, "2.11.0")
    assert [place.file for place in pin.places] == ["a.sh", "requirements/a.txt"]


def test_a_ref_without_a_repository_is_no_pin() -> None:
    assert pins({"a.sh": f"UCX_REF={OLD}\n", "b.sh": f"UCX_REF={OLD}\n"}) == {}


def test_a_version_without_a_source_in_two_places_is_an_unresolved_pin() -> None:
    tree = {
        "Dockerfile": "FROM scratch\nARG CUDA_VERSION=13.0.3\nFROM b\nARG CUDA_VERSION=13.0.3\n",
        "versions.json": '{"variable": {"CUDA_VERSION": {"default": "13.0.3"}}}',
    }
    (pin,) = pins(tree).values()
    assert (pin.name, pin.version, pin.unresolved, pin.source) == ("cuda", "13.0.3", True, "unknown")
    assert len(pin.places) == 3


def test_a_version_without_a_source_in_one_place_is_told_and_not_proposed() -> None:
    groups = grouped({"a.sh": "CUDA_VERSION=13.0.3\n", "b.txt": ""})
    found = propose(groups)
    assert found == []
    assert [(s.file, s.selector, s.value) for s in alone(groups, found)] == [("a.sh", "CUDA_VERSION", "13.0.3")]


def test_what_is_proposed_is_not_told_as_alone() -> None:
    groups = grouped({"a.sh": "CUDA_VERSION=13.0.3\n", "b.sh": "CUDA_VERSION=13.0.3\n"})
    assert alone(groups, propose(groups)) == []


def test_an_archive_with_its_digest_is_resolved() -> None:
    text = f"FetchContent_Declare(dep\n  URL https://example.org/dep-1.2.tgz\n  URL_HASH SHA256={DIGEST.upper()}\n)\n"
    (pin,) = pins({"a.cmake": text}).values()
    assert (pin.url, pin.sha256, pin.unresolved, pin.at) == (
        "https://example.org/dep-1.2.tgz",
        DIGEST,
        False,
        "dep-1.2.tgz",
    )
    assert list(places(pin).values()) == ["{url}", "SHA256={sha256:upper}"]


def test_an_archive_of_a_repository() -> None:
    text = f"FetchContent_Declare(ucx\n  URL {REPO}/archive/v1.2.tar.gz\n  URL_HASH SHA256={DIGEST}\n)\n"
    (pin,) = pins({"a.cmake": text}).values()
    assert (pin.source, pin.repo, pin.version, pin.sha256) == ("git", REPO, "1.2", DIGEST)
    assert list(places(pin).values()) == [
        f"{REPO}/archive/{{version:tag}}.tar.gz",
        "SHA256={archive_sha256}",
    ]


def test_several_digests_are_none_of_the_pin() -> None:
    text = f"UCX_REPO={REPO}\nUCX_TAG=v1.2\nUCX_SHA256={{}}\n"
    tree = {"a.sh": text.format(DIGEST), "b.sh": text.format(DIGEST[::-1])}
    (pin,) = pins(tree).values()
    assert pin.sha256 is None
    assert not [selector for _, selector in places(pin) if "SHA256" in selector]


# --- templates ---


def test_the_spellings_of_a_version() -> None:
    tree = {
        "requirements/a.txt": "torch==2.11.0\n",
        "requirements/b.txt": "torch==2.11.0+cu130\n",
        "a.sh": "TORCH_VERSION=v2.11.0\n",
    }
    (pin,) = pins(tree).values()
    assert pin.version == "2.11.0"
    assert sorted(places(pin).values()) == ["{version:tag}", "{version}", "{version}+cu130"]


def test_a_call_is_one_place() -> None:
    assert templates({"a.cmake": f"FetchContent_Declare(ucx GIT_REPOSITORY {REPO} GIT_TAG {OLD})\n"}) == {
        "FetchContent(ucx)": "{git}"
    }
    assert templates({"a.cmake": f"FetchContent_Declare(ucx GIT_REPOSITORY {REPO} GIT_TAG {OLD[:9]})\n"}) == {
        "FetchContent(ucx)": "{git}"
    }
    assert templates({"a.cmake": f"FetchContent_Declare(ucx GIT_REPOSITORY {REPO} GIT_TAG v1.2)\n"}) == {
        "FetchContent(ucx)": "{git:tag}"
    }


def test_braces_around_a_value_are_doubled_but_for_variables() -> None:
    tree = {"a.sh": f"UCX_URL='{REPO}/releases/download/v1.2/ucx-{{a}}-1.2-${{ARCH}}.tgz'\n"}
    (template,) = templates(tree).values()
    assert template == f"{REPO}/releases/download/{{version:tag}}/ucx-{{{{a}}}}-{{version}}-${{ARCH}}.tgz"


def test_a_requirement_in_a_variable() -> None:
    tree = {"a.sh": "TRITON='triton==3.5.0'\n", "requirements/a.txt": "triton==3.5.0\n"}
    assert templates(tree) == {"TRITON": "triton=={version}", "requirement triton": "{version}"}


# --- names ---


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("DEP_URL=https://example.org/x/dep-1.2.tgz\nDEP_SHA256=" + DIGEST, "dep"),
        ("git clone https://github.com/o/My.Repo.git -b v1.2\n", "my-repo"),
        ("pip install Foo_Bar==1.2\n", "foo-bar"),
        ("BASE_IMAGE=nvcr.io/nvidia/cuda:13.0-devel\n", "cuda"),
    ],
)
def test_a_pin_has_the_name_of_its_source(text: str, name: str) -> None:
    (found,) = pins({"a.sh": text})
    assert found.startswith(name)


def test_an_archive_has_the_name_of_its_call() -> None:
    text = f"FetchContent_Declare(my-dep\n  URL https://example.org/x-1.2.tgz\n  URL_HASH SHA256={DIGEST}\n)\n"
    assert list(pins({"a.cmake": text})) == ["mydep"]


def test_pins_of_one_name_are_told_apart() -> None:
    tree = {
        "a.sh": "git clone https://github.com/one/dep -b v1.2\n",
        "b.sh": "X_URL=https://github.com/two/dep\nX_TAG=v1.3\ngit clone $X_URL -b $X_TAG\n",
        "requirements/a.txt": "dep==9.9\n",
    }
    assert sorted(pins(tree)) == ["dep", "dep-package", "two-dep"]


def test_kinds_come_in_their_order_and_names_in_theirs() -> None:
    tree = {
        "a.sh": f"git clone {REPO} -b v1.2\ngit clone https://github.com/o/a -b v1\nCUDA_VERSION=13.0.3\n",
        "b.sh": "CUDA_VERSION=13.0.3\n",
        "requirements/a.txt": "aaa==1.2\n",
        "Dockerfile": "FROM ubuntu:22.04\n",
    }
    assert [pin.source for pin in pins(tree).values()] == ["git", "packages", "image", "unknown"]
    assert list(pins(tree)) == ["ucx", "aaa", "ubuntu-22-04", "cuda"]


# --- packages in every shape ---


def test_a_package_in_every_shape_that_it_is_pinned_in() -> None:
    asset = "https://github.com/o/whl/releases/download/v0.1.5/my_pkg-0.1.5+cu129-py3-none-any.whl"
    tree = {
        "pyproject.toml": (
            '[build-system]\nrequires = ["my-pkg==0.1.5"]\n'
            "[project]\ndependencies = [\"my-pkg[x]==0.1.5 ; sys_platform == 'linux'\"]\n"
            '[project.optional-dependencies]\nt = ["My.Pkg==0.1.5"]\n[dependency-groups]\nd = ["my_pkg==0.1.5"]\n'
            f'[tool.uv.sources]\nmy-pkg = {{ url = "{asset}" }}\n'
        ),
        "requirements.txt": f"my-pkg==0.1.5 \\\n    --hash=sha256:{DIGEST}\n",
        "Dockerfile": 'ARG MY_PKG_VERSION="0.1.5"\nRUN pip install "my-pkg==${MY_PKG_VERSION}"\n',
        "cu12.Dockerfile": f"RUN pip install {asset}\n",
        "ci.yaml": "a:\n  run: pip install my-pkg==0.1.5\n",
        "a.sh": "pip install 'my-pkg==0.1.5'\n",
    }
    (pin,) = pins(tree).values()
    assert (pin.packages, pin.version) == (("my-pkg",), "0.1.5")
    url = "https://github.com/o/whl/releases/download/v{version}/my_pkg-{version}+cu129-py3-none-any.whl"
    found = places(pin)
    assert found.pop(("cu12.Dockerfile", "url my-pkg")) == url
    assert found.pop(("pyproject.toml", "tool.uv.sources.my-pkg.url")) == url
    assert set(found.values()) == {"{version}"}
    assert {file for file, _ in found} == {"pyproject.toml", "requirements.txt", "Dockerfile", "ci.yaml", "a.sh"}
    assert sum(file == "pyproject.toml" for file, _ in found) == 4
