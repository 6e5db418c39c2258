"""PyPI, and indexes that take files as it does: what they have, and twine, which sends.

The login is twine's to find: TWINE_USERNAME and TWINE_PASSWORD, the keyring, the user's .pypirc, or the identity that
CI proves (trusted publishing). It stands in no argument, nothing of a checkout is read for it, and twine runs in a
folder of its own.
"""

import hashlib
import os
import shutil
import sys
import tempfile
from collections.abc import Sequence
from configparser import Error, RawConfigParser
from importlib.util import find_spec

from pinctl.errors import ExternalError
from pinctl.external import index_files, process
from pinctl.external.gitcli import Profile
from pinctl.external.web import Web, demand
from pinctl.index import reading
from pinctl.index.reading import Link
from pinctl.publish.listing import Listing, listing
from pinctl.publish.settings import PyPI
from pinctl.upstream import simple
from pinctl.urls import check_url

_PUBLIC = ("https://upload.pypi.org/legacy/", "https://test.pypi.org/legacy/")
_SECTIONS = {"pypi": _PUBLIC[0], "testpypi": _PUBLIC[1]}
"""What sections of a .pypirc mean without a URL."""
_PASSED = ("HOME", "USER", "LOGNAME", "TMPDIR", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_RUNTIME_DIR",
           "DBUS_SESSION_BUS_ADDRESS", "PYTHON_KEYRING_BACKEND", "TWINE_USERNAME", "TWINE_PASSWORD", "TWINE_CERT",
           "REQUESTS_CA_BUNDLE", "SSL_CERT_FILE", "SSL_CERT_DIR", "HTTPS_PROXY", "HTTP_PROXY", "NO_PROXY",
           "https_proxy", "http_proxy", "no_proxy")  # fmt: skip
_OF_CI = ("ACTIONS_ID_TOKEN_REQUEST_TOKEN", "ACTIONS_ID_TOKEN_REQUEST_URL", "CI", "GITHUB_ACTIONS", "GITLAB_CI",
          "PYPI_ID_TOKEN", "TESTPYPI_ID_TOKEN", "SIGSTORE_ID_TOKEN")  # fmt: skip
"""By these CI proves who it is."""


def has(where: PyPI, project: str, profile: Profile) -> Listing | None:
    """What the index has of a project; None where nothing says which index it is. Raises ExternalError."""
    if where.url is None:
        return None
    answer = Web(profile).get(f"{where.url}{project}/", headers={"Accept": simple.ACCEPT, "Cache-Control": "no-cache"})
    demand(answer)
    if answer.absent:
        return Listing({})
    return listing(reading.read(answer.body, answer.headers.get("Content-Type", ""), project, where.url))


def sha256(link: Link, where: PyPI, profile: Profile) -> str | None:
    """The digest of a file that the index has: as its page says, or of the file itself, downloaded; None where it is
    not there. Raises ExternalError."""
    if link.sha256:
        return link.sha256
    return index_files.remote([link], where.url or link.url, Web(profile), {link.url})[link.url].sha256


def attests(where: PyPI) -> bool:
    """Whether attestations can be made here: CI proves who it is, PyPI takes them, and pypi-attestations is there."""
    proven = any(name in os.environ for name in ("ACTIONS_ID_TOKEN_REQUEST_URL", "SIGSTORE_ID_TOKEN"))
    return proven and where.repository in _PUBLIC and find_spec("pypi_attestations") is not None


def demand_twine() -> None:
    """Raises ToolMissing."""
    if find_spec("twine") is None:
        raise process.ToolMissing("twine is not installed", hint="python -m pip install 'pinctl[publish]'")


def send(path: str, digest: str, where: PyPI, profile: Profile) -> None:
    """Upload the file at `path`, with its attestation where one can be made. Raises ToolMissing, CommandFailed,
    ExternalError."""
    if reason := check_url(where.repository, transports=("https", "http")):
        raise ExternalError(f"refused to send to {where.repository!r}: {reason}")
    demand_twine()
    with tempfile.TemporaryDirectory(prefix="pinctl-") as folder:
        files = [_copied(path, folder, digest)]
        if attests(where):
            _run(["pypi_attestations", "sign", *files], folder, profile)
            files.append(f"{files[0]}.publish.attestation")
        _run(["twine", "upload", *_options(where, profile, attested=len(files) > 1), *files], folder, profile)


def _copied(path: str, folder: str, digest: str) -> str:
    """A copy of the file that no one else changes any more. Raises ExternalError where it is another by now."""
    copy = os.path.join(folder, os.path.basename(path))
    shutil.copyfile(path, copy)
    with open(copy, "rb") as file:
        if hashlib.file_digest(file, "sha256").hexdigest() != digest:
            raise ExternalError(f"{path} has changed since it was looked at")
    return copy


def _options(where: PyPI, profile: Profile, *, attested: bool) -> list[str]:
    section = _section(where.repository)
    words = ["--repository", section] if section else ["--repository-url", where.repository]
    words += ["--cert", profile.policy.ca] if profile.policy and profile.policy.ca else []
    words += ["--attestations"] if attested else []
    return ["--non-interactive", "--disable-progress-bar", "--verbose", *words]


def _section(repository: str) -> str | None:
    """The section of the user's .pypirc that is about `repository`: twine reads a login there by its name alone."""
    found = RawConfigParser()
    try:
        found.read(os.path.expanduser("~/.pypirc"), encoding="utf-8")
    except (Error, UnicodeDecodeError, OSError):
        return None
    for section in found.sections():
        url = found.get(section, "repository", fallback=_SECTIONS.get(section, ""))
        if url.rstrip("/") == repository.rstrip("/"):
            return section
    return None


def _run(words: Sequence[str], folder: str, profile: Profile) -> None:
    """A module of this Python, in `folder`; of a checkout it finds nothing (-P)."""
    rules = profile.policy
    fixed = {"HTTPS_PROXY": rules.proxy, "HTTP_PROXY": rules.proxy} if rules and rules.proxy else {}
    env = process.environment((*_PASSED, *_OF_CI, *_of_github()), **fixed)
    process.run([sys.executable, "-P", "-m", *words], cwd=folder, env=env, timeout=profile.timeout, shown=words[:2])


def _of_github() -> list[str]:
    """Variables that say which run of GitHub's this is; none of them is a login."""
    return [name for name in os.environ if name.startswith("GITHUB_") and not name.endswith("TOKEN")]
