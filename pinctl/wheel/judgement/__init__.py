"""What is wrong with a wheel: held against itself, and against the pin and the variant that it is for."""

from pinctl.codes import finding
from pinctl.finding import Finding
from pinctl.wheel.archive import Malformed
from pinctl.wheel.judgement import against, binaries, devices, identity, record
from pinctl.wheel.judgement.telling import Telling, Wanted
from pinctl.wheel.survey import Survey

__all__ = ["Wanted", "judge", "malformed"]


def judge(found: Survey, wanted: Wanted) -> list[Finding]:
    """All that is wrong with the wheel, the gravest first of each kind. A finding's file is the wheel's file name, its
    selector the member."""
    say = Telling(found, wanted)
    parts = (identity.judge, record.judge, binaries.judge, devices.judge, against.judge)
    return [told for part in parts for told in part(say)]


def malformed(filename: str, error: Malformed) -> Finding:
    """PIN600: the archive is one that programs may read differently, or that does harm when it is unpacked."""
    hint = "do not install it; build it again with a tool that writes plain zip files"
    return finding("PIN600", f"{filename} is no archive of a wheel: {error}", file=filename, selector=error.member,
                   hint=hint)  # fmt: skip
