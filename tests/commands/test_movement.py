"""Which side of a drift is newer, as the rest of the commands are told."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
from consumer import NEW, OLD, OTHER, PINS, Consumer

from pinctl.commands import movement
from pinctl.commands.workspace import Workspace
from pinctl.drift import Newer
from pinctl.external import git
from pinctl.options import Options

if TYPE_CHECKING:
    from repositories import MakeRepository

    from pinctl.reconcile import Observation

SCRIPT = "tools/install dg.sh"


def differing(consumer: Consumer) -> tuple[Workspace, list[Observation]]:
    workspace = Workspace.open(Options(directory=str(consumer.path)))
    return workspace, workspace.reconcile().differing


def newer(consumer: Consumer) -> dict[str, str]:
    workspace, seen = differing(consumer)
    found = movement.movements(workspace, seen)
    return {o.site.selector: str(found[id(o)]) for o in seen}


def test_a_template_of_several_facts_is_as_new_as_the_newest(consumer: Consumer) -> None:
    consumer.put("url.txt", f"https://github.com/o/DeepGEMM.git@{OTHER}\n")
    consumer.put(
        "pins.toml", PINS.replace("[pins.tl]", '[pins.dg.sites."url.txt"]\ntext = "{repo}@{commit}"\n[pins.tl]')
    )
    consumer.commit("a site of older facts")
    assert newer(consumer) == {"text": "site"}
    consumer.edit("pins.toml", "https://github.com/o/DeepGEMM.git", "https://github.com/o/Deep-GEMM.git")
    consumer.commit("one of two facts")
    assert newer(consumer)["text"] == "pin"
    consumer.edit("url.txt", OTHER, NEW)
    assert newer(consumer)["text"] == "site"


@pytest.mark.parametrize("times", [(10, 20), (20, 10), (10, 10)])
def test_a_site_that_somebody_set_is_kept_whichever_file_was_saved_last(
    times: tuple[int, int], consumer: Consumer
) -> None:
    consumer.edit("pins.toml", OLD, NEW)
    consumer.edit(SCRIPT, OLD, OTHER)
    for file, time in zip(("pins.toml", SCRIPT), times, strict=True):
        os.utime(consumer.path / file, (time, time))
    assert newer(consumer) == {"FetchContent(dg)": "pin", "DG_REF": "site", "ARG DG_REF": "pin"}
    before = consumer.tree()
    run = consumer.run("sync", "--format", "json")
    assert (run.code, run.codes) == (1, ["PIN212"])
    assert consumer.tree() == before
    assert consumer.run("sync", "--force").code == 0


def test_a_line_in_work_that_still_holds_the_old_value_lags_behind(consumer: Consumer) -> None:
    consumer.edit("pins.toml", OLD, NEW)
    consumer.edit(SCRIPT, "DG_REF=", "export DG_REF=")
    consumer.edit("docker/Dockerfile", OLD[:10], OLD[:12])  # the same commit, in other words
    assert newer(consumer) == {"FetchContent(dg)": "pin", "DG_REF": "pin", "ARG DG_REF": "pin"}
    assert consumer.run("sync").code == 0
    assert f'export DG_REF="{NEW}"' in consumer.text(SCRIPT)


# --- values count, not lines ---

PAIR = """schema = 1
[pins.aa]
packages = ["aa"]
version = "1.0"
sites."ci.sh"."pip install aa" = "{version}"
[pins.bb]
packages = ["bb"]
version = "1.0"
sites."ci.sh"."pip install bb" = "{version}"
"""
BUMPED = PAIR.replace('"1.0"', '"2.0"', 1)
LINE = "pip install aa==1.0 bb==1.0\n"


@pytest.fixture
def pair(make_repository: MakeRepository) -> Consumer:
    """Two pins whose sites share a line; the first was bumped, and its site left behind."""
    repository = make_repository("pair")
    repository.commit(files={"pins.toml": PAIR, "ci.sh": LINE})
    repository.commit(files={"pins.toml": BUMPED})
    return Consumer(repository)


@pytest.mark.parametrize("committed", [True, False])
def test_a_neighbour_on_the_line_is_no_change_of_ours(committed: bool, pair: Consumer) -> None:
    for version in ("1.1", "1.2"):
        pair.put("ci.sh", f"pip install aa==1.0 bb=={version}\n")
        if committed:
            pair.commit(f"bb {version}")
    assert newer(pair) == {"pip install aa": "pin", "pip install bb": "site"}
    run = pair.run("adopt", "ci.sh", "--format", "json")
    assert (run.code, run.codes) == (1, ["PIN227"])


@pytest.mark.parametrize("committed", [True, False])
def test_a_new_layout_of_the_sites_line_is_no_change(committed: bool, pair: Consumer) -> None:
    pair.put("ci.sh", f"set -e\n  {LINE}")
    if committed:
        pair.commit("laid out anew")
    assert newer(pair) == {"pip install aa": "pin"}
    assert pair.run("sync").code == 0
    assert pair.text("ci.sh") == "set -e\n  pip install aa==2.0 bb==1.0\n"


@pytest.mark.parametrize("committed", [True, False])
def test_a_new_layout_of_the_pin_is_no_change(committed: bool, pair: Consumer) -> None:
    pair.put("ci.sh", LINE.replace("aa==1.0", "aa==3.0"))
    pair.commit("somebody moves the site")
    table = 'pins.aa = { packages = ["aa"], version = "2.0", sites."ci.sh"."pip install aa" = "{version}" }\n'
    pair.put("pins.toml", "schema = 1\n" + table + BUMPED[BUMPED.index("[pins.bb]") :])
    if committed:
        pair.commit("an inline table")
    assert newer(pair) == {"pip install aa": "site"}
    assert pair.run("sync").code == 1
    assert pair.run("adopt", "ci.sh").code == 0
    assert 'version = "3.0"' in pair.text("pins.toml")


@pytest.mark.parametrize("committed", [True, False])
def test_a_site_that_was_set_back_by_hand_is_kept(committed: bool, pair: Consumer) -> None:
    """It holds the pin's value of before, and was not left behind: somebody undid the bump there."""
    pair.put("ci.sh", LINE.replace("aa==1.0", "aa==2.0"))
    pair.commit("in agreement")
    pair.put("ci.sh", LINE)
    if committed:
        pair.commit("set back")
    assert newer(pair) == {"pip install aa": "site"}


