"""Many releases of a table, a line of numbers each."""

from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing.reduction import ForkingPickler
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from privet.errors import ExecutorError, ParameterError

# A table in, numbers out: a release, and what the attacker reads in it.
Observe: TypeAlias = Callable[[Any], NDArray[np.float64]]
# Told how many of how many releases there are.
Watch: TypeAlias = Callable[[int, int], None]
# Releases a task of a worker, so that progress moves and little is sent.
_CHUNK = 50


def numbers_in(released: Any) -> NDArray[np.float64]:
    """Return what was released as a line of numbers; none of them need be finite."""
    try:
        plain = np.ravel(released)
        if plain.dtype.kind in "biufO":
            return plain.astype(np.float64)
    except (TypeError, ValueError, OverflowError):
        pass
    raise ParameterError(
        "what was released is text, a record or a list of uneven parts, and the attacker weighs numbers; pass read=, a "
        "function that turns it into them"
    )


def observations(
    observe: Observe, tables: tuple[Any, Any], *, runs: int, n_jobs: int = 1, watch: Watch | None = None
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return what was seen in ``runs`` releases of each of two tables, a line each."""
    lines: list[NDArray[np.float64]] = []
    for table in tables:
        for chunk in _chunks(observe, table, runs, n_jobs):
            lines += chunk
            if any(len(line) != len(lines[0]) for line in chunk):
                raise ParameterError(
                    "releases differ in how many numbers they hold, and the attacker weighs one by one; pass read=, a "
                    "function that makes equally many of each, their number among them"
                )
            if watch is not None:
                watch(len(lines), 2 * runs)
    return np.array(lines[:runs]), np.array(lines[runs:])


def _chunks(observe: Observe, table: Any, runs: int, n_jobs: int) -> Iterator[list[NDArray[np.float64]]]:
    sizes = [min(_CHUNK, runs - start) for start in range(0, runs, _CHUNK)]
    if n_jobs == 1:
        yield from (_observed(observe, table, size) for size in sizes)
        return
    _check_travels(observe, table)
    try:
        with ProcessPoolExecutor(n_jobs) as pool:
            yield from pool.map(_observed, [observe] * len(sizes), [table] * len(sizes), sizes)
    except BrokenProcessPool:
        raise ExecutorError("a process ended in the midst of a release; pass n_jobs=1 to see at what") from None


def _check_travels(*sent: Any) -> None:
    try:
        ForkingPickler.dumps(sent)
    except Exception:  # whatever a class of the caller's raises where it cannot be sent
        raise ParameterError(
            "the function or its tables cannot be sent to other processes; pass n_jobs=1, or a function from the top "
            "of a module instead of a lambda or an inner one"
        ) from None


def _observed(observe: Observe, table: Any, runs: int) -> list[NDArray[np.float64]]:
    return [observe(table) for _ in range(runs)]
