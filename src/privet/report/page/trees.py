"""Trees of counts for people: nested boxes for text and plots, flat lists for the page's script, nodes for its print.

A forest may have millions of nodes, and most hold noise. The page starts with the nodes that stand out most from their
noise and with all nodes above them, and stops when it is full.
"""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from privet.checks import check_whole
from privet.errors import ParameterError
from privet.report.page.formats import shown
from privet.tree.conditions import Paths
from privet.tree.forest import LEAF, Forest
from privet.tree.intervals import DEVIATIONS, RELIABLE, reach, stands_out

MAX_TREES = 30
MAX_NODES = 20_000
# Class counts in all; each takes about five bytes of the page.
_MAX_COUNTS = 250_000
_MAX_CLASSES = 2_000
_MAX_CONDITION = 120
_PRINTED_TREES = 3
_PRINTED_LEVELS = 2
_PRINTED_BRANCHES = 6


@dataclass(frozen=True, eq=False)
class Box:
    """A node, or several siblings folded into one.

    Attributes
    ----------
    text : str
        The answer to the parent's test; empty at the root.
    counts : int64 array
        Released class counts.
    variance : float
        The variance of the noise in each count.
    is_leaf : bool
    children : tuple of Box
        Empty where the drawing ends too.
    n_below : int
        How many nodes lie below and are not shown.
    fails : bool
        Whether it answers nothing.
    """

    text: str
    counts: NDArray[np.int64]
    variance: float
    is_leaf: bool
    children: tuple["Box", ...] = ()
    n_below: int = 0
    fails: bool = False

    @property
    def predicted(self) -> int:
        """The position of the class with the largest count."""
        return int(self.counts.argmax())

    @property
    def reach(self) -> int:
        """How far noise moves each of the counts, 95 times of 100."""
        return int(reach(np.array(self.variance)))

    @property
    def stands_out(self) -> bool:
        """Whether noise alone hardly explains the sum of the counts."""
        return bool(stands_out(self.counts.sum(), len(self.counts) * self.variance))

    @cached_property
    def n_ends(self) -> int:
        """How many boxes have no child, this one included."""
        return sum(child.n_ends for child in self.children) or 1

    @cached_property
    def n_levels(self) -> int:
        """How many boxes stand on the longest path."""
        return 1 + max((child.n_levels for child in self.children), default=0)


class Outline:
    """The trees of a fitted forest of counts, as boxes."""

    def __init__(self, model: Any) -> None:
        check_is_fitted(model)
        if not hasattr(model, "nodes_"):
            raise ParameterError(
                f"{type(model).__name__} releases no counts, so it has no tree of them to draw; use plot_shapes"
            )
        if hasattr(model, "coding_"):
            raise ParameterError(
                f"the trees of {type(model).__name__} ask for bits of coded records, not for attributes; read its rules"
            )
        self.n_trees: int = model.forest_.n_trees
        self._forest = model.forest_
        self._paths = Paths(model.forest_, model.schema_)
        self._counts, self._n_draws = model.nodes_.counts, model.nodes_.n_draws
        self._draw_variance: float = model.nodes_.draw_variance
        self._fails = model.nodes_.fails

    def tree(self, tree: object, *, max_depth: int | None, most_children: int | None = None) -> Box:
        """Return a tree down to ``max_depth``, with the smallest siblings beyond ``most_children`` folded into one."""
        root = check_whole("tree", tree, least=0, most=self.n_trees - 1)
        return self._box(root, self._forest.depth if max_depth is None else max_depth, most_children)

    def leaf_noise(self, tree: int) -> float:
        """Return the standard deviation of the noise in each count of the tree's first leaf; its others are like it."""
        leaf = tree
        while self._forest.n_children[leaf]:
            leaf = int(self._forest.first_child[leaf])
        return math.sqrt(self._variance_of(self._n_draws[leaf]))

    def _box(self, node: int, levels: int, most_children: int | None) -> Box:
        n_children = int(self._forest.n_children[node])
        last = self._paths.last_condition(node)
        children: list[Box] = []
        if levels > 0 and n_children:
            first = int(self._forest.first_child[node])
            kept, folded = self._split(np.arange(first, first + n_children), most_children)
            children = [self._box(int(child), levels - 1, most_children) for child in kept]
            children += [self._folded(folded)] if len(folded) else []
        return Box(
            last.text if last else "", self._counts[node], self._variance_of(self._n_draws[node]), n_children == 0,
            tuple(children), 0 if children else self._n_below(np.array([node])),
            self._fails is not None and bool(self._fails[node]),
        )  # fmt: skip

    def _split(self, children: NDArray[np.int64], most: int | None) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        if most is None or len(children) <= most:
            return children, children[:0]
        by_support = np.argsort(-self._counts[children].sum(axis=1), kind="stable")
        return children[np.sort(by_support[: most - 1])], children[np.sort(by_support[most - 1 :])]

    def _folded(self, nodes: NDArray[np.int64]) -> Box:
        counts, n_draws = self._counts[nodes].sum(axis=0), self._n_draws[nodes].sum()
        return Box(f"… {len(nodes)} more", counts, self._variance_of(n_draws), False, (), self._n_below(nodes))

    def _variance_of(self, n_draws: int) -> float:
        return float(self._draw_variance * n_draws)

    def _n_below(self, nodes: NDArray[np.int64]) -> int:
        """Return how many nodes lie below ``nodes``, which are siblings."""
        first, last, below = int(nodes[0]), int(nodes[-1]), 0
        if len(nodes) != last - first + 1:
            return sum(self._n_below(nodes[i : i + 1]) for i in range(len(nodes)))
        while last >= first:
            # The children of neighbours are neighbours.
            first_child, n_children = self._forest.first_child, self._forest.n_children
            first, last = int(first_child[first]), int(first_child[last] + n_children[last]) - 1
            below += last - first + 1
        return below


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
    fails : bool array
        Which chosen nodes answer nothing.
    conditions : list of str
        Per chosen node, what its parent asks of a row that comes here; "all rows" for a root.
    n_trees : int
        How many trees are shown.
    """

    forest: Forest
    chosen: NDArray[np.int64]
    parent: NDArray[np.int64]
    counts: NDArray[np.int64]
    draws: NDArray[np.int64]
    fails: NDArray[np.bool_]
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
        fails=np.zeros(len(chosen), dtype=bool) if model.nodes_.fails is None else model.nodes_.fails[chosen],
        conditions=_conditions(paths, chosen),
        n_trees=n_trees,
    )


def tree_data(model: Any, trees: ShownTrees) -> dict[str, Any]:
    """Return what the page's script needs to draw the trees."""
    strings: dict[str, int] = {}
    conditions = [strings.setdefault(condition, len(strings)) for condition in trees.conditions]
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
        "fails": np.flatnonzero(trees.fails).tolist(),
        "counts": trees.counts.ravel().tolist(),
        "summed": counted_by_leaves(model),
        "strings": list(strings),
    }


