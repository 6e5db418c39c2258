"""Which lines of a file stood in an older version of it, and where. Pure."""

from collections.abc import Mapping, Sequence

_PAIRS = 4_000_000  # so many pairs of differing lines are compared; beyond that all of them count as changed


def split(data: bytes) -> list[bytes]:
    """Split at LF, and without the CR that git may have added at checkout."""
    lines = [line.removesuffix(b"\r") for line in data.split(b"\n")]
    return lines if lines[-1] else lines[:-1]


def kept(old: Sequence[bytes], new: Sequence[bytes]) -> dict[int, int]:
    """For each line number of `new` that stood in `old`, its number there; both count from 1."""
    shortest = min(len(old), len(new))
    head = next((n for n in range(shortest) if old[n] != new[n]), shortest)
    tail = next((n for n in range(shortest - head) if old[-1 - n] != new[-1 - n]), shortest - head)
    same = {n: n for n in range(1, head + 1)}
    same |= {len(new) - n: len(old) - n for n in range(tail)}
    left, right = old[head : len(old) - tail], new[head : len(new) - tail]
    if left and right and len(left) * len(right) <= _PAIRS:
        from difflib import SequenceMatcher

        for block in SequenceMatcher(None, left, right, autojunk=False).get_matching_blocks():
            same |= {head + block.b + n: head + block.a + n for n in range(1, block.size + 1)}
    return same


def span_before(same: Mapping[int, int], first: int, last: int) -> tuple[int, int] | None:
    """The lines of HEAD that the lines `first` to `last` are; None if one of them, or one between, is another."""
    before = [same.get(line) for line in range(first, last + 1)]
    start = before[0]
    if start is None or before != list(range(start, start + len(before))):
        return None
    return start, start + last - first
