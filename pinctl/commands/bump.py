"""`pinctl bump`: pins to other commits, in pins.toml and at every site, after the new trees have been proved.

Nothing is written before everything is known: the plan of all pins is carried out whole, or not at all.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from functools import partial
from typing import NamedTuple

from pinctl import manifest as pins_toml
from pinctl.codes import finding
from pinctl.codes.table import CODES
from pinctl.commands import bumping, landing, network, rollback, targets
from pinctl.commands.bumping import Aim, Bump, Judging
from pinctl.commands.edits import edited
from pinctl.commands.evidence import Asking
from pinctl.commands.targets import Target, Wish
from pinctl.commands.verify import build_files, chosen
from pinctl.commands.workspace import Workspace
from pinctl.contract.breaks.judgement import Judgement
from pinctl.errors import ManifestError, PinctlError, UsageError
from pinctl.external.parallel import each
from pinctl.finding import Finding
from pinctl.manifest import New
from pinctl.model import KeyPath, Pin
from pinctl.options import Options, Step
from pinctl.outcome import Body, Outcome, Table, Text, counted
from pinctl.upstream import narrative, references
from pinctl.upstream.comparison import Comparison
from pinctl.upstream.narrative import short

_UNREACHED = "PIN320"
_BRIEF = ("pin", "at", "newest", "state")
_ACCEPTABLE = ("PIN3", "PIN4")
_NEVER = ("PIN301", "PIN320", "PIN321")
"""What no one can accept: that nothing is known of the commit, or that it may not be used."""
_PROVED = ("repo", "commit", "tag", "unresolved")
"""Keys that are where a bump leads, and are proved."""


class Order(NamedTuple):
    """What is asked of a bump.

    wish      where the pins are to go
    sets      KEY=VALUE for a pin, VALUE in TOML or plain text
    accept    codes that do not stop it
    resolve, rollback   instead of a wish: what is left open; what pins.toml held before
    check     write nothing; exit 1 where something newer exists
    """

    names: Sequence[str] = ()
    all: bool = False
    wish: Wish = Wish()
    sets: Sequence[str] = ()
    accept: Sequence[str] = ()
    resolve: bool = False
    rollback: bool = False
    check: bool = False
    allow_transport: Sequence[str] = ()


def run(options: Options, order: Order, how: landing.How) -> Outcome:
    """Bump the pins of `order`, and land them as `how` says. Raises ManifestError, UsageError, WriteRefused,
    ExternalError."""
    _demand_sense(order, how, options)
    workspace = Workspace.open_to_write(options, dry=order.check or how.diff)
    pins = _chosen(workspace, order)
    profile = network.profile(options, workspace.root, allow=tuple(order.allow_transport))
    with ExitStack() as stack, options.progress("bump", 3 * len(pins)) as step:
        asking = Asking(profile, stack, options.offline)
        aims, lost = _aims(workspace, pins, order, asking, step)
        if lost and len(order.names) == 1:
            raise lost[0][1]
        untold = [_finding(workspace, pin, error) for pin, error in lost]
        if order.check or order.resolve or untold:
            return _brief(workspace, order, how, aims, untold)
        return _bumped(workspace, order, how, [aim for aim in aims if aim.moves], asking, step)


def _demand_sense(order: Order, how: landing.How, options: Options) -> None:
    """Raises UsageError for what cannot be meant together, or is not known."""
    many = order.all or len(order.names) != 1
    wish = order.wish
    if sum([bool(wish.to or wish.repo or wish.upstream), order.resolve, order.rollback]) > 1:
        raise UsageError("--resolve, --rollback and where to bump to exclude each other")
    if many and (wish.to or wish.repo or order.sets):
        raise UsageError("--to, --repo and --set are for one pin", hint="name the pin: pinctl bump PIN --to REF")
    if many and not (order.names or order.all or order.check or order.resolve):
        raise UsageError("which pin?", hint="pinctl bump PIN, or pinctl bump --all")
    for code in order.accept:
        if code not in CODES:
            raise UsageError(f"--accept {code}: there is no such code", hint="run: pinctl explain")
        if not code.startswith(_ACCEPTABLE) or code in _NEVER:
            raise UsageError(f"{code} cannot be accepted: {CODES[code].title}", hint=f"run: pinctl explain {code}")
    if options.offline:
        raise UsageError("a bump asks the remotes", hint="run it without --offline")
    if how.commit and options.is_untrusted:
        raise UsageError("--commit runs the hooks of the repository, and this checkout is a stranger's")


def _chosen(workspace: Workspace, order: Order) -> list[Pin]:
    """The pins that are meant. Raises UsageError for one that is named and cannot be bumped."""
    pins = chosen(workspace.manifest.pins, order.names)
    if order.resolve:
        return [pin for pin in pins if pin.unresolved and (pin.repo or order.names)]
    if not order.names:
        return [pin for pin in pins if pin.repo and not pin.unresolved]
    for pin in pins:
        if pin.repo is None:
            hint = "write the new version into pins.toml, then run: pinctl sync"
            raise UsageError(f"{pin.name} has no git repository, and only those can be bumped", hint=hint)
        if pin.unresolved and order.wish.to is None:
            raise UsageError(f"the commit of {pin.name} is not known", hint=f"run: pinctl bump {pin.name} --resolve")
    return pins


# --- where to -----------------------------------------------------------------------------------------------------

_Aims = tuple[list[Aim], list[tuple[Pin, PinctlError]]]


def _aims(workspace: Workspace, pins: Sequence[Pin], order: Order, asking: Asking, step: Step) -> _Aims:
    """Where each pin is to go, and those of which that cannot be told."""
    given = _given(order.sets)
    found = each(pins, partial(_aim, workspace=workspace, order=order, given=given, asking=asking), step)
    lost = [(pin, one) for pin, one in zip(pins, found, strict=True) if isinstance(one, PinctlError)]
    return [one for one in found if isinstance(one, Aim)], lost


def _aim(pin: Pin, *, workspace: Workspace, order: Order, given: Mapping[KeyPath, New], asking: Asking) -> Aim:
    if order.rollback:
        target, earlier = rollback.earlier(workspace, pin)
        return Aim(pin, target, {**{(key,): value for key, value in earlier.items()}, **given}, back=True)
    if order.resolve:
        return Aim(pin, targets.unresolved(pin, asking), given)
    track = given.get(("track",), pin.track)
    target = targets.resolve(pin._replace(track=track if isinstance(track, str) else None), order.wish, asking)
    return Aim(pin, target, given, named=order.wish.to is not None)


def _given(sets: Sequence[str]) -> dict[KeyPath, New]:
    """The values of `--set KEY=VALUE`, by key below the pin. Raises UsageError."""
    given: dict[KeyPath, New] = {}
    for text in sets:
        key = _key(text)
        if key[0] in _PROVED:
            raise UsageError(
                f"--set {key[0]}: where a bump leads is proved", hint="say it with --to, --repo, --upstream"
            )
        given[key] = _value(text.partition("=")[2].strip(), below_facts=key[0] == "facts")
    return given


def _key(text: str) -> KeyPath:
    """The key of KEY=VALUE, as TOML has it. Raises UsageError."""
    import tomllib

    name, equals, _ = text.partition("=")
    try:
        data: object = tomllib.loads(f"{name} = 0") if equals and "\n" not in name else None
    except tomllib.TOMLDecodeError:
        data = None
    key: list[str] = []
    while isinstance(data, dict):
        ((step, data),) = data.items()
        key.append(step)
    if not key:
        raise UsageError(f"--set {text}: it wants KEY=VALUE", hint="such as --set 'submodules=[\"third-party/fmt\"]'")
    return tuple(key)


def _value(word: str, *, below_facts: bool) -> New:
    """A value as TOML has it, else plain text; a number is one below `facts` alone, so that a version is text."""
    import tomllib

    try:
        value = tomllib.loads(f"value = {word}")["value"]
    except tomllib.TOMLDecodeError:
        return word
    if isinstance(value, list):
        return tuple(value)
    if isinstance(value, str | bool | dict) or (below_facts and isinstance(value, int)):
        return value
    return word


def _finding(workspace: Workspace, pin: Pin, error: PinctlError) -> Finding:
    at = pins_toml.locate(workspace.manifest, ("pins", pin.name, "track"))
    return finding(network.code(error, "PIN324"), str(error), file=at.file, span=at.span, pin=pin.name, hint=error.hint)


# --- what only looks, or only fills in ----------------------------------------------------------------------------


def _brief(workspace: Workspace, order: Order, how: landing.How, aims: Sequence[Aim], untold: list[Finding]) -> Outcome:
    """`--check`, `--resolve`, and a run of which some pin has nowhere to go: nothing of it is proved."""
    moving = [aim for aim in aims if aim.moves]
    rows = [_row(aim, "behind" if aim.moves else "current") for aim in aims]
    table = Table(_BRIEF, tuple(map(_cells, rows))) if rows else None
    result = {"pins": rows, "files": []}
    if order.check:
        told = f"{counted(len(moving), 'pin')} of {len(aims)} could be bumped" if moving else "nothing newer"
        status = 4 if _unreached(untold) else 1 if moving or untold else None
        return Outcome("bump", tuple(untold), result, told, table, root=workspace.root, status=status)
    if untold and not order.resolve:
        status = 4 if _unreached(untold) else None
        return Outcome("bump", tuple(untold), result, body=table, root=workspace.root, status=status)
    changes: dict[KeyPath, New] = {}
    for pin, target, given, *_ in moving:
        changes |= {("pins", pin.name, "commit"): target.commit, ("pins", pin.name, "unresolved"): None}
        changes |= {("pins", pin.name, "tag"): target.tag} if target.tag else {}
        changes |= {("pins", pin.name, *key): value for key, value in given.items()}
    after, files = edited(workspace, changes)
    planned = landing.planned(workspace, after, files, [aim.pin.name for aim in moving], how)
    outcome = landing.land(planned, [], _resolved(moving))
    rows = [_row(aim, "resolved") for aim in moving]
    left = sum(bool(pin.unresolved) for pin in after.manifest.pins.values())
    more = f"; {counted(left, 'pin')} still unresolved" if left else ""
    return outcome._replace(
        findings=(*outcome.findings, *untold),
        result={**outcome.result, "pins": rows},
        body=outcome.body if how.diff or not rows else (Table(_BRIEF, tuple(map(_cells, rows))), *outcome.parts),
        summary=f"{counted(len(moving), 'pin')} resolved; {outcome.summary}{more}",
        status=4 if _unreached(untold) else outcome.status,
    )


def _resolved(aims: Sequence[Aim]) -> str:
    """The message of the commit that fills in what was left open."""
    lines = (f"{aim.pin.name}: {_where(aim.target)} is {aim.target.commit}" for aim in aims)
    return "\n".join(["Resolve the commits of pins", "", *lines])


def _unreached(findings: Sequence[Finding]) -> bool:
    return any(found.code in (_UNREACHED, "PIN802") for found in findings)


# --- what proves and writes ---------------------------------------------------------------------------------------


def _bumped(
    workspace: Workspace, order: Order, how: landing.How, aims: Sequence[Aim], asking: Asking, step: Step
) -> Outcome:
    if not aims:
        told = "nothing newer: every pin is where it should be" if order.all else "nothing to bump"
        return Outcome("bump", result={"pins": [], "files": []}, summary=told, root=workspace.root)
    bumps = bumping.learn(aims, asking, step)
    try:
        after, files = edited(workspace, {key: value for bump in bumps for key, value in bump.changes.items()})
    except ManifestError as error:
        return _invalid(workspace, error)
    pins = after.manifest.pins
    known = bumping.compared(bumps, pins, asking)
    names = [bump.aim.pin.name for bump in bumps]
    planned = landing.planned(workspace, after, files, names, how)
    sources = {**build_files(workspace), **planned.sources}  # as they become: a site may name a path of the tree
    by = Judging(
        workspace.manifest, frozenset(order.accept), {name: references.read(pins[name], sources) for name in names}
    )
    pairs = list(zip(bumps, known, strict=True))
    findings = [f for bump, seen in pairs for f in bumping.judged(bump, pins[bump.aim.pin.name], seen, by)]
    contracts = {name: one for bump, name in zip(bumps, names, strict=True)
                 if (one := bumping.contract(bump, pins[name], workspace, planned.sources))}  # fmt: skip
    findings += [found for one in contracts.values() for found in bumping.weighed(one.findings, order.accept)]
    outcome = landing.land(planned, findings, _message(pairs))
    table = Table(("pin", "from", "to", "what"), tuple(_line(*pair) for pair in pairs))
    document = tuple(part for bump, seen in pairs for part in _document(seen, contracts.get(bump.aim.pin.name)))
    return outcome._replace(
        result={"pins": [_told(*pair, contracts.get(pair[0].aim.pin.name)) for pair in pairs], **outcome.result},
        body=outcome.body if how.diff else (table, *outcome.parts),  # a diff stands alone, for `git apply`
        document=document,
        status=4 if _unreached(findings) else outcome.status,
    )


def _invalid(workspace: Workspace, error: ManifestError) -> Outcome:
    """What is wrong with pins.toml as it would become: it stands in no file, so it has no place."""
    told = [f._replace(message=f"as it would become: {f.message}", span=None, related=()) for f in error.findings]
    return Outcome("bump", tuple(told), {"pins": [], "files": []}, root=workspace.root)


def _document(seen: Comparison | str, judged: Judgement | None) -> Iterator[Body]:
    """What the body of a pull request says of one pin."""
    if isinstance(seen, Comparison):
        yield from narrative.tables(seen)
    if judged:
        yield from (table._replace(title="Contract") for table in judged.tables)
        yield Text("\n".join((judged.summary, *judged.unseen)), "" if judged.tables else "Contract")


def _message(pairs: Sequence[tuple[Bump, Comparison | str]]) -> str:
    """The message of the commit: what goes where, and the links to what lies between."""
    names = [bump.aim.pin.name for bump, _ in pairs]
    lines = []
    for bump, seen in pairs:
        pin, target = bump.aim.pin, bump.aim.target
        lines.append(f"{pin.name}: {short(pin.commit)} -> {_where(target)} ({_what(seen)})")
        url = narrative.compared(seen) if isinstance(seen, Comparison) else None
        lines += [url] if url else []
    subject = f"Bump {names[0]} to {_where(pairs[0][0].aim.target)}" if len(names) == 1 else f"Bump {', '.join(names)}"
    return "\n".join([subject if len(subject) < 72 else f"Bump {counted(len(names), 'pin')}", "", *lines])


def _where(target: Target) -> str:
    return target.tag or short(target.commit)


def _what(seen: Comparison | str) -> str:
    if isinstance(seen, str):
        return "nothing to compare it with"
    span = seen.span
    told = f"{counted(span.ahead, 'commit')} ahead"
    return f"{told}, {span.behind} behind" if span.behind else told


def _line(bump: Bump, seen: Comparison | str) -> tuple[str, ...]:
    pin, target = bump.aim.pin, bump.aim.target
    keys = (".".join(map(str, key[2:])) for key in bump.changes if key[2:] not in (("commit",), ("tag",)))
    more = ", ".join(keys)
    return (pin.name, pin.tag or short(pin.commit), _where(target), _what(seen) + (f"; also {more}" if more else ""))


# --- what scripts read --------------------------------------------------------------------------------------------


def _row(aim: Aim, state: str) -> dict[str, object]:
    pin, target = aim.pin, aim.target
    return {"name": pin.name, "from": pin.commit, "to": target.commit, **target._asdict(), "state": state}


def _cells(row: Mapping[str, object]) -> tuple[str, ...]:
    before = row["from"]
    return (str(row["name"]), short(before if isinstance(before, str) else None),
            str(row["tag"] or short(str(row["to"]))), str(row["state"]))  # fmt: skip


def _told(bump: Bump, seen: Comparison | str, judged: Judgement | None) -> dict[str, object]:
    return {
        **_row(bump.aim, "bumped"),
        "changes": {".".join(map(str, key[2:])): value for key, value in bump.changes.items()},
        "decide": [decision._asdict() for decision in bumping.decisions(bump)],
        "diff": narrative.data(seen) if isinstance(seen, Comparison) else None,
        "contract": judged.result if judged else None,
    }
