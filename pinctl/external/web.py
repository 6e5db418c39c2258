"""HTTP, under the profile of the run: the one room where a page is asked for or a file is downloaded.

Redirects are followed by hand, since each may lead where the policy does not allow, or inward; a login is sent to the
server that it is for, and to no other. Sizes and times have bounds; what the network broke off is tried again. In the
trusted profile the user's .netrc, proxies and certificates serve (as requests reads them), in the untrusted one
nothing of theirs.
"""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from time import monotonic, sleep
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar
from urllib.parse import unquote, urljoin, urlsplit, urlunsplit

from pinctl.errors import ExternalError
from pinctl.external import process
from pinctl.external.gitcli import UNTRUSTED, Profile
from pinctl.external.remote import ASK_SECONDS, PAUSES, Hostile, Unreachable
from pinctl.model import NOTHING
from pinctl.urls import check_url, redact

if TYPE_CHECKING:
    import requests

PAGE = 16 * 1024 * 1024
"""Bytes of a page."""
SILENCE = 15.0
"""Seconds that a server may say nothing; pip's own."""

_MOST_HOPS = 5
_CHUNK = 64 * 1024
_LOOK = 0.1  # seconds between looks at ^C and the clock
_TRANSIENT = frozenset((429, 500, 502, 503, 504))

Sink = Callable[[bytes], object]
_T = TypeVar("_T")


class Access(NamedTuple):
    """What the user's configuration says of how servers are reached. `insecure`: HOST or HOST:PORT whose certificate
    is not looked at."""

    ca: str | None = None
    client_cert: str | None = None
    proxy: str | None = None
    silence: float = SILENCE
    insecure: tuple[str, ...] = ()


AS_IT_IS = Access()


class Answer(NamedTuple):
    """What a server, the one of `url` in the end, answered. The names of `headers` count in any letter case."""

    status: int
    url: str
    headers: Mapping[str, str] = NOTHING
    body: bytes = b""

    @property
    def absent(self) -> bool:
        """Whether there is no such thing."""
        return self.status in (404, 410)


def demand(answer: Answer) -> None:
    """Raises Unreachable for an answer that is neither a success nor says that there is nothing."""
    if answer.status != 200 and not answer.absent:
        hint = "the server wants a login: .netrc may hold it" if answer.status in (401, 403, 407) else None
        raise Unreachable(f"{host_of(answer.url)} answers with status {answer.status}", hint=hint)


def host_of(url: str) -> str:
    """The host of a URL, with its port where one is said; the path of a local one. Never what may be secret."""
    parts = urlsplit(url)
    return parts.netloc.rpartition("@")[2] or parts.path


def address(url: str, profile: Profile, kind: str) -> str:
    """What is asked for a URL that pins.toml or a pin's image names: itself, or what a mirror of that `kind` has in
    its place. Raises ExternalError: it may not be asked."""
    web = tuple(scheme for scheme in profile.transports if scheme in ("https", "http"))
    reason = check_url(url, transports=web)
    if profile.policy and not reason:
        owned = kind == "archive"
        reason = profile.policy.refusal(url) if owned else profile.policy.host_refusal(url)
    if reason:
        raise ExternalError(f"refused to use the URL {redact(url)!r}: {reason}")
    return (profile.policy.mirror(url, kind) if profile.policy else None) or url


def onward(url: str, location: str, profile: Profile) -> str:
    """Where a redirect from `url` leads: further on the same server, or to a public https server that the policy
    allows. Raises Hostile."""
    try:
        target = urljoin(url, location)
        parts = urlsplit(target)
    except ValueError:
        raise Hostile(f"{host_of(url)} redirects to something that is no URL") from None
    if reason := barred(target, url, profile):
        start = f"{parts.scheme}://{parts.netloc}/"
        raise Hostile(f"{host_of(url)} redirects to {redact(start)}, which is refused: {reason}")
    return target


def barred(target: str, source: str, profile: Profile) -> str | None:
    """Why `target`, a URL that `source` gave us, may not be asked, as a clause; None for one on the same server, or on
    a public https server that the policy allows. Raises ValueError for what is no URL."""
    if _origin(target) == _origin(source):
        return None
    parts = urlsplit(target)
    start = f"{parts.scheme}://{parts.netloc}/"
    reason = check_url(start, transports=("https",)) or _inward(parts.hostname or "")
    return reason or (profile.policy.host_refusal(start) if profile.policy else None)


def _origin(url: str) -> tuple[str, str]:
    parts = urlsplit(url)
    return parts.scheme, parts.netloc.rpartition("@")[2].lower()


