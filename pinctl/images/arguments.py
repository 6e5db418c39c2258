"""The build arguments of an image, and the pins that are in it."""

from collections.abc import Iterator, Sequence

from pinctl import template
from pinctl.codes import finding
from pinctl.commits import is_full
from pinctl.credentials import is_secret
from pinctl.finding import Finding
from pinctl.images.references import NoReference, Wanted, reference
from pinctl.index.records import Record
from pinctl.manifest import locate
from pinctl.manifest.imaging import REFERENCE
from pinctl.model import Image, KeyPath, Manifest, Pin

Values = dict[str, str]


def pins(image: Image, manifest: Manifest) -> list[Pin]:
    """The pins that are in the image: those that it lists, those of its wheels and those that its arguments name."""
    parsed = [template.parse(text) for text in image.args.values()]
    paths = [placeholder.path for one in parsed for placeholder in one.placeholders]
    names = (*image.pins, *image.wheels.values(), *(path[1] for path in paths if path[0] == "pins" and len(path) > 1))
    return [manifest.pins[name] for name in dict.fromkeys(names)]


def values(
    image: Image, manifest: Manifest, platform: str, records: Sequence[Record]
) -> tuple[Values, tuple[Finding, ...]]:
    """The build arguments for a platform, and what is wrong with them: a list is written with spaces between."""
    found: Values = {}
    told: list[Finding] = []
    for name, text in image.args.items():
        key: KeyPath = ("images", image.name, "args", name)
        expected = template.evaluate(template.parse(text), None, manifest)
        if not isinstance(expected, template.Expected):
            told.append(_at(manifest, key, "PIN670", f"{name}: {text} has several parts", "name one fact"))
            continue
        value = expected.value if isinstance(expected.value, str) else " ".join(expected.value)
        told += _refused(manifest, key, name, value, expected)
        found[name] = value
    for name, pin in image.wheels.items():
        key = ("images", image.name, "wheels", name)
        wanted = Wanted(manifest.pins[pin], manifest.variants[image.variant or ""], image.python, platform,
                        _base(manifest))  # fmt: skip
        try:
            found[name] = reference(wanted, records)
        except NoReference as error:
            told.append(_at(manifest, key, "PIN671", f"{name}: {error}", error.hint, pin))
    return found, tuple(told)


def _base(manifest: Manifest) -> str | None:
    url = manifest.index.get("url")
    return str(url) if url else None


def _refused(manifest: Manifest, key: KeyPath, name: str, value: str, expected: template.Expected) -> Iterator[Finding]:
    """Why a value may not be built in. It is never repeated: it may be a secret."""
    if is_secret(value):
        hint = "mount it as a build secret: RUN --mount=type=secret,..."
        yield _at(
            manifest, key, "PIN119", f"{name} would hold what looks like a credential, readable in the image", hint
        )
    elif not expected.resolved:
        yield _at(manifest, key, "PIN670", f"{name} is not resolved yet", "run: pinctl bump --resolve")
    elif REFERENCE.fullmatch(name) and not is_full(value):
        hint = "give it the whole commit: {pins.NAME.commit}"
        yield _at(
            manifest, key, "PIN223", f"{name} is no full commit id: a cached layer would stay when it moves", hint
        )


def _at(manifest: Manifest, key: KeyPath, code: str, message: str, hint: str, pin: str | None = None) -> Finding:
    place = locate(manifest, key)
    return finding(code, message, file=place.file, span=place.span, pin=pin, hint=hint)
