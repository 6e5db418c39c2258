"""The join of a surface and its uses: what of the consumer breaks when a pin moves from A to B.

Every use is held against the surface at B. What is wrong there, and was wrong in the same way at A, is baseline: it did
not come with the move. A use that was written together with the move is judged by B alone.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence

from pinctl.contract.breaks import hints
from pinctl.contract.breaks.binding import Binding, Fault, Misfit, bindings
from pinctl.contract.breaks.changes import least
from pinctl.contract.breaks.lookup import Found, Lookup, is_foreign
from pinctl.contract.breaks.model import Break, Class
from pinctl.contract.breaks.standing import standing
from pinctl.contract.model import Call, Guard, Place, Signature, Sort, Surface, Use, Uses

__all__ = ["Break", "Class", "Lookup", "find", "fragile", "in_order"]


def find(
    before: Surface, after: Surface, uses: Uses, *, fresh: Callable[[Place], bool] = lambda _: False
) -> list[Break]:
    """What breaks of `uses` when the package moves from `before` to `after`, the worst first.

    `fresh` tells of a place of the consumer whether it was written together with the move.
    """
    judge = _Judge(Lookup(before), Lookup(after), uses.uses, fresh)
    return in_order(found for use in uses.uses for found in judge.judge(use))


def fragile(uses: Uses) -> list[Break]:
    """The uses that would fail in silence at the next bump."""
    return [
        Break(Class.FRAGILE, symbol, f"`{symbol}`: {shape.value}", place, subject=keyword)
        for symbol, place, shape, keyword in uses.fragile
    ]


def in_order(found: Iterable[Break]) -> list[Break]:
    """`found`, each once: the worst first, then by symbol and place."""
    rank = {kind: number for number, kind in enumerate(Class)}
    return sorted(dict.fromkeys(found), key=lambda b: (b.baseline, rank[b.kind], b.symbol, b.place, b.subject))


class _Judge:
    """Judges uses one by one."""

    def __init__(self, before: Lookup, after: Lookup, uses: Sequence[Use], fresh: Callable[[Place], bool]) -> None:
        self.before, self.after, self.fresh = before, after, fresh
        self.led_to = {(use.symbol, place) for use in uses for place in use.dependents if place != use.place}
        self.told: set[tuple[Class, str]] = set()
        self.calls = {(use.symbol, use.place) for use in uses if use.call is not None}
        self.asked = {(use.symbol, use.place.file) for use in uses}
        self.retried: dict[tuple[str, str], list[Call]] = {}
        for use in uses:
            if use.call is not None and use.symbol in use.alternatives:
                self.retried.setdefault((use.symbol, use.place.file), []).append(use.call)

    def judge(self, use: Use) -> list[Break]:
        """What breaks of a use. Whether it was written with the move is asked only where that would tell."""
        if is_foreign(use.symbol, self.before, self.after):
            return []
        told = set(self.told)
        found = list(self._found(use, _seen(use, self.before)))
        if found and self.fresh(use.place):
            self.told = told
            found = list(self._found(use, None))
        return found

    def _found(self, use: Use, then: Found | None) -> Iterator[Break]:
        """What breaks of a use of which `then` is known at A; None: A is not asked."""
        now = _seen(use, self.after)
        if now.symbol is not None:
            yield from self._there(use, then, now)
        elif (use.symbol, use.place) not in self.led_to and not self._is_below(use):  # told where it comes from
            yield from self._gone(use, then, now)

    def _is_below(self, use: Use) -> bool:
        """Whether the name lies in one that is gone, and that the same file asks for: that one is told."""
        parts = use.symbol.split(".")
        outer = (".".join(parts[:count]) for count in range(1, len(parts)))
        return any((name, use.place.file) in self.asked and self.after.find(name).missing for name in outer)

    # --- the name -------------------------------------------------------------------------------------------------

    def _gone(self, use: Use, then: Found | None, now: Found) -> Iterator[Break]:
        """A name that is not there, or may not be."""
        was = then is not None and then.symbol is not None
        if not now.missing:
            if was:
                what = f"`{use.symbol}` may be gone: {now.reason or 'what it belongs to is looked into no further'}"
                yield self._break(Class.MAYBE, use, what, then, now)
            return
        baseline = then is not None and then.missing
        kind = self._hidden(use)
        if not was and (kind is Class.FALLBACK or use.probe or Guard.HASATTR in use.guards):
            return  # it is asked for in case it is there, and it is not: as before
        what = f"`{use.symbol}` is {'gone' if was else 'not there'}{_how(use, kind, self.after)}"
        hint = hints.of_name(use.symbol, None if then is None else self.before, self.after)
        yield self._break(kind, use, what, then, now)._replace(hint=hint, baseline=baseline)

    def _hidden(self, use: Use) -> Class:
        """The class of a use that fails, by what hides it."""
        if any(not self.after.find(name).missing for name in use.alternatives):
            return Class.FALLBACK
        if Guard.TYPE_CHECKING in use.guards:
            return Class.MAYBE
        return Class.SILENT if _hiding(use) or use.probe else Class.HARD

    def _there(self, use: Use, then: Found | None, now: Found) -> Iterator[Break]:
        if then is not None and then.missing and (use.alternatives or _hiding(use) or use.probe):
            yield self._break(Class.GAINED, use, f"`{use.symbol}` was missing, and is there now", then, now)
        yield from self._private(use, then, now)
        yield from self._guarded(use, then, now)
        if use.call is not None:
            yield from self._call(use, then, now)

    def _private(self, use: Use, then: Found | None, now: Found) -> Iterator[Break]:
        """A private name, once: baseline where it stands as it stood."""
        if not is_private(use.symbol) or not self._first(Class.PRIVATE, use):
            return
        same = then is not None and then.symbol is not None and now.symbol is not None
        same = same and self._signatures(self.before, then) == self._signatures(self.after, now)
        what = f"`{use.symbol}` is private, and may change without notice"
        yield self._break(Class.PRIVATE, use, what, then, now)._replace(baseline=same)

    def _guarded(self, use: Use, then: Found | None, now: Found) -> Iterator[Break]:
        """A name that is newly behind a condition of the preprocessor, once."""
        if then is None or then.symbol is None or now.symbol is None:
            return
        old = self.before.guards(then.symbol)
        new = [g for g in self.after.guards(now.symbol) if g.startswith("#") and g not in old]
        if new and self._first(Class.GUARD, use):
            yield self._break(Class.GUARD, use, f"`{use.symbol}` is only there under `{' and '.join(new)}`", then, now)

    def _first(self, kind: Class, use: Use) -> bool:
        """Whether a class is told of a symbol for the first time."""
        first = (kind, use.symbol) not in self.told
        self.told.add((kind, use.symbol))
        return first

    # --- the call -------------------------------------------------------------------------------------------------

    def _call(self, use: Use, then: Found | None, now: Found) -> Iterator[Break]:
        assert use.call is not None and now.symbol is not None  # noqa: S101, PT018 - so it was called
        if now.symbol.sort is Sort.MODULE:
            kind = self._failing(use, now)
            baseline = then is not None and then.symbol is not None and then.symbol.sort is Sort.MODULE
            what = f"`{use.symbol}` is a module, and cannot be called"
            yield self._break(kind, use, what, then, now)._replace(baseline=baseline)
            return
        was, are = self._signatures(self.before, then), self._signatures(self.after, now)
        new = bindings(use.call, are)
        if not new or (new[0].fits and was == are):
            return
        old = bindings(use.call, was)
        if not new[0].fits:
            yield from self._misfits(use, then, now, old, new[0])
        elif old and old[0].fits:
            bound, found = least(use.call, old, new)
            for kind, subject, what in found:
                if kind is not Class.MAYBE or not self._followed(use):
                    yield self._break(kind, use, f"{_called(use)}: {what}", then, now, bound)._replace(subject=subject)

    def _followed(self, use: Use) -> bool:
        """Whether every call that goes through a wrapper is known, and so is judged by itself."""
        return bool(use.dependents) and all((use.symbol, place) in self.calls for place in use.dependents)

    def _misfits(
        self, use: Use, then: Found | None, now: Found, old: Sequence[Binding], new: Binding
    ) -> Iterator[Break]:
        """What of a call does not fit. A parameter that lacks its argument is told where no keyword is wrong: it is
        most often the new name of one."""
        keywords = [m for m in new.misfits if m.fault is not Fault.MISSING]
        hint = hints.of_call(new, [binding.signature for binding in old])
        baseline = bool(old) and not old[0].fits and not self._retried(use, self.before, then)
        for misfit in keywords or new.misfits:
            what = f"{_called(use)}: {_told(misfit)}"
            one = self._break(self._failing(use, now), use, what, then, now, new)
            yield one._replace(subject=misfit.name, hint=hint, baseline=baseline)

    def _failing(self, use: Use, now: Found) -> Class:
        """The class of a call that raises TypeError: `except TypeError` may call the same in another way."""
        if self._retried(use, self.after, now):
            return Class.FALLBACK
        return Class.SILENT if Guard.MISFIT in use.guards else Class.HARD

    def _retried(self, use: Use, lookup: Lookup, found: Found | None) -> bool:
        """Whether the same name is also called in a way that fits, should this one fail."""
        calls = self.retried.get((use.symbol, use.place.file), ()) if use.symbol in use.alternatives else ()
        signatures = self._signatures(lookup, found)
        return any(bound.fits for call in calls for bound in bindings(call, signatures)[:1])

    def _signatures(self, lookup: Lookup, found: Found | None) -> tuple[Signature, ...]:
        return lookup.signatures(found.symbol) if found is not None and found.symbol is not None else ()

    def _break(
        self, kind: Class, use: Use, what: str, then: Found | None, now: Found, bound: Binding | None = None
    ) -> Break:
        return Break(
            kind, use.symbol, what, use.place, use.when,
            before=standing(self.before, then), after=standing(self.after, now, bound),
            dependents=use.dependents,
        )  # fmt: skip


def _seen(use: Use, lookup: Lookup) -> Found:
    """What a use finds under its name."""
    return lookup.find(use.symbol) if Guard.TYPE_CHECKING in use.guards else lookup.at_run_time(use.symbol)


def is_private(name: str) -> bool:
    """Whether a part of a dotted name below its package begins with an underscore, without being one of Python's."""
    return any(part.startswith("_") and not part.endswith("__") for part in name.split(".")[1:])


