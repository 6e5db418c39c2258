"""What runs remember between them, in the user's cache: only ever a saving of time, so no failure here is one."""

import json
import os
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from pinctl.plan import digest

_LARGEST = 16 * 1024 * 1024


def home() -> str:
    """pinctl's cache folder: `PINCTL_CACHE`, else below `XDG_CACHE_HOME`, else `~/.cache`; it may not exist yet."""
    chosen = os.environ.get("PINCTL_CACHE", "")
    if os.path.isabs(chosen):
        return chosen
    base = os.environ.get("XDG_CACHE_HOME", "")
    return os.path.join(base if os.path.isabs(base) else os.path.expanduser("~/.cache"), "pinctl")


def _file(root: str) -> str:
    return os.path.join(home(), "v1", "slots", f"{digest(os.fsencode(root))}.json")


def load(root: str) -> Mapping[str, Any]:
    """What was kept for the tree at `root`; {} where there is nothing, or it is not ours alone."""
    try:
        descriptor = os.open(_file(root), os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return {}
    with open(descriptor, "rb") as file:
        status = os.fstat(descriptor)
        if status.st_uid != os.geteuid() or status.st_mode & 0o022 or status.st_size > _LARGEST:
            return {}
        try:
            kept = json.loads(file.read())
        except (OSError, ValueError, RecursionError):
            return {}
    return kept if isinstance(kept, dict) and all(isinstance(entry, dict) for entry in kept.values()) else {}


def save(root: str, kept: Mapping[str, Any]) -> None:
    """Keep `kept` for the tree at `root`, in place of what was kept before."""
    path = _file(root)
    temporary = f"{path}.{os.getpid()}"
    with suppress(OSError):
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
        try:
            with open(descriptor, "w", encoding="ascii") as file:
                json.dump(kept, file, separators=(",", ":"))
            os.replace(temporary, path)
        except OSError:
            os.unlink(temporary)
