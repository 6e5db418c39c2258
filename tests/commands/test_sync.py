from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING

import pytest
from consumer import AGREES, CMAKE, DOCKERFILE, FILES, NEW, OLD, OTHER, PINS, SHELL, Consumer
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

if TYPE_CHECKING:
    from repositories import MakeRepository

BUMPED = {
    "cmake/dg.cmake": CMAKE.replace(OLD, NEW),
    "docker/Dockerfile": DOCKERFILE.replace(OLD[:10], NEW[:10]),
    "tools/install dg.sh": SHELL.replace(OLD, NEW),
}
CHANGED = "changed 3 files: cmake/dg.cmake, docker/Dockerfile, tools/install dg.sh\n"


def bump(consumer: Consumer) -> None:
    consumer.edit("pins.toml", OLD, NEW)


def test_a_bump_reaches_every_site_and_moves_no_other_byte(consumer: Consumer) -> None:
    bump(consumer)
    run = consumer.run("sync")
    assert (run.code, run.out, run.err) == (0, CHANGED, "")
    assert {file: consumer.text(file) for file in FILES} == {**FILES, "pins.toml": PINS.replace(OLD, NEW), **BUMPED}
    assert consumer.run("check").out == AGREES


def test_what_is_in_order_is_not_touched(consumer: Consumer) -> None:
    times = {path: os.stat(path).st_mtime_ns for path in consumer.path.rglob("*")}
    run = consumer.run("sync")
    assert (run.code, run.out) == (0, "nothing to change\n")
    assert {path: os.stat(path).st_mtime_ns for path in consumer.path.rglob("*")} == times


def test_the_result_for_scripts(consumer: Consumer) -> None:
    bump(consumer)
    assert consumer.run("sync", "--format", "json").document["result"] == {
        "files": [{"file": file, "changed": True} for file in sorted(BUMPED)]
    }
    assert consumer.run("sync", "--format", "json").document["result"] == {"files": []}


def test_check_writes_nothing_and_fails_while_something_is_pending(consumer: Consumer) -> None:
    assert consumer.run("sync", "--check").code == 0
    bump(consumer)
    before = consumer.tree()
    run = consumer.run("sync", "--check")
    assert run.code == 1
    assert run.out.startswith("diff --git a/cmake/dg.cmake b/cmake/dg.cmake\n")
    assert run.out.endswith("would change 3 files: cmake/dg.cmake, docker/Dockerfile, tools/install dg.sh\n")
    assert consumer.tree() == before


def test_modes_line_ends_and_a_missing_last_one_stay(consumer: Consumer) -> None:
    consumer.put("tools/install dg.sh", SHELL.replace("\n", "\r\n").removesuffix("\r\n"))
    consumer.put("pins.toml", PINS.replace("\n", "\r\n"))
    (consumer.path / "tools/install dg.sh").chmod(0o755)
    (consumer.path / "docker/Dockerfile").chmod(0o600)
    consumer.commit()
    bump(consumer)
    assert consumer.run("sync").out == CHANGED
    assert consumer.text("tools/install dg.sh") == BUMPED["tools/install dg.sh"].replace("\n", "\r\n").removesuffix(
        "\r\n"
    )
    assert (consumer.path / "tools/install dg.sh").stat().st_mode & 0o777 == 0o755
    assert (consumer.path / "docker/Dockerfile").stat().st_mode & 0o777 == 0o600


# --- the diff ---


def applied(consumer: Consumer, diff: str, cwd: str = ".") -> dict[str, bytes]:
    """The tree after `git apply` of a diff."""
    done = subprocess.run(
        ["git", "apply", "-"],
        cwd=consumer.path / cwd,
        input=diff.encode("utf-8", "surrogateescape"),
        capture_output=True,
    )
    assert (done.returncode, done.stderr) == (0, b"")
    return consumer.tree()


def test_the_diff_is_what_is_written(consumer: Consumer) -> None:
    bump(consumer)
    before = consumer.tree()
    diff = consumer.run("sync", "--diff")
    assert (diff.code, diff.err) == (0, "")
    assert consumer.tree() == before
    by_git = applied(consumer, diff.out)
    assert by_git != before
    for file, text in FILES.items():
        if file != "pins.toml":
            consumer.put(file, text)
    assert consumer.run("sync").code == 0
    assert consumer.tree() == by_git


