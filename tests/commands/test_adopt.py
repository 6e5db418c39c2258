from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from consumer import AGREES, CMAKE, DOCKERFILE, FILES, NEW, OLD, OTHER, PINS, SHELL, Consumer

if TYPE_CHECKING:
    from repositories import MakeRepository

SCRIPT = "tools/install dg.sh"


@pytest.fixture
def moved(consumer: Consumer) -> Consumer:
    """The engine after somebody bumped the install script alone."""
    consumer.edit(SCRIPT, OLD, NEW)
    consumer.commit("the script alone")
    return consumer


def test_the_files_value_goes_into_pins_toml_and_from_there_everywhere(moved: Consumer) -> None:
    run = moved.run("adopt", SCRIPT)
    assert (run.code, run.out) == (0, "changed 3 files: cmake/dg.cmake, docker/Dockerfile, pins.toml\n")
    assert {file: moved.text(file) for file in FILES} == {
        **FILES,
        "pins.toml": PINS.replace(OLD, NEW),
        "cmake/dg.cmake": CMAKE.replace(OLD, NEW),
        "docker/Dockerfile": DOCKERFILE.replace(OLD[:10], NEW[:10]),
        SCRIPT: SHELL.replace(OLD, NEW),
    }
    assert moved.run("check").out == AGREES


@pytest.mark.parametrize(
    ("words", "cwd"),
    [
        ((SCRIPT,), "."),
        ((SCRIPT,), "docker"),  # as pins.toml names it
        (("install dg.sh",), "tools"),
        (("../tools/install dg.sh",), "docker"),
        (("install dg.sh", "-C", "tools"), "."),
        (("./tools//install dg.sh",), "."),
    ],
)
def test_the_file_is_named_from_here_or_from_the_root(words: tuple[str, ...], cwd: str, moved: Consumer) -> None:
    assert moved.run("adopt", *words, "--check", "-q", cwd=cwd).code == 1
    assert moved.run("adopt", *words, cwd=cwd).code == 0


def test_an_absolute_path_also_through_a_link(moved: Consumer) -> None:
    link = moved.path.parent / "link"
    link.symlink_to(moved.path)
    assert moved.run("adopt", str(link / SCRIPT)).code == 0


@pytest.mark.parametrize("file", ["nowhere.sh", "pins.toml", "README.md", "../outside"])
def test_a_file_without_a_site(file: str, moved: Consumer) -> None:
    run = moved.run("adopt", file)
    assert (run.code, run.out) == (2, "")
    assert f"{file}: no site of pins.toml is in that file" in run.err
    assert "cmake/dg.cmake, docker/Dockerfile, requirements.txt, tools/install dg.sh" in run.err


def test_a_file_that_agrees_changes_nothing(moved: Consumer) -> None:
    before = moved.tree()
    run = moved.run("adopt", "cmake/dg.cmake")
    assert (run.code, run.out) == (0, "nothing to change\n")
    assert moved.tree() == before


def test_the_diff_is_what_is_written(moved: Consumer) -> None:
    before = moved.tree()
    diff = moved.run("adopt", SCRIPT, "--diff")
    assert diff.code == 0
    assert f'+commit     = "{NEW}"  # the full id\n' in diff.out
    assert diff.out.count("diff --git") == 3
    assert moved.tree() == before
    checked = moved.run("adopt", SCRIPT, "--check")
    assert checked.code == 1
    lines = [line.rstrip() for line in diff.out.splitlines()]
    assert checked.out.splitlines()[:-1] == lines


def test_only_sites_of_the_adopted_pin_are_touched(moved: Consumer) -> None:
    moved.edit("requirements.txt", "0.1.11", "0.1.9")
    assert moved.run("adopt", SCRIPT).code == 0
    assert moved.text("requirements.txt") == "torch\ntilelang==0.1.9\n"
    assert moved.check().codes == ["PIN201"]


def test_a_version_is_adopted_too(consumer: Consumer) -> None:
    consumer.edit("requirements.txt", "0.1.11", "0.1.12")
    assert consumer.run("adopt", "requirements.txt").out == "changed 1 file: pins.toml\n"
    assert 'version  = "0.1.12"\n' in consumer.text("pins.toml")


