"""An upstream with a history in which a patch comes and goes, and an engine that patches it."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from consumer import Run, pinctl
from integration.servers import PUBLIC
from repositories import GitRepository

URL = f"{PUBLIC}dg"
API = "".join(f"line {n}\n" for n in range(1, 21))
ONE = """\
--- a/csrc/api file.cpp
+++ b/csrc/api file.cpp
@@ -4,5 +4,5 @@
 line 4
 line 5
-line 6
+{}
 line 7
 line 8
"""
V1, V2 = ONE.format("line 6, patched"), ONE.format("line 6, patched again")
FILE = "csrc/api file.cpp"


@dataclass(slots=True)
class Engine:
    """`up` is served as URL. `commits` are those of it by a word: `start`; `moved`, where the lines stand elsewhere;
    `rewritten`, where they are others; `taken`, where upstream has the second form of the patch."""

    up: GitRepository
    root: Path
    commits: dict[str, str] = field(default_factory=dict)

    @classmethod
    def made(cls, up: GitRepository, root: Path) -> Engine:
        engine = cls(up, root)
        (root / "my patches").mkdir(parents=True)
        texts = {
            "start": API,
            "moved": "a new head\n" * 3 + API,
            "rewritten": "a new head\n" * 3 + API.replace("line 6\n", "line six\n"),
            "taken": "a new head\n" * 3 + API.replace("line 6\n", "line 6, patched again\n"),
        }
        for word, text in texts.items():
            engine.commits[word] = up.commit(word, {FILE: text, "dg/__init__.py": "__version__ = '2.7'\n"})
        engine.patch("one.patch", V2)
        engine.pins()
        return engine

    def patch(self, name: str, text: str) -> None:
        (self.root / "my patches" / name).write_bytes(text.encode())

    def pins(self, lines: str = '[[pins.dg.patches]]\nfile = "my patches/one.patch"\n', at: str = "start",
             extra: str = "") -> None:  # fmt: skip
        """Write pins.toml; `lines` begin in line 8."""
        commit = self.commits.get(at, at)
        head = f'schema = 1\n[pins.dg]\nrepo = "{URL}"\ncommit = "{commit}"\ntrack = "main"\nversion = "2.7"\n'
        (self.root / "pins.toml").write_text(f"{head}unused = true\n{lines}{extra}")

    def run(self, *words: str) -> Run:
        return pinctl(*words, cwd=self.root)

    def json(self, *words: str) -> Run:
        """`pinctl patch WORDS`, with the document as its output."""
        return self.run("patch", "--format", "json", *words)

    def states(self, *words: str) -> list[str]:
        """The states that `pinctl patch status WORDS` tells, in its order."""
        result = self.json("status", *words).document["result"]
        return [patch["state"] for pin in result["pins"] for place in pin["places"] for patch in place["patches"]]

    def checkout(self, at: str = "start", name: str = "a check out") -> Path:
        """A folder with the files of the upstream at a commit."""
        folder = self.root.parent / name
        folder.mkdir(exist_ok=True)
        self.up.git("--work-tree", str(folder), "checkout", "-q", "-f", self.commits[at], "--", ".")
        self.up.git("reset", "-q", "--hard", "main")
        return folder

    def text(self, name: str = "my patches/one.patch") -> str:
        return (self.root / name).read_bytes().decode()
