"""What was seen of the pins in an environment, for scripts and for people."""

from collections.abc import Iterator, Sequence

from pinctl.model import Pin
from pinctl.running import pairing
from pinctl.running.model import Environment, Installed
from pinctl.wheel.provenance import Provenance

COLUMNS = ("pin", "installed", "pinned", "built of", "variant")
_SHORT = 12


def plain(found: Environment, pins: Sequence[Pin]) -> dict[str, object]:
    """The environment as plain data, with the distributions of `pins`."""
    torch = found.of("torch")
    return {
        "environment": found.where,
        "python": found.python,
        "torch": {"version": torch.version, "cuda": found.torch_cuda} if torch else None,
        "installed": [_installed(pin, one) for pin in pins for one in pairing.found(pin, found)],
    }


def _installed(pin: Pin, one: Installed) -> dict[str, object]:
    told = {"commit": commit(one), "variant": _of(one, "variant"), "key": _of(one, "key")}
    return {
        "pin": pin.name,
        "name": one.name,
        "version": one.version,
        "place": one.place,
        **{name: value or None for name, value in told.items()},
    }


def rows(found: Environment, pins: Sequence[Pin]) -> Iterator[tuple[str, ...]]:
    """A line for each distribution of a pin, and for each pin of Python without one."""
    for pin in pins:
        pinned = pin.version or (pin.commit or "-")[:_SHORT]
        distributions = pairing.found(pin, found)
        if not distributions and pairing.is_python(pin):
            yield (pin.name, "-", pinned, "-", "-")
        for one in distributions:
            version = f"{one.name} {one.version}"
            yield (pin.name, version, pinned, commit(one)[:_SHORT] or "-", _of(one, "variant") or "-")


def commit(one: Installed) -> str:
    """The commit that a distribution was built from; "" where nothing tells."""
    return _of(one, "commit") or one.commit


def _of(one: Installed, field: str) -> str:
    return str(getattr(one.provenance, field)) if isinstance(one.provenance, Provenance) else ""
