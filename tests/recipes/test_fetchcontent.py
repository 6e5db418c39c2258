"""The generated CMake file, run by CMake against git repositories on this disk."""

import hashlib
import io
import os
import re
import shutil
import subprocess
import tarfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from pinctl.model import Patch, Pin

pytestmark = pytest.mark.slow

Make = Callable[[str], Any]

LISTS = """cmake_minimum_required(VERSION 3.18)
project(consumer NONE)
include(cmake/pins/dep.cmake)
foreach(name SOURCE_DIR BINARY_DIR PIN_ID INCLUDE_DIRS HEADERS DEPENDS)
  message(STATUS "${name}=${dep_${name}}")
endforeach()
"""
# What submodules on this disk need since git 2.38.1, said as a user's environment would say it.
LOCAL_SUBMODULES = {
    "GIT_CONFIG_COUNT": "1",
    "GIT_CONFIG_KEY_0": "protocol.file.allow",
    "GIT_CONFIG_VALUE_0": "always",
}


@dataclass(slots=True)
class Configured:
    """One run of CMake: its exit status, all that it said, and the variables that the consumer saw."""

    code: int
    log: str

    def __getitem__(self, name: str) -> str:
        found = re.search(rf"^-- {name}=(.*)$", self.log, re.MULTILINE)
        assert found, self.log
        return found[1]

    @property
    def fetched(self) -> bool:
        return "; the pin is " in self.log


@dataclass(slots=True)
class Consumer:
    """A project that includes the file generated for `pin`."""

    path: Path
    recipe: Callable[..., str]
    env: dict[str, str] = field(default_factory=lambda: {**os.environ, **LOCAL_SUBMODULES})

    def pin(self, pin: Pin, lists: str = LISTS, **options: object) -> None:
        target = self.path / "cmake" / "pins" / "dep.cmake"
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(self.recipe("fetchcontent", pin, file="cmake/pins/dep.cmake", **options))
        (self.path / "CMakeLists.txt").write_text(lists)

    def configure(self, *args: str, build: str = "build", env: Mapping[str, str] | None = None) -> Configured:
        command = ["cmake", "-G", "Ninja", "-Werror=dev", "-Werror=deprecated", "-S", ".", "-B", build, *args]
        done = subprocess.run(command, cwd=self.path, env={**self.env, **(env or {})}, capture_output=True, text=True)
        return Configured(done.returncode, done.stdout + done.stderr)

    def configured(self, *args: str, **more: Any) -> Configured:
        seen = self.configure(*args, **more)
        assert seen.code == 0, seen.log
        return seen

    def source(self, build: str = "build") -> Path:
        return self.path / build / "_deps" / "dep-src"


@dataclass(slots=True)
class Upstream:
    """A dependency with two submodules, the second of which has one of its own, at two commits.

    Between them a header changes, `third_party/a` moves, and `third_party/gone` gives way to `third_party/b`.
    """

    repository: Any
    first: str
    second: str

    @property
    def pin(self) -> Pin:
        return Pin(name="dep", repo=str(self.repository.path), commit=self.first, submodules=("third_party/a",))


@pytest.fixture
def upstream(make_repository: Make, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory) -> Upstream:
    """Made once and copied for each test: the submodules' URLs are relative, and the ids do not change."""
    made = tmp_path_factory.getbasetemp() / "upstream"
    here = tmp_path / "upstream"
    if not made.exists():
        make_upstream(make_repository)
        here.rename(made)
    shutil.copytree(made, here, symlinks=True, ignore=shutil.ignore_patterns("*.sample"))
    dep = replace(make_repository("unused"), path=here / "dep", clock=1_800_000_000)
    return Upstream(dep, dep.git("rev-parse", "first"), dep.git("rev-parse", "second"))


