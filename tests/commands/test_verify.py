from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from integration.servers import git_daemon, instead_of, serve
from repositories import GitRepository, MakeRepository

from pinctl.commands import verify
from pinctl.errors import UsageError
from pinctl.external import bare
from pinctl.options import Options
from pinctl.outcome import Outcome

URL = "https://git.example/"


@dataclass
class World:
    """Repositories served on loopback as `https://git.example/NAME`, and an engine that pins `up`."""

    up: GitRepository
    sub: GitRepository
    engine: Path
    commit: str = ""
    sub_commit: str = ""

    def pins(self, *lines: str, commit: str | None = None, submodules: str = '["third-party/sub"]') -> None:
        """Write a pins.toml whose pin `up` has `lines` besides the usual ones; they begin at line 7."""
        head = ["schema = 1", "[pins.up]", f'repo = "{URL}up"', f'commit = "{commit or self.commit}"',
                f"submodules = {submodules}", "unused = true"]  # fmt: skip
        self.engine.mkdir(exist_ok=True)
        (self.engine / "pins.toml").write_text("\n".join([*head, *lines]) + "\n")

    def verify(self, *names: str, offline: bool = False) -> Outcome:
        return verify.run(Options(directory=str(self.engine), offline=offline), names)

    def row(self, outcome: Outcome) -> Any:
        rows: Any = outcome.result["pins"]
        return rows[0]

    def link(self, path: str, commit: str, url: str = "../sub", name: str | None = None) -> str:
        """Commit a submodule of the upstream; the new commit."""
        modules = f'[submodule "{name or path}"]\n\tpath = {path}\n\turl = {url}\n'
        self.up.write(".gitmodules", modules)
        (self.up.path / path).mkdir(parents=True, exist_ok=True)  # else `git add -A` would drop the submodule
        self.up.git("add", "-A")
        self.up.git("update-index", "--add", "--cacheinfo", f"160000,{commit},{path}")
        self.up.clock += 3600
        self.up.git("commit", "-q", "-m", "link")
        return self.up.git("rev-parse", "HEAD")

    def collect(self, repository: GitRepository) -> None:
        """Forget what no ref leads to, as a server does after a force-push."""
        repository.git("reflog", "expire", "--expire=now", "--all")
        repository.git("gc", "-q", "--prune=now")


def told(outcome: Outcome) -> list[tuple[str, str, int | None]]:
    """Code, severity and line of each finding."""
    return [(f.code, f.severity.value, f.span.line if f.span else None) for f in outcome.findings]


