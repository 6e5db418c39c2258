import errno
import json
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from pinctl.errors import ExternalError
from pinctl.external import build_cache
from pinctl.external.build_cache import Corrupt

KEY = "ab" * 32


def wheel(tmp: Path, content: bytes = b"wheel", name: str = "x-1-py3-none-any.whl") -> str:
    (tmp / "made").mkdir(exist_ok=True)
    (tmp / "made" / name).write_bytes(content)
    return str(tmp / "made" / name)


def test_what_is_kept_is_found(tmp_path: Path) -> None:
    base = str(tmp_path / "cache")
    assert build_cache.load(base, "compiled", KEY) is None
    kept = build_cache.store(base, "compiled", KEY, wheel(tmp_path), {"a": [1]})
    found = build_cache.load(base, "compiled", KEY)
    assert found == kept
    assert (found.name, found.told, Path(found.path).read_bytes()) == ("x-1-py3-none-any.whl", {"a": [1]}, b"wheel")
    assert build_cache.load(base, "finished", KEY) is None
    assert os.listdir(tmp_path / "cache/compiled/ab") == [KEY], "nothing is left beside it"


def test_a_place_that_cannot_be_written(tmp_path: Path) -> None:
    """It is told before a build as after one, and by its own name, not by that of the wheel that was to be copied."""
    build_cache.demand(str(tmp_path / "cache"))
    assert os.listdir(tmp_path / "cache") == []
    (tmp_path / "file").touch()
    for refused in (
        lambda: build_cache.demand(str(tmp_path / "file")),
        lambda: build_cache.store(str(tmp_path / "file"), "compiled", KEY, wheel(tmp_path), {}),
    ):
        with pytest.raises(ExternalError, match=f"the cache of wheels: {tmp_path}/file"):
            refused()


def test_a_full_disk_is_told_by_the_place_that_is_full(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def copy(source: str, target: str) -> None:
        raise OSError(errno.ENOSPC, "No space left on device", source, None, target)

    monkeypatch.setattr("shutil.copyfile", copy)
    with pytest.raises(ExternalError, match=f"{tmp_path}/cache/.*: No space left on device"):
        build_cache.store(str(tmp_path / "cache"), "compiled", KEY, wheel(tmp_path), {})
    assert os.listdir(tmp_path / "cache/compiled/ab") == []


def test_a_new_entry_takes_the_place_of_an_old_one(tmp_path: Path) -> None:
    base = str(tmp_path / "cache")
    build_cache.store(base, "compiled", KEY, wheel(tmp_path), {})
    build_cache.store(base, "compiled", KEY, wheel(tmp_path, b"new", "y-1-py3-none-any.whl"), {})
    found = build_cache.load(base, "compiled", KEY)
    assert found is not None
    assert (found.name, Path(found.path).read_bytes()) == ("y-1-py3-none-any.whl", b"new")
    assert sorted(os.listdir(os.path.dirname(found.path))) == ["entry.json", "y-1-py3-none-any.whl"]


@pytest.mark.parametrize("harm", ["changed", "cut", "gone", "no entry", "no json", "another name"])
def test_an_entry_that_was_harmed_is_no_hit(tmp_path: Path, harm: str) -> None:
    base = str(tmp_path / "cache")
    kept = Path(build_cache.store(base, "compiled", KEY, wheel(tmp_path), {}).path)
    entry = kept.parent / "entry.json"
    if harm == "changed":
        kept.write_bytes(b"wheal")
    elif harm == "cut":
        kept.write_bytes(b"")
    elif harm == "gone":
        kept.unlink()
    elif harm == "no entry":
        entry.unlink()
    elif harm == "no json":
        entry.write_text("{")
    else:
        entry.write_text(json.dumps(json.loads(entry.read_text()) | {"wheel": "../../../../etc/passwd"}))
    with pytest.raises(Corrupt):
        build_cache.load(base, "compiled", KEY)
    build_cache.store(base, "compiled", KEY, wheel(tmp_path), {})
    assert build_cache.load(base, "compiled", KEY) is not None


def test_several_may_keep_one_key_at_once(tmp_path: Path) -> None:
    base, made = str(tmp_path / "cache"), wheel(tmp_path, b"x" * 100_000)
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda _: build_cache.store(base, "compiled", KEY, made, {}), range(24)))
    assert build_cache.load(base, "compiled", KEY) is not None
    assert os.listdir(tmp_path / "cache/compiled/ab") == [KEY]


def test_the_inputs_of_the_last_build_are_remembered(tmp_path: Path) -> None:
    base = str(tmp_path)
    assert build_cache.last(base, "dg\ncu12") is None
    build_cache.remember(base, "dg\ncu12", {"commit": "a"})
    build_cache.remember(base, "dg\ncu12", {"commit": "b"})
    assert build_cache.last(base, "dg\ncu12") == {"commit": "b"}
    assert build_cache.last(base, "dg\ncu13") is None


def test_a_wheel_is_delivered_once(tmp_path: Path) -> None:
    kept = build_cache.store(str(tmp_path / "cache"), "finished", KEY, wheel(tmp_path), {})
    out = tmp_path / "out"
    place = Path(build_cache.deliver(kept, str(out)))
    before = place.stat()
    assert Path(build_cache.deliver(kept, str(out))).stat().st_mtime_ns == before.st_mtime_ns
    place.write_bytes(b"other")
    build_cache.deliver(kept, str(out))
    assert (place.read_bytes(), os.listdir(out)) == (b"wheel", [place.name])


def test_where_the_cache_is(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PINCTL_CACHE", str(tmp_path))
    assert build_cache.home() == str(tmp_path / "v1/wheels")
    monkeypatch.setenv("PINCTL_WHEELS", "/shared/wheels")
    assert build_cache.home() == "/shared/wheels"
