from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pinctl import manifest
from pinctl.upstream.images import Image, Standing, challenge, judge, parse, row
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
