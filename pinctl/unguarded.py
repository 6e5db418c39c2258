"""Mentions of a pin that no site covers: how real drift began. Pure: text in, mentions out.

A mention is a pinned commit or a prefix of it (seven digits and more), a commit that pins.toml held before, a pin's
repository beside a ref, or a package of a pin with an exact version.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from pinctl.model import Manifest, Pin
from pinctl.urls import identity

_SHORTEST = 7
_CONTEXT = 60
"""Characters before a mention that a pattern for it takes up; a whole pattern has at most 200."""
_HEX = rb"0123456789abcdefABCDEF"
# A full version beside a repository (`v1.2.3`), or an id with digits and letters: `2.9+` and `1234567` are prose.
_REF_NEAR = re.compile(
    rb"(?<![\w./-])(?:(?=[0-9]*[a-f])(?=[a-f]*[0-9])[0-9a-f]{7,40}|v\d+\.\d+(?:\.\d+)*(?:\.?(?:post|rc|dev)\d+)?)(?![\w./-])"
)
_EXACT = re.compile(rb"(?:\[[^\]\n]*\])?[ \t]*===?[ \t]*([0-9][0-9A-Za-z.+!_-]*)")
_COMMIT = re.compile("[0-9a-fA-F]{7,64}")
_IN_WORD = re.compile(rb"[0-9A-Za-z_.-]")
_AT_REF = re.compile(
    rb"(?:\.git)?(?:@|/(?:archive|releases/download|tarball)/(?:refs/\w+/)?)([\w.+-]+?)(?:\.tar\.\w+|\.tgz|\.zip)?(?![\w.+${<%-])"
)


class Mention(NamedTuple):
    """`start:end` are bytes of the file; `why` says what was recognised, `template` what a site would say that guards
    it: None where the pin has no such fact."""

    pin: str
    start: int
    end: int
    why: str
    template: str | None


@dataclass(frozen=True, slots=True)
class Searcher:
    """Compiled once for a manifest; `commits` maps a full id to its pin and to whether it is the present one."""

    pattern: Any
    commits: Mapping[bytes, tuple[Pin, bool]]
    repos: Mapping[bytes, Pin]
    packages: Mapping[bytes, Pin]

    def mentions(self, source: bytes) -> Iterator[Mention]:
        """Every mention in `source`, in order."""
        for match in self.pattern.finditer(source):
            start, end = match.span()
            text = source[start:end].lower()
            mention = self._commit(source, start, end)
            if mention is None and not _IN_WORD.match(source, start - 1):
                mention = self._repo(source, end, text) or self._package(source, end, text)
            if mention is not None:
                yield mention

    def _commit(self, source: bytes, start: int, end: int) -> Mention | None:
        while end < len(source) and source[end] in _HEX:
            end += 1
        if start and source[start - 1] in _HEX:
            return None
        token = source[start:end].lower()
        for commit, (pin, present) in self.commits.items():
            if commit.startswith(token):
                why = "names the pinned commit" if present else "names a commit that pins.toml held before"
                return _mention(pin, source, (start, end), why)
        return None

    def _repo(self, source: bytes, end: int, text: bytes) -> Mention | None:
        pin = self.repos.get(text)
        if pin is None or source[end : end + 1].isalnum() or source[end : end + 1] in (b"-", b"_"):
            return None
        at = _AT_REF.match(source, end)
        if at is not None:
            return _mention(pin, source, at.span(1), "names its repository with a ref")
        line_end = source.find(b"\n", end)
        near = _REF_NEAR.search(source, end, _nth_line_end(source, line_end, 2))
        return _mention(pin, source, near.span(), "stands beside its repository") if near else None

    def _package(self, source: bytes, end: int, text: bytes) -> Mention | None:
        pin = self.packages.get(_normal(text))
        exact = _EXACT.match(source, end) if pin else None
        return _mention(pin, source, exact.span(1), "asks for an exact version of it") if pin and exact else None


def _mention(pin: Pin, source: bytes, span: tuple[int, int], why: str) -> Mention:
    text = source[slice(*span)].decode("utf-8", "replace")
    return Mention(pin.name, *span, why, _template(pin, text))


def _template(pin: Pin, text: str) -> str | None:
    """The template that would give `text`, or a newer value in its place, from the facts of `pin`."""
    if text == pin.track:
        return "{track}"
    known = pin.commit or (pin.unresolved if isinstance(pin.unresolved, str) else None)
    if known and (_COMMIT.fullmatch(text) or not (pin.tag or pin.version)):
        return "{commit}" if len(text) in (40, 64) or not _COMMIT.fullmatch(text) else f"{{commit:.{len(text)}}}"
    if pin.tag and (pin.tag[:1].isdigit() == text[:1].isdigit() or not pin.version):
        return "{tag}"
    if pin.version:
        ours, theirs = pin.version.startswith("v"), text.startswith("v")
        return "{version}" if ours == theirs else "{version:tag}" if theirs else "{version:bare}"
    return None


def _nth_line_end(source: bytes, at: int, count: int) -> int:
    """The end of the line `count` lines below the one that ends at `at`."""
    for _ in range(count):
        if at < 0:
            break
        at = source.find(b"\n", at + 1)
    return len(source) if at < 0 else at


def _normal(name: bytes) -> bytes:
    """PEP 503 normalisation."""
    return re.sub(rb"[-_.]+", b"-", name).lower()


def searcher(manifest: Manifest, earlier: Mapping[str, Iterable[str]]) -> Searcher | None:
    """A searcher for all pins of `manifest`; `earlier` gives by pin the commits that pins.toml held before. None where
    no pin has anything to search for."""
    import re2

    pins = manifest.pins
    commits = {c.lower().encode(): (pins[name], False) for name, old in earlier.items() for c in old if name in pins}
    commits |= {p.commit.lower().encode(): (p, True) for p in pins.values() if p.commit}
    repos = {identity(p.repo).partition("/")[2].lower().encode(): p for p in pins.values() if p.repo}
    packages = {_normal(n.encode()): p for p in pins.values() if p.version for n in p.packages}
    words = [
        *(c[:_SHORTEST] for c in commits),
        *(re2.escape(r.decode()).encode() for r in repos if r),
        *(re2.escape(n.decode()).replace(r"\-", "-").replace("-", "[-_.]").encode() for n in packages),
    ]
    if not words:
        return None
    return Searcher(re2.compile(b"(?i)" + b"|".join(words)), commits, repos, packages)


def uncovered(mentions: Iterable[Mention], covered: Sequence[tuple[int, int]]) -> list[Mention]:
    """The mentions that overlap none of the `covered` byte spans, each place once."""
    found: dict[tuple[int, int], Mention] = {}
    for mention in mentions:
        if not any(start < mention.end and mention.start < end for start, end in covered):
            found.setdefault((mention.start, mention.end), mention)
    return list(found.values())


def pattern_of(source: bytes, mention: Mention) -> str | None:
    """A `regex:` selector that may find the mention, by what stands around it on its line; None where nothing stands
    before it."""
    line = source[source.rfind(b"\n", 0, mention.start) + 1 : mention.start].decode("utf-8", "replace")
    before = _escaped(line.lstrip()[-_CONTEXT:])
    if not before.strip() or not before.isprintable():
        return None
    following = source[mention.end : mention.end + 4].decode("utf-8", "ignore")[:1]
    after = _escaped(following) if following.isprintable() else ""
    return f"regex:{before}(?P<value>[\\w.+!-]+{'?' * bool(after)}){after}"


def _escaped(text: str) -> str:
    """`text` as a pattern that RE2 finds it by."""
    return re.sub(r"[\\.+*?()|\[\]{}^$]", r"\\\g<0>", text)


def toml_key(text: str) -> str:
    """`text`, of one line, as a quoted key of TOML."""
    if "'" not in text and ("\\" in text or '"' in text):
        return f"'{text}'"
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
