"""Where pip would look for packages, and how it would reach it: the user's pip configuration and environment.

The files, their order and their keys are pip's (its documentation, "Configuration"); pip itself need not be there. A
later file wins over an earlier one, the section of a command over `[global]`, and PIP_* over them all.
"""

import configparser
import os
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from pinctl.errors import UsageError
from pinctl.external.web import SILENCE, Access

PYPI = "https://pypi.org/simple/"

_SECTIONS = ("global", "download", "install")
"""Those that concern an installation, the strongest last."""
_YES, _NO = ("y", "yes", "t", "true", "on", "1"), ("n", "no", "f", "false", "off", "0")


class Place(NamedTuple):
    """Where packages are: an index, below which each has a page, or a page or folder of files (pip's --find-links)."""

    url: str
    is_index: bool = True


class Settings(NamedTuple):
    """`places` in pip's order, and how they are reached."""

    places: tuple[Place, ...] = (Place(PYPI),)
    access: Access = Access()


def read() -> Settings:
    """What pip would use if this user ran `pip install` here. Raises UsageError for what pip would not accept either;
    no value is repeated, since it may hold a password."""
    values = _values()
    links = [Place(_location(word), is_index=False) for word in values.get("find-links", "").split()]
    indexes = [values.get("index-url", PYPI).strip(), *values.get("extra-index-url", "").split()]
    kept = [] if _is_set(values, "no-index") else [Place(_location(url)) for url in indexes]
    access = Access(
        ca=_path(values, "cert"),
        client_cert=_path(values, "client-cert"),
        proxy=values.get("proxy"),
        silence=_seconds(values),
        insecure=tuple(values.get("trusted-host", "").split()),
    )
    return Settings(tuple(dict.fromkeys((*links, *kept))), access)


def _values() -> dict[str, str]:
    """Every setting by its key; an empty one is none."""
    sections: dict[str, dict[str, str]] = {name: {} for name in _SECTIONS}
    for path in _files():
        parsed = _parsed(path)
        for name in _SECTIONS:
            if parsed.has_section(name):
                sections[name].update(parsed.items(name))
    environment = {_key(name[4:]): value for name, value in os.environ.items() if name.startswith("PIP_")}
    return {key: value for table in (*sections.values(), environment) for key, value in table.items() if value}


def _key(name: str) -> str:
    return name.lower().replace("_", "-").removeprefix("--")


def _files() -> Iterator[str]:
    """pip's configuration files, the strongest last: global, the user's, the environment's (venv), PIP_CONFIG_FILE."""
    chosen = os.environ.get("PIP_CONFIG_FILE")
    if chosen == os.devnull:
        return
    home, mac = os.path.expanduser("~"), sys.platform == "darwin"
    if mac:
        yield "/Library/Application Support/pip/pip.conf"
    else:
        yield from (f"{folder}/pip/pip.conf" for folder in _variable("XDG_CONFIG_DIRS", "/etc/xdg").split(os.pathsep))
        yield "/etc/pip.conf"
    if not (chosen and os.path.exists(chosen)):
        yield f"{home}/.pip/pip.conf"
        support = f"{home}/Library/Application Support/pip"
        own = f"{home}/.config" if mac else _variable("XDG_CONFIG_HOME", f"{home}/.config")
        yield f"{support}/pip.conf" if mac and os.path.isdir(support) else f"{own}/pip/pip.conf"
    yield os.path.join(_variable("VIRTUAL_ENV", sys.prefix), "pip.conf")
    if chosen:
        yield chosen


def _variable(name: str, otherwise: str) -> str:
    return os.environ.get(name) or otherwise


class _Parser(configparser.RawConfigParser):
    """pip's: keys may be spelled as options are."""

    def optionxform(self, optionstr: str) -> str:
        return _key(optionstr)


def _parsed(path: str) -> _Parser:
    """What a configuration file holds; nothing where there is none. Raises UsageError."""
    parser = _Parser()
    try:
        parser.read(path, encoding="utf-8")
    except (configparser.Error, UnicodeDecodeError, OSError):  # their words repeat the line
        raise UsageError(f"the pip configuration {path} cannot be read", hint="see: pip config debug") from None
    return parser


def _location(text: str) -> str:
    """A URL as it is, a path as one."""
    if "://" in text or text.startswith("file:"):
        return text
    return Path(os.path.abspath(os.path.expanduser(text))).as_uri()


def _path(values: Mapping[str, str], key: str) -> str | None:
    return os.path.abspath(os.path.expanduser(values[key])) if key in values else None


def _is_set(values: Mapping[str, str], key: str) -> bool:
    word = values.get(key, "no").lower()
    if word not in (*_YES, *_NO):
        raise UsageError(f"pip's setting `{key}` is neither yes nor no", hint="see: pip config debug")
    return word in _YES


def _seconds(values: Mapping[str, str]) -> float:
    text = values.get("timeout") or values.get("default-timeout") or str(SILENCE)
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds < 24 * 3600:
        raise UsageError("pip's setting `timeout` is no number of seconds", hint="see: pip config debug")
    return seconds
