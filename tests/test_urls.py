import pytest
from hypothesis import given
from hypothesis import strategies as st

from pinctl.urls import LONGEST, check_url, identity, redact, same_repo

SAFE = [
    "https://github.com/deepseek-ai/DeepGEMM.git",
    "https://github.com/vllm-project/vllm",
    "https://git.example.org:8443/~team/kernel%20lib/",
    "https://127.0.0.1:8443/a/b",
    "https://localhost/a/b",
    "https://files.example.org/fmt-{version}.tar.gz?raw=1",
    "https://xn--exmple-cua.org/a/b",
    "ssh://git@github.com/org/name.git",
    "ssh://git@ssh.github.com:443/org/name.git",
    "git@github.com:org/name.git",
    "github.com:org/name",
]


@pytest.mark.parametrize("url", SAFE)
def test_usual_urls_are_safe(url: str) -> None:
    assert check_url(url) is None


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        # security rows 1, 2
        ("--upload-pack=touch;", "starts with `-`"),
        ("-u./p", "starts with `-`"),
        # rows 4, 5
        ("ext::sh -c touch% x", "a space"),
        ("ext::touch%20x", "remote helper"),
        ("fd::3", "remote helper"),
        ("::x", "remote helper"),
        ("transport-x::https://github.com/a/b", "remote helper"),
        ("file:///srv/repo", "transport is `file`"),
        ("http://github.com/a/b", "transport is `http`"),
        ("git://github.com/a/b", "transport is `git`"),
        ("HTTPS://github.com/a/b", "transport is `HTTPS`"),
        ("git+https://github.com/a/b", "transport is `git+https`"),
        ("/srv/repo", "no URL"),
        ("../sibling", "no URL"),
        ("org/name", "no URL"),
        # row 6
        ("ssh://-oProxyCommand=touch/", "no plain host name"),
        ("ssh://git@-oProxyCommand=touch/x", "no plain host name"),
        ("-oProxyCommand=touch:x", "starts with `-`"),
        ("git@-oProxyCommand=touch:x", "no plain host name"),
        ("ssh://-oProxyCommand=touch@github.com/x", "user name is malformed"),
        ("git@github.com:-x/y", "path starts with `-`"),
        # row 7
        ("https://github.com@evil.example/a/b", "a user name or a password"),
        ("https://g\u0456thub.com/a/b", "outside ASCII"),
        ("https://\u2460\u2461\u2466.0.0.1/a", "outside ASCII"),
        ("https://github.com\t.evil.example/a", "a space or a control"),
        ("https://github.com/a\x00b", "a space or a control"),
        ("https://github.com/a\n", "a space or a control"),
        ("\nhttps://github.com/a", "a space or a control"),
        ("https://github.com./a/b", "no plain host name"),
        ("https://git_hub.com/a/b", "no plain host name"),
        ("https://[::1]/a/b", "no plain host name"),
        ("https:///a/b", "no plain host name"),
        ("https://github.com\\@evil.example/a", "a user name or a password"),
        ("https://github.com\\.evil.example/a", "no plain host name"),
        ("https://github.com%2eevil.example/a", "no plain host name"),
        ("https://2130706433/a", "host is a number"),
        ("https://127.1/a", "host is a number"),
        ("https://0x7f.0.0.1/a", "host is a number"),
        ("https://0x7f000001/a", "host is a number"),
        ("https://127.0.0.01/a", "host is a number"),
        ("https://256.0.0.1/a", "host is a number"),
        ("https://github.com:0/a", "port"),
        ("https://github.com:65536/a", "port"),
        ("https://github.com:/a", "port"),
        ("https://github.com:80:80/a", "port"),
        ("https://" + "a." * 130 + "org/x", "no plain host name"),
        # row 8
        ("https://github.com/$TOKEN", "`$`"),
        # H19 and PIN119
        ("https://x:SENTINEL@github.com/a/b", "a user name or a password"),
        ("https://SENTINEL@github.com/a/b", "a user name or a password"),
        ("ssh://git:SENTINEL@github.com/a/b", "a password"),
        ("https://github.com/a/b?access_token=SENTINEL", "credential"),
        ("https://s3.example.org/x.tgz?X-Amz-Signature=SENTINEL", "credential"),
        # paths
        ("https://github.com/org/../evil/name", "`.` or `..`"),
        ("https://github.com/org/%2e%2E/evil", "`.` or `..`"),
        ("https://github.com/org/..%5cevil", "`.` or `..`"),
        ("https://github.com/org/name%0d%0aHost:", "escaped control"),
        ("https://github.com/org/name%00", "escaped control"),
        ("https://github.com/org/100%", "no escape"),
        ('https://github.com/org/"name', "no URL may hold"),
        ("https://github.com/org/`id`", "no URL may hold"),
        ("", "empty"),
        ("https://github.com/" + "a" * LONGEST, "more than"),
    ],
)
def test_unsafe_urls_are_refused_with_their_reason(url: str, reason: str) -> None:
    found = check_url(url)
    assert found is not None
    assert reason in found
    assert "SENTINEL" not in found


def test_transports_widen_and_narrow_the_choice() -> None:
    assert check_url("file:///srv/a", transports=("file",)) is None
    assert check_url("http://mirror.example.org/a", transports=("https", "http")) is None
    assert check_url("file://evil.example/a", transports=("file",)) is not None
    assert "ssh" in (check_url("git@github.com:a/b", transports=("https",)) or "")


