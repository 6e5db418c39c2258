"""The classes of breaks, one by one, on surfaces and uses made by hand."""

from __future__ import annotations

import pytest

from pinctl.contract.breaks import Break, Class, find, fragile
from pinctl.contract.model import Fragile, Guard, Place, Shape, Surface, Use, Uses, When

from ..support import function, module, surface, unnamed, use, uses


def breaks(before: Surface, after: Surface, *used: Use) -> list[Break]:
    return find(before, after, uses(*used))


def told(before: Surface, after: Surface, *used: Use) -> list[tuple[str, str]]:
    """Class and subject, else the symbol, of each break that is no baseline."""
    return [(b.kind.value, b.subject or b.symbol) for b in breaks(before, after, *used) if not b.baseline]


# --- a name that is gone ---


def test_nothing_breaks_where_nothing_changes() -> None:
    same = surface("up.f(a, b=1)")
    assert breaks(same, same, use("up"), use("up.f"), use("up.f", "1, b=2")) == []


def test_an_import_that_fails() -> None:
    before, after = surface("up.mega._interleave_l1_weights(w)"), surface("up.mega._interleave_weights(w)")
    (found,) = breaks(before, after, use("up.mega._interleave_l1_weights", line=3, when=When.IMPORT))
    assert found == Break(
        Class.HARD,
        "up.mega._interleave_l1_weights",
        "`up.mega._interleave_l1_weights` is gone",
        Place("engine/a.py", 3, 5),
        When.IMPORT,
        before="up/api.py:30 _interleave_l1_weights(w)",
        hint="`up.mega._interleave_weights` is new there, with the same parameters",
    )


@pytest.mark.parametrize(
    ("guards", "probe", "kind"),
    [
        ((), False, "HARD"),
        ((Guard.DEFAULT,), False, "SILENT"),
        ((Guard.EXCEPT,), False, "SILENT"),
        ((Guard.HASATTR,), False, "SILENT"),
        ((), True, "SILENT"),
        ((Guard.TYPE_CHECKING,), False, "MAYBE"),
    ],
)
def test_what_hides_it(guards: tuple[Guard, ...], *, probe: bool, kind: str) -> None:
    asked = use("up.f", guards=guards, probe=probe)
    assert told(surface("up.f()", "up.g()"), surface("up.g()"), asked) == [(kind, "up.f")]


def test_a_name_that_only_type_checkers_see_any_more() -> None:
    before, after = surface("up.T()"), surface(function("up.T", "", guards=("if TYPE_CHECKING",)))
    assert told(before, after, use("up.T")) == [("HARD", "up.T")]
    assert told(before, after, use("up.T", guards=[Guard.EXCEPT])) == [("SILENT", "up.T")]
    assert told(before, after, use("up.T", guards=[Guard.TYPE_CHECKING])) == []
    assert told(after, before, use("up.T")) == []


def test_an_alias_that_is_gone_leaves_what_it_named() -> None:
    target = "up.m_grouped_fp8_gemm_nt_masked"
    alias = function("up.fp8_m_grouped_gemm_nt_masked", target=target)
    before, after = surface(f"{target}(a)", alias), surface(f"{target}(a)")
    (found,) = breaks(before, after, use(alias.name, guards=[Guard.DEFAULT], dependents=[20, 31]))
    assert (found.kind, found.hint) == (Class.SILENT, f"it was another name of `{target}`, which is still there")
    assert found.what == f"`{alias.name}` is gone, and a default of getattr hides it"
    assert found.before == "up/api.py:31 fp8_m_grouped_gemm_nt_masked(a)"
    assert [place.line for place in found.dependents] == [20, 31]


def test_what_goes_through_a_name_is_told_with_it() -> None:
    """The import fails: the calls of what it would have given are its dependents, and no breaks of their own."""
    used = [use("up.f", line=1, when=When.IMPORT, dependents=[9]), use("up.f", "1", line=9)]
    assert [b.place.line for b in breaks(surface("up.f(a)"), surface("up.g(a)"), *used)] == [1]


