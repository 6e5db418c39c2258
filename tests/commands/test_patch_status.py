from __future__ import annotations

import pytest

from commands.patched_engine import FILE, URL, V2, Engine


def test_at_the_pinned_commit(patching: Engine) -> None:
    done = patching.run("patch", "status")
    assert done.code == 0
    assert "pristine" in done.out
    assert "my patches/one.patch" in done.out
    assert patching.states("dg") == ["pristine"]


def test_at_other_commits(patching: Engine) -> None:
    at = [word for commit in patching.commits.values() for word in ("--at", commit)]
    assert patching.states("dg", *at) == ["pristine", "pristine", "conflict", "superseded"]
    done = patching.json("status", "dg", *at)
    assert (done.code, done.codes) == (0, [])  # a survey
    places = done.document["result"]["pins"][0]["places"]
    assert [place["at"] for place in places] == [commit[:10] for commit in patching.commits.values()]
    assert [place["patches"][0]["offset"] for place in places] == [0, 3, 0, 3]
    assert patching.states("dg", "--at", "main") == ["superseded"]
    assert patching.states("dg", "--at", patching.commits["moved"][:12]) == ["pristine"]


def test_a_conflict_is_an_error_with_its_place(patching: Engine) -> None:
    patching.pins(at="rewritten")
    done = patching.json("status")
    assert (done.code, done.codes) == (1, ["PIN504"])
    (found,) = done.document["findings"]
    assert (found["file"], found["line"], found["pin"]) == ("pins.toml", 8, "dg")
    assert f"{FILE}, hunk 1 of 1 fits nowhere; the nearest place differs at line 9" in found["message"]
    assert found["hint"] == "run: pinctl patch refresh dg"
    assert "line six" in patching.run("patch", "status").out


def test_what_upstream_has_taken(patching: Engine) -> None:
    patching.pins(at="taken")
    done = patching.json("status")
    assert (done.code, done.told) == (0, [("PIN506", "info")])
    patching.pins('[[pins.dg.patches]]\nfile = "my patches/one.patch"\nretire = "upstream"\n', at="taken")
    done = patching.json("status")
    assert (done.code, done.told) == (0, [("PIN506", "warning")])


def test_a_backport_is_known_by_its_commit(patching: Engine) -> None:
    backport = f'[[pins.dg.patches]]\nfile = "my patches/one.patch"\nbackport = "{patching.commits["taken"]}"\n'
    patching.pins(backport)
    assert patching.states() == ["pristine"]
    patching.pins(backport, at="taken")
    assert patching.json("status").told == [("PIN506", "warning")]
    later = patching.up.commit("rewritten once more", {FILE: "all new\n"})
    patching.pins(backport, at=later)
    assert patching.states() == ["superseded"]


def test_patches_that_cannot_be_used(patching: Engine) -> None:
    patching.patch("bad.patch", "nonsense\n")
    patching.patch("out.patch", "--- /dev/null\n+++ b/../out\n@@ -0,0 +1 @@\n+x\n")
    patching.patch("large.patch", "x" * (1024 * 1024 + 1))
    names = ("gone", "bad", "out", "large", "one")
    patching.pins("".join(f'[[pins.dg.patches]]\nfile = "my patches/{name}.patch"\n' for name in names))
    done = patching.json("status")
    assert done.told == [(code, "error") for code in ("PIN501", "PIN502", "PIN503", "PIN501")]
    assert [found["line"] for found in done.document["findings"]] == [9, 11, 13, 15]
    assert patching.states() == ["cannot be read"] * 4 + ["pristine"]
    assert "there is no diff in it" in done.out
    assert "`..`" in done.out


def test_other_versions_and_installed_files(patching: Engine) -> None:
    edit = '[[pins.dg.patches]]\ntarget = "dg/a.h"\nsearch = "x"\nreplace = "y"\n'
    patching.pins('[[pins.dg.patches]]\nfile = "my patches/one.patch"\nwhen = "version < 2"\n' + edit)
    done = patching.json("status")
    assert done.told == [("PIN509", "info")]
    assert patching.states() == ["not for this version", "an installed file"]


def test_in_a_folder(patching: Engine) -> None:
    folder = patching.checkout()
    assert patching.states("dg", "--in", str(folder)) == ["pristine"]
    (folder / FILE).unlink()
    done = patching.json("status", "dg", "--in", "../a check out")
    assert done.codes == ["PIN504"]
    assert "does not exist" in done.out


