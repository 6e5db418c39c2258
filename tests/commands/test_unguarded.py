from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from consumer import AGREES, FILES, NEW, OLD, OTHER, PINS, Consumer, pinctl
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pinctl.external import files

if TYPE_CHECKING:
    from pathlib import Path

    from repositories import MakeRepository

REPO = "https://github.com/o/DeepGEMM"


def mentions(consumer: Consumer) -> list[dict[str, Any]]:
    run = consumer.check("--unguarded")
    assert run.code == 0  # warnings alone
    found = run.document["findings"]
    assert {f["code"] for f in found} <= {"PIN214"}
    return found


def places(consumer: Consumer) -> list[tuple[str, int, int, str]]:
    return [(f["file"], f["line"], f["column"], f["pin"]) for f in mentions(consumer)]


def test_where_sites_cover_everything_nothing_is_told(consumer: Consumer) -> None:
    assert consumer.run("check", "--unguarded").out == AGREES


@pytest.mark.parametrize(
    ("text", "column", "pin", "why"),
    [
        (f"X={OLD}", 3, "dg", "names the pinned commit"),
        (f"see {OLD[:7]}.", 5, "dg", "names the pinned commit"),
        (f"see {OLD.upper()}", 5, "dg", "names the pinned commit"),
        (f"{REPO}.git@v2.1", 35, "dg", "names its repository with a ref"),
        (f"{REPO}/archive/refs/tags/v2.1.tar.gz", 49, "dg", "names its repository with a ref"),
        (f"git clone {REPO} d\ncd d\ngit checkout 12ab567", 14, "dg", "stands beside its repository"),
        ("pip install TileLang[x] == 0.1.9", 28, "tl", "asks for an exact version of it"),
        ("tilelang===0.1.9", 12, "tl", "asks for an exact version of it"),
    ],
)
def test_what_counts_as_a_mention(text: str, column: int, pin: str, why: str, consumer: Consumer) -> None:
    consumer.put("notes.txt", f"first line\n{text}\n")
    consumer.commit()
    (found,) = mentions(consumer)
    line = 2 + text.count("\n")
    assert (found["file"], found["line"], found["column"], found["pin"]) == ("notes.txt", line, column, pin)
    assert why in found["message"]


@pytest.mark.parametrize(
    "text",
    [
        f"{OLD[:6]} is too short for a commit",
        f"0{OLD} is another number",
        f"{OTHER} is not ours",
        f"{REPO} alone",
        f"{REPO}/pull/1234567 and PyTorch 2.9+",
        f"{REPO}/releases/download/v${{VERSION}}/x.tar.gz",
        f"{REPO}/tree/main",
        f"{REPO}-extras@v1",
        "https://github.com/foo/DeepGEMM@v1",
        "tilelang>=0.1.9",
        "not-tilelang==0.1.9",
        "tilelang-extras==0.1.9",
    ],
)
def test_what_does_not(text: str, consumer: Consumer) -> None:
    consumer.put("notes.txt", f"{text}\n")
    consumer.commit()
    assert mentions(consumer) == []


def test_a_commit_that_pins_toml_held_before(consumer: Consumer) -> None:
    for old, new in ((OLD, OTHER), (OTHER, NEW)):
        consumer.edit("pins.toml", old, new)
        consumer.run("sync")
        consumer.commit("bump")
    consumer.put("notes.txt", f"{OLD[:9]}\n\n{OTHER}\n\n{NEW}\n")
    consumer.commit("notes")
    told = [(f["line"], f["message"].split(" ", 1)[1].split(",")[0]) for f in mentions(consumer)]
    before = "names a commit that pins.toml held before"
    assert told == [(1, before), (3, before), (5, "names the pinned commit")]


# --- where is looked ---


def test_only_what_git_tracks(consumer: Consumer) -> None:
    consumer.put("scratch.txt", OLD)
    assert mentions(consumer) == []
    consumer.repository.git("add", "scratch.txt")
    assert places(consumer) == [("scratch.txt", 1, 1, "dg")]
    (consumer.path / "scratch.txt").unlink()  # still tracked
    assert mentions(consumer) == []


