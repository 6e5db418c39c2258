"""What the consumer's build asks of a pinned source: the paths that it names, and the files that it copies."""

from collections.abc import Iterator, Mapping

from pinctl.contract.model import Action, BuildUse, Place
from pinctl.contract.uses.copying import of_python, of_script
from pinctl.contract.uses.install import Copy, copies
from pinctl.model import Pin
from pinctl.upstream import references


def concerns(file: str, pin: Pin) -> bool:
    """Whether a build file may name paths of `pin`, or copy them: those of `references.concerns`, shell scripts and
    Dockerfiles."""
    return references.concerns(file, pin) or references.is_script(file)


def read(pin: Pin, sources: Mapping[str, bytes]) -> tuple[BuildUse, ...]:
    """What the build files `sources`, by path, ask of the source of `pin`, by place. A path that is copied is not told
    as named besides."""
    found: dict[BuildUse, None] = {}
    copied: set[tuple[str, str]] = set()
    for file, source in sorted(sources.items()):
        for copy in _copies(file, source, pin):
            copied |= {(file, copy.path), (file, copy.folder)}
            place = Place(file, copy.span.line, copy.span.column)
            found[BuildUse(copy.path, place, Action.COPIES, copy.glob, copy.without)] = None
    for path, file, span, glob in references.read(pin, sources):
        if (file, path) not in copied:
            found[BuildUse(path, Place(file, span.line, span.column), Action.NAMES, glob)] = None
    return tuple(sorted(found, key=lambda use: (use.place, use.path)))


def _copies(file: str, source: bytes, pin: Pin) -> Iterator[Copy]:
    if references.is_cmake(file):
        yield from copies(source, frozenset(references.called(pin)))
    elif references.concerns(file, pin):
        yield from of_python(source, references.source_names(pin))
    elif not file.endswith(".py") and references.is_script(file):
        yield from of_script(source, pin, is_shell=references.is_shell(file))
