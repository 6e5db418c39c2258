"""`publish --target index`: a folder, a branch of a git repository, a store behind a command; interrupted, and by
several at once."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from index.support import wheel
from index.test_clients import serving
from integration.publishing import policy_file
from integration.servers import PUBLIC, instead_of

from commands.publishing import PINS, checkout, codes, run, states, tree
from pinctl.commands import index_build, index_yank, publish_index
from pinctl.errors import UsageError, WriteRefused
from pinctl.external import index_tree
from pinctl.index import records
from pinctl.options import Options

REPOSITORY = f"{PUBLIC}whl.git"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return checkout(tmp_path)


def listed(site: Path) -> list[str]:
    """The names in the records of an index, each of which is on its page."""
    found, broken = records.load((site / "wheels.jsonl").read_text())
    assert not broken
    pages = "".join(path.read_text() for path in site.rglob("index.html"))
    assert all(f">{record.filename}</a>" in pages for record in found if record.withdrawn is None)
    return [record.filename for record in found]


# --- a folder ---------------------------------------------------------------------------------------------------------


def test_nothing_is_done_without_yes(root: Path) -> None:
    one = wheel(root / "dist")
    done = run(root, one, target="index", repository="site", offline=True)
    assert states(done) == {"index": "ready"}
    assert done.closing == ("nothing was sent; --yes does",)
    assert done.body.rows == (  # type: ignore[union-attr]
        ("index", one.name, "cu12", "the file and a line on release/cu12/tinyk of site"),
    )
    assert sorted(path.name for path in root.iterdir()) == ["dist", "pins.toml"]


def test_a_folder_is_published_and_seen_by_pip_and_uv(root: Path) -> None:
    one, two = wheel(root / "dist"), wheel(root / "dist", "1.0+cu129", "cp310-abi3-manylinux_2_28_x86_64")
    site = root / "site"
    site.mkdir()
    with serving(site) as url:
        done = run(root, root / "dist", target="index", repository="site", url=url, yes=True)
        assert codes(done) == []
        (said,) = done.result["targets"]  # type: ignore[misc]
        assert said["state"] == "published"
        clients = ["pip", "uv"] if Path(sys.executable).with_name("uv").exists() else ["pip"]
        assert [file["installed"] for file in said["files"]] == [clients, clients]
        seen = run(root, root / "dist", target="index", repository="site", url=url, verify=True)
        assert states(seen) == {"index": "seen"}
    assert sorted(listed(site)) == sorted([one.name, two.name])


def test_the_same_bytes_again_are_no_op_and_others_are_refused(root: Path) -> None:
    one = wheel(root / "dist")
    run(root, one, target="index", repository="site", offline=True, yes=True)
    before = tree(root / "site")
    again = run(root, one, target="index", repository="site", offline=True, yes=True)
    assert states(again) == {"index": "unchanged"}
    assert tree(root / "site") == before
    other = wheel(root / "other", body="X = 2\n")
    refused = run(root, other, target="index", repository="site", offline=True, yes=True)
    assert (codes(refused), states(refused), refused.exit_code) == (["PIN717"], {"index": "blocked"}, 1)
    assert tree(root / "site") == before


def test_clocks_that_differ_lose_nothing(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first, second, third = (wheel(root / "dist", f"{version}+cu129") for version in ("1.0", "1.1", "1.2"))
    for one, now in (
        (first, "2031-01-01T00:00:00Z"),
        (second, "1999-12-31T23:59:59Z"),
        (third, "2026-07-01T00:00:00Z"),
    ):
        monkeypatch.setattr(publish_index, "_now", lambda now=now: now)
        assert states(run(root, one, target="index", repository="site", offline=True, yes=True)) == {
            "index": "published"
        }
    assert sorted(listed(root / "site")) == sorted([first.name, second.name, third.name])
    before = tree(root / "site")
    monkeypatch.setattr(publish_index, "_now", lambda: "1980-01-01T00:00:00Z")
    assert states(run(root, first, target="index", repository="site", offline=True, yes=True)) == {"index": "unchanged"}
    assert tree(root / "site") == before


def test_a_label_of_another_variant_is_refused(root: Path) -> None:
    one = wheel(root / "dist", "1.0+cu130")
    (root / "pins.toml").write_text(PINS.replace('publish = "pypi"', 'label = "cu130"\npublish = "index"'))
    done = run(root, one, target="index", variant="cu12", repository="site", offline=True, yes=True)
    assert "PIN703" in codes(done)
    assert not (root / "site").exists()


def test_a_hole_of_a_declared_matrix_blocks_unless_it_is_said(root: Path) -> None:
    declared = 'label = "cu129"\npython = ["3.12"]\nplatforms = ["linux/amd64", "linux/arm64"]'
    (root / "pins.toml").write_text(PINS.replace('label = "cu129"', declared))
    one = wheel(root / "dist", "1.0+cu129", "cp310-abi3-manylinux_2_28_x86_64")
    done = run(root, one, target="index", repository="site", offline=True, yes=True)
    assert (codes(done), states(done)) == (["PIN712"], {"index": "blocked"})
    done = run(root, one, target="index", repository="site", offline=True, yes=True, partial=True)
    assert states(done) == {"index": "published"}
    two = wheel(root / "dist", "1.0+cu129", "cp310-abi3-manylinux_2_28_aarch64")
    done = run(root, two, target="index", repository="site", offline=True, yes=True)  # what is there fills the hole
    assert (codes(done), states(done)) == ([], {"index": "published"})


def test_a_wheel_that_lies_about_itself_blocks(root: Path) -> None:
    from wheelmaking import files, put

    (root / "dist").mkdir()
    name = "tinyk-1.0+cu129-py3-none-any.whl"
    members = files(name, changed={"tinyk/extra.pth": b"import os"})
    done = run(root, put(root / "dist", name, members), target="index", repository="site", offline=True, yes=True)
    assert states(done) == {"index": "blocked"}
    assert not (root / "site").exists()


def test_a_kill_at_any_step_leaves_the_old_index_and_a_run_completes(root: Path) -> None:
    """The process is killed at each system call by which the index is written, in a forked child."""
    run(root, wheel(root / "old"), target="index", repository="site", offline=True, yes=True)
    before, new = tree(root / "site"), wheel(root / "new", "1.1+cu129")

    def killed_at(step: int) -> bool:
        child = os.fork()
        if child == 0:
            left, names = step, ("link", "mkdir", "fsync", "chmod", "fchmod", "rename")
            real = {name: getattr(os, name) for name in names}
            for name in names:

                def stopping(*args: object, real: Callable[..., object] = real[name], **more: object) -> object:
                    nonlocal left
                    left -= 1
                    if left < 0:
                        os.kill(os.getpid(), signal.SIGKILL)
                    return real(*args, **more)

                setattr(os, name, stopping)
            done = run(root, new, target="index", repository="site", offline=True, yes=True)
            os._exit(done.exit_code)
        _, status = os.waitpid(child, 0)
        assert os.WIFSIGNALED(status) or os.WEXITSTATUS(status) == 0
        return os.WIFSIGNALED(status)

    step = 0
    while killed_at(step):
        assert tree(root / "site") == before
        step += 1
    assert step > 10
    assert len(listed(root / "site")) == 2


def test_a_bare_plus_is_seen_from_outside(root: Path) -> None:
    """H12: pip hides the fault, and a plain client does not."""
    one, site = wheel(root / "dist"), root / "site"
    site.mkdir()
    with serving(site) as url:
        run(root, one, target="index", repository="site", offline=True, yes=True)
        page = site / "release/cu12/tinyk/index.html"
        page.write_text(page.read_text().replace("%2B", "+"))
        done = run(root, one, target="index", repository="site", url=url, verify=True)
    assert (codes(done), states(done)) == (["PIN707"], {"index": "ready"})
    with pytest.raises(UsageError, match="nothing says where site is read from"):
        run(root, one, target="index", repository="site", verify=True)


def test_publishers_at_the_same_time_all_end_up_in_a_folder(root: Path) -> None:
    found = [wheel(root / f"dist{number}", f"1.{number}+cu129") for number in range(6)]
    with ThreadPoolExecutor(6) as pool:
        done = list(pool.map(
            lambda path: run(root, path, target="index", repository="site", offline=True, yes=True), found
        ))  # fmt: skip
    assert [states(one) for one in done] == [{"index": "published"}] * 6
    assert listed(root / "site") == [path.name for path in found]


def test_what_only_the_checkout_has_is_not_there_yet(root: Path) -> None:
    one = wheel(root / "dist")
    index_build.run(Options(directory=str(root)), adding=index_build.Adding((str(one),), None, None, None))
    done = run(root, one, target="index", repository="site", offline=True)
    assert done.result["targets"][0]["files"][0]["there"] is False  # type: ignore[index]
    done = run(root, one, target="index", repository="site", offline=True, yes=True)
    assert states(done) == {"index": "published"}
    done = run(root, one, target="index", repository="site", offline=True, yes=True)
    assert states(done) == {"index": "unchanged"}


def test_a_file_that_is_recorded_and_nowhere_is_told_before_anything_is_sent(root: Path) -> None:
    one, two = wheel(root / "dist"), wheel(root / "dist", "1.1+cu129")
    index_build.run(Options(directory=str(root)), adding=index_build.Adding((str(one), str(two)), None, None, None))
    done = run(root, one, target="index", repository="site", offline=True)
    (told,) = done.findings
    assert (told.code, states(done)) == ("PIN726", {"index": "blocked"})
    assert f"files/{two.name} is in the records, and not in site" in told.message
    assert "name its wheel, too" in (told.hint or "")


def test_what_was_decided_since_is_published_without_files(root: Path) -> None:
    one = wheel(root / "dist")
    (root / "wheels.jsonl").write_text("")
    run(root, one, target="index", repository="site", offline=True, yes=True)
    index_yank.run(Options(directory=str(root)), filename=one.name, reason="wrong torch")
    done = run(root, target="index", repository="site", offline=True, yes=True)
    assert states(done) == {"index": "published"}
    assert done.closing == ("index: no wheel is named, and it was not looked at from outside",)
    assert 'data-yanked="wrong torch"' in (root / "site/release/cu12/tinyk/index.html").read_text()
    assert states(run(root, target="index", repository="site", offline=True, yes=True)) == {"index": "unchanged"}
    with pytest.raises(UsageError, match="no wheel is named"):
        run(root, target="index", repository="site", offline=True, verify=True)


def test_records_of_the_checkout_seed_an_index_and_learn_of_it(root: Path) -> None:
    (root / "wheels.jsonl").touch()
    one = wheel(root / "dist")
    run(root, one, target="index", repository="site", offline=True, yes=True)
    (ours,) = records.load((root / "wheels.jsonl").read_text())[0]
    assert (ours.filename, ours.place) == (one.name, ("release", "cu12"))
    index_yank.run(Options(directory=str(root)), filename=one.name, reason="built against another torch")
    done = run(root, target="index", repository="site", offline=True, yes=True)
    assert states(done) == {"index": "published"}
    page = (root / "site/release/cu12/tinyk/index.html").read_text()
    assert 'data-yanked="built against another torch"' in page
    with pytest.raises(UsageError, match="no record lists"):
        index_yank.run(Options(directory=str(root)), filename="x.whl", reason="y")


def test_an_index_without_records_is_not_emptied(root: Path) -> None:
    run(root, wheel(root / "dist"), target="index", repository="site", offline=True, yes=True)
    (root / "site/wheels.jsonl").unlink()
    before = tree(root / "site")
    done = run(root, wheel(root / "dist", "1.1+cu129"), target="index", repository="site", offline=True, yes=True)
    assert codes(done) == ["PIN726"]
    assert "nothing has its records" in done.findings[-1].message
    assert tree(root / "site") == before


# --- a branch ---------------------------------------------------------------------------------------------------------


@pytest.fixture
def bare(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A bare repository at REPOSITORY, and a name to commit by."""
    path = tmp_path / "whl.git"
    subprocess.run(["git", "init", "-q", "--bare", path], check=True)
    for name, value in instead_of(f"file://{tmp_path}/").items():
        monkeypatch.setenv(name, value)
    for role in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{role}_NAME", "Publisher")
        monkeypatch.setenv(f"GIT_{role}_EMAIL", "publisher@example.org")
    return path


