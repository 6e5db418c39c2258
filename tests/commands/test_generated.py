from __future__ import annotations

import time

import pytest
from consumer import AGREES, CMAKE, FILES, NEW, OLD, PINS, Consumer

from pinctl.external import child

WHOLE = '[pins.dg.generate]\n"cmake/made dg.cmake" = "fetchcontent"\n\n[pins.tl]'
BLOCK = '[pins.dg.generate]\n"tools/build.py" = { recipe = "include-dirs", block = true }\n\n[pins.tl]'
SCRIPT = 'include_dirs = [\n    "unrelated",\n]\n\ndef build() -> None:\n    pass\n'


@pytest.fixture
def whole(consumer: Consumer) -> Consumer:
    """An engine with a file that the bundled recipe renders."""
    consumer.put("pins.toml", PINS.replace("[pins.tl]", WHOLE))
    return consumer


@pytest.fixture
def block(consumer: Consumer) -> Consumer:
    """An engine with a Python file that is to hold a block."""
    pins = PINS.replace("[pins.tl]", BLOCK).replace("submodules =", 'include_dirs = ["csrc", "inc lude"]\nsubmodules =')
    consumer.put("pins.toml", pins)
    consumer.put("tools/build.py", SCRIPT)
    return consumer


def pasted(consumer: Consumer) -> None:
    """Paste what `check` offers for a missing marker, and fill it."""
    text = consumer.run("check").out.splitlines()
    at = next(n for n, line in enumerate(text) if "put these two lines" in line)
    lines = [line.strip() for line in text[at + 1 : at + 3]]
    assert all("pinctl:dg" in line for line in lines)
    consumer.put(
        "tools/build.py", "\n".join(["import os", "if True:", *(f"    {line}" for line in lines), "x = 1", ""])
    )
    assert consumer.run("sync").code == 0


# --- whole files ---


def test_a_file_that_is_not_there_yet_is_made(whole: Consumer) -> None:
    run = whole.check()
    assert (run.code, run.told) == (1, [("PIN211", "error")])
    assert whole.run("sync").out == "changed 1 file: cmake/made dg.cmake\n"
    assert whole.run("check").out == AGREES.replace("4 sites", "5 sites")
    assert OLD in whole.text("cmake/made dg.cmake")
    assert whole.run("sync").out == "nothing to change\n"


def test_a_bump_makes_it_stale(whole: Consumer) -> None:
    whole.run("sync")
    whole.edit("pins.toml", OLD, NEW)
    assert "PIN211" in whole.check().codes
    assert whole.run("sync").code == 0
    assert NEW in whole.text("cmake/made dg.cmake")
    assert OLD not in whole.text("cmake/made dg.cmake")


def test_an_edit_by_hand_is_not_lost(whole: Consumer) -> None:
    whole.run("sync")
    whole.put("cmake/made dg.cmake", whole.text("cmake/made dg.cmake") + "# mine\n")
    assert whole.check().codes == ["PIN209"]
    before = whole.tree()
    run = whole.run("sync", "--format", "json")
    assert (run.code, run.codes, run.document["result"]) == (1, ["PIN209"], {"files": []})
    assert "pinctl sync --force" in run.document["findings"][0]["hint"]
    assert whole.tree() == before
    assert whole.run("sync", "--force").code == 0
    assert "# mine" not in whole.text("cmake/made dg.cmake")
    assert whole.run("check").code == 0


def test_a_file_that_was_there_before_is_not_overwritten(whole: Consumer) -> None:
    whole.put("cmake/made dg.cmake", CMAKE)
    assert whole.run("sync").code == 1
    assert whole.text("cmake/made dg.cmake") == CMAKE


def test_line_ends_of_the_file_stay(whole: Consumer) -> None:
    whole.run("sync")
    whole.put("cmake/made dg.cmake", whole.text("cmake/made dg.cmake").replace("\n", "\r\n"))
    assert whole.run("check").code == 0
    whole.edit("pins.toml", OLD, NEW)
    whole.run("sync")
    text = whole.text("cmake/made dg.cmake")
    assert text.count("\n") == text.count("\r\n") > 10


def test_a_linked_target_is_neither_followed_nor_replaced(whole: Consumer) -> None:
    (whole.path / "cmake/made dg.cmake").symlink_to("../requirements.txt")
    before = whole.tree()
    assert whole.run("sync", "--force").code == 1
    assert whole.tree() == before


