from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from integration.publishing import TOKEN
from integration.servers import PUBLIC, git_daemon, instead_of

from pinctl.errors import ExternalError
from pinctl.external import publish_branch
from pinctl.external.gitcli import TRUSTED
from pinctl.external.index_tree import Hosted

PAGES = {"index.html": b"one\n", "wheels.jsonl": b"", "a/index.html": b"x\n"}


@pytest.fixture
def bare(tmp_path: Path) -> Path:
    path = tmp_path / "whl.git"
    subprocess.run(["git", "init", "-q", "--bare", path], check=True)
    return path


@pytest.fixture(autouse=True)
def _who(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AUTHOR_NAME", "AUTHOR_EMAIL", "COMMITTER_NAME", "COMMITTER_EMAIL"):
        monkeypatch.setenv(f"GIT_{name}", "publisher@example.org")


def lead(monkeypatch: pytest.MonkeyPatch, address: str) -> str:
    for name, value in instead_of(address).items():
        monkeypatch.setenv(name, value)
    return f"{PUBLIC}whl.git"


def test_a_git_server_takes_a_publication_and_keeps_what_stays(
    bare: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "w.whl").write_bytes(b"wheel")
    import hashlib

    digest = hashlib.sha256(b"wheel").hexdigest()
    with git_daemon(tmp_path, "--enable=receive-pack") as address:
        url = lead(monkeypatch, address)
        with publish_branch.branch(url, "gh-pages", TRUSTED, "first") as shelf:
            assert (shelf.records, shelf.filled) == (None, False)
            assert shelf.put(PAGES, [Hosted("files/w.whl", digest, 5, str(tmp_path / "w.whl"))])
        with publish_branch.branch(url, "gh-pages", TRUSTED, "second") as shelf:
            assert (shelf.records, shelf.filled) == (b"", True)
            assert shelf.put({**PAGES, "index.html": b"two\n"}, [Hosted("files/w.whl", digest, 5)])
            # A second publication of what was fetched before comes too late, and loses nothing.
            assert not shelf.put({**PAGES, "index.html": b"three\n"}, [])
    said = subprocess.run(["git", "-C", bare, "ls-tree", "-r", "--name-only", "gh-pages"], check=True,
                          capture_output=True, text=True).stdout.split()  # fmt: skip
    assert said == [".nojekyll", ".pinctl-index", "a/index.html", "files/w.whl", "index.html", "wheels.jsonl"]
    assert subprocess.run(["git", "-C", bare, "show", "gh-pages:index.html"], check=True,
                          capture_output=True).stdout == b"two\n"  # fmt: skip
    (tmp_path / "w.whl").write_bytes(b"other")
    monkeypatch.setattr(publish_branch, "PAUSES", ())
    url = lead(monkeypatch, f"file://{tmp_path}/")
    with publish_branch.branch(url, "gh-pages", TRUSTED, "third") as shelf:
        with pytest.raises(ExternalError, match="not the file that its record says"):
            shelf.put(PAGES, [Hosted("files/w.whl", digest, 5, str(tmp_path / "w.whl"))])
        with pytest.raises(ExternalError, match="not on gh-pages any more"):
            shelf.put(PAGES, [Hosted("files/gone.whl", digest, 5)])


def test_a_push_that_arrived_though_it_failed_is_a_success(
    bare: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = lead(monkeypatch, f"file://{tmp_path}/")
    hook = bare / "hooks/post-receive"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text('#!/bin/sh\nkill -9 "$PPID"\n')
    hook.chmod(0o755)
    with publish_branch.branch(url, "gh-pages", TRUSTED, "first") as shelf:
        assert shelf.put(PAGES, [])


def test_the_token_goes_to_github_alone_and_into_no_argument(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GH_TOKEN", TOKEN)
    ran: list[tuple[list[str], dict[str, str]]] = []

    def record(argv: list[str], **more: object) -> object:
        ran.append((argv, dict(more["env"])))  # type: ignore[call-overload]
        raise KeyboardInterrupt

    monkeypatch.setattr(publish_branch.process, "run", record)
    for url in (
        "https://github.com/o/whl.git",
        "https://github.com.evil.example/o/whl.git",
        "https://git.example/o.git",
    ):
        with pytest.raises(KeyboardInterrupt):
            publish_branch._Git(str(tmp_path), TRUSTED, url)("ls-remote", url, network=True)
    assert [TOKEN in env.values() for _, env in ran] == [True, False, False]
    assert not any(TOKEN in word for argv, _ in ran for word in argv)


def test_the_login_that_git_gets_is_the_token(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GH_TOKEN", TOKEN)
    argv = ["git", "-c", f"credential.https://github.com.helper={publish_branch._LOGIN}", "credential", "fill"]
    env = {"PATH": os.environ["PATH"], "GH_TOKEN": TOKEN, "GIT_CONFIG_NOSYSTEM": "1", "GIT_TERMINAL_PROMPT": "0"}
    done = subprocess.run(argv, input="protocol=https\nhost=github.com\n\n", env=env, capture_output=True, text=True,
                          cwd=tmp_path, check=True)  # fmt: skip
    assert f"username=x-access-token\npassword={TOKEN}" in done.stdout


@pytest.mark.parametrize("url", ["ext::sh -c id", "--upload-pack=id", "https://u:p@git.example/whl.git", "file:///x"])
def test_what_is_no_url_of_a_repository(url: str) -> None:
    with pytest.raises(ExternalError, match="refused to use the URL"), publish_branch.branch(url, "b", TRUSTED, "m"):
        pass


def test_a_server_that_is_not_there(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    url = lead(monkeypatch, f"file://{tmp_path}/none/")
    monkeypatch.setattr(publish_branch, "PAUSES", (0.0,))
    with pytest.raises(ExternalError, match="did not take part"), publish_branch.branch(url, "b", TRUSTED, "m"):
        pass
