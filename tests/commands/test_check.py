from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from consumer import AGREES, DOCKERFILE, FILES, NEW, OLD, OTHER, PINS, Consumer, pinctl, process

from pinctl.external import git

if TYPE_CHECKING:
    from repositories import MakeRepository


def test_where_all_is_well_one_line_is_printed_and_nothing_written(consumer: Consumer) -> None:
    before = consumer.tree()
    run = consumer.run("check")
    assert (run.code, run.out, run.err) == (0, AGREES, "")
    assert consumer.tree() == before


def test_one_of_each_is_not_many(consumer: Consumer) -> None:
    consumer.put("pins.toml", PINS[: PINS.index("[pins.dg]")] + PINS[PINS.index("[pins.tl]") :])
    assert consumer.run("check").out == "1 site of 1 pin agree with pins.toml\n"


def test_drift_is_told_with_its_place_and_what_mends_it(consumer: Consumer) -> None:
    consumer.edit("tools/install dg.sh", OLD, NEW)
    run = consumer.run("check")
    assert run.code == 1
    assert run.out == (
        "tools/install dg.sh:3:8: error PIN201 dg: `DG_REF` differs from pins.toml\n"
        f"    expected  {OLD}\n"
        f"    found     {NEW}\n"
        "    hint      the site changed last; run: pinctl adopt 'tools/install dg.sh' (takes it into pins.toml), or: "
        "pinctl sync --force (overwrites it)\n"
        "    see       pins.toml:5:1 pins.toml states it here\n"
        "\n"
        "1 error in 1 file\n"
    )


def test_every_difference_is_told_at_once(consumer: Consumer) -> None:
    consumer.edit("tools/install dg.sh", OLD, NEW)
    consumer.edit("cmake/dg.cmake", "third-party/fmt", "third-party/deep_jit")
    consumer.edit("requirements.txt", "0.1.11", "0.1.9")
    (consumer.path / "docker/Dockerfile").unlink()
    run = consumer.check()
    assert run.code == 1
    assert [(f["code"], f["file"], f["pin"]) for f in run.document["findings"]] == [
        ("PIN201", "cmake/dg.cmake", "dg"),
        ("PIN205", "docker/Dockerfile", "dg"),
        ("PIN201", "requirements.txt", "tl"),
        ("PIN201", "tools/install dg.sh", "dg"),
    ]
    assert run.document["result"] == {"sites": 4, "pins": 2}


def test_a_short_id_agrees_and_is_told(consumer: Consumer) -> None:
    consumer.edit("tools/install dg.sh", OLD, OLD[:7])
    run = consumer.check()
    assert (run.code, run.told) == (0, [("PIN204", "warning")])
    assert consumer.run("check").out.endswith("\n" + AGREES.strip() + " (1 warning in 1 file)\n")


# --- where it is started ---


def test_from_any_directory(consumer: Consumer) -> None:
    (consumer.path / "docker" / "deep er").mkdir()
    assert consumer.run("check", cwd="docker/deep er").out == AGREES
    assert pinctl("check", "-C", str(consumer.path / "docker"), cwd=Path("/")).out == AGREES
    assert pinctl("check", "--pins", str(consumer.path / "pins.toml"), cwd=Path("/")).out == AGREES
    assert consumer.run("-C", "docker", "--pins", "../pins.toml", "check", cwd=".").out == AGREES


def test_files_are_named_as_seen_from_here(consumer: Consumer) -> None:
    consumer.edit("requirements.txt", "0.1.11", "0.1.9")
    assert consumer.run("check", cwd="docker").out.startswith("../requirements.txt:2:11: error")
    assert consumer.check("-C", "docker").document["findings"][0]["file"] == "requirements.txt"


def test_a_pins_toml_below_the_top_of_the_repository(make_repository: MakeRepository) -> None:
    repository = make_repository("mono repo")
    repository.commit(files={f"engine/{name}": text for name, text in FILES.items()})
    below = Consumer(repository)
    assert below.run("check", cwd="engine/docker").out == AGREES
    assert below.run("check").code == 2  # it is not looked for downwards
    below.edit("engine/tools/install dg.sh", OLD, NEW)
    assert below.run("check", cwd="engine").out.startswith("tools/install dg.sh:3:8: error")
    assert "the site changed last" in below.run("check", cwd="engine").out


