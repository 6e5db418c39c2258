"""`#if` and its kin, as far as they can be judged without a compiler: true, false, or not known.

The compiler is taken to be gcc or nvcc on Linux, building for the host: what stands under `_WIN32` is not read, what
stands under `__linux__` is. Every other macro is not known, unless its value does not matter.
"""

import re
from dataclasses import dataclass, field
from functools import lru_cache

Truth = bool | None

_FALSE = frozenset(
    "_WIN32 _WIN64 WIN32 _MSC_VER _MSVC_LANG __MINGW32__ __MINGW64__ __CYGWIN__ __APPLE__ __MACH__ __ANDROID__"
    " __FreeBSD__ __NetBSD__ __OpenBSD__ __DragonFly__ __sun __HAIKU__ __QNX__ __EMSCRIPTEN__ __wasm__ __wasi__"
    " _AIX __hpux __HP_aCC __BORLANDC__ __Fuchsia__ _WRS_KERNEL __VXWORKS__ __CYGWIN32__ TARGET_OS_MAC"
    " __INTEL_COMPILER __NVCOMPILER __IBMCPP__ __HIPCC_RTC__ __CUDACC_RTC__ __HIP_PLATFORM_AMD__"
    " __HIP_PLATFORM_HCC__ __HIPCC__ __HIP__ USE_ROCM USE_HIP __SYCL_DEVICE_ONLY__ SYCL_LANGUAGE_VERSION".split()
)
_TRUE = frozenset("__linux__ __linux linux __unix__ __unix unix __GNUC__ __cplusplus __CUDACC__ __NVCC__".split())

_TOKEN = re.compile(r"\s*(?:(defined)\b|([A-Za-z_]\w*)|(\d[\w.']*)|(&&|\|\||[<>=!]=|<<|>>|.))", re.DOTALL)
_DEEPEST = 50
_MOST_FRAMES = 64
_FEATURE = re.compile(r"(?i)has_include")  # FMT_HAS_INCLUDE and the like stand for it


def defined(name: str) -> Truth:
    """Whether a macro is defined; None where that is not known."""
    return False if name in _FALSE else True if name in _TRUE else None


@lru_cache(4096)
def judge(text: str) -> Truth:
    """Whether the condition `text` of an `#if` holds. An expression that is not understood is not known."""
    tokens = [match for match in _TOKEN.finditer(text) if match[0].strip()]
    try:
        reader = _Expression(tokens)
        truth = reader.any_of(0)
    except IndexError:
        return None
    return truth if reader.at == len(tokens) else None


class _Expression:
    """Reads `||`, `&&`, `!`, parentheses, `defined`; comparisons and arithmetic are skipped, and not known."""

    def __init__(self, tokens: list["re.Match[str]"]) -> None:
        self.tokens, self.at = tokens, 0

    def _peek(self) -> str:
        return self.tokens[self.at][0].strip() if self.at < len(self.tokens) else ""

    def any_of(self, depth: int) -> Truth:
        if depth > _DEEPEST:
            raise IndexError
        truth = self._all_of(depth)
        while self._peek() == "||":
            self.at += 1
            truth = _either(truth, self._all_of(depth))
        return truth

    def _all_of(self, depth: int) -> Truth:
        truth = self._one(depth)
        while self._peek() == "&&":
            self.at += 1
            truth = _both(truth, self._one(depth))
        return truth

    def _one(self, depth: int) -> Truth:
        truth = self._operand(depth)
        if self._peek() in ("", ")", "&&", "||"):
            return truth
        while self._peek() not in ("", ")", "&&", "||"):  # a comparison, or arithmetic
            self._operand(depth)
        return None

    def _operand(self, depth: int) -> Truth:
        match = self.tokens[self.at]
        self.at += 1
        if match[4] == "!":
            truth = self._operand(depth + 1) if depth < _DEEPEST else None
            return None if truth is None else not truth
        if match[4] == "(":
            truth = self.any_of(depth + 1)
            self.at += 1
            return truth
        if match[1]:
            return self._defined()
        if match[2]:
            return self._macro(match[2])
        return _number(match[3]) if match[3] else None

    def _defined(self) -> Truth:
        bracket = self._peek() == "("
        self.at += bracket
        name = self._peek()
        self.at += 1 + bracket
        return defined(name)

    def _macro(self, name: str) -> Truth:
        """A macro's value; one that is not defined is 0. What a macro with arguments gives is not known."""
        if self._peek() != "(":
            return False if name in _FALSE else None if defined(name) is None else True
        depth = 0
        while True:
            depth += {"(": 1, ")": -1}.get(self._peek(), 0)
            self.at += 1
            if depth == 0:
                return None
            if self.at >= len(self.tokens):
                raise IndexError


