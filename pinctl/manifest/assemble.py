"""From what the structure's check left of pins.toml to the model. Nothing here can fail: all that is wrong is out."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from pinctl.manifest.shapes import ABSENT, present
from pinctl.model import (
    Bad,
    Check,
    Contract,
    Exclude,
    Generated,
    Image,
    KeyPath,
    Manifest,
    Mode,
    Patch,
    Pin,
    Site,
    SystemPackage,
    Upstream,
    Variant,
    Waiver,
    Wheel,
)
from pinctl.paths import plain

Data = Mapping[str, Any]

_AS_THEY_ARE = (
    "repo", "commit", "tag", "track", "version", "url", "sha256", "image", "digest", "unresolved", "recursive", "lfs",
    "archive", "nested", "needs", "group", "unused",
)  # fmt: skip
_LISTS = ("packages", "submodules", "include_dirs", "header_globs")
_OF_VARIANT = (
    "cuda", "image", "digest", "torch", "packages", "runtime", "manylinux", "index_url", "label", "publish", "env",
)  # fmt: skip
_LISTS_OF_VARIANT = ("python", "platforms", "arch_list", "requires")
_OTHER_KEYS_OF_PACKAGE = ("header", "when")


def manifest(data: Data, *, path: str, text: str, bases: tuple[tuple[str, str], ...] = ()) -> Manifest:
    """The manifest that `data` says; `path`, `text` and `bases` are kept in it for positions."""
    return Manifest(
        path=path,
        text=text,
        bases=bases,
        pins={name: _pin(name, table) for name, table in data.get("pins", {}).items()},
        variants={name: _variant(name, table) for name, table in data.get("variants", {}).items()},
        images={name: Image(name=name, **_tuples(table)) for name, table in data.get("images", {}).items()},
        sites=tuple(_common_sites(data.get("sites", ()))),
        generate=tuple(_generated(data.get("generate", {}), None, ("generate",))),
        contract=_contract(data),
        index=data.get("index", {}),
        allow=tuple(_waivers(data.get("allow", ()), ("allow",))),
        languages=data.get("languages", {}),
    )


def _pin(name: str, table: Data) -> Pin:
    key = ("pins", name)
    upstream, wheel = table.get("upstream"), table.get("wheel")
    return Pin(
        name=name,
        upstream=Upstream(**upstream) if upstream else None,
        system_packages=tuple(_system_package(*item) for item in table.get("system_packages", {}).items()),
        facts=_tuples(table.get("facts", {})),
        policy=_tuples(table.get("policy", {})),
        sites=tuple(_sites(table.get("sites", {}), name, (*key, "sites"))),
        generate=tuple(_generated(table.get("generate", {}), name, (*key, "generate"))),
        patches=tuple(map(_patch, present(table.get("patches", ())))),
        contract=_contract(table),
        wheel=_wheel(wheel) if wheel else None,
        checks=tuple(Check(**_tuples(item)) for item in present(table.get("checks", ()))),
        bad=tuple(Bad(**item) for item in present(table.get("bad", ()))),
        allow=tuple(_waivers(table.get("allow", ()), (*key, "allow"))),
        **_some(table, _AS_THEY_ARE),
        **_tuples(_some(table, _LISTS)),
    )


def _variant(name: str, table: Data) -> Variant:
    lists = _tuples(_some(table, _LISTS_OF_VARIANT))
    return Variant(name=name, facts=_tuples(table.get("facts", {})), **_some(table, _OF_VARIANT), **lists)


def _some(table: Data, names: Iterable[str]) -> dict[str, Any]:
    return {name: table[name] for name in names if name in table}


def _tuples(table: Data) -> dict[str, Any]:
    """`table` with its lists as tuples."""
    return {name: present(value) if isinstance(value, list) else value for name, value in table.items()}


def _system_package(name: str, table: Data) -> SystemPackage:
    managers = {key: value for key, value in table.items() if key not in _OTHER_KEYS_OF_PACKAGE}
    return SystemPackage(name=name, managers=managers, **_some(table, _OTHER_KEYS_OF_PACKAGE))


def _patch(table: Data) -> Patch:
    others = {name: value for name, value in table.items() if name != "count"}  # which every tuple has another for
    return Patch(times=table.get("count", 1), **_tuples(others))


def _wheel(table: Data) -> Wheel:
    excludes = tuple(Exclude(**item) for item in present(table.get("exclude", ())))
    return Wheel(**_tuples(table) | {"exclude": excludes, "options": _tuples(table.get("options", {}))})


def _contract(table: Data) -> Contract | None:
    return Contract(**_tuples(table["contract"])) if "contract" in table else None


def _waivers(items: Iterable[Any], key: KeyPath) -> Iterator[Waiver]:
    for n, item in enumerate(items):
        if item is not ABSENT:
            yield Waiver(**item, key=(*key, n))


def _common_sites(items: Iterable[Any]) -> Iterator[Site]:
    for n, item in enumerate(items):
        if item is not ABSENT:
            selectors = {name: value for name, value in item.items() if name != "file"}
            yield from _selected(item["file"], selectors, None, ("sites", n))


def _sites(files: Data, pin: str, key: KeyPath) -> Iterator[Site]:
    for file, selectors in files.items():
        yield from _selected(file, selectors, pin, (*key, file))


def _selected(file: str, selectors: Data, pin: str | None, key: KeyPath) -> Iterator[Site]:
    for selector, said in selectors.items():
        table = {Mode.AUTO: said} if isinstance(said, str) else said
        ((mode, template),) = table.items()
        yield Site(
            file=plain(file), selector=selector, template=template, mode=Mode(mode), pin=pin, key=(*key, selector)
        )


def _generated(files: Data, pin: str | None, key: KeyPath) -> Iterator[Generated]:
    for file, said in files.items():
        if isinstance(said, list):
            for n, item in enumerate(said):
                if item is not ABSENT:
                    yield _rendered(file, item, pin, (*key, file, n))
        else:
            yield _rendered(file, {"recipe": said} if isinstance(said, str) else said, pin, (*key, file))


def _rendered(file: str, table: Data, pin: str | None, key: KeyPath) -> Generated:
    options = {"options": _tuples(table.get("options", {}))}
    return Generated(**dict(table) | options, file=plain(file), pin=pin, key=key)
