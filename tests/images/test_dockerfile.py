"""Docker files held against the arguments that they get: H18 and H19."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pinctl.images.dockerfile import judge, variables

COMMIT = "a1" * 20


def told(text: str, *given: str) -> list[tuple[str, str, int]]:
    return [(f.code, str(f.severity), f.span.line if f.span else 0) for f in judge(text.encode(), "Dockerfile", given)]


def test_every_variable_with_its_place() -> None:
    text = "ARG A\nFROM x\nARG B=1 C\nENV D=2\nENV E f g\n"
    assert [(v.keyword, v.name, v.value, v.span.line) for v in variables(text.encode())] == [
        ("ARG", "A", None, 1), ("ARG", "B", "1", 3), ("ARG", "C", None, 3), ("ENV", "D", "2", 4),
        ("ENV", "E", "f g", 5)]  # fmt: skip


def test_an_argument_that_reaches_nothing() -> None:
    assert told("FROM x\nARG A\n", "A", "B", "HTTP_PROXY") == [("PIN672", "error", 0)]


@pytest.mark.parametrize(
    ("line", "severity"),
    [
        ("ARG DG_REF=main", "error"), ("ARG DG_REF=v1.2", "error"), ("ARG REF=main", "error"),
        ("ARG X_BRANCH=a", "error"),
        ("ARG DG_REF=a1a1a1a1", "warning"), (f"ARG DG_REF={COMMIT}", None), ("ARG DG_REF", None), ("ARG DG_REF=", None),
        ("ARG DG_REF=$OTHER", None), ("ARG PREFER=main", None), ("ENV DG_REF=main", None),
    ],
)  # fmt: skip
def test_a_reference_that_moves(line: str, severity: str | None) -> None:
    assert told(f"FROM x\n{line}\n") == ([("PIN223", severity, 2)] if severity else [])
    if "DG_REF" in line and line.startswith("ARG"):
        assert told(f"FROM x\n{line}\n", "DG_REF") == []


@pytest.mark.parametrize(
    "line", ["ARG HF_TOKEN", "ENV HF_TOKEN=SENTINEL", "ARG URL=https://x:SENTINEL@h/r", "ENV API_KEY SENTINEL"]
)
def test_a_credential_is_told_and_not_repeated(line: str) -> None:
    (found,) = judge(f"FROM x\n{line}\n".encode(), "Dockerfile", ())
    assert (found.code, found.span and found.span.line) == ("PIN119", 2)
    assert "SENTINEL" not in repr(found)


@given(
    st.lists(st.sampled_from(["ARG ", "ENV ", "A_REF", "=", "main", "TOKEN", "\n", "\\\n", "'", '"', "$", "#", " "]))
)
def test_no_file_crashes_it(words: list[str]) -> None:
    source = "".join(words).encode()
    lines = source.count(b"\n") + 1
    assert all(v.span.line <= lines for v in variables(source))
    list(judge(source, "Dockerfile", ("A_REF",)))
