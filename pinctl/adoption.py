"""From what a site holds back to the facts of pins.toml: the inverse of a template. Pure."""

from base64 import b64decode
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from pinctl import facts, template
from pinctl.commits import is_full
from pinctl.compare import Verdict, agree
from pinctl.facts import Fact, FactError
from pinctl.finding import Finding, Severity
from pinctl.model import KeyPath, Manifest, Mode
from pinctl.reconcile import Observation, about
from pinctl.sites.base import Value
from pinctl.template import Kind, Placeholder

_PARTED = (*facts.COMPOUNDS, "nested")
"""Facts whose codec names a part or a path, and spells nothing."""


@dataclass(slots=True)
class Adoption:
    """New values by key path of pins.toml; `findings` say why they cannot be taken over, `open` of which slots no value
    follows."""

    changes: dict[KeyPath, Value | bool] = field(default_factory=dict)
    findings: list[Finding] = field(default_factory=list)
    open: list[tuple[Observation, Finding]] = field(default_factory=list)

    def left(self, after: Iterable[Observation]) -> list[Finding]:
        """The findings of slots that differ also from the adopted values, as seen in `after`.

        A list that holds more than ours is only told where there was something to adopt: `sync` adds to it.
        """
        differing = {_place(o) for o in after if o.verdict is Verdict.DIFFERENT}
        return [
            told._replace(severity=Severity.WARNING) if self.changes and o.site.mode is Mode.CONTAINS else told
            for o, told in self.open
            if _place(o) in differing
        ]


def _place(observation: Observation) -> tuple[KeyPath, str]:
    return observation.site.key, observation.part


def adopt(file: str, observations: Iterable[Observation], manifest: Manifest) -> Adoption:
    """The changes of pins.toml that make it agree with the sites in `file`.

    Refused (PIN224): two sites of one fact that hold different values, in `file` or beyond it.
    """
    adoption, seen = Adoption(), list(observations)
    for observation in seen:
        if observation.site.file == file and observation.verdict is Verdict.DIFFERENT and observation.found is not None:
            _take(observation, adoption, manifest)
    for key, value in list(adoption.changes.items()):
        for other in seen:
            if other.expected.facts == (key,) and _apart(other, value, manifest):
                adoption.findings.append(_moved_apart(other, file))
    _mark_unresolved(adoption, manifest)
    return adoption


def _take(observation: Observation, adoption: Adoption, manifest: Manifest) -> None:
    value = fact_value(observation, manifest)
    if isinstance(value, Finding):
        adoption.open.append((observation, value))
        return
    (key,) = observation.expected.facts
    adoption.changes.setdefault(key, value)


def fact_value(observation: Observation, manifest: Manifest) -> Value | Finding:
    """What the fact behind `observation` would be if the site were right, or the finding that says why that is open."""
    if len(observation.expected.facts) != 1 or not observation.expected.facts[0]:
        return _refused(observation, "PIN224", "the template is made of several facts, so none follows from the site")
    if observation.site.mode is Mode.CONTAINS:
        return _refused(observation, "PIN224", "a list that holds more than this pin's elements cannot be adopted")
    current = _current(observation.expected.facts[0], manifest)
    if observation.expected.facts[0][-1] == "url" and "{" in current:
        return _refused(observation, "PIN224", "the URL is filled in, and of another version the digest is not known",
                        hint=f"run: pinctl bump {observation.expected.facts[0][1]} --to VERSION")  # fmt: skip
    parsed = template.parse(observation.site.template)
    spell = _inverse(parsed.placeholders[0], current)
    texts = [observation.found] if isinstance(observation.found, str) else list(observation.found or ())
    bare = texts if observation.part else [template.invert(parsed, text) for text in texts]
    values = [None if text is None else _back(text, parsed.placeholders[0], spell, observation) for text in bare]
    if None in values:
        return _refused(observation, "PIN224", f"`{observation.site.template}` does not give what the site holds")
    known = tuple(value for value in values if value is not None)
    if observation.expected.kind is Kind.COMMIT and not all(is_full(value) for value in known):
        return _refused(observation, "PIN105", "the site holds no full commit id, and pins.toml needs one")
    return known[0] if isinstance(observation.found, str) else known


