import pytest

from pinctl.finding import Severity
from pinctl.gitlink import Gitlink, disagreement
from pinctl.sites.base import BadSelector, Unwritable

PIN, OLD, OTHER = "a" * 40, "b" * 40, "c" * 40


def link(head: str | None, staged: str, checkout: str | None, path: str = "sub") -> Gitlink:
    return Gitlink(source=b"", path=path, staged=staged, head=head, checkout=checkout)


def test_it_has_one_slot() -> None:
    document = link(PIN, OLD, None)
    ((slot,),) = document.find("gitlink")
    assert (slot.value, slot.selector) == (OLD, "gitlink")
    assert document.edits(slot, OLD) == []
    with pytest.raises(BadSelector, match="has the selector `gitlink` alone"):
        document.find("text")


@pytest.mark.parametrize(
    ("state", "commands"),
    [
        (link(OLD, OLD, PIN), "git add sub"),
        (link(PIN, OLD, OLD), "git restore --staged sub && git submodule update --init sub"),
        (link(OLD, OLD, OLD), f"git -C sub fetch && git -C sub checkout {PIN} && git add sub"),
        (link(None, OLD, OLD), f"git -C sub fetch && git -C sub checkout {PIN} && git add sub"),
        (link(OLD, OLD, None), f"git submodule update --init sub && git -C sub checkout {PIN} && git add sub"),
        (link(OLD, OLD, PIN, "a $(b)"), "git add 'a $(b)'"),
    ],
)
def test_git_alone_writes_it(state: Gitlink, commands: str) -> None:
    ((slot,),) = state.find("gitlink")
    with pytest.raises(Unwritable, match="git alone writes") as caught:
        state.edits(slot, PIN)
    assert caught.value.mend == commands


@pytest.mark.parametrize(
    ("state", "severity", "hint"),
    [
        (link(PIN, PIN, PIN), None, ""),
        (link(PIN, PIN, None), None, ""),
        (link(OLD, PIN, PIN), None, ""),  # a bump that is staged
        (link(None, PIN, PIN), None, ""),  # a new submodule
        (link(OLD, OLD, OLD), None, ""),  # drift, and nothing else
        (link(OLD, OTHER, OTHER), None, ""),
        (link(PIN, PIN, OLD), Severity.ERROR, "run: git submodule update --init sub (checks the index's commit out)"),
        (link(OLD, PIN, OLD), Severity.ERROR, "run: git submodule update --init sub (checks the index's commit out)"),
        (link(OLD, OLD, PIN), Severity.ERROR, "run: git add sub"),
        (link(OLD, OLD, OTHER), Severity.ERROR, "run: git submodule update --init sub (checks the index's commit out)"),
        (link(PIN, OLD, OLD), Severity.WARNING, "run: git restore --staged sub && git submodule update --init sub"),
        (link(PIN, OLD, OTHER), Severity.ERROR, "run: git restore --staged sub && git submodule update --init sub"),
    ],
)
def test_states_that_have_gone_apart(state: Gitlink, severity: Severity | None, hint: str) -> None:
    found = disagreement(state, PIN, "pin")
    if severity is None:
        assert found is None
        return
    assert found is not None
    assert (found.code, found.severity, found.hint, found.file, found.pin) == ("PIN216", severity, hint, "sub", "pin")
    names = {PIN: "aaaaaaaaaa", OLD: "bbbbbbbbbb", OTHER: "cccccccccc", None: "nothing"}
    assert (
        f"HEAD {names[state.head]}, the index {names[state.staged]}, the checkout {names[state.checkout]}"
        in found.message
    )
