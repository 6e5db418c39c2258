"""`check --unguarded`: mentions of a pin in tracked files that no site covers."""

from collections import defaultdict
from collections.abc import Iterator

from pinctl import blocks, manifest, sites
from pinctl.codes import finding
from pinctl.commands.workspace import Workspace, read
from pinctl.errors import ExternalError, ManifestError
from pinctl.external import files, git
from pinctl.external.gitcli import toplevel
from pinctl.finding import Finding, Span
from pinctl.options import Options
from pinctl.paths import path_problem
from pinctl.reconcile import Problem, Reconciliation
from pinctl.sites.base import BadSelector, Document, Unparsable
from pinctl.unguarded import Mention, Searcher, pattern_of, searcher, toml_key, uncovered

_CODE = "PIN214"
_VERSIONS_OF_PINS = 200
"""So many earlier versions of pins.toml are looked at for commits that it held before."""


def findings(workspace: Workspace, seen: Reconciliation, options: Options) -> list[Finding]:
    """A warning for each place that names a pin and that no site covers. Raises ExternalError."""
    search = searcher(workspace.manifest, _earlier(workspace))
    if search is None:
        return []
    covered, paths = _covered(seen), _paths(workspace)
    found: list[Finding] = []
    with options.progress("looking for unguarded places", len(paths)) as step:
        for path in paths:
            found += _in_file(workspace, search, path, covered[path])
            step(1)
    return found


def _paths(workspace: Workspace) -> list[str]:
    """The files that people write: those that git tracks, or all of them outside a repository; not pins.toml, nor what
    a recipe renders as a whole. Raises ExternalError."""
    try:
        paths = git.ls_files(workspace.root) if toplevel(workspace.root) else files.walk(workspace.root)
    except files.Unreadable as error:
        raise ExternalError(f"{workspace.root} {error.reason}") from error
    made = {item.file for item in workspace.manifest.all_generated if not item.block}
    ours = {workspace.manifest.path, *(path for path, _ in workspace.manifest.bases)}
    return [path for path in paths if path not in made | ours]


def _covered(seen: Reconciliation) -> defaultdict[str, list[tuple[int, int]]]:
    spans: defaultdict[str, list[tuple[int, int]]] = defaultdict(list)
    for observation in seen.observations:
        if observation.slot is not None:
            spans[observation.site.file].append((observation.slot.start, observation.slot.end))
    return spans


def _in_file(workspace: Workspace, search: Searcher, path: str, covered: list[tuple[int, int]]) -> Iterator[Finding]:
    source = workspace.sources.get(path) or read(workspace.root, path)
    if isinstance(source, Problem):
        return
    mentions = uncovered(search.mentions(source), [*covered, *blocks.all_blocks(source)])
    document = _document(workspace, path, source) if mentions else None
    for mention in mentions:
        yield _finding(path, source, mention, document)


def _document(workspace: Workspace, path: str, source: bytes) -> Document | None:
    try:
        return sites.load(sites.language_for(path, source, workspace.manifest.languages)).parse(source)
    except Unparsable:
        return None


def _finding(path: str, source: bytes, mention: Mention, document: Document | None) -> Finding:
    selector = _selector(document, source, mention) if path_problem(path) is None else None
    waiver = f'[[allow]] with code = "{_CODE}", path = {toml_key(path)} and a reason'
    if selector is None:
        hint = f"cover it with a site, or waive it in pins.toml: {waiver}"
    else:
        site = f'[pins.{mention.pin}.sites.{toml_key(path)}]\n{toml_key(selector)} = "{mention.template}"'
        hint = f"waive it in pins.toml ({waiver}), or cover it there:\n{site}"
    return finding(
        _CODE,
        f"{source[mention.start : mention.end].decode('utf-8', 'replace')} {mention.why}, and no site holds it",
        file=path,
        span=Span.of(source, mention.start, mention.end),
        pin=mention.pin,
        selector=selector,
        hint=hint,
    )


def _selector(document: Document | None, source: bytes, mention: Mention) -> str | None:
    """A selector that finds the mention and nothing else: that of its literal, or a pattern. None where neither does,
    or where the pin has no fact to compare it with."""
    if document is None or mention.template is None:
        return None
    span = (mention.start, mention.end)
    inner = (s for s in document.slots() if not s.many and s.start <= span[0] and span[1] <= s.end)
    text = source[slice(*span)].decode("utf-8", "replace")
    own = (sites.selector_of(document, s) for s in inner if s.value == text)
    for selector in (*own, pattern_of(source, mention)):
        if selector is not None and selector.isprintable() and _finds(document, selector, span):
            return selector
    return None


def _finds(document: Document, selector: str, span: tuple[int, int]) -> bool:
    """Whether `selector` is one of the document, and finds a single value that stands at `span`, quotes aside."""
    try:
        hits = sites.find(document, selector)
    except BadSelector:
        return False
    if len(hits) != 1 or len(hits[0]) != 1 or hits[0][0].part:
        return False
    slot = hits[0][0]
    return slot.start <= span[0] and span[1] <= slot.end and slot.value == document.source[slice(*span)].decode("utf-8")


def _earlier(workspace: Workspace) -> dict[str, set[str]]:
    """By pin, the commits that pins.toml held before."""
    if toplevel(workspace.root) is None:
        return {}
    earlier: defaultdict[str, set[str]] = defaultdict(set)
    for _, (_, text) in zip(
        range(_VERSIONS_OF_PINS), git.history_of(workspace.root, workspace.manifest.path), strict=False
    ):
        try:
            before = manifest.parse(text.decode("utf-8", "replace"), path=workspace.manifest.path)
        except ManifestError:
            continue
        for name, pin in before.pins.items():
            if pin.commit:
                earlier[name].add(pin.commit)
    return earlier