@pytest.mark.parametrize(("version", "side"), [("1.0", "pin"), ("3.0", "site")])
def test_a_new_place_of_the_site_holds_the_old_value_or_its_own(version: str, side: str, pair: Consumer) -> None:
    pair.put("pins.toml", BUMPED.replace("ci.sh", "new.sh"))
    pair.put("new.sh", LINE.replace("aa==1.0", f"aa=={version}"))
    (pair.path / "ci.sh").unlink()
    for _ in range(2):
        assert newer(pair) == {"pip install aa": side}
        pair.commit("moved")


# --- a git that fails ---


@pytest.mark.parametrize("added", ["[extra", "[include]\npath = ../pins.toml\n"])
def test_a_git_that_cannot_read_its_configuration_stops_what_it_should_judge(added: str, pair: Consumer) -> None:
    pair.put("ci.sh", LINE.replace("aa==1.0", "aa==3.0"))
    with (pair.path / ".git/config").open("a") as config:
        config.write(added)
    before = pair.tree()
    assert pair.run("sync").code == pair.run("adopt", "ci.sh").code == 4
    assert pair.tree() == before
    run = pair.check()  # says all but which side is newer
    assert (run.code, run.codes) == (1, ["PIN201"])


def test_another_work_tree_in_the_configuration_changes_no_answer(pair: Consumer) -> None:
    pair.put("ci.sh", LINE.replace("aa==1.0", "aa==3.0"))
    pair.repository.git("config", "core.worktree", str(pair.path.parent))
    assert newer(pair) == {"pip install aa": "site"}
    assert pair.run("sync").code == 1


