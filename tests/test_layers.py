"""The house rules, enforced: imports point one way, IO stays in `external/`, modules stay small."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent / "pinctl"
MODULES = {
    ".".join(("pinctl", *path.relative_to(ROOT).with_suffix("").parts)).removesuffix(".__init__"): path
    for path in sorted(ROOT.rglob("*.py"))
    if "data" not in path.relative_to(ROOT).parts
}
TREES = {name: ast.parse(path.read_text(encoding="utf-8")) for name, path in MODULES.items()}

IO_MODULES = {"subprocess", "git", "socket", "urllib.request", "http", "shutil", "tempfile", "fcntl", "ctypes"}
IO_CALLS = {"open", "exec", "eval", "input", "print"}
TERMINAL = {"rich", "typer", "click"}


def imports(tree: ast.AST) -> Iterator[str]:
    """Every module that is imported, also inside functions; `from a import b` gives both `a` and `a.b`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def ours(name: str) -> set[str]:
    return {i for i in imports(TREES[name]) if i in MODULES and i != name}


def room(name: str) -> str:
    """The layer that a module belongs to."""
    parts = name.split(".")
    if len(parts) > 1 and parts[1] in ("cli", "external", "commands", "report"):
        return parts[1]
    return "cli" if name == "pinctl.__main__" else "pure"


MAY_IMPORT = {
    "cli": {"cli", "report", "commands", "external", "pure"},
    "report": {"report", "pure"},
    "commands": {"commands", "external", "pure"},
    "external": {"external", "pure"},
    "pure": {"pure"},
}


@pytest.mark.parametrize("name", MODULES)
def test_imports_point_down(name: str) -> None:
    wrong = {other for other in ours(name) if room(other) not in MAY_IMPORT[room(name)]}
    assert not wrong


@pytest.mark.parametrize("name", [n for n in MODULES if room(n) != "external"])
def test_io_stays_in_external(name: str) -> None:
    allowed = {"shutil"} if room(name) == "cli" else set()
    roots = {i for i in imports(TREES[name]) if any(i == m or i.startswith(m + ".") for m in IO_MODULES)}
    assert not {i for i in roots if i.partition(".")[0] not in allowed}
    calls = {n.func.id for n in ast.walk(TREES[name]) if isinstance(n, ast.Call) and isinstance(n.func, ast.Name)}
    assert not calls & IO_CALLS
    writes = {
        n.func.attr for n in ast.walk(TREES[name]) if isinstance(n, ast.Call) and isinstance(n.func, ast.Attribute)
    } & {
        "write_text",
        "write_bytes",
        "unlink",
        "rename",
        "mkdir",
        "makedirs",
        "rmtree",
        "symlink_to",
        "system",
        "popen",
    }
    assert not writes


@pytest.mark.parametrize("name", [n for n in MODULES if room(n) not in ("cli", "report")])
def test_terminal_libraries_stay_in_cli_and_report(name: str) -> None:
    assert not {i for i in imports(TREES[name]) if i.partition(".")[0] in TERMINAL}


def test_no_import_cycles() -> None:
    done: set[str] = set()

    def visit(name: str, path: tuple[str, ...]) -> None:
        assert name not in path, f"a cycle: {' -> '.join((*path, name))}"
        if name not in done:
            for other in sorted(ours(name)):
                visit(other, (*path, name))
            done.add(name)

    for name in MODULES:
        visit(name, ())


@pytest.mark.parametrize("name", MODULES)
def test_modules_stay_small(name: str) -> None:
    assert len(MODULES[name].read_text(encoding="utf-8").splitlines()) <= 400


@pytest.mark.parametrize("name", MODULES)
def test_every_public_function_and_class_says_what_it_does(name: str) -> None:
    assert ast.get_docstring(TREES[name]), f"{name} has no docstring"


def test_every_site_language_is_listed_and_every_listed_one_exists() -> None:
    from pinctl.sites import LANGUAGES, load

    listed = {language for language, _ in LANGUAGES}
    for language in listed:
        module = load(language)
        assert language == module.NAME
    found = {
        name.rpartition(".")[2]
        for name, tree in TREES.items()
        if name.startswith("pinctl.sites.")
        and any(isinstance(n, ast.AnnAssign | ast.Assign) and _assigns(n, "NAME") for n in tree.body)
    }
    assert found == listed


def _assigns(node: ast.AnnAssign | ast.Assign, name: str) -> bool:
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    return any(isinstance(t, ast.Name) and t.id == name for t in targets)
