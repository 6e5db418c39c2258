import hashlib
from base64 import b64encode

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pinctl import template
from pinctl.model import Manifest, Pin, SystemPackage, Variant
from pinctl.template import Expected, Kind, TemplateError

COMMIT = "ad1f1726aa540a76c1d26d6a120effb8de21eaa4"
DIGEST = hashlib.sha256(b"x").hexdigest()
PIN = Pin(
    name="dg",
    repo="https://github.com/o/r.git",
    commit=COMMIT,
    tag="v1.2",
    version="1.2",
    submodules=("a", "b"),
    include_dirs=("inc",),
    facts={"min_cuda": "12.8", "on": True},
    archive={"url": "https://h/{commit}.tar.gz", "sha256": DIGEST, "sha512": "f" * 128, "prefix": "r-1.2"},
    nested={"csrc/cutlass": "b" * 40},
    system_packages=(
        SystemPackage(name="dw", managers={"dnf": "elfutils-devel", "apt": "libdw-dev"}, when="build"),
        SystemPackage(name="numa", managers={"dnf": "numactl"}, when="run"),
    ),
)
OTHER = Pin(name="tl", packages=("tilelang",), version="0.1.11")
MANIFEST = Manifest(
    path="pins.toml",
    text="",
    pins={"dg": PIN, "tl": OTHER},
    variants={"cu13": Variant(name="cu13", cuda="13.0", arch_list=("9.0a", "10.0f"), env={"X": "1"})},
)


def value(text: str, pin: Pin = PIN) -> object:
    expected = template.evaluate(template.parse(text), pin, MANIFEST)
    return expected.value if isinstance(expected, Expected) else {part: e.value for part, e in expected.items()}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("plain", "plain"),
        ("", ""),
        ("{version}", "1.2"),
        ("v{version}+cu129", "v1.2+cu129"),
        ("{version:tag}", "v1.2"),
        ("{tag:bare}", "1.2"),
        ("{commit}", COMMIT),
        ("{commit:.10}", COMMIT[:10]),
        ("{submodules}", ("a", "b")),
        ("${dg_SOURCE_DIR}/{submodules}", ("${dg_SOURCE_DIR}/a", "${dg_SOURCE_DIR}/b")),
        ("{{version}}", "{version}"),
        ("{facts.min_cuda}", "12.8"),
        ("{facts.on}", "true"),
        ("{pins.tl.version}", "0.1.11"),
        ("{variants.cu13.cuda}", "13.0"),
        ("{variants.cu13.arch_list}", ("9.0a", "10.0f")),
        ("{variants.cu13.env.X}", "1"),
        ("{system_packages.dnf}", ("elfutils-devel", "numactl")),
        ("{system_packages.dnf.run}", ("numactl",)),
        ("{system_packages.apt}", ("libdw-dev",)),
        ("{archive_url}", f"https://h/{COMMIT}.tar.gz"),
        ("{archive_sha256:sri}", "sha256-" + b64encode(hashlib.sha256(b"x").digest()).decode()),
        ("{archive_sha256:upper}", DIGEST.upper()),
        ("{archive_sha256:sha512}", "f" * 128),
        ("{archive_prefix}", "r-1.2"),
        ("{archive}", {"url": f"https://h/{COMMIT}.tar.gz", "hash": f"SHA256={DIGEST}"}),
        ("{git}", {"repo": PIN.repo, "ref": COMMIT, "submodules": ("a", "b")}),
        ("{git:tag}", {"repo": PIN.repo, "ref": "v1.2", "submodules": ("a", "b")}),
        ("{nested:csrc/cutlass}", "b" * 40),
    ],
)
def test_what_a_template_gives(text: str, expected: object) -> None:
    assert not template.problems(template.parse(text), "dg", MANIFEST)
    assert value(text) == expected


@pytest.mark.parametrize(
    ("text", "code", "says"),
    [
        ("{comit}", "PIN110", "did you mean `commit`"),
        ("{commit:.xx}", "PIN111", "no codec `:.xx`"),
        ("{commit:sry}", "PIN111", "did you mean `sri`"),
        ("{commit:sri}", "PIN111", "sha256, sha384 and sha512"),
        ("{header_globs}", "PIN112", "declares no header_globs"),
        ("{url}", "PIN112", "declares no url"),
        ("{system_packages.apk}", "PIN112", "system packages for apk"),
        ("{facts.min_cud}", "PIN112", "did you mean `min_cuda`"),
        ("{pins.dgg.version}", "PIN114", "did you mean `dg`"),
        ("{variants.cu14.cuda}", "PIN114", "no variant `cu14`"),
        ("x {git}", "PIN111", "several parts"),
        ("{submodules}{include_dirs}", "PIN111", "one list only"),
        ("{nested}", "PIN112", "nested gitlink"),
        ("{nested:../x}", "PIN112", "nested gitlink"),
    ],
)
def test_what_is_wrong_with_a_template(text: str, code: str, says: str) -> None:
    found = template.problems(template.parse(text), "dg", MANIFEST)
    assert [c for c, _ in found] == [code]
    assert says in found[0][1]


def test_a_fact_of_no_pin_needs_one_named() -> None:
    assert template.problems(template.parse("{commit}"), None, MANIFEST)[0][0] == "PIN110"
    assert not template.problems(template.parse("{pins.dg.commit}"), None, MANIFEST)


@pytest.mark.parametrize(("text", "offset"), [("{", 0), ("a {b c}", 2), ("x{commit:}", 1), ("{{ {", 3)])
def test_malformed(text: str, offset: int) -> None:
    with pytest.raises(TemplateError) as error:
        template.parse(text)
    assert error.value.offset == offset


def test_kinds_tell_how_values_compare() -> None:
    git = template.evaluate(template.parse("{git:.10}"), PIN, MANIFEST)
    assert not isinstance(git, Expected)
    assert (git["repo"].kind, git["ref"].kind) == (Kind.REPO, Kind.COMMIT)
    assert (git["ref"].value, git["ref"].full) == (COMMIT[:10], COMMIT)
    assert git["ref"].facts == (("pins", "dg", "commit"),)


def test_an_unresolved_pin_gives_the_short_id_it_has() -> None:
    pin = Pin(name="ep", repo=PIN.repo, unresolved="73b6ea4")
    expected = template.evaluate(template.parse("{commit}"), pin, MANIFEST)
    assert isinstance(expected, Expected)
    assert (expected.value, expected.resolved) == ("73b6ea4", False)


SAFE = st.text(alphabet="abc/._- é", max_size=8)


@given(SAFE, SAFE, st.text(alphabet="0123456789.", min_size=1, max_size=8))
def test_invert_is_the_way_back(before: str, after: str, version: str) -> None:
    parsed = template.parse(f"{before}{{version}}{after}")
    assert template.invert(parsed, f"{before}{version}{after}") == version


def test_invert_knows_what_does_not_fit() -> None:
    assert template.invert(template.parse("v{version}"), "1.2") is None
    assert template.invert(template.parse("{version}{tag}"), "1.2") is None


@given(st.text(max_size=40) | st.text(alphabet="{}:.$ax", max_size=12))
def test_a_text_is_a_template_or_says_where_it_is_not(text: str) -> None:
    assert 0 <= _offset(text) <= len(text)


def _offset(text: str) -> int:
    try:
        parsed = template.parse(text)
    except TemplateError as error:
        return error.offset
    assert parsed.parts
    return len(text)
