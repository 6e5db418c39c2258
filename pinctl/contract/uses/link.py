"""The facts of several files, put together: which uses of the package they are."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from pinctl.contract.model import Call, Fragile, Guard, Place, Shape, Use, When
from pinctl.contract.uses.draft import Draft, Drafts
from pinctl.contract.uses.facts import ATTRIBUTE, BROAD, IMPORT, MODULE, RUNTIME, TYPE, Event, Facts, Row
from pinctl.contract.uses.follow import Follower
from pinctl.contract.uses.modules import Modules
from pinctl.contract.uses.results import Definition, Made, Partial, Probe, Result, Symbol, Where
from pinctl.contract.uses.wrappers import call

_RAISED = {"import": MODULE, "from": IMPORT}
"""What is raised where a name is missing; AttributeError by all others."""

STAR = "names that `import *` brings"
COMPUTED = "attributes with a computed name"
MADE = "attributes of what a call returned"
PASSED = "handed to a call that is not followed"
KEPT = "kept where it is not followed"
ENDLESS = "files whose values branch too often to be followed"
_ASIDE = {"pass": PASSED, "keep": KEPT, "computed": COMPUTED, "star": STAR}


class Linker(Follower):
    """Makes the uses of the package out of facts.

    unseen   counts of what is not followed, by reason
    fragile  the uses that would fail in silence
    """

    def __init__(self, facts: Mapping[str, Facts], modules: Modules, import_names: Sequence[str]) -> None:
        super().__init__(facts, modules, import_names)
        self.unseen: Counter[str] = Counter()
        self.fragile: dict[Fragile, None] = {}
        self._drafts = Drafts()
        self._depending: list[tuple[Symbol, tuple[Where, ...], Place]] = []
        self._checked: set[Where] = set()
        self._names: dict[tuple[str, int], frozenset[str]] = {}

    def uses(self) -> tuple[Use, ...]:
        """All uses, by place."""
        for path, facts in sorted(self.facts.items()):
            for number, event in enumerate(facts.events):
                for result in self.evaluator.results(path, event.value):
                    self._event((path, number), event, result)
        for symbol, origins, place in self._depending:
            self._drafts.depend(symbol, origins, place)
        self._see_past(ENDLESS, self.evaluator.is_exhausted * len(self.facts))
        self._drafts.inherit()
        self._look_for_alternatives()
        self._look_for_defaults()
        return self._drafts.uses()

    def _event(self, where: Where, event: Event, result: Result) -> None:
        if event.kind == "call":
            self._call(where, event, result)
        elif event.kind == "check":
            self._checked.update(result.origins if isinstance(result, Symbol) else ())
        elif isinstance(result, Made):
            self._see_past(MADE, event.kind == "read")
        elif isinstance(result, Symbol):
            if event.kind in _ASIDE:
                self._see_past(_ASIDE[event.kind])
            if result.fresh and event.kind not in ("pass", "keep", "computed"):
                self._draft(where, event, result)

    def _see_past(self, reason: str, times: int = 1) -> None:
        """Count what is not followed."""
        if times:
            self.unseen[reason] += times

    # --- calls --------------------------------------------------------------------------------------------------------

    def _call(self, where: Where, event: Event, result: Result) -> None:
        path = where[0]
        given = self.facts[path].given[event.given]
        if isinstance(result, Made):
            self._see_past(MADE)
        elif not isinstance(result, Symbol | Partial | Definition):
            self._see_past(PASSED, sum(self.leads(path, value) for value in (*given.args, *given.named)))
        for forward in self.wrappers.reached(result, given, where):
            target, inside = forward.target, isinstance(result, Definition)
            if forward.whole or not inside:
                target = target._replace(fresh=target.fresh and not inside)
                draft = self._draft(where, event, target, call(forward.given))
                self._look_at(where, draft, forward.given.zero)
            place = Place(path, event.line, event.column)
            self._depending.append((target, (*target.origins, *((forward.event,) if inside else ())), place))

    def _look_at(self, where: Where, draft: Draft, zero: Sequence[str]) -> None:
        """Look for the shapes of a call that would fail in silence."""
        if any(entry[0] == "try" and entry[1] & BROAD for entry in self._context(*where)):
            self.fragile[Fragile(draft.symbol.name, draft.place, Shape.BROAD)] = None
        for keyword in zero:
            self.fragile[Fragile(draft.symbol.name, draft.place, Shape.ZERO, keyword)] = None

    def _look_for_defaults(self) -> None:
        """Look for a getattr with a default, and nothing else that is tried, whose result nobody looks at."""
        for (path, number), draft in self._drafts.all():
            event = self.facts[path].events[number]
            silent = event.kind == "read" and event.default and not draft.alternatives
            if silent and (path, number) not in self._checked:
                self.fragile[Fragile(draft.symbol.name, draft.place, Shape.DEFAULT)] = None

    # --- the place of a use -------------------------------------------------------------------------------------------

    def _draft(self, where: Where, event: Event, symbol: Symbol, called: Call | None = None) -> Draft:
        path, literal = where[0], symbol.literal if symbol.fresh else None
        place = Place(path, event.line, event.column)
        if literal is not None:
            place = Place(literal.path, literal.line, literal.column)
        when = When.IMPORT if event.kind != "patch" and self.at_import(where, symbol.tags) else When.CALL
        guards = tuple(self._guards(path, event, symbol, called))
        return self._drafts.add(where, Draft(symbol, place, when, called, guards, event.kind == "probe"))

    def _guards(self, path: str, event: Event, symbol: Symbol, called: Call | None) -> Iterator[Guard]:
        """What hides that a name is missing, or that a call does not fit, from the inside out."""
        if event.default:
            yield Guard.EXCEPT if event.kind == "import" else Guard.DEFAULT
        raised = _RAISED.get(event.kind, ATTRIBUTE)
        refused = TYPE | (RUNTIME if symbol.name.startswith("torch.ops.") else 0)
        for entry in reversed(self.facts[path].contexts[event.context]):
            if entry[0] == "try" and symbol.fresh and entry[1] & raised:
                yield Guard.EXCEPT
            if entry[0] == "try" and called is not None and entry[1] & refused:
                yield Guard.MISFIT
            if entry[0] == "has" and symbol.name in self._named(path, entry[1]):
                yield Guard.HASATTR
            if entry[0] == "typing":
                yield Guard.TYPE_CHECKING

    def _named(self, path: str, value: int) -> frozenset[str]:
        """The symbols that a value is, or tells of whether they are there."""
        if (path, value) not in self._names:
            found = self.evaluator.results(path, value)
            names = {one.symbol for one in found if isinstance(one, Probe)}
            if self.facts[path].values[value][0] not in ("var", "call"):  # these may be handles that are not got yet
                names |= {one.name for one in found if isinstance(one, Symbol)}
            self._names[path, value] = frozenset(names)
        return self._names[path, value]

    # --- what is tried in place of what -------------------------------------------------------------------------------

    def _look_for_alternatives(self) -> None:
        there: dict[tuple[str, int], list[Draft]] = {}
        for (path, number), draft in self._drafts.all():
            for entry in self._context(path, number):
                if entry[0] == "has":
                    there.setdefault((path, entry[1]), []).append(draft)
        for (path, number), draft in self._drafts.all():
            for entry in self._context(path, number):
                if entry[0] == "not":
                    self._missing(draft, path, entry[1], there.get((path, entry[1]), ()))
                elif entry[0] == "handler" and entry[3]:
                    tried = [one for event in range(entry[1], entry[2]) for one in self._drafts.at((path, event))]
                    self._handled(draft, tried, entry[3])
        for path, facts in self.facts.items():
            for choice in facts.choices:
                self._choose(path, choice)

    def _context(self, path: str, number: int) -> tuple[Row, ...]:
        return self.facts[path].contexts[self.facts[path].events[number].context]

    def _missing(self, draft: Draft, path: str, value: int, there: Sequence[Draft]) -> None:
        """A use where a value is missing is in its place, and where it is there it is in the place of the use: if it is
        hidden that it is missing."""
        got = [
            other
            for one in self.evaluator.results(path, value)
            if isinstance(one, Symbol)
            for other in self._drafts.sources(one)
            if other.guards
        ]
        probed = [one.symbol for one in self.evaluator.results(path, value) if isinstance(one, Probe)]
        names = self._named(path, value) & {*probed, *(other.symbol.name for other in got)}
        others = [name for name in sorted(names) if not f"{draft.symbol.name}.".startswith(f"{name}.")]
        draft.alternatives.update(dict.fromkeys(others))
        for other in (*got, *there):
            if other.symbol.name in others:
                other.alternatives[draft.symbol.name] = None

    def _handled(self, draft: Draft, tried: Sequence[Draft], mask: int) -> None:
        """A use in a handler is in the place of the one use that its `try` makes, or of a call of the same name."""
        asked = [other for other in tried if other.symbol.fresh]
        if len({other.symbol.name for other in asked}) == 1 and asked[0].symbol.name != draft.symbol.name:
            _exchange([draft], asked)
        if draft.call is not None and mask & (TYPE | RUNTIME):
            same = [other for other in tried if other.call is not None and other.symbol.name == draft.symbol.name]
            for other in (*same, *((draft,) if same else ())):
                other.alternatives[draft.symbol.name] = None

    def _choose(self, path: str, choice: Sequence[int]) -> None:
        """Of values of which each is tried where those before it are missing, each is in the place of the others: where
        it is hidden that one is missing."""
        members: list[list[Draft]] = []
        for value in choice:
            found = [one for one in self.evaluator.results(path, value) if isinstance(one, Symbol)]
            members.append([draft for one in found for draft in self._drafts.sources(one)])
        for number, drafts in enumerate(members):
            for others in members[number + 1 :]:
                if any(draft.guards for draft in (*drafts, *others)):
                    _exchange(drafts, others)


def _exchange(drafts: Sequence[Draft], others: Sequence[Draft]) -> None:
    """Each of `drafts` is in the place of each of `others`, and they are in its place."""
    for draft in drafts:
        for other in others:
            if draft.symbol.name != other.symbol.name:
                draft.alternatives[other.symbol.name] = None
                other.alternatives[draft.symbol.name] = None
