"""A program that answers as docker does, and builds a wheel without any container: what `pinctl build` makes of the
answers is tested with it; tests/docker has the real one."""

from typing import Any

from commands.program_stub import ProgramStub

_PROGRAM = """\
import base64, hashlib, json, os, pathlib, sys, time, zipfile

home = pathlib.Path(__file__).parent
behave = json.loads((home / "behave.json").read_text())
argv = sys.argv[1:]
with open(home / "calls.jsonl", "a") as calls:
    calls.write(json.dumps(argv) + "\\n")
if argv[:1] == ["--version"]:
    print("Docker version " + behave["version"] + ", build x")
    sys.exit(0)
if argv[:2] == ["buildx", "version"]:
    sys.exit(0 if behave["buildx"] else 1)
if argv[:1] == ["version"]:
    if not behave["engine"]:
        print("Cannot connect to the Docker daemon at unix:///x.", file=sys.stderr)
        sys.exit(1)
    sys.exit(0)
if argv[:2] == ["image", "inspect"]:
    known = behave["images"].get(argv[-1])
    print(known or "")
    sys.exit(0 if known else 1)
if argv[:1] == ["pull"]:
    sys.exit(1)
assert "build" in argv[:2], argv
options = dict(word[2:].partition("=")[::2] for word in argv if word.startswith("--") and "=" in word
               and not word.startswith(("--build-arg", "--secret")))
arguments = dict(word.partition("=")[2].partition("=")[::2] for word in argv if word.startswith("--build-arg="))
context, to = pathlib.Path(argv[-1]), pathlib.Path(options["output"].partition("dest=")[2])

def say(text):
    print(text, file=sys.stderr, flush=True)

if options["target"] == "seen":
    cell = next((c for c in behave["unusable"] if list((context / "wheel").glob(behave["unusable"][c]))), None)
    say("#9 [run 5/6] RUN sh /pinctl/steps/try")
    if cell:
        say("#9 1.0 ImportError: libcudart.so.12: cannot open shared object file")
        say("#9 ERROR: executor failed running [x]: exit code: 1")
        sys.exit(1)
    to.mkdir(parents=True, exist_ok=True)
    (to / "smoke.txt").write_text("skipped: no GPU here\\n")
    sys.exit(0)

cell = arguments["CELL"]
say("#12 [build 6/7] RUN sh /pinctl/steps/compile " + arguments["COMMIT"])
if cell in behave["sleep"]:
    say("#12 0.1 sleeping")
    time.sleep(600)
if behave["hungry"].get(cell, 99) <= int(arguments["SHARE"]) - 1:
    pass
elif cell in behave["hungry"]:
    say("#12 1.2 g++: fatal error: Killed signal terminated program cc1plus")
    say("#12 ERROR: executor failed running [x]: exit code: 1")
    sys.exit(1)
if cell in behave["fail"]:
    for line in behave["fail"][cell].splitlines():
        say("#12 1.2 " + line)
    say("#12 ERROR: executor failed running [x]: exit code: 1")
    sys.exit(1)
tag = behave["tag"] or "cp" + arguments["PYTHON"].replace(".", "") + "-none-any"
source = (context / "source" / "value.txt").read_bytes()
files = {
    "tinyk/__init__.py": b"value = " + source,
    "tinyk-1.0.dist-info/METADATA": b"Metadata-Version: 2.1\\nName: tinyk\\nVersion: 1.0\\n",
    "tinyk-1.0.dist-info/WHEEL":
        b"Wheel-Version: 1.0\\nGenerator: x\\nRoot-Is-Purelib: true\\nTag: %s\\n" % tag.encode(),
}
if arguments["FRESH"] and behave["drifts"]:
    files["tinyk/__init__.py"] += b"# again"
digest = lambda data: base64.urlsafe_b64encode(hashlib.sha256(data).digest()).decode().rstrip("=")
rows = [f"{name},sha256={digest(data)},{len(data)}" for name, data in files.items()]
files["tinyk-1.0.dist-info/RECORD"] = "\\n".join([*rows, "tinyk-1.0.dist-info/RECORD,,", ""]).encode()
to.mkdir(parents=True, exist_ok=True)
with zipfile.ZipFile(to / ("tinyk-1.0-" + tag + ".whl"), "w") as wheel:
    for name, data in files.items():
        wheel.writestr(zipfile.ZipInfo(name, (1980, 1, 2, 0, 0, 0)), data)
(to / "toolchain.json").write_text('{"installed": {"torch": "2.9.1+cpu"}}')
"""
_BEHAVIOUR: dict[str, Any] = {
    "version": "20.10.24",
    "buildx": False,
    "engine": True,
    "images": {},
    "fail": {},
    "hungry": {},
    "sleep": [],
    "unusable": {},
    "drifts": False,
    "tag": None,
}


class Stub(ProgramStub):
    """The program. In its behaviour `fail` maps a cell to what its compiler says, `hungry` one to the share of the
    machine at which its memory suffices, `sleep` lists those that take long, `unusable` maps any word to the name of a
    wheel that cannot be imported, `drifts`: a second build gives other bytes, `tag` is that of every wheel."""

    PROGRAM = _PROGRAM
    USUAL = _BEHAVIOUR

    @property
    def builds(self) -> list[str]:
        """The cells that were compiled, each as often as it was."""
        words = [word.partition("CELL=")[2] for call in self.calls for word in call if "CELL=" in word]
        return sorted(words)

    def forget(self) -> None:
        """Forget the calls so far."""
        (self.path.parent / "calls.jsonl").unlink(missing_ok=True)