def test_the_diff_makes_new_files_too(consumer: Consumer) -> None:
    consumer.put("pins/x.j2", "#!/bin/sh\necho {{ pin.commit }}\n")
    pins = PINS.replace("[pins.tl]", '[pins.dg.generate]\n"a b/new.sh" = "./pins/x.j2"\n[pins.tl]')
    consumer.put("pins.toml", pins)
    by_git = applied(consumer, consumer.run("sync", "--diff").out)
    made = consumer.path / "a b/new.sh"
    assert made.stat().st_mode & 0o777 == 0o755
    made.unlink()
    made.parent.rmdir()
    assert consumer.run("sync").code == 0
    assert (consumer.tree(), made.stat().st_mode & 0o777) == (by_git, 0o755)


def test_the_diff_of_nothing_is_empty(consumer: Consumer) -> None:
    run = consumer.run("sync", "--diff")
    assert (run.code, run.out) == (0, "")


@pytest.mark.parametrize("cwd", [".", "engine", "engine/docker"])
def test_the_diff_of_a_tree_below_the_top_of_its_repository(cwd: str, make_repository: MakeRepository) -> None:
    """`git apply` in a subdirectory takes paths from the top, and passes over all others with exit status 0."""
    repository = make_repository("mono repo")
    repository.commit(files={f"engine/{name}": text for name, text in FILES.items()})
    below = Consumer(repository)
    below.edit("engine/pins.toml", OLD, NEW)
    tree = applied(below, below.run("sync", "--diff", cwd="engine/docker").out, cwd="." if "docker" in cwd else cwd)
    assert tree["engine/tools/install dg.sh"].decode() == BUMPED["tools/install dg.sh"]
    assert below.run("check", cwd="engine").code == 0


HARD = (
    "\x0b",
    "\x85",
    "\u2028",
    "\x1c",
    "\f",
    "\r",
    "\\ No newline at end of file",
    "+++ b/x",
    "-- ",
    "@@ -1 +1 @@",
    "\t",
    "é",
)


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    lines=st.lists(st.sampled_from([*HARD, "", " x", "diff --git a/x b/x"]), max_size=6),
    at=st.integers(0, 6),
    end=st.sampled_from(["\n", "\r\n", ""]),
)
def test_git_takes_the_diff_of_any_file(lines: list[str], at: int, end: str, consumer: Consumer) -> None:
    """Security row 32: what Python takes for a line end and git does not."""
    shell = [f"# {line}" for line in lines]
    shell.insert(at, f'DG_REF="{OLD}"')
    source = "\n".join(shell) + end
    consumer.repository.git("checkout", "-q", "--", ".")
    bump(consumer)
    consumer.put("tools/install dg.sh", source)
    by_git = applied(consumer, consumer.run("sync", "--diff", "--force").out)
    assert by_git["tools/install dg.sh"].decode() == source.replace(OLD, NEW)
    consumer.put("tools/install dg.sh", source)
    consumer.run("sync", "--force")
    assert consumer.tree() == by_git


# --- which side is newer ---


def moved(consumer: Consumer) -> list[tuple[str, str]]:
    """What `sync` refuses to overwrite; then nothing is written, of the other files either."""
    before = consumer.tree()
    run = consumer.run("sync", "--format", "json")
    if "PIN212" in run.codes:
        assert (run.code, run.document["result"]) == (1, {"files": []})
        assert consumer.tree() == before
    return [(f["file"], f["selector"]) for f in run.document["findings"] if f["code"] == "PIN212"]


def test_a_site_that_was_edited_later_is_not_overwritten(consumer: Consumer) -> None:
    consumer.edit("tools/install dg.sh", OLD, NEW)
    assert moved(consumer) == [("tools/install dg.sh", "DG_REF")]
    consumer.commit()
    assert moved(consumer) == [("tools/install dg.sh", "DG_REF")]
    text = consumer.run("sync").out
    assert "error PIN212 dg: `DG_REF` changed later than its pin\n" in text
    assert (
        "pinctl adopt 'tools/install dg.sh' (takes it into pins.toml), or: pinctl sync --force (overwrites it)" in text
    )


