"""What is told of wheels: of their names and RECORD (row 53), and of what they are held against."""

from __future__ import annotations

from pathlib import Path

import pytest
from wheelmaking import LINUX, NAME, files, put, read, record

from pinctl.external import wheelfile
from pinctl.finding import Finding
from pinctl.model import Patch, Pin, Variant
from pinctl.wheel import provenance
from pinctl.wheel.archive import Malformed
from pinctl.wheel.judgement import Wanted, judge, malformed
from pinctl.wheel.provenance import PatchDigest, Provenance

INFO = "tiny_kernel-1.0.dist-info"
CU12 = Variant(name="cu12", cuda="12.9", label="cu129", torch="2.9.1", python=("3.11",), platforms=("linux/amd64",),
               publish="index", digest="sha256:aa")  # fmt: skip
COMMIT = "ab" * 20
PIN = Pin(name="tiny", repo="https://github.com/o/tiny.git", commit=COMMIT, version="1.0", submodules=("third/a",),
          patches=(Patch("fix.patch"), Patch("cu13.patch", variants=("cu13",))))  # fmt: skip
OURS = Provenance("tiny", "git@github.com:o/tiny", COMMIT, "1.0", {"third/a": "c" * 40},
                  (PatchDigest("fix.patch", "d" * 64),), "cu12", "12.9", "2.9.1+cu129", "sha256:aa")  # fmt: skip


def told(tmp_path: Path, filename: str = NAME, wanted: Wanted = Wanted(), /, **how: object) -> list[Finding]:  # noqa: B008
    """The findings of a wheel that `making.files` makes."""
    return judge(read(tmp_path, filename, files(filename, **how)), wanted)  # type: ignore[arg-type]


def codes(findings: list[Finding]) -> list[str]:
    return [found.code for found in findings]


def test_a_sound_wheel_has_nothing_against_it(tmp_path: Path) -> None:
    assert told(tmp_path) == []
    assert told(tmp_path, "tiny_kernel-1.0-1-py2.py3-none-any.whl".replace("-1-", "-")) == []


# --- names ---


@pytest.mark.parametrize(
    ("filename", "code", "severity"),
    [("tiny_kernel-1.0-py3.whl", "PIN601", "error"), ("Tiny_Kernel-1.0-py3-none-any.whl", "PIN601", "warning"),
     ("tiny_kernel-1.0.0rc01-py3-none-any.whl", "PIN601", "warning")],
)  # fmt: skip
def test_file_names(tmp_path: Path, filename: str, code: str, severity: str) -> None:
    distribution, version = filename.split("-")[:2]
    members = files(f"{distribution}-{version}-py3-none-any.whl")
    (found,) = judge(read(tmp_path, filename, members), Wanted())
    assert (found.code, found.severity) == (code, severity)


def test_a_wheel_that_was_only_renamed(tmp_path: Path) -> None:
    """H11 and sglang#14327: the label is in the file name alone."""
    found = judge(read(tmp_path, "tiny_kernel-1.0+cu129-py3-none-any.whl", files()), Wanted())
    assert [(one.code, one.selector, one.expected, one.found) for one in found] == [
        ("PIN602", INFO, "tiny_kernel-1.0+cu129.dist-info", INFO),
        ("PIN603", "tiny_kernel-1.0.dist-info/METADATA", "1.0+cu129", "1.0"),
    ]
    assert all("relabel" in (one.hint or "") for one in found)