def git(bare: Path, *words: str) -> str:
    return subprocess.run(["git", "-C", bare, *words], check=True, capture_output=True, text=True).stdout.strip()


def checked_out(bare: Path, into: Path) -> Path:
    into.mkdir(exist_ok=True)
    subprocess.run(["git", f"--git-dir={bare}", f"--work-tree={into}", "checkout", "-q", "-f", "gh-pages", "--", "."],
                   check=True)  # fmt: skip
    return into


def test_a_branch_is_made_and_grows(root: Path, bare: Path, tmp_path: Path) -> None:
    one, two = wheel(root / "dist"), wheel(root / "more", "1.1+cu129")
    assert states(run(root, one, target="index", repository=REPOSITORY)) == {"index": "ready"}
    assert git(bare, "branch") == ""
    assert states(run(root, one, target="index", repository=REPOSITORY, yes=True)) == {"index": "published"}
    assert states(run(root, two, target="index", repository=f"{REPOSITORY}#gh-pages", yes=True)) == {
        "index": "published"
    }
    assert states(run(root, two, target="index", repository=REPOSITORY, yes=True)) == {"index": "unchanged"}
    assert git(bare, "log", "--format=%an %s", "gh-pages").splitlines() == [
        f"Publisher Publish {two.name}", f"Publisher Publish {one.name}",
    ]  # fmt: skip
    site = checked_out(bare, tmp_path / "out")
    assert listed(site) == [one.name, two.name]
    assert (site / "files" / one.name).read_bytes() == one.read_bytes()
    assert json.loads((site / index_tree.MARK).read_text())["top"] == [
        ".nojekyll", "files", "index.html", "release", "wheels.jsonl",
    ]  # fmt: skip
    with serving(site) as url:
        done = run(root, one, two, target="index", repository=REPOSITORY, url=url, verify=True)
        assert states(done) == {"index": "seen"}


