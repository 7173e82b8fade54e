"""What this process holds: memory, files, threads, objects."""

import ctypes
import gc
import os
import sys
import threading
from dataclasses import dataclass
from pathlib import Path

from benchmarks.speed.fit_file import peak_mb

__all__ = ["Held", "peak_mb"]


@dataclass(frozen=True)
class Held:
    """A look at this process, after its garbage is collected."""

    memory_mb: float
    files: int
    threads: int
    objects: int

    @classmethod
    def now(cls) -> "Held":
        """Look; memory that was freed goes back to the system first, where it can be asked to."""
        gc.collect()
        if sys.platform == "linux":
            ctypes.CDLL(None).malloc_trim(0)
        return cls(_resident_mb(), len(os.listdir("/proc/self/fd")), threading.active_count(), len(gc.get_objects()))  # noqa: PTH208


def _resident_mb() -> float:
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20
