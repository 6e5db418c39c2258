"""The benchmarks do what they say. How fast anything is, is not tested."""

from __future__ import annotations

import importlib
import json
import subprocess
import sys
import time
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import pytest

from pinctl import manifest
from pinctl.reconcile import reconcile

if TYPE_CHECKING:
    from repositories import GitRepository, MakeRepository

FOLDER = Path(__file__).parent.parent / "benchmarks"
GROUPS = """
[[groups]]
name = "x"
fact = "version"
sites = [
  { files = ["new.env", "old.env"], selectors = { Z = "{version}", X = ["{version}+cpu", "{version}"] } },
  { files = ["Dockerfile"], selectors = { "ARG X" = "v{version}" } },
]

[[groups]]
name = "short"
fact = "short commit"
sites = [
  { files = ["a.env"], selectors = { A = "{commit}" } },
  { files = ["b.env"], selectors = { B = "{commit}" } },
]
"""


@pytest.fixture
def load(monkeypatch: pytest.MonkeyPatch) -> Any:
    """`load(NAME)` is the benchmark module NAME, as it is when it is run."""
    monkeypatch.syspath_prepend(FOLDER)

    def named(name: str) -> ModuleType:
        return importlib.import_module(name)

    yield named
    for path in FOLDER.glob("*.py"):
        sys.modules.pop(path.stem, None)


