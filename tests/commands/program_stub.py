"""A program that stands in for another one: it behaves as it is told, and keeps the calls that it gets."""

import json
import shlex
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Self


@dataclass(frozen=True, slots=True)
class ProgramStub:
    """The program at `path`. PROGRAM is its Python source, which reads `behave.json` beside it and adds its arguments
    to `calls.jsonl`; USUAL how it behaves if nothing else is said."""

    PROGRAM: ClassVar[str]
    USUAL: ClassVar[Mapping[str, Any]]

    path: Path

    @classmethod
    def make(cls, folder: Path) -> Self:
        """The program `docker` in a new folder."""
        folder.mkdir()
        path = folder / "docker"
        path.with_suffix(".py").write_text(cls.PROGRAM)
        # Through a shell, since a path with a space cannot stand behind `#!`.
        path.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} "$0.py" "$@"\n')
        path.chmod(0o755)
        made = cls(path)
        made.behave()
        return made

    def behave(self, **changes: object) -> None:
        """Behave as usual but for `changes`."""
        (self.path.parent / "behave.json").write_text(json.dumps({**self.USUAL, **changes}))

    @property
    def calls(self) -> list[list[str]]:
        """The arguments of each call so far."""
        path = self.path.parent / "calls.jsonl"
        return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
