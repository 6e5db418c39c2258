"""Cross-checks: what keys of pins.toml say of each other. No JSON Schema can say these:

- a commit is a full id (PIN105, PIN106), a path stays below the folder of pins.toml and out of .git (PIN108)
- `requires-pinctl` and `schema` fit this pinctl (PIN115)
- a URL is https or ssh, with a plain host and without credentials (PIN107); nothing looks like a secret (PIN119)
- a pin has one source (`repo`, `packages`, `url` or `image`; packages may stand beside a repo), with what that needs;
  none only where a version is known and `unresolved = true` says that its source is not
- the version of packages is one of PEP 440; specifiers are too, and `needs` name pins of a known version (PIN120) or
  commit; `check` tells whether they are met
- pins, variants and recipes that are named exist (PIN114); a commit or version is not on the pin's list of bad ones
- one variant publishes to PyPI, without a label; no two give their wheels one name
- `allow` entries say what they accept
- conditions of patches, and what they supersede: see `patching`
- sites and generated files: see `claims`; the wheel index: see `indexing`; Docker images: see `imaging`
"""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any

from pinctl import needs, nested
from pinctl.credentials import is_secret
from pinctl.manifest.claims import problems as claims
from pinctl.manifest.secrets import problems as secrets
from pinctl.manifest.shapes import Problem, likely, named
from pinctl.model import KeyPath, Manifest, Pin, Variant, Waiver
from pinctl.paths import path_problem
from pinctl.urls import check_url
from pinctl.versions import is_version, specifier_problem

SOURCES = ("repo", "packages", "url", "image")
"""The keys that say where a pin comes from."""
_GIT_ALONE = ("upstream", "submodules", "recursive", "lfs", "archive", "nested")
_FILLED = re.compile(r"\{([^{}]*)\}")


def problems(
    manifest: Manifest, data: Mapping[str, Any], recipes: Collection[str] | None, transports: Collection[str]
) -> Iterator[Problem]:
    """Everything that keys of the manifest say wrongly of each other; `data` is what it was made of.

    `recipes` are the bundled ones, None where that is not known; `transports` the schemes that URLs may have.
    """
    yield from secrets(manifest, data)
    for pin in manifest.pins.values():
        yield from _source(pin)
        yield from _known_by(pin)
        yield from _urls(pin, transports)
        yield from _versions(pin)
        yield from _needs(pin, manifest)
        yield from _bad(pin)
        yield from _references(pin, manifest)
        if pin.patches:
            from pinctl.manifest.patching import problems as patches

            yield from patches(pin)
        yield from _waivers(pin.allow)
    yield from _index(manifest.index, transports) if manifest.index else ()
    yield from _images(manifest) if manifest.images else ()
    for name, variant in manifest.variants.items():
        yield from _url(("variants", name, "index_url"), variant.index_url, transports)
    yield from _variants(manifest.variants.values())
    yield from _waivers(manifest.allow)
    yield from claims(manifest, recipes)


def _source(pin: Pin) -> Iterator[Problem]:
    key: KeyPath = ("pins", pin.name)
    kinds = [kind for kind in SOURCES if getattr(pin, kind)]
    if not kinds and not (pin.version and pin.unresolved is True):
        words = ", ".join(f"`{kind}`" for kind in SOURCES)
        yield Problem("PIN104", key, f"{named(key)} has no source", f"give it one of {words}")
    elif len(kinds) > 1 and kinds != ["repo", "packages"]:
        both = " and ".join(f"`{kind}`" for kind in kinds)
        yield Problem("PIN103", (*key, kinds[1]), f"{named(key)} has several sources, {both}", "make them two pins")
    for kind in kinds:
        yield from _NEEDED[kind](pin, key)
    yield from _strays(pin, key)


def _repo_needs(pin: Pin, key: KeyPath) -> Iterator[Problem]:
    if not (pin.commit or pin.unresolved or pin.packages):
        hint = "write the full commit id; or `unresolved = true`, until it is known"
        yield _missing(key, "commit", hint)


def _packages_need(pin: Pin, key: KeyPath) -> Iterator[Problem]:
    if pin.version is None:
        yield _missing(key, "version", "packages are pinned by their exact version")


