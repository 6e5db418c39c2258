"""All the files of a plan, or none of them, also across a crash at any moment.

The order of a write, each step on the disk before the next:

1. refuse what may not be written, and whatever changed since the plan was made;
2. a journal outside the checkout: every file's old and new bytes, and the names that will be used;
3. the new content, beside each target;
4. one rename a file;
5. the journal is removed.

An error or ^C in between undoes what was done. After a crash, `recover` reads the journal: with no file renamed yet
there is nothing to do but to tidy up, else the rest follows. It stops where a person has changed a file since.

What was written whole may be taken back, with a journal of its own, which `recover` then carries on.
"""

import json
import os
from binascii import a2b_base64, b2a_base64
from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import NamedTuple

from pinctl.errors import ExternalError, WriteRefused
from pinctl.external import files, state, targets
from pinctl.external.targets import State, Target
from pinctl.plan import Exchange, FilePlan, Plan

_NAME = "journal.json"
_SCHEMA = 1


class Recovery(NamedTuple):
    """What `recover` made of an interrupted write: `finished` or undone, and its files."""

    finished: bool
    files: tuple[str, ...]


class _Job(NamedTuple):
    """What a journal holds: the files, and the folders that are made for them, outer ones first. `back`: they were
    written, and are being taken back."""

    targets: tuple[Target, ...]
    folders: tuple[str, ...]
    back: bool = False

    @property
    def paths(self) -> tuple[str, ...]:
        return tuple(target.path for target in self.targets)


class Written(NamedTuple):
    """What `write` did, for `take_back`."""

    root: str
    folder: str
    job: _Job


def write(root: str, plan: Plan, *, state_dir: str | None = None, allow_workflows: bool = False) -> Written:
    """Write every changed file of `plan` below the folder `root`, or none.

    Modes and owners stay; a new file has mode 0644, or 0755 if executable. `state_dir` stands for the checkout's own
    folder below XDG_STATE_HOME. Raises WriteRefused where a file may not be written or was changed since the plan was
    made, ExternalError where writing failed; the files are as they were then.
    """
    return _write(root, plan.pending, state_dir, allow_workflows=allow_workflows)


def exchange(root: str, plans: Sequence[Exchange], *, state_dir: str | None = None) -> Written:
    """As `write`, for files of a source tree, which may also come, go and change whether they may be executed; folders
    that hold nothing after that go, too. A file with several hard links is replaced: the cache of an installer, which
    has the other name, keeps what it had."""
    written = _write(root, plans, state_dir)
    gone = [plan.path for plan in plans if plan.after is None]
    targets.remove_folders(written.root, _folders(gone))
    return written


def _write(
    root: str, plans: Sequence[FilePlan | Exchange], state_dir: str | None, *, allow_workflows: bool = False
) -> Written:
    root = os.path.realpath(root)
    folder = state_dir or state.folder_of(root)
    if not plans:
        return Written(root, folder, _Job((), ()))
    state.make(folder)
    with state.locked(folder):
        _demand_none(folder)
        job = _prepare(root, plans, allow_workflows)
        try:
            _save(folder, job)
            _carry_out(root, job)
        except BaseException as error:
            _back_out(root, job, folder, error)
            if isinstance(error, ExternalError):
                raise ExternalError(f"{error}; nothing was changed", hint=error.hint) from error
            raise
        _forget(folder, job)
        return Written(root, folder, job)


def take_back(written: Written) -> tuple[str, ...]:
    """Put the files back as they were before the write; the paths of those that were changed since, which stay.

    Raises ExternalError, WriteRefused where that fails; where it has begun, `recover` goes on with it.
    """
    root, folder, job = written
    if not job.targets:
        return ()
    with state.locked(folder):
        _demand_none(folder)
        changed = [target.path for target in job.targets if targets.state(root, target) is not State.AFTER]
        job = _Job(tuple(target for target in job.targets if target.path not in changed), job.folders, back=True)
        _save(folder, job)
        _undo(root, job)
        _forget(folder, job)
    return tuple(changed)


