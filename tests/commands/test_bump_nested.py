"""`pinctl bump` and gitlinks inside the pinned tree, and needs between pins; against a real git daemon."""

from __future__ import annotations

import pytest

from commands.bumping import DG, World

CUT = "third-party/cutlass"
SITE = f'\n[[sites]]\nfile = "cutlass.cmake"\n"set(CUTLASS_REF)" = "{{pins.deepgemm.nested:{CUT}}}"\n'
SOURCE = "#include <fmt/fmt.h>\n"


@pytest.fixture
def engine(world: World) -> World:
    """The engine, with a copy of cutlass of its own that is held to the one in the pinned tree."""
    world.consume(pins=SITE)
    world.engine.commit("its own copy", {"cutlass.cmake": f'set(CUTLASS_REF "{cutlass(world)}")\n'})
    return world


def cutlass(world: World) -> str:
    """The newest commit of cutlass."""
    return world.modules["cutlass"].git("rev-parse", "HEAD")


def test_resolve_stores_what_templates_ask_for(engine: World) -> None:
    assert engine.run("check").code == 1
    run = engine.bump("--resolve")
    assert (run.code, run.told) == (0, [])
    assert cutlass(engine) in engine.text("pins.toml")
    assert [row["name"] for row in run.document["result"]["pins"]] == ["deepgemm"]
    assert engine.first in engine.text("pins.toml")
    assert engine.run("check").code == 0
    assert engine.run("verify").code == 0
    assert not any(file["changed"] for file in engine.bump("--resolve").document["result"]["files"])


def test_a_bump_adds_them_and_later_ones_follow(engine: World) -> None:
    assert engine.bump("deepgemm").code == 0
    old = cutlass(engine)
    assert old in engine.text("pins.toml")
    engine.engine.commit("all")
    engine.modules["cutlass"].commit("two", {"include/cutlass/two.h": ""})
    engine.release("2.7", ("cutlass", "fmt"), SOURCE)
    run = engine.bump("deepgemm")
    assert (run.code, run.told) == (0, [])
    assert engine.text("cutlass.cmake") == f'set(CUTLASS_REF "{cutlass(engine)}")\n'
    assert old not in engine.text("pins.toml")
    assert engine.run("check").code == 0


def test_a_stored_commit_that_is_not_the_trees_is_told_by_verify(engine: World) -> None:
    engine.bump("--resolve")
    engine.engine.write("pins.toml", engine.text("pins.toml").replace(cutlass(engine), "ab" * 20))
    run = engine.run("verify", "--format", "json")
    (found,) = [one for one in run.document["findings"] if one["severity"] == "error"]
    assert (found["code"], found["expected"], found["found"]) == ("PIN319", cutlass(engine), "ab" * 20)


@pytest.mark.parametrize("words", [("--resolve",), ("deepgemm",)])
def test_a_path_that_the_tree_has_not_is_told_and_nothing_written(engine: World, words: tuple[str, ...]) -> None:
    engine.engine.commit("odd", {"pins.toml": engine.text("pins.toml").replace(f"nested:{CUT}", "nested:ext/cutlass")})
    before = engine.text("pins.toml")
    run = engine.bump(*words)
    assert run.code == 1
    (found,) = [one for one in run.document["findings"] if one["code"] == "PIN319"]
    assert found["hint"] == f"it may be {CUT} now"
    assert words != ("--resolve",) or [row["state"] for row in run.document["result"]["pins"]] == ["open"]
    assert engine.text("pins.toml") == before


def test_a_vanished_gitlink_stops_a_bump(engine: World) -> None:
    engine.bump("--resolve")
    engine.engine.commit("all")
    engine.release("2.7", ("fmt",), SOURCE)
    run = engine.bump("deepgemm", "--set", 'submodules=["third-party/fmt"]')
    assert run.code == 1
    assert "PIN319" in [one["code"] for one in run.document["findings"] if one["severity"] == "error"]


