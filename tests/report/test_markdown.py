import re

import pytest
from hypothesis import given
from markdown_it import MarkdownIt
from markdown_it.token import Token

from pinctl.codes import finding
from pinctl.finding import Finding, Severity
from pinctl.outcome import Diff, Outcome, Table, Text
from pinctl.report.markdown import LONGEST, escaped, render
from pinctl.report.sanitize import inert, oneline

from .samples import DRIFT, HOSTILE, OUTCOMES

PARSER = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
OURS = {"<code>", "</code>", "<br>"}
INERT = {"text", "html_inline", "softbreak", "strong_open", "strong_close", "text_special"}


def inline(tokens: list[Token]) -> list[Token]:
    return [child for token in tokens for child in token.children or ()]


def text_of(token: Token) -> str:
    """What a reader sees of inline content."""
    return "".join(c.content for c in token.children or () if c.type in ("text", "text_special")).replace("\u200b", "")


def cells_of(page: str) -> list[list[str]]:
    """The body cells of every table, as a reader sees them."""
    rows: list[list[str]] = []
    body = False
    for at, token in enumerate(tokens := PARSER.parse(page)):
        body = token.type == "tbody_open" or (body and token.type != "tbody_close")
        if body and token.type == "tr_open":
            rows.append([])
        if body and token.type == "td_open":
            rows[-1].append(text_of(tokens[at + 1]))
    return rows


def page_of(*findings: Finding, body: object = None, summary: str = "") -> str:
    return render(Outcome(command="check", findings=findings, body=body, summary=summary))  # type: ignore[arg-type]


def test_a_row_a_finding() -> None:
    assert page_of(DRIFT) == (
        "**pinctl check**: 1 error in 1 file\n"
        "\n"
        "|  | Where | Pin | What | Expected | Found |\n"
        "| --- | --- | --- | --- | --- | --- |\n"
        "| error PIN201 | <code>docker/Dockerfile:12:18</code> | deepgemm |"
        " &#96;ARG DEEPGEMM&#95;REF&#96; differs from pins.toml<br>run: pinctl sync |"
        " <code>ad1f1726aa540a76c1d26d6a120effb8de21eaa4</code> |"
        " <code>ad1f1726aa540a76c1d26d6a120effb8de21ee44</code> |\n"
    )


def test_it_reads_as_it_was_written() -> None:
    assert cells_of(page_of(DRIFT)) == [
        ["error PIN201", "docker/Dockerfile:12:18", "deepgemm",
         "`ARG DEEPGEMM_REF` differs from pins.tomlrun: pinctl sync",
         DRIFT.expected, DRIFT.found]
    ]  # fmt: skip


def test_a_clean_run_is_one_line() -> None:
    assert page_of(summary="4 sites agree") == "**pinctl check**: 4 sites agree\n"
    assert page_of() == ""


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("@team", "@&#8203;team"),
        ("o/r#1", "o/r#&#8203;1"),
        ("https://e.example", "https:&#8203;//e.example"),
        ("www.e.example", "www&#8203;.e.example"),
        ("a|b", "a&#124;b"),
        ("![](b)", "!&#91;&#93;(b)"),
        ("<b>&", "&#60;b&#62;&#38;"),
        ("a\n# b", "a #&#8203; b"),
        ("\x1b[1m", "&#92;x1b&#91;1m"),
    ],
)
def test_markup_mentions_and_links_are_written_inert(text: str, written: str) -> None:
    assert escaped(text) == written


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_is_seen_and_does_nothing(text: str) -> None:
    page = page_of(finding("PIN201", text, file="f", pin=text, expected=text, found=text, hint=text))
    shown = inert(oneline(text)).strip()
    [row] = cells_of(page)
    assert [row[2].strip(), row[4].strip(), row[5].strip()] == [shown] * 3
    tokens = inline(PARSER.parse(page))
    assert {token.type for token in tokens} <= INERT
    assert not re.search(r"[@#]\w|://|www\.", "".join(token.content for token in tokens), re.IGNORECASE)


def test_long_text_is_cut() -> None:
    assert escaped("x" * 5000) == "x" * 2000 + "…"


def test_a_table_and_a_diff() -> None:
    parts = (Table(columns=("pin", "subject"), rows=(("a", "x | @y"),)), Diff("-a\n+</pre>\n"), Text("t"))
    assert page_of(body=parts) == (
        "\n| pin | subject |\n| --- | --- |\n| a | x &#124; @&#8203;y |\n"
        '\n<pre lang="diff">\n-a\n+&lt;/pre&gt;\n</pre>\n'
        "\n<pre>\nt\n</pre>\n"
    )


def test_what_is_too_long_is_counted() -> None:
    many = [finding("PIN201", f"message {n} " + "x" * 200, file="f", hint="h") for n in range(1000)]
    page = page_of(*many, body=(Text("line\n" * 20), Diff("+\n" * 90_000)))
    rows = cells_of(page)
    assert len(page) <= LONGEST
    assert 100 < len(rows) < 1000
    assert f"\n… {1000 - len(rows)} more findings\n" in page
    assert re.search(r"\n… \d+ more lines\n\Z", page)


def test_a_body_gets_the_room_that_findings_leave() -> None:
    page = page_of(DRIFT, body=Diff("+\n" * 90_000))
    kept = page.count("\n+")
    assert 29_000 < kept < 30_000
    assert page.endswith(f"</pre>\n\n… {90_000 - kept} more lines\n")
    assert len(page) <= LONGEST


@given(OUTCOMES)
def test_one_row_a_finding_and_nothing_but_text(outcome: Outcome) -> None:
    findings_only = Outcome(command="check", findings=outcome.findings, summary=outcome.summary)
    page = render(findings_only)
    assert len(cells_of(page)) == len(outcome.findings)
    tokens = PARSER.parse(page)
    assert {token.type for token in inline(tokens)} <= INERT
    assert {token.content for token in inline(tokens) if token.type == "html_inline"} <= OURS
    assert not any(token.type in ("html_block", "fence", "heading_open") for token in tokens)
    assert page.replace("\n", "").isprintable()


@given(OUTCOMES)
def test_bodies_stay_in_their_blocks(outcome: Outcome) -> None:
    tokens = PARSER.parse(render(outcome))
    blocks = [token for token in tokens if token.type == "html_block"]
    assert len(blocks) == sum(isinstance(part, Text | Diff) for part in outcome.parts)
    assert all(block.content.count("</pre>") == 1 and block.content.endswith("</pre>\n") for block in blocks)
    assert {token.type for token in inline(tokens)} <= INERT


def test_severities_are_named() -> None:
    told = [row[0] for row in cells_of(page_of(*(finding("PIN201", s.value, severity=s) for s in Severity)))]
    assert told == ["error PIN201", "note PIN201", "warning PIN201"]


def test_what_is_to_be_known_of_it_comes_last() -> None:
    outcome = Outcome(command="contract", summary="fine", body=Text("x"), closing=("not seen: a", "never seen: *b*"))
    assert render(outcome).endswith("</pre>\n\nnot seen: a\nnever seen: &#42;b&#42;\n")