def test_a_target_that_cannot_be_read(whole: Consumer) -> None:
    (whole.path / "cmake/made dg.cmake").mkdir()
    assert whole.check().codes == ["PIN206"]
    assert whole.run("sync", "--force").code == 1


# --- blocks ---


def test_missing_markers_are_offered_and_work_where_they_are_pasted(block: Consumer) -> None:
    run = block.check()
    assert (run.code, run.told) == (1, [("PIN210", "error")])
    assert block.run("sync").code == 1
    pasted(block)
    lines = block.text("tools/build.py").splitlines()
    assert lines[:2] == ["import os", "if True:"]
    assert lines[-1] == "x = 1"
    assert all(line.startswith("    ") for line in lines[2:-1])
    namespace: dict[str, object] = {}
    exec(block.text("tools/build.py"), namespace)  # noqa: S102 - the language's own tool
    assert ["csrc", "inc lude"] in namespace.values()
    assert block.run("check").code == 0


def test_a_bump_makes_the_block_stale_and_leaves_the_rest(block: Consumer) -> None:
    pasted(block)
    block.put("tools/build.py", block.text("tools/build.py").replace("import os", "import sys  # changed beside it"))
    block.edit("pins.toml", '"csrc", ', '"csrc", "more", ')
    run = block.check()
    assert (run.code, run.told) == (1, [("PIN208", "error")])
    assert run.document["findings"][0]["line"] == 3
    assert block.run("sync").code == 0
    assert block.text("tools/build.py").startswith("import sys  # changed beside it\n")
    assert '"more"' in block.text("tools/build.py")


def test_an_edit_within_the_block_is_not_lost(block: Consumer) -> None:
    pasted(block)
    block.edit("tools/build.py", '"csrc"', '"src"')
    assert block.check().codes == ["PIN209"]
    assert block.run("sync").code == 1
    assert '"src"' in block.text("tools/build.py")
    assert block.run("sync", "--force").code == 0
    assert '"csrc"' in block.text("tools/build.py")


@pytest.mark.parametrize("spoilt", ["doubled", "no end", "no begin"])
def test_markers_that_are_spoilt(spoilt: str, block: Consumer) -> None:
    pasted(block)
    lines = block.text("tools/build.py").splitlines(keepends=True)
    begin = next(n for n, line in enumerate(lines) if ">>> pinctl" in line)
    end = next(n for n, line in enumerate(lines) if "<<< pinctl" in line)
    if spoilt == "doubled":
        lines += lines[begin : end + 1]
    else:
        del lines[end if spoilt == "no end" else begin]
    block.put("tools/build.py", "".join(lines))
    before = block.tree()
    run = block.check()
    assert (run.code, run.told) == (1, [("PIN210", "error")])
    assert run.document["findings"][0]["line"] is not None
    assert block.run("sync", "--force").code == 1
    assert block.tree() == before


def test_a_site_within_a_block_is_refused(block: Consumer) -> None:
    pasted(block)
    name = block.text("tools/build.py").partition(" = [")[0].split()[-1]
    pins = block.text("pins.toml").replace(
        "[pins.dg.generate]", f'[pins.dg.sites."tools/build.py"]\n"{name}[]" = "{{include_dirs}}"\n[pins.dg.generate]'
    )
    block.put("pins.toml", pins)
    run = block.check()
    assert (run.code, run.codes) == (1, ["PIN109"])
    assert "lies in a generated block" in run.document["findings"][0]["message"]
    assert block.run("sync").code == 1


def test_a_block_where_no_comment_can_stand(block: Consumer) -> None:
    pins = block.text("pins.toml").replace('"tools/build.py" =', '"tools/build.data" =')
    block.put("pins.toml", f'languages = {{ "*.data" = "json" }}\n{pins}')
    block.put("tools/build.data", "{}\n")
    run = block.check()
    assert (run.code, run.codes) == (1, ["PIN210"])
    assert "generate the whole file" in run.document["findings"][0]["hint"]


def test_a_block_in_a_file_that_is_not_there(block: Consumer) -> None:
    (block.path / "tools/build.py").unlink()
    assert block.check().codes == ["PIN205"]
    assert block.run("sync").code == 1


# --- recipes of the consumer's own ---


def own(consumer: Consumer, recipe: str) -> None:
    consumer.put("pins/x.j2", recipe)
    consumer.put("pins.toml", PINS.replace("[pins.tl]", '[pins.dg.generate]\n"made.txt" = "./pins/x.j2"\n[pins.tl]'))