def _current(key: tuple[str, ...], manifest: Manifest) -> str:
    """The fact's present text, by which a codec's inverse finds its way (`v1.2` or `1.2`)."""
    scope, name, *path = key
    owner = (manifest.pins if scope == "pins" else manifest.variants).get(name)
    value = getattr(owner, path[0], None) if path else None
    if len(path) == 2 and isinstance(value, Mapping):
        value = value.get(path[1])
    return value if isinstance(value, str) else ""


def _inverse(placeholder: Placeholder, current: str) -> Callable[[str], str | None]:
    """The way back through a codec; it gives None where there is none."""
    match placeholder.codec:
        case "bare":
            return lambda text: None if text.startswith("v") else f"v{text}" if current.startswith("v") else text
        case "tag" if placeholder.path != ("git",):
            return lambda text: text if current.startswith("v") else text.removeprefix("v")
        case "sri":
            return _hex_of_sri
        case "upper":
            return str.lower
        case str() as codec if codec.startswith(".") and not _is_whole(current, int(codec[1:])):
            return lambda _: None
    return lambda text: text


def _back(
    text: str, placeholder: Placeholder, spell: Callable[[str], str | None], observation: Observation
) -> str | None:
    """The fact that `text` spells; None where the codec would not spell that fact just so."""
    value = spell(text)
    if value is None or placeholder.codec is None or placeholder.path[-1] in _PARTED:
        return value
    if observation.expected.kind is Kind.COMMIT and is_full(text):
        return value  # written in full where the template asks for fewer digits: no less known for that
    return value if _spelled(value, placeholder.codec) == text else None


def _spelled(value: str, codec: str) -> Value | None:
    """`value` as `codec` spells it; None where it cannot."""
    try:
        return facts.coded(Fact(value), codec).value
    except FactError:
        return None


def _is_whole(current: str, digits: int) -> bool:
    """Whether nothing of the fact is lost in its first `digits`; of a commit id this is seen from the site's own."""
    return 0 < len(current) <= digits or is_full(current)


def _hex_of_sri(text: str) -> str | None:
    try:
        return b64decode(text.partition("-")[2], validate=True).hex() or None
    except ValueError:
        return None


def _apart(other: Observation, value: Value | bool, manifest: Manifest) -> bool:
    """Whether `other`, a site of one fact, holds neither the pin's value of it nor the adopted one."""
    if other.verdict is not Verdict.DIFFERENT or other.found is None or other.site.mode is Mode.CONTAINS:
        return False
    theirs = fact_value(other, manifest)
    if isinstance(theirs, Finding):
        return not (isinstance(value, str) and isinstance(other.found, str) and agree(value, other.found))
    return theirs != value


def _mark_unresolved(adoption: Adoption, manifest: Manifest) -> None:
    """A new tag whose commit is not known leaves its pin unresolved, so that the old commit is written nowhere."""
    for name, pin in manifest.pins.items():
        moved = {fact for fact in ("commit", "tag") if ("pins", name, fact) in adoption.changes}
        if moved == {"tag"} and pin.commit:
            adoption.changes["pins", name, "unresolved"] = True


def _moved_apart(observation: Observation, file: str) -> Finding:
    return _refused(observation, "PIN224", f"it holds another value than `{file}` gives, and than pins.toml")


def _refused(
    observation: Observation,
    code: str,
    why: str,
    hint: str = "write the right value into pins.toml, then run: pinctl sync --force",
) -> Finding:
    return about(observation, code, f"`{observation.site.selector}` cannot be adopted: {why}", hint)