def test_two_pins_files_are_independent(consumer: Consumer) -> None:
    inner = PINS[PINS.index("[pins.tl]") :].replace("0.1.11", "9")
    consumer.put("sub/pins.toml", f"schema = 1\n{inner}")
    consumer.put("sub/requirements.txt", "tilelang==8\n")
    assert consumer.run("check").out == AGREES
    assert consumer.run("check", cwd="sub").code == 1
    consumer.put("sub/other.toml", f"schema = 1\n{inner.replace('9', '8')}")
    named = consumer.run("check", "--pins", "sub/other.toml")
    assert (named.code, named.out) == (0, "1 site of 1 pin agree with other.toml\n")


def test_above_the_top_of_the_repository_nothing_is_looked_for(consumer: Consumer) -> None:
    inner = consumer.path / "vendored"
    inner.mkdir()
    consumer.repository.git("init", "-q", "vendored")
    run = pinctl("check", cwd=inner)
    assert run.code == 2
    assert f"no pins.toml in {inner} or above it" in run.err
    assert "pinctl init" in run.err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("-C", "nowhere"), "-C nowhere: no such directory"),
        (("--pins", "nowhere.toml"), "--pins nowhere.toml: no such file"),
        (("--pins", "docker"), "--pins docker: no such file"),
    ],
)
def test_what_is_not_there(words: tuple[str, ...], message: str, consumer: Consumer) -> None:
    run = consumer.run("check", *words)
    assert (run.code, run.out) == (2, "")
    assert message in run.err


# --- kinds of work tree ---


def drifted(consumer: Consumer) -> str:
    """The hint of the one finding after DG_REF was changed by hand."""
    consumer.edit("tools/install dg.sh", OLD, NEW)
    run = consumer.check()
    assert (run.code, run.codes) == (1, ["PIN201"])
    return str(run.document["findings"][0]["hint"])


def test_without_git(tmp_path: Path, consumer: Consumer) -> None:
    plain = Consumer(consumer.repository)
    (consumer.path / ".git").rename(tmp_path / "no longer git")
    assert plain.run("check").out == AGREES
    assert drifted(plain).startswith("run: pinctl sync (writes the pin's value), or: pinctl adopt")


def test_before_the_first_commit(make_repository: MakeRepository) -> None:
    unborn = Consumer(make_repository("new one"))
    for name, text in FILES.items():
        unborn.put(name, text)
    assert unborn.run("check").out == AGREES
    os.utime(unborn.path / "pins.toml", (1, 1))  # no history says which side is newer, whatever the clock says
    assert drifted(unborn).startswith("run: pinctl sync (writes the pin's value)")


def test_in_a_linked_work_tree(consumer: Consumer) -> None:
    consumer.repository.git("worktree", "add", "-q", "--detach", "../other tree")
    linked = consumer.path.parent / "other tree"
    assert (linked / ".git").is_file()
    assert pinctl("check", cwd=linked).out == AGREES
    (linked / "requirements.txt").write_text("tilelang==0.1.9\n")
    assert "the site changed last" in pinctl("check", cwd=linked).out


def test_with_a_detached_head(consumer: Consumer) -> None:
    consumer.repository.git("checkout", "-q", "--detach")
    assert "the site changed last" in drifted(consumer)


def test_in_a_shallow_clone_the_order_is_told_as_far_as_it_is_known(consumer: Consumer, tmp_path: Path) -> None:
    consumer.edit("requirements.txt", "0.1.11", "0.1.9")
    consumer.commit("the site alone")
    consumer.put("README", "x")
    consumer.commit("something else")

    def cloned(depth: int) -> str:
        where = tmp_path / f"clone of {depth}"
        consumer.repository.git("clone", "-q", "--depth", str(depth), f"file://{consumer.path}", str(where))
        run = pinctl("check", cwd=where)
        assert run.code == 1
        return run.out

    assert "the site changed last" in cloned(3)
    assert "run: pinctl sync (writes the pin's value)" in cloned(1)  # one commit made all


def test_drift_is_told_also_where_git_fails(consumer: Consumer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(consumer.path))
    assert drifted(consumer).startswith("run: pinctl sync (writes the pin's value)")


def test_a_clean_check_starts_no_other_program(consumer: Consumer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(consumer.path))
    monkeypatch.setattr(git, "call", lambda *_: pytest.fail("git was started"))
    assert consumer.run("check").out == AGREES