def _inward(host: str) -> str | None:
    """Why a server that answers the public may not send us to `host`: it means something else on each machine."""
    inside = "." not in host or host.endswith((".localhost", ".local", ".internal")) or host.replace(".", "").isdigit()
    return "it is an address of a local network" if inside else None


@dataclass(frozen=True, slots=True)
class Web:
    """Asks servers under `profile`, by the ways of `access`."""

    profile: Profile
    access: Access = AS_IT_IS

    @property
    def trusted(self) -> bool:
        return self.profile.name != UNTRUSTED.name

    def get(
        self,
        url: str,
        *,
        method: str = "GET",
        headers: Mapping[str, str] = NOTHING,
        token: str | None = None,
        limit: int = PAGE,
        wait: float = ASK_SECONDS,
        start: Callable[[], Sink] | None = None,
    ) -> Answer:
        """Ask for `url`, which is absolute; `file:` and paths are read. A user and password in it, or the bearer
        `token`, are its login.

        `limit` is in bytes, `wait` in seconds for all tries together. A body of status 200 goes to what `start` gives,
        as it comes and undecoded, at each try anew; else it is in the answer. Raises Unreachable, Hostile.
        """
        request = _Request(method, headers, token, limit, monotonic() + min(wait, self.profile.timeout), start)
        if path := local_path(url):
            return _read(path, url, request)
        for pause in (*PAUSES, None):
            try:
                return _within(request.end, partial(self._ask, url, request), host_of(url))
            except Unreachable as failure:
                if not failure.transient or pause is None or monotonic() + pause >= request.end:
                    raise
                sleep(pause)
        raise AssertionError  # the last try returns or raises

    def _ask(self, url: str, request: "_Request") -> Answer:
        import requests
        from urllib3.exceptions import HTTPError

        try:
            with requests.Session() as session:
                session.trust_env = self.trusted
                return self._follow(session, url, request)
        except (requests.RequestException, HTTPError, OSError) as error:
            raise _judged(error, url) from None

    def _follow(self, session: "requests.Session", url: str, request: "_Request") -> Answer:
        first = _origin(url)
        bare, login = _parted(url)
        for _ in range(_MOST_HOPS + 1):
            ours = _origin(bare) == first
            with session.request(
                request.method,
                bare,
                headers=dict(request.headers) | ({"Accept-Encoding": "identity"} if request.start else {}),
                auth=_auth(login if self.trusted else None, request.token) if ours else None,
                cert=self.access.client_cert if ours else None,
                verify=self._authorities(bare),
                proxies=self._proxies(),
                timeout=self.access.silence,
                allow_redirects=False,
                stream=True,
            ) as response:
                if not response.is_redirect:
                    return _answer(response, bare, request)
                bare, _ = _parted(onward(bare, response.headers["Location"], self.profile))
        raise Hostile(f"{host_of(url)} redirects more than {_MOST_HOPS} times")

    def _proxies(self) -> dict[str, str] | None:
        """The policy's proxy, else that of the configuration; None: the environment's, in the trusted profile."""
        proxy = (self.profile.policy.proxy if self.profile.policy else None) or self.access.proxy
        return {"http": proxy, "https": proxy} if proxy else None

    def _authorities(self, url: str) -> str | bool:
        """The certificates that are trusted: the policy's, the configuration's, the system's, requests' own. False
        where the user said that the host needs none."""
        if not {host_of(url), urlsplit(url).hostname or ""}.isdisjoint(self.access.insecure):
            import urllib3

            urllib3.disable_warnings(urllib3.exceptions.InsecureRequestWarning)
            return False
        ours = self.profile.policy.ca if self.profile.policy else None
        said = [os.environ.get(name) for name in ("REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE")] if self.trusted else []
        return next(filter(None, (ours, self.access.ca, *said)), None) or _system_authorities()


class _Request(NamedTuple):
    """What is asked, until when (monotonic), and where the body goes: see `Web.get`."""

    method: str
    headers: Mapping[str, str]
    token: str | None
    limit: int
    end: float
    start: Callable[[], Sink] | None


def _within(end: float, work: Callable[[], _T], host: str) -> _T:
    """What `work` gives, if it does before `end`. Raises what it raises, and Unreachable.

    It has a thread of its own: a name server that is silent, or a server that sends a byte now and then, cannot be held
    to a time otherwise. A thread that does not come back is left behind, and ends with the process.
    """
    from concurrent.futures import Future, wait
    from threading import Thread

    future: Future[_T] = Future()

    def run() -> None:
        try:
            future.set_result(work())
        except BaseException as error:
            future.set_exception(error)

    Thread(target=run, daemon=True).start()
    while not future.done():
        wait([future], timeout=_LOOK)
        if process.halted():
            raise KeyboardInterrupt
        if monotonic() > end and not future.done():
            raise Unreachable(f"{host} did not answer in time", hint="a policy file may set `timeout`")
    return future.result()


