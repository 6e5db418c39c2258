"""What the words of one command say: packages to install, what git clones and checks out, requirements."""

import re
from collections.abc import Sequence

from pinctl.sites import pep508
from pinctl.sites.packages import MANAGERS, Span, operands
from pinctl.sites.shell_text import Text
from pinctl.sites.shell_words import Word, text

OPERAND, REF = "operand", "ref"
"""Styles of slots in commands: words that would be options if they began with a dash; what git clones, checks out."""
MOVING = frozenset({"HEAD", "FETCH_HEAD", "ORIG_HEAD", "."})
"""What `git checkout` takes that names no fixed commit."""

_WRAPPERS = frozenset({"sudo", "doas", "env", "command", "exec", "time", "nohup", "nice"})
_WRAPPER_VALUES = frozenset({"-u", "-g", "--user", "--group"})
_GIT_VALUES = frozenset({"-C", "-c", "--git-dir", "--work-tree", "--namespace"})
_CLONE_VALUES = frozenset(
    "-b --branch -c --config --depth --filter -j --jobs -o --origin --reference --reference-if-able --separate-git-dir"
    " --server-option --shallow-exclude --shallow-since --template -u --upload-pack".split()
)
_CHECKOUT_VALUES = frozenset({"-b", "-B", "--orphan", "--conflict", "--pathspec-from-file"})
_ARGUMENTS = 100
"""No argument behind that many is addressed: a hostile line could give each of a million a name."""
_PIP_VERBS = frozenset({"install", "download", "wheel"})
_SETTERS = frozenset({"getopts", "let", "mapfile", "printf", "read", "readarray"})
_IDENTIFIER = re.compile(rb"[A-Za-z_]\w*")
_NO_VALUES: frozenset[str] = frozenset()
_PINNED_BY_VARIABLE = re.compile(
    rb"""["']?(?P<name>[A-Za-z0-9][\w.-]*)(?:\[[\w.,-]*\])?\s*===?\s*(?P<version>"?\$(?:\{\w+\}|\w+))["']*"""
)


def read(into: Text, words: Sequence[Word]) -> None:
    """Adds what the command `words` names."""
    words = _unwrapped(words)
    if not words:
        return
    program = _program(words[0])
    _outputs(into, program, words)
    if program in MANAGERS:
        _packages(into, program, words)
    elif program == "git":
        _git(into, words)
    elif first := _after_pip_verb(program, words):
        for word in words[first:]:
            _requirement(into, str(words[first - 1].value), word)
    else:
        _arguments(into, words)


def _outputs(into: Text, program: str, words: Sequence[Word]) -> None:
    """The variables that builtins such as `read` set: all that their words may mean, prompts included."""
    if program == "printf":
        words = words[:3] if len(words) > 2 and words[1].value == "-v" else ()
    if program in _SETTERS:
        for word in words[1:]:
            for name in _IDENTIFIER.findall(word.raw):
                into.unknown(text(name))


def _program(word: Word) -> str:
    """The program's name without its folder; "" where an expansion hides it. `${VENV}/bin/pip` is pip."""
    name = text(word.raw.strip(b"\"'")) if word.value is None else word.value
    base = name.rpartition("/")[2]
    return "" if "$" in base or "`" in base else base


def _unwrapped(words: Sequence[Word]) -> Sequence[Word]:
    """The command that sudo, env and the like run, without their options and assignments."""
    while words and _program(words[0]) in _WRAPPERS:
        at = 1
        while at < len(words) and (words[at].option or b"=" in words[at].raw):
            at += 2 if words[at].value in _WRAPPER_VALUES else 1
        words = words[at:]
    return words


def _arguments(into: Text, words: Sequence[Word]) -> None:
    """`COMMAND N` for each literal argument that is no option; options count."""
    program = words[0].value
    if program and not re.search(r"\s", program):
        for n, word in enumerate(words[1:_ARGUMENTS], 1):
            if word.value and not word.option:
                into.add((f"{program} {n}",), word, style=OPERAND)


