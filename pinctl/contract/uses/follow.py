"""Which functions of the consumer its calls run, with what, and when."""

from collections.abc import Mapping, Sequence

from pinctl.contract.uses.evaluate import Evaluator
from pinctl.contract.uses.facts import OPAQUE, Facts, Given
from pinctl.contract.uses.modules import Modules
from pinctl.contract.uses.results import Definition, Partial, Result, Scope, Tags, Where, symbol_of, together, under
from pinctl.contract.uses.wrappers import Calls, Wrappers

_MOST_ROUNDS = 4
_MOST_RUNS = 100
_MOST_CALLS = 500
"""Calls of one function whose arguments are followed into it."""


class Follower:
    """Follows calls into functions. What it would have to know besides is in `evaluator.missing`.

    calls  the calls that the code of each function makes
    runs   the functions that run while a file is imported, each with the calls under which it does
    """

    def __init__(self, facts: Mapping[str, Facts], modules: Modules, import_names: Sequence[str]) -> None:
        self.facts = facts
        self.evaluator = Evaluator(facts, modules, import_names)
        self.calls = self._follow()
        self.runs = self._run_at_import()
        self.wrappers = Wrappers(self.evaluator, self.calls)

    def at_import(self, where: Where, tags: Tags) -> bool:
        """Whether an event that holds under the calls `tags` happens while a file is imported."""
        calls = dict(tags)
        for _ in range(len(calls) + 1):
            path, event = where[0], self.facts[where[0]].events[where[1]]
            call = calls.pop((path, event.scope), None)
            if event.at_import or call is None:
                runs = self.runs.get((path, event.scope), ())
                return event.at_import or any(together(held, tags) is not None for held in runs)
            where = call
        return False

    def leads(self, path: str, value: int) -> bool:
        """Whether a value may be a symbol of the package."""
        return any(symbol_of(found) is not None for found in self.evaluator.results(path, value))

    def _follow(self) -> Calls:
        """Bind parameters to what they are given, until nothing new comes of it."""
        calls: Calls = {}
        for _ in range(_MOST_ROUNDS):
            calls, grown = {}, False
            for path, facts in self.facts.items():
                for number, event in enumerate(facts.events):
                    if event.kind != "call":
                        continue
                    given, results = facts.given[event.given], self.evaluator.results(path, event.value)
                    calls.setdefault((path, event.scope), []).append(((path, number), given, results))
                    grown = self._bind(results, (path, number), given) or grown
            if not grown:
                break
            self.evaluator.forget()
        return calls

    def _bind(self, results: Sequence[Result], call: Where, given: Given) -> bool:
        """Bind the parameters of functions to what a call gives them. Gives whether any of that is new."""
        grown = False
        for result in results:
            target, skipped = (result.target, result.given.positional) if isinstance(result, Partial) else (result, 0)
            if not isinstance(target, Definition):
                continue
            known = self.evaluator.function(target)
            foreign = known is None or target.path != call[0]
            if foreign and any(self.leads(call[0], value) for value in (*given.args, *given.named)):
                self.evaluator.missing[target.path, f"{target.scope.rpartition('.')[2]}()"] = None
            if known is None:
                continue
            positional = zip(known[2][skipped:], given.args, strict=False)
            for name, value in (*positional, *zip(given.keywords, given.named, strict=True)):
                held = self.evaluator.given.setdefault((target.path, known[0], name), {})
                if value != OPAQUE and (call, value) not in held and len(held) < _MOST_CALLS:
                    held[call, value] = None
                    grown = True
        return grown

    def _run_at_import(self) -> dict[Scope, set[Tags]]:
        runs: dict[Scope, set[Tags]] = {}
        todo = [
            result
            for calls in self.calls.values()
            for (path, number), _, results in calls
            for result in results
            if self.facts[path].events[number].at_import
        ]
        while todo:
            result = todo.pop()
            if not isinstance(result, Definition):
                continue
            known = self.evaluator.function(result)
            scope = (result.path, known[0] if known is not None else result.scope)
            held = runs.setdefault(scope, set())
            if result.tags not in held and len(held) < _MOST_RUNS:
                held.add(result.tags)
                inside = [under(one, result.tags) for _, _, called in self.calls.get(scope, ()) for one in called]
                todo += [one for one in inside if one is not None]
        return runs

    # --- what other files may ask for ---------------------------------------------------------------------------------

    def exports(self) -> dict[str, set[str]]:
        """By file, the names in it that lead to the package: handles, and functions that give one, hand their arguments
        on or look names up for others."""
        exported: dict[str, set[str]] = {}
        for path, facts in self.facts.items():
            for name in facts.bindings.get("", {}):
                if any(self._is_export(found) for found in self.evaluator.variable(path, "", name)):
                    exported.setdefault(path, set()).add(name)
        return exported

    def _is_export(self, found: Result) -> bool:
        if not isinstance(found, Definition):
            return symbol_of(found) is not None
        facts = self.facts[found.path]
        if found.scope in facts.classes:
            held = facts.bindings.get(found.scope, {}).values()
            return any(self.leads(found.path, value) for values in held for value in values)
        function = facts.functions.get(found.scope)
        return function is not None and (
            any(self.leads(found.path, value) or self._looks_up(found.path, value) for value in function.returns)
            or bool(self.wrappers.of((found.path, found.scope)))
        )

    def _looks_up(self, path: str, value: int) -> bool:
        """Whether a value is an attribute of the package whose name comes from elsewhere."""
        row = self.facts[path].values[value]
        while row[0] == "via":
            row = self.facts[path].values[row[1]]
        return bool(row[0] == "get") and self.leads(path, row[1])