def test_dates_do_not_count_within_a_history(consumer: Consumer) -> None:
    """A rebase gives a branch one date, and a clock may be wrong."""
    consumer.repository.clock -= 10_000_000
    consumer.edit(SCRIPT, OLD, OTHER)
    consumer.commit("earlier by its date, later in history")
    assert newer(consumer) == {"DG_REF": "site"}


def test_a_merge_of_two_sides_is_told_by_date(consumer: Consumer) -> None:
    consumer.repository.git("checkout", "-q", "-b", "site")
    consumer.edit(SCRIPT, OLD, OTHER)
    consumer.commit("the site, earlier")
    consumer.repository.git("checkout", "-q", "main")
    consumer.edit("pins.toml", OLD, NEW)
    consumer.commit("the pin, later")
    consumer.repository.git("merge", "-q", "-m", "both", "site")
    assert newer(consumer)["DG_REF"] == "pin"


def test_each_file_is_asked_for_once(consumer: Consumer, monkeypatch: pytest.MonkeyPatch) -> None:
    consumer.edit("pins.toml", OLD, NEW)
    asked: list[str] = []
    real = git.last_changes

    def noted(root: str, file: str, at: list[tuple[int, int]]) -> list[git.Change | None]:
        asked.append(file)
        return real(root, file, at)

    monkeypatch.setattr(git, "last_changes", noted)
    workspace, seen = differing(consumer)
    assert set(movement.movements(workspace, seen).values()) == {Newer.PIN}
    assert len(seen) == 3
    assert len(asked) == len(set(asked)) == len({o.site.file for o in seen}) + 1


def test_a_newer_site_is_seen_among_many_drifts(consumer: Consumer) -> None:
    """However many places a bump leaves behind, the one that somebody moved later is never written over."""
    names = [f"v{n}.txt" for n in range(60)]
    sites = "".join(f'"{name}".text = "{{version}}"\n' for name in names)
    pins = f'[pins.many]\npackages = ["many"]\nversion = "1"\n[pins.many.sites]\n{sites}'
    consumer.put("pins.toml", consumer.text("pins.toml") + pins)
    for name in names:
        consumer.put(name, "1\n")
    consumer.commit("many sites")
    consumer.edit(SCRIPT, OLD, OTHER)
    consumer.commit("a site moves")
    consumer.edit("pins.toml", 'version = "1"\n[pins.many.sites]', 'version = "2"\n[pins.many.sites]')
    consumer.commit("a bump of another pin")
    run = consumer.run("sync")
    assert run.code == 1
    assert "DG_REF" in run.out
    assert consumer.text("v0.txt") == "1\n"
    assert consumer.run("sync", "many").code == 0
    assert (consumer.text("v59.txt"), OTHER in consumer.text(SCRIPT)) == ("2\n", True)


def test_a_pin_that_was_just_written_is_no_order(consumer: Consumer) -> None:
    """A proposal's pins are newer than every site, and none of them was anybody's decision."""
    consumer.put("new.txt", "1\n")
    consumer.commit("a value")
    pin = '[pins.fresh]\npackages = ["fresh"]\nversion = "2"\nsites."new.txt".text = "{version}"\n'
    consumer.put("pins.toml", consumer.text("pins.toml") + pin)
    for _ in range(2):
        assert newer(consumer) == {"text": "born"}
        run = consumer.run("sync")
        assert (run.code, consumer.text("new.txt")) == (1, "1\n")
        consumer.commit("the pin too")
    consumer.edit("pins.toml", 'version = "2"\nsites."new.txt"', 'version = "3"\nsites."new.txt"')
    assert newer(consumer) == {"text": "pin"}
    assert consumer.run("sync").code == 0
