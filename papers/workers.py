"""Processes that measure cells, and are gone at once when a run is interrupted."""

import signal
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import active_children, get_context
from typing import Any, Self, TypeAlias

from privet.errors import ExecutorError

Cell: TypeAlias = tuple[Any, ...]
Lines: TypeAlias = Sequence[tuple[Any, ...]]
_LOST = (
    "a worker process ended without a word, most often for want of memory; go on by the same command with fewer jobs"
)


class CellFailed(Exception):
    """A cell could not be measured; the cause is the error that stopped it."""

    def __init__(self, cell: Cell) -> None:
        self.cell = cell
        super().__init__(f"the cell {cell} could not be measured")


class Workers:
    """So many processes, started when they are first needed and kept for the next experiment.

    One job needs no process of its own: its cells are measured here.
    """

    def __init__(self, jobs: int = 1) -> None:
        self._jobs = jobs
        self._pool: ProcessPoolExecutor | None = None
        self._others = set(active_children())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *failure: object) -> None:
        if self._pool is None:
            return
        interrupted = failure != (None, None, None)
        self._pool.shutdown(wait=not interrupted, cancel_futures=True)
        if interrupted:
            for child in set(active_children()) - self._others:
                child.terminate()

    def measure(self, function: Callable[..., Lines], cells: Sequence[Cell]) -> Iterator[tuple[Cell, Lines]]:
        """Yield each cell with its lines, as soon as it has been measured."""
        if self._jobs == 1:
            for cell in cells:
                try:
                    lines = function(*cell)
                except Exception as error:
                    raise CellFailed(cell) from error
                yield cell, lines
        else:
            yield from self._measure_aside(function, cells)

    def _measure_aside(self, function: Callable[..., Lines], cells: Sequence[Cell]) -> Iterator[tuple[Cell, Lines]]:
        if self._pool is None:
            # A forked process would share locks with the thread that draws the progress bar.
            self._pool = ProcessPoolExecutor(self._jobs, mp_context=get_context("spawn"), initializer=_ignore_interrupt)
        futures = {self._pool.submit(function, *cell): cell for cell in cells}
        failed: Future[Lines] | None = None
        for future in as_completed(futures):
            if future.cancelled():
                continue
            if future.exception() is None:
                yield futures[future], future.result()
            elif failed is None:
                failed = future
                for other in futures:
                    other.cancel()  # cells that are being measured are still waited for, and kept
        if failed is not None:
            raise _error_of(failed, futures[failed])


def _error_of(future: "Future[Lines]", cell: Cell) -> Exception:
    cause = future.exception()
    if isinstance(cause, BrokenProcessPool):
        return ExecutorError(_LOST)
    failed = CellFailed(cell)
    failed.__cause__ = cause
    return failed


def _ignore_interrupt() -> None:
    # Ctrl-C reaches every process of the terminal; the one that runs the experiment ends the others.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
