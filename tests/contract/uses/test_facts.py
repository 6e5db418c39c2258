from __future__ import annotations

import pytest

from pinctl.contract.uses.facts import Facts, decode, encode
from pinctl.contract.uses.reader import LARGEST, Source

SOURCE = b"""
import pkg, functools
kw = {"a": 1}
class C(pkg.B):
    f = functools.partial(pkg.c, 1, **kw)
    def g(self, *a, x=pkg.d, **k):
        try:
            return pkg.e(*a, y=x or 1, **k)
        except TypeError:
            return getattr(pkg, "f", None) or pkg.g
from other import *
"""


def test_facts_come_back_from_their_bytes() -> None:
    facts = Source(SOURCE).facts({"pkg"})
    assert facts.events
    assert facts.given
    assert facts.choices
    assert facts.stars == ("other",)
    assert decode(encode(facts)) == facts


def test_facts_of_a_file_that_could_not_be_read() -> None:
    facts = Source(b"import pkg\n(").facts({"pkg"})
    assert facts.failure
    assert decode(encode(facts)) == facts


def test_what_does_not_lead_to_the_words_leaves_no_events() -> None:
    assert Source(b"import pkg\nimport torch\ntorch.empty(1)\n").facts({"pkg"}).events[1:] == ()


def test_bytes_that_are_no_facts() -> None:
    with pytest.raises(ValueError, match=r"."):
        decode(b"{")


def test_a_file_at_the_limit_is_read() -> None:
    source = b"import pkg\n"
    assert Source(source + b"#" * (LARGEST - len(source))).facts({"pkg"}).failure == ""
    assert Source(source + b"#" * (LARGEST - len(source) + 1)).facts({"pkg"}).failure


def test_line_ends_of_all_kinds_count() -> None:
    facts = Source(b"\xef\xbb\xbfimport pkg\r\npkg.a\rpkg.b\n").facts({"pkg"})
    assert [(event.kind, event.line) for event in facts.events] == [("import", 1), ("read", 2), ("read", 3)]


def test_the_empty_facts() -> None:
    assert decode(encode(Facts())) == Facts()