def test_a_clean_check_loads_nothing_that_it_does_not_need(consumer: Consumer) -> None:
    script = (
        "import sys; from pinctl.cli import main; code = main(['check']); "
        "print(code, *sorted({'rich', 'jinja2', 'tomlkit', 're2', 'pinctl.external.git'} & set(sys.modules)))"
    )
    done = process("-c", script, cwd=consumer.path, module=False)
    assert done.stdout == f"{AGREES}0\n"


# --- which side is newer ---


def test_the_pin_changed_last(consumer: Consumer) -> None:
    consumer.edit("pins.toml", OLD, NEW)
    for state in ("not committed", "committed"):
        if state == "committed":
            consumer.commit()
        hints = {finding["hint"] for finding in consumer.check().document["findings"]}
        assert hints == {"the pin changed last; run: pinctl sync"}, state


def test_one_commit_made_both(make_repository: MakeRepository) -> None:
    repository = make_repository("drifted from the start")
    repository.commit(files={**FILES, "docker/Dockerfile": DOCKERFILE.replace(OLD[:10], OTHER[:10])})
    run = Consumer(repository).check()
    assert run.document["findings"][0]["hint"] == "run: pinctl sync (writes the pin's value)"


# --- the git config ---


def test_shallow_fetches_of_a_commit(consumer: Consumer) -> None:
    """PIN225 (H04: vllm-project/vllm#7171): the call of a pinned commit alone, wherever GIT_SHALLOW stands in it."""
    consumer.edit("cmake/dg.cmake", "  GIT_SUBMODULES", "  GIT_SHALLOW ON\n  GIT_SUBMODULES")
    run = consumer.check()
    assert (run.code, run.told) == (0, [("PIN225", "warning")])
    (found,) = run.document["findings"]
    assert (found["file"], found["line"], found["column"]) == ("cmake/dg.cmake", 6, 15)
    assert (found["pin"], found["selector"]) == ("dg", "FetchContent_Declare(dg).GIT_SHALLOW")
    assert "drop GIT_SHALLOW" in found["hint"]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("  GIT_SUBMODULES", "  GIT_SHALLOW OFF\n  GIT_SUBMODULES"),
        ("  GIT_SUBMODULES", "  # GIT_SHALLOW TRUE\n  GIT_SUBMODULES"),
        (
            "FetchContent_M",
            "FetchContent_Declare(x GIT_REPOSITORY https://h/x GIT_TAG v1 GIT_SHALLOW ON)\nFetchContent_M",
        ),
        ("include(F", 'set(HELP "GIT_SHALLOW ON")\ninclude(F'),
    ],
)
def test_no_shallow_fetch_of_a_commit(old: str, new: str, consumer: Consumer) -> None:
    consumer.edit("cmake/dg.cmake", old, new)
    assert consumer.check().told == []


def test_a_tag_may_be_fetched_shallow(consumer: Consumer) -> None:
    consumer.edit("cmake/dg.cmake", OLD, "v1.2")
    consumer.edit("cmake/dg.cmake", "  GIT_SUBMODULES", "  GIT_SHALLOW TRUE\n  GIT_SUBMODULES")
    consumer.edit("pins.toml", '"{git}"', '"{git:tag}"')
    consumer.edit("pins.toml", "submodules =", 'tag = "v1.2"\nsubmodules =')
    assert consumer.check().told == []


# --- what is unresolved ---


def test_unresolved_pins_are_counted_and_named_on_request(consumer: Consumer) -> None:
    consumer.edit("pins.toml", f'commit     = "{OLD}"', f'unresolved = "{OLD[:9]}"')
    run = consumer.run("check")
    assert (run.code, run.out) == (0, "4 sites of 2 pins agree with pins.toml; 1 pin unresolved\n")
    assert consumer.check("-v").told == [("PIN121", "info")]


# --- waivers ---

SHALLOW = ("  GIT_SUBMODULES", "  GIT_SHALLOW ON\n  GIT_SUBMODULES")
WAIVER = '[[allow]]\ncode = "PIN225"\npath = "cmake/*"\nreason = "a mirror keeps it a tip"\n'


