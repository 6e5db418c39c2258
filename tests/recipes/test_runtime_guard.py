"""The module that runtime-guard renders, executed beside packages that are as pinned, and others."""

import importlib.util
import json
import logging
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

import pytest

from pinctl.model import Contract, Pin
from pinctl.quoting import RecipeError

Recipe = Callable[..., str]
COMMIT, OTHER = "a1" * 20, "b2" * 20
PIN = Pin(
    name="tinyk",
    repo="https://h/x.git",
    commit=COMMIT,
    version="1.2.0",
    contract=Contract(import_names=("tinyk",), requires=("answer", "tinyk.scale(by, to)", "inner.deep")),
)
MODULE = "def answer(): ...\ndef scale(x, by, *, to=1): ...\n"


def run(text: str, path: Path) -> ModuleType:
    """The module `text`, written to `path` and imported from there."""
    path.write_text(text)
    spec = importlib.util.spec_from_file_location("guard", path)
    assert spec is not None
    assert spec.loader is not None
    made = importlib.util.module_from_spec(spec)
    sys.modules["guard"] = made
    spec.loader.exec_module(made)
    return made


@pytest.fixture
def guard(recipe: Recipe, tmp_path: Path) -> ModuleType:
    return run(recipe("runtime-guard", PIN), tmp_path / "guard.py")


@pytest.fixture
def tinyk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., ModuleType]]:
    """`tinyk(TEXT, NAME=TEXT)` installs and imports a package with these files in its .dist-info."""

    def install(text: str = MODULE, *, version: str = "1.2.0", inner: str = "deep = 1\n", **files: str) -> ModuleType:
        (tmp_path / "tinyk").mkdir()
        (tmp_path / "tinyk/__init__.py").write_text(f"{text}from tinyk import inner\n")
        (tmp_path / "tinyk/inner.py").write_text(inner)
        info = tmp_path / f"tinyk-{version}.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: tinyk\nVersion: {version}\n")
        for name, content in files.items():
            (info / f"{name}.json".replace("_provenance", "-provenance")).write_text(content)
        monkeypatch.syspath_prepend(str(tmp_path))
        return __import__("tinyk")

    yield install
    for name in ("tinyk", "tinyk.inner", "guard"):
        sys.modules.pop(name, None)


def test_what_is_as_pinned_says_nothing(guard: ModuleType, tinyk: Callable[..., ModuleType],
                                        caplog: pytest.LogCaptureFixture) -> None:  # fmt: skip
    module = tinyk(version="1.2.0+cu129", pinctl_provenance=json.dumps({"commit": COMMIT}))
    assert guard.problems(module) == []
    assert guard.check(module) is True
    assert not caplog.records


def test_each_thing_that_is_otherwise_is_a_warning(guard: ModuleType, tinyk: Callable[..., ModuleType],
                                                   caplog: pytest.LogCaptureFixture) -> None:  # fmt: skip
    module = tinyk("def scale(x, by): ...\n", inner="", pinctl_provenance=json.dumps({"commit": OTHER}))
    assert guard.check(module) is False
    assert [(r.name, r.levelno, r.getMessage()) for r in caplog.records] == [
        ("guard", logging.WARNING, f"tinyk: built from commit {OTHER}, and {COMMIT} is pinned"),
        ("guard", logging.WARNING, "tinyk: `answer` is required, and is not there"),
        ("guard", logging.WARNING, "tinyk: `tinyk.scale` must take to, and does not"),
        ("guard", logging.WARNING, "tinyk: `inner.deep` is required, and is not there"),
    ]


@pytest.mark.parametrize(
    ("files", "version", "problem"),
    [
        ({}, "1.2.0", None),
        ({}, "1.3.0+cu129", "version 1.3.0+cu129 is installed, and 1.2.0 is pinned"),
        ({"direct_url": json.dumps({"vcs_info": {"commit_id": OTHER}})}, "1.2.0", f"built from commit {OTHER}, and"),
        ({"direct_url": json.dumps({"vcs_info": {"commit_id": COMMIT}})}, "9", None),
        ({"direct_url": "[]"}, "1.2.0", None),
        ({"pinctl_provenance": "{"}, "1.2.0", None),
    ],
)  # fmt: skip
def test_by_what_the_origin_is_told(guard: ModuleType, tinyk: Callable[..., ModuleType], files: dict[str, str],
                                    version: str, problem: str | None) -> None:  # fmt: skip
    found = guard.problems(tinyk(version=version, **files))
    assert found == [] if problem is None else found[0].startswith(f"tinyk: {problem}")


def test_a_native_function_is_told_by_its_text(guard: ModuleType, tinyk: Callable[..., ModuleType]) -> None:
    text = "class N:\n  __signature__ = 1\n  def __init__(self, d): self.__doc__ = d\n  def __call__(self): ...\n"
    module = tinyk(f"{MODULE}{text}scale = N('scale(x: int, by: float) -> None')\n")
    assert guard.problems(module) == ["tinyk: `tinyk.scale` must take to, and does not"]


def test_a_module_of_no_pin(guard: ModuleType) -> None:
    with pytest.raises(LookupError, match="no pin is imported as json"):
        guard.check(json)


def test_of_all_pins_and_hostile_values(recipe: Recipe, tmp_path: Path) -> None:
    evil = Pin(name="e", version="'\"); import os #", contract=Contract(import_names=("e",)), packages=("e",))
    text = recipe("runtime-guard", None, pins={"tinyk": PIN, "e": evil, "none": Pin(name="none")}, logger="engine")
    made = run(text, tmp_path / "guard.py")
    assert [(p.name, p.version, p.packages) for p in made.PINS] == [("tinyk", "1.2.0", ()), ("e", evil.version, ("e",))]
    assert made._logger.name == "engine"


def test_what_is_refused(recipe: Recipe) -> None:
    with pytest.raises(RecipeError, match="needs the pin's `contract`"):
        recipe("runtime-guard", PIN._replace(contract=None))
    with pytest.raises(RecipeError, match="no pin has a contract"):
        recipe("runtime-guard", None, pins={"a": Pin(name="a")})


def test_it_is_typed_and_well_formed(recipe: Recipe, tmp_path: Path) -> None:
    path = tmp_path / "guard.py"
    path.write_text(recipe("runtime-guard", PIN))
    typed = [sys.executable, "-m", "mypy", "--strict", f"--cache-dir={tmp_path}", "--python-version=3.10", str(path)]
    assert subprocess.run(typed, capture_output=True, text=True).stdout.startswith("Success")
    shape = [sys.executable, "-m", "ruff", "check", "--isolated", "--no-cache", "--select=E,F,I,B", "--line-length=120"]
    assert subprocess.run([*shape, str(path)], capture_output=True, text=True).returncode == 0
