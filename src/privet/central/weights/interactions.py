"""Which attributes act together: groups in which the first stage's released weights leave most unexplained.

A row's residual is 1 in its own class less the chances that the first stage gives. It is in whole parts of 2**-20 that
add up to zero, so that scores are whole numbers, whatever the order of the rows.
"""

import hashlib
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privet.central.weights import kernels
from privet.central.weights.coded_rows import Block, CodedRows, Note, Whole, agree
from privet.central.weights.double_floats import exp_minus, powers
from privet.central.weights.leaf_weights import LeafWeights
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
_STRETCH = 2**13
# Groups are added up as part of a larger one with at most so many leaves: its sums stay in the cache.
_MOST_LEAVES = 2**12


@dataclass(frozen=True)
class FirstStage:
    """The released weights of the first stage, as they score a line by its cells in the stage's trees."""

    starts: Whole
    offsets: NDArray[np.float64]
    of_cells: NDArray[np.float64]
    margin: float
    steps: int = 1

    @classmethod
    def of(cls, model: LeafWeights, steps: int = 1) -> "FirstStage":
        """Return what scores the lines as ``model`` does; their labels are classes, or ``steps`` of the second one."""
        return cls(model.trees.cell_starts, model.offsets, model.of_cells, model.margin, steps)

    @cached_property
    def name(self) -> bytes:
        """What residuals are kept under."""
        parts = (self.offsets, self.of_cells, np.float64(self.margin))
        return hashlib.sha256(b"".join(part.tobytes() for part in parts)).digest()

    def scores(self, block: Block) -> NDArray[np.float64]:
        """Return what the first stage scores each line."""
        scores = np.tile(self.offsets, (len(block.labels), 1))
        kernels.scores_of(block.cells, self.starts, self.of_cells, scores)
        return scores

    def residuals(self, block: Block) -> NDArray[np.int32]:
        """Return each line's residual in every class, in whole parts."""
        scores = self.scores(block)
        residuals = np.empty(scores.shape, dtype=np.int32)
        bend = float(-np.expm1(-self.margin))
        if self.steps == 1:
            _write_residuals(scores, block.labels, bend, *powers(), residuals)
            return residuals
        as_first = np.empty_like(residuals)
        _write_residuals(scores, np.ones_like(block.labels), bend, *powers(), residuals)
        _write_residuals(scores, np.zeros_like(block.labels), bend, *powers(), as_first)
        return _mean_residuals(as_first, residuals, block.labels, self.steps)

    def kept_residuals(self, block: Block) -> NDArray[np.int32]:
        """Return the residuals that are enough to know all: of two classes those of the second."""
        found = np.empty((len(block.labels), self.n_kept), dtype=np.int32)
        for part, own in _parts_of(block, len(self.starts)):
            found[part] = self.residuals(own)[:, -self.n_kept :]
        return found

    @property
    def n_kept(self) -> int:
        """How many residuals of a line are kept."""
        return 1 if len(self.offsets) == 2 else len(self.offsets)


def _parts_of(block: Block, n_trees: int) -> Iterator[tuple[slice, Block]]:
    """Yield short stretches of a block, which stay in the cache."""
    for start in range(0, len(block.labels), _STRETCH):
        part = slice(start, start + _STRETCH)
        cells = block.by_line(n_trees)[part].reshape(-1)
        yield part, Block(cells, block.labels[part], block.counts[part], block.scores[part])


@dataclass(frozen=True)
class GroupSums:
    """The pass that adds up residuals over the leaves of groups of attributes.

    ``leaves`` are each attribute's tree of the first stage, and the leaf that each of its cells is nearest to, as
    `look_up` takes them; ``members`` and ``starts`` are as `add_groups` takes them.
    """

    first: FirstStage
    leaves: tuple[Whole, Whole, NDArray[np.uint16]]
    n_leaves: Whole
    members: Whole
    starts: Whole

    @property
    def shape(self) -> tuple[int, ...]:
        """One number a leaf and class; of two classes for the second alone."""
        return int(self.starts[-1]), self.first.n_kept

    def __call__(self, block: Block, out: Whole, note: Note) -> float:
        """Add a block's residuals, which were left by an earlier pass, or are found anew."""
        residuals = note.read(self.first.name)
        if residuals is None:
            residuals = self.first.kept_residuals(block)
            note.write(self.first.name, residuals)
        n_trees = len(self.first.starts)
        for part, own in _parts_of(block, n_trees):
            nearest = np.empty((len(self.n_leaves), len(own.labels)), dtype=np.uint16)
            kernels.look_up(own.by_line(n_trees), *self.leaves, nearest)
            kernels.add_groups(nearest, self.n_leaves, self.members, self.starts, own.counts, residuals[part], out)
        return 0.0

    def is_sound(self, sums: Whole, n_rows: int) -> bool:
        """All groups have the same rows, and so the same sums; and no residual is larger than 1."""
        return agree(sums, self.starts[:-1]) and bool((np.abs(sums) <= n_rows * _PARTS).all())


