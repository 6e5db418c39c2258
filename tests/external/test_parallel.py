from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator

import pytest

from pinctl.errors import ExternalError
from pinctl.external import parallel, process


def test_work_goes_on_at_once_and_comes_back_in_order() -> None:
    together = threading.Barrier(parallel.MOST)
    steps: list[int] = []

    def work(number: int) -> int:
        together.wait(10)
        return number * number

    assert parallel.each(range(parallel.MOST), work, steps.append) == [n * n for n in range(parallel.MOST)]
    assert steps == [1] * parallel.MOST
    assert parallel.each([], work) == []


def test_something_else_is_done_meanwhile() -> None:
    begun, said = threading.Event(), threading.Event()

    def meanwhile() -> None:
        assert begun.wait(10)
        assert threading.current_thread() is threading.main_thread()
        said.set()

    def work(_: int) -> bool:
        begun.set()
        return said.wait(10)

    assert parallel.each([1], work, meanwhile=meanwhile) == [True]


def test_what_fails_stops_no_other() -> None:
    def work(number: int) -> int:
        if number == 1:
            raise ExternalError("no")
        return number

    first, error, last = parallel.each([0, 1, 2], work)
    assert (first, str(error), last) == (0, "no", 2)


def test_a_bug_is_not_hidden() -> None:
    with pytest.raises(ZeroDivisionError):
        parallel.each([1, 0], lambda n: 1 // n)


def test_an_interrupt_ends_the_programs_of_all() -> None:
    def interrupt(_: int) -> None:
        raise KeyboardInterrupt

    begun = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        parallel.each([0.0, 60.0, 60.0, 60.0], lambda s: process.run(["sleep", str(s)]), interrupt, most=2)
    assert time.monotonic() - begun < 10
    assert process.run(["true"]).code == 0  # and later ones run again


def test_an_interrupt_amid_the_start_ends_what_has_begun() -> None:
    class Items(list[float]):
        def __iter__(self) -> Iterator[float]:
            yield from self[:2]
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(0.05)  # Python's own handler runs here, between two threads that start
            yield from self[2:]

    begun = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        parallel.each(Items([60.0, 60.0, 60.0]), lambda seconds: process.run(["sleep", str(seconds)]))
    assert time.monotonic() - begun < 10
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    assert process.run(["true"]).code == 0


def test_work_within_work_ends_too_and_lets_no_other_go_on() -> None:
    ended: list[str] = []
    started = threading.Barrier(3)

    def inner(seconds: float) -> None:
        started.wait(10)
        try:
            process.run(["sleep", str(seconds)])
        except KeyboardInterrupt:
            ended.append("inner")
            raise

    def outer(number: int) -> None:
        if number:
            parallel.each([60.0], inner)
        try:
            started.wait(10)
            while not ended:
                time.sleep(0.01)
            time.sleep(0.2)
            process.run(["sleep", "60"])  # begun after the inner work has ended
        except KeyboardInterrupt:
            ended.append("outer")
            raise

    def interrupt() -> None:
        started.wait(10)
        raise KeyboardInterrupt

    begun = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        parallel.each([0, 1], outer, meanwhile=interrupt)
    assert time.monotonic() - begun < 10
    assert sorted(ended) == ["inner", "outer"]
    assert process.run(["true"]).code == 0


def test_programs_that_are_told_to_stop_are_gone() -> None:
    process.halt(True)
    try:
        with pytest.raises(KeyboardInterrupt):
            process.run(["sleep", "60"])
    finally:
        process.halt(False)
    with pytest.raises(ChildProcessError):
        os.waitpid(-1, os.WNOHANG)
