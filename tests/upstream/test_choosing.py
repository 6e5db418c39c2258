from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from packaging.version import Version

from pinctl import manifest
from pinctl.model import Bad, Pin, Variant
from pinctl.upstream import simple
from pinctl.upstream.availability import Offer
from pinctl.upstream.choosing import Barrier, Passed, Source, Tags, barrier, choose, shelf
from pinctl.upstream.releases import eligible, version_of

OPEN = Barrier({}, ())
PIN = Pin("tl", packages=("a", "b"), version="1.0")


def offer(package: str, *files: str, yanked: tuple[str, ...] = ()) -> Offer:
    page = [{"filename": name, "url": name, "yanked": name in yanked} for name in files]
    body = json.dumps({"meta": {"api-version": "1.0"}, "files": page}).encode()
    return Offer(package, "i.example", files=tuple(simple.read(body, simple.JSON, "https://i.example/")))


def wheels(package: str, *versions: str, yanked: tuple[str, ...] = ()) -> Offer:
    names = {version: f"{package}-{version}-py3-none-any.whl" for version in versions}
    return offer(package, *names.values(), yanked=tuple(names[version] for version in yanked))


def tags(*names: str) -> Tags:
    return Tags.read(names, "the repository", version_of)


def test_a_version_is_one_that_all_have() -> None:
    held = shelf(PIN, [wheels("a", "1.0", "1.1", "1.2"), wheels("b", "1.0", "1.1.0")], ())
    assert choose([held], Version("1.0"), OPEN) == (Version("1.1"), 1, (Passed("1.2", "there is no b of it"),))
    assert held.lacks(Version("1.3")) == "there is no a and no b of it"
    assert held.lacks(Version("1.1")) is None
    both: list[Source] = [held, tags("v1.0", "v1.2")]
    assert choose(both, Version("1.0"), OPEN) == (
        None, 0, (Passed("1.2", "there is no b of it"), Passed("1.1", "the repository has no tag of it")),
    )  # fmt: skip


def test_of_several_places_each_counts() -> None:
    pin = PIN._replace(packages=("a",))
    offers = [wheels("a", "1.0", "1.1", yanked=("1.1",)), wheels("a", "1.1", "1.2")]
    assert choose([shelf(pin, offers, ())], Version("1.0"), OPEN).version == Version("1.2")
    assert shelf(pin, offers, ()).objection(Version("1.1")) is None  # the other one's is not yanked


def test_a_platform_that_was_never_served_is_not_waited_for() -> None:
    pin = PIN._replace(packages=("a",))
    linux, arm, musl = (f"a-1.{{}}-cp312-cp312-{tag}.whl" for tag in
                        ("manylinux_2_28_x86_64", "manylinux_2_28_aarch64", "musllinux_1_2_x86_64"))  # fmt: skip
    files = [linux.format(0), arm.format(1), linux.format(2), musl.format(3), arm.format(3)]
    variants = [Variant("v", platforms=("linux/amd64", "linux/arm64"), python=("3.12",))]
    held = shelf(pin, [offer("a", *files)], variants)
    assert [held.objection(Version(f"1.{n}")) for n in range(4)] == [
        None, "no wheel for linux/amd64 with Python 3.12", None, "no wheel for linux/amd64 with Python 3.12",
    ]  # fmt: skip
    assert choose([held], Version("1.0"), OPEN).version == Version("1.2")
    unknown = shelf(pin._replace(version=None), [offer("a", *files)], variants)
    assert unknown.objection(Version("1.2")) == "no wheel for linux/arm64 with Python 3.12"


def test_what_pins_toml_itself_says() -> None:
    text = """schema = 1
[pins.tl]
packages = ["a"]
version = "1.0"
track = "1.*"
bad = [{ version = "1.3", reason = "hangs" }]
unused = true
[pins.other]
packages = ["o"]
version = "1"
needs = { A = "<1.4" }
unused = true
"""
    made = manifest.parse(text)
    against = barrier([made.pins["tl"]], made)
    found = choose([tags(*(f"v1.{n}" for n in range(6)), "v2.0")], Version("1.0"), against)
    assert (found.version, found.passed) == (
        Version("1.2"),
        (Passed("1.5", "other needs <1.4"), Passed("1.4", "other needs <1.4"), Passed("1.3", "known to be bad: hangs")),
    )
    assert barrier([Pin("x", bad=(Bad("r", version="main"),))], made) == Barrier({}, [], None)


def test_tags_of_one_version() -> None:
    found = tags("v1.0.0", "v1.0", "release-1.0", "main")
    assert found.tags == {Version("1.0"): ["v1.0", "v1.0.0", "release-1.0"]}
    assert found.spelled(Version("1")) == "1.0"
    assert found.spelled(Version("2")) == "2"


_versions = st.builds(
    lambda numbers, tail: Version(".".join(map(str, numbers)) + tail),
    st.lists(st.integers(0, 3), min_size=1, max_size=3),
    st.sampled_from(["", "rc1", "a2", ".post1", ".dev0", "rc1.post2"]),
)


@given(st.lists(_versions), _versions, st.booleans())
def test_a_choice_is_the_newest_that_is_eligible(versions: list[Version], present: Version, pre: bool) -> None:
    found = choose([tags(*(f"v{version}" for version in versions))], present, OPEN, pre=pre)
    newer = [version for version in versions if version > present]
    assert found.version == max(eligible(newer, present, pre=pre), default=None)
    assert found.passed == ()
    if found.version and found.version.is_prerelease:
        assert pre or (present.is_prerelease and all(version.is_prerelease for version in newer))


@pytest.mark.parametrize(
    ("present", "there", "wanted"),
    [("1.0", ["1.1rc1"], []), ("1.1rc1", ["1.0", "1.1rc2"], ["1.0", "1.1rc2"]), ("1.1rc1", ["1.1", "1.2rc1"], ["1.1"])],
)
def test_pre_releases_lead_to_final_ones(present: str, there: list[str], wanted: list[str]) -> None:
    assert eligible(list(map(Version, there)), Version(present)) == list(map(Version, wanted))
