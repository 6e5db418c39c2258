"""What `init` found, for a person: the pins by kind, where each of them stands, and what disagrees."""

from collections.abc import Iterator, Sequence
from itertools import groupby

from pinctl.discovery.proposal import KINDS, Place, Proposed
from pinctl.discovery.render import Differences
from pinctl.discovery.sightings import Sighting
from pinctl.outcome import counted

WIDTH = 100
_LONGEST_NAME = 30
_LONGEST_VALUE = 16
_TITLES = {
    "git": ("git repository", "git repositories"),
    "packages": ("package", "packages"),
    "archive": ("archive", "archives"),
    "image": ("image", "images"),
    "unknown": ("version that no source explains", "versions that no source explains"),
}
"""For each kind, what one is called, and what several are."""
_ALONE = "not proposed: {}, each in one place and without a source"
_NEXT = """\
next
  pinctl init --write    writes pins.toml with these pins, and touches nothing else
  pinctl init -v         shows the text that it would write, and what is not proposed
  pinctl check           then holds every place above to pins.toml
"""


def text(
    pins: Sequence[Proposed], differences: Differences, alone: Sequence[Sighting], *, written: bool, whole: bool
) -> str:
    """The whole overview, at most WIDTH columns wide but for long paths; "" where nothing was found. `alone` are
    versions that are no pin, told one by one where `whole`."""
    lines = [head(pins, differences), ""] if pins else []
    for kind, members in groupby(pins, key=lambda pin: pin.source):
        lines += [_TITLES[kind][1], *_section(kind, list(members), differences), ""]
    if alone:
        lines += [_ALONE.format(counted(len(alone), "version")), *(_lone(alone) if whole else ()), ""]
    return "\n".join([*lines, *((_NEXT,) if pins and not written else ())])


def head(pins: Sequence[Proposed], differences: Differences) -> str:
    """How many pins of each kind, and how many places disagree."""
    numbers = [(kind, sum(pin.source == kind for pin in pins)) for kind in KINDS]
    told = ", ".join(f"{number} {_TITLES[kind][number > 1]}" for kind, number in numbers if number)
    differ = f"{counted(len(differences), 'place')} {'disagrees' if len(differences) == 1 else 'disagree'} (!)"
    return f"{told}; {differ if differences else 'all places agree'}"


def summary(pins: Sequence[Proposed], *, written: bool) -> str:
    """The last line of the run."""
    if not pins:
        return "no pin found"
    places = [place for pin in pins for place in pin.places]
    files = len({place.file for place in places})
    told = f"{counted(len(pins), 'pin')} at {counted(len(places), 'place')} in {counted(files, 'file')}"
    return f"{told}; written to pins.toml" if written else f"{told}; `pinctl init --write` writes the proposal"


def _section(kind: str, pins: Sequence[Proposed], differences: Differences) -> Iterator[str]:
    name_width = min(max(len(pin.name) for pin in pins), _LONGEST_NAME)
    value_width = min(max(len(_value(pin)) for pin in pins), _LONGEST_VALUE)
    for pin in pins:
        differing = [place for place in pin.places if (place.file, place.selector) in differences]
        mark = "!" if differing else " "
        value = f"{_clipped(_value(pin), value_width):{value_width}}  " if value_width else ""
        begin = f"{mark} {pin.name:{name_width}}  {value}"
        if kind == "git":
            yield begin + (pin.repo or "")
            yield from _listed(pin.places, differences)
        else:
            yield from _wrapped(begin, [_at(place.sightings[0]) for place in pin.places if place not in differing])
            yield from _listed(differing, differences)


def _lone(alone: Sequence[Sighting]) -> Iterator[str]:
    width = max(len(sighting.value) for sighting in alone)
    for sighting in alone:
        yield f"  {sighting.value:{width}}  {_at(sighting)}  {sighting.selector}"


def _value(pin: Proposed) -> str:
    return "" if pin.source == "image" else pin.at


def _at(sighting: Sighting) -> str:
    return f"{sighting.file}:{sighting.span.line}" if sighting.span else sighting.file


def _listed(places: Sequence[Place], differences: Differences) -> Iterator[str]:
    """One line a place: where it is, its selector, and what it holds where that differs."""
    width = max((len(_at(place.sightings[0])) for place in places), default=0)
    for place in places:
        found = differences.get((place.file, place.selector))
        mark, tail = ("!", f"  holds {found}") if found is not None else (" ", "")
        line = f"{mark}     {_at(place.sightings[0]):{width}}  "
        yield f"{line}{_clipped(place.selector, max(WIDTH - len(line) - len(tail), _LONGEST_VALUE))}{tail}"


def _clipped(text: str, room: int) -> str:
    return text if len(text) <= room else f"{text[: room - 1]}…"


def _wrapped(begin: str, words: Sequence[str]) -> Iterator[str]:
    """The words behind `begin`, with commas, in as many lines as they need."""
    line, indent = begin, " " * len(begin)
    for n, word in enumerate(words):
        piece = word + ("," if n + 1 < len(words) else "")
        if line not in (begin, indent) and len(line) + len(piece) + 1 > WIDTH:
            yield line
            line = indent
        line += piece if line in (begin, indent) else f" {piece}"
    yield line