def _packages(into: Text, program: str, words: Sequence[Word]) -> None:
    manager = MANAGERS[program]
    places = operands(words, 1, manager.valued)
    if not places or words[places[0]].value != manager.verb:
        _arguments(into, words)
        return
    elements = [words[n] for n in places[1:] if words[n].value != ""]
    if any(e.value is not None for e in elements):
        around: list[Span] = [(word.start, word.end) for word in words]
        whole = (words[0].start, elements[-1].end)
        into.add_list(f"{program} {manager.verb}", elements, around, whole, style=OPERAND)


def _git(into: Text, words: Sequence[Word]) -> None:
    places = operands(words, 1, _GIT_VALUES)
    verb = words[places[0]].value if places else None
    if verb == "clone":
        _clone(into, words, places[0] + 1)
    elif verb == "checkout":
        after = operands(words, places[0] + 1, _CHECKOUT_VALUES)
        if after and all(word.value != "--" for word in words[: after[0]]):
            _operand(into, words[after[0]], "git checkout")
    else:
        _arguments(into, words)


def _clone(into: Text, words: Sequence[Word], first: int) -> None:
    places = operands(words, first, _CLONE_VALUES)
    if places:
        _operand(into, words[places[0]], "git clone")
    for n, word in enumerate(words[first:_ARGUMENTS], first + 1):
        if word.value in ("-b", "--branch") and n < len(words):
            _operand(into, words[n], "git clone --branch")
        elif word.raw.startswith(b"--branch="):
            _operand(into, into.word(word.start + len(b"--branch="), word.end), "git clone --branch")


def _operand(into: Text, word: Word, selector: str) -> None:
    """`selector` names the literal `word`, or the literals of the variable that it expands."""
    if word.value is None:
        into.refer(word, selector)
    elif word.value and word.value not in MOVING:
        into.add((selector,), word, style=REF)


def _after_pip_verb(program: str, words: Sequence[Word]) -> int | None:
    """Where the arguments of `pip install`, `uv pip install`, `python -m pip download` and the like begin."""
    first = 1
    if program == "uv":
        places = operands(words, 1, _NO_VALUES)
        if not places or words[places[0]].value != "pip":
            return None
        first = places[0] + 1
    elif len(words) > 2 and words[1].value == "-m" and words[2].value == "pip":
        first = 3
    elif not re.fullmatch(r"pip[0-9.]*", program):
        return None
    places = operands(words, first, _NO_VALUES)
    return places[0] + 1 if places and words[places[0]].value in _PIP_VERBS else None


def _requirement(into: Text, verb: str, word: Word) -> None:
    if word.value is None:
        pinned = _PINNED_BY_VARIABLE.fullmatch(word.raw)
        if pinned is not None:
            variable = text(pinned["version"].strip(b'"${}'))
            into.use(variable, word, *_requirement_names(verb, "requirement", text(pinned["name"])))
        return
    requirement = pep508.parse(word.value) or pep508.vcs(word.value) or pep508.wheel(word.value)
    span = _inside(word, word.value, requirement.start, requirement.end) if requirement else None
    if requirement and span:
        value = word.value[requirement.start : requirement.end]
        part = Word(*span, into.code[slice(*span)], value, requirement.kind)
        into.add(_requirement_names(verb, requirement.kind, requirement.name), part)


def _requirement_names(verb: str, kind: str, name: str) -> tuple[str, ...]:
    names = [f"{kind} {pep508.normal(name)}"]
    if (verb, kind) == ("install", "requirement"):
        names.insert(0, f"pip install {pep508.normal(name)}")
    return tuple(names)


def _inside(word: Word, value: str, start: int, end: int) -> Span | None:
    """Where the characters `start:end` of the word's value stand; None where a quote or an escape is among them."""
    if not value.isascii():
        return None
    quotes = b"" if word.raw[1:-1] == value.encode() else b"\"'"
    kept = [n for n, byte in enumerate(word.raw) if byte not in quotes][0 if quotes else 1 :]
    if bytes(word.raw[n] for n in kept[: len(value)]) != value.encode():
        return None
    first, last = kept[start], kept[end - 1] + 1
    return (word.start + first, word.start + last) if last - first == end - start else None
