"""The step of a shell script that applies patches to a source: the one of the install script and of wheel builds.

It may run any number of times. What was applied is noted beside the source, in the folder of its repository where it
has one; where the patches are others now, those of before are taken back first. A patch that the source holds already
is left at that, and one that fits in neither way stops the script, with git's word of file and line.
"""

import shlex
from collections.abc import Iterable

FUNCTION = """\
# Applies the patches $2... below the folder $1 to the source in the current folder, once.
apply_patches() (
    root=$1
    shift
    unset GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE
    GIT_CEILING_DIRECTORIES=$(dirname -- "$PWD") # git takes no repository around the source for it
    export GIT_CEILING_DIRECTORIES
    state=.pinctl-patches
    [ ! -e .git ] || state=$(git rev-parse --git-path pinctl-patches)
    for patch; do
        [ -f "$root/$patch" ] || {
            printf 'there is no %s\\n' "$root/$patch" >&2
            exit 1
        }
    done
    for patch; do
        cat -- "$root/$patch" && echo
    done >"$state.new"
    if cmp -s -- "$state.new" "$state" &&
        { [ ! -s "$state.applied" ] || git apply --check --reverse "$state.applied"; } 2>/dev/null; then
        rm -f -- "$state.new"
        echo "The patches are in the source already"
        exit 0
    fi
    [ ! -s "$state.applied" ] || git apply --reverse --whitespace=nowarn "$state.applied" 2>/dev/null || :
    rm -f -- "$state" "$state.applied"
    for patch; do
        if complaint=$(git apply --check --whitespace=nowarn "$root/$patch" 2>&1); then
            git apply --whitespace=nowarn "$root/$patch" || exit
            { cat -- "$root/$patch" && echo; } >>"$state.applied"
            printf 'Applied %s\\n' "$patch"
        elif git apply --check --reverse --whitespace=nowarn "$root/$patch" 2>/dev/null; then
            printf '%s is in the source already\\n' "$patch"
        else
            printf '%s does not apply: %s\\n' "$patch" "$complaint" >&2
            exit 1
        fi
    done
    mv -f -- "$state.new" "$state"
)
"""
"""For a POSIX shell, and git 2.30 or newer. `apply_patches ROOT PATCH...` fails where a patch does not apply."""


def call(files: Iterable[str], root: str) -> str:
    """The command that applies `files`, in their order. `root` is a word of the shell as it stands in the script, such
    as `"$PATCH_ROOT"`."""
    return " ".join(("apply_patches", root, *map(shlex.quote, files)))


def apply_patches(files: Iterable[str], root: str) -> str:
    """The function, and the call of it: also a filter of recipes, `pin.source_patches | apply_patches('"$ROOT"')`."""
    return f"{FUNCTION}\n{call(files, root)}"