def recover(root: str, *, state_dir: str | None = None) -> Recovery | None:
    """Finish or undo an interrupted write to the checkout `root`; None if there is none.

    Raises ExternalError where a file holds neither its old nor its new content, or cannot be written.
    """
    root = os.path.realpath(root)
    folder = state_dir or state.folder_of(root)
    if not os.path.lexists(os.path.join(folder, _NAME)):
        return None
    state.make(folder)
    with state.locked(folder):
        if not os.path.lexists(os.path.join(folder, _NAME)):
            return None  # it was no crash: another process has just ended its work
        job = _load(folder)
        states = {target: targets.state(root, target) for target in job.targets}
        for target in job.targets:
            targets.discard(root, target)
        if changed := [target for target in job.targets if states[target] is State.OTHER]:
            raise _changed_since(folder, changed)
        finished = State.AFTER in states.values() and not job.back
        if finished:
            _carry_out(root, job)
        else:
            _undo(root, job)
        _forget(folder, job)
        return Recovery(finished=finished, files=job.paths)


def pending(root: str, *, state_dir: str | None = None) -> tuple[str, ...]:
    """The files of an interrupted write; () if there is none, or one is going on right now.

    Raises ExternalError where the journal cannot be read.
    """
    folder = state_dir or state.folder_of(root)
    if not os.path.lexists(os.path.join(folder, _NAME)) or state.in_use(folder):
        return ()
    return _load(folder).paths


def _demand_none(folder: str) -> None:
    """Raises WriteRefused where a journal is there already."""
    if os.path.lexists(os.path.join(folder, _NAME)):
        raise WriteRefused("an earlier write was interrupted", hint="run: pinctl sync   (finishes or undoes it)")


def _prepare(root: str, plans: Sequence[FilePlan | Exchange], allow_workflows: bool) -> _Job:
    """The work to do. Raises WriteRefused, with every file that stands against it."""
    token = os.urandom(8).hex()
    found, refused = [], []
    for n, plan in enumerate(plans):
        linked = isinstance(plan, Exchange)
        reason = files.probe(root, plan.path, allow_workflows=allow_workflows, linked=linked)
        if reason is not None:
            refused.append(f"{plan.path} {reason}")
            continue
        target = targets.describe(root, plan, f".pinctl-{token}-{n}")
        found.append(target)
        if targets.state(root, target) is not State.BEFORE:
            refused.append(f"{plan.path} was changed since it was read")
    if refused:
        raise WriteRefused("\n  ".join(["nothing was written:", *refused]), hint=_advice(refused))
    return _Job(targets=tuple(found), folders=_missing_folders(root, plans))


def _advice(refused: Sequence[str]) -> str | None:
    if any(".github/" in line for line in refused):
        return "if this is meant: --allow-workflows"
    return "run the command again" if any("changed since" in line for line in refused) else None


def _missing_folders(root: str, plans: Sequence[FilePlan | Exchange]) -> tuple[str, ...]:
    wanted = _folders(plan.path for plan in plans)
    return tuple(path for path in wanted if not os.path.lexists(os.path.join(root, path)))


def _folders(paths: Iterable[str]) -> list[str]:
    """The folders that lead to `paths`, outer ones first."""
    wanted: dict[str, None] = {}
    for path in paths:
        names = targets.folder_names(path)
        wanted |= dict.fromkeys("/".join(names[: n + 1]) for n in range(len(names)))
    return list(wanted)


def _carry_out(root: str, job: _Job) -> None:
    """Write what is not written yet. Raises WriteRefused, ExternalError."""
    left = [target for target in job.targets if targets.state(root, target) is not State.AFTER]
    targets.make_folders(root, job.folders)
    for target in left:
        if target.after is not None:
            targets.stage(root, target, target.after)
    for target in left:
        if target.after is None:
            targets.remove(root, target)
        else:
            targets.swap(root, target, State.BEFORE)
    targets.sync_folders(root, (*job.paths, *job.folders))


def _undo(root: str, job: _Job) -> None:
    """Put the old content back, and remove what was made. What others changed meanwhile stays. Raises ExternalError."""
    for target in job.targets:
        targets.restore(root, target)
        targets.discard(root, target)
    targets.sync_folders(root, (*job.paths, *job.folders))
    targets.remove_folders(root, job.folders)


