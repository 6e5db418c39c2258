"""Which of git's rewrites of URLs a repository's URL falls under: for advice where its server cannot be reached.

git compares the text of a URL with the rule's prefix, letter case and transport included, so that a rule for
`https://github.com/org/` passes over `git@github.com:org/x` and `https://github.com/Org/x`.
"""

from collections.abc import Sequence
from typing import NamedTuple

from pinctl.urls import identity, redact


class Rule(NamedTuple):
    """`url.BASE.insteadOf = PREFIX`: what begins with `prefix` is asked of `base`."""

    base: str
    prefix: str


def advice(url: str, rules: Sequence[Rule]) -> str | None:
    """What the rules do with `url`: which one applies, or which one would for another spelling of the same repository.
    None where neither is so. Credentials are not shown."""
    fitting = [rule for rule in rules if rule.prefix and url.startswith(rule.prefix)]
    if fitting:
        rule = max(fitting, key=lambda rule: len(rule.prefix))
        return (
            f"git asks {redact(rule.base + url[len(rule.prefix) :])} in its place, by the rule insteadOf {rule.prefix}"
        )
    own = _place(url)
    near = [
        rule for rule in rules if rule.prefix and "/" in _place(rule.prefix) and own.startswith(_place(rule.prefix))
    ]
    if not near:
        return None
    prefix = max(near, key=lambda rule: len(rule.prefix)).prefix
    return f"git's rule insteadOf {redact(prefix)} passes over this spelling; write the URL as it begins there"


def _place(url: str) -> str:
    """Host and path in small letters, with the slash at the end that a rule's prefix has."""
    return identity(url).casefold().rstrip("/") + ("/" if url.endswith(("/", ":")) else "")
