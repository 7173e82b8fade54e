"""How rows lie over the cells of each attribute: noisy counts that are released, and the shares they stand for."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from privet.privacy.events import Event
from privet.privacy.mechanisms.discrete_laplace import discrete_laplace
from privet.rng import NoiseSource

Floats = NDArray[np.float64]
# How many scales of noise are taken off a share. Laplace noise is above two scales with a chance of exp(-2) / 2.
_SURE, _SURE_OF_MISSING = 2.0, 4.0


def release_histograms(
    exact: Sequence[NDArray[np.int64]], *, epsilon: float, rows: int, what: str, noise: NoiseSource
) -> tuple[NDArray[np.int64], Event]:
    """Return noisy histograms, one after another in one array, and their receipt.

    Parameters
    ----------
    exact : one array an attribute
        How many rows each of its cells has.
    epsilon : float
        What all histograms cost together.
    rows : int
        How many rows one unit of privacy may have.

    Privacy
    -------
    A row adds one to one cell of each histogram, so the L1 sensitivity is ``rows`` times the number of histograms.
    """
    return discrete_laplace(
        np.concatenate(exact), epsilon=epsilon, sensitivity=rows * len(exact), what=what, noise=noise
    )


@dataclass(frozen=True)
class Histogram:
    """The released histogram of one attribute; the last cell is that of missing values, if there can be any.

    ``n_rows`` is about how many rows there are; ``scale`` is that of the Laplace noise in each count, 0 without noise.
    """

    noisy: NDArray[np.int64]
    n_rows: int
    scale: float

    @cached_property
    def shares(self) -> Floats:
        """Each cell's share of the rows: the shares nearest to the noisy counts that are not negative and add to 1."""
        return _nearest_shares(self.noisy / self._total)

    @cached_property
    def least_shares(self) -> Floats:
        """A lower bound of each share, which fails for one cell in fifteen; together they are less than 1."""
        least: Floats = np.maximum(self.shares - _SURE * self.scale / self._total, 0.0)
        return least

    @property
    def sure_shares(self) -> Floats:
        """The least shares, made to add to 1 again; cells that noise alone may have filled have none.

        Cells that no row reaches have the noisiest weights, so a wrong share there does the most harm.
        """
        return self.least_shares / self.least_shares.sum() if self.least_shares.any() else self.shares

    def surest_shares(self, *, has_missing: bool) -> Floats:
        """Return the sure shares; missing values, of which there are often none, have some only if noise hardly could.

        ``has_missing`` says whether the last cell is theirs.
        """
        shares = self.sure_shares.copy()
        if has_missing and self.noisy[-1] < _SURE_OF_MISSING * self.scale and shares[:-1].any():
            shares[-1] = 0.0
        surest: Floats = shares / shares.sum()
        return surest

    @property
    def _total(self) -> float:
        # Without noise the counts themselves say how many rows there are.
        return float(max(1, self.n_rows if self.scale else self.noisy.sum()))


def _nearest_shares(shares: Floats) -> Floats:
    """Return the nearest point, in squares, of those that are not negative and add up to 1 (Duchi and others 2008)."""
    falling = np.sort(shares)[::-1]
    excess = (np.cumsum(falling) - 1) / np.arange(1, len(falling) + 1)
    taken = excess[np.flatnonzero(falling > excess)[-1]]
    nearest: Floats = np.maximum(shares - taken, 0.0)
    return nearest
