"""Which trees share their noise, and which part of a row's price each group has."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from privet.central.weights.trees import CROWDED
from privet.privacy.mechanisms.k_norm import (
    MOST_DIMENSIONS,
    MOST_SHARED_LEAVES,
    draw_shared,
    shared_deviation,
    shared_error,
    widening,
)
from privet.privacy.mechanisms.linear_noise import (
    MOST_SUM_ZERO_CLASSES,
    LinearNoise,
    draw_laplace,
    draw_sum_zero,
    laplace_factor,
)
from privet.privacy.mechanisms.objective_perturbation import n_columns
from privet.rng import NoiseSource

# All constants and formulas here, and those of k_norm and trees that are used, are part of the file format: a file
# states the noise of each tree, and is refused where that is not what its receipt says of these groups.

# Costs that agree so far are equal: another machine's last digits must not cut the trees otherwise.
_DIGITS = 9


@dataclass(frozen=True)
class NoiseGroup:
    """Trees that share noise, by their numbers; a tree that is alone has noise of its own in every leaf."""

    trees: tuple[int, ...]
    sizes: tuple[int, ...]
    n_classes: int

    @property
    def is_shared(self) -> bool:
        """Whether there are several trees."""
        return len(self.trees) > 1

    @property
    def n_dimensions(self) -> int:
        """The leaves of all trees, less one a tree."""
        return sum(self.sizes) - len(self.sizes)

    @property
    def deviations(self) -> list[float]:
        """The deviation of a number of each tree at scale 1."""
        if not self.is_shared:
            return [laplace_factor(self.n_classes)]
        return [shared_deviation(size, self.n_dimensions, self.n_classes) for size in self.sizes]

    def draw(self, scale: Fraction, noise: NoiseSource) -> LinearNoise:
        """Draw the noise of the trees, one after the other: leaves x columns."""
        columns = n_columns(self.n_classes)
        if self.is_shared:
            return draw_shared(scale, self.sizes, n_weights=columns, noise=noise)
        (n_leaves,) = self.sizes
        if columns == 1:
            return draw_laplace(scale, n_leaves, n_weights=1, noise=noise)
        if columns <= MOST_SUM_ZERO_CLASSES:
            return draw_sum_zero(scale, n_leaves, n_weights=columns, noise=noise)
        return draw_laplace(2 * scale, n_leaves, n_weights=columns, noise=noise)

    def public_error(self, scale: float) -> float:
        """Return a bound on how far drawn noise is from its distribution, except for draws that no machine will see."""
        columns = n_columns(self.n_classes)
        if self.is_shared:
            return shared_error(scale, self.n_dimensions, columns)
        # The grid is at most 2**-37 of the scale, and a draw is within half a step of it for each free column.
        return 2.0**-38 * laplace_factor(self.n_classes) * scale * (columns + 2)

    @property
    def cost(self) -> float:
        """How much noise the trees have, such that groups do best with shares in proportion to it.

        The noise in a leaf counts against its rows, of which there are the fewer the more leaves there are. Together
        that is a sum of cost**3 / share**2, which is least where shares are in proportion to costs.
        """
        pairs = zip(self.deviations, self.sizes, strict=True)
        return math.cbrt(sum((own * min(size, CROWDED)) ** 2 for own, size in pairs))


@dataclass(frozen=True)
class NoiseGroups:
    """The groups of a fit's trees."""

    groups: tuple[NoiseGroup, ...]

    @classmethod
    def of(cls, sizes: NDArray[np.int64], n_classes: int) -> "NoiseGroups":
        """Return the groups with the least noise together, of all that have trees of neighbouring sizes."""
        return _best(tuple(sizes.tolist()), n_classes)

    def __iter__(self) -> Iterator[NoiseGroup]:
        return iter(self.groups)

    @property
    def shares(self) -> list[Fraction]:
        """Each group's share of what one row may move the density by."""
        costs = [Fraction(group.cost) for group in self.groups]
        return [cost / sum(costs) for cost in costs]

    def deviations(self, linear: float) -> NDArray[np.float64]:
        """Return the deviation of a number of each tree, where a row moves the density by ``linear`` at most."""
        return self.deviations_at(1 / (linear * np.array(self.shares, dtype=np.float64)))

    def deviations_at(self, scales: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the same where the groups have these scales."""
        found = np.zeros(sum(len(group.trees) for group in self.groups))
        for group, scale in zip(self.groups, scales, strict=True):
            found[list(group.trees)] = np.array(group.deviations) * scale
        return found


@lru_cache(maxsize=256)
def _best(sizes: tuple[int, ...], n_classes: int) -> NoiseGroups:
    """Cut the trees, sorted by their leaves, where the costs of the groups add up to the least."""
    order = sorted(range(len(sizes)), key=lambda tree: sizes[tree])
    least, starts = [0.0], [0]
    for end in range(1, len(order) + 1):
        alone = NoiseGroup((order[end - 1],), (sizes[order[end - 1]],), n_classes)
        found = [(round(least[end - 1] + alone.cost, _DIGITS), end - 1)]
        noise, n_dimensions = 0.0, 0
        for start in range(end - 1, -1, -1):
            size = sizes[order[start]]
            n_dimensions += size - 1
            # Trees of one leaf have no dimension of their own.
            if max(n_dimensions, end - start) > MOST_DIMENSIONS or sizes[order[end - 1]] > MOST_SHARED_LEAVES:
                break
            noise += (shared_deviation(size, 0, n_classes) * min(size, CROWDED)) ** 2
            if start < end - 1:
                cost = math.cbrt(noise * widening(n_dimensions) / widening(0))
                found.append((round(least[start] + cost, _DIGITS), start))
        total, start = min(found)
        least.append(total)
        starts.append(start)
    groups, end = [], len(order)
    while end:
        trees = tuple(order[starts[end] : end])
        groups.append(NoiseGroup(trees, tuple(sizes[tree] for tree in trees), n_classes))
        end = starts[end]
    return NoiseGroups(tuple(groups))
