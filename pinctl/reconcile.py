"""The heart: every site held against pins.toml. Pure; `check`, `sync`, `adopt`, `status` and `init` share it."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from pinctl import blocks, sites, template
from pinctl.codes import finding
from pinctl.compare import Comparison, Verdict, compare
from pinctl.facts import UnstoredError
from pinctl.finding import Finding, Location, Span
from pinctl.model import KeyPath, Manifest, Mode, Site
from pinctl.overlaps import Spans, overlaps, touched
from pinctl.plan import Edit
from pinctl.sites.base import BadSelector, Document, Hit, Slot, Unparsable, Unwritable, Value
from pinctl.template import Compound, Expected


class Problem(NamedTuple):
    """Why a file could not be read: the code and text of the finding."""

    code: str
    message: str


Content = bytes | Problem
"""The bytes of a file, or why they cannot be had."""
Source = Content | Document
"""What a site stands in: a file, or a document that was made of none."""


class Observation(NamedTuple):
    """What stands in one slot, beside what should.

    `found` is None where the slot is missing; `edits` mend the slot, and `unwritable` says why there are none. `span`
    is None where the slot stands in no file.
    """

    site: Site
    part: str
    expected: Expected
    found: Value | None
    wanted: Value
    verdict: Verdict
    span: Span | None
    slot: Slot | None = None
    edits: tuple[Edit, ...] = ()
    unwritable: Unwritable | None = None


@dataclass(slots=True)
class Reconciliation:
    """The outcome over all files: what was seen in each slot, the findings of those that could not be, and the
    documents by file."""

    observations: list[Observation] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    documents: dict[str, Document] = field(default_factory=dict)

    @property
    def differing(self) -> list[Observation]:
        return [o for o in self.observations if o.verdict is not Verdict.SAME]

    def edits(self) -> dict[str, list[Edit]]:
        """By file, the edits that would make every slot hold what it should."""
        edits: defaultdict[str, list[Edit]] = defaultdict(list)
        for observation in self.differing:
            edits[observation.site.file] += observation.edits
        return dict(edits)


def reconcile(
    manifest: Manifest,
    sources: Mapping[str, Source],
    dropped: Mapping[KeyPath, Sequence[str]] | None = None,
    only: Iterable[Site] | None = None,
    parse: Callable[[str, bytes], Document] = sites.parse,
) -> Reconciliation:
    """Hold every site of `manifest` (or those in `only`) against the files in `sources`.

    `sources` has every site's file; `dropped` gives, by a site's key, elements that its template gave before; `parse`
    makes a document of a language's name and a file's bytes, or raises Unparsable.
    """
    result = Reconciliation()
    by_file: defaultdict[str, list[Site]] = defaultdict(list)
    for site in manifest.all_sites if only is None else only:
        by_file[site.file].append(site)
    for file, members in by_file.items():
        source = sources[file]
        document = _document(file, source, manifest, members, result, parse)
        if document is not None:
            result.documents[file] = document
            _File(file, document, manifest, dropped or {}, result).run(members)
    return result


def _document(
    file: str,
    source: Source,
    manifest: Manifest,
    members: list[Site],
    result: Reconciliation,
    parse: Callable[[str, bytes], Document],
) -> Document | None:
    pin = members[0].pin
    if isinstance(source, Document):
        return source
    if isinstance(source, Problem):
        result.findings.append(finding(source.code, source.message, file=file, pin=pin))
        return None
    try:
        return parse(sites.language_for(file, source, manifest.languages), source)
    except Unparsable as error:
        result.findings.append(finding("PIN206", f"the file cannot be parsed: {error}", file=file, pin=pin))
        return None


class _Claim(NamedTuple):
    site: Site
    expected: Expected
    slot: Slot
    part: str


@dataclass(slots=True)
class _File:
    """One file's sites. Sites are resolved to slots first, so that two claims on one slot meet."""

    file: str
    document: Document
    manifest: Manifest
    dropped: Mapping[KeyPath, Sequence[str]]
    result: Reconciliation

    def run(self, members: list[Site]) -> None:
        generated = blocks.all_blocks(self.document.source)
        claims: defaultdict[tuple[Spans, bool], list[_Claim]] = defaultdict(list)
        for site in members:
            for claim in self._claims(site):
                spans = touched(claim.slot)
                if any(start < e and s < end for start, end in generated for s, e in spans):
                    self._report(
                        site,
                        "PIN109",
                        f"`{site.selector}` lies in a generated block",
                        claim.slot,
                        hint="drop the site: the block is held to its recipe",
                    )
                    continue
                claims[spans, claim.slot.many].append(claim)
        groups = list(claims.values())
        clashing = list(overlaps([spans for spans, _ in claims]))
        for first, second in clashing:
            self._clash(groups[second][0], groups[first][0])
        unfit = {n for pair in clashing for n in pair}
        for n, group in enumerate(groups):
            if n not in unfit:
                self._settle(group)

    def _claims(self, site: Site) -> Iterator[_Claim]:
        pin = self.manifest.pins.get(site.pin) if site.pin else None
        hit = self._hit(site)
        if hit is None:
            return
        try:
            expected = template.evaluate(template.parse(site.template), pin, self.manifest)
        except UnstoredError as error:
            self._report(site, error.code, str(error), hit[0], hint=error.hint)
            return
        if isinstance(expected, Expected):
            if len(hit) == 1 and not hit[0].part:
                slot = hit[0] if isinstance(expected.value, str) else self.document.as_list(hit[0])
                yield _Claim(site, expected, slot, "")
            else:
                self._report(
                    site,
                    "PIN207",
                    f"`{site.selector}` holds several parts: {_parts(hit)}",
                    hit[0],
                    hint='ask for them together with "{git}" or "{archive}", or select one of them',
                )
            return
        yield from self._compound(site, expected, hit)

    def _hit(self, site: Site) -> Hit | None:
        """The one place that the site's selector names; anything else is reported."""
        try:
            hits = sites.find(self.document, site.selector)
        except BadSelector as error:
            named = repr(site.selector) in str(error)
            self._report(site, "PIN118", str(error) if named else f"`{site.selector}` is no selector here: {error}")
            return None
        if len(hits) == 1:
            return hits[0]
        if hits:
            self._ambiguous(site, [(f"{site.selector}#{n}", hit[0]) for n, hit in enumerate(hits, 1)])
            return None
        close = self.document.candidates(site.selector)
        hint = f"close to it: {', '.join(close)}" if close else "correct the selector or drop the site"
        self._report(site, "PIN202", f"`{site.selector}` is not in the file{self._unparsed()}", hint=hint)
        return None

    def _unparsed(self) -> str:
        if not self.document.errors:
            return ""
        lines = sorted({Span.of(self.document.source, start).line for start, _ in self.document.errors})
        return f" (what stands at line {', '.join(map(str, lines[:5]))} could not be parsed)"

    def _ambiguous(self, site: Site, places: list[tuple[str, Slot]]) -> None:
        related = tuple(
            Location(file=self.file, span=self._span(slot), message=f"{name} holds {show(slot.value)}")
            for name, slot in places
        )
        self._report(
            site,
            "PIN203",
            f"`{site.selector}` fits {len(places)} places",
            places[0][1],
            related=related,
            hint="choose one: " + ", ".join(name for name, _ in places),
        )

    def _compound(self, site: Site, expected: Compound, hit: Hit) -> Iterator[_Claim]:
        for part, value in expected.items():
            slots = [slot for slot in hit if slot.part == part]
            if len(slots) == 1:
                yield _Claim(site, value, slots[0], part)
            elif slots:
                self._ambiguous(site, [(sites.selector_of(self.document, slot), slot) for slot in slots])
            elif part == "submodules":
                self._absent(site, part, value, hit)
            else:
                self._report(site, "PIN207", f"`{site.selector}` holds no {part}, but {_parts(hit)}", hit[0])

    def _absent(self, site: Site, part: str, expected: Expected, hit: Hit) -> None:
        """A part that the call may leave out, and that pins.toml states."""
        try:
            edits, why = tuple(self.document.add(hit, part, expected.value)), None
        except Unwritable as error:
            edits, why = (), error
        self.result.observations.append(
            Observation(
                site=site,
                part=part,
                expected=expected,
                found=None,
                wanted=expected.value,
                verdict=Verdict.DIFFERENT,
                span=self._span(hit[0]),
                edits=edits,
                unwritable=why,
            )
        )

    def _settle(self, group: list[_Claim]) -> None:
        """One slot and all that is claimed of it: contains-claims add up, others must be alone."""
        first, slot = group[0], group[0].slot
        others = [c for c in group[1:] if c.site.mode is not Mode.CONTAINS or first.site.mode is not Mode.CONTAINS]
        clash = [c for c in others if (c.site.pin, c.expected.value) != (first.site.pin, first.expected.value)]
        for claim in clash:
            self._clash(claim, first)
        if clash:
            return
        comparisons, wanted = [], slot.value
        claimed = {element for claim in group for element in elements(claim.expected.value)}
        for claim in group:
            # What one pin drops and another still needs stays.
            gone = [element for element in self.dropped.get(claim.site.key, ()) if element not in claimed]
            seen = compare(claim.expected, slot, claim.site.mode, gone)
            comparisons.append(seen)
            wanted = _merged(slot, wanted, seen.wanted)
        edits, why = self._edits(slot, wanted)
        for claim, comparison in zip(group, comparisons, strict=True):
            self._observe(claim, comparison, edits, why)

    def _clash(self, claim: _Claim, other: _Claim) -> None:
        """Two claims on bytes that they share, of which one at most can be kept."""
        spelled = "" if other.site.selector == claim.site.selector else f", with `{other.site.selector}`"
        self._report(
            claim.site,
            "PIN109",
            f"`{claim.site.selector}` is claimed by {_who(other.site)} too{spelled}",
            claim.slot,
            hint="let one of the two sites go",
        )

    def _edits(self, slot: Slot, wanted: Value) -> tuple[tuple[Edit, ...], Unwritable | None]:
        try:
            return tuple(self.document.edits(slot, wanted)), None
        except Unwritable as error:
            return (), error

    def _observe(self, claim: _Claim, seen: Comparison, edits: tuple[Edit, ...], why: Unwritable | None) -> None:
        if seen.verdict is Verdict.MISSHAPEN:
            self._report(
                claim.site, "PIN207", f"`{claim.site.selector}` holds one value, the template gives a list", claim.slot
            )
            return
        self.result.observations.append(
            Observation(
                site=claim.site,
                part=claim.part,
                expected=claim.expected,
                found=claim.slot.value,
                wanted=seen.wanted,
                verdict=seen.verdict,
                span=self._span(claim.slot),
                slot=claim.slot,
                edits=edits if claim.expected.resolved else (),
                unwritable=why,
            )
        )

    def _span(self, slot: Slot) -> Span | None:
        """Where `slot` stands in its file; None in a document that was made of none."""
        return Span.of(self.document.source, slot.start, slot.end) if self.document.source else None

    def _report(
        self,
        site: Site,
        code: str,
        message: str,
        slot: Slot | None = None,
        *,
        hint: str | None = None,
        related: tuple[Location, ...] = (),
    ) -> None:
        self.result.findings.append(
            finding(
                code,
                message,
                file=self.file,
                span=self._span(slot) if slot else None,
                pin=site.pin,
                selector=site.selector,
                hint=hint,
                related=related,
            )
        )


