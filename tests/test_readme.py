"""The README's commands are those that CI runs, and what it shows is what is printed."""

import re
from pathlib import Path

from pinctl.cli import app, furnish
from pinctl.manifest import parse

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_ci_runs_the_readmes_test_command() -> None:
    commands = re.findall(r"^python3 -m venv .*$", README, re.MULTILINE)
    assert len(commands) == 2
    assert commands[1] in (ROOT / ".ci/run").read_text(encoding="utf-8").splitlines()


def test_every_verb_is_documented() -> None:
    furnish("")
    verbs = {command.callback.__name__ for command in app.registered_commands if command.callback}
    verbs |= {group.name for group in app.registered_groups if group.name}
    assert {verb for verb in verbs if f"pinctl {verb}" not in README} == set()


def test_the_pins_file_that_it_shows_is_valid() -> None:
    (shown,) = re.findall(r"^```toml\n(.*?)^```", README, re.MULTILINE | re.DOTALL)
    assert list(parse(shown).pins) == ["deepgemm"]


def test_no_placeholder_is_left() -> None:
    for page in [ROOT / "README.md", *(ROOT / "docs").glob("*.md")]:
        assert not re.search(r"\b[A-Z]+_(OUTPUT|SECONDS|TABLE)\b", page.read_text(encoding="utf-8")), page


def test_links_between_pages_lead_somewhere() -> None:
    for page in [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").glob("*.md")]:
        for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
            assert (page.parent / target).exists(), f"{page.name}: {target}"
