"""pins.toml: text to `Manifest`, or all that is wrong with it at once; and edits of its values, text to text."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice
from typing import Any

from pinctl import __version__
from pinctl.codes import finding
from pinctl.errors import ManifestError
from pinctl.finding import Finding, Location
from pinctl.manifest import assemble, crosscheck, pinsfile
from pinctl.manifest.pinsfile import Layer, Load, New, position
from pinctl.manifest.schema import PIN, PINS_TOML, json_schema
from pinctl.manifest.shapes import Problem, named
from pinctl.model import KeyPath, Manifest, Pin, Waiver
from pinctl.urls import redact
from pinctl.versions import fits, is_same, is_version, specifier_problem

__all__ = ["Load", "New", "edit", "json_schema", "locate", "parse", "position", "remarks", "written"]

_MOST = 200
"""Problems of one file that are told: to find the likely spelling of a hundred thousand keys would take minutes."""


def parse(
    text: str,
    *,
    path: str = "pins.toml",
    load: Load | None = None,
    recipes: Collection[str] | None = None,
    transports: Collection[str] = ("https", "ssh"),
) -> Manifest:
    """The manifest that `text`, the content of the file `path`, says.

    `load` gives the text of a file below the root for `extends`, or raises ManifestError. `recipes` are the names of
    the bundled recipes (None: they are not checked), `transports` the schemes that URLs may have. Raises
    ManifestError with every problem, in the order of the file.
    """
    stack = pinsfile.read(text, path, load)
    data = pinsfile.merged(stack)
    if unfit := [problem for problem in _versions(data) if problem.code == "PIN115"]:
        raise ManifestError(_findings(unfit, stack))
    left, wrong = _structure(data)
    if left is None:
        raise ManifestError(_findings(wrong, stack))
    manifest = assemble.manifest(left, path=path, text=text, bases=tuple((base.path, base.text) for base in stack[1:]))
    crossed = chain(_versions(data), crosscheck.problems(manifest, data, recipes, transports))
    if found := [*wrong, *islice(_unexplained(crossed, wrong), _MOST - len(wrong))]:
        raise ManifestError(_findings(found, stack))
    return manifest


def locate(manifest: Manifest, key: KeyPath) -> Location:
    """The file, pins.toml or one that it extends, and the place in it where `key` stands; else its nearest parent."""
    if not manifest.bases:
        return Location(file=manifest.path, span=position(manifest.text, key))
    return _location(key, _stack(manifest))


def written(manifest: Manifest, table: KeyPath) -> Mapping[str, New]:
    """What pins.toml and the files that it extends say together of the table `table`, such as `("pins", "dg")`, by key,
    as it is written there."""
    found = pinsfile.merged(_stack(manifest))
    for key in table:
        found = found[str(key)]
    return found


def edit(text: str, changes: Mapping[KeyPath, New], *, path: str = "pins.toml") -> str:
    """`text`, the content of the file `path`, with the value at each key of `changes` set; a missing key is added.

    None takes a key out: its line with the comment behind it, its part of an inline table, a table with all its
    lines; comments on lines of their own stay. A mapping changes a table that is there key by key, so that what it
    keeps does not move a byte, and is written as an inline table where there is none.

    Comments, order and line ends are kept, and the result reads as what it should. Raises ManifestError (PIN101,
    PIN117; PIN116 where two parsers read the file differently), and WriteRefused for what cannot be written.
    """
    from pinctl.manifest import splice

    return splice.edit(text, changes, path)


def remarks(manifest: Manifest) -> list[Finding]:
    """What is allowed in the manifest, and is to be told all the same: pins not resolved (PIN121), waivers that have
    passed their end (PIN123), groups whose pins are at different versions (PIN124)."""
    noted = [_unresolved(pin) for pin in manifest.pins.values() if pin.unresolved]
    noted += _apart(pin for pin in manifest.pins.values() if pin.group)
    for pin in manifest.pins.values():
        noted += [_ended(waiver, pin.name) for waiver in pin.allow if waiver.until and waiver.until == pin.commit]
    commits = {pin.commit: pin.name for pin in manifest.pins.values() if pin.commit}
    noted += [_ended(waiver, commits[waiver.until]) for waiver in manifest.allow if waiver.until in commits]
    return _findings(noted, _stack(manifest)) if noted else []


def _unresolved(pin: Pin) -> Problem:
    short = f"the short id {pin.unresolved}" if isinstance(pin.unresolved, str) else None
    known = short or (f"the tag {pin.tag}" if pin.tag else f"the version {pin.version}" if pin.version else "its name")
    key = ("pins", pin.name, "unresolved")
    hint = f"run: pinctl bump {pin.name} --resolve" if pin.repo else "write where it comes from, and drop `unresolved`"
    return Problem("PIN121", key, f"{pin.name} is known by {known} only", hint)


def _apart(pins: Iterable[Pin]) -> Iterator[Problem]:
    """Pins that are at another version than the first of their group."""
    first: dict[str, tuple[str, KeyPath]] = {}
    for pin in pins:
        name = "version" if pin.version else "tag"
        said, key = getattr(pin, name) or "", ("pins", pin.name, name)
        if not is_version(said.removeprefix("v")):
            continue
        known, other = first.setdefault(pin.group or "", (said, key))
        if not is_same(said, known):
            what = f"{pin.name} is at {said}, and {other[1]}, of the same group, at {known}"
            yield Problem("PIN124", key, what, f"bump the group as one: pinctl bump {pin.name}", other)


def _ended(waiver: Waiver, who: str) -> Problem:
    what = f"{named(waiver.key)} held until {who} reached {waiver.until}, and it has"
    return Problem("PIN123", waiver.key, what, "drop the entry")


def _stack(manifest: Manifest) -> list[Layer]:
    files = ((manifest.path, manifest.text), *manifest.bases)
    return [Layer(path, text, pinsfile.toml(text, path)) for path, text in files]


def _versions(data: Mapping[str, Any]) -> Iterator[Problem]:
    """What `schema` and `requires-pinctl` say of this pinctl. Where it is the wrong one, nothing else can be judged."""
    if "schema" in data:
        wrong: list[Problem] = []
        PINS_TOML.fields["schema"].shape.check(data["schema"], ("schema",), wrong.append)
        yield from (problem for problem in wrong if problem.code == "PIN115")
    required, key = data.get("requires-pinctl"), ("requires-pinctl",)
    if isinstance(required, str):
        if broken := specifier_problem(required):
            yield Problem("PIN103", key, f"`requires-pinctl`: {broken}")
        elif not fits(__version__, required):
            what = f"this file asks for pinctl {required}, and this is pinctl {__version__}"
            yield Problem("PIN115", key, what, "install a pinctl that fits")


class _EnoughError(Exception):
    """The check has found as many problems as are told."""


def _structure(data: dict[str, Any]) -> tuple[Any, list[Problem]]:
    """What is left of `data` by the structure of pins.toml, and what is wrong; None where too much is."""
    wrong: list[Problem] = []

    def report(problem: Problem) -> None:
        wrong.append(problem)
        if len(wrong) == _MOST:
            raise _EnoughError

    try:
        return PINS_TOML.check(data, (), report), wrong
    except _EnoughError:
        wrong.append(Problem("PIN117", (), f"there are more problems than these {_MOST}"))
        return None, wrong


def _unexplained(crossed: Iterable[Problem], wrong: Sequence[Problem]) -> Iterator[Problem]:
    """The problems of `crossed` that are not there only because a key is misspelled, misshapen or missing."""
    mistaken: dict[KeyPath, set[str]] = {}
    for problem in wrong:
        _note(problem, mistaken)
    for problem in crossed:
        if not _explained(problem, mistaken):
            _note(problem, mistaken)
            yield problem


def _note(problem: Problem, mistaken: dict[KeyPath, set[str]]) -> None:
    """Remember which keys of which pin are not what they should be, or were meant by such a key."""
    if problem.code in ("PIN102", "PIN103", "PIN104"):
        meant = {name for name in PIN.fields if f"`{name}`?" in (problem.hint or "")}
        mistaken.setdefault(problem.key[:2], set()).update(meant, map(str, problem.key[2:3]))


def _explained(problem: Problem, mistaken: Mapping[KeyPath, set[str]]) -> bool:
    names = mistaken.get(problem.key[:2], set())
    if problem.code == "PIN112":
        return bool(names) or (problem.key[0] == "sites" and bool(mistaken))
    if problem.code == "PIN113":
        return not names.isdisjoint(("sites", "generate", "unused"))
    if problem.code == "PIN104":
        return not names.isdisjoint((*map(str, problem.key[2:3]), *crosscheck.SOURCES))
    return False


def _findings(problems: Iterable[Problem], stack: Sequence[Layer]) -> list[Finding]:
    order = [layer.path for layer in stack]
    placed = [(_location(problem.key, stack), problem) for problem in dict.fromkeys(problems)]
    placed.sort(key=lambda pair: (*_rank(pair[0], order), pair[1].code))
    return [_finding(problem, at, stack) for at, problem in placed]


def _rank(at: Location, order: Sequence[str]) -> tuple[int, int, int]:
    return (order.index(at.file), at.span.line, at.span.column) if at.span else (order.index(at.file), 0, 0)


def _finding(problem: Problem, at: Location, stack: Sequence[Layer]) -> Finding:
    pin = str(problem.key[1]) if problem.key[:1] == ("pins",) and len(problem.key) > 1 else None
    related = () if problem.related is None else (_location(problem.related, stack, "the other place"),)
    hint = redact(problem.hint) if problem.hint else None
    return finding(
        problem.code, redact(problem.message), file=at.file, span=at.span, pin=pin, hint=hint, related=related
    )


def _location(key: KeyPath, stack: Sequence[Layer], message: str = "") -> Location:
    """The place of `key` in the file of `stack` that holds most of it; the nearer one where several do."""
    layer = max(stack, key=lambda layer: _depth(layer.data, key))
    return Location(file=layer.path, span=position(layer.text, key), message=message)


def _depth(data: Any, key: KeyPath) -> int:
    """How many steps of `key` lead to something in `data`."""
    for depth, step in enumerate(key):
        try:
            data = data[step]
        except (LookupError, TypeError):
            return depth
    return len(key)
