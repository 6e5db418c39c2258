import subprocess
import sys

from hypothesis import given
from hypothesis import strategies as st

from pinctl.codes import finding
from pinctl.finding import Finding, Severity, Span
from pinctl.outcome import Diff, Outcome, Table, Text
from pinctl.report.cells import cells
from pinctl.report.text import Look, render

from .samples import DRIFT, HOSTILE, OUTCOMES, command_lines

PLAIN = Look(width=100)


def shown(*findings: Finding, look: Look = PLAIN, summary: str = "", body: object = None) -> str:
    outcome = Outcome(command="check", findings=findings, summary=summary, body=body)  # type: ignore[arg-type]
    return render(outcome, look, "/repository")


def test_drift_for_a_person() -> None:
    assert shown(DRIFT) == (
        "docker/Dockerfile:12:18: error PIN201 deepgemm: `ARG DEEPGEMM_REF` differs from pins.toml\n"
        "    expected  ad1f1726aa540a76c1d26d6a120effb8de21eaa4\n"
        "    found     ad1f1726aa540a76c1d26d6a120effb8de21ee44\n" + " " * (4 + 10 + 37) + "^~\n"
        "    hint      run: pinctl sync\n"
        "    see       pins.toml:4:10 the pin's commit\n"
        "\n"
        "1 error in 1 file\n"
    )


def test_the_mark_stands_under_what_differs() -> None:
    lines = shown(DRIFT).split("\n")
    assert lines[2][lines[3].index("^") : len(lines[3])] == "e4"


def test_colour_marks_the_difference_and_needs_no_marks() -> None:
    page = shown(DRIFT, look=Look(color=True, width=100))
    assert "effb8de21e\x1b[32maa\x1b[0m4\n" in page
    assert "effb8de21e\x1b[31me4\x1b[0m4\n" in page
    assert "^" not in page
    assert "\x1b[1;31merror PIN201\x1b[0m" in page


def test_a_clean_run_is_one_line() -> None:
    assert shown(summary="232 sites of 45 pins agree") == "232 sites of 45 pins agree\n"
    assert shown(summary="232 sites of 45 pins agree", look=Look(quiet=True)) == ""
    assert shown() == ""


def test_quiet_is_one_line_a_finding() -> None:
    other = finding("PIN204", "a long message " * 20, file="z", hint="run: pinctl sync", expected="1", found="2")
    lines = shown(DRIFT, other, look=Look(quiet=True, width=60)).splitlines()
    assert [line.split(":")[0] for line in lines] == ["docker/Dockerfile", "z"]


def test_verbose_names_the_selector_and_where_to_read_on_and_cuts_nothing() -> None:
    long = finding("PIN201", "m", file="f", expected="x" * 300 + "1", found="x" * 300 + "2")
    page = shown(DRIFT, long, look=Look(width=80, verbose=1))
    assert "    selector  ARG DEEPGEMM_REF\n    more      pinctl explain PIN201\n" in page
    assert "x" * 300 + "1" in page


def test_a_message_is_wrapped_and_a_path_is_not() -> None:
    lines = shown(
        finding("PIN205", "the file does not exist at all here", file="a/" * 30 + "f"), look=Look(width=50)
    ).split("\n")
    assert lines[0] == "a/" * 30 + "f: error PIN205: the"
    assert lines[1] == "    file does not exist at all here"


def test_findings_without_error_keep_the_summary() -> None:
    page = shown(finding("PIN204", "m", file="f"), summary="4 sites agree")
    assert page.endswith("\n\n4 sites agree (1 warning in 1 file)\n")


def test_files_are_named_from_the_current_directory(monkeypatch) -> None:  # type: ignore[no-untyped-def]
    monkeypatch.chdir("/")
    outcome = Outcome(command="check", findings=(DRIFT,))
    assert render(outcome, PLAIN, "/repository").startswith("repository/docker/Dockerfile:12:18: ")
    assert "see       repository/pins.toml:4:10" in render(outcome, PLAIN, "/repository")


def test_table_columns_are_aligned() -> None:
    table = Table(columns=("pin", "state"), rows=(("deepgemm", "in sync"), ("日本", "drift (2)")))
    assert shown(body=table) == "pin       state\ndeepgemm  in sync\n日本      drift (2)\n"


