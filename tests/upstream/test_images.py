from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pinctl import manifest
from pinctl.upstream.images import (
    Image,
    Standing,
    challenge,
    is_tag,
    judge,
    lacking,
    parse,
    platforms,
    retagged,
    row,
)
from pinctl.upstream.telling import Telling

D, E = f"sha256:{'d' * 64}", f"sha256:{'e' * 64}"
HUB = "registry-1.docker.io"


@pytest.mark.parametrize(
    ("image", "digest", "wanted"),
    [
        ("ubuntu", D, Image(HUB, "library/ubuntu", "latest", D)),
        ("ubuntu:24.04", None, Image(HUB, "library/ubuntu", "24.04", None)),
        ("pytorch/manylinux2_28-builder:cuda13.0", D, Image(HUB, "pytorch/manylinux2_28-builder", "cuda13.0", D)),
        (f"docker.io/ubuntu@{D}", None, Image(HUB, "library/ubuntu", None, D)),
        ("docker.io/pytorch/pytorch", None, Image(HUB, "pytorch/pytorch", "latest", None)),
        (f"nvcr.io/nvidia/cuda:13.0@{D}", None, Image("nvcr.io", "nvidia/cuda", "13.0", D)),
        ("localhost:5000/x", D, Image("localhost:5000", "x", "latest", D)),
        ("localhost/x:1", D, Image("localhost", "x", "1", D)),
        ("r.example:443/a/b/c:1", D, Image("r.example:443", "a/b/c", "1", D)),
    ],
)
def test_names_as_docker_reads_them(image: str, digest: str | None, wanted: Image) -> None:
    assert parse(image, digest) == wanted


def test_challenges() -> None:
    header = 'Bearer realm="https://auth.docker.io/token",service="registry.docker.io",scope="repository:a:pull"'
    assert challenge(header) == {
        "realm": "https://auth.docker.io/token", "service": "registry.docker.io", "scope": "repository:a:pull",
    }  # fmt: skip
    assert challenge('Basic realm="x"') is None
    assert challenge("") is None


@given(st.text())
def test_no_header_crashes_the_reader(text: str) -> None:
    challenge(text)
    challenge(f"Bearer {text}")


def told(answer: Standing, image: str = "ubuntu:24.04", digest: str = f'digest = "{D}"') -> list[tuple[object, ...]]:
    text = f'schema = 1\n[pins.os]\nimage = "{image}"\n{digest}\nunused = true\n'
    made = manifest.parse(text, path="pins.toml")
    pin = made.pins["os"]
    found = judge(Telling(pin, made), parse(pin.image or "", pin.digest), answer)
    return [(f.code, f.span.line if f.span else None, f.expected, f.found, f.hint) for f in found]


def test_an_image_against_its_registry() -> None:
    still = "the pinned digest can still be had; look at what changed, and pin the new one"
    assert told(Standing(D, True)) == []
    assert told(Standing(E, True)) == [("PIN333", 4, D, E, still)]
    assert told(Standing(E, False)) == [("PIN332", 4, D, f"{E} under 24.04", "pin one that it has")]
    assert told(Standing(None, True)) == [("PIN332", 3, None, None, still)]
    assert told(Standing(None, False)) == [("PIN332", 3, None, None, None)]
    assert told(Standing(failure="no answer")) == [("PIN320", 3, None, None, None)]
    assert told(Standing(failure="a bomb", refused=True)) == [("PIN321", 3, None, None, None)]
    alone = f"ubuntu@{D}"
    assert told(Standing(None, True), alone, "") == []
    assert told(Standing(None, False), alone, "") == [("PIN332", 3, D, None, "pin one that it has")]


def test_rows() -> None:
    pin = manifest.parse(f'schema = 1\n[pins.os]\nimage = "a"\ndigest = "{D}"\nunused = true\n', path="p").pins["os"]
    assert row(pin, Standing(E, True)) == {"image": "a", "tagged": E, "held": True}
    assert row(pin, Standing(failure="x")) == {}


def test_another_tag_of_an_image() -> None:
    for image in ("h.example:5000/a/b", "h.example:5000/a/b:1", f"h.example:5000/a/b:1@{D}", f"h.example:5000/a/b@{D}"):
        assert retagged(image, "2") == "h.example:5000/a/b:2"
    assert [is_tag(text) for text in ("1", "cuda13.0-x_y", "", "-a", "a b", "a\n", "a" * 129)] == [True] * 2 + [
        False
    ] * 5


def test_the_platforms_of_an_index() -> None:
    entries = [{"platform": {"os": "linux", "architecture": machine}} for machine in ("arm64", "amd64", "amd64")]
    odd = [{}, 1, {"platform": 1}, {"platform": {"os": "unknown", "architecture": "unknown"}}, {"platform": {"os": 1}},
           {"platform": {"os": "\x1b[31m", "architecture": "x"}}]  # fmt: skip
    assert platforms({"manifests": [*entries, *odd]}) == ("linux/amd64", "linux/arm64")
    nothing: list[object] = [{}, [], None, {"manifests": 1}, {"config": {}}]
    for none in nothing:
        assert platforms(none) == ()


def test_a_platform_that_is_lacking() -> None:
    made = manifest.parse(f'schema = 1\n[pins.os]\nimage = "os:1"\ndigest = "{D}"\nunused = true\n')
    say = Telling(made.pins["os"], made)
    wanted = ("linux/amd64", "linux/arm64")
    (found,) = lacking(say, parse("os:1", None), ("linux/amd64", "linux/s390x"), wanted)
    assert (found.code, found.span and found.span.line, found.hint) == (
        "PIN334",
        3,
        "it is for linux/amd64, linux/s390x",
    )
    assert list(lacking(say, parse("os:1", None), (), wanted)) == []
