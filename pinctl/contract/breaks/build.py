"""What the build takes of the pinned tree: paths that are gone, and modules that its copy rules leave out."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from fnmatch import fnmatchcase
from functools import cache
from itertools import takewhile

from pinctl.contract.breaks.lookup import Lookup
from pinctl.contract.breaks.model import Break, Class
from pinctl.contract.model import Action, BuildUse, Guard, Place, Use, Uses, When
from pinctl.upstream.forest import Forest, component

# --- PATH ---------------------------------------------------------------------------------------------------------


def paths(before: Forest, after: Forest, build: Iterable[BuildUse]) -> Iterator[Break]:
    """The paths and globs of `build` that are in the tree `before`, and not in the one `after`; baseline: in neither.

    Of the globs of one folder it is enough that one matches.
    """
    uses = list(dict.fromkeys(build))
    full = {_folder(use.path) for use in uses if use.glob is not None and _has(after, use)}
    for use in uses:
        if _has(after, use) is False and not (use.glob is not None and _folder(use.path) in full):
            from pinctl.upstream.verify import offer  # which takes long to load

            baseline = _has(before, use) is False
            what = f"{use.path} {'is not there' if baseline else 'is gone'}, and the build {use.action.value} it"
            yield Break(Class.PATH, use.path, what, use.place, hint=offer(after, use.path), baseline=baseline)


def submodules(
    before: Forest, after: Forest, declared: Sequence[str], place: Callable[[int], Place]
) -> Iterator[Break]:
    """The submodules of `declared` which `before` has and `after` has not; `place` tells where one of them, by its
    number, is declared."""
    for number, path in enumerate(declared):
        if path in before.root.gitlinks and path not in after.root.gitlinks:
            name = path.rpartition("/")[2]
            moved = [link for link in after.root.gitlinks if link.rpartition("/")[2] == name]
            others = ", ".join(sorted(after.root.gitlinks)) or "none"
            hint = f"it may be {moved[0]} now" if moved else f"its submodules are: {others}"
            yield Break(Class.PATH, path, f"the submodule {path} is gone", place(number), hint=hint)


def _has(forest: Forest, use: BuildUse) -> bool | None:
    """Whether the tree has what a build file names; None where that is not known."""
    if use.glob is None:
        return forest.has(use.path)
    if next(forest.glob(use.path, recursive=use.glob), None) is not None:
        return True
    return None if forest.unknown(use.path) else False


def _folder(glob: str) -> str:
    return glob.rpartition("/")[0]


# --- VENDOR -------------------------------------------------------------------------------------------------------


def vendored(before: Lookup, after: Lookup, uses: Uses) -> Iterator[Break]:
    """The files that the used modules import and that the build does not copy, where it copies any of them; baseline:
    those that it left out before, too."""
    files = closure(after, uses.uses)
    rules = [use for use in uses.build if use.action is Action.COPIES and any(copies(use, file) for file in files)]
    if not rules:
        return
    old = closure(before, uses.uses).keys()
    for file, module in files.items():
        if not any(copies(rule, file) for rule in rules):
            nearest = max(rules, key=lambda rule: (_shared(rule.path, file), rule.place))
            what = f"`{module}` imports {file}, which the build does not copy"
            hint = f"copy it beside {nearest.path}"
            yield Break(Class.VENDOR, file, what, nearest.place, When.IMPORT, hint=hint, baseline=file in old)


def closure(surface: Lookup, uses: Iterable[Use]) -> dict[str, str]:
    """The files that are read when the used names are imported, each with the module that leads to it."""
    found: dict[str, str] = {}
    for use in uses:
        if Guard.TYPE_CHECKING not in use.guards:
            for module in surface.modules(use.symbol):
                found.setdefault(module.place.file, module.name)
    todo = list(found)
    while todo:
        file = todo.pop()
        for other in surface.surface.imports.get(file, ()):
            if other not in found:
                found[other] = found[file]
                todo.append(other)
    return found


def copies(rule: BuildUse, file: str) -> bool:
    """Whether a copy rule takes `file`: it, a folder that holds it, or a glob that matches it; nothing that it leaves
    out is on the way."""
    parts = _below(rule, file)
    return parts is not None and not any(fnmatchcase(part, glob) for glob in rule.without for part in parts)


def _below(rule: BuildUse, file: str) -> list[str] | None:
    """What is left of the path of `file` below the folder that a rule copies from; None where it copies another one."""
    if rule.glob is not None:
        matched = _matcher(rule.path, rule.glob).fullmatch(file)
        return file.split("/")[rule.path.count("/") :] if matched else None
    if rule.path in ("", "."):
        return file.split("/")
    if file == rule.path or file.startswith(f"{rule.path}/"):
        return file[len(rule.path) + 1 :].split("/")
    return None


@cache
def _matcher(glob: str, recursive: bool) -> re.Pattern[str]:
    *folders, name = glob.split("/")
    deeper = "(?:.*/)?" if recursive else ""
    return re.compile("".join(f"{component(folder)}/" for folder in folders) + deeper + component(name))


def _shared(one: str, other: str) -> int:
    """How many folders two paths have in common."""
    pairs = zip(one.split("/"), other.split("/"), strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
