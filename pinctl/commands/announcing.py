"""A bump told: rows for scripts and for a person, the message of its commit, the body of a pull request."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from pinctl.commands import bumping
from pinctl.commands.bumping import Bump
from pinctl.commands.courses import Course, Goal, leads
from pinctl.commands.releasing import Parcel
from pinctl.contract.breaks.judgement import Judgement
from pinctl.model import KeyPath, Pin
from pinctl.outcome import Body, Cell, Link, Table, Text, counted
from pinctl.upstream import archives, narrative
from pinctl.upstream.comparison import Comparison
from pinctl.upstream.narrative import short

if TYPE_CHECKING:
    from pinctl.commands.patch_bump import Patched
    from pinctl.upstream.availability import Stock

BRIEF = ("pin", "at", "newest", "state")
_LINE = ("pin", "from", "to", "what")
_DIGEST = len("sha256:") + narrative.SHORT
_LONGEST_SUBJECT = 72


class News(NamedTuple):
    """All that was learned of one pin on its way: of its repository, of its packages, archives and image."""

    course: Course
    bump: Bump | None = None
    seen: "Comparison | str" = ""
    contract: Judgement | None = None
    parcel: Parcel | None = None
    stocks: "Sequence[Stock]" = ()
    after: Pin | None = None
    """The pin as it becomes."""
    patched: "Patched | None" = None

    @property
    def name(self) -> str:
        return self.course.pin.name

    @property
    def changes(self) -> dict[KeyPath, object]:
        """The new values of pins.toml, by key from the top."""
        return {**(self.bump.changes if self.bump else {}), **(self.parcel.changes if self.parcel else {})}


# --- what scripts read --------------------------------------------------------------------------------------------


def row(course: Course, state: str) -> dict[str, object]:
    """`from` and `to` are ids of commits, else versions or digests."""
    pin, goal = course.pin, course.goal
    more = {"version": goal.there.version, "passed": [one._asdict() for one in goal.passed]} if goal else {}
    if course.git:
        target = course.git.target
        told = {"name": pin.name, "from": pin.commit, "to": target.commit, **target._asdict(), "state": state}
        return {
            **told,
            **more,
            **({"version": course.git.given["version",]} if ("version",) in course.git.given else {}),
        }
    there = goal.there if goal else pin
    ends = {"from": pin.digest or pin.version or pin.commit, "to": there.digest or there.version or there.commit}
    git = {name: getattr(there, name) for name in ("repo", "commit", "tag", "track")}
    image = {"image": there.image, "digest": there.digest} if pin.image else {}
    return {"name": pin.name, **ends, **git, "state": state, **image, **more}


def told(news: News, state: str) -> dict[str, object]:
    """A row with what was learned."""
    after = news.after or news.course.pin
    found = {
        **row(news.course, state),
        "changes": {".".join(map(str, key[2:])): value for key, value in news.changes.items()},
        "decide": [decision._asdict() for decision in bumping.decisions(news.bump)] if news.bump else [],
        "diff": narrative.data(news.seen) if isinstance(news.seen, Comparison) else None,
        "contract": news.contract.result if news.contract else None,
        "patches": news.patched.data if news.patched else [],
    }
    return {**found, "version": after.version} if news.course.goal else found


# --- what a person is shown ---------------------------------------------------------------------------------------


def brief(courses: Iterable[Course], state: str | None = None) -> Table | None:
    """A row for each pin: where it is, and where it could be."""
    rows = tuple((course.pin.name, _at(course, now=True), _at(course), state or standing(course)) for course in courses)
    return Table(BRIEF, rows) if rows else None


def standing(course: Course) -> str:
    """Whether a course leads anywhere."""
    return "behind" if course.moves else "current"


def kept(course: Course) -> Iterator[str]:
    """That newer versions of a pin were passed over, with the newest of them and why."""
    passed = course.goal.passed if course.goal else ()
    if passed:
        yield f"{course.pin.name}: {len(passed)} passed over, the newest being {passed[0].version}: {passed[0].why}"


def table(news: Iterable[News]) -> Table:
    """A row for each pin: from where to where, and what lies between."""
    return Table(_LINE, tuple(map(_line, news)))


def _line(news: News) -> tuple[str, ...]:
    pin, git = news.course.pin, news.course.git
    if git is None:
        return (pin.name, _at(news.course, now=True), _at(news.course, news.after), _what(news))
    usual = (("commit",), ("tag",), *((("version",),) if news.course.goal else ()))
    more = ", ".join(".".join(map(str, key[2:])) for key in news.changes if key[2:] not in usual)
    what = _what(news) + (f"; also {more}" if more else "")
    return (pin.name, pin.tag or short(pin.commit), _at(news.course), what)


def _what(news: News) -> str:
    """What lies between, in a few words."""
    if isinstance(news.seen, Comparison):
        span = news.seen.span
        ahead = f"{counted(span.ahead, 'commit')} ahead"
        return f"{ahead}, {span.behind} behind" if span.behind else ahead
    if news.bump:
        return "nothing to compare it with"
    goal = news.course.goal
    parts = [f"{counted(goal.newer, 'release')} newer"] if goal and goal.newer and not goal.pin.image else []
    parts += [f"{len(goal.passed)} passed over"] if goal and goal.passed else []
    if news.parcel and news.parcel.archives and all(archive.digests for _, archive in news.parcel.archives):
        size = sum(archive.size for _, archive in news.parcel.archives)
        same = not any(key[2:3] == ("sha256",) for key in news.changes)
        parts.append(archives.sized(size) + (", the same bytes" if same else ""))
    if goal and goal.pin.version == goal.there.version and not leads(goal.pin):
        parts.append("no server tells what is newer")
    if news.parcel and news.parcel.image and news.parcel.image.platforms:
        parts.append(", ".join(news.parcel.image.platforms))
    return "; ".join(parts) or "-"


def _at(course: Course, after: Pin | None = None, *, now: bool = False) -> str:
    """The shortest name of where a pin is (`now`) or is to be; `after`: the pin as it becomes, where that is known."""
    pin = course.pin
    if course.git:
        target = course.git.target
        return short(pin.commit) if now else target.tag or short(target.commit)
    there = pin if now else after or (course.goal.there if course.goal else pin)
    if pin.image:
        from pinctl.upstream import images

        tag = images.parse(there.image or "", None).tag
        digest = (there.digest or (there.image or "").partition("@")[2])[:_DIGEST]
        return f"{tag}@{digest}" if digest else tag or "-"
    return there.version or there.tag or short(there.commit)


# --- the commit and the pull request ------------------------------------------------------------------------------


def message(news: Sequence[News]) -> str:
    """The message of the commit: what goes where, and the links to what lies between."""
    lines = []
    for one in news:
        start = short(one.course.pin.commit) if one.course.git else _at(one.course, now=True)
        what = _what(one)
        lines.append(f"{one.name}: {start} -> {_at(one.course, one.after)}" + ("" if what == "-" else f" ({what})"))
        url = narrative.compared(one.seen) if isinstance(one.seen, Comparison) else None
        lines += [url] if url else []
    names = [one.name for one in news]
    subject = (
        f"Bump {names[0]} to {_at(news[0].course, news[0].after)}" if len(names) == 1 else f"Bump {', '.join(names)}"
    )
    short_enough = len(subject) < _LONGEST_SUBJECT
    return "\n".join([subject if short_enough else f"Bump {counted(len(names), 'pin')}", "", *lines])


def resolved(courses: Sequence[Course]) -> str:
    """The message of the commit that fills in what was left open."""
    lines = []
    for course in courses:
        if course.git:
            target = course.git.target
            lines.append(f"{course.pin.name}: {target.tag or short(target.commit)} is {target.commit}")
        else:
            lines.append(f"{course.pin.name}: {_at(course)}")
    return "\n".join(["Resolve the commits of pins", "", *lines])


def document(news: News) -> Iterator[Body]:
    """What the body of a pull request says of one pin."""
    if isinstance(news.seen, Comparison):
        yield from narrative.tables(news.seen)
    if news.course.goal:
        yield from _releases(news, news.course.goal)
    if news.patched:
        yield news.patched.table
    if news.contract:
        yield from (table._replace(title="Contract") for table in news.contract.tables)
        yield Text(
            "\n".join((news.contract.summary, *news.contract.unseen)), "" if news.contract.tables else "Contract"
        )


def _releases(news: News, goal: Goal) -> Iterator[Table]:
    """The release of before and the one that is gone to; what was passed over."""
    rows = [] if news.bump else list(_facts(news.course.pin, news.after or goal.there))
    rows += [("page", "", page) for page in _pages(news)]
    if rows:
        yield Table(("", "before", "after"), tuple(rows), "" if news.bump else news.name)
    if goal.passed:
        passed = tuple((one.version, one.why) for one in goal.passed)
        yield Table(("version", "why it was passed over"), passed, f"{news.name}: passed over")


def _facts(before: Pin, after: Pin) -> Iterator[tuple[Cell, ...]]:
    for name in ("version", "tag", "image", "digest", "sha256"):
        old, new = getattr(before, name), getattr(after, name)
        if isinstance(old, Mapping) and isinstance(new, Mapping):
            yield from ((f"{name} {key}", old.get(key, "-"), new[key]) for key in new if old.get(key) != new[key])
        elif old != new:
            yield (name, old or "-", new or "-")


def _pages(news: News) -> Iterator[Link]:
    """Where a person can read about the release."""
    for stock in news.stocks:
        if stock.page and stock.releases:
            yield Link(f"{stock.package} {stock.releases[0].version.public}", stock.page)
    after = news.after
    if after and after.url and (forge := archives.forge(after.url)) and after.version:
        tag = after.tag if forge.tag == "{tag}" else forge.tag.replace("{version}", after.version)
        yield Link(tag or "", forge.page(tag or ""))
