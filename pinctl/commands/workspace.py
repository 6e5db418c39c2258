"""What every verb begins with: the root, pins.toml, the files of its sites, what its recipes render."""

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pinctl import manifest
from pinctl.codes import finding
from pinctl.errors import ManifestError, UsageError
from pinctl.external import cache, files, resources, state
from pinctl.finding import Finding, Severity
from pinctl.model import KeyPath, Manifest
from pinctl.options import Options

if TYPE_CHECKING:
    from pinctl.reconcile import Content, Reconciliation, Source

PINS_FILE = "pins.toml"


@dataclass(slots=True)
class Workspace:
    """A consumer's tree with its manifest. `root` is absolute: the folder that holds pins.toml."""

    root: str
    manifest: Manifest
    sources: dict[str, "Content"] = field(default_factory=dict)
    told: list[Finding] = field(default_factory=list)
    """What opening it found that the user must know."""
    remembers: bool = False
    """Whether what was read of its files is kept in the user's cache: never for a stranger's checkout."""

    @classmethod
    def open(cls, options: Options) -> "Workspace":
        """Raises UsageError where there is no pins file, ManifestError where it is invalid."""
        root, name = _located(options)
        return cls(root=root, manifest=load(root, name), remembers=not options.is_untrusted)

    @classmethod
    def open_to_write(cls, options: Options, *, dry: bool) -> "Workspace":
        """As `open`, after an interrupted write was finished or undone, or told where the run is `dry`.

        Raises as `open`, and ExternalError, WriteRefused.
        """
        root, name = _located(options)
        told = interrupted(root) if dry else _recovered(root)
        return cls(root=root, manifest=load(root, name), told=told, remembers=not options.is_untrusted)

    def read(self, paths: Iterable[str]) -> dict[str, "Content"]:
        """The files at `paths`, each read once in the life of the workspace; a Problem where one cannot be."""
        for path in paths:
            if path not in self.sources:
                self.sources[path] = read(self.root, path)
        return self.sources

    def reconcile(self, dropped: Mapping[KeyPath, tuple[str, ...]] | None = None) -> "Reconciliation":
        """Every site held against pins.toml; `dropped` as in `reconcile.reconcile`. Raises ExternalError.

        Files that are as they were at the last run are not parsed again.
        """
        from pinctl.reconcile import Problem, reconcile
        from pinctl.sites.memory import Memory

        memory = Memory(cache.load(self.root), cache.readers()) if self.remembers else Memory()
        sites = self.manifest.all_sites
        self.read(site.file for site in sites)
        links = [s.file for s in sites if s.selector == "gitlink" and isinstance(self.sources[s.file], Problem)]
        seen = reconcile(self.manifest, {**self.sources, **self._gitlinks(links)}, dropped, parse=memory.open)
        if memory.learned and self.remembers:
            cache.save(self.root, memory.used)
        return seen

    def _gitlinks(self, paths: Sequence[str]) -> dict[str, "Source"]:
        if not paths:
            return {}
        from pinctl.commands import gitlinks

        return gitlinks.read(self.root, paths)


def _located(options: Options) -> tuple[str, str]:
    """As `locate`, with the policy file looked at: one that is misnamed is told by every verb."""
    root, name = locate(options)
    demand_policy(options, root)
    return root, name


def demand_policy(options: Options, root: str) -> None:
    """Raises UsageError where there is a policy file for the run on `root`, and it cannot be used."""
    if options.policy is not None:
        from pinctl.external import policy

        if not os.path.isfile(options.policy):
            raise UsageError(f"--policy {options.policy}: no such file")
        policy.read(options.policy, root)


def interrupted(root: str) -> list[Finding]:
    """The finding of a write that was interrupted and not yet mended."""
    if not os.path.isdir(state.home()):  # nothing was ever written from here, as on most CI machines
        return []
    from pinctl.external import journal

    files_ = journal.pending(root)
    if not files_:
        return []
    return [finding("PIN213", f"an earlier write was interrupted: {', '.join(files_)}",
                    hint="run: pinctl sync   (finishes or undoes it)")]  # fmt: skip


def _recovered(root: str) -> list[Finding]:
    from pinctl.external import journal

    done = journal.recover(root)
    if done is None:
        return []
    what = "finished" if done.finished else "undone"
    return [finding("PIN213", f"an earlier write was interrupted, and is now {what}: {', '.join(done.files)}",
                    severity=Severity.INFO)]  # fmt: skip


def locate(options: Options) -> tuple[str, str]:
    """The root and the name of the pins file in it: `--pins`, else found from `-C` upwards to the git root.

    Raises UsageError.
    """
    start = os.path.realpath(options.directory)
    if not os.path.isdir(start):
        raise UsageError(f"-C {options.directory}: no such directory")
    if options.pins is not None:
        path = os.path.realpath(os.path.join(start, options.pins))
        if not os.path.isfile(path):
            raise UsageError(f"--pins {options.pins}: no such file")
        return os.path.split(path)
    for folder in _upwards(start):
        if os.path.isfile(os.path.join(folder, PINS_FILE)):
            return folder, PINS_FILE
    raise UsageError(
        f"no {PINS_FILE} in {start} or above it", hint="run: pinctl init   (proposes one for this repository)"
    )


def _upwards(folder: str) -> Iterable[str]:
    """`folder` and its parents, up to the root of its git repository, or of the file system outside one."""
    while True:
        yield folder
        parent = os.path.dirname(folder)
        if parent == folder or os.path.exists(os.path.join(folder, ".git")):
            return
        folder = parent


def load(root: str, name: str) -> Manifest:
    """The manifest in file `name` of `root`. Raises ManifestError, also where it pins nothing and has no index: an
    empty or truncated file would agree with everything."""
    try:
        parsed = manifest.parse(
            read_text(root, name), path=name, load=lambda path: read_text(root, path), recipes=resources.listing()
        )
    except ManifestError as error:
        raise ManifestError(error.findings, root) from None
    if not (parsed.pins or parsed.all_sites or parsed.all_generated or parsed.index):
        hint = "run: pinctl init   (proposes pins for this repository)"
        raise ManifestError([finding("PIN104", f"{name} has no pins", file=name, hint=hint)], root)
    return parsed


def read_text(root: str, path: str) -> str:
    source = read(root, path)
    if not isinstance(source, bytes):
        raise ManifestError([finding("PIN101", source.message, file=path)])
    return source.decode("utf-8")


def read(root: str, path: str) -> "Content":
    """One file below the root as UTF-8 bytes, or why it cannot be had."""
    code = "PIN206"
    try:
        source = files.read_site(root, path)
        source.decode("utf-8")
        if b"\0" not in source:
            return source
        reason = "is a binary file"
    except files.Missing:
        code, reason = "PIN205", "does not exist"
    except files.Unreadable as error:
        reason = error.reason
    except UnicodeDecodeError as error:
        reason = f"is not UTF-8 text (byte {error.start})"
    from pinctl.reconcile import Problem

    return Problem(code, f"{path} {reason}")