def test_an_own_recipe(consumer: Consumer) -> None:
    own(consumer, "{% for s in pin.submodules %}\n{{ s }} {{ pins.tl.version }}\n{% endfor %}\n")
    assert consumer.run("sync").code == 0
    header, *lines = consumer.text("made.txt").splitlines()
    assert header.startswith("# pinctl:dg ./pins/x.j2 (generated from pins.toml; run `pinctl sync`) sha256:")
    assert lines == ["third-party/cutlass 0.1.11", "third-party/fmt 0.1.11"]


@pytest.mark.parametrize(
    ("recipe", "says"),
    [
        ("ok\n{{ pin.nothing }}\n", "(line 2 of the recipe)"),
        ("{{ pin.commit", "(line 1 of the recipe)"),
        ("{{ cycler.__init__.__globals__.os }}", "unsafe"),
        ("{{ pin.__class__.__mro__ }}", ""),
        ("{% include '/etc/passwd' %}", ""),
        ("{{ 'x' * 2000000 }}", "KiB"),
    ],
)
def test_a_recipe_that_fails_is_a_finding(recipe: str, says: str, consumer: Consumer) -> None:
    """Security row 47 among them: nothing but plain data is in reach."""
    own(consumer, recipe)
    before = consumer.tree()
    run = consumer.check()
    assert (run.code, run.codes) == (1, ["PIN226"])
    (found,) = run.document["findings"]
    assert (found["file"], found["pin"]) == ("pins.toml", "dg")
    assert says in found["message"]
    assert consumer.run("sync", "--force").code == 1
    assert consumer.tree() == before


def test_a_recipe_that_is_not_there(consumer: Consumer) -> None:
    own(consumer, "")
    (consumer.path / "pins/x.j2").unlink()
    run = consumer.check()
    assert (run.code, run.codes) == (1, ["PIN226"])
    assert "does not exist" in run.document["findings"][0]["message"]


@pytest.mark.parametrize(
    "recipe",
    ["{% for a in 'x' * 99999 %}{% for b in 'x' * 99999 %}{% endfor %}{% endfor %}", "{{ 'x'.center(10**9) }}"],
)
def test_a_hostile_recipe_ends_soon(recipe: str, consumer: Consumer, monkeypatch: pytest.MonkeyPatch) -> None:
    """Security row 48."""
    assert (child._SECONDS, child._MEMORY) == (10, 512 * 1024 * 1024)
    monkeypatch.setattr(child, "_SECONDS", 1)
    own(consumer, recipe)
    begin = time.monotonic()
    run = consumer.check()
    assert (run.code, run.codes) == (1, ["PIN226"])
    assert time.monotonic() - begin < 8


def test_a_wholly_generated_file_has_no_sites(consumer: Consumer) -> None:
    consumer.put(
        "pins.toml", PINS.replace("[pins.tl]", '[pins.dg.generate]\n"cmake/dg.cmake" = "fetchcontent"\n[pins.tl]')
    )
    run = consumer.check()
    assert (run.code, run.codes) == (3, ["PIN109"])
    assert FILES["cmake/dg.cmake"] == consumer.text("cmake/dg.cmake")


DATA = '{"ref": "{{ pin.commit }}"}\n'


@pytest.fixture
def data(consumer: Consumer) -> Consumer:
    """An engine with a JSON file, in which no digest can stand, of a recipe of its own; nothing is committed yet."""
    consumer.put("pins/x.j2", DATA)
    consumer.put("pins.toml", PINS.replace("[pins.tl]", '[pins.dg.generate]\n"ref.json" = "./pins/x.j2"\n[pins.tl]'))
    return consumer


def test_json_written_by_hand_is_not_overwritten(data: Consumer) -> None:
    mine = '{"ref": "mine"}\n'
    data.put("ref.json", mine)
    assert data.check().codes == ["PIN209"]
    assert (data.run("sync").code, data.text("ref.json")) == (1, mine)
    assert data.run("sync", "--force").code == 0
    assert OLD in data.text("ref.json")
    data.commit()
    data.put("ref.json", mine)
    assert (data.run("sync").code, data.text("ref.json")) == (1, mine)


@pytest.mark.parametrize("file", ["pins.toml", "pins/x.j2"])
def test_json_that_was_rendered_at_head_is_written_anew(data: Consumer, file: str) -> None:
    data.run("sync")
    data.commit()
    data.edit(file, OLD if file == "pins.toml" else "ref", NEW)
    assert "PIN211" in data.check().codes
    assert data.run("sync").code == 0
    assert NEW in data.text("ref.json")
