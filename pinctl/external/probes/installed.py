"""Prints what is installed for the Python that runs this, as JSON. Nothing that is installed is imported."""

from __future__ import annotations

import importlib.metadata
import json
import os
import sys
from typing import Any

_LIMIT = 1024 * 1024
_LARGEST_RECORD = 64 * 1024 * 1024
_SINCE = ("INSTALLER", "RECORD", "METADATA")


def _text(path: str, limit: int = _LIMIT) -> str | None:
    """The text of a regular file of at most `limit` bytes; None for anything else."""
    try:
        if not os.path.isfile(path) or os.path.getsize(path) > limit:
            return None
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read(limit)
    except OSError:
        return None


def _since(place: str) -> float | None:
    """When the distribution was installed: the time of the last file that an installer writes itself."""
    for name in _SINCE:
        try:
            return os.path.getmtime(os.path.join(place, name))
        except OSError:
            continue
    return None


def _described(distribution: importlib.metadata.Distribution) -> dict[str, Any] | None:
    place = str(getattr(distribution, "_path", ""))
    try:
        name, version = distribution.metadata["Name"], distribution.metadata["Version"]
    except Exception:  # a stranger's METADATA may raise anything
        return None
    if not name or not version:
        return None
    record = _text(os.path.join(place, "RECORD"), _LARGEST_RECORD) or ""
    paths = [line.rpartition(",")[0].rpartition(",")[0].strip('"') for line in record.splitlines()]
    paths = [path for path in paths if path and not path.startswith(("../", "/"))]
    listed = (_text(os.path.join(place, "top_level.txt")) or "").split()
    return {
        "name": name,
        "version": version,
        "place": place,
        "provenance": _text(os.path.join(place, "pinctl-provenance.json")),
        "direct_url": _text(os.path.join(place, "direct_url.json")),
        "tops": sorted({*listed, *(path.split("/")[0] for path in paths)}),
        "libraries": [path for path in paths if ".so" in path.rpartition("/")[2]],
        "since": _since(place),
    }


def main() -> None:
    """Everything on the path, in its order."""
    found: list[dict[str, Any] | None] = [_described(one) for one in importlib.metadata.distributions()]
    torch = None
    for one in found:
        if one is not None and one["name"].lower() == "torch" and torch is None:
            torch = _text(os.path.join(os.path.dirname(one["place"]), "torch", "version.py"))
    said = {"python": sys.version.split()[0], "installed": [one for one in found if one], "torch": torch}
    json.dump(said, sys.stdout)


main()
