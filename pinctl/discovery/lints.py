"""Two habits that let pins drift, told by `init`: a Dockerfile default that overrides a script's pin, and a checkout
after a recursive clone without a submodule update."""

from collections.abc import Iterable, Iterator, Mapping
from posixpath import basename

from pinctl.codes import finding
from pinctl.discovery import commands, names
from pinctl.discovery.commands import Clone, Command
from pinctl.discovery.groups import REFS, Group
from pinctl.discovery.sightings import Sighting
from pinctl.finding import Finding, Location, Span


def overriding_defaults(groups: Iterable[Group], sources: Mapping[str, bytes]) -> Iterator[Finding]:
    """PIN220: an ARG with a default reaches a script that has a default of its own for the same fact.

    It does so as an argument of the command that runs the script, or, since RUN has every ARG in its environment, by
    the name that the script's own default gives way to.
    """
    read: dict[str, list[Command]] = {}
    for group in groups:
        refs = group.of(*REFS)
        scripts = {s.file: s for s in reversed(refs) if s.file.endswith((".sh", ".bash")) and s.selector}
        for default in [s for s in refs if "ARG " in s.selector] if scripts else ():
            if default.file not in read:
                read[default.file] = commands.of_dockerfile(sources[default.file])
            for script in scripts.values():
                if any(_reaches(command, default, script) for command in read[default.file]):
                    yield _overriding(default, script)


def _reaches(command: Command, default: Sighting, script: Sighting) -> bool:
    name = names.identifier(default.selector)
    runs = any(basename(word.text) == basename(script.file) for word in command.words)
    gives_way = ":-" in script.selector and names.identifier(script.selector) == name
    return runs and (gives_way or any(name in word.variables for word in command.words))


def _overriding(default: Sighting, script: Sighting) -> Finding:
    return finding(
        "PIN220",
        f"the default of ARG {names.identifier(default.selector)} reaches {script.file} and overrides the pin there",
        file=default.file,
        span=default.span,
        selector=default.selector,
        expected=script.value,
        found=default.value,
        hint="give the ARG no default, or let pins.toml hold both places",
        related=(Location(file=script.file, span=script.span, message="the script's own pin"),),
    )


def stale_submodules(file: str, source: bytes, clones: Iterable[Clone]) -> Iterator[Finding]:
    """PIN221: after `git clone --recursive`, a checkout of another commit leaves the submodules where they were."""
    for clone in clones:
        if clone.recursive and clone.checkout is not None and not clone.updated:
            yield finding(
                "PIN221",
                "this checkout follows a recursive clone, and no submodule update follows it",
                file=file,
                span=Span.of(source, clone.checkout.start, clone.checkout.end),
                hint="after it, run: git submodule sync --recursive && git submodule update --init --recursive",
            )
