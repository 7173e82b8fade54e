"""One tree as nested boxes: what is drawn of it, and what is folded away."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from privet.checks import check_whole
from privet.errors import ParameterError
from privet.tree.conditions import Paths
from privet.tree.intervals import reach, stands_out


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
        Of the noise in each of them.
    is_leaf : bool
    children : tuple of Box
        Empty where the drawing ends too.
    n_below : int
        How many nodes lie below and are not shown.
    """

    text: str
    counts: NDArray[np.int64]
    variance: float
    is_leaf: bool
    children: tuple["Box", ...] = ()
    n_below: int = 0

    @property
    def predicted(self) -> int:
        """The position of the class with the largest count."""
        return int(self.counts.argmax())

    @property
    def reach(self) -> int:
        """How far noise takes each of the counts, 95 times of 100."""
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
    """Draws up trees of a fitted forest of counts."""

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

    def tree(self, tree: object, *, max_depth: int | None, most_children: int | None = None) -> Box:
        """Return a tree down to ``max_depth``, with the smallest siblings beyond ``most_children`` folded into one."""
        root = check_whole("tree", tree, least=0, most=self.n_trees - 1)
        return self._box(root, self._forest.depth if max_depth is None else max_depth, most_children)

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
