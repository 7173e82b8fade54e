"""A batch's fingerprint: under the owner's key, the same for the same rows in any order. Argued in update.md."""

import hmac
from collections import Counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

_HASH = "sha256"
_MODULUS = 2**256
_WORD = np.dtype("<u2")


class Fingerprint:
    """A sum of keyed hashes of encoded rows, taken batch by batch.

    A sum, and not a hash of the rows one after the other: sorting a file must not make a new batch of it. Rows enter
    by their codes, so a CSV and a Parquet file of the same rows are the same batch.

    Privacy
    -------
    Exact: with the key, a guess of the whole batch can be tested. It stays where the rows are.
    """

    def __init__(self, key: bytes) -> None:
        self._key = key
        self._sum, self._exact_rows = 0, 0

    def add(self, codes: NDArray[Any], labels: NDArray[np.uint16]) -> None:
        """Take in encoded rows with their class codes."""
        records = np.column_stack([codes, labels]).astype(_WORD)
        as_bytes = records.view(f"V{records.shape[1] * _WORD.itemsize}").ravel().tolist()
        # Rows repeat in codes; each distinct one is hashed once.
        for record, times in Counter(as_bytes).items():
            self._sum += times * int.from_bytes(hmac.digest(self._key, record, _HASH))
        self._sum %= _MODULUS
        self._exact_rows += len(records)

    def hexdigest(self) -> str:
        """Return the fingerprint of all rows so far."""
        # Hashed once more: of two batches that share rows, the bare sums would show the sum of the others.
        closing = self._sum.to_bytes(32) + self._exact_rows.to_bytes(16)
        return hmac.digest(self._key, b"batch" + closing, _HASH).hex()
