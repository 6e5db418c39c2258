"""What is said of anchors: findings at the edits of the build files, rows for scripts and for people."""

from collections.abc import Collection, Iterator, Sequence

from pinctl.anchors.model import Anchor, Edit, Kind, State
from pinctl.codes import finding
from pinctl.finding import Finding, Severity

_ORDER = (State.MATCHES, State.REPLACED, State.UNKNOWN, State.MISSING, State.GONE)
_LONGEST = 60
"""Characters of a pattern that a message shows."""


def together(anchors: Sequence[Anchor]) -> Iterator[Anchor]:
    """Of each edit the anchor that speaks for it: one that is made to several paths does what it should where it finds
    something in one of them."""
    groups: dict[tuple[object, ...], list[Anchor]] = {}
    for anchor in anchors:
        edit = anchor.edit
        groups.setdefault((edit.file, edit.span, edit.kind, edit.pattern), []).append(anchor)
    for group in groups.values():
        yield min(group, key=lambda one: _ORDER.index(one.state))


def findings(pin: str, anchors: Sequence[Anchor], missing: Collection[tuple[str, str]]) -> Iterator[Finding]:
    """What is wrong with the edits of the source of `pin`; `missing` are files and the paths that they name, of which
    it is told already that the tree lacks them."""
    for anchor in together(anchors):
        if anchor.state is State.MATCHES or (anchor.state is State.GONE and (anchor.edit.file, anchor.path) in missing):
            continue
        yield _finding(pin, anchor)


def _finding(pin: str, anchor: Anchor) -> Finding:
    edit, path, state, matches, why = anchor
    what = called(edit) if edit.kind is Kind.PATCH else f"the edit of {_file(path)} {called(edit)}"
    severity = None
    if state is State.REPLACED:
        code = "PIN351"
        twice = "; it finds its pattern in it, and would be made once more" if matches else ""
        message = f"{what} has been made upstream: {pin} holds it at its commit{twice}"
        hint = "drop it"
    elif state is State.UNKNOWN:
        code, message, hint = "PIN352", f"{what} cannot be held against {pin}: {why}", "look at it when the pin moves"
    else:
        code = "PIN350"
        there = f"{pin} has no {path}" if state is State.GONE else f"it finds nothing in {pin}"
        there = f"it does not fit {pin}" if edit.kind is Kind.PATCH and state is State.MISSING else there
        message = f"{what} no longer matches: {there} at its commit{f' ({why})' if why else ''}"
        hint = "correct it after what stands there now, or drop it"
        # The folder of a script may be another one of that name, and sed speaks up itself.
        severity = Severity.WARNING if state is State.GONE and edit.kind is Kind.SED else None
    return finding(code, message, file=edit.file, span=edit.span, pin=pin, hint=hint, severity=severity)


def called(edit: Edit) -> str:
    """What a message calls an edit: by its patch or its pattern, since several may stand in one place."""
    return f"the patch {edit.pattern}" if edit.kind is Kind.PATCH else f"({_brief(edit.pattern)})"


def _file(path: str) -> str:
    return "some file" if path in ("", ".") else path


def _brief(pattern: str) -> str:
    text = " ".join(pattern.split())
    return f"`{text if len(text) <= _LONGEST else f'{text[: _LONGEST - 3]}...'}`"


def row(anchor: Anchor) -> dict[str, object]:
    """An anchor as scripts read it."""
    edit, path, state, matches, why = anchor
    return {
        "file": edit.file,
        "line": edit.span.line,
        "path": path,
        "kind": edit.kind.value,
        "pattern": edit.pattern,
        "state": state.value,
        "matches": matches,
        "why": why or None,
    }


def cells(pin: str, anchor: Anchor) -> tuple[str, ...]:
    """An anchor as a line of a table: pin, where the edit stands, what it edits, its pattern, and its state."""
    edit, path, state, matches, why = anchor
    told = {State.MATCHES: f"matches {matches}", State.MISSING: "no longer matches", State.GONE: "file gone",
            State.REPLACED: "already made", State.UNKNOWN: f"cannot be told: {why}"}[state]  # fmt: skip
    return pin, f"{edit.file}:{edit.span.line}", _file(path), _brief(edit.pattern), told


def brief(anchors: Sequence[Anchor]) -> str:
    """How many of the edits match: `3 of 4`."""
    spoken = list(together(anchors))
    return f"{sum(one.state is State.MATCHES for one in spoken)} of {len(spoken)}" if spoken else "-"
