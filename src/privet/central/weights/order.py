"""What keeps weights in order while they are fitted: a cost for every pair of leaves that goes against a direction.

The cost is half of `strength` times the square of how far a pair goes against it, and 0 where it does not. It is convex
and looks at no row, so it is part of the prior; objective_perturbation.md, section 6, has the argument.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from privet.central.weights.double_floats import two_sum_of_arrays
from privet.central.weights.trees import Axis, Trees

Floats = NDArray[np.float64]
Number = TypeVar("Number", np.int64, np.float64)
# Of attributes, 1 where the chance of the second class may only rise with it, -1 where it may only fall.
Directions: TypeAlias = Mapping[int, int]
# How far each step from leaf to leaf of an attribute may go against its direction; 0 where nothing else is said.
Slack: TypeAlias = Mapping[int, Floats]
# A pair out of order costs so many times what the rows of a leaf would hold it with. Beyond the most, floats lose
# digits.
_TIMES_HELD, _MOST_STRENGTH = 8, 2.0**22


@dataclass(frozen=True)
class Order:
    """Pairs of leaves in the order that their weights are to have.

    Attributes
    ----------
    lower, upper : arrays of int
        The leaf whose weight is to be lower, and the other one, of each pair.
    slack : array
        How far the lower one may be above the other.
    strength : float
        A power of two.
    """

    lower: NDArray[np.int64]
    upper: NDArray[np.int64]
    slack: Floats
    strength: float

    @classmethod
    def of(cls, trees: Trees, directions: Directions, slack: Slack, *, held: float) -> "Order | None":
        """Return the order of the leaves of ``trees``, or None where no direction is asked for.

        ``held`` is with how much the rows of a leaf hold its weight, about.
        """
        lower, upper, left = [], [], []
        for t, own in enumerate(trees.axes):
            leaves = np.arange(trees.sizes[t]).reshape([axis.n_leaves for axis in own]) + trees.starts[t]
            for place, axis in enumerate(own):
                if axis.attribute in directions:
                    lines = known_leaves(leaves, place, axis)
                    ends = [lines[..., :-1].ravel(), lines[..., 1:].ravel()]
                    low, high = ends if directions[axis.attribute] > 0 else ends[::-1]
                    lower.append(low)
                    upper.append(high)
                    steps = np.asarray(slack.get(axis.attribute, np.zeros(axis.n_known - 1)))
                    left.append(np.broadcast_to(steps, lines[..., :-1].shape).ravel())
        if not lower:
            return None
        strength = min(2.0 ** np.ceil(np.log2(_TIMES_HELD * max(held, 1.0))), _MOST_STRENGTH)
        return cls(np.concatenate(lower), np.concatenate(upper), np.concatenate(left), float(strength))

    def broken(self, weights: Floats) -> NDArray[np.bool_]:
        """Return which pairs are out of order."""
        out_of_order: NDArray[np.bool_] = weights[self.lower, 0] - weights[self.upper, 0] > self.slack
        return out_of_order

    def gradient(self, weights: Floats) -> Floats:
        """Return the gradient of the cost."""
        far = np.maximum(weights[self.lower, 0] - weights[self.upper, 0] - self.slack, 0.0)
        return self._spread(far, weights.shape)

    def hessian_product(self, weights: Floats, direction: Floats) -> Floats:
        """Return the Hessian of the cost at ``weights`` times ``direction``."""
        far = np.where(self.broken(weights), direction[self.lower, 0] - direction[self.upper, 0], 0.0)
        return self._spread(far, direction.shape)

    def _spread(self, far: Floats, shape: tuple[int, ...]) -> Floats:
        n = shape[0]
        pulled = np.bincount(self.lower, far, minlength=n) - np.bincount(self.upper, far, minlength=n)
        spread: Floats = self.strength * pulled[:, None].astype(np.float64)
        return spread

    def rounding(self, weights: Floats) -> float:
        """Return what rounding of differences may do to a number of the gradient, about."""
        return 2.0**-50 * self.strength * float(np.abs(weights).max(initial=1.0))

    def add_hessian(self, weights: Floats, hessian: Floats, low: int = 0) -> None:
        """Add the Hessian of the cost at ``weights`` to a matrix over the leaves from ``low`` on."""
        own = self.broken(weights) & (self.lower >= low) & (self.lower < low + len(hessian))
        lower, upper = self.lower[own] - low, self.upper[own] - low
        for rows, columns, sign in ((lower, lower, 1), (upper, upper, 1), (lower, upper, -1), (upper, lower, -1)):
            np.add.at(hessian, (rows, columns), sign * self.strength)

    def parts(self, weights: Floats, rest: Floats) -> tuple[list[Floats], float]:
        """Return floats that add up to the gradient at ``weights + rest``, and a bound on the error of any sum.

        Differences are pairs of floats, exact but for the rounding of what is left over. A leaf is in two pairs an
        attribute at most, so with the pairs of each leaf as parts of their own, no rounding comes on top.
        """
        low, high, low_rest, high_rest = (own[at, 0] for own in (weights, rest) for at in (self.lower, self.upper))
        far, lost = two_sum_of_arrays(low, -high)
        far, more = two_sum_of_arrays(far, -self.slack)
        left = (lost + more) + (low_rest - high_rest)
        broken = far + left > 0
        found = []
        for at, sign in ((self.lower, 1.0), (self.upper, -1.0)):
            for turn in _turns(at):
                for value in (far, left):
                    part = np.zeros(weights.shape)
                    own = turn & broken
                    part[at[own], 0] = sign * self.strength * value[own]
                    found.append(part)
        size = np.abs(low) + np.abs(high) + np.abs(self.slack)
        # Each left-over is below 2**-53 of the size, and three sums of them are rounded; half of `found` meet.
        error = 16.0 * 2.0**-106 * self.strength * float(size.max(initial=0.0)) * len(found)
        return found, error


def known_leaves(table: NDArray[Number], place: int, axis: Axis) -> NDArray[Number]:
    """Return a view of a table with the leaves of an attribute's values last, without that of missing values."""
    return np.moveaxis(table, place, -1)[..., : axis.n_known]


def _turns(places: NDArray[np.int64]) -> list[NDArray[np.bool_]]:
    """Return masks over ``places``, each of which has every place once at most, and all together all."""
    left, turns = np.ones(len(places), dtype=bool), []
    while left.any():
        turn = np.zeros(len(places), dtype=bool)
        at = np.flatnonzero(left)
        turn[at[np.unique(places[at], return_index=True)[1]]] = True
        turns.append(turn)
        left &= ~turn
    return turns