def test_what_else_lies_on_the_branch_stays_and_is_not_overwritten(root: Path, bare: Path, tmp_path: Path) -> None:
    work = tmp_path / "work"
    subprocess.run(["git", "init", "-q", "-b", "gh-pages", work], check=True)
    (work / "CNAME").write_text("whl.example\n")
    for words in (["add", "."], ["commit", "-qm", "a name"], ["push", "-q", str(bare), "gh-pages"]):
        subprocess.run(["git", "-C", work, *words], check=True)
    assert states(run(root, wheel(root / "dist"), target="index", repository=REPOSITORY, yes=True)) == {
        "index": "published"
    }
    assert git(bare, "show", "gh-pages:CNAME") == "whl.example"
    (work / "index.html").write_text("mine\n")
    for words in (["add", "."], ["commit", "-qm", "mine"], ["push", "-qf", str(bare), "gh-pages"]):
        subprocess.run(["git", "-C", work, *words], check=True)
    done = run(root, wheel(root / "dist"), target="index", repository=REPOSITORY, yes=True)
    assert states(done) == {"index": "failed"}
    assert "index.html on gh-pages is not of the index" in done.findings[-1].message
    assert git(bare, "show", "gh-pages:index.html") == "mine"


def test_publishers_at_the_same_time_all_end_up_on_the_branch(root: Path, bare: Path, tmp_path: Path) -> None:
    found = [wheel(root / f"dist{number}", f"1.{number}+cu129") for number in range(4)]
    with ThreadPoolExecutor(4) as pool:
        done = list(pool.map(lambda path: run(root, path, target="index", repository=REPOSITORY, yes=True), found))
    assert [states(one) for one in done] == [{"index": "published"}] * 4
    assert git(bare, "rev-list", "--count", "gh-pages") == "4"
    assert listed(checked_out(bare, tmp_path / "out")) == [path.name for path in found]


