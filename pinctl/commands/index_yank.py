"""`pinctl index yank`: a file that none should choose any more, and that who asks for exactly it still gets."""

from pinctl.commands import index_setup
from pinctl.errors import UsageError
from pinctl.index import records
from pinctl.options import Options
from pinctl.outcome import Outcome, counted


def run(options: Options, *, filename: str, reason: str, file: str | None = None) -> Outcome:
    """Yank the records of `filename`, on every page (PEP 592); the next build, or publication, shows it.

    Raises UsageError, ManifestError, ExternalError.
    """
    setup = index_setup.setup(options, file)
    if not reason.strip() or records.text_problem(reason):
        raise UsageError("--reason: one line of text that says why is taken")
    with setup.locked():
        before = setup.load()
        meant = [one for one in before if one.filename == filename and one.withdrawn is None]
        if not meant:
            raise UsageError(f"no record lists {filename}")
        setup.save([one._replace(yanked=reason) if one in meant else one for one in before])
    pages = [setup.layout.folder(*one.place) for one in meant]
    return Outcome(
        command="index",
        root=setup.root,
        result={"filename": filename, "yanked": reason, "pages": pages},
        summary=f"{filename} is yanked on {counted(len(pages), 'page')}; the next build shows it",
    )
