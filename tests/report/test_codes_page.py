from pathlib import Path

from markdown_it import MarkdownIt

from pinctl.codes.code import Code
from pinctl.codes.table import CODES, FAMILIES
from pinctl.finding import Severity
from pinctl.report.codes_page import anchor, page

DOCS = Path(__file__).parents[2] / "docs"


def test_docs_are_current() -> None:
    text = (DOCS / "codes.md").read_text(encoding="utf-8")
    assert text == page(), "run: python -m pinctl.report.codes_page > docs/codes.md"


def test_a_section_a_code_in_the_families_order() -> None:
    tokens = MarkdownIt("commonmark").parse(page())
    heads = [(t.tag, tokens[n + 1].content) for n, t in enumerate(tokens) if t.type == "heading_open"]
    assert [text for tag, text in heads if tag == "h3"] == [f"{code.id}: {code.title}" for code in CODES.values()]
    families = list(dict.fromkeys(code.family for code in CODES.values()))
    assert [text for tag, text in heads if tag == "h2"] == [f"{family}xx: {FAMILIES[family]}" for family in families]


def test_every_code_can_be_linked_to() -> None:
    assert all(f'<a id="{anchor(code)}"></a>' in page() for code in CODES.values())


def test_a_retired_code_is_told_as_such() -> None:
    old = Code("PIN299", Severity.ERROR, "old", "Once.", "Nothing.", "x", retired=True)
    assert "*error; retired: no longer reported.* Once." in page([old])