def test_a_server_that_takes_no_push_is_told_and_nothing_changes(root: Path, bare: Path) -> None:
    run(root, wheel(root / "dist"), target="index", repository=REPOSITORY, yes=True)
    tip = git(bare, "rev-parse", "gh-pages")
    hook = bare / "hooks/pre-receive"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\nexit 1\n")
    hook.chmod(0o755)
    done = run(root, wheel(root / "dist", "1.1+cu129"), target="index", repository=REPOSITORY, yes=True)
    assert (codes(done), states(done), done.exit_code) == (["PIN726"], {"index": "failed"}, 4)
    assert git(bare, "rev-parse", "gh-pages") == tip
    hook.unlink()
    done = run(root, wheel(root / "dist", "1.1+cu129"), target="index", repository=REPOSITORY, yes=True)
    assert states(done) == {"index": "published"}


@pytest.mark.slow
def test_many_publishers_lose_nothing(root: Path, bare: Path, tmp_path: Path) -> None:
    found = [wheel(root / f"dist{number}", f"1.{number}+cu129") for number in range(200)]
    with ThreadPoolExecutor(8) as pool:
        done = list(pool.map(lambda path: run(root, path, target="index", repository=REPOSITORY, yes=True), found))
    assert [finding.message for one in done for finding in one.findings if finding.severity == "error"] == []
    assert {state for one in done for state in states(one).values()} == {"published"}
    assert sorted(listed(checked_out(bare, tmp_path / "out"))) == sorted(path.name for path in found)
    assert git(bare, "rev-list", "--count", "gh-pages") == "200"


# --- a store ----------------------------------------------------------------------------------------------------------

COPY = """\
import pathlib, shutil, sys
file, folder, key = sys.argv[1:]
target = pathlib.Path(folder, key)
left = pathlib.Path(folder + ".left")
if left.exists():
    number = int(left.read_text())
    if number == 0:
        sys.exit("the store is away")
    left.write_text(str(number - 1))
target.parent.mkdir(parents=True, exist_ok=True)
shutil.copyfile(file, target)
with open(folder + ".log", "a") as log:
    print(key, file=log)
"""


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """A folder that only a command writes to."""
    (tmp_path / "copy.py").write_text(COPY)
    (tmp_path / "store").mkdir()
    return tmp_path / "store"


