"""What pins.toml says, as plain frozen data. `manifest.parse` makes it; nothing here does any IO."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

KeyPath = tuple[str | int, ...]
"""Where a value stands in pins.toml: `("pins", "deepgemm", "submodules", 0)`."""


NOTHING: Mapping[str, Any] = MappingProxyType({})
"""The mapping without entries: a default that nobody can fill by accident."""


class Mode(StrEnum):
    """How a slot is held against its template. AUTO: a list as the site's language means it, a scalar by equality."""

    AUTO = "auto"
    EQUALS = "equals"
    CONTAINS = "contains"


class Site(NamedTuple):
    """One place in the consumer's tree: `selector` in `file` must hold what `template` says."""

    file: str
    selector: str
    template: str
    mode: Mode = Mode.AUTO
    pin: str | None = None
    key: KeyPath = ()


class Generated(NamedTuple):
    """A file, or a marked block in one, that a recipe renders."""

    file: str
    recipe: str
    block: bool = False
    name: str = ""
    options: Mapping[str, object] = NOTHING
    pin: str | None = None
    key: KeyPath = ()


class SystemPackage(NamedTuple):
    """One need of the build or the runtime, with its package name under each manager (dnf, microdnf, apt, apk)."""

    name: str
    managers: Mapping[str, str]
    header: str | None = None
    when: Literal["build", "run", "both"] = "build"


class Upstream(NamedTuple):
    """What a fork forks."""

    repo: str
    track: str | None = None


class Patch(NamedTuple):
    """A change on top of the pinned source: a diff in `file`; or `search` in `target`, an installed file, to be
    exchanged for `replace` so many `times`. `backport`: the upstream commit that the diff was taken from."""

    file: str | None = None
    target: str | None = None
    search: str | None = None
    replace: str | None = None
    times: int = 1
    when: str | None = None
    variants: tuple[str, ...] | None = None
    retire: str | None = None
    backport: str | None = None
    supersedes: tuple[str, ...] = ()
    executables: bool = False

    @property
    def name(self) -> str:
        """What a person calls it."""
        return self.file or f"edit of {self.target}"


class Contract(NamedTuple):
    """What the consumer needs of the pin's Python surface."""

    import_names: tuple[str, ...] = ()
    requires: tuple[str, ...] = ()
    consumer_roots: tuple[str, ...] = ()
    build_roots: tuple[str, ...] = ()


class Exclude(NamedTuple):
    """Cells of the matrix that are not built, with the reason; what is None stands for all of its kind."""

    reason: str
    variant: str | None = None
    python: str | None = None
    platform: str | None = None


class Wheel(NamedTuple):
    """How the pin's wheels are built. `requires` and `lock` say what the build needs of a package index: by name, or by
    a pip requirements file with digests, whose path may hold {variant} and {python}."""

    recipe: str
    variants: tuple[str, ...] = ()
    requires: tuple[str, ...] = ()
    lock: str | None = None
    env: Mapping[str, str] = NOTHING
    exclude: tuple[Exclude, ...] = ()
    imports: tuple[str, ...] = ()
    options: Mapping[str, object] = NOTHING


class Check(NamedTuple):
    """A command of the pin's own that shows it at work (evidence)."""

    name: str
    command: str
    needs: tuple[str, ...] = ()
    timeout: int = 600
    tolerance: float | None = None
    guards: tuple[str, ...] = ()


class Bad(NamedTuple):
    """A commit or version known not to work, with the reason and what mends it."""

    reason: str
    commit: str | None = None
    version: str | None = None
    fix: str | None = None


class Waiver(NamedTuple):
    """A finding that is accepted: by code, path (a glob) or both, with a reason, until a commit where given."""

    reason: str
    code: str | None = None
    path: str | None = None
    symbol: str | None = None
    until: str | None = None
    key: KeyPath = ()


