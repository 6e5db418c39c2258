import pytest

from pinctl.codes import finding
from pinctl.outcome import Body, Diff, Outcome, Table, Text

ERROR, WARNING, NOTE = finding("PIN201", "m"), finding("PIN204", "m"), finding("PIN121", "m")


@pytest.mark.parametrize(
    ("findings", "status", "expected"),
    [
        ((), None, 0),
        ((NOTE, WARNING), None, 0),
        ((WARNING, ERROR), None, 1),
        ((), 1, 1),
        ((ERROR,), 3, 3),
        ((ERROR,), 0, 0),
    ],
)
def test_exit_code(findings: tuple[object, ...], status: int | None, expected: int) -> None:
    assert Outcome(command="check", findings=findings, status=status).exit_code == expected  # type: ignore[arg-type]


TABLE = Table(columns=("a",), rows=())


@pytest.mark.parametrize(
    ("body", "parts"),
    [(None, ()), (TABLE, (TABLE,)), ((TABLE, Text("t")), (TABLE, Text("t"))), (Diff("d"), (Diff("d"),)), ((), ())],
)
def test_parts(body: Body | tuple[Body, ...] | None, parts: tuple[Body, ...]) -> None:
    assert Outcome(command="check", body=body).parts == parts
