"""`wheel relabel`: another local version label, in every place that has it."""

import os

from pinctl.errors import ExternalError, UsageError
from pinctl.external import wheelfile
from pinctl.options import Options
from pinctl.outcome import Outcome, counted
from pinctl.wheel.archive import Malformed
from pinctl.wheel.judgement import malformed
from pinctl.wheel.names import BadName
from pinctl.wheel.revision import Refused

_EPOCH = "SOURCE_DATE_EPOCH"


def run(options: Options, *, paths: tuple[str, ...], label: str, out: str | None = None) -> Outcome:
    """Give the wheels at `paths`, relative to `-C`, the label `label` ("": none), in the folder `out` or beside them.
    What is wrong with a wheel, so that it stays as it is, is findings. Raises UsageError, ExternalError,
    WriteRefused."""
    epoch = source_date_epoch()
    if out is not None and not os.path.isdir(os.path.join(options.directory, out)):
        raise UsageError(f"--out {out}: no such folder")
    findings, made = [], []
    with options.progress("relabel", len(paths)) as step:
        for path in paths:
            place = os.path.join(options.directory, path)
            folder = os.path.dirname(place) if out is None else os.path.join(options.directory, out)
            try:
                written = wheelfile.revise(place, folder, label=label, epoch=epoch)
            except BadName as error:
                raise UsageError(str(error)) from error
            except Malformed as error:
                findings.append(malformed(os.path.basename(path), error)._replace(file=path))
            except Refused as error:
                findings += [one._replace(file=path) for one in error.findings]
            else:
                with wheelfile.opened(written) as archive:
                    sha256 = archive.sha256()
                made.append({"from": path, "to": os.path.relpath(written, options.directory), "sha256": sha256})
            step(1)
    return Outcome(command="wheel relabel", findings=tuple(findings), result={"wheels": made},
                   summary=f"{counted(len(made), 'wheel')} written", root=options.directory,
                   closing=tuple(str(one["to"]) for one in made))  # fmt: skip


def source_date_epoch() -> int | None:
    """SOURCE_DATE_EPOCH of the environment, None without one. Raises ExternalError where it is no number of seconds."""
    text = os.environ.get(_EPOCH, "")
    if text and not (text.isascii() and text.isdecimal() and len(text) < 20):
        raise ExternalError(f"{_EPOCH} is {text[:40]!r}, and seconds since 1970 are meant")
    return int(text) if text else None
