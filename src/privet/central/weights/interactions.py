"""Which attributes act together: groups in which the first stage's released weights leave most unexplained.

A row's residual is 1 in its own class less the chances that the first stage gives. It is in whole parts of 2**-20 that
add up to zero, so that scores are whole numbers, whatever the order of the rows.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privet.central.weights import kernels
from privet.central.weights.certificate import exp_minus, powers
from privet.central.weights.leaf_rows import LeafRows
from privet.central.weights.leaf_weights import LeafWeights
from privet.central.weights.objective import Block
from privet.central.weights.policy import Later
from privet.central.weights.selection import SENSITIVITY
from privet.central.weights.trees import MOST_ATTRIBUTES, Axis, Trees
from privet.privacy.events import Event
from privet.privacy.mechanisms.bits import compiled
from privet.privacy.mechanisms.permute_and_flip import permute_and_flip
from privet.privacy.mechanisms.rational import equal_share
from privet.rng import NoiseSource

# A residual is in whole parts of this.
_PARTS = 2**20
_BLOCK_LINES = 2**13
# Groups are added up as part of a larger one with at most so many leaves: its sums stay in the cache.
_MOST_LEAVES = 2**10


@dataclass(frozen=True)
class Unexplained:
    """Rows, and what the released weights of the first stage leave unexplained of each; exact, it stays inside.

    ``axes`` are how the second stage asks for each kept attribute.
    """

    rows: LeafRows
    model: LeafWeights
    axes: dict[int, Axis]

    def exact_scores(self, groups: Sequence[tuple[int, ...]]) -> list[int]:
        """Return the score of each group: half the sum over leaves and classes of the size of summed residuals.

        A row moves it by at most its own residual's half size, 1 less the chance of its class, so by `SENSITIVITY`
        units at most. Units are rounded down, which moves no two scores farther apart than a whole number of them.
        """
        # Sums are whole numbers, so those of a group are exactly those of a larger one, added up over its others.
        whole = self._covering(groups)
        tables = dict(zip(set(whole), self._exact_sums(list(set(whole))), strict=True))
        found = []
        for group, larger in zip(groups, whole, strict=True):
            others = tuple(i for i, a in enumerate(larger) if a not in group)
            found.append(int(np.abs(tables[larger].sum(axis=others)).sum()))
        # Of two classes one has what the other lacks, so one is enough.
        unit = (2 if self._whole_residuals.shape[1] > 1 else 1) * _PARTS // SENSITIVITY
        return [score // unit for score in found]

    def _covering(self, groups: Sequence[tuple[int, ...]]) -> list[tuple[int, ...]]:
        """Return, for each group, a larger one that holds it; there are few different ones, of few leaves."""
        covering: dict[int, tuple[int, ...]] = {}
        left = {i: set(group) for i, group in enumerate(groups)}
        while left:
            whole = set(next(iter(left.values())))
            while True:
                # The attribute that most groups lack, or would then lack one less of.
                room = [a for a in self.axes if a not in whole and self.n_leaves((*whole, a)) <= _MOST_LEAVES]
                held = [sum(2.0 ** -len(own - whole) for own in left.values() if a in own) for a in room]
                if not any(held):
                    break
                whole.add(room[int(np.argmax(held))])
            for i in [i for i, own in left.items() if own <= whole]:
                covering[i] = tuple(sorted(whole))
                del left[i]
        return [covering[i] for i in range(len(groups))]

    def _exact_sums(self, groups: Sequence[tuple[int, ...]]) -> list[NDArray[np.int64]]:
        """Return the summed residuals of each group: over the leaves of each attribute, classes last."""
        starts = np.cumsum([0, *(self.n_leaves(group) for group in groups)])
        place = {a: i for i, a in enumerate(self.axes)}
        members = np.full((len(groups), max(map(len, groups), default=1)), -1, dtype=np.int64)
        for own, group in zip(members, groups, strict=True):
            own[: len(group)] = [place[a] for a in group]
        n_leaves = np.array([axis.n_leaves for axis in self.axes.values()])
        sums = np.zeros((starts[-1], self._whole_residuals.shape[1]), dtype=np.int64)
        for part in self._parts():
            block = Block.of(self.rows, part)
            kernels.add_groups(
                self._nearest(part), n_leaves, members, starts, block.counts, self._whole_residuals[part], sums
            )
        return [
            sums[first:last].reshape(*(self.axes[a].n_leaves for a in group), -1)
            for group, (first, last) in zip(groups, pairwise(starts), strict=True)
        ]

    def n_leaves(self, group: Sequence[int]) -> int:
        """Return how many leaves the tree of a group has."""
        return math.prod(self.axes[a].n_leaves for a in group)

    def _parts(self) -> Iterable[slice]:
        return (slice(start, start + _BLOCK_LINES) for start in range(0, self.rows.n_lines, _BLOCK_LINES))

    def _nearest(self, part: slice) -> NDArray[np.uint16]:
        """Return the leaf of the second stage that each line is nearest to: attributes x lines."""
        cells = self.rows.cells[part]
        found = np.empty((len(self.axes), len(cells)), dtype=np.uint16)
        kernels.look_up(cells, *self._leaves_of_cells, found)
        return found

    @cached_property
    def _leaves_of_cells(self) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.uint16]]:
        """Each attribute's tree of the first stage, and the leaf that each of its cells is nearest to, as `look_up`."""
        trees, leaves = self.model.trees, {}
        for t, own in enumerate(trees.axes):
            for axis, places in zip(own, trees.cell_places(t), strict=True):
                later = self.axes[axis.attribute]
                leaves[axis.attribute] = t, later.nearest[later.cell_of[axis.first_codes]].astype(np.uint16)[places]
        of_tree, listed = zip(*(leaves[a] for a in self.axes), strict=True)
        starts = np.cumsum([0, *map(len, listed)])[:-1]
        return np.array(of_tree, dtype=np.int64), starts.astype(np.int64), np.concatenate(listed)

    def _residuals(self, part: slice) -> NDArray[np.int32]:
        """Return each line's residual in every class, in whole parts."""
        scores = self.scores(part)
        residuals = np.empty(scores.shape, dtype=np.int32)
        bend = float(-np.expm1(-self.model.margin))
        _write_residuals(scores, self.rows.labels[part], bend, *powers(), residuals)
        return residuals

    @cached_property
    def _whole_residuals(self) -> NDArray[np.int32]:
        """All lines' residuals, of two classes those of the second."""
        n_classes = len(self.model.offsets)
        kept = slice(1, None) if n_classes == 2 else slice(None)
        found = np.empty((self.rows.n_lines, 1 if n_classes == 2 else n_classes), dtype=np.int32)
        for part in self._parts():
            found[part] = self._residuals(part)[:, kept]
        return found

    def scores(self, part: slice) -> NDArray[np.float64]:
        """Return what the first stage scores each line."""
        cells = self.rows.cells[part]
        scores = np.tile(self.model.offsets, (len(cells), 1))
        kernels.scores_of(cells.reshape(-1), self.model.trees.cell_starts, self.model.of_cells, scores)
        return scores

    def rows_of(self, later: Trees) -> LeafRows:
        """Return the rows as the second stage sees them: their cells in its trees, and what they score already."""
        n_columns = self.model.weights.shape[1]
        cells = np.empty((self.rows.n_lines, later.n_trees), dtype=later.narrowest)
        known = np.empty((self.rows.n_lines, n_columns), dtype=np.float32)
        for part in self._parts():
            scores = self.scores(part)
            known[part] = scores if n_columns > 1 else scores[:, 1:] - scores[:, :1]
            cells[part] = later.cells(self._codes(part))
        return LeafRows(cells, self.rows.labels, self.rows.weights, known)

    def _codes(self, part: slice) -> NDArray[Any]:
        trees, cells = self.model.trees, self.rows.cells[part]
        codes = np.zeros((len(cells), max(self.axes) + 1), dtype=np.uint16)
        for t, own in enumerate(trees.axes):
            for axis, places in zip(own, trees.cell_places(t), strict=True):
                codes[:, axis.attribute] = axis.first_codes[places].take(cells[:, t])
        return codes


