"""Facts of a pin by name, and the codecs that spell them.

The names are those of pins.toml, the derived `archive_*`, and the compounds `git` and `archive`.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple, TypeVar

from pinctl.digests import sri
from pinctl.model import Manifest, Pin
from pinctl.paths import path_problem

_T = TypeVar("_T")

SCALARS = ("name", "repo", "commit", "tag", "track", "version", "url", "sha256", "image", "digest")
LISTS = ("submodules", "include_dirs", "header_globs", "packages")
COMPOUNDS = ("git", "archive")
_ARCHIVE = re.compile(r"archive_(url|prefix|md5|sha1|sha256|sha384|sha512)")
_NAMES = (*SCALARS, *LISTS, *COMPOUNDS, "archive_url", "archive_prefix", "archive_sha256", "archive_sha512")
_SCOPES = ("pins", "variants", "facts", "system_packages", "nested")


class FactError(Exception):
    """A fact cannot be given. `code`: PIN110 unknown, PIN111 bad codec, PIN112 undeclared, PIN114 unknown reference."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


class UnstoredError(FactError):
    """A gitlink of a pinned tree that `bump` has not stored yet; pins.toml is valid all the same. `hint` mends it."""

    def __init__(self, pin: str, path: str) -> None:
        super().__init__("PIN125", f"the gitlink {path} of the tree of `{pin}` is not stored in pins.toml yet")
        self.hint = f"run: pinctl bump {pin} --resolve"


class Fact(NamedTuple):
    """A value with the way it compares. `key` is its key path in pins.toml; `full` the id that `value` abbreviates."""

    value: str | tuple[str, ...]
    key: tuple[str, ...] = ()
    kind: str = "text"
    full: str | None = None
    resolved: bool = True


def lookup(path: tuple[str, ...], codec: str | None, pin: Pin | None, manifest: Manifest) -> Fact | dict[str, Fact]:
    """The fact that `{path:codec}` names at a site of `pin`, or the parts of a compound one. Raises FactError."""
    if path[0] == "pins" and len(path) > 2:
        other = _named(manifest.pins, path[1], "pin")
        return lookup(path[2:], codec, other, manifest)
    if path[0] == "variants" and len(path) > 2:
        return coded(_variant(path[1], path[2:], manifest), codec)
    if pin is None:
        raise FactError("PIN110", f"{{{'.'.join(path)}}} belongs to no pin here; write {{pins.NAME.{path[-1]}}}")
    if path == ("git",):
        return _git(pin, codec)
    if path == ("archive",):
        return _archive(pin, codec)
    if path == ("nested",):
        return _nested(pin, codec)
    return coded(_of_pin(path, pin), codec, pin)


def _named(table: Mapping[str, _T], name: str, what: str) -> _T:
    if name not in table:
        raise FactError("PIN114", f"there is no {what} `{name}`{_likely(name, table)}")
    return table[name]


def _likely(name: str, names: Iterable[str]) -> str:
    from difflib import get_close_matches

    close = get_close_matches(name, list(names), n=1, cutoff=0.6)
    return f"; did you mean `{close[0]}`?" if close else ""


def _undeclared(pin: Pin, fact: str) -> FactError:
    return FactError("PIN112", f"pin `{pin.name}` declares no {fact}")


def _of_pin(path: tuple[str, ...], pin: Pin) -> Fact:
    """The plain fact at `path` of `pin`."""
    name, key = path[0], ("pins", pin.name, *path)
    if path == ("commit",):
        return _commit(pin)
    if len(path) == 1 and name in (*SCALARS, *LISTS):
        value = getattr(pin, name)
        if value is None or (value == () and name == "packages"):
            raise _undeclared(pin, name)
        return Fact(
            filled(value, pin) if name == "url" else _plain(value, pin), key, "repo" if name == "repo" else "text"
        )
    if len(path) == 2 and name in ("url", "sha256") and isinstance(pin.sha256, Mapping):
        return _for_platform(pin, name, path[1], key)
    if len(path) == 2 and name == "facts":
        return _own(pin.facts, path[1], f"pin `{pin.name}`", key)
    if len(path) in (2, 3) and name == "system_packages":
        return _packages(pin, path[1:])
    if match := _ARCHIVE.fullmatch(name):
        return _archived(pin, match[1])
    raise FactError("PIN110", f"there is no fact `{'.'.join(path)}`{_likely(name, (*_NAMES, *_SCOPES))}")


def _for_platform(pin: Pin, name: str, platform: str, key: tuple[str, ...]) -> Fact:
    """`url.PLATFORM` and `sha256.PLATFORM` of an archive of which there is one for each platform."""
    digests = pin.sha256 if isinstance(pin.sha256, Mapping) else {}
    if platform not in digests:
        raise FactError("PIN112", f"pin `{pin.name}` has no {name} for {platform}{_likely(platform, digests)}")
    if name == "sha256":
        return Fact(digests[platform], key)
    return Fact(filled(pin.url, pin, platform), key[:-1])


def _plain(value: object, pin: Pin) -> str | tuple[str, ...]:
    if isinstance(value, Mapping):
        names = ", ".join(f"{{sha256.{platform}}}" for platform in value)
        raise FactError("PIN112", f"pin `{pin.name}` has a digest for each platform: {names}")
    return tuple(map(str, value)) if isinstance(value, tuple) else str(value)


def filled(value: object, pin: Pin, platform: str | None = None) -> str:
    """A URL of `pin` with its `{version}`, `{tag}`, `{commit}` and, where one is given, `{platform}` filled in."""
    text = str(value) if platform is None else str(value).replace("{platform}", platform)
    for name in ("version", "tag", "commit"):
        text = text.replace(f"{{{name}}}", getattr(pin, name) or f"{{{name}}}")
    return text


