"""What pins need of each other, told by `check`: versions, and the commits that pinned trees name."""

from __future__ import annotations

import pytest
from consumer import NEW, OLD, OTHER, PINS, Consumer

from pinctl import manifest, needs, nested
from pinctl.commands import needing
from pinctl.finding import Severity

CUTLASS = "third-party/cutlass"
CUT = f'\n[pins.cut]\nrepo = "https://github.com/o/cutlass.git"\ncommit = "{NEW}"\nunused = true\n'


def pins(*, need: str = "", stored: str | None = None, site: str = "", more: str = CUT) -> str:
    """The consumer's pins.toml, with a need of `dg`, a stored gitlink and a site."""
    lines = [f"needs = {need}"] if need else []
    lines += [f'nested."{CUTLASS}" = "{stored}"'] if stored else []
    marker = '\n[pins.dg.sites."cmake/dg.cmake"]\n'
    return PINS.replace(marker, "\n".join(["", *lines, marker[1:]])).replace("\n\nneeds", "\nneeds") + site + more


def test_a_version_that_does_not_fit_is_told_with_its_place_and_what_mends_it(consumer: Consumer) -> None:
    consumer.put("pins.toml", pins(need='{ tilelang = ">=0.1.12" }'))
    run = consumer.check()
    (found,) = run.document["findings"]
    line = consumer.text("pins.toml").split("\n").index('needs = { tilelang = ">=0.1.12" }') + 1
    assert run.code == 1
    assert (found["code"], found["severity"], found["pin"]) == ("PIN120", "error", "dg")
    assert (found["file"], found["line"], found["column"]) == ("pins.toml", line, 11)
    assert (found["expected"], found["found"]) == (">=0.1.12", "0.1.11")
    assert found["message"] == "dg needs tl >=0.1.12, and it is pinned at 0.1.11"
    assert found["hint"] == "bump one of the two: pinctl bump tl, or pinctl bump dg"


@pytest.mark.parametrize("need", [">=0.1.11", "~=0.1.10", "==0.1.*", ">0.1,<0.2", "!=0.1.9"])
def test_a_version_that_fits(consumer: Consumer, need: str) -> None:
    consumer.put("pins.toml", pins(need=f'{{ tilelang = "{need}" }}'))
    assert consumer.check().told == []


def test_sync_writes_where_a_need_is_not_met(consumer: Consumer) -> None:
    consumer.put("pins.toml", pins(need='{ tl = ">=0.1.12" }').replace('"0.1.11"', '"0.1.10"'))
    assert consumer.run("sync", "--force").code == 0
    assert "tilelang==0.1.10" in consumer.text("requirements.txt")


def test_the_commit_that_a_pinned_tree_names_is_held_against_the_other_pin(consumer: Consumer) -> None:
    need = f'{{ cut = "{{nested:{CUTLASS}}}" }}'
    consumer.put("pins.toml", pins(need=need, stored=NEW))
    assert consumer.check().told == []
    consumer.put("pins.toml", pins(need=need, stored=OTHER))
    (found,) = consumer.check().document["findings"]
    assert (found["code"], found["expected"], found["found"]) == ("PIN120", OTHER, NEW)
    assert found["hint"].startswith(f"run: pinctl bump cut --to {OTHER}")
    short = CUT.replace(f'commit = "{NEW}"', f'tag = "v4"\nunresolved = "{NEW[:8]}"')
    consumer.put("pins.toml", pins(need=need, stored=OTHER, more=short))
    assert ("PIN120", "error") in consumer.check().told


def test_a_site_is_held_to_a_stored_gitlink_and_sync_writes_it(consumer: Consumer) -> None:
    consumer.put("cut.cmake", f'set(CUTLASS_REF "{OLD}")\n')
    site = f'\n[[sites]]\nfile = "cut.cmake"\n"set(CUTLASS_REF)" = "{{pins.dg.nested:{CUTLASS}}}"\n'
    consumer.put("pins.toml", pins(stored=NEW, site=site, more=""))
    (found,) = consumer.check().document["findings"]
    assert (found["code"], found["file"], found["expected"], found["found"]) == ("PIN201", "cut.cmake", NEW, OLD)
    assert consumer.run("sync", "--force").code == 0
    assert consumer.text("cut.cmake") == f'set(CUTLASS_REF "{NEW}")\n'