def test_a_list_is_adopted_too(consumer: Consumer) -> None:
    consumer.edit("cmake/dg.cmake", "third-party/fmt", "third-party/deep_jit")
    assert consumer.run("adopt", "cmake/dg.cmake").out == "changed 1 file: pins.toml\n"
    assert 'submodules = ["third-party/cutlass", "third-party/deep_jit"]\n' in consumer.text("pins.toml")


# --- what is refused ---


def refused(consumer: Consumer, file: str) -> list[str]:
    """The codes that stand against adopting `file`; nothing is written."""
    before = consumer.tree()
    run = consumer.run("adopt", file, "--format", "json")
    assert (run.code, run.document["result"]) == (1, {"files": []})
    assert consumer.tree() == before
    return run.codes


def test_sites_that_moved_apart(moved: Consumer) -> None:
    moved.edit("cmake/dg.cmake", OLD, OTHER)
    assert refused(moved, SCRIPT) == ["PIN224"]
    text = moved.run("adopt", SCRIPT).out
    assert "cmake/dg.cmake:5:11: error PIN224 dg" in text
    assert f"it holds another value than `{SCRIPT}` gives" in text
    assert "write the right value into pins.toml, then run: pinctl sync --force" in text


def test_sites_within_the_file_that_moved_apart(consumer: Consumer) -> None:
    consumer.put("docker/Dockerfile", f"FROM base\nARG DG_REF={NEW[:10]}\nARG FULL={NEW}\nARG TWICE={OTHER}\n")
    consumer.edit(
        "pins.toml", '"{commit:.10}"\n', '"{commit:.10}"\n"ARG FULL" = "{commit}"\n"ARG TWICE" = "{commit}"\n'
    )
    assert refused(consumer, "docker/Dockerfile") == ["PIN224"]


def test_a_short_id_alone_is_not_enough(consumer: Consumer) -> None:
    consumer.edit("docker/Dockerfile", OLD[:10], NEW[:10])
    assert refused(consumer, "docker/Dockerfile") == ["PIN105"]


def test_a_short_id_beside_the_full_one_is_no_obstacle(consumer: Consumer) -> None:
    consumer.put("docker/Dockerfile", f"FROM base\nARG DG_REF={NEW[:10]}\nARG FULL={NEW}\n")
    consumer.edit("pins.toml", '"{commit:.10}"\n', '"{commit:.10}"\n"ARG FULL" = "{commit}"\n')
    assert consumer.run("adopt", "docker/Dockerfile").code == 0
    assert consumer.text("docker/Dockerfile") == f"FROM base\nARG DG_REF={NEW[:10]}\nARG FULL={NEW}\n"
    assert consumer.run("check").code == 0


def test_an_abbreviation_that_agrees_is_no_obstacle(moved: Consumer) -> None:
    moved.put(SCRIPT, f'DG_REF="{NEW}"\nSHORT={OLD[:8]}\n')
    moved.edit("pins.toml", 'DG_REF = "{commit}"\n', 'DG_REF = "{commit}"\nSHORT = "{commit}"\n')
    assert moved.run("adopt", SCRIPT).code == 0
    assert moved.text(SCRIPT) == f'DG_REF="{NEW}"\nSHORT={NEW}\n'


def test_a_selector_that_finds_nothing_in_the_file(moved: Consumer) -> None:
    moved.edit("pins.toml", "DG_REF =", 'DG_REFF = "{commit}"\nDG_REF =')
    assert refused(moved, SCRIPT) == ["PIN202"]


def test_a_template_of_several_facts(consumer: Consumer) -> None:
    consumer.put("tools/url.txt", f"https://github.com/o/DeepGEMM.git@{NEW}\n")
    consumer.put(
        "pins.toml", PINS.replace("[pins.tl]", '[pins.dg.sites."tools/url.txt"]\ntext = "{repo}@{commit}"\n[pins.tl]')
    )
    assert refused(consumer, "tools/url.txt") == ["PIN224"]
    consumer.edit(SCRIPT, OLD, NEW)
    assert consumer.run("adopt", SCRIPT).code == 0  # the URL follows


def test_what_would_make_pins_toml_invalid(consumer: Consumer) -> None:
    consumer.edit("requirements.txt", "0.1.11", "0.1.*")
    before = consumer.tree()
    run = consumer.run("adopt", "requirements.txt")
    assert run.code in (1, 3)
    assert consumer.tree() == before


