from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator

import pytest
from integration.indexes import Reply, Request, Site, site

from pinctl.external import web
from pinctl.external.gitcli import UNTRUSTED, Profile
from pinctl.external.policy import applied
from pinctl.external.registry import ask
from pinctl.policy import Policy
from pinctl.upstream.images import Standing, parse

INDEX = json.dumps({"mediaType": "application/vnd.oci.image.index.v1+json", "manifests": [{}, {}]}).encode()
D = f"sha256:{hashlib.sha256(INDEX).hexdigest()}"
E = f"sha256:{'e' * 64}"
MANIFEST = "/v2/library/os/manifests/"


@pytest.fixture(autouse=True)
def _no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(web, "PAUSES", (0.0, 0.0))


@pytest.fixture
def registry() -> Iterator[Site]:
    """A registry that has `library/os:1`, which is for several platforms."""
    with site() as (server, _):
        for reference in ("1", D):
            server.pages[f"{MANIFEST}{reference}"] = Reply(INDEX, headers={"Docker-Content-Digest": D})
        yield server


def profile(registry: Site) -> Profile:
    """A stranger's, whose policy has the registry in Docker Hub's place."""
    hub = "https://registry-1.docker.io/"
    rules = Policy(hosts=("registry-1.docker.io",), mirrors={"image": {hub: f"http://{registry.host}/"}})
    return applied(UNTRUSTED, rules)


def asked(registry: Site, image: str, digest: str | None = None) -> Standing:
    return ask(parse(image, digest), profile(registry))


def test_a_tag_that_leads_to_its_digest(registry: Site) -> None:
    assert asked(registry, "os:1", D) == Standing(D, True)
    assert [(request.method, request.path) for request in registry.seen] == [("HEAD", f"{MANIFEST}1")]


def test_a_tag_that_moved(registry: Site) -> None:
    assert asked(registry, "os:1", E) == Standing(D, False)
    registry.pages[f"{MANIFEST}{E}"] = Reply(headers={"Docker-Content-Digest": E})
    assert asked(registry, "os:1", E) == Standing(D, True)


def test_a_tag_that_is_not_there_and_a_digest_alone(registry: Site) -> None:
    assert asked(registry, "os:2", D) == Standing(None, True)
    assert asked(registry, "nothing", None) == Standing(None, None)
    assert asked(registry, f"os@{D}") == Standing(None, True)
    assert asked(registry, f"os@{E}") == Standing(None, False)


def test_a_registry_that_does_not_name_digests(registry: Site) -> None:
    registry.pages[f"{MANIFEST}1"] = Reply(INDEX)
    assert asked(registry, "os:1", D) == Standing(D, True)
    assert [request.method for request in registry.seen] == ["HEAD", "GET"]


def guarded(realm: str) -> Callable[[Request], Reply]:
    """A page for who has the token."""
    challenge = f'Bearer realm="{realm}",service="r.example",scope="repository:library/os:pull"'

    def reply(request: Request) -> Reply:
        if request.authorization == "Bearer t0k":
            return Reply(INDEX, headers={"Docker-Content-Digest": D})
        return Reply(status=401, headers={"WWW-Authenticate": challenge})

    return reply


def test_a_token_is_asked_for_once_and_used(registry: Site) -> None:
    registry.pages[f"{MANIFEST}1"] = guarded(f"http://{registry.host}/token")
    registry.pages[f"{MANIFEST}{E}"] = guarded(f"http://{registry.host}/token")
    registry.pages["/token"] = Reply(json.dumps({"access_token": "t0k"}).encode(), "application/json")
    assert asked(registry, "os:1", E) == Standing(D, True)
    assert [(request.path.partition("?")[0], request.authorization) for request in registry.seen] == [
        (f"{MANIFEST}1", ""), ("/token", ""), (f"{MANIFEST}1", "Bearer t0k"), (f"{MANIFEST}{E}", "Bearer t0k"),
    ]  # fmt: skip
    assert registry.seen[1].path == "/token?scope=repository%3Alibrary%2Fos%3Apull&service=r.example"


@pytest.mark.parametrize("realm", ["http://169.254.169.254/token", "https://evil.example/token", "file:///etc/passwd"])
def test_a_token_service_elsewhere_must_be_allowed(registry: Site, realm: str) -> None:
    registry.pages[f"{MANIFEST}1"] = guarded(realm)
    answer = asked(registry, "os:1", D)
    assert answer.refused
    assert answer.failure
    assert "which is refused" in answer.failure


@pytest.mark.parametrize("page", [b"[]", b"{", b'{"token": 3}', b'{"token": "a\\r\\nX-Evil: 1"}', b"[" * 100_000])
def test_a_token_that_is_none(registry: Site, page: bytes) -> None:
    registry.pages[f"{MANIFEST}1"] = guarded(f"http://{registry.host}/token")
    registry.pages["/token"] = Reply(page)
    answer = asked(registry, "os:1", D)
    assert (answer.failure, answer.refused) == (f"{registry.host} gives no token", True)


@pytest.mark.parametrize("header", ["", 'Basic realm="x"', "Bearer x"])
def test_an_image_that_wants_a_login(registry: Site, header: str) -> None:
    registry.pages[f"{MANIFEST}1"] = Reply(status=401, headers={"WWW-Authenticate": header})
    answer = asked(registry, "os:1", D)
    assert answer.failure
    assert answer.failure.startswith("registry-1.docker.io shows library/os to nobody")
    assert answer.hint


def test_what_is_no_digest_and_what_is_not_allowed(registry: Site) -> None:
    registry.pages[f"{MANIFEST}1"] = Reply(headers={"Docker-Content-Digest": "sha256:abc"})
    assert asked(registry, "os:1", D).refused
    answer = asked(registry, "evil.example/os:1", D)
    assert answer.failure
    assert "the policy does not allow the host evil.example" in answer.failure


def test_the_platforms_of_an_image(registry: Site) -> None:
    entries = [{"platform": {"os": "linux", "architecture": machine}} for machine in ("amd64", "arm64")]
    index = json.dumps({"manifests": entries}).encode()
    digest = f"sha256:{hashlib.sha256(index).hexdigest()}"
    for reference in ("3", digest):
        registry.pages[f"{MANIFEST}{reference}"] = Reply(index, headers={"Docker-Content-Digest": digest})
    found = ask(parse("os:3", None), profile(registry), look=True)
    assert (found.tagged, found.platforms) == (digest, ("linux/amd64", "linux/arm64"))
    assert [request.method for request in registry.seen] == ["HEAD", "GET"]


@pytest.mark.parametrize("reply", [Reply(b"{}"), Reply(b"{"), Reply(status=404)])
def test_an_index_that_is_another_than_it_was_called(registry: Site, reply: Reply) -> None:
    registry.pages[f"{MANIFEST}{D}"] = reply
    found = ask(parse("os:1", None), profile(registry), look=True)
    assert (found.refused, found.tagged) == (True, None)
