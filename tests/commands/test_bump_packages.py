"""`pinctl bump` of pins that go by the versions of packages."""

from __future__ import annotations

from pathlib import Path

import pytest
from integration.indexes import Reply, pypi, wheel
from integration.servers import git_daemon, instead_of, serve
from repositories import MakeRepository

from commands.releases import Shop, sha256

PIN = """\
[pins.tl]
packages = ["tilelang"]
version = "{version}"  # the newest that works
{more}
sites."requirements.txt"."requirement tilelang" = "{{version}}"
"""
CU12 = "cp312-cp312-manylinux_2_28_x86_64"


def engine(shop: Shop, version: str, more: str = "", variants: str = "") -> None:
    shop.consume(PIN.format(version=version, more=more) + variants, {"requirements.txt": f"tilelang=={version}\n"})


def went(shop: Shop, *words: str) -> str:
    """The version that `bump tl` leads to."""
    run = shop.bump("tl", *words)
    assert (run.code, [code for code, severity in run.told if severity == "error"]) == (0, []), run.out + run.err
    assert shop.run("check").code == 0
    return shop.text("requirements.txt").strip().removeprefix("tilelang==")


@pytest.mark.parametrize(
    ("now", "offered", "words", "wanted"),
    [
        ("0.1.5", ["0.1.4", "0.1.5", "0.1.5.post2"], (), "0.1.5.post2"),
        ("0.1.5.post2", ["0.1.5", "0.1.5.post2"], (), "0.1.5.post2"),
        ("0.1.9", ["0.1.9", "0.1.10", "0.1.11rc1", "0.1.11.dev3"], (), "0.1.10"),
        ("0.1.9", ["0.1.9", "0.1.10", "0.1.11rc1"], ("--pre",), "0.1.11rc1"),
        ("0.1.11rc1", ["0.1.10", "0.1.11rc1", "0.1.11rc2"], (), "0.1.11rc2"),
        ("0.1.11rc1", ["0.1.11rc1", "0.1.11rc2", "0.1.11", "0.1.12rc1"], (), "0.1.11"),
        ("0.1.11rc1", ["0.1.11rc1", "0.1.11.post1"], (), "0.1.11.post1"),
        ("2024.1", ["2024.1", "1!0.1"], (), "1!0.1"),
        ("1.0", ["1.0", "1.1+cu129"], (), "1.1"),
        ("1.0+cu129", ["1.0+cu129", "1.1+cu130", "1.1", "1.1+cu129"], (), "1.1+cu129"),
        ("0.1.5", ["0.1.5", "0.1.6rc1"], ("--to", "0.1.6-rc.1"), "0.1.6rc1"),
        ("0.1.5", ["0.1.5", "0.1.6", "0.1.7"], ("--to", "v0.1.6"), "0.1.6"),
    ],
)
def test_the_version_that_is_next(
    shop: Shop, now: str, offered: list[str], words: tuple[str, ...], wanted: str
) -> None:
    shop.project("tilelang", *offered)
    engine(shop, now)
    assert went(shop, *words) == wanted
    assert f'version = "{wanted}"  # the newest that works\n' in shop.text("pins.toml")


def test_yanked_and_bad_versions_are_passed_over(shop: Shop, tmp_path: Path) -> None:
    shop.project("tilelang", "0.1.5", "0.1.6", "0.1.7", "0.1.8", v0_1_6={"yanked": "wrong results"},
                 v0_1_8={"yanked": True})  # fmt: skip
    engine(shop, "0.1.5", 'bad = [{ version = "0.1.7", reason = "hangs | on sm120" }]')
    assert shop.bump("--check", "--all").code == 0
    shop.project("tilelang", "0.1.5", "0.1.5.post1", "0.1.6", "0.1.7", "0.1.8",
                 v0_1_6={"yanked": "wrong results"}, v0_1_8={"yanked": True})  # fmt: skip
    body = tmp_path / "body.md"
    run = shop.bump("tl", "--body", str(body))
    (row,) = run.document["result"]["pins"]
    assert (row["from"], row["to"], row["version"]) == ("0.1.5", "0.1.5.post1", "0.1.5.post1")
    assert row["passed"] == [
        {"version": "0.1.8", "why": "yanked"},
        {"version": "0.1.7", "why": "known to be bad: hangs | on sm120"},
        {"version": "0.1.6", "why": "yanked: wrong results"},
    ]
    told = body.read_text()
    assert "0.1.5.post1" in told
    assert "yanked: wrong results" in told
    assert "hangs &#124; on sm120" in told