def test_a_wheel_that_was_retagged_by_its_name(tmp_path: Path) -> None:
    members = files("tiny_kernel-1.0-py3-none-linux_x86_64.whl")
    found = judge(read(tmp_path, "tiny_kernel-1.0-py3-none-manylinux_2_28_x86_64.whl", members), Wanted())
    assert ("PIN604", "py3-none-manylinux_2_28_x86_64", "py3-none-linux_x86_64") in [
        (one.code, one.expected, one.found) for one in found
    ]


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"other-1.0.dist-info/METADATA": b"x"}, "exactly one .dist-info"),
        ({"tiny_kernel-1.0.DIST-INFO/METADATA": b"x"}, "exactly one .dist-info"),
        ({f"{INFO}/metadata": b"Name: evil\n"}, "two spellings"),
        ({f"{INFO}/WHEEL": None}, "has no WHEEL"),
        ({f"{INFO}/RECORD": None}, "has no RECORD"),
        ({"tiny_kernel-1.1.data/scripts/x": b""}, ".data folder has another name"),
    ],
)
def test_row_53_one_dist_info_and_all_of_it(tmp_path: Path, changed: dict[str, bytes | None], message: str) -> None:
    found = [one for one in told(tmp_path, NAME, changed=changed) if one.code == "PIN602"]
    assert len(found) == 1
    assert message in found[0].message


def test_row_53_two_names_in_metadata(tmp_path: Path) -> None:
    found = told(tmp_path, metadata=["Name: evil"])
    assert [(one.code, one.message) for one in found] == [
        ("PIN603", "METADATA is not what installers read alike: Name stands 2 times")]  # fmt: skip


def test_another_name_in_metadata(tmp_path: Path) -> None:
    members = files(changed={f"{INFO}/METADATA": b"Metadata-Version: 2.1\nName: other\nVersion: 1.0\n"})
    members[f"{INFO}/RECORD"] = record({k: v for k, v in members.items() if "RECORD" not in k}, f"{INFO}/RECORD")
    (found,) = judge(read(tmp_path, NAME, members), Wanted())
    assert (found.code, found.expected, found.found) == ("PIN603", "tiny-kernel", "other")


# --- row 53: RECORD ---


def test_row_53_files_that_are_not_listed(tmp_path: Path) -> None:
    (found,) = told(tmp_path, changed={"evil.pth": b"import os\n"})
    assert (found.code, found.selector, found.severity) == ("PIN605", "evil.pth", "error")
    assert found.message == "RECORD does not list files that are there: evil.pth"


def test_row_53_files_that_are_listed_and_not_there(tmp_path: Path) -> None:
    (found,) = told(tmp_path, changed={"tiny_kernel/__init__.py": None})
    assert found.message == "RECORD lists files that are not there: tiny_kernel/__init__.py"


def test_row_53_files_that_are_not_what_record_says(tmp_path: Path) -> None:
    (found,) = told(tmp_path, changed={"tiny_kernel/__init__.py": b"answer = 43\n"})
    assert found.message == "tiny_kernel/__init__.py is not what RECORD says"
    assert (found.expected or "")[:7] == (found.found or "")[:7] == "sha256 "
    assert found.expected != found.found


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (b",12\n", b",13\n", "tiny_kernel/__init__.py is not of the size that RECORD says"),
        (b"sha256=", b"md5=", "RECORD, line 1: tiny_kernel/__init__.py has a digest of 'md5', and sha256 is meant"),
        (b"RECORD,,", b"RECORD,,\ntiny_kernel/__init__.py,,", "RECORD lists files twice: tiny_kernel/__init__.py"),
    ],
)
def test_row_53_lines_of_record(tmp_path: Path, old: bytes, new: bytes, message: str) -> None:
    members = files()
    members[f"{INFO}/RECORD"] = members[f"{INFO}/RECORD"].replace(old, new, 1)
    found = judge(read(tmp_path, NAME, members), Wanted())
    assert message in [one.message for one in found]
    assert set(codes(found)) == {"PIN605"}


def test_row_53_files_without_a_digest(tmp_path: Path) -> None:
    members = files()
    members[f"{INFO}/RECORD"] = b"tiny_kernel/__init__.py,,\n" + members[f"{INFO}/RECORD"].partition(b"\n")[2]
    (found,) = judge(read(tmp_path, NAME, members), Wanted())
    assert found.message == "RECORD has no digest of files: tiny_kernel/__init__.py"


def test_signatures_need_no_line(tmp_path: Path) -> None:
    assert told(tmp_path, changed={f"{INFO}/RECORD.jws": b"{}"}) == []


