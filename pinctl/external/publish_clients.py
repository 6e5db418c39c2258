"""pip and uv, as who installs a published wheel would run them: with no configuration, no cache and no login."""

import os
import shutil
import sys
import tempfile
from importlib.util import find_spec

from pinctl.errors import ExternalError
from pinctl.external import process
from pinctl.external.gitcli import Profile
from pinctl.publish import clients
from pinctl.publish.clients import Wanted
from pinctl.urls import redact

PIP, UV = "pip", "uv"

_LONGEST = 400
"""Characters of what a client says that are told."""
_PASSED = ("HOME", "TMPDIR", "SSL_CERT_DIR", "SSL_CERT_FILE", "HTTPS_PROXY", "HTTP_PROXY", "NO_PROXY",
           "https_proxy", "http_proxy", "no_proxy")  # fmt: skip


def there() -> list[str]:
    """Which of the two are installed here."""
    found = [PIP] if find_spec("pip") else []
    return [*found, UV] if _uv() else found


def _uv() -> str | None:
    beside = os.path.join(os.path.dirname(sys.executable), "uv")
    return beside if os.access(beside, os.X_OK) else shutil.which("uv")


def install(client: str, wanted: Wanted, profile: Profile) -> str | None:
    """Let `client` install the wheel into a folder that is then removed; why it could not, as a clause, None where it
    did. Raises NotTried, ExternalError."""
    with tempfile.TemporaryDirectory(prefix="pinctl-") as base:
        target, requirements = os.path.join(base, "target"), os.path.join(base, "requirements.txt")
        with open(requirements, "w", encoding="utf-8") as file:
            file.write(wanted.requirement)
        argv = _argv(client, wanted, target, requirements)
        try:
            process.run(argv, cwd=base, env=_environment(profile), timeout=profile.timeout, shown=[client, "install"])
        except process.CommandFailed as error:
            return _clause(client, error)
        if not any(name.endswith(".dist-info") for name in os.listdir(target)):
            return f"{client} says that it installed it, and it did not"
    return None


class NotTried(ExternalError):
    """The client cannot be told of the machine that the wheel is for."""


def _argv(client: str, wanted: Wanted, target: str, requirements: str) -> list[str]:
    if client == PIP:
        return [sys.executable, "-P", "-m", "pip", *clients.pip(wanted, target, requirements)]
    words, program = clients.uv(wanted, target, requirements, sys.executable), _uv()
    if words is None or program is None:
        raise NotTried(f"uv cannot be told to install {wanted.filename} here")
    return [program, *words]


def _environment(profile: Profile) -> dict[str, str]:
    rules = profile.policy
    fixed = {"PIP_CONFIG_FILE": os.devnull}
    fixed |= {"SSL_CERT_FILE": rules.ca, "PIP_CERT": rules.ca} if rules and rules.ca else {}
    fixed |= {"HTTPS_PROXY": rules.proxy, "HTTP_PROXY": rules.proxy} if rules and rules.proxy else {}
    return process.environment(_PASSED, **fixed)


def _clause(client: str, error: process.CommandFailed) -> str:
    """What the client said last of all that is an error."""
    text = redact(error.result.stderr.decode("utf-8", "replace"))
    lines = ["".join(c for c in line if c.isprintable()).strip() for line in text.splitlines()]
    first = next((n for n, line in enumerate(lines) if line.lower().startswith("error")), 0)
    told = " ".join(filter(None, lines[first:]))
    return f"{client} does not install it: {told[:_LONGEST] or error.headline}"
