"""`publish --target github` against a server that does what GitHub's interface does."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from index.support import wheel
from integration.publishing import TOKEN, Cuts, FakeGitHub, policy_file, running

from commands.publishing import checkout, codes, run, states
from pinctl.errors import UsageError
from pinctl.external import github
from pinctl.publish import releases

PLAIN = "cp310-abi3-manylinux_2_28_x86_64"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return checkout(tmp_path)


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeGitHub]:
    monkeypatch.setenv("GH_TOKEN", TOKEN)
    monkeypatch.setattr(github, "PAUSES", (0.0, 0.0))
    with running(FakeGitHub()) as server:
        yield server


def policy(root: Path, hub: FakeGitHub, more: str = "") -> str:
    text = f'[publish.github]\nrepository = "example/whl"\napi = "{hub.url}"\nweb = "{hub.url}"\nwait = 0\n{more}'
    return policy_file(root.parent, text)


def assets(hub: FakeGitHub, number: int = 0) -> list[str]:
    return [asset["name"] for asset in hub.releases[number]["assets"]]


def test_a_release_is_drafted_filled_published_and_seen(root: Path, hub: FakeGitHub) -> None:
    one = wheel(root / "dist", name="deep_gemm", version="2.8.0+cu129")
    told = run(root, one, target="github", policy=policy(root, hub))
    assert told.body.rows == (  # type: ignore[union-attr]
        ("github", one.name, "cu12", "add to the release deep-gemm-v2.8.0"),
    )
    assert hub.releases == []
    done = run(root, one, target="github", policy=policy(root, hub), yes=True)
    assert (codes(done), states(done)) == ([], {"github": "published"})
    (release,) = hub.releases
    said = {key: release[key] for key in ("tag_name", "draft", "prerelease", "make_latest")}
    assert said == {"tag_name": "deep-gemm-v2.8.0", "draft": False, "prerelease": False, "make_latest": "false"}
    assert assets(hub) == [f"{one.name}.metadata", one.name]  # the + of the label is there
    (file,) = done.result["targets"][0]["files"]  # type: ignore[index]
    assert "pip" in file["installed"]
    posts = [path for method, path in hub.seen if method == "POST"]
    assert posts[-1].endswith("?name=deep_gemm-2.8.0%2Bcu129-py3-none-any.whl")


def test_the_same_again_sends_nothing_and_other_bytes_are_refused(root: Path, hub: FakeGitHub) -> None:
    run(root, wheel(root / "dist"), target="github", policy=policy(root, hub), yes=True)
    hub.seen.clear()
    again = run(root, wheel(root / "dist"), target="github", policy=policy(root, hub), yes=True)
    assert states(again) == {"github": "unchanged"}
    assert {method for method, _ in hub.seen} == {"GET", "HEAD"} or {method for method, _ in hub.seen} == {"GET"}
    other = run(root, wheel(root / "other", body="X = 2\n"), target="github", policy=policy(root, hub), yes=True)
    assert (codes(other), states(other)) == (["PIN717"], {"github": "blocked"})


def test_versions_and_packages_have_releases_of_their_own(root: Path, hub: FakeGitHub) -> None:
    found = [wheel(root / "dist", "1.0+cu129"), wheel(root / "dist", "1.1rc1+cu129"),
             wheel(root / "dist", "1.0+cu129", name="other")]  # fmt: skip
    done = run(root, *found, target="github", policy=policy(root, hub), yes=True)
    assert states(done) == {"github": "published"}
    assert {one["tag_name"]: one["prerelease"] for one in hub.releases} == {
        "tinyk-v1.0": False, "tinyk-v1.1rc1": True, "other-v1.0": False,
    }  # fmt: skip


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("number", range(8))
def test_a_connection_that_is_cut_at_any_request_loses_nothing(
    root: Path, hub: FakeGitHub, when: str, number: int
) -> None:
    one = wheel(root / "dist")
    hub.cut = Cuts(number, when)
    done = run(root, one, target="github", policy=policy(root, hub), yes=True)
    if states(done) != {"github": "published"}:
        assert done.exit_code == 4
        assert all(release["draft"] for release in hub.releases)
        done = run(root, one, target="github", policy=policy(root, hub), yes=True)
    assert codes(done) == []
    assert [(release["draft"], assets(hub, n)) for n, release in enumerate(hub.releases)] == [
        (False, [f"{one.name}.metadata", one.name])
    ]


def test_a_server_that_falls_silent_is_left_and_a_run_completes(
    root: Path, hub: FakeGitHub, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = wheel(root / "dist")
    monkeypatch.setattr(github, "_SILENCE", (1.0, 0.5))
    hub.cut = lambda when, method, _: (when, method) == ("before", "POST") and bool(time.sleep(1.5))  # type: ignore[func-returns-value]
    failed = run(root, one, target="github", policy=policy(root, hub), yes=True)
    assert states(failed) == {"github": "failed"}
    assert all(release["draft"] for release in hub.releases)
    hub.cut = lambda *_: bool(time.sleep(0.1))  # type: ignore[func-returns-value]
    done = run(root, one, target="github", policy=policy(root, hub), yes=True)
    assert (codes(done), states(done)) == ([], {"github": "published"})
    (release,) = [release for release in hub.releases if not release["draft"]]
    assert sorted(asset["name"] for asset in release["assets"]) == sorted([one.name, f"{one.name}.metadata"])


def test_what_is_left_of_an_upload_is_replaced(root: Path, hub: FakeGitHub) -> None:
    hub.starting = True
    one = wheel(root / "dist")
    broken = run(root, one, target="github", policy=policy(root, hub), yes=True)
    assert (codes(broken), states(broken)) == (["PIN726"], {"github": "failed"})
    assert hub.releases[0]["draft"]
    hub.starting = False
    done = run(root, one, target="github", policy=policy(root, hub), yes=True)
    assert states(done) == {"github": "published"}
    assert {asset["state"] for asset in hub.releases[0]["assets"]} == {"uploaded"}


def test_bytes_that_github_spoils_are_never_published(root: Path, hub: FakeGitHub) -> None:
    hub.spoiled = True
    done = run(root, wheel(root / "dist"), target="github", policy=policy(root, hub), yes=True)
    assert codes(done) == ["PIN726"]
    assert "bytes, and the asset of this name" in done.findings[-1].message
    assert hub.releases[0]["draft"]


def test_a_file_that_changed_after_it_was_judged_is_not_sent(root: Path, hub: FakeGitHub, tmp_path: Path) -> None:
    one = wheel(root / "dist")
    asset = releases.Asset(one.name, one.stat().st_size, "0" * 64)
    from pinctl.external.gitcli import TRUSTED
    from pinctl.publish.settings import GitHub

    client = github.Releases(GitHub("example/whl", hub.url, hub.url), TRUSTED, TOKEN)
    draft = client.draft("t", name="t", prerelease=False)
    with pytest.raises(Exception, match="has changed since it was looked at"):
        client.send(draft, asset, str(one))
    assert assets(hub) == []


def test_the_token_is_of_the_environment_and_never_shown(
    root: Path, hub: FakeGitHub, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = wheel(root / "dist")
    monkeypatch.setenv("GH_TOKEN", "another-secret-entirely")
    done = run(root, one, target="github", policy=policy(root, hub), yes=True)
    assert codes(done) == ["PIN726"]
    assert "status 401: Bad credentials" in done.findings[-1].message
    assert "another-secret" not in repr(done)
    monkeypatch.delenv("GH_TOKEN")
    told = run(root, one, target="github", policy=policy(root, hub))
    assert "what it has is not known" in told.body.rows[0][3]  # type: ignore[union-attr,operator]
    with pytest.raises(UsageError, match="GH_TOKEN is not set"):
        run(root, one, target="github", policy=policy(root, hub), yes=True)


def test_uploads_go_to_no_stranger(root: Path, hub: FakeGitHub) -> None:
    from pinctl.external.gitcli import TRUSTED
    from pinctl.publish.releases import Asset, Release
    from pinctl.publish.settings import GitHub

    client = github.Releases(GitHub("example/whl", hub.url, hub.url), TRUSTED, TOKEN)
    away = Release(1, "t", True, "https://evil.example/repos/example/whl/releases/1/assets")
    with pytest.raises(github.Refused, match=r"evil\.example"):
        client.send(away, Asset("a", 1, "0" * 64), b"x")


def test_an_index_of_links_to_releases(root: Path, hub: FakeGitHub) -> None:
    from index.test_clients import serving

    one, site = wheel(root / "dist"), root / "site"
    site.mkdir()
    with serving(site) as url:
        more = f'[publish.index]\nfolder = "{site}"\nfiles = "github"\nurl = "{url}"\nwait = 0\n'
        done = run(root, one, policy=policy(root, hub, more), yes=True)
        assert (codes(done), states(done)) == (["PIN713"], {"github": "published", "index": "published"})
    page = (site / "release/cu12/tinyk/index.html").read_text()
    assert (
        f'href="{hub.url}/example/whl/releases/download/tinyk-v1.0/tinyk-1.0%2Bcu129-py3-none-any.whl#sha256=' in page
    )
    assert "data-core-metadata=" in page
    assert not (site / "files").exists()


def test_an_index_waits_for_its_releases(root: Path, hub: FakeGitHub) -> None:
    site = root / "site"
    more = f'[publish.index]\nfolder = "{site}"\nfiles = "github"\n'
    hub.spoiled = True
    done = run(root, wheel(root / "dist"), policy=policy(root, hub, more), yes=True)
    assert states(done) == {"github": "failed", "index": "blocked"}
    assert not site.exists()
