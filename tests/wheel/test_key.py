import json
import shlex

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pinctl.model import Pin, SystemPackage, Variant, Wheel
from pinctl.wheel import key
from pinctl.wheel.key import Materials
from pinctl.wheel.matrix import Cell
from pinctl.wheel.recipe import Recipe, When

CELL = Cell(
    Pin(name="dg", repo="https://github.com/o/dg.git", commit="a1" * 20, submodules=("third-party/x",),
        wheel=Wheel(recipe="wheel"), system_packages=(SystemPackage("libdw", {"dnf": "elfutils-devel"}),)),
    Variant(name="cu12", cuda="12.9", torch="2.9.1", image="b:1", packages="dnf", manylinux="manylinux_2_28",
            arch_list=("9.0a", "10.0f"), label="cu129"),
    "3.12", "linux/amd64",
)  # fmt: skip
RECIPE = Recipe(name="wheel", requires=("setuptools",), torch=True)
MATERIALS = Materials("sha256:" + "0" * 64, "steps")


def of(cell: Cell = CELL, recipe: Recipe = RECIPE, materials: Materials = MATERIALS) -> str:
    return key.key(key.inputs(cell, recipe, materials))


def with_pin(**changes: object) -> Cell:
    return CELL._replace(pin=CELL.pin._replace(**changes))


def with_variant(**changes: object) -> Cell:
    return CELL._replace(variant=CELL.variant._replace(**changes))


def test_the_key_is_the_digest_of_canonical_json() -> None:
    assert key.key({"b": [1], "a": "ü"}) == key.key(json.loads('{ "a": "\\u00fc", "b": [1] }'))
    assert key.key({}) == "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"


@pytest.mark.parametrize(
    "cell",
    [
        with_pin(commit="b2" * 20),
        with_pin(submodules=None),
        with_pin(recursive=True),
        with_pin(lfs=True),
        with_pin(repo="https://github.com/fork/dg.git"),
        with_pin(system_packages=()),
        with_pin(wheel=Wheel(recipe="wheel", env={"DG_JIT_CACHE_DIR": "/x"})),
        with_pin(wheel=Wheel(recipe="wheel", requires=("ninja",))),
        with_variant(torch="2.10.0"),
        with_variant(cuda="12.8"),
        with_variant(arch_list=("9.0a",)),
        with_variant(manylinux="manylinux_2_34"),
        with_variant(env={"X": "1"}),
        with_variant(index_url="https://example.org/simple"),
        CELL._replace(python="3.13"),
        CELL._replace(platform="linux/arm64"),
    ],
)
def test_what_can_change_the_bytes_changes_the_key(cell: Cell) -> None:
    assert of(cell) != of()


def test_materials_and_the_recipe_change_the_key() -> None:
    others = [
        MATERIALS._replace(image="sha256:" + "1" * 64),
        MATERIALS._replace(steps="other"),
        MATERIALS._replace(excludes=("libcuda.so.*",)),
        MATERIALS._replace(lock="setuptools==1"),
        MATERIALS._replace(patches=(("p.patch", "d"),)),
    ]
    recipes = [RECIPE._replace(version=2), RECIPE._replace(env={"A": "1"}), RECIPE._replace(torch=False)]
    keys = [of(), *(of(materials=m) for m in others), *(of(recipe=r) for r in recipes)]
    assert len(set(keys)) == len(keys)


@pytest.mark.parametrize(
    "cell",
    [
        with_variant(label=None),
        with_variant(name="cuda12"),
        with_variant(publish="index"),
        with_variant(image="mirror/b:1"),
        with_pin(name="deepgemm"),
        with_pin(track="main"),
    ],
)
def test_what_cannot_does_not(cell: Cell) -> None:
    assert of(cell) == of()


def test_jobs_and_memory_are_not_in_the_key() -> None:
    assert of(recipe=RECIPE._replace(gib_per_job=9, nvcc_threads=4)) == of()


