"""Recipes of the consumer's own, rendered in a child process with limits: a stranger's loop hangs nobody."""

import json
import sys
from collections.abc import Mapping

from pinctl.external import process
from pinctl.quoting import RecipeError

_SECONDS = 10
_MEMORY = 512 * 1024 * 1024

# The child limits itself before it sees a byte of the recipe; macOS has no limit on address space to set.
_CHILD = f"""\
import resource, sys
try:
    resource.setrlimit(resource.RLIMIT_AS, ({_MEMORY}, {_MEMORY}))
except (OSError, ValueError):
    pass
from pinctl.render import main
main(sys.stdin, sys.stdout)
"""


def render(template: str, context: Mapping[str, object]) -> str:
    """What `pinctl.render.render` gives, within 10 s and 512 MiB. Raises RecipeError, ExternalError."""
    request = json.dumps({"template": template, "context": context}).encode()
    command = [sys.executable, "-P", "-c", _CHILD]
    try:
        done = process.run(command, stdin=request, timeout=_SECONDS, shown=["(render a recipe)"])
    except process.CommandFailed as error:
        raise RecipeError(f"it took more than {_SECONDS} s or {_MEMORY >> 20} MiB") from error
    answer = json.loads(done.stdout)
    if "text" not in answer:
        raise RecipeError(answer["message"], answer["line"])
    return str(answer["text"])
