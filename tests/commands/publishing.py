"""What the tests of `publish` share."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pinctl.commands import publish
from pinctl.commands.publish import How
from pinctl.options import Options
from pinctl.outcome import Outcome
from pinctl.publish.settings import Said

PINS = """
schema = 1
[index]
channels = ["release", "nightly"]
[variants.cu12]
label = "cu129"
publish = "index"
[variants.cu13]
publish = "pypi"
"""


def checkout(base: Path, text: str = PINS) -> Path:
    """A checkout whose variants say where they go."""
    root = base / "checkout"
    root.mkdir()
    (root / "pins.toml").write_text(text)
    return root


def run(root: Path, *files: Path, policy: str | None = None, offline: bool = False, **said: Any) -> Outcome:
    """`publish` of these files; `repository` and `url` are where the one target is."""
    where = Said(said.pop("repository", None), said.pop("url", None))
    options = Options(directory=str(root), policy=policy, offline=offline, untrusted=said.pop("untrusted", None))
    return publish.run(options, paths=tuple(map(str, files)), how=How(said=where, **said))


def states(done: Outcome) -> dict[str, str]:
    """What became of each target."""
    return {one["target"]: one["state"] for one in done.result["targets"]}  # type: ignore[attr-defined]


def codes(done: Outcome) -> list[str]:
    """The codes of what stops a run."""
    return [one.code for one in done.findings if one.severity == "error"]


def tree(root: Path) -> dict[str, bytes]:
    """All files below `root`."""
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in root.rglob("*") if path.is_file()}