def test_many_wrong_files_are_counted(tmp_path: Path) -> None:
    content = {f"tiny_kernel/{n}.py": b"1" for n in range(30)}
    found = told(tmp_path, content=content, changed=dict.fromkeys(content, b"2"))
    assert len(found) == 21
    assert found[-1].message == "10 more files are not what RECORD says"


def test_an_archive_that_is_refused(tmp_path: Path) -> None:
    path = put(tmp_path, members={"a.py": b"1"})
    path.write_bytes(path.read_bytes() + b"x")
    with pytest.raises(Malformed) as caught:
        wheelfile.survey(str(path))
    found = malformed(NAME, caught.value)
    assert (found.code, found.file, found.severity) == ("PIN600", NAME, "error")


# --- what it is held against ---


def test_files_of_the_recipe(tmp_path: Path) -> None:
    wanted = Wanted(files=("tiny_kernel/*.py", "tiny_kernel/include/**/*.cuh"))
    (found,) = told(tmp_path, NAME, wanted)
    assert (found.code, found.selector) == ("PIN622", "tiny_kernel/include/**/*.cuh")
    content = {"tiny_kernel/a.py": b"", "tiny_kernel/include/a/b/c.cuh": b""}
    assert told(tmp_path, NAME, wanted, content=content) == []


def test_no_native_code_in_a_platform_wheel(tmp_path: Path) -> None:
    assert [(one.code, one.severity) for one in told(tmp_path, LINUX)] == [("PIN609", "warning")]


@pytest.mark.parametrize(
    ("wanted", "severity"),
    [
        (Wanted(limit=100), "error"),
        (Wanted(limit=10**6), None),
        (Wanted(variant=CU12._replace(label=None)), None),
        (Wanted(), None),
    ],
)
def test_size(tmp_path: Path, wanted: Wanted, severity: str | None) -> None:
    found = [one for one in told(tmp_path, NAME, wanted) if one.code == "PIN621"]
    assert [one.severity for one in found] == ([severity] if severity else [])


def test_size_by_where_it_goes(tmp_path: Path) -> None:
    small = read(tmp_path)
    large, huge = small._replace(size=100 * 1024**2 + 1), small._replace(size=2 * 1024**3)
    pypi, index = Wanted(variant=Variant(name="cu13", publish="pypi")), Wanted(variant=CU12._replace(label=None))

    def severity(found: object, wanted: Wanted) -> list[str]:
        return [one.severity.value for one in judge(found, wanted) if one.code == "PIN621"]  # type: ignore[arg-type]

    assert severity(large, Wanted()) == ["warning"]
    assert severity(large, pypi) == ["error"]
    assert severity(large, index) == []
    assert severity(huge, index) == ["error"]


def test_a_variant_without_label_may_get_one(tmp_path: Path) -> None:
    name = "tiny_kernel-1.0+cu129-py3-none-any.whl"
    (one,) = told(tmp_path, name, Wanted(variant=CU12._replace(label=None, publish="index")))
    assert (
        one.hint
        == f"say `label = \"cu129\"` of the variant in pins.toml, or run: pinctl wheel relabel {name} --label ''"
    )
    (one,) = told(tmp_path, name, Wanted(variant=CU12._replace(label=None, publish="pypi")))
    assert one.hint == f"run: pinctl wheel relabel {name} --label ''"


@pytest.mark.parametrize(
    ("filename", "variant", "told_"),
    [
        ("tiny_kernel-1.0-py3-none-any.whl", CU12, ["PIN623"]),
        ("tiny_kernel-1.0+cu130-py3-none-any.whl", CU12, ["PIN623"]),
        ("tiny_kernel-1.0+cu129-py3-none-any.whl", CU12, []),
        ("tiny_kernel-1.0+cu129-py3-none-any.whl", CU12._replace(label=None), ["PIN623"]),
        ("tiny_kernel-1.0+cu129-cp312-cp312-any.whl", CU12, ["PIN624"]),
        ("tiny_kernel-1.0+cu129-cp311-cp311-manylinux_2_28_aarch64.whl", CU12, ["PIN609", "PIN624"]),
        ("tiny_kernel-1.0+cu129-cp39-abi3-manylinux_2_28_x86_64.whl", CU12, ["PIN609"]),
        ("tiny_kernel-1.0+cu129-cp311-cp311-manylinux_2_34_x86_64.whl",
         CU12._replace(manylinux="manylinux_2_28"), ["PIN609", "PIN624"]),
    ],
)  # fmt: skip
def test_label_and_tags_of_the_variant(tmp_path: Path, filename: str, variant: Variant, told_: list[str]) -> None:
    assert codes(told(tmp_path, filename, Wanted(variant=variant))) == told_


