"""PIN5xx: patches of a pin, on the pinned tree and on installed files."""

from pinctl.codes.code import ERROR, INFO, WARNING, Code

_DIFF = "--- a/csrc/api.cpp\n+++ b/csrc/api.cpp\n@@ -10,3 +10,3 @@"

CODES = (
    Code(
        "PIN501",
        ERROR,
        "patch cannot be read",
        "The file of a patch does not exist, is no regular file below the folder of pins.toml, or has more than 1 MiB.",
        "Put it where pins.toml says, or correct the path there.",
        '[[pins.deepgemm.patches]]\nfile = "patches/deepgemm_logits.patch"    # there is no such file',
    ),
    Code(
        "PIN502",
        ERROR,
        "no valid patch",
        "The file is no unified diff that can be applied: its numbers and lines disagree, it is cut short, it is a"
        " merge's combined diff, copies files, or changes binary files, of which nobody can read what they become.",
        "Make it anew: git diff, git format-patch -1, or diff -ru a b; and carry binary files in some other way.",
        f"{_DIFF}\n-one line of three",
    ),
    Code(
        "PIN503",
        ERROR,
        "patch refused",
        "The patch leaves the tree, enters .git, makes a symbolic link, a submodule, or a program unasked.",
        "Look at what it does. Programs are allowed by `executables = true` beside the patch; the rest never is.",
        "--- /dev/null\n+++ b/../.ssh/authorized_keys",
    ),
    Code(
        "PIN504",
        ERROR,
        "patch conflicts",
        "The patch neither applies to the tree nor is it there: the lines that it changes are others now. The message"
        " names file and hunk, and the place that is most like the one it wants.",
        "Rebase it: pinctl patch refresh PIN. If upstream has solved it otherwise, drop the patch.",
        f"{_DIFF}\n 1\n-2    # the file says: two",
    ),
    Code(
        "PIN505",
        ERROR,
        "patch half applied",
        "Some hunks of the patch are there and some are not. It can be neither applied nor taken back as a whole.",
        "In a folder, restore the files and apply it again. On the pinned tree upstream has taken a part of it: make a"
        " patch of the rest, or run pinctl patch refresh PIN.",
        f"{_DIFF}    # there\n@@ -90,3 +90,3 @@    # not there",
    ),
    Code(
        "PIN506",
        WARNING,
        "patch superseded",
        "The pinned tree holds the change already, the commit that the patch was taken from lies in its history, or the"
        " patches before it make its change. The patch does nothing any more. A warning where upstream has it and it"
        ' says `retire = "upstream"` or is a backport, else only told.',
        "Drop its entry from pins.toml (pinctl bump --drop-patches does), and delete the file.",
        '[[pins.deepgemm.patches]]\nfile   = "patches/logits.patch"    # upstream has it\nretire = "upstream"',
    ),
    Code(
        "PIN507",
        WARNING,
        "older form of patch",
        "What is there is a form of the patch that it supersedes.",
        "In a folder, run pinctl patch apply PIN --in DIR: the older form is taken back first. On the pinned tree"
        " upstream has taken the older form: rebase the patch on it.",
        'supersedes = ["patches/logits_v1.patch"]    # which is what site-packages holds',
    ),
    Code(
        "PIN508",
        ERROR,
        "patch fits both ways",
        "The patch could be applied and could be taken back as well, and nothing tells which of the two the files are."
        " Nothing is guessed.",
        "Make the patch with git diff --full-index, or with more lines around the change (git diff -U10).",
        "@@ -2,2 +2,3 @@\n x\n+x    # in a file of equal lines\n x",
    ),
    Code(
        "PIN509",
        INFO,
        "patch not for version",
        "The condition `when` of the patch does not hold for the pinned version, so it is left out everywhere.",
        "Drop its entry when no version that you build needs it any more.",
        'when = "version < 2.8"    # and version = "2.8.1"',
    ),
)
