"""What the consumer asks of a pinned package: imports, attributes, calls with their arguments, probes.

Two layers. `reader` makes the *facts* of one file: what its expressions may be, as far as the file itself tells, and
what it does with them. `link` follows them from file to file: handles kept in a variable here and called there,
functions that hand their arguments on. What cannot be followed is counted, and never guessed.
"""

import gc
import hashlib
import re
import warnings
from collections.abc import Collection, Iterable, Iterator, Mapping, MutableMapping, Sequence
from contextlib import contextmanager

from pinctl import __version__
from pinctl.contract.model import Uses
from pinctl.contract.uses.facts import Facts, decode, encode
from pinctl.contract.uses.link import Linker
from pinctl.contract.uses.modules import Modules
from pinctl.contract.uses.reader import Source

_MOST_EXPORTS = 500
"""Names of one file that are looked for in others."""

VERSION = "1"
"""Another one for each change of what is read out of a file."""


def read(
    files: Mapping[str, bytes], import_names: Sequence[str], *, memory: MutableMapping[str, bytes] | None = None
) -> Uses:
    """The uses in the consumer's `files`, by path, of the package that it imports as any of `import_names`: symbols are
    named below the first of them. `torch.ops.NAMESPACE` among the names adds its operators, under their own name.

    `memory` keeps the facts of files from one run to the next; entries of another version do no harm.
    """
    reading = _Reading(files, import_names, memory)
    with _quietly():
        linker = reading.linked()
        uses = linker.uses()
        reading.close()
    unread = {path: one.failure for path, one in reading.facts.items() if one.failure}
    return Uses(uses, (), dict(sorted(linker.unseen.items())), unread, tuple(sorted(linker.fragile)))


class _Reading:
    """Reads those of the files that may lead to the package: round by round, since what one of them exports is looked
    for in the others."""

    def __init__(
        self, files: Mapping[str, bytes], import_names: Sequence[str], memory: MutableMapping[str, bytes] | None
    ) -> None:
        self.facts: dict[str, Facts] = {}
        self._files = files
        self._names = import_names
        self._memory = memory
        self._modules = Modules(files)
        self._sources: dict[str, Source] = {}
        self._sought: dict[str, set[str]] = {}
        self._led: dict[str, frozenset[str]] = {}
        self._holding: dict[str, list[str]] = {}

    def linked(self) -> Linker:
        """The facts of all these files, put together."""
        todo = self._wanted(_importing(self._files, self._names))
        while True:
            for path in sorted(todo):
                source = self._sources.setdefault(path, Source(self._files[path]))
                self.facts[path] = _facts(self._files[path], source, self._sought[path], self._memory)
                self._led[path] = frozenset(self.facts[path].words)
            linker = Linker(self.facts, self._modules, self._names)
            todo = self._wanted((*linker.evaluator.missing, *self._importers(linker)))
            if not todo:
                return linker

    def close(self) -> None:
        """Let go of the syntax trees."""
        self._sources.clear()

    def _wanted(self, words: Iterable[tuple[str, str]]) -> set[str]:
        """The files to read, of paths with words that are to be looked for there: those that have not been."""
        todo = set[str]()
        for path, word in words:
            sought = self._sought.setdefault(path, set())
            if word not in sought and word not in self._led.get(path, ()):
                sought.add(word)
                todo.add(path)
        return todo

    def _find(self, words: Collection[str]) -> Iterator[tuple[str, list[str]]]:
        """The files that hold each of `words` as a word."""
        new = sorted(word for word in words if word not in self._holding)
        self._holding |= {word: [] for word in new}
        if new:
            import re2  # it finds one of many words in a tenth of the time

            pattern = re2.compile(rb"\b(?:" + b"|".join(re2.escape(word.encode()) for word in new) + rb")\b")
            for path, source in self._files.items():
                if path.endswith(".py") and pattern.search(source):
                    for word in set(pattern.findall(source)):
                        self._holding[word.decode()].append(path)
        return ((word, self._holding[word]) for word in words)

    def _importers(self, linker: Linker) -> Iterator[tuple[str, str]]:
        """The files that may import what leads to the package, with its names: they hold that of its module, too."""
        exporters: dict[str, set[str]] = {}
        for path, names in linker.exports().items():
            for name in sorted(names)[:_MOST_EXPORTS]:
                exporters.setdefault(name, set()).add(self._modules.name(path).rpartition(".")[2])
        for name, paths in self._find(exporters):
            leaves = [leaf.encode("utf-8", "surrogateescape") for leaf in sorted(exporters[name])]
            yield from ((path, name) for path in paths if any(leaf in self._files[path] for leaf in leaves))


def _importing(files: Mapping[str, bytes], import_names: Sequence[str]) -> Iterator[tuple[str, str]]:
    """The files that may import the package under one of its names, with the last part of that name. It stands there
    by itself or behind what it is below of, or this stands there, too; `engine.utils.pkg` is another module."""
    above: dict[str, set[bytes]] = {}
    for name in import_names:
        *_, parent, leaf = ("", *name.split("."))
        above.setdefault(leaf, set()).update({parent.encode()} if parent else ())
    for leaf, parents in above.items():
        word = re.escape(leaf.encode())
        before = b"|".join((rb"(?<![\w.])\.*", *(rb"\b%b\." % re.escape(parent) for parent in sorted(parents))))
        alone, anywhere = re.compile(rb"(?:%b)%b\b" % (before, word)), re.compile(rb"\b%b\b" % word)
        deep = [name.split(".")[-2].encode() for name in import_names if name.count(".") > 1]
        for path, source in files.items():
            if leaf.encode() not in source or not path.endswith(".py"):
                continue
            if alone.search(source) or (any(parent in source for parent in deep) and anywhere.search(source)):
                yield path, leaf


def _facts(data: bytes, source: Source, words: Iterable[str], memory: MutableMapping[str, bytes] | None) -> Facts:
    """The facts of a file of these bytes, from `memory` where it holds them."""
    if memory is None:
        return source.facts(words)
    head = "\0".join((__version__, VERSION, *sorted(words), ""))
    key = hashlib.sha256(head.encode("utf-8", "surrogateescape") + data).hexdigest()
    kept = memory.get(key)
    if kept is None:
        memory[key] = kept = encode(source.facts(words))
    return decode(kept)


@contextmanager
def _quietly() -> Iterator[None]:
    """Without what Python warns of in the consumer's code, and without looking through its syntax trees for garbage
    again and again: they are freed by their counts."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        if enabled:
            gc.enable()
