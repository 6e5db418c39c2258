from __future__ import annotations

from typing import Any

import pytest
from packaging.tags import parse_tag
from packaging.version import Version

from pinctl.finding import Finding
from pinctl.model import Manifest, Pin, Variant
from pinctl.upstream.availability import Offer, Stock, is_of, judge, platforms, row
from pinctl.upstream.simple import File
from pinctl.upstream.telling import Telling

TEXT = """\
schema = 1
[pins.tl]
packages = ["tilelang", "tilelang-extra"]
version = "0.1.5"
"""


def file(name: str, **more: Any) -> File:
    return File(name, f"https://files.example/{name}", **more)


def judged(
    *offers: Offer,
    version: str = "0.1.5",
    packages: tuple[str, ...] = ("tilelang",),
    variants: tuple[Variant, ...] = (),
) -> tuple[list[Stock], list[Finding]]:
    pin = Pin(name="tl", packages=packages, version=version)
    return judge(Telling(pin, Manifest(path="pins.toml", text=TEXT, pins={"tl": pin})), offers, variants)


def told(*offers: Offer, **more: Any) -> list[tuple[str, str, int | None, str]]:
    _, found = judged(*offers, **more)
    return [(f.code, f.severity.value, f.span.line if f.span else None, f.message) for f in found]


def pypi(*names: str, **more: Any) -> Offer:
    return Offer("tilelang", "pypi.org", files=tuple(file(name, **more) for name in names))


X86 = "tilelang-0.1.5-cp38-abi3-manylinux_2_28_x86_64.whl"
ARM = "tilelang-0.1.5-cp38-abi3-manylinux_2_28_aarch64.whl"
SOURCE = "tilelang-0.1.5.tar.gz"


def test_a_version_that_is_there() -> None:
    stocks, found = judged(pypi(X86, ARM, SOURCE, "tilelang-0.1.4.tar.gz"))
    assert found == []
    (stock,) = stocks
    assert (stock.place, stock.platforms, stock.has_source) == ("pypi.org", ("linux/amd64", "linux/arm64"), True)
    said: Any = row(stocks)
    assert (said["yanked"], said["platforms"]) == (False, ["linux/amd64", "linux/arm64"])
    assert said["files"][0] == {
        "package": "tilelang", "index": "pypi.org", "name": X86, "sha256": None, "yanked": None,
        "requires_python": None, "platforms": ["linux/amd64"],
    }  # fmt: skip


@pytest.mark.parametrize(
    ("version", "wanted", "same"),
    [
        ("0.1.5", "0.1.5", True),
        ("0.1.5.0", "0.1.5", True),
        ("0.1.5.post2", "0.1.5", False),
        ("0.1.5+cu129", "0.1.5", True),
        ("0.1.5", "0.1.5+cu129", False),
        ("0.1.5+cu130", "0.1.5+cu129", False),
        ("0.1.5+cu129", "0.1.5+cu129", True),
        ("0.1.5.dev1+g12", "0.1.5", False),
    ],
)
def test_versions_are_compared_whole(version: str, wanted: str, same: bool) -> None:
    assert is_of(Version(version), Version(wanted)) is same


def test_a_version_that_is_not_there() -> None:
    others = [f"tilelang-0.1.{n}.tar.gz" for n in range(10) if n != 5]
    _, (found,) = judged(pypi(*others, "tilelang-0.1.5.post2.tar.gz"))
    assert (found.code, found.message) == ("PIN325", "pypi.org does not have tilelang 0.1.5")
    assert (found.span and found.span.line, found.hint) == (4, "it has 0.1.2, 0.1.3, 0.1.4, 0.1.5.post2, 0.1.6, 0.1.7")


def test_a_package_that_is_not_there() -> None:
    offers = Offer("tilelang", "/wheels", is_index=False), Offer("tilelang", "pypi.org")
    assert told(*offers) == [("PIN325", "error", 3, "none of /wheels, pypi.org has a package tilelang")]
    assert told() == [("PIN325", "error", 3, "pip has no index here to take tilelang from")]


def test_files_on_a_host_that_the_policy_bars_are_named() -> None:
    _, (found,) = judged(Offer("tilelang", "pypi.org", barred=("files.example",)))
    assert found.hint == "the policy does not allow files.example, where further files are"


def test_an_index_that_fails_says_nothing_of_the_package() -> None:
    down = Offer("tilelang", "corp.example", failure="cannot reach corp.example: Connection refused")
    bad = Offer("tilelang", "evil.example", failure="evil.example sends a bomb", refused=True)
    assert told(down) == [("PIN320", "error", 3, "tilelang: cannot reach corp.example: Connection refused")]
    assert [code for code, *_ in told(bad, pypi(X86))] == ["PIN321"]


def test_yanked() -> None:
    message = "tilelang 0.1.5 is yanked from pypi.org"
    assert told(pypi(X86, ARM, yanked="broken")) == [("PIN326", "error", 4, f"{message}: broken")]
    assert told(pypi(X86, yanked="")) == [("PIN326", "error", 4, f"{message}, without a reason")]
    some = Offer("tilelang", "pypi.org", files=(file(X86), file(ARM, yanked="")))
    assert told(some) == [("PIN326", "warning", 4, f"{message} (1 of 2 files), without a reason")]
    assert row(judged(some)[0])["yanked"] is True