class Pin(NamedTuple):
    """One external dependency. Exactly one of these is its main source: `repo`, `packages`, `url`, `image`."""

    name: str
    repo: str | None = None
    commit: str | None = None
    tag: str | None = None
    track: str | None = None
    upstream: Upstream | None = None
    version: str | None = None
    packages: tuple[str, ...] = ()
    url: str | None = None
    sha256: str | Mapping[str, str] | None = None
    image: str | None = None
    digest: str | None = None
    unresolved: bool | str = False
    submodules: tuple[str, ...] | None = None
    recursive: bool = False
    lfs: bool = False
    include_dirs: tuple[str, ...] | None = None
    header_globs: tuple[str, ...] | None = None
    archive: Mapping[str, str] = NOTHING
    nested: Mapping[str, str] = NOTHING
    system_packages: tuple[SystemPackage, ...] = ()
    facts: Mapping[str, object] = NOTHING
    needs: Mapping[str, str] = NOTHING
    group: str | None = None
    sites: tuple[Site, ...] = ()
    generate: tuple[Generated, ...] = ()
    unused: bool = False
    patches: tuple[Patch, ...] = ()
    contract: Contract | None = None
    wheel: Wheel | None = None
    checks: tuple[Check, ...] = ()
    bad: tuple[Bad, ...] = ()
    policy: Mapping[str, object] = NOTHING
    allow: tuple[Waiver, ...] = ()


class Variant(NamedTuple):
    """A build target: one CUDA (or none: rocm, musa), image, torch, Pythons and architectures.

    `runtime` is the image that wheels are tried in, `manylinux` the tag they are repaired for, `index_url` a package
    index asked besides the usual one, `requires` what this variant's builds need of it.
    """

    name: str
    cuda: str | None = None
    image: str | None = None
    digest: str | None = None
    torch: str | None = None
    python: tuple[str, ...] = ()
    platforms: tuple[str, ...] = ()
    arch_list: tuple[str, ...] = ()
    packages: str | None = None
    runtime: str | None = None
    manylinux: str | None = None
    index_url: str | None = None
    requires: tuple[str, ...] = ()
    label: str | None = None
    publish: str | None = None
    env: Mapping[str, str] = NOTHING
    facts: Mapping[str, object] = NOTHING


class Image(NamedTuple):
    """A Docker image of the consumer's. `args` are templates of build arguments, `wheels` build arguments that get the
    reference to a pin's wheel for `variant`; `pins` are in it besides those that either names."""

    name: str
    dockerfile: str
    context: str | None = None
    target: str | None = None
    variant: str | None = None
    python: str | None = None
    pins: tuple[str, ...] = ()
    platforms: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    args: Mapping[str, str] = NOTHING
    wheels: Mapping[str, str] = NOTHING


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """pins.toml. `text` is what was parsed: positions of keys are found in it when a finding needs one.

    `languages` maps globs of files to the language they are read in; the first that matches counts. `bases` are path
    and text of the files that this one extends, the nearest first.
    """

    path: str
    text: str
    pins: Mapping[str, Pin] = field(default_factory=dict)
    variants: Mapping[str, Variant] = field(default_factory=dict)
    images: Mapping[str, Image] = field(default_factory=dict)
    sites: tuple[Site, ...] = ()
    generate: tuple[Generated, ...] = ()
    contract: Contract | None = None
    index: Mapping[str, object] = field(default_factory=dict)
    allow: tuple[Waiver, ...] = ()
    languages: Mapping[str, str] = field(default_factory=dict)
    bases: tuple[tuple[str, str], ...] = ()

    @property
    def all_sites(self) -> tuple[Site, ...]:
        """Every site, those of no single pin last, in the order of pins.toml."""
        return (*(site for pin in self.pins.values() for site in pin.sites), *self.sites)

    @property
    def all_generated(self) -> tuple[Generated, ...]:
        return (*(item for pin in self.pins.values() for item in pin.generate), *self.generate)
