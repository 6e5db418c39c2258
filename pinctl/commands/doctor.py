"""`pinctl doctor`: is what is installed the pin, does it fit the torch that is there, and are required names in it?"""

import os
import shlex
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from pinctl.codes import finding
from pinctl.commands import network
from pinctl.commands.workspace import Workspace
from pinctl.errors import UsageError
from pinctl.external import environments, resources
from pinctl.external.environments import NoEnvironment
from pinctl.finding import Finding
from pinctl.model import Manifest, Pin, Variant
from pinctl.options import Options
from pinctl.outcome import Outcome, Table, counted
from pinctl.running import caches, pairing, trials
from pinctl.running.judge import Wanted, judge
from pinctl.running.model import Environment
from pinctl.running.shown import COLUMNS, plain, rows
from pinctl.wheel.matrix import defaulted


class Where(NamedTuple):
    """What is looked into: an image, else the environment of a Python (a program, or the folder of a virtual
    environment; None: the active one). `variant` is what it is meant to be."""

    python: str | None = None
    image: str | None = None
    variant: str | None = None


def run(
    options: Options,
    *,
    pins: Sequence[str] = (),
    where: Where = Where(),  # noqa: B008
    imports: bool = True,
    timeout: float = 60,
) -> Outcome:
    """Hold an environment or image against the pins, all that are Python's without names. `imports`: also import what
    they are imported as, a process each of at most `timeout` seconds; never of a stranger's checkout, and never from an
    image. Raises UsageError, ManifestError, ExternalError."""
    workspace = Workspace.open(options)
    manifest = workspace.manifest
    chosen = [pin for pin in network.chosen(manifest.pins, pins) if pins or pairing.is_python(pin)]
    wanted = Wanted(manifest, chosen, frozenset(pins), _variant(manifest, where.variant))
    told: list[Finding] = []
    closing: tuple[str, ...] = ()
    environment = _environment(options, where, chosen)
    if isinstance(environment, Finding):
        return Outcome(command="doctor", root=workspace.root, findings=(environment,))
    told += judge(environment, wanted)
    if where.image is not None:
        closing = ("nothing was imported: an image is read, and never run",)
    else:
        told += _stale(environment, chosen)
        tried = imports and not options.is_untrusted
        told += _tried(options, environment, chosen, timeout) if tried else ()
        closing = () if tried else ("nothing was imported",)
    return Outcome(
        command="doctor",
        root=workspace.root,
        findings=tuple(told),
        result=plain(environment, chosen),
        summary=f"{counted(len(chosen), 'pin')} looked for in {environment.where}",
        body=Table(COLUMNS, tuple(rows(environment, chosen))) if chosen else None,
        closing=closing,
    )


def _variant(manifest: Manifest, name: str | None) -> Variant | None:
    if name is None:
        return None
    if name not in manifest.variants:
        raise UsageError(f"there is no variant {name!r}", hint=f"the variants are: {', '.join(manifest.variants)}")
    return defaulted(manifest.variants[name], resources.variants().get(name, {}))


def _environment(options: Options, where: Where, pins: Sequence[Pin]) -> Environment | Finding:
    if where.image is not None:
        from pinctl.commands.image_check import environment_of
        from pinctl.external import docker

        client = docker.find(builds=False)
        docker.demand_engine(client)
        return environment_of(client, where.image, pins)
    path = None if where.python is None else os.path.join(options.directory, where.python)
    python = environments.usual() if path is None else environments.program(path)
    names = [name for pin in pins for name in (*pairing.projects(pin), *pairing.roots(pin))]
    try:
        return environments.read(python, names)
    except NoEnvironment as error:
        return finding("PIN823", str(error), hint="give --python the program or folder of a virtual environment")


def _stale(environment: Environment, pins: Sequence[Pin]) -> Iterator[Finding]:
    """PIN821: caches of kernels that are older than what is installed."""
    home = os.path.expanduser("~")
    for pin in pins:
        for one in pairing.found(pin, environment):
            for library, folder in caches.of(one.project, os.environ, home) if one.since else ():
                if count := environments.older(folder, one.since or 0.0):
                    what = f"{counted(count, 'file')} in {library}'s cache {folder} older than {one.name} {one.version}"
                    yield finding("PIN821", what, pin=pin.name, hint=f"remove it: rm -r {shlex.quote(folder)}")


def _tried(options: Options, environment: Environment, pins: Sequence[Pin], timeout: float) -> Iterator[Finding]:
    with options.progress("import", len(pins)) as step:
        for pin in pins:
            asked, names = trials.asked(pin), trials.names(pin)
            done = [environments.attempt(environment.where, name, asked, timeout) for name in names]
            commands = [shlex.join(environments.command(environment.where, name)) for name in names]
            installed = bool(pairing.found(pin, environment))
            yield from trials.judge(pin, done, installed=installed, commands=commands, timeout=timeout)
            step(1)