@pytest.fixture
def world(make_repository: MakeRepository, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[World]:
    monkeypatch.setenv("PINCTL_CACHE", str(tmp_path / "the cache"))
    up, sub = make_repository("srv/up"), make_repository("srv/sub")
    sub_commit = sub.commit("sub", {"include/sub/a.h": "#include <stdio.h>\n", "LICENSE": "x\n"})
    source = "#include <sub/a.h>\n#include <vector>\n"
    up.commit("start", {"csrc/a.cpp": source, "up/__init__.py": "__version__ = '2.1'\n"})
    for repository in (up, sub):
        serve(repository.path)
    made = World(up, sub, tmp_path / "engine", sub_commit=sub_commit)
    made.commit = made.link("third-party/sub", sub_commit)
    with git_daemon(tmp_path / "srv") as address:
        for key, value in instead_of(address).items():
            monkeypatch.setenv(key, value)
        yield made


def test_a_pin_that_is_true(world: World) -> None:
    world.pins('track = "main"', 'version = "2.1"', 'include_dirs = ["csrc", "third-party/sub/include"]',
               'header_globs = ["third-party/sub/*.h"]')  # fmt: skip
    outcome = world.verify()
    assert (told(outcome), outcome.exit_code) == ([], 0)
    assert world.row(outcome) == {
        "name": "up", "commit": world.commit, "reachable": "branch", "branch": "main", "tag": None, "headers": [],
        "anchors": [],
        "submodules": [{"path": "third-party/sub", "url": f"{URL}sub", "commit": world.sub_commit, "reachable": "id"}],
    }  # fmt: skip
    assert told(world.verify("up")) == []  # and from what is cached
    away = world.verify(offline=True)
    assert world.row(away)["reachable"] == "branch"
    assert 0 <= world.row(away)["age"] < 25
    assert away.summary == "1 pin verified"
    assert away.closing[0].startswith("offline: the servers were asked ")
    assert away.closing[0].endswith(" ago")


def test_without_a_tracked_branch_it_is_the_remotes_own(world: World) -> None:
    world.pins()
    assert world.row(world.verify())["branch"] == "main"


def test_a_commit_that_no_branch_leads_to(world: World) -> None:
    main = world.commit
    world.commit = world.up.commit("pull request")
    world.up.git("update-ref", "refs/pull/7/head", world.commit)
    world.up.git("reset", "-q", "--hard", main)
    world.pins()
    outcome = world.verify()
    assert told(outcome) == [("PIN302", "warning", 4)]
    assert (world.row(outcome)["reachable"], outcome.exit_code) == ("id", 0)


@pytest.mark.parametrize("warm", [False, True], ids=["cold", "warm"])
def test_a_commit_that_was_forced_away(world: World, *, warm: bool) -> None:
    main = world.commit
    world.commit = world.up.commit("lost")
    world.pins('track = "main"')
    if warm:
        assert told(world.verify()) == []
    world.up.git("reset", "-q", "--hard", main)
    world.collect(world.up)
    outcome = world.verify()
    assert told(outcome) == [("PIN301", "error", 4)]
    assert (world.row(outcome)["reachable"], outcome.exit_code) == ("gone", 1)


def test_a_tag_that_moved(world: World) -> None:
    first = world.commit
    world.up.git("tag", "-a", "-m", "release", "v2.1")
    world.pins('tag = "v2.1"')
    assert told(world.verify()) == []
    moved = world.up.commit("more")
    world.up.git("tag", "-f", "-a", "-m", "again", "v2.1")
    outcome = world.verify()
    assert told(outcome) == [("PIN303", "error", 7)]
    assert (outcome.findings[0].expected, outcome.findings[0].found) == (first, moved)
    world.up.git("tag", "-d", "v2.1")
    assert [f.message for f in world.verify().findings] == [f"{URL}up has no tag v2.1"]


def test_a_tag_off_every_branch_keeps_its_commit(world: World) -> None:
    main, world.commit = world.commit, world.up.commit("release")
    world.up.git("tag", "v2.1")
    world.up.git("reset", "-q", "--hard", main)
    world.pins('tag = "v2.1"')
    outcome = world.verify()
    assert told(outcome) == []
    row = world.row(outcome)
    assert (row["reachable"], row["tag"]) == ("id", world.commit)  # what is there by its tag alone can be told


def test_h02_a_submodule_commit_that_was_never_pushed(world: World) -> None:
    world.pins()
    assert told(world.verify()) == []
    kept, lost = world.sub_commit, world.sub.commit("local")
    world.commit = world.link("third-party/sub", lost)
    world.pins()
    assert told(world.verify()) == []  # now it is in the cache
    world.sub.git("reset", "-q", "--hard", kept)
    world.collect(world.sub)
    outcome = world.verify()
    assert told(outcome) == [("PIN308", "error", 5)]
    assert lost in outcome.findings[0].message
    assert "third-party/sub" in outcome.findings[0].message
    assert world.row(outcome)["submodules"][0]["reachable"] == "gone"


def test_h05_a_declared_submodule_that_was_renamed(world: World) -> None:
    world.up.git("rm", "-q", "--cached", "third-party/sub")
    world.commit = world.link("extern/sub", world.sub_commit, name="third-party/sub")
    world.pins()
    outcome = world.verify()
    assert [t for t in told(outcome) if t[0] != "PIN316"] == [("PIN304", "error", 5), ("PIN305", "warning", 5)]
    assert outcome.findings[0].hint == 'it may be "extern/sub" now'


def test_h06_a_new_header_of_a_submodule(world: World) -> None:
    lib = world.sub.commit("uses libdw", {"include/sub/a.h": "#pragma once\n#include <elfutils/libdwfl.h>\n"})
    world.commit = world.link("third-party/sub", lib)
    world.pins()
    outcome = world.verify()
    assert told(outcome) == [("PIN315", "error", 2)]
    assert "third-party/sub/include/sub/a.h:2" in outcome.findings[0].message
    assert "elfutils-devel (dnf), libdw-dev (apt)" in outcome.findings[0].message
    need = world.row(outcome)["headers"][0]
    assert (need["include"], need["line"], need["guarded"], need["declared"]) == ("elfutils/libdwfl.h", 2, False, False)
    declared = 'system_packages.libdw = { dnf = "elfutils-devel", header = "elfutils/libdwfl.h" }'
    world.pins(declared)
    outcome = world.verify()
    assert told(outcome) == []
    assert world.row(outcome)["headers"][0]["declared"] is True


def test_h16_the_transport_is_not_the_identity(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    world.pins()
    monkeypatch.setenv("GIT_SSH_COMMAND", "false")
    text = (world.engine / "pins.toml").read_text()
    (world.engine / "pins.toml").write_text(text.replace(f"{URL}up", "git@git.example:up"))
    outcome = world.verify()  # the rewrite of https URLs does not cover ssh: the server is not reached
    assert told(outcome) == [("PIN320", "error", 3)]
    assert "git's rule insteadOf https://git.example/ passes over this spelling" in str(outcome.findings[0].hint)
    assert outcome.exit_code == 4


def test_one_pin_that_fails_does_not_stop_the_others(world: World) -> None:
    world.pins("[pins.away]", f'repo = "{URL}nowhere"', f'commit = "{"a1" * 20}"', "unused = true")
    outcome = world.verify()
    assert told(outcome) == [("PIN320", "error", 8)]
    assert [row["reachable"] for row in outcome.result["pins"]] == ["branch", None]  # type: ignore[attr-defined]
    assert outcome.exit_code == 4


def test_what_was_scanned_before_is_not_fetched_again(world: World, tmp_path: Path) -> None:
    lib = world.sub.commit("uses numa", {"include/sub/a.h": "#include <numa.h>\n"})
    world.commit = world.link("third-party/sub", lib)
    world.pins()
    first = world.verify()
    (header,) = world.row(first)["headers"]
    assert (header["include"], header["places"]) == ("numa.h", ["third-party/sub/include/sub/a.h:1"])
    shutil.rmtree(Path(bare.parent()))
    second = world.verify()
    assert (second.findings, second.result) == (first.findings, first.result)
    assert {name: blobs(f"{URL}{name}") for name in ("up", "sub")} == {"up": 2, "sub": 0}  # .gitmodules, __init__.py
    later = world.up.commit("later", {"csrc/b.cpp": "#include <vector>\n"})
    world.pins(commit=later)
    assert told(world.verify()) == told(first)
    assert blobs(f"{URL}up") == 3


def blobs(url: str) -> int:
    """How many files of the repository the cache holds."""
    argv = ["git", f"--git-dir={bare.folder_of(url)}", "cat-file", "--batch-all-objects", "--batch-check"]
    return subprocess.run(argv, capture_output=True, text=True, check=True).stdout.count(" blob ")


def test_offline_a_pin_that_tracks_nothing_is_held_against_the_default_branch(world: World) -> None:
    world.pins()
    assert world.row(world.verify())["reachable"] == "branch"
    assert world.row(world.verify(offline=True))["reachable"] == "branch"


def test_submodules_in_submodules_when_asked(world: World, make_repository: MakeRepository) -> None:
    deep = make_repository("srv/deep")
    serve(deep.path)
    deep_commit = deep.commit("deep", {"d.h": "\n"})
    world.sub.write(".gitmodules", '[submodule "d"]\n\tpath = ext/d\n\turl = ../deep\n')
    world.sub.git("add", "-A")
    world.sub.git("update-index", "--add", "--cacheinfo", f"160000,{deep_commit},ext/d")
    world.sub.git("commit", "-q", "-m", "nest")
    world.commit = world.link("third-party/sub", world.sub.git("rev-parse", "HEAD"))
    world.pins()
    assert len(world.row(world.verify())["submodules"]) == 1
    world.pins("recursive = true", 'include_dirs = ["third-party/sub/ext/d"]',
               f'nested."third-party/sub/ext/d" = "{"ab" * 20}"')  # fmt: skip
    outcome = world.verify()
    assert world.row(outcome)["submodules"][1] == {
        "path": "third-party/sub/ext/d", "url": f"{URL}deep", "commit": deep_commit, "reachable": "id",
    }  # fmt: skip
    assert told(outcome) == [("PIN319", "error", 9)]


def test_paths_that_build_files_name(world: World) -> None:
    world.pins('sites."CMakeLists.txt"."FetchContent(up)" = "{git}"')
    text = (world.engine / "pins.toml").read_text().replace("unused = true\n", "")
    (world.engine / "pins.toml").write_text(text)
    (world.engine / "CMakeLists.txt").write_text(
        "include_directories(${up_SOURCE_DIR}/third-party/sub/include ${up_SOURCE_DIR}/third-party/fmt/include)\n"
    )
    outcome = world.verify()
    assert told(outcome) == [("PIN312", "error", 1)]
    assert outcome.findings[0].file == "CMakeLists.txt"
    assert outcome.findings[0].hint == "folders of that name: third-party/sub/include"


def test_what_cannot_be_verified_is_told(world: World) -> None:
    world.pins("unresolved = true", 'tag = "v1"')
    text = (world.engine / "pins.toml").read_text()
    (world.engine / "pins.toml").write_text("".join(x for x in text.splitlines(True) if not x.startswith("commit")))
    outcome = world.verify()
    assert told(outcome) == [("PIN121", "warning", 6)]
    assert outcome.summary == "0 pins verified; 1 pin without a repository or a commit not asked about"


def test_nothing_is_written_in_the_consumers_tree(world: World) -> None:
    world.pins()
    before = sorted(world.engine.rglob("*"))
    world.verify()
    assert sorted(world.engine.rglob("*")) == before


def test_a_name_that_is_no_pin(world: World) -> None:
    world.pins()
    with pytest.raises(UsageError, match="no pin 'upp'"):
        world.verify("upp")


def test_a_tracked_branch_that_is_gone(world: World) -> None:
    world.pins('track = "release"')
    outcome = world.verify()
    assert told(outcome) == [("PIN302", "warning", 4)]
    assert f"{world.commit} is not on release of {URL}up" in outcome.findings[0].message


def test_a_branch_that_was_forced_back_and_forth(world: World) -> None:
    main = world.commit
    world.pins('track = "main"')
    world.commit = world.up.commit("later")
    assert told(world.verify()) == []
    world.pins('track = "main"')
    assert told(world.verify()) == []
    world.up.git("reset", "-q", "--hard", main)  # the remote still gives it by its id
    assert told(world.verify()) == [("PIN302", "warning", 4)]


def test_a_mirror_proves_no_branch(world: World, tmp_path: Path) -> None:
    address = os.environ["GIT_CONFIG_KEY_0"].removeprefix("url.").removesuffix(".insteadOf")
    rules = tmp_path / "policy.toml"
    rules.write_text(f'schema = 1\n[mirrors.git]\n"{URL}" = "{address}"\n')
    world.pins('track = "main"')
    outcome = verify.run(Options(directory=str(world.engine), policy=str(rules)))
    assert told(outcome) == []
    assert world.row(outcome)["reachable"] == "mirror"
    assert world.row(outcome)["submodules"][0]["reachable"] == "mirror"


def test_a_strangers_checkout_asks_nobody_without_a_policy(world: World) -> None:
    world.pins()
    with pytest.raises(UsageError, match="stranger"):
        verify.run(Options(directory=str(world.engine), untrusted=True))
