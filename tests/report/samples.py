"""Findings and texts that the tests of every format share; the hostile ones are those of the threat model."""

from hypothesis import strategies as st

from pinctl.codes.table import CODES
from pinctl.finding import Finding, Location, Severity, Span
from pinctl.outcome import Diff, Outcome, Table, Text

HOSTILE = (
    "::add-mask::e", "  ::stop-commands::x", "a\n::error::x", "a\r\n::error::x", "a\u2028::error::x",
    "%0A::error::x", "##[error]x", "###[group]x", "##vso[task.setvariable]x",
    "\x1b]8;;https://evil.example\x1b\\click\x1b]8;;\x1b\\", "\x1b]52;c;ZXZpbA==\x07",
    "\x9b31m", "\x1b[2J", "a\rb", "\x00", "\x85",
    "\u202egnp.exe", "\u2066x\u2069", "\u200b", "\ufeff", "\xa0", "\udc80",
    "[link=https://evil.example]x[/link]", "[/x]", "[bold]x", "{0}", "{}",
    "| a | b |", "![](https://evil.example/b.png)", "[x](javascript:alert(1))", "```\n# heading",
    "`` ` ``", "@team", "\\|", "\\",
    "<img src=x onerror=1>", "</pre><b>", "<!-- x", "&lt;", "~~x~~", "$x$",
    "#1", "https://evil.example", "www.evil.example",
    "a b#c?d", "javascript:alert(1)", "//evil.example/x", "%2e%2e", "é/日本.txt", "a,b:c",
)  # fmt: skip

_CHARACTERS = st.characters(exclude_categories=["Cs"]) | st.sampled_from("\x1b\u202e\udc80\n\r\t |`@:#<>[]()")
TEXTS = st.one_of(
    st.sampled_from(HOSTILE),
    st.lists(st.sampled_from(HOSTILE), min_size=2, max_size=3).map("".join),
    st.text(_CHARACTERS, max_size=30),
)
WORDS = TEXTS.filter(lambda text: bool(text.strip()))
FILES = WORDS.filter(lambda text: not text.startswith("/") and "\0" not in text)
POINTS = st.tuples(st.integers(1, 9999), st.integers(1, 200)).map(lambda at: Span(line=at[0], column=at[1]))
SPANS = POINTS | st.integers(1, 99).map(lambda n: Span(line=n, column=n, end_line=n + n % 2, end_column=n + 7))
LOCATIONS = st.builds(Location, file=FILES, span=st.none() | SPANS, message=TEXTS)
FINDINGS = st.builds(
    Finding,
    code=st.sampled_from(sorted(CODES)),
    severity=st.sampled_from(Severity),
    message=WORDS,
    file=st.none() | FILES,
    span=st.none() | SPANS,
    pin=st.none() | WORDS,
    selector=st.none() | WORDS,
    expected=st.none() | TEXTS,
    found=st.none() | TEXTS,
    hint=st.none() | WORDS,
    related=st.lists(LOCATIONS, max_size=2).map(tuple),
)
BODIES = st.one_of(
    TEXTS.map(Text),
    TEXTS.map(Diff),
    st.lists(st.tuples(TEXTS, TEXTS), max_size=3).map(lambda rows: Table(columns=("a", "b"), rows=tuple(rows))),
)
OUTCOMES = st.builds(
    Outcome,
    command=st.just("check"),
    findings=st.lists(FINDINGS, max_size=4).map(tuple),
    closing=st.lists(WORDS, max_size=2).map(tuple),
    summary=TEXTS,
    body=st.none() | BODIES | st.lists(BODIES, max_size=2).map(tuple),
    result=st.just({}),
    root=st.just("."),
    status=st.none(),
)

DRIFT = Finding(
    code="PIN201",
    severity=Severity.ERROR,
    message="`ARG DEEPGEMM_REF` differs from pins.toml",
    file="docker/Dockerfile",
    span=Span(line=12, column=18, end_line=12, end_column=58),
    pin="deepgemm",
    selector="ARG DEEPGEMM_REF",
    expected="ad1f1726aa540a76c1d26d6a120effb8de21eaa4",
    found="ad1f1726aa540a76c1d26d6a120effb8de21ee44",
    hint="run: pinctl sync",
    related=(Location(file="pins.toml", span=Span(line=4, column=10), message="the pin's commit"),),
)


def command_lines(page: str) -> list[str]:
    """The lines that GitHub's runner takes for a command: `::` after white space, `##[` anywhere."""
    return [line for line in page.split("\n") if line.lstrip().startswith("::") or "##[" in line]