def test_a_yanked_version_is_refused_unless_it_is_accepted(shop: Shop) -> None:
    shop.project("tilelang", "0.1.5", "0.1.6", v0_1_6={"yanked": "wrong results"})
    engine(shop, "0.1.5")
    run = shop.bump("tl", "--to", "0.1.6")
    assert (run.code, run.told, shop.status) == (1, [("PIN326", "error")], "")
    run = shop.bump("tl", "--to", "0.1.6", "--accept", "PIN326")
    assert (run.code, run.told) == (0, [("PIN326", "warning")])
    assert went(shop) == "0.1.6"


def test_a_version_waits_for_the_wheels_that_the_present_one_has(shop: Shop) -> None:
    arm = CU12.replace("x86_64", "aarch64")
    page = [{"filename": f"tilelang-{version}-{tag}.whl", "url": "x.whl"}
            for version, tag in (("0.1.5", CU12), ("0.1.6", CU12), ("0.1.7", arm), ("0.1.8", CU12))]  # fmt: skip
    page.append({"filename": "tilelang-0.1.9.tar.gz", "url": "x.tar.gz"})
    page[3]["requires-python"] = ">=3.13"
    shop.page("tilelang", page)
    variants = '[variants.cu13]\nplatforms = ["linux/amd64", "linux/arm64"]\npython = ["3.12"]\n'
    engine(shop, "0.1.5", variants=variants)
    run = shop.bump("tl")
    assert (run.code, run.told) == (0, [("PIN327", "warning")])  # there never was one for arm64
    (row,) = run.document["result"]["pins"]
    assert (row["version"], [one["version"] for one in row["passed"]]) == ("0.1.6", ["0.1.9", "0.1.8", "0.1.7"])
    assert {one["why"] for one in row["passed"]} == {"no wheel for linux/amd64 with Python 3.12"}


def test_without_variants_any_wheel_counts(shop: Shop) -> None:
    shop.page("tilelang", [{"filename": "tilelang-1.0-py3-none-any.whl", "url": "a"},
                           {"filename": "tilelang-1.1.tar.gz", "url": "b"}])  # fmt: skip
    engine(shop, "1.0")
    run = shop.bump("--check", "tl")
    assert (run.code, run.document["result"]["pins"][0]["passed"]) == (0, [{"version": "1.1", "why": "no wheel"}])


def test_what_another_pin_needs_and_what_the_pin_tracks(shop: Shop) -> None:
    shop.project("tilelang", "0.1.5", "0.1.9", "0.2.0", "0.3.0")
    other = '[pins.fi]\npackages = ["flashinfer"]\nversion = "1"\nneeds = { tilelang = "<0.3" }\nunused = true\n'
    engine(shop, "0.1.5", variants=other)
    run = shop.bump("tl", "--check")
    (row,) = run.document["result"]["pins"]
    assert (run.code, row["to"], row["passed"]) == (1, "0.2.0", [{"version": "0.3.0", "why": "fi needs <0.3"}])
    engine(shop, "0.1.5", 'track = "0.1.*"')
    assert went(shop) == "0.1.9"


def test_what_keeps_a_pin_where_it_is_is_told(shop: Shop) -> None:
    shop.project("tilelang", "0.1.5", "0.2.0", "0.3.0")
    other = '[pins.fi]\npackages = ["flashinfer"]\nversion = "1"\nneeds = { tilelang = "<0.2" }\nunused = true\n'
    engine(shop, "0.1.5", variants=other)
    run = shop.run("bump", "--policy", str(shop.policy), "tl")
    why = "tl: 2 passed over, the newest being 0.3.0: fi needs <0.2"
    assert (run.code, run.out) == (0, f"nothing to bump\n{why}\n")