def _commit(pin: Pin) -> Fact:
    key = ("pins", pin.name, "commit")
    if pin.commit:
        return Fact(pin.commit, key, "commit", pin.commit, not pin.unresolved)
    if isinstance(pin.unresolved, str):
        return Fact(pin.unresolved, ("pins", pin.name, "unresolved"), "commit", pin.unresolved, False)
    raise _undeclared(pin, "commit")


def _own(table: Mapping[str, object], name: str, whose: str, key: tuple[str, ...]) -> Fact:
    if name not in table:
        raise FactError("PIN112", f"{whose} has no facts.{name}{_likely(name, table)}")
    value = table[name]
    return Fact(tuple(map(_scalar, value)) if isinstance(value, list | tuple) else _scalar(value), key)


def _scalar(value: object) -> str:
    """TOML's own spelling for booleans; everything else as Python prints it."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def _packages(pin: Pin, path: tuple[str, ...]) -> Fact:
    """`system_packages.MANAGER[.build|.run]`: the names under one manager, in the order of pins.toml."""
    manager, when = path[0], path[1] if len(path) > 1 else None
    known = {m for package in pin.system_packages for m in package.managers}
    if manager not in known:
        raise _undeclared(pin, f"system packages for {manager}")
    names = [
        package.managers[manager]
        for package in pin.system_packages
        if manager in package.managers and (when is None or package.when in (when, "both"))
    ]
    return Fact(tuple(dict.fromkeys(names)), ("pins", pin.name, "system_packages"))


def _archived(pin: Pin, name: str) -> Fact:
    """`archive_NAME`: what stands under `archive`, or an archive pin's own url and sha256."""
    key: tuple[str, ...] = ("pins", pin.name, "archive", name)
    value: object = pin.archive.get(name)
    if value is None and name in ("url", "sha256"):
        key, value = ("pins", pin.name, name), getattr(pin, name)
    if value is None:
        raise _undeclared(pin, f"archive.{name}")
    return Fact(filled(value, pin) if name == "url" else _plain(value, pin), key)


def _variant(name: str, path: tuple[str, ...], manifest: Manifest) -> Fact:
    variant, key = _named(manifest.variants, name, "variant"), ("variants", name, *path)
    if path[0] in ("facts", "env") and len(path) == 2:
        return _own(getattr(variant, path[0]), path[1], f"variant `{name}`", key)
    value = getattr(variant, path[0], None) if len(path) == 1 and path[0] not in ("facts", "env") else None
    if value is None:
        raise FactError("PIN112", f"variant `{name}` declares no {'.'.join(path)}")
    return Fact(value if isinstance(value, tuple) else str(value), key)


def _git(pin: Pin, codec: str | None) -> dict[str, Fact]:
    """repo, ref and, where declared, submodules: what a FetchContent call of the git form holds."""
    ref = _of_pin(("tag",), pin) if codec == "tag" else coded(_commit(pin), codec, pin)
    parts = {"repo": _of_pin(("repo",), pin), "ref": ref}
    if pin.submodules is not None:
        parts["submodules"] = _of_pin(("submodules",), pin)
    return parts


def _archive(pin: Pin, codec: str | None) -> dict[str, Fact]:
    """url and hash (`ALGO=hex`, as CMake's URL_HASH wants it); the codec names another algorithm than sha256."""
    algorithm = codec or "sha256"
    digest = _archived(pin, algorithm)
    return {"url": _archived(pin, "url"), "hash": digest._replace(value=f"{algorithm.upper()}={digest.value}")}


def _nested(pin: Pin, path: str | None) -> Fact:
    """`{nested:PATH}`: the gitlink at PATH inside the pinned tree, as it stands under `nested`."""
    if path is None or pin.repo is None or path_problem(path):
        raise _undeclared(pin, f"nested gitlink {path or '(write {nested:PATH})'}")
    if path not in pin.nested:
        raise UnstoredError(pin.name, path)
    commit = pin.nested[path]
    return Fact(commit, ("pins", pin.name, "nested", path), "commit", commit)


_DIGESTS = ("md5", "sha1", "sha384", "sha512")
"""Codecs that give another digest of the archive than its sha256."""
_DIGITS = re.compile(r"\.([1-9][0-9]?)")


def coded(fact: Fact, codec: str | None, pin: Pin | None = None) -> Fact:
    """`fact` in the spelling that `codec` asks for. Raises FactError."""
    if codec is None:
        return fact
    if digits := _DIGITS.fullmatch(codec):
        return _each(fact, lambda value: value[: int(digits[1])])
    if codec in _DIGESTS and pin is not None and fact.key[-1:] == ("sha256",):
        return _archived(pin, codec)
    if codec not in _CODECS:
        raise FactError("PIN111", f"there is no codec `:{codec}`{_likely(codec, (*_CODECS, *_DIGESTS, '.N'))}")
    return _each(fact, _CODECS[codec])


def _each(fact: Fact, spell: Callable[[str], str]) -> Fact:
    if isinstance(fact.value, str):
        return fact._replace(value=spell(fact.value))
    return fact._replace(value=tuple(map(spell, fact.value)))


def _sri(digest: str) -> str:
    """A hex digest as Subresource Integrity spells it."""
    try:
        return sri(digest)
    except ValueError:
        raise FactError(
            "PIN111", "`:sri` spells a hex digest of sha256, sha384 and sha512 alone, and this is none"
        ) from None


_CODECS: dict[str, Callable[[str], str]] = {
    "sri": _sri,
    "bare": lambda value: value.removeprefix("v"),
    "tag": lambda value: value if value.startswith("v") else f"v{value}",
    "upper": str.upper,
}