def test_two_indexes_with_different_files() -> None:
    one = Offer("tilelang", "pypi.org", files=(file(X86, sha256="a"), file(ARM, sha256="b")))
    mirror = Offer("tilelang", "mirror.example", files=(file(X86, sha256="a"),))
    other = Offer("tilelang", "corp.example", files=(file(X86, sha256="c"),))
    links = Offer("tilelang", "/wheels", is_index=False, files=(file(X86),))
    assert told(links, one, mirror) == []
    assert judged(links, one)[0][0].place == "/wheels"
    assert told(one, other) == [
        ("PIN328", "info", 3, "tilelang 0.1.5 is in pypi.org and in corp.example, and pip may take either's")
    ]
    unknown = Offer("tilelang", "corp.example", files=(file(X86),))
    assert [code for code, *_ in told(unknown, unknown)] == ["PIN328"]


def variant(*platforms: str, python: tuple[str, ...] = (), name: str = "cu13", packages: str | None = None) -> Variant:
    return Variant(name=name, platforms=platforms, python=python, packages=packages)


@pytest.mark.parametrize(
    ("tag", "python", "packages", "runs"),
    [
        ("cp38-abi3-manylinux_2_28_x86_64", "3.12", None, True),
        ("cp312-cp312-manylinux_2_28_x86_64", "3.12", None, True),
        ("cp311-cp311-manylinux_2_28_x86_64", "3.12", None, False),
        ("cp313-abi3-manylinux_2_28_x86_64", "3.12", None, False),
        ("cp313-cp313-linux_x86_64", "3.13t", None, False),
        ("cp313-cp313t-linux_x86_64", "3.13t", None, True),
        ("cp38-abi3-linux_x86_64", "3.13t", None, False),
        ("py3-none-any", "3.13t", None, True),
        ("py2.py3-none-any", "3.9", None, True),
        ("py3-none-manylinux2014_x86_64.manylinux_2_17_x86_64", "3.9", None, True),
        ("py3-none-manylinux2014_aarch64", "3.9", None, False),
        ("py3-none-musllinux_1_2_x86_64", "3.9", None, False),
        ("py3-none-musllinux_1_2_x86_64", "3.9", "apk", True),
        ("py3-none-manylinux2014_x86_64", "3.9", "apk", False),
        ("py2-none-any", "3.9", None, False),
        ("cp38-abi3-macosx_11_0_arm64", "3.9", None, False),
    ],
)
def test_wheels_of_a_variant(tag: str, python: str, packages: str | None, runs: bool) -> None:
    wanted = variant("linux/amd64", python=(python,), packages=packages)
    assert (told(pypi(f"tilelang-0.1.5-{tag}.whl"), variants=(wanted,)) == []) is runs


def test_what_lacks_is_told_by_platform() -> None:
    variants = (variant("linux/amd64", "linux/arm64", python=("3.10", "3.13t")), variant("linux/arm64", name="cu12"))
    assert told(pypi(X86, SOURCE), variants=variants) == [
        ("PIN327", "warning", 4, "tilelang 0.1.5 has no wheel for linux/amd64 with Python 3.13t (variant cu13)"),
        ("PIN327", "warning", 4, "tilelang 0.1.5 has no wheel for linux/arm64 with Python 3.10, 3.13t"
                                 " (variant cu13, cu12)"),
    ]  # fmt: skip
    _, found = judged(pypi(X86, SOURCE), variants=variants)
    assert found[0].hint == "its wheels: linux/amd64; its source would be built"


@pytest.mark.parametrize(
    ("wanted", "runs"), [(">=3.12", False), (">=3.10.2,<3.11", True), ("<=3.10", True), ("!!", True), (None, True)]
)
def test_requires_python_counts(wanted: str | None, runs: bool) -> None:
    offer = pypi("tilelang-0.1.5-py3-none-any.whl", requires_python=wanted)
    assert (told(offer, variants=(variant("linux/amd64", python=("3.10",)),)) == []) is runs


def test_several_packages_at_one_version() -> None:
    extra = Offer("tilelang-extra", "pypi.org", files=(file("tilelang_extra-0.1.5-py3-none-any.whl"),))
    stocks, found = judged(pypi(X86), extra, packages=("tilelang", "tilelang-extra"))
    assert found == []
    assert row(stocks)["platforms"] == ["linux/amd64"]
    assert told(pypi(X86), Offer("tilelang-extra", "pypi.org"), packages=("tilelang", "tilelang-extra")) == [
        ("PIN325", "error", 3, "pypi.org does not have a package tilelang-extra")
    ]


@pytest.mark.parametrize(
    ("tag", "names"),
    [
        ("manylinux2014_aarch64", ("linux/arm64",)),
        ("linux_ppc64le", ("linux/ppc64le",)),
        ("manylinux1_i686", ("linux/386",)),
        ("macosx_10_9_universal2", ("macos/amd64", "macos/arm64")),
        ("macosx_11_0_arm64", ("macos/arm64",)),
        ("win_amd64", ("windows/amd64",)),
        ("win32", ("windows/386",)),
        ("any", ("any",)),
    ],
)
def test_platforms_as_docker_names_them(tag: str, names: tuple[str, ...]) -> None:
    (one,) = parse_tag(f"py3-none-{tag}")
    assert platforms(one) == names
