"""`pinctl patch add`: a diff, or a commit of upstream, made a patch of a pin."""

import os
import re
from collections.abc import Sequence
from contextlib import ExitStack

from pinctl import manifest as pins_toml
from pinctl.commands import network, patches, plans, targets
from pinctl.commands.edits import rewritten
from pinctl.commands.network import Asking, chosen
from pinctl.commands.targets import Wish
from pinctl.commands.workspace import Workspace
from pinctl.commits import is_full, is_short
from pinctl.errors import UsageError
from pinctl.external import files, patched
from pinctl.finding import Finding, Severity, failed
from pinctl.manifest import patch_tables
from pinctl.manifest.pinsfile import Plain
from pinctl.model import Pin
from pinctl.options import Options
from pinctl.outcome import Outcome, Table
from pinctl.patches import judging
from pinctl.patches.judging import Seen
from pinctl.patches.reading import LONGEST
from pinctl.patches.states import State
from pinctl.plan import FilePlan, Plan
from pinctl.upstream.telling import Telling

_FOLDER = "patches"
_SUBJECT = re.compile(rb"^Subject: (.*)$", re.MULTILINE)
_LONGEST_NAME = 50


def run(
    options: Options,
    name: str,
    source: str,
    *,
    file: str | None = None,
    upstream: bool = False,
    retire: bool = False,
    diff: bool = False,
    allow_transport: Sequence[str] = (),
) -> Outcome:
    """Add a patch to the pin `name`: the diff in the file `source`, or the change of the upstream commit `source`,
    which is written into `file` below the root ("patches/PIN-SUBJECT.patch" if absent) and noted as a backport.
    `upstream`: the commit is of the repository that the pin's forks. `retire`: tell when the pinned tree holds it.

    What does not apply to the pinned tree is refused. Raises ManifestError, UsageError, WriteRefused, ExternalError.
    """
    workspace = Workspace.open_to_write(options, dry=diff)
    pin = chosen(workspace.manifest.pins, [name])[0]
    profile = network.profile(options, workspace.root, allow=tuple(allow_transport))
    with ExitStack() as stack:
        asking = Asking(profile, stack, options.offline)
        local = os.path.join(options.directory, source)
        if os.path.isfile(local):
            path, content, table = _from_file(workspace, pin, local, file)
        elif is_short(source.lower()) or is_full(source.lower()):
            path, content, table = _from_commit(pin, source.lower(), file, asking, upstream=upstream)
        else:
            raise UsageError(f"{source} is no file, and no commit id", hint="a commit is named by its id")
        table |= {"retire": "upstream"} if retire else {}
        return _added(workspace, pin, (path, content, table), asking, diff=diff)


_New = tuple[str, bytes, dict[str, Plain]]
"""The path of a patch, its content, and its table in pins.toml."""


def _from_file(workspace: Workspace, pin: Pin, local: str, file: str | None) -> _New:
    """A diff: left where it is if that is below the root."""
    folder, base = os.path.split(os.path.realpath(local))
    try:
        content = files.read_site(folder, base, LONGEST)
    except files.Unreadable as error:
        raise UsageError(f"{local} {error.reason}") from None
    inside = os.path.relpath(os.path.realpath(local), os.path.realpath(workspace.root)).replace(os.sep, "/")
    own = None if inside.startswith("../") or inside == ".." else inside
    path = file or own or f"{_FOLDER}/{pin.name}-{base}"
    return path, content, {"file": path}


def _from_commit(pin: Pin, name: str, file: str | None, asking: Asking, *, upstream: bool) -> _New:
    """What a commit of upstream changes. Raises UsageError for a merge and for what is not there."""
    target = targets.resolve(pin, Wish(name, upstream=upstream), asking)
    store = asking.open(target.repo)
    store.fetch(target.commit)
    content = patched.commit_diff(store, target.commit)
    subject = _SUBJECT.search(content)
    words = re.sub(r"[^a-z0-9]+", "-", (subject[1] if subject else b"").decode("utf-8", "replace").lower()).strip("-")
    path = file or f"{_FOLDER}/{pin.name}-{words[:_LONGEST_NAME].strip('-') or target.commit[: patches.SHORT]}.patch"
    return path, content, {"file": path, "backport": target.commit}


def _added(workspace: Workspace, pin: Pin, new: _New, asking: Asking, *, diff: bool) -> Outcome:
    path, content, table = new
    plan = patched.plan(workspace.root, path, content)
    if plan.before not in (None, content):
        raise UsageError(f"{path} exists, and is another patch", hint="name a file for it: --as FILE")
    if any(path == patch.file for patch in pin.patches):
        raise UsageError(f"{pin.name} has the patch {path} already")
    held = workspace.manifest
    key = ("pins", pin.name, "patches", 0) if pin.patches else ("pins", pin.name)
    home = pins_toml.locate(held, key).file
    text = {held.path: held.text, **dict(held.bases)}[home]
    after, changes = rewritten(workspace, {home: patch_tables.added(text, pin.name, table, home)})
    becoming = after.manifest.pins[pin.name]
    told, seen = _judged(workspace, becoming, content, Telling(becoming, after.manifest), asking)
    if seen and seen.standing and seen.standing.state is State.SUPERSEDED:
        raise UsageError(
            f"the pinned tree of {pin.name} holds that change already", hint="nothing is left to be patched"
        )
    if failed(told):
        return Outcome("patch add", (*workspace.told, *told), {"files": []}, root=workspace.root)
    every: list[FilePlan] = sorted([*changes, plan], key=lambda one: one.path)
    outcome = plans.carry_out(workspace, "patch add", Plan(every), diff=diff, check=False, allow_workflows=False,
                              findings=[*workspace.told, *told])  # fmt: skip
    row = judging.data(seen) if seen else None
    body = outcome.body or (Table(("patch", "state"), ((seen.patch.name, seen.word),)) if seen else None)
    return outcome._replace(result={**outcome.result, "patch": row}, body=body)


def _judged(
    workspace: Workspace, pin: Pin, content: bytes, say: Telling, asking: Asking
) -> tuple[list[Finding], Seen | None]:
    """What is wrong with the new patch, the last one of `pin`, and how it stands on the pinned tree."""
    series = patches.read(workspace.root, say, {pin.patches[-1].file or "": content})
    number = len(pin.patches) - 1
    if series.findings or pin.repo is None or pin.commit is None or pin.unresolved:
        return [found for found in series.findings if found.severity is Severity.ERROR], None
    (forest,) = patches.forests(pin, [pin.commit], series.paths, asking)
    place = patches.place(forest, series.paths)
    seen = judging.judge(pin, series.steps, place, patches.taken(pin, pin.commit, asking))[number]
    return list(judging.findings(pin, [seen], place, say.tell)), seen
