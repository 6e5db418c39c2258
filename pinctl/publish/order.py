"""The order in which the files of an index are put where it cannot be exchanged at one stroke: nothing is linked to
before it is there."""

from collections.abc import Iterable

from pinctl.index.layout import FILES
from pinctl.index.pages import HTML_PAGE, JSON_PAGE


def rank(path: str) -> int:
    """0 for wheels and their METADATA, 1 for the records, 2 for the pages of page sets, 3 for the page of the whole."""
    if path.startswith(f"{FILES}/"):
        return 0
    name = path.rpartition("/")[2]
    if name not in (HTML_PAGE, JSON_PAGE):
        return 1
    return 2 if "/" in path else 3


def ordered(paths: Iterable[str]) -> list[str]:
    """`paths` as they are put. METADATA comes before the wheels, the page of a project before the root of its set, and
    of the two forms of a page the JSON, which fewer clients read."""
    return sorted(paths, key=lambda path: (rank(path), -path.count("/"), path.rpartition("/")[0],
                                           not path.endswith((".metadata", JSON_PAGE)), path))  # fmt: skip
