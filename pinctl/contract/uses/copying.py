"""What Python build scripts, shell scripts and Dockerfiles copy of a pinned source."""

import ast
import re
from collections.abc import Iterator, Sequence
from posixpath import basename, normpath

from pinctl.contract.uses.install import Copy
from pinctl.discovery.commands import Command, Word, of_dockerfile, of_shell
from pinctl.finding import Span
from pinctl.model import Pin
from pinctl.sites.dockerfile_lines import instructions
from pinctl.upstream import references

# --- Python -------------------------------------------------------------------------------------------------------

_COPIERS = frozenset({"copy", "copy2", "copyfile", "copytree", "copy_tree", "copy_file", "move"})
_WRAPPERS = frozenset({"str", "Path", "PurePath", "fspath", "resolve", "absolute"})
_MOST_PATHS = 256

Path = tuple[str, bool | None]
"""A path below the pinned source, and `glob` as in `BuildUse`."""


def of_python(source: bytes, names: frozenset[str]) -> Iterator[Copy]:
    """The copies in a Python file, which calls the pinned source by one of `names`: shutil's and their kin."""
    tree = references.parsed(source)
    try:
        yield from Paths(names).copies(tree) if tree is not None else ()
    except (RecursionError, MemoryError):
        return


class Paths:
    """What the variables of a file hold, of paths and of plain texts."""

    def __init__(self, names: frozenset[str]) -> None:
        self.names = names
        self.paths: dict[str, list[Path]] = {}
        self.texts: dict[str, list[str]] = {}

    def copies(self, tree: ast.Module) -> Iterator[Copy]:
        """The copies in the order of the file."""
        for node in in_order(tree):
            self.follow(node)
            if isinstance(node, ast.Call) and called(node.func) in _COPIERS and node.args:
                span = Span(node.args[0].lineno, node.args[0].col_offset + 1)
                without = tuple(dict.fromkeys(_ignored(node)))
                for path, glob in self.of(node.args[0]):
                    yield Copy(path, span, glob, without, path)

    def follow(self, node: ast.AST) -> None:
        """Take note of what `node`, the next one of the file, gives a variable."""
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            self._bind(node.targets[0].id, node.value)
        elif isinstance(node, ast.For | ast.comprehension) and isinstance(node.target, ast.Name):
            self._loop(node.target.id, node.iter)

    def _bind(self, name: str, value: ast.expr) -> None:
        self.paths.setdefault(name, []).extend(self.of(value))
        if isinstance(value, ast.Tuple | ast.List):
            self.texts[name] = [text for element in value.elts for text in self._text(element)]

    def _loop(self, name: str, iterated: ast.expr) -> None:
        self.paths.setdefault(name, []).extend(self.of(iterated))
        elements = iterated.elts if isinstance(iterated, ast.Tuple | ast.List) else ()
        self.texts[name] = [text for element in elements for text in self._text(element)]
        if isinstance(iterated, ast.Name):
            self.texts[name] += self.texts.get(iterated.id, [])

    def _text(self, node: ast.expr) -> list[str]:
        if isinstance(node, ast.Constant):
            return [node.value] if isinstance(node.value, str) else []
        return self.texts.get(node.id, []) if isinstance(node, ast.Name) else []

    def of(self, node: ast.expr) -> list[Path]:
        """The paths below the pinned source that an expression may be; [] where it is none, or not known."""
        if isinstance(node, ast.Name):
            own: list[Path] = [("", None)] if node.id.lower() in self.names else []
            return (self.paths.get(node.id) or own)[:_MOST_PATHS]
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):
            return self._below(self.of(node.left), node.right)
        if isinstance(node, ast.JoinedStr):
            return self._formatted(node)
        if isinstance(node, ast.Call):
            return self._called(node)
        return []

    def _below(self, bases: Sequence[Path], part: ast.expr) -> list[Path]:
        """`base / part`; where part is not known, the folder before it."""
        parts = self._text(part)
        joined = [(normpath(f"{base}/{text}".strip("/")), glob) for base, glob in bases for text in parts]
        return (joined if parts else [(base, glob) for base, glob in bases if base])[:_MOST_PATHS]

    def _formatted(self, node: ast.JoinedStr) -> list[Path]:
        first = node.values[0] if node.values else None
        found = self.of(first.value) if isinstance(first, ast.FormattedValue) else []
        for piece in node.values[1:]:
            found = self._below(found, piece.value if isinstance(piece, ast.FormattedValue) else piece)
        return found

    def _called(self, node: ast.Call) -> list[Path]:
        name = called(node.func)
        base = node.func.value if isinstance(node.func, ast.Attribute) else None
        if name in ("glob", "rglob") and base is not None and node.args:
            patterns = self._text(node.args[0])
            found = [_globbed(f"{path}/{text}", name == "rglob") for path, _ in self.of(base) for text in patterns]
            return found or [_globbed(path) for path, _ in self.of(node.args[0])]
        if name in ("join", "joinpath"):
            parts = node.args if name == "join" else [*([base] if base is not None else []), *node.args]
            found = self.of(parts[0]) if parts else []
            for part in parts[1:]:
                found = self._below(found, part)
            return found
        if name in _WRAPPERS:
            return self.of(node.args[0]) if node.args else self.of(base) if base is not None else []
        return self.of(node.args[0]) if name in ("sorted", "list") and node.args else []


def _globbed(pattern: str, recursive: bool = False) -> Path:
    """The files that a pattern matches; `**/` in it is any depth."""
    return pattern.replace("**/", "").strip("/"), recursive or "**/" in pattern


def in_order(node: ast.AST) -> Iterator[ast.AST]:
    """What stands below `node`, in the order in which it is run."""
    children = list(ast.iter_child_nodes(node))
    for child in sorted(children, key=lambda one: not isinstance(one, ast.comprehension)):  # these bind its variables
        yield child
        yield from in_order(child)


