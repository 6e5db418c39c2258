from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pinctl.errors import ExternalError
from pinctl.external.build_log import Log, open_


def test_lines_are_told_as_they_are_whole(tmp_path: Path) -> None:
    path, told = str(tmp_path / "logs/a.log"), list[str]()
    with open_(path, told.append, append=False) as log:
        log.heard(b"one\ntw")
        assert told == ["one"]
        log.heard(b"o\r\nthree")
        assert told == ["one", "two"]
        assert list(log.lines()) == ["one", "two", "three"]


def test_a_second_build_is_read_by_itself(tmp_path: Path) -> None:
    path = str(tmp_path / "a.log")
    with open_(path, lambda _: None, append=False) as log:
        log.heard(b"first\n")
    with open_(path, lambda _: None, append=True) as log:
        log.heard(b"second\n")
        assert list(log.lines()) == ["second"]
    assert Path(path).read_text() == "first\nsecond\n"
    with open_(path, lambda _: None, append=False) as log:
        pass
    assert Path(path).read_text() == ""


def test_a_log_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "logs").write_text("a file")
    with pytest.raises(ExternalError), open_(str(tmp_path / "logs/a.log"), lambda _: None, append=False):
        pass


@given(st.lists(st.binary(max_size=12)))
def test_pieces_do_not_matter(tmp_path_factory: pytest.TempPathFactory, pieces: list[bytes]) -> None:
    path, told = tmp_path_factory.getbasetemp() / "pieces.log", list[str]()
    with open(path, "wb") as file:
        log = Log(str(path), file, told.append)
        for piece in pieces:
            log.heard(piece)
    whole = b"".join(pieces)
    assert path.read_bytes() == whole
    assert told == [line.decode("utf-8", "replace").rstrip("\r") for line in whole.split(b"\n")[:-1]]