def test_a_version_is_no_value_to_be_set(shop: Shop) -> None:
    shop.project("tilelang", "0.1.5", "0.1.9")
    engine(shop, "0.1.5")
    run = shop.run("bump", "--policy", str(shop.policy), "tl", "--set", "version=0.1.9")
    assert (run.code, "say it with --to" in run.err, shop.status) == (2, True, "")


def test_a_version_that_is_not_there(shop: Shop) -> None:
    shop.project("tilelang", "0.1.4", "0.1.5.post2", "0.1.6")
    engine(shop, "0.1.4")
    run = shop.run("bump", "tl", "--to", "0.1.5")
    assert (run.code, run.err) == (2, "error: tl cannot go to 0.1.5: there is no tilelang of it\n"
                                      "  hint: it has 0.1.4, 0.1.5.post2, 0.1.6\n")  # fmt: skip
    for words in (("--to", "main"), ("--to", "ab" * 20), ("--repo", "https://github.com/o/r"), ("--upstream",)):
        run = shop.run("bump", "tl", *words)
        assert (run.code, shop.status) == (2, ""), words
    del shop.server.pages["/simple/tilelang/"]
    for more in (["--to", "0.1.6"], []):
        run = shop.run("bump", "tl", *more)
        assert (run.code, "there is no package tilelang in" in run.err) == (2, True)
    assert (shop.bump("--all").code, shop.bump("--all").told) == (1, [("PIN324", "error")])
    shop.server.pages["/simple/tilelang/"] = Reply(status=503)
    assert shop.run("bump", "tl").code == 4
    assert (shop.bump("--all").code, shop.bump("--all").told) == (4, [("PIN320", "error")])


def test_going_back(shop: Shop) -> None:
    shop.project("tilelang", "0.1.4", "0.1.5")
    engine(shop, "0.1.5")
    run = shop.bump("tl", "--to", "0.1.4")
    assert (run.code, run.told, shop.status) == (1, [("PIN322", "error")], "")
    assert "--accept PIN322" in run.document["findings"][0]["hint"]
    run = shop.bump("tl", "--to", "0.1.4", "--accept", "PIN322")
    assert (run.code, run.told) == (0, [("PIN322", "warning")])
    assert run.document["findings"][0]["hint"] is None  # it is accepted
    shop.engine.commit("back")
    run = shop.bump("tl", "--rollback")
    assert (run.code, run.told) == (0, [])
    assert 'version = "0.1.5"' in shop.text("pins.toml")
    assert shop.text("requirements.txt") == "tilelang==0.1.5\n"


def test_one_commit_of_all(shop: Shop) -> None:
    shop.project("tilelang", "0.1.5", "0.1.6")
    engine(shop, "0.1.5")
    for key, value in (("user.name", "A"), ("user.email", "a@example.com")):
        shop.engine.git("config", key, value)
    run = shop.bump("--all", "--commit")
    assert (run.code, shop.status) == (0, ""), run.err
    message = shop.engine.git("log", "-1", "--format=%B").strip()
    assert message == "Bump tl to 0.1.6\n\ntl: 0.1.5 -> 0.1.6 (1 release newer)"
    assert shop.bump("--all").document["result"]["pins"] == []


def test_an_index_is_asked_once(shop: Shop) -> None:
    shop.project("tilelang", "0.1.5", "0.1.6")
    engine(shop, "0.1.5")
    assert shop.bump("tl").code == 0
    assert [request.path for request in shop.server.seen] == ["/simple/tilelang/"]