@pytest.mark.parametrize(
    "url",
    [
        "https://github.com/deepseek-ai/DeepGEMM",
        "https://github.com/deepseek-ai/DeepGEMM.git",
        "https://github.com/deepseek-ai/DeepGEMM.git/",
        "https://github.com//deepseek-ai//DeepGEMM/",
        "https://GitHub.com/DeepSeek-AI/deepgemm.GIT",
        "https://www.github.com:443/deepseek-ai/DeepGEMM",
        "https://user:secret@github.com/deepseek-ai/DeepGEMM",
        "https://github.com/deepseek-ai/DeepGEMM#main",
        "git+https://github.com/deepseek-ai/DeepGEMM",
        "http://github.com/deepseek-ai/DeepGEMM",
        "git@github.com:deepseek-ai/DeepGEMM.git",
        "git@github.com:/deepseek-ai/DeepGEMM.git",
        "github.com:deepseek-ai/DeepGEMM",
        "ssh://git@github.com/deepseek-ai/DeepGEMM",
        "ssh://git@github.com:22/deepseek-ai/DeepGEMM",
        "ssh://git@ssh.github.com:443/deepseek-ai/DeepGEMM.git",
        "https://github.com/deepseek-ai/Deep%47EMM",
    ],
)
def test_one_repository_has_one_identity(url: str) -> None:
    assert identity(url) == "github.com/deepseek-ai/deepgemm"


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("https://github.com/org/a", "https://github.com/org/b"),
        ("https://github.com/org/a", "https://gitlab.com/org/a"),
        ("https://github.com/org/a", "https://github.com.evil.example/org/a"),
        ("https://github.com/org/a", "https://github.com@evil.example/org/a"),
        ("https://git.example.org/org/a", "https://git.example.org/org/A"),
        ("https://git.example.org/org/a", "https://git.example.org:8443/org/a"),
        ("https://git.example.org/org/a", "../a"),
    ],
)
def test_other_repositories_differ(a: str, b: str) -> None:
    assert not same_repo(a, b)
    assert same_repo(a, a)
    assert same_repo(b, b)


def test_what_is_no_url_is_its_own_identity() -> None:
    assert identity("../third-party/fmt") == "../third-party/fmt"
    assert identity("") == ""


_NAME = st.from_regex(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,12}[A-Za-z0-9_]", fullmatch=True).filter(
    lambda name: not name.lower().endswith(".git")
)
_NEARLY = st.from_regex(r"[a-z+]{0,5}:?:?/?/?[-@:a-z.$%]{0,12}/[-%.a-z0-9@#?]{0,12}", fullmatch=True)


@given(st.sampled_from(["github.com", "git.example.org", "gitlab.com"]), _NAME, _NAME)
def test_every_spelling_of_a_repository_agrees(host: str, org: str, name: str) -> None:
    path = f"{org}/{name}"
    spellings = [f"https://{host.upper()}/{path}.git/", f"git@{host}:{path}", f"ssh://git@{host}/{path}.git"]
    assert {identity(s) for s in spellings} == {identity(f"https://{host}/{path}")}


@given(st.text(max_size=60) | _NEARLY)
def test_no_text_makes_them_raise(text: str) -> None:
    check_url(text)
    identity(text)
    redact(text)


@given(st.text(max_size=60))
def test_what_passes_is_printable_ascii_without_a_leading_dash(text: str) -> None:
    for url in (text, f"https://github.com/{text}", f"https://{text}/a", f"git@{text}:a"):
        if check_url(url) is None:
            assert url.isascii()
            assert not any(c <= " " or c == "\x7f" for c in url)
            assert url[0] != "-"
            assert "$" not in url


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("https://user:SENTINEL@host/a", "https://***@host/a"),
        ("https://SENTINEL@host/a b@c", "https://***@host/a b@c"),
        ("https://user:SENT/INEL@host/a", "https://***@host/a"),
        ("https://user:SENT@INEL@host/a", "https://***@host/a"),
        ("fatal: 'ssh://git:SENTINEL@host:22/a'", "fatal: 'ssh://***@host:22/a'"),
        ("https://host/a?access_token=SENTINEL&x=1", "https://host/a?access_token=***&x=1"),
        ("https://host/a?x=1&X-Amz-Signature=SENTINEL#f", "https://host/a?x=1&X-Amz-Signature=***#f"),
        ("-c http.extraHeader=Authorization: Basic SENTINEL=", "-c http.extraHeader=Authorization: Basic ***"),
        ("authorization: bearer SENTINEL", "authorization: bearer ***"),
        ("PRIVATE-TOKEN: SENTINEL", "PRIVATE-TOKEN: ***"),
        ("remote: ghp_SENTINELSENTINEL bad", "remote: ghp_*** bad"),
    ],
)
def test_credentials_are_not_shown(text: str, shown: str) -> None:
    assert redact(text) == shown


@pytest.mark.parametrize(
    "text",
    [
        "git@github.com:org/name.git",
        "ssh://git@github.com/org/name.git",
        "https://host:8443/a@v1",
        "https://host/a?author=me&design=2",
        "pip install name @ git+https://github.com/a/b@v1",
    ],
)
def test_what_is_no_credential_stays(text: str) -> None:
    assert redact(text) == text


@pytest.mark.parametrize("piece", ["https://a:", "https://a:b", "?token", "a" * 50 + "?", "authorization: "])
def test_redaction_is_linear_in_the_length(piece: str) -> None:
    text = piece * (200_000 // len(piece))
    assert len(redact(text)) <= 2 * len(text)
