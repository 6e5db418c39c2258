"""`pinctl explain [CODE]`: what a finding means, an example of it, and how to mend it."""

from difflib import get_close_matches
from textwrap import fill, indent

from pinctl.codes.code import Code
from pinctl.codes.table import CODES
from pinctl.errors import UsageError
from pinctl.options import Options
from pinctl.outcome import Outcome, Table, Text

_COLUMNS = 88


def run(options: Options, code: str | None = None) -> Outcome:  # noqa: ARG001 - every verb takes the options
    """Explain `code` ("PIN201", "pin201" or "201"), or list all codes without one.

    Raises UsageError for a code that is not in the table, with the likely ones.
    """
    if not code:
        return _list()
    wanted = code.strip().upper()
    wanted = f"PIN{wanted}" if wanted.isdecimal() else wanted
    if wanted not in CODES:
        raise UsageError(f"there is no code {code!r}", hint=_likely(wanted))
    found = CODES[wanted]
    return Outcome(command="explain", result=_plain(found), body=Text(_page(found)))


def _list() -> Outcome:
    rows = tuple((code.id, code.severity.value, code.title) for code in CODES.values())
    return Outcome(
        command="explain",
        result={"codes": [_plain(code) for code in CODES.values()]},
        body=Table(columns=("CODE", "SEVERITY", "TITLE"), rows=rows),
        summary="`pinctl explain CODE` says more of one",
    )


def _likely(wanted: str) -> str:
    """Codes spelt alike, else those whose title holds the word."""
    titled = [code.id for code in CODES.values() if wanted.lower() in code.title.lower()]
    close = get_close_matches(wanted, CODES, n=3) or titled[:5]
    told = ", ".join(f"{code} ({CODES[code].title})" for code in close)
    return f"close to it: {told}" if told else "run: pinctl explain (lists all codes)"


def _page(code: Code) -> str:
    return (
        f"{code.id}: {code.title} ({code.severity}{', retired' if code.retired else ''})\n\n"
        f"{fill(code.text, _COLUMNS)}\n\n"
        f"Example:\n{indent(code.example, '    ')}\n\n"
        f"To mend it:\n{indent(fill(code.fix, _COLUMNS - 4), '    ')}\n"
    )


def _plain(code: Code) -> dict[str, object]:
    return {
        "code": code.id,
        "severity": code.severity.value,
        "title": code.title,
        "text": code.text,
        "fix": code.fix,
        "example": code.example,
        "retired": code.retired,
    }
