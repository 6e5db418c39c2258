import io
import json

import pytest

from pinctl import report
from pinctl.outcome import Diff, Outcome
from pinctl.plan import FilePlan, Plan

from .samples import DRIFT

OUTCOME = Outcome(command="check", findings=(DRIFT,), summary="s")


def written(form: str, outcome: Outcome = OUTCOME, root: str = "/repository", **look: object) -> str:
    out = io.StringIO()
    settings = {"color": False, "width": 80, "quiet": False, "verbose": 0, "root": root, **look}
    report.write(outcome, form, out, **settings)  # type: ignore[arg-type]
    return out.getvalue()


@pytest.mark.parametrize(
    ("form", "start"),
    [
        ("text", "docker/Dockerfile:12:18: error PIN201"),
        ("json", '{\n  "schema": 1,'),
        ("github", "::error file=docker/Dockerfile,"),
        ("sarif", '{\n  "$schema": '),
        ("markdown", "**pinctl check**: 1 error"),
    ],
)
def test_each_form(form: str, start: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GITHUB_WORKSPACE", raising=False)
    assert form in report.FORMATS
    assert written(form).startswith(start)
    assert written(form) == written(form)


def test_another_form_is_refused() -> None:
    with pytest.raises(ValueError, match="no format 'xml'; there are text, json, github, sarif, markdown"):
        written("xml")


def test_files_below_the_workspace_are_named_from_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITHUB_WORKSPACE", "/w")
    assert "file=sub/docker/Dockerfile," in written("github", root="/w/sub")
    run = json.loads(written("sarif", root="/w/sub"))["runs"][0]
    assert run["originalUriBaseIds"] == {"%SRCROOT%": {"uri": "file:///w/"}}
    assert run["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "sub/docker/Dockerfile"
    assert json.loads(written("json", root="/w/sub"))["findings"][0]["file"] == "docker/Dockerfile"


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_diff_is_exact_for_a_pipe_and_visible_on_a_terminal() -> None:
    outcome = Outcome(command="sync", body=Diff("+a\r\n"))
    out = Terminal()
    report.write(outcome, "text", out, color=False, width=80, quiet=False, verbose=0, root=".")
    assert out.getvalue() == "+a\\r\n"
    assert written("text", outcome) == "+a\r\n"


def test_git_applies_what_a_pipe_gets(repository) -> None:  # type: ignore[no-untyped-def]
    before, after = b"a\r\nx=1\xff\n\x1b[2J\nend", b"a\r\nx=2\xff\n\x1b[2J\nend"
    repository.commit(files={})
    repository.write("f", before)
    plan = Plan(files=(FilePlan(path="f", before=before, after=after),))
    outcome = Outcome(command="sync", body=Diff(plan.diff()), summary="would change 1 file: f", findings=(DRIFT,))
    with (repository.path.parent / "patch").open("w", encoding="utf-8", newline="") as out:
        report.write(outcome, "text", out, color=False, width=80, quiet=False, verbose=0, root=".")
    repository.git("apply", "../patch")
    assert (repository.path / "f").read_bytes() == after


@pytest.mark.parametrize(
    ("encoding", "shown"), [("ascii", b"\\xe9\\u2026"), ("latin-1", b"\xe9\\u2026"), ("utf-8", "é…".encode())]
)
def test_a_narrow_encoding_loses_no_run(encoding: str, shown: bytes) -> None:
    raw = io.BytesIO()
    out = io.TextIOWrapper(raw, encoding)
    outcome = Outcome(command="check", summary="é…")
    report.write(outcome, "text", out, color=False, width=80, quiet=False, verbose=0, root=".")
    out.flush()
    assert raw.getvalue() == shown + b"\n"
