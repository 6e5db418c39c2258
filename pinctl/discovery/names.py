"""What a variable's name says of the dependency it pins: `_DEEPGEMM_UPSTREAM_TAG` is about deepgemm."""

import re
from functools import cache
from itertools import pairwise

_REF_WORDS = frozenset("branch checkout commit committish hash id pin pinned ref revision rev sha sha1 tag".split())
_REPO_WORDS = frozenset("git origin repo repository uri url urls".split())
_VERSION_WORDS = frozenset("release semver ver version versions".split())
_IMAGE_WORDS = frozenset("container image img".split())
_DIGEST_WORDS = frozenset("checksum digest hash integrity sha256 sha256sum".split())
_FILLER = frozenset(
    "arg build default deps external from full git name required source src supported target upstream".split()
)
_KIND_WORDS = _REF_WORDS | _REPO_WORDS | _VERSION_WORDS | _FILLER | _IMAGE_WORDS | _DIGEST_WORDS
_NO_PINS = frozenset(
    "api deployment fallback format major max maximum min minimum minor opset patch pretend protocol required schema "
    "since".split()
)
"""Words of variables whose version is a bound, a part of one, or no dependency's."""

GENERIC = frozenset(
    "a app archive base build builder cache ci cxx default dev docker env file final install lang main os package pip "
    "pkg project runtime test the this wheel".split()
)
"""Stems that name no dependency of their own: equal ones in two files say nothing."""

_ACCELERATORS = frozenset(
    "amd arm ascend cpu gaudi hip hpu metal mlu musa neuron npu nvidia ppc64le rocm s390x tpu xpu".split()
)
_HARDWARE = re.compile(r"cu1[0-9]{1,2}|gfx[0-9a-f]{3,4}|rocm[0-9]+|sm[0-9]{2,3}a?|g?[bh][1-3]00")

_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")
_PATH = re.compile(r"/.+|[^\s:()]+\.[^\s:()]+")
"""A selector that is a way through keys, as in JSON and YAML."""
_SELECTOR_WORDS = frozenset("args arg call default env fetchcontent label set source target variable list".split())


def identifier(selector: str) -> str:
    """The variable's own name in a selector: `/variable/X_REF/default`, `set(X_REF)`, `stage:ARG X_REF` -> `X_REF`."""
    names: list[str] = _IDENTIFIER.findall(selector)
    telling = [n for n in names if n.lower() not in _SELECTOR_WORDS]
    upper = [n for n in telling if n.isupper() and len(n) > 2]
    return (upper or telling or names or [""])[-1]


def subject(selector: str) -> str:
    """`stem` of the variable in a selector; where that says the kind of value alone, of the key around it:
    `/build_dependencies/nvidia-cutlass-dsl/version` -> cutlassdsl."""
    own = stem(identifier(selector))
    if own or not _PATH.fullmatch(selector):
        return own
    around = re.split(r"[/.]", selector)[-2]
    return stem(around) if _IDENTIFIER.fullmatch(around) and around.lower() not in _SELECTOR_WORDS else ""


@cache
def words(name: str) -> tuple[str, ...]:
    """`DeepEPCommit_HASH` -> deepepcommit, hash: runs of letters and digits, in lower case."""
    return tuple(w.lower() for w in re.split(r"[^A-Za-z0-9]+", name) if w)


def stem(name: str) -> str:
    """The words of a variable's name that name the dependency, joined; "" where none does.

    Words for the kind of value, and for the accelerator that it is for, are left out: TORCH_SUPPORTED_VERSION_CUDA is
    about torch. An accelerator right before the word for the kind is what has that version: CUDA_VERSION,
    GDRCOPY_CUDA_VERSION.
    """
    parts = words(name)
    own = {word for word, behind in pairwise(parts) if behind in _VERSION_WORDS}
    telling = [w for w in parts if w not in _KIND_WORDS]
    named = [w for w in telling if w in own or not (w == "cuda" or is_accelerator(w))] or telling
    text = "".join(named)
    return "" if text in GENERIC else text


def squash(name: str) -> str:
    """A name as `stem` spells it: lower case without separators (`Flash-Attention` -> flashattention)."""
    return "".join(words(name))


def is_ref(name: str) -> bool:
    return _has(name, _REF_WORDS)


def is_repo(name: str) -> bool:
    return _has(name, _REPO_WORDS)


def is_version(name: str) -> bool:
    return _has(name, _VERSION_WORDS) and not _has(name, _NO_PINS)


def is_image(name: str) -> bool:
    return _has(name, _IMAGE_WORDS)


def is_digest(name: str) -> bool:
    return _has(name, _DIGEST_WORDS)


def _has(name: str, some: frozenset[str]) -> bool:
    return not some.isdisjoint(words(name))


def is_accelerator(word: str) -> bool:
    """Whether the word tells a build for one kind of hardware from another: rocm, cu13, gfx1250."""
    return word in _ACCELERATORS or _HARDWARE.fullmatch(word) is not None


@cache
def accelerators(text: str) -> tuple[str, ...]:
    """The accelerators that a path or a selector names, the general one first: `Dockerfile.rocm_gfx1250` -> rocm,
    gfx1250."""
    found = [w for w in words(text) if is_accelerator(w)]
    return tuple(dict.fromkeys([*(w for w in found if w in _ACCELERATORS), *found]))
