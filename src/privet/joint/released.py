"""What leaves the room."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from privet.joint.trees import Trees

ROW_COUNT, BALANCE, CHOICES = "number of rows", "class balance", "attributes worth a tree"
WEIGHTS, DIGITS = "leaf weights", "last digits of leaf weights"


@dataclass(frozen=True)
class Released:
    """What left the room: whole numbers, and the public trees that they belong to.

    ``balance`` is the second class's rows minus the first's where there are two, else each class's rows; ``weights``
    are leaves x columns in units of 2**exponent; ``variances`` of the prior and ``noise_std`` of the
    tilt are public, one a tree.
    """

    trees: Trees
    n_rows: int
    balance: NDArray[np.int64]
    weights: NDArray[np.int64]
    exponent: int
    variances: NDArray[np.float64]
    noise_std: NDArray[np.float64]

    @classmethod
    def balance_only(cls, trees: Trees, n_rows: int, balance: NDArray[np.int64]) -> "Released":
        """Return what is released where no weights are, or not yet."""
        return cls(trees, n_rows, balance, np.empty((0, len(balance)), dtype=np.int64), 0, np.empty(0), np.empty(0))

    def class_shares(self, noise_scale: float) -> NDArray[np.float64]:
        """Return class shares, none of them below what noise of this scale leaves uncertain."""
        counts = self.balance.astype(np.float64)
        if len(counts) == 1:
            counts = (self.n_rows + counts * np.array([-1.0, 1.0])) / 2
        counts = np.maximum(counts, max(1.0, noise_scale / 2))
        shares: NDArray[np.float64] = counts / counts.sum()
        return shares
