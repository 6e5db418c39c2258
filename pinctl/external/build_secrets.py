"""What containers need to reach package servers, as files for BuildKit's secrets: never an argument, never a layer.

`ca` is a file of certificates, `proxy` holds a URL, `pip` is a pip.conf with the indexes that are servers, `netrc` has
the logins for their hosts and no others. All of it comes from the policy and from where pip would take it.
"""

import netrc
import os
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from urllib.parse import urlsplit

from pinctl.external import pip_config
from pinctl.policy import Policy

_CA = ("SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE")
_PROXY = ("HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy")


@contextmanager
def secrets(policy: Policy | None) -> Iterator[dict[str, str]]:
    """The secrets by their ids, as paths of files that are gone afterwards. Raises UsageError."""
    settings = pip_config.read()
    with tempfile.TemporaryDirectory(prefix="pinctl-secrets-") as folder:
        found: dict[str, str] = {}
        ca = (policy and policy.ca) or settings.access.ca or _first(_CA)
        if ca and os.path.isfile(ca):
            found["ca"] = ca
        proxy = (policy and policy.proxy) or settings.access.proxy or _first(_PROXY)
        indexes = [place.url for place in settings.places if place.url.startswith(("https://", "http://"))]
        texts = {"proxy": proxy or "", "pip": _pip_conf(indexes, settings.access.insecure), "netrc": _logins(indexes)}
        for name, text in texts.items():
            if text:
                found[name] = os.path.join(folder, name)
                with open(os.open(found[name], os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
                    file.write(text)
        yield found


def _first(names: Sequence[str]) -> str | None:
    return next((value for name in names if (value := os.environ.get(name))), None)


def _pip_conf(indexes: Sequence[str], insecure: Sequence[str]) -> str:
    """A pip.conf with these indexes; "" where it would say what pip does by itself."""
    if not indexes or (list(indexes) == [pip_config.PYPI] and not insecure):
        return ""
    first, *others = indexes
    lines = ["[global]", f"index-url = {first}"]
    lines += [f"extra-index-url = {' '.join(others)}"] if others else []
    lines += [f"trusted-host = {' '.join(insecure)}"] if insecure else []
    return "".join(f"{line}\n" for line in lines)


def _logins(indexes: Sequence[str]) -> str:
    """The user's netrc, as far as it is for the hosts of `indexes`."""
    path = os.environ.get("NETRC") or os.path.expanduser("~/.netrc")
    text = ""
    with suppress(OSError, netrc.NetrcParseError):
        known = netrc.netrc(path)
        for host in dict.fromkeys(urlsplit(url).hostname for url in indexes):
            if host in known.hosts:
                login, account, password = known.hosts[host]
                text += f"machine {host} login {login} {f'account {account} ' if account else ''}password {password}\n"
    return text