def test_a_moved_site_keeps_others_from_being_written_too(consumer: Consumer) -> None:
    consumer.edit("tools/install dg.sh", OLD, NEW)
    consumer.commit()
    consumer.edit("pins.toml", '"0.1.11"', '"0.1.12"')
    assert moved(consumer) == [("tools/install dg.sh", "DG_REF")]


def test_force_overwrites_it(consumer: Consumer) -> None:
    consumer.edit("tools/install dg.sh", OLD, NEW)
    consumer.commit()
    run = consumer.run("sync", "--force")
    assert (run.code, run.out) == (0, "changed 1 file: tools/install dg.sh\n")
    assert consumer.text("tools/install dg.sh") == SHELL


@pytest.mark.parametrize("committed", [False, True])
def test_a_pin_that_moved_later_is_written(committed: bool, consumer: Consumer) -> None:
    consumer.edit("tools/install dg.sh", OLD, OTHER)
    consumer.commit("the site")
    bump(consumer)
    if committed:
        consumer.commit("the pin")
    assert moved(consumer) == []
    assert consumer.run("check").out == AGREES


def test_other_lines_of_either_file_do_not_count(consumer: Consumer) -> None:
    bump(consumer)
    consumer.commit("the pin")
    consumer.edit("tools/install dg.sh", "set -e", "set -eu")
    consumer.commit("another line of the site's file")
    consumer.edit("tools/install dg.sh", "set -eu", "set -euo pipefail")
    assert moved(consumer) == []
    assert "set -euo pipefail" in consumer.text("tools/install dg.sh")


def test_one_commit_that_made_both_decides_nothing(make_repository: MakeRepository) -> None:
    repository = make_repository("drifted from the start")
    repository.commit(files={**FILES, "docker/Dockerfile": DOCKERFILE.replace(OLD[:10], OTHER[:10])})
    consumer = Consumer(repository)
    assert moved(consumer) == []
    assert consumer.text("docker/Dockerfile") == DOCKERFILE


def test_without_a_history_nothing_is_refused(make_repository: MakeRepository) -> None:
    unborn = Consumer(make_repository("unborn"))
    for name, text in {**FILES, "tools/install dg.sh": SHELL.replace(OLD, NEW)}.items():
        unborn.put(name, text)
    os.utime(unborn.path / "pins.toml", (1, 1))
    assert moved(unborn) == []
    assert unborn.text("tools/install dg.sh") == SHELL


def test_a_git_that_fails_stops_the_write_that_it_should_judge(
    consumer: Consumer, monkeypatch: pytest.MonkeyPatch
) -> None:
    consumer.edit("tools/install dg.sh", OLD, NEW)
    monkeypatch.setenv("PATH", "/nonexistent")
    assert consumer.run("sync").code == 4
    assert consumer.run("sync", "--force").code == 0


# --- what cannot be written ---


def test_nothing_is_written_while_a_site_is_not_found(consumer: Consumer) -> None:
    bump(consumer)
    consumer.edit("docker/Dockerfile", "ARG DG_REF", "ARG DGREF")
    before = consumer.tree()
    run = consumer.run("sync", "--format", "json")
    assert (run.code, run.codes, run.document["result"]) == (1, ["PIN202"], {"files": []})
    assert "ARG DGREF" in run.document["findings"][0]["hint"]
    assert consumer.tree() == before


def test_a_pin_that_is_not_known_in_full_is_never_written(consumer: Consumer) -> None:
    consumer.edit("pins.toml", f'commit     = "{OLD}"', f'unresolved = "{NEW[:9]}"')
    before = consumer.tree()
    run = consumer.run("sync", "--format", "json")
    assert (run.code, set(run.codes)) == (1, {"PIN218"})
    assert "drop `unresolved`" in run.document["findings"][0]["hint"]
    assert consumer.tree() == before


