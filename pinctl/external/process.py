"""The one way to run another program.

An argument list, never a shell; no terminal and no input but what is given; a session of its own, so that the
program *and all it started* end at the timeout and at ^C; an environment made from an allow-list; bounded output.
"""

import os
import signal
import time
from _thread import allocate_lock
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from enum import Enum, auto
from functools import partial
from typing import IO, TYPE_CHECKING, ClassVar, NamedTuple, cast

from pinctl.errors import ExternalError
from pinctl.urls import redact

if TYPE_CHECKING:
    import subprocess

TIMEOUT = 120.0
"""Seconds that a program may take."""
LIMIT = 64 * 1024 * 1024
"""Bytes of standard output that a program may print."""
LARGEST_FILE = 4 * 1024**3
"""Bytes of a file that a program may write: a pack bomb ends there."""

_ERRORS_KEPT = 64 * 1024
_SHOWN_LINES = 10
_SHOWN_BYTES = 400  # a line
_GRACE = 2.0  # seconds between SIGTERM and SIGKILL
_PAUSE = 0.1  # seconds between looks at a silent program
_ALLOWED = ("HOME", "LOGNAME", "TMPDIR", "USER")
_LIMITS_LOCK = allocate_lock()  # threading itself takes a millisecond to import
_halted = False


class Result(NamedTuple):
    """A program that ended by itself. `code` is negative for a signal, as in subprocess."""

    argv: tuple[str, ...]
    code: int
    stdout: bytes
    stderr: bytes


class ToolMissing(ExternalError):
    """A program is not installed, or cannot be started."""

    code: ClassVar[str] = "PIN801"


class CommandFailed(ExternalError):
    """A program failed, took too long or printed too much; `result` is what there is of it, and the last `lines` that
    it printed are told."""

    code: ClassVar[str] = "PIN802"

    def __init__(self, what: str, result: Result, *, hint: str | None = None, lines: int = _SHOWN_LINES) -> None:
        import shlex

        shown = redact(shlex.join(result.argv))
        said = (("stderr", result.stderr), ("stdout", result.stdout))
        streams = "".join(_tail(name, data, lines) for name, data in said)
        super().__init__(f"`{shown}` {what}{streams}", hint=hint)
        self.result = result


def environment(allowed: Sequence[str] = _ALLOWED, **fixed: str) -> dict[str, str]:
    """The environment of a program: `fixed`, `allowed` variables of ours, the folders of PATH that are absolute (a
    relative one would find programs in a stranger's checkout), and one locale and time zone."""
    kept = {name: os.environ[name] for name in allowed if name in os.environ}
    folders = [folder for folder in os.environ.get("PATH", os.defpath).split(os.pathsep) if folder.startswith("/")]
    return {**kept, "PATH": os.pathsep.join(folders), "LC_ALL": "C.UTF-8", "TZ": "UTC", **fixed}


def halt(on: bool) -> None:
    """While `on`, every program that runs is ended, in whatever thread, and none is started: each `run` raises
    KeyboardInterrupt. ^C itself reaches the main thread alone, and programs have sessions of their own."""
    global _halted
    _halted = on


def halted() -> bool:
    """Whether what waits should give up: ^C came."""
    return _halted


def run(
    argv: Sequence[str],
    *,
    cwd: str | None = None,
    env: Mapping[str, str] | None = None,
    stdin: bytes = b"",
    timeout: float = TIMEOUT,
    limit: int = LIMIT,
    accept: Sequence[int] = (0,),
    shown: Sequence[str] | None = None,
    heard: Callable[[bytes], object] = lambda _: None,
    taken: Callable[[bytes], object] | None = None,
) -> Result:
    """Run `argv` to its end and return what it printed.

    `env` is the whole environment (default: `environment()`); `stdin` is fed to it; `timeout` is in seconds, `limit`
    in bytes of standard output; an exit code outside `accept` is a failure. `shown` stands for `argv` in messages,
    where its options would bury the command; `heard` gets what it says on standard error, as it says it; `taken`
    the standard output, of which then nothing is kept and no limit holds. Raises ToolMissing, CommandFailed,
    ExternalError, and what `heard` and `taken` raise, after the program was ended.
    """
    if _halted:
        raise KeyboardInterrupt
    process = _start(argv, cwd, environment() if env is None else env, bool(stdin))
    talk = _Talk(process, stdin, heard, taken)
    ended = _Ended.BROKEN_OFF
    try:
        ended = talk.until(time.monotonic() + timeout, limit)
    finally:
        if ended is not _Ended.ITSELF:
            _stop(process)
        _close(process)
    if ended is _Ended.BROKEN_OFF:
        raise KeyboardInterrupt
    result = Result(tuple(shown or argv), process.returncode, bytes(talk.output), bytes(talk.errors))
    if ended is _Ended.TIME:
        raise CommandFailed(f"took longer than {timeout:g} s", result)
    if ended is _Ended.SIZE:
        raise CommandFailed(f"printed more than {limit} bytes", result)
    if result.code not in accept:
        raise CommandFailed(_ending(result.code), result)
    return result


