"""An archive held against its pin: the bytes that its URL gives now, and what they say of themselves."""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from pinctl import facts
from pinctl.finding import Finding
from pinctl.model import NOTHING, Pin
from pinctl.upstream.tarball import Contents
from pinctl.upstream.telling import Telling

DIGESTS = ("md5", "sha1", "sha256", "sha384", "sha512")


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


def judge(say: Telling, want: Declared, archive: Archive) -> Iterator[Finding]:
    """What is wrong with an archive."""
    at = (*want.key, "url")
    if archive.failure:
        yield say.tell("PIN321" if archive.refused else "PIN320", archive.failure, *at, hint=archive.hint)
    elif archive.gone:
        yield say.tell("PIN329", f"{want.url} is not there", *at, hint="name another place to take it from")
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
    for algorithm, known in want.digests.items():
        found = archive.digests[algorithm]
        if found not in known:
            what = f"{want.url} gives other bytes than the pinned ones: same URL, another {algorithm}"
            yield say.tell("PIN330", what, *want.key, algorithm, expected=", ".join(known), found=found, hint=hint)


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
