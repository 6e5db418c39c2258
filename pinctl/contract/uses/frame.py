"""Where the reader of a file stands: the scope with its variables, and what is round the statement."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from pinctl.contract.uses.facts import OPAQUE, Event, Facts, Function, Given, Row
from pinctl.contract.uses.table import Table


@dataclass(slots=True)
class Frame:
    """One scope while it is read.

    env       what each variable is where the reader stands
    bound     all that it may be, for the functions inside, which run at another time
    hands_on  whether it hands its `*args` or `**kwargs` on to what is looked for
    matters   whether what it asks for, or how it calls it, depends on its arguments
    """

    scope: str
    at_import: bool
    outer: "Frame | None" = None
    is_class: bool = False
    env: dict[str, int] = field(default_factory=dict)
    bound: dict[str, dict[int, None]] = field(default_factory=dict)
    globals: set[str] = field(default_factory=set)
    nonlocals: set[str] = field(default_factory=set)
    parameters: tuple[str, ...] = ()
    keyword_only: tuple[str, ...] = ()
    rest: str = ""
    keyword_rest: str = ""
    method: bool = False
    popped: dict[str, None] = field(default_factory=dict)
    returns: dict[int, None] = field(default_factory=dict)
    hands_on: bool = False
    matters: bool = False


@dataclass(slots=True)
class Known:
    """What one reading of a file finds that the next one needs from its start: names that lead to what is looked for,
    parameters that are given it, and variables that functions set by `global` and, by scope and name, `nonlocal`."""

    words: set[str]
    hot: set[tuple[str, str]] = field(default_factory=set)
    shared: set[str] = field(default_factory=set)
    nonlocals: set[tuple[str, str]] = field(default_factory=set)

    def size(self) -> int:
        """How much is known: it only grows."""
        return len(self.words) + len(self.hot) + len(self.shared) + len(self.nonlocals)


class Scribe:
    """Writes down facts: values, events and bindings, in the frame and the context where the reader stands."""

    def __init__(self, known: Known, sought: Iterable[str], columns: "Columns") -> None:
        self.known = known
        self.table = Table(known.words, sought)
        self.known.words = self.table.words
        self.columns = columns
        self.module = Frame("", at_import=True)
        self.frame = self.module
        self.events: list[Event] = []
        self.given: dict[Given, int] = {}
        self.contexts: dict[tuple[Row, ...], int] = {(): 0}
        self.context: tuple[Row, ...] = ()
        self.functions: dict[str, Function] = {}
        self.classes: dict[str, tuple[int, ...]] = {}
        self.attributes: dict[str, dict[str, dict[int, None]]] = {}
        self.choices: dict[tuple[int, ...], None] = {}
        self.stars: dict[str, None] = {}

    # --- events -------------------------------------------------------------------------------------------------------

    def event(
        self, kind: str, value: int, line: int, column: int, *, given: Given | None = None, default: bool = False,
        forced: bool = False,
    ) -> int:  # fmt: skip
        """Write down an event, and give the value as it was got there; one that leads nowhere is passed over, if it is
        not `forced`."""
        if not (self.table.kept(value) or forced):
            return value
        row = self.given.setdefault(given, len(self.given)) if given is not None else OPAQUE
        context = self.contexts.setdefault(self.context, len(self.contexts))
        number = len(self.events)
        self.events.append(
            Event(kind, value, line, self.columns.of(line, column), self.frame.scope, self.frame.at_import, context,
                  row, default)
        )  # fmt: skip
        return self.table.row("via", value, number, kept=True)

    @contextmanager
    def within(self, *entries: Row) -> Iterator[None]:
        """What is read inside has `entries` round it, the outermost first."""
        before = self.context
        self.context = (*before, *entries)
        try:
            yield
        finally:
            self.context = before

    def choice(self, values: Iterable[int]) -> None:
        """Values that are tried one after the other."""
        kept = tuple(dict.fromkeys(value for value in values if self.table.kept(value)))
        if len(kept) > 1:
            self.choices[kept] = None

    # --- variables ----------------------------------------------------------------------------------------------------

    def lookup(self, name: str) -> int | None:
        """What a variable is where the reader stands; None where no scope of the file binds it."""
        frame: Frame | None = self.frame
        while frame is not None and frame is not self.module:
            seen = frame is self.frame or not frame.is_class
            if name in frame.globals:
                break
            if seen and name in frame.env:
                own = frame is self.frame and (frame.scope, name) not in self.known.nonlocals
                return frame.env[name] if own else self._captured(frame, name)
            frame = frame.outer
        if self.frame is not self.module and name in self.known.shared:
            return self.table.variable("", name)
        if name in self.module.env:
            return self.module.env[name]
        return self.table.variable("", name) if self.stars and name in self.table.words else None

    def _captured(self, frame: Frame, name: str) -> int:
        """A variable of a scope round this one, whose code has been read."""
        values = tuple(frame.bound.get(name, ()))
        if (frame.scope, name) in self.known.nonlocals:
            return self.table.row("var", frame.scope, name, kept=True)
        if len(values) == 1:
            return values[0]
        kept = any(map(self.table.kept, values))
        return self.table.row("var", frame.scope, name, kept=True) if kept else OPAQUE

    def bind(self, name: str, value: int) -> None:
        """Assign `value` to a variable."""
        frame = self.frame
        if name in frame.globals:
            self.bind_global(name, value)
        elif name in frame.nonlocals and (outer := _binder(frame, name)) is not None:
            self._tell(outer, name, value)
            if self.table.kept(value):
                self.known.nonlocals.add((outer.scope, name))
                self.bind_attribute(outer.scope, name, value)  # its own are kept before the inner code is read
        else:
            self._tell(frame, name, value)
        frame.env[name] = value

    def bind_global(self, name: str, value: int) -> None:
        """Assign `value` to a variable of the module, from wherever the reader stands."""
        self.known.shared.add(name)
        self._tell(self.module, name, value)
        if self.frame is self.module:
            self.module.env[name] = value

    def _tell(self, frame: Frame, name: str, value: int) -> None:
        frame.bound.setdefault(name, {})[value] = None
        if self.table.kept(value) and (frame is self.module or frame.is_class):
            self.table.words.add(name)

    def bind_attribute(self, scope: str, name: str, value: int) -> None:
        """Assign `value` to an attribute of a class, or of its instances: their scope has `()` at its end."""
        if self.table.kept(value):
            self.attributes.setdefault(scope, {}).setdefault(name, {})[value] = None
            self.table.words.add(name)

    # --- the end ------------------------------------------------------------------------------------------------------

    def keep_bindings(self, frame: Frame) -> None:
        """Keep what the variables of a scope that has been read may be: of a module and a class what they are in the
        end, of a function all that they ever were."""
        final = frame is self.module or frame.is_class
        held = self.attributes.setdefault(frame.scope, {})
        for name, values in frame.bound.items():
            last = [frame.env[name]] if final and name in frame.env else []
            shared = values if not final or name in self.known.shared else ()
            for value in (*last, *shared):
                if value != OPAQUE and (self.table.kept(value) or self.table.operation(value) == "def"):
                    held.setdefault(name, {})[value] = None

    def facts(self) -> Facts:
        """All that was written down."""
        bindings = {
            scope: {name: tuple(values) for name, values in names.items()}
            for scope, names in self.attributes.items()
            if names
        }
        return Facts(
            tuple(sorted(self.table.words)), tuple(self.table.rows), tuple(self.events), tuple(self.given),
            tuple(self.contexts), bindings, self.functions, self.classes, tuple(self.choices), tuple(self.stars),
        )  # fmt: skip


def _binder(frame: Frame, name: str) -> Frame | None:
    """The scope round `frame` that a nonlocal `name` belongs to."""
    outer = frame.outer
    while outer is not None and (outer.is_class or name not in outer.bound or name in outer.nonlocals):
        outer = outer.outer
    return outer


class Columns:
    """The columns of a file in code points, from 1; `ast` counts the bytes of UTF-8, from 0."""

    def __init__(self, text: str) -> None:
        self._lines = None if text.isascii() else text.split("\n")

    def of(self, line: int, column: int) -> int:
        """The column in code points."""
        if self._lines is None or line > len(self._lines) or self._lines[line - 1].isascii():
            return column + 1
        return len(self._lines[line - 1].encode()[:column].decode("utf-8", "ignore")) + 1
