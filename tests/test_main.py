from __future__ import annotations

import sys

import pytest

from pinctl import __main__


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