def _hiding(use: Use) -> list[Guard]:
    """What hides that the name is missing, from the inside out."""
    return [guard for guard in use.guards if guard is not Guard.MISFIT]


def _called(use: Use) -> str:
    return f"the call of `{use.symbol}`"


def _told(misfit: Misfit) -> str:
    match misfit.fault:
        case Fault.KEYWORD:
            return f"no parameter is called `{misfit.name}`"
        case Fault.TWICE:
            return f"`{misfit.name}` is given by position and by keyword"
        case Fault.POSITIONAL:
            return f"more arguments by position than the {misfit.name} that are taken"
        case Fault.MISSING:
            return f"`{misfit.name}` gets no value" if misfit.name else "a parameter gets no value"


def _how(use: Use, kind: Class, after: Lookup) -> str:
    """What hides that a name is gone, as the rest of a sentence."""
    if kind is Class.FALLBACK:
        taken = next(name for name in use.alternatives if not after.find(name).missing)
        return f"; `{taken}` is taken in its place"
    if kind is Class.SILENT:
        return f", and {_NOUNS[next(iter(_hiding(use)), Guard.HASATTR)]} hides it"
    return ", which only type checkers see" if kind is Class.MAYBE else ""


_NOUNS = {
    Guard.DEFAULT: "a default of getattr",
    Guard.HASATTR: "hasattr",
    Guard.EXCEPT: "a caught exception",
}
