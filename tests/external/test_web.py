from __future__ import annotations

import gzip
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from integration.indexes import Reply, Request, Site, site
from integration.servers import HOST

from pinctl.errors import ExternalError
from pinctl.external import process, web
from pinctl.external.gitcli import TRUSTED, UNTRUSTED, Profile
from pinctl.external.policy import applied
from pinctl.external.web import Access, Answer, Hostile, Unreachable, Web, address, demand, onward
from pinctl.policy import Policy

SECRET = "hunter2"


@pytest.fixture(autouse=True)
def _no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(web, "PAUSES", (0.0, 0.0))
    for name in ("http_proxy", "https_proxy", "all_proxy", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)


@pytest.fixture
def served() -> Iterator[tuple[Site, str]]:
    with site() as pair:
        yield pair


def test_a_page(served: tuple[Site, str]) -> None:
    server, url = served
    server.pages["/a"] = Reply(b"hello", headers={"X-Thing": "1"})
    answer = Web(TRUSTED).get(f"{url}a#fragment")
    assert (answer.status, answer.body, answer.headers["x-thing"], answer.url) == (200, b"hello", "1", f"{url}a")
    assert Web(TRUSTED).get(f"{url}b").absent


def test_a_page_is_unpacked_and_a_download_is_not(served: tuple[Site, str]) -> None:
    server, url = served
    packed = gzip.compress(b"hello")
    server.pages["/a"] = Reply(packed, headers={"Content-Encoding": "gzip"})
    assert Web(TRUSTED).get(f"{url}a").body == b"hello"
    got = bytearray()
    answer = Web(TRUSTED).get(f"{url}a", start=lambda: got.extend)
    assert (bytes(got), answer.body) == (packed, b"")


@pytest.mark.parametrize("told", [True, False])
def test_a_page_has_a_largest_size(served: tuple[Site, str], told: bool) -> None:
    server, url = served
    reply = Reply(b"x" * 3000) if told else Reply(gzip.compress(b"x" * 3000), headers={"Content-Encoding": "gzip"})
    server.pages["/a"] = reply
    assert Web(TRUSTED).get(f"{url}a", limit=3000).status == 200
    with pytest.raises(Hostile, match="sends more than"):
        Web(TRUSTED).get(f"{url}a", limit=2999)


@pytest.mark.parametrize("status", [429, 500, 503])
def test_what_may_pass_is_tried_again_and_a_refusal_is_not(served: tuple[Site, str], status: int) -> None:
    server, url = served
    replies = [Reply(status=status), Reply(status=status), Reply(b"here")]
    server.pages["/a"] = lambda _: replies.pop(0)
    assert Web(TRUSTED).get(f"{url}a").body == b"here"
    server.pages["/a"] = Reply(status=status)
    with pytest.raises(Unreachable, match=f"answers with status {status}"):
        Web(TRUSTED).get(f"{url}a")
    assert len(server.seen) == 6
    server.pages["/a"] = Reply(status=403)
    with pytest.raises(Unreachable, match="status 403") as error:
        demand(Web(TRUSTED).get(f"{url}a"))
    assert error.value.hint == "the server wants a login: .netrc may hold it"
    assert len(server.seen) == 7


def test_a_body_that_breaks_off_is_fetched_again_from_its_beginning(served: tuple[Site, str]) -> None:
    server, url = served
    replies = [Reply(b"half", headers={"Content-Length": "8"}, status=200), Reply(b"whole it")]
    server.pages["/a"] = lambda _: replies.pop(0)
    tries: list[bytearray] = []

    def start() -> web.Sink:
        tries.append(bytearray())
        return tries[-1].extend

    Web(TRUSTED, Access(silence=0.3)).get(f"{url}a", start=start)
    assert [bytes(body) for body in tries] == [b"half", b"whole it"]


def test_nobody_listens() -> None:
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        port = probe.getsockname()[1]
    with pytest.raises(Unreachable, match=f"cannot reach {HOST}:{port}: Connection refused") as error:
        Web(TRUSTED).get(f"http://u:{SECRET}@{HOST}:{port}/?token={SECRET}")
    assert error.value.transient
    assert SECRET not in str(error.value)


@pytest.mark.parametrize("drip", [False, True])
def test_a_server_that_is_silent_or_says_a_byte_now_and_then(drip: bool) -> None:
    over = threading.Event()

    def talk() -> None:
        with suppress(OSError):
            client, _ = listener.accept()
            with client:
                while not over.wait(0.05):
                    if drip:
                        client.sendall(b"H")

    with socket.create_server((HOST, 0)) as listener:
        thread = threading.Thread(target=talk, daemon=True)
        thread.start()
        begun = time.monotonic()
        with pytest.raises(Unreachable, match="did not answer in time"):
            Web(TRUSTED).get(f"http://{HOST}:{listener.getsockname()[1]}/", wait=0.4)
        assert time.monotonic() - begun < 5
        over.set()
        thread.join()