def _answer(response: "requests.Response", url: str, request: _Request) -> Answer:
    """The answer, with its body read. Raises Unreachable, Hostile, and what urllib3 does."""
    host = host_of(url)
    if response.status_code in _TRANSIENT:
        raise Unreachable(f"{host} answers with status {response.status_code}", transient=True)
    sink = request.start() if request.start and response.status_code == 200 else None
    too_large = Hostile(f"{host} sends more than {request.limit >> 20} MiB")
    length = response.headers.get("Content-Length", "")
    if request.method != "HEAD" and length.isdecimal() and int(length[:20]) > request.limit:
        raise too_large
    body, size = bytearray(), 0
    for piece in response.raw.stream(_CHUNK, decode_content=sink is None):
        size += len(piece)
        if size > request.limit:
            raise too_large
        if monotonic() > request.end or process.halted():
            raise Unreachable(f"{host} did not send all of it in time", hint="a policy file may set `timeout`")
        if sink:
            sink(piece)
        else:
            body += piece
    return Answer(response.status_code, url, response.headers, bytes(body))


def _judged(error: Exception, url: str) -> Unreachable:
    """What a failure of requests, urllib3 or a socket means. Their own words hold URLs, and are not repeated."""
    import requests
    from urllib3 import exceptions

    host = host_of(url)
    if isinstance(error, requests.exceptions.SSLError | exceptions.SSLError):
        hint = "the policy file's `ca`, PIP_CERT or REQUESTS_CA_BUNDLE names your company's certificates"
        return Unreachable(f"{host} cannot be reached by TLS: {_cause(error)}", hint=hint)
    malformed = requests.exceptions.InvalidURL | requests.exceptions.InvalidSchema | exceptions.LocationValueError
    if isinstance(error, malformed):
        return Unreachable(f"{host} cannot be asked: the URL is malformed")
    if isinstance(error, requests.exceptions.Timeout | exceptions.TimeoutError):
        return Unreachable(f"{host} does not answer", transient=True)
    through = "the proxy to " if isinstance(error, requests.exceptions.ProxyError) else ""
    return Unreachable(f"cannot reach {through}{host}: {_cause(error)}", transient=True)


def _cause(error: BaseException) -> str:
    """The system's own words for what is at the bottom of `error`, or what kind of failure it is."""
    kind = type(error).__name__
    inner: BaseException | None = error
    for _ in range(20):
        if inner is None:
            break
        kind = type(inner).__name__
        if isinstance(inner, OSError) and inner.strerror:
            return redact("".join(c for c in inner.strerror if c.isprintable()))[:200]
        inner = next((arg for arg in (getattr(inner, "reason", None), *inner.args) if isinstance(arg, BaseException)),
                     inner.__cause__ or inner.__context__)  # fmt: skip
    return kind


def _parted(url: str) -> tuple[str, tuple[str, str] | None]:
    """A URL without its user and password, and those."""
    parts = urlsplit(url)
    bare = urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2], fragment=""))
    if "@" not in parts.netloc:
        return bare, None
    return bare, (unquote(parts.username or ""), unquote(parts.password or ""))


def _auth(login: tuple[str, str] | None, token: str | None) -> Any:
    if token is None:
        return login

    def sign(request: "requests.PreparedRequest") -> "requests.PreparedRequest":
        request.headers["Authorization"] = f"Bearer {token}"
        return request

    return sign


def _system_authorities() -> str | bool:
    """The certificates that OpenSSL knows here, as git uses them; True: those that come with requests."""
    import ssl

    paths = ssl.get_default_verify_paths()
    return paths.cafile or (paths.capath if paths.capath and os.listdir(paths.capath) else True)


def local_path(url: str) -> str | None:
    """The path of a `file:` URL, or of what is a path already."""
    if url.startswith("/"):
        return url
    return unquote(urlsplit(url).path) if url.startswith("file:") else None


def _read(path: str, url: str, request: _Request) -> Answer:
    """A local file as if a server gave it. Raises Hostile, ExternalError."""
    try:
        with open(path, "rb") as file:
            if os.fstat(file.fileno()).st_size > request.limit:
                raise Hostile(f"{path} has more than {request.limit >> 20} MiB")
            if request.start is None:
                return Answer(200, url, {"Content-Type": "text/html"}, file.read(request.limit))
            sink = request.start()
            while piece := file.read(_CHUNK):
                sink(piece)
            return Answer(200, url)
    except (FileNotFoundError, NotADirectoryError):
        return Answer(404, url)
    except OSError as error:
        raise ExternalError(f"{path}: {error.strerror}") from error
