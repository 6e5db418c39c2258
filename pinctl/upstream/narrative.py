"""A comparison told: as the tables of `diff` and of a pull request's body, and as plain data for scripts. Pure."""

from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from typing import NamedTuple

from pinctl.contract.changes import Changes
from pinctl.outcome import Cell, Link, Table, counted
from pinctl.upstream import links
from pinctl.upstream.comparison import Comparison, Fork, ModuleLog, Span
from pinctl.upstream.difference import Difference, Move
from pinctl.upstream.headers import Need
from pinctl.upstream.log import Commit, Entry
from pinctl.urls import same_repo

SHORT = 10
"""Digits of an id that a person is shown."""
_MOST = 100
"""Rows of one table."""
_MOST_DATA = 1000
"""Commits of one log that scripts are given."""

Row = tuple[Cell, ...]
Data = dict[str, object]


def short(commit: str | None) -> str:
    """A commit id as a person is shown it; `-` for none."""
    return commit[:SHORT] if commit else "-"


def tables(comparison: Comparison) -> Iterator[Table]:
    """Each kind of difference, under its title; nothing of what is the same."""
    yield _facts(comparison)
    span, repo = comparison.span, comparison.after.repo
    if span.gained:
        yield _log(f"{counted(span.ahead, 'commit')} more", span.gained, repo)
    if span.lost:
        yield _log(f"{counted(span.behind, 'commit')} no longer there", span.lost, comparison.before.repo)
    if comparison.fork:
        yield _fork(comparison.fork, repo)
    yield from _modules(comparison)
    yield from _paths(comparison.difference)
    if comparison.surface:
        yield from _names(comparison.surface)


def summary(comparison: Comparison) -> str:
    """The one line: `deepgemm: 12 commits ahead, 2 behind`."""
    span = comparison.span
    told = "the same commit" if not (span.ahead or span.behind) else f"{counted(span.ahead, 'commit')} ahead"
    if span.behind:
        told += f", {span.behind} behind: the second is not made of the first" if span.ahead else ""
        told = told if span.ahead else f"{counted(span.behind, 'commit')} back"
    return f"{comparison.after.pin.name}: {told}"


def _facts(comparison: Comparison) -> Table:
    """What of the pin itself is another."""
    before, after = comparison.before, comparison.after
    rows: list[Row] = [("commit", *(Link(short(s.commit), links.commit(s.repo, s.commit)) for s in (before, after)))]
    for name in ("repo", "tag", "version", "track"):
        old, new = getattr(before.pin, name), getattr(after.pin, name)
        if old != new:
            rows.append((name, old or "-", new or "-"))
    if url := compared(comparison):
        rows.append(("compare", "", Link(f"{short(before.commit)}...{short(after.commit)}", url)))
    return Table(("", "before", "after"), tuple(rows), after.pin.name)


def compared(comparison: Comparison) -> str | None:
    """The page of a known forge that shows what lies between the two commits."""
    before, after = comparison.before, comparison.after
    return links.compare(after.repo, before.commit, after.commit) if same_repo(before.repo, after.repo) else None


def _log(title: str, entries: Sequence[Entry], repo: str) -> Table:
    rows = (_entry(entry, repo) for entry in entries)
    return _table(title, ("commit", "date", "author", "title"), rows, len(entries))


def _entry(entry: Entry, repo: str) -> Row:
    commit = entry.commit
    more = f" (+{len(entry.folded)})" if entry.folded else ""
    return (*_who(commit, repo), f"{entry.title}{more}")


def _who(commit: Commit, repo: str) -> Row:
    return Link(short(commit.id), links.commit(repo, commit.id)), date(commit.time), commit.author


def date(time: int) -> str:
    """A time in Unix seconds as a day in UTC."""
    return f"{datetime.fromtimestamp(time, UTC):%Y-%m-%d}"


