"""`pinctl init`: the pins of a repository that has no pins.toml, and a proposal for one. Touches no site."""

import os
from collections.abc import Sequence
from dataclasses import dataclass, field

from pinctl import drift, manifest, shallow, sites
from pinctl.codes import finding
from pinctl.commands import gitlinks
from pinctl.commands.workspace import PINS_FILE, demand_policy, read
from pinctl.discovery import gitmodules, lints, overview, telling
from pinctl.discovery.hints import hints
from pinctl.discovery.joins import group
from pinctl.discovery.proposal import Proposed, alone, propose
from pinctl.discovery.render import render
from pinctl.discovery.sightings import Sighting, sightings
from pinctl.errors import ManifestError, UsageError
from pinctl.external import files, git, journal
from pinctl.external.gitcli import toplevel
from pinctl.finding import Finding, Severity
from pinctl.model import Manifest
from pinctl.options import Options
from pinctl.outcome import Outcome, Text
from pinctl.paths import path_problem
from pinctl.plan import FilePlan, Plan
from pinctl.reconcile import Problem, Source, reconcile
from pinctl.sites.base import Document, Unparsable

_FILES, _GITLINK = ("100644", "100755"), "160000"


@dataclass(slots=True)
class _Survey:
    """What was read: the documents that pin something, the submodules with the commit in the index, both by path; what
    was seen in them, and what could not be read."""

    documents: dict[str, Document] = field(default_factory=dict)
    links: dict[str, str] = field(default_factory=dict)
    sightings: list[Sighting] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class _Proposal:
    """Pins that make a valid pins.toml, what `check` will say of it, and what the places that disagree hold."""

    pins: Sequence[Proposed]
    findings: list[Finding]
    differences: dict[tuple[str, str], str]


def run(options: Options, *, write: bool = False) -> Outcome:
    """Raises UsageError where there is a pins.toml already and `write` is asked for, and ExternalError."""
    root = os.path.realpath(options.directory)
    demand_policy(options, root)
    if write and os.path.lexists(os.path.join(root, PINS_FILE)):
        raise UsageError(f"there is a {PINS_FILE} already", hint="run pinctl init without --write to see a proposal")
    survey = _survey(root, options)
    groups = group(survey.sightings)
    proposal = _proposal(root, propose(groups), survey)
    pins = proposal.pins
    text = render(pins, proposal.differences) if pins else ""
    if write and text:
        journal.write(root, Plan(files=[FilePlan(path=PINS_FILE, before=None, after=text.encode())]))
    sources = {path: document.source for path, document in survey.documents.items()}
    overriding = lints.overriding_defaults(groups, sources)
    lone = alone(groups, pins)
    shown = overview.text(pins, proposal.differences, lone, written=write, whole=bool(options.verbose))
    return Outcome(
        command="init",
        root=root,
        findings=(*survey.findings, *proposal.findings, *overriding),
        summary=overview.summary(pins, written=write),
        body=tuple(Text(part) for part in (shown, text if options.verbose else "") if part) or None,
        status=0,
        result={"pins": [_result(pin) for pin in pins], "alone": [_row(seen) for seen in lone], "pins_toml": text},
    )


# --- reading ---


def _survey(root: str, options: Options) -> _Survey:
    survey = _Survey()
    paths = [path for path in _paths(root, survey) if telling.is_wanted(path) and _is_named(path, survey)]
    with options.progress("reading", len(paths)) as step:
        for path in paths:
            source = read(root, path)
            if not isinstance(source, Problem):
                _look(path, source, survey)
            elif source.code != "PIN205" and telling.is_missed(sites.language_of(path)):
                survey.findings.append(finding("PIN217", f"it was passed over: {source.message}", file=path))
            step(1)
    return survey


def _paths(root: str, survey: _Survey) -> list[str]:
    """The tracked regular files; outside a repository, all of them. Notes the submodules."""
    if toplevel(root) is None:
        return files.walk(root)
    entries = git.index(root)
    survey.links = {e.path: e.id for e in entries if e.mode == _GITLINK and _is_named(e.path, survey, linked=True)}
    return [entry.path for entry in entries if entry.mode in _FILES]


