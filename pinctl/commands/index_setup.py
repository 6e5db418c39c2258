"""What the verbs of the index begin with: `[index]` and the variants of pins.toml, if there is one, and the records."""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple

from pinctl.codes import finding
from pinctl.commands import network, workspace
from pinctl.errors import ManifestError, UsageError
from pinctl.external import files, outputs, state
from pinctl.external.gitcli import Profile
from pinctl.finding import Finding, Span
from pinctl.index import records
from pinctl.index.layout import Layout, Variants, layout
from pinctl.index.records import Record
from pinctl.model import Manifest
from pinctl.options import Options


class Setup(NamedTuple):
    """`root` is the folder of pins.toml, or of the run where there is none; `file` that of the records, relative to
    it."""

    root: str
    manifest: Manifest | None
    layout: Layout
    known: Variants
    file: str

    @property
    def path(self) -> str:
        """The file of the records."""
        return os.path.join(self.root, self.file)

    def load(self) -> list[Record]:
        """The records; none where the file does not exist. Raises UnreadableRecords, UsageError."""
        try:
            body = files.read_site(self.root, self.file, records.LARGEST)
            found, broken = records.load(body.decode("utf-8"))
        except files.Missing:
            return []
        except files.Unreadable as error:
            raise UsageError(f"the records in {self.file} cannot be read: the file {error.reason}") from error
        except UnicodeDecodeError as error:
            raise UsageError(f"the records in {self.file} are not UTF-8 (byte {error.start})") from error
        if broken:
            raise UnreadableRecords([_unreadable(self.file, one.line, one.clause) for one in broken], self.root)
        return found

    def save(self, found: Sequence[Record]) -> None:
        """Raises ExternalError, UsageError."""
        outputs.demand_place(self.path)
        outputs.write(self.path, records.dump(found).encode())

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Hold the records against other pinctls. Raises ExternalError."""
        folder = state.folder_of(self.root)
        state.make(folder)
        with state.locked(folder):
            yield


class UnreadableRecords(ManifestError):
    """The records hold lines that are none: the run cannot go on, and each is a finding."""

    exit_code = 1


def _unreadable(file: str, line: int, clause: str) -> Finding:
    return finding("PIN701", f"line {line} {clause}", file=file, span=Span(line))


def setup(options: Options, file: str | None = None) -> Setup:
    """What pins.toml says of the index; the usual where there is no pins.toml. `file` is that of the records, if
    another is wanted. Raises UsageError, ManifestError."""
    manifest, root = None, os.path.realpath(options.directory)
    try:
        root, name = workspace.locate(options)
    except UsageError:
        if options.pins is not None or not os.path.isdir(root):
            raise
    else:
        workspace.demand_policy(options, root)
        manifest = workspace.load(root, name)
    found = of(root, manifest)
    if file is None:
        return found
    path = os.path.realpath(os.path.join(options.directory, file))
    where = os.path.relpath(path, root)
    if where.startswith(".."):
        root, where = os.path.split(path)
    return found._replace(root=root, file=where)


def of(root: str, manifest: Manifest | None) -> Setup:
    """What `manifest`, of the folder `root`, says of the index."""
    found = layout(manifest)
    return Setup(root, manifest, found, Variants(declared=manifest.variants if manifest else {}), found.records)


def profile(options: Options, root: str, allow: Sequence[str]) -> Profile:
    """The profile of a run that asks the server of an index. Raises UsageError."""
    if options.offline:
        raise UsageError("--offline, and the index is on a server")
    return network.profile(options, root, allow=tuple(allow))
