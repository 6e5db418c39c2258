"""`pinctl bump`: pins to other commits, in pins.toml and at every site, after the new trees have been proved.

Nothing is written before everything is known: the plan of all pins is carried out whole, or not at all.
"""

from collections.abc import Sequence
from contextlib import ExitStack

from pinctl import manifest as pins_toml
from pinctl import nested
from pinctl.anchors import search
from pinctl.codes import finding
from pinctl.codes.table import CODES
from pinctl.commands import announcing, bumping, courses, landing, needing, network, patch_bump, releasing
from pinctl.commands.anchoring import Anchoring
from pinctl.commands.announcing import News
from pinctl.commands.bumping import Judging
from pinctl.commands.courses import Course, Order, Plotter
from pinctl.commands.edits import edited
from pinctl.commands.indexes import Indexes
from pinctl.commands.network import Asking, chosen
from pinctl.commands.releasing import Parcel
from pinctl.commands.workspace import Workspace
from pinctl.errors import ManifestError, PinctlError, UsageError
from pinctl.external.parallel import each
from pinctl.finding import Finding, failed
from pinctl.manifest import New
from pinctl.model import KeyPath, Pin
from pinctl.options import Options, Step
from pinctl.outcome import Outcome, counted
from pinctl.upstream import references
from pinctl.upstream.telling import key_of

_UNREACHED = "PIN320"
_ACCEPTABLE = ("PIN3", "PIN4", "PIN5", "PIN120")
_NEVER = ("PIN301", "PIN320", "PIN321", "PIN501", "PIN502", "PIN503")
"""What no one can accept: that nothing is known of the commit or of a patch, or that it may not be used."""
_PROVED = ("repo", "commit", "tag", "unresolved", "digest")
"""Keys that are where a bump leads, and are proved."""


def run(options: Options, order: Order, how: landing.How) -> Outcome:
    """Bump the pins of `order`, and land them as `how` says. Raises ManifestError, UsageError, WriteRefused,
    ExternalError."""
    _demand_sense(order, how, options)
    workspace = Workspace.open_to_write(options, dry=order.check or how.diff)
    pins = _chosen(workspace, order)
    profile = network.profile(options, workspace.root, allow=tuple(order.allow_transport))
    with ExitStack() as stack, options.progress("bump", 3 * len(pins)) as step:
        asking = Asking(profile, stack, options.offline)
        plotter = Plotter(workspace, order, asking, _given(order.sets), Indexes(profile))
        found, lost = _courses(workspace, pins, plotter, step)
        if lost and len(order.names) == 1:
            raise lost[0][1]
        untold = [_finding(workspace, pin, error) for pin, error in lost]
        if order.resolve and not order.check:
            return _filled(workspace, how, found, untold, plotter, options)
        if order.check or untold:
            return _brief(workspace, order, found, untold)
        moving = [course for course in found if course.moves]
        if not moving:
            return _idle(workspace, order, found)
        return _bumped(workspace, how, moving, plotter, options, step)


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
    """The pins that are meant, and the images of variants. Raises UsageError for one that is named and cannot be
    bumped."""
    pins = chosen(courses.subjects(workspace.manifest), order.names)
    if order.resolve:
        return [pin for pin in pins if order.names or _is_open(pin) or nested.unstored(pin, workspace.manifest)]
    if not order.names:
        return [pin for pin in pins if courses.leads(pin) and not pin.unresolved]
    for pin in pins:
        if pin.unresolved and order.wish.to is None:
            what = "commit" if pin.repo else "digest" if pin.url or pin.image else "source"
            raise UsageError(f"the {what} of {pin.name} is not known", hint=f"run: pinctl bump {pin.name} --resolve")
    return pins


def _is_open(pin: Pin) -> bool:
    """Whether something of a pin is open that a server can tell."""
    known = bool(pin.commit or pin.tag or pin.track)
    return bool(pin.repo or pin.url or pin.image) if pin.unresolved else bool(pin.repo and pin.version and not known)


# --- where to -----------------------------------------------------------------------------------------------------