def _url_needs(pin: Pin, key: KeyPath) -> Iterator[Problem]:
    if pin.sha256 is None and not pin.unresolved:
        hint = "write the archive's digest; or `unresolved = true`, until it is known"
        yield _missing(key, "sha256", hint)
    for name in _FILLED.findall(pin.url or ""):
        if name == "platform":
            if not isinstance(pin.sha256, Mapping):
                what = f"{named((*key, 'url'))} has a `{{platform}}`, and `sha256` none for each"
                yield Problem("PIN112", (*key, "url"), what, 'write: sha256 = { x86_64 = "...", aarch64 = "..." }')
        elif name not in ("version", "tag", "commit"):
            what = f"{named((*key, 'url'))}: there is no `{{{name}}}` in a URL"
            yield Problem("PIN110", (*key, "url"), what, "it may hold {version}, {tag}, {commit} and {platform}")
        elif getattr(pin, name) is None:
            what = f"{named((*key, 'url'))} needs `{name}`, which the pin does not have"
            yield Problem("PIN112", (*key, "url"), what, f"write `{name}`, or the URL in full")


def _image_needs(pin: Pin, key: KeyPath) -> Iterator[Problem]:
    if not (pin.digest or pin.unresolved or "@" in (pin.image or "")):
        hint = "write the image's digest; or `unresolved = true`, until it is known"
        yield _missing(key, "digest", hint)


_NEEDED = {"repo": _repo_needs, "packages": _packages_need, "url": _url_needs, "image": _image_needs}


def _strays(pin: Pin, key: KeyPath) -> Iterator[Problem]:
    """Keys that mean nothing without another one."""
    if pin.repo is None:
        empty = Pin(name=pin.name)
        strays = [name for name in _GIT_ALONE if getattr(pin, name) != getattr(empty, name)]
        strays += [name for name in ("commit", "tag") if getattr(pin, name) and pin.url is None]
        if strays:
            words = ", ".join(f"`{name}`" for name in strays)
            what = f"{named(key)} has {words} but no `repo`"
            yield Problem("PIN104", (*key, strays[0]), what, "say of which repository")
    for name, of in (("sha256", "url"), ("digest", "image")):
        if getattr(pin, name) and not getattr(pin, of):
            yield Problem("PIN104", (*key, name), f"{named(key)} has `{name}` but no `{of}`", f"it is a fact of `{of}`")


def _missing(key: KeyPath, name: str, hint: str) -> Problem:
    return Problem("PIN104", (*key, name), f"the key `{name}` is missing in {named(key)}", hint)


def _known_by(pin: Pin) -> Iterator[Problem]:
    key = ("pins", pin.name, "unresolved")
    short = pin.unresolved if isinstance(pin.unresolved, str) else ""
    if pin.commit and not pin.commit.startswith(short):
        hint = "drop `unresolved`, or the commit"
        yield Problem("PIN103", key, f"{named(key)}: {short} is no prefix of the pin's commit", hint)
    if pin.repo and pin.unresolved is True and not (pin.commit or pin.tag or pin.version):
        what = f"{named(key)}: neither a tag nor a version says what is meant"
        yield Problem("PIN104", key, what, "write its `tag`")


def _urls(pin: Pin, transports: Collection[str]) -> Iterator[Problem]:
    key: KeyPath = ("pins", pin.name)
    yield from _url((*key, "repo"), pin.repo, transports)
    yield from _url((*key, "upstream", "repo"), pin.upstream.repo if pin.upstream else None, transports)
    yield from _url((*key, "url"), pin.url, transports)
    yield from _url((*key, "archive", "url"), pin.archive.get("url"), transports)


def _index(said: Mapping[str, Any], transports: Collection[str]) -> Iterator[Problem]:
    from pinctl.manifest.indexing import problems  # few files have an index, and each start would load it

    return problems(said, transports)


def _images(manifest: Manifest) -> Iterator[Problem]:
    from pinctl.manifest.imaging import problems  # as few files have images

    return problems(manifest)


def _url(key: KeyPath, url: object, transports: Collection[str]) -> Iterator[Problem]:
    judged = isinstance(url, str) and not is_secret(url)
    if judged and (clause := check_url(str(url), transports=tuple(transports))):
        yield Problem("PIN107", key, f"{named(key)} cannot be used: {clause}")


def _versions(pin: Pin) -> Iterator[Problem]:
    if pin.packages and pin.version is not None and not is_version(pin.version):
        key = ("pins", pin.name, "version")
        yield Problem("PIN103", key, f"{named(key)}: {pin.version!r} is no version of a package (PEP 440)")
    if pin.repo is None and pin.track is not None and "*" not in pin.track:
        key = ("pins", pin.name, "track")
        what = f"{named(key)}: without a `repo` there is no branch {pin.track!r} to follow"
        yield Problem("PIN103", key, what, f'a series of versions is written so: track = "{pin.track}.*"')


