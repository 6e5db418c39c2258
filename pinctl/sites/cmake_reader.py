"""From the commands of a CMake file to its slots: which literal each selector names."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from pinctl.sites.base import Slot, Token, scalar
from pinctl.sites.cmake_lexer import BARE, PAREN, QUOTED, Arg, Call, evaluate, is_keyword, pieces, text, variable
from pinctl.sites.cmake_variables import Variables, set_values

IN_QUOTED, IN_BARE, IN_URI = "in quoted", "in bare", "in uri"
"""Styles of a token that is a part of an argument: an element of a `;`-list, or the ref in CPM's short form."""
TEXT = "text"
"""Style of a list whose elements may hold references, which are a part of their text."""

SOURCES = {
    "fetchcontent_declare": "FetchContent",
    "fetchcontent_populate": "FetchContent",
    "externalproject_add": "ExternalProject",
    "cpmaddpackage": "CPMAddPackage",
    "cpmfindpackage": "CPMFindPackage",
}
"""The commands that fetch a dependency, and the names of their compound selectors."""
FLOW = frozenset({"break", "else", "elseif", "endforeach", "endfunction", "endif", "endmacro", "endwhile", "foreach",
                  "function", "if", "include", "macro", "math", "message", "return", "string", "while"})  # fmt: skip
"""Commands whose keywords are read only where a selector asks for them."""

_SPELLING = {
    name.lower(): name
    for name in ("FetchContent_Declare", "FetchContent_Populate", "ExternalProject_Add", *SOURCES.values())
}
_FORGES = {"GITHUB_REPOSITORY": "https://github.com/", "GITLAB_REPOSITORY": "https://gitlab.com/",
           "BITBUCKET_REPOSITORY": "https://bitbucket.org/"}  # fmt: skip
_HOMES = {b"gh:": "https://github.com/", b"gl:": "https://gitlab.com/", b"bb:": "https://bitbucket.org/"}
_PARTS = {"GIT_REPOSITORY": "repo", **dict.fromkeys(_FORGES, "repo"), "GIT_TAG": "ref", "GIT_SUBMODULES": "submodules",
          "URL": "url", "URL_HASH": "hash"}  # fmt: skip
_LISTS = frozenset({"GIT_CONFIG", "GIT_SUBMODULES", "INCLUDE_DIRECTORIES", "INTERFACE", "PATCHES", "PRIVATE", "PUBLIC",
                    "SOURCES", "URL"})  # fmt: skip
_UNORDERED = frozenset({"GIT_SUBMODULES", "SOURCES"})
ONE_VALUE = frozenset({"GIT_REPOSITORY", "GIT_TAG", "HEAD_REF", "NAME", "REF", "REPO", "VERSION", *_FORGES})
RESERVED = frozenset({
    *_PARTS, *_LISTS, *ONE_VALUE, "BINARY_DIR", "BUILD_COMMAND", "CACHE", "COMMAND", "CONFIGURE_COMMAND", "DEPENDS",
    "DOWNLOAD_EXTRACT_TIMESTAMP", "DOWNLOAD_NAME", "EXCLUDE_FROM_ALL", "FIND_PACKAGE_ARGS", "GIT_PROGRESS",
    "GIT_REMOTE_NAME", "GIT_REMOTE_UPDATE_STRATEGY", "GIT_SHALLOW", "GIT_SUBMODULES_RECURSE", "INSTALL_COMMAND",
    "OPTIONS", "OUT_SOURCE_PATH", "OVERRIDE_FIND_PACKAGE", "PARENT_SCOPE", "PATCH_COMMAND", "QUIET", "SHA1", "SHA512",
    "SOURCE_DIR", "SOURCE_SUBDIR", "SUBBUILD_DIR", "SYSTEM", "UPDATE_COMMAND", "URL_MD5",
})  # fmt: skip
"""Words that the commands take for their own keywords wherever they stand, quoted or not."""

_GLOB_FLAGS = {"CONFIGURE_DEPENDS": 1, "FOLLOW_SYMLINKS": 1, "LIST_DIRECTORIES": 2, "RELATIVE": 2}
_SCOPES = frozenset({"AFTER", "BEFORE", "INTERFACE", "PRIVATE", "PUBLIC", "SYSTEM"})
_SHORT_FORM = re.compile(
    rb"(?P<home>g[hl]:|bb:|https://[^/%b]+/)(?P<repo>[^%b]+?)(?:\.git)?(?P<version>@[^%b]+)?(?P<tag>#[^%b]+)?"
    % ((rb'@#\s$\\;"',) * 4)
)
_MOST_WAYS, _MOST_STEPS = 16, 3
"""How many ways to a value, and how many variables in a row, are still plain enough to follow."""


def spelled(command: str) -> str:
    """A command's or compound selector's name as selectors spell it, whatever its case in the file."""
    return _SPELLING.get(command.lower(), command.lower())


