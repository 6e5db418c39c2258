"""Uses in few words, for tests."""

from __future__ import annotations

from collections.abc import Mapping
from textwrap import dedent

from pinctl.contract.model import Call, Guard, Use, Uses, When
from pinctl.contract.uses import read

NAMES = ("pkg", "app.third.pkg", "torch.ops.pkg")
_GUARDS = {
    Guard.DEFAULT: "default", Guard.HASATTR: "hasattr", Guard.EXCEPT: "except", Guard.TYPE_CHECKING: "typing",
    Guard.MISFIT: "misfit",
}  # fmt: skip


def uses(source: str | Mapping[str, str]) -> Uses:
    """The uses of `pkg` in a module `app/m.py`, or in files by path."""
    files = {"app/m.py": source} if isinstance(source, str) else source
    return read({path: dedent(text).encode() for path, text in files.items()}, NAMES)


def asked(source: str | Mapping[str, str]) -> list[str]:
    """The uses, each as `told` has it; the file is told where it is not `app/m.py`."""
    return [told(use) for use in uses(source).uses]


def told(use: Use) -> str:
    """`LINE symbol(1, k)?  import, guards | alternatives <- lines that depend on it`; "?" is a probe."""
    about = ["import"] * (use.when is When.IMPORT) + [_GUARDS[guard] for guard in use.guards]
    place = f"{use.place.line}" if use.place.file == "app/m.py" else f"{use.place.file}:{use.place.line}"
    text = f"{place} {use.symbol}{_call(use.call)}{'?' if use.probe else ''}"
    text += f"  {', '.join(about)}" if about else ""
    text += f" | {', '.join(use.alternatives)}" if use.alternatives else ""
    lines = [f"{p.line}" if p.file == use.place.file else f"{p.file}:{p.line}" for p in use.dependents]
    return f"{text} <- {', '.join(lines)}" if lines else text


def _call(call: Call | None) -> str:
    if call is None:
        return ""
    parts = ([str(call.positional)] if call.positional else []) + list(call.keywords)
    return f"({', '.join([*parts, *['*'] * call.rest, *['**'] * call.keyword_rest])})"
