import os
import stat
from pathlib import Path

import pytest

from pinctl.external.build_secrets import secrets
from pinctl.policy import Policy


@pytest.fixture(autouse=True)
def _plain(monkeypatch: pytest.MonkeyPatch) -> None:
    names = (
        "SSL_CERT_FILE",
        "REQUESTS_CA_BUNDLE",
        "CURL_CA_BUNDLE",
        "HTTPS_PROXY",
        "https_proxy",
        "HTTP_PROXY",
        "http_proxy",
    )
    for name in names:
        monkeypatch.delenv(name, raising=False)


def test_without_anything_special_there_are_none() -> None:
    with secrets(None) as found:
        assert found == {}


def test_indexes_and_their_logins_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    conf, logins = tmp_path / "pip.conf", tmp_path / "netrc"
    conf.write_text("[global]\nindex-url = https://i.example/simple\nextra-index-url = file:///opt https://j.example/s\n"
                    "trusted-host = j.example\n")  # fmt: skip
    logins.write_text("machine i.example login me password one\nmachine github.com login me password two\n")
    monkeypatch.setenv("PIP_CONFIG_FILE", str(conf))
    monkeypatch.setenv("NETRC", str(logins))
    with secrets(None) as found:
        assert Path(found["pip"]).read_text() == (
            "[global]\nindex-url = https://i.example/simple\nextra-index-url = https://j.example/s\n"
            "trusted-host = j.example\n"
        )
        assert Path(found["netrc"]).read_text() == "machine i.example login me password one\n"
        made = (found["pip"], found["netrc"])
        assert [stat.S_IMODE(os.stat(path).st_mode) for path in made] == [0o600, 0o600]
    assert not any(map(os.path.exists, made))


def test_the_policy_wins_over_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("ours.pem", "theirs.pem"):
        (tmp_path / name).write_text("certificates")
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "theirs.pem"))
    monkeypatch.setenv("HTTPS_PROXY", "http://theirs.example:3128")
    with secrets(Policy(ca=str(tmp_path / "ours.pem"), proxy="http://ours.example:3128")) as found:
        assert found["ca"] == str(tmp_path / "ours.pem")
        assert Path(found["proxy"]).read_text() == "http://ours.example:3128"
    with secrets(None) as found:
        assert found["ca"] == str(tmp_path / "theirs.pem")
        assert Path(found["proxy"]).read_text() == "http://theirs.example:3128"