class Reader:
    """The slots of one file's commands."""

    def __init__(self, source: bytes, calls: Sequence[Call]) -> None:
        self.source = source
        self.calls = calls
        self._variables = Variables(source, calls, SOURCES)

    def slots(self) -> list[Slot]:
        """Every slot but the keywords of FLOW commands, in the order of the file; where one literal has several, the
        parts of compound selectors come first."""
        found: list[Slot] = []
        for call in self.calls:
            if call.args and call.name not in FLOW:
                found += _READERS.get(call.name, Reader.keyword_slots)(self, call)
        return sorted(found, key=lambda slot: (slot.start, not slot.part))

    def raw(self, arg: Arg) -> str:
        """The argument as it is written."""
        return self.source[arg.start : arg.end].decode("utf-8", "surrogateescape")

    def _word(self, arg: Arg) -> str:
        return self.raw(arg) if arg.kind == BARE else ""

    def _literals(self, arg: Arg) -> list[Token]:
        """The literals that an argument stands for: itself, or those that its variable is set to. None at all where one
        of the ways to a value does not end in a literal."""
        found, layer = list[Token](), [arg]
        for _ in range(_MOST_STEPS + 1):
            sets = list[list[Arg]]()
            for a in layer:
                name = variable(self.source, a)
                values = self._variables.values(name, a.start) if name else []
                tokens = self._tokens(a) if text(self.source, a).literal else []
                if not values and len(tokens) != 1:
                    return []
                found += tokens
                sets += values
            layer = list(dict.fromkeys(values[0] for values in sets if len(values) == 1 and values[0].kind != PAREN))
            if not sets:
                return list(dict.fromkeys(found))
            if len(layer) > _MOST_WAYS or any(len(values) != 1 or values[0].kind == PAREN for values in sets):
                return []
        return []

    # --- slots ---

    def _tokens(self, arg: Arg) -> list[Token]:
        """An argument as one token, or as the elements of the `;`-list that it holds."""
        spans = pieces(self.source, arg)
        if spans == [(arg.start, arg.end)]:
            return [Token(value=text(self.source, arg).value, start=arg.start, end=arg.end, style=arg.kind)]
        style = IN_QUOTED if arg.kind == QUOTED else IN_BARE
        return [
            Token(value=evaluate(self.raw(Arg(start, end, BARE))).value, start=start, end=end, style=style)
            for start, end in spans
        ]

    def _value(
        self, names: tuple[str, ...], args: Sequence[Arg], *, part: str = "", group: int = -1,
        many: bool = False, ordered: bool = True, plain: bool = False,
    ) -> Iterator[Slot]:  # fmt: skip
        """The slots of one value: a list where `many` or where it has several elements, else each literal that it
        stands for. A `plain` list holds literals only, perhaps those of a variable."""
        if not args or any(arg.kind == PAREN for arg in args):
            return
        if not many and len(args) == 1 and len(pieces(self.source, args[0])) == 1:
            for token in self._literals(args[0]):
                yield scalar(names, token, part=part, group=group)
            return
        name = variable(self.source, args[0]) if plain and len(args) == 1 else None
        lists = self._variables.values(name, args[0].start) if name else [args]
        if plain and not all(self._plain(values) for values in lists):
            return
        for values in lists:
            tokens = [token for arg in values for token in self._tokens(arg)]
            yield Slot(
                names=names, part=part, group=group, many=True, ordered=ordered, style="" if plain else TEXT,
                tokens=() if [t.value for t in tokens] == [""] else tuple(tokens),
                start=values[0].start, end=values[-1].end,
            )  # fmt: skip

    def _plain(self, values: Sequence[Arg]) -> bool:
        """Whether there are values, and all of them are literals."""
        return bool(values) and all(arg.kind != PAREN and text(self.source, arg).literal for arg in values)

    def keywords(self, call: Call) -> list[tuple[str, list[Arg]]]:
        """The keywords of a call with the arguments of each, in their order."""
        groups: list[tuple[str, list[Arg]]] = []
        for arg in call.args:
            word = self._word(arg)
            due = bool(groups) and groups[-1][0] in ONE_VALUE and not groups[-1][1]
            if is_keyword(word) and not (due and word not in RESERVED):
                groups.append((word, []))
            elif groups:
                groups[-1][1].append(arg)
        return groups

    def keyword_slots(self, call: Call) -> Iterator[Slot]:
        """`CALL(first argument).KEYWORD` for each keyword that has a value, and the bare KEYWORD."""
        groups = [(word, args) for word, args in self.keywords(call) if args]
        if not groups:
            return
        command = spelled(call.name)
        keys = self._keys(call, groups)
        for word, args in groups:
            names = (*(f"{command}({key}).{word}" for key in keys), word)
            yield from self._value(
                names, args, many=word in _LISTS, ordered=word not in _UNORDERED, plain=word == "GIT_SUBMODULES"
            )

    def _keys(self, call: Call, groups: Sequence[tuple[str, list[Arg]]]) -> list[str]:
        """What selectors call a call: its NAME or REPO (also without the owner) if it has one, its first argument."""
        named = {word: self._shown(args[0]) for word, args in groups if word in ("NAME", "REPO")}
        keys = [named[word] for word in ("NAME", "REPO") if word in named]
        keys += [named["REPO"].rpartition("/")[2]] if "REPO" in named else []
        return list(dict.fromkeys([*keys, self._shown(call.args[0])]))

    def _shown(self, arg: Arg) -> str:
        return self.raw(arg) if arg.kind in (BARE, PAREN) else text(self.source, arg).value

    def _source_slots(self, call: Call) -> Iterator[Slot]:
        """`FetchContent(NAME)` and its like, for a call that says where its source comes from."""
        groups = [(word, args) for word, args in self.keywords(call) if args]
        key = self._keys(call, groups)[0]
        names = (f"{SOURCES[call.name]}({key})",)
        for word, args in groups:
            if part := _PARTS.get(word):
                submodules = part == "submodules"
                found = self._value(
                    names, args, part=part, group=call.start, many=submodules, ordered=not submodules, plain=submodules
                )
                yield from (_forge(slot, _FORGES[word]) for slot in found) if word in _FORGES else found
        yield from self.keyword_slots(call)

    def _cpm_slots(self, call: Call) -> Iterator[Slot]:
        """CPM's calls, also the short form `CPMAddPackage("gh:owner/repo@version#tag")`: without a tag, the version's
        with a v (CPM's README, "Shorthand syntax")."""
        uris = [call.args[0], *(args[0] for word, args in self.keywords(call) if word == "URI" and args)]
        for arg in uris:
            quotes = arg.kind == QUOTED
            match = _SHORT_FORM.fullmatch(self.source, arg.start + quotes, arg.end - quotes)
            if match and (group := "tag" if match["tag"] else "version" if match["version"] else None):
                repo = match["repo"].decode("utf-8", "surrogateescape")
                names = [f"{SOURCES[call.name]}({name})" for name in dict.fromkeys((repo, repo.rpartition("/")[2]))]
                style = IN_URI if quotes else IN_BARE
                home = _HOMES.get(match["home"]) or match["home"].decode("utf-8", "surrogateescape")
                start, end = match.start(group) + 1, match.end(group)
                token = Token(value=self.raw(Arg(start, end, BARE)), start=start, end=end, style=style)
                for part, one in (
                    ("repo", _with(Token(repo, *match.span("repo"), style), home)),
                    ("ref", token if match["tag"] else _with(token, "v")),
                ):
                    yield scalar(names, one, part=part, group=call.start)
        yield from self._source_slots(call)

    def _set_slots(self, call: Call) -> Iterator[Slot]:
        """`set(X)`, also with CACHE and for ENV{X}; not followed to another variable, which has a set() itself."""
        values = set_values(self.source, call)
        if len(values) != 1 or variable(self.source, values[0]) is None:
            yield from self._value((f"set({self.raw(call.args[0])})",), values)

    def _option_slots(self, call: Call) -> Iterator[Slot]:
        yield from self._value((f"option({self.raw(call.args[0])})",), call.args[2:3])

    def _list_slots(self, call: Call) -> Iterator[Slot]:
        if self._word(call.args[0]) in ("APPEND", "PREPEND") and len(call.args) > 2:
            yield from self._value((f"list({self.raw(call.args[1])})",), call.args[2:], many=True)

    def _file_slots(self, call: Call) -> Iterator[Slot]:
        """`file(VAR)` for the patterns of a glob; the keywords of other file commands."""
        args = call.args
        if not self._word(args[0]).startswith("GLOB") or len(args) < 3:
            yield from self.keyword_slots(call)
            return
        at = 2
        while at < len(args) and (skip := _GLOB_FLAGS.get(self._word(args[at]))):
            at += skip
        yield from self._value((f"file({self.raw(args[1])})",), args[at:], many=True, ordered=False)

    def _include_slots(self, call: Call) -> Iterator[Slot]:
        """Include directories: of a target, under all of its scopes or one; of a directory."""
        target = call.name.startswith("target")
        names = (f"{call.name}({self.raw(call.args[0])})",) if target else (call.name,)
        directories = [arg for arg in call.args[target:] if self._word(arg) not in _SCOPES]
        yield from self._value(names, directories, many=True)
        yield from self.keyword_slots(call)


def _forge(slot: Slot, address: str) -> Slot:
    """CPM's `GITHUB_REPOSITORY owner/repo` as the repository's URL."""
    return replace(slot, tokens=(_with(slot.tokens[0], address),))


def _with(token: Token, before: str) -> Token:
    """A literal that means what it says with `before` in front."""
    return token._replace(value=before + token.value, style=f"{token.style} of {before}")


_READERS: dict[str, Callable[[Reader, Call], Iterator[Slot]]] = {
    "set": Reader._set_slots,
    "option": Reader._option_slots,
    "list": Reader._list_slots,
    "file": Reader._file_slots,
    "include_directories": Reader._include_slots,
    "target_include_directories": Reader._include_slots,
    "fetchcontent_declare": Reader._source_slots,
    "fetchcontent_populate": Reader._source_slots,
    "externalproject_add": Reader._source_slots,
    "cpmaddpackage": Reader._cpm_slots,
    "cpmfindpackage": Reader._cpm_slots,
}