def test_a_wide_table_has_its_widest_columns_cut() -> None:
    table = Table(columns=("pin", "note"), rows=(("deepgemm", "x" * 90),))
    lines = shown(body=table, look=Look(width=40)).splitlines()
    assert lines[1] == "deepgemm  " + "x" * 29 + "…"
    assert shown(body=table, look=Look(width=0)).splitlines()[1] == "deepgemm  " + "x" * 90


def test_an_empty_table_is_its_heads() -> None:
    assert shown(body=Table(columns=("pin", "state"), rows=())) == "pin  state\n"


DIFF = "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\r\n+\x1b[2J ::error::x\udcff \n"


def test_a_diff_for_a_pipe_keeps_every_byte() -> None:
    assert shown(body=Diff(DIFF), look=Look(exact=True)) == DIFF


def test_a_diff_for_a_terminal_is_made_visible_and_coloured() -> None:
    assert shown(body=Diff(DIFF), look=Look(color=True)) == (
        "\x1b[1mdiff --git a/x b/x\x1b[0m\n\x1b[1m--- a/x\x1b[0m\n\x1b[1m+++ b/x\x1b[0m\n\x1b[36m@@ -1 +1 @@\x1b[0m\n"
        "\x1b[31m-a\\r\x1b[0m\n\x1b[32m+\\x1b[2J ::error::x\\xff \x1b[0m\n"
    )


def test_parts_of_a_body_follow_each_other_and_findings_come_after() -> None:
    page = shown(DRIFT, body=(Text("one\n\ntwo"), Table(columns=("a",), rows=(("1",),))))
    assert page.startswith("one\n\ntwo\na\n1\n\ndocker/Dockerfile:12:18: ")


def test_markup_of_rich_is_text() -> None:
    page = shown(finding("PIN201", "[/x] [link=https://e]x[/link] [bold]", file="[red]f"))
    assert page.startswith("[red]f: error PIN201: [/x] [link=https://e]x[/link] [bold]\n")


@given(OUTCOMES, st.sampled_from([0, 20, 80]), st.booleans(), st.integers(0, 1))
def test_whatever_the_values_plain_text_has_no_control_and_no_command(
    outcome: Outcome, width: int, quiet: bool, verbose: int
) -> None:
    page = render(outcome, Look(width=width, quiet=quiet, verbose=verbose), "/repository")
    assert page.replace("\n", "").replace("\t", "").isprintable()
    assert command_lines(page) == []
    assert all(f.code in page for f in outcome.findings)


@given(OUTCOMES, st.sampled_from([0, 20, 80]))
def test_colour_adds_its_own_escapes_alone(outcome: Outcome, width: int) -> None:
    import re

    page = render(outcome, Look(width=width, color=True), "/repository")
    rest = re.sub(r"\x1b\[[0-9;]*m", "", page)
    assert rest.replace("\n", "").replace("\t", "").isprintable()


def test_hostile_values_one_by_one() -> None:
    for text in HOSTILE:
        bad = Finding(code="PIN201", severity=Severity.ERROR, message=text, file=text, span=Span(line=1), pin=text,
                      selector=text, expected=text, found=text + "x", hint=text)  # fmt: skip
        page = shown(bad, summary=text, body=Text(text), look=Look(width=60, verbose=1))
        assert page.replace("\n", "").replace("\t", "").isprintable(), text
        assert command_lines(page) == [], text


def test_values_keep_within_the_width() -> None:
    page = shown(finding("PIN201", "m", file="f", expected="日" * 80, found="日" * 79 + "x"), look=Look(width=60))
    assert all(cells(line) <= 60 for line in page.splitlines())


def test_what_is_to_be_known_of_it_comes_last() -> None:
    outcome = Outcome(command="contract", summary="fine", closing=("not seen: a", "never seen: b\nc"))
    assert render(outcome, Look(), "/repository") == "fine\nnot seen: a\nnever seen: b c\n"
    assert render(outcome, Look(quiet=True), "/repository") == ""


def test_a_clean_run_loads_nothing_slow() -> None:
    code = (
        "import io, sys\n"
        "from pinctl import report\n"
        "from pinctl.outcome import Outcome\n"
        "outcome = Outcome(command='check', summary='fine')\n"
        "look = dict(color=True, width=80, quiet=False, verbose=0, root='.')\n"
        "report.write(outcome, 'text', io.StringIO(), **look)\n"
        "slow = {'rich', 'json', 'difflib', 'textwrap', 'hashlib', 'urllib', 'unicodedata', 'pathlib'}\n"
        "print(sorted(slow & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
