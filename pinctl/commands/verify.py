"""`pinctl verify`: each pin against what its repository holds. Reads remotes, and writes nothing but the cache."""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from pinctl import manifest as pins_toml
from pinctl import waivers
from pinctl.anchors import telling
from pinctl.codes import finding
from pinctl.commands import network
from pinctl.commands.anchoring import Anchoring
from pinctl.commands.evidence import at_once, gather
from pinctl.commands.network import Asking, chosen
from pinctl.commands.workspace import Workspace
from pinctl.errors import ExternalError
from pinctl.external.gitcli import Profile
from pinctl.external.store import Hostile
from pinctl.finding import Finding, Severity
from pinctl.model import Pin
from pinctl.options import Options
from pinctl.outcome import Outcome, Table, counted
from pinctl.upstream.evidence import Evidence, Module, Reach

if TYPE_CHECKING:
    from pinctl.commands.proofs import Proofs
    from pinctl.upstream.headers import Need
    from pinctl.upstream.verify import Report

_UNREACHED = "PIN320"
_SHORT = 10
_MOST_PLACES = 20


@dataclass(frozen=True, slots=True)
class _Verified:
    pin: Pin
    evidence: Evidence
    report: "Report"


def run(
    options: Options, names: Sequence[str] = (), *, images: bool = False, allow_transport: Sequence[str] = ()
) -> Outcome:
    """Verify the pins `names`, all without; `images` in their registries, too. Raises ManifestError, UsageError,
    ExternalError."""
    workspace = Workspace.open(options)
    pins = chosen(workspace.manifest.pins, names)
    asked = [pin for pin in pins if pin.repo and pin.commit and not pin.unresolved]
    profile = network.profile(options, workspace.root, allow=tuple(allow_transport))
    anchoring = Anchoring(workspace, asked)
    with ExitStack() as stack, options.progress("verify", 2 * len(asked)) as step:
        asking = Asking(profile, stack, options.offline)
        known = gather(asked, asking, step, anchoring.look, anchoring.files)
        judge = partial(_judged, workspace=workspace, anchoring=anchoring, asking=asking)
        done = at_once(list(zip(asked, known, strict=True)), judge, step)
    beside = _beside_git(workspace, pins, profile, options, images=images)
    findings = [*_unresolved(workspace, pins), *(found for one in done for found in one.report.findings)]
    findings += beside.findings
    judged = {one.pin.name for one in done if one.evidence.forest is not None} - set(beside.left)
    findings = waivers.of_trees(findings, workspace.manifest, judged)
    return Outcome(
        command="verify",
        root=workspace.root,
        findings=tuple(findings),
        result={"pins": _rows(pins, done, beside)},
        summary=_summary(pins, done, beside),
        body=tuple(table for table in (*_tables(done, options), beside.table) if table),
        closing=_closing(done),
        status=4 if any(found.code == _UNREACHED for found in findings) else None,
    )


def _judged(known: tuple[Pin, Evidence], *, workspace: Workspace, anchoring: Anchoring, asking: Asking) -> _Verified:
    """One pin, held against what its remotes say. What fails is a finding, so that the other pins go on."""
    from pinctl.upstream import references
    from pinctl.upstream.verify import verify

    pin, evidence = known
    edits = anchoring.edits.get(pin.name, ())
    try:
        report = verify(pin, workspace.manifest, evidence, references.read(pin, anchoring.sources), edits)
        if pin.patches:
            from pinctl.commands import patch_bump

            told = patch_bump.verified(workspace, pin, evidence, asking)
            report = report._replace(findings=(*report.findings, *told))
    except ExternalError as error:  # while files of its submodules were read
        refused = isinstance(error, Hostile)
        evidence = replace(evidence, forest=None, failure=str(error), hint=error.hint, refused=refused)
        report = verify(pin, workspace.manifest, evidence, edits=edits)
    return _Verified(pin, evidence, report)


def _beside_git(
    workspace: Workspace, pins: Sequence[Pin], profile: Profile, options: Options, *, images: bool
) -> "Proofs":
    """What is proved of packages, archives and images."""
    from pinctl.commands import proofs

    return proofs.prove(workspace.manifest, pins, profile, options, images=images)


