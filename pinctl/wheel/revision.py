"""A wheel with another label, or with its provenance: every place that must change with it changes together."""

from collections.abc import Mapping
from typing import BinaryIO, NamedTuple

from pinctl.codes import finding
from pinctl.finding import Finding
from pinctl.urls import redact
from pinctl.wheel import names, provenance, record, sbom
from pinctl.wheel.archive import Archive
from pinctl.wheel.judgement import Wanted
from pinctl.wheel.judgement import record as records
from pinctl.wheel.judgement.telling import Telling
from pinctl.wheel.metadata import LIMIT, set_version
from pinctl.wheel.names import Name
from pinctl.wheel.provenance import Provenance
from pinctl.wheel.record import Row
from pinctl.wheel.survey import Survey
from pinctl.wheel.writer import Writer, digest


class Refused(Exception):
    """A wheel whose revision would hide what is wrong with it; `findings` say what that is."""

    def __init__(self, findings: tuple[Finding, ...]) -> None:
        super().__init__(findings[-1].message)
        self.findings = findings


class Revision(NamedTuple):
    """A wheel as it will be.

    folders   the top folders that are renamed, old name to new
    contents  the files that are new or have other content, by their new names; RECORD is one of them
    dropped   members that are left out, by their old names: signatures of the old RECORD
    """

    name: Name
    folders: Mapping[str, str]
    contents: Mapping[str, bytes]
    dropped: frozenset[str]


def revise(archive: Archive, found: Survey, *, label: str | None = None, built: Provenance | None = None) -> Revision:
    """The wheel of `archive`, which `found` is the survey of, with the local label `label` ("": without one) and the
    provenance `built`, each where it is given.

    Raises Refused where RECORD is not that of the files, or names are missing; BadName for a label that is none.
    """
    name, folder = _sound(found)
    new = names.labelled(name, name.label if label is None else label)
    stem = f"{new.stem}.dist-info"
    folders = {folder: stem, **dict.fromkeys(_data(found), f"{new.stem}.data")}
    contents = {}
    metadata = archive.find(f"{folder}/METADATA")
    if metadata is not None:  # as _sound has seen
        contents[f"{stem}/METADATA"] = set_version(archive.read(metadata, LIMIT), new.version)
    if built is not None:
        built = built._replace(repo=redact(built.repo))
        contents[f"{stem}/{provenance.FILE}"] = provenance.render(built)
        contents[f"{stem}/{sbom.FILE}"] = sbom.render(new, built)
    contents[f"{stem}/RECORD"] = record.render(_rows(found, folders, contents, f"{stem}/RECORD"))
    signatures = frozenset(f"{folder}/{file}" for file in record.UNLISTED if file != "RECORD")
    return Revision(new, folders, contents, signatures)


def write(archive: Archive, revision: Revision, out: BinaryIO, epoch: int | None = None) -> None:
    """Write the revised wheel to the empty file `out`: members keep their order, new ones come before RECORD. `epoch`
    is SOURCE_DATE_EPOCH. Raises OSError."""
    writer = Writer(out, epoch)
    kept = [member for member in archive.members if member.name not in revision.dropped]
    places = [_moved(member.name, revision.folders) for member in kept]
    new = {name: data for name, data in revision.contents.items() if name not in places}
    for member, name in zip(kept, places, strict=True):
        if name.endswith(".dist-info/RECORD"):
            for added, data in new.items():
                writer.add(added, data)
        if name in revision.contents:
            writer.add(name, revision.contents[name], member)
        else:
            writer.copy(archive, member, name)
    writer.close()


def _sound(found: Survey) -> tuple[Name, str]:
    """The name and the .dist-info folder of a wheel that may be revised. Raises Refused."""
    problems = list(records.judge(Telling(found, Wanted())))
    name, folder = found.name, found.dist_info
    if isinstance(name, str):
        why = f"its file name is none of a wheel: {name}"
    elif folder is None or found.metadata is None or found.record is None or found.metadata.faults:
        why = "it has not exactly one .dist-info folder with METADATA and RECORD that can be read"
    elif names.normal_name(found.metadata.name) != name.distribution:
        why = f"METADATA is of {found.metadata.name}, and the file of {name.distribution}"
    elif problems:
        why = "its RECORD is not that of its files"
    else:
        return name, folder
    refusal = finding("PIN629", f"{found.filename} stays as it is: {why}", file=found.filename,
                      hint="run: pinctl wheel verify FILE   (says all that is wrong)")  # fmt: skip
    raise Refused((*problems, refusal))


def _data(found: Survey) -> list[str]:
    tops = dict.fromkeys(name.partition("/")[0] for name in found.members if "/" in name)
    return [top for top in tops if top.endswith(".data")]


def _moved(name: str, folders: Mapping[str, str]) -> str:
    top, slash, rest = name.partition("/")
    return f"{folders.get(top, top)}{slash}{rest}"


def _rows(found: Survey, folders: Mapping[str, str], contents: Mapping[str, bytes], own: str) -> list[Row]:
    """The lines of the new RECORD: the old ones in their order, new files before RECORD itself."""
    rows = {_moved(row.path, folders): row for row in found.record.rows} if found.record else {}
    rows.pop(own, None)
    kept = {path: row._replace(path=path) for path, row in rows.items()}
    changed = {path: Row(path, digest(data), len(data)) for path, data in contents.items()}
    return [*(kept | changed).values(), Row(own)]
