"""What went wrong in public, as kinds of mistakes: each is met here through the command line, by a made-up engine.

Of recipes alone, and in tests/recipes, are the stale checkout behind a guard (H07: vllm-project/vllm#51112), headers
that change alone (H08: pytorch/pytorch#47557), patches applied twice (H15: cpm-cmake/CPM.cmake#664), and jobs without
memory (H20: Dao-AILab/flash-attention#832). GIT_SHALLOW with a commit id (H04) is in tests/commands/test_check.py.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from consumer import AGREES, CMAKE, DOCKERFILE, NEW, OLD, OTHER, PINS, Consumer

FORMATS = ("text", "json", "github", "sarif", "markdown")


def cmake(script: str, cwd: Path) -> str:
    """What a CMake script says by `message()`."""
    (cwd / "script.cmake").write_text(script)
    env = {"PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin"}
    done = subprocess.run(["cmake", "-P", "script.cmake"], cwd=cwd, env=env, capture_output=True, text=True, check=True)
    return done.stderr.strip()


# --- H01 ---


def test_one_of_two_places_is_bumped(consumer: Consumer) -> None:
    """H01: the CMake file moves and the installer does not (vllm-project/vllm#52035)."""
    consumer.edit("cmake/dg.cmake", OLD, NEW)
    consumer.commit("bump DeepGEMM")
    run = consumer.check()
    assert (run.code, [(f["file"], f["pin"]) for f in run.document["findings"]]) == (1, [("cmake/dg.cmake", "dg")])
    assert consumer.run("adopt", "cmake/dg.cmake").code == 0
    assert consumer.run("check").out == AGREES


def test_a_rival_bump_of_the_other_place(consumer: Consumer) -> None:
    """H01: two pull requests bump one place each, to different commits; merged, none of them is taken for both."""
    consumer.edit("cmake/dg.cmake", OLD, NEW)
    consumer.edit("tools/install dg.sh", OLD, OTHER)
    consumer.commit("both merged")
    assert consumer.check().codes == ["PIN201", "PIN201"]
    assert consumer.run("sync").code == 1
    assert consumer.run("adopt", "cmake/dg.cmake").code == 1
    assert consumer.run("adopt", "tools/install dg.sh").code == 1


def test_from_the_fork_back_to_its_upstream(consumer: Consumer) -> None:
    """H01: the repository changes with the commit, in every place that names it."""
    consumer.edit("pins.toml", "github.com/o/DeepGEMM", "github.com/upstream/DeepGEMM")
    consumer.edit("pins.toml", OLD, NEW)
    assert consumer.run("sync").code == 0
    assert f"GIT_REPOSITORY https://github.com/upstream/DeepGEMM.git\n  GIT_TAG {NEW}" in consumer.text(
        "cmake/dg.cmake"
    )


# --- H03 ---


def test_no_submodules_are_said_so_that_cmake_understands(consumer: Consumer) -> None:
    """H03: an empty list is a quoted empty string; without quotes it means all (cpm-cmake/CPM.cmake#467)."""
    consumer.edit("pins.toml", '["third-party/cutlass", "third-party/fmt"]', "[]")
    assert consumer.run("sync").code == 0
    assert consumer.text("cmake/dg.cmake") == CMAKE.replace("third-party/cutlass third-party/fmt", '""')
    assert consumer.run("check").out == AGREES


@pytest.mark.parametrize("said", ["", "  GIT_SUBMODULES\n", "  GIT_SUBMODULES ${NONE}\n"])
def test_no_submodules_are_not_said_by_saying_nothing(said: str, consumer: Consumer) -> None:
    """H03: the variable of a wrapper that expands to nothing."""
    consumer.put("cmake/dg.cmake", CMAKE.replace("  GIT_SUBMODULES third-party/cutlass third-party/fmt\n", said))
    consumer.edit("pins.toml", '["third-party/cutlass", "third-party/fmt"]', "[]")
    run = consumer.check()
    assert (run.code, run.codes) == (1, ["PIN201"])
    assert "(submodules) is not stated" in run.document["findings"][0]["message"]


# --- H05 ---


def test_a_short_id(consumer: Consumer) -> None:
    """H05: a short id, submodules synced before the checkout (deepseek-ai/DeepGEMM#127): pins.toml takes full ids
    alone, and a place that has a short one is brought to the full one. The order is the installer recipe's."""
    consumer.edit("tools/install dg.sh", OLD, OLD[:7])
    consumer.commit()
    assert consumer.check().told == [("PIN204", "warning")]
    assert consumer.run("sync", "--force").code == 0
    assert OLD in consumer.text("tools/install dg.sh")
    consumer.edit("pins.toml", OLD, OLD[:7])
    run = consumer.check()
    assert (run.code, run.codes) == (3, ["PIN105"])
    assert "full id" in run.document["findings"][0]["hint"]


# --- H10 ---

ARCHS = """\
[variants.cu13]
arch_list = ["9.0a", "10.0f", "12.0f"]
[[sites]]
file = "a.cmake"
"set(ARCHS)" = "{variants.cu13.arch_list}"
"""


@pytest.mark.parametrize("text", ['"9.0a;10.0f"', '"9.0a" "10.0f"', "9.0a 10.0f"])
def test_a_list_of_architectures_stays_a_list(text: str, consumer: Consumer) -> None:
    """H10: an unquoted list, of which one element was kept (spiriMirror/libuipc#490)."""
    consumer.put("pins.toml", PINS + ARCHS)
    consumer.put("a.cmake", f"set(ARCHS {text})\n")
    assert consumer.check().codes == ["PIN201"]
    assert consumer.run("sync", "--force").code == 0
    shown = cmake('include(a.cmake)\nlist(LENGTH ARCHS n)\nmessage("${n} ${ARCHS}")', consumer.path)
    assert shown == "3 9.0a;10.0f;12.0f"


def test_one_architecture_where_a_list_is_meant_fails(consumer: Consumer) -> None:
    """H10: what was left of the list."""
    consumer.put("pins.toml", PINS + ARCHS)
    consumer.put("a.cmake", "set(ARCHS 9.0a)\n")
    assert (consumer.check().code, consumer.check().codes) == (1, ["PIN201"])


# --- H16 ---


@pytest.mark.parametrize(
    "url",
    [
        "git@github.com:o/DeepGEMM.git",
        "ssh://git@github.com/O/deepgemm",
        "https://github.com/o/DeepGEMM/",
        "https://GitHub.com/o/deepgemm.git",
    ],
)
def test_the_transport_is_not_the_identity(url: str, consumer: Consumer) -> None:
    """H16: one repository by ssh and by https, in another letter case (actions/checkout#462)."""
    consumer.edit("cmake/dg.cmake", "https://github.com/o/DeepGEMM.git", url)
    assert consumer.run("check").out == AGREES
    consumer.edit("pins.toml", OLD, NEW)
    consumer.run("sync", "--force")
    assert f"GIT_REPOSITORY {url}\n" in consumer.text("cmake/dg.cmake")  # who chose the transport keeps it


def test_another_owner_is_another_repository(consumer: Consumer) -> None:
    """H16: what only looks alike."""
    consumer.edit("cmake/dg.cmake", "github.com/o/", "github.com/0/")
    assert consumer.check().codes == ["PIN201"]


# --- H17 ---


@pytest.mark.parametrize("lfs", [False, True])
def test_large_files_are_fetched_only_where_asked(lfs: bool, consumer: Consumer) -> None:
    """H17: a checkout that died of files which the build never needs (iree-org/iree-test-suites#56); what the rendered
    text does is in tests/recipes."""
    pins = PINS.replace("[pins.tl]", '[pins.dg.generate]\n"made.cmake" = "fetchcontent"\n[pins.tl]')
    consumer.put("pins.toml", pins.replace("submodules =", "lfs = true\nsubmodules =") if lfs else pins)
    assert consumer.run("sync").code == 0
    assert ("GIT_LFS_SKIP_SMUDGE" in consumer.text("made.cmake")) is not lfs


# --- H18 ---


@pytest.mark.parametrize("selector", ["ARG DG_REF", "build:ARG DG_REF", "ENV DG_REF"])
def test_a_branch_as_a_build_argument_is_refused(selector: str, consumer: Consumer) -> None:
    """H18: a branch as the Docker ref, where a cached layer keeps the old source (sgl-project/sglang#28445)."""
    consumer.edit("pins.toml", "submodules =", 'track = "main"\nsubmodules =')
    consumer.edit("pins.toml", '"ARG DG_REF" = "{commit:.10}"', f'"{selector}" = "{{track}}"')
    run = consumer.check()
    assert (run.code, run.codes) == (3, ["PIN223"])
    assert 'give it the commit: "{commit}"' in run.document["findings"][0]["hint"]


def test_a_branch_where_the_commit_is_pinned_is_drift(consumer: Consumer) -> None:
    """H18: the same, as found in the Dockerfile."""
    consumer.put("docker/Dockerfile", DOCKERFILE.replace(OLD[:10], "main"))
    consumer.commit()
    run = consumer.check()
    assert (run.code, run.document["findings"][0]["found"]) == (1, "main")
    assert consumer.run("sync", "--force").code == 0
    assert consumer.text("docker/Dockerfile") == DOCKERFILE


def test_another_pins_branch_is_no_build_argument_either(consumer: Consumer) -> None:
    """H18: by the long way."""
    consumer.edit("pins.toml", "submodules =", 'track = "main"\nsubmodules =')
    consumer.edit("pins.toml", "[pins.tl]\n", '[pins.tl]\nsites."docker/Dockerfile".\'ARG X\' = "{pins.dg.track}"\n')
    assert consumer.check().codes == ["PIN223"]


# --- H19 ---

SECRETS = {
    "userinfo": ('"https://github.com/o/DeepGEMM.git"', '"https://x:SENTINEL@github.com/o/DeepGEMM.git"'),
    "query": ('"https://github.com/o/DeepGEMM.git"', '"https://github.com/o/DeepGEMM.git?access_token=SENTINEL"'),
    "token": ("submodules =", 'facts.x = "ghp_SENTINEL' + "a" * 30 + '"\nsubmodules ='),
    "fact": ("submodules =", 'facts.github_token = "SENTINEL"\nsubmodules ='),
    "argument": ('"ARG DG_REF" =', '"ARG HF_TOKEN" = "SENTINEL"\n"ARG DG_REF" ='),
}


@pytest.mark.parametrize("kind", SECRETS)
def test_a_credential_is_refused_and_never_repeated(kind: str, consumer: Consumer) -> None:
    """H19: a token as a build argument can be read in the published image (buggregator/server#313)."""
    consumer.edit("pins.toml", *SECRETS[kind])
    for verb in (("check", "--unguarded"), ("sync", "--diff"), ("status", "--offline"), ("adopt", "docker/Dockerfile")):
        for form in FORMATS:
            run = consumer.run(*verb, "--format", form, "-vv")
            assert run.code == 3
            assert "SENTINEL" not in run.out + run.err
    assert set(consumer.check().codes) <= {"PIN107", "PIN119"}