def _back_out(root: str, job: _Job, folder: str, cause: BaseException) -> None:
    """Undo after `cause`. Raises ExternalError where that fails too; the journal stays then."""
    try:
        _undo(root, job)
        _forget(folder, job)
    except (ExternalError, WriteRefused) as error:
        message = f"writing stopped ({cause or 'interrupted'}), and so did undoing it ({error})"
        raise ExternalError(message, hint="when that is mended, run: pinctl sync   (finishes or undoes it)") from cause


def _changed_since(folder: str, changed: Sequence[Target]) -> ExternalError:
    """The error for files that a person changed after a crash; both contents are laid out for them."""
    lines = []
    for n, target in enumerate(changed):
        contents = {"before": target.before, "after": target.after}
        places = [_lay_out(folder, f"{n}.{kind}", content) for kind, content in contents.items() if content is not None]
        lines.append(f"{target.path} (the contents before and after: {', '.join(places)})")
    message = "an interrupted write cannot be finished or undone, since these files were changed after it:"
    hint = f"copy a content over each and run pinctl sync; or keep all as it is: rm {os.path.join(folder, _NAME)}"
    return ExternalError("\n  ".join([message, *lines]), hint=hint)


def _save(folder: str, job: _Job) -> None:
    """Write the journal, in one step and onto the disk. Raises ExternalError."""
    document = {
        "schema": _SCHEMA,
        "back": job.back,
        "folders": job.folders,
        "files": [
            {
                "path": t.path,
                "temporary": t.temporary,
                "mode": t.mode,
                "owner": t.owner,
                "before": _encode(t.before),
                "after": _encode(t.after),
                "was": t.was,
            }
            for t in job.targets
        ],
    }
    new = _lay_out(folder, f"{_NAME}.new", json.dumps(document).encode())
    with targets.writing(folder):
        os.replace(new, os.path.join(folder, _NAME))
        _sync(folder)


def _lay_out(folder: str, name: str, content: bytes) -> str:
    """Write a file of the state folder; its path. Raises ExternalError."""
    path = os.path.join(folder, name)
    with targets.writing(path):
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600)
        try:
            targets.write_all(descriptor, content)
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
    return path


def _sync(folder: str) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        targets.sync(descriptor)
    finally:
        os.close(descriptor)


def _forget(folder: str, job: _Job) -> None:
    """Remove the journal, and what was laid out beside it. Raises ExternalError."""
    names = [_NAME, f"{_NAME}.new", *(f"{n}.{kind}" for n in range(len(job.targets)) for kind in ("before", "after"))]
    with targets.writing(folder):
        for name in names:
            with suppress(FileNotFoundError):
                os.unlink(os.path.join(folder, name))
        _sync(folder)


def _load(folder: str) -> _Job:
    """Raises ExternalError."""
    path = os.path.join(folder, _NAME)
    try:
        with open(path, "rb") as file:
            document = json.load(file)
        if document["schema"] != _SCHEMA:
            raise ValueError(f"schema {document['schema']}, not {_SCHEMA}")
        found = tuple(
            Target(
                path=entry["path"],
                temporary=entry["temporary"],
                mode=entry["mode"],
                owner=tuple(entry["owner"]) if entry["owner"] else None,
                before=_decode(entry["before"]),
                after=_decode(entry["after"]),
                was=entry.get("was"),
            )
            for entry in document["files"]
        )
        return _Job(found, tuple(document["folders"]), bool(document.get("back")))
    except (OSError, ValueError, KeyError, TypeError) as error:
        hint = "another version of pinctl may have written it; use that one, or move the journal away"
        raise ExternalError(f"the journal of an interrupted write is unreadable: {path}: {error}", hint=hint) from error


def _encode(content: bytes | None) -> str | None:
    return None if content is None else b2a_base64(content, newline=False).decode()


def _decode(text: str | None) -> bytes | None:
    return None if text is None else a2b_base64(text)
