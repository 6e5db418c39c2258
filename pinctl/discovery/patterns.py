"""`regex:` selectors for what stands in no literal of its own: a ref in an address, a requirement in quoted text."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from pinctl.discovery.literals import BARE, VALUE

_NOT_PLAIN = re.compile(r"([^\w/])")
_END = r"[\s\"'\\#]"


class Pattern(NamedTuple):
    """A selector, the text that it should find, and the form of that."""

    selector: str
    text: str
    form: str


def of_requirement(package: str) -> str:
    """The selector of the version in `package==version`, with extras or without."""
    return rf"regex:[^\w.-]{_escaped(package)}(?:\[[\w,.-]*\])?==(?P<value>[0-9][\w.+!]*)"


def of_address(address: str, value: str) -> Iterator[Pattern]:
    """A selector for each place of an address where `value` stands, with or without its v. The scheme and the host are
    left out, so that a mirror does not matter."""
    path = address[address.find("/", len("https://")) :]
    for place in re.finditer(rf"(?<![\w.])v?{_number(value)}(?![\w]|\.\d)", path):
        pieces = re.split(rf"v?{_number(value)}", path[: place.start()])
        before = r"[^/\s]+?".join(map(_escaped, pieces))
        behind = _escaped(re.split(rf"(?<=/)|v?{_number(value)}", path[place.end() :])[0]) or _END
        form = VALUE if place[0] == value else BARE
        yield Pattern(f"regex:{before}(?P<value>[^/\\s]+?){behind}", place[0], form)


def form(text: str, value: str) -> str:
    """`text` with `value` taken out of every place where it stands, also without its v."""
    whole = text.replace(value, VALUE)
    if not value.startswith("v"):
        return whole
    return re.sub(rf"(?<![\w.]){_number(value)}(?![\w]|\.\d)", BARE, whole)


def _number(value: str) -> str:
    return re.escape(value.removeprefix("v"))


def _escaped(text: str) -> str:
    """`text` as RE2 matches it literally."""
    return _NOT_PLAIN.sub(r"\\\1", text)
