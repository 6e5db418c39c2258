"""What git says, and what is made of it. A program of the test's own stands for git."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from pinctl.errors import ExternalError
from pinctl.external import remote
from pinctl.external.gitcli import TRUSTED
from pinctl.external.remote import Damaged, Gone, Hostile, Refused, Unreachable, ask

URL = "https://git.example/o/n"
ID = "ab" * 20


@pytest.fixture(autouse=True)
def _git(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A git that says what the file `said` holds, on its standard error, and fails; it counts its calls."""
    folder = tmp_path / "bin"
    folder.mkdir()
    tool = folder / "git"
    tool.write_text(f'#!/bin/sh\necho >> "{tmp_path}/calls"\ncat "{tmp_path}/said" >&2\nexit 128\n')
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setattr(remote, "PAUSES", (0.001, 0.001))


def failure(tmp_path: Path, said: str) -> tuple[Exception, int]:
    """The error that comes of it, and how often git was called."""
    (tmp_path / "said").write_text(said)
    with pytest.raises((ExternalError, Refused)) as error:
        ask(str(tmp_path), TRUSTED, URL, ["fetch"], wait=20)
    return error.value, (tmp_path / "calls").read_text().count("\n")


@pytest.mark.parametrize(
    "said",
    [
        "fatal: unable to access 'https://git.example/o/n/': Could not resolve host: git.example",
        "fatal: unable to access 'https://x/': Failed to connect to x port 443 after 3 ms: Connection refused",
        "error: RPC failed; HTTP 502 curl 22 The requested URL returned error: 502\nfatal: expected flush",
        "fatal: unable to access 'https://x/': The requested URL returned error: 429",
        "error: RPC failed; curl 92 HTTP/2 stream 5 was not closed cleanly: CANCEL (err 8)",
        "fetch-pack: unexpected disconnect\nfatal: early EOF\nfatal: fetch-pack: invalid index-pack output",
        "ssh: connect to host git.example port 22: Connection timed out\nfatal: Could not read from remote repository.",
        "kex_exchange_identification: Connection closed by remote host",
        "fatal: unable to look up git.example (port 9418) (Temporary failure in name resolution)",
        "fatal: the remote end hung up unexpectedly",
    ],
)
def test_the_network_may_be_better_the_next_time(said: str, tmp_path: Path) -> None:
    error, calls = failure(tmp_path, said)
    assert isinstance(error, Unreachable)
    assert (error.transient, calls) == (True, 3)
    assert str(error).startswith(f"cannot reach {URL}: ")


@pytest.mark.parametrize(
    ("said", "hint"),
    [
        ("remote: Repository not found.\nfatal: repository 'https://git.example/o/n/' not found", "credentials"),
        ("fatal: could not read Username for 'https://git.example': terminal prompts disabled", "credentials"),
        ("fatal: Authentication failed for 'https://git.example/'", "credentials"),
        ("fatal: unable to access 'https://x/': The requested URL returned error: 403", "credentials"),
        ("git@x: Permission denied (publickey).\nfatal: Could not read from remote repository.", "credentials"),
        ("Host key verification failed.\nfatal: Could not read from remote repository.", "credentials"),
        ("fatal: remote error: access denied or repository not exported: /x", "credentials"),
        ("fatal: unable to access 'https://x/': The requested URL returned error: 301", "moved"),
        ("fatal: transport 'file' not allowed", "--allow-transport"),
        ("fatal: unable to access 'https://x/': server certificate verification failed. CAfile: none", "`ca`"),
    ],
)
def test_a_refusal_is_not_tried_again(said: str, hint: str, tmp_path: Path) -> None:
    error, calls = failure(tmp_path, said)
    assert isinstance(error, Unreachable)
    assert (error.transient, calls) == (False, 1)
    assert hint in str(error.hint)


CLOSED = (
    "fatal: Could not read from remote repository.\n\n"
    "Please make sure you have the correct access rights\nand the repository exists.\n"
)


