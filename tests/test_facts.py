"""Facts that cannot be given; those that can are in test_template.py."""

import pytest

from pinctl.facts import Fact, FactError, UnstoredError, lookup
from pinctl.model import Manifest, Pin, Variant

PIN = Pin(
    name="p",
    url="https://h.example/p-{version}.tgz",
    version="1",
    sha256={"linux/amd64": "ab" * 32},
    facts={"hex": "abc", "odd": "ab", "list": ("aa", "bb")},
)
MANIFEST = Manifest(path="pins.toml", text="", pins={"p": PIN}, variants={"cu13": Variant(name="cu13", cuda="13.0")})


@pytest.mark.parametrize(
    ("path", "codec", "code", "says"),
    [
        (("sha256",), None, "PIN112", "a digest for each platform"),
        (("commit",), None, "PIN112", "declares no commit"),
        (("git",), None, "PIN112", "declares no commit"),
        (("archive",), None, "PIN112", "a digest for each platform"),
        (("nested",), None, "PIN112", "{nested:PATH}"),
        (("nested",), "a/b", "PIN112", "nested gitlink a/b"),
        (("packages",), None, "PIN112", "declares no packages"),
        (("system_packages", "dnf"), None, "PIN112", "system packages for dnf"),
        (("facts", "hix"), None, "PIN112", "did you mean `hex`?"),
        (("verison",), None, "PIN110", "did you mean `version`?"),
        (("facts", "hex", "deeper"), None, "PIN110", "facts.hex.deeper"),
        (("pins", "q", "commit"), None, "PIN114", "no pin `q`"),
        (("variants", "cu12", "cuda"), None, "PIN114", "did you mean `cu13`?"),
        (("variants", "cu13", "torch"), None, "PIN112", "declares no torch"),
        (("variants", "cu13", "facts"), None, "PIN112", "declares no facts"),
        (("version",), "short", "PIN111", "no codec `:short`"),
        (("version",), ".0", "PIN111", "no codec `:.0`"),
        (("facts", "hex"), "sri", "PIN111", "spells a hex digest"),
        (("facts", "odd"), "sri", "PIN111", "sha256, sha384 and sha512 alone"),
    ],
)
def test_what_cannot_be_given(path: tuple[str, ...], codec: str | None, code: str, says: str) -> None:
    with pytest.raises(FactError) as caught:
        lookup(path, codec, PIN, MANIFEST)
    assert (caught.value.code, says in str(caught.value)) == (code, True), str(caught.value)


GIT = PIN._replace(repo="https://h.example/p", url=None, sha256=None, archive={"sha256": "ab" * 32, "sha1": "cd" * 20})


def test_another_digest_of_the_archive() -> None:
    assert lookup(("archive_sha256",), "sha1", GIT, MANIFEST) == lookup(("archive_sha1",), None, GIT, MANIFEST)
    with pytest.raises(FactError, match=r"archive\.sha384"):
        lookup(("archive_sha256",), "sha384", GIT, MANIFEST)


def test_a_gitlink_that_is_not_stored_yet() -> None:
    with pytest.raises(UnstoredError) as caught:
        lookup(("nested",), "csrc/cutlass", GIT, MANIFEST)
    assert (caught.value.code, caught.value.hint) == ("PIN125", "run: pinctl bump p --resolve")


def test_a_fact_of_no_pin_is_asked_for_by_the_long_way() -> None:
    with pytest.raises(FactError, match=r"write \{pins\.NAME\.version\}"):
        lookup(("version",), None, None, MANIFEST)
    assert lookup(("pins", "p", "version"), None, None, MANIFEST) == Fact("1", ("pins", "p", "version"))


def test_a_codec_spells_each_element() -> None:
    assert lookup(("facts", "list"), "upper", PIN, MANIFEST) == Fact(("AA", "BB"), ("pins", "p", "facts", "list"))


def test_the_placeholders_of_a_url_are_filled_in() -> None:
    assert lookup(("url",), None, PIN, MANIFEST) == Fact("https://h.example/p-1.tgz", ("pins", "p", "url"))


def test_an_archive_for_each_platform() -> None:
    both = PIN._replace(
        url="https://h.example/{platform}/p-{version}.tgz", sha256={"x86_64": "ab" * 32, "arm": "cd" * 32}
    )
    known = Manifest(path="pins.toml", text="", pins={"p": both})
    digest = lookup(("sha256", "arm"), None, both, known)
    assert isinstance(digest, Fact)
    assert (digest.value, digest.key) == ("cd" * 32, ("pins", "p", "sha256", "arm"))
    url = lookup(("url", "x86_64"), None, both, known)
    assert isinstance(url, Fact)
    assert (url.value, url.key) == ("https://h.example/x86_64/p-1.tgz", ("pins", "p", "url"))
    with pytest.raises(FactError, match="did you mean `arm`") as caught:
        lookup(("sha256", "armv"), None, both, known)
    assert caught.value.code == "PIN112"
