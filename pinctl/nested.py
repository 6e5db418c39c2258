"""Gitlinks inside pinned trees that pins.toml asks for: `{nested:PATH}` in templates and in `needs`. Pure.

Their commits are stored under `nested` of the pin, so that `check` knows them without the tree.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping

from pinctl import template
from pinctl.model import Manifest, Pin

_ALONE = re.compile(r"\{nested:(?P<path>[^{}\s]+)\}")
_MARK = "nested:"


def path_of(need: str) -> str | None:
    """The path in a need that is `{nested:PATH}`; None for a version specifier."""
    match = _ALONE.fullmatch(need)
    return match["path"] if match else None


def asked(manifest: Manifest) -> Mapping[str, tuple[str, ...]]:
    """By pin, the paths in its tree whose gitlinks are asked for."""
    found: defaultdict[str, dict[str, None]] = defaultdict(dict)
    for pin in manifest.pins.values():
        found[pin.name].update(dict.fromkeys(path for need in pin.needs.values() if (path := path_of(need))))
    for text, whose in _templates(manifest):
        for name, path in _named(text, whose):
            found[name][path] = None
    return {name: tuple(paths) for name, paths in found.items() if paths}


def unstored(pin: Pin, manifest: Manifest) -> tuple[str, ...]:
    """The paths that are asked for and that `nested` of `pin` has not."""
    return tuple(path for path in asked(manifest).get(pin.name, ()) if path not in pin.nested)


def unused(manifest: Manifest) -> Iterator[tuple[Pin, str]]:
    """The stored gitlinks that nothing asks for; none where recipes, which see them all, may."""
    if manifest.all_generated:
        return
    known = asked(manifest)
    for pin in manifest.pins.values():
        yield from ((pin, path) for path in pin.nested if path not in known.get(pin.name, ()))


def _templates(manifest: Manifest) -> Iterator[tuple[str, str | None]]:
    """Every template that may ask for one, with the pin that it stands at."""
    yield from ((site.template, site.pin) for site in manifest.all_sites if _MARK in site.template)
    for item in manifest.all_generated:
        yield from ((text, item.pin) for text in _texts(item.options.values()) if _MARK in text)


def _texts(values: Iterable[object]) -> Iterator[str]:
    for value in values:
        if isinstance(value, list | tuple | Mapping):
            yield from _texts(value.values() if isinstance(value, Mapping) else value)
        elif isinstance(value, str):
            yield value


def _named(text: str, whose: str | None) -> Iterator[tuple[str, str]]:
    """The gitlinks that a template names: pin and path."""
    try:
        placeholders = template.parse(text).placeholders
    except template.TemplateError:
        return
    for path, codec in placeholders:
        if codec and path == ("nested",) and whose:
            yield whose, codec
        elif codec and len(path) == 3 and (path[0], path[2]) == ("pins", "nested"):
            yield path[1], codec