def _merged(slot: Slot, before: Value, after: Value) -> Value:
    """Two claims on one list, the second computed on the slot as it stands: what either adds or drops."""
    if not slot.many or before == slot.value:
        return after
    gone = set(slot.value) - set(after)
    kept = [v for v in before if v not in gone]
    return (*kept, *(v for v in after if v not in slot.value and v not in kept))


def _parts(hit: Hit) -> str:
    return ", ".join(dict.fromkeys(slot.part or slot.selector for slot in hit))


def _who(site: Site) -> str:
    return f"pin `{site.pin}`" if site.pin else "`[[sites]]`"


def elements(value: Value) -> tuple[str, ...]:
    """A slot's value as a list, also where it is one value."""
    return (value,) if isinstance(value, str) else value


def show(value: Value | None) -> str:
    """A slot's value for a message: a list's elements apart by spaces."""
    if value is None:
        return "(not stated)"
    return value if isinstance(value, str) else " ".join(value) or "(empty)"


def about(
    observation: Observation, code: str, message: str, hint: str | None = None, *, values: bool = True
) -> Finding:
    """A finding of one slot: where it stands and, unless `values` is off, what should stand there and what does."""
    site = observation.site
    return finding(
        code,
        message,
        file=site.file,
        span=observation.span,
        pin=site.pin,
        selector=site.selector,
        expected=show(observation.wanted) if values else None,
        found=show(observation.found) if values else None,
        hint=hint,
    )
