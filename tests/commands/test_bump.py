"""`pinctl bump` on real repositories, served by a real git daemon."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from consumer import process
from integration.servers import serve
from repositories import GitRepository

from commands.bumping import DG, FORK, World
from pinctl.external import bare, locks

GIVEN = (
    "--set", 'submodules=["third-party/cutlass", "third-party/deep_jit"]',
    "--set", 'include_dirs=["csrc", "third-party/deep_jit/include"]',
    "--set", 'system_packages.libdw={dnf="elfutils-devel", apt="libdw-dev", header="elfutils/libdwfl.h"}',
)  # fmt: skip


def test_a_bump_that_changes_the_commit_alone(world: World) -> None:
    world.consume()
    last = world.release("2.7", ("cutlass", "fmt"), "#include <fmt/fmt.h>\nint one;\n")
    run = world.bump("deepgemm")
    assert (run.code, run.told) == (0, [])
    (row,) = run.document["result"]["pins"]
    assert (row["from"], row["to"], row["state"]) == (world.first, last, "bumped")
    assert row["changes"]["version"] == "2.7"
    changed = [file["file"] for file in run.document["result"]["files"] if file["changed"]]
    assert changed == ["cmake/deepgemm.cmake", "docker/Dockerfile", "pins.toml", "tools/install deepgemm.sh"]
    assert f'commit     = "{last}"  # the full id\n' in world.text("pins.toml")
    assert 'version    = "2.7"\n' in world.text("pins.toml")
    assert f"GIT_TAG {last}  # keep in sync\n" in world.text("cmake/deepgemm.cmake")
    assert f"ARG DEEPGEMM_REF={last[:10]}\n" in world.text("docker/Dockerfile")
    assert world.run("check").code == 0
    assert world.bump("deepgemm").document["result"] == {"pins": [], "files": []}


def test_a_release_that_swaps_a_submodule_stops_and_names_what_is_to_be_decided(world: World) -> None:
    world.consume()
    world.next_release()
    before = world.text("pins.toml")
    run = world.bump("deepgemm")
    assert run.code == 1
    errors = {found["code"]: found for found in run.document["findings"] if found["severity"] == "error"}
    assert sorted(errors) == ["PIN304", "PIN310", "PIN312", "PIN315"]
    assert errors["PIN304"]["line"] == before.split("\n").index(
        'submodules = ["third-party/cutlass", "third-party/fmt"]  # what the build needs'
    ) + 1  # fmt: skip
    assert errors["PIN310"]["hint"] == errors["PIN304"]["hint"]
    told, command = errors["PIN304"]["hint"].split("\n")
    assert "submodules may be third-party/deep_jit now" in told
    assert "include_dirs may be third-party/deep_jit/include now" in told
    assert command == (
        f"pinctl bump deepgemm --to {world.last}"
        ' --set \'submodules=["third-party/cutlass", "third-party/deep_jit"]\''
        ' --set \'include_dirs=["csrc", "third-party/deep_jit/include"]\''
    )
    assert "elfutils-devel (dnf)" in errors["PIN315"]["message"]
    (row,) = run.document["result"]["pins"]
    assert [(one["key"], one["gone"], one["offers"]) for one in row["decide"]] == [
        ("submodules", ["third-party/fmt"], ["third-party/deep_jit"]),
        ("include_dirs", ["third-party/fmt/include"], ["third-party/deep_jit/include"]),
    ]
    assert (world.text("pins.toml"), world.status) == (before, [""])


def test_with_the_new_values_every_site_follows_at_once(world: World) -> None:
    world.consume()
    last = world.next_release()
    run = world.bump("deepgemm", *GIVEN)
    assert (run.code, run.told) == (0, [])
    assert world.text("cmake/deepgemm.cmake").count("third-party/cutlass third-party/deep_jit") == 1
    assert f'DEEPGEMM_GIT_REF="{last}"' in world.text("tools/install deepgemm.sh")
    assert world.text("setup.py") == 'INCLUDES = [src / "csrc", src / "third-party/deep_jit/include"]\n'
    assert "fmt" not in world.text("pins.toml")
    assert world.run("check").code == 0
    assert world.run("verify").code == 0


def test_the_values_may_stand_in_the_file_already(world: World) -> None:
    world.consume()
    world.next_release()
    text = world.text("pins.toml").replace("third-party/fmt", "third-party/deep_jit")
    need = '[pins.deepgemm.system_packages]\nlibdw = { dnf = "elfutils-devel", header = "elfutils/libdwfl.h" }\n'
    world.engine.write("pins.toml", text + need)
    run = world.bump("deepgemm")
    assert (run.code, run.told) == (0, [])
    assert world.run("check").code == 0


def test_what_left_the_pin_leaves_lists_that_hold_more(world: World) -> None:
    contains = '"build:dnf install" = { contains = "{system_packages.dnf}" }\n'
    world.consume(pins="")
    pins = world.text("pins.toml").replace(
        '"ARG DEEPGEMM_REF" = "{commit:.10}"\n', f'"ARG DEEPGEMM_REF" = "{{commit:.10}}"\n{contains}'
    )
    pins += '[pins.deepgemm.system_packages]\nfmt = { dnf = "fmt-devel", header = "fmt/core.h" }\n'
    world.engine.write("pins.toml", pins)
    dockerfile = world.text("docker/Dockerfile").replace("install -y gcc", "install -y gcc fmt-devel")
    world.engine.commit("with fmt", {"docker/Dockerfile": dockerfile})
    world.next_release()
    need = 'system_packages={libdw={dnf="elfutils-devel", header="elfutils/libdwfl.h"}}'
    run = world.bump("deepgemm", *GIVEN[:4], "--set", need)
    assert (run.code, run.told) == (0, [])
    assert world.text("docker/Dockerfile").endswith("RUN dnf install -y gcc elfutils-devel\n")


def test_what_is_accepted_by_name_stops_nothing(world: World) -> None:
    world.consume()
    last = world.next_release()
    codes = [word for code in ("PIN304", "PIN310", "PIN312", "PIN315") for word in ("--accept", code)]
    run = world.bump("deepgemm", *codes)
    assert run.code == 0
    assert {severity for _, severity in run.told} == {"warning"}
    assert f'"{last}"' in world.text("pins.toml")
    assert world.bump("deepgemm", "--accept", "PIN000").code == 2


def test_going_back_is_refused(world: World) -> None:
    last = world.release("2.7", ("cutlass", "fmt"), "int two;\n")
    world.consume(commit=last)
    run = world.bump("deepgemm", "--to", world.first)
    assert [code for code, severity in run.told if severity == "error"] == ["PIN322"]
    assert world.status == [""]
    assert world.bump("deepgemm", "--to", world.first, "--accept", "PIN322").code == 0
    assert f'"{world.first}"' in world.text("pins.toml")


def test_a_commit_that_the_branch_does_not_have_is_refused(world: World) -> None:
    world.consume()
    stray = world.release("2.7", ("cutlass", "fmt"), "int pull_request;\n")
    world.up.git("update-ref", "refs/pull/7/head", stray)
    world.up.git("reset", "-q", "--hard", world.first)
    run = world.bump("deepgemm", "--to", stray)
    assert [code for code, severity in run.told if severity == "error"] == ["PIN302"]
    assert world.status == [""]
    assert world.bump("deepgemm", "--to", stray, "--accept", "PIN302").code == 0


def test_a_commit_that_is_not_there(world: World) -> None:
    world.consume()
    assert world.bump("deepgemm", "--to", "ab" * 20).code in (1, 4)
    run = world.run("bump", "deepgemm", "--to", "v9")
    assert (run.code, "has no tag, branch or commit v9" in run.err) == (2, True)
    assert world.status == [""]


def test_names_are_no_revisions(world: World) -> None:
    """A tag named like a short id, a tag named like the branch, `:/text`, an option: none leads anywhere unforeseen."""
    last = world.release("2.7", ("cutlass", "fmt"), "int two;\n")
    world.consume()
    world.up.git("tag", last[:8], world.first)
    run = world.run("bump", "deepgemm", "--to", last[:8])
    assert (run.code, "may be meant as an id" in run.err) == (2, True)
    world.up.git("tag", "main", world.first)
    run = world.run("bump", "deepgemm", "--to", "main")
    assert (run.code, "is a tag and a branch" in run.err) == (2, True)
    for name in (":/Release", "HEAD~1", "--upload-pack=touch x", "@{0}"):
        assert world.run("bump", "deepgemm", f"--to={name}").code == 2
    assert world.run("bump", "deepgemm", "--to", last[:9]).code == 0
    assert f'"{last}"' in world.text("pins.toml")


def test_a_tag_object_is_no_commit(world: World) -> None:
    world.consume()
    world.release("2.7", ("cutlass", "fmt"), "int two;\n")
    world.up.git("tag", "-a", "v2.7", "-m", "release")
    run = world.run("bump", "deepgemm", "--to", world.up.git("rev-parse", "v2.7"))
    assert (run.code, "is a tag of" in run.err) == (2, True)


def test_release_tags(world: World) -> None:
    world.up.git("tag", "v2.6")
    world.consume()
    text = world.text("pins.toml").replace('track      = "main"', 'tag        = "v2.6"')
    cmake = world.text("cmake/deepgemm.cmake").replace(world.first, "v2.6")
    text = text.replace('"{git}"', '"{git:tag}"')
    world.engine.commit("by tag", {"pins.toml": text, "cmake/deepgemm.cmake": cmake})
    assert world.run("check").code == 0
    last = world.release("2.7", ("cutlass", "fmt"), "int two;\n")
    world.up.git("tag", "-a", "v2.7", "-m", "release")
    world.release("2.8rc1", ("cutlass", "fmt"), "int three;\n")
    world.up.git("tag", "v2.8rc1")
    check = world.bump("--check")
    assert (check.code, check.document["result"]["pins"][0]["tag"]) == (1, "v2.7")
    assert world.bump("deepgemm").code == 0
    assert "GIT_TAG v2.7  # keep in sync\n" in world.text("cmake/deepgemm.cmake")
    assert f'"{last}"' in world.text("pins.toml")
    assert 'tag        = "v2.7"' in world.text("pins.toml")
    assert 'version    = "2.7"' in world.text("pins.toml")
    assert (world.bump("--check").code, world.bump("--check", "--pre").code) == (0, 1)


def test_the_check_writes_nothing(world: World) -> None:
    world.consume()
    assert (world.bump("--check").code, world.bump("--check", "deepgemm").code) == (0, 0)
    last = world.release("2.7", ("cutlass", "fmt"), "int two;\n")
    run = world.bump("--check")
    assert (run.code, run.document["result"]["pins"][0]["to"]) == (1, last)
    assert world.status == [""]


def test_the_diff_writes_nothing(world: World) -> None:
    world.consume()
    last = world.release("2.7", ("cutlass", "fmt"), "int two;\n")
    run = world.run("bump", "deepgemm", "--diff")
    assert run.code == 0
    assert f"+  GIT_TAG {last}  # keep in sync\n" in run.out
    assert world.status == [""]


def test_a_site_that_somebody_moved_is_not_overwritten(world: World) -> None:
    world.consume()
    stray = world.release("2.7", ("cutlass", "fmt"), "int two;\n")
    last = world.release("2.8", ("cutlass", "fmt"), "int three;\n")
    script = world.text("tools/install deepgemm.sh").replace(world.first, stray)
    world.engine.commit("somebody moved the script alone", {"tools/install deepgemm.sh": script})
    run = world.bump("deepgemm")
    assert [code for code, severity in run.told if severity == "error"] == ["PIN212"]
    assert world.status == [""]
    assert world.bump("deepgemm", "--to", stray).code == 0  # the value that it has is not overwritten
    world.engine.git("checkout", "-q", ".")
    assert world.bump("deepgemm", "--force").code == 0
    assert last in world.text("tools/install deepgemm.sh")


def test_back_to_what_was_pinned_before(world: World) -> None:
    world.consume()
    world.next_release()
    assert world.bump("deepgemm", *GIVEN).code == 0
    before = world.first
    world.engine.commit("bumped")
    run = world.bump("deepgemm", "--rollback")
    assert (run.code, run.document["result"]["pins"][0]["to"]) == (0, before)
    assert "third-party/fmt/include" in world.text("setup.py")
    assert 'version    = "2.6"' in world.text("pins.toml")
    assert world.run("check").code == 0


def test_one_commit_of_exactly_what_was_written(world: World) -> None:
    world.consume()
    last = world.release("2.7", ("cutlass", "fmt"), "int two;\n")
    world.engine.write("notes.txt", "mine\n")
    world.engine.write("staged.txt", "mine, too\n")
    world.engine.git("add", "staged.txt")
    world.engine.git("config", "user.name", "A Person")
    world.engine.git("config", "user.email", "person@example.org")
    run = world.bump("deepgemm", "--branch", "bump/deepgemm")
    assert run.code == 0
    made = run.document["result"]["commit"]
    assert world.engine.git("rev-parse", "bump/deepgemm") == made == world.engine.git("rev-parse", "HEAD")
    shown = world.engine.git("show", "--name-only", "--format=%an%n%s%n%b", "HEAD").split("\n")
    assert shown[:2] == ["A Person", f"Bump deepgemm to {last[:10]}"]
    assert f"deepgemm: {world.first[:10]} -> {last[:10]} (1 commit ahead)" in shown
    assert shown[-4:] == ["cmake/deepgemm.cmake", "docker/Dockerfile", "pins.toml", "tools/install deepgemm.sh"]
    assert world.status == ["A  staged.txt", "?? notes.txt"]


def test_a_commit_takes_no_other_change_along(world: World) -> None:
    world.consume()
    world.release("2.7", ("cutlass", "fmt"), "int two;\n")
    world.engine.write("docker/Dockerfile", world.text("docker/Dockerfile") + "RUN make\n")
    run = world.run("bump", "deepgemm", "--commit")
    assert (run.code, "docker/Dockerfile: changed since HEAD" in run.err) == (1, True)
    assert world.status == [" M docker/Dockerfile"]


def test_a_strangers_checkout_gets_no_commit(world: World) -> None:
    world.consume()
    assert world.run("bump", "deepgemm", "--commit", "--untrusted").code == 2
    assert world.run("bump", "deepgemm", "--untrusted").code == 2


def test_the_body_of_a_pull_request(world: World) -> None:
    world.consume()
    world.next_release()
    run = world.bump("deepgemm", *GIVEN, "--body", "body.md")
    assert run.code == 0
    body = world.text("body.md")
    needed = "| &#60;elfutils/libdwfl.h&#62; | needed now | elfutils-devel (dnf), libdw-dev (apt) |"
    folder = "| third-party/deep&#95;jit/include | new |"
    for told in ("#### deepgemm\n", "| Release 2.8 |", "| third-party/fmt | ", folder, needed):
        assert told in body
    assert world.run("bump", "deepgemm", "--body", "nowhere/body.md").code == 2


def test_from_a_fork_to_its_upstream_and_back(world: World) -> None:
    world.fork.git("fetch", "-q", str(world.up.path), "main")
    world.fork.git("reset", "-q", "--hard", "FETCH_HEAD")
    mine = world.fork.commit("a fix of the fork", {"csrc/fix.cpp": "int fix;\n"})
    world.consume(FORK, mine, f'[pins.deepgemm.upstream]\nrepo = "{DG}"\ntrack = "main"\n')
    last = world.release("2.7", ("cutlass", "fmt"), "int two;\n")
    status = world.run("status", "--format", "json").document["result"]["pins"][0]
    assert (status["ahead"], status["behind"], status["fork"]) == (0, 0, {"ahead": 1, "behind": 1})
    run = world.bump("deepgemm", "--upstream")
    assert (run.code, run.told) == (0, [("PIN323", "warning")])
    assert f'repo       = "{DG}"' in world.text("pins.toml")
    assert "upstream" not in world.text("pins.toml")
    assert f'DEEPGEMM_GIT_REPO="{DG}"' in world.text("tools/install deepgemm.sh")
    world.engine.commit("to upstream")
    assert world.bump("deepgemm", "--repo", FORK).told == [("PIN322", "error")]  # the fork is at 2.6
    assert world.bump("deepgemm", "--repo", FORK, "--accept", "PIN322").code == 0
    assert f'repo       = "{FORK}"' in world.text("pins.toml")
    assert f'"{mine}"' in world.text("pins.toml")
    assert last not in world.text("cmake/deepgemm.cmake")
    assert world.run("check").code == 0


@pytest.mark.parametrize(
    "url", ["ext::sh -c x", "https://u:p@git.example/x", "file:///etc", "--upload-pack=x", "https://h/\nx"]
)
def test_hostile_addresses_are_refused(world: World, url: str) -> None:
    world.consume()
    run = world.run("bump", "deepgemm", f"--repo={url}")
    assert run.code in (2, 4)
    assert "u:p" not in run.err + run.out
    assert world.status == [""]


def test_what_is_proved_cannot_be_set(world: World) -> None:
    world.consume()
    for given in (f"commit={world.first}", f'repo="{FORK}"', 'tag="v1"', "commit", "a.=1", "a\nb=1"):
        assert world.run("bump", "deepgemm", "--set", given).code == 2
    for code in ("PIN320", "PIN321", "PIN301", "PIN212"):
        assert world.run("bump", "deepgemm", "--accept", code).code == 2
    assert world.status == [""]


def test_a_version_is_text_and_a_fact_may_be_a_number(world: World) -> None:
    world.consume()
    assert (
        world.bump("deepgemm", "--set", "version=2.60", "--set", 'facts."min_cuda"=12', "--accept", "PIN313").code == 0
    )
    assert 'version    = "2.60"' in world.text("pins.toml")
    assert "min_cuda = 12" in world.text("pins.toml")


def test_a_tag_that_moved_is_not_followed_unasked(world: World) -> None:
    world.up.git("tag", "v2.6")
    pins = 'tag = "v2.6"\nsubmodules ='
    world.consume()
    world.engine.commit("by tag", {"pins.toml": world.text("pins.toml").replace("submodules =", pins, 1)})
    moved = world.release("2.6", ("cutlass", "fmt"), "int moved;\n")
    world.up.git("tag", "-f", "v2.6")
    run = world.bump("deepgemm")
    assert run.told == [("PIN303", "error")]
    assert world.status == [""]
    assert world.bump("deepgemm", "--to", "v2.6").code == 0
    assert moved in world.text("pins.toml")


def test_a_tag_of_no_commit(world: World) -> None:
    world.consume()
    world.up.git("tag", "v9.0", world.up.git("rev-parse", "main^{tree}"))
    run = world.run("bump", "deepgemm", "--to", "v9.0")
    assert (run.code, "leads to a tree" in run.err) == (2, True)
    pins = f'schema = 1\n[pins.deepgemm]\nrepo = "{DG}"\ntag = "v9.0"\nunresolved = true\nunused = true\n'
    world.engine.write("pins.toml", pins)
    assert world.run("bump", "deepgemm", "--resolve").code == 2
    assert "unresolved = true" in world.text("pins.toml")


def test_what_a_pin_follows_stays_unless_a_branch_is_named(world: World) -> None:
    world.consume()
    world.release("2.7", ("cutlass", "fmt"), "int two;\n")
    world.up.git("tag", "v2.7")
    assert world.bump("deepgemm", "--to", "v2.7").code == 0
    assert "tag" not in world.text("pins.toml")
    text = world.text("pins.toml").replace('track      = "main"', 'tag        = "v2.7"')
    world.engine.commit("by tag", {"pins.toml": text})
    world.up.git("switch", "-q", "-c", "dev")
    world.release("2.8", ("cutlass", "fmt"), "int three;\n")
    assert world.bump("deepgemm", "--to", "dev").code == 0
    assert 'track = "dev"' in world.text("pins.toml")
    assert "tag " not in world.text("pins.toml")


def test_an_older_version_is_a_way_back_whatever_the_history_says(world: World) -> None:
    world.consume()
    world.release("2.5", ("cutlass", "fmt"), "int two;\n")
    run = world.bump("deepgemm")
    assert (run.told, run.document["findings"][0]["message"]) == (
        [("PIN322", "error")], "the version 2.5 is older than 2.6",
    )  # fmt: skip


def test_a_commit_known_to_be_bad(world: World) -> None:
    last = world.release("2.7", ("cutlass", "fmt"), "int two;\n")
    bad = f'\n[[pins.deepgemm.bad]]\ncommit = "{last}"\nreason = "reads out of bounds"\n'
    world.consume(pins=bad)
    run = world.bump("deepgemm")
    assert (run.code, run.told) == (1, [("PIN122", "error")])
    assert "reads out of bounds" in run.out
    assert world.status == [""]


def test_a_commit_that_was_forced_away_can_be_left(world: World) -> None:
    world.consume()
    lost = world.release("2.7", ("cutlass", "fmt"), "int lost;\n")
    world.engine.commit("to it", {"pins.toml": world.text("pins.toml").replace(world.first, lost)})
    assert world.run("sync").code == 0
    world.engine.commit("all of it")
    world.up.git("reset", "-q", "--hard", world.first)
    last = world.release("2.8", ("cutlass", "fmt"), "int other;\n")
    world.up.git("reflog", "expire", "--expire=now", "--all")
    world.up.git("gc", "-q", "--prune=now")
    run = world.bump("deepgemm")
    assert (run.code, run.told) == (0, [("PIN323", "warning")])
    assert "is not known" in run.document["findings"][0]["message"]
    assert last in world.text("pins.toml")


def test_what_init_left_open_is_filled_in(world: World) -> None:
    world.consume()
    short = world.first[:9]
    text = world.text("pins.toml").replace(f'commit     = "{world.first}"  # the full id', f'unresolved = "{short}"')
    cmake = world.text("cmake/deepgemm.cmake").replace(world.first, short)
    script = world.text("tools/install deepgemm.sh").replace(world.first, short)
    dockerfile = world.text("docker/Dockerfile").replace(world.first[:10], short)
    files = {"pins.toml": text, "cmake/deepgemm.cmake": cmake, "tools/install deepgemm.sh": script,
             "docker/Dockerfile": dockerfile}  # fmt: skip
    world.engine.commit("by its short id", files)
    assert world.run("check").code == 0
    assert world.run("bump", "deepgemm").code == 2
    run = world.bump("--resolve")
    assert (run.code, run.document["result"]["pins"][0]["to"]) == (0, world.first)
    assert f'commit = "{world.first}"' in world.text("pins.toml")
    assert "unresolved" not in world.text("pins.toml")
    assert f"GIT_TAG {world.first}" in world.text("cmake/deepgemm.cmake")
    assert world.run("check").code == 0


def test_all_pins_or_none(world: World) -> None:
    other = f"""
