"""What a weight forest releases, and the names of its releases."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from privet.central.weights.histograms import Histogram
from privet.central.weights.trees import Trees
from privet.privacy.mechanisms.deviation import laplace_deviation
from privet.privacy.mechanisms.objective_perturbation import n_columns
from privet.tree.intervals import reach

BALANCE, CHOICES = "class balance", "attributes worth a tree"
CELLS, WEIGHTS, DIGITS = "rows in each cell", "leaf weights", "last digits of leaf weights"
GROUPS, LATER_WEIGHTS = "attributes that act together", "leaf weights of the second stage"
LATER_DIGITS = "last digits of leaf weights of the second stage"
COUNTS = "class counts of the leaves of one tree"


@dataclass(frozen=True)
class ReleasedWeights:
    """Released whole numbers, and the public trees that they belong to.

    ``n_rows`` is the declared number of rows, or the noisy one that was bought; ``balance`` is each class's rows, or in
    a file of an earlier privet, of two classes, the second's rows minus the first's; ``weights`` are leaves x columns
    in units of 2**exponent; ``variances`` of the prior and ``noise_std`` of the noise are public, one a tree.
    ``cells`` are the rows at each leaf of each attribute, as trees of the first stage ask for them, or None where they
    were not paid for.
    """

    trees: Trees
    n_rows: int
    balance: NDArray[np.int64]
    weights: NDArray[np.int64]
    exponent: int
    variances: NDArray[np.float64]
    noise_std: NDArray[np.float64]
    cells: NDArray[np.int64] | None = None

    @classmethod
    def balance_only(cls, trees: Trees, n_rows: int, balance: NDArray[np.int64]) -> "ReleasedWeights":
        """Return what is released where no weights are, or not yet."""
        none = np.empty((0, n_columns(len(balance))), dtype=np.int64)
        return cls(trees, n_rows, balance, none, 0, np.empty(0), np.empty(0))

    def with_later(self, later: "ReleasedWeights") -> "ReleasedWeights":
        """Return the weights of both stages, in the finer units of the two."""
        exponent = min(self.exponent, later.exponent)
        parts = [own.weights << (own.exponent - exponent) for own in (self, later)]
        return replace(
            self, trees=self.trees.with_later(later.trees), weights=np.concatenate(parts), exponent=exponent,
            variances=np.append(self.variances, later.variances), noise_std=np.append(self.noise_std, later.noise_std),
        )  # fmt: skip

    def histograms(self, noise_scale: float, n_rows: int) -> dict[int, Histogram] | None:
        """Return the histogram of each kept attribute, where they were released with noise of this scale."""
        if self.cells is None:
            return None
        axes = [axis for own in self.trees.first.axes for axis in own]
        parts = np.split(self.cells, np.cumsum([axis.n_bins for axis in axes])[:-1])
        return {axis.attribute: Histogram(part, n_rows, noise_scale) for axis, part in zip(axes, parts, strict=True)}

    def with_missing_leaves(self) -> tuple[Trees, NDArray[np.int64]]:
        """Return the trees with a leaf for missing values wherever they never occurred, and the weights of leaves.

        Where an attribute is never missing, a row that lacks it gets the mean over its leaves: what the node that asks
        for it says of all. The mean is rounded to a whole number, as all weights are.
        """
        weights, ends = [np.empty((0, self.weights.shape[1]), dtype=np.int64)], self.trees.starts + self.trees.sizes
        for axes, start, end in zip(self.trees.axes, self.trees.starts, ends, strict=True):
            table = self.weights[start:end].reshape(*(each.n_leaves for each in axes), -1)
            for place, each in enumerate(axes):
                if each.missing == "never":
                    mean = np.rint(table.mean(axis=place, keepdims=True)).astype(np.int64)
                    table = np.concatenate([table, mean], axis=place)
            weights.append(table.reshape(-1, self.weights.shape[1]))
        return self.trees.with_missing_leaves(), np.concatenate(weights)

    @property
    def has_counts(self) -> bool:
        """Whether each class has a released count; two classes of an earlier privet have their difference."""
        return len(self.balance) > 1

    @property
    def class_counts(self) -> NDArray[np.float64]:
        """Each class's rows; those of a difference follow from ``n_rows`` and are as right as it is."""
        counts = self.balance.astype(np.float64)
        return counts if self.has_counts else (self.n_rows + counts * np.array([-1.0, 1.0])) / 2

    def class_shares(self, noise_scale: float) -> NDArray[np.float64]:
        """Return class shares, none of them below what noise of this scale leaves uncertain."""
        counts = np.maximum(self.class_counts, max(1.0, noise_scale / 2))
        shares: NDArray[np.float64] = counts / counts.sum()
        return shares

    def about_rows(self, noise_scale: float) -> int:
        """Return ``n_rows``; or the sum of the class counts, where it is farther away than their noise explains."""
        if not self.has_counts:
            return self.n_rows
        variance = laplace_deviation(noise_scale) ** 2 if noise_scale else 0.0
        total, far = int(self.balance.sum()), 2 * reach(np.array(variance * len(self.balance)))
        return self.n_rows if abs(self.n_rows - total) <= far else max(1, total)
