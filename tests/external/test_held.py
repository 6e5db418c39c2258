from __future__ import annotations

import os
from pathlib import Path

import pytest

from pinctl.errors import ExternalError
from pinctl.external import bare
from pinctl.external.held import Held, hold
from pinctl.external.locks import Lock


def entered(held: Held) -> Held:
    assert held.lock is not None
    held.lock.shared()
    return held


def test_one_lock_of_a_folder_is_held_until_the_last_gives_it_back(tmp_path: Path) -> None:
    folder = str(tmp_path / "key")
    other = Lock(f"{folder}.lock", 0.05)
    with hold(folder) as one:
        entered(one)
        with hold(folder) as two, hold(f"{folder}2") as third:
            assert one is two
            assert one is not third
        with pytest.raises(ExternalError, match="another pinctl has held"):
            other.exclusive()
    assert other.exclusive()
    with hold(folder) as later:
        assert later is not one


def test_what_is_made_anew_is_empty_and_known_to_be(tmp_path: Path) -> None:
    folder = str(tmp_path / "key")
    with hold(folder) as held:
        entered(held).remake(1)
        before = os.stat(folder).st_ino
        (tmp_path / "key/objects/pack/a.idx").write_text("")
        held.here.add("a" * 40)
        held.fetched += [(("HEAD",), None, None)] * 2
        held.remake(1, sha256=True)
        assert (held.turn, held.here, held.blank, held.lost) == (2, set(), True, [(("HEAD",), None, None)])
        assert os.stat(folder).st_ino != before
        held.remake(1)
        assert bare.is_sha256(folder)  # the format stays
        with pytest.raises(ExternalError):
            Lock(f"{folder}.lock", 0.05).exclusive()
        Lock(f"{folder}.lock", 0.05).shared()  # others may come in again


def test_what_another_process_makes_anew_meanwhile_is_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = str(tmp_path / "key")
    with hold(folder) as held:
        entered(held).remake(1)
        other = Lock(f"{folder}.lock", 0.05)
        other.shared()

        real = bare.whole

        def whole(path: str) -> bool:
            monkeypatch.setattr(bare, "whole", real)
            bare.make(folder)
            (tmp_path / "key/objects/pack/a.idx").write_text("")
            other.close()
            return real(path)

        monkeypatch.setattr(bare, "whole", whole)
        held.remake(1)
        assert (held.blank, bare.packs(folder)) == (False, 1)
