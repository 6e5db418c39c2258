"""PIN8xx: what can be wrong with the machine that pinctl runs on."""

from pinctl.codes.code import ERROR, Code

CODES = (
    Code(
        "PIN801",
        ERROR,
        "tool missing",
        "A program that pinctl needs is not installed, or is too old.",
        "Install the version that the message names.",
        "git 2.30 is installed, and 2.39.4 is needed",
    ),
    Code(
        "PIN802",
        ERROR,
        "git failed",
        "A git command failed; the message holds what git said.",
        "Run the command that the message shows by hand.",
        "fatal: unable to access 'https://github.com/example/kernels.git/'",
    ),
    Code(
        "PIN803",
        ERROR,
        "file system",
        "A file could not be read or written. Nothing is half written: the plan is applied as a whole or not at all.",
        "Free space or correct the permissions that the message names, and run again.",
        "No space left on device",
    ),
)
