import tomllib
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from pinctl import manifest
from pinctl.discovery.literals import What
from pinctl.discovery.proposal import Place, Proposed
from pinctl.discovery.render import render
from pinctl.discovery.sightings import Sighting

from .support import DIGEST, OLD

TEXT = st.text(st.characters(codec="utf-8", exclude_categories=["C", "Z"]), min_size=1, max_size=12)
PLAIN = st.from_regex(r"[a-z][a-z0-9_-]{0,8}", fullmatch=True)
PATH = st.lists(PLAIN, min_size=1, max_size=3).map("/".join)


def place(file: str = "a.sh", selector: str = "X_REF", template: str = "{commit}") -> Place:
    return Place(
        file=file, selector=selector, template=template, sightings=(Sighting(what=What.COMMIT, file=file, value=OLD),)
    )


GIT = Proposed(
    name="deepgemm",
    repo="https://github.com/o/DeepGEMM.git",
    commit=OLD,
    submodules=("third-party/cutlass",),
    places=(place("cmake/dg.cmake", "FetchContent(dg)", "{git}"), place()),
)


def test_a_pin_is_a_paragraph_with_its_places_below_each_other() -> None:
    assert render([GIT]).partition("schema = 1\n")[2] == (
        "\n[pins.deepgemm]\n"
        'repo       = "https://github.com/o/DeepGEMM.git"\n'
        f'commit     = "{OLD}"\n'
        'submodules = ["third-party/cutlass"]\n'
        'sites."cmake/dg.cmake"."FetchContent(dg)" = "{git}"\n'
        'sites."a.sh".X_REF                        = "{commit}"\n'
    )


def test_a_place_that_differs_says_what_it_holds_on_its_line() -> None:
    text = render([GIT], {("a.sh", "X_REF"): "v1\n2\x00"})
    assert 'sites."a.sh".X_REF                        = "{commit}"  # holds v1 2 \n' in text
    tomllib.loads(text)


def test_a_long_place_does_not_push_the_others_out() -> None:
    long = place("a/" * 40 + "b.sh")
    lines = render([Proposed(name="x", repo="https://h/o/r", commit=OLD, places=(place(), long))]).splitlines()
    assert 'sites."a.sh".X_REF = "{commit}"' in lines


def test_nothing_is_a_manifest_too() -> None:
    assert manifest.parse(render([]), path="pins.toml").pins == {}


@st.composite
def proposed(draw: st.DrawFn) -> Proposed:
    """Any pin of any kind."""
    kind = draw(st.sampled_from(["commit", "short", "tag", "package", "archive", "image", "digest", "unknown"]))
    version = draw(st.from_regex(r"[0-9]\.[0-9]{1,2}", fullmatch=True))
    own: dict[str, object] = {
        "commit": {"repo": "https://h/o/r.git", "commit": OLD, "submodules": draw(st.none() | st.just(("a", "b")))},
        "short": {"repo": "https://h/o/r.git", "unresolved": OLD[:8]},
        "tag": {"repo": "https://h/o/r.git", "tag": f"v{version}", "unresolved": True},
        "package": {
            "packages": tuple(draw(st.lists(PLAIN.map(lambda n: n + "x"), min_size=1, unique=True))),
            "version": version,
        },
        "archive": {"url": f"https://h/x-{version}.tgz", "sha256": DIGEST},
        "image": {"image": f"h/x:{version}", "unresolved": True},
        "digest": {"image": f"h/x:{version}@sha256:{DIGEST}"},
        "unknown": {"version": version, "unresolved": True},
    }[kind]  # type: ignore[assignment]
    fact = {"package": "version", "unknown": "version", "archive": "url", "short": "commit", "digest": "image"}.get(
        kind, kind
    )
    keys = draw(
        st.lists(st.tuples(PATH, TEXT.map(lambda t: f"/{t.replace('#', '')}")), min_size=1, max_size=4, unique=True)
    )
    files = {file for file, _ in keys}
    sites = tuple(place(f, s, f"{{{fact}}}") for f, s in keys if not any(o.startswith(f"{f}/") for o in files))
    return Proposed(name="", places=sites, **own)  # type: ignore[arg-type]


@given(st.dictionaries(PLAIN, proposed(), max_size=5))
def test_what_is_rendered_is_parsed_as_it_was_meant(pins: dict[str, Proposed]) -> None:
    named = [replace(pin, name=name.strip("-_") + "x") for name, pin in sorted(pins.items())]
    named = list({pin.name: pin for pin in named}.values())
    text = render(named)
    assert text == render(named)
    parsed = manifest.parse(text, path="pins.toml")
    assert list(parsed.pins) == [pin.name for pin in named]
    for pin in named:
        found = parsed.pins[pin.name]
        assert (found.repo, found.commit, found.tag, found.version) == (pin.repo, pin.commit, pin.tag, pin.version)
        assert (found.image, found.url, found.packages, found.submodules) == (
            pin.image,
            pin.url,
            pin.packages,
            pin.submodules,
        )
        assert {(s.file, s.selector): s.template for s in found.sites} == {
            (p.file, p.selector): p.template for p in pin.places
        }