def test_a_value_is_quoted_or_refused(consumer: Consumer) -> None:
    consumer.edit("pins.toml", '"{commit}"', '"{commit} ${HOME}"')
    assert consumer.run("sync", "--force").code == 0
    done = subprocess.run(["bash", "-c", 'git() { :; }; . "$1"; printf %s "$DG_REF"', "_", "tools/install dg.sh"],
                          cwd=consumer.path, capture_output=True, text=True, check=True)  # fmt: skip
    assert done.stdout == f"{OLD} ${{HOME}}"
    consumer.put("ref.txt", f"{OLD}\n")
    consumer.put("pins.toml", PINS.replace("[pins.tl]", '[pins.dg.sites."ref.txt"]\ntext = "{commit} x"\n[pins.tl]'))
    before = consumer.tree()
    run = consumer.run("sync", "--force", "--format", "json")
    assert (run.code, run.codes) == (1, ["PIN218"])
    (found,) = run.document["findings"]
    assert (found["hint"], "cannot be written" in found["message"]) == ("edit it by hand", True)
    assert consumer.tree() == before


def test_what_is_wrong_in_a_file_that_is_written_is_told_once(consumer: Consumer) -> None:
    bump(consumer)
    consumer.edit("pins.toml", '"ARG DG_REF"', '"ARG NO_SUCH" = "{commit}"\n"ARG DG_REF"')
    run = consumer.run("sync", "--format", "json")
    assert (run.code, run.codes) == (1, ["PIN202"])


def test_workflows_are_written_only_where_that_is_allowed(consumer: Consumer) -> None:
    consumer.put(".github/workflows/ci.yml", f"env:\n  DG_REF: {OLD}\n")
    consumer.put("pins.toml", PINS + '[pins.dg.sites.".github/workflows/ci.yml"]\n"env.DG_REF" = "{commit}"\n')
    consumer.commit()
    bump(consumer)
    before = consumer.tree()
    run = consumer.run("sync")
    assert (run.code, run.out) == (1, "")
    assert ".github/workflows/ci.yml lies under .github/" in run.err
    assert "--allow-workflows" in run.err
    assert consumer.tree() == before
    assert consumer.run("sync", "--allow-workflows").code == 0
    assert NEW in consumer.text(".github/workflows/ci.yml")


def test_a_file_that_changes_meanwhile_stops_the_write(consumer: Consumer, monkeypatch: pytest.MonkeyPatch) -> None:
    from pinctl.external import journal

    real = journal.write

    def write(*arguments: object, **settings: object) -> None:
        consumer.edit("docker/Dockerfile", "git gcc", "git gcc make")
        real(*arguments, **settings)  # type: ignore[arg-type]

    monkeypatch.setattr(journal, "write", write)
    bump(consumer)
    run = consumer.run("sync")
    assert (run.code, run.out) == (1, "")
    assert "docker/Dockerfile was changed since it was read" in run.err
    assert consumer.text("cmake/dg.cmake") == CMAKE


# --- lists that hold more than ours ---

DNF = '"build:dnf install" = { contains = "{system_packages.dnf}" }\n'
LIST = "RUN dnf install -y git gcc elfutils-devel zlib-devel\n"


@pytest.fixture
def lists(consumer: Consumer) -> Consumer:
    """An engine with two pins that share one list of packages."""
    pins = PINS.replace('{commit:.10}"\n', '{commit:.10}"\n' + DNF).replace(
        "[pins.tl]", '[pins.dg.system_packages]\ndw = { dnf = "elfutils-devel" }\n\n[pins.tl]'
    )
    pins += f'[pins.tl.sites."docker/Dockerfile"]\n{DNF}[pins.tl.system_packages]\nz = {{ dnf = "zlib-devel" }}\n'
    consumer.put("pins.toml", pins)
    consumer.put("docker/Dockerfile", DOCKERFILE.replace("RUN dnf install -y git gcc\n", LIST))
    consumer.commit("lists")
    assert consumer.run("check").out == "6 sites of 2 pins agree with pins.toml\n"
    return consumer


def packages(consumer: Consumer) -> str:
    return consumer.text("docker/Dockerfile").partition("install -y ")[2].rstrip()


