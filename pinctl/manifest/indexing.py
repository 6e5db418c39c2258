"""Cross-checks of `[index]`: what no JSON Schema can say of it.

- the URL is one of the web
- no two channels put their pages into one folder, and none into that of the files
- a channel with a layout or a time is one of `channels`, where these are given
"""

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from pinctl.manifest.shapes import Problem, likely, named
from pinctl.model import KeyPath
from pinctl.urls import check_url

_FILES = "files"
"""The folder of the files that an index holds itself."""


def problems(index: Mapping[str, Any], transports: Collection[str]) -> Iterator[Problem]:
    """What is wrong with `[index]`; `transports` are the schemes that URLs may have."""
    url = index.get("url")
    web = tuple(scheme for scheme in ("https", "http") if scheme in transports)
    if isinstance(url, str) and (clause := check_url(url, transports=web)):
        yield Problem("PIN107", ("index", "url"), f"{named(('index', 'url'))} cannot be used: {clause}")
    channels = index.get("channels", ())
    for table in ("layout", "retention"):
        said = index.get(table)
        for channel in said if isinstance(said, dict) and channels else ():
            if channel not in channels:
                key: KeyPath = ("index", table, channel)
                what = f"{named(key)}: there is no channel {channel}"
                yield Problem("PIN114", key, what, likely(channel, channels) or f"known here: {', '.join(channels)}")
    if "layout" in index:
        yield from _folders(index["layout"], channels)


def _folders(layout: str | Mapping[str, str], channels: Collection[str]) -> Iterator[Problem]:
    at: KeyPath = ("index", "layout")
    one = isinstance(layout, str)
    templates = dict.fromkeys(channels or ("release",), layout) if isinstance(layout, str) else layout
    taken: dict[str, str] = {}
    for channel, template in templates.items():
        key = at if one else (*at, channel)
        folder = template.replace("{channel}", channel).strip("/")
        other = taken.setdefault(folder, channel)
        if other != channel:
            what = f"{named(key)}: pages of the channels {other} and {channel} would lie in one folder"
            yield Problem("PIN103", key, what, "let it hold {channel}, or say the folder of each channel")
        if folder.split("/")[0] == _FILES:
            what = f"{named(key)}: {_FILES}/ is where the index keeps files"
            yield Problem("PIN103", key, what, "name another folder")