def _courses(
    workspace: Workspace, pins: Sequence[Pin], plotter: Plotter, step: Step
) -> tuple[list[Course], list[tuple[Pin, PinctlError]]]:
    """Where the pins, and those of their groups, are to go, and those of which that cannot be told."""
    alone = plotter.order.resolve  # what is open of one pin is open of no other
    families = [[pin] for pin in pins] if alone else courses.families(pins, workspace.manifest)
    found = list(zip(families, each(families, plotter.family, step), strict=True))
    lost = [(family[0], one) for family, one in found if isinstance(one, PinctlError)]
    return [course for _, one in found if not isinstance(one, PinctlError) for course in one], lost


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
    at = pins_toml.locate(workspace.manifest, (*key_of(pin.name), "track"))
    return finding(network.code(error, "PIN324"), str(error), file=at.file, span=at.span, pin=pin.name, hint=error.hint)


# --- what only looks, or only fills in ----------------------------------------------------------------------------


def _brief(workspace: Workspace, order: Order, found: Sequence[Course], untold: list[Finding]) -> Outcome:
    """`--check`, and a run of which some pin has nowhere to go: nothing of it is proved."""
    moving = sum(course.moves for course in found)
    result = {"pins": [announcing.row(course, announcing.standing(course)) for course in found], "files": []}
    status, told = 4 if _unreached(untold) else None, ""
    if order.check:
        told = f"{counted(moving, 'pin')} of {len(found)} could be bumped" if moving else "nothing newer"
        status = status or (1 if moving or untold else None)
    return Outcome("bump", tuple(untold), result, told, announcing.brief(found), root=workspace.root, status=status)


def _idle(workspace: Workspace, order: Order, found: Sequence[Course]) -> Outcome:
    """Nothing moves; what keeps pins from newer versions is told."""
    told = "nothing newer: every pin is where it should be" if order.all else "nothing to bump"
    closing = tuple(line for course in found for line in announcing.kept(course))
    return Outcome("bump", result={"pins": [], "files": []}, summary=told, closing=closing, root=workspace.root)


def _filled(
    workspace: Workspace, how: landing.How, found: Sequence[Course], untold: list[Finding], plotter: Plotter,
    options: Options,
) -> Outcome:  # fmt: skip
    """`--resolve`: what was open is filled in, and nothing of it is proved."""
    moving = [course for course in found if course.moves]
    changes: dict[KeyPath, New] = {}
    for course in moving:
        if course.git:
            name, target = course.pin.name, course.git.target
            changes |= {("pins", name, "commit"): target.commit, ("pins", name, "unresolved"): None}
            changes |= {("pins", name, "tag"): target.tag} if target.tag else {}
            changes |= {("pins", name, *key): value for key, value in course.git.given.items()}
    parcels = _parcels(moving, plotter, options)
    for parcel in parcels.values():
        changes |= parcel.changes
    links, untied = bumping.stored([c.git for c in moving if c.git], plotter.asking, workspace.manifest)
    changes |= links
    after, files = edited(workspace, changes)
    names = [course.pin.name for course in moving]
    wrong = releasing.judge(parcels, list(parcels), courses.subjects(after.manifest), workspace.manifest,
                            plotter.indexes, plotter.order.accept)  # fmt: skip
    planned = landing.planned(workspace, after, files, names, how, wrong.locks)
    outcome = landing.land(planned, [*wrong.findings, *untied], announcing.resolved(moving))
    left = sum(bool(pin.unresolved) for pin in after.manifest.pins.values())
    more = f"; {counted(left, 'pin')} still unresolved" if left else ""
    refused = failed(outcome.findings)
    state = "open" if refused else "resolved"
    table = announcing.brief(moving, state)
    return outcome._replace(
        findings=(*outcome.findings, *untold),
        result={**outcome.result, "pins": [announcing.row(course, state) for course in moving]},
        body=outcome.body if how.diff or table is None else (table, *outcome.parts),
        summary="" if refused else f"{counted(len(moving), 'pin')} resolved; {outcome.summary}{more}",
        status=4 if _unreached([*untold, *wrong.findings, *untied]) else outcome.status,
    )


def _parcels(moving: Sequence[Course], plotter: Plotter, options: Options) -> dict[str, Parcel]:
    """What servers hold of packages, archives and images."""
    with options.progress("archives, MiB", None) as step:
        return releasing.learn(moving, plotter.asking.profile, step)


