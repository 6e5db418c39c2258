"""`pinctl diff` on real repositories, served by a real git daemon."""

from __future__ import annotations

from typing import Any

from commands.bumping import DG, FORK, World


def _diff(world: World, *words: str) -> Any:
    run = world.run("diff", "deepgemm", "--format", "json", *words)
    assert (run.code, run.told) == (0, []), run.out
    return run.document["result"]


def test_what_a_release_changes(world: World) -> None:
    world.consume()
    last = world.next_release()
    told = _diff(world)
    assert (told["from"], told["to"], told["ahead"], told["behind"]) == (world.first, last, 1, 0)
    assert [(entry["commit"], entry["title"]) for entry in told["log"]] == [(last, "Release 2.8")]
    assert [(m["path"], bool(m["from"]), bool(m["to"])) for m in told["submodules"]] == [
        ("third-party/deep_jit", False, True), ("third-party/fmt", True, False),
    ]  # fmt: skip
    assert told["include_dirs"] == {
        "gone": ["third-party/fmt/include"], "gained": ["third-party/deep_jit/include"],
    }  # fmt: skip
    (need,) = told["headers"]["gained"]
    assert (need["include"], need["file"], need["line"]) == ("elfutils/libdwfl.h", "csrc/api.cpp", 2)
    assert told["system_packages"]["gained"][0]["dnf"] == "elfutils-devel"
    assert told["headers"]["lost"] == []
    assert told["build_files"] == [{"path": ".gitmodules", "state": "changed"}]
    assert (told["fork"], told["surface"]) == (None, {"added": [], "removed": [], "changed": []})


def test_the_names_that_a_package_exports(world: World) -> None:
    world.consume()
    init = "def gemm(a, b, *, alpha=1): ...\ndef gone(): ...\ndef _private(): ...\n"
    before = world.up.commit("one", {"deep_gemm/__init__.py": init})
    init = "def gemm(a, b, *, beta=1): ...\ndef come(): ...\n"
    after = world.up.commit("two", {"deep_gemm/__init__.py": init})
    told = _diff(world, before, after)["surface"]
    assert (told["added"], told["removed"]) == (["deep_gemm.come"], ["deep_gemm.gone"])
    assert told["changed"] == [
        {"name": "deep_gemm.gemm", "before": "gemm(a, b, *, alpha=1)", "after": "gemm(a, b, *, beta=1)"}
    ]
    world.engine.write("pins.toml", world.text("pins.toml").replace("pins.deepgemm", "pins.other"))
    assert world.run("diff", "other", before, after, "--format", "json").document["result"]["surface"] is None


def test_the_other_way_round(world: World) -> None:
    world.consume()
    last = world.next_release()
    told = _diff(world, last, world.first)
    assert (told["ahead"], told["behind"], told["log"]) == (0, 1, [])
    assert [entry["commit"] for entry in told["lost"]] == [last]


def test_a_submodule_that_moved_tells_its_own_log(world: World) -> None:
    world.consume()
    fmt = world.modules["fmt"]
    old = fmt.git("rev-parse", "HEAD")
    fmt.commit("fmt two", {"include/fmt/core.h": "\n"})
    new = fmt.commit("fmt three", {"include/fmt/core.h": "\n\n"})
    world.release("2.7", ("cutlass", "fmt"), "#include <fmt/fmt.h>\n")
    (module,) = _diff(world)["submodules"]
    assert (module["path"], module["from"], module["to"], module["ahead"]) == ("third-party/fmt", old, new, 2)
    assert [entry["title"] for entry in module["log"]] == ["fmt three", "fmt two"]


def test_a_merge_is_told_with_what_it_brought_in(world: World) -> None:
    world.consume()
    up = world.up
    up.git("switch", "-q", "-c", "topic")
    parts = [up.commit(f"part {n}", {f"part{n}.txt": f"{n}\n"}) for n in (1, 2)]
    up.git("switch", "-q", "main")
    up.clock += 3600
    up.git("merge", "-q", "--no-ff", "-m", "Merge pull request #7 from o/topic", "-m", "Parts of it", "topic")
    (entry,) = _diff(world)["log"]
    assert (entry["title"], [one["commit"] for one in entry["folded"]]) == ("Parts of it", parts[::-1])
    assert _diff(world)["ahead"] == 3