def test_a_gitlink_in_a_submodule(world: World) -> None:
    inner = world.modules["fmt"].git("rev-parse", "HEAD")
    cut = world.modules["cutlass"]
    cut.write(".gitmodules", '[submodule "fmt"]\n\tpath = ext/fmt\n\turl = ../fmt\n')
    cut.git("add", "-A")
    cut.git("update-index", "--add", "--cacheinfo", f"160000,{inner},ext/fmt")
    cut.git("commit", "-q", "-m", "with fmt")
    commit = world.release("2.6", ("cutlass", "fmt"), SOURCE)
    world.consume(commit=commit, pins=SITE.replace(CUT, f"{CUT}/ext/fmt").replace("CUTLASS", "FMT"))
    world.engine.commit("its own copy", {"cutlass.cmake": f'set(FMT_REF "{inner}")\n'})
    assert world.bump("--resolve").code == 0
    assert f'"{CUT}/ext/fmt" = "{inner}"' in world.text("pins.toml")
    assert world.run("check").code == 0
    assert world.run("verify", "--format", "json").code == 0
    world.engine.commit("all")
    world.release("2.7", ("cutlass", "fmt"), SOURCE)
    run = world.bump("deepgemm")
    assert (run.code, run.told) == (0, [])


PINNED = '\n[pins.cutlass]\nrepo = "{repo}"\ncommit = "{commit}"\nunused = true\n'


def test_a_need_of_the_trees_commit_stops_a_bump_that_breaks_it(world: World) -> None:
    pin = PINNED.format(repo=DG.replace("DeepGEMM", "cutlass"), commit=cutlass(world))
    world.consume(pins=f'\n[pins.deepgemm.needs]\ncutlass = "{{nested:{CUT}}}"\n{pin}')
    assert world.bump("deepgemm", "--resolve").code == 0
    world.engine.commit("all")
    assert world.run("check").code == 0
    world.modules["cutlass"].commit("two", {"include/cutlass/two.h": ""})
    world.release("2.7", ("cutlass", "fmt"), SOURCE)
    for name in ("deepgemm", "cutlass"):
        run = world.bump(name)
        assert (run.code, run.told) == (1, [("PIN120", "error")])
    assert world.status == [""]
    together = world.bump("deepgemm", "cutlass")
    assert (together.code, together.told) == (0, [])
    assert world.run("check").code == 0


def test_a_need_that_is_accepted_is_mended_by_the_next_bump(world: World) -> None:
    pin = PINNED.format(repo=DG.replace("DeepGEMM", "cutlass"), commit=cutlass(world))
    world.consume(pins=f'\n[pins.deepgemm.needs]\ncutlass = "{{nested:{CUT}}}"\n{pin}')
    world.bump("deepgemm", "--resolve")
    world.modules["cutlass"].commit("two", {"include/cutlass/two.h": ""})
    world.release("2.7", ("cutlass", "fmt"), SOURCE)
    run = world.bump("deepgemm", "--accept", "PIN120")
    assert (run.code, run.told) == (0, [("PIN120", "warning")])
    assert world.run("check").code == 1
    assert world.bump("cutlass").code == 0
    assert world.run("check").code == 0


def test_a_version_that_the_bump_brings_may_break_a_need(world: World) -> None:
    other = '\n[pins.user]\npackages = ["user"]\nversion = "1"\nunused = true\nneeds = { deepgemm = "<2.7" }\n'
    world.consume(pins=other)
    world.release("2.7", ("cutlass", "fmt"), SOURCE)
    run = world.bump("deepgemm")
    (found,) = run.document["findings"]
    assert (run.code, found["code"], found["pin"]) == (1, "PIN120", "user")
    assert (found["expected"], found["found"]) == ("<2.7", "2.7")
    assert world.text("pins.toml").split("\n")[found["line"] - 1] == 'needs = { deepgemm = "<2.7" }'
