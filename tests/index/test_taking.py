from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from index.support import ROOT, anchor, page, record, sha
from pinctl.index import ledger, pages, reading, taking
from pinctl.index.layout import Layout, Variants
from pinctl.index.reading import Page
from pinctl.index.records import Record
from pinctl.index.taking import take
from pinctl.upstream.simple import JSON

WHEEL = "tinyk-1.0+cu129-py3-none-any.whl"
NONE = Variants()
FLAT = Layout(folders={"release": "{variant}/", "*": "{channel}/{variant}/"})


def test_a_link_becomes_a_record() -> None:
    link = anchor(WHEEL, data_requires_python=">=3.8", data_yanked="why", data_core_metadata=f"sha256={'cd' * 32}")
    assert take([page(link.replace("%2B", "+"))], NONE).records == (
        record(WHEEL, requires_python=">=3.8", yanked="why", metadata="cd" * 32),
    )


def test_where_pages_lie_says_channel_and_variant() -> None:
    plain = anchor("tinyk-1.0-py3-none-any.whl")
    found = [page(plain, path) for path in ("cu129/tinyk", "nightly/cu129/tinyk", "pr/7/CU_129/tinyk")]
    assert [one.place for one in take(found, NONE).records] == [
        ("release", "cu129"), ("nightly", "cu129"), ("pr-7", "cu-129"),
    ]  # fmt: skip
    assert taking.layouts(found) == {
        "release": "{variant}/", "nightly": "nightly/{variant}/", "pr-7": "pr/7/{variant}/",
    }  # fmt: skip
    assert taking.fits(FLAT, taking.layouts(found[:2]), ["cu129"])
    assert not taking.fits(Layout(), taking.layouts(found), ["cu129"])
    flat = reading.read(anchor(WHEEL).encode(), "text/html", "tinyk", "https://h.example/simple/")
    assert [one.place for one in take([flat], NONE).records] == [("release", "simple")]
    assert [one.place for one in take([page(anchor(WHEEL), "tinyk")], NONE).records] == [("release", "default")]


def test_every_digest_is_kept_and_waits_for_a_decision() -> None:
    taken = take([page("".join(anchor(WHEEL, digest * 32) for digest in ("ab", "cd", "ab")))], NONE)
    assert [one.sha256 for one in taken.records] == ["ab" * 32, "cd" * 32]
    assert [fault.code for fault in ledger.problems(taken.records, Layout(), NONE)] == ["PIN702"]
    settled = ledger.settle(taken.records, WHEEL, "cd" * 32, "what the URL gives")
    assert ledger.problems(settled, Layout(), NONE) == []
    assert [(one.sha256, one.withdrawn, one.notes) for one in settled] == [
        ("ab" * 32, "what the URL gives", ()), ("cd" * 32, None, ("what the URL gives",)),
    ]  # fmt: skip
    assert take([page(anchor(WHEEL, "ab" * 32))], NONE, settled).fresh == ()  # a decision stands


def test_a_digest_that_was_found_out_stands() -> None:
    found = [page(anchor(WHEEL, None))]
    settled = ledger.settle(take(found, NONE).records, WHEEL, "ab" * 32, "downloaded")
    assert take(found, NONE, settled).fresh == ()


def test_a_misfiled_file_is_copied_and_stays_yanked() -> None:
    stray = "tinyk-1.0+cu128-py3-none-any.whl"
    found = [page(anchor(stray)), page(anchor("tinyk-0.9+cu128-py3-none-any.whl"), "cu128/tinyk")]
    taken = take(found, NONE)
    placed = {(one.filename, one.variant): one for one in taken.records}
    assert placed[stray, "cu129"].yanked == "misfiled: a build of cu128, which stands on its page"
    assert placed[stray, "cu128"].yanked is None
    assert placed[stray, "cu128"].url == placed[stray, "cu129"].url
    assert [one.variant for one in taken.moved] == ["cu128"]
    assert ledger.problems(taken.records, FLAT, NONE) == []
    there = take([found[0], page(anchor(stray), "cu128/tinyk")], NONE)
    assert there.moved == ()
    assert [(one.variant, one.yanked is None) for one in there.records] == [("cu128", True), ("cu129", False)]