def _needs(pin: Pin, manifest: Manifest) -> Iterator[Problem]:
    for name, need in pin.needs.items():
        key = ("pins", pin.name, "needs", name)
        other, path = needs.providing(name, manifest), nested.path_of(need)
        if path is None and (broken := specifier_problem(need)):
            yield Problem("PIN103", key, f"{named(key)}: {broken}")
        elif path is not None and (pin.repo is None or path_problem(path)):
            why = "the pin has no `repo`" if pin.repo is None else f"the path {path_problem(path)}"
            yield Problem("PIN112", key, f"{named(key)}: there is no such gitlink: {why}")
        elif other is None:
            what = f"{named(key)}: no pin is called {name} or has such a package"
            packages = (package for one in manifest.pins.values() for package in one.packages)
            yield Problem("PIN114", key, what, likely(name, (*manifest.pins, *packages)))
        elif other is pin:
            yield Problem("PIN103", key, f"{named(key)}: a pin cannot need itself", "drop it")
        else:
            yield from _comparable(key, other, by_version=path is None)


def _comparable(key: KeyPath, other: Pin, *, by_version: bool) -> Iterator[Problem]:
    """Whether the pin that is needed says what it is held to. Whether that is as it must be, `needs.broken` tells."""
    if by_version and (other.version is None or not is_version(other.version)):
        what = f"{named(key)}: the version of {named(('pins', other.name))} is not known"
        yield Problem("PIN120", key, what, "give it a `version`")
    elif not (by_version or other.commit or other.unresolved):
        what = f"{named(key)}: {named(('pins', other.name))} is pinned by no commit"
        yield Problem("PIN120", key, what, "give it a `commit`")


def _bad(pin: Pin) -> Iterator[Problem]:
    for n, bad in enumerate(pin.bad):
        for name in ("commit", "version"):
            if getattr(bad, name) is not None and getattr(bad, name) == getattr(pin, name):
                key: KeyPath = ("pins", pin.name, name)
                what = f"{named(key)}: {getattr(pin, name)} is known to be bad: {bad.reason}"
                yield Problem("PIN122", key, what, bad.fix and f"the fix: {bad.fix}", ("pins", pin.name, "bad", n))


def _references(pin: Pin, manifest: Manifest) -> Iterator[Problem]:
    key: KeyPath = ("pins", pin.name)
    lists = [((*key, "wheel", "variants"), pin.wheel.variants)] if pin.wheel else []
    lists += [((*key, "patches", n, "variants"), patch.variants or ()) for n, patch in enumerate(pin.patches)]
    uses = [((*at, n), name) for at, names in lists for n, name in enumerate(names)]
    excluded = enumerate(pin.wheel.exclude if pin.wheel else ())
    uses += [((*key, "wheel", "exclude", n, "variant"), item.variant) for n, item in excluded if item.variant]
    for at, name in uses:
        if name not in manifest.variants:
            yield Problem("PIN114", at, f"{named(at)}: there is no variant {name}", likely(name, manifest.variants))
    for package in pin.system_packages:
        if not package.managers:
            at = (*key, "system_packages", package.name)
            yield Problem("PIN104", at, f"{named(at)} has no package name", 'name it under a manager: dnf = "..."')


def _waivers(waivers: Sequence[Waiver]) -> Iterator[Problem]:
    if not waivers:
        return
    from pinctl.codes.table import CODES

    for waiver in waivers:
        if waiver.code is None and waiver.path is None and waiver.symbol is None:
            what = f"{named(waiver.key)} accepts everything"
            yield Problem("PIN104", waiver.key, what, "give it a `code` or a `path`")
        if waiver.code is not None and waiver.code not in CODES:
            key = (*waiver.key, "code")
            yield Problem("PIN114", key, f"{named(key)}: there is no finding {waiver.code}", "see: pinctl explain")


def _variants(variants: Collection[Variant]) -> Iterator[Problem]:
    to_pypi = [variant for variant in variants if variant.publish == "pypi"]
    for variant in to_pypi:
        if variant.label is not None:
            key = ("variants", variant.name, "label")
            what = f"{named(key)}: PyPI refuses versions with a local label"
            yield Problem("PIN103", key, what, 'drop the label, or publish to the index: publish = "index"')
    for variant in to_pypi[1:]:
        key = ("variants", variant.name, "publish")
        first = to_pypi[0].name
        what = f"{named(key)}: {first} goes to PyPI already, and nothing there would tell the two apart"
        yield Problem("PIN103", key, what, 'give it a label, and publish = "index"', ("variants", first, "publish"))
    for one, other in combinations([variant for variant in variants if variant.label and variant.publish], 2):
        if one.label == other.label and _share_platform(one, other):
            key = ("variants", other.name, "label")
            what = f"{named(key)}: the wheels of {one.name} have the label {one.label} too"
            yield Problem("PIN103", key, what, "give each variant its own", ("variants", one.name, "label"))


def _share_platform(one: Variant, other: Variant) -> bool:
    return not (one.platforms and other.platforms) or not set(one.platforms).isdisjoint(other.platforms)
