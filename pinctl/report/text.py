"""`--format text`: for a person. Plain writes, so that a clean run pays for no more than its one line.

A line is made of pieces with a style each; colour is the last step, and all text is made visible before it. Nothing
here is markup, so no value can be taken for it.
"""

from collections.abc import Iterator
from typing import NamedTuple

from pinctl.finding import Finding
from pinctl.outcome import Body, Diff, Outcome, Table, cell_text
from pinctl.report.common import NOUNS, Place, conclusion, ordered, place, position
from pinctl.report.sanitize import inert, oneline, visible

_INDENT = 4
_LABEL = len("expected  ")
_NARROWEST = 8
"""Cells that a table's column keeps however narrow the terminal is."""
_MOST_ELEMENTS = 12

_SGR = {
    "error": "1;31", "warning": "1;33", "note": "1;36", "where": "1", "dim": "2",
    "expected": "32", "found": "31", "title": "1", "hunk": "36",
}  # fmt: skip
"""Styles as parameters of Select Graphic Rendition (ECMA-48, 8.3.117)."""

Line = list[tuple[str, str]]
"""Pieces of one line: text and style, the style "" for none."""


class Look(NamedTuple):
    """How text is shown; the fields are those of `report.write`. `exact`: a diff keeps its very bytes, for a pipe."""

    color: bool = False
    width: int = 0
    quiet: bool = False
    verbose: int = 0
    exact: bool = False


def render(outcome: Outcome, look: Look, root: str) -> str:
    """The body, the findings with a blank line between them, the conclusion, and what is to be known of it."""
    shown = [_painted(part, look, first=part is outcome.parts[0]) for part in outcome.parts]
    if outcome.findings:
        shown += _findings(outcome, look, place(root, "."))
    last = [] if look.quiet else [conclusion(outcome), *map(oneline, outcome.closing)]
    return "".join(shown) + "".join(f"{inert(line)}\n" for line in last if line)


def _findings(outcome: Outcome, look: Look, where: Place) -> Iterator[str]:
    if outcome.body is not None:
        yield "\n"
    for finding in ordered(outcome.findings):
        lines = list(_head(finding, look, where)) if look.quiet else list(_finding(finding, look, where))
        yield "".join(_paint(line, look.color) for line in lines)
        if not look.quiet:
            yield "\n"


def body(outcome: Outcome, look: Look) -> list[str]:
    """The lines of the body, without line ends, none of them a command to a CI runner."""
    parts = outcome.parts
    return [line for part in parts for line in _painted(part, look, first=part is parts[0]).split("\n")[:-1]]


def _painted(part: Body, look: Look, *, first: bool) -> str:
    """One part of the body; a title stands above it, apart from what comes before."""
    if isinstance(part, Diff) and part.exact and look.exact:
        return part.text
    head: list[Line] = []
    if not isinstance(part, Diff) and part.title:
        head = [*([] if first else [[("", "")]]), [(oneline(part.title), "title")]]
    return "".join(_paint(line, look.color) for line in (*head, *_body(part, look)))


def _body(part: Body, look: Look) -> Iterator[Line]:
    if isinstance(part, Table):
        return _table(part, look.width)
    text = visible(part.text)
    lines = text.removesuffix("\n").split("\n") if text else []
    styled = _diff_style if isinstance(part, Diff) else lambda _: ""
    return ([(line, styled(line))] for line in lines)


def _paint(line: Line, color: bool) -> str:
    """One line, with its end. A style's escape parts a runner's command as well as a space does."""
    if not color:
        return inert("".join(text for text, _ in line).rstrip()) + "\n"
    pieces = ((text, style) for text, style in line if text)
    return "".join(f"\x1b[{_SGR[style]}m{text}\x1b[0m" if style else inert(text) for text, style in pieces) + "\n"


def _diff_style(line: str) -> str:
    if line.startswith(("+++", "---", "diff ")):
        return "title"
    return {"+": "expected", "-": "found", "@": "hunk"}.get(line[:1], "")


def _finding(finding: Finding, look: Look, where: Place) -> Iterator[Line]:
    yield from _head(finding, look, where)
    yield from _values(finding, look)
    if finding.hint:
        told, *lines = finding.hint.split("\n")
        yield from _labelled("hint", told, look)
        # What follows is to be copied, so it is never broken.
        yield from ([(" " * (_INDENT + _LABEL) + oneline(line), "")] for line in lines)
    for other in finding.related:
        told = f"{position(where.name(other.file), other.span)} {oneline(other.message)}"
        yield from _labelled("see", told, look)
    if look.verbose:
        if finding.selector:
            yield from _labelled("selector", finding.selector, look)
        yield from _labelled("more", f"pinctl explain {finding.code}", look)


def _head(finding: Finding, look: Look, where: Place) -> Iterator[Line]:
    """`file:line:column: error PIN201 pin: message`, which editors and terminals can follow."""
    from pinctl.report.cells import cells, wrapped

    noun = NOUNS[finding.severity]
    line: Line = []
    if finding.file:
        line += [(f"{position(where.name(finding.file), finding.span)}:", "where"), (" ", "")]
    line += [(f"{noun} {finding.code}", noun)]
    line += [(f" {oneline(finding.pin)}", "where")] if finding.pin else []
    line += [(": ", "")]
    used = sum(cells(text) for text, _ in line)
    first, *rest = wrapped(oneline(finding.message), 0 if look.quiet else look.width, used, _INDENT)
    yield [*line, (first, "")]
    yield from ([(" " * _INDENT + text, "")] for text in rest)


def _labelled(label: str, text: str, look: Look) -> Iterator[Line]:
    from pinctl.report.cells import wrapped

    margin = _INDENT + _LABEL
    first, *rest = wrapped(oneline(text), look.width, margin, margin)
    yield [_label(label), (first, "")]
    yield from ([(" " * margin + line, "")] for line in rest)


def _label(label: str) -> tuple[str, str]:
    return f"{'':{_INDENT}}{label:{_LABEL}}", "dim"


def _values(finding: Finding, look: Look) -> Iterator[Line]:
    if finding.expected is None and finding.found is None:
        return
    from pinctl.report.values import compared

    room = 0 if look.verbose or look.width <= 0 else max(_NARROWEST, look.width - _INDENT - _LABEL)
    before = ""
    for shown in compared(finding.expected, finding.found, room, 0 if look.verbose else _MOST_ELEMENTS):
        if not shown.label and look.color:
            continue
        text, start, end = shown.text, shown.start, shown.end
        label = "" if shown.label == before else shown.label
        before = shown.label
        yield [_label(label), (text[:start], ""), (text[start:end], shown.label), (text[end:], "")]


def _table(table: Table, width: int) -> Iterator[Line]:
    """Columns two spaces apart; too wide a table has its widest columns cut."""
    from pinctl.report.cells import cells, clipped, padded

    rows = [[oneline(cell_text(cell)) for cell in row] for row in (table.columns, *table.rows)]
    widths = [max(map(cells, column)) for column in zip(*rows, strict=True)]
    while width > 0 and sum(widths) + 2 * (len(widths) - 1) > width and max(widths) > _NARROWEST:
        widths[widths.index(max(widths))] -= 1
    for number, row in enumerate(rows):
        line = "  ".join(padded(clipped(c, w), w) for c, w in zip(row, widths, strict=True)).rstrip()
        yield [(line, "" if number else "dim" if table.title else "title")]