def test_what_lies_in_something_that_is_gone_is_told_with_it() -> None:
    before, after = surface("up.Enum", "up.Enum.MEMBER"), surface("up.f()")
    used = [use("up.Enum", line=1), use("up.Enum.MEMBER", line=5), use("up.Enum.MEMBER", line=2, file="engine/b.py")]
    assert [(b.symbol, b.place.file, b.place.line) for b in breaks(before, after, *used)] == [
        ("up.Enum", "engine/a.py", 1), ("up.Enum.MEMBER", "engine/b.py", 2),
    ]  # fmt: skip


def test_another_name_is_tried() -> None:
    asked = use("up.old", guards=[Guard.DEFAULT], alternatives=("up.new",))
    (found,) = breaks(surface("up.old()"), surface("up.new()"), asked)
    assert (found.kind, found.baseline) == (Class.FALLBACK, False)
    assert found.what == "`up.old` is gone; `up.new` is taken in its place"
    assert told(surface("up.old()"), surface("up.other()"), asked) == [("SILENT", "up.old")]
    assert breaks(surface("up.new()"), surface("up.new()"), asked) == []


def test_a_name_that_is_found_now() -> None:
    asked = use("up.set_pdl", guards=[Guard.DEFAULT])
    assert told(surface("up."), surface("up.set_pdl(on)"), asked) == [("GAINED", "up.set_pdl")]
    assert told(surface("up."), surface("up.set_pdl(on)"), use("up.set_pdl")) == []


def test_what_was_wrong_before_is_baseline() -> None:
    (found,) = breaks(surface("up.g()"), surface("up.h()"), use("up.f"))
    assert (found.kind, found.baseline, found.what) == (Class.HARD, True, "`up.f` is not there")


def test_a_feature_that_is_asked_for_and_never_was_there_is_no_break() -> None:
    """A guarded use is an answer, not a mistake."""
    same = surface("up.g()")
    assert breaks(same, same, use("up.f", probe=True), use("up.f", "1", guards=[Guard.HASATTR])) == []


def test_code_written_with_the_move_is_judged_by_the_new_commit_alone() -> None:
    before, after = surface("up.f(a, b)"), surface("up.f(b, a)", "up.g()")
    used = uses(use("up.f", "1, 2", line=4), use("up.gone", line=5), use("up.g", line=6))
    assert [(b.kind, b.baseline) for b in find(before, after, used, fresh=lambda place: place.line > 0)] == [
        (Class.HARD, False)
    ]
    assert [(b.kind, b.baseline) for b in find(before, after, used)] == [(Class.REBIND, False), (Class.HARD, True)]


def test_it_is_asked_only_where_something_breaks() -> None:
    asked: list[int] = []

    def fresh(place: Place) -> bool:
        asked.append(place.line)
        return True

    before, after = surface("up.f(a)", "up._p()"), surface("up.f(a)", "up._p()")
    used = uses(use("up.f", "1", line=1), use("up._p", line=2), use("up.new", probe=True, line=3))
    assert [(b.kind, b.baseline) for b in find(before, after, used, fresh=fresh)] == [(Class.PRIVATE, False)]
    assert asked == [2]


# --- what cannot be known ---


def test_below_what_is_open_a_name_may_be_there() -> None:
    before = surface("up.f(a)")
    after = surface("up.g(a)", open={"up": "computed `__all__`"})
    (found,) = breaks(before, after, use("up.f", "1"))
    assert (found.kind, found.what) == (Class.MAYBE, "`up.f` may be gone: computed `__all__`")
    assert found.after == "open: computed `__all__`"
    assert breaks(after, after, use("up.f", "1")) == []


def test_an_attribute_of_a_value_is_not_judged() -> None:
    same = surface("up.f()")
    assert breaks(same, same, use("up.f.cache_clear"), use("up.__file__"), use("up.f.__doc__")) == []
    assert told(same, same, use("up.__version__")) == []
    assert told(surface("up.__version__"), same, use("up.__version__")) == [("HARD", "up.__version__")]


def test_parameters_that_are_not_known_fit() -> None:
    assert breaks(surface("up.f(a)"), surface("up.f"), use("up.f", "1, 2, x=3")) == []


