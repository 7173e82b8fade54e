"""Arrays that are too much to be held: an unnamed file of this process takes them, and gives them back one by one.

The file has no name, is readable by its owner alone, and vanishes with the process or when its last array is gone. It
lies in the folder for temporary files, which the environment variable TMPDIR names. What is written there is exact.
"""

import math
import os
import tempfile
import weakref
from dataclasses import dataclass
from threading import Lock
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from privet.errors import DiskFull

# What one process holds of coded rows, in bytes; all beyond it is in its file.
HELD_BYTES = 3 * 2**23


class Room:
    """How many bytes this process may hold."""

    def __init__(self) -> None:
        self._taken, self._lock = 0, Lock()

    def take(self, n_bytes: int) -> bool:
        """Return whether there is room for so many bytes more, and if so count them."""
        with self._lock:
            fits = self._taken + n_bytes <= HELD_BYTES
            self._taken += n_bytes if fits else 0
            return fits

    def give_back(self, n_bytes: int) -> None:
        """Count so many bytes less."""
        with self._lock:
            self._taken = max(0, self._taken - n_bytes)


ROOM = Room()
if hasattr(os, "register_at_fork"):  # a child begins with nothing
    os.register_at_fork(after_in_child=ROOM.__init__)  # type: ignore[misc]


@dataclass(frozen=True)
class Spilled:
    """Where some arrays lie in a file, and what they are like."""

    file: "SpillFile"
    start: int
    likes: tuple[tuple[np.dtype[Any], tuple[int, ...]], ...]

    def read(self) -> list[NDArray[Any]]:
        """Return the arrays."""
        arrays = [np.empty(shape, dtype) for dtype, shape in self.likes]
        self.file.read(self.start, arrays)
        return arrays

    def overwrite(self, *arrays: NDArray[Any]) -> None:
        """Put arrays of the same size in their place."""
        self.file.write(arrays, at=self.start)


class SpillFile:
    """An unnamed file; `of_process` returns the one that all rows of this process share."""

    _current: ClassVar["weakref.ref[SpillFile] | None"] = None
    _making: ClassVar[Lock] = Lock()

    def __init__(self) -> None:
        self.process, self._lock, self._end = os.getpid(), Lock(), 0
        try:
            self._file: Any = tempfile.TemporaryFile(buffering=0)  # noqa: SIM115 - closed with the last array
        except OSError as error:
            raise _disk_full(error) from None
        weakref.finalize(self, self._file.close)

    @classmethod
    def of_process(cls) -> "SpillFile":
        """Return this process's file; a new one where there is none, or the one there is belongs to its parent."""
        with cls._making:
            file = None if cls._current is None else cls._current()
            if file is None or file.process != os.getpid():
                file = cls()
                cls._current = weakref.ref(file)
            return file

    def write(self, arrays: tuple[NDArray[Any], ...], *, at: int | None = None) -> Spilled:
        """Write arrays at the end, or over others, and return where they are. What fails closes the file."""
        with self._lock:
            start = self._end if at is None else at
            try:
                self._file.seek(start)
                for array in arrays:
                    _write_all(self._file, np.ascontiguousarray(array))
            except OSError as error:
                self._file.close()  # gives its space back, however long the error is kept
                raise _disk_full(error) from None
            self._end = max(self._end, self._file.tell())
        return Spilled(self, start, tuple((array.dtype, array.shape) for array in arrays))

    def read(self, start: int, arrays: list[NDArray[Any]]) -> None:
        """Fill ``arrays`` with what was written from ``start`` on."""
        with self._lock:
            self._file.seek(start)
            for array in arrays:
                _fill(self._file, array)

    def __reduce__(self) -> Any:
        raise TypeError("a spill file cannot be sent to another process; send what it holds")


def _write_all(file: Any, array: NDArray[Any]) -> None:
    left = array.reshape(-1).view(np.uint8).data
    while len(left):
        left = left[file.write(left) :]


def _fill(file: Any, array: NDArray[Any]) -> None:
    left = array.reshape(-1).view(np.uint8).data
    while len(left):
        n_read = file.readinto(left)
        if not n_read:
            raise OSError("the file for temporary rows ended early")
        left = left[n_read:]


def _disk_full(error: OSError) -> DiskFull:
    return DiskFull(tempfile.gettempdir(), os.strerror(error.errno) if error.errno else type(error).__name__)


def n_bytes_of(*arrays: NDArray[Any] | None) -> int:
    """Return how many bytes arrays take."""
    return sum(math.prod(array.shape) * array.itemsize for array in arrays if array is not None)