def _unreached(findings: Sequence[Finding]) -> bool:
    return any(found.code in (_UNREACHED, "PIN802") for found in findings)


# --- what proves and writes ---------------------------------------------------------------------------------------


def _bumped(
    workspace: Workspace, how: landing.How, moving: Sequence[Course], plotter: Plotter, options: Options, step: Step
) -> Outcome:
    order, asking = plotter.order, plotter.asking
    aims = [course.git for course in moving if course.git and course.git.moves]
    looking = Anchoring(workspace, [aim.pin for aim in aims])
    bumps = bumping.learn(aims, asking, step, looking)
    parcels = _parcels(moving, plotter, options)
    changes = {key: value for bump in bumps for key, value in bump.changes.items()}
    changes |= {key: value for parcel in parcels.values() for key, value in parcel.changes.items()}
    try:
        after, files = edited(workspace, changes)
    except ManifestError as error:
        return _invalid(workspace, error)
    pins = courses.subjects(after.manifest)
    patched = patch_bump.learn(workspace, bumps, pins, asking)
    if order.drop_patches:
        after, files = patch_bump.drop(after, files, patched)
        pins = courses.subjects(after.manifest)
    names = [course.pin.name for course in moving]
    releases = releasing.judge(parcels, names, pins, workspace.manifest, plotter.indexes, order.accept)
    planned = landing.planned(workspace, after, files, names, how, releases.locks)
    by_git = {bump.aim.pin.name: bump for bump in bumps}
    known = dict(zip(by_git, bumping.compared(bumps, pins, asking), strict=True))
    contracts = {name: bumping.contract(bump, pins[name], workspace, planned.sources) for name, bump in by_git.items()}
    news = [News(course, by_git.get(name), known.get(name, ""), contracts.get(name), parcels.get(name),
                 releases.stocks.get(name, ()), pins[name], patched.get(name))
            for course, name in zip(moving, names, strict=True)]  # fmt: skip
    findings = [
        *_of_trees(workspace, order, looking, planned, news),
        *releases.findings,
        *bumping.weighed(patch_bump.findings(patched, drop=order.drop_patches), order.accept),
        *needing.of_bump(workspace.manifest, after.manifest, names, order.accept),
    ]
    outcome = landing.land(planned, findings, announcing.message(news))
    state = "refused" if failed(outcome.findings) else "bumped"
    return outcome._replace(
        result={"pins": [announcing.told(one, state) for one in news], **outcome.result},
        body=outcome.body
        if how.diff
        else (announcing.table(news), *outcome.parts),  # a diff stands alone, for `git apply`
        document=tuple(part for one in news for part in announcing.document(one)),
        closing=(*outcome.closing, *(patch_bump.idle(after, patched) if order.drop_patches else ())),
        status=4 if _unreached(findings) else outcome.status,
    )


def _of_trees(
    workspace: Workspace, order: Order, looking: Anchoring, planned: landing.Landing, news: Sequence[News]
) -> list[Finding]:
    """What is wrong with the trees that pins go to, and with what this repository asks of them."""
    sources = {**looking.sources, **planned.sources}  # as they become: a site may name a path of the tree
    moved = [(one, one.bump, one.after) for one in news if one.bump and one.after]
    pins = [pin for *_, pin in moved]
    by = Judging(workspace.manifest, frozenset(order.accept),
                 {pin.name: references.read(pin, sources) for pin in pins}, search.find(pins, sources))  # fmt: skip
    found = [told for one, bump, pin in moved for told in bumping.judged(bump, pin, one.seen, by)]
    broken = [told for one, *_ in moved if one.contract for told in one.contract.findings]
    return found + bumping.weighed(broken, order.accept)


def _invalid(workspace: Workspace, error: ManifestError) -> Outcome:
    """What is wrong with pins.toml as it would become: it stands in no file, so it has no place."""
    told = [f._replace(message=f"as it would become: {f.message}", span=None, related=()) for f in error.findings]
    return Outcome("bump", tuple(told), {"pins": [], "files": []}, root=workspace.root)
