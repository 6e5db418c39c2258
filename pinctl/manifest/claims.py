"""What pins.toml claims of the consumer's files: sites, and files or blocks that recipes render.

- no two sites say what stands in one place, however the selector is spelled; lists that hold more may be shared, and
  a file that a recipe renders as a whole has no site, no block and no second recipe; pins.toml, and what it extends,
  is claimed by nobody (PIN109)
- templates are well-formed, and name facts that are there (PIN110 to PIN112, PIN114)
- a Docker build argument is no branch: the cached layer would stay when the branch moves (PIN223)
- recipes exist (PIN114); every pin has a site, is built or is in an image, or says `unused = true` (PIN113)
"""

import re
from collections.abc import Collection, Iterator

from pinctl import sites, template
from pinctl.manifest.shapes import Problem, likely, named
from pinctl.model import Generated, KeyPath, Manifest, Mode, Site
from pinctl.paths import path_problem
from pinctl.template import Placeholder, Template, TemplateError

_AROUND_MARKS = re.compile(r"\s*([().=])\s*")
_WHOLE = "a recipe renders it as a whole"
_BUILT_IN = re.compile(r"(?:[^\s:]+:)?(?:ARG|ENV)\s.*")


def problems(manifest: Manifest, recipes: Collection[str] | None) -> Iterator[Problem]:
    """What sites and generated files claim wrongly; `recipes` are the bundled ones, None where that is not known."""
    yield from _own(manifest)
    yield from _twins(manifest)
    yield from _rendered(manifest)
    templates: list[Template] = []
    for site in manifest.all_sites:
        try:
            parsed = template.parse(site.template)
        except TemplateError as error:
            what = f"the template {site.template!r} is malformed at character {error.offset + 1}: {error}"
            yield Problem("PIN111", site.key, what)
        else:
            templates.append(parsed)
            yield from _template(site, parsed, manifest)
    yield from _idle(manifest, templates)
    yield from _recipes(manifest, recipes)


def _own(manifest: Manifest) -> Iterator[Problem]:
    """What would have pinctl write the very files that say what it is to write."""
    # Folded: some file systems take Pins.toml for pins.toml.
    ours = {path.casefold() for path in (manifest.path, *(path for path, _ in manifest.bases))}
    claims = [(site.file, site.key) for site in manifest.all_sites]
    claims += [(item.file, item.key) for item in manifest.all_generated]
    for file, key in claims:
        if file.casefold() in ours:
            what = f"{file} says what the sites hold, so it is no site and no recipe renders it"
            yield Problem("PIN109", key, what, "drop the entry")


def _twins(manifest: Manifest) -> Iterator[Problem]:
    seen: dict[tuple[str, str], Site] = {}
    for site in manifest.all_sites:
        first = seen.setdefault((site.file, _spelled(site.selector)), site)
        shared = first.mode is Mode.CONTAINS and site.mode is Mode.CONTAINS
        if first is not site and not shared:
            both = f"by {_claimant(first.pin)} and by {_claimant(site.pin)}"
            what = f"`{site.selector}` in {site.file} is claimed twice: {both}"
            hint = 'keep one; a list that several pins fill is said with { contains = "..." }'
            yield Problem("PIN109", site.key, what, hint, first.key)


def _spelled(selector: str) -> str:
    """`selector` in the one spelling in which two of them are compared."""
    if selector.startswith("regex:"):
        return selector
    return _AROUND_MARKS.sub(r"\1", " ".join(selector.split()))


def _claimant(pin: str | None) -> str:
    return f"pin {pin}" if pin else "no single pin"


def _rendered(manifest: Manifest) -> Iterator[Problem]:
    whole: dict[str, Generated] = {}
    for item in manifest.all_generated:
        if not item.block and (first := whole.setdefault(item.file, item)) is not item:
            yield _clash(item.file, item.key, "another recipe renders it as a whole", first.key)
    for site in manifest.all_sites:
        if site.file in whole:
            yield _clash(site.file, site.key, f"{_WHOLE}, so it has no sites", whole[site.file].key)
    blocks: dict[tuple[str, str | None, str, str], Generated] = {}
    for item in manifest.all_generated:
        if item.block:
            yield from _block(item, whole, blocks)


def _block(
    item: Generated, whole: dict[str, Generated], blocks: dict[tuple[str, str | None, str, str], Generated]
) -> Iterator[Problem]:
    if item.file in whole:
        yield _clash(item.file, item.key, f"{_WHOLE}, so it has no blocks", whole[item.file].key)
    first = blocks.setdefault((item.file, item.pin, item.recipe, item.name), item)
    if first is not item:
        yield _clash(item.file, item.key, "two blocks have one recipe and name; give each a `name`", first.key)
    if sites.language_of(item.file) == "json":
        what = f"{item.file} is JSON, which has no comments to mark a block with"
        yield Problem("PIN103", item.key, what, "render the whole file, or use sites")


def _clash(file: str, key: KeyPath, what: str, other: KeyPath) -> Problem:
    return Problem("PIN109", key, f"{file} is claimed twice: {what}", "keep one of the two", other)


def _template(site: Site, parsed: Template, manifest: Manifest) -> Iterator[Problem]:
    for code, message in template.problems(parsed, site.pin, manifest):
        yield Problem(code, site.key, f"the template {site.template!r}: {message}")
    if _in_dockerfile(site) and any(_follows(placeholder) for placeholder in parsed.placeholders):
        what = f"`{site.selector}` would hold a branch: the image's cached layer stays when the branch moves"
        yield Problem("PIN223", site.key, what, 'give it the commit: "{commit}"')


def _in_dockerfile(site: Site) -> bool:
    return _BUILT_IN.fullmatch(site.selector) is not None and sites.language_of(site.file) == "dockerfile"


def _follows(placeholder: Placeholder) -> bool:
    return placeholder.path[-1] == "track" and placeholder.path[-2:-1] != ("facts",)


def _idle(manifest: Manifest, templates: Collection[Template]) -> Iterator[Problem]:
    """Pins that nothing uses."""
    paths = [placeholder.path for parsed in templates for placeholder in parsed.placeholders]
    named_elsewhere = {path[1] for path in paths if path[0] == "pins" and len(path) > 1}
    if manifest.images:
        from pinctl.manifest.imaging import used  # few files have images, and each start would load it

        named_elsewhere |= set(used(manifest))
    for pin in manifest.pins.values():
        if not (pin.sites or pin.generate or pin.wheel or pin.unused or pin.name in named_elsewhere):
            key = ("pins", pin.name)
            hint = f'add [pins.{pin.name}.sites."FILE"] with a selector; or `unused = true`'
            yield Problem("PIN113", key, f"no site or generated file uses {named(key)}: nothing of it is checked", hint)


def _recipes(manifest: Manifest, recipes: Collection[str] | None) -> Iterator[Problem]:
    uses = [(item.recipe, (*item.key, "recipe")) for item in manifest.all_generated]
    uses += [(pin.wheel.recipe, ("pins", pin.name, "wheel", "recipe")) for pin in manifest.pins.values() if pin.wheel]
    for recipe, key in uses:
        if "/" in recipe or recipe.endswith(".j2"):
            if problem := path_problem(recipe):
                yield Problem("PIN108", key, f"the recipe {recipe[:60]!r} cannot be used: {problem}")
        elif recipes is not None and recipe not in recipes:
            hint = likely(recipe, recipes) or "your own recipe is named by its path: ./pins/x.j2"
            yield Problem("PIN114", key, f"there is no recipe {recipe!r}", hint)
