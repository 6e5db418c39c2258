"""The width of text on a terminal, in cells, and text made to fit."""

ELLIPSIS = "…"


def cells(text: str) -> int:
    """The cells that `text` takes: two for wide characters, none for combining ones (Unicode Annex 11)."""
    if text.isascii():
        return len(text)
    import unicodedata

    return sum(
        2 if unicodedata.east_asian_width(c) in "WF" else 0 if unicodedata.category(c) in ("Mn", "Me") else 1
        for c in text
    )


def clipped(text: str, room: int) -> str:
    """`text`, cut to `room` cells (at least 1) with an ellipsis at its end where it is longer."""
    if cells(text) <= room:
        return text
    taken, used = 0, len(ELLIPSIS)
    for character in text:
        used += cells(character)
        if used > room:
            break
        taken += 1
    return text[:taken] + ELLIPSIS


def padded(text: str, width: int) -> str:
    """`text` with spaces at its end, so that it takes `width` cells."""
    return text + " " * (width - cells(text))


def wrapped(text: str, width: int, used: int, indent: int) -> list[str]:
    """`text` broken at spaces into lines of `width` cells; a longer word stays whole.

    `used` cells of the first line are taken, `indent` of the others; neither is part of what is returned. A `width` of
    0 has no limit.
    """
    if width <= 0:
        return [text]
    lines, room = [""], width - used
    for word in text.split(" "):
        if lines[-1] and cells(lines[-1]) + 1 + cells(word) > room:
            lines.append(word)
            room = width - indent
        else:
            lines[-1] += f" {word}" if lines[-1] else word
    return lines