def test_a_lock_stands_in_the_place_of_the_requirements() -> None:
    locked = MATERIALS._replace(lock="setuptools==80 --hash=sha256:0")
    assert of(recipe=RECIPE._replace(requires=("setuptools>=90",)), materials=locked) == of(materials=locked)


def test_the_environment_is_the_recipes_under_the_variants_under_the_pins() -> None:
    recipe = RECIPE._replace(env={"A": "r", "B": "r", "C": "r"}, when=(When("<13", "why", {"D": "12"}),))
    cell = with_variant(env={"B": "v", "C": "v"})
    cell = cell._replace(pin=cell.pin._replace(wheel=Wheel(recipe="wheel", env={"C": "p"})))
    made = key.environment(cell, recipe)
    assert [made[name] for name in "ABCD"] == ["r", "v", "p", "12"]
    assert made["TORCH_CUDA_ARCH_LIST"] == "9.0a;10.0f"
    assert made["PINCTL_CUDA"] == "12.9"
    assert "D" not in key.environment(with_variant(cuda="13.0"), recipe)


def test_no_setting_of_a_pin_moves_the_time() -> None:
    cell = with_pin(wheel=Wheel(recipe="wheel", env={"SOURCE_DATE_EPOCH": "5"}))
    assert key.environment(cell, RECIPE)["SOURCE_DATE_EPOCH"] == str(key.EPOCH)


def test_steps_of_the_try_change_no_wheel() -> None:
    steps = {"wheel.Dockerfile": "a", "check.Dockerfile": "b", "steps/try": "c", "steps/install": "d"}
    assert key.steps_digest(steps, "t") == key.steps_digest(steps | {"steps/try": "x", "check.Dockerfile": "y"}, "t")
    assert key.steps_digest(steps, "t") != key.steps_digest(steps | {"wheel.Dockerfile": "x"}, "t")
    assert key.steps_digest(steps, "t") != key.steps_digest(steps, "u")


def test_changes_are_told_in_few_words() -> None:
    before = {
        "commit": "a1" * 20,
        "python": "3.11",
        "environment": {"A": "1", "B": "2"},
        "architectures": ["9.0a", "8.0"],
    }
    after = {"commit": "b2" * 20, "python": "3.11", "environment": {"A": "1", "B": "3", "C": "4"},
             "architectures": ["9.0a", "10.0f"]}  # fmt: skip
    assert key.changes(before, after) == (
        "commit a1a1a1a1a1 -> b2b2b2b2b2",
        "environment: B, C",
        "architectures: -8.0 +10.0f",
    )
    assert key.changes(before, before) == ()


_TREES = st.recursive(
    st.text() | st.integers() | st.booleans() | st.none(),
    lambda tree: st.lists(tree, max_size=3) | st.dictionaries(st.text(), tree, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(st.text(), _TREES, max_size=4))
def test_a_key_survives_being_stored(told: dict[str, object]) -> None:
    stored = json.loads(json.dumps(told))
    assert key.key(stored) == key.key(told)
    assert key.changes(stored, told) == ()


@given(st.dictionaries(st.from_regex(r"[A-Za-z_][A-Za-z0-9_]{0,9}", fullmatch=True),
                       st.text(st.characters(exclude_categories=["Cc", "Cs"]), max_size=20), max_size=4))  # fmt: skip
def test_a_shell_reads_the_exports_back(table: dict[str, str]) -> None:
    lines = [shlex.split(line) for line in key.exports(table).split("\n") if line]
    assert dict(word.split("=", 1) for _, word in lines) == table


def test_the_name_of_a_package_under_microdnf_is_in_the_key() -> None:
    """It is dnf's where there is none of its own."""
    cell = with_variant(packages="microdnf")
    other = cell._replace(pin=cell.pin._replace(system_packages=(SystemPackage("libdw", {"dnf": "libdw-devel"}),)))
    assert key.inputs(cell, RECIPE, MATERIALS)["system packages"] == ["elfutils-devel"]
    assert of(cell) != of(other)