def test_a_warning_may_be_accepted(consumer: Consumer) -> None:
    consumer.edit("cmake/dg.cmake", *SHALLOW)
    consumer.put("pins.toml", PINS + WAIVER)
    assert consumer.run("check").out == AGREES
    consumer.put("pins.toml", PINS.replace("[pins.tl]", WAIVER.replace("[[allow]]", "[[pins.dg.allow]]") + "[pins.tl]"))
    assert consumer.run("check").out == AGREES
    consumer.put("pins.toml", PINS + WAIVER.replace("[[allow]]", "[[pins.tl.allow]]"))  # another pin's
    assert consumer.check().told == [("PIN225", "warning"), ("PIN123", "warning")]


def test_a_waiver_that_accepts_nothing_is_stale(consumer: Consumer) -> None:
    consumer.put("pins.toml", PINS + WAIVER)
    run = consumer.check()
    assert (run.code, run.told) == (0, [("PIN123", "warning")])
    assert run.document["findings"][0]["line"] == PINS.count("\n") + 1
    assert run.document["findings"][0]["message"] == "the waiver for PIN225 in cmake/* accepts nothing"


def test_an_error_is_never_accepted(consumer: Consumer) -> None:
    consumer.edit("requirements.txt", "0.1.11", "0.1.9")
    consumer.put("pins.toml", PINS + WAIVER.replace("PIN225", "PIN201").replace("cmake/*", "requirements.txt"))
    run = consumer.check()
    assert (run.code, run.told) == (1, [("PIN123", "warning"), ("PIN201", "error")])


def test_a_waiver_that_has_ended_accepts_nothing(consumer: Consumer) -> None:
    consumer.edit("cmake/dg.cmake", *SHALLOW)
    consumer.put("pins.toml", PINS + f'{WAIVER}until = "{OLD}"\n')
    assert consumer.check().told == [("PIN225", "warning"), ("PIN123", "warning")]
    consumer.put("pins.toml", PINS + f'{WAIVER}until = "{OTHER}"\n')
    assert consumer.check().told == []


# --- an interrupted write ---


def test_an_interrupted_write_is_told_and_left_alone(consumer: Consumer, monkeypatch: pytest.MonkeyPatch) -> None:
    from pinctl.external import journal, targets

    consumer.edit("pins.toml", OLD, NEW)
    with monkeypatch.context() as patch:
        patch.setattr(targets, "swap", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
        patch.setattr(journal, "_back_out", lambda *_: None)  # as if the machine had lost its power
        assert consumer.run("sync").code == 130
    before = consumer.tree()
    run = consumer.check()
    assert (run.code, run.codes) == (1, ["PIN213", "PIN201", "PIN201", "PIN201"])
    assert consumer.tree() == before
    mended = consumer.run("sync")
    assert (mended.code, mended.out.splitlines()[0]) == (
        0, "note PIN213: an earlier write was interrupted, and is now undone: "
        "cmake/dg.cmake, docker/Dockerfile, tools/install dg.sh",
    )  # fmt: skip
    assert consumer.run("check").out == AGREES


@pytest.mark.parametrize("text", ["", "schema = 1\n", "# all of it was lost\n"])
@pytest.mark.parametrize("verb", ["check", "sync", "status"])
def test_a_pins_toml_that_pins_nothing_is_no_agreement(consumer: Consumer, verb: str, text: str) -> None:
    consumer.put("pins.toml", text)
    run = consumer.run(verb, "--format", "json")
    assert (run.code, run.told) == (3, [("PIN104", "error")])
    assert run.document["findings"][0]["message"] == "pins.toml has no pins"


def test_sites_of_no_pin_are_enough(consumer: Consumer) -> None:
    consumer.put("pins.toml", f'[[sites]]\nfile = "tools/install dg.sh"\nDG_REF = "{OLD}"\n')
    assert consumer.run("check").code == 0


def test_a_policy_that_is_not_there_or_no_toml_is_told(
    consumer: Consumer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for verb in ("check", "sync", "init"):
        run = consumer.run(verb, "--policy", str(tmp_path / "none.toml"))
        assert (run.code, run.out) == (2, "")
        assert "none.toml: no such file" in run.err
    (tmp_path / "policy.toml").write_text("hosts = [")
    monkeypatch.setenv("PINCTL_POLICY", str(tmp_path / "policy.toml"))
    run = consumer.run("check")
    assert run.code == 2
    assert "is no TOML" in run.err
    (tmp_path / "policy.toml").write_text("schema = 1\n")
    assert consumer.run("check").out == AGREES
