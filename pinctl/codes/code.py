"""What is known of one kind of finding."""

from dataclasses import dataclass

from pinctl.finding import Severity

ERROR, WARNING, INFO = Severity.ERROR, Severity.WARNING, Severity.INFO


@dataclass(frozen=True, slots=True)
class Code:
    """One kind of finding.

    severity  the usual one
    title     a few words, as they stand in lists and in annotations
    text      what it means, and why it matters where that is not plain
    fix       how to mend it
    example   lines that give rise to it
    retired   no longer reported; the id stays taken
    """

    id: str
    severity: Severity
    title: str
    text: str
    fix: str
    example: str
    retired: bool = False

    @property
    def family(self) -> str:
        """The key of `codes.FAMILIES` that the code belongs to: "PIN2"."""
        return self.id[:4]