def called(node: ast.expr) -> str:
    """The last part of a name: `c` of `a.b.c`."""
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def _ignored(node: ast.Call) -> Iterator[str]:
    """The globs of `ignore=shutil.ignore_patterns(...)`."""
    for keyword in node.keywords:
        ignoring = keyword.value if keyword.arg == "ignore" else None
        if isinstance(ignoring, ast.Call) and called(ignoring.func) == "ignore_patterns":
            yield from (a.value for a in ignoring.args if isinstance(a, ast.Constant) and isinstance(a.value, str))


# --- shell scripts and Dockerfiles --------------------------------------------------------------------------------

_CP_VALUES = frozenset({"-m", "-o", "-g", "-S", "--mode", "--owner", "--group", "--suffix", "--exclude", "--include"})
_UNKNOWN = re.compile(r"[$`]")
_PRODUCT = re.compile(r"(?:dist|build)(?:/.*)?|.*\.(?:whl|so|a|o|egg-info)(?:/.*)?")
"""Paths of what a build makes, which the source does not hold."""


def of_script(source: bytes, pin: Pin, *, is_shell: bool) -> Iterator[Copy]:
    """The copies in a shell script or a Dockerfile: cp, install, rsync, mv, ln and COPY of what lies in a folder that
    is called like the repository of `pin`, or that a clone of it was put into."""
    if not concerns(source, pin):
        return
    commands = of_shell(source) if is_shell else of_dockerfile(source)
    shell = Shell(source, folders(pin, commands))
    for command in commands:
        yield from shell.copies(command)
    for instruction in () if is_shell else instructions(source)[1]:
        if instruction.keyword == "COPY" and not instruction.is_json:
            words = [Word(m[0].decode("utf-8", "replace"), *instruction.span(*m.span()))
                     for m in re.finditer(rb"\S+", instruction.text)]  # fmt: skip
            yield from shell.of_words(words[:-1], ())


def concerns(source: bytes, pin: Pin) -> bool:
    """Whether a script may speak of the source of `pin`."""
    return any(folder.encode() in source for folder in folders(pin))


def folders(pin: Pin, commands: Sequence[Command] = ()) -> set[str]:
    """What scripts call the folder of the source of `pin`, with those that `commands` clone it into."""
    repository = basename(pin.repo or "").removesuffix(".git")
    clones = {basename(operands[1].text.rstrip("/")) for operands in map(_cloned, commands)
              if len(operands) > 1 and basename(operands[0].text).removesuffix(".git") == repository}  # fmt: skip
    return {pin.name, pin.name.replace("-", "_"), repository, *clones} - {""}


def _cloned(command: Command) -> list[Word]:
    verb, operands, _ = command.git()
    return operands if verb == "clone" else []


class Shell:
    """Knows where in the pinned source the commands of a script run: `here`, None for elsewhere."""

    def __init__(self, source: bytes, folders: set[str]) -> None:
        self.source, self.folders = source, folders
        self.here: str | None = None

    def moves(self, words: Sequence[Word]) -> bool:
        """Whether a command goes to another folder, which is then the present one."""
        program = basename(words[0].text) if words else ""
        if program not in ("cd", "pushd", "popd"):
            return False
        here = self.below(words[1].text) if len(words) > 1 and program != "popd" else None
        self.here = None if here is not None and here.split("/")[0] == ".." else here
        return True

    def copies(self, command: Command) -> Iterator[Copy]:
        """The copies that one command makes."""
        words = [word for word in command.words if word.text not in ("sudo", "&&")]
        program = basename(words[0].text) if words else ""
        if not self.moves(words) and program in ("cp", "install", "rsync", "mv", "ln") and len(words) > 2:
            operands, excluded, into = _operands(words[1:])
            yield from self.of_words(operands if into else operands[:-1], excluded)

    def of_words(self, words: Sequence[Word], without: Sequence[str]) -> Iterator[Copy]:
        """The copies of those of `words` that are paths of the pinned source."""
        for word in words:
            path = self.below(word.text)
            if path is not None and not path.startswith("../") and not _PRODUCT.fullmatch(path):
                glob = False if re.search(r"[*?\[]", path) else None
                yield Copy(path, Span.of(self.source, word.start, word.end), glob, tuple(without), path)

    def below(self, text: str) -> str | None:
        """The path below the pinned source that a word is; of one that ends in what is not known, the folder before."""
        parts = text.rstrip("/").split("/")
        inside = [number for number, part in enumerate(parts) if part in self.folders]
        if inside and (inside[0] > 0 or self.here is None):
            rest = "/".join(parts[inside[0] + 1 :])
        elif self.here is not None and not text.startswith(("/", "$", "~", "-")):
            rest = f"{self.here}/{text}"
        else:
            return None
        known = _UNKNOWN.search(rest)
        return normpath((rest[: known.start()].rpartition("/")[0] if known else rest).strip("/") or ".")


def _operands(words: Sequence[Word]) -> tuple[list[Word], list[str], bool]:
    """The operands of a command that copies, what it leaves out, and whether an option says where to."""
    operands: list[Word] = []
    excluded: list[str] = []
    into, option = False, ""
    for word in words:
        name, given, value = word.text.partition("=")
        if option:
            excluded += [word.text.strip("/")] if option == "--exclude" else []
            option = ""
        elif word.text.startswith("-"):
            into = into or name in ("-t", "--target-directory")
            excluded += [value.strip("/")] if given and name == "--exclude" else []
            option = name if not given and (name in _CP_VALUES or name == "-t") else ""
        else:
            operands.append(word)
    return operands, excluded, into
