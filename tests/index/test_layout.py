from __future__ import annotations

import pytest

from pinctl import manifest
from pinctl.index.layout import Layout, Variants, layout
from pinctl.model import Variant

PINS = """
schema = 1
[index]
url = "https://whl.example/x"
layout = { release = "{variant}/", nightly = "nightly/{variant}/" }
channels = ["release", "nightly"]
retention = { nightly = 30 }
records = "index/wheels.jsonl"
"""
KNOWN = Variants(
    {"cu12": Variant("cu12", label="cu129"), "cu13": Variant("cu13")}, frozenset({"cu128", "rocm700", "cu12"})
)


def test_what_pins_toml_says() -> None:
    found = layout(manifest.parse(PINS))
    assert found == Layout(
        "https://whl.example/x", {"release": "{variant}/", "nightly": "nightly/{variant}/"}, ("release", "nightly"),
        {"nightly": 30}, "index/wheels.jsonl",
    )  # fmt: skip
    assert found.folder("release", "cu129") == "cu129"
    assert found.folder("nightly", "cu129") == "nightly/cu129"
    assert found.folder("pr", "cu129") == "pr/cu129"


def test_the_usual() -> None:
    assert layout(None).folder("release", "cu129") == "release/cu129"
    assert layout(None).records == "wheels.jsonl"
    one = layout(manifest.parse('schema = 1\n[index]\nlayout = "whl/{variant}-{channel}"\n'))
    assert one.folder("pr", "cu12") == "whl/cu12-pr"


@pytest.mark.parametrize(
    ("label", "variant", "foreign"),
    [
        ("", "cu128", None),
        ("cu129", "cu12", None),  # what the variant declares
        ("cu12", "cu12", None),  # a page's own name
        ("cu128", "cu128", None),
        ("cu129", "cu128", "cu129"),
        ("cu128", "cu12", "cu128"),
        ("g0a1b2c3", "cu128", None),  # nobody's
        ("rocm702", "rocm700", None),
        ("g0a1b2c3.cu129", "cu128", "cu129"),
        ("cu129.torch29", "cu12", None),
        ("pr.18598.gfec757fd3", "cu12", None),
        ("20260701", "cu12", None),
    ],
)
def test_only_labels_of_known_variants_are_foreign(label: str, variant: str, foreign: str | None) -> None:
    assert KNOWN.foreign(label, variant) == foreign


def test_where_a_label_is_at_home() -> None:
    assert KNOWN.home("cu129") == "cu12"
    assert KNOWN.home("cu128") == "cu128"
    both = KNOWN.with_pages(["cu129"])
    assert both.home("cu129") in ("cu12", "cu129")
    assert both.foreign("cu129", "cu129") is None
    assert (KNOWN.of_label("cu129"), KNOWN.of_label("g1.cu128"), KNOWN.of_label("x")) == ("cu12", "cu128", None)
    assert KNOWN.of_label("") == "cu13"
    assert Variants({"a": Variant("a"), "b": Variant("b")}).of_label("") is None
