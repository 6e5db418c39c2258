"""The rows of the threat model that concern what asks servers, end to end: hostile pins and upstream repositories go
in, `verify` and `fetch` run as a user runs them, and what comes out is looked at."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from consumer import Run, command, environment, pinctl
from integration.servers import PUBLIC, git_daemon, git_http, instead_of, serve

from pinctl.external import bare, locks, process, remote

if TYPE_CHECKING:
    from repositories import GitRepository, MakeRepository

VERBS = pytest.mark.parametrize("verb", ["verify", "fetch"])
NOBODY = "ab" * 20


class World:
    """The repositories `up` and `sub` on a server, and an engine that pins `up`."""

    def __init__(self, tmp_path: Path, up: GitRepository, sub: GitRepository) -> None:
        self.tmp, self.up, self.sub = tmp_path, up, sub
        self.engine = tmp_path / "my engine"
        self.engine.mkdir()
        self.canary = tmp_path / "canary"

    @property
    def touch(self) -> str:
        """A command that leaves a trace."""
        return f"touch '{self.canary}'"

    def pin(self, commit: str | None = None, *lines: str, repo: str = f"{PUBLIC}up") -> None:
        facts = {"repo": repo, "commit": commit or self.up.git("rev-parse", "HEAD")}
        text = "".join(f"{key} = {json.dumps(value)}\n" for key, value in facts.items())
        (self.engine / "pins.toml").write_text("\n".join(["schema = 1\n[pins.up]", text, "unused = true", *lines, ""]))

    def run(self, verb: str, *words: str) -> Run:
        """Run a verb on the pin; whatever it meets, it leaves no trace of a command, no escape and no traceback."""
        run = pinctl(verb, "up", "--format", "json", *words, cwd=self.engine)
        assert not self.canary.exists()
        assert "Traceback" not in run.err
        assert "\x1b" not in run.out + run.err
        return run

    def commit_raw(self, *entries: tuple[str, bytes, str]) -> str:
        """A commit on main of a tree of any entries (mode, name, id), made without git's checks."""
        body = b"".join(mode.encode() + b" " + name + b"\0" + bytes.fromhex(id_) for mode, name, id_ in entries)
        argv = ["git", "-C", self.up.path, "hash-object", "-t", "tree", "-w", "--stdin", "--literally"]
        tree = subprocess.run(argv, input=body, capture_output=True, check=True).stdout.decode().strip()
        commit = self.up.git("commit-tree", tree, "-m", "raw")
        self.up.git("update-ref", "refs/heads/main", commit)
        return commit

    def blob(self, text: bytes) -> str:
        argv = ["git", "-C", self.up.path, "hash-object", "-w", "--stdin"]
        return subprocess.run(argv, input=text, capture_output=True, check=True).stdout.decode().strip()


