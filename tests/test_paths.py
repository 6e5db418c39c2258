import pytest

from pinctl.paths import path_problem, plain


@pytest.mark.parametrize(
    "path",
    [
        "a",
        "a/b.sh",
        "./a",
        ".github/workflows/ci.yml",
        ".gitmodules",
        "a/.gitignore",
        "x.git/y",
        "git",
        "..a",
        "a..b",
        "cmake/**/*.cmake",
        "with a space",
        "ü/é",
        ".g",
        "a:b",
    ],
)
def test_usable(path: str) -> None:
    assert path_problem(path) is None


@pytest.mark.parametrize(
    ("path", "clause"),
    [
        ("", "empty"),
        ("/etc/passwd", "absolute"),
        ("~/x", "absolute"),
        ("C:/x", "absolute"),
        ("../x", "`..`"),
        ("a/../../x", "`..`"),
        ("a/..", "`..`"),
        ("a\\..\\x", "backslash"),
        ("a\0b", "control"),
        ("a\nb", "control"),
        ("a\x85b", "control"),
        ("--output=x", "`-`"),
        (".git/hooks/pre-commit", "enters .git"),
        ("a/.GIT/config", "enters .git"),
        ("a/.git", "enters .git"),
        ("GIT~1/config", "enters .git"),
        (".git /config", "enters .git"),
        (".git./config", "enters .git"),
        (".git::$INDEX_ALLOCATION/config", "enters .git"),
        (".g\u200cit/config", "enters .git"),
        ("a" * 1025, "1024 bytes"),
        ("é" * 600, "1024 bytes"),
    ],
)
def test_unusable(path: str, clause: str) -> None:
    assert clause in (path_problem(path) or "")


def test_plain() -> None:
    assert [plain(path) for path in ("./a", "a//b", "a/./b", "a/")] == ["a", "a/b", "a/b", "a"]