def _table(title: str, columns: tuple[str, ...], rows: Iterable[Row], total: int) -> Table:
    """A table of at most _MOST rows, and one that counts the others."""
    kept = [row for row, _ in zip(rows, range(_MOST), strict=False)]
    if total > len(kept):
        kept.append((f"… {total - len(kept)} more", *("" for _ in columns[1:])))
    return Table(columns, tuple(kept), title)


def _fork(fork: Fork, repo: str) -> Table:
    base = f"since {short(fork.base)}" if fork.base else "which have no commit in common"
    title = f"Fork of {fork.repo}: {counted(fork.ahead, 'commit')} here alone, {fork.behind} there alone, {base}"
    mine = [(*_who(c, repo), c.subject, f"here{_taken(fork, c)}") for c in fork.own]
    back = {theirs: own for own, theirs in fork.taken.items()}
    theirs = [(*_who(c, fork.repo), c.subject, "upstream" + (f", as {short(back[c.id])} here" if c.id in back else ""))
              for c in fork.theirs]  # fmt: skip
    return _table(title, ("commit", "date", "author", "title", "where"), [*mine, *theirs], fork.ahead + fork.behind)


def _taken(fork: Fork, commit: Commit) -> str:
    return f", taken upstream as {short(fork.taken[commit.id])}" if commit.id in fork.taken else ""


def _modules(comparison: Comparison) -> Iterator[Table]:
    moves = comparison.difference.submodules
    logs = {log.move.path: log for log in comparison.modules}
    if moves:
        rows = [_module(move, logs.get(move.path)) for move in moves]
        yield _table("Submodules", ("path", "before", "after", "what"), rows, len(rows))
    for log in comparison.modules:
        path, span, url = log.move.path, log.span, (log.move.after and log.move.after.url) or ""
        if span.gained:
            yield _log(f"{path}: {counted(span.ahead, 'commit')} more", span.gained, url)
        if span.lost:
            yield _log(f"{path}: {counted(span.behind, 'commit')} no longer there", span.lost, url)


def _module(move: Move, log: ModuleLog | None) -> Row:
    cells = (short(side.commit) if side else "-" for side in (move.before, move.after))
    return (move.path, *cells, "; ".join(_what(move, log)))


def _what(move: Move, log: ModuleLog | None) -> Iterator[str]:
    if move.before is None or move.after is None:
        yield "removed" if move.after is None else "new"
        return
    if move.was:
        yield f"was {move.was}"
    if move.before.url != move.after.url:
        yield f"from {move.before.url or 'nowhere'} to {move.after.url or 'nowhere'}"
    if log and log.failure:
        yield f"its log is not known: {log.failure}"
    elif log:
        yield f"{log.span.ahead} ahead, {log.span.behind} behind"


def _paths(difference: Difference) -> Iterator[Table]:
    folders = [(path, "gone") for path in difference.include_dirs.gone]
    folders += [(path, "new") for path in difference.include_dirs.gained]
    if folders:
        yield _table("Include directories", ("path", "what"), folders, len(folders))
    needs = [_need(need, "needed now") for need in difference.headers.gained]
    needs += [_need(need, "no longer needed") for need in difference.headers.lost]
    if needs:
        yield _table("System headers", ("header", "what", "package", "included at"), needs, len(needs))
    files = [(file.path, file.state) for file in difference.build_files]
    if files:
        yield _table("Build files", ("path", "what"), files, len(files))
    renames = [(old, new, f"{alike} %") for old, new, alike in difference.renames]
    if renames:
        yield _table("Renamed", ("from", "to", "alike"), renames, len(renames))


def _names(surface: Changes) -> Iterator[Table]:
    rows: list[Row] = [(name, "removed", "") for name in surface.removed]
    rows += [(name, before, after) for name, before, after in surface.changed]
    rows += [(name, "", "added") for name in surface.added]
    if rows:
        yield _table("Exported to Python", ("name", "before", "after"), rows, len(rows))


