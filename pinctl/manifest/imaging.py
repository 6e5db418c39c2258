"""Cross-checks of `[images]`: what no JSON Schema can say of them.

- variants and pins that are named exist (PIN114); wheels are of a variant (PIN104)
- templates of build arguments are well-formed, and name facts that are there (PIN110 to PIN112, PIN114)
- a build argument is neither a branch nor a tag nor an abbreviated commit: a cached layer would outlive what it
  names (PIN223)
- no build argument has the name of a credential: whoever has the image reads it (PIN119)
"""

import re
from collections.abc import Iterator
from contextlib import suppress

from pinctl import template
from pinctl.commits import is_full
from pinctl.credentials import is_secret_name
from pinctl.manifest.shapes import Problem, likely, named
from pinctl.model import Image, KeyPath, Manifest
from pinctl.template import Placeholder, Template, TemplateError

REFERENCE = re.compile(r"(?:.*_)?(?:REF|COMMIT|SHA|REV|REVISION|BRANCH)")
"""Names of build arguments that hold what git checks out."""
_ABBREVIATION = re.compile(r"\.[0-9]+")


def problems(manifest: Manifest) -> Iterator[Problem]:
    """What is wrong with the images of `manifest`."""
    for image in manifest.images.values():
        key: KeyPath = ("images", image.name)
        yield from _names(image, manifest, key)
        for table in ("args", "wheels"):
            yield from _secret((*key, table), getattr(image, table))
        for name, text in image.args.items():
            yield from _argument((*key, "args", name), name, text, manifest)


def used(manifest: Manifest) -> Iterator[str]:
    """The names of the pins that are in some image."""
    for image in manifest.images.values():
        yield from (*image.pins, *image.wheels.values())
        for text in image.args.values():
            with suppress(TemplateError):
                paths = [placeholder.path for placeholder in template.parse(text).placeholders]
                yield from (path[1] for path in paths if path[0] == "pins" and len(path) > 1)


def _names(image: Image, manifest: Manifest, key: KeyPath) -> Iterator[Problem]:
    if image.variant is not None and image.variant not in manifest.variants:
        at = (*key, "variant")
        what = f"{named(at)}: there is no variant {image.variant}"
        yield Problem("PIN114", at, what, likely(image.variant, manifest.variants))
    if image.wheels and image.variant is None:
        what = f"{named(key)} has `wheels` and no `variant`: nothing says for which CUDA"
        yield Problem("PIN104", (*key, "wheels"), what, 'write: variant = "NAME"')
    uses = [((*key, "pins", n), name) for n, name in enumerate(image.pins)]
    uses += [((*key, "wheels", argument), name) for argument, name in image.wheels.items()]
    for at, name in uses:
        if name not in manifest.pins:
            yield Problem("PIN114", at, f"{named(at)}: there is no pin {name}", likely(name, manifest.pins))
    for argument in image.wheels:
        if argument in image.args:
            at = (*key, "wheels", argument)
            yield Problem(
                "PIN103", at, f"{named(at)}: `args` gives it a value too", "keep one", (*key, "args", argument)
            )


def _secret(key: KeyPath, table: object) -> Iterator[Problem]:
    for name in table if isinstance(table, dict) else ():
        if is_secret_name(name):
            what = f"{name} looks like the name of a credential, and build arguments are kept in the image"
            yield Problem("PIN119", (*key, name), what, "mount it as a build secret: RUN --mount=type=secret,...")


def _argument(key: KeyPath, name: str, text: str, manifest: Manifest) -> Iterator[Problem]:
    try:
        parsed = template.parse(text)
    except TemplateError as error:
        what = f"the template {text!r} is malformed at character {error.offset + 1}: {error}"
        yield Problem("PIN111", key, what)
        return
    for code, message in template.problems(parsed, None, manifest):
        yield Problem(code, key, f"the template {text!r}: {message}")
    if moving := _moving(name, parsed, manifest):
        hint = "give it the whole commit: {pins.NAME.commit}"
        yield Problem("PIN223", key, f"{named(key)} is {moving}: a cached layer would stay when that moves", hint)


def _moving(name: str, parsed: Template, manifest: Manifest) -> str | None:
    """What the argument is, where that can come to mean another commit."""
    for placeholder in parsed.placeholders:
        if told := _of_git(placeholder, manifest):
            return told
    if not parsed.placeholders and REFERENCE.fullmatch(name) and not is_full("".join(map(str, parsed.parts))):
        return "no full commit id"
    return None


def _of_git(placeholder: Placeholder, manifest: Manifest) -> str | None:
    path = placeholder.path
    pin = manifest.pins.get(path[1]) if path[0] == "pins" and len(path) == 3 else None
    if pin is None or not pin.repo:
        return None
    if path[2] == "commit":
        return "an abbreviated commit id" if _ABBREVIATION.fullmatch(placeholder.codec or "") else None
    return {"track": "a branch", "tag": "a tag"}.get(path[2])
