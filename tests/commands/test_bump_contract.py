"""`pinctl bump` and the consumer's calls: what would break is told before anything is written."""

from __future__ import annotations

from commands.bumping import World

BEFORE = """\
__version__ = '2.6'
def gemm(a, b, *, situ_beta=None): ...
def masked(a): ...
fp8_masked = masked
"""
AFTER = """\
__version__ = '2.7'
def gemm(a, b, *, activation_beta=None): ...
def masked(a): ...
"""
CALLS = """\
import deep_gemm

_masked = getattr(deep_gemm, "fp8_masked", None)

def run(a, b):
    if _masked is not None:
        _masked(a)
    return deep_gemm.gemm(a, b, situ_beta=1.0)
"""


def _world(world: World, pins: str = "") -> str:
    """An engine that calls the package as it was; the commit in which it is another."""
    first = world.up.commit("with names", {"deep_gemm/__init__.py": BEFORE})
    world.consume(commit=first, pins=pins)
    world.engine.commit("calls", {"engine/gemm.py": CALLS})
    return world.up.commit("other names", {"deep_gemm/__init__.py": AFTER})


def test_calls_that_would_break_stop_a_bump(world: World) -> None:
    _world(world)
    run = world.bump("deepgemm")
    assert run.code == 1
    told = {found["code"]: found for found in run.document["findings"]}
    assert sorted(told) == ["PIN401", "PIN402"]
    assert (told["PIN401"]["file"], told["PIN401"]["line"]) == ("engine/gemm.py", 8)
    assert told["PIN401"]["hint"] == "new there: `activation_beta`"
    assert (told["PIN402"]["file"], told["PIN402"]["line"]) == ("engine/gemm.py", 3)
    assert told["PIN402"]["hint"] == "it was another name of `deep_gemm.masked`, which is still there"
    assert [(place["line"], place["message"]) for place in told["PIN402"]["related"]] == [(7, "goes through it")]
    contract = run.document["result"]["pins"][0]["contract"]
    assert [one["class"] for one in contract["breaks"]] == ["HARD", "SILENT"]
    assert world.status == [""]


def test_the_code_may_be_mended_with_the_pin(world: World) -> None:
    last = _world(world)
    mended = CALLS.replace("situ_beta", "activation_beta").replace("fp8_masked", "masked")
    world.engine.write("engine/gemm.py", mended)
    run = world.bump("deepgemm", "--body", "body.md")
    assert run.code == 0, run.out
    assert last in world.text("pins.toml")
    body = world.text("body.md")
    assert "#### Exported to Python" in body
    assert "#### Contract" in body
    assert "never seen: computed names" in body


def test_breaks_are_accepted_by_name(world: World) -> None:
    last = _world(world)
    run = world.bump("deepgemm", "--accept", "PIN401", "--accept", "PIN402", "--body", "body.md")
    assert (run.code, {severity for _, severity in run.told}) == (0, {"warning"})
    assert last in world.text("pins.toml")
    assert "| HARD | deep&#95;gemm.gemm | 1 | engine/gemm.py:8 |" in world.text("body.md")


def test_or_by_a_waiver(world: World) -> None:
    waivers = (
        'allow = [{ code = "PIN402", reason = "is not used" }, { symbol = "deep_gemm.gemm*", reason = "dead code" }]'
    )
    _world(world)
    pins = world.text("pins.toml").replace('track      = "main"', f'track      = "main"\n{waivers}')
    world.engine.commit("accepted", {"pins.toml": pins})
    run = world.bump("deepgemm")
    assert run.code == 0, run.out
    accepted = run.document["result"]["pins"][0]["contract"]["accepted"]
    assert sorted(one["reason"] for one in accepted) == ["dead code", "is not used"]


def test_a_name_that_is_required_must_be_there(world: World) -> None:
    _world(world)
    world.engine.write("engine/gemm.py", "")
    world.engine.write("pins.toml", world.text("pins.toml") + '[pins.deepgemm.contract]\nrequires = ["mega_mhc"]\n')
    run = world.bump("deepgemm")
    assert (run.code, run.told) == (1, [("PIN415", "error")])


def test_calls_are_judged_by_the_new_commit_alone_where_the_old_one_is_lost(world: World) -> None:
    _world(world)
    first = world.up.git("rev-parse", "HEAD~1")
    world.up.git("reset", "-q", "--hard", world.first)
    world.up.commit("other names", {"deep_gemm/__init__.py": AFTER})
    world.up.git("reflog", "expire", "--expire=now", "--all")
    world.up.git("gc", "-q", "--prune=now")
    run = world.bump("deepgemm")
    assert run.code == 1, run.out
    # Of the name behind a default nobody can say that it was ever there.
    assert [code for code, severity in run.told if severity == "error"] == ["PIN401"]
    assert first in world.text("pins.toml")
