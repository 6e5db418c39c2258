from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pinctl.contract.breaks.lookup import Lookup
from pinctl.contract.model import Surface
from pinctl.contract.requires import MOST_COMMITS, Requirement, derive, first_with, parse, unmet

from .support import function, surface, use, uses


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("mega_mhc", Requirement("mega_mhc")),
        (" mega.f ( a , b ) ", Requirement("mega.f", ("a", "b"))),
        ("f()", Requirement("f")),
        ("torch.ops.up.f(x)", Requirement("torch.ops.up.f", ("x",))),
    ],
)
def test_an_entry(text: str, expected: Requirement) -> None:
    assert parse(text) == expected


WORD = st.from_regex(r"[a-z_][a-z0-9_]{0,5}", fullmatch=True)


@given(st.lists(WORD, min_size=1, max_size=3), st.lists(WORD, max_size=3))
def test_what_is_written_is_read(parts: list[str], keywords: list[str]) -> None:
    requirement = Requirement(".".join(parts), tuple(keywords))
    assert parse(str(requirement)) == requirement


def told(surface_: Surface, *texts: str) -> list[tuple[str, str | None]]:
    return [(one.why, one.hint) for one in unmet(map(parse, texts), Lookup(surface_))]


SURFACE = surface(
    "up.mega.f(a, activation_alpha=None)", "up.mega.gemm()", "up.g(x)", function("up.o", "a", "a, *, k"), "up.unknown"
)


@pytest.mark.parametrize(
    "text", ["g", "up.g", "g(x)", "mega", "mega.f(activation_alpha, a)", "o(k)", "o(a, k)", "unknown(x)", "up"]
)
def test_what_is_met(text: str) -> None:
    assert told(SURFACE, text) == []


@pytest.mark.parametrize(
    ("text", "why", "hint"),
    [
        ("mega_mhc", "`mega_mhc` is not there", None),
        ("f", "`f` is not there", "there is `up.mega.f`"),
        ("mega.fgemm", "`mega.fgemm` is not there", "the nearest name there is `up.mega.gemm`"),
        ("g(y)", "`g` takes no `y`", None),
        ("o(k, j)", "`o` takes no `j`", None),
    ],
)
def test_what_is_not(text: str, why: str, hint: str | None) -> None:
    assert told(SURFACE, text) == [(why, hint)]


def test_what_may_be_there() -> None:
    (found,) = unmet([Requirement("dyn.f")], Lookup(surface("up.dyn.g()", open={"up.dyn": "computed names"})))
    assert (found.open, found.why) == (True, "`dyn.f` may not be there: computed names")


# --- derived ---


def test_what_the_consumer_uses_is_required() -> None:
    used = uses(
        use("up"),
        use("up.g", "1"),
        use("up.mega.f", "1, activation_alpha=2", line=3),
        use("up.mega.f", "a=1", line=4),
        use("up.gone", "1"),
        use("up.g", probe=True),
    )
    assert derive(used, Lookup(SURFACE), ()) == ["g", "mega.f(a, activation_alpha)"]


def test_no_overload_need_take_all_keywords() -> None:
    both = surface(function("up.o", "a, *, k", "a, *, j"))
    used = uses(use("up.o", "1, k=2"), use("up.o", "1, j=2"))
    assert derive(used, Lookup(both), ()) == ["o(j)", "o(k)"]


def test_what_was_written_stays() -> None:
    """What nobody calls yet, and what says more than the scan; what says less goes."""
    written = ["mega_mhc", "up.g(x)", "mega.f(a)"]
    used = uses(use("up.g", "1"), use("up.mega.f", "a=1, activation_alpha=2"))
    derived = derive(used, Lookup(SURFACE), written)
    assert derived == ["mega_mhc", "up.g(x)", "mega.f(a, activation_alpha)"]
    assert derive(used, Lookup(SURFACE), derived) == derived


def test_two_packages_have_full_names() -> None:
    two = surface("up.f()", "other.f()")
    assert derive(uses(use("up.f", "")), Lookup(two), ()) == ["up.f"]


# --- the first commit that has it ---


def test_the_first_commit_that_has_it() -> None:
    history = {"c1": surface("up.f(a, b)"), "c2": surface("up.f(a, b, *, c)"), "c3": surface("up.f(a, b, *, c, d)")}
    asked: list[str] = []

    def of(commit: str) -> Surface:
        asked.append(commit)
        return history[commit]

    assert first_with(Requirement("f", ("c",)), history, of) == "c2"
    assert asked == ["c1", "c2"]
    assert first_with(Requirement("f", ("z",)), history, of) is None
    assert first_with(Requirement("f"), (str(n) for n in range(10**9)), lambda _: surface("up.")) is None


def test_so_many_commits_are_looked_at() -> None:
    seen: list[str] = []

    def of(commit: str) -> Surface:
        seen.append(commit)
        return surface("up.")

    first_with(Requirement("f"), map(str, range(10**6)), of)
    assert len(seen) == MOST_COMMITS
