"""`wheel inspect`: what wheel files say of themselves."""

import os
from collections.abc import Sequence

from pinctl.external import wheelfile
from pinctl.finding import Finding
from pinctl.options import Options
from pinctl.outcome import Outcome, Table, counted
from pinctl.wheel.archive import Malformed
from pinctl.wheel.judgement import malformed
from pinctl.wheel.shown import plain, tables


def run(options: Options, *, paths: Sequence[str]) -> Outcome:
    """The files at `paths`, relative to `-C`, each read once. A file that is no archive of a wheel is a finding.

    Raises UsageError, ExternalError.
    """
    findings: list[Finding] = []
    results: list[dict[str, object]] = []
    shown: list[Table] = []
    with options.progress("inspect", len(paths)) as step:
        for path in paths:
            place = os.path.join(options.directory, path)
            try:
                found = wheelfile.survey(place)
            except Malformed as error:
                findings.append(malformed(os.path.basename(path), error)._replace(file=path))
            else:
                results.append(plain(found))
                shown += tables(found, verbose=options.verbose > 0)
            step(1)
    return Outcome(command="wheel inspect", findings=tuple(findings), result={"wheels": results},
                   summary=f"{counted(len(results), 'wheel')} read", body=tuple(shown) or None,
                   root=options.directory)  # fmt: skip
