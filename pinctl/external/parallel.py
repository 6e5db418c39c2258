"""Work that waits for servers, several pieces at a time."""

import signal
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TypeVar

from pinctl.errors import PinctlError
from pinctl.external import process

MOST = 12
"""Pieces that are worked on at once: what they wait for is the network, and git."""

_SWITCH = 0.0005
"""Seconds that a thread may compute while another, whose program has answered, wants to go on: Python gives it 5 ms."""

_HEAD_START = 0.004
"""Seconds that this thread leaves to the others before it computes: till their programs run."""

_ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

_A = TypeVar("_A")
_B = TypeVar("_B")


def each(
    items: Sequence[_A],
    work: Callable[[_A], _B],
    step: Callable[[int], object] = lambda _: None,
    *,
    most: int = MOST,
    meanwhile: Callable[[], object] | None = None,
) -> list[_B | PinctlError]:
    """What `work` makes of each item, in the order of `items`; the error of one that failed stands in its place and
    stops no other. `step` is called in this thread with 1 for each that is done; before, `meanwhile` is done in it. ^C
    ends the programs of all. `work` may itself call `each`."""
    import sys
    import threading
    from concurrent.futures import ThreadPoolExecutor, as_completed

    sys.setswitchinterval(_SWITCH)

    def done(item: _A) -> _B | PinctlError:
        try:
            return work(item)
        except PinctlError as error:
            return error

    pool = ThreadPoolExecutor(max(1, min(most, len(items))))
    try:
        with _all_begun():
            futures = [pool.submit(done, item) for item in items]
        if meanwhile is not None:
            time.sleep(_HEAD_START)
            meanwhile()
        for _ in as_completed(futures):
            step(1)
        return [future.result() for future in futures]
    except BaseException:
        process.halt(True)
        raise
    finally:
        pool.shutdown(cancel_futures=True)  # a second ^C breaks this off, and all stays halted
        if threading.current_thread() is threading.main_thread():  # within `work`, the others may have to end yet
            process.halt(False)


@contextmanager
def _all_begun() -> Iterator[None]:
    """What would end us waits for the end of the block: amid the start of a thread it would leave one that nobody knows
    and ends."""
    import threading

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    ours = {number: handler for number in _ENDING if callable(handler := signal.getsignal(number))}
    came: list[int] = []
    for ending in ours:
        signal.signal(ending, lambda number, _: came.append(number))
    try:
        yield
    finally:
        for ending, handler in ours.items():
            signal.signal(ending, handler)
    if came:
        signal.raise_signal(came[0])