def _need(need: Need, what: str) -> Row:
    names = ", ".join(f"{name} ({manager})" for manager, name in managers(need).items())
    first = need.first
    return f"<{need.header}>", what + (", if there" if need.guarded else ""), names or "-", f"{first.file}:{first.line}"


def managers(need: Need) -> dict[str, str]:
    """The package that has a header, by its name under each manager; nothing where none is known."""
    return dict(need.declared.managers) if need.declared else need.known.told() if need.known else {}


# --- for scripts --------------------------------------------------------------------------------------------------


def data(comparison: Comparison) -> Data:
    """The `result` of `pinctl diff`."""
    before, after, parts = comparison.before, comparison.after, comparison.difference
    logs = {log.move.path: log for log in comparison.modules}
    return {
        "name": after.pin.name,
        "from": before.commit,
        "to": after.commit,
        **_span_data(comparison.span, after.repo, before.repo),
        "fork": _fork_data(comparison.fork, after.repo) if comparison.fork else None,
        "submodules": [_module_data(move, logs.get(move.path)) for move in parts.submodules],
        "include_dirs": parts.include_dirs._asdict(),
        "headers": {key: list(map(_need_data, needs)) for key, needs in parts.headers._asdict().items()},
        "system_packages": {key: _packages(needs) for key, needs in parts.headers._asdict().items()},
        "build_files": [file._asdict() for file in parts.build_files],
        "renamed": [{"from": old, "to": new, "alike": alike} for old, new, alike in parts.renames],
        "surface": _surface_data(comparison.surface) if comparison.surface else None,
        "notes": comparison.notes,
    }


class _Told(NamedTuple):
    repo: str

    def commit(self, commit: Commit) -> Data:
        url = links.commit(self.repo, commit.id)
        return {"commit": commit.id, "title": commit.subject, "author": commit.author, "time": commit.time, "url": url}

    def log(self, entries: Sequence[Entry]) -> list[Data]:
        return [
            {**self.commit(entry.commit), "title": entry.title, "folded": list(map(self.commit, entry.folded))}
            for entry in entries[:_MOST_DATA]
        ]


def _span_data(span: Span, repo: str, old: str) -> Data:
    return {"ahead": span.ahead, "behind": span.behind, "log": _Told(repo).log(span.gained),
            "lost": _Told(old).log(span.lost)}  # fmt: skip


def _fork_data(fork: Fork, repo: str) -> Data:
    own = [{**_Told(repo).commit(commit), "taken": fork.taken.get(commit.id)} for commit in fork.own]
    theirs = list(map(_Told(fork.repo).commit, fork.theirs))
    return {"repo": fork.repo, "track": fork.track, "base": fork.base, "ahead": fork.ahead, "behind": fork.behind,
            "own": own[:_MOST_DATA], "upstream": theirs[:_MOST_DATA]}  # fmt: skip


def _module_data(move: Move, log: ModuleLog | None) -> Data:
    old, new = move.before, move.after
    url = new.url if new else old.url if old else None
    told = _span_data(log.span, url or "", url or "") if log and not log.failure else {}
    return {"path": move.path, "was": move.was, "from": old and old.commit, "to": new and new.commit, "url": url,
            "failure": log.failure if log else None, **told}  # fmt: skip


def _need_data(need: Need) -> Data:
    first = need.first
    return {"include": need.header, "file": first.file, "line": first.line, "guarded": need.guarded,
            "managers": managers(need)}  # fmt: skip


def _surface_data(surface: Changes) -> Data:
    changed = [one._asdict() for one in surface.changed]
    return {"added": surface.added, "removed": surface.removed, "changed": changed}


def _packages(needs: Sequence[Need]) -> list[dict[str, str]]:
    """The packages of `needs`, each once."""
    return [dict(names) for names in dict.fromkeys(tuple(managers(need).items()) for need in needs) if names]