def test_everything_outside_a_repository(consumer: Consumer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (consumer.path / ".git").rename(tmp_path / "gone")
    consumer.put("scratch.txt", OLD)
    assert places(consumer) == [("scratch.txt", 1, 1, "dg")]
    monkeypatch.setattr(files, "MOST_FILES", 3)
    run = consumer.check("--unguarded")
    assert (run.code, "more than 3 files" in run.err) == (4, True)


def test_only_below_the_root(make_repository: MakeRepository) -> None:
    repository = make_repository("mono repo")
    repository.commit(files={"notes.txt": OLD, **{f"engine/{name}": text for name, text in FILES.items()}})
    assert pinctl("check", "--unguarded", cwd=repository.path / "engine").out == AGREES


def test_what_cannot_be_read_is_passed_over(consumer: Consumer) -> None:
    consumer.put("binary", b"\0" + OLD.encode())
    consumer.put("latin-1", b"\xe9 " + OLD.encode())
    (consumer.path / "link").symlink_to("/etc/passwd")
    consumer.commit()
    assert mentions(consumer) == []


def test_neither_pins_toml_nor_what_recipes_render(make_repository: MakeRepository) -> None:
    repository = make_repository("with a base")
    pin, rest = PINS.split("\n[pins.dg.sites", 1)
    generate = (
        '[pins.dg.generate]\n"made.txt" = "./pins/x.j2"\n"README.md" = { recipe = "./pins/x.j2", block = true }\n'
    )
    repository.commit(files={
        **FILES,
        "pins.toml": f'schema = 1\nextends = "base.toml"\n{generate}[pins.dg.sites{rest}',
        "base.toml": pin.replace("schema = 1\n", ""),
        "pins/x.j2": "{{ pin.commit }}\n",
        "README.md": "<!-- >>> pinctl:dg ./pins/x.j2 -->\n<!-- <<< pinctl:dg -->\n",
    })  # fmt: skip
    consumer = Consumer(repository)
    consumer.run("sync")
    consumer.commit()
    assert OLD in consumer.text("README.md")
    assert mentions(consumer) == []


# --- waivers ---

WAIVER = '[[allow]]\ncode = "PIN214"\npath = "docs/*"\nreason = "history"\n'


def test_a_waiver_by_path(consumer: Consumer) -> None:
    consumer.put("docs/a/b.md", OLD)
    consumer.put("notes.md", OLD)
    consumer.put("pins.toml", PINS + WAIVER)
    consumer.commit()
    assert places(consumer) == [("notes.md", 1, 1, "dg")]
    consumer.put("pins.toml", PINS.replace("[pins.tl]", WAIVER.replace("[[allow]]", "[[pins.dg.allow]]") + "[pins.tl]"))
    assert places(consumer) == [("notes.md", 1, 1, "dg")]


def test_a_waiver_that_covers_nothing_is_told_by_who_looked(consumer: Consumer) -> None:
    consumer.put("pins.toml", PINS + WAIVER)
    assert consumer.check().told == []  # nobody looked
    run = consumer.check("--unguarded")
    assert (run.code, run.told) == (0, [("PIN123", "warning")])
    assert run.document["findings"][0]["message"] == "the waiver for PIN214 in docs/* accepts nothing"


# --- the site that is offered ---


def paste(consumer: Consumer, finding: dict[str, Any]) -> bool:
    """Do what the hint says: add the lines that it offers to pins.toml, under their table where that is there."""
    _, *lines = finding["hint"].split("\n")
    if not lines:
        return False
    header, site = lines
    text = consumer.text("pins.toml")
    new = text.replace(header, f"{header}\n{site}", 1) if header in text else f"{text}\n{header}\n{site}\n"
    consumer.put("pins.toml", new)
    return True


def test_the_hint_in_full(consumer: Consumer) -> None:
    consumer.put("docs/x y.md", f"see {OLD[:12]} there\n")
    consumer.commit()
    assert consumer.run("check", "--unguarded").out == (
        f"docs/x y.md:1:5: warning PIN214 dg: {OLD[:12]} names the pinned commit, and no site holds it\n"
        '    hint      waive it in pins.toml ([[allow]] with code = "PIN214", path = "docs/x y.md" and a reason), '
        "or cover it there:\n"
        '              [pins.dg.sites."docs/x y.md"]\n'
        "              'regex:see (?P<value>[\\w.+!-]+?) ' = \"{commit:.12}\"\n"
        "\n"
        "4 sites of 2 pins agree with pins.toml (1 warning in 1 file)\n"
    )


def test_the_files_own_selector_is_offered(consumer: Consumer) -> None:
    consumer.put("a.sh", f'export REF="{OLD}"\n')
    consumer.put("Dockerfile", f"FROM x\nARG REF={OLD[:10]}\n")
    consumer.put("b.cmake", f"FetchContent_Declare(dg GIT_REPOSITORY {REPO} GIT_TAG {OLD})\n")
    consumer.put("docker/Dockerfile", consumer.text("docker/Dockerfile") + f"ARG AGAIN={OLD}\n")
    consumer.commit()
    selectors = {(f["file"], f["selector"]) for f in mentions(consumer)}
    assert selectors == {
        ("a.sh", "REF"),
        ("Dockerfile", "ARG REF"),
        ("b.cmake", "FetchContent_Declare(dg).GIT_TAG"),
        ("docker/Dockerfile", "ARG AGAIN"),
    }
    for finding in mentions(consumer):
        assert paste(consumer, finding)
    assert consumer.run("check", "--unguarded").out == AGREES.replace("4 sites", "8 sites")


@pytest.mark.parametrize("text", [f"{OLD}\n", f"a {OLD}\na {OLD}\n", f"\t{OLD}\n", f"'\"\t{OLD}\n"])
def test_where_no_selector_finds_it_none_is_offered(text: str, consumer: Consumer) -> None:
    consumer.put("two words.md", "other words\n" + text)
    consumer.commit()
    assert {f["hint"].partition(",")[0] for f in mentions(consumer)} == {"cover it with a site"}


def test_a_pin_without_a_commit_offers_its_version(consumer: Consumer) -> None:
    consumer.edit(
        "pins.toml", 'packages = ["tilelang"]', 'packages = ["tilelang"]\nrepo = "https://github.com/t/tilelang"'
    )
    consumer.put("notes.sh", "git clone https://github.com/t/tilelang\ngit checkout v0.1.9\n")
    consumer.commit()
    (found,) = mentions(consumer)
    assert paste(consumer, found)
    run = consumer.check("--unguarded")
    assert (run.code, run.codes) == (1, ["PIN201"])
    assert run.document["findings"][0]["expected"] == "v0.1.11"


LINES = (
    'REF="{c}"', "export REF={s} # why", "# see {c}", "git checkout {s}", "ARG REF={c}", 'set(REF "{c}")',
    f"RUN git clone {REPO}.git && git checkout {{s}}", "ref: '{c}'", "ref = \"{s}\"", '{{"ref": "{c}"}}', "- {c}",
    f"{REPO}/archive/{{c}}.tar.gz", f"dg @ git+{REPO}@{{r}}", f"curl -L {REPO}/releases/download/{{r}}/x.whl",
    "pip install 'tilelang=={v}'", "tilelang [x] == {v} ; x", "TileLang=={v}", "it's \"{C}\" (1+1) [a] {{b}} $x ^|\\",
    "x {c} y {s} z", "{c}", "é {c} ü", "ENV A=1 B={s}",
)  # fmt: skip
NAMES = (
    "a b.sh",
    "Dockerfile",
    "x.cmake",
    "x.py",
    "x.json",
    "x.yaml",
    "x.toml",
    "x.hcl",
    "x.env",
    "notes.md",
    "y/requirements.txt",
)


@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    lines=st.lists(st.sampled_from(LINES), min_size=1, max_size=4),
    name=st.sampled_from(NAMES),
    ref=st.sampled_from(["v2.1", "1.4.0", "main", OLD[:8]]),
    facts=st.sampled_from(["", 'tag = "v2.1"\n', 'version = "2.1"\n', 'track = "main"\n']),
)
def test_the_offered_site_ends_the_warning(
    lines: list[str], name: str, ref: str, facts: str, consumer: Consumer
) -> None:
    consumer.repository.git("reset", "-q", "--hard")
    consumer.edit("pins.toml", "[pins.dg]\n", f"[pins.dg]\n{facts}")
    values = {"c": OLD, "s": OLD[:10], "C": OLD.upper(), "r": ref, "v": "0.1.9"}
    consumer.put(name, "\n".join(line.format(**values) for line in lines) + "\n")
    consumer.repository.git("add", "--", name)
    for finding in mentions(consumer):
        before = consumer.text("pins.toml")
        if paste(consumer, finding):
            run = consumer.check("--unguarded")
            assert run.code in (0, 1), (finding, run)  # pins.toml is valid
            left = [(f["line"], f["column"]) for f in run.document["findings"] if f["code"] == "PIN214"]
            assert (finding["line"], finding["column"]) not in left, finding
            assert not {"PIN202", "PIN203", "PIN118", "PIN207"} & set(run.codes), finding
        consumer.put("pins.toml", before)
