"""An archive held against its pin: the bytes that its URL gives now, and what they say of themselves."""

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple
from urllib.parse import quote

from pinctl import facts
from pinctl.finding import Finding
from pinctl.model import NOTHING, Pin
from pinctl.upstream.tarball import Contents
from pinctl.upstream.telling import Telling

DIGESTS = ("md5", "sha1", "sha256", "sha384", "sha512")

_GITHUB = re.compile(r"https://github\.com/[^/]+/([^/]+?)(?:\.git)?/archive/(?:refs/(?:tags|heads)/)?(.+?)\.tar\.gz")
_RELEASE = re.compile(
    r"(?P<repo>https://(?:github\.com|codeberg\.org|gitea\.com)/[A-Za-z0-9_.-]+/[A-Za-z0-9_.-]+)/"
    r"(?:releases/download/(?P<tag>[^/?#]+)/"
    r"|archive/(?:refs/tags/)?(?P<archived>[^/?#]+?)\.(?:tar\.gz|zip)$)"
)
_V = re.compile(r"^v(?=\d)")


class Archive(NamedTuple):
    """What a URL gave: `size` in bytes, `digests` by algorithm, `contents` where it is a tar archive that was looked
    through. `gone`: there is nothing. `failure` says why nothing is known, `refused` that it may not be used."""

    size: int = 0
    digests: Mapping[str, str] = NOTHING
    contents: Contents | None = None
    gone: bool = False
    failure: str | None = None
    hint: str | None = None
    refused: bool = False


class Declared(NamedTuple):
    """An archive as pins.toml has it, under the key path `key`: `digests` by algorithm, each of which one must be."""

    url: str
    key: tuple[str, ...]
    digests: Mapping[str, tuple[str, ...]]
    commit: str | None = None
    prefix: str | None = None
    platform: str | None = None


def wanted(pin: Pin) -> list[Declared]:
    """The archives of a pin: that of `declared`, or one for each platform of a pin whose URL has a {platform}."""
    if pin.url and not pin.unresolved and "{platform}" in pin.url and isinstance(pin.sha256, Mapping):
        return [Declared(facts.filled(pin.url, pin, platform), (), {"sha256": (digest,)}, pin.commit, platform=platform)
                for platform, digest in pin.sha256.items()]  # fmt: skip
    one = declared(pin)
    return [one] if one else []


class Forge(NamedTuple):
    """Where the releases are that a URL leads to: the repository, and its tags as the URL spells them, such as
    "v{version}"."""

    repo: str
    tag: str

    def page(self, tag: str) -> str:
        """The page of a release."""
        return f"{self.repo.removesuffix('.git')}/releases/tag/{quote(tag)}"


def forge(url: str) -> Forge | None:
    """The releases that `url`, which holds {version} or {tag}, is one of; None for a server that is not known."""
    match = _RELEASE.match(url)
    tag = (match["tag"] or match["archived"]) if match else ""
    if match is None or not ("{version}" in tag or tag == "{tag}"):
        return None
    return Forge(f"{match['repo']}.git", tag)


def is_fixed(url: str) -> bool:
    """Whether `url` leads to one archive, whatever the version of its pin."""
    return not any(name in url for name in ("{version}", "{tag}", "{commit}"))


def declared(pin: Pin) -> Declared | None:
    """The archive of a pin that says what is in it: an archive pin's own, or that of a git pin's commit."""
    if pin.unresolved:
        return None
    if pin.url and pin.sha256:
        known = tuple(pin.sha256.values()) if isinstance(pin.sha256, Mapping) else (pin.sha256,)
        return Declared(facts.filled(pin.url, pin), (), {"sha256": known}, pin.commit)
    url, prefix = pin.archive.get("url"), pin.archive.get("prefix")
    digests = {name: (pin.archive[name],) for name in DIGESTS if name in pin.archive}
    if pin.repo and url and (digests or prefix):
        return Declared(facts.filled(url, pin), ("archive",), digests, pin.commit, prefix)
    return None


def folder(url: str) -> str | None:
    """The folder in the archive that GitHub makes at `url`: repository and ref, of a version without its "v". None for
    a URL of another shape."""
    match = _GITHUB.fullmatch(url)
    return f"{match[1]}-{re.sub(_V, '', match[2]).replace('/', '-')}" if match else None


