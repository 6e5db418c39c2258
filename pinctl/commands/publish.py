"""`pinctl publish`: wheels go to PyPI, to an index, to releases; all is looked at before, and from outside after."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from pinctl.codes import finding
from pinctl.commands import index_setup, network, publish_parcels, publish_verify
from pinctl.commands.index_setup import Setup
from pinctl.commands.publish_github import ToGitHub
from pinctl.commands.publish_index import ToIndex
from pinctl.commands.publish_parcels import Checked, Job, Parcel, Target
from pinctl.commands.publish_pypi import ToPyPI
from pinctl.errors import ExternalError, ManifestError, PinctlError, UsageError
from pinctl.finding import Finding, failed
from pinctl.index import names
from pinctl.index.layout import CHANNEL
from pinctl.options import Options
from pinctl.outcome import Outcome, Table, counted
from pinctl.publish import settings
from pinctl.publish.settings import TARGETS, Said


class How(NamedTuple):
    """What the command line asks for.

    target       the one target of all files; None: what each variant says
    only         of the targets that variants say, these alone; none: all
    variant      of all files; None: what they say
    channel      of the index; None: the first that pins.toml lists, else "release"
    said         where the one target is
    yes          send; else only tell
    all_or_none  a target that is blocked blocks all
    partial      holes of a declared matrix block nothing
    verify       send nothing, and look from outside at what is there
    records      the file of the records; None: what pins.toml says
    allow        further transports of URLs
    """

    target: str | None = None
    only: tuple[str, ...] = ()
    variant: str | None = None
    channel: str | None = None
    said: Said = Said()
    yes: bool = False
    all_or_none: bool = False
    partial: bool = False
    verify: bool = False
    records: str | None = None
    allow: tuple[str, ...] = ()


class _Done(NamedTuple):
    """What became of a target: `state` is blocked, ready, published, unchanged, failed or seen."""

    name: str
    target: Target
    checked: Checked
    state: str
    findings: tuple[Finding, ...] = ()
    installed: Mapping[str, tuple[str, ...]] = {}
    closing: tuple[str, ...] = ()
    status: int = 0

    @property
    def told(self) -> tuple[Finding, ...]:
        """All that was found."""
        return (*self.checked.findings, *self.findings)


def run(options: Options, *, paths: Sequence[str], how: How) -> Outcome:
    """Publish the wheels at `paths`, or with neither `yes` nor `verify` tell what would be done.

    Raises UsageError, ManifestError, ExternalError.
    """
    _demand_sense(options, paths, how)
    setup = index_setup.setup(options, how.records)
    found = publish_parcels.parcels(options, setup, paths, target=how.target, variant=how.variant)
    found = [parcel for parcel in found if not how.only or parcel.target in how.only]
    targets = _targets(options, setup, found, how)
    if how.verify:
        done = [_seen(_Done(name, target, Checked(), "ready")) for name, target in targets.items()]
    else:
        done = [_checked(name, target) for name, target in targets.items()]
        done = _stopped(done, how)
        if how.yes:
            done = _sent(done, how)
    return _outcome(done, found, setup, how)


def _demand_sense(options: Options, paths: Sequence[str], how: How) -> None:
    if options.is_untrusted:
        hint = "give --trusted where the checkout is yours"
        raise UsageError("this checkout is a stranger's, and nothing of it is published", hint=hint)
    if not paths and how.target != "index":
        raise UsageError("no wheel is named", hint="name files, or folders that hold them")
    if how.yes and how.verify:
        raise UsageError("--yes looks from outside anyway; --verify does nothing else")
    if (how.said.repository or how.said.url) and how.target is None:
        raise UsageError("--repository and --index-url are of one target", hint="name it: --target")
    if unknown := [name for name in (how.target, *how.only) if name not in (None, *TARGETS)]:
        raise UsageError(f"there is no target {unknown[0]}; {', '.join(TARGETS)} are known")
    if how.target and how.only:
        raise UsageError("--target is where all files go to, and --only takes of what their variants say")
    for flag, name in (("--channel", how.channel), ("--variant", how.variant)):
        if name is not None and not names.is_folder(name):
            raise UsageError(f"{flag} {name}: a name of lower-case letters and digits is taken")


def _targets(options: Options, setup: Setup, found: Sequence[Parcel], how: How) -> dict[str, Target]:
    """The targets that files go to, in the order in which they are served. Raises UsageError."""
    profile = network.profile(options, setup.root, allow=how.allow)
    channel = how.channel or next(iter(setup.layout.channels), CHANNEL)
    job = Job(options, setup, profile, channel, how.partial, write=how.yes)
    policy = profile.policy.publish if profile.policy else {}
    by_target = {name: [parcel for parcel in found if parcel.target == name] for name in TARGETS}
    made: dict[str, Target] = {}
    wanted = by_target["index"] or how.target == "index"  # without files: what was decided since comes into the index
    index = settings.index(policy, how.said, known=setup.layout.url) if wanted else None
    to_github = [*by_target["github"], *(by_target["index"] if index and index.in_releases else [])]
    releases = settings.github(policy, how.said if how.target == "github" else Said()) if to_github else None
    if releases:
        made["github"] = ToGitHub(job, releases, to_github)
    if by_target["pypi"]:
        made["pypi"] = ToPyPI(job, settings.pypi(policy, how.said), by_target["pypi"])
    if index:
        made["index"] = ToIndex(job, index, by_target["index"], releases if index.in_releases else None)
    if options.offline and not (list(made) == ["index"] and index and index.folder):
        raise UsageError("--offline, and what is published goes to servers")
    return made


def _checked(name: str, target: Target) -> _Done:
    """What a look at a target gives. What cannot be looked at is blocked, and stops no other target."""
    try:
        told = publish_parcels.judged(target.job, target.parcels)
        checked = target.check()
    except (UsageError, ManifestError):
        raise
    except PinctlError as error:
        return _Done(name, target, Checked(), "blocked", (_failure(name, target, error),), status=error.exit_code)
    checked = checked._replace(findings=(*told, *checked.findings))
    if failed(checked.findings):
        return _Done(name, target, checked, "blocked")
    return _Done(name, target, checked, "ready")


def _stopped(done: Sequence[_Done], how: How) -> list[_Done]:
    """Blocked are also: an index without its releases, and with `all_or_none` every target."""
    blocked = {one.name for one in done if one.state == "blocked"}
    return [
        one._replace(state="blocked")
        if blocked and one.name not in blocked and (how.all_or_none or _needs(one, blocked))
        else one
        for one in done
    ]


def _needs(one: _Done, missing: set[str]) -> bool:
    return isinstance(one.target, ToIndex) and one.target.releases is not None and "github" in missing


def _sent(done: Sequence[_Done], how: How) -> list[_Done]:
    """What became of each target. One that failed stops those that need it, or all that come after it."""
    after: list[_Done] = []
    broken = {one.name for one in done if one.state == "blocked"}
    for one in done:
        if one.state != "ready" or (broken and (how.all_or_none or _needs(one, broken))):
            after.append(one._replace(state="blocked"))
            continue
        now = _send(one)
        broken |= {one.name} if now.state == "failed" else set()
        after.append(now)
    return [_seen(one) if one.state in ("published", "unchanged") else one for one in after]


def _send(one: _Done) -> _Done:
    try:
        one.target.send()
    except PinctlError as error:
        told = (_failure(one.name, one.target, error),)
        return one._replace(state="failed", findings=told, status=error.exit_code)
    changed = one.checked.more or not all(row.there for row in one.checked.rows)
    return one._replace(state="published" if changed else "unchanged")


def _seen(one: _Done) -> _Done:
    """The target, looked at from outside. Raises UsageError where nothing else was asked for, and it cannot be."""
    if not one.target.sights():
        unread = f"nothing says where {one.target.place} is read from"
        hint = "give --index-url URL, or `url` in the policy file"
        if not one.target.parcels:
            unread, hint = "no wheel is named", "name wheels, or look at all of it: pinctl index verify URL --fetch"
        if one.state == "ready":
            raise UsageError(unread, hint=hint)
        note = f"{one.name}: {unread}, and it was not looked at from outside"
        return one._replace(closing=(note,))
    job = one.target.job
    if job.options.offline:
        return one._replace(closing=(f"{one.name}: --offline, and it was not looked at from outside",))
    try:
        wait = 0 if one.state == "ready" else one.target.wait  # what was published before is there
        looked = publish_verify.look(job, one.target, wait=wait, every_link=isinstance(one.target, ToIndex))
    except PinctlError as error:
        told = (*one.findings, _failure(one.name, one.target, error, "cannot be looked at from outside"))
        return one._replace(findings=told, status=error.exit_code)
    state = "seen" if one.state == "ready" and not failed(looked.findings) else one.state
    notes = one.closing
    if not failed(looked.findings) and not any(looked.installed.values()):
        notes += (f"{one.name}: nothing was installed, since pip and uv are not here, or this is no machine for it",)
    return one._replace(state=state, findings=(*one.findings, *looked.findings), installed=looked.installed,
                        closing=notes)  # fmt: skip


def _failure(name: str, target: Target, error: PinctlError, what: str = "was not published") -> Finding:
    return finding("PIN726", f"{name} {what}: {error}", hint=error.hint or "mend that, and run this again",
                   found=target.place)  # fmt: skip


def _outcome(done: Sequence[_Done], found: Sequence[Parcel], setup: Setup, how: How) -> Outcome:
    told = tuple(finding for one in done for finding in one.told)
    closing = [note for one in done for note in one.closing]
    sends = any(one.state == "ready" for one in done)
    if not how.yes and not how.verify:
        closing.append("nothing was sent; --yes does" if sends else "nothing was sent")
    statuses = [one.status for one in done]
    return Outcome(
        command="publish",
        root=setup.root,
        findings=told,
        result={"targets": [_plain(one) for one in done]},
        body=_table(done, found) if found else None,
        summary=_summary(done, found),
        closing=tuple(closing),
        status=ExternalError.exit_code if ExternalError.exit_code in statuses else None,
    )


def _plain(one: _Done) -> dict[str, object]:
    rows = {row.filename: row for row in one.checked.rows}
    return {
        "target": one.name,
        "place": one.target.place,
        "state": one.state,
        "files": [
            {
                "filename": parcel.filename,
                "sha256": parcel.sha256,
                "variant": parcel.variant or None,
                "there": rows[parcel.filename].there if parcel.filename in rows else None,
                "installed": list(one.installed.get(parcel.filename, ())),
            }
            for parcel in one.target.parcels
        ],
    }


def _table(done: Sequence[_Done], found: Sequence[Parcel]) -> Table:
    variants = {parcel.filename: parcel.variant or "-" for parcel in found}
    rows = []
    for one in done:
        said = {row.filename: row.what for row in one.checked.rows}
        rows += [(one.name, parcel.filename, variants[parcel.filename], _what(one, said.get(parcel.filename, "")))
                 for parcel in one.target.parcels]  # fmt: skip
    return Table(("target", "file", "variant", "what becomes of it"), tuple(rows))


def _what(one: _Done, planned: str) -> str:
    if one.state == "ready":
        return planned
    by = sorted({client for clients in one.installed.values() for client in clients})
    return f"{one.state}, and installed by {' and '.join(by)}" if by else one.state


def _summary(done: Sequence[_Done], found: Sequence[Parcel]) -> str:
    states = ", ".join(f"{one.name} {one.state}" for one in done)
    return f"{counted(len(found), 'wheel')}: {states}"
