"""The law of the noise in the objective, written down plainly: its density, and which noise is possible at all.

Trees of a group share their noise. In each column of weights it has the same sum over the leaves of every tree, and its
density there is proportional to exp(-max over trees of |b_t|_1 / scale). With more than two classes the scale is twice
as large in each of the columns, and the noise that is drawn lacks their mean. The mean is left in here: it moves the
minimiser by the same for all classes whatever the rows are, so a fit without it is made from one with it, and shows no
more. Noise of a tree that is alone is free in every leaf, or with more classes adds up to zero there.
"""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy.linalg import null_space


@dataclass(frozen=True)
class NoiseLaw:
    """The leaves of the trees of each group, a scale a group, and the number of classes."""

    groups: tuple[tuple[np.ndarray, ...], ...]
    scales: tuple[float, ...]
    n_classes: int

    @classmethod
    def of(cls, sizes, groups, scales, n_classes):
        """Return the law of trees of these ``sizes``, of which each group has some by their numbers."""
        leaves = np.split(np.arange(np.sum(sizes)), np.cumsum(sizes)[:-1])
        return cls(tuple(tuple(leaves[t] for t in own) for own in groups), tuple(map(float, scales)), n_classes)

    @property
    def shape(self):
        n_leaves = sum(len(leaves) for own in self.groups for leaves in own)
        return n_leaves, 1 if self.n_classes == 2 else self.n_classes

    @property
    def linear(self):
        """What a row moves the logarithm of the density by at most."""
        return sum(1 / scale for scale in self.scales)

    def log_density(self, tilt):
        """Return the logarithm of the density at possible noise, but for a constant."""
        factor, total = 1 if self.n_classes == 2 else 2, 0.0
        for own, scale in zip(self.groups, self.scales, strict=True):
            norms = [np.abs(tilt[leaves]).sum(axis=0) for leaves in own]
            total -= np.max(norms, axis=0).sum() / (factor * scale)
        return total

    def outside(self, tilt):
        """Return how far noise is from being possible, in scales of its group."""
        off = [0.0]
        for own, scale in zip(self.groups, self.scales, strict=True):
            if len(own) > 1:
                off.append(np.ptp([tilt[leaves].sum(axis=0) for leaves in own], axis=0).max() / scale)
            elif self.n_classes > 2:
                off.append(np.abs(tilt[own[0]].sum(axis=1)).max() / scale)
        return max(off)

    @cached_property
    def basis(self):
        """Directions at right angles in which noise is possible, each as long as there are leaves and columns."""
        (n_leaves, n_columns), rows = self.shape, []
        for own in self.groups:
            if len(own) > 1:
                for other in own[1:]:
                    differ = np.zeros(n_leaves)
                    differ[own[0]], differ[other] = 1, -1
                    rows += list(np.kron(differ, np.eye(n_columns)))
            elif n_columns > 1:
                rows += [np.kron(np.eye(n_leaves)[leaf], np.ones(n_columns)) for leaf in own[0]]
        return null_space(np.array(rows)) if rows else np.eye(n_leaves * n_columns)

    def random(self, spread, rng):
        """Return possible noise with parts of a size that ``spread`` has, leaves x leaves."""
        drawn = spread @ rng.laplace(size=self.shape)
        return (self.basis @ (self.basis.T @ drawn.ravel())).reshape(self.shape)

    def with_scales(self, scales):
        return replace(self, scales=tuple(map(float, scales)))
