"""What a bomb is: a file made to exhaust memory or time, to lead a kernel astray, or to run code, and opened."""

import gzip
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

# Makes a file in a folder and opens it.
Bomb = Callable[[Path], Any]
BOMBS: dict[str, Bomb] = {}
ENDLESS = 2**33


class Variants(NamedTuple):
    """What became of many files that differ by a little."""

    read: int
    refused: int


def bomb(make: Bomb) -> Bomb:
    """Enter a bomb by its name."""
    BOMBS[make.__name__.removeprefix("_").replace("_", " ")] = make
    return make


def packed(path: Path, piece: bytes, size: int, beginning: bytes = b"") -> Path:
    """Write a gzip file of a few megabytes that unfolds to ``size`` bytes."""
    block = piece * (2**22 // len(piece))
    # Parts of one archive follow each other; packing the same block again would take most of the time.
    path.write_bytes(gzip.compress(beginning) + gzip.compress(block) * (size // len(block)))
    return path


class Runs:
    """Runs a command when it is unpickled."""

    def __reduce__(self) -> Any:
        return os.system, ("touch owned",)
