"""What a worker keeps of a part between two tasks, where the engine itself keeps nothing: a dictionary of its process.

A worker that has lost a part, or never had it, makes it again. What is not asked for in a while is dropped.
"""

import os
import time
import weakref
from collections.abc import Callable
from dataclasses import dataclass, field
from threading import Lock, Timer
from typing import Any

# Seconds after which a worker drops what was not asked for.
_IDLE_SECONDS = 600.0


@dataclass(frozen=True)
class Made:
    """A part as ``make`` returns it, on whichever worker asks for it. ``run`` is a name that no other fit uses."""

    id: str
    source: Any = field(repr=False)
    make: Callable[[Any], Any] = field(repr=False)
    run: str

    def value(self) -> Any:
        """Return what this process has kept, or make it."""
        found = KEPT.get(self.run, self.id)
        if found is None:
            found = self.make(self.source.value() if isinstance(self.source, Made) else self.source)
            KEPT.put(self.run, self.id, found)
        return found


class Kept:
    """What one process has kept, by run and part."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._runs: dict[str, dict[str, Any]] = {}
        self._used: dict[str, float] = {}
        self._timer: Timer | None = None

    def get(self, run: str, own: str) -> Any:
        """Return what is kept of a part, or None."""
        with self._lock:
            self._used[run] = time.monotonic()
            return self._runs.get(run, {}).get(own)

    def put(self, run: str, own: str, value: Any) -> None:
        """Keep it."""
        with self._lock:
            self._used[run] = time.monotonic()
            self._runs.setdefault(run, {})[own] = value
            self._look_later()

    def drop(self, run: str) -> None:
        """Drop all that is kept of a run."""
        with self._lock:
            self._used.pop(run, None)
            self._runs.pop(run, None)

    def drop_idle(self) -> None:
        """Drop the runs that nobody asked for in a while."""
        with self._lock:
            idle = [run for run, used in self._used.items() if time.monotonic() - used >= _IDLE_SECONDS]
        for run in idle:
            self.drop(run)
        with self._lock:
            self._timer = None
            if self._runs:
                self._look_later()

    def _look_later(self) -> None:
        if self._timer is None:
            self._timer = Timer(_IDLE_SECONDS / 2, self.drop_idle)
            self._timer.daemon = True
            self._timer.start()


KEPT = Kept()
if hasattr(os, "register_at_fork"):  # a child begins with nothing
    os.register_at_fork(after_in_child=KEPT.__init__)  # type: ignore[misc]


def drop_with(owner: object, run: str) -> None:
    """Drop a run in this process when ``owner`` is gone; other processes drop it when nobody asks any more."""
    weakref.finalize(owner, KEPT.drop, run)
