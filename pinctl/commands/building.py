"""What `pinctl build` would do: the matrix of pins.toml with a key for each cell, and whether its wheel is there."""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from pinctl.codes import finding
from pinctl.commands.wheel_verify import required
from pinctl.commands.workspace import Workspace
from pinctl.errors import ExternalError, UsageError
from pinctl.external import build_cache, checkout, docker, files, resources
from pinctl.external.process import ToolMissing
from pinctl.finding import Finding, Severity
from pinctl.model import Variant
from pinctl.patches.conditions import is_for_variant, is_for_version
from pinctl.plan import digest
from pinctl.wheel import context, key, recipe
from pinctl.wheel.context import Library
from pinctl.wheel.key import Materials
from pinctl.wheel.matrix import Asked, Cell, Left, Matrix, matrix
from pinctl.wheel.plan import Planned, planned
from pinctl.wheel.recipe import Recipe

_LARGEST_PATCH = 1024 * 1024
_LARGEST_LOCK = 4 * 1024 * 1024


class Job(NamedTuple):
    """A cell with all that its build needs; `finished` is the key of the wheel as people get it."""

    planned: Planned
    recipe: Recipe
    materials: Materials
    patches: tuple[checkout.Patch, ...]
    finished: str

    @property
    def cell(self) -> Cell:
        return self.planned.cell


class Planning(NamedTuple):
    """The jobs in the order of the matrix, the cells that are left out, what is wrong, and the shipped data."""

    jobs: tuple[Job, ...]
    left: tuple[Left, ...]
    findings: tuple[Finding, ...]
    shipped: "Shipped"


class Shipped(NamedTuple):
    """What comes with pinctl: scripts and Docker files by name, the lock of the tools, the libraries left out."""

    steps: dict[str, str]
    tools: str
    excludes: tuple[Library, ...]

    @classmethod
    def read(cls) -> "Shipped":
        """Raises ExternalError, files.Unreadable."""
        return cls(
            resources.docker_steps(),
            resources.docker("tools.txt"),
            context.libraries(resources.docker("excludes.toml")),
        )


def plan(workspace: Workspace, asked: Asked, base: str, *, fetch_images: bool = False) -> Planning:
    """The plan for the cells `asked`, held against the cache `base`. `fetch_images`: images that are named by a tag,
    and not here, are pulled. Raises UsageError, ExternalError."""
    manifest = workspace.manifest
    _demand_known(workspace, asked)
    found = matrix(manifest, resources.variants(), asked)
    _demand_cells(found, asked)
    broken = {told.pin for told in found.findings if told.severity is Severity.ERROR}
    shipped = Shipped.read()
    steps = key.steps_digest(shipped.steps, shipped.tools)
    trying = digest("".join(shipped.steps[name] for name in sorted(shipped.steps)).encode())
    images = _Images(fetch_images)
    recipes = _recipes(workspace, found.cells)
    jobs, unlocked = [], set()
    for cell in found.cells:
        if cell.pin.name in broken:
            continue
        made = recipes[cell.wheel.recipe]
        lock = _lock(cell, workspace.root)
        patches = _patches(cell, workspace.root)
        materials = Materials(
            images.identity(cell.variant, cell.platform), steps, tuple(item.soname for item in shipped.excludes), lock,
            tuple((patch.file, digest(patch.content)) for patch in patches),
        )  # fmt: skip
        if lock is None:
            unlocked.add((cell.pin.name, cell.variant.name))
        inputs = key.inputs(cell, made, materials)
        finished = _finished(key.key(inputs), cell, made, trying)
        entry = build_cache.peek(base, build_cache.FINISHED, finished)
        last = build_cache.last(base, identity(cell))
        jobs.append(Job(planned(cell, inputs, entry and entry.name, last), made, materials, patches, finished))
    told = [*found.findings, *_loose(manifest.path, images.loose, unlocked)]
    return Planning(tuple(jobs), found.left, tuple(told), shipped)


def identity(cell: Cell) -> str:
    """A cell whatever its pin's commit: by which the inputs of its last build are kept."""
    return "\n".join((cell.pin.repo or "", cell.pin.name, cell.variant.name, cell.python, cell.platform))


def _demand_known(workspace: Workspace, asked: Asked) -> None:
    """Raises UsageError for a pin or variant that there is not, and where no pin builds a wheel."""
    manifest = workspace.manifest
    wheels = [pin.name for pin in manifest.pins.values() if pin.wheel]
    for name in asked.pins:
        if name not in manifest.pins:
            raise UsageError(f"there is no pin {name!r}", hint=f"those with a wheel: {', '.join(wheels) or 'none'}")
    if not [name for name in wheels if not asked.pins or name in asked.pins]:
        raise UsageError(
            f"no wheel is declared for {', '.join(asked.pins) or 'any pin'}",
            hint='say how it is built: [pins.NAME.wheel] with recipe = "wheel"',
        )
    for name in asked.variants:
        if name not in manifest.variants:
            raise UsageError(f"there is no variant {name!r}", hint=f"the variants are: {', '.join(manifest.variants)}")