def test_what_both_pins_lack_is_added(lists: Consumer) -> None:
    lists.edit("docker/Dockerfile", " elfutils-devel zlib-devel", "")
    assert lists.check().codes == ["PIN201", "PIN201"]
    assert lists.run("sync").code == 0  # not refused: what others put there stays
    assert packages(lists) == "git gcc elfutils-devel zlib-devel"


def test_what_a_pin_drops_is_taken_out(lists: Consumer) -> None:
    lists.edit("pins.toml", 'dw = { dnf = "elfutils-devel" }', 'numa = { dnf = "numactl-devel" }')
    run = lists.check()
    assert (run.code, run.codes) == (1, ["PIN201"])
    assert "lacks numactl-devel and has elfutils-devel too many" in run.document["findings"][0]["message"]
    assert lists.run("sync").code == 0
    assert packages(lists) == "git gcc numactl-devel zlib-devel"
    assert lists.run("check").code == 0


def test_what_is_dropped_alone_has_its_own_code(lists: Consumer) -> None:
    lists.edit("pins.toml", 'dw = { dnf = "elfutils-devel" }', 'dw = { apt = "libdw-dev", dnf = "git" }')
    run = lists.check()
    assert (run.code, run.told) == (1, [("PIN215", "error")])
    assert "still holds what pins.toml dropped: elfutils-devel" in run.document["findings"][0]["message"]
    lists.run("sync")
    assert packages(lists) == "git gcc zlib-devel"


def test_after_the_commit_only_since_knows_what_was_dropped(lists: Consumer) -> None:
    before = lists.repository.git("rev-parse", "HEAD")
    lists.edit("pins.toml", 'dw = { dnf = "elfutils-devel" }', 'dw = { dnf = "git" }')
    lists.commit("drop it, and forget the list")
    assert lists.check().code == 0
    run = lists.check("--since", before)
    assert (run.code, run.told) == (1, [("PIN215", "error")])
    assert run.document["findings"][0]["hint"] == f"run: pinctl sync --since {before}"
    lists.edit("pins.toml", 'z = { dnf = "zlib-devel" }', 'z = { dnf = "gcc" }')  # and one more, not committed yet
    assert lists.check("--since", before).told == [("PIN215", "error")]
    assert "elfutils-devel, zlib-devel" in lists.check("--since", before).document["findings"][0]["message"]
    assert lists.run("sync", "--since", "nope").code == 2
    assert lists.run("sync", "--since", before).code == 0
    assert packages(lists) == "git gcc"
    assert lists.check("--since", before).code == 0


def test_without_git_nothing_is_known_of_what_was_dropped(lists: Consumer) -> None:
    (lists.path / ".git").rename(lists.path.parent / "gone")
    lists.edit("pins.toml", 'dw = { dnf = "elfutils-devel" }', 'dw = { dnf = "git" }')
    assert lists.check().told == []


def test_what_goes_from_one_pin_to_the_other_stays(lists: Consumer) -> None:
    lists.edit("pins.toml", 'dw = { dnf = "elfutils-devel" }', 'dw = { dnf = "git" }')
    lists.edit("pins.toml", 'z = { dnf = "zlib-devel" }', 'z = { dnf = "zlib-devel" }\ndw = { dnf = "elfutils-devel" }')
    assert lists.check().told == []
    assert lists.run("sync").out == "nothing to change\n"


def test_what_a_deleted_pin_needed_goes(lists: Consumer) -> None:
    text = lists.text("pins.toml")
    lists.put("pins.toml", text[: text.index("[pins.tl]")])
    assert lists.check().told == [("PIN215", "error")]
    lists.run("sync")
    assert packages(lists) == "git gcc elfutils-devel"


def test_submodules_that_go_from_one_to_another(consumer: Consumer) -> None:
    """fmt gives way to deep_jit, as at DeepGEMM: the list is ours alone, so no history is asked."""
    consumer.edit("pins.toml", "third-party/fmt", "third-party/deep_jit")
    (found,) = consumer.check().document["findings"]
    assert (
        found["message"]
        == "`FetchContent(dg)` (submodules) lacks third-party/deep_jit and has third-party/fmt too many"
    )
    consumer.run("sync")
    assert consumer.text("cmake/dg.cmake") == CMAKE.replace("third-party/fmt", "third-party/deep_jit")