def test_silence_has_its_own_limit() -> None:
    with socket.create_server((HOST, 0)) as listener:
        name = f"{HOST}:{listener.getsockname()[1]}"
        with pytest.raises(Unreachable, match=f"{name} does not answer"):
            Web(TRUSTED, Access(silence=0.1)).get(f"http://{name}/")


def test_an_interrupt_ends_the_waiting() -> None:
    with socket.create_server((HOST, 0)) as listener:
        process.halt(True)
        try:
            with pytest.raises(KeyboardInterrupt):
                Web(TRUSTED).get(f"http://{HOST}:{listener.getsockname()[1]}/")
        finally:
            process.halt(False)


# --- logins -------------------------------------------------------------------------------------------------------


def basic(server: Site) -> list[str]:
    return [request.authorization for request in server.seen]


def test_a_login_in_the_url_is_sent_to_its_server_alone(served: tuple[Site, str]) -> None:
    server, url = served
    with site() as (other, elsewhere):
        server.pages["/a"] = Reply(status=302, headers={"Location": "/b"})
        server.pages["/b"] = Reply(b"b")
        login = url.replace("//", f"//u%40c:{SECRET}@")
        answer = Web(TRUSTED).get(f"{login}a")
        assert (answer.body, answer.url) == (b"b", f"{url}b")
        assert basic(server) == ["Basic dUBjOmh1bnRlcjI="] * 2
        server.pages["/b"] = Reply(status=302, headers={"Location": elsewhere})
        with pytest.raises(Hostile):
            Web(TRUSTED).get(f"{login}a")
        assert other.seen == []
    server.seen.clear()
    Web(UNTRUSTED).get(f"{login}c")
    assert basic(server) == [""]


def test_netrc_serves_in_the_trusted_profile(
    served: tuple[Site, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server, url = served
    (tmp_path / "netrc").write_text(f"machine {HOST} login u password {SECRET}\n")
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))
    Web(TRUSTED).get(url)
    Web(UNTRUSTED).get(url)
    Web(TRUSTED).get(url, token="t0")  # noqa: S106
    assert basic(server) == ["Basic dTpodW50ZXIy", "", "Bearer t0"]


# --- where a redirect may lead ------------------------------------------------------------------------------------


def test_a_redirect_that_never_ends(served: tuple[Site, str]) -> None:
    server, url = served
    server.pages["/"] = Reply(status=301, headers={"Location": "/"})
    with pytest.raises(Hostile, match="redirects more than 5 times"):
        Web(TRUSTED).get(url)
    assert len(server.seen) == 6


def limited(*hosts: str) -> Profile:
    return applied(TRUSTED, Policy(hosts=hosts))


@pytest.mark.parametrize(
    ("location", "profile", "target"),
    [
        ("/b", UNTRUSTED, "https://a.example/b"),
        ("//a.example/b", UNTRUSTED, "https://a.example/b"),
        ("https://c.example/d?sig=1", TRUSTED, "https://c.example/d?sig=1"),
        ("https://c.example/d", limited("a.example", "c.example"), "https://c.example/d"),
    ],
)
def test_a_redirect_leads_on(location: str, profile: Profile, target: str) -> None:
    assert onward("https://a.example/a", location, profile) == target


@pytest.mark.parametrize(
    "location",
    [
        "http://a.example/b",
        "http://c.example/",
        "https://a.example:444/",
        "ftp://c.example/",
        "file:///etc/passwd",
        "https://127.0.0.1/",
        "https://169.254.169.254/latest/meta-data/",
        "https://10.1.2.3/",
        "https://[::1]/",
        "https://[fe80::1/",
        "https://localhost/",
        "https://intranet/",
        "https://metadata.google.internal/",
        "https://x.localhost/",
        "https://0x7f.1/",
        "https://user:pw@c.example/",
        "https://c\u0435.example/",
        "https://c.example\t@evil.example/",
        "javascript:alert(1)",
    ],
)
def test_a_redirect_that_is_refused(location: str) -> None:
    with pytest.raises(Hostile, match=r"a\.example redirects to"):
        onward("https://a.example/a", location, limited("a.example", "c.example"))


def test_the_policy_limits_redirects_too() -> None:
    with pytest.raises(Hostile, match=r"the policy does not allow the host c\.example"):
        onward("https://a.example/a", "https://c.example/", limited("a.example"))


# --- what may be asked --------------------------------------------------------------------------------------------


