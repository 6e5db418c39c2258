"""`pinctl fetch` from repositories on disk, which the user's insteadOf stands for."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from integration.servers import PUBLIC, instead_of, serve

from pinctl.commands import fetch, verify
from pinctl.errors import ExternalError, UsageError, WriteRefused
from pinctl.external import checkout, remote, source
from pinctl.external.process import ToolMissing
from pinctl.external.remote import Gone, Hostile, Unreachable
from pinctl.options import Options
from pinctl.outcome import Outcome

if TYPE_CHECKING:
    from repositories import GitRepository, MakeRepository

SITE = "unused = true\n"


class World:
    """Repositories of a server, and a consumer's pins.toml in a folder with a space."""

    def __init__(self, tmp_path: Path, make: MakeRepository, patch: pytest.MonkeyPatch) -> None:
        self.tmp, self.make, self.patch = tmp_path, make, patch
        self.root = tmp_path / "my engine"
        self.root.mkdir()
        self.at(f"{tmp_path}/srv/")
        self.clock = 0

    def at(self, address: str) -> None:
        for name, value in instead_of(address).items():
            self.patch.setenv(name, value)

    def repository(self, name: str, files: dict[str, str], modules: dict[str, str] | None = None) -> GitRepository:
        """A served repository NAME.git with submodules: path -> URL as it stands in .gitmodules."""
        repository = self.make(f"srv/{name}.git")
        text = "".join(
            f'[submodule "{path}"]\n\tpath = {path}\n\turl = {url}\n' for path, url in (modules or {}).items()
        )
        repository.commit(name, {**files, **({".gitmodules": text} if text else {})})
        for path, url in (modules or {}).items():
            served = self.tmp / "srv" / url.rsplit("/", 1)[1]
            head = subprocess.run(
                ["git", "-C", served, "rev-parse", "HEAD"], capture_output=True, text=True, check=True
            )
            repository.git("update-index", "--add", "--cacheinfo", f"160000,{head.stdout.strip()},{path}")
            (repository.path / path).mkdir(parents=True)
        if modules:
            repository.git("commit", "-q", "-m", "submodules")
        serve(repository.path)
        return repository

    def pins(self, text: str) -> None:
        (self.root / "pins.toml").write_text(f"schema = 1\n{text}")

    def pin(self, repository: GitRepository, more: str = "", name: str = "dg") -> str:
        url = f"{PUBLIC}{repository.path.name}"
        return (
            f'[pins.{name}]\nrepo = "{url}"\ncommit = "{repository.git("rev-parse", "HEAD")}"\nunused = true\n{more}\n'
        )

    def fetch(self, *pins: str, **more: Any) -> Outcome:
        options = Options(directory=str(self.root), untrusted=False, offline=more.pop("offline", False))
        return fetch.run(options, pins=pins, **more)


