"""Site languages: the table, and the way from a file and a selector to slots."""

import importlib
import re
from collections.abc import Mapping
from fnmatch import fnmatchcase
from posixpath import basename
from typing import cast

from pinctl.sites.base import BadSelector, Document, Hit, Language, Slot

# First match wins; patterns without a slash match the file's name.
LANGUAGES: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("cmake", ("CMakeLists.txt", "*.cmake", "*.cmake.in")),
    ("gitmodules", (".gitmodules",)),
    ("dockerfile", ("Dockerfile", "Dockerfile.*", "*.Dockerfile", "*.dockerfile", "Containerfile", "Containerfile.*")),
    (
        "requirements",
        ("requirements*.txt", "requirements*.in", "constraints*.txt", "*/requirements/*.txt", "*/requirements/*.in"),
    ),
    ("deps_list", ("*/cmake/deps.txt",)),
    ("shell", ("*.sh", "*.bash")),
    ("python", ("*.py", "*.pyi")),
    ("starlark", ("*.bzl", "*.bazel", "BUILD", "WORKSPACE", "*.BUILD", "*.star")),
    ("json", ("*.json",)),
    ("toml", ("*.toml",)),
    ("yaml", ("*.yaml", "*.yml")),
    ("hcl", ("*.hcl",)),
    ("env", (".env", "*.env", "*.properties")),
    ("text", ("*",)),
)


_COMMENTS: tuple[tuple[tuple[str, str] | None, tuple[str, ...]], ...] = (
    (("// ", ""), ("*.c", "*.cc", "*.cpp", "*.cu", "*.cuh", "*.cxx", "*.go", "*.h", "*.hip", "*.hpp", "*.hxx", "*.java",
                   "*.js", "*.kt", "*.m", "*.mm", "*.proto", "*.rs", "*.swift", "*.ts")),
    (("<!-- ", " -->"), ("*.htm", "*.html", "*.markdown", "*.md", "*.svg", "*.xml")),
    (("/* ", " */"), ("*.css", "*.ld")),
    (("-- ", ""), ("*.hs", "*.lua", "*.sql")),
    ((".. ", ""), ("*.rst",)),
    (None, ("*.csv", "*.ipynb")),
)  # fmt: skip
"""How comments begin and end in files that no site language reads, by their names; `# ` in all others."""


_SHEBANG = re.compile(rb"#!\s*\S*?(?:/env\s+(?:-S\s+)?)?(?P<program>[a-z]+)[0-9.]*(?:\s|$)")
_PROGRAMS = {b"bash": "shell", b"sh": "shell", b"dash": "shell", b"python": "python"}


def language_of(path: str, head: bytes = b"") -> str:
    """The name of the language of the file `path` (relative, forward slashes): by its name, else by the `#!` of its
    first bytes `head`."""
    name, rooted = basename(path), "/" + path
    for language, patterns in LANGUAGES:
        if language != "text" and any(fnmatchcase(rooted if "/" in p else name, p) for p in patterns):
            return language
    shebang = _SHEBANG.match(head)
    return _PROGRAMS.get(shebang["program"], "text") if shebang else "text"


def language_for(path: str, source: bytes, overrides: Mapping[str, str]) -> str:
    """The language of a file, where `[languages]` of pins.toml (glob to name) has the first word."""
    for pattern, language in overrides.items():
        if fnmatchcase(path, pattern):
            return language
    return language_of(path, source[:128])


def comment_of(path: str, language: str) -> tuple[str, str] | None:
    """How a comment line begins and ends in a file of `language`; None where there are no comments."""
    if language == "text":
        for comment, patterns in _COMMENTS:
            if any(fnmatchcase(basename(path).lower(), pattern) for pattern in patterns):
                return comment
    return load(language).COMMENT


def load(language: str) -> Language:
    """The module of a language. Grammars are loaded when a module is first needed."""
    return cast(Language, importlib.import_module(f"pinctl.sites.{language}"))


def parse(language: str, source: bytes) -> Document:
    """The document of a file in `language`. Raises Unparsable."""
    return load(language).parse(source)


_COMMENT = re.compile(r"comment:[A-Za-z0-9](?:[A-Za-z0-9._-]{0,98}[A-Za-z0-9])?")
_NTH = re.compile(r"(?s)(.*)#([1-9][0-9]{0,3})")


def split_nth(selector: str) -> tuple[str, int | None]:
    """`selector#N` as the selector and N (from 1); None without one. A `regex:` selector is never split."""
    match = None if selector.startswith("regex:") else _NTH.fullmatch(selector)
    return (match[1], int(match[2])) if match else (selector, None)


def find(document: Document, selector: str) -> list[Hit]:
    """Every place that `selector` names in `document`: none, one, or several where it is ambiguous.

    Raises BadSelector where the selector is none of the document's language.
    """
    if selector.startswith("regex:"):
        from pinctl.sites.regex import find_regex

        return find_regex(document, selector.removeprefix("regex:"))
    plain, nth = split_nth(selector)
    hits = _mentions(document, plain) if _COMMENT.fullmatch(plain) else document.find(plain)
    return hits if nth is None else hits[nth - 1 : nth]


def _mentions(document: Document, selector: str) -> list[Hit]:
    from pinctl.sites.comments import find_mentions

    return find_mentions(document, selector.removeprefix("comment:"))


def selector_of(document: Document, slot: Slot) -> str:
    """The selector that finds `slot` and nothing else: one of its names, with `#N` where it has none to itself.

    A part of a compound that goes through a variable is found by the variable: `set(_REF)`.
    """
    own = [
        name if len(hits) == 1 else f"{name}#{n}"
        for name, hits in document.index().items()
        for n, hit in enumerate(hits, 1)
        if len(hit) == 1 and (hit[0].start, hit[0].end) == (slot.start, slot.end)
    ]
    return next((name for name in own if "#" not in name), own[0] if own else slot.selector)


__all__ = [
    "LANGUAGES", "BadSelector", "comment_of", "find", "language_for", "language_of", "load", "parse", "selector_of",
    "split_nth",
]  # fmt: skip
