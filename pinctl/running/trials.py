"""What trying the imports of a pin says."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from pinctl.codes import finding
from pinctl.contract.requires import parse
from pinctl.finding import Finding, Severity
from pinctl.model import Pin

_TAIL = 3
_WIDTH = 300


class Trial(NamedTuple):
    """How the import of a module ended: one of `absent` (there is no such module), `error`, `ended` (how the process
    was) and `hung` says why it failed; `missing` are requirements and what is wrong with each; `log` is what was
    printed."""

    name: str
    absent: str = ""
    error: str = ""
    ended: str = ""
    hung: bool = False
    missing: tuple[tuple[str, str], ...] = ()
    log: str = ""


def names(pin: Pin) -> tuple[str, ...]:
    """What is imported to try the pin."""
    said = (pin.contract.import_names if pin.contract else ()) or (pin.wheel.imports if pin.wheel else ())
    return tuple(dict.fromkeys(said))


def asked(pin: Pin) -> list[tuple[str, str, tuple[str, ...]]]:
    """What must be there, as the probe is asked: the text, the dotted name, the keywords of a call."""
    return [(text, *parse(text)) for text in (pin.contract.requires if pin.contract else ())]


def judge(
    pin: Pin, trials: Sequence[Trial], *, installed: bool, commands: Sequence[str], timeout: float
) -> Iterator[Finding]:
    """What is wrong; `commands` are those by which a person tries each import. A name that is not there counts only
    where none of them is: a package may be installed or vendored."""
    if trials and all(trial.absent for trial in trials) and (installed or all("." in t.name for t in trials)):
        first = trials[0]
        severity = None if installed else Severity.WARNING
        yield finding("PIN817", f"{first.name} cannot be imported: {first.absent}", pin=pin.name, severity=severity,
                      hint=f"run: {commands[0]}")  # fmt: skip
    for trial, command in zip(trials, commands, strict=True):
        if not trial.absent:
            yield from _judged(pin, trial, command, timeout)


def _judged(pin: Pin, trial: Trial, command: str, timeout: float) -> Iterator[Finding]:
    hint = f"run: {command}"
    if trial.hung:
        yield finding("PIN819", f"import {trial.name} took longer than {timeout:g} s", pin=pin.name, hint=hint)
    elif trial.ended:
        yield finding(
            "PIN818", f"import {trial.name}: the process {trial.ended}{_tail(trial)}", pin=pin.name, hint=hint
        )
    elif trial.error:
        yield finding("PIN817", f"{trial.name} cannot be imported: {_line(trial.error)}", pin=pin.name, hint=hint)
    remedy = f"run: pinctl contract {pin.name}" if pin.repo else f"install {pin.name} {pin.version or 'as pinned'}"
    for text, why in trial.missing:
        yield finding("PIN820", f"{trial.name}: {text} {_line(why)}", pin=pin.name, hint=remedy)


def _tail(trial: Trial) -> str:
    lines = [line for line in trial.log.splitlines() if line.strip()]
    return "".join(f"\n  {_line(line)}" for line in lines[-_TAIL:])


def _line(text: str) -> str:
    return "".join(c if c.isprintable() else " " for c in text)[:_WIDTH]
