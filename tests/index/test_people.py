from __future__ import annotations

import hashlib
import re
from base64 import b64encode
from html.parser import HTMLParser

from index.support import record
from pinctl.index.layout import Layout, Variants
from pinctl.index.people import page
from pinctl.index.records import Record
from pinctl.model import Variant

X86, ARM = "cp310-abi3-manylinux_2_28_x86_64", "cp310-abi3-manylinux_2_28_aarch64"


def text(records: list[Record], layout: Layout | None = None, known: Variants | None = None) -> str:
    return page(records, layout or Layout(url="https://whl.example/w/"), known or Variants()).decode()


def visible(html: str) -> str:
    """What a person reads, in one line."""
    body = html[html.index("<body") : html.index("<script")]
    return " ".join(re.sub(r"<[^>]*>", " ", body).split())


def one(version: str, tag: str = X86, variant: str = "cu129", **said: object) -> Record:
    return record(f"tinyk-{version}+{variant}-{tag}.whl", variant=variant, **said)


def test_what_there_is_and_how_to_install_it() -> None:
    known = Variants({"cu129": Variant("cu129", cuda="12.9", torch="2.13.0")})
    seen = text([one("1.0"), one("1.1"), one("1.1", ARM, requires_python=">=3.10")], known=known)
    said = visible(seen)
    assert "3 files of 1 package in 1 variant." in said
    assert "pip install --extra-index-url https://whl.example/w/release/cu129/ tinyk==1.1+cu129" in said
    assert "uv pip install --index https://whl.example/w/release/cu129/ tinyk==1.1+cu129" in said
    assert "CUDA 12.9, torch 2.13.0" in said
    assert "1.1 3.10+: aarch64, x86_64 1.0 3.10+: x86_64" in said
    assert 'href="release/cu129/tinyk/"' in seen


def test_a_hole_is_said_in_words() -> None:
    said = visible(text([one("1.0"), one("1.0", ARM), one("1.0", variant="cu130"), one("0.9", ARM, variant="cu130")]))
    assert "missing: Python 3.10+ aarch64" in said


def test_a_yanked_file_is_told_with_its_reason_and_never_offered() -> None:
    said = visible(text([one("1.0"), one("1.1", yanked="wrong nvcc")]))
    assert "3.10+: x86_64 yanked: wrong nvcc" in said
    assert "tinyk==1.0+cu129" in said
    assert "tinyk==1.1" not in said
    assert "pip install" not in visible(text([one("1.1", yanked="")]))


def test_a_prerelease_is_offered_only_where_there_is_nothing_else() -> None:
    assert "tinyk==1.0+cu129" in visible(text([one("1.0"), one("1.1rc1")]))
    assert "tinyk==1.1rc1+cu129" in visible(text([one("1.0rc1"), one("1.1rc1")]))


def test_nothing_tells_an_unlabelled_wheel_from_pypis() -> None:
    plain = record("tinyk-1.0-py3-none-any.whl")
    assert "pip install --no-deps --index-url https://whl.example/w/release/cu129/ tinyk==1.0" in visible(text([plain]))


def test_without_an_address_index_stands_for_it() -> None:
    said = visible(text([one("1.0")], Layout()))
    assert "INDEX stands for the address of this page" in said
    assert "--extra-index-url INDEX/release/cu129/ tinyk" in said
    assert "INDEX stands" not in visible(text([one("1.0")]))


def test_older_versions_are_folded_away_and_channels_are_in_order() -> None:
    nightly = [record(f"tinyk-2.{n}+cu129-{X86}.whl", channel="nightly") for n in range(7)]
    seen = text([*nightly, one("1.0")], Layout(url="https://h.example", retention={"nightly": 30}))
    assert "<summary>2 older versions of tinyk</summary>" in seen
    assert seen.index('id="channel-release"') < seen.index('id="channel-nightly"')
    assert "Files of this channel are kept for 30 days." in seen
    listed = text([*nightly, one("1.0")], Layout(channels=("nightly", "release")))
    assert listed.index('id="channel-release"') > listed.index('id="channel-nightly"')


def test_another_label_than_the_variants_is_shown() -> None:
    assert "+g0a1b2c3 3.10+: x86_64" in visible(text([record(f"tinyk-1.0+g0a1b2c3-{X86}.whl")]))


def test_hostile_texts_stay_texts() -> None:
    evil = '"><script>alert(1)</script><img src=x onerror=y>'
    seen = text([one("1.0", yanked=evil), one("1.1", requires_python=evil)])
    assert "<script>alert" not in seen
    assert "<img" not in seen
    assert "&lt;script&gt;alert(1)" in seen


class Structure(HTMLParser):
    """The ids and the targets of a page, and what is nested wrongly."""

    VOID = ("meta", "br", "wbr", "link", "img", "input")

    def __init__(self, html: str) -> None:
        super().__init__()
        self.ids: list[str] = []
        self.targets: list[str] = []
        self.open: list[str] = []
        self.loads: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        said = dict(attrs)
        self.ids += [said["id"] or ""] if "id" in said else []
        self.targets += [said["href"] or ""] if tag == "a" else []
        self.loads += [name for name in ("src", "srcset", "action", "style", "onclick") if name in said]
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_the_page_is_well_formed_and_its_links_lead_somewhere() -> None:
    found = [one(f"1.{n}") for n in range(8)] + [one("1.0", variant="cu130"), record("other-1-py3-none-any.whl")]
    seen = text(found)
    structure = Structure(seen)
    assert structure.open == []
    assert len(structure.ids) == len(set(structure.ids))
    inner = [target[1:] for target in structure.targets if target.startswith("#")]
    assert inner
    assert set(inner) <= set(structure.ids)
    assert structure.loads == []


def test_the_policy_names_the_very_style_and_script_and_nothing_is_loaded() -> None:
    seen = text([one("1.0")])
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', seen)
    assert policy
    said = policy[1].replace("&#39;", "'")
    assert said.startswith("default-src 'none'; ")
    for tag in ("style", "script"):
        body = re.search(rf"<{tag}>(.*?)</{tag}>", seen, re.DOTALL)
        assert body
        assert f"{tag}-src 'sha256-{b64encode(hashlib.sha256(body[1].encode()).digest()).decode()}'" in said
    assert not re.search(r"url\(|@import|https?://(?!whl\.example|packaging\.python\.org)", seen)


def test_the_same_records_give_the_same_bytes() -> None:
    found = [one("1.0"), one("1.1"), one("1.0", variant="cu130")]
    assert text(found) == text(found[::-1])