def packing(url: str) -> str | None:
    """How the archive at `url` is packed, by its name: "gzip", "" for plain tar; None for what is no tar archive, or is
    packed otherwise."""
    path = url.partition("?")[0].lower()
    return "gzip" if path.endswith((".tar.gz", ".tgz")) else "" if path.endswith(".tar") else None


def compared(say: Telling, want: Declared, archive: Archive, made: Archive) -> Iterator[Finding]:
    """Whether what the URL gave, and says to be the pinned commit, is what git makes of that commit: `made`."""
    theirs, ours = archive.contents, made.contents
    if theirs is None or ours is None or theirs.commit != want.commit or theirs.files == ours.files:
        return
    paths = sorted(path for path in theirs.files.keys() | ours.files.keys()
                   if theirs.files.get(path) != ours.files.get(path))  # fmt: skip
    more = f" and {len(paths) - 1} more" if len(paths) > 1 else ""
    what = f"{want.url} says that it is the pinned commit, and holds other files: {paths[0][:200]}{more}"
    hint = "do not build it; take the source by the commit's id, and ask who serves the archive"
    yield say.tell("PIN340", what, *want.key, "url", expected=want.commit, hint=hint)


def unseen(say: Telling, want: Declared, archive: Archive) -> Finding:
    """That the digests of an archive that could not be had were worked out from its commit."""
    what = f"the digest of {want.url} was made from the commit, and the archive itself was not seen: {archive.failure}"
    hint = "where the archive can be had, run: pinctl verify"
    return say.tell("PIN341", what, *want.key, *list(want.digests)[:1], hint=hint)


def judge(say: Telling, want: Declared, archive: Archive) -> Iterator[Finding]:
    """What is wrong with an archive."""
    at = (*want.key, "url")
    if archive.failure:
        yield say.tell("PIN321" if archive.refused else "PIN320", archive.failure, *at, hint=archive.hint)
    elif archive.gone:
        hint = "look where it lies now and correct `url`; or go to a version that is there"
        yield say.tell("PIN329", f"{want.url} is not there", *at, hint=hint)
    else:
        yield from _digests(say, want, archive)
        yield from _contents(say, want, archive.contents)


def _digests(say: Telling, want: Declared, archive: Archive) -> Iterator[Finding]:
    commit = archive.contents.commit if archive.contents else None
    same = commit is not None and commit == want.commit
    hint = (
        "it holds the pinned commit, so it was packed anew: write its new digest into pins.toml, run: pinctl sync"
        if same
        else "do not build it before somebody has found out why; the same URL must give the same bytes for ever"
    )
    hint += "" if same or want.key else f". To take the new bytes: pinctl bump {say.pin.name} --accept PIN330"
    for algorithm, known in want.digests.items():
        found = archive.digests[algorithm]
        if found not in known:
            what = f"{want.url} gives other bytes than the pinned ones: same URL, another {algorithm}"
            at = (*want.key, algorithm, *([want.platform] if want.platform else ()))
            yield say.tell("PIN330", what, *at, expected=", ".join(known), found=found, hint=hint)


def _contents(say: Telling, want: Declared, contents: Contents | None) -> Iterator[Finding]:
    if contents is None:
        return
    if want.commit and contents.commit and contents.commit != want.commit:
        what = f"{want.url} holds another commit than the pinned one"
        yield say.tell("PIN331", what, *want.key, "url", expected=want.commit, found=contents.commit,
                       hint="a URL that names a branch or a tag changes; name the commit in it")  # fmt: skip
    if want.prefix and contents.folder != want.prefix.strip("/"):
        what = f"the files of {want.url} lie in another folder than the pinned prefix"
        found = contents.folder or "no one folder"
        yield say.tell("PIN331", what, *want.key, "prefix", expected=want.prefix, found=found,
                       hint="write the folder as `prefix`, then run: pinctl sync")  # fmt: skip


def sized(size: int) -> str:
    """A number of bytes as a person reads it: `1.5 MiB`, of less than one `3.2 KiB`."""
    return f"{size / (1 << 20):.1f} MiB" if size >= 1 << 20 else f"{size / (1 << 10):.1f} KiB"


def row(want: Declared, archive: Archive) -> Mapping[str, object]:
    """For scripts; nothing of an archive that could not be had."""
    if not archive.digests:
        return {}
    contents = archive.contents or Contents(None, None)
    return {
        "archive": {
            "url": want.url,
            "size": archive.size,
            **archive.digests,
            "commit": contents.commit,
            "prefix": contents.folder,
        }
    }
