"""What a refit would gain over further updates: the noise in a model of several batches, beside that of one fit."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

# Less is hardly seen in the votes, and a refit is dear: it costs its epsilon on every row, old and new.
WORTH_A_REFIT = 2.0
_ROUNDING = 1e-9


@dataclass(frozen=True)
class RefitAdvice:
    """The noise in a released count after each batch, and what it would be after one fit on all rows so far."""

    growth: NDArray[np.float64]

    @property
    def now(self) -> float:
        """The standard deviation in the model as it is."""
        return float(self.growth[-1])

    @property
    def one_fit(self) -> float:
        """That of one fit: about the least that a single batch has, since that is what the model's epsilon buys."""
        return float(np.sqrt(np.diff(np.square(self.growth), prepend=0.0)).min())

    @property
    def ratios(self) -> NDArray[np.float64]:
        """The noise after each batch, in that of one fit; the root of their number where all batches cost alike."""
        return self.growth / self.one_fit if self.one_fit > 0 else np.ones_like(self.growth)

    @property
    def advised(self) -> bool:
        """Whether a refit would at least halve the noise."""
        return bool(self.ratios[-1] >= WORTH_A_REFIT - _ROUNDING)

    @property
    def batches_until(self) -> int:
        """After how many more batches like one fit it is advised; 0 where it is now."""
        return 0 if self.advised else math.ceil(WORTH_A_REFIT**2 - float(self.ratios[-1]) ** 2 - _ROUNDING)
