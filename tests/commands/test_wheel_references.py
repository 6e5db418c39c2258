"""The recipe `docker-args` names a wheel by its URL and digest, as the records of the index have them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pinctl.commands import check, sync
from pinctl.options import Options

SHA = "0a" * 32
WHEEL = "dg-2.8.0+cu129-cp312-abi3-manylinux_2_28_x86_64.whl"
PINS = """\
schema = 1
[index]
url = "https://wheels.example/"
[pins.dg]
repo = "https://github.com/o/dg.git"
commit = "{commit}"
version = "2.8.0"
[pins.dg.generate]
"args.env" = {{ recipe = "docker-args", options = {{ wheels = {said} }} }}
[variants.cu12]
cuda = "12.9"
label = "cu129"
publish = "index"
"""


def engine(folder: Path, said: str) -> Options:
    folder.mkdir(exist_ok=True)
    (folder / "pins.toml").write_text(PINS.format(commit="c0" * 20, said=said))
    record = {"filename": WHEEL, "channel": "release", "variant": "cu129", "sha256": SHA, "url": f"files/{WHEEL}"}
    (folder / "wheels.jsonl").write_text(json.dumps(record) + "\n")
    return Options(directory=str(folder))


def test_a_wheel_has_its_url_and_digest_and_follows_the_records(tmp_path: Path) -> None:
    options = engine(tmp_path / "my engine", '["DG_WHEEL=dg cu12 3.12"]')
    assert sync.run(options).findings == ()
    url = f"https://wheels.example/files/{WHEEL.replace('+', '%2B')}"
    assert f'ARG DG_WHEEL="dg @ {url}#sha256={SHA}"\n' in (tmp_path / "my engine/args.env").read_text()
    assert check.run(options).findings == ()
    records = tmp_path / "my engine/wheels.jsonl"
    records.write_text(records.read_text().replace(SHA, "0b" * 32))
    assert [found.code for found in check.run(options).findings] == ["PIN211"]


@pytest.mark.parametrize(
    ("said", "message"),
    [
        ('["A=dg cu14"]', "there is no variant cu14"),
        ('["A=other cu12"]', "there is no pin other"),
        ('["A=dg"]', "is not of the form"),
        ('["A=dg cu12 3.12 linux/amd64 more"]', "is not of the form"),
        ('"A=dg cu12"', "is an array of texts"),
        ('["A=dg cu12 3.12 linux/arm64"]', "have no wheel of dg 2.8.0 for cu12, Python 3.12, linux/arm64"),
    ],
)
def test_a_wheel_that_cannot_be_named(tmp_path: Path, said: str, message: str) -> None:
    (found,) = check.run(engine(tmp_path / "my engine", said)).findings
    assert found.code == "PIN226"
    assert message in found.message
