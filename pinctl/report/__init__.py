"""An outcome in each form that a reader may ask for. Only the format in use is imported."""

import os
from typing import TextIO

from pinctl.outcome import Outcome

FORMATS = ("text", "json", "github", "sarif", "markdown")


def write(
    outcome: Outcome, form: str, out: TextIO, *, color: bool, width: int, quiet: bool, verbose: int, root: str
) -> None:
    """Write `outcome` to `out` as `form`, one of FORMATS.

    `color`, `width` (columns; 0: no limit), `quiet` (a line a finding, nothing on a clean run) and `verbose` shape
    text alone. `root` is the directory that findings' files are relative to. Text names files as seen from the
    current directory, github and sarif as seen from GITHUB_WORKSPACE where that is set. Raises ValueError for another
    form, and whatever `out` raises.
    """
    if form == "text":
        from pinctl.report import text

        look = text.Look(color=color, width=width, quiet=quiet, verbose=verbose, exact=not (color or out.isatty()))
        page = text.render(outcome, look, root)
    else:
        page = _render(outcome, form, root)
    _emit(out, page)


def _render(outcome: Outcome, form: str, root: str) -> str:
    from pinctl.report import common

    match form:
        case "json":
            from pinctl.report import json

            return json.render(outcome)
        case "github":
            from pinctl.report import github

            return github.render(outcome, common.place(root, os.environ.get("GITHUB_WORKSPACE")))
        case "sarif":
            from pinctl.report import sarif

            return sarif.render(outcome, common.place(root, os.environ.get("GITHUB_WORKSPACE")))
        case "markdown":
            from pinctl.report import markdown

            return markdown.render(outcome)
    raise ValueError(f"no format {form!r}; there are {', '.join(FORMATS)}")


def _emit(out: TextIO, page: str) -> None:
    """Write `page`, also where `out` has a narrow encoding, and a diff's bytes that are not UTF-8 as they were."""
    try:
        out.write(page)
    except UnicodeEncodeError:
        encoding = (out.encoding or "utf-8").lower().replace("_", "-")
        errors = "surrogateescape" if encoding in ("utf-8", "utf8") else "backslashreplace"
        out.flush()
        out.buffer.write(page.encode(encoding, errors))
        out.buffer.flush()
