import pytest

from pinctl.adoption import adopt, fact_value
from pinctl.finding import Finding
from pinctl.model import Manifest, Mode, Pin, Site
from pinctl.reconcile import reconcile

OLD, NEW, OTHER = "a" * 40, "b" * 40, "c" * 40
KEY = ("pins", "dg", "commit")


def seen(pin: Pin, *sites: tuple[str, str, str], mode: Mode = Mode.AUTO) -> tuple[Manifest, list]:  # type: ignore[type-arg]
    """Each site is a file of one line `X=VALUE`: (file, template, value)."""
    manifest = Manifest(
        path="pins.toml",
        text="",
        pins={pin.name: pin},
        sites=tuple(Site(file=file, selector="X", template=t, pin=pin.name, mode=mode) for file, t, _ in sites),
    )
    return manifest, reconcile(manifest, {file: f"X={value}\n".encode() for file, _, value in sites}).observations


def git(**facts: object) -> Pin:
    return Pin(**{"name": "dg", "repo": "https://github.com/o/r.git", "commit": OLD, **facts})  # type: ignore[arg-type]


def test_the_value_of_the_file_is_taken() -> None:
    manifest, observations = seen(git(), ("a.sh", "{commit}", NEW), ("b.sh", "{commit}", OLD))
    adopted = adopt("a.sh", observations, manifest)
    assert (adopted.changes, adopted.findings) == ({KEY: NEW}, [])


def test_sites_that_moved_along_are_no_obstacle() -> None:
    manifest, observations = seen(
        git(), ("a.sh", "{commit}", NEW), ("b.sh", "{commit}", NEW), ("c.sh", "{commit:.10}", NEW[:10])
    )
    assert not adopt("a.sh", observations, manifest).findings


@pytest.mark.parametrize("other", [("b.sh", "{commit}", OTHER), ("b.sh", "{commit:.10}", OTHER[:10])])
def test_sites_that_moved_apart_are_never_adopted(other: tuple[str, str, str]) -> None:
    manifest, observations = seen(git(), ("a.sh", "{commit}", NEW), other)
    assert [f.code for f in adopt("a.sh", observations, manifest).findings] == ["PIN224"]


def test_a_short_id_cannot_be_adopted() -> None:
    manifest, observations = seen(git(), ("a.sh", "{commit:.10}", NEW[:10]))
    adopted = adopt("a.sh", observations, manifest)
    assert [f.code for f in adopted.left(observations)] == ["PIN105"]
    assert adopted.changes == {}


@pytest.mark.parametrize(
    ("version", "template", "found", "adopted"),
    [
        ("1.2", "{version}", "1.3", "1.3"),
        ("1.2", "{version:tag}", "v1.3", "1.3"),
        ("v1.2", "{version:bare}", "1.3", "v1.3"),
        ("v1.2", "{version:tag}", "v1.3", "v1.3"),
        ("1.2", "{version}+cu129", "1.3+cu129", "1.3"),
        ("1.2", "image:{version}-base", "image:1.3-base", "1.3"),
        ("1.2rc1", "{version:upper}", "1.3RC1", "1.3rc1"),
        ("1.2", "{version:.9}", "1.3", "1.3"),
    ],
)
def test_the_way_back_through_text_and_codecs(version: str, template: str, found: str, adopted: str) -> None:
    pin = Pin(name="p", packages=("p",), version=version)
    manifest, observations = seen(pin, ("a.sh", template, found))
    assert fact_value(observations[0], manifest) == adopted


def test_a_fact_of_ones_own_goes_back_too() -> None:
    pin = Pin(name="p", packages=("p",), version="1.2", facts={"version": "v7"})
    manifest, observations = seen(pin, ("a.sh", "{facts.version:bare}", "8"))
    assert adopt("a.sh", observations, manifest).changes == {("pins", "p", "facts", "version"): "v8"}


@pytest.mark.parametrize(
    ("template", "found"),
    [
        ("{version}+cu129", "1.3"),
        ("{version:.2}", "2."),
        ("{version:.9}", "1.3.0.post1"),
        ("v{version}", "1.3"),
        ("{version:bare}", "v1.3"),
        ("{version:tag}", "1.3"),
        ("{version:tag}", "vv1.3"),
        ("{version:upper}", "1.3rc1"),
    ],
)
def test_what_does_not_fit_the_template_is_refused(template: str, found: str) -> None:
    pin = Pin(name="p", packages=("p",), version="1.2")
    manifest, observations = seen(pin, ("a.sh", template, found))
    value = fact_value(observations[0], manifest)
    assert isinstance(value, Finding)
    assert value.code == "PIN224"


def test_no_letter_is_doubled_on_the_way_back() -> None:
    manifest, observations = seen(git(tag="v1.0"), ("a.sh", "{tag:bare}", "v2.0"))
    adopted = adopt("a.sh", observations, manifest)
    assert adopted.changes == {}
    assert [f.code for f in adopted.left(observations)] == ["PIN224"]


@pytest.mark.parametrize(
    ("found", "adopted"), [("sha256-" + "A" * 43 + "=", "0" * 64), ("sha512-" + "A" * 43 + "=", None)]
)
def test_a_digest_goes_back_under_its_own_name_alone(found: str, adopted: str | None) -> None:
    pin = Pin(name="p", url="https://example.org/p.tgz", sha256="f" * 64)
    manifest, observations = seen(pin, ("a.sh", "{sha256:sri}", found))
    value = fact_value(observations[0], manifest)
    assert value == adopted or (adopted is None and isinstance(value, Finding))


def test_a_full_id_is_taken_where_fewer_digits_belong() -> None:
    manifest, observations = seen(git(), ("a.sh", "{commit:.10}", NEW))
    assert adopt("a.sh", observations, manifest).changes == {KEY: NEW}


def test_a_new_tag_leaves_its_pin_unresolved() -> None:
    manifest, observations = seen(git(tag="v1"), ("a.sh", "{tag}", "v2"))
    changes = {("pins", "dg", "tag"): "v2", ("pins", "dg", "unresolved"): True}
    assert adopt("a.sh", observations, manifest).changes == changes


def test_a_new_commit_is_known_in_full() -> None:
    manifest, observations = seen(git(tag="v1"), ("a.sh", "{commit}", NEW))
    assert adopt("a.sh", observations, manifest).changes == {KEY: NEW}


def test_a_file_that_agrees_changes_nothing() -> None:
    manifest, observations = seen(git(), ("a.sh", "{commit}", OLD), ("b.sh", "{commit}", NEW))
    assert adopt("a.sh", observations, manifest).changes == {}