def _number(text: str) -> Truth:
    return bool(int(text)) if text.isdecimal() and len(text) < 20 else None


def _both(a: Truth, b: Truth) -> Truth:
    if a is False or b is False:
        return False
    return None if a is None or b is None else True


def _either(a: Truth, b: Truth) -> Truth:
    if a is True or b is True:
        return True
    return None if a is None or b is None else False


@dataclass(slots=True)
class _Frame:
    """One `#if` … `#endif`: the branch that is open, whether an earlier one was taken, and what it asks."""

    truth: Truth
    taken: Truth
    text: str
    guarded: bool
    fresh: str | None = None  # the macro of an `#ifndef` whose `#define` may follow: an include guard


@dataclass(slots=True)
class Conditions:
    """The conditions under which a line stands, fed with the directives in their order."""

    frames: list[_Frame] = field(default_factory=list)
    deeper: int = 0
    """Blocks that are open beyond the depth that is followed."""
    features: set[str] = field(default_factory=set)
    """Macros that were set by what `__has_include` found."""

    def directive(self, word: str, rest: str) -> None:
        """Take in `#word rest`, a directive other than an include."""
        opens = word in ("if", "ifdef", "ifndef")
        if self.deeper or (opens and len(self.frames) == _MOST_FRAMES):
            self.deeper += opens - (word == "endif")
        elif opens:
            truth = _opening(word, rest)
            self.frames.append(_Frame(truth, truth, _told(word, rest), self._asks(rest), _guard(word, rest)))
        elif word == "define":
            self._define(rest)
        elif self.frames and word == "endif":
            self.frames.pop()
        elif self.frames:
            self._turn(self.frames[-1], word, rest)

    def _turn(self, frame: _Frame, word: str, rest: str) -> None:
        """`#elif`, `#else`: open where it holds and no branch before was taken."""
        own = True if word == "else" else _opening(word.removeprefix("el"), rest)
        before = frame.taken
        frame.truth = _both(None if before is None else not before, own)
        frame.taken = _either(before, own)
        frame.text = f"else of {frame.text}" if word == "else" else _told(word, rest)
        frame.guarded = frame.guarded or self._asks(rest)
        frame.fresh = None

    def _define(self, rest: str) -> None:
        name = re.match(r"\w*", rest.strip())
        if name and self.frames and self.frames[-1].fresh == name[0]:
            # An include guard holds what it encloses in every build.
            self.frames[-1] = _Frame(True, True, "", self.frames[-1].guarded)
        elif name and self.guarded:
            self.features.add(name[0])

    def _asks(self, text: str) -> bool:
        words = re.findall(r"[A-Za-z_]\w*", text)
        return any(_FEATURE.search(word) or word in self.features for word in words)

    @property
    def dead(self) -> bool:
        """Whether the line is compiled out on Linux."""
        return any(frame.truth is False for frame in self.frames)

    @property
    def guarded(self) -> bool:
        """Whether the line stands under a `__has_include`, or under a macro that one has set."""
        return any(frame.guarded for frame in self.frames)

    @property
    def open(self) -> str | None:
        """The innermost condition that may hold or not; None where the line is compiled in every build."""
        return next((frame.text for frame in reversed(self.frames) if frame.truth is None), None)


def _opening(word: str, rest: str) -> Truth:
    if word == "if":
        return judge(rest)
    truth = defined(rest.strip())
    return truth if word == "ifdef" or truth is None else not truth


def _told(word: str, rest: str) -> str:
    return f"#{word} {' '.join(rest.split())}"[:80]


_UNDEFINED = re.compile(r"\s*!\s*defined\s*\(?\s*(\w+)\s*\)?\s*")


def _guard(word: str, rest: str) -> str | None:
    if word == "ifndef":
        return rest.strip()
    match = _UNDEFINED.fullmatch(rest) if word == "if" else None
    return match[1] if match else None
