"""How private a record is that is given as it is or with every bit flipped."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from privet.local.channels.complement import Complement
from privet.local.measures.anonymity import record_anonymity
from privet.local.measures.field_measures import percent


@dataclass(frozen=True)
class RecordMeasures:
    """The measures of flipped records.

    Attributes
    ----------
    keep : float
        The chance that a record is given as it is.
    binary_anonymity : float
        By the coding's frequencies, the mean over attributes; without a unit, 1 at most.
    of_rows : float, optional
        Binary anonymity of whole records, by how often each occurs in the rows.
    told_apart : float, optional
        The share of answers of which somebody who knows how frequent each record is says rightly whether they are
        flipped.
    """

    keep: float
    binary_anonymity: float
    of_rows: float | None = None
    told_apart: float | None = None

    @classmethod
    def of(cls, record: Complement, codes: NDArray[Any] | None) -> Self:
        """Return the measures of records; ``codes`` are encoded clear rows, if there are any."""
        anonymity = record.coding.anonymity(record.keep)
        if codes is None or not len(codes):
            return cls(record.keep, anonymity)
        bits = record.coding.bits(codes)
        return cls(record.keep, anonymity, record_anonymity(bits, record.keep), told_apart(bits, record.keep))

    def to_json(self) -> dict[str, Any]:
        """Return the measures as plain JSON values."""
        return {
            "keep": self.keep,
            "binary_anonymity": self.binary_anonymity,
            "binary_anonymity_of_rows": self.of_rows,
            "told_apart": self.told_apart,
        }

    def lines(self) -> Iterator[str]:
        """Yield the measures in plain English."""
        yield f"Records are given as they are with a chance of {self.keep:g}, and else with every bit flipped."
        yield "  local epsilon: none"
        yield f"  binary anonymity: {self.binary_anonymity:.3f} of 1, the mean over fields by the coding's frequencies"
        if self.of_rows is not None and self.told_apart is not None:
            yield f"  binary anonymity of the whole rows given: {self.of_rows:.3f}"
            yield (
                f"  best guess: who knows how frequent each of these rows is tells for {percent(self.told_apart)} of "
                f"the answers whether they are flipped; without that knowledge, for {percent(self.keep)}"
            )


def told_apart(bits: NDArray[np.uint8], keep: float) -> float:
    """Return how often it is rightly told whether an answer is flipped, by who knows each record's frequency."""
    packed = [row.tobytes() for row in np.packbits(bits, axis=1)]
    mirrors = [row.tobytes() for row in np.packbits(1 - bits, axis=1)]
    counts = Counter(packed)
    # An answer is a record that was kept or the mirror image of one that was flipped: the likelier one is guessed.
    answers = {**dict(zip(packed, mirrors, strict=True)), **dict(zip(mirrors, packed, strict=True))}
    right = sum(max(keep * counts[seen], (1 - keep) * counts[mirror]) for seen, mirror in answers.items())
    return right / len(packed)
