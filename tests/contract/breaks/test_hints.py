from __future__ import annotations

import pytest

from pinctl.contract.breaks.binding import bindings
from pinctl.contract.breaks.hints import of_call, of_name
from pinctl.contract.breaks.lookup import Lookup
from pinctl.contract.model import Surface

from ..support import call, function, module, signature, surface


@pytest.mark.parametrize(
    ("before", "after", "hint"),
    [
        (
            surface(function("up.f", "a", target="up._C.f")),
            surface("up._C.f(a)"),
            "it was another name of `up._C.f`, which is still there",
        ),
        (
            surface(function("up.f", "a", target="up._C.f")),
            surface("up._C.f(a)", function("up.g", "a", target="up._C.f")),
            "it was another name of `up.g`, which is still there",
        ),
        (surface("up.f(a)"), surface("up.sub.f(a)", "up._C.f(a)"), "there is `up.sub.f`"),
        (surface("up.f(x, y)"), surface("up.quite(x, y)"), "`up.quite` is new there, with the same parameters"),
        (surface("up.f()"), surface("up.quite()"), None),
        (
            surface("up.fgemm(x)"), surface("up.gemm(x)", "up.quite(x)"),
            "`up.gemm` is new there, with the same parameters",
        ),
        (surface("up.fgemm(x)"), surface("up.gemm(y)", "up.quite(z)"), "the nearest name there is `up.gemm`"),
        (surface("up.fgemm(x)", "up.gemm(y)"), surface("up.gemm(y)"), "the nearest name there is `up.gemm`"),
        (surface("up.abcd(x)", "up.abxy(y)"), surface("up.abxy(y)"), None),
        (surface(module("up.utils")), surface(module("up.util"), "up.utilss()"), "the nearest name there is `up.util`"),
        (surface("up.f(x)"), surface("up."), None),
    ],
)  # fmt: skip
def test_where_a_name_may_be(before: Surface, after: Surface, hint: str | None) -> None:
    name = next(n for n in before.symbols if n not in after.symbols and n != "up")
    assert of_name(name, Lookup(before), Lookup(after)) == hint


def test_without_a_past() -> None:
    assert of_name("up.fgemm", None, Lookup(surface("up.gemm()"))) == "the nearest name there is `up.gemm`"
    assert of_name("up.mega_mhc", None, Lookup(surface("up.mega_moe()"))) is None


@pytest.mark.parametrize(
    ("arguments", "before", "after", "hint"),
    [
        ("1, beta=2", "a, beta", "a, activation_beta", "new there: `activation_beta`"),
        ("1", "a", "a, b, c", "new there: `b`, `c`"),
        ("1, actvation=2", "a, activation", "a, activation", "did you mean `activation`?"),
        ("1, zzz=2", "a, b, c", "a, b, c", "it takes `b`, `c`"),
        ("1, 2, 3", "a, b", "a, b", None),
        ("1, k=2", "a", "a, /", None),
        ("z=1", "x", "a, b, c, d, e, f, g", "new there: `a`, `b`, `c`, `d`, `e`, `f` ..."),
    ],
)
def test_what_a_call_may_give(arguments: str, before: str, after: str, hint: str | None) -> None:
    (bound,) = bindings(call(arguments), [signature(after)])
    assert of_call(bound, [signature(before)]) == hint
