"""What the wheel was built with, as JSON; the argument is the release that nvcc tells, or empty."""

import json
import platform
import shutil
import subprocess
import sys
from importlib import metadata


def first_line(*argv):
    """The first line that a program prints; None where there is no such program."""
    if shutil.which(argv[0]) is None:
        return None
    return subprocess.run(argv, capture_output=True, text=True, check=False).stdout.partition("\n")[0]


json.dump(
    {
        "python": platform.python_version(),
        "nvcc": sys.argv[1] or None,
        "compiler": first_line("g++", "--version"),
        "libc": "-".join(platform.libc_ver()),
        "installed": dict(sorted((d.name, d.version) for d in metadata.distributions())),
    },
    sys.stdout,
    indent=1,
    sort_keys=True,
)
