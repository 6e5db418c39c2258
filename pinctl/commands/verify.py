"""`pinctl verify`: each pin against what its repository holds. Reads remotes, and writes nothing but the cache."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from pinctl import manifest as pins_toml
from pinctl import waivers
from pinctl.codes import finding
from pinctl.commands import network
from pinctl.commands.evidence import Asking, at_once, gather
from pinctl.commands.workspace import Workspace
from pinctl.errors import ExternalError, UsageError
from pinctl.external import git
from pinctl.external.gitcli import Profile, toplevel
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
    sources: dict[str, bytes] = {}
    with ExitStack() as stack, options.progress("verify", 2 * len(asked)) as step:
        asking = Asking(profile, stack, options.offline)
        known = gather(asked, asking, step, lambda: sources.update(build_files(workspace)))
        judge = partial(_judged, workspace=workspace, sources=sources)
        done = at_once(list(zip(asked, known, strict=True)), judge, step)
    beside = _beside_git(workspace, pins, profile, options, images=images)
    findings = [*_unresolved(workspace, pins), *(found for one in done for found in one.report.findings)]
    findings += beside.findings
    judged = {one.pin.name for one in done if one.evidence.forest is not None} - set(beside.left)
    findings = waivers.of_trees(findings, workspace.manifest, judged)
    trees = Table(("pin", "commit", "reachable", "submodules", "headers"), tuple(map(_cells, done))) if done else None
    return Outcome(
        command="verify",
        root=workspace.root,
        findings=tuple(findings),
        result={"pins": _rows(pins, done, beside)},
        summary=_summary(pins, done, beside),
        body=tuple(table for table in (trees, beside.table) if table),
        closing=_closing(done),
        status=4 if any(found.code == _UNREACHED for found in findings) else None,
    )


def chosen(pins: Mapping[str, Pin], names: Sequence[str]) -> list[Pin]:
    """The pins `names` in the order given, all without. Raises UsageError for one that there is not."""
    for name in names:
        if name not in pins:
            raise UsageError(f"there is no pin {name!r}", hint=f"the pins are: {', '.join(pins)}")
    return [pins[name] for name in dict.fromkeys(names)] if names else list(pins.values())


def _judged(known: tuple[Pin, Evidence], *, workspace: Workspace, sources: Mapping[str, bytes]) -> _Verified:
    """One pin, held against what its remotes say. What fails is a finding, so that the other pins go on."""
    from pinctl.upstream import references
    from pinctl.upstream.verify import verify

    pin, evidence = known
    try:
        report = verify(pin, workspace.manifest, evidence, references.read(pin, sources))
    except ExternalError as error:  # while files of its submodules were read
        refused = isinstance(error, Hostile)
        evidence = replace(evidence, forest=None, failure=str(error), hint=error.hint, refused=refused)
        report = verify(pin, workspace.manifest, evidence)
    return _Verified(pin, evidence, report)


def build_files(workspace: Workspace) -> dict[str, bytes]:
    """The consumer's files that may name paths of a pinned source: CMake's, and Python's that are sites of a pin or are
    named after one; those below `build_roots`, where these are said."""
    from pinctl.upstream import headers, references

    files = {site.file for site in workspace.manifest.all_sites}
    if toplevel(workspace.root) is not None:
        files.update(git.ls_files(workspace.root))
    roots = workspace.manifest.contract.build_roots if workspace.manifest.contract else ()
    below = tuple(f"{root}/" for root in roots)
    pins = workspace.manifest.pins.values()
    wanted = [
        file
        for file in sorted(files)
        if (not roots or file in roots or file.startswith(below) or any(s.file == file for p in pins for s in p.sites))
        and not headers.is_aside(file)
        and any(references.concerns(file, pin) for pin in pins)
    ]
    read = workspace.read(wanted)
    return {file: source for file in wanted if isinstance(source := read[file], bytes)}


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
            what = f"{pin.name} cannot be verified: no commit of it is known"
            yield finding("PIN121", what, file=at.file, span=at.span, pin=pin.name, severity=Severity.WARNING,
                          hint="run: pinctl bump --resolve")  # fmt: skip


# --- what scripts read --------------------------------------------------------------------------------------------


def _rows(pins: Sequence[Pin], done: Sequence[_Verified], beside: "Proofs") -> list[dict[str, object]]:
    """A row for each pin that was asked about, in the order of `pins`."""
    trees = {one.pin.name: _row(one) for one in done}
    names = [pin.name for pin in pins if pin.name in trees or pin.name in beside.rows]
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
