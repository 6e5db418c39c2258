"""The store against real servers: git daemon, git http-backend with and without a password, https, silence, errors."""

from __future__ import annotations

import subprocess
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from integration.servers import PUBLIC, Proxy, git_daemon, git_http, instead_of, serve, silent
from pinctl.errors import ExternalError
from pinctl.external import policy, remote
from pinctl.external.gitcli import TRUSTED, UNTRUSTED
from pinctl.external.store import Gone, Store, Unreachable
from pinctl.policy import Policy

if TYPE_CHECKING:
    from repositories import GitRepository, MakeRepository

URL = f"{PUBLIC}up.git"
LOGIN = ("me", "SENTINEL-password")


@pytest.fixture
def upstream(make_repository: MakeRepository) -> GitRepository:
    repository = make_repository("srv/up.git")
    repository.commit("one", {"a.h": "int a;\n"})
    repository.commit("two", {"a.h": "int b;\n", "b.h": "int c;\n"})
    serve(repository.path)
    return repository


@pytest.fixture
def base(upstream: GitRepository) -> Path:
    """The folder that servers serve."""
    return upstream.path.parent


@pytest.fixture(autouse=True)
def _quick(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PINCTL_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(remote, "PAUSES", (0.01, 0.01))


def use(monkeypatch: pytest.MonkeyPatch, address: str, *more: tuple[str, str]) -> None:
    for name, value in instead_of(address, PUBLIC, *more).items():
        monkeypatch.setenv(name, value)


def read_all(upstream: GitRepository) -> dict[str, bytes]:
    """All files of main, by way of the branch and a batch of blobs."""
    with Store.open(URL, profile=TRUSTED) as store:
        store.fetch("refs/heads/main")
        commit = store.refs("refs/heads/main")["refs/heads/main"]
        assert commit == upstream.git("rev-parse", "main")
        tree = store.tree(commit)
        blobs = store.blobs(entry.id for entry in tree)
        return {entry.path: blobs[entry.id] for entry in tree}


FILES = {"a.h": b"int b;\n", "b.h": b"int c;\n"}


def test_git_daemon(upstream: GitRepository, base: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with git_daemon(base) as address:
        use(monkeypatch, address)
        assert read_all(upstream) == FILES
        with Store.open(URL, profile=TRUSTED) as store, pytest.raises(Gone):
            store.fetch("0" * 39 + "1")
        with Store.open(f"{PUBLIC}none.git", profile=TRUSTED) as store, pytest.raises(Unreachable) as error:
            store.refs("refs/heads/main")
        assert not error.value.transient


def test_http(upstream: GitRepository, base: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with git_http(base) as (_, address):
        use(monkeypatch, address)
        assert read_all(upstream) == FILES


def helper(path: Path) -> str:
    """A credential helper that knows the login."""
    path.write_text(f"#!/bin/sh\necho username={LOGIN[0]}\necho password={LOGIN[1]}\n")
    path.chmod(0o755)
    return str(path)


# Security row 57: a password is neither kept nor shown.
def test_a_private_repository(
    upstream: GitRepository, base: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with git_http(base, LOGIN) as (server, address):
        use(monkeypatch, address)
        with Store.open(URL, profile=TRUSTED) as store, pytest.raises(Unreachable) as error:
            store.fetch("refs/heads/main")
        assert "credentials" in str(error.value.hint)
        assert len(server.seen) == 1  # not tried again
        use(monkeypatch, address, ("credential.helper", helper(tmp_path / "helper")))
        assert read_all(upstream) == FILES
        server.login = ("me", "another")
        with Store.open(URL, profile=TRUSTED) as store, pytest.raises(Unreachable) as error:
            store.fetch("refs/heads/main")
        assert "SENTINEL" not in str(error.value)
    kept = subprocess.run(["grep", "-r", "SENTINEL", tmp_path / "cache"], capture_output=True, check=False)
    assert kept.stdout == b""


def test_credentials_of_an_address_are_not_shown(base: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with git_http(base, ("me", "other")) as (_, address):
        use(monkeypatch, address.replace("://", f"://me:{LOGIN[1]}@"))
        with Store.open(URL, profile=TRUSTED) as store, pytest.raises(Unreachable) as error:
            store.fetch("refs/heads/main")
    assert "SENTINEL" not in str(error.value) + str(error.value.hint)
    kept = subprocess.run(["grep", "-r", "SENTINEL", tmp_path / "cache"], capture_output=True, check=False)
    assert kept.stdout == b""


# Security row 9.
def test_a_redirect_is_not_followed(
    upstream: GitRepository, base: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with git_http(base) as (inner, inner_address), git_http(base) as (server, address):
        use(monkeypatch, address, ("credential.helper", helper(tmp_path / "helper")))
        server.answers = [(302, {"Location": f"{inner_address}up.git/info/refs?service=git-upload-pack"})]
        with Store.open(URL, profile=TRUSTED) as store, pytest.raises(Unreachable) as error:
            store.fetch("refs/heads/main")
        assert "moved" in str(error.value.hint)
        assert (inner.seen, len(server.seen)) == ([], 1)


def test_errors_of_the_network_are_tried_again_with_patience(
    upstream: GitRepository, base: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    paused: list[float] = []
    monkeypatch.setattr(remote, "sleep", paused.append)
    monkeypatch.setattr(remote, "PAUSES", (0.5, 2.0))
    with git_http(base) as (server, address):
        use(monkeypatch, address)
        server.answers = [(503, {}), (503, {})]
        with Store.open(URL, profile=TRUSTED) as store:
            assert len(store.refs("refs/heads/main")) == 1
            assert paused == [0.5, 2.0]
            server.answers = [(503, {})] * 3
            with pytest.raises(Unreachable, match=r"cannot reach https://git\.example/up\.git") as error:
                store.refs("refs/heads/main")
            assert error.value.transient
    before = len(paused)
    with Store.open(URL, profile=TRUSTED) as store, pytest.raises(Unreachable, match="cannot reach"):
        store.refs("refs/heads/main")  # the server is gone
    assert len(paused) == before + 2


def test_a_server_that_says_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    with silent() as address:
        use(monkeypatch, address)
        begun = time.monotonic()
        with Store.open(URL, profile=TRUSTED._replace(timeout=0.5)) as store:
            for ask in (lambda: store.refs("refs/heads/main"), lambda: store.fetch("refs/heads/main")):
                with pytest.raises(Unreachable, match=r"did not answer within 0\.5 s"):
                    ask()
        assert time.monotonic() - begun < 5


@pytest.mark.parametrize("version", ["0", "2"])
def test_a_server_without_filters(
    version: str, upstream: GitRepository, base: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    serve(upstream.path, filters=False)
    with git_daemon(base) as address:
        use(monkeypatch, address, ("protocol.version", version))
        assert read_all(upstream) == FILES


def test_a_server_that_refuses_one_kind_of_filter(
    upstream: GitRepository, base: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    upstream.git("config", "uploadpackfilter.allow", "false")
    with git_daemon(base) as address:
        use(monkeypatch, address)
        assert read_all(upstream) == FILES
        with Store.open(URL, profile=TRUSTED, fresh=True) as store:
            store.fetch("refs/heads/main", filter="tree:0")
            assert len(store.tree(upstream.git("rev-parse", "main"))) == 2


def test_a_server_that_gives_no_ids(upstream: GitRepository, base: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    second, first = upstream.git("rev-list", "main").split()
    upstream.git("config", "uploadpack.allowAnySHA1InWant", "false")
    lost = upstream.git("commit-tree", "main^{tree}", "-m", "on no branch")
    with git_daemon(base) as address:
        use(monkeypatch, address, ("protocol.version", "0"))
        with Store.open(URL, profile=TRUSTED) as store:
            store.fetch(first, depth=1)
            assert store.is_ancestor(first, second)
            assert store.blobs([upstream.git("rev-parse", f"{first}:a.h")])
            with pytest.raises(Gone, match="and gives nothing else"):
                store.fetch(lost)


def test_a_commit_of_a_pull_request_alone(upstream: GitRepository, base: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    main = upstream.git("rev-parse", "main")
    upstream.git("checkout", "-q", "-b", "pr")
    commit = upstream.commit("pr", {"pr.h": "x\n"})
    upstream.git("checkout", "-q", "main")
    upstream.git("update-ref", "refs/pull/1/head", commit)
    upstream.git("branch", "-D", "pr")
    with git_daemon(base) as address:
        use(monkeypatch, address)
        with Store.open(URL, profile=TRUSTED, fresh=True) as store:
            store.fetch("refs/heads/*", filter="tree:0")
            assert not store.has(commit)
            store.fetch(commit, filter="tree:0")
            assert not store.is_ancestor(commit, main)
            assert "refs/pull/1/head" in store.refs("refs/pull/*")


def test_the_default_branch_is_found_without_a_list_of_all_pull_requests(
    upstream: GitRepository, base: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    commit = upstream.git("rev-parse", "main")
    lines = [f"{commit} refs/pull/{number}/head\n" for number in range(3000)]
    (upstream.path / ".git/packed-refs").write_text("# pack-refs with: peeled fully-peeled sorted \n" + "".join(lines))
    with git_daemon(base) as address:
        wire = Proxy(int(address.rstrip("/").rpartition(":")[2]))
        use(monkeypatch, f"git://127.0.0.1:{wire.own_port}/")
        with Store.open(URL, profile=TRUSTED) as store:
            assert store.refs("HEAD", "refs/heads/*") == {"HEAD": commit, "refs/heads/main": commit}
            store.fetch(commit)  # its history came along
            assert (wire.connections, wire.received < 10_000) == (2, True)
        with Store.open(URL, profile=TRUSTED, offline=True) as store:
            assert store.refs("HEAD", "refs/heads/*") == {"HEAD": commit}
        wire.close()


def test_a_server_without_a_head(upstream: GitRepository, base: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    upstream.git("symbolic-ref", "HEAD", "refs/heads/none")
    with git_daemon(base) as address:
        use(monkeypatch, address)
        with Store.open(URL, profile=TRUSTED) as store:
            assert list(store.refs("HEAD", "refs/heads/*")) == ["refs/heads/main"]
            assert store.refs("HEAD") == {}


def test_the_policy_lets_an_untrusted_run_reach_its_hosts_alone(
    upstream: GitRepository, base: Path, certificate: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with git_http(base, certificate=certificate) as (server, address):
        host = address.split("/")[2]
        use(monkeypatch, "/nowhere/", ("credential.helper", helper(tmp_path / "helper")))
        rules = Policy(hosts=(host,), ca=str(certificate[0]))
        with Store.open(f"{address}up.git", profile=policy.applied(UNTRUSTED, rules)) as store:
            store.fetch("refs/heads/main")
            assert len(store.tree(upstream.git("rev-parse", "main"))) == 2
        without = policy.applied(UNTRUSTED, rules._replace(ca=None))
        with Store.open(f"{address}up.git", profile=without) as store, pytest.raises(Unreachable) as error:
            store.refs("refs/heads/main")
        assert "ca" in str(error.value.hint)
        server.login = LOGIN  # no credentials are sent for a stranger
        with (
            Store.open(f"{address}up.git", profile=policy.applied(UNTRUSTED, rules)) as store,
            pytest.raises(Unreachable),
        ):
            store.refs("refs/heads/main")
        assert {authorization for _, authorization in server.seen} == {""}
    for url in ("https://other.example/up.git", "https://127.0.0.1/up.git", "http://127.0.0.1/x", "git@github.com:o/n"):
        with pytest.raises(ExternalError, match="refused"), Store.open(url, profile=policy.applied(UNTRUSTED, rules)):
            pass


def test_a_mirror_of_the_policy(upstream: GitRepository, base: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with git_daemon(base) as address:
        rules = Policy(hosts=("git.example",), mirrors={"git": {PUBLIC: address}})
        for profile in (TRUSTED, UNTRUSTED):
            with Store.open(URL, profile=policy.applied(profile, rules), fresh=True) as store:
                assert store.mirror == f"{address}up.git"
                store.fetch("refs/heads/main")
        with Store.open(URL, profile=TRUSTED) as store:
            assert store.mirror is None


def test_the_users_ssh_command_is_used(
    upstream: GitRepository, base: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ssh = tmp_path / "my ssh"
    ssh.write_text(f'#!/bin/sh\nfor last; do :; done\ncd "{base}" && eval "$last"\n')
    ssh.chmod(0o755)
    monkeypatch.setenv("GIT_SSH_COMMAND", f"'{ssh}'")
    with Store.open(f"ssh://git@git.example{base}/up.git", profile=TRUSTED) as store:
        store.fetch("refs/heads/main")
        assert store.has(upstream.git("rev-parse", "main"))


@pytest.mark.parametrize(
    ("script", "words"),
    [("exit 255", "the connection ended without a word"), ("exit 0", "the connection ended without a word"),
     ("kill -9 $$", "Killed"),
     ("echo 'no more sessions' >&2; exit 255", "no more sessions"),
     ("echo 'Connection closed by remote host' >&2; exit 255", "Connection closed by remote host"),
     ("echo 'error: packfile x.pack is corrupt' >&2; exit 255", "error: packfile x.pack is corrupt"),
     ("echo welcome; exit 0", "protocol error"), (None, "not found")],
)  # fmt: skip
def test_an_ssh_that_fails_says_nothing_against_the_cache(
    script: str | None, words: str, upstream: GitRepository, base: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url, ssh = f"ssh://git@git.example{base}/up.git", tmp_path / "my ssh"
    monkeypatch.setenv("GIT_SSH_COMMAND", f"'{ssh}'")
    works = f'for last; do :; done\ncd "{base}" && eval "$last"\n'
    ssh.write_text(f"#!/bin/sh\n{works}")
    ssh.chmod(0o755)
    with Store.open(url, profile=TRUSTED) as store:
        store.fetch("refs/heads/main")
        made = Path(store.folder).stat().st_ino
    if script is None:
        ssh.unlink()
    else:
        ssh.write_text(f"#!/bin/sh\n{script}\n")
    with Store.open(url, profile=TRUSTED) as store:
        for ask in (lambda: store.fetch("refs/heads/main"), lambda: store.refs("refs/heads/main")):
            with pytest.raises(Unreachable) as error:
                ask()
            assert words in str(error.value)
        assert Path(store.folder).stat().st_ino == made
        assert store.has(upstream.git("rev-parse", "main"))


def test_what_git_says_of_nothing_known_is_the_servers_fault_where_the_cache_is_sound(
    upstream: GitRepository, base: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    use(monkeypatch, f"{base}/")
    with Store.open(URL, profile=TRUSTED) as store:
        store.fetch("refs/heads/main")
        made = Path(store.folder).stat().st_ino
    use(monkeypatch, "ssh://git@git.example/")
    monkeypatch.setenv("GIT_SSH", str(tmp_path / "no such program"))
    with Store.open(URL, profile=TRUSTED) as store:
        with pytest.raises(Unreachable, match=r"cannot run .*no such program"):
            store.fetch("refs/heads/main")
        assert Path(store.folder).stat().st_ino == made


def test_the_users_proxy_is_used(base: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with git_http(base) as (proxy, address):
        monkeypatch.setenv("http_proxy", address)
        use(monkeypatch, "http://git.invalid/")
        with Store.open(URL, profile=TRUSTED) as store, pytest.raises(ExternalError):
            store.refs("refs/heads/main")  # the server does not know such a path; that it was asked is the point
        assert proxy.seen[0][0].startswith("http://git.invalid/up.git")