def make_upstream(make_repository: Make) -> None:
    repos = {name: make_repository(f"upstream/{name}") for name in ("a", "b", "c", "gone", "dep")}
    for name in ("a", "c", "gone"):
        repos[name].commit(files={f"{name}.h": "1\n"})
    repos["b"].git("submodule", "add", "-q", "../c", "nested c")
    repos["b"].commit(files={"b.h": "1\n"})
    dep = repos["dep"]
    for name in ("a", "gone"):
        dep.git("submodule", "add", "-q", f"../{name}", f"third_party/{name}")
    lists = "message(STATUS ADDED)\n"
    dep.commit(files={"include/dep.h": "one\n", "lib.txt": "1\n2\n3\n4\n5\n6\n", "CMakeLists.txt": lists})
    dep.git("tag", "first")
    moved = repos["a"].commit(files={"a.h": "2\n"})
    dep.git("-C", "third_party/a", "fetch", "-q")
    dep.git("-C", "third_party/a", "checkout", "-q", moved)
    dep.git("rm", "-q", "third_party/gone")
    dep.git("submodule", "add", "-q", "../b", "third_party/b")
    dep.commit(files={"include/dep.h": "two\n"})
    dep.git("tag", "second")


@pytest.fixture
def consumer(tmp_path: Path, recipe: Callable[..., str]) -> Consumer:
    if not shutil.which("cmake") or not shutil.which("ninja"):
        pytest.skip("needs CMake and ninja")
    path = tmp_path / "consumer"
    path.mkdir()
    return Consumer(path, recipe)