[pins.jit]
repo = "{DG.removesuffix("DeepGEMM")}deep_jit"
commit = "{world.modules["deep_jit"].git("rev-parse", "HEAD")}"
unused = true
"""
    world.consume(pins=other)
    world.next_release()
    jit = world.modules["deep_jit"].commit("two")
    run = world.bump("--all")
    assert run.code == 1, run.out
    assert world.status == [""]
    assert world.bump("jit").code == 0
    assert jit in world.text("pins.toml")
    world.up.git("branch", "-m", "main", "trunk")
    run = world.bump("--all")
    assert [(f["code"], f["pin"]) for f in run.document["findings"]] == [("PIN324", "deepgemm")]


def test_a_submodule_of_the_consumer_is_staged(world: World) -> None:
    world.consume()
    world.engine.git("submodule", "--quiet", "add", str(world.up.path), "third_party/DeepGEMM")
    world.engine.commit("as a submodule")
    pins = world.text("pins.toml") + '[pins.deepgemm.sites."third_party/DeepGEMM"]\ngitlink = "{commit}"\n'
    world.engine.commit("watched", {"pins.toml": pins})
    assert world.run("check").code == 0
    last = world.release("2.7", ("cutlass", "fmt"), "int two;\n")
    run = world.bump("deepgemm")
    assert (run.code, run.told) == (0, [("PIN216", "warning")])
    assert world.engine.git("rev-parse", ":third_party/DeepGEMM") == last
    assert "git submodule update" in run.document["findings"][0]["hint"]


@pytest.mark.parametrize("words", [("bump", "deepgemm", "--diff"), ("diff", "deepgemm"), ("status",)])
def test_a_broken_cache_heals(words: tuple[str, ...], world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """One run holds several stores of the repository that is to be made anew."""
    world.consume()
    world.release("2.7", ("cutlass", "fmt"), "int two;\n")
    monkeypatch.setattr(locks, "PATIENCE", 3.0)
    before = world.run(*words, "--format", "json")
    packs = list(Path(bare.parent()).glob("*/objects/pack/*.pack"))
    for pack in packs:
        pack.chmod(0o600)
        pack.write_bytes(pack.read_bytes()[:50])
    after = world.run(*words, "--format", "json")
    assert packs
    assert (after.code, after.document["result"]) == (before.code, before.document["result"])
    assert after.told == before.told


def test_an_upstream_of_sha256_and_a_cold_cache(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(locks, "PATIENCE", 3.0)
    path = world.up.path.parent / "sha256"
    subprocess.run(["git", "init", "-q", "-b", "main", "--object-format=sha256", path], check=True)
    serve(path)
    up = GitRepository(path)
    first, last = up.commit("one", {"a.h": "int a;\n"}), up.commit("two", {"a.h": "int b;\n"})
    pins = f'schema = 1\n[pins.up]\nrepo = "{DG.removesuffix("DeepGEMM")}sha256"\ncommit = "{first}"\ntrack = "main"\n'
    world.engine.commit("an engine", {"pins.toml": pins + 'sites."x.sh".REF = "{commit}"\n', "x.sh": f"REF={first}\n"})
    run = world.bump("up")
    assert (run.code, run.told) == (0, [])
    assert world.text("x.sh") == f"REF={last}\n"


def test_nothing_is_half_written_where_it_is_interrupted(world: World) -> None:
    """A kill while the remotes are asked leaves everything as it was; see the journal's tests for the writing."""
    world.consume()
    world.release("2.7", ("cutlass", "fmt"), "int two;\n")
    with pytest.raises(subprocess.TimeoutExpired):
        process("bump", "deepgemm", cwd=world.root, timeout=0.4)
    assert world.status == [""]
    assert world.bump("deepgemm").code == 0