def _start(argv: Sequence[str], cwd: str | None, env: Mapping[str, str], feed: bool) -> "subprocess.Popen[bytes]":
    import subprocess

    try:
        with _limits():
            return subprocess.Popen(
                argv,
                cwd=cwd,
                env=env,
                start_new_session=True,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                stdin=subprocess.PIPE if feed else subprocess.DEVNULL,
                bufsize=0,
            )
    except OSError as error:
        if error.filename == cwd and cwd is not None:
            raise ExternalError(f"{cwd}: {error.strerror}") from error
        # A folder of PATH that may not be entered gives EACCES for a name that is nowhere (execve(2)).
        if isinstance(error, FileNotFoundError) or ("/" not in argv[0] and isinstance(error, PermissionError)):
            raise ToolMissing(f"{argv[0]} is not installed, or not on PATH", hint=f"install {argv[0]}") from error
        raise ToolMissing(f"{argv[0]} cannot be started: {error.strerror}") from error


@contextmanager
def _limits() -> Iterator[None]:
    """Soft limits that a child started within inherits: no core files (they hold secrets), no endless files.

    They are ours for that moment, rather than the child's own to set between fork and exec: that needs preexec_fn,
    which is slow and unsafe beside threads.
    """
    import resource

    wanted = ((resource.RLIMIT_CORE, 0), (resource.RLIMIT_FSIZE, LARGEST_FILE))
    with _LIMITS_LOCK:
        before = [(kind, resource.getrlimit(kind)) for kind, _ in wanted]
        for (kind, (soft, hard)), (_, most) in zip(before, wanted, strict=True):
            least = most if soft == resource.RLIM_INFINITY else min(soft, most)
            resource.setrlimit(kind, (least, hard))
        try:
            yield
        finally:
            for kind, pair in before:
                resource.setrlimit(kind, pair)


class _Ended(Enum):
    ITSELF = auto()
    BROKEN_OFF = auto()
    TIME = auto()
    SIZE = auto()


class _Talk:
    """What is said between us and a running program."""

    def __init__(
        self, process: "subprocess.Popen[bytes]", stdin: bytes, heard: Callable[[bytes], object],
        taken: Callable[[bytes], object] | None = None,
    ) -> None:  # fmt: skip
        self.process = process
        self.heard = heard
        self.left = memoryview(stdin)
        self.output, self.errors = bytearray(), bytearray()
        self.take = taken or self.output.extend

    def until(self, deadline: float, limit: int) -> _Ended:
        """Feed and drain the program until it has ended, or `deadline` (monotonic), or `limit` bytes of output."""
        import selectors

        with selectors.DefaultSelector() as selector:
            if self.process.stdin is not None:
                os.set_blocking(self.process.stdin.fileno(), False)
                selector.register(self.process.stdin, selectors.EVENT_WRITE, self._feed)
            streams = ((self.process.stdout, self.take), (self.process.stderr, self._listen))
            for stream, take in streams:
                assert stream is not None  # noqa: S101
                selector.register(stream, selectors.EVENT_READ, partial(_drain, take))
            while selector.get_map():
                ready = selector.select(_PAUSE)
                if _halted:
                    return _Ended.BROKEN_OFF
                if time.monotonic() > deadline:
                    return _Ended.TIME
                if not ready and self.process.poll() is not None:
                    return _Ended.ITSELF  # a daemon that it left behind holds the streams open
                for key, _ in ready:
                    if not key.data(key.fd):
                        selector.unregister(key.fileobj)
                        cast(IO[bytes], key.fileobj).close()
                del self.errors[:-_ERRORS_KEPT]
                if len(self.output) > limit:
                    return _Ended.SIZE
        return self._wait(deadline)

    def _feed(self, descriptor: int) -> bool:
        """Write what the pipe takes; whether more is to come."""
        try:
            self.left = self.left[os.write(descriptor, self.left[:65536]) :]
        except BrokenPipeError:
            return False
        return bool(self.left)

    def _listen(self, piece: bytes) -> None:
        self.errors += piece
        self.heard(piece)

    def _wait(self, deadline: float) -> _Ended:
        """Wait for a program that has closed its streams."""
        while self.process.poll() is None:
            if time.monotonic() > deadline:
                return _Ended.TIME
            time.sleep(0.001)
        return _Ended.ITSELF


def _drain(take: Callable[[bytes], object], descriptor: int) -> bool:
    """Read what there is; whether more is to come."""
    piece = os.read(descriptor, 65536)
    take(piece)
    return bool(piece)


def _stop(process: "subprocess.Popen[bytes]") -> None:
    """End a program and its whole session, politely first: git removes its lock files."""
    _signal(process.pid, signal.SIGTERM)
    end = time.monotonic() + _GRACE
    try:
        while process.poll() is None and time.monotonic() < end:
            time.sleep(0.01)
    finally:  # a second ^C is less polite
        _signal(process.pid, signal.SIGKILL)
        process.wait()


def _close(process: "subprocess.Popen[bytes]") -> None:
    for stream in (process.stdin, process.stdout, process.stderr):
        if stream is not None:
            stream.close()


def _signal(group: int, number: int) -> None:
    with suppress(ProcessLookupError, PermissionError):  # macOS says EPERM where only zombies are left
        os.killpg(group, number)


def _ending(code: int) -> str:
    if code >= 0:
        return f"failed with exit code {code}"
    try:
        name = signal.Signals(-code).name
    except ValueError:
        name = f"signal {-code}"
    return f"was ended by {name}"


def _tail(name: str, data: bytes, most: int) -> str:
    """The last lines of a stream as they follow in a message; no control characters, no credentials."""
    text = redact(data[-most * _SHOWN_BYTES :].decode("utf-8", "replace"))
    lines = ["".join(c for c in line if c.isprintable()) for line in text.splitlines()]
    return "".join(f"\n  {name}: {line}" for line in [line for line in lines if line.strip()][-most:])