@pytest.fixture
def world(make_repository: MakeRepository, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[World]:
    monkeypatch.setenv("PINCTL_CACHE", str(tmp_path / "the cache"))
    monkeypatch.setattr(remote, "PAUSES", (0.01, 0.01))
    up, sub = make_repository("srv/up"), make_repository("srv/sub")
    sub.commit("sub", {"include/sub.h": "#include <vector>\n"})
    up.commit("one", {"csrc/a.cpp": "#include <string>\n"})
    for repository in (up, sub):
        serve(repository.path)
    with git_daemon(tmp_path / "srv") as address:
        for key, value in instead_of(address).items():
            monkeypatch.setenv(key, value)
        yield World(tmp_path, up, sub)


# --- rows 1 to 8: pins.toml ---------------------------------------------------------------------------------------


URLS = (
    "--upload-pack={touch};", "ext::sh -c {touch}", "fd::3", "file:///srv/r", "/srv/r", "ssh://-oProxyCommand={touch}/",
    "git@-oProxyCommand={touch}:x", "https://github.com@evil.example/x", "https://g\u0456thub.com/x",
    "https://\u2461\u2461\u2466.0.0.1/x", "https://git.example\t.evil/x", "https://git.example/a\0", "http://git.example/x",
    "https://git.example/$TOKEN",
)  # fmt: skip
COMMITS = ("--output=/x", f"{NOBODY}\n", NOBODY[:12], "main", NOBODY.upper(), ":/good")
NAMES = ("--upload-pack={touch};", "-x", "x:refs/heads/y", "a..b", ":/good", "a@{{1}}", "a\nb")


@VERBS
def test_rows_1_and_4_to_8_a_url_is_an_address_and_nothing_else(
    verb: str, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TOKEN", "SENTINEL")
    monkeypatch.setenv("GIT_ALLOW_PROTOCOL", "ext:file:fd")
    for url in URLS:
        world.pin(repo=url.format(touch=world.touch))
        run = world.run(verb)
        assert (run.code, run.codes) in ((3, ["PIN103"]), (3, ["PIN107"]), (3, ["PIN119"]))
        assert "SENTINEL" not in run.out
    assert not (world.tmp / "the cache").exists()


@VERBS
def test_row_2_a_branch_and_a_tag_are_names_and_nothing_else(verb: str, world: World) -> None:
    for key in ("track", "tag"):
        for name in NAMES:
            world.pin(None, f"{key} = {json.dumps(name.format(touch=world.touch))}")
            run = world.run(verb)
            assert (run.code, run.codes) == (3, ["PIN103"])
    assert not (world.tmp / "the cache").exists()


@pytest.mark.parametrize("name", ["+x", "x//y", "refs/replace/x", "a|b", "caf\u00e9", "x.lock"])
def test_row_2_nor_are_those_that_pass_there_more_to_git(name: str, world: World) -> None:
    world.pin(None, f"track = '{name}'")
    run = world.run("verify")
    assert run.told in ([("PIN320", "error")], [("PIN302", "warning")])


@VERBS
def test_rows_3_and_10_a_commit_is_a_full_id_and_nothing_else(verb: str, world: World) -> None:
    for commit in COMMITS:
        world.pin(commit)
        run = world.run(verb)
        assert (run.code, run.codes) in ((3, ["PIN103"]), (3, ["PIN105"]), (3, ["PIN106"]))
    assert not (world.tmp / "the cache").exists()


# --- rows 9 to 12: servers and refs -------------------------------------------------------------------------------


@VERBS
def test_row_9_no_redirect_is_followed_and_no_token_goes_on(
    verb: str, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    base = world.tmp / "srv"
    with git_http(base) as (inner, inner_address), git_http(base) as (outer, address):
        header = ("http.extraHeader", "Authorization: Bearer SENTINEL")
        for key, value in instead_of(address, PUBLIC, header).items():
            monkeypatch.setenv(key, value)
        outer.answers = [(302, {"Location": f"{inner_address}up/info/refs?service=git-upload-pack"})]
        world.pin()
        run = world.run(verb)
        assert run.code == 4
        assert "SENTINEL" not in run.out + run.err
        assert (inner.seen, len(outer.seen)) == ([], 1)


@VERBS
def test_row_10_names_that_look_like_the_pin(verb: str, world: World) -> None:
    good = world.up.git("rev-parse", "HEAD")
    world.up.git("checkout", "-q", "-b", "evil")
    evil = world.up.commit("evil", {"csrc/a.cpp": "#include <numa.h>\n"})
    world.up.git("checkout", "-q", "main")
    world.up.git("update-ref", f"refs/heads/{good}", evil)
    world.up.git("update-ref", "refs/tags/main", evil)
    world.pin(good, "track = 'main'")
    run = world.run(verb)
    assert (run.code, run.codes) == (0, [])  # numa.h would have been told
    row = run.document["result"]["pins"][0]
    if verb == "verify":
        assert (row["commit"], row["reachable"]) == (good, "branch")
    else:
        assert (world.engine / "up/csrc/a.cpp").read_text() == "#include <string>\n"
        assert (world.engine / "up/.git/HEAD").read_text() == f"{good}\n"


@VERBS
def test_row_12_a_replacement_is_not_followed(verb: str, world: World) -> None:
    good = world.up.git("rev-parse", "HEAD")
    evil = world.up.commit("evil", {"csrc/a.cpp": "#include <numa.h>\n"})
    world.up.git("reset", "-q", "--hard", good)
    world.up.git("replace", good, evil)
    world.pin(good, "track = 'main'")
    assert world.run(verb).codes == []
    if verb == "fetch":
        assert (world.engine / "up/csrc/a.cpp").read_text() == "#include <string>\n"


# --- rows 13 to 17: what a tree holds -----------------------------------------------------------------------------


@VERBS
@pytest.mark.parametrize(
    ("name", "path", "url"),
    [("../../e", "sub", "../sub"), ("x", "sub", "-u./payload"), ("x", "sub", "ext::sh -c '{touch}'"),
     ("x", "sub", "//evil/x"), ("x", "sub", "../../../evil"), ("x", "sub", "file:///etc"), ("x", "-x", "../sub"),
     ("x", "sub\r", "../sub")],
)  # fmt: skip
def test_row_13_a_submodule_that_leaves_its_place(name: str, path: str, url: str, verb: str, world: World) -> None:
    modules = f'[submodule "{name}"]\n\tpath = "{path}"\n\turl = {url.format(touch=world.touch)}\n'
    entry = ("100644", b".gitmodules", world.blob(f"{modules}\tupdate = !{world.touch}\n".encode()))
    world.pin(world.commit_raw(entry, ("160000", path.encode(), world.sub.git("rev-parse", "HEAD"))))
    run = world.run(verb)
    assert run.code in (1, 4)
    if verb == "verify":
        assert {"PIN309", "PIN321"} & set(run.codes)  # we refuse it, or git does
        assert not [m for m in run.document["result"]["pins"][0]["submodules"] if m["reachable"]]
    assert not (world.engine / "up").exists()


@VERBS
def test_row_14_submodules_have_a_bottom(verb: str, world: World, make_repository: MakeRepository) -> None:
    inner = world.sub.git("rev-parse", "HEAD")
    last = "../sub"
    for number in range(6):
        repository = make_repository(f"srv/m{number}")
        serve(repository.path)
        repository.write(".gitmodules", f'[submodule "m"]\n\tpath = m\n\turl = {last}\n')
        repository.git("add", "-A")
        repository.git("update-index", "--add", "--cacheinfo", f"160000,{inner},m")
        repository.git("commit", "-q", "-m", "nest")
        inner, last = repository.git("rev-parse", "HEAD"), f"../m{number}"
    modules = world.blob(f'[submodule "m"]\n\tpath = m\n\turl = {last}\n'.encode())
    world.pin(world.commit_raw(("100644", b".gitmodules", modules), ("160000", b"m", inner)), "recursive = true")
    run = world.run(verb)
    if verb == "verify":
        assert len(run.document["result"]["pins"][0]["submodules"]) == 4
    else:
        assert (run.code, "more than 4 deep" in run.err) == (1, True)


@VERBS
@pytest.mark.parametrize("kind", ["link", "include"])
def test_row_15_gitmodules_names_no_other_file(kind: str, verb: str, world: World) -> None:
    secret = world.tmp / "secret"
    secret.write_text(f'[submodule "m"]\n\tpath = m\n\turl = {PUBLIC}SENTINEL\n')
    text = str(secret) if kind == "link" else f"[include]\n\tpath = {secret}\n"
    mode = "120000" if kind == "link" else "100644"
    link = ("160000", b"m", world.sub.git("rev-parse", "HEAD"))
    world.pin(world.commit_raw((mode, b".gitmodules", world.blob(text.encode())), link))
    run = world.run(verb)
    assert run.code in (1, 4)
    assert "SENTINEL" not in run.out + run.err


@VERBS
@pytest.mark.parametrize("name", [b".git", b".GIT", b"..", b"git~1", b".g\xe2\x80\x8cit"])
def test_row_16_an_entry_that_would_enter_git(name: bytes, verb: str, world: World) -> None:
    world.pin(world.commit_raw(("40000", name, world.up.git("rev-parse", "HEAD^{tree}"))))
    run = world.run(verb)
    assert run.code in (1, 4)
    if verb == "verify":
        assert run.told == [("PIN321", "error")]
    assert not (world.engine / "up").exists()


@VERBS
def test_row_17_a_repository_in_the_tree_is_not_entered(verb: str, world: World) -> None:
    config = f"[core]\n\tbare = true\n\tfsmonitor = {world.touch}\n\tworktree = ..\n"
    inner = {"HEAD": "ref: refs/heads/x\n", "config": config, "objects/x": "", "refs/x": ""}
    world.pin(world.up.commit("nested", {f"in/{name}": text for name, text in inner.items()}))
    for _ in range(2):
        assert world.run(verb).code == 0


# --- rows 18 to 20: what files say --------------------------------------------------------------------------------


@VERBS
def test_row_18_no_filter_and_no_hook_of_anybody_runs(verb: str, world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    hooks = world.tmp / "hooks"
    hooks.mkdir()
    for name in ("post-checkout", "reference-transaction", "evil"):
        (hooks / name).write_text(f"#!/bin/sh\n{world.touch}\ncat\n")
        (hooks / name).chmod(0o755)
    filters = "".join(f'[filter "{n}"]\n\tsmudge = {hooks}/evil\n\tclean = {hooks}/evil\n' for n in ("lfs", "evil"))
    config = world.tmp / "gitconfig"
    config.write_text(f"{filters}[core]\n\thooksPath = {hooks}\n[init]\n\ttemplateDir = {hooks}\n")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(config))
    world.pin(world.up.commit("lfs", {".gitattributes": "*.bin filter=lfs\n*.py filter=evil\n", "x.py": "x\n"}))
    for _ in range(2):
        assert world.run(verb).code == 0


def test_row_19_what_is_read_is_the_blob(world: World) -> None:
    files = {".gitattributes": "*.cpp text eol=crlf ident export-subst\n", "csrc/a.cpp": "// $Id$\n#include <numa.h>\n"}
    world.pin(world.up.commit("attributes", files))
    run = world.run("verify")
    (need,) = run.document["result"]["pins"][0]["headers"]
    assert (need["include"], need["line"]) == ("numa.h", 2)


@VERBS
@pytest.mark.parametrize("target", ["/proc/self/environ", "../../../../../../proc/self/environ"])
def test_row_20_a_link_is_not_read_through(
    target: str, verb: str, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SENTINEL_OF_TEST", "SENTINEL")
    for name in ("x.h", "VERSION"):
        (world.up.path / name).symlink_to(target)
    (world.up.path / "csrc/a.cpp").write_text('#include "../x.h"\n')
    world.pin(world.up.commit("link"), "version = '1.0'", "include_dirs = ['csrc']")
    run = world.run(verb)
    assert "SENTINEL" not in run.out + run.err
    assert run.code == (0 if verb == "verify" else 1)


# --- rows 21 to 24: too much, and too alike -----------------------------------------------------------------------


@VERBS
def test_row_21_a_tree_bomb_is_stopped(verb: str, world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "LIMIT", 4_000_000)
    entries = [("100644", b"f%d.h" % n, world.blob(b"x")) for n in range(10)]
    for _ in range(9):
        commit = world.commit_raw(*entries)
        tree = world.up.git("rev-parse", f"{commit}^{{tree}}")
        entries = [("40000", b"d%d" % n, tree) for n in range(10)]
    world.pin(world.commit_raw(*entries))
    begun = time.monotonic()
    run = world.run(verb)
    assert time.monotonic() - begun < 30
    assert run.code in (1, 4)
    if verb == "verify":
        assert run.told == [("PIN321", "error")]


@pytest.mark.slow
def test_row_22_a_large_blob_is_never_in_memory(world: World) -> None:
    """Of pinctl, and of every git that it starts."""
    with open(world.up.path / "zeros.h", "wb") as file:
        file.truncate(200 * 1024 * 1024)
    world.up.git("config", "core.bigFileThreshold", "16m")
    world.pin(world.up.commit("zeros"))
    code = (
        "import resource, subprocess, sys\n"
        "done = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL)\n"
        "print(done.returncode, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"
    )
    argv = [sys.executable, "-c", code, *command("verify", "up")]
    done = subprocess.run(argv, cwd=world.engine, env=environment(), capture_output=True, text=True, check=True)
    status, peak = map(int, done.stdout.split())
    assert (status, done.stderr) == (0, "")
    assert peak * (1 if sys.platform == "darwin" else 1024) < 128 * 1024 * 1024


def test_row_23_paths_that_are_one_where_case_does_not_count(world: World) -> None:
    world.pin(world.up.commit("twins", {"Inc/a.h": "1\n", "inc/a.h": "2\n", "caf\u00e9.h": "", "cafe\u0301.h": ""}))
    run = world.run("verify")
    assert run.told == [("PIN318", "warning")] * 2


def test_row_23_no_bump_leads_to_such_paths(world: World) -> None:
    world.pin(world.up.commit("one", {"a.h": ""}))
    world.up.commit("twins", {"Inc/a.h": "1\n", "inc/a.h": "2\n"})
    assert world.run("bump").told == [("PIN318", "error")]
    assert world.run("bump", "--accept", "PIN318").told == [("PIN318", "warning")]


@VERBS
def test_row_24_a_path_is_no_question(verb: str, world: World) -> None:
    names = ["x\nmain:y.h", f"{NOBODY}\n.h", "tab\there.h", "latin\udcff.h", " lead.h"]
    for name in names:
        Path(world.up.path, name).write_bytes(b"#include <numa.h>\n")
    world.pin(world.up.commit("names"))
    run = world.run(verb)
    if verb == "verify":
        (need,) = run.document["result"]["pins"][0]["headers"]
        assert len(need["places"]) == len(names)
    else:
        assert run.code == 0
        assert all(Path(world.engine, "up", name).read_bytes() == b"#include <numa.h>\n" for name in names)


# --- rows 26 and 27: the cache ------------------------------------------------------------------------------------


@VERBS
def test_row_26_what_is_planted_in_the_cache_is_not_obeyed(verb: str, world: World) -> None:
    world.pin()
    assert world.run(verb).code == 0
    folder = Path(bare.folder_of(f"{PUBLIC}up"))
    (folder / "config").write_text(
        f"[core]\n\trepositoryformatversion = 0\n\tbare = true\n\tfsmonitor = {world.touch}\n"
        f'\talternateRefsCommand = {world.touch};\n[remote "{PUBLIC}up"]\n\tuploadpack = {world.touch};\n\tvcs = ext\n'
        f"[include]\n\tpath = {world.tmp}/other\n"
    )
    (world.tmp / "other").write_text(f"[core]\n\tsshCommand = {world.touch}\n")
    (folder / "objects/info").mkdir(exist_ok=True)
    (folder / "objects/info/alternates").write_text(f"{world.sub.path}/.git/objects\n")
    (folder / "hooks").mkdir()
    (folder / "hooks/reference-transaction").write_text(f"#!/bin/sh\n{world.touch}\n")
    (folder / "hooks/reference-transaction").chmod(0o755)
    world.pin(world.up.commit("two", {"b.h": "\n"}))
    assert world.run(verb).code == 0


@VERBS
def test_row_26_a_cache_of_others_is_not_used(verb: str, world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    world.pin()
    assert world.run(verb).code == 0
    monkeypatch.setattr(os, "geteuid", lambda: 12345)
    run = world.run(verb)
    assert run.code == 4
    assert "is no folder of ours" in run.out + run.err


@VERBS
def test_row_27_a_lock_that_is_held_ends_the_wait(verb: str, world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(locks, "PATIENCE", 0.1)
    world.pin()
    with locks.alone(f"{bare.parent()}/{Path(bare.folder_of(f'{PUBLIC}up')).name}.lock"):
        run = world.run(verb)
    assert run.code == 4
    assert "another pinctl has held" in run.out + run.err
