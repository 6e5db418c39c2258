from __future__ import annotations

import pytest

from index.support import ROOT, anchor, page, sha
from pinctl.index import judge, reading
from pinctl.index.judge import Fault, Seen
from pinctl.index.layout import Variants
from pinctl.index.reading import Page
from pinctl.model import Variant
from pinctl.upstream.simple import JSON

WHEEL = "tinyk-1.0+cu129-cp310-abi3-manylinux_2_28_x86_64.whl"
NONE = Variants()
BARE = "has a bare `+` in its link, which object stores read as a space"
META = {"data_core_metadata": "sha256=ab", "data_dist_info_metadata": "sha256=ab"}


def told(
    *found: Page, known: Variants = NONE, seen: dict[str, Seen] | None = None, without: str = "PIN714"
) -> list[tuple[str, str, str]]:
    """Code, page and what of the faults, but for the code `without`."""
    faults = judge.pages(found, known, seen or {})
    return [(fault.code, fault.page, fault.what) for fault in faults if fault.code != without]


def test_a_page_as_it_should_be() -> None:
    assert told(page(anchor(WHEEL, **META)), without="") == []


def test_several_digests_for_one_file() -> None:
    twins = page("\n".join(anchor(WHEEL, digest) for digest in ("ab" * 32, "cd" * 32, "ab" * 32)))
    (fault,) = [fault for fault in judge.pages([twins], NONE) if fault.code == "PIN702"]
    assert fault == Fault(
        "PIN702", "cu129/tinyk", WHEEL, "has 2 digests (abababababab, cdcdcdcdcdcd)",
        "pinctl index verify --fetch says which one the URL gives", 3,
    )  # fmt: skip
    url = twins.links[0].url
    seen = judge.pages([twins], NONE, {url: Seen(True, "cd" * 32)})
    (fault,) = [fault for fault in seen if fault.code == "PIN702"]
    assert fault.what.endswith("; its URL gives cdcdcdcdcdcd")
    assert fault.fix == f"leave the one of {'cd' * 32}"
    assert [f.code for f in seen if f.code == "PIN711"] == ["PIN711"] * 2


def test_a_duplicate() -> None:
    assert told(page(anchor(WHEEL) * 3)) == [("PIN705", "cu129/tinyk", "stands 3 times on its page")]


def test_a_foreign_label() -> None:
    stray = anchor("tinyk-1.0+cu128-py3-none-any.whl")
    nobody = anchor("tinyk-1.0+g0a1b2c3-py3-none-any.whl") + anchor("tinyk-1.0+20260701-py3-none-any.whl")
    other = page(anchor("tinyk-0.9+cu128-py3-none-any.whl"), "cu128/tinyk")
    what = "has the label cu128 of cu128, and stands on the page of cu129"
    assert told(page(stray + nobody), other) == [("PIN703", "cu129/tinyk", what)]
    assert told(page(stray + nobody)) == []  # no variant is known by that name
    declared = Variants({"old": Variant("old", label="cu128")})
    assert told(page(stray), known=declared)[0][2] == "has the label cu128 of old, and stands on the page of cu129"
    assert told(page(anchor("tinyk-1.0+cu128-py3-none-any.whl", data_yanked="misfiled")), other) == []


@pytest.mark.parametrize(
    ("link", "code", "what"),
    [
        (anchor(WHEEL, None), "PIN704", "has no digest"),
        (anchor(WHEEL).replace("sha256=", "md5="), "PIN704", "has no digest of sha256, and one of another algorithm"),
        (anchor(WHEEL, "AB" * 32), "PIN704", f"has a sha256 that is none: '{'AB' * 32}'"),
        (anchor(WHEEL).replace("%2B", "+"), "PIN706", BARE),
        (anchor(WHEEL).replace(f">{WHEEL}", ">here"), "PIN709", "is shown as 'here'"),
        (anchor("other-1.0-py3-none-any.whl"), "PIN709", "is of other, and stands on the page of tinyk"),
        (anchor("TinyK-1.0-py3-none-any.whl"), "PIN709", "is not normalized: it should be tinyk-1.0-py3-none-any.whl"),
        (anchor("tinyk-latest.whl"), "PIN709", "is no name of a wheel or a source distribution"),
        (anchor(WHEEL, data_core_metadata="sha256=ab"), "PIN708",
         "has data-core-metadata and data-dist-info-metadata that are not alike"),
        (anchor(WHEEL, data_core_metadata="true", data_dist_info_metadata="true"), "PIN708",
         "has metadata without a digest"),
    ],
)  # fmt: skip
def test_what_a_link_can_have_wrong(link: str, code: str, what: str) -> None:
    assert told(page(link)) == [(code, "cu129/tinyk", what)]


