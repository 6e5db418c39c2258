"""Gitlinks: the commit of a submodule, which stands in git's index and in no file. Pure.

The path of a submodule has one selector, `gitlink`. HEAD, the index and the checkout each have a commit of their own;
the index's is the one that counts, since it is what the next commit will hold. It is never written here: the checkout
would stay behind, and `git add -u` would put its old commit back.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from pinctl.codes import finding
from pinctl.finding import Finding, Severity
from pinctl.plan import Edit
from pinctl.sites.base import BadSelector, Document, Hit, Slot, Token, Unwritable, Value, scalar

SELECTOR = "gitlink"
_DIGITS = 10


@dataclass(slots=True, kw_only=True)
class Gitlink(Document):
    """The submodule at `path` as a document of one slot: the commit that is `staged`, in the index.

    `head` is None for a new one, `checkout` where it is not checked out.
    """

    path: str
    staged: str
    head: str | None = None
    checkout: str | None = None

    def slots(self) -> Iterator[Slot]:
        yield scalar((SELECTOR,), Token(value=self.staged, start=0, end=0))

    def find(self, selector: str) -> list[Hit]:
        if selector != SELECTOR:
            raise BadSelector(f"{self.path} is a submodule, and has the selector `{SELECTOR}` alone")
        return Document.find(self, selector)

    def edits(self, slot: Slot, value: Value) -> list[Edit]:
        if value == slot.value:
            return []
        raise Unwritable("it stands in git's index, which git alone writes", mend=self.commands(str(value)))

    def commands(self, wanted: str) -> str:
        """What puts the commit `wanted` into the index, started in the folder of pins.toml."""
        from shlex import quote

        path = quote(self.path)
        if wanted == self.checkout:
            return f"git add {path}"
        if wanted == self.head:
            return f"git restore --staged {path} && git submodule update --init {path}"
        begin = f"git -C {path} fetch" if self.checkout else f"git submodule update --init {path}"
        return f"{begin} && git -C {path} checkout {wanted} && git add {path}"


def disagreement(link: Gitlink, wanted: str, pin: str | None) -> Finding | None:
    """The finding (PIN216) of a submodule that is not checked out as the index has it, an error; or whose index was
    moved away from HEAD's commit, which is the `wanted` one, a warning. A bump that is staged is neither."""
    behind = link.checkout not in (None, link.staged)
    if not behind and not (link.head == wanted != link.staged):
        return None
    severity = Severity.ERROR if behind else Severity.WARNING
    told = (("HEAD", link.head), ("the index", link.staged), ("the checkout", link.checkout))
    states = ", ".join(f"{name} {commit[:_DIGITS] if commit else 'nothing'}" for name, commit in told)
    return finding(
        "PIN216",
        f"the submodule is at several commits: {states}",
        file=link.path,
        pin=pin,
        selector=SELECTOR,
        severity=severity,
        hint=f"run: {_settling(link, wanted)}",
    )


def _settling(link: Gitlink, wanted: str) -> str:
    """The command after which HEAD, index and checkout agree."""
    if wanted != link.staged and wanted in (link.checkout, link.head):
        return link.commands(wanted)
    from shlex import quote

    return f"git submodule update --init {quote(link.path)} (checks the index's commit out)"
