"""What pins.toml says wrongly of images."""

import pytest

from pinctl import manifest
from pinctl.errors import ManifestError

COMMIT = "a1" * 20
PINS = f"""\
schema = 1
[pins.dg]
repo = "https://github.com/o/dg.git"
commit = "{COMMIT}"
tag = "v1"
track = "main"
[pins.tl]
packages = ["tilelang"]
version = "0.1.11"
[variants.cu12]
cuda = "12.9"
[images.serve]
dockerfile = "Dockerfile"
"""


def told(lines: str) -> list[tuple[str, int]]:
    try:
        manifest.parse(f"{PINS}{lines}")
    except ManifestError as error:
        return [(found.code, found.span.line if found.span else 0) for found in error.findings]
    return []


USED = 'pins = ["dg", "tl"]\n'


def test_an_image_with_all_that_it_may_have() -> None:
    lines = f"""\
context = "docker"
target = "runtime"
variant = "cu12"
python = "3.12"
platforms = ["linux/amd64"]
tags = ["registry.example:5000/o/engine:cu12"]
args.DG_REF = "{{pins.dg.commit}}"
args.CUDA = "{{variants.cu12.cuda}}"
args.FIXED_REF = "{COMMIT}"
args.TL = "{{pins.tl.version}}"
wheels.TL_WHEEL = "tl"
{USED}"""
    image = manifest.parse(f"{PINS}{lines}").images["serve"]
    assert (image.name, image.target, image.tags) == ("serve", "runtime", ("registry.example:5000/o/engine:cu12",))
    assert (dict(image.wheels), image.pins) == ({"TL_WHEEL": "tl"}, ("dg", "tl"))


def test_a_pin_of_an_image_is_used() -> None:
    assert told('variant = "cu12"\nwheels.W = "tl"\nargs.A = "{pins.dg.commit}"\n') == []
    assert told('pins = ["tl"]\n') == [("PIN113", 2)]


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ('variant = "cu13"', "PIN114"),
        ('wheels.W = "tl"', "PIN104"),
        ('variant = "cu12"\nwheels.W = "nope"', "PIN114"),
        ('variant = "cu12"\nwheels.W = "tl"\nargs.W = "1"', "PIN103"),
        ('args.A = "{pins.nope.commit}"', "PIN114"),
        ('args.A = "{commit}"', "PIN110"),
        ('args.A = "{"', "PIN111"),
        ('args.A = "{pins.dg.track}"', "PIN223"),
        ('args.A = "{pins.dg.tag}"', "PIN223"),
        ('args.A = "x{pins.dg.tag}"', "PIN223"),
        ('args.A = "{pins.dg.commit:.10}"', "PIN223"),
        ('args.DG_REF = "main"', "PIN223"),
        ('args.DG_COMMIT = "a1a1a1a1"', "PIN223"),
        ('args.HF_TOKEN = "1"', "PIN119"),
        ('variant = "cu12"\nwheels.HF_TOKEN = "tl"', "PIN119"),
        ('args.URL = "https://x:SENTINEL@h/r"', "PIN119"),
        ('dockerfile2 = "x"', "PIN102"),
        ('tags = ["-x"]', "PIN103"),
        ('context = "../x"', "PIN108"),
    ],
)
def test_what_is_wrong_is_told_with_its_line(line: str, code: str) -> None:
    assert [found for found, at in told(f"{USED}{line}\n") if at > 14] == [code]


def test_a_secret_is_not_repeated() -> None:
    with pytest.raises(ManifestError) as caught:
        manifest.parse(f'{PINS}{USED}args.URL = "https://x:SENTINEL-12@h/r"\nargs.HF_TOKEN = "SENTINEL-12"\n')
    assert "SENTINEL-12" not in repr(caught.value.findings)
