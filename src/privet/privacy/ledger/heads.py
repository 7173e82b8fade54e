"""The newest head of a ledger that was seen: by this process, or kept in a folder of its own. See ledger.md."""

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from privet.checks import is_hex
from privet.errors import ParameterError
from privet.files.whole_file import whole_file

HASH_BYTES = 32


@dataclass(frozen=True)
class Head:
    """An entry, by its number and hash: it stands for all before it."""

    number: int = 0
    hash: str = ""

    def is_in(self, entries: Sequence[Any]) -> bool:
        """Return whether a chain still has it."""
        return self.number == 0 or (self.number <= len(entries) and entries[self.number - 1].hash == self.hash)


class Seen:
    """What this process has seen of one ledger, whichever of its objects saw it. Forked processes start from a copy."""

    def __init__(self, identity: str) -> None:
        self.identity, self.head = identity, Head()

    def take(self, head: Head) -> None:
        """Go on to a newer head. A thread that comes late may set it back, to one that the chain has all the same."""
        if head.number > self.head.number:
            self.head = head


# As long as the process lives, whether or not an object still uses the ledger.
_SEEN: dict[str, Seen] = {}


def seen_of(identity: str) -> Seen:
    """Return what this process has seen of the ledger whose first entry has this hash."""
    return _SEEN.setdefault(identity, Seen(identity))


class HeadFolder:
    """A folder with the newest head of each ledger, a file each, called by the hash of the ledger's first entry.

    So a ledger that was moved is recognised, and a new one under an old name is not taken for it. A head that is
    behind, after a crash or of the slower of two processes, is in the chain too. Where a head cannot be read or
    written, ``tell`` says so once, and the command goes on.
    """

    def __init__(self, folder: str | Path, tell: Callable[[str], None] = warnings.warn) -> None:
        self.folder, self._tell = Path(folder), tell
        self._has_warned = False

    def newest(self, identity: str) -> Head | None:
        """Return the head that is kept of a ledger, if one is."""
        try:
            number, hash_ = self._path(identity).read_text(encoding="ascii").split()
            if is_hex(hash_, HASH_BYTES) and number.isdecimal():
                return Head(int(number), hash_)
        except FileNotFoundError:
            return None
        except (OSError, ValueError):
            pass
        self._say(f"the head that is kept in {str(self._path(identity))!r} cannot be read, so a ledger that was cut")
        return None

    def keep(self, identity: str, head: Head, *, also_older: bool = False) -> None:
        """Keep a head, unless a newer one is there and ``also_older`` is not asked for."""
        kept = self.newest(identity)
        if kept is not None and (kept == head or (kept.number > head.number and not also_older)):
            return
        try:
            if not self.folder.is_dir():
                self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            with whole_file(self._path(identity), private=True) as file:
                file.write(f"{head.number} {head.hash}\n")
        except (OSError, ParameterError):
            self._say(f"no head can be kept in {str(self.folder)!r}, so a ledger that is cut")

    def _path(self, identity: str) -> Path:
        return self.folder / f"{identity}.head"

    def _say(self, trouble: str) -> None:
        if not self._has_warned:
            self._has_warned = True
            self._tell(f"{trouble} short is not noticed; check its permissions, or note heads elsewhere")