def test_declared_urls() -> None:
    assert address("https://a.example/x", TRUSTED, "archive") == "https://a.example/x"
    for url in ("http://a.example/x", "ssh://git@a.example/x", "https://u:p@a.example/x", "https://a.example/$X", "/x"):
        with pytest.raises(ExternalError, match="refused to use the URL") as error:
            address(url, TRUSTED, "archive")
        assert "u:p" not in str(error.value)
    assert address("http://a.example/x", TRUSTED._replace(transports=("https", "http")), "archive")


def test_policies_of_declared_urls() -> None:
    rules = Policy(hosts=("github.com", "r.example"), owners=("github.com/o",),
                   mirrors={"archive": {"https://github.com/o/": "http://127.0.0.1:8/"}})  # fmt: skip
    profile = applied(UNTRUSTED, rules)
    assert address("https://github.com/o/n.tgz", profile, "archive") == "http://127.0.0.1:8/n.tgz"
    assert address("https://r.example/v2/n", profile, "image") == "https://r.example/v2/n"  # owners are git's
    for url in ("https://github.com/evil/n.tgz", "https://evil.example/o/n.tgz"):
        with pytest.raises(ExternalError, match="the policy does not allow"):
            address(url, profile, "archive")


def test_local_files(tmp_path: Path) -> None:
    (tmp_path / "a b").write_bytes(b"local")
    url = (tmp_path / "a b").as_uri()
    assert Web(TRUSTED).get(url) == Answer(200, url, {"Content-Type": "text/html"}, b"local")
    got = bytearray()
    Web(TRUSTED).get(str(tmp_path / "a b"), start=lambda: got.extend)
    assert got == b"local"
    assert Web(TRUSTED).get(f"{url}/x").absent
    with pytest.raises(Hostile):
        Web(TRUSTED).get(url, limit=4)
    with pytest.raises(ExternalError, match="directory"):
        Web(TRUSTED).get(str(tmp_path))


# --- certificates and proxies -------------------------------------------------------------------------------------


def test_certificates(certificate: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ca = str(certificate[0])
    with site(certificate) as (server, url):
        with pytest.raises(Unreachable, match="cannot be reached by TLS") as error:
            Web(TRUSTED).get(url)
        assert error.value.hint
        assert "PIP_CERT" in error.value.hint
        assert Web(TRUSTED, Access(ca=ca)).get(url).absent
        assert Web(applied(UNTRUSTED, Policy(hosts=(), ca=ca))).get(url).absent
        assert Web(applied(TRUSTED, Policy(ca=ca)), Access(ca="/nowhere")).get(url).absent  # the policy wins
        for name in (server.host, HOST):
            assert Web(TRUSTED, Access(insecure=(name,))).get(url).absent
        monkeypatch.setenv("REQUESTS_CA_BUNDLE", ca)
        assert Web(TRUSTED).get(url).absent
        with pytest.raises(Unreachable):
            Web(UNTRUSTED).get(url)
        monkeypatch.delenv("REQUESTS_CA_BUNDLE")
        monkeypatch.setenv("SSL_CERT_FILE", ca)
        assert Web(UNTRUSTED).get(url).absent


def test_proxies(served: tuple[Site, str], monkeypatch: pytest.MonkeyPatch) -> None:
    server, url = served  # a proxy is asked for whole URLs
    server.pages["http://pypi.example/"] = Reply(b"by proxy")
    own, none = "http://pypi.example/", "http://127.0.0.1:9/"
    with pytest.raises(Unreachable, match=r"cannot reach the proxy to pypi\.example"):
        Web(TRUSTED, Access(proxy=none)).get(own)
    assert Web(TRUSTED, Access(proxy=url)).get(own).body == b"by proxy"
    assert Web(applied(TRUSTED, Policy(proxy=url)), Access(proxy=none)).get(own).body == b"by proxy"
    monkeypatch.setenv("http_proxy", url)
    assert Web(TRUSTED).get(own).body == b"by proxy"
    assert server.seen[0] == Request("GET", "http://pypi.example/", "")
    seen = len(server.seen)
    monkeypatch.setattr(socket, "getaddrinfo", _no_name)
    with pytest.raises(Unreachable, match=r"cannot reach pypi\.example"):
        Web(UNTRUSTED).get(own)
    assert len(server.seen) == seen


def _no_name(*args: object, **kwargs: object) -> None:
    raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")


@pytest.mark.parametrize("url", ["http://", "http:///x", "http://a.example:99999999/", "http://*/", "http://.example/"])
def test_malformed_urls_are_told(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(socket, "getaddrinfo", _no_name)
    with pytest.raises(ExternalError):
        Web(TRUSTED).get(url)
