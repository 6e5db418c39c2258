"""What the tests of every site language need."""

from pinctl import sites
from pinctl.sites.base import Document, Slot, Value, write


def one(document: Document, selector: str) -> Slot:
    """The one slot that `selector` finds."""
    ((slot,),) = sites.find(document, selector)
    return slot


def named(language: str, source: bytes) -> dict[str, Value]:
    """The value of every slot of a file, by its canonical selector."""
    return {slot.selector: slot.value for slot in sites.parse(language, source).slots()}


def written(language: str, source: bytes, selector: str, value: Value) -> bytes:
    """The file with the slot holding `value`."""
    document = sites.parse(language, source)
    return write(document, one(document, selector), value)
