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


def test_of_two_uncommitted_edits_the_later_file_counts(consumer: Consumer) -> None:
    consumer.edit("pins.toml", OLD, NEW)
    consumer.edit(SCRIPT, OLD, OTHER)
    for times, side in (((10, 20), "site"), ((20, 10), "pin"), ((10, 10), "unknown")):
        for file, time in zip(("pins.toml", SCRIPT), times, strict=True):
            os.utime(consumer.path / file, (time, time))
        assert newer(consumer)["DG_REF"] == side


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
    monkeypatch.setattr(git, "last_changes", lambda root, file, at: (asked.append(file), real(root, file, at))[1])
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
