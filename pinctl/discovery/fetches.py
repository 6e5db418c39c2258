"""The keywords of calls, and the columns of lists, that say one download together: its URL, its digest, its folder."""

import re
from collections.abc import Collection

from pinctl import digests
from pinctl.discovery import names
from pinctl.discovery.literals import Meaning, What
from pinctl.sites.base import Slot

_URLS = ("url", "urls", "urls[]")
_DIGESTS = ("integrity", "sha1", "sha256", "sha384", "sha512")
_PREFIX = "strip_prefix"
_WORDS = "|".join(map(re.escape, ("URL", "URL_HASH", *_URLS, *_DIGESTS, _PREFIX)))
_FETCH = re.compile(rf"(?P<call>.+\)|[^\s()/]+)\.(?P<word>{_WORDS})")
_KEYED = re.compile(r".*?\((?:\w+ = )?(?P<key>.*)\)")


def call(selector: str) -> str | None:
    """What the selectors of one download begin with; None for any other selector."""
    match = _FETCH.fullmatch(selector)
    return match["call"] if match else None


def is_url(selector: str) -> bool:
    """Whether a selector finds the URL of a download."""
    match = _FETCH.fullmatch(selector)
    return match is not None and match["word"] in ("URL", *_URLS)


def name(selector: str) -> str:
    """The squashed name of what is downloaded: `archive_override("xla").urls`, `xla.sha1`; "" where none is said."""
    found = call(selector) or ""
    keyed = _KEYED.fullmatch(found)
    return names.squash(keyed["key"]) if keyed else names.stem(found.rpartition(".")[2])


def digest(slot: Slot, selectors: Collection[str]) -> Meaning | None:
    """A digest in hex or as SRI beside a URL. `selectors` are all of the file; None for anything else."""
    match = _FETCH.fullmatch(slot.selector)
    if match is None or match["word"] not in _DIGESTS:
        return None
    beside = any(f"{match['call']}.{word}" in selectors for word in _URLS)
    value = slot.tokens[0].value
    said = digests.from_sri(value) or value
    return Meaning(What.DIGEST, value) if beside and digests.algorithm(said) not in (None, "md5") else None


def prefix(selector: str) -> str | None:
    """The selector of the folder that is stripped off, for that of a URL; None for any other."""
    return f"{call(selector)}.{_PREFIX}" if is_url(selector) else None