@compiled
def _write_residuals(
    scores: NDArray[np.float64], labels: NDArray[Any], bend: float, coarse: NDArray[np.float64],
    fine: NDArray[np.float64], out: NDArray[np.int32],
) -> None:  # fmt: skip
    """Write what chances leave unexplained: in other classes minus the chance, and as much in the own.

    A line's numbers follow from that line alone, by sums, products and quotients one after another; a library's exp may
    differ from one place in an array to the next. All other classes together have at most `_PARTS`, whatever rounding
    does.
    """
    n_classes = scores.shape[1]
    chances = np.empty(n_classes)
    for i in range(scores.shape[0]):
        top = scores[i, 0]
        for c in range(1, n_classes):
            top = max(top, scores[i, c])
        total = 0.0
        for c in range(n_classes):
            chances[c], _ = exp_minus(top - scores[i, c], 0.0, coarse, fine)
            total += chances[c]
        adjusted = 0.0
        for c in range(n_classes):
            share = chances[c] / total
            chances[c] = share * (1.0 - bend * share)
            adjusted += chances[c]
        own = np.int64(0)
        for c in range(n_classes):
            if c != labels[i]:
                part = min(np.int64(np.floor(_PARTS * (chances[c] / adjusted))), _PARTS - own)
                out[i, c] = -part
                own += part
        out[i, labels[i]] = own


