from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from index.support import record

from pinctl.index.records import Record
from pinctl.publish.joining import join

NAMES = [f"tinyk-1.{number}+cu129-py3-none-any.whl" for number in range(4)]
RECORDS = st.lists(
    st.builds(
        lambda name, yanked, note, hosted: record(
            name, yanked=yanked, notes=note, **({"url": f"files/{name}"} if hosted else {})
        ),
        st.sampled_from(NAMES), st.none() | st.just("broken"), st.sampled_from([(), ("a",), ("b",)]), st.booleans(),
    ),
    max_size=4,
    unique_by=lambda one: one.filename,
)  # fmt: skip


def by_name(found: list[Record]) -> dict[str, Record]:
    return {one.filename: one for one in found}


@given(RECORDS, RECORDS)
def test_nothing_that_was_published_or_decided_is_lost(published: list[Record], ours: list[Record]) -> None:
    joined = by_name(join(published, ours, seed=True))
    assert joined.keys() == {one.filename for one in (*published, *ours)}
    for one in (*published, *ours):
        assert one.yanked is None or joined[one.filename].yanked == one.yanked
        assert set(one.notes) <= set(joined[one.filename].notes)
    assert all(joined[one.filename].url == one.url for one in published)
    assert by_name(join(list(joined.values()), ours, seed=True)) == joined


def test_a_file_that_only_another_index_holds_is_not_taken() -> None:
    held, linked = record(NAMES[0], url=f"files/{NAMES[0]}"), record(NAMES[1])
    assert join([], [held, linked], seed=False) == [linked]
    assert join([held], [held._replace(yanked="why")], seed=False) == [held._replace(yanked="why")]
    assert join([held._replace(yanked="theirs")], [held], seed=False)[0].yanked == "theirs"


def test_other_bytes_of_a_name_are_another_record() -> None:
    one, other = record(NAMES[0]), record(NAMES[0], sha256="b" * 64)
    assert join([one], [other], seed=True) == [one, other]