def test_operators_of_others_are_not_ours() -> None:
    """`torch.ops._C` is the consumer's own: only the namespaces in which the package registers are judged."""
    before, after = surface("torch.ops.up.f(a)", "up."), surface("torch.ops.up.g(a)", "up.")
    assert told(before, after, use("torch.ops._C.f", "1"), use("torch.ops.up.f", "1")) == [("HARD", "torch.ops.up.f")]
    assert breaks(before, before, use("torch.ops.up.f.default", "1")) == []
    assert told(before, before, use("torch.ops.up.f.default", "1, 2")) == []  # wrong before
    changed = surface("torch.ops.up.f(a, b)", "up.")
    assert told(before, changed, use("torch.ops.up.f.default", "1")) == [("HARD", "b")]


# --- a call ---

CALLS = [
    # a keyword
    ("a, situ_beta=None", "a, activation_beta=None", "1, situ_beta=2", [("HARD", "situ_beta")]),
    ("a, *, k", "a, *, j", "1, k=2", [("HARD", "k")]),
    ("a, k=1, j=2", "a, j=2", "1, k=2, j=3", [("HARD", "k")]),
    ("a, b", "a, b, /", "1, b=2", [("HARD", "b")]),
    ("a, b", "b, a", "a=1, b=2", []),
    # a parameter that must be given
    ("a", "a, b", "1", [("HARD", "b")]),
    ("a", "a, *, b", "1", [("HARD", "b")]),
    ("a", "a, b=None", "1", []),
    ("a, b=1", "a, b", "1", [("HARD", "b")]),
    ("a, b=1", "a, b", "1, 2", []),
    # a parameter that is gone
    ("a, b", "a", "1, 2", [("HARD", "1")]),
    ("a, b=None, c=None", "a, c=None", "1, 2", [("REBIND", "b")]),
    ("a, b=None", "a", "1", []),
    ("a, b=None", "a, *rest", "1, 2", []),
    # another place
    ("a, b", "b, a", "1, 2", [("REBIND", "a")]),
    ("a, b, /", "b, a, /", "1, 2", [("REBIND", "a")]),
    ("a, b", "a, x=None, b=None", "1, 2", [("REBIND", "b")]),
    ("a, b", "b, a", "1, b=2", [("HARD", "b")]),
    # another name
    ("a, m_indices", "a, grouped_layout", "1, 2", [("RENAMED", "m_indices")]),
    ("a, m_indices", "a, grouped_layout", "1, m_indices=2", [("HARD", "m_indices")]),
    ("a, x, /", "a, y, /", "1, 2", []),
    ("a, b: Tensor", "a, n: int", "1, 2", [("REBIND", "b")]),
    ("a, b: Tensor", "a, c: Optional[Tensor]", "1, 2", [("RENAMED", "b")]),
    # another default, another type
    ("a, b='nk'", "a, b='mn'", "1", [("DEFAULT", "b")]),
    ("a, b='nk'", "a, b='mn'", "1, b='nk'", []),
    ("a, b='nk'", "a, b='mn'", "1, **x", []),
    ("a, b: int", "a, b: float", "1, 2", [("TYPE", "b")]),
    ("a, b: int = 1", "a, b: float = 1", "1", []),
    ("a, b: int", "a, b: Optional[int]", "1, 2", []),
    ("a, b: Optional[int]", "a, b: int", "1, 2", [("TYPE", "b")]),
    ("a, b: Any", "a, b: int", "1, 2", []),
    ("a, b: Union[Buffer, int]", "a, b: BufferLike", "1, 2", []),
    ("a, b: Layout", "a, c: Tensor", "1, 2", [("RENAMED", "b")]),
    ("a, b: int", "a, b: float", "1, b=2", [("TYPE", "b")]),
    # what cannot be seen
    ("a", "a, b", "*x", [("MAYBE", "b")]),
    ("a, b", "a, b", "*x", []),
    ("a, k=1", "a", "1, **x", [("MAYBE", "k")]),
    ("a, k=1", "a, **more", "1, **x", []),
    ("a, k=1", "a", "1, k=2, **x", [("HARD", "k")]),
    ("a, m_indices", "a, grouped_layout", "*x, **y", [("MAYBE", "m_indices")]),
    ("a, m_indices", "a, grouped_layout", "*x", []),
]  # fmt: skip


