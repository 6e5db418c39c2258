"""What PyPI would look at in a wheel, from its name, its size and its METADATA."""

from datetime import date
from email import policy
from email.parser import BytesParser

from pinctl.index.pypi_rules import Upload


def upload(filename: str, size: int, metadata: bytes, *, variant: str = "", opened: date | None = None) -> Upload:
    """The upload of a file with this METADATA. Its description is the body, or the older header (core metadata, 2.1),
    whose lines go on behind a bar."""
    message = BytesParser(policy=policy.compat32).parsebytes(metadata)
    body = metadata.replace(b"\r\n", b"\n").partition(b"\n\n")[2].decode("utf-8", "replace")
    header = str(message.get("Description") or "")
    readme = body if body.strip() else "\n".join(line.removeprefix("       |") for line in header.splitlines())
    return Upload(filename, size, variant, readme, message.get("Description-Content-Type"), opened)
