from __future__ import annotations

import signal
import sys
from collections.abc import Iterator

import pytest

from pinctl import __main__

ENDINGS = (signal.SIGHUP, signal.SIGTERM)


@pytest.fixture(autouse=True)
def _signals() -> Iterator[None]:
    before = [signal.getsignal(number) for number in ENDINGS]
    yield
    for number, handler in zip(ENDINGS, before, strict=True):
        signal.signal(number, handler)


@pytest.mark.parametrize("number", ENDINGS)
def test_an_end_from_outside_is_one_as_by_control_c(
    number: signal.Signals, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    other = next(one for one in ENDINGS if one is not number)
    signal.signal(number, signal.SIG_DFL)
    signal.signal(other, signal.SIG_IGN)  # as nohup does
    monkeypatch.setattr("pinctl.cli._invoke", lambda _: signal.raise_signal(number))
    monkeypatch.setattr(sys, "argv", ["pinctl", "check"])
    with pytest.raises(SystemExit) as end:
        __main__.run()
    assert end.value.code == 130
    assert capsys.readouterr() == ("", "interrupted; nothing is half written\n")
    assert signal.getsignal(other) is signal.SIG_IGN


def test_an_interrupt_while_modules_load(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    class Interrupted:
        def find_spec(self, name: str, *_: object) -> None:
            if name == "pinctl.cli":
                raise KeyboardInterrupt

    monkeypatch.delitem(sys.modules, "pinctl.cli", raising=False)
    monkeypatch.setattr(sys, "meta_path", [Interrupted(), *sys.meta_path])
    with pytest.raises(SystemExit) as end:
        __main__.run()
    assert end.value.code == 130
    assert capsys.readouterr() == ("", "")
