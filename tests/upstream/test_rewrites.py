from __future__ import annotations

import pytest

from pinctl.upstream.rewrites import Rule, advice

RULES = [Rule("https://x:secret@mirror.example/", "https://github.com/o/"), Rule("/srv/git/", "https://git.example/")]


@pytest.mark.parametrize(
    ("url", "told"),
    [
        (
            "https://github.com/o/up",
            "git asks https://***@mirror.example/up in its place, by the rule insteadOf https://github.com/o/",
        ),
        ("https://git.example/a/b", "git asks /srv/git/a/b in its place, by the rule insteadOf https://git.example/"),
        ("git@github.com:o/up.git", "passes over this spelling; write the URL as it begins there"),
        ("https://github.com/O/up", "git's rule insteadOf https://github.com/o/ passes over"),
        ("ssh://git@git.example/a/b", "git's rule insteadOf https://git.example/ passes over"),
        ("https://github.com/other/up", None),
        ("https://github.com/o2/up", None),
    ],
)
def test_h16_what_a_rule_does_with_a_url(url: str, told: str | None) -> None:
    found = advice(url, RULES)
    assert (told is None and found is None) or (told is not None and found is not None and told in found)
    assert "secret" not in str(found)


def test_without_rules_there_is_nothing_to_say() -> None:
    assert advice("https://github.com/o/up", []) is None
    assert advice("https://github.com/o/up", [Rule("x", "")]) is None
