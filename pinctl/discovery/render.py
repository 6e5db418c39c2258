"""The text of a proposed pins.toml: one paragraph a pin, one line a site."""

from collections.abc import Iterator, Mapping, Sequence

from pinctl.discovery.proposal import Place, Proposed
from pinctl.sites.toml_edit import rendered, string
from pinctl.sites.toml_reader import key_text

_HEAD = """\
# Proposed by `pinctl init` from what this repository holds. Read it, name the pins as you like, and drop what you do
# not want watched; `pinctl check` then holds every place below to what stands here. A pin is `unresolved` where its
# full commit (or digest) does not stand in the repository: write it where you know it.
schema = 1
"""
_WIDEST = 76
"""So far right the templates of one file are put under each other."""

Differences = Mapping[tuple[str, str], str]
"""For the file and selector of a site that disagrees, what it holds."""


def render(pins: Sequence[Proposed], differences: Differences | None = None) -> str:
    """The text; sites in `differences` have a comment that says what they hold."""
    return "\n".join([_HEAD, *("\n".join(_pin(pin, differences or {})) + "\n" for pin in pins)])


def _pin(pin: Proposed, differences: Differences) -> Iterator[str]:
    """The lines of one pin."""
    yield f"[pins.{key_text(pin.name)}]"
    facts: dict[str, object] = {
        "repo": pin.repo,
        "packages": list(pin.packages) or None,
        "url": pin.url,
        "image": pin.image,
        "commit": pin.commit,
        "tag": pin.tag,
        "version": pin.version,
        "unresolved": pin.unresolved or None,
        "archive.url": pin.archive,
        "sha256" if pin.url else "archive.sha256": pin.sha256,
        "archive.sha1": pin.sha1,
        "submodules": None if pin.submodules is None else list(pin.submodules),
    }
    known = {key: value for key, value in facts.items() if value is not None}
    width = max(map(len, known))
    yield from (f"{key:{width}} = {rendered(value)}" for key, value in known.items())
    keys = [_key(place) for place in pin.places]
    width = max((len(key) for key in keys if len(key) <= _WIDEST), default=0)
    for key, place in zip(keys, pin.places, strict=True):
        differs = differences.get((place.file, place.selector))
        remark = f"  # holds {_printable(differs)}" if differs else ""
        yield f"{key:{width}} = {string(place.template).decode()}{remark}"


def _key(place: Place) -> str:
    return f"sites.{key_text(place.file)}.{key_text(place.selector)}"


def _printable(text: str) -> str:
    """`text` as a comment may hold it, on one line."""
    return "".join(char if char.isprintable() else " " for char in text)
