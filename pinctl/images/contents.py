"""What is installed in an image, from the files of it that were read: nothing of it was run."""

import io
import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping

from pinctl.images.tar import File, Wanted
from pinctl.running import reading
from pinctl.running.model import Environment, Installed
from pinctl.wheel import elf, metadata, provenance
from pinctl.wheel.names import normal_name

_ROOT = r"(?P<root>(?:[^\n]*/)?(?:site|dist)-packages)"
_INFO = re.compile(rf"{_ROOT}/(?P<info>[^/\n]+\.dist-info)/(?P<file>[^/\n]+)")
_OTHER = re.compile(rf"{_ROOT}/(?P<path>(?P<top>[^/\n]+)(?:/[^\n]*)?)")
_PYTHON = re.compile(r"(?:^|/)python(3\.[0-9]+)/")
_LARGEST_RECORD = 16 * 1024**2
_LARGEST_LIBRARY = 128 * 1024**2
_TORCH = "torch/version.py"
_LIMITS: Mapping[str, int] = {
    "METADATA": metadata.LIMIT,
    "RECORD": _LARGEST_RECORD,
    "top_level.txt": metadata.LIMIT,
    "direct_url.json": metadata.LIMIT,
    provenance.FILE: provenance.LIMIT,
}


def wanted(names: Collection[str]) -> Wanted:
    """Which files tell what is installed: those of each .dist-info folder, and the libraries below the top folders
    `names`."""

    def most(path: str) -> int:
        if info := _INFO.fullmatch(path):
            return _LIMITS.get(info["file"], 0)
        other = _OTHER.fullmatch(path)
        if other is None:
            return 0
        if other["path"] == _TORCH:
            return metadata.LIMIT
        library = other["top"].partition(".")[0] in names and ".so" in path.rpartition("/")[2]
        return _LARGEST_LIBRARY if library else 0

    return most


def environment(files: Iterable[File], where: str) -> Environment:
    """What is installed in the image `where`."""
    infos: dict[str, dict[str, File]] = defaultdict(dict)
    libraries: dict[str, list[tuple[str, File]]] = defaultdict(list)
    torch: File | None = None
    for file in files:
        if info := _INFO.fullmatch(file.path):
            infos[f"{info['root']}/{info['info']}"][info["file"]] = file
        elif (other := _OTHER.fullmatch(file.path)) and other["path"] == _TORCH:
            torch = file
        elif other:
            libraries[f"{other['root']}/{other['top']}"].append((other["path"], file))
    found = [_installed(place, told, libraries) for place, told in sorted(infos.items()) if "METADATA" in told]
    python = next((m[1] for place in infos if (m := _PYTHON.search(place))), "")
    named = tuple(one for one in found if reading.is_name(one.name))
    return Environment(where, python, named, reading.torch_cuda(_text(torch)), joined=False)


def _installed(place: str, told: Mapping[str, File], libraries: Mapping[str, list[tuple[str, File]]]) -> Installed:
    said = metadata.read_metadata((_text(told.get("METADATA")) or "").encode("utf-8", "replace"))
    paths = [line.rsplit(",", 2)[0].strip('"') for line in (_text(told.get("RECORD")) or "").splitlines()]
    tops = {path.split("/")[0] for path in paths if path and not path.startswith(("../", "/"))}
    tops |= set((_text(told.get("top_level.txt")) or "").split())
    root = place.rpartition("/")[0]
    own = [pair for top in sorted(tops) for pair in libraries.get(f"{root}/{top}", ())]
    needed, unread = {}, []
    for path, file in own:
        try:
            needed[path] = _needed(file)
        except elf.BadElf as error:
            unread.append(f"{path} cannot be read: {error}")
    return Installed(
        name="".join(c for c in said.name if c.isprintable()),
        version="".join(c for c in said.version if c.isprintable()),
        place=place,
        provenance=reading.provenance(_text(told.get(provenance.FILE))),
        commit=reading.commit(_text(told.get("direct_url.json"))),
        imports=reading.modules(tops),
        needed=needed,
        unread=tuple(unread),
    )


def _needed(file: File) -> tuple[str, ...]:
    if file.data is None:
        raise elf.BadElf(f"it has {file.size >> 20} MiB, which is more than is looked into")
    found = elf.read(io.BytesIO(file.data)) if file.data.startswith(elf.MAGIC) else None
    return found.needed if found else ()


def _text(file: File | None) -> str | None:
    return None if file is None or file.data is None else file.data.decode("utf-8", "replace")


def tops(projects: Iterable[str], roots: Iterable[str]) -> frozenset[str]:
    """The folders at the top in which the libraries of distributions lie: their import names, and their names as
    wheels spell them."""
    return frozenset((*roots, *(normal_name(project).replace("-", "_") for project in projects)))