@pytest.fixture
def world(tmp_path: Path, make_repository: MakeRepository, monkeypatch: pytest.MonkeyPatch) -> World:
    monkeypatch.setenv("PINCTL_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(remote, "PAUSES", ())
    return World(tmp_path, make_repository, monkeypatch)


@pytest.fixture
def nested(world: World) -> GitRepository:
    """dg with the submodules third-party/a, which has deep/c in it, and `third-party/b`."""
    world.repository("c", {"c.h": "c\n"})
    world.repository("a", {"a.h": "a\n"}, {"deep/c": "../c.git"})
    world.repository("b", {"b.h": "b\n"})
    files = {"dg.py": "one\n", "run.sh": "#!/bin/sh\n", "lib/x.py": "x\n"}
    return world.repository("dg", files, {"third-party/a": "../a.git", "third-party/b": f"{PUBLIC}b.git"})


def git(folder: Path, *args: str) -> str:
    """git as a person runs it in the folder."""
    done = subprocess.run(
        ["git", "-c", "protocol.allow=never", *args], cwd=folder, capture_output=True, text=True, check=True
    )
    return done.stdout


def files(folder: Path) -> list[str]:
    found = (path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())
    return sorted(name for name in found if not name.startswith(".git/") and not name.endswith("/.git"))


ALL = [".gitmodules", "dg.py", "lib/x.py", "run.sh"]


@pytest.mark.parametrize(
    ("declared", "there", "status"),
    [
        ("submodules = []", [], "--"),
        ('submodules = ["third-party/b"]', ["third-party/b/b.h"], "- "),
        ("", ["third-party/a/.gitmodules", "third-party/a/a.h", "third-party/b/b.h"], "  "),
        ('submodules = ["third-party/a"]\nrecursive = true',
         ["third-party/a/.gitmodules", "third-party/a/a.h", "third-party/a/deep/c/c.h"], " -"),
    ],
)  # fmt: skip
def test_exactly_the_declared_submodules(
    declared: str, there: list[str], status: str, world: World, nested: GitRepository
) -> None:
    world.pins(world.pin(nested, declared))
    outcome = world.fetch("dg", to="a source")
    folder = world.root / "a source"
    assert files(folder) == sorted([*ALL, *there])
    assert git(folder, "rev-parse", "HEAD").strip() == nested.git("rev-parse", "HEAD")
    lines = git(folder, "submodule", "status").splitlines()
    assert "".join(line[0] for line in lines) == status
    assert git(folder, "status", "--porcelain") == ""
    git(folder, "fsck", "--no-dangling")
    rows = outcome.result["pins"]
    assert isinstance(rows, list)
    assert (rows[0]["state"], rows[0]["folder"]) == ("fetched", str(folder))
    assert outcome.summary == "1 source at its pin"


def test_nested_submodules_are_whole_repositories(world: World, nested: GitRepository) -> None:
    world.pins(world.pin(nested, "recursive = true"))
    outcome = world.fetch("dg")
    folder = world.root / "dg"  # without --to, by the pin's name
    status = git(folder, "submodule", "status", "--recursive").splitlines()
    assert [line.split()[1] for line in status] == ["third-party/a", "third-party/a/deep/c", "third-party/b"]
    assert {line[0] for line in status} == {" "}
    assert git(folder / "third-party/a/deep/c", "remote", "get-url", "origin").strip().endswith("c.git")
    rows = outcome.result["pins"]
    assert isinstance(rows, list)
    assert [(m["path"], m["url"]) for m in rows[0]["submodules"]] == [
        ("third-party/a", f"{PUBLIC}a.git"),
        ("third-party/b", f"{PUBLIC}b.git"),
        ("third-party/a/deep/c", f"{PUBLIC}c.git"),
    ]


def test_the_second_fetch_asks_no_server(world: World, nested: GitRepository) -> None:
    world.pins(world.pin(nested, "recursive = true"))
    world.fetch("dg")
    world.at("/nowhere/")
    assert world.fetch("dg").result["pins"][0]["state"] == "present"  # type: ignore[index]
    assert world.fetch("dg", to="elsewhere").result["pins"][0]["state"] == "fetched"  # type: ignore[index]
    assert files(world.root / "elsewhere") == files(world.root / "dg")
    offline = world.fetch("dg", offline=True)
    assert offline.summary.startswith("1 source at its pin; offline: the servers were asked ")


def test_a_moved_pin_takes_the_place_of_the_old_one(world: World, nested: GitRepository) -> None:
    world.pins(world.pin(nested))
    world.fetch("dg")
    nested.commit("next", {"new.py": "new\n"})
    world.pins(world.pin(nested, "submodules = []"))
    world.fetch("dg")
    assert files(world.root / "dg") == sorted([*ALL, "new.py"])
    assert git(world.root / "dg", "status", "--porcelain") == ""
    assert sorted(path.name for path in world.root.iterdir()) == ["dg", "pins.toml"]


def test_h04_an_older_commit_that_no_tag_names(world: World) -> None:
    """A test at the tip proves nothing: a shallow fetch of a branch has that commit."""
    repository = world.repository("dg", {"dg.py": "one\n"})
    world.pins(world.pin(repository))
    old = repository.git("rev-parse", "HEAD")
    for number in range(3):
        repository.commit("later", {"dg.py": f"later {number}\n"})
    world.fetch("dg")
    assert (world.root / "dg/dg.py").read_text() == "one\n"
    assert git(world.root / "dg", "rev-parse", "HEAD").strip() == old


def test_h05_a_submodule_is_at_the_commit_of_the_pin_and_not_at_that_of_the_tip(
    world: World, nested: GitRepository
) -> None:
    world.pins(world.pin(nested))
    old = world.root / "pins.toml", (world.root / "pins.toml").read_text()
    moved = world.make("moved")
    moved.path = world.tmp / "srv/b.git"
    later = moved.commit("later", {"b.h": "later\n"})
    nested.git("update-index", "--cacheinfo", f"160000,{later},third-party/b")
    nested.git("commit", "-q", "-m", "move")
    world.pins(world.pin(nested))
    for state in ("later\n", "b\n"):
        world.fetch("dg")
        assert (world.root / "dg/third-party/b/b.h").read_text() == state
        assert {line[0] for line in git(world.root / "dg", "submodule", "status").splitlines()} == {" "}
        old[0].write_text(old[1])


@pytest.mark.parametrize(
    ("url", "hint"),
    [("git@git.example:dg.git", "passes over this spelling"),
     pytest.param("https://git.example/DG.git", None,
                  marks=pytest.mark.skipif(sys.platform == "darwin", reason="one folder there"))],
)  # fmt: skip
def test_h16_the_rewrite_of_one_spelling_does_not_serve_another(
    url: str, hint: str | None, world: World, nested: GitRepository
) -> None:
    """`verify` tells which rule passes over the spelling; `fetch` tells what git said, and touches no credentials."""
    world.patch.setenv("GIT_SSH_COMMAND", "false")
    world.pins(world.pin(nested).replace(f"{PUBLIC}dg.git", url))
    with pytest.raises(Unreachable) as error:
        world.fetch("dg")
    assert url in str(error.value)
    outcome = verify.run(Options(directory=str(world.root), untrusted=False))
    (found,) = outcome.findings
    assert found.code == "PIN320"
    assert (hint or "") in str(found.hint)


def test_h17_pointers_are_left_as_they_are_and_those_that_are_used_are_told(world: World) -> None:
    pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n"
    files = {".gitattributes": "*.bin filter=lfs\n", "include/used.bin": pointer, "data/unused.bin": pointer}
    repository = world.repository("dg", files)
    world.pins(world.pin(repository, "include_dirs = ['include']"))
    world.fetch("dg")
    assert (world.root / "dg/include/used.bin").read_text() == pointer
    (found,) = verify.run(Options(directory=str(world.root), untrusted=False)).findings
    assert (found.code, "include/used.bin" in found.message) == ("PIN314", True)
    world.pins(world.pin(repository, "include_dirs = ['include']\nlfs = true"))
    assert verify.run(Options(directory=str(world.root), untrusted=False)).findings == ()


def changed_file(folder: Path) -> None:
    (folder / "dg.py").write_text("mine\n")


def changed_submodule(folder: Path) -> None:
    (folder / "third-party/a/a.h").write_text("mine\n")


def own_commit(folder: Path) -> None:
    git(folder, "-c", "user.name=me", "-c", "user.email=me@x", "commit", "-q", "--allow-empty", "-m", "mine")


def own_config(folder: Path) -> None:
    git(folder, "config", "filter.evil.clean", f"touch {folder.parent.parent}/canary")


@pytest.mark.parametrize("change", [changed_file, changed_submodule, own_commit, own_config])
def test_what_a_person_changed_is_left_alone(
    change: Callable[[Path], None], world: World, nested: GitRepository, tmp_path: Path
) -> None:
    world.pins(world.pin(nested))
    world.fetch("dg")
    folder = world.root / "dg"
    change(folder)
    (folder / ".gitattributes").write_text("* filter=evil\n")
    before = {name: (folder / name).read_bytes() for name in files(folder)}
    with pytest.raises(WriteRefused) as error:
        world.fetch("dg")
    assert "remove" in str(error.value.hint)
    assert {name: (folder / name).read_bytes() for name in files(folder)} == before
    assert not (tmp_path / "canary").exists()


def test_new_files_are_kept_where_the_pin_stands_and_stop_its_move(world: World, nested: GitRepository) -> None:
    world.pins(world.pin(nested))
    world.fetch("dg")
    (world.root / "dg/build").mkdir()
    (world.root / "dg/build/out.o").write_text("built")
    assert world.fetch("dg").result["pins"][0]["state"] == "present"  # type: ignore[index]
    nested.commit("next", {"new.py": "new\n"})
    world.pins(world.pin(nested))
    with pytest.raises(WriteRefused, match="holds files that are not the pin's"):
        world.fetch("dg")
    assert (world.root / "dg/build/out.o").exists()


def test_a_folder_of_another_is_not_touched(world: World, nested: GitRepository) -> None:
    world.pins(world.pin(nested))
    (world.root / "dg").mkdir()
    world.fetch("dg")  # an empty one may be filled
    (world.root / "theirs").mkdir()
    (world.root / "theirs/file").write_text("x")
    with pytest.raises(WriteRefused, match="was not made by pinctl fetch"):
        world.fetch("dg", to="theirs")
    assert [path.name for path in (world.root / "theirs").iterdir()] == ["file"]


def test_an_interrupted_fetch_leaves_nothing_and_the_next_one_is_clean(
    world: World, nested: GitRepository, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.pins(world.pin(nested))

    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(checkout, "_put", stop)
        with pytest.raises(KeyboardInterrupt):
            world.fetch("dg")
    assert [path.name for path in world.root.iterdir()] == ["pins.toml"]
    (world.root / ".dg.pinctl-killed/new").mkdir(parents=True)  # what a killed run leaves
    world.at("/nowhere/")  # everything is in the cache already
    world.fetch("dg")
    assert sorted(path.name for path in world.root.iterdir()) == ["dg", "pins.toml"]


def test_one_pin_that_fails_does_not_stop_the_others(world: World, nested: GitRepository) -> None:
    other = world.repository("other", {"o.h": "o\n"})
    lost = f'[pins.lost]\nrepo = "{PUBLIC}none.git"\ncommit = "{"1" * 40}"\nunused = true\n'
    gone = f'[pins.gone]\nrepo = "{PUBLIC}other.git"\ncommit = "{"2" * 40}"\nunused = true\n'
    world.pins(lost + world.pin(nested) + gone + world.pin(other, name="other"))
    outcome = world.fetch()
    rows = outcome.result["pins"]
    assert isinstance(rows, list)
    assert {row["name"]: row["state"] for row in rows} == {
        "lost": "failed", "dg": "fetched", "gone": "failed", "other": "fetched"}  # fmt: skip
    assert [(f.code, f.pin, f.span.line if f.span else 0) for f in outcome.findings] == [
        ("PIN320", "lost", 4), ("PIN301", "gone", 13)]  # fmt: skip
    assert outcome.exit_code == 4
    assert files(world.root / "other") == ["o.h"]


def test_a_commit_that_is_gone(world: World, nested: GitRepository) -> None:
    world.pins(f'[pins.dg]\nrepo = "{PUBLIC}dg.git"\ncommit = "{"1" * 40}"\nunused = true\n')
    with pytest.raises(Gone) as error:
        world.fetch("dg")
    assert error.value.exit_code == 1


def test_a_submodule_that_is_not_there(world: World, nested: GitRepository) -> None:
    world.pins(world.pin(nested, 'submodules = ["third-party/fmt"]'))
    with pytest.raises(Hostile, match="has no submodule third-party/fmt at"):
        world.fetch("dg")
    assert not (world.root / "dg").exists()


@pytest.mark.parametrize(
    ("pins", "what"),
    [(("no",), "no pin 'no'"), (("tl",), "has no repository"), (("half",), "the commit of half is not known")],
)
def test_pins_that_cannot_be_fetched(pins: tuple[str, ...], what: str, world: World, nested: GitRepository) -> None:
    world.pins(world.pin(nested) + '[pins.tl]\npackages = ["tl"]\nversion = "1"\nunused = true\n'
               f'[pins.half]\nrepo = "{PUBLIC}x.git"\nunresolved = "abcdef1"\nunused = true\n')  # fmt: skip
    with pytest.raises(UsageError, match=what):
        world.fetch(*pins)


# Security rows 13, 15, 16, 20 and 23.
def link_out(repository: GitRepository) -> None:
    (repository.path / "include").mkdir()
    (repository.path / "include/x.h").symlink_to("../../../etc/passwd")


def link_absolute(repository: GitRepository) -> None:
    (repository.path / "x.h").symlink_to("/proc/self/environ")


def link_by_a_detour(repository: GitRepository) -> None:
    (repository.path / "here").symlink_to(".")
    (repository.path / "s").mkdir()
    (repository.path / "s/t").symlink_to("../here/..")


def twin_of_a_link(repository: GitRepository) -> None:
    (repository.path / "A/modules").mkdir(parents=True)
    (repository.path / "A/modules/x").write_text("x")
    (repository.path / "a").symlink_to(".git")


def module(name: str, path: str, url: str) -> Callable[[GitRepository], None]:
    def write(repository: GitRepository) -> None:
        text = f'[submodule "{name}"]\n\tpath = {path}\n\turl = {url}\n\tupdate = !touch canary\n'
        repository.write(".gitmodules", text)
        repository.git("add", ".gitmodules")
        repository.git("update-index", "--add", "--cacheinfo", f"160000,{'1' * 40},sub")

    return write


@pytest.mark.parametrize(
    "plant",
    [link_out, link_absolute, link_by_a_detour, twin_of_a_link, module("../../e", "sub", "../b.git"),
     module("x", "sub", "-u./payload"), module("x", "sub", "//evil/x"), module("x", "sub", "ext::sh -c x"),
     module("x", "sub", "file:///etc"), module("x", "sub", "../../../b.git"), module("x", "other", "../b.git")],
)  # fmt: skip
def test_hostile_trees_are_not_checked_out(
    plant: Callable[[GitRepository], None], world: World, tmp_path: Path
) -> None:
    world.repository("b", {"b.h": "b\n"})
    repository = world.repository("dg", {"f": "f\n"})
    plant(repository)
    repository.git("add", "-A", "--", ".", ":!sub", ":!.gitmodules")
    repository.git("commit", "-q", "-m", "hostile")
    world.pins(world.pin(repository))
    with pytest.raises((Hostile, ExternalError)) as error:
        world.fetch("dg")
    assert error.value.exit_code in (1, 4)
    assert [path.name for path in world.root.iterdir()] == ["pins.toml"]
    assert not list(tmp_path.rglob("canary"))


def test_gitmodules_that_is_a_link_is_not_followed(world: World) -> None:
    repository = world.repository("dg", {"real": '[submodule "b"]\npath = sub\nurl = ../b.git\n', "target": "real"})
    target = repository.git("rev-parse", "HEAD:target")
    lines = f"120000 blob {target}\t.gitmodules\n160000 commit {'1' * 40}\tsub\n"
    argv = ["git", "-C", repository.path, "mktree", "--missing"]
    tree = subprocess.run(argv, input=lines, capture_output=True, text=True, check=True).stdout.strip()
    repository.git("update-ref", "refs/heads/main", repository.git("commit-tree", tree, "-m", "link"))
    world.pins(world.pin(repository))
    with pytest.raises(Hostile, match="gitmodules"):
        world.fetch("dg")


def test_links_that_stay_inside_are_links(world: World) -> None:
    repository = world.repository("dg", {"include/x.h": "x\n", "lib/y.h": "y\n"})
    (repository.path / "lib/x.h").symlink_to("../include/x.h")
    repository.commit("link")
    world.pins(world.pin(repository))
    world.fetch("dg")
    assert (world.root / "dg/lib/x.h").read_text() == "x\n"
    assert (world.root / "dg/lib/x.h").is_symlink()


# Security row 14.
def test_submodules_without_end(world: World) -> None:
    world.repository("m0", {"f": "f\n"})
    for n in range(1, 7):
        world.repository(f"m{n}", {"f": "f\n"}, {"m": f"../m{n - 1}.git"})
    repository = world.make("srv/dg.git")
    last = subprocess.run(
        ["git", "-C", world.tmp / "srv/m6.git", "rev-parse", "HEAD"], capture_output=True, text=True, check=True
    )
    repository.write(".gitmodules", '[submodule "m"]\n\tpath = m\n\turl = ../m6.git\n')
    repository.git("add", "-A")
    repository.git("update-index", "--add", "--cacheinfo", f"160000,{last.stdout.strip()},m")
    repository.git("commit", "-q", "-m", "deep")
    serve(repository.path)
    world.pins(world.pin(repository, "recursive = true"))
    with pytest.raises(Hostile, match="more than 4 deep"):
        world.fetch("dg")


def test_the_number_of_submodules_is_bounded(
    world: World, nested: GitRepository, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.pins(world.pin(nested, "recursive = true"))
    monkeypatch.setattr(source, "MOST", 2)
    with pytest.raises(Hostile, match="more than 2 submodules"):
        world.fetch("dg")


# Security row 18.
def test_no_filter_and_no_hook_runs(world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n"
    repository = world.repository(
        "dg", {"big.bin": pointer, ".gitattributes": "* filter=lfs\n*.py filter=evil\n", "x.py": "x\n"}
    )
    evil = tmp_path / "evil"
    evil.write_text(f"#!/bin/sh\ntouch {tmp_path}/canary\ncat\n")
    evil.chmod(0o755)
    (tmp_path / "hooks").mkdir()
    (tmp_path / "hooks/post-checkout").write_bytes(evil.read_bytes())
    (tmp_path / "hooks/post-checkout").chmod(0o755)
    config = tmp_path / "gitconfig"
    config.write_text(f'[filter "evil"]\nsmudge = {evil}\nclean = {evil}\n'
                      f'[filter "lfs"]\nsmudge = {evil}\nprocess = {evil}\n'
                      f'[core]\nhooksPath = {tmp_path}/hooks\n[init]\ntemplateDir = {tmp_path}\n')  # fmt: skip
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(config))
    world.pins(world.pin(repository))
    world.fetch("dg")
    assert world.fetch("dg").result["pins"][0]["state"] == "present"  # type: ignore[index]
    assert (world.root / "dg/big.bin").read_text() == pointer
    assert not (tmp_path / "canary").exists()


# Security row 17.
def test_a_repository_in_the_tree_is_not_entered(world: World, tmp_path: Path) -> None:
    inner = f"[core]\n\tbare = true\n\tfsmonitor = touch {tmp_path}/canary\n\tworktree = ..\n"
    bare = {"HEAD": "ref: refs/heads/x\n", "config": inner, "objects/x": "", "refs/x": ""}
    repository = world.repository("dg", {f"sub/{name}": text for name, text in bare.items()} | {"f": "f\n"})
    world.pins(world.pin(repository))
    world.fetch("dg")
    assert world.fetch("dg").result["pins"][0]["state"] == "present"  # type: ignore[index]
    assert not (tmp_path / "canary").exists()


# Security row 19: a checkout is what git makes of the commit, and counts as unchanged.
def test_attributes_of_the_tree(world: World) -> None:
    attributes = "*.txt text eol=crlf\n*.h ident\nv.py export-subst\n"
    texts = {"a.txt": "one\n", "b.h": "$Id$\n", "v.py": "$Format:%H$\n"}
    repository = world.repository("dg", {".gitattributes": attributes, **texts})
    world.pins(world.pin(repository))
    world.fetch("dg")
    folder = world.root / "dg"
    assert (folder / "a.txt").read_bytes() == b"one\r\n"
    assert (folder / "v.py").read_text() == "$Format:%H$\n"
    assert git(folder, "status", "--porcelain") == ""
    assert world.fetch("dg").result["pins"][0]["state"] == "present"  # type: ignore[index]


def test_lfs_is_pulled_where_the_pin_asks(world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    repository = world.repository("dg", {"big.bin": "pointer\n"})
    world.pins(world.pin(repository, "lfs = true"))
    real = subprocess.run(["git", "lfs", "version"], capture_output=True, check=False)
    if real.returncode:
        with pytest.raises(ToolMissing, match="git-lfs is not installed"):
            world.fetch("dg")
        assert not (world.root / "dg").exists()
    tool = tmp_path / "bin/git-lfs"
    tool.parent.mkdir()
    tool.write_text('#!/bin/sh\nprintf "%s\\n" "$*" > .git/asked\n')
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tool.parent}{os.pathsep}{os.environ['PATH']}")
    world.fetch("dg")
    assert (world.root / "dg/.git/asked").read_text() == "pull origin\n"


PATCH = """\
--- a/dg.py
+++ b/dg.py
@@ -1 +1 @@
-one
+two
--- /dev/null
+++ b/extra.py
@@ -0,0 +1 @@
+extra
"""
PATCHED = '[[pins.dg.patches]]\nfile = "p/one.patch"\n'


def test_patches_on_request(world: World, nested: GitRepository) -> None:
    (world.root / "p").mkdir()
    (world.root / "p/one.patch").write_text(PATCH)
    world.pins(world.pin(nested, PATCHED))
    world.fetch("dg")
    assert (world.root / "dg/dg.py").read_text() == "one\n"
    outcome = world.fetch("dg", patches=True)
    assert (world.root / "dg/dg.py").read_text() == "two\n"
    assert (world.root / "dg/extra.py").read_text() == "extra\n"
    assert outcome.result["pins"][0]["patches"] == ["p/one.patch"]  # type: ignore[index]
    assert world.fetch("dg", patches=True).result["pins"][0]["state"] == "present"  # type: ignore[index]
    world.fetch("dg")  # and back
    assert (world.root / "dg/dg.py").read_text() == "one\n"
    (world.root / "p/one.patch").write_text(PATCH.replace("two", "three"))
    world.fetch("dg", patches=True)
    assert (world.root / "dg/dg.py").read_text() == "three\n"


LINK = (
    "diff --git a/l b/l\nnew file mode 120000\n--- /dev/null\n+++ b/l\n"
    "@@ -0,0 +1 @@\n+/etc/passwd\n\\ No newline at end of file\n"
)
OUT = "--- /dev/null\n+++ b/../../out\n@@ -0,0 +1 @@\n+x\n"
HOOK = "--- /dev/null\n+++ b/.git/hooks/x\n@@ -0,0 +1 @@\n+x\n"


# Security rows 54 and 55.
@pytest.mark.parametrize("patch", [PATCH.replace("one", "other"), LINK, OUT, HOOK, "nonsense\n"])
def test_patches_that_do_not_fit(patch: str, world: World, nested: GitRepository) -> None:
    (world.root / "p").mkdir()
    (world.root / "p/one.patch").write_text(patch)
    world.pins(world.pin(nested, PATCHED))
    with pytest.raises(WriteRefused, match=r"p/one\.patch"):
        world.fetch("dg", patches=True)
    assert sorted(path.name for path in world.root.iterdir()) == ["p", "pins.toml"]


def test_a_patch_that_is_not_there(world: World, nested: GitRepository) -> None:
    world.pins(world.pin(nested, PATCHED))
    with pytest.raises(ExternalError, match=r"the patch p/one\.patch does not exist"):
        world.fetch("dg", patches=True)


def test_the_mode_of_files_and_folders_is_a_persons(world: World, nested: GitRepository) -> None:
    nested.git("update-index", "--chmod=+x", "run.sh")
    nested.git("commit", "-q", "-m", "mode")
    world.pins(world.pin(nested))
    world.fetch("dg")
    mask = os.umask(0)
    os.umask(mask)
    assert (world.root / "dg").stat().st_mode & 0o777 == 0o777 & ~mask
    assert (world.root / "dg/run.sh").stat().st_mode & 0o111


@pytest.mark.skipif(sys.platform == "darwin", reason="names that differ by case are one file there")
def test_names_that_differ_by_case_are_fetched_where_they_can_be(world: World) -> None:
    repository = world.repository("dg", {"Inc/a.h": "1\n", "inc/a.h": "2\n"})
    world.pins(world.pin(repository))
    world.fetch("dg")
    assert files(world.root / "dg") == ["Inc/a.h", "inc/a.h"]


def test_patches_that_upstream_has_are_left_and_others_are_judged_by_version(
    world: World, nested: GitRepository
) -> None:
    (world.root / "p").mkdir()
    (world.root / "p/one.patch").write_text(PATCH)
    (world.root / "p/taken.patch").write_text("--- a/dg.py\n+++ b/dg.py\n@@ -1 +1 @@\n-zero\n+one\n")
    (world.root / "p/old.patch").write_text("--- a/dg.py\n+++ b/dg.py\n@@ -1 +1 @@\n-no\n+yes\n")
    edit = '[[pins.dg.patches]]\ntarget = "dg.py"\nsearch = "two"\nreplace = "2"\n'
    entries = '[[pins.dg.patches]]\nfile = "p/taken.patch"\n' + PATCHED + edit
    entries += '[[pins.dg.patches]]\nfile = "p/old.patch"\nwhen = "version < 2"\n'
    world.pins(world.pin(nested, f'version = "2.8"\n{entries}'))
    outcome = world.fetch("dg", patches=True)
    assert outcome.result["pins"][0]["patches"] == ["p/taken.patch", "p/one.patch"]  # type: ignore[index]
    assert (world.root / "dg/dg.py").read_text() == "two\n"


def test_programs_are_made_only_where_they_are_meant(world: World, nested: GitRepository) -> None:
    tool = "diff --git a/t.sh b/t.sh\nnew file mode 100755\n--- /dev/null\n+++ b/t.sh\n@@ -0,0 +1 @@\n+x\n"
    (world.root / "p").mkdir()
    (world.root / "p/one.patch").write_text(tool)
    world.pins(world.pin(nested, PATCHED))
    with pytest.raises(WriteRefused, match="made a program"):
        world.fetch("dg", patches=True)
    world.pins(world.pin(nested, f"{PATCHED}executables = true\n"))
    world.fetch("dg", patches=True)
    assert os.access(world.root / "dg/t.sh", os.X_OK)
