"""`publish --target pypi`: by twine, to pypiserver and to an index that refuses as PyPI does (H11 of the reports)."""

from __future__ import annotations

import base64
import sys
import time
from collections.abc import Iterator
from datetime import date
from pathlib import Path

import pytest
from index.support import wheel
from integration.devpi import devpi
from integration.indexes import pypi
from integration.publishing import Cuts, FakePyPI, policy_file, running

from commands.publishing import PINS, checkout, codes, run, states
from pinctl.commands import publish_pypi as target
from pinctl.errors import UsageError
from pinctl.external import publish_clients, publish_pypi

SECRET = "pypi-AgENsecretsecretsecret"


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("TWINE_USERNAME", "__token__")
    monkeypatch.setenv("TWINE_PASSWORD", SECRET)
    monkeypatch.setattr(target, "_today", lambda: date(2026, 7, 2))
    return checkout(tmp_path)


@pytest.fixture
def index() -> Iterator[FakePyPI]:
    with running(FakePyPI()) as server:
        yield server


def policy(root: Path, index: FakePyPI) -> str:
    text = f'[publish.pypi]\nrepository = "{index.url}/legacy/"\nurl = "{index.url}/simple/"\nwait = 0\n'
    return policy_file(root.parent, text)


def test_pypiserver_takes_it_and_pip_and_uv_install_it(root: Path, tmp_path: Path) -> None:
    (tmp_path / "packages").mkdir()
    one = wheel(root / "dist", "1.0")
    with pypi(tmp_path / "packages") as simple:
        where = {"target": "pypi", "repository": simple.removesuffix("simple/"), "url": simple}
        told = run(root, one, **where)
        assert (states(told), list((tmp_path / "packages").iterdir())) == ({"pypi": "ready"}, [])
        done = run(root, one, yes=True, **where)
        assert (codes(done), states(done)) == ([], {"pypi": "published"})
        clients = ["pip", "uv"] if Path(sys.executable).with_name("uv").exists() else ["pip"]
        assert done.result["targets"][0]["files"][0]["installed"] == clients  # type: ignore[index]
        assert (tmp_path / "packages" / one.name).read_bytes() == one.read_bytes()
        assert states(run(root, one, yes=True, **where)) == {"pypi": "unchanged"}
        other = run(root, wheel(root / "other", "1.0", body="X = 2\n"), yes=True, **where)
        assert (codes(other), states(other)) == (["PIN717"], {"pypi": "blocked"})
        assert (tmp_path / "packages" / one.name).read_bytes() == one.read_bytes()
        assert states(run(root, one, verify=True, **where)) == {"pypi": "seen"}