def _unresolved(workspace: Workspace, pins: Sequence[Pin]) -> Iterator[Finding]:
    """Pins of which no commit is known: nothing can be proved of them."""
    for pin in pins:
        if pin.unresolved or (pin.repo and not pin.commit):
            at = pins_toml.locate(workspace.manifest, ("pins", pin.name, "unresolved"))
            of = "digest" if pin.url or pin.image else "commit"
            what = f"{pin.name} cannot be verified: no {of} of it is known"
            yield finding("PIN121", what, file=at.file, span=at.span, pin=pin.name, severity=Severity.WARNING,
                          hint="run: pinctl bump --resolve")  # fmt: skip


# --- what scripts read --------------------------------------------------------------------------------------------


def _rows(pins: Sequence[Pin], done: Sequence[_Verified], beside: "Proofs") -> list[dict[str, object]]:
    """A row for each pin that was asked about, in the order of `pins`."""
    trees = {one.pin.name: _row(one) for one in done}
    names = [pin.name for pin in pins if pin.name in trees or pin.name in beside.rows]
    names += [name for name in beside.rows if name not in names]  # the images of variants
    return [{"name": name, **trees.get(name, {}), **beside.rows.get(name, {})} for name in names]


def _row(one: _Verified) -> dict[str, object]:
    return {
        "name": one.pin.name,
        "commit": one.pin.commit,
        "reachable": _word(one.evidence.reach),
        "branch": one.evidence.branch,
        "tag": one.evidence.tag,
        **({} if one.evidence.age is None else {"age": round(one.evidence.age)}),
        "submodules": [_module(module) for module in one.evidence.modules.values()],
        "headers": [_header(need) for need in one.report.needs],
        "anchors": [telling.row(anchor) for anchor in one.report.anchors],
    }


def _word(reach: Reach | None) -> str | None:
    return None if reach is None else reach.value


def _module(module: Module) -> dict[str, object]:
    path, commit, _, url, _ = module.submodule
    return {"path": path, "url": url, "commit": commit, "reachable": _word(module.reach)}


def _header(need: "Need") -> dict[str, object]:
    """`package` is the need's name in pins.toml where it is declared, else that of the well-known library."""
    first, known, declared = need.first, need.known, need.declared
    managers = declared.managers if declared else known.told() if known else {}
    return {
        "include": need.header,
        "file": first.file,
        "line": first.line,
        "guarded": need.guarded,
        "condition": first.condition,
        "package": declared.name if declared else known.name if known else None,
        "managers": dict(managers),
        "declared": declared is not None,
        "places": [f"{sighting.file}:{sighting.line}" for sighting in need.sightings[:_MOST_PLACES]],
    }


def _tables(done: Sequence[_Verified], options: Options) -> list[Table]:
    """What a person is shown of the trees, and with -v of the edits of their files."""
    anchors = [telling.cells(one.pin.name, anchor) for one in done for anchor in one.report.anchors]
    columns = ("pin", "commit", "reachable", "submodules", "headers", *(["edits"] if anchors else []))
    tables = [Table(columns, tuple(_cells(one)[: len(columns)] for one in done))] if done else []
    if anchors and options.verbose:
        tables.append(Table(("pin", "edit", "of", "pattern", "state"), tuple(anchors)))
    return tables


def _cells(one: _Verified) -> tuple[str, ...]:
    modules = one.evidence.modules.values()
    had = sum(module.reach is not None and module.reach is not Reach.GONE for module in modules)
    missing = sum(need.declared is None for need in one.report.needs)
    return (
        one.pin.name,
        (one.pin.commit or "")[:_SHORT],
        _word(one.evidence.reach) or "-",
        f"{had} of {len(modules)}" if modules else "-",
        f"{len(one.report.needs)} needed, {missing} undeclared" if one.report.needs else "-",
        telling.brief(one.report.anchors),
    )


def _summary(pins: Sequence[Pin], done: Sequence[_Verified], beside: "Proofs") -> str:
    names = {one.pin.name for one in done} | set(beside.rows)
    told = f"{counted(len(names), 'pin')} verified"
    if beside.left:
        told += f"; {beside.why}, not all was asked about {', '.join(beside.left)}"
    left = len({pin.name for pin in pins} - names - set(beside.left))
    return f"{told}; {counted(left, 'pin')} without a repository or a commit not asked about" if left else told


def _closing(done: Sequence[_Verified]) -> tuple[str, ...]:
    """Offline, how old it is what the pins were held against."""
    ages = [one.evidence.age for one in done if one.evidence.age is not None]
    return (f"offline: the servers were asked {network.ago(max(ages))}",) if ages else ()