def test_packages_of_a_real_index(shop: Shop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for version in ("0.1.5", "0.1.6", "0.1.7rc1"):
        wheel(tmp_path / "packages", "tilelang", version)
    engine(shop, "0.1.5")
    with pypi(tmp_path / "packages") as url:
        monkeypatch.setenv("PIP_INDEX_URL", url)
        assert went(shop) == "0.1.6"


# --- digests in requirements files --------------------------------------------------------------------------------

LOCKED = """\
# what the build needs
tilelang[cu12]==0.1.5 ; python_version >= "3.10" \\
    --hash=sha256:{0} \\
    --hash=sha256:{1}
    # via engine
torch==2.8.0 --hash=sha256:{0}
"""


def digests(*versions: str) -> list[str]:
    names = (f"tilelang-{version}-{tag}.whl" for version in versions for tag in ("py3-none-any", CU12))
    return sorted(sha256(name.encode()) for name in names)


def locked(shop: Shop, text: str = LOCKED) -> None:
    shop.project("tilelang", "0.1.5", "0.1.6", tags=f"py3-none-any {CU12}")
    pins = PIN.format(version="0.1.5", more="")
    shop.consume(pins, {"requirements.txt": text.format(*digests("0.1.5"))})


@pytest.mark.parametrize("ends", ["\n", "\r\n"])
def test_digests_move_with_the_version(shop: Shop, ends: str) -> None:
    locked(shop, LOCKED.replace("\n", ends))
    assert shop.bump("tl").code == 0
    old, new = digests("0.1.5"), digests("0.1.6")
    wanted = LOCKED.replace("\n", ends).format(*old).replace("0.1.5", "0.1.6")
    wanted = wanted.replace(f"{old[0]} \\", f"{new[0]} \\").replace(old[1], new[1])
    assert shop.text("requirements.txt") == wanted
    assert shop.run("check").code == 0


def test_offline_a_locked_line_is_refused_and_bumped_later(shop: Shop) -> None:
    locked(shop)
    shop.engine.commit("by hand", {"pins.toml": shop.text("pins.toml").replace("0.1.5", "0.1.6")})
    run = shop.run("sync", "--format", "json")
    assert (run.code, run.codes) == (1, ["PIN218"])
    assert "pinctl bump PIN --to VERSION" in run.out
    run = shop.bump("tl", "--to", "0.1.6")
    assert (run.code, run.told) == (0, [])
    assert digests("0.1.6")[0] in shop.text("requirements.txt")
    assert shop.run("check").code == 0


@pytest.mark.parametrize("bad", ["", "nothing", "0" * 63 + "\n", f"{'0' * 64}\n--index-url=https://evil.example"])
def test_a_digest_of_an_index_is_a_digest_or_none(shop: Shop, bad: str) -> None:
    locked(shop)
    shop.project("tilelang", "0.1.5", "0.1.6", v0_1_6={"hashes": {"sha256": bad}})
    run = shop.bump("tl")
    assert (run.code, run.codes, shop.status) == (1, ["PIN218"], "")


def test_the_digests_of_a_yanked_version_that_is_accepted(shop: Shop) -> None:
    locked(shop)
    shop.project("tilelang", "0.1.5", "0.1.6", tags=f"py3-none-any {CU12}", v0_1_6={"yanked": True})
    assert shop.bump("tl", "--to", "0.1.6", "--accept", "PIN326").code == 0
    assert all(digest in shop.text("requirements.txt") for digest in digests("0.1.6"))


def test_other_digests_than_sha256_are_left_to_a_person(shop: Shop) -> None:
    locked(shop, "tilelang==0.1.5 --hash=sha512:{0}{1}\n")
    assert (shop.bump("tl").codes, shop.status) == (["PIN218"], "")


# --- packages and a repository, and groups ------------------------------------------------------------------------

FLASHINFER = """\
[pins.flashinfer]
repo = "https://git.example/flashinfer"
version = "0.6.16"
packages = ["flashinfer-python", "flashinfer-cubin"]
submodules = []
{more}
sites."requirements.txt"."requirement flashinfer-python" = "{{version}}"
sites."requirements.txt"."requirement flashinfer-cubin" = "{{version}}"
sites.Dockerfile."ARG FLASHINFER_REF" = "{{tag}}"
sites.Dockerfile."ARG FLASHINFER_COMMIT" = "{{commit}}"
"""


LATER = '[pins.later]\npackages = ["later"]\nversion = "0.6.17"\ngroup = "g"\nunused = true\n'


@pytest.fixture
def flashinfer(shop: Shop, make_repository: MakeRepository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):  # type: ignore[no-untyped-def]
    """A repository with a tag for each of three releases, of which the first is pinned: their commits."""
    up, commits = make_repository("srv/flashinfer"), {}
    for version in ("0.6.16", "0.6.17", "0.6.18rc1"):
        commits[version] = up.commit(version, {"version.txt": f"{version}\n"})
        up.git("tag", f"v{version}")
    serve(up.path)
    shop.project("flashinfer-python", "0.6.16", "0.6.17", "0.6.18rc1", "0.7.0")
    shop.project("flashinfer-cubin", "0.6.16", "0.6.17", "0.6.18rc1", "0.7.0")
    more = f'tag = "v0.6.16"\ncommit = "{commits["0.6.16"]}"'
    files = {"requirements.txt": "flashinfer-python==0.6.16\nflashinfer-cubin==0.6.16\n",
             "Dockerfile": f"ARG FLASHINFER_REF=v0.6.16\nARG FLASHINFER_COMMIT={commits['0.6.16']}\n"}  # fmt: skip
    shop.consume(FLASHINFER.format(more=more), files)
    with git_daemon(tmp_path / "srv") as address:
        for key, value in instead_of(address).items():
            monkeypatch.setenv(key, value)
        yield commits


@pytest.mark.parametrize("words", [("--to", "0.6.17"), ("--to", "v0.6.17"), ()])
def test_version_tag_and_commit_move_together(shop: Shop, flashinfer: dict[str, str], words: tuple[str, ...]) -> None:
    run = shop.bump("flashinfer", *words)
    assert (run.code, run.told) == (0, []), run.out
    (row,) = run.document["result"]["pins"]
    commit = flashinfer["0.6.17"]
    assert (row["version"], row["tag"], row["commit"]) == ("0.6.17", "v0.6.17", commit)
    if not words:
        assert row["passed"] == [{"version": "0.7.0", "why": "https://git.example/flashinfer has no tag of it"}]
    assert shop.text("requirements.txt") == "flashinfer-python==0.6.17\nflashinfer-cubin==0.6.17\n"
    assert shop.text("Dockerfile") == f"ARG FLASHINFER_REF=v0.6.17\nARG FLASHINFER_COMMIT={commit}\n"
    assert shop.run("check").code == 0


def test_a_commit_of_a_pin_with_packages_must_have_them(shop: Shop, flashinfer: dict[str, str]) -> None:
    assert shop.bump("flashinfer", "--to", "0.7.0").code == 2  # there is no tag
    shop.project("flashinfer-cubin", "0.6.16")
    run = shop.run("bump", "flashinfer", "--to", "0.6.17")
    assert (run.code, "there is no flashinfer-cubin of it" in run.err) == (2, True)
    assert shop.bump("flashinfer").document["result"]["pins"] == []
    run = shop.bump("flashinfer", "--to", flashinfer["0.6.17"])  # which is v0.6.17
    assert (run.code, run.told, shop.status) == (1, [("PIN325", "error")], "")


def test_packages_without_a_commit_get_theirs(shop: Shop, flashinfer: dict[str, str]) -> None:
    pins = FLASHINFER.format(more="").split("sites.Dockerfile")[0]
    shop.consume(pins)
    assert shop.bump("--all", "--check").code == 1
    assert shop.bump("flashinfer").code == 0
    assert 'tag = "v0.6.17"' in shop.text("pins.toml")
    assert f'commit = "{flashinfer["0.6.17"]}"' in shop.text("pins.toml")
    shop.consume(
        pins.replace("0.6.16", "0.6.17").replace("submodules", 'group = "g"\nsubmodules') + LATER,
        {"requirements.txt": "flashinfer-python==0.6.17\nflashinfer-cubin==0.6.17\n"},
    )
    shop.project("later", "0.6.17")
    assert shop.bump("--all", "--check").code == 0
    assert shop.bump("--resolve").code == 0
    assert f'commit = "{flashinfer["0.6.17"]}"' in shop.text("pins.toml")


GROUP = """\
[pins.fi-python]
packages = ["flashinfer-python"]
version = "0.6.16"
group = "flashinfer"
sites."requirements.txt"."requirement flashinfer-python" = "{version}"
[pins.fi-cubin]
packages = ["flashinfer-cubin"]
version = "0.6.16"
group = "flashinfer"
sites."requirements.txt"."requirement flashinfer-cubin" = "{version}"
"""


def grouped(shop: Shop) -> None:
    shop.project("flashinfer-python", "0.6.16", "0.6.17", "0.6.18")
    shop.project("flashinfer-cubin", "0.6.16", "0.6.17")
    shop.consume(GROUP, {"requirements.txt": "flashinfer-python==0.6.16\nflashinfer-cubin==0.6.16\n"})


@pytest.mark.parametrize("words", [("fi-python",), ("fi-cubin",), ("--all",), ("fi-cubin", "--to", "0.6.17")])
def test_a_group_moves_as_one(shop: Shop, words: tuple[str, ...]) -> None:
    grouped(shop)
    run = shop.bump(*words)
    assert (run.code, run.told) == (0, [])
    rows = run.document["result"]["pins"]
    assert [(row["name"], row["to"]) for row in rows] == [("fi-python", "0.6.17"), ("fi-cubin", "0.6.17")]
    if "--to" not in words:
        assert rows[0]["passed"] == [{"version": "0.6.18", "why": "there is no flashinfer-cubin of it"}]
    assert shop.text("requirements.txt") == "flashinfer-python==0.6.17\nflashinfer-cubin==0.6.17\n"


def test_a_group_does_not_move_where_one_member_cannot(shop: Shop) -> None:
    grouped(shop)
    run = shop.run("bump", "fi-python", "--to", "0.6.18")
    assert (run.code, shop.status) == (2, "")
    assert run.err.startswith("error: fi-cubin cannot go to 0.6.18: there is no flashinfer-cubin of it\n")


def test_a_group_that_fell_apart_is_told_and_mended(shop: Shop) -> None:
    grouped(shop)
    pins = shop.text("pins.toml").replace('"0.6.16"\ngroup', '"0.6.17"\ngroup', 1)
    shop.engine.commit(
        "apart", {"pins.toml": pins, "requirements.txt": "flashinfer-python==0.6.17\nflashinfer-cubin==0.6.16\n"}
    )
    run = shop.run("check", "--format", "json")
    assert (run.code, run.codes) == (1, ["PIN124"])
    assert run.document["findings"][0]["line"] == 9
    assert shop.bump("fi-python").code == 0
    assert shop.run("check").code == 0


def test_status_of_packages_with_a_repository(shop: Shop, flashinfer: dict[str, str]) -> None:
    run = shop.run("status", "--format", "json")
    (row,) = run.document["result"]["pins"]
    assert (run.told, row["newest"], row["ahead"], row["behind"]) == ([], "0.6.17", 0, 1)
    (row,) = shop.run("status", "--offline", "--format", "json").document["result"]["pins"]
    assert row["newest"] in (None, "v0.6.17")  # what the cache knows of its tags


PYPROJECT = """\
[build-system]
requires = ["tilelang == 0.1.5", 'setuptools']
[project]
dependencies = ["tilelang[cu12]~=0.1.5; python_version >= '3.10'"]
[project.optional-dependencies]
all = ["TileLang>=0.1.5,<0.2", "torch"]
[dependency-groups]
dev = [{ include-group = "x" }, "tilelang===0.1.5"]
[tool.uv.sources]
tilelang = { git = "https://github.com/tile-ai/tilelang", tag = "v0.1.5" }
"""


def test_every_list_of_a_pyproject(shop: Shop) -> None:
    shop.project("tilelang", "0.1.5", "0.1.6.post1")
    selectors = {
        "build-system.requires:requirement tilelang": "{version}",
        "dependency-groups.dev:requirement tilelang": "{version}",
        "project.dependencies:specifier tilelang": "~={version}",
        "project.optional-dependencies.all:specifier tilelang": ">={version},<0.2",
        "tool.uv.sources.tilelang.tag": "v{version}",
    }
    sites = "".join(f'sites."pyproject.toml"."{name}" = "{template}"\n' for name, template in selectors.items())
    pin = f'[pins.tl]\npackages = ["tilelang"]\nversion = "0.1.5"\n{sites}'
    shop.consume(pin, {"pyproject.toml": PYPROJECT})
    run = shop.bump("tl")
    assert (run.code, run.told) == (0, []), run.out
    assert shop.text("pyproject.toml") == PYPROJECT.replace("0.1.5", "0.1.6.post1")
    assert shop.run("check").code == 0
