"""How the patches of a pin stand on a tree, and what is said of it."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import NamedTuple

from pinctl.finding import Finding, Severity
from pinctl.model import Patch, Pin
from pinctl.patches.applying import ABSENT, Misfit
from pinctl.patches.conditions import is_for_variant, is_for_version
from pinctl.patches.model import Files, Replacement
from pinctl.patches.placing import Nearest
from pinctl.patches.states import STUCK, Standing, State, Step, as_upstream, evaluate

_MOST = 10
"""Hunks of one patch that are told."""
_LONGEST = 120
"""Characters of a line that are shown."""

Tell = Callable[..., Finding]
"""`upstream.telling.Telling.tell`."""


class Place(NamedTuple):
    """A tree that patches are held against: `name` for people ("commit 1a2b3c4d5e", "the folder x"); `upstream`: it is
    the pinned tree, and no folder that somebody may have patched. `to`: its commit, if not the
    pinned one."""

    name: str
    files: Files
    upstream: bool = True
    to: str | None = None

    def refreshed(self, pin: Pin) -> str:
        """The order that rebases the patches of `pin` onto it."""
        return f"run: pinctl patch refresh {pin.name}" + (f" --to {self.to}" if self.to else "")


class Seen(NamedTuple):
    """Patch number `number` of the pin on a tree. Without a standing it was not looked at, since `why`."""

    number: int
    patch: Patch
    standing: Standing | None
    why: str = ""

    @property
    def word(self) -> str:
        """Its state in a word or two."""
        return self.standing.state.value if self.standing else self.why

    @property
    def stuck(self) -> bool:
        return self.standing is not None and self.standing.state in STUCK


Steps = Mapping[int, Step]
"""The patches of a pin that could be read, by their number."""


def chosen(pin: Pin, steps: Steps, place: Place, variant: str | None) -> list[int]:
    """The numbers of the patches that a build of `variant` has, None: of every one."""
    return [
        n
        for n, patch in enumerate(pin.patches)
        if n in steps
        and is_for_version(patch, pin.version)
        and is_for_variant(patch, variant)
        and not _is_elsewhere(steps[n], place)
    ]


def _is_elsewhere(step: Step, place: Place) -> bool:
    """Whether it edits an installed file that the pinned tree does not have."""
    return place.upstream and isinstance(step.change, Replacement) and place.files.get(step.change.target) is None


def judge(pin: Pin, steps: Steps, place: Place, taken: Collection[int] = ()) -> list[Seen]:
    """How each patch of `pin` stands on `place`; where the builds of several variants have it, the worst of it. `taken`
    are the numbers of those whose commit lies in the history of the tree."""
    known: dict[int, Standing] = {}
    for variant in dict.fromkeys((None, *(name for patch in pin.patches for name in patch.variants or ()))):
        numbers = chosen(pin, steps, place, variant)
        series = evaluate([steps[n] for n in numbers], place.files)
        for n, standing in zip(numbers, series.standings, strict=True):
            mended = n in taken and standing.state in STUCK  # and what was taken was changed later
            one = standing._replace(state=State.SUPERSEDED) if mended else standing
            if n not in known or one.state in STUCK:
                known[n] = as_upstream(one) if place.upstream else one
    return [Seen(n, patch, known.get(n), "" if n in known else _why(pin, patch, n in steps))
            for n, patch in enumerate(pin.patches)]  # fmt: skip


def _why(pin: Pin, patch: Patch, read: bool) -> str:
    if not read:
        return "cannot be read"
    return "an installed file" if is_for_version(patch, pin.version) else "not for this version"


# --- what is said -------------------------------------------------------------------------------------------------


def findings(pin: Pin, seen: Sequence[Seen], place: Place, tell: Tell) -> Iterator[Finding]:
    """What is wrong with the patches of `pin` on `place`, and what there is to know of them."""
    for one in seen:
        key = ("patches", one.number)
        if one.standing is None:
            if one.why == "not for this version":
                what = f"{one.patch.name} is for `{one.patch.when}`, and {pin.name} has the version {pin.version}"
                yield tell("PIN509", what, *key, "when", hint="drop it where no version that you build needs it")
        else:
            yield from _SAID.get(one.standing.state, _nothing)(pin, one, one.standing, place, tell)


def _nothing(pin: Pin, one: Seen, standing: Standing, place: Place, tell: Tell) -> Iterator[Finding]:  # noqa: ARG001
    yield from ()


def _conflict(pin: Pin, one: Seen, standing: Standing, place: Place, tell: Tell) -> Iterator[Finding]:
    nothing = all(misfit.why == ABSENT for misfit in standing.misfits)
    hint = "name the root of the source by --in" if nothing else f"restore the files of {place.name}"
    hint = place.refreshed(pin) if place.upstream else hint
    there = {(part.path, part.hunk) for part in standing.parts if part.backward}
    misfits = [misfit for misfit in standing.misfits if (misfit.path, misfit.hunk) not in there] or standing.misfits
    for n, misfit in enumerate(misfits[:_MOST], 1):
        near = misfit.nearest
        more = f" (and {len(misfits) - _MOST} more)" if n == _MOST < len(misfits) else ""
        what = f"{one.patch.name} does not apply to {place.name}: {told(misfit)}{more}"
        wanted, found = (_shown(near.wanted), _shown(near.found)) if near else (None, None)
        yield tell("PIN504", what, "patches", one.number, hint=hint, expected=wanted, found=found)
    if not misfits:
        what = f"{one.patch.name} is on {place.name}, and does not go onto the patches before it"
        yield tell("PIN504", what, "patches", one.number, hint=hint)


def told(misfit: Misfit) -> str:
    """`csrc/api.cpp, hunk 2 of 3 fits nowhere; the nearest place differs at line 118, 5 of 7 lines are the same`."""
    hunk = f", hunk {misfit.hunk} of {misfit.hunks}" if misfit.hunk else ""
    return f"{misfit.path}{hunk} {misfit.why}{_near(misfit.nearest)}"


def _near(near: Nearest | None) -> str:
    if near is None:
        return ""
    same = f", {near.alike} of {near.of} lines are the same" if near.alike else ""
    return f"; the nearest place differs at line {near.line}{same}"


def _shown(line: bytes | None) -> str:
    if line is None:
        return "the end of the file"
    text = line.decode("utf-8", "replace").rstrip("\r\n")
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."


def _partly(pin: Pin, one: Seen, standing: Standing, place: Place, tell: Tell) -> Iterator[Finding]:
    there = [f"{part.path} hunk {part.hunk}" if part.hunk else part.path for part in standing.parts if part.backward]
    what = f"{one.patch.name} is half applied to {place.name}: {len(there)} of {len(standing.parts)} parts are there"
    hint = place.refreshed(pin) if place.upstream else "restore the files, then apply it again"
    yield tell("PIN505", what, "patches", one.number, hint=hint, found=", ".join(there[:_MOST]))


def _superseded(pin: Pin, one: Seen, standing: Standing, place: Place, tell: Tell) -> Iterator[Finding]:  # noqa: ARG001
    asked = one.patch.retire == "upstream" or one.patch.backport
    what = f"{place.name} of {pin.name} holds {one.patch.name} already"
    if one.patch.backport:
        what += f", a backport of {one.patch.backport[:10]}"
    hint = f"drop its entry from pins.toml, and delete {one.patch.file}" if one.patch.file else "drop its entry"
    yield tell("PIN506", what, "patches", one.number, hint=hint, severity=None if asked else Severity.INFO)


def _applied(pin: Pin, one: Seen, standing: Standing, place: Place, tell: Tell) -> Iterator[Finding]:  # noqa: ARG001
    if place.upstream:
        what = f"{one.patch.name} changes nothing: the patches before it make its change"
        yield tell("PIN506", what, "patches", one.number, hint="drop its entry from pins.toml", severity=Severity.INFO)


def _older(pin: Pin, one: Seen, standing: Standing, place: Place, tell: Tell) -> Iterator[Finding]:
    what = f"{place.name} holds {standing.older}, an older form of {one.patch.name}"
    hint = "rebase the patch on it" if place.upstream else f"run: pinctl patch apply {pin.name} --in DIR"
    yield tell("PIN507", what, "patches", one.number, hint=hint)


def _ambiguous(pin: Pin, one: Seen, standing: Standing, place: Place, tell: Tell) -> Iterator[Finding]:  # noqa: ARG001
    what = f"{one.patch.name} fits {place.name} forwards and backwards: whether it is there cannot be told"
    hint = "make it with git diff --full-index, or with more lines around the change"
    yield tell("PIN508", what, "patches", one.number, hint=hint)


_SAID: Mapping[State, Callable[[Pin, Seen, Standing, Place, Tell], Iterator[Finding]]] = {
    State.APPLIED: _applied,
    State.CONFLICT: _conflict,
    State.PARTLY: _partly,
    State.SUPERSEDED: _superseded,
    State.OLDER: _older,
    State.AMBIGUOUS: _ambiguous,
}


# --- for scripts --------------------------------------------------------------------------------------------------


def data(one: Seen) -> dict[str, object]:
    """A patch as scripts read it."""
    standing, patch = one.standing, one.patch
    row: dict[str, object] = {"name": patch.name, "file": patch.file, "target": patch.target, "state": one.word}
    if standing is None:
        return row
    misfits = [
        {"file": m.path, "hunk": m.hunk or None, "hunks": m.hunks or None, "why": m.why,
         "line": m.nearest.line if m.nearest else None}
        for m in standing.misfits
    ]  # fmt: skip
    return {**row, "offset": standing.offset, "older": standing.older, "misfits": misfits}
