from __future__ import annotations

from pathlib import Path

import pytest

from pinctl.errors import UsageError
from pinctl.external import policy as files
from pinctl.external.gitcli import TRUSTED, UNTRUSTED
from pinctl.policy import Policy, parse

WHOLE = """\
schema = 1
hosts = ["GitHub.com"]
owners = ["github.com/deepseek-ai", "github.com/NVIDIA/cutlass"]
ca = "/etc/ca.pem"
proxy = "http://proxy.example:3128"
timeout = 30
[mirrors.git]
"https://github.com/" = "https://git.example/gh/"
"https://github.com/NVIDIA/" = "/srv/nvidia/"
[mirrors.index]
"https://pypi.org/simple/" = "https://pypi.example/simple/"
[publish]
url = "https://upload.example/"
"""


def test_a_whole_policy() -> None:
    rules = parse(WHOLE, "p.toml")
    assert rules.hosts == ("github.com",)
    assert (rules.ca, rules.proxy, rules.timeout) == ("/etc/ca.pem", "http://proxy.example:3128", 30)
    assert rules.publish == {"url": "https://upload.example/"}
    assert rules.mirror("https://github.com/o/n") == "https://git.example/gh/o/n"
    assert rules.mirror("https://github.com/NVIDIA/cutlass") == "/srv/nvidia/cutlass"  # the longest prefix
    assert rules.mirror("https://pypi.org/simple/x", "index") == "https://pypi.example/simple/x"
    assert rules.mirror("https://gitlab.com/o/n") is None


@pytest.mark.parametrize(
    ("url", "allowed"),
    [
        ("https://github.com/deepseek-ai/DeepGEMM.git", True),
        ("git@github.com:DeepSeek-AI/DeepGEMM", True),
        ("https://github.com/nvidia/cutlass.git", True),
        ("https://github.com/NVIDIA/cutlass-evil", False),
        ("https://github.com/deepseek-ai-evil/DeepGEMM", False),
        ("https://github.com.evil/deepseek-ai/DeepGEMM", False),
        ("https://evil.com/github.com/deepseek-ai/x", False),
        ("https://github.com:444/deepseek-ai/x", False),
    ],
)
def test_hosts_and_owners(url: str, allowed: bool) -> None:
    assert (parse(WHOLE, "p").refusal(url) is None) is allowed


def test_without_limits_everything_is_allowed() -> None:
    assert Policy().refusal("https://anywhere.example/o/n") is None


@pytest.mark.parametrize(
    "text",
    [
        "",
        "schema = 2",
        "schema = 1\nhost = []",
        "schema = 1\nhosts = 'x'",
        "schema = 1\nhosts = [1]",
        "schema = 1\nca = 'x'",
        "schema = 1\nproxy = 'ext::x'",
        "schema = 1\ntimeout = 0",
        "schema = 1\ntimeout = '3'",
        "schema = 1\nmirrors = 1",
        "schema = 1\n[mirrors.gti]\n",
        "schema = 1\n[mirrors.git]\na = 1",
        "schema = 1\n[mirrors.git]\na = 'ext::sh'",
        "[",
        "schema = 1\n[mirrors.git]\n'a=b' = '/x'",
        "schema = 1\nhosts = ['g\u0456thub.com']",
        "schema = 1\npublish = 1",
    ],
)
def test_a_policy_that_could_be_misread_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match=r"the policy file p\.toml"):
        parse(text, "p.toml")


def test_a_stranger_needs_a_policy(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no policy says"):
        files.profile(untrusted=True, path=None)
    assert files.profile(untrusted=False, path=None) is TRUSTED
    path = tmp_path / "policy.toml"
    path.write_text("schema = 1\n")
    assert files.profile(untrusted=True, path=str(path)).policy == Policy(hosts=())
    assert files.profile(untrusted=False, path=str(path)).policy == Policy()


def test_the_policy_lies_outside_the_checkout(tmp_path: Path) -> None:
    path = tmp_path / "root" / "policy.toml"
    path.parent.mkdir()
    path.write_text("schema = 1\nhosts = ['evil']\n")
    with pytest.raises(UsageError, match="lies in the checkout"):
        files.profile(untrusted=True, path=str(path), root=str(path.parent))
    with pytest.raises(UsageError, match="cannot be read"):
        files.profile(untrusted=True, path=str(tmp_path / "none.toml"))


def test_what_a_policy_tells_git() -> None:
    profile = files.applied(UNTRUSTED, parse(WHOLE, "p"))
    config = profile.config()
    assert "http.sslCAInfo=/etc/ca.pem" in config
    assert "url.https://git.example/gh/.insteadOf=https://github.com/" in config
    assert profile.environment(network=True)["GIT_ALLOW_PROTOCOL"] == "https:file"
    assert profile.timeout == 30
