import compileall
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from pinctl.errors import ExternalError
from pinctl.external import resources
from pinctl.external.files import Missing, Unreadable


@pytest.fixture(autouse=True)
def _fresh() -> None:
    resources._folder.cache_clear()


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty place for an installation: the package lies in `site/pinctl`."""
    (tmp_path / "site/pinctl").mkdir(parents=True)
    monkeypatch.setattr(resources, "_PLACES", (str(tmp_path / "site/pinctl/data"), str(tmp_path / "site")))
    return tmp_path / "site"


def fill(folder: Path, text: str) -> None:
    (folder / "fetchcontent").mkdir(parents=True)
    (folder / "fetchcontent/template.j2").write_text(text)
    (folder / "empty").mkdir()
    (folder / "README.md").write_text("x")


def test_the_recipes_of_this_checkout_are_found() -> None:
    names = resources.listing()
    assert "fetchcontent" in names
    assert list(names) == sorted(names)
    assert "FetchContent" in resources.recipe("fetchcontent", "/nowhere")
    assert "[[exclude]]" in resources.docker("excludes.toml")


@pytest.mark.parametrize("place", ["pinctl/data/recipes", "recipes"])
def test_installed_and_from_source(package: Path, place: str) -> None:
    fill(package / place, "text")
    assert resources.listing() == ("fetchcontent",)
    assert resources.recipe("fetchcontent", "/nowhere") == "text"


def test_a_foreign_folder_beside_an_installed_package_is_not_taken(package: Path) -> None:
    fill(package / "pinctl/data/recipes", "ours")
    fill(package / "recipes", "another package's")
    assert resources.recipe("fetchcontent", "/nowhere") == "ours"


def test_a_broken_installation(package: Path) -> None:
    with pytest.raises(ExternalError, match="pinctl's own recipes are missing"):
        resources.listing()


def test_what_is_no_recipe(package: Path, tmp_path: Path) -> None:
    fill(package / "recipes", "text")
    for name in ("none", "empty", "README.md"):
        with pytest.raises(Unreadable):
            resources.recipe(name, str(tmp_path))
    with pytest.raises(Unreadable, match="leaves the root"):
        resources.recipe("../recipes/fetchcontent", str(tmp_path))


def test_a_recipe_of_the_consumers_own(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("SENTINEL")
    (tmp_path / "root/pins").mkdir(parents=True)
    (tmp_path / "root/pins/x.j2").write_text("mine \u00e9")
    (tmp_path / "root/pins/link.j2").symlink_to("../../secret")
    (tmp_path / "root/pins/latin.j2").write_bytes(b"\xe9")
    (tmp_path / "root/pins/long.j2").write_text("x" * 65537)
    root = str(tmp_path / "root")
    assert resources.recipe("./pins/x.j2", root) == "mine \u00e9"
    with pytest.raises(Missing):
        resources.recipe("./pins/none.j2", root)
    for name, why in [
        ("./pins/link.j2", "leaves the root"),
        ("./../secret", "leaves the root"),
        ("./pins/latin.j2", "not UTF-8"),
        ("./pins/long.j2", "larger than 65536 bytes"),
    ]:
        with pytest.raises(Unreadable, match=why):
            resources.recipe(name, root)


@pytest.mark.slow
def test_the_wheel_holds_them(tmp_path: Path) -> None:
    """What the build configuration says of the data is where this module looks."""
    pytest.importorskip("hatchling")
    source = Path(resources._PACKAGE).parent
    tree = tmp_path / "source"
    for name in ("pinctl", "recipes", "docker"):
        shutil.copytree(source / name, tree / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(source / name, tree / name)
    build = "import os, sys, hatchling.build as b; os.chdir(sys.argv[1]); print(b.build_wheel(sys.argv[2]))"
    command = [sys.executable, "-c", build, str(tree), str(tmp_path)]
    wheel = subprocess.run(command, capture_output=True, check=True).stdout.decode().strip().splitlines()[-1]
    shutil.unpack_archive(tmp_path / wheel, tmp_path / "installed", "zip")
    code = (
        "import sys; sys.path.insert(0, sys.argv[1]); from pinctl.external import resources as r; "
        "print(r.__file__, r.listing(), len(r.recipe('fetchcontent', '/')), *r.docker_steps(), *r.variants())"
    )
    installed = str(tmp_path / "installed")
    compileall.compile_dir(installed, quiet=1)  # as pip does
    shown = subprocess.run([sys.executable, "-P", "-c", code, installed], capture_output=True, check=True)
    assert shown.stdout.decode().startswith(installed)
    assert "'fetchcontent'" in shown.stdout.decode()
    assert shown.stdout.decode().split()[-2:] == ["cu12", "cu13"]
    assert "steps/compile" in shown.stdout.decode()
    assert "__pycache__" not in shown.stdout.decode()


def test_a_recipe_that_builds_wheels_is_listed_and_read_with_its_smoke_test(tmp_path: Path) -> None:
    assert {"deepgemm", "wheel"} <= set(resources.listing())
    text, smoke = resources.wheel_recipe("deepgemm", "/nowhere")
    assert "cuda_fp8.h" in text
    assert "import deep_gemm" in smoke
    (tmp_path / "pins").mkdir()
    (tmp_path / "pins/mine.toml").write_text("torch = true\n")
    assert resources.wheel_recipe("./pins/mine.toml", str(tmp_path)) == ("torch = true\n", "")
    (tmp_path / "pins/mine.py").write_text("import mine\n")
    assert resources.wheel_recipe("./pins/mine.toml", str(tmp_path)) == ("torch = true\n", "import mine\n")
    with pytest.raises(Missing):
        resources.wheel_recipe("fetchcontent", str(tmp_path))


def test_what_docker_builds_with_is_found() -> None:
    steps = resources.docker_steps()
    assert {"wheel.Dockerfile", "check.Dockerfile", "steps/compile", "steps/access"} <= set(steps)
    assert set(resources.variants()) >= {"cu12", "cu13"}
