from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from index.support import record, sha, wheel

from pinctl.commands import index_build
from pinctl.commands.index_build import Adding
from pinctl.errors import ExternalError, ManifestError, UsageError, WriteRefused
from pinctl.index import records
from pinctl.options import Options
from pinctl.outcome import Outcome

PINS = """
schema = 1
[index]
url = "https://whl.example"
channels = ["release", "nightly"]
[variants.cu12]
label = "cu129"
[variants.cu13]
label = "cu130"
"""


def build(root: Path, *add: Path, out: str | None = "site", **said: Any) -> Outcome:
    adding = Adding(tuple(map(str, add)), **{key: said.pop(key) for key in list(said) if key in Adding._fields})
    return index_build.run(Options(directory=str(root)), out=out, adding=adding, **said)


def read(root: Path, name: str = "wheels.jsonl") -> list[records.Record]:
    found, broken = records.load((root / name).read_text())
    assert not broken
    return found


def write(root: Path, *found: records.Record) -> None:
    (root / "wheels.jsonl").write_text(records.dump(found))


def tree(root: Path) -> dict[str, bytes]:
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in root.rglob("*") if path.is_file()}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "pins.toml").write_text(PINS)
    return tmp_path


def test_wheels_become_records_and_pages(root: Path) -> None:
    one, two = wheel(root / "dist"), wheel(root / "dist", "1.0+cu130")
    done = build(root, root / "dist", uploaded="2026-07-01T12:00:00Z")
    assert not done.findings
    assert done.result == {"files": 2, "pages": 4, "added": [one.name, two.name], "out": "site"}
    first = read(root)[0]
    assert (first.filename, first.place, first.url) == (one.name, ("release", "cu12"), f"files/{one.name}")
    assert (first.size, first.uploaded, first.requires_python) == (one.stat().st_size, "2026-07-01T12:00:00Z", ">=3.8")
    made = tree(root / "site")
    assert made[f"files/{one.name}"] == one.read_bytes()
    assert made[f"files/{one.name}.metadata"].startswith(b"Metadata-Version: 2.1\nName: tinyk\n")
    page = json.loads(made["release/cu13/tinyk/index.v1_json"])
    assert page["files"][0]["core-metadata"] == {"sha256": sha(made[f"files/{two.name}.metadata"].decode())}
    assert b"https://whl.example/release/cu12/" in made["index.html"]


def test_the_same_again_changes_nothing(root: Path) -> None:
    one = wheel(root / "dist")
    build(root, one)
    lines, made = (root / "wheels.jsonl").read_bytes(), tree(root / "site")
    one.rename(root / one.name)
    again = build(root, root / one.name)
    assert (again.result["added"], again.findings) == ([], ())
    (root / one.name).unlink()
    build(root)  # from the old index alone
    assert (root / "wheels.jsonl").read_bytes() == lines
    assert tree(root / "site") == made


def test_additions_at_the_same_time_are_all_there_afterwards(root: Path) -> None:
    found = [wheel(root / f"dist{number}", f"1.{number}+cu129") for number in range(8)]
    with ThreadPoolExecutor(8) as pool:
        done = list(pool.map(lambda path: build(root, path), found))
    assert all(not one.findings for one in done)
    assert [one.filename for one in read(root)] == [path.name for path in found]
    page = (root / "site/release/cu12/tinyk/index.html").read_text()
    assert page.count("<a ") == 8


def test_other_bytes_under_a_published_name_are_refused(root: Path) -> None:
    build(root, wheel(root / "dist"))
    made = tree(root / "site")
    refused = build(root, wheel(root / "new", body="X = 2\n"), wheel(root / "new", "1.1+cu129"))
    assert [(f.code, f.file) for f in refused.findings] == [("PIN717", "wheels.jsonl")]
    assert refused.exit_code == 1
    assert refused.closing == ("nothing was written",)
    assert len(read(root)) == 1
    assert tree(root / "site") == made


def test_files_served_elsewhere(root: Path) -> None:
    one = wheel(root / "dist")
    build(root, one, url="https://files.example/v1/", channel="nightly")
    (made,) = read(root)
    assert (made.url, made.channel) == ("https://files.example/v1/tinyk-1.0%2Bcu129-py3-none-any.whl", "nightly")
    assert made.metadata is None
    assert not (root / "site/files").exists()
    build(root, wheel(root / "dist", "1.1+cu129"), url="https://files.example/v1", sidecars=True)
    assert read(root)[1].metadata is not None


def test_files_from_another_folder(root: Path) -> None:
    build(root, wheel(root / "dist"))
    made = tree(root / "site")
    with pytest.raises(ExternalError, match="not in the index any more"):
        build(root, out="new")
    build(root, out="new", sources=["dist"])
    assert tree(root / "new") == made