def test_a_renamed_file(world: World) -> None:
    world.consume()
    text = "".join(f"line {n}\n" for n in range(30))
    world.up.commit("with a file", {"csrc/old name.cuh": text})
    before = world.up.git("rev-parse", "HEAD")
    (world.up.path / "csrc/old name.cuh").unlink()
    world.up.commit("moved", {"csrc/new.cuh": text.replace("line 7", "line seven")})
    (renamed,) = _diff(world, before, "main")["renamed"]
    assert (renamed["from"], renamed["to"]) == ("csrc/old name.cuh", "csrc/new.cuh")
    assert 80 < renamed["alike"] < 100


def test_a_fork_two_ahead_and_three_behind_of_which_one_was_taken(world: World) -> None:
    world.fork.git("fetch", "-q", str(world.up.path), "main")
    world.fork.git("reset", "-q", "--hard", "FETCH_HEAD")
    fix = world.fork.commit("a fix", {"csrc/fix.cpp": "int fix;\n"})
    own = world.fork.commit("for us alone", {"csrc/own.cpp": "int own;\n"})
    world.up.commit("upstream one", {"csrc/one.cpp": "int one;\n"})
    world.up.git("fetch", "-q", str(world.fork.path), "main")
    world.up.clock += 3600
    world.up.git("cherry-pick", fix)
    taken = world.up.git("rev-parse", "HEAD")
    world.up.commit("upstream three", {"csrc/three.cpp": "int three;\n"})
    world.consume(FORK, own, f'[pins.deepgemm.upstream]\nrepo = "{DG}"\ntrack = "main"\n')
    fork = _diff(world)["fork"]
    assert (fork["ahead"], fork["behind"], fork["base"]) == (2, 3, world.first)
    assert [(one["commit"], one["taken"]) for one in fork["own"]] == [(own, None), (fix, taken)]
    assert [one["title"] for one in fork["upstream"]] == ["upstream three", "a fix", "upstream one"]
    row = world.run("status", "--format", "json").document["result"]["pins"][0]
    assert (row["ahead"], row["behind"], row["fork"]) == (0, 0, {"ahead": 2, "behind": 3})
    table = world.run("status").out.split("\n")[1].split("  ")
    assert [cell.strip() for cell in table if cell.strip()][3:6] == ["main", "none", "2 ahead, 3 behind"]
    across = _diff(world, "--upstream")
    assert (across["ahead"], across["behind"]) == (3, 2)


def test_commits_that_are_not_there(world: World) -> None:
    world.consume()
    for words in (["v9"], ["--", "--output=x"], ["ab" * 20], [":/Release"]):
        run = world.run("diff", "deepgemm", *words)
        assert (run.code in (1, 2, 4), "Traceback" in run.err) == (True, False), (words, run)
    assert world.run("diff", "nothing").code == 2


def test_what_strangers_write_is_text(world: World) -> None:
    """Security row 42 and 45: a subject is no markup, no link, no mention and no escape."""
    world.consume()
    world.up.commit("\x1b]8;;https://evil\x07 | @team ![x](https://evil) <script>", {"a.txt": "\n"})
    run = world.run("diff", "deepgemm", "--body", "body.md")
    assert "\x1b" not in run.out
    body = world.text("body.md")
    assert not any(bad in body for bad in ("\x1b", "@team", "![x](", "<script", "](https://evil"))


def test_offline_what_is_known_is_told(world: World) -> None:
    world.consume()
    world.next_release()
    before = _diff(world)
    world.up.commit("later", {"a.txt": "\n"})
    assert _diff(world, "--offline") == before


def test_status_tells_how_far_the_branch_has_gone(world: World) -> None:
    world.consume()
    world.next_release()
    run = world.run("status", "--format", "json")
    row = run.document["result"]["pins"][0]
    assert (row["ahead"], row["behind"], row["newest"], run.code) == (0, 1, world.last, 0)
    assert "1 behind" in world.run("status").out
    world.engine.write("pins.toml", world.text("pins.toml").replace('track      = "main"', 'track      = "gone"'))
    run = world.run("status", "--format", "json")
    assert (run.told, run.code) == ([("PIN320", "warning")], 0)
    assert run.document["result"]["pins"][0]["behind"] is None
    assert world.run("status", "--untrusted").code == 0
