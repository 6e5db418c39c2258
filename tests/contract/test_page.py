"""docs/contract.md says what the code does."""

from __future__ import annotations

import re
from pathlib import Path

from pinctl.codes.table import CODES
from pinctl.contract.breaks.model import CODES as CLASSES
from pinctl.contract.breaks.model import REQUIRED
from pinctl.finding import Severity
from pinctl.manifest import parse

PAGE = (Path(__file__).parents[2] / "docs/contract.md").read_text(encoding="utf-8")
WORDS = {Severity.ERROR: "fails", Severity.WARNING: "warns", Severity.INFO: "tells"}


def test_the_table_has_every_class() -> None:
    rows = re.findall(r"^\| (\w*) ?\| (PIN\d+) \| .* \| (\w+) \|$", PAGE, re.MULTILINE)
    kinds = {(kind.value, code, WORDS[CODES[code].severity]) for kind, code in CLASSES.items()}
    assert set(rows) == {*kinds, ("", REQUIRED, "fails")}
    assert {kind.fails for kind, code in CLASSES.items() if CODES[code].severity is Severity.ERROR} == {True}
    assert {kind.fails for kind, code in CLASSES.items() if CODES[code].severity is not Severity.ERROR} == {False}


def test_the_pins_file_that_it_shows_is_valid() -> None:
    (shown,) = re.findall(r"^```toml\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    pin = f'[pins.deepgemm]\nrepo = "https://github.com/o/n"\ncommit = "{"a" * 40}"\nunused = true\n'
    read = parse(f"schema = 1\n{pin}{shown}").pins["deepgemm"]
    assert read.contract is not None
    assert len(read.contract.requires) == 2
    assert read.allow[0].symbol == "deep_gemm.mega._interleave_weights"
