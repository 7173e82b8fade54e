"""Trees for the page: those nodes that fit, as flat lists that its script unfolds.

A forest may have millions of nodes, and most hold noise. So the page takes those first that stand out most from their
noise, with all that is above them, until it is full.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privet.report.page.counts import counted_by_leaves
from privet.report.page.formats import shown
from privet.tree.conditions import Paths
from privet.tree.forest import LEAF, Forest
from privet.tree.intervals import DEVIATIONS, RELIABLE

MAX_TREES = 30
MAX_NODES = 20_000
# Class counts in all; each takes about five bytes of the page.
_MAX_COUNTS = 250_000
_MAX_CLASSES = 2_000
_MAX_CONDITION = 120


@dataclass(frozen=True, eq=False)
class ShownTrees:
    """The chosen nodes of the first trees, in level order.

    Attributes
    ----------
    forest : Forest
        All trees.
    chosen : int64 array
        The numbers of the chosen nodes in the forest, ascending.
    parent : int64 array
        Per chosen node, the position of its parent among the chosen; -1 for a root.
    counts : int64 array of shape (chosen, classes)
        Released class counts, sums of leaves for inner nodes.
    draws : int64 array
        Per chosen node, how many draws of noise are in each of its counts.
    conditions : list of str
        Per chosen node what its parent asks of a row that comes here; "all rows" for a root.
    n_trees : int
        How many trees are shown.
    """

    forest: Forest
    chosen: NDArray[np.int64]
    parent: NDArray[np.int64]
    counts: NDArray[np.int64]
    draws: NDArray[np.int64]
    conditions: list[str]
    n_trees: int

    @property
    def complete(self) -> bool:
        """Whether every node of every tree is shown."""
        return len(self.chosen) == self.forest.n_nodes


def shown_trees(model: Any, paths: Paths) -> ShownTrees:
    """Choose the nodes that the page shows of a model with released counts; ``paths`` are those of its forest."""
    forest: Forest = model.forest_
    counts, draws = model.nodes_.counts, model.nodes_.n_draws
    room = max(1, min(MAX_NODES, _MAX_COUNTS // counts.shape[1]))
    n_trees = min(forest.n_trees, MAX_TREES, room)
    rank = _prominence(forest, counts.sum(axis=1), draws)
    rank[forest.tree_of_node >= n_trees] = -np.inf
    rank[:n_trees] = np.inf
    chosen = _first(rank, room)
    parent = forest.parent[chosen]
    return ShownTrees(
        forest=forest,
        chosen=chosen,
        parent=np.where(parent < 0, -1, np.searchsorted(chosen, parent)),
        counts=counts[chosen],
        draws=draws[chosen],
        conditions=_conditions(paths, chosen),
        n_trees=n_trees,
    )


def tree_data(model: Any, trees: ShownTrees) -> dict[str, Any]:
    """Return what the page's script needs to draw the trees."""
    strings: dict[str, int] = {}
    conditions = [strings.setdefault(told, len(strings)) for told in trees.conditions]
    attribute = trees.forest.attribute[trees.chosen]
    questions = [
        -1 if a == LEAF else strings.setdefault(shown(model.schema_.names[a]), len(strings)) for a in attribute
    ]
    sortable = (attribute != LEAF) & (trees.forest.cut[trees.chosen] < 0)
    return {
        "classes": [shown(label) for label in model.schema_.classes[:_MAX_CLASSES]],
        "nClasses": len(model.schema_.classes),
        "deviation": math.sqrt(model.nodes_.draw_variance),
        "reach": DEVIATIONS,
        "reliable": RELIABLE,
        "nTrees": trees.n_trees,
        "parent": trees.parent.tolist(),
        "condition": conditions,
        "question": questions,
        "branches": trees.forest.n_children[trees.chosen].tolist(),
        "many": sortable.astype(int).tolist(),
        "draws": trees.draws.tolist(),
        "counts": trees.counts.ravel().tolist(),
        "summed": counted_by_leaves(model),
        "strings": list(strings),
    }


def _first(rank: NDArray[np.float64], room: int) -> NDArray[np.int64]:
    """Return the nodes of the highest rank, ascending; only those that may be among them are sorted, of millions."""
    least = np.partition(rank, -room)[-room] if room < len(rank) else -np.inf
    able = np.flatnonzero((rank >= least) & (rank > -np.inf))
    # Stable, so that of equals the parent comes first: it has the lower number.
    return np.sort(able[np.argsort(-rank[able], kind="stable")[:room]])


def _conditions(paths: Paths, chosen: NDArray[np.int64]) -> list[str]:
    answers = [paths.last_condition(node) for node in chosen.tolist()]
    return [shown(answer.text, _MAX_CONDITION) if answer else "all rows" for answer in answers]


def _prominence(forest: Forest, support: NDArray[np.int64], draws: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return by how many deviations of its noise a node's support exceeds 0, or that of a node below if it is more."""
    most: NDArray[np.float64] = support / np.sqrt(draws)  # in units of one draw's deviation, the same for all
    for start, stop in zip(forest.level_start[-2:0:-1], forest.level_start[:1:-1], strict=True):
        np.maximum.at(most, forest.parent[start:stop], most[start:stop])
    return most
