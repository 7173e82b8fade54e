"""Where a model lies from before it is settled until it is saved. The argument is in ledger.md.

A process that dies in between has paid; the next command finds what it paid for here, beside the ledger.
"""

import os
from contextlib import suppress
from pathlib import Path

from privet.checks import is_hex
from privet.errors import ParameterError
from privet.file_lock import can_lock, held, try_lock
from privet.whole_file import remove_unfinished, whole_file

_OWNER_ONLY = 0o700
_ENDING = ".privet"
_CHECKSUM_BYTES = 32


class Shelf:
    """A folder beside a ledger: one file a model, called by its checksum.

    Whoever puts a model there holds its lock until it takes it away. Of a process that was killed the lock is free:
    that tells what was left behind from what is being saved at this moment.
    """

    def __init__(self, ledger: Path) -> None:
        self.folder = ledger.with_name(f"{ledger.name}.paid")
        self._mine: dict[Path, int] = {}

    def put(self, checksum: str, text: str) -> None:
        """Write a model down and hold it; where the disk refuses, the model is in memory alone, as it was before."""
        path = self.folder / f"{checksum}{_ENDING}"
        with suppress(ParameterError, OSError):
            self.folder.mkdir(mode=_OWNER_ONLY, exist_ok=True)
            # Nobody looks here until it is locked, and nobody takes it for left behind.
            with held(self.folder):
                with whole_file(path) as file:
                    file.write(text)
                self._mine[path] = os.open(path, os.O_RDONLY)
                try_lock(self._mine[path])

    def take_away(self) -> None:
        """Remove what this process put here."""
        for path in self._mine:
            with suppress(OSError):
                path.unlink()
        self.leave()
        self._remove_if_empty()

    def leave(self) -> Path | None:
        """Let what this process put here lie for the next one to find, and return where it is, if anything is."""
        left = next((path for path in self._mine if path.exists()), None)
        for descriptor in self._mine.values():
            os.close(descriptor)
        self._mine.clear()
        return left

    def left_behind(self) -> list[Path]:
        """Return the models of processes that ended before they saved them; none where locks cannot tell."""
        if not can_lock() or not self.folder.is_dir():
            return []
        with held(self.folder):
            remove_unfinished(self.folder)
            found = [path for path in sorted(self.folder.glob(f"*{_ENDING}")) if _is_model(path) and _is_free(path)]
        self._remove_if_empty()
        return found

    def remove(self, path: Path) -> None:
        """Remove a model that was left behind."""
        with suppress(OSError):  # the next command tries again
            path.unlink()
        self._remove_if_empty()

    def _remove_if_empty(self) -> None:
        with suppress(OSError):
            self.folder.rmdir()


def _is_model(path: Path) -> bool:
    """Return whether a file is called as models are here; others are somebody's own."""
    return is_hex(path.stem, _CHECKSUM_BYTES) and path.is_file()


def _is_free(path: Path) -> bool:
    with held(path, seconds=0) as is_free:
        return is_free and path.exists()