def _demand_cells(found: Matrix, asked: Asked) -> None:
    """Raises UsageError where the matrix has no such cell, neither to build nor left out, and nothing says why."""
    if found.cells or found.left or found.findings:
        return
    words = ", ".join((*asked.pins, *asked.variants, *asked.pythons, *asked.platforms))
    raise UsageError(
        f"the matrix has no cell for {words}" if words else "the matrix has no cell: pins.toml has no variant",
        hint="see what there is: pinctl build --plan" if words else "see docs/building.md",
    )


def _recipes(workspace: Workspace, cells: Iterable[Cell]) -> dict[str, Recipe]:
    """The recipes of `cells` by the names under which their pins know them. Raises UsageError."""
    return {name: _recipe(name, workspace.root) for name in {cell.wheel.recipe for cell in cells}}


def _recipe(name: str, root: str) -> Recipe:
    try:
        text, smoke = resources.wheel_recipe(name, root)
    except files.Missing:
        raise UsageError(f"the recipe {name} builds no wheels: it has no wheel.toml") from None
    except files.Unreadable as error:
        raise UsageError(f"the recipe {name} {error.reason}") from error
    return recipe.parse(text, name, smoke)


def _lock(cell: Cell, root: str) -> str | None:
    """The text of the requirements file of a cell; None where none is named. Raises UsageError."""
    path = cell.wheel.lock
    if path is None:
        return None
    path = path.replace("{variant}", cell.variant.name).replace("{python}", cell.python)
    try:
        return files.read_site(root, path, _LARGEST_LOCK).decode("utf-8")
    except (files.Unreadable, UnicodeDecodeError) as error:
        reason = error.reason if isinstance(error, files.Unreadable) else "is not UTF-8 text"
        raise UsageError(f"the lock {path} of {cell.pin.name} {reason}") from error


def _patches(cell: Cell, root: str) -> tuple[checkout.Patch, ...]:
    """The diffs for the pin's version and the cell's variant. Raises ExternalError for one that cannot be read."""
    found = []
    for patch in cell.pin.patches:
        if (
            patch.file is not None
            and is_for_version(patch, cell.pin.version)
            and is_for_variant(patch, cell.variant.name)
        ):
            try:
                found.append(checkout.Patch(patch.file, files.read_site(root, patch.file, _LARGEST_PATCH)))
            except files.Unreadable as error:
                raise ExternalError(f"the patch {patch.file} {error.reason}") from error
    return tuple(found)


def _finished(compiled: str, cell: Cell, made: Recipe, steps: str) -> str:
    """The key of the wheel as people get it: what was compiled, what is written into it, how it was tried."""
    from pinctl import __version__

    pin, variant = cell.pin, cell.variant
    imports = list(cell.wheel.imports or made.imports)
    return key.key(
        {
            "compiled": compiled,
            "label": variant.label,
            "pin": [pin.name, pin.version],
            "variant": [variant.name, variant.torch],
            "pinctl": __version__,
            "try": [
                steps,
                variant.runtime,
                imports,
                made.smoke,
                list(variant.requires),
                cell.system_packages("run"),
            ],
            "files": [*made.files, *required(pin)],
        }
    )


def _loose(file: str, images: Sequence[tuple[str, str]], unlocked: set[tuple[str, str]]) -> Iterator[Finding]:
    """PIN655, PIN656: what the key of a cell does not hold fast."""
    for variant, image in dict.fromkeys(images):
        what = f"variant {variant} names its image by a tag alone: {image}"
        yield finding("PIN655", what, file=file, hint=f'give [variants.{variant}] the digest = "sha256:..." of it')
    for pin, variant in sorted(unlocked):
        what = f"what {pin} needs to be built for {variant} is not locked by digests"
        yield finding(
            "PIN656", what, file=file, pin=pin, hint=f'lock = "locks/{pin}-{{variant}}.txt" in [pins.{pin}.wheel]'
        )


class _Images:
    """What the images of variants are; `loose` are those known by a tag alone, with their variants."""

    def __init__(self, fetch: bool) -> None:
        self.fetch = fetch
        self.loose: list[tuple[str, str]] = []
        self._known: dict[tuple[str, str], str] = {}

    def identity(self, variant: Variant, platform: str) -> str:
        """The digest of the variant's image; where it names a tag alone, the id of what the engine has under it, else
        the tag itself."""
        image = variant.image or ""
        digest_ = variant.digest or image.rpartition("@")[2] if "@" in image or variant.digest else None
        if digest_:
            return digest_
        self.loose.append((variant.name, image))
        if (image, platform) not in self._known:
            self._known[image, platform] = self._asked(image, platform)
        return self._known[image, platform]

    def _asked(self, image: str, platform: str) -> str:
        try:
            client = docker.find()
        except ToolMissing:
            if self.fetch:
                raise
            return image
        found = docker.image_id(client, image)
        if found is None and self.fetch:
            docker.demand_engine(client)
            docker.pull(client, image, platform)
            found = docker.image_id(client, image)
        return found[0] if found else image
