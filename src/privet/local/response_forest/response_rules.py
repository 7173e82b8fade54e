"""The rules of a forest whose counts are estimated through a channel, with intervals that its estimates give.

Classes are not equally sure here, nor independent of one another and of the support, as counts with added noise are.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from privet.local.channels.coding import Coding
from privet.local.response_forest.node_estimates import Floats, NodeEstimates
from privet.tree.conditions import Codes, Paths, Runs
from privet.tree.counted import CountedForest
from privet.tree.forest import LEAF, Forest
from privet.tree.intervals import DEVIATIONS, stands_out
from privet.tree.rules import RuleTable

# Chance comes in whole rows: of a class that few rows show, or none, a variance says too little. As Agresti and Coull
# do for shares (1998), an interval takes two rows more of the class and two more of the others to have been drawn.
_MORE_ROWS = 2.0
# What rounding may add to a whole number.
_STEP = 1e-6


@dataclass(frozen=True, eq=False)
class ResponseRules(RuleTable):
    """Rules as arrays; intervals are about the true numbers among those who answered."""

    estimates: NodeEstimates

    @classmethod
    def of_bits(cls, counted: CountedForest, coding: Coding, estimates: NodeEstimates, *, merge: bool) -> Self:
        """Return the rules of all nodes, worded in values and not in their bits."""
        table = RuleTable.of(counted, coding.schema, merge=merge)
        paths = BitPaths(counted.forest, coding)
        # Two children are never taken together but in their parent, so a rule's numbers are those of one node.
        return cls(coding.schema, paths, table.groups, table.tree, table.depth, table.draw_variance, estimates)

    @property
    def stands_out(self) -> NDArray[np.bool_]:
        """Whether noise alone hardly explains the support."""
        return stands_out(self.support, self.estimates.total_variance[self.groups.node])

    @cached_property
    def numbers(self) -> dict[str, NDArray[Any]]:
        """Support and confidence with their intervals, by the names they have in a `Rule`."""
        nodes, known = self.groups.node, self.estimates
        own, total = known.unclipped[nodes, self.predicted], known.totals[nodes]
        of_own, of_both, of_total = self._variances
        far = DEVIATIONS * np.sqrt(of_total)
        low, high = share_intervals(own, total, of_own, of_both, of_total)
        return {
            "support": self.support,
            # Shown counts are whole, and where classes are many their sum is some steps off the estimate.
            "support_low": np.minimum(np.floor(total - far + _STEP), self.support),
            "support_high": np.maximum(np.ceil(total + far - _STEP), self.support),
            "confidence": self.confidence,
            "confidence_low": np.minimum(low, self.confidence),
            "confidence_high": np.maximum(high, self.confidence),
        }

    @property
    def _variances(self) -> tuple[Floats, Floats, Floats]:
        """Of the predicted class's rows, its covariance with all rows, and of these, with some rows more."""
        nodes, known = self.groups.node, self.estimates
        of_own = known.class_variance[nodes, self.predicted]
        of_both, of_total = known.class_covariance[nodes, self.predicted], known.total_variance[nodes]
        more = _MORE_ROWS * np.maximum(known.total_squares[nodes] / np.maximum(known.totals[nodes], 1.0), 1.0)
        is_open = known.bootstrap | (of_own > 0) | (of_total > 0)
        # All rows of a root are known: there a row more of a class is one less of the others.
        more_in_all = np.where(is_open & (self.depth > 0), more, 0.0)
        return of_own + np.where(is_open, more, 0.0), of_both + more_in_all, of_total + 2 * more_in_all


def share_intervals(
    own: Floats, total: Floats, of_own: Floats, of_both: Floats, of_total: Floats
) -> tuple[Floats, Floats]:
    """Return low and high ends for the quotients of two estimates, given their variances and covariances.

    Fieller's interval: a share p is held where own - p total, which is noise alone if p is right, is within its reach.
    That is a quadratic in p. Where the total may be 0 every share is possible.
    """
    z = DEVIATIONS**2
    square, middle = total**2 - z * of_total, own * total - z * of_both
    # The discriminant with own^2 total^2 cancelled by hand: two such numbers would leave nothing but rounding.
    spread = own**2 * of_total - 2 * own * total * of_both + total**2 * of_own
    half = np.sqrt(np.maximum(z * spread + z**2 * (of_both**2 - of_total * of_own), 0.0))
    bounded = (total > 0) & (square > 0)
    safe = np.where(bounded, square, 1.0)
    low, high = (middle - half) / safe, (middle + half) / safe
    bounded &= (low <= 1.0) & (high >= 0.0)  # else no share at all would be held
    return np.where(bounded, np.clip(low, 0.0, 1.0), 0.0), np.where(bounded, np.clip(high, 0.0, 1.0), 1.0)


class BitPaths(Paths):
    """The conditions on the way to the nodes of a forest over coded bits, on the attributes that were coded."""

    def __init__(self, forest: Forest, coding: Coding) -> None:
        super().__init__(forest, coding.schema)
        attribute_of_bit: list[int] = coding.attribute_of_bit.tolist()
        self._bit = self._tested
        self._tested = [bit if bit == LEAF else attribute_of_bit[bit] for bit in self._bit]
        self._values_of_bit = [
            (_neighbours(column == 0), _neighbours(column == 1))
            for code in coding.codes
            for column in code.bits_of_value[: code.attribute.n_codes].T
        ]

    def _answer(self, parent: int, node: int, codes: Codes | None) -> Runs:  # noqa: ARG002 - two children never merge
        """Return the values, and the missing one if any, that the bit tested by ``parent`` sends to ``node``."""
        return self._values_of_bit[self._bit[parent]][node - self._first_child[parent]]


def _neighbours(inside: NDArray[np.bool_]) -> Runs:
    """Return the first and the last of every run of values inside."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], inside, [False]]).astype(np.int8)))
    return tuple((int(first), int(stop) - 1) for first, stop in edges.reshape(-1, 2))