@pytest.mark.parametrize("found", ["sha256-@@@", "sha256-", "nonsense", "sha256-YQ=="])
def test_a_digest_that_is_none(found: str, consumer: Consumer) -> None:
    pin = f'[pins.z]\nurl = "https://h.example/z-{{version}}.tgz"\nversion = "1"\nsha256 = "{"ab" * 32}"\n'
    consumer.put("pins.toml", PINS + pin + 'sites."z.json"."/hash" = "{sha256:sri}"\n')
    consumer.put("z.json", f'{{"hash": "{found}"}}\n')
    assert consumer.run("adopt", "z.json").code in (1, 3)


# --- lists that hold more than ours ---


def test_a_list_that_holds_more_is_left_to_sync(moved: Consumer) -> None:
    moved.edit("pins.toml", "[pins.tl]", '[pins.dg.system_packages]\ndw = { dnf = "elfutils-devel" }\n[pins.tl]')
    moved.edit(
        "pins.toml", '{commit:.10}"\n', '{commit:.10}"\n"build:dnf install" = { contains = "{system_packages.dnf}" }\n'
    )
    moved.edit("pins.toml", '"{commit:.10}"', '"{commit}"')
    moved.edit("docker/Dockerfile", OLD[:10], NEW)
    run = moved.run("adopt", "docker/Dockerfile", "--format", "json")
    assert (run.code, run.told) == (0, [("PIN224", "warning")])
    assert "elfutils-devel" not in moved.text("docker/Dockerfile")
    assert moved.run("sync").out == "changed 1 file: docker/Dockerfile\n"
    assert moved.run("check").code == 0


def test_such_a_list_alone_is_nothing_to_adopt(consumer: Consumer) -> None:
    consumer.edit("pins.toml", "[pins.tl]", '[pins.dg.system_packages]\ndw = { dnf = "elfutils-devel" }\n[pins.tl]')
    consumer.edit(
        "pins.toml", '{commit:.10}"\n', '{commit:.10}"\n"build:dnf install" = { contains = "{system_packages.dnf}" }\n'
    )
    assert refused(consumer, "docker/Dockerfile") == ["PIN224"]


# --- where the value stands ---


def test_a_value_of_a_base_file_is_changed_there(make_repository: MakeRepository) -> None:
    repository = make_repository("with a base")
    pin, rest = PINS.split("\n[pins.dg.sites", 1)
    base = pin.replace("schema = 1\n", "# shared\n")
    ours = 'schema = 1\nextends = "pins/base.toml"\n\n[pins.dg.sites' + rest
    repository.commit(files={**FILES, "pins.toml": ours, "pins/base.toml": base, SCRIPT: SHELL.replace(OLD, NEW)})
    consumer = Consumer(repository)
    run = consumer.run("adopt", SCRIPT)
    assert (run.code, run.out) == (0, "changed 3 files: cmake/dg.cmake, docker/Dockerfile, pins/base.toml\n")
    assert consumer.text("pins.toml") == ours
    assert consumer.text("pins/base.toml") == base.replace(OLD, NEW)
    assert consumer.run("check").out == AGREES


def test_a_value_that_overrides_the_base_is_changed_where_it_does(make_repository: MakeRepository) -> None:
    repository = make_repository("with a base")
    base = PINS.split("\n[pins.dg.sites", 1)[0].replace("schema = 1\n", "").replace(OLD, OTHER)
    ours = PINS.replace("schema = 1\n", 'schema = 1\nextends = "base.toml"\n')
    repository.commit(files={**FILES, "pins.toml": ours, "base.toml": base, SCRIPT: SHELL.replace(OLD, NEW)})
    consumer = Consumer(repository)
    assert consumer.run("adopt", SCRIPT).code == 0
    assert consumer.text("base.toml") == base
    assert consumer.text("pins.toml") == ours.replace(OLD, NEW)


def test_a_fact_of_a_variant_and_one_of_another_pin(consumer: Consumer) -> None:
    consumer.put(
        "pins.toml",
        PINS + '[variants.cu13]\ncuda = "13.0.3"\n[[sites]]\nfile = "v.env"\nCUDA = "{variants.cu13.cuda}"\n'
        'TL = "v{pins.tl.version}"\n',
    )
    consumer.put("v.env", "CUDA=13.1.0\nTL=v0.2.0\n")
    assert consumer.run("adopt", "v.env").out == "changed 2 files: pins.toml, requirements.txt\n"
    assert 'cuda = "13.1.0"' in consumer.text("pins.toml")
    assert "tilelang==0.2.0" in consumer.text("requirements.txt")