@pytest.mark.parametrize(("before", "after", "arguments", "expected"), CALLS)
def test_a_call(before: str, after: str, arguments: str, expected: list[tuple[str, str]]) -> None:
    called = use("up.f", arguments)
    assert told(surface(f"up.f({before})"), surface(f"up.f({after})"), called) == expected


@pytest.mark.parametrize(("before", "after", "arguments", "_"), CALLS)
def test_nothing_is_new_where_the_surface_is_the_same(before: str, after: str, arguments: str, _: object) -> None:
    for parameters in (before, after):
        same = surface(f"up.f({parameters})")
        assert told(same, same, use("up.f", arguments)) == []


def test_a_wrapper_whose_callers_are_known_may_do_nothing_else() -> None:
    inside = use("up.f", "*a, **k", line=3, dependents=[9])
    before, after = surface("up.f(a, k=1)"), surface("up.f(a, b)")
    assert told(before, after, inside) == [("MAYBE", "b"), ("MAYBE", "k")]
    assert told(before, after, inside, use("up.f", "1, 2", line=9)) == [("RENAMED", "k")]


def test_a_call_that_fails_names_what_is_new() -> None:
    before = surface("up.f(a, situ_beta=None, situ_linear_beta=None)")
    after = surface("up.f(a, activation_alpha=None, activation_beta=None)")
    found = breaks(before, after, use("up.f", "1, situ_beta=2, situ_linear_beta=3"))
    assert [(b.kind, b.subject) for b in found] == [(Class.HARD, "situ_beta"), (Class.HARD, "situ_linear_beta")]
    assert {b.hint for b in found} == {"new there: `activation_alpha`, `activation_beta`"}
    assert found[0].what == "the call of `up.f`: no parameter is called `situ_beta`"
    assert found[0].before == "up/api.py:4 f(a, situ_beta=None, situ_linear_beta=None)"
    assert found[0].after == "up/api.py:4 f(a, activation_alpha=None, activation_beta=None)"


def test_a_caught_exception_hides_that_a_call_fails() -> None:
    called = use("up.f", "1, 2", guards=[Guard.MISFIT])
    assert told(surface("up.f(a, b)"), surface("up.f(a)"), called) == [("SILENT", "1")]
    assert told(surface("up.f(a, b)"), surface("up.g(a)"), called) == [("HARD", "up.f")]
    missing = use("up.f", "1, 2", guards=[Guard.EXCEPT])  # ImportError alone
    assert told(surface("up.f(a, b)"), surface("up.f(a)"), missing) == [("HARD", "1")]


def test_another_call_of_the_same_name_is_tried() -> None:
    """`try: f(1, 2)` and `except TypeError: f(1)`: as long as one of them fits."""
    first = use("up.f", "1, 2", line=2, guards=[Guard.MISFIT], alternatives=("up.f",))
    second = use("up.f", "1", line=4, alternatives=("up.f",))
    assert told(surface("up.f(a, b)"), surface("up.f(a)"), first, second) == [("FALLBACK", "1")]
    assert told(surface("up.f(a)"), surface("up.f(a, b)"), first, second) == [("FALLBACK", "b")]
    assert told(surface("up.f(a, b)"), surface("up.f()"), first, second) == [("HARD", "0"), ("SILENT", "0")]


def test_an_alternative_of_another_name_is_no_other_call() -> None:
    called = use("up.f", "1, 2", alternatives=("up.g",))
    assert told(surface("up.f(a, b)", "up.g(a)"), surface("up.f(a)", "up.g(a)"), called) == [("HARD", "1")]


def test_a_call_that_failed_before_is_baseline() -> None:
    (found,) = breaks(surface("up.f(a)"), surface("up.f(a)"), use("up.f", "1, 2"))
    assert (found.kind, found.baseline) == (Class.HARD, True)


