"""Imports one module and looks for names in it; standard input says which, as JSON, and so does the answer.

What the module prints goes to standard error, so that the answer stands alone.
"""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import json
import os
import re
import sys
from typing import Any

_LONGEST = 2000


def _get(root: str, name: str) -> Any:
    """What stands under the dotted `name` of the module `root`. Raises AttributeError."""
    found, path = importlib.import_module(root), root
    for part in name.split("."):
        path = f"{path}.{part}"
        try:
            found = getattr(found, part)
        except AttributeError:
            if not inspect.ismodule(found):
                raise
            try:
                found = importlib.import_module(path)
            except ModuleNotFoundError as error:
                if error.name != path:
                    raise
                raise AttributeError(path) from None
    return found


def _lacking(found: Any, keywords: list[str]) -> list[str]:
    """Those of `keywords` that a call does not take, as far as its signature or the text of pybind11 tells."""
    try:
        parameters = inspect.signature(found).parameters
    except (TypeError, ValueError):
        text = getattr(found, "__doc__", None) or ""
        known = set(re.findall(r"[(,] *(\w+):", text))
        return [keyword for keyword in keywords if keyword not in known] if known else []
    if any(one.kind is one.VAR_KEYWORD for one in parameters.values()):
        return []
    return [keyword for keyword in keywords if keyword not in parameters]


def _why(root: str, name: str, keywords: list[str]) -> str | None:
    first, _, rest = name.partition(".")
    inner = rest if rest and first in (root, root.rpartition(".")[2]) else name
    try:
        found = _get(root, inner)
    except AttributeError:
        return "is not there"
    lacking = _lacking(found, keywords)
    return "takes no " + ", ".join(lacking) if lacking else None


def main() -> None:
    """One line of JSON: `absent`, or `error`, or `origin` and `missing`."""
    asked = json.load(sys.stdin)
    answer = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    name = asked["name"]
    said: dict[str, Any] = {}
    try:
        if importlib.util.find_spec("torch") is not None:  # it loads the libraries that extensions take from it
            importlib.import_module("torch")
        module = importlib.import_module(name)
        said["origin"] = str(getattr(module.__spec__, "origin", None) or "")
        said["missing"] = [[text, why] for text, symbol, keywords in asked["requires"]
                           if (why := _why(name, symbol, keywords)) is not None]  # fmt: skip
    except ModuleNotFoundError as error:
        absent = error.name is not None and f"{name}.".startswith(f"{error.name}.")
        said["absent" if absent else "error"] = f"{type(error).__name__}: {error}"[:_LONGEST]
    except BaseException as error:  # whatever an import does wrong is what is asked for
        said["error"] = f"{type(error).__name__}: {error}"[:_LONGEST]
    json.dump(said, answer)
    answer.flush()
    sys.stdout.flush()
    os._exit(0)  # libraries may crash while they are torn down, which is no fault of the import


main()