def _is_named(path: str, survey: _Survey, *, linked: bool = False) -> bool:
    """Whether pins.toml can name `path`; if not, and it may well pin something, that is told."""
    problem = path_problem(path) if _is_text(path) else "its name is not UTF-8 text"
    if problem and (linked or telling.is_missed(sites.language_of(path))):
        shown = path.encode("utf-8", "backslashreplace").decode()
        message = f"it was passed over, since pins.toml cannot name it: {problem}"
        survey.findings.append(finding("PIN217", message, file=shown, hint="rename it"))
    return problem is None


def _look(path: str, source: bytes, survey: _Survey) -> None:
    language = sites.language_of(path, source[:128])
    if not telling.is_telling(language, source):
        return
    try:
        document = sites.parse(language, source)
        found = _seen(path, language, document, survey)
    except Unparsable as error:
        survey.findings.append(finding("PIN217", f"the file was passed over: {error}", file=path))
        return
    told = [sighting for sighting in found if _is_text(sighting.file + sighting.selector + sighting.value)]
    if len(told) < len(found):
        survey.findings.append(finding("PIN217", "places were passed over: their names are not UTF-8 text", file=path))
    if told:
        survey.sightings += told
        survey.documents[path] = document


def _is_text(text: str) -> bool:
    """Whether pins.toml, which is UTF-8, can hold it."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _seen(path: str, language: str, document: Document, survey: _Survey) -> list[Sighting]:
    """What pins something in a document. Raises Unparsable."""
    if language == "gitmodules":
        return gitmodules.links(path, document, survey.links)
    hinted = hints(path, language, document)
    survey.findings += lints.stale_submodules(path, document.source, hinted.clones)
    return sightings(path, document, hinted, locked=telling.is_locked(document.source))


# --- proving ---


def _proposal(root: str, pins: Sequence[Proposed], survey: _Survey) -> _Proposal:
    """The proposal, held against the files as `check` will do."""
    kept, parsed = _accepted(pins, survey)
    sources: dict[str, Source] = {**survey.documents, **gitlinks.read(root, _linked(kept, survey))}
    seen = reconcile(parsed, sources)
    differing = [drift.describe(o, parsed) for o in seen.differing]
    told = [*seen.findings, *differing, *shallow.findings(seen), *gitlinks.disagreements(seen)]
    found = {(f.file or "", f.selector or ""): f.found or "" for f in (*seen.findings, *differing)}
    return _Proposal(kept, [_disagreement(f) for f in told], found)


def _accepted(pins: Sequence[Proposed], survey: _Survey) -> tuple[Sequence[Proposed], Manifest]:
    """The pins that make a valid pins.toml, and that as it is parsed. Those that the parser refuses (for an odd URL,
    say) are left out and told."""
    while True:
        try:
            return pins, manifest.parse(render(pins), path=PINS_FILE)
        except ManifestError as error:
            refused = {f.pin for f in error.findings}
            kept = [pin for pin in pins if pin.name not in refused]
            if len(kept) == len(pins):
                raise
            survey.findings += [_left_out(f) for f in error.findings]
            pins = kept


def _linked(pins: Sequence[Proposed], survey: _Survey) -> list[str]:
    """The submodules that the pins have as sites."""
    return [place.file for pin in pins for place in pin.places if place.file in survey.links]


def _left_out(refused: Finding) -> Finding:
    """A warning of a pin that is left out; the line would be one of a file that does not exist."""
    message = f"left out of the proposal: {refused.message}"
    return refused._replace(severity=Severity.WARNING, message=message, file=None, span=None, related=())


def _disagreement(told: Finding) -> Finding:
    """What `check` will say, as the question that it is for now."""
    if told.code not in ("PIN201", "PIN204"):
        return told._replace(severity=Severity.WARNING)
    hint = "decide which is right; `pinctl check` fails on it until then"
    message = f"`{told.selector}` differs from what other places hold"
    return told._replace(code="PIN222", severity=Severity.WARNING, message=message, hint=hint, related=())


# --- the result ---


def _result(pin: Proposed) -> dict[str, object]:
    return {
        "name": pin.name,
        "source": pin.source,
        "repo": pin.repo,
        "commit": pin.commit,
        "tag": pin.tag,
        "version": pin.version,
        "image": pin.image,
        "url": pin.url,
        "packages": list(pin.packages),
        "sites": [{**_row(seen), "template": place.template} for place in pin.places for seen in place.sightings],
    }


def _row(seen: Sighting) -> dict[str, object]:
    value = " ".join(seen.elements) or seen.value
    line = seen.span.line if seen.span else None
    return {"file": seen.file, "line": line, "selector": seen.selector, "value": value}
