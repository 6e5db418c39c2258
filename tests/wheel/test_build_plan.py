import pytest

from pinctl.model import Pin, Variant
from pinctl.wheel.key import key
from pinctl.wheel.matrix import Cell
from pinctl.wheel.plan import planned

CELL = Cell(Pin(name="dg"), Variant(name="cu12"), "3.12", "linux/amd64")
INPUTS = {"commit": "b2" * 20, "python": "3.12", "image": "i", "cuda": "13.0"}


@pytest.mark.parametrize(
    ("wheel", "last", "reason"),
    [
        ("x.whl", None, "built already"),
        (None, None, "never built"),
        (None, INPUTS, "the cache has lost it"),
        (None, INPUTS | {"commit": "a1" * 20}, "commit a1a1a1a1a1 -> b2b2b2b2b2"),
        (None, {}, f"commit None -> {'b2' * 5}; python None -> 3.12; image None -> i; and 1 more"),
    ],
)
def test_the_reason_of_a_cell(wheel: str | None, last: dict[str, object] | None, reason: str) -> None:
    made = planned(CELL, INPUTS, wheel, last)
    assert (made.reason, made.cached) == (reason, wheel is not None)


def test_the_row_that_a_ci_matrix_reads() -> None:
    assert planned(CELL, INPUTS, None, None).row == {
        "pin": "dg",
        "variant": "cu12",
        "python": "3.12",
        "platform": "linux/amd64",
        "key": key(INPUTS),
        "cached": False,
        "reason": "never built",
        "wheel": None,
    }