def test_no_metadata() -> None:
    assert told(page(anchor(WHEEL) + anchor("tinyk-2-py3-none-any.whl", data_requires_python=">=3.8")), without="") == [
        ("PIN714", "cu129/tinyk", "has no metadata beside it and no requires-python"),
        ("PIN714", "cu129/tinyk", "has no metadata beside it"),
    ]
    assert told(page(anchor("tinyk-1.0.tar.gz")), without="") == []


def test_h13_a_digest_on_some_files_alone() -> None:
    x86, arm = "tinyk-1.0-cp312-cp312-manylinux_2_28_x86_64.whl", "tinyk-1.0-cp312-cp312-manylinux_2_28_aarch64.whl"
    faults = judge.pages([page(anchor(x86) + anchor(arm, None))], NONE)
    assert [(fault.code, fault.filename) for fault in faults if fault.code == "PIN704"] == [("PIN704", arm)]


@pytest.mark.parametrize(
    ("seen", "code", "what"),
    [
        (Seen(False), "PIN707", "is not there: its link is dead"),
        (Seen(True, "cd" * 32), "PIN711", f"has the digest {sha(WHEEL)[:12]}, and its URL gives cdcdcdcdcdcd"),
        (Seen(True, sidecar=""), "PIN708", "has no file at .metadata, which its page promises: clients fail"),
        (Seen(True, sidecar="cd"), "PIN708", "has a .metadata of the digest cd; its page says ab"),
        (Seen(True, sidecar="ab", inner="cd"), "PIN708", "has another METADATA inside than its page says"),
        (Seen(barred="it is inside"), "PIN713", "has a link that is not followed: it is inside"),
    ],
)
def test_what_asking_for_a_file_shows(seen: Seen, code: str, what: str) -> None:
    one = page(anchor(WHEEL, **META))
    assert told(one, seen={one.links[0].url: seen}) == [(code, "cu129/tinyk", what)]
    assert told(one, seen={one.links[0].url: Seen(True, sha(WHEEL), 3, "ab", "ab")}) == []


def test_a_size_that_is_not_so() -> None:
    body = f'{{"meta": {{}}, "files": [{{"filename": "{WHEEL}", "url": "x/{WHEEL}", "size": 7}}]}}'.replace("+", "%2B")
    one = reading.read(body.encode(), JSON, "cu129/tinyk", ROOT)
    assert ("PIN711", "cu129/tinyk", "is said to have 7 bytes, and its URL gives 8") in told(
        one, seen={one.links[0].url: Seen(True, size=8)}
    )


def test_a_folder_that_no_client_asks_for() -> None:
    what = "lies in a folder 'Tiny_K', which no client asks for"
    assert ("PIN709", "cu129/Tiny_K", what) in told(page(anchor("tiny_k-1-py3-none-any.whl"), "cu129/Tiny_K"))


def test_a_page_that_cannot_be_trusted() -> None:
    moved = page(f'<base href="//evil.example/">{anchor(WHEEL)}<a href="x-1-py3-none-any.whl">x</a>')
    assert ("PIN713", "cu129/tinyk", "a `<base>` moves its links, which clients treat differently") in told(moved)


def test_html_and_json_that_differ() -> None:
    html = page(anchor(WHEEL))
    files = f'{{"filename": "{WHEEL}", "url": "https://files.example/{WHEEL}", "hashes": {{"sha256": "%s"}}}}'
    same = reading.read(f'{{"meta": {{}}, "files": [{files % sha(WHEEL)}]}}'.encode(), JSON, "cu129/tinyk", ROOT)
    other = reading.read(f'{{"meta": {{}}, "files": [{files % ("ab" * 32)}]}}'.encode(), JSON, "cu129/tinyk", ROOT)
    assert told(html, same) == []
    assert told(html, other) == [("PIN710", "cu129/tinyk", "is not the same in the HTML and in the JSON of its page")]


def test_one_name_for_several_files() -> None:
    nightly = page(anchor(WHEEL, "ab" * 32), "nightly/cu129/tinyk")
    what = f"is another file than the one of this name on cu129/tinyk (abababababab, {sha(WHEEL)[:12]})"
    assert told(page(anchor(WHEEL)), nightly) == [("PIN715", "nightly/cu129/tinyk", what)]
    assert told(page(anchor(WHEEL)), page(anchor(WHEEL), "nightly/cu129/tinyk")) == []


def test_a_hole() -> None:
    x86, arm = ("tinyk-{}-cp310-abi3-manylinux_2_28_x86_64.whl", "tinyk-{}-cp310-abi3-manylinux_2_28_aarch64.whl")
    full = page("".join(anchor(name.format(f"{v}+cu129")) for name in (x86, arm) for v in ("1.0", "1.1")))
    part = page("".join(map(anchor, (x86.format("1.0+cu130"), x86.format("1.1+cu130"), arm.format("1.0+cu130")))),
                "cu130/tinyk")  # fmt: skip
    assert told(full, part) == [("PIN712", "cu130/tinyk", "tinyk 1.1 is missing for Python 3.10+ aarch64")]