@pytest.mark.parametrize(
    ("line", "there"),
    [("torch==2.9.1", False), ("torch (>=2.8)", False), ("torch==2.8", True), ('torch==2.8; extra == "old"', False),
     ("not a ; requirement", False)],
)  # fmt: skip
def test_torch_of_the_variant(tmp_path: Path, line: str, there: bool) -> None:
    filename = "tiny_kernel-1.0+cu129-py3-none-any.whl"
    found = told(tmp_path, filename, Wanted(variant=CU12), metadata=[f"Requires-Dist: {line}"])
    assert codes(found) == (["PIN625"] if there else [])


def with_provenance(tmp_path: Path, ours: Provenance, wanted: Wanted) -> list[tuple[str, str | None, str | None]]:
    filename = "tiny_kernel-1.0+cu129-py3-none-any.whl"
    folder = "tiny_kernel-1.0+cu129.dist-info"
    content = {"tiny_kernel.py": b"", f"{folder}/{provenance.FILE}": provenance.render(ours)}
    return [(one.code, one.expected, one.found) for one in told(tmp_path, filename, wanted, content=content)]


def test_provenance_that_agrees(tmp_path: Path) -> None:
    assert with_provenance(tmp_path, OURS, Wanted(CU12, PIN)) == []
    nested = OURS._replace(submodules={"third/a": "c" * 40, "third/a/inner": "d" * 40})
    assert with_provenance(tmp_path, nested, Wanted(CU12, PIN)) == []


@pytest.mark.parametrize(
    ("ours", "expected", "found"),
    [
        (OURS._replace(commit="cd" * 20), COMMIT, "cd" * 20),
        (
            OURS._replace(repo="https://github.com/o/other"),
            "https://github.com/o/tiny.git",
            "https://github.com/o/other",
        ),
        (OURS._replace(submodules={}), "third/a", "none"),
        (OURS._replace(patches=()), "fix.patch", "none"),
        (OURS._replace(variant="cu13"), "cu12", "cu13"),
        (OURS._replace(cuda="13.0"), "12.9", "13.0"),
        (OURS._replace(torch="2.8.0"), "2.9.1", "2.8.0"),
        (OURS._replace(image="sha256:bb"), "sha256:aa", "sha256:bb"),
        (OURS._replace(pin="other"), "tiny", "other"),
    ],
)
def test_provenance_that_says_something_else(tmp_path: Path, ours: Provenance, expected: str, found: str) -> None:
    assert with_provenance(tmp_path, ours, Wanted(CU12, PIN)) == [("PIN626", expected, found)]


def test_provenance_that_cannot_be_read(tmp_path: Path) -> None:
    content = {"tiny_kernel.py": b"", f"{INFO}/{provenance.FILE}": b"[]"}
    (found,) = told(tmp_path, NAME, content=content)
    assert (found.code, found.selector) == ("PIN626", f"{INFO}/{provenance.FILE}")


def test_without_provenance_and_of_another_version(tmp_path: Path) -> None:
    found = told(tmp_path, NAME, Wanted(pin=PIN._replace(version="v2.0")))
    assert [(one.code, one.severity, one.pin) for one in found] == [
        ("PIN627", "warning", "tiny"), ("PIN628", "error", "tiny")]  # fmt: skip
    assert codes(told(tmp_path, NAME, Wanted(pin=PIN))) == ["PIN627"]