@pytest.mark.parametrize("template", ["{pins.dg.nested:%s}", "x-{pins.dg.nested:%s}"])
def test_a_gitlink_that_is_not_stored_is_told_where_it_is_asked_for(consumer: Consumer, template: str) -> None:
    consumer.put("cut.cmake", f'set(CUTLASS_REF "{OLD}")\n')
    site = f'\n[[sites]]\nfile = "cut.cmake"\n"set(CUTLASS_REF)" = "{template % CUTLASS}"\n'
    consumer.put("pins.toml", pins(site=site, more=""))
    (found,) = consumer.check().document["findings"]
    assert (found["code"], found["severity"]) == ("PIN125", "error")
    assert (found["file"], found["line"], found["column"]) == ("cut.cmake", 1, 17)
    assert found["hint"] == "run: pinctl bump dg --resolve"


def test_a_need_of_a_gitlink_that_is_not_stored(consumer: Consumer) -> None:
    consumer.put("pins.toml", pins(need=f'{{ cut = "{{nested:{CUTLASS}}}" }}'))
    (found,) = consumer.check().document["findings"]
    assert (found["code"], found["file"], found["hint"]) == ("PIN125", "pins.toml", "run: pinctl bump dg --resolve")


def test_a_stored_gitlink_that_nothing_asks_for(consumer: Consumer) -> None:
    consumer.put("pins.toml", pins(stored=NEW, more=""))
    run = consumer.check()
    (found,) = run.document["findings"]
    assert (run.code, found["code"], found["severity"], found["pin"]) == (0, "PIN126", "warning", "dg")
    assert found["line"] == consumer.text("pins.toml").split("\n").index(f'nested."{CUTLASS}" = "{NEW}"') + 1


GENERATE = (
    '\n[generate]\n"x.py" = { recipe = "include-dirs", options = { a = ["{pins.dg.nested:a}"], b = "{nested:b}" } }\n'
)


def test_what_is_asked_for() -> None:
    parsed = manifest.parse(pins(need=f'{{ cut = "{{nested:{CUTLASS}}}" }}', site=GENERATE))
    assert nested.asked(parsed) == {"dg": (CUTLASS, "a")}
    assert nested.unstored(parsed.pins["dg"], parsed) == (CUTLASS, "a")
    stored = manifest.parse(pins(stored=NEW, site=GENERATE))
    assert list(nested.unused(stored)) == []  # a recipe sees all of them


def test_packages_of_a_pin_are_needed_by_any_spelling() -> None:
    parsed = manifest.parse(pins(need='{ Tile_Lang = ">1" }').replace('["tilelang"]', '["tile-lang", "other"]'))
    (one,) = needs.broken(parsed)
    assert (one.other, one.wanted, one.found) == ("tl", ">1", "0.1.11")


def test_what_a_bump_breaks_is_an_error_and_what_it_leaves_broken_is_not() -> None:
    met, unmet = (manifest.parse(pins(need=f'{{ tl = "{need}" }}')) for need in ("<0.2", ">=1"))
    (broken,) = needing.of_bump(met, unmet, ["tl"], ())
    assert (broken.code, broken.severity, broken.message) == (
        "PIN120", Severity.ERROR, "as it would become: dg needs tl >=1, and it is pinned at 0.1.11",
    )  # fmt: skip
    assert "--accept PIN120" in (broken.hint or "")
    assert [one.severity for one in needing.of_bump(met, unmet, ["tl"], ["PIN120"])] == [Severity.WARNING]
    assert [one.severity for one in needing.of_bump(unmet, unmet, ["tl"], ())] == [Severity.WARNING]
    assert needing.of_bump(unmet, unmet, ["other"], ()) == []
    assert needing.of_bump(unmet, met, ["tl"], ()) == []