def test_what_cannot_be_kept_is_left_and_told() -> None:
    body = (
        f'{anchor("tinyk-latest.whl")}<a href="https://u:p@h.example/{WHEEL}">x</a><a href="%2Fetc%2F{WHEEL}">x</a>'
        f"{anchor(WHEEL)}"
    )
    taken = take([page(body)], NONE)
    assert len(taken.records) == 1
    assert [(one.link.filename, one.clause) for one in taken.left] == [
        ("tinyk-latest.whl", "names no wheel and no source distribution"),
        (WHEEL, "has a URL that cannot be kept: it holds a user name or a password; leave credentials to git's "
                "credential helpers"),
        (f"/etc/{WHEEL}", "names no wheel and no source distribution"),
    ]  # fmt: skip


def test_files_of_the_index_itself_come_with_it_or_keep_their_address() -> None:
    found = page(f'<a href="../../files/{WHEEL}#sha256={"ab" * 32}">{WHEEL}</a>')
    assert take([found], NONE, hosted=True).records[0].url == f"files/{WHEEL}"
    assert take([found], NONE).records[0].url == f"{ROOT}files/tinyk-1.0%2Bcu129-py3-none-any.whl"


def test_digests_and_times_that_are_none_are_not_taken() -> None:
    odd = '"hashes": {"sha256": "x"}, "upload-time": "now"'
    files = f'{{"filename": "{WHEEL}", "url": "https://h.example/{WHEEL}", {odd}}}'
    one = reading.read(f'{{"meta": {{}}, "files": [{files}]}}'.encode(), JSON, "cu129/tinyk", ROOT)
    (taken,) = take([one], NONE).records
    assert (taken.sha256, taken.uploaded) == (None, None)
    assert [fault.code for fault in ledger.problems([taken], Layout(), NONE)] == ["PIN704"]


def test_the_html_of_a_folder_counts_and_json_where_there_is_none() -> None:
    files = f'{{"filename": "{WHEEL}", "url": "https://h.example/{WHEEL}"}}'
    json = reading.read(f'{{"meta": {{}}, "files": [{files}]}}'.encode(), JSON, "cu129/tinyk", ROOT)
    html = page(anchor(WHEEL))
    assert take([json, html], NONE).records[0].sha256 == sha(WHEEL)
    assert take([json], NONE).records[0].sha256 is None
    assert take([json, page("")], NONE).records[0].sha256 is None


_variants = st.sampled_from(["cu128", "cu129", "rocm700"])
_links = st.builds(
    lambda variant, label, version, digest: (variant, f"k-{version}{label}-py3-none-any.whl", digest * 32),
    _variants, st.sampled_from(["", "+cu128", "+cu129", "+g1", "+rocm702"]), st.integers(0, 2),
    st.sampled_from(["ab", "cd"]),
)  # fmt: skip


@given(st.lists(_links, max_size=12))
def test_nothing_published_is_lost_and_a_second_run_changes_nothing(links: list[tuple[str, str, str]]) -> None:
    found = [
        page("".join(anchor(name, digest) for at, name, digest in links if at == variant), f"{variant}/k")
        for variant in ("cu128", "cu129", "rocm700")
    ]
    taken = take(found, NONE)
    kept = {(one.variant, one.filename, one.sha256) for one in taken.records}
    assert set(links) <= kept
    assert take(found, NONE, taken.records).fresh == ()
    settled: tuple[Record, ...] = taken.records
    for fault in ledger.problems(settled, FLAT, NONE):
        if fault.code == "PIN702":
            settled = ledger.settle(settled, fault.filename, "ab" * 32, "the first")
    left = [fault.code for fault in ledger.problems(settled, FLAT, NONE)]
    assert not {"PIN702", "PIN703", "PIN705"} & set(left)
    again = _read_back(settled)
    assert take(again, NONE, settled).fresh == ()


def _read_back(records: tuple[Record, ...]) -> list[Page]:
    made = pages.build(records, FLAT)
    return [
        reading.read(body, "text/html", path.removesuffix("/index.html"), ROOT)
        for path, body in made.items()
        if path.endswith("index.html")
    ]
