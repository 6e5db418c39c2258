"""Small git repositories for tests: real ones, with ids and dates that never change."""

import os
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar


@dataclass(slots=True)
class GitRepository:
    """A git repository of a test. Each commit is an hour later than the last, so dates and ids never change."""

    CLOCK: ClassVar[int] = 1_700_000_000

    path: Path
    clock: int = CLOCK

    def git(self, *args: str) -> str:
        """What `git ARGS` prints, without the last newline; `protocol.file` is allowed, for submodules."""
        date = f"{self.clock} +0000"
        who = {
            f"GIT_{role}_{key}": value
            for role in ("AUTHOR", "COMMITTER")
            for key, value in (("NAME", "Tester"), ("EMAIL", "tester@example.org"), ("DATE", date))
        }
        env = {
            "PATH": os.environ["PATH"],
            "HOME": os.devnull,
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_CONFIG_NOSYSTEM": "1",
            "LC_ALL": "C.UTF-8",
            **who,
        }
        done = subprocess.run(
            ["git", "-c", "protocol.file.allow=always", *args], cwd=self.path, env=env, capture_output=True, check=True
        )
        return done.stdout.decode("utf-8", "surrogateescape").removesuffix("\n")

    def write(self, path: str, text: str | bytes) -> None:
        """Write a file of the work tree, with its folders."""
        file = self.path / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text.encode() if isinstance(text, str) else text)

    def commit(self, message: str = "change", files: dict[str, str] | None = None) -> str:
        """Write `files`, add everything, commit; the commit's id."""
        for path, text in (files or {}).items():
            self.write(path, text)
        self.clock += 3600
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", message)
        return self.git("rev-parse", "HEAD")


MakeRepository = Callable[[str], GitRepository]
