"""`pinctl index decide`: which of several digests of a file is right, written down with the reason."""

from pinctl.commands import index_setup
from pinctl.errors import UsageError
from pinctl.index import ledger, names, records
from pinctl.options import Options
from pinctl.outcome import Outcome


def run(options: Options, *, filename: str, sha256: str, reason: str, file: str | None = None) -> Outcome:
    """Withdraw the records of `filename` with another digest than `sha256`; one without a digest gets it.

    Raises UsageError, ManifestError, ExternalError.
    """
    setup = index_setup.setup(options, file)
    if not names.SHA256.fullmatch(sha256):
        raise UsageError(f"--sha256 {sha256[:80]}: the 64 digits in lower case are taken")
    if not reason.strip() or (records.text_problem(reason)):
        raise UsageError("--reason: one line of text that says why is taken")
    with setup.locked():
        before = setup.load()
        try:
            after = ledger.settle(before, filename, sha256, reason)
        except ledger.Undecided as error:
            raise UsageError(str(error)) from error
        setup.save(after)
    gone = [record.sha256 for record in after if record.withdrawn is not None and record not in before]
    return Outcome(
        command="index",
        root=setup.root,
        result={"filename": filename, "sha256": sha256, "withdrawn": gone},
        summary=f"{filename} is the file with the digest {sha256[:12]}; {len(gone)} withdrawn",
    )
