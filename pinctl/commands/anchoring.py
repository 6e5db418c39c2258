"""The consumer's edits of pinned sources: looked for while the remotes are asked, so that the files that they edit are
fetched with the others."""

from collections.abc import Collection, Sequence
from threading import Event

from pinctl.anchors import judging, search, telling
from pinctl.anchors.model import Edit, State, is_patch
from pinctl.commands.workspace import Workspace
from pinctl.external import git
from pinctl.external.gitcli import toplevel
from pinctl.finding import Finding, Severity, Span
from pinctl.model import Pin
from pinctl.upstream import headers
from pinctl.upstream.forest import Forest
from pinctl.upstream.tree import Tree

_MISSING = "PIN350"


class Anchoring:
    """What the build files of `workspace` do to the sources of `pins`: `sources` and `edits` are there once it has
    looked."""

    def __init__(self, workspace: Workspace, pins: Sequence[Pin]) -> None:
        self.workspace, self.pins = workspace, pins
        self.sources: dict[str, bytes] = {}
        self.edits: dict[str, list[Edit]] = {}
        self._looked = Event()

    def look(self) -> None:
        """Read the build files. Whoever waits for it goes on, whatever comes of it."""
        try:
            self.sources = build_files(self.workspace)
            self.edits = search.find(self.pins, self.sources)
        finally:
            self._looked.set()

    def files(self, pin: Pin, tree: Tree) -> list[str]:
        """The files of the root tree of `pin` that its edits are held against, once `look`, in another thread, has
        been done."""
        self._looked.wait()
        return judging.wanted(self.edits.get(pin.name, ()), Forest(tree, {}))


def build_files(workspace: Workspace) -> dict[str, bytes]:
    """The consumer's files that may name paths of a pinned source, or edit it: CMake code, shell scripts, Dockerfiles
    and patches; Python code that is a site of a pin or is named after one. Those below `build_roots`, where these are
    said."""
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
        and (is_patch(file) or any(search.concerns(file, pin) for pin in pins))
    ]
    read = workspace.read(wanted)
    return {file: source for file in wanted if isinstance(source := read[file], bytes)}


def weighed(findings: Sequence[Finding], edits: Sequence[Edit], before: Forest | None) -> list[Finding]:
    """The findings as heavy as they are for a bump: an edit that found nothing at the old commit, either, is none that
    the bump breaks. Raises ExternalError."""
    if before is None or not any(found.code == _MISSING for found in findings):
        return list(findings)
    matched = {(one.edit.file, one.edit.span, telling.called(one.edit))
               for one in telling.together(judging.judge(edits, before)) if one.state is State.MATCHES}  # fmt: skip
    return [_weighed(found, matched) if found.code == _MISSING else found for found in findings]


def _weighed(found: Finding, matched: Collection[tuple[str, Span, str]]) -> Finding:
    if any((file, span) == (found.file, found.span) and name in found.message for file, span, name in matched):
        return found._replace(severity=Severity.ERROR, message=f"{found.message}; it does at the pinned one")
    return found._replace(severity=Severity.WARNING, message=f"{found.message}, nor does it at the pinned one")
