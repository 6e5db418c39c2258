"""`--format markdown`: a table for a comment on a pull request (GitHub Flavored Markdown).

What strangers wrote is text there and nothing else: no link, image, mention, reference, HTML or table border. Values
stand in `<code>`, where GitHub looks for no mentions or references; in prose a zero-width space parts them.
"""

import html
import re
from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate
from typing import NamedTuple

from pinctl.finding import Finding
from pinctl.outcome import Body, Cell, Diff, Outcome, Table
from pinctl.report.common import NOUNS, conclusion, ordered, position
from pinctl.report.sanitize import inert, oneline, visible

LONGEST = 60_000
"""Characters of the whole: GitHub takes 65,536 for a comment, and others may add to ours."""
_TAIL = 80
"""Characters kept back for the line that tells how much of a part was left out."""
_LONGEST_TEXT = 2_000

_PLAIN_URL = re.compile(r"https://[A-Za-z0-9._~:/?#=%+-]+")
_SPECIAL = re.compile(r"[\\`*_\[\]<>&|~$]")
_LINKING = re.compile(r"(?<=[@#])|(?<=:)(?=//)|(?<=\bwww)(?=\.)", re.IGNORECASE)
"""Where a zero-width space keeps GitHub from making a mention, a reference or a link."""


def render(outcome: Outcome) -> str:
    """The conclusion, one table row a finding, and the body: at most LONGEST characters."""
    parts: list[_Part] = []
    if outcome.findings:
        rows = [_cells(finding) for finding in ordered(outcome.findings)]
        parts.append(_table(("", "Where", "Pin", "What", "Expected", "Found"), rows, "findings"))
    parts += [_body(part) for part in outcome.parts]
    if outcome.closing:
        parts.append(_Part("\n", [f"{escaped(line)}\n" for line in outcome.closing], "", "lines"))
    last = conclusion(outcome)
    return _page(f"**pinctl {escaped(outcome.command)}**: {escaped(last)}\n" if last else "", parts)


def document(parts: Sequence[Body]) -> str:
    """`parts` as a page by themselves, such as the body of a pull request: at most LONGEST characters."""
    return _page("", [_body(part) for part in parts]).lstrip("\n")


def _page(page: str, parts: Sequence["_Part"]) -> str:
    for left, part in enumerate(parts, 1 - len(parts)):
        page += part.fitted(LONGEST - len(page) + left * _TAIL)
    return page


def escaped(text: str) -> str:
    """`text` as prose on one line that reads as it is written and does nothing; cut where it is very long."""
    told = inert(oneline(text))
    told = told if len(told) <= _LONGEST_TEXT else told[:_LONGEST_TEXT] + "…"
    parted = _LINKING.sub("\u200b", told)
    return _SPECIAL.sub(lambda match: f"&#{ord(match[0])};", parted).replace("\u200b", "&#8203;")


def code(text: str | None) -> str:
    """`text` as code on one line; nothing for nothing."""
    return f"<code>{escaped(text)}</code>" if text else ""


class _Part(NamedTuple):
    """Lines between a head and a foot, of which as many are kept as there is room for."""

    head: str
    lines: list[str]
    foot: str
    noun: str

    def fitted(self, room: int) -> str:
        """The part in at most `room` characters (at least _TAIL), with a last line that tells what was left out."""
        ends = accumulate((len(line) for line in self.lines), initial=len(self.head + self.foot))
        kept = bisect_right(list(ends), room - _TAIL) - 1
        if kept < 0:
            return f"\n… {len(self.lines)} more {self.noun}\n"
        left = len(self.lines) - kept
        more = f"\n… {left} more {self.noun}\n" if left else ""
        return "".join([self.head, *self.lines[:kept], self.foot, more])


def _cells(finding: Finding) -> tuple[str, ...]:
    return (
        f"{NOUNS[finding.severity]} {finding.code}",
        code(position(finding.file, finding.span) if finding.file else None),
        escaped(finding.pin or ""),
        "<br>".join(map(escaped, [finding.message, *(finding.hint.split("\n") if finding.hint else [])])),
        code(finding.expected),
        code(finding.found),
    )


def _body(part: Body) -> _Part:
    if isinstance(part, Table):
        cells = [tuple(map(_cell, row)) for row in part.rows]
        return _table(tuple(map(escaped, part.columns)), cells, "rows", part.title)
    lines = html.escape(visible(part.text), quote=False).removesuffix("\n").split("\n")
    language = ' lang="diff"' if isinstance(part, Diff) else ""
    title = "" if isinstance(part, Diff) else _heading(part.title)
    return _Part(f"{title}\n<pre{language}>\n", [f"{line}\n" for line in lines], "</pre>\n", "lines")


def _table(columns: tuple[str, ...], rows: list[tuple[str, ...]], noun: str, title: str = "") -> _Part:
    head = f"{_heading(title)}\n{_row(columns)}|{' --- |' * len(columns)}\n"
    return _Part(head, [_row(row) for row in rows], "", noun)


def _heading(title: str) -> str:
    return f"\n#### {escaped(title)}\n" if title else ""


def _cell(cell: Cell) -> str:
    """A cell; a link only where its URL holds nothing that could end it."""
    if isinstance(cell, str):
        return escaped(cell)
    safe = cell.url is not None and _PLAIN_URL.fullmatch(cell.url)
    return f"[{escaped(cell.text)}]({cell.url})" if safe else escaped(cell.text)


def _row(cells: tuple[str, ...]) -> str:
    return f"| {' | '.join(cells)} |\n"