@dataclass(frozen=True)
class SecondStage:
    """How a line of the first stage becomes one of the second: its cells there, and what it scores already.

    What the attributes of each later tree add to the line's cell is as `recode` takes it.
    """

    first: FirstStage
    trees: Whole
    starts: Whole
    added: Whole
    ends: Whole
    narrowest: np.dtype[Any]

    @classmethod
    def of(cls, model: LeafWeights, later: Trees) -> "SecondStage":
        """Return the change from the rows of ``model`` to those of ``later`` trees."""
        places = {
            axis.attribute: (t, axis.first_codes[of_cell])
            for t, own in enumerate(model.trees.axes)
            for axis, of_cell in zip(own, model.trees.cell_places(t), strict=True)
        }
        trees, added = [], []
        for own in later.axes:
            for i, axis in enumerate(own):
                tree, codes = places[axis.attribute]
                trees.append(tree)
                added.append(axis.cell_of[codes] * math.prod(other.n_cells for other in own[i + 1 :]))
        starts = np.cumsum([0, *map(len, added)])[:-1]
        ends = np.cumsum([0, *map(len, later.axes)])
        return cls(FirstStage.of(model), np.array(trees), starts, np.concatenate(added), ends, later.narrowest)

    @property
    def n_trees(self) -> int:
        """The number of trees of the second stage."""
        return len(self.ends) - 1

    def __call__(self, block: Block) -> Block:
        """Return the block as the second stage sees it."""
        n_trees, n_columns = len(self.first.starts), self.first.n_kept
        cells = np.empty((len(block.labels), self.n_trees), dtype=self.narrowest)
        known = np.empty((len(block.labels), n_columns), dtype=np.float32)
        for part, own in _parts_of(block, n_trees):
            scores = self.first.scores(own)
            known[part] = scores if n_columns > 1 else scores[:, 1:] - scores[:, :1]
            kernels.recode(own.by_line(n_trees), self.trees, self.starts, self.added, self.ends, cells[part])
        return Block(cells.reshape(-1), block.labels, block.counts, known)


@dataclass(frozen=True)
class Unexplained:
    """Rows, and what the released weights of the first stage leave unexplained of each; exact, it stays inside.

    ``axes`` are how the second stage asks for each kept attribute.
    """

    rows: CodedRows
    model: LeafWeights
    axes: dict[int, Axis]
    n_threads: int = 1
    steps: int = 1

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
        unit = (2 if self._first.n_kept > 1 else 1) * _PARTS // SENSITIVITY
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
        question = GroupSums(self._first, self._leaves_of_cells, n_leaves, members, starts)
        sums = self.rows.summed(question, self.n_threads).exact
        return [
            sums[first:last].reshape(*(self.axes[a].n_leaves for a in group), -1)
            for group, (first, last) in zip(groups, pairwise(starts), strict=True)
        ]

    def n_leaves(self, group: Sequence[int]) -> int:
        """Return how many leaves the tree of a group has."""
        return math.prod(self.axes[a].n_leaves for a in group)

    @cached_property
    def _first(self) -> FirstStage:
        return FirstStage.of(self.model, self.steps)

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

    def rows_of(self, later: Trees) -> CodedRows:
        """Return the rows as the second stage sees them: their cells in its trees, and what they score already."""
        return self.rows.derived(SecondStage.of(self.model, later))


def _mean_residuals(
    as_first: NDArray[np.int32], as_second: NDArray[np.int32], labels: NDArray[Any], steps: int
) -> NDArray[np.int32]:
    """Return the mean of the residuals that a line has in either class, in whole parts that add up to zero."""
    share = labels.astype(np.int64)
    second = (share * as_second[:, 1] + (steps - share) * as_first[:, 1]) // steps
    return np.stack([-second, second], axis=1).astype(np.int32)


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
            # exp(0) is 1 in its last digit too, and of two classes one is the top.
            chances[c] = 1.0 if scores[i, c] == top else exp_minus(top - scores[i, c], 0.0, coarse, fine)[0]
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
