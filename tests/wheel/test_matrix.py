import re
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from pinctl.manifest import parse
from pinctl.model import Variant
from pinctl.wheel.matrix import Asked, Cell, defaulted, matrix

PINS = """\
schema = 1

[pins.dg]
repo   = "https://github.com/o/dg.git"
commit = "{commit}"
unused = true
wheel.recipe = "wheel"

[variants.cu12]
cuda = "12.9"
label = "cu129"
image = "example/builder:cu12"
manylinux = "manylinux_2_28"
python = ["3.11", "3.12"]
platforms = ["linux/amd64", "linux/arm64"]

[variants.cu13]
cuda = "13.0"
image = "example/builder:cu13"
manylinux = "manylinux_2_28"
python = ["3.12", "3.13t"]
platforms = ["linux/amd64"]
""".replace("{commit}", "a1" * 20)


SHIPPED = {
    "image": "example/builder:1",
    "manylinux": "manylinux_2_28",
    "python": ["3.12"],
    "platforms": ["linux/amd64", "linux/arm64"],
    "packages": "dnf",
}


def names(text: str, asked: Asked = Asked()) -> list[str]:  # noqa: B008
    return [cell.name for cell in matrix(parse(text), {}, asked).cells]


def told(text: str) -> list[tuple[str, str]]:
    return [(found.code, found.message) for found in matrix(parse(text), {}).findings]


def test_a_cell_for_each_pin_variant_python_and_platform() -> None:
    assert names(PINS) == [
        "dg-cu12-cp311-amd64",
        "dg-cu12-cp311-arm64",
        "dg-cu12-cp312-amd64",
        "dg-cu12-cp312-arm64",
        "dg-cu13-cp312-amd64",
        "dg-cu13-cp313t-amd64",
    ]
    assert told(PINS) == []


def test_the_platform_tag_is_of_the_machine() -> None:
    tags = {(cell.platform, cell.platform_tag) for cell in matrix(parse(PINS), {}).cells}
    assert tags == {("linux/amd64", "manylinux_2_28_x86_64"), ("linux/arm64", "manylinux_2_28_aarch64")}


def test_a_part_of_it_is_asked_for() -> None:
    assert names(PINS, Asked(variants=("cu13",), pythons=("3.12",))) == ["dg-cu13-cp312-amd64"]
    assert names(PINS, Asked(platforms=("linux/arm64",))) == ["dg-cu12-cp311-arm64", "dg-cu12-cp312-arm64"]
    assert names(PINS, Asked(pins=("other",))) == []


def test_excludes_say_why() -> None:
    text = (
        PINS
        + """
[[pins.dg.wheel.exclude]]
variant = "cu12"
platform = "linux/arm64"
reason = "no torch for it"
[[pins.dg.wheel.exclude]]
python = "3.9"
reason = "too old"
"""
    )
    found = matrix(parse(text), {})
    assert [(left.cell.name, left.reason) for left in found.left] == [
        ("dg-cu12-cp311-arm64", "no torch for it"),
        ("dg-cu12-cp312-arm64", "no torch for it"),
    ]
    assert len(found.cells) == 4
    assert told(text) == [("PIN657", "dg excludes 3.9, and the matrix has no such cell")]


def test_two_variants_never_make_one_name() -> None:
    text = PINS.replace('label = "cu129"\n', "")
    assert told(text) == [("PIN651", "dg: the wheels of cu12 and cu13 would have the same names: both have no label")]
    (found,) = matrix(parse(text), {}).findings
    assert found.hint == 'variants.cu13.label = "cu130"'
    apart = text.replace('python = ["3.12", "3.13t"]', 'python = ["3.13"]')
    assert told(apart) == [], "no Python in common, so no name"


def test_what_a_variant_lacks_is_told_at_once() -> None:
    text = PINS.replace('image = "example/builder:cu13"\nmanylinux = "manylinux_2_28"\n', "")
    assert told(text) == [("PIN650", "dg cannot be built for cu13: [variants.cu13] lacks `image`, `manylinux`")]
    packages = PINS.replace("unused", 'system_packages.x = { apt = "x" }\nunused')
    assert [code for code, _ in told(packages)] == ["PIN650", "PIN650"]
    assert "lacks `packages`" in told(packages)[0][1]


def test_a_pin_without_a_full_commit_is_not_built() -> None:
    text = PINS.replace('commit = "' + "a1" * 20 + '"', 'tag = "v1"\nunresolved = true')
    assert told(text) == [("PIN650", "dg has no full commit to build from")]


def test_a_shipped_variant_fills_what_is_silent() -> None:
    shipped = {
        "label": "cu999",
        "image": "pytorch/x:1",
        "packages": "dnf",
        "manylinux": "manylinux_2_28",
        "python": ["3.12"],
    }
    own = defaulted(Variant(name="cu13", python=("3.11",)), shipped)
    assert own.label is None, "every verb reads it in pins.toml"
    assert (own.image, own.packages, own.python) == ("pytorch/x:1", "dnf", ("3.11",))
    other = defaulted(Variant(name="cu13", image="mine:1"), shipped)
    assert (other.packages, other.manylinux, other.python) == (None, None, ("3.12",)), (
        "of another image nothing is known"
    )


@given(st.lists(st.sampled_from(["3.10", "3.11", "3.12", "3.13t"]), unique=True), st.sampled_from(["cu12", "cu13"]))
def test_names_tell_cells_apart(pythons: list[str], name: str) -> None:
    pin = parse(PINS).pins["dg"]
    cells = [Cell(pin, Variant(name=name), p, f"linux/{m}") for p in pythons for m in ("amd64", "arm64")]
    assert len({cell.name for cell in cells}) == len(cells)


def test_cells_of_one_name_are_refused() -> None:
    """Those of `dg` for `a-b` and of `dg-a` for `b`: what is made for one would be taken for the other."""
    pin = PINS[PINS.index("[pins.dg]") : PINS.index("[variants.cu12]")]
    variant = PINS[PINS.index("[variants.cu13]") :]
    other = pin.replace("pins.dg", "pins.dg-a") + variant.replace("cu13]", "b]")
    text = PINS.replace("[variants.cu13]", "[variants.a-b]") + other.replace("unused", 'wheel.variants = ["b"]\nunused')
    text = text.replace("unused", 'wheel.variants = ["a-b"]\nunused', 1)
    assert told(text) == [
        ("PIN651", f"the cells of dg for a-b and of dg-a for b have one name: dg-a-b-cp{python}-amd64")
        for python in ("312", "313t")
    ]


def test_what_the_page_shows_is_a_pins_toml() -> None:
    """As it stands there, but for the digests that it leaves out; a pin that is built needs no site."""
    page = (Path(__file__).parents[2] / "docs/building.md").read_text()
    shown = re.search(r"```toml\n(\[pins\..*?)```", page, re.DOTALL)
    assert shown is not None
    text = shown[1].replace("sha256:…", "sha256:" + "0" * 64).replace("…", "a1" * 20)
    found = matrix(parse(f"schema = 1\n{text}"), {"cu12": SHIPPED, "cu13": SHIPPED})
    assert found.findings == ()
    assert [cell.name for cell in found.cells] == [
        "deepgemm-cu12-cp312-amd64", "deepgemm-cu13-cp312-amd64", "deepgemm-cu13-cp312-arm64"
    ]  # fmt: skip
    assert {left.reason for left in found.left} == {"torch has no such wheel"}
