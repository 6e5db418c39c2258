"""Which installed distribution is that of which pin."""

from collections.abc import Collection

from pinctl.model import Pin
from pinctl.running.model import Environment, Installed
from pinctl.wheel.names import normal_name
from pinctl.wheel.provenance import Provenance


def projects(pin: Pin) -> tuple[str, ...]:
    """The normalised names under which the pin may be installed, as far as pins.toml says."""
    return tuple(dict.fromkeys(normal_name(name) for name in pin.packages or (pin.name,)))


def roots(pin: Pin) -> tuple[str, ...]:
    """The names at the top of what the pin is imported as; those below another package, which vendors it, are left
    out."""
    named = (*(pin.contract.import_names if pin.contract else ()), *(pin.wheel.imports if pin.wheel else ()))
    return tuple(dict.fromkeys(name for name in named if "." not in name))


def is_python(pin: Pin) -> bool:
    """Whether the pin is something that is installed into a Python environment."""
    return bool(pin.packages or pin.wheel or (pin.contract and pin.contract.import_names))


def found(pin: Pin, environment: Environment) -> tuple[Installed, ...]:
    """The distributions of the pin, each once: by what they say that they were built of, by the name of one of its
    packages, else by what they bring."""
    ours = [one for one in environment.installed
            if isinstance(one.provenance, Provenance) and one.provenance.pin == pin.name]  # fmt: skip
    named = [one for name in projects(pin) if (one := environment.of(name)) is not None]
    return _once([*ours, *named]) or _once([one for one in environment.installed if set(roots(pin)) & set(one.imports)])


def _once(all_: Collection[Installed]) -> tuple[Installed, ...]:
    by_name = {one.project: one for one in reversed(list(all_))}
    return tuple(by_name[name] for name in dict.fromkeys(one.project for one in all_))