def test_a_submodule_is_patched_too(patching: Engine, make_repository: object) -> None:
    sub = make_repository("srv/sub")  # type: ignore[operator]
    inner = sub.commit("sub", {"include/a.h": "1\n2\n3\n"})
    from integration.servers import serve

    serve(sub.path)
    patching.up.write(".gitmodules", '[submodule "sub"]\n\tpath = third-party/sub\n\turl = ../sub\n')
    patching.up.git("add", "-A")
    patching.up.git("update-index", "--add", "--cacheinfo", f"160000,{inner},third-party/sub")
    patching.up.git("commit", "-q", "-m", "link")
    patching.patch("one.patch", "--- a/third-party/sub/include/a.h\n+++ b/third-party/sub/include/a.h\n"
                   "@@ -1,3 +1,3 @@\n 1\n-2\n+two\n 3\n")  # fmt: skip
    patching.pins(at=patching.up.git("rev-parse", "HEAD"))
    assert patching.states() == ["pristine"]
    patching.patch("one.patch", patching.text().replace("-2", "-no"))
    assert patching.states() == ["conflict"]


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("nothing",), "there is no pin 'nothing'"),
        (("dg", "--at", "main", "--in", "."), "exclude each other"),
        (("dg", "--in", "nowhere"), "no such directory"),
        (("dg", "--at", "no-such-branch"), "no tag, branch or commit"),
    ],
)
def test_what_makes_no_sense(words: tuple[str, ...], why: str, patching: Engine) -> None:
    done = patching.run("patch", "status", *words)
    assert done.code == 2
    assert why in done.err


def test_the_only_pin_with_patches_need_not_be_named(patching: Engine) -> None:
    folder = patching.checkout()
    assert patching.states("--in", str(folder)) == ["pristine"]
    assert patching.states("--at", patching.commits["taken"]) == ["superseded"]
    other = patching.commits["moved"]
    patching.pins(extra=f'[pins.b]\nrepo = "{URL}"\ncommit = "{other}"\nunused = true\n'
                        '[[pins.b.patches]]\nfile = "my patches/one.patch"\n')  # fmt: skip
    done = patching.run("patch", "status", "--at", "main")
    assert (done.code, "are for one pin" in done.err) == (2, True)


def test_what_an_earlier_patch_has_made_is_not_upstreams(patching: Engine) -> None:
    patching.patch("two.patch", V2)
    lines = "".join(f'[[pins.dg.patches]]\nfile = "my patches/{name}.patch"\n' for name in ("one", "two"))
    patching.pins(lines)
    done = patching.json("status")
    assert patching.states() == ["pristine", "applied"]
    (found,) = done.document["findings"]
    assert (found["code"], found["severity"], found["line"]) == ("PIN506", "info", 10)
    assert found["message"] == "my patches/two.patch changes nothing: the patches before it make its change"
    assert patching.run("bump", "dg", "--to", patching.commits["moved"], "--drop-patches").code == 0
    assert "two.patch" not in (patching.root / "pins.toml").read_text()


def test_pins_that_have_no_tree(patching: Engine) -> None:
    packages = '[pins.torch]\npackages = ["torch"]\nversion = "2.8"\nunused = true\n[[pins.torch.patches]]\n'
    patching.pins(extra=f'{packages}target = "torch/a.h"\nsearch = "x"\nreplace = "y"\n')
    done = patching.json("status")
    assert done.code == 2
    assert done.document["findings"][0]["message"] == "torch has no repository"
    assert patching.states("dg") == ["pristine"]
    assert "--in DIR" in patching.run("patch", "status", "torch").err
    (patching.root / "torch").mkdir()
    (patching.root / "torch/a.h").write_text("x\n")
    assert patching.states("torch", "--in", ".") == ["pristine"]


def test_no_patches_at_all(patching: Engine) -> None:
    patching.pins("")
    done = patching.run("patch", "status")
    assert (done.code, done.out) == (0, "no pin has patches\n")


def test_offline_it_reads_the_cache(patching: Engine) -> None:
    assert patching.run("patch", "status", "--offline").code == 4
    patching.states()
    assert patching.states("--offline") == ["pristine"]
