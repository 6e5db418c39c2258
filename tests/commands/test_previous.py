from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from consumer import FILES, NEW, OLD, OTHER, PINS, Consumer, Run, pinctl

if TYPE_CHECKING:
    from repositories import MakeRepository


@pytest.fixture
def drifted(make_repository: MakeRepository) -> Consumer:
    """An engine that took pinctl up with one drift that it has not mended yet."""
    repository = make_repository("my engine")
    repository.commit(files={**FILES, "requirements.txt": "torch\ntilelang==0.1.9\n"})
    repository.git("tag", "base")
    return Consumer(repository)


def since(consumer: Consumer, revision: str = "base") -> Run:
    return consumer.check("--since", revision)


def test_old_drift_warns(drifted: Consumer) -> None:
    assert drifted.check().code == 1
    run = since(drifted)
    assert (run.code, run.told) == (0, [("PIN201", "warning")])
    assert run.document["findings"][0]["message"].endswith("differs from pins.toml (already so at base)")
    text = drifted.run("check", "--since", "base").out
    assert text.endswith("\n3 of 4 sites of 2 pins agree with pins.toml (1 warning in 1 file)\n")


def test_old_drift_may_stand_elsewhere_in_its_file(drifted: Consumer) -> None:
    drifted.put("requirements.txt", "# a comment\n\ntilelang==0.1.9\nnumpy\n")
    drifted.commit("other lines")
    assert since(drifted).code == 0


def test_old_drift_with_another_value_fails(drifted: Consumer) -> None:
    drifted.edit("requirements.txt", "0.1.9", "0.1.10")
    assert (since(drifted).code, since(drifted).told) == (1, [("PIN201", "error")])


def test_old_drift_from_another_pin_fails(drifted: Consumer) -> None:
    drifted.edit("pins.toml", '"0.1.11"', '"0.1.12"')
    assert since(drifted).code == 1


def test_new_drift_fails_beside_the_old(drifted: Consumer) -> None:
    drifted.edit("tools/install dg.sh", OLD, NEW)
    drifted.commit("new")
    run = since(drifted)
    assert run.code == 1
    assert [(f["file"], f["severity"]) for f in run.document["findings"]] == [
        ("requirements.txt", "warning"),
        ("tools/install dg.sh", "error"),
    ]
    assert since(drifted, "HEAD").code == 0


def test_a_new_site_that_differs_fails(drifted: Consumer) -> None:
    drifted.put("ref.txt", f"{OTHER}\n")
    drifted.put("pins.toml", PINS.replace("[pins.tl]", '[pins.dg.sites."ref.txt"]\ntext = "{commit}"\n[pins.tl]'))
    assert [f["severity"] for f in since(drifted).document["findings"]] == ["error", "warning"]


def test_a_site_that_was_not_found_already_warns(drifted: Consumer) -> None:
    drifted.edit("pins.toml", "requirement tilelang", "requirement tilelag")
    drifted.edit("pins.toml", '"docker/Dockerfile"', '"docker/Dokerfile"')
    drifted.commit("two broken sites")
    assert {severity for _, severity in since(drifted, "HEAD").told} == {"warning"}
    assert since(drifted).code == 1


def test_without_a_pins_toml_then_all_is_new(drifted: Consumer) -> None:
    drifted.repository.git("rm", "-q", "--cached", "pins.toml")
    drifted.repository.git("commit", "-q", "-m", "without")
    drifted.repository.git("tag", "before-pinctl")
    drifted.commit("with")
    assert since(drifted, "before-pinctl").code == 1


def test_an_invalid_pins_toml_then_says_nothing(drifted: Consumer) -> None:
    drifted.put("pins.toml", "schema = 1\n[[[")
    broken = drifted.commit("broken")
    drifted.put("pins.toml", PINS)
    assert since(drifted, broken).code == 1


@pytest.mark.parametrize("revision", ["nope", "HEAD~99", "", "--output=x", "base:pins.toml", "0" * 40])
def test_what_names_no_commit(revision: str, drifted: Consumer) -> None:
    run = drifted.run("check", f"--since={revision}")
    assert (run.code, run.out) == (2, "")
    assert f"--since {revision}: no such commit here" in run.err
    assert "fetch-depth: 0" in run.err


def test_outside_a_repository(drifted: Consumer, tmp_path: Path) -> None:
    (drifted.path / ".git").rename(tmp_path / "gone")
    assert since(drifted).code == 2


def test_files_that_a_base_adds(make_repository: MakeRepository) -> None:
    """pins.toml of then is read with the files that it extended then."""
    repository = make_repository("with a base")
    pin, rest = PINS.split("\n[pins.dg.sites", 1)
    files = {
        **FILES,
        "pins.toml": 'schema = 1\nextends = "base.toml"\n[pins.dg.sites' + rest,
        "base.toml": pin.replace("schema = 1\n", ""),
        "requirements.txt": "tilelang==0.1.9\n",
    }
    repository.commit(files=files)
    consumer = Consumer(repository)
    consumer.edit("base.toml", OLD, NEW)
    run = since(consumer, "HEAD")
    assert sorted(severity for _, severity in run.told) == ["error", "error", "error", "warning"]


def test_below_the_top_of_the_repository(make_repository: MakeRepository) -> None:
    repository = make_repository("mono repo")
    repository.commit(files={f"engine/{name}": text for name, text in FILES.items()})
    below = Consumer(repository)
    below.edit("engine/requirements.txt", "0.1.11", "0.1.9")
    below.commit("drift")
    run = pinctl("check", "--since", "HEAD", cwd=below.path / "engine/docker")
    assert (run.code, "already so at HEAD" in run.out) == (0, True)


# --- what recipes rendered then ---

RECIPE = '[pins.tl.generate]\n"made.txt" = "./pins/made.j2"\n'


@pytest.fixture
def rendered(consumer: Consumer) -> Consumer:
    consumer.put("pins/made.j2", "version {{ pin.version }}\n")
    consumer.put("pins.toml", PINS + RECIPE)
    assert consumer.run("sync").code == 0
    consumer.commit("made")
    return consumer


def test_a_file_that_was_stale_already_warns(rendered: Consumer) -> None:
    rendered.edit("pins.toml", '"0.1.11"', '"0.1.12"')
    rendered.edit("requirements.txt", "0.1.11", "0.1.12")
    rendered.commit("bumped, and not rendered")
    assert (since(rendered, "HEAD").code, since(rendered, "HEAD").told) == (0, [("PIN211", "warning")])
    assert since(rendered, "HEAD~1").code == 1


def test_a_recipe_that_changed_is_not_taken_for_an_old_one(rendered: Consumer) -> None:
    """The file is stale by the recipe of today, and was in order by that of then."""
    rendered.put("pins/made.j2", "the version is {{ pin.version }}\n")
    rendered.commit("another recipe, and not rendered")
    assert (since(rendered, "HEAD~1").code, since(rendered, "HEAD~1").told) == (1, [("PIN211", "error")])


def test_a_recipe_that_was_not_there(rendered: Consumer) -> None:
    rendered.edit("pins.toml", "./pins/made.j2", "./pins/other.j2")
    rendered.commit("names a recipe that is not there")
    assert since(rendered, "HEAD").told == [("PIN226", "warning")]
