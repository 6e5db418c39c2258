"""How a pin's wheel is named to pip: by its version where PyPI has it, else by its URL with its digest.

    deep-gemm==2.8.0
    deep-gemm @ https://wheels.example/files/deep_gemm-2.8.0%2Bcu129-cp312-abi3-manylinux_2_28_x86_64.whl#sha256=0a1b...

`==2.8.0` would take a wheel of another CUDA as well: a local label is not looked at (PEP 440), and sorts higher.
"""

from collections.abc import Iterable
from typing import NamedTuple
from urllib.parse import quote

from pinctl.index.records import Record
from pinctl.model import Pin, Variant
from pinctl.wheel import policy
from pinctl.wheel.names import normal_name, normal_version


class Wanted(NamedTuple):
    """The wheel that is looked for: of `pin`, for `variant`, a Python ("3.12"; None: not said) and a platform as
    Docker names it. `base` is the URL of the index, for the files that it holds itself."""

    pin: Pin
    variant: Variant
    python: str | None
    platform: str
    base: str | None = None


class NoReference(Exception):
    """No wheel can be named; `str(error)` says why, and `hint` what mends it."""

    def __init__(self, message: str, hint: str) -> None:
        super().__init__(message)
        self.hint = hint


def reference(wanted: Wanted, records: Iterable[Record]) -> str:
    """What pip is told to install, one requirement for each package of the pin. Raises NoReference."""
    pin, variant = wanted.pin, wanted.variant
    if pin.version is None:
        raise NoReference(f"the version of {pin.name} is not known", f"give {pin.name} its `version`")
    if variant.publish in (None, "pypi") or not pin.repo:
        if not pin.packages:
            what = f"nothing says under which name PyPI has {pin.name}: another project may have that of the pin"
            raise NoReference(what, f"give {pin.name} its `packages`")
        return " ".join(f"{normal_name(package)}=={pin.version}" for package in pin.packages)
    found = [record for record in records if record.sha256 and _fits(record, wanted)]
    if not found:
        what = f"the records of the index have no wheel of {pin.name} {pin.version} for {variant.name}"
        raise NoReference(f"{what}{_where(wanted)}", "publish it, and: pinctl index build --add FILE")
    return " ".join(_direct(project, found, wanted) for project in sorted({record.name.project for record in found}))


def _where(wanted: Wanted) -> str:
    return f", Python {wanted.python}, {wanted.platform}" if wanted.python else f", {wanted.platform}"


def _direct(project: str, found: Iterable[Record], wanted: Wanted) -> str:
    """PEP 508's direct reference to the one wheel of a project. Raises NoReference where there are several."""
    files = {record.sha256: record for record in found if record.name.project == project}
    if len(files) > 1:
        names = ", ".join(sorted(record.filename for record in files.values())[:3])
        raise NoReference(f"several wheels fit: {names}", 'say for which Python: python = "3.12"')
    (record,) = files.values()
    if record.hosted and wanted.base is None:
        raise NoReference(
            f"{record.filename} lies in the index, and nothing says where that is", "give [index] its `url`"
        )
    url = f"{(wanted.base or '').rstrip('/')}/{quote(record.url)}" if record.hosted else record.url
    return f"{project} @ {url.replace('+', '%2B')}#sha256={record.sha256}"


def _fits(record: Record, wanted: Wanted) -> bool:
    pin, variant, name = wanted.pin, wanted.variant, record.name
    listed = record.withdrawn is None and record.yanked is None and bool(name.tags)
    ours = record.provenance.get("pin") == pin.name if "pin" in record.provenance else (
        name.project in {normal_name(package) for package in pin.packages or (pin.name,)})  # fmt: skip
    commit = record.provenance.get("commit")
    same = name.version.public == normal_version(pin.version or "") and commit in (None, "", pin.commit)
    labelled = name.label == (variant.label or "") and record.variant in (variant.name, variant.label)
    return listed and ours and same and labelled and _runs(record, wanted)


def _runs(record: Record, wanted: Wanted) -> bool:
    """Whether some tag of the wheel is for the Python and the machine. An abi3 wheel serves later Pythons too."""
    machine = policy.machine(wanted.platform)
    return any(
        policy.architecture(tag.platform) in (None, machine) and _interprets(tag.interpreter, tag.abi, wanted.python)
        for tag in record.name.tags
    )


def _interprets(interpreter: str, abi: str, python: str | None) -> bool:
    if python is None or interpreter.startswith("py"):
        return True
    plain = python.removesuffix("t")
    if abi == "abi3" and interpreter.startswith("cp3"):
        return not python.endswith("t") and int(interpreter[3:]) <= int(plain.partition(".")[2])
    return interpreter == f"cp{plain.replace('.', '')}" and abi.endswith("t") == python.endswith("t")
