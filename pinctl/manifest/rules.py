"""What the schema asks of a text beyond its type, with the code and the words of the finding."""

from pinctl.commits import is_full, is_short
from pinctl.manifest.shapes import Broken
from pinctl.paths import path_problem


def broken_commit(text: str) -> Broken | None:
    """What is wrong with `text` as a full commit id: an abbreviation (PIN105) or something else (PIN106)."""
    if is_full(text):
        return None
    if is_full(text.lower()):
        return Broken("PIN106", "git writes commit ids in lower case", f"write {text.lower()}")
    if is_short(text):
        return Broken(
            "PIN105",
            f"{text} abbreviates a commit id, and may come to name another",
            f'write the full id; or `unresolved = "{text}"`, and run: pinctl bump --resolve',
        )
    return Broken(
        "PIN106",
        f"{text[:60]!r} is no commit id; a branch or a tag can move",
        "write the full commit id; a tag goes under `tag`, a branch under `track`",
    )


def broken_path(path: str) -> Broken | None:
    """What is wrong with `path` (PIN108)."""
    problem = path_problem(path)
    return Broken("PIN108", f"the path {path[:60]!r} cannot be used: {problem}") if problem else None