def choose_groups(
    unexplained: Unexplained,
    pairs: Sequence[tuple[int, int]],
    later: Later,
    *,
    epsilon: float,
    rows: int,
    what: str,
    noise: NoiseSource,
) -> tuple[list[tuple[int, ...]], list[Event]]:
    """Choose groups of two to four attributes, each the best pair and then one attribute after another.

    Parameters
    ----------
    pairs : list of pairs
        Which two attributes a group may begin with.
    epsilon : float
        What all choices may cost together.
    rows : int
        How many rows one unit of privacy may have.

    Privacy
    -------
    Each choice is permute-and-flip, at an equal share of ``epsilon``, among scores that a row moves by at most
    `SENSITIVITY`; what chance alone would score is taken off, which is public. There are at most three choices a group;
    whether there are fewer follows from what was chosen before, and then less is spent.
    """
    groups: list[tuple[int, ...]] = []
    receipts: list[Event] = []
    each = equal_share(epsilon, later.n_choices)
    scored = dict(zip(pairs, unexplained.exact_scores(pairs), strict=True))

    def choose(candidates: list[tuple[int, ...]], exact_scores: Sequence[int]) -> tuple[int, ...]:
        expected = [later.expected(unexplained.n_leaves(group)) for group in candidates]
        scores = [score - int(SENSITIVITY * by_chance) for score, by_chance in zip(exact_scores, expected, strict=True)]
        index, receipt = permute_and_flip(
            np.array(scores, dtype=np.int64), epsilon=each, sensitivity=SENSITIVITY * rows, what=what, noise=noise
        )
        receipts.append(receipt)
        return candidates[index]

    while len(groups) < later.n_trees:
        left = [pair for pair in scored if not any(set(pair) <= set(group) for group in groups)]
        if not left:
            break
        group = choose(list(left), [scored[pair] for pair in left])
        while len(group) < MOST_ATTRIBUTES:
            larger = [
                (*group, a)
                for a in unexplained.axes
                if a not in group and unexplained.n_leaves((*group, a)) <= later.most_cells
            ]
            if not larger:
                break
            group = choose(larger, unexplained.exact_scores(larger))
        groups.append(group)
    return groups, receipts
