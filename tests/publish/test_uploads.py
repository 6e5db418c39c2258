from __future__ import annotations

from datetime import date

from pinctl.index.reading import Link, Page
from pinctl.publish.listing import listing
from pinctl.publish.uploads import upload

HEAD = b"Metadata-Version: 2.1\nName: a\nVersion: 1\n"


def test_a_description_is_the_body_or_the_older_header() -> None:
    kind = b"Description-Content-Type: text/markdown\n"
    found = upload("a-1-py3-none-any.whl", 3, HEAD + kind + b"\n# A\n\nb\n", variant="cu13")
    assert (found.readme, found.readme_type, found.size, found.variant) == ("# A\n\nb\n", "text/markdown", 3, "cu13")
    assert upload("a", 1, HEAD.replace(b"\n", b"\r\n") + b"\r\nA\r\n").readme == "A\n"
    assert upload("a", 1, HEAD + b"Description: A\n       |b\n").readme == "A\nb"
    assert upload("a", 1, HEAD).readme == ""


def test_the_day_a_release_was_opened() -> None:
    def link(name: str, uploaded: str | None) -> Link:
        return Link(f"https://x/{name}", name, name, name, uploaded=uploaded)

    found = listing(Page("a", (
        link("a-1.0-py3-none-any.whl", "2026-07-03T00:00:00Z"), link("a-1.0.tar.gz", "2026-07-01T10:00:00.5Z"),
        link("a-0.9.tar.gz", "2026-01-01T00:00:00Z"), link("a-2.0.tar.gz", None),
        link("odd.exe", "2020-01-01T00:00:00Z"),
        link("a-3.0.tar.gz", "yesterday"),
    )))  # fmt: skip
    assert found.opened("a-1.0-cp312-cp312-any.whl") == date(2026, 7, 1)
    assert [found.opened(f"a-{version}-py3-none-any.whl") for version in ("2.0", "3.0", "9.0")] == [None, None, None]
