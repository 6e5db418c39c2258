"""What pins.toml and its sites held before: at HEAD, or at the commit that `--since` names."""

from collections import defaultdict
from collections.abc import Iterable

from pinctl import drift, template
from pinctl.commands import generated, gitlinks, history
from pinctl.commands.workspace import Workspace
from pinctl.errors import UsageError
from pinctl.external import git
from pinctl.external.gitcli import toplevel
from pinctl.facts import UnstoredError
from pinctl.finding import Finding, Severity
from pinctl.model import KeyPath, Manifest, Mode, Site
from pinctl.reconcile import Source, elements, reconcile
from pinctl.template import Expected


def dropped(
    workspace: Workspace, since: str | None = None, also: Iterable[Manifest] = ()
) -> dict[KeyPath, tuple[str, ...]]:
    """By a contains-site's key, the elements that sites of its list gave at HEAD, `since` or in `also`, and give no
    more.

    Raises UsageError where `since` names no commit, ExternalError.
    """
    if since is not None:
        _demand(workspace, since)
    lists: defaultdict[tuple[str, str], list[Site]] = defaultdict(list)
    for site in workspace.manifest.all_sites:
        if site.mode is Mode.CONTAINS:
            lists[site.file, site.selector].append(site)
    if not lists:
        return {}
    revisions = dict.fromkeys(("HEAD", since or "HEAD"))
    earlier = [*also, *(m for m in (history.manifest_at(workspace, revision) for revision in revisions) if m)]
    gone = {}
    for place, sites in lists.items():
        before = [e for m in earlier for e in _elements((s for s in m.all_sites if (s.file, s.selector) == place), m)]
        now = _elements(sites, workspace.manifest)
        gone[sites[0].key] = tuple(e for e in dict.fromkeys(before) if e not in now)
    return {key: values for key, values in gone.items() if values}


def _demand(workspace: Workspace, since: str) -> None:
    """Raises UsageError where `since` names no commit, ExternalError."""
    if toplevel(workspace.root) is None or git.resolve(workspace.root, since) is None:
        raise UsageError(f"--since {since}: no such commit here", hint="fetch it first (CI: fetch-depth: 0)")


def _elements(sites: Iterable[Site], of: Manifest) -> list[str]:
    """What the templates of `sites` give together."""
    together: list[str] = []
    for site in sites:
        try:
            expected = template.evaluate(template.parse(site.template), of.pins.get(site.pin or ""), of)
        except UnstoredError:
            continue
        if isinstance(expected, Expected):
            together += elements(expected.value)
    return together


def only_new(workspace: Workspace, findings: list[Finding], since: str) -> list[Finding]:
    """`findings` with those that stood just so at `since` lowered to warnings: only new drift fails.

    What pins.toml dropped since then is mended by a `sync` that is told so too.
    """
    findings = [_mended_since(f, since) for f in findings]
    before = history.manifest_at(workspace, since)
    if before is None:
        return findings
    old = {_identity(f) for f in _findings(history.at(workspace, before, since), since)}
    return [drift.lowered(f, since) if f.severity is Severity.ERROR and _identity(f) in old else f for f in findings]


def _mended_since(found: Finding, since: str) -> Finding:
    from shlex import quote

    return found._replace(hint=f"run: pinctl sync --since {quote(since)}") if found.code == "PIN215" else found


def _findings(then: Workspace, revision: str) -> list[Finding]:
    links = [site.file for site in then.manifest.all_sites if site.selector == "gitlink"]
    sources: dict[str, Source] = {**then.sources, **gitlinks.at(then.root, revision, links)}
    seen = reconcile(then.manifest, sources)
    return [
        *seen.findings,
        *(drift.describe(o, then.manifest) for o in seen.differing),
        *generated.examine(then).findings,
    ]


def _identity(found: Finding) -> Finding:
    """A finding without its place in the file and without advice: what makes it the same drift as before."""
    return found._replace(span=None, hint=None, related=())