@pytest.mark.parametrize(
    ("said", "words"),
    [("", "the connection ended without a word"), ("ssh: no hint\nodd words\n\n", "odd words"),
     ("\x1b]0;title\x07wait https://me:SENTINEL@x/\n", "]0;titlewait https://***@x/")],
)  # fmt: skip
def test_a_connection_that_just_ends(said: str, words: str, tmp_path: Path) -> None:
    error, calls = failure(tmp_path, said + CLOSED)
    assert isinstance(error, Unreachable)
    assert (str(error), error.transient, calls) == (f"cannot reach {URL}: {words}", False, 1)
    assert "git ls-remote" in str(error.hint)


@pytest.mark.parametrize(
    ("said", "wanted"),
    [(f"fatal: remote error: upload-pack: not our ref {ID}", ID),
     ("fatal: couldn't find remote ref refs/heads/x", "refs/heads/x")],
)  # fmt: skip
def test_what_is_gone(said: str, wanted: str, tmp_path: Path) -> None:
    error, calls = failure(tmp_path, said)
    assert isinstance(error, Gone)
    assert (error.wanted, calls) == (wanted, 1)


@pytest.mark.parametrize(
    ("said", "kind", "text"),
    [
        (f"error: Server does not allow request for unadvertised object {ID}", Refused, "ids"),
        ("fatal: remote error: filter 'tree' not supported", Refused, "filter"),
        ("fatal: Server does not support shallow clients", Refused, "depth"),
        ("fatal: mismatched algorithms: client sha1; server sha256", Refused, "format"),
        ("fatal: write error: No space left on device\nfatal: early EOF", ExternalError, "No space left on device"),
        ("fatal: fetch-pack: invalid index-pack output", ExternalError, "more than 4096 MiB at once"),
        (f"error: object {ID}: hasDotgit: contains '.git'\nfatal: fsck error in packed object", Hostile, "git refuses"),
        ("fatal: bad object refs/heads/main", Damaged, "bad object"),
    ],
)
def test_other_failures(said: str, kind: type[Exception], text: str, tmp_path: Path) -> None:
    error, calls = failure(tmp_path, said)
    assert type(error) is kind
    assert text in str(error)
    assert calls == 1


def test_no_credential_and_no_control_character_is_shown(tmp_path: Path) -> None:
    said = "fatal: unable to access 'https://me:SENTINEL@x/?token=SENTINEL': \x1b]52;c;SENTINEL2\x07 Connection refused"
    error, _ = failure(tmp_path, said)
    assert "SENTINEL@" not in str(error)
    assert "=SENTINEL" not in str(error)
    assert not {c for c in str(error) if c < " "}


def test_all_tries_together_keep_to_the_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remote, "PAUSES", (5.0, 5.0))
    (tmp_path / "said").write_text("fatal: early EOF")
    with pytest.raises(Unreachable):
        ask(str(tmp_path), TRUSTED, URL, ["fetch"], wait=2)
    assert (tmp_path / "calls").read_text() == "\n"


@pytest.mark.skipif(sys.platform == "darwin", reason="reads /proc")
def test_the_hardening_is_given_to_git(tmp_path: Path) -> None:
    tool = tmp_path / "bin/git"
    tool.write_text(f'#!/bin/sh\ntr "\\0" "\\n" < /proc/$$/cmdline > "{tmp_path}/argv"\nenv > "{tmp_path}/env"\n')
    ask(str(tmp_path), TRUSTED, URL, ["fetch"], wait=20)
    argv, env = (tmp_path / "argv").read_text().split("\n"), (tmp_path / "env").read_text().split("\n")
    for setting in (
        "fetch.fsckObjects=true",
        "core.hooksPath=/dev/null",
        "http.followRedirects=false",
        f"--git-dir={tmp_path}",
    ):
        assert setting in argv
    assert {"GIT_NO_LAZY_FETCH=1", "GIT_TERMINAL_PROMPT=0", "GIT_ALLOW_PROTOCOL=https:ssh:git:http:file"} <= set(env)