@pytest.mark.parametrize(
    ("name", "files", "pins", "sites", "size"),
    [("small", 4, 1, 4, range(10_000, 20_000)), ("large", 51, 45, 232, range(850_000, 950_000))],
)
def test_a_tree_agrees_with_its_pins(
    load: Any, tmp_path: Path, name: str, files: int, pins: int, sites: int, size: range
) -> None:
    tree = getattr(load("tree"), name)()
    assert tree.write(tmp_path) in size
    pinned = manifest.parse((tmp_path / "pins.toml").read_text(), path="pins.toml", load=lambda _: "", recipes=())
    assert (len(pinned.pins), len(pinned.all_sites)) == (pins, sites)
    found = {path.relative_to(tmp_path).as_posix(): path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    assert {site.file for site in pinned.all_sites} == found.keys() - {"pins.toml"}
    assert len(found) == files + 1
    seen = reconcile(pinned, found)
    assert not seen.findings
    assert not seen.differing
    assert {o.site.key for o in seen.observations} == {site.key for site in pinned.all_sites}


def test_a_tree_is_the_same_every_time(load: Any, tmp_path: Path) -> None:
    tree = load("tree")
    for name in ("a", "b"):
        tree.small().write(tmp_path / name)
    assert (tmp_path / "a/tools/install_deepkernels.sh").read_bytes() == (
        tmp_path / "b/tools/install_deepkernels.sh"
    ).read_bytes()


def test_a_command_is_measured(load: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = load("run")
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    assert "PYTHONDONTWRITEBYTECODE" not in run.environment()
    command = run.Command("x", [sys.executable, "-c", "sum(range(10**5))"], tmp_path)
    command.run(run.environment())
    assert command.wall[0] > command.cpu[0] / 4 > 0
    assert command.peak[0] > 5
    with pytest.raises(RuntimeError, match="exit status 3\nwhy"):
        run.Command("x", [sys.executable, "-c", "import sys; sys.stderr.write('why'); sys.exit(3)"], tmp_path).run({})


def test_the_report_tells_what_is_missed(load: Any, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    run = load("run")
    base = run.Command("base", [], tmp_path, None, [0.1, 0.2], [0.1, 0.2], [30.0, 31.0])
    within = run.Command("near", [], tmp_path, 2.0, [0.2, 0.3], [0.1, 0.2], [9000.0, 30.0])
    missed = run.Command("far", [], tmp_path, 2.0, [0.3, 0.5], [0.1, 0.2], [30.0, 30.0])
    run.report([base, within, missed])
    lines = capsys.readouterr().out.splitlines()
    assert "1.75 (1.62 .. 1.88)" in lines[2]
    assert "9000" in lines[2]
    assert lines[2].endswith("MISSED: memory")
    assert "2.75 (2.62 .. 2.8" in lines[3]
    assert lines[3].endswith("MISSED: time")


@pytest.fixture
def drifted(repository: GitRepository) -> tuple[GitRepository, list[str]]:
    """A repository whose two sites part in the third commit and meet in the fifth; and in the last, with short ids."""
    contents: list[dict[str, str]] = [
        {"old.env": "X=1.0+cpu\n"},
        {"Dockerfile": "FROM a\nARG X=v1.0\nFROM b\nARG X=v1.0\n"},
        {"Dockerfile": "FROM a\nARG X=v1.0\nFROM b\nARG X=v1.1\n"},
        {"other.txt": "1"},
        {"old.env": "X=1.1\n", "Dockerfile": "FROM a\nARG X=v1.1\n"},
        {"new.env": "X=1.2\n", "a.env": "A=0123456789abcdef\n", "b.env": "B=0123456\n"},
        {"b.env": "B=1123456\n"},
    ]
    return repository, [repository.commit(files=files) for files in contents]


def test_a_replay_finds_the_drifts(load: Any, drifted: tuple[GitRepository, list[str]]) -> None:
    repository, commits = drifted
    replay = load("replay")
    with load("history").History(str(repository.path)) as history:
        replaying = replay.Replay(history, replay.load(GROUPS))
        replaying.run()
    x, short = replaying.outcomes
    assert [(d.start.id, d.end.id if d.end else None) for d in x.drifts] == [
        (commits[2], commits[4]),
        (commits[5], None),
    ]
    assert [(p.selector, p.found, p.same) for p in x.drifts[0].places] == [
        ("X", "1.0+cpu", True),
        ("ARG X#1", "v1.0", True),
        ("ARG X#2", "v1.1", False),
    ]
    assert x.comparable == 6
    assert [(d.start.id, d.end) for d in short.drifts] == [(commits[6], None)]
    assert short.comparable == 2


def test_a_replay_is_held_against_known_drifts(
    load: Any, drifted: tuple[GitRepository, list[str]], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    repository, commits = drifted
    replay = load("replay")
    groups, expect = tmp_path / "groups.toml", tmp_path / "expect.json"
    groups.write_text(GROUPS)
    arguments = [str(repository.path), "--groups", str(groups), "--expect", str(expect)]
    drifts = [
        {"start": commits[2][:10], "fix": commits[4][:10], "commits": 2},
        {"start": commits[5][:10], "fix": None, "commits": 2},
    ]
    known = {"groups": [{"group": "x", "comparable_commits": 6, "drifts": drifts}]}
    expect.write_text(json.dumps(known))
    assert replay.main(arguments) == 0
    assert "groups compared: 1, with 2 known drifts; differences: 0" in capsys.readouterr().out
    drifts[0]["start"] = commits[1][:10]
    expect.write_text(json.dumps(known))
    assert replay.main(arguments) == 1
    told = capsys.readouterr().out
    assert f"x: missed {commits[1][:10]} .. {commits[4][:10]}" in told
    assert f"x: beyond {commits[2][:10]} .. {commits[4][:10]}" in told


def test_the_groups_of_vllm_are_sound(load: Any) -> None:
    groups = load("replay").load((FOLDER / "groups.toml").read_text())
    assert len({group.name for group in groups}) == len(groups) == 12
    assert {group.fact for group in groups} <= load("replay")._PINS.keys()


def test_a_wire_counts_and_takes_its_time(load: Any, tmp_path: Path) -> None:
    wire = load("wire")
    subprocess.run(["git", "init", "-q", "--bare", tmp_path / "a.git"], check=True)
    with wire.daemon(tmp_path) as port:
        for latency, least in ((0.0, 0.0), (0.2, 0.6)):
            relay = wire.Wire(port, latency)
            begun = time.monotonic()
            subprocess.run(["git", "ls-remote", f"git://127.0.0.1:{relay.own_port}/a.git"], check=True)
            assert time.monotonic() - begun > least  # the connection, the request, the question
            assert (relay.connections, 50 < relay.received < 1000) == (1, True)
            relay.close()


def test_git_by_hand_reads_what_verify_reads(load: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    libraries, upstream, wire = load("libraries"), load("upstream"), load("wire")
    files = {"_kernels": {"a.cu": "#include <x.h>\n", "b.py": ""}, "_library": {"x.h": "#include <y.h>\n", "y.h": "\n"},
             "_text": {"t.h": "\n"}}  # fmt: skip
    monkeypatch.setattr(libraries, "_COMMITS", 3)
    for name, made in files.items():
        monkeypatch.setattr(libraries, name, lambda made=made: made)
        made.update({f"f{n}.txt": "x" for n in range(4)})
    pinned = libraries.made(tmp_path / "served", 2)
    assert [one.url for one in pinned] == [f"https://git.example/{n}/kernels.git" for n in range(2)]
    variables = {**load("run").environment(), "PINCTL_CACHE": str(tmp_path / "cache")}
    monkeypatch.setattr(upstream, "PINS", 2)
    with wire.daemon(tmp_path / "served") as port:
        relay = wire.Wire(port)
        found = upstream.cases(tmp_path, pinned, relay, relay, variables)
        assert [len((tmp_path / "blobs" / str(n)).read_text().split()) for n in range(3)] == [2, 2, 0]
        found[2].forget()
        for case in found:
            case.run(variables)
            assert case.wall[0] > 0
        hand, again, verify, warm, slowly, ten = found
        assert hand.received[0] > 3 * again.received[0] > 0
        assert verify.received[0] == pytest.approx(hand.received[0], rel=0.3)  # of so little, the packs' heads count
        assert ten.received[0] == pytest.approx(2 * slowly.received[0], rel=0.1)
        assert warm.received[0] < verify.received[0]


def test_a_mirror_is_served_with_its_submodules(load: Any, make_repository: MakeRepository, tmp_path: Path) -> None:
    libraries = load("libraries")
    inner, outer = make_repository("inner"), make_repository("outer")
    commit = inner.commit("inner", {"a.h": ""})
    outer.write(".gitmodules", '[submodule "x"]\n\tpath = ext/x\n\turl = https://github.com/o/x.git\n')
    outer.git("add", "-A")
    outer.git("update-index", "--add", "--cacheinfo", f"160000,{commit},ext/x")
    outer.git("commit", "-q", "-m", "link")
    served = tmp_path / "served"
    first, second = libraries.mirrored(served, 2, outer.path / ".git", {"ext/x": inner.path / ".git"})
    assert (first.branch, first.commit) == ("main", outer.git("rev-parse", "main"))
    assert first.modules == second.modules == (("ext/x", "https://github.com/o/x.git", commit),)
    for url in (first.url, second.url, "https://github.com/o/x.git"):
        assert (served / url.removeprefix("https://") / "HEAD").exists()


def test_the_report_of_upstream_tells_what_is_missed(load: Any, capsys: pytest.CaptureFixture[str]) -> None:
    upstream, wire = load("upstream"), load("wire")
    relay = wire.Wire(1)
    base = upstream.Case(
        name="base", argv=[], folder=Path(), wire=relay, wall=[1, 2], cpu=[1, 1], received=[1000, 1000]
    )
    more = upstream.Case(name="more", argv=[], folder=Path(), wire=relay, base=base, most=1.5, wall=[1.2, 2.4],
                         cpu=[2, 2], received=[1200, 1200])  # fmt: skip
    late = upstream.Case(name="late", argv=[], folder=Path(), wire=relay, base=base, most=1.5, wall=[2, 4], cpu=[2, 2],
                         received=[1050, 1050])  # fmt: skip
    relay.close()
    upstream.report([base, more, late])
    lines = capsys.readouterr().out.splitlines()
    assert [line.rpartition("  ")[2].strip() for line in lines[2:4]] == ["MISSED: bytes", "MISSED: time"]
    assert "1.20 (1.20 .. 1.20)" in lines[2]