@pytest.mark.slow
def test_devpi_takes_it_and_keeps_the_first_bytes(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TWINE_USERNAME", "root")
    one = wheel(root / "dist", "1.0")
    with devpi(tmp_path / "devpi", SECRET) as url:
        where = {"target": "pypi", "repository": url, "url": f"{url}+simple/"}
        done = run(root, one, yes=True, **where)
        assert (codes(done), states(done)) == ([], {"pypi": "published"})
        assert "pip" in done.result["targets"][0]["files"][0]["installed"]  # type: ignore[index]
        assert states(run(root, one, yes=True, **where)) == {"pypi": "unchanged"}
        other = run(root, wheel(root / "other", "1.0", body="X = 2\n"), yes=True, **where)
        assert (codes(other), states(other)) == (["PIN717"], {"pypi": "blocked"})
        assert states(run(root, one, verify=True, **where)) == {"pypi": "seen"}


def test_a_missing_twine_is_told_before_anything_is_sent(
    root: Path, index: FakePyPI, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(publish_pypi, "find_spec", lambda _: None)
    one = wheel(root / "dist", "1.0")
    assert states(run(root, one, target="pypi", policy=policy(root, index))) == {"pypi": "ready"}
    done = run(root, one, target="pypi", policy=policy(root, index), yes=True)
    assert (states(done), done.exit_code) == ({"pypi": "blocked"}, 4)
    assert "twine is not installed" in done.findings[-1].message


def test_clients_that_are_not_here_are_told(root: Path, index: FakePyPI, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(publish_clients, "there", list)
    done = run(root, wheel(root / "dist", "1.0"), target="pypi", policy=policy(root, index), yes=True)
    assert states(done) == {"pypi": "published"}
    assert done.closing == ("pypi: nothing was installed, since pip and uv are not here, or this is no machine for it",)


def test_two_variants_reach_one_index_each_and_pypi_gets_no_label(root: Path, index: FakePyPI) -> None:
    """H11: the label is for the index; the one variant without it is for PyPI."""
    plain, labelled = wheel(root / "dist", "1.0"), wheel(root / "dist", "1.0+cu129")
    site = root / "site"
    with open(policy(root, index), "a") as file:
        file.write(f'[publish.index]\nfolder = "{site}"\n')
    done = run(root, root / "dist", policy=str(root.parent / "policy.toml"), yes=True)
    assert (codes(done), states(done)) == ([], {"pypi": "published", "index": "published"})
    assert list(index.files) == [plain.name]
    assert (site / "files" / labelled.name).exists()
    refused = run(root, labelled, target="pypi", policy=policy(root, index), yes=True)
    assert (codes(refused), states(refused)) == (["PIN720"], {"pypi": "blocked"})
    assert list(index.files) == [plain.name]


def test_what_the_server_says_of_a_label_that_no_rule_stopped(
    root: Path, index: FakePyPI, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(target.pypi_rules, "refusals", lambda *_, **__: [])
    done = run(root, wheel(root / "dist"), target="pypi", policy=policy(root, index), yes=True)
    assert (codes(done), states(done), done.exit_code) == (["PIN726"], {"pypi": "failed"}, 4)
    assert "400" in done.findings[-1].message
    assert SECRET not in repr(done)


def test_one_blocked_variant_blocks_its_own_target_alone_unless_all_or_none(root: Path, index: FakePyPI) -> None:
    bad, good = wheel(root / "dist", "1.0", "cp310-abi3-linux_x86_64"), wheel(root / "dist", "1.0+cu129")
    policy(root, index)
    with open(root.parent / "policy.toml", "a") as file:
        file.write(f'[publish.index]\nfolder = "{root / "site"}"\n')
    both = {"policy": str(root.parent / "policy.toml"), "yes": True}
    alone = run(root, bad, good, only=("pypi",), **both)
    assert states(alone) == {"pypi": "blocked"}
    none = run(root, bad, good, all_or_none=True, **both)
    assert states(none) == {"pypi": "blocked", "index": "blocked"}
    assert not (root / "site").exists()
    done = run(root, bad, good, **both)
    assert "PIN721" in codes(done)
    assert states(done) == {"pypi": "blocked", "index": "published"}
    assert index.files == {}


@pytest.mark.parametrize("when", ["before", "after"])
def test_an_upload_whose_answer_is_lost_is_looked_for(root: Path, index: FakePyPI, when: str) -> None:
    one = wheel(root / "dist", "1.0")
    index.cut = Cuts(0, when, "POST")
    done = run(root, one, policy=policy(root, index), yes=True)
    if when == "after":
        assert (codes(done), states(done)) == ([], {"pypi": "published"})
    else:
        assert (codes(done), states(done)) == (["PIN726"], {"pypi": "failed"})
        assert states(run(root, one, policy=policy(root, index), yes=True)) == {"pypi": "published"}
    assert index.files == {one.name: one.read_bytes()}


def test_other_bytes_that_came_first_are_told_as_such(root: Path, index: FakePyPI) -> None:
    one, theirs = wheel(root / "dist", "1.0"), wheel(root / "theirs", "1.0", body="X = 2\n")

    def race(when: str, method: str, path: str) -> bool:
        if when == "before" and method == "POST":
            index.files[one.name] = theirs.read_bytes()
        return False

    index.cut = race
    done = run(root, one, policy=policy(root, index), yes=True)
    assert (codes(done), states(done)) == (["PIN726"], {"pypi": "failed"})
    assert "with other bytes" in done.findings[-1].message
    assert index.files == {one.name: theirs.read_bytes()}


def test_a_release_that_is_closed_takes_no_new_file(
    root: Path, index: FakePyPI, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = wheel(root / "dist", "1.0")
    run(root, one, policy=policy(root, index), yes=True)
    monkeypatch.setattr(target, "_today", lambda: date(2026, 7, 20))
    late = wheel(root / "dist", "1.0", "cp310-abi3-manylinux_2_28_x86_64")
    assert codes(run(root, late, policy=policy(root, index), yes=True)) == ["PIN725"]
    assert states(run(root, one, policy=policy(root, index), yes=True)) == {"pypi": "unchanged"}


@pytest.mark.parametrize("today", [date(1999, 1, 1), date(2026, 6, 30), date(2026, 7, 14)])
def test_a_clock_that_is_slow_closes_no_release(
    root: Path, index: FakePyPI, monkeypatch: pytest.MonkeyPatch, today: date
) -> None:
    run(root, wheel(root / "dist", "1.0"), policy=policy(root, index), yes=True)
    monkeypatch.setattr(target, "_today", lambda: today)
    more = wheel(root / "dist", "1.0", "cp310-abi3-manylinux_2_28_x86_64")
    assert states(run(root, more, policy=policy(root, index), yes=True)) == {"pypi": "published"}


def test_a_slow_server_is_waited_for(root: Path, index: FakePyPI) -> None:
    one = wheel(root / "dist", "1.0")
    index.cut = lambda *_: time.sleep(0.3) or False  # type: ignore[func-returns-value]
    done = run(root, one, policy=policy(root, index), yes=True)
    assert (codes(done), states(done)) == ([], {"pypi": "published"})


def test_an_index_that_cannot_be_read_back_blocks(root: Path, index: FakePyPI) -> None:
    done = run(root, wheel(root / "dist", "1.0"), target="pypi", repository=f"{index.url}/legacy/", yes=True)
    assert (codes(done), states(done)) == (["PIN726"], {"pypi": "blocked"})
    assert index.files == {}


def test_the_login_is_twines_to_find_and_in_no_argument(
    root: Path, index: FakePyPI, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("TWINE_USERNAME")
    monkeypatch.delenv("TWINE_PASSWORD")
    (tmp_path / "home").mkdir()
    section = (
        f"[distutils]\nindex-servers = ours\n[ours]\nrepository = {index.url}/legacy/\nusername = me\npassword = x\n"
    )
    (tmp_path / "home/.pypirc").write_text(section)
    (root / ".pypirc").write_text(section.replace("me", "evil"))
    (root / "twine.py").write_text("raise SystemExit('of the checkout')\n")
    ran = []
    real = publish_pypi.process.run
    monkeypatch.setattr(publish_pypi.process, "run", lambda argv, **more: ran.append(argv) or real(argv, **more))
    monkeypatch.chdir(root)
    done = run(root, wheel(root / "dist", "1.0"), policy=policy(root, index), yes=True)
    assert (codes(done), states(done)) == ([], {"pypi": "published"})
    assert index.logins == ["Basic " + base64.b64encode(b"me:x").decode()]
    assert "--repository" in ran[0]
    assert not any("password" in word for word in ran[0])


def test_attestations_are_made_where_ci_proves_who_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    from pinctl.publish.settings import PyPI

    public, own = PyPI("https://upload.pypi.org/legacy/", None), PyPI("https://whl.example/", None)
    assert not publish_pypi.attests(public)
    monkeypatch.setenv("ACTIONS_ID_TOKEN_REQUEST_URL", "https://token.example")
    monkeypatch.setattr(publish_pypi, "find_spec", lambda name: name)
    assert publish_pypi.attests(public)
    assert not publish_pypi.attests(own)


def test_a_wheel_with_an_attestation_is_sent_with_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    from pinctl.external.gitcli import TRUSTED
    from pinctl.external.wheelfile import identify
    from pinctl.publish.settings import PyPI

    monkeypatch.setattr(publish_pypi, "attests", lambda _: True)
    ran: list[list[str]] = []
    monkeypatch.setattr(publish_pypi, "_run", lambda words, *_: ran.append(list(words)))
    one = wheel(tmp_path, "1.0")
    publish_pypi.send(str(one), identify(str(one)).sha256, PyPI("https://upload.pypi.org/legacy/", None), TRUSTED)
    sign, send = ran
    assert sign[:2] == ["pypi_attestations", "sign"]
    assert send[-2:] == [sign[2], f"{sign[2]}.publish.attestation"]
    assert "--attestations" in send
    with pytest.raises(Exception, match="has changed since"):
        publish_pypi.send(str(one), "0" * 64, PyPI("https://upload.pypi.org/legacy/", None), TRUSTED)


def test_a_stranger_publishes_nothing(root: Path) -> None:
    with pytest.raises(UsageError, match="a stranger's"):
        run(root, wheel(root / "dist", "1.0"), target="pypi", untrusted=True)


def test_no_url_comes_from_the_checkout(root: Path) -> None:
    (root / "pins.toml").write_text(PINS.replace("[index]", '[index]\nurl = "https://evil.example/"'))
    with pytest.raises(UsageError, match="nothing says where the index lies"):
        run(root, wheel(root / "dist"))


@pytest.mark.parametrize(
    ("said", "match"),
    [
        ({"target": "oci"}, "no target oci"),
        ({"only": ("oci",)}, "no target oci"),
        ({"target": "pypi", "only": ("pypi",)}, "--only takes"),
        ({"repository": "x"}, "--repository and --index-url are of one target"),
        ({"yes": True, "verify": True}, "--yes looks from outside anyway"),
        ({"target": "github"}, "whose releases"),
        ({"target": "github", "repository": "a/../b"}, "OWNER/NAME"),
        ({"target": "pypi", "repository": "http://upload.example/"}, "shows the login"),
        ({"target": "pypi", "repository": "https://u:p@upload.example/"}, "cannot have the URL"),
        ({"target": "index", "channel": "../x"}, "--channel"),
    ],
)
def test_what_makes_no_sense(root: Path, said: dict[str, object], match: str) -> None:
    with pytest.raises(UsageError, match=match):
        run(root, wheel(root / "dist", "1.0"), **said)


def test_a_wheel_of_which_nothing_says_where_it_goes(root: Path) -> None:
    (root / "pins.toml").write_text("schema = 1\n[index]\nchannels = ['release']\n")
    with pytest.raises(UsageError, match=r"nothing says where tinyk-1\.0"):
        run(root, wheel(root / "dist", "1.0"))
    with pytest.raises(UsageError, match="no wheel is named"):
        run(root)
