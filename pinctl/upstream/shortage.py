"""The findings of system headers: needed and not declared, not known, declared and nowhere included."""

from collections.abc import Iterator, Sequence

from pinctl.finding import Finding, Severity
from pinctl.outcome import counted
from pinctl.upstream import headers
from pinctl.upstream.forest import Forest
from pinctl.upstream.headers import Need, Scan, Sighting
from pinctl.upstream.packages import Known
from pinctl.upstream.telling import Telling


def findings(say: Telling, forest: Forest, scan: Scan, needs: Sequence[Need]) -> Iterator[Finding]:
    """What the headers that the system must provide say against `system_packages`, and the other way round."""
    missing = [need for need in needs if need.declared is None]
    libraries: dict[Known, list[Need]] = {}
    for need in missing:
        if need.known:
            libraries.setdefault(need.known, []).append(need)
    for library, wanted in libraries.items():
        yield _known(say, forest, library, wanted)
    if _unread(forest):  # what is not known may lie there, and that it could not be read is told already
        return
    for group in headers.grouped(need for need in missing if need.known is None).values():
        if not all(need.first.guarded for need in group):
            yield _unknown(say, forest, group)
    if scan.cut:
        what = f"more than {headers.MOST} sources are not read, so that headers may be needed that are not told"
        yield say.tell("PIN316", what, "system_packages")
    else:
        yield from _unneeded(say, scan)


def _known(say: Telling, forest: Forest, library: Known, wanted: Sequence[Need]) -> Finding:
    """A well-known library that is not declared. No error where a build can do without it, or may have it all the same:
    under a guard or a condition, in tests alone, or in a submodule that could not be read."""
    need = min(wanted, key=lambda need: _weight(need.first))
    first = need.first
    names = library.told()
    told = ", ".join(f"{name} ({manager})" for manager, name in names.items())
    excuse = _excuse(first) or _unread(forest)
    severity = None if not excuse else Severity.INFO if first.aside or first.guarded else Severity.WARNING
    what = f"<{need.header}> is included at {_place(first)}, and no system package is declared for it: {told}"
    table = ", ".join(f'{manager} = "{name}"' for manager, name in names.items())
    modules = [path for path in _undeclared(forest) if library.name in path.casefold()]
    other = f"; or add the submodule {modules[0]} to `submodules`" if modules else ""
    line = f'system_packages.{library.name} = {{ {table}, header = "{need.header}", when = "build" }}'
    return say.tell(
        "PIN315", what + (f"; {excuse}" if excuse else ""), "system_packages", hint=f"declare it: {line}{other}",
        severity=severity,
    )  # fmt: skip


def _unknown(say: Telling, forest: Forest, group: Sequence[Need]) -> Finding:
    """Headers of one folder that nothing is known of."""
    need = min(group, key=lambda need: _weight(need.first))
    first = need.first
    what = f"<{need.header}> is included at {_place(first)}, and nothing that is known provides it"
    if len(group) > 1:
        what = f"{what}; nor {counted(len(group) - 1, 'other header')} of {need.header.partition('/')[0]}/"
    excuse = _excuse(first)
    undeclared = _undeclared(forest)
    where = f"or add the submodule that has it ({', '.join(undeclared[:5])})" if undeclared else "or vendor it"
    hint = f'say in `system_packages` which package has `header = "{need.header}"`, {where}'
    return say.tell(
        "PIN316", what + (f"; {excuse}" if excuse else ""), "system_packages", hint=hint,
        severity=Severity.INFO if first.aside else None,
    )  # fmt: skip


def _undeclared(forest: Forest) -> list[str]:
    """The submodules that the pin does not use."""
    return sorted(forest.root.gitlinks.keys() - forest.modules.keys())


def _weight(sighting: Sighting) -> tuple[bool, bool, bool]:
    return sighting.aside, sighting.guarded, sighting.condition is not None


def _place(sighting: Sighting) -> str:
    return f"{sighting.file}:{sighting.line}"


def _excuse(sighting: Sighting) -> str | None:
    """Why a build may do without what is included there."""
    if sighting.aside:
        return "tests and examples alone include it"
    if sighting.guarded:
        return "a `__has_include` guards it"
    return f"it is under `{sighting.condition}`" if sighting.condition else None


def _unread(forest: Forest) -> str | None:
    unread = [path for path, tree in forest.modules.items() if tree is None]
    return f"it may lie in {', '.join(unread)}, which could not be read" if unread else None


def _unneeded(say: Telling, scan: Scan) -> Iterator[Finding]:
    for package in headers.unneeded(scan, say.pin.system_packages):
        header = f"<{package.header}>" if package.header else "a header of it"
        what = f"{package.name} is declared, and none of {counted(scan.sources, 'source')} read includes {header}"
        hint = 'drop it, or say `when = "run"` if it is loaded at run time'
        yield say.tell("PIN317", what, "system_packages", package.name, hint=hint)
