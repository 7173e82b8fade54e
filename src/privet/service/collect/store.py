"""What keeps tokens and answers. Two tables, and nothing that links a row of one to a row of the other."""

from collections.abc import Iterator, Sequence
from enum import Enum
from pathlib import Path
from typing import Protocol


class Stored(Enum):
    """What became of a report."""

    NEW = "new"
    AGAIN = "again"
    UNKNOWN = "unknown"
    USED = "used"


class StoreUnavailable(Exception):
    """Nothing was stored: the disk is full, or the database does not answer."""


class AnswerStore(Protocol):
    """Tokens, answers that wait, and answers in released batches."""

    def add_tokens(self, hashes: Sequence[bytes]) -> None:
        """Add tokens that nobody has used."""

    def knows(self, hashed: bytes) -> bool:
        """Return whether a token was given out."""

    def put(self, hashed: bytes, mark: bytes, answer: str) -> Stored:
        """Mark a token as used and keep its answer, both or neither; on return it is on the disk."""

    def release(self, batch: int) -> int:
        """Move waiting answers to batches of ``batch``, shuffled; return how many answers were moved."""

    def released(self) -> Iterator[str]:
        """Yield the released answers, batch by batch."""

    def n_released(self) -> int:
        """Return how many answers are released."""

    def copy_to(self, path: Path) -> None:
        """Write the store as it is now to another file."""

    def close(self) -> None:
        """Close the store."""