def test_overloads() -> None:
    before = surface(function("up.f", "a", "a, b"))
    assert told(before, surface(function("up.f", "a, b", "a")), use("up.f", "1"), use("up.f", "1, 2")) == []
    assert told(before, surface("up.f(a)"), use("up.f", "1"), use("up.f", "1, 2")) == [("HARD", "1")]
    swapped = surface(function("up.f", "b, a", "a, b"))  # the overload that changes least is the one that is meant
    assert told(before, swapped, use("up.f", "1, 2")) == []


def test_bindings_without_names() -> None:
    def bound(*types: str) -> Surface:
        return surface(function("up.f")._replace(signatures=(unnamed(*types),)))

    before = bound("Tensor", "int")
    assert told(before, bound("Tensor", "int", "int"), use("up.f", "1, 2")) == [("HARD", "up.f")]
    assert told(before, bound("Tensor", "bool"), use("up.f", "1, 2")) == [("TYPE", "argument 2")]
    assert told(before, surface("up.f(a, b)"), use("up.f", "1, 2")) == []
    assert told(before, bound("Tensor"), use("up.f", "1, 2")) == [("HARD", "1")]


def test_a_class_is_called_by_its_constructor() -> None:
    assert told(surface("up.C(a)"), surface("up.C(a, b)"), use("up.C", "1")) == [("HARD", "b")]


def test_a_module_cannot_be_called() -> None:
    (found,) = breaks(surface("up.f(a)"), surface(module("up.f")), use("up.f", "1"))
    assert (found.kind, found.what) == (Class.HARD, "`up.f` is a module, and cannot be called")


# --- private, conditional ---


def test_a_private_name() -> None:
    before, after = surface("up._f(a)"), surface("up._f(a, b=1)")
    assert told(before, after, use("up._f", line=3), use("up._f", "1", line=9)) == [("PRIVATE", "up._f")]
    assert [(b.kind, b.baseline) for b in breaks(before, before, use("up._f"))] == [(Class.PRIVATE, True)]
    dunder = surface("up.__version__")
    assert breaks(dunder, dunder, use("up.__version__")) == []


def test_a_name_that_is_newly_conditional() -> None:
    guard = "#if CUDART_VERSION >= 12090"
    before, after = surface("up.f(a)"), surface(function("up.f", "a", guards=(guard, "try/except ImportError")))
    found = breaks(before, after, use("up.f", "1", line=3), use("up.f", "1", line=8))
    assert [(b.kind, b.what) for b in found] == [(Class.GUARD, f"`up.f` is only there under `{guard}`")]
    assert breaks(after, after, use("up.f", "1")) == []
    assert breaks(after, before, use("up.f", "1")) == []


def test_a_condition_of_what_an_alias_names() -> None:
    aliased = function("up.f", target="up._C.f")
    before = surface(aliased, "up._C.f(a)")
    after = surface(aliased, function("up._C.f", "a", guards=("#if X",)))
    assert told(before, after, use("up.f", "1")) == [("GUARD", "up.f")]


# --- fragile ---


def test_what_would_fail_in_silence() -> None:
    place = Place("engine/a.py", 3, 5)
    (found,) = fragile(Uses(fragile=(Fragile("up.f", place, Shape.ZERO, "k"),)))
    assert (found.kind, found.symbol, found.subject, found.place) == (Class.FRAGILE, "up.f", "k", place)
    assert found.what == "`up.f`: `or` in an argument swallows a zero"


# --- order ---


def test_the_worst_comes_first_and_baseline_last() -> None:
    before = surface("up.a(x)", "up.b(x)", "up.c(x=1)")
    after = surface("up.c(x=2)")
    used = [use("up.old"), use("up.c", ""), use("up.b", guards=[Guard.DEFAULT]), use("up.a")]
    assert [(b.kind.value, b.baseline) for b in breaks(before, after, *used)] == [
        ("HARD", False), ("SILENT", False), ("DEFAULT", False), ("HARD", True),
    ]  # fmt: skip