def settings(store: Path, url: str, more: str = "") -> str:
    argv = json.dumps([sys.executable, str(store.parent / "copy.py"), "{file}", str(store), "{key}"])
    return policy_file(store.parent, f'[publish.index]\ncommand = {argv}\nurl = "{url}"\nwait = 0\n{more}')


def test_a_store_gets_wheels_before_pages(root: Path, store: Path) -> None:
    one = wheel(root / "dist")
    with serving(store) as url:
        done = run(root, one, policy=settings(store, url), yes=True)
        assert (codes(done), states(done)) == ([], {"index": "published"})
    log = store.with_name("store.log").read_text().split()
    assert log[:2] == [f"files/{one.name}.metadata", f"files/{one.name}"]
    assert log[-1] == "index.html"
    assert log.index("wheels.jsonl") < log.index("release/cu12/tinyk/index.v1_json")
    assert log.index("release/cu12/tinyk/index.html") < log.index("release/cu12/index.html")


def test_a_store_that_fails_at_any_step_serves_whole_pages_and_a_run_completes(root: Path, store: Path) -> None:
    with serving(store) as url:
        policy = settings(store, url)
        run(root, wheel(root / "old"), policy=policy, yes=True)
        new = wheel(root / "new", "1.1+cu129")
        for number in range(8):
            store.with_name("store.left").write_text(str(number))
            done = run(root, new, policy=policy, yes=True)
            assert (codes(done), states(done), done.exit_code) == (["PIN726"], {"index": "failed"}, 4)
            page = (store / "release/cu12/tinyk/index.html").read_text()
            assert "tinyk-1.0" in page
            assert all((store / "files" / name).exists() for name in ("tinyk-1.0+cu129-py3-none-any.whl",))
            assert "tinyk-1.1" not in page or (store / "files" / new.name).exists()
        store.with_name("store.left").unlink()
        done = run(root, new, policy=policy, yes=True)
        assert (codes(done), list(states(done))) == ([], ["index"])
    assert len(listed(store)) == 2


def test_a_store_is_locked_by_its_own_means(root: Path, store: Path) -> None:
    lock, taken = json.dumps(["mkdir", f"{store.parent}/{{key}}"]), store.parent / "wheels.lock"
    unlock = json.dumps(["rmdir", f"{store.parent}/{{key}}"])
    with serving(store) as url:
        policy = settings(store, url, f"lock = {lock}\nunlock = {unlock}\n")
        taken.mkdir()
        held = run(root, wheel(root / "dist"), policy=policy, yes=True)
        assert (codes(held), held.exit_code) == (["PIN726"], 4)
        assert "unlock" in str(held.findings[-1].hint)
        assert list(store.iterdir()) == []
        taken.rmdir()
        assert states(run(root, wheel(root / "dist"), policy=policy, yes=True)) == {"index": "published"}
        assert not taken.exists()


def test_records_that_are_none_stop_a_publication(root: Path) -> None:
    run(root, wheel(root / "dist"), target="index", repository="site", offline=True, yes=True)
    (root / "site/wheels.jsonl").write_text("{}\n")
    done = run(root, wheel(root / "dist"), target="index", repository="site", offline=True, yes=True)
    assert codes(done) == ["PIN726"]
    assert "line 1 has no 'filename'" in done.findings[-1].message


def test_a_mixed_page_is_refused(root: Path) -> None:
    """H13: of one version some files have a digest and one has none."""
    run(root, wheel(root / "dist"), target="index", repository="site", offline=True, yes=True)
    (known,) = records.load((root / "site/wheels.jsonl").read_text())[0]
    name = "tinyk-1.0+cu129-cp310-abi3-manylinux_2_28_aarch64.whl"
    bare = known._replace(filename=name, url=f"https://files.example/{name.replace('+', '%2B')}", sha256=None)
    (root / "site/wheels.jsonl").write_text(records.dump([known, bare]))
    before = tree(root / "site")
    done = run(root, wheel(root / "more", "1.1+cu129"), target="index", repository="site", offline=True, yes=True)
    assert (codes(done), states(done)) == (["PIN704"], {"index": "blocked"})
    assert tree(root / "site") == before


def test_a_folder_of_someone_else_is_refused(root: Path) -> None:
    (root / "site").mkdir()
    (root / "site/thesis.tex").touch()
    done = run(root, wheel(root / "dist"), target="index", repository="site", offline=True, yes=True)
    assert codes(done) == ["PIN726"]
    assert issubclass(WriteRefused, Exception)
    assert sorted(path.name for path in (root / "site").iterdir()) == ["thesis.tex"]