@pytest.mark.parametrize(
    ("found", "code"),
    [
        ([record(), record(sha256="ab" * 32)], "PIN702"),
        ([record(sha256=None)], "PIN704"),
        ([record("tinyk-1.0+cu130-py3-none-any.whl", variant="cu12")], "PIN703"),
        ([record(channel="other", variant="cu12")], "PIN716"),
    ],
)
def test_what_stops_a_build_stops_it_before_anything_is_written(
    root: Path, found: list[records.Record], code: str
) -> None:
    write(root, *found)
    done = build(root, wheel(root / "dist", "9.0+cu129"))
    assert [finding.code for finding in done.findings] == [code]
    assert done.findings[0].file == "wheels.jsonl"
    assert done.result["out"] is None
    assert not (root / "site").exists()
    assert len(read(root)) == len(found)


def test_a_finding_stands_at_its_line(root: Path) -> None:
    write(root, record("a-1.0-py3-none-any.whl"), record(sha256=None))
    (finding,) = build(root).findings
    assert finding.span
    assert finding.span.line == 2
    assert finding.hint
    assert finding.hint.startswith("pinctl index decide tinyk-1.0+cu129-cp310-abi3-manylinux_2_28_x86_64.whl --sha256")


def test_a_hole_is_a_warning(root: Path) -> None:
    tag = "cp310-abi3-manylinux_2_28_{}"
    names = [f"tinyk-{v}+cu129-{tag.format(p)}.whl" for v, p in (("1.0", "x86_64"), ("1.0", "aarch64"))]
    names += [f"tinyk-{v}+cu130-{tag.format(p)}.whl" for v, p in (("1.0", "x86_64"), ("0.9", "aarch64"))]
    write(root, *(record(name, variant="cu12" if "cu129" in name else "cu13") for name in names))
    done = build(root)
    assert [(finding.code, finding.severity) for finding in done.findings] == [("PIN712", "warning")]
    assert (root / "site/index.html").exists()


def test_without_a_folder_the_records_are_judged_alone(root: Path) -> None:
    write(root, record(variant="cu12"))
    done = build(root, out=None)
    assert done.result["out"] is None
    assert done.summary == "1 file; --out DIR writes the index"
    assert sorted(path.name for path in root.iterdir()) == ["pins.toml", "wheels.jsonl"]


def test_lines_that_are_no_records(root: Path) -> None:
    (root / "wheels.jsonl").write_text("{}\n[]\n")
    with pytest.raises(ManifestError) as caught:
        build(root)
    assert [(finding.code, finding.span.line) for finding in caught.value.findings if finding.span] == [
        ("PIN701", 1), ("PIN701", 2),
    ]  # fmt: skip
    assert caught.value.exit_code == 1


def test_a_variant_that_nothing_says(root: Path) -> None:
    with pytest.raises(UsageError, match="nothing says which variant") as caught:
        build(root, wheel(root / "dist", "1.0"))
    assert caught.value.hint == "say it: --variant NAME"
    build(root, wheel(root / "dist", "1.0"), variant="cu13")
    assert read(root)[0].variant == "cu13"


@pytest.mark.parametrize(
    "said",
    [
        {"uploaded": "now"},
        {"url": "ftp://x.example"},
        {"url": "https://u:p@x.example"},
        {"channel": "../x"},
        {"variant": "A"},
    ],
)
def test_what_makes_no_sense(root: Path, said: dict[str, str]) -> None:
    with pytest.raises(UsageError):
        build(root, wheel(root / "dist"), **said)
    assert not (root / "wheels.jsonl").exists()


def test_a_folder_that_holds_something_else_is_refused_first(root: Path) -> None:
    (root / "src").mkdir()
    (root / "src/main.c").touch()
    with pytest.raises(WriteRefused, match=r"main\.c"):
        build(root, wheel(root / "dist"), out="src")
    assert not (root / "wheels.jsonl").exists()
    (root / "empty").mkdir()
    with pytest.raises(UsageError, match="holds no wheel"):
        build(root, root / "empty")


def test_without_pins_toml_the_usual_holds(tmp_path: Path) -> None:
    build(tmp_path, wheel(tmp_path / "dist"), variant="cu129")
    assert (tmp_path / "site/release/cu129/tinyk/index.html").exists()
    assert read(tmp_path)[0].channel == "release"
    other = build(tmp_path, wheel(tmp_path / "dist", "1.1+cu129"), file="sub.jsonl", variant="cu129", out="two")
    assert other.result["files"] == 1
    assert len(read(tmp_path, "sub.jsonl")) == 1


def test_a_record_that_goes_takes_its_file_along(root: Path) -> None:
    build(root, wheel(root / "dist"), wheel(root / "dist", "1.1+cu129"))
    first, second = read(root)
    write(root, first._replace(withdrawn="broken"), second)
    build(root)
    assert sorted(path.name for path in (root / "site/files").iterdir()) == [
        "tinyk-1.1+cu129-py3-none-any.whl", "tinyk-1.1+cu129-py3-none-any.whl.metadata",
    ]  # fmt: skip
    assert b"tinyk-1.0" not in (root / "site/release/cu12/tinyk/index.html").read_bytes()