def printed_trees(model: Any, trees: ShownTrees) -> list[dict[str, Any]]:
    """Return the roots of the first trees for print: plain values, each with the nodes below it."""
    below: dict[int, list[int]] = {}
    for node, parent in enumerate(trees.parent.tolist()):
        below.setdefault(parent, []).append(node)
    return [_printed(model, trees, below, i, _PRINTED_LEVELS) for i in range(min(_PRINTED_TREES, trees.n_trees))]


def _printed(model: Any, trees: ShownTrees, below: dict[int, list[int]], node: int, levels: int) -> dict[str, Any]:
    """Return a node and what is below it, ``levels`` deep."""
    children = below.get(node, []) if levels else []
    if trees.forest.cut[trees.chosen[node]] < 0:  # a child per code: those with the most rows first
        children = sorted(children, key=lambda child: -int(trees.counts[child].sum()))
    listed = children[:_PRINTED_BRANCHES]
    counts = trees.counts[node]
    own, support = shares(counts), int(counts.sum())
    variance = model.nodes_.draw_variance * trees.draws[node] * len(counts)
    best = int(own.argmax())
    return {
        "condition": trees.conditions[node],
        "shares": own.tolist(),
        "rows": support,
        "reach": int(reach(np.array(variance))),
        "best": model.schema_.classes[best] if own[best] > 0 and not trees.fails[node] else None,
        "fails": bool(trees.fails[node]),
        "best_share": float(own[best]),
        "unsure": not stands_out(support, variance),
        "below": [_printed(model, trees, below, child, levels - 1) for child in listed],
        "n_left": int(trees.forest.n_children[trees.chosen[node]]) - len(listed) if listed else 0,
    }


def counted_by_leaves(model: Any) -> bool:
    """Return whether nodes are the sums of their leaves; else some were counted with noise of their own."""
    return bool(np.array_equal(model.nodes_.n_draws, model.forest_.n_leaves_below))


def shares(counts: NDArray[Any]) -> NDArray[np.float64]:
    """Return each row's class shares, negative counts taken as 0; all 0 where nothing is left."""
    positive = np.maximum(counts, 0).astype(np.float64)
    total = positive.sum(axis=-1, keepdims=True)
    of_all: NDArray[np.float64] = np.divide(positive, total, out=np.zeros_like(positive), where=total > 0)
    return of_all


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
