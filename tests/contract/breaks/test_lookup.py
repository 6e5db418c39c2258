from __future__ import annotations

import pytest

from pinctl.contract.breaks.lookup import Lookup, Standing, is_foreign
from pinctl.contract.model import Mechanism, Place, Sort, Symbol

from ..support import function, module, signature, surface


def named(name: str, target: str | None = None, sort: Sort = Sort.MODULE) -> Symbol:
    return Symbol(name, sort, Mechanism.PYTHON, Place("up/__init__.py", 1), target=target)


SURFACE = Lookup(
    surface(
        "up.f(a)",
        "up.sub.g(b)",
        named("up.alias", "up.sub"),
        named("up.outer", "numpy"),
        named("up.C", sort=Sort.CLASS),
        named("up.VALUE", sort=Sort.VALUE),
        function("up.h", target="up.sub.g"),
        function("up.lost", target="up.nowhere"),
        "up.dynamic.k()",
        open={"up.dynamic": "computed names"},
    )
)


@pytest.mark.parametrize(
    ("name", "standing"),
    [
        ("up", Standing.THERE),
        ("up.f", Standing.THERE),
        ("up.sub.g", Standing.THERE),
        ("up.sub.x", Standing.MISSING),
        ("up.x.y.z", Standing.MISSING),
        ("other", Standing.MISSING),
        ("up.alias.g", Standing.THERE),
        ("up.alias.x", Standing.MISSING),
        ("up.outer.array", Standing.BEYOND),
        ("up.dynamic.k", Standing.THERE),
        ("up.dynamic.x", Standing.OPEN),
        ("up.dynamic.x.y", Standing.OPEN),
        ("up.f.cache_clear", Standing.BEYOND),
        ("up.VALUE.x", Standing.BEYOND),
        ("up.C.x", Standing.MISSING),
        ("up.C.__name__", Standing.BEYOND),
        ("up.__file__", Standing.BEYOND),
        ("up.__version__", Standing.MISSING),
    ],
)
def test_where_a_name_stands(name: str, standing: Standing) -> None:
    assert SURFACE.find(name).standing is standing


def test_why_it_is_open() -> None:
    assert SURFACE.find("up.dynamic.x.y").reason == "computed names"


def test_an_alias_has_the_parameters_of_what_it_names() -> None:
    symbol, lost = SURFACE.find("up.h").symbol, SURFACE.find("up.lost").symbol
    assert symbol is not None
    assert lost is not None
    assert SURFACE.signatures(symbol) == (signature("b"),)
    assert SURFACE.signatures(lost) == ()


def test_a_circle_of_aliases_ends() -> None:
    circle = Lookup(surface(named("up.a", "up.b"), named("up.b", "up.a"), function("up.f", target="up.f")))
    assert circle.find("up.a.x").missing
    symbol = circle.find("up.f").symbol
    assert symbol is not None
    assert circle.signatures(symbol) == ()
    assert circle.guards(symbol) == ()


def test_what_only_type_checkers_see_is_not_there_at_run_time() -> None:
    typed = function("up.f", "a", guards=("if TYPE_CHECKING",))
    assert Lookup(surface(typed)).find("up.f").standing is Standing.THERE
    assert Lookup(surface(typed)).at_run_time("up.f").missing
    lazy = Lookup(surface(typed, open={"up": "__getattr__ gives it names"}))
    assert lazy.at_run_time("up.f").standing is Standing.THERE


def test_the_modules_that_an_import_runs() -> None:
    lookup = Lookup(surface("up.sub.g()", module("up"), module("up.sub")))
    assert [m.name for m in lookup.modules("up.sub.g")] == ["up", "up.sub"]
    assert [m.name for m in lookup.modules("other.g")] == []


def test_operators() -> None:
    lookup = Lookup(surface("torch.ops.up.f(a)"))
    assert lookup.find("torch.ops.up.f.default").standing is Standing.THERE
    assert not is_foreign("torch.ops.up.gone", lookup)
    assert is_foreign("torch.ops._C.f", lookup)
    assert not is_foreign("up.f", lookup)