# --- tags ---

TAGGED = 'tag = "v1.0"\nsubmodules ='


def test_a_new_tag_leaves_its_commit_to_be_resolved(consumer: Consumer) -> None:
    consumer.edit("pins.toml", "submodules =", TAGGED)
    consumer.edit("pins.toml", '"{git}"', '"{git:tag}"')
    consumer.edit("cmake/dg.cmake", OLD, "v1.1")
    run = consumer.run("adopt", "cmake/dg.cmake", "--format", "json")
    assert (run.code, run.told) == (0, [("PIN121", "warning")])
    assert run.document["findings"][0]["message"] == "the tag is new, and the commit is that of before"
    assert run.document["findings"][0]["hint"] == "run: pinctl bump dg --resolve"
    assert 'tag = "v1.1"\n' in consumer.text("pins.toml")
    assert "unresolved = true\n" in consumer.text("pins.toml")
    assert consumer.run("check").out == "4 sites of 2 pins agree with pins.toml; 1 pin unresolved\n"


def test_a_new_commit_goes_everywhere_and_its_tag_is_asked_for(moved: Consumer) -> None:
    moved.edit("pins.toml", "submodules =", TAGGED)
    run = moved.run("adopt", SCRIPT, "--format", "json")
    assert (run.code, run.told) == (0, [("PIN121", "warning")])
    assert run.document["findings"][0]["message"] == "the commit is new, and the tag is that of before"
    assert moved.run("check").out == AGREES


# --- generated files ---


def test_what_recipes_render_of_the_pin_follows(moved: Consumer) -> None:
    moved.put("pins/ref.j2", "{{ pin.commit }}\n")
    generate = '[pins.{}.generate]\n"made/{}.txt" = "./pins/ref.j2"\n'
    moved.put("pins.toml", PINS.replace("[pins.tl]", generate.format("dg", "dg") + "[pins.tl]"))
    assert moved.run("sync", "--force", "--diff").code == 0
    run = moved.run("adopt", SCRIPT)
    assert (run.code, "made/dg.txt" in run.out) == (0, True)
    assert NEW in moved.text("made/dg.txt")
    assert moved.run("check").code == 0


def test_what_recipes_render_of_other_pins_stays(moved: Consumer) -> None:
    moved.put("pins/version.j2", "{{ pin.version }}\n")
    moved.put("pins.toml", PINS + 'generate."made/tl.txt" = "./pins/version.j2"\n')
    assert moved.run("adopt", SCRIPT).code == 0
    assert not (moved.path / "made").exists()


def test_a_block_that_was_edited_by_hand_is_not_lost(moved: Consumer) -> None:
    moved.put("pins/ref.j2", "{{ pin.commit }}\n")
    moved.put("pins.toml", PINS.replace("[pins.tl]", 'generate."made.txt" = "./pins/ref.j2"\n[pins.tl]').replace(
        'generate."made.txt"', '[pins.dg.generate]\n"made.txt"'))  # fmt: skip
    moved.put("made.txt", "written by hand\n")
    assert refused(moved, SCRIPT) == ["PIN209"]


# --- a pin that changed last ---


def test_a_bump_is_not_taken_back(consumer: Consumer) -> None:
    """The other side of PIN212: a file that was left behind by a bump is no source of truth."""
    consumer.edit("pins.toml", OLD, NEW)
    consumer.commit("a bump")
    before = consumer.tree()
    run = consumer.run("adopt", SCRIPT, "--format", "json")
    assert (run.code, run.told) == (1, [("PIN227", "error")])
    assert run.document["findings"][0]["hint"].startswith("run: pinctl sync")
    assert consumer.tree() == before
    assert consumer.run("adopt", SCRIPT, "--force").code == 0
    assert OLD in consumer.text("pins.toml")


def test_a_generated_file_is_no_site(consumer: Consumer) -> None:
    consumer.put("pins.toml", consumer.text("pins.toml") + 'generate."x.py" = { recipe = "include-dirs" }\n')
    run = consumer.run("adopt", "x.py")
    assert run.code == 2
