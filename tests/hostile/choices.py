"""Choices read off bytes: a number seeds them for a reproducible run, a fuzzer hands in bytes of its own."""

import hashlib
from collections.abc import Sequence
from typing import Any

_SEEDED_BYTES = 1_024


class Choices:
    """A tape of bytes that decides; after its end every choice is the first one."""

    def __init__(self, tape: bytes) -> None:
        self._tape, self._at = tape, 0

    @classmethod
    def of_seed(cls, *seed: object) -> "Choices":
        return cls(hashlib.shake_128(repr(seed).encode()).digest(_SEEDED_BYTES))

    def below(self, n: int) -> int:
        """Return a whole number from 0 to below ``n``."""
        return int.from_bytes(self.taken(1 if n <= 128 else 4), "little") % n

    def chance(self, share: float) -> bool:
        """Return True about so often; an empty tape says no."""
        return self.below(100) >= 100 - 100 * share

    def pick(self, options: Sequence[Any]) -> Any:
        return options[self.below(len(options))]

    def taken(self, n: int) -> bytes:
        """Return the next ``n`` bytes, zeros after the end."""
        bytes_ = self._tape[self._at : self._at + n]
        self._at += n
        return bytes_.ljust(n, b"\0")
