"""Credentials, told by their shape and by their name. No value is ever repeated in a message."""

import re
from itertools import pairwise

from pinctl.urls import check_url, redact

_WORDS = re.compile(r"[A-Z]?[a-z0-9]+|[A-Z0-9]+")
_SECRET = ("token", "password", "passwd", "secret", "secrets", "credential", "credentials", "apikey")
_KINDS_OF_KEY = ("api", "access", "private", "secret", "auth")


def is_secret(text: str) -> bool:
    """Whether `text` holds userinfo, a token or the like. A user name in an ssh URL is none."""
    return redact(text) != text and check_url(text) is not None


def is_secret_name(name: str) -> bool:
    """Whether `name` is one that credentials have: HF_TOKEN, apiKey; not TOKENIZERS_VERSION or MAX_TOKENS."""
    words = [word.lower() for word in _WORDS.findall(name)]
    keys = any(a in _KINDS_OF_KEY and b == "key" for a, b in pairwise(words))
    return keys or any(word.endswith(_SECRET) for word in words)
