"""Blocks and whole files in languages whose comments do not begin with `#`."""

from __future__ import annotations

import pytest
from consumer import NEW, OLD, PINS, Consumer

from pinctl import sites
from pinctl.blocks import NOTE

FILES = {
    "csrc/version.cuh": ("// ", ""),
    "docs/README.md": ("<!-- ", " -->"),
    "web/index.HTML": ("<!-- ", " -->"),
    "db/pins.sql": ("-- ", ""),
    "web/x.css": ("/* ", " */"),
    "docs/x.rst": (".. ", ""),
    "notes.txt": ("# ", ""),
    "x.cmake": ("# ", ""),
}


@pytest.mark.parametrize(("file", "comment"), FILES.items())
def test_a_block_stands_between_comments_of_its_language(
    file: str, comment: tuple[str, str], consumer: Consumer
) -> None:
    before, after = comment
    marks = [f"{before}>>> pinctl:dg ./pins/x.j2 {NOTE}{after}", f"{before}<<< pinctl:dg{after}"]
    consumer.put("pins/x.j2", "commit {{ pin.commit }}\n")
    generate = f'[pins.dg.generate]\n"{file}" = {{ recipe = "./pins/x.j2", block = true }}\n\n[pins.tl]'
    consumer.put("pins.toml", PINS.replace("[pins.tl]", generate))
    consumer.put(file, "head\n")
    hint = str(consumer.check().document["findings"][0]["hint"])
    assert hint.split("\n")[1:] == marks
    consumer.put(file, "\n".join(["head", *marks, "tail", ""]))
    assert consumer.run("sync").code == 0
    lines = consumer.text(file).split("\n")
    assert (lines[0], lines[2], lines[3], lines[4]) == ("head", f"commit {OLD}", marks[1], "tail")
    assert lines[1].startswith(f"{before}>>> pinctl:dg ./pins/x.j2 (generated")
    assert lines[1].endswith(after)
    assert consumer.run("check").code == 0
    consumer.edit("pins.toml", OLD, NEW)
    assert ("PIN208", "error") in consumer.check().told


def test_a_whole_file_says_where_it_is_from(consumer: Consumer) -> None:
    consumer.put("pins/x.j2", '#define COMMIT "{{ pin.commit }}"\n')
    generate = '[pins.dg.generate]\n"csrc/version.h" = "./pins/x.j2"\n\n[pins.tl]'
    consumer.put("pins.toml", PINS.replace("[pins.tl]", generate))
    assert consumer.run("sync").code == 0
    header, define = consumer.text("csrc/version.h").splitlines()
    assert header.startswith("// pinctl:dg ./pins/x.j2")
    assert define == f'#define COMMIT "{OLD}"'


@pytest.mark.parametrize(
    ("file", "language", "comment"),
    [("x.ipynb", "text", None), ("x.csv", "text", None), ("x.json", "json", None), ("x.md", "shell", ("# ", ""))],
)
def test_comments_of_a_file(file: str, language: str, comment: tuple[str, str] | None) -> None:
    assert sites.comment_of(file, language) == comment
