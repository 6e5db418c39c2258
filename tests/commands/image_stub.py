"""A program that answers as docker does about images, and runs no container."""

import io
import tarfile
from collections.abc import Mapping
from typing import ClassVar

from commands.program_stub import ProgramStub

_PROGRAM = """\
import json, pathlib, sys

home = pathlib.Path(__file__).parent
behave = json.loads((home / "behave.json").read_text())
argv = sys.argv[1:]
with open(home / "calls.jsonl", "a") as calls:
    calls.write(json.dumps(argv) + "\\n")
if argv[:2] == ["buildx", "version"]:
    sys.exit(0 if behave["buildx"] else 1)
if argv[:1] == ["--version"]:
    print("Docker version " + behave["version"] + ", build x")
elif argv[:1] == ["version"]:
    sys.exit(0)
elif argv[:2] == ["image", "inspect"]:
    if argv[-1] not in behave["images"]:
        sys.exit(1)
    print("sha256:1 " + json.dumps(behave["images"][argv[-1]]))
elif argv[:1] == ["create"]:
    print("ab" * 32)
elif argv[:1] == ["export"]:
    sys.stdout.buffer.write((home / "image.tar").read_bytes())
elif argv[:1] == ["rm"]:
    pass
else:
    assert "build" in argv[:2], argv
    if behave["fails"]:
        print("#5 [2/2] RUN pip install x", file=sys.stderr)
        print("#5 1.0 ERROR: No matching distribution found for x", file=sys.stderr)
        print("#5 ERROR: executor failed running [x]: exit code: 1", file=sys.stderr)
        sys.exit(1)
"""


class ImageStub(ProgramStub):
    """The program. In its behaviour `images` maps those that are there to their labels, `fails`: builds do, `buildx`:
    the component is there."""

    PROGRAM = _PROGRAM
    USUAL: ClassVar = {"images": {}, "fails": False, "buildx": False, "version": "20.10.24"}

    def holds(self, files: Mapping[str, bytes]) -> None:
        """What every image holds."""
        out = io.BytesIO()
        with tarfile.open(fileobj=out, mode="w") as archive:
            for name, data in files.items():
                info = tarfile.TarInfo(name)
                info.size = len(data)
                archive.addfile(info, io.BytesIO(data))
        (self.path.parent / "image.tar").write_bytes(out.getvalue())

    @property
    def asked(self) -> list[list[str]]:
        """The calls so far, without those that only ask for the client."""
        return [call for call in self.calls if call[:1] not in (["version"], ["--version"]) and call[1:] != ["version"]]
