"""Digests of files, as text: in hex, and as Subresource Integrity spells them (W3C SRI, section 3.1)."""

import re
from binascii import Error

_HEX = re.compile(r"(?:[0-9a-f]{2})+", re.I)
_SRI = re.compile(r"(?P<algorithm>sha(?:256|384|512))-(?P<base64>[A-Za-z0-9+/]+={0,2})")
_SIZES = {32: "md5", 40: "sha1", 64: "sha256", 96: "sha384", 128: "sha512"}
"""Digits in hex, and the algorithm that gives so many."""


def algorithm(digest: str) -> str | None:
    """The algorithm that a hex digest is of, by its length; None where `digest` is no such one."""
    return _SIZES.get(len(digest)) if _HEX.fullmatch(digest) else None


def sri(digest: str) -> str:
    """A hex digest as `sha256-` and base64. Raises ValueError for what is none of sha256, sha384 and sha512."""
    from base64 import b64encode

    name = algorithm(digest)
    if name is None or not _SRI.match(f"{name}-A"):
        raise ValueError(f"{digest!r} is no hex digest of sha256, sha384 or sha512")
    return f"{name}-{b64encode(bytes.fromhex(digest)).decode()}"


def from_sri(text: str) -> str | None:
    """The hex digest that `text` spells as `sha256-` and base64; None where it is anything else."""
    from base64 import b64decode

    match = _SRI.fullmatch(text)
    try:
        digest = b64decode(match["base64"], validate=True).hex() if match else ""
    except Error:
        return None
    return digest if match and algorithm(digest) == match["algorithm"] else None
