"""The pages that programs read: PEP 503 (HTML, frozen at 1.4 by PEP 833) and PEP 691 (JSON).

Each page set is an index of its own: its root lists its projects, and each project has a page. What a page says of a
file: its digest (on every file, or lockers break), both names of PEP 658's attribute (PEP 714), `requires-python` (PEP
345), `yanked` (PEP 592). Files are in the order of their versions and names, so that the same records give the same
bytes.

A static host serves JSON as `application/json`, which pip and uv refuse; so HTML is what `index.html` is, and the JSON
form lies beside it as `index.v1_json`, as bandersnatch does, for a host that can be told its type.
"""

import json
from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import quote

from pinctl.index import names
from pinctl.index.layout import Layout
from pinctl.index.records import Record
from pinctl.index.templates import environment

API = "1.4"
HTML_PAGE, JSON_PAGE = "index.html", "index.v1_json"


def build(records: Iterable[Record], layout: Layout) -> dict[str, bytes]:
    """The page sets of all records that are listed: path below the root of the index to content.

    Each must have a digest, and a page must have one file of a name: see `judge.records`.
    """
    sets: dict[str, dict[str, list[Record]]] = {}
    for record in records:
        if record.withdrawn is None:
            folder = layout.folder(*record.place)
            sets.setdefault(folder, {}).setdefault(record.name.project, []).append(record)
    made: dict[str, bytes] = {}
    for folder, projects in sorted(sets.items()):
        made |= {f"{folder}/{name}": body for name, body in _root(sorted(projects)).items()}
        for project, files in sorted(projects.items()):
            at = f"{folder}/{project}"
            made |= {f"{at}/{name}": body for name, body in _project(project, files, depth=at.count("/") + 1).items()}
    return made


def _root(projects: list[str]) -> dict[str, bytes]:
    data = {"meta": {"api-version": API}, "projects": [{"name": name} for name in projects]}
    return {HTML_PAGE: _html("root.html", projects=projects), JSON_PAGE: _json(data)}


def _project(project: str, records: list[Record], depth: int) -> dict[str, bytes]:
    ordered = sorted(records, key=lambda record: (record.name.version, record.filename))
    files = [(record, href(record, depth)) for record in ordered]
    versions = list(dict.fromkeys(str(record.name.version) for record in ordered))
    data = {
        "meta": {"api-version": API},
        "name": project,
        "versions": versions,
        "files": [_file(record, link) for record, link in files],
    }
    anchors = [(record.filename, f"{link}#sha256={record.sha256}", _attributes(record)) for record, link in files]
    return {HTML_PAGE: _html("project.html", project=project, anchors=anchors), JSON_PAGE: _json(data)}


def href(record: Record, depth: int = 0) -> str:
    """Where a page that lies `depth` folders deep links to for a file."""
    return "../" * depth + quote(record.url) if record.hosted else names.escaped(record.url)


def _attributes(record: Record) -> dict[str, str]:
    metadata = None if record.metadata is None else f"sha256={record.metadata}"
    said = {
        "data-requires-python": record.requires_python,
        "data-core-metadata": metadata,
        "data-dist-info-metadata": metadata,
        "data-yanked": record.yanked,
        "data-provenance": record.attestations,
    }
    return {name: value for name, value in said.items() if value is not None}


def _file(record: Record, link: str) -> dict[str, Any]:
    metadata = None if record.metadata is None else {"sha256": record.metadata}
    said: Mapping[str, Any] = {
        "filename": record.filename,
        "url": link,
        "hashes": {"sha256": record.sha256},
        "size": record.size,
        "upload-time": record.uploaded,
        "requires-python": record.requires_python,
        "core-metadata": metadata,
        "dist-info-metadata": metadata,
        "yanked": None if record.yanked is None else record.yanked or True,
        "provenance": record.attestations,
    }
    return {key: value for key, value in said.items() if value is not None}


def _html(template: str, **values: object) -> bytes:
    return environment().get_template(template).render(values).encode()


def _json(data: object) -> bytes:
    return (json.dumps(data, ensure_ascii=False, indent=1) + "\n").encode()