def head(path: Path) -> str:
    done = subprocess.run(["git", "rev-parse", "HEAD"], cwd=path, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def test_the_first_configure_fetches_the_pin_and_the_next_one_nothing(upstream: Upstream, consumer: Consumer) -> None:
    consumer.pin(upstream.pin)
    first = consumer.configured()
    assert first.fetched
    assert first["SOURCE_DIR"] == str(consumer.source())
    assert first["PIN_ID"] == upstream.first
    assert head(consumer.source()) == upstream.first
    assert (consumer.source() / "third_party/a/a.h").read_text() == "1\n"
    assert not list((consumer.source() / "third_party/gone").iterdir())
    assert "ADDED" not in first.log
    again = consumer.configured()
    assert not again.fetched
    assert again["SOURCE_DIR"] == first["SOURCE_DIR"]


def test_a_moved_pin_takes_the_checkout_along(upstream: Upstream, consumer: Consumer) -> None:
    consumer.pin(upstream.pin)
    consumer.configured()
    (consumer.source() / ".git" / "kept").write_text("by an incremental fetch")
    consumer.pin(upstream.pin._replace(commit=upstream.second, submodules=("third_party/a", "third_party/b")))
    moved = consumer.configured()
    assert moved["PIN_ID"] == head(consumer.source()) == upstream.second
    assert (consumer.source() / "include/dep.h").read_text() == "two\n"
    assert (consumer.source() / "third_party/a/a.h").read_text() == "2\n"
    assert (consumer.source() / "third_party/b/b.h").is_file()
    assert not list((consumer.source() / "third_party/b/nested c").iterdir())
    assert (consumer.source() / ".git" / "kept").exists()


def test_a_submodule_that_the_pin_drops_is_gone(upstream: Upstream, consumer: Consumer) -> None:
    consumer.pin(upstream.pin._replace(submodules=("third_party/a", "third_party/gone")))
    consumer.configured()
    assert (consumer.source() / "third_party/gone/gone.h").is_file()
    consumer.pin(upstream.pin._replace(commit=upstream.second))
    consumer.configured()
    assert not (consumer.source() / "third_party/gone").exists()


def test_a_shared_base_directory_serves_all_builds(upstream: Upstream, consumer: Consumer, tmp_path: Path) -> None:
    shared = tmp_path / "shared deps"
    consumer.pin(upstream.pin)
    consumer.configured(f"-DFETCHCONTENT_BASE_DIR={shared}", build="one")
    other = consumer.configured(f"-DFETCHCONTENT_BASE_DIR={shared}", "-G", "Unix Makefiles", build="two")
    assert not other.fetched
    consumer.pin(upstream.pin._replace(commit=upstream.second))
    third = consumer.configured(f"-DFETCHCONTENT_BASE_DIR={shared}", "-G", "Unix Makefiles", build="three")
    assert third["SOURCE_DIR"] == str(shared / "dep-src")
    assert head(shared / "dep-src") == upstream.second
    back = consumer.configured(build="one")
    assert not back.fetched
    assert back["PIN_ID"] == upstream.second


def test_offline_it_works_with_what_is_there_and_says_what_is_not(upstream: Upstream, consumer: Consumer) -> None:
    consumer.pin(upstream.pin)
    consumer.configured()
    newest = upstream.repository.commit(files={"new.h": "\n"})
    away = upstream.repository.path.parent
    away.rename(away.with_name("moved away"))
    assert not consumer.configured().fetched
    consumer.pin(upstream.pin._replace(commit=newest))
    failed = consumer.configure()
    assert failed.code != 0
    assert f"dep: cannot fetch {newest} from {upstream.repository.path}" in " ".join(failed.log.split())
    assert f"dep-src is at {upstream.first}; the pin is {newest}" in failed.log
    consumer.pin(upstream.pin._replace(commit=upstream.second))
    assert consumer.configured()["PIN_ID"] == head(consumer.source()) == upstream.second


def test_offline_a_first_configure_fails(upstream: Upstream, consumer: Consumer) -> None:
    consumer.pin(upstream.pin._replace(repo=str(upstream.repository.path) + "-gone"))
    failed = consumer.configure()
    assert failed.code != 0
    assert f"dep-src is missing; the pin is {upstream.first} of {upstream.repository.path}-gone" in failed.log


def test_a_path_with_a_space(upstream: Upstream, consumer: Consumer, tmp_path: Path) -> None:
    consumer.path = consumer.path.rename(tmp_path / "a consumer")
    pin = upstream.pin._replace(include_dirs=("include", "third_party/a"), header_globs=("include/*.h",))
    consumer.pin(pin)
    seen = consumer.configured(build="the build")
    source = consumer.source("the build")
    assert seen["INCLUDE_DIRS"] == f"{source}/include;{source}/third_party/a"
    assert seen["HEADERS"] == f"{source}/include/dep.h"
    consumer.pin(pin._replace(commit=upstream.second))
    consumer.configured(build="the build")
    assert head(source) == upstream.second


@pytest.mark.parametrize(("submodules", "recursive"), [((), False), (None, False), (None, True)])
def test_no_submodule_and_all_of_them(
    upstream: Upstream, consumer: Consumer, submodules: tuple[str, ...] | None, recursive: bool
) -> None:
    pin = upstream.pin._replace(commit=upstream.second, submodules=submodules, recursive=recursive)
    consumer.pin(pin)
    consumer.configured()
    files = {p.name for p in consumer.source().rglob("*.h")}
    everything = {"a.h", "b.h"} | ({"c.h"} if recursive else set())
    assert files == {"dep.h"} | (set() if submodules == () else everything)
    assert not consumer.configured().fetched


def test_submodules_that_went_elsewhere_are_put_right(upstream: Upstream, consumer: Consumer) -> None:
    consumer.pin(upstream.pin._replace(commit=upstream.second))
    consumer.configured()
    submodule = consumer.source() / "third_party/a"
    subprocess.run(["git", "checkout", "-q", "HEAD~1"], cwd=submodule, check=True)
    assert (submodule / "a.h").read_text() == "1\n"
    assert "has submodules that are not at the pin" in consumer.configured().log
    assert (submodule / "a.h").read_text() == "2\n"


def test_a_submodule_whose_url_moved(upstream: Upstream, consumer: Consumer) -> None:
    consumer.pin(upstream.pin)
    consumer.configured()
    dep, a = upstream.repository, upstream.repository.path.with_name("a")
    a.rename(a.with_name("new a"))
    text = (dep.path / ".gitmodules").read_text().replace("../a\n", "../new a\n")
    consumer.pin(upstream.pin._replace(commit=dep.commit(files={".gitmodules": text})))
    consumer.configured()
    assert (consumer.source() / "third_party/a/a.h").read_text() == "2\n"


def test_a_fork_takes_the_place_of_its_upstream(upstream: Upstream, consumer: Consumer, make_repository: Make) -> None:
    consumer.pin(upstream.pin._replace(submodules=()))
    consumer.configured()
    fork = make_repository("fork")
    fork.git("pull", "-q", str(upstream.repository.path), "main")
    commit = fork.commit(files={"fork.txt": "\n"})
    consumer.pin(upstream.pin._replace(repo=str(fork.path), commit=commit, submodules=()))
    consumer.configured()
    assert head(consumer.source()) == commit


def test_a_local_source_is_taken_as_it_is(upstream: Upstream, consumer: Consumer, tmp_path: Path) -> None:
    for name in ("mine", "yours"):
        (tmp_path / name).mkdir()
    mine, yours = str(tmp_path / "mine"), str(tmp_path / "yours")
    consumer.pin(upstream.pin._replace(repo="https://host.invalid/dep.git"))
    assert consumer.configured(f"-DDEP_SRC_DIR={mine}", build="1")["SOURCE_DIR"] == mine
    assert consumer.configured(build="2", env={"DEP_SRC_DIR": "../mine"})["SOURCE_DIR"] == mine
    both = consumer.configured(f"-DDEP_SRC_DIR={mine}", build="3", env={"DEP_SRC_DIR": yours})
    assert both["SOURCE_DIR"] == yours
    assert both["PIN_ID"] == "local"
    assert consumer.configured(f"-DFETCHCONTENT_SOURCE_DIR_DEP={mine}", build="4")["SOURCE_DIR"] == mine
    missing = consumer.configure("-DDEP_SRC_DIR=nowhere", build="5")
    assert missing.code != 0
    assert f"DEP_SRC_DIR is no directory: {consumer.path}/nowhere" in " ".join(missing.log.split())


def test_a_mirror_serves_the_repository_and_its_submodules(upstream: Upstream, consumer: Consumer) -> None:
    dep, mirror = upstream.repository, upstream.repository.path.parent.parent / "mirror" / "host.invalid"
    mirror.parent.mkdir()
    text = (dep.path / ".gitmodules").read_text().replace("../", "https://host.invalid/")
    commit = dep.commit(files={".gitmodules": text})
    dep.path.parent.rename(mirror)
    consumer.pin(upstream.pin._replace(repo="https://host.invalid/dep", commit=commit))
    consumer.configured(f"-DPINCTL_GIT_MIRROR=file://{mirror.parent}/")
    assert (consumer.source() / "third_party/a/a.h").read_text() == "2\n"
    url = subprocess.run(["git", "config", "remote.origin.url"], cwd=consumer.source(), capture_output=True, text=True)
    assert url.stdout == "https://host.invalid/dep\n"


def test_disconnected_it_never_keeps_another_commit_silently(upstream: Upstream, consumer: Consumer) -> None:
    consumer.pin(upstream.pin)
    consumer.configured()
    consumer.configured("-DFETCHCONTENT_FULLY_DISCONNECTED=ON")
    consumer.pin(upstream.pin._replace(commit=upstream.second))
    failed = consumer.configure()
    assert failed.code != 0
    assert "FETCHCONTENT_FULLY_DISCONNECTED is on" in failed.log
    assert head(consumer.source()) == upstream.first


def test_edits_by_hand_are_not_lost(upstream: Upstream, consumer: Consumer) -> None:
    consumer.pin(upstream.pin)
    consumer.configured()
    (consumer.source() / "include/dep.h").write_text("mine\n")
    consumer.pin(upstream.pin._replace(commit=upstream.second))
    failed = consumer.configure()
    assert failed.code != 0
    assert f"dep: cannot check out {upstream.second}" in failed.log
    assert (consumer.source() / "include/dep.h").read_text() == "mine\n"


def test_an_interrupted_clone_is_begun_again(upstream: Upstream, consumer: Consumer) -> None:
    consumer.pin(upstream.pin)
    consumer.source().mkdir(parents=True)
    subprocess.run(["git", "init", "-q"], cwd=consumer.source(), check=True)
    consumer.configured()
    assert head(consumer.source()) == upstream.first


def test_a_deleted_checkout_is_fetched_again(upstream: Upstream, consumer: Consumer) -> None:
    consumer.pin(upstream.pin)
    consumer.configured()
    shutil.rmtree(consumer.source())
    consumer.configured()
    assert head(consumer.source()) == upstream.first


def test_a_repository_around_the_source_is_left_alone(
    upstream: Upstream, consumer: Consumer, make_repository: Make
) -> None:
    around = make_repository("around")
    before = around.commit(files={"file": "\n"})
    consumer.path = around.path
    consumer.pin(upstream.pin)
    environment = {"GIT_DIR": str(around.path / ".git"), "GIT_INDEX_FILE": str(around.path / ".git/index")}
    consumer.configured(env=environment)
    (consumer.source() / ".git" / "HEAD").unlink()
    consumer.pin(upstream.pin._replace(commit=upstream.second))
    broken = consumer.configure(env=environment)
    assert broken.code != 0
    assert "dep: cannot read the checkout" in broken.log
    assert around.git("rev-parse", "HEAD") == before
    assert around.git("status", "--porcelain", "--untracked-files=no") == ""
    assert around.git("remote") == ""


def test_its_own_lists_are_added_only_where_asked(upstream: Upstream, consumer: Consumer) -> None:
    consumer.pin(upstream.pin, make_available=True)
    assert "-- ADDED" in consumer.configured().log


def test_a_project_that_declared_the_name_is_noticed(upstream: Upstream, consumer: Consumer, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "file").touch()
    first = f"""cmake_minimum_required(VERSION 3.18)
project(consumer NONE)
include(FetchContent)
FetchContent_Declare(dep SOURCE_DIR "{other}")
include(cmake/pins/dep.cmake)
"""
    consumer.pin(upstream.pin, lists=first)
    failed = consumer.configure()
    assert failed.code != 0
    assert "Did another project declare dep before?" in " ".join(failed.log.split())


def test_large_files_are_fetched_only_where_asked(upstream: Upstream, consumer: Consumer, tmp_path: Path) -> None:
    seen = tmp_path / "seen"
    filtered = {
        "GIT_CONFIG_COUNT": "2",
        "GIT_CONFIG_KEY_1": "filter.lfs.smudge",
        "GIT_CONFIG_VALUE_1": f'sh -c \'echo "skip=$GIT_LFS_SKIP_SMUDGE" >> "{seen}"; cat\'',
    }
    commit = upstream.repository.commit(files={".gitattributes": "*.bin filter=lfs\n", "big.bin": "pointer\n"})
    consumer.pin(upstream.pin._replace(commit=commit, submodules=()))
    consumer.configured(build="without", env=filtered)
    consumer.pin(upstream.pin._replace(commit=commit, submodules=(), lfs=True))
    consumer.configured(build="with", env=filtered)
    assert seen.read_text() == "skip=1\nskip=\n"


PATCH = """--- a/lib.txt
+++ b/lib.txt
@@ -1,3 +1,3 @@
 1
-2
+{}
 3
"""
ADDED = """--- /dev/null
+++ b/added file.txt
@@ -0,0 +1 @@
+added
"""


def write_patch(consumer: Consumer, name: str, text: str) -> Patch:
    file = consumer.path / "my patches" / name
    file.parent.mkdir(exist_ok=True)
    file.write_text(text)
    return Patch(file=f"my patches/{name}")


def lib(consumer: Consumer) -> str:
    return (consumer.source() / "lib.txt").read_text()


@pytest.fixture
def patched(upstream: Upstream, consumer: Consumer) -> Pin:
    """A pin with two patches of one line, the second on top of the first, and one that adds a file."""
    second = PATCH.format("three").replace("-2", "-two")
    patches = {"1.patch": PATCH.format("two"), "2 of 3.patch": second, "3.patch": ADDED}
    return upstream.pin._replace(patches=tuple(write_patch(consumer, name, text) for name, text in patches.items()))


def test_patches_are_applied_once(consumer: Consumer, patched: Pin) -> None:
    consumer.pin(patched)
    first = consumer.configured()
    assert lib(consumer) == "1\nthree\n3\n4\n5\n6\n"
    assert (consumer.source() / "added file.txt").read_text() == "added\n"
    digests = [hashlib.sha256((consumer.path / patch.file).read_bytes()).hexdigest()[:12] for patch in patched.patches]
    assert first["PIN_ID"] == "+".join([str(patched.commit), *digests])
    before = (consumer.source() / "lib.txt").stat().st_mtime_ns
    second = consumer.configured()
    assert not second.fetched
    assert second["PIN_ID"] == first["PIN_ID"]
    assert (consumer.source() / "lib.txt").stat().st_mtime_ns == before


def test_patches_move_with_the_pin(upstream: Upstream, consumer: Consumer, patched: Pin) -> None:
    consumer.pin(patched)
    consumer.configured()
    fixed = upstream.repository.commit(files={"lib.txt": "1\ntwo\n3\n4\n5\n6\n"})
    consumer.pin(patched._replace(commit=fixed))
    assert "1.patch is in the source already" in consumer.configured().log  # upstream has taken it
    assert lib(consumer) == "1\nthree\n3\n4\n5\n6\n"
    assert not consumer.configured().fetched
    consumer.pin(patched._replace(commit=fixed, patches=()))
    consumer.configured()
    assert lib(consumer) == "1\ntwo\n3\n4\n5\n6\n"
    assert not (consumer.source() / "added file.txt").exists()


def test_a_patch_that_changes_is_exchanged(consumer: Consumer, patched: Pin) -> None:
    consumer.pin(patched._replace(patches=patched.patches[:1]))
    consumer.configured()
    write_patch(consumer, "1.patch", PATCH.format("zwei"))
    consumer.configured("-DFETCHCONTENT_FULLY_DISCONNECTED=ON")
    assert lib(consumer) == "1\nzwei\n3\n4\n5\n6\n"


def test_a_checkout_that_lost_its_patch_gets_it_again(consumer: Consumer, patched: Pin) -> None:
    consumer.pin(patched)
    consumer.configured()
    subprocess.run(["git", "checkout", "-q", "."], cwd=consumer.source(), check=True)
    consumer.configured()
    assert (consumer.source() / "added file.txt").is_file()
    assert lib(consumer) == "1\nthree\n3\n4\n5\n6\n"


def test_a_patch_that_does_not_apply_is_named(upstream: Upstream, consumer: Consumer) -> None:
    patch = write_patch(consumer, "no.patch", PATCH.format("x").replace("-2", "-nothing like it"))
    consumer.pin(upstream.pin._replace(patches=(patch,)))
    failed = consumer.configure()
    assert failed.code != 0
    log = " ".join(failed.log.split())
    assert "my patches/no.patch does not apply to" in log
    assert "patch failed: lib.txt:1" in log
    assert lib(consumer) == "1\n2\n3\n4\n5\n6\n"


def test_edits_by_hand_of_a_patched_source_are_not_lost(upstream: Upstream, consumer: Consumer, patched: Pin) -> None:
    consumer.pin(patched)
    consumer.configured()
    (consumer.source() / "lib.txt").write_text("1\nmine\n3\n4\n5\n6\n")
    consumer.pin(patched._replace(commit=upstream.second))
    failed = consumer.configure()
    assert failed.code != 0
    assert "my patches/1.patch does not apply" in " ".join(failed.log.split())
    assert lib(consumer) == "1\nmine\n3\n4\n5\n6\n"


def test_a_patch_is_for_the_versions_that_it_names(consumer: Consumer, patched: Pin) -> None:
    one, two, three = patched.patches
    edit = Patch(target="lib.txt", search="1", replace="one")  # of an installed file
    patches = (one._replace(when="version < 2.8"), three._replace(when="version >= 2.8"), edit)
    consumer.pin(patched._replace(version="2.7.1", patches=patches))
    assert str(consumer.configured()["PIN_ID"]).count("+") == 1
    assert lib(consumer) == "1\ntwo\n3\n4\n5\n6\n"
    again = consumer.configured()
    assert "is applied" not in again.log
    assert two.file == "my patches/2 of 3.patch"


def test_a_patched_project_may_move_to_a_folder_with_blanks(consumer: Consumer, patched: Pin, tmp_path: Path) -> None:
    """cpm-cmake/CPM.cmake#664: configured twice, there and where the way to it holds blanks."""
    consumer.pin(patched)
    assert consumer.configured().log.count("is applied") == 3
    assert "is applied" not in consumer.configured().log
    moved = consumer.path.rename(tmp_path / "a b")
    other = Consumer(moved, consumer.recipe, consumer.env)
    assert other.configured(build="a build").log.count("is applied") == 3
    assert "is applied" not in other.configured(build="a build").log
    assert (other.source("a build") / "lib.txt").read_text() == "1\nthree\n3\n4\n5\n6\n"


def test_a_patch_for_some_variants_is_left_to_their_builds(consumer: Consumer, patched: Pin) -> None:
    one, two, _ = patched.patches
    consumer.pin(patched._replace(patches=(one, two._replace(variants=("cu12",)))))
    consumer.configured()
    assert lib(consumer) == "1\ntwo\n3\n4\n5\n6\n"


def archive(path: Path, text: str) -> dict[str, str]:
    """A tarball of a tree with one folder at its top, as code hosts make them; its facts."""
    with tarfile.open(path, "w:gz") as tar:
        for name, content in {"lib.txt": text, "include/dep.h": "1\n"}.items():
            member = tarfile.TarInfo(f"dep-1.0/{name}")
            member.size = len(content.encode())
            tar.addfile(member, io.BytesIO(content.encode()))
    return {"url": f"file://{path}", "sha256": hashlib.sha256(path.read_bytes()).hexdigest()}


def test_the_url_form(consumer: Consumer, tmp_path: Path, patched: Pin) -> None:
    pin = Pin(name="dep", archive=archive(tmp_path / "a b.tar.gz", "1\n2\n3\n"), patches=patched.patches[:1])
    consumer.pin(pin, form="url")
    first = consumer.configured()
    assert first["SOURCE_DIR"] == str(consumer.source())
    assert first["PIN_ID"].startswith(f"sha256:{pin.archive['sha256']}+")
    assert lib(consumer) == "1\ntwo\n3\n"
    (tmp_path / "a b.tar.gz").rename(tmp_path / "away")
    assert not consumer.configured().fetched
    consumer.pin(pin._replace(archive=archive(tmp_path / "b.tar.gz", "1\n2\n3\nnew\n")), form="url")
    consumer.configured()
    assert lib(consumer) == "1\ntwo\n3\nnew\n"
    consumer.pin(pin._replace(archive=archive(tmp_path / "b.tar.gz", "1\n2\n3\nnew\n"), patches=()), form="url")
    consumer.configured()
    assert lib(consumer) == "1\n2\n3\nnew\n"


def test_the_url_form_refuses_another_archive(consumer: Consumer, tmp_path: Path) -> None:
    facts = archive(tmp_path / "dep.tar.gz", "1\n")
    consumer.pin(Pin(name="dep", archive={**facts, "sha256": "0" * 64}), form="url")
    failed = consumer.configure()
    assert failed.code != 0
    assert facts["sha256"] in failed.log


def test_the_url_form_takes_a_mirror(consumer: Consumer, tmp_path: Path) -> None:
    folder = tmp_path / "mirror" / "host.invalid"
    folder.mkdir(parents=True)
    facts = archive(folder / "dep.tar.gz", "1\n")
    consumer.pin(Pin(name="dep", archive={**facts, "url": "https://host.invalid/dep.tar.gz"}), form="url")
    consumer.configured(env={"PINCTL_URL_MIRROR": f"file://{tmp_path}/mirror"})
    assert lib(consumer) == "1\n"


def test_from_one_form_to_the_other(upstream: Upstream, consumer: Consumer, tmp_path: Path) -> None:
    both = upstream.pin._replace(archive=archive(tmp_path / "dep.tar.gz", "archive\n"))
    consumer.pin(both)
    consumer.configured()
    consumer.pin(both, form="url")
    consumer.configured()
    assert lib(consumer) == "archive\n"
    consumer.pin(both)
    consumer.configured()
    assert head(consumer.source()) == upstream.first


BUILD = """cmake_minimum_required(VERSION 3.18)
project(consumer NONE)
include(cmake/pins/dep.cmake)
add_custom_command(OUTPUT built DEPENDS ${dep_DEPENDS} COMMAND ${CMAKE_COMMAND} -E echo BUILDING
  COMMAND ${CMAKE_COMMAND} -E touch built VERBATIM)
add_custom_target(all_of_it ALL DEPENDS built)
"""


def test_a_change_of_headers_alone_builds_again(upstream: Upstream, consumer: Consumer) -> None:
    def builds() -> bool:
        command = ["cmake", "--build", "build"]
        done = subprocess.run(command, cwd=consumer.path, env=consumer.env, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
        return "BUILDING" in done.stdout

    pin = upstream.pin._replace(header_globs=("include/*.h",))
    consumer.pin(pin, lists=BUILD)
    consumer.configured()
    assert builds()
    assert not builds()
    (consumer.source() / "include/dep.h").write_text("edited\n")
    assert builds()
    (consumer.source() / "include/new one.h").write_text("new\n")
    assert builds()
    assert not builds()
    subprocess.run(["git", "checkout", "-q", "."], cwd=consumer.source(), check=True)
    builds()
    consumer.pin(pin._replace(commit=upstream.second), lists=BUILD)  # the build configures again by itself
    assert builds()
    assert not builds()
