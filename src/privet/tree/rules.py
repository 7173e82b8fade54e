"""A forest as rules: every path from a root to a node, with its released counts and intervals for them.

All numbers are computed on arrays. Text is made only for the rules that are requested. Sibling leaves that predict the
same class can be merged into one rule.
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from privet.errors import ParameterError
from privet.schema import Label, Schema
from privet.schema.labels import label_kind
from privet.tree.conditions import Codes, Condition, Paths, joined, quoted
from privet.tree.counted import CountedForest
from privet.tree.forest import LEAF, Forest
from privet.tree.intervals import confidence_intervals, stands_out, support_intervals

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["INTERVALS", "Condition", "Rule", "RuleTable", "RulesMixin", "chosen_rules"]

# The columns of intervals.
INTERVALS = ["support_low", "support_high", "confidence_low", "confidence_high"]
_SHOWN_CLASSES = 10


@dataclass(frozen=True)
class Rule:
    """What a path from a root to a node says.

    Attributes
    ----------
    tree, node, depth : int
        The node at which the path ends; nodes are numbered over all trees, level by level.
    is_leaf : bool
    conditions : tuple of Condition
        One per attribute, in the order of the path; none at a root.
    counts : tuple of int
        Released class counts: the node's own where the method released them, else the sums over its leaves.
    prediction : Label
        The class with the largest count; the first of equal ones.
    support, support_low, support_high
        The released number of rows, and its interval.
    confidence, confidence_low, confidence_high : float
        The predicted class's share of them, 0 where the released support is not positive, and its interval.
    """

    tree: int
    node: int
    depth: int
    is_leaf: bool
    conditions: tuple[Condition, ...]
    counts: tuple[int, ...]
    prediction: Label
    support: int
    support_low: float
    support_high: float
    confidence: float
    confidence_low: float
    confidence_high: float

    @property
    def text(self) -> str:
        """The rule in words."""
        return _text(self.conditions, self.prediction)


@dataclass(frozen=True, eq=False)
class Groups:
    """Nodes, each alone or together with some of its siblings.

    Attributes
    ----------
    node : int64 array
        In level order; the first of several siblings.
    is_leaf : bool array
    counts : int64 array
        Released class counts.
    n_draws : int64 array
        How many draws of noise are in each of a group's class counts.
    codes : mapping
        For a node with siblings in its group, the codes of their parent's test.
    """

    node: NDArray[np.int64]
    is_leaf: NDArray[np.bool_]
    counts: NDArray[np.int64]
    n_draws: NDArray[np.int64]
    codes: Mapping[int, Codes]

    def take(self, chosen: NDArray[Any]) -> Self:
        """Return the groups at these positions, or where the mask is true."""
        arrays = {name: getattr(self, name)[chosen] for name in ("node", "is_leaf", "counts", "n_draws")}
        return replace(self, **arrays)


@dataclass(frozen=True, eq=False)
class RuleTable:
    """Rules as arrays, without their text."""

    schema: Schema
    paths: Paths
    groups: Groups
    tree: NDArray[np.int64]
    depth: NDArray[np.int64]
    draw_variance: float

    @classmethod
    def of(cls, counted: CountedForest, schema: Schema, *, merge: bool = False) -> Self:
        """Return the rules of all nodes that answer, in level order; ``merge`` makes sibling leaves that agree one."""
        groups = (merged_nodes if merge else single_nodes)(counted)
        if counted.fails is not None:
            groups = groups.take(~counted.fails[groups.node])
        tree, depth = counted.forest.tree_of_node[groups.node], counted.forest.depth_of_node[groups.node]
        return cls(schema, Paths(counted.forest, schema), groups, tree, depth, counted.draw_variance)

    def __len__(self) -> int:
        return len(self.groups.node)

    def take(self, chosen: NDArray[Any]) -> Self:
        """Return the rules at these positions, or where the mask is true."""
        return replace(self, groups=self.groups.take(chosen), tree=self.tree[chosen], depth=self.depth[chosen])

    def ranked(self) -> Self:
        """Return the rules by decreasing support, then by decreasing confidence."""
        return self.take(np.lexsort((self.groups.node, -self.confidence, -self.support)))

    @property
    def is_leaf(self) -> NDArray[np.bool_]:
        """Whether the rule ends at a leaf."""
        return self.groups.is_leaf

    @cached_property
    def predicted(self) -> NDArray[np.int64]:
        """The positions of the predicted classes."""
        best: NDArray[np.int64] = self.groups.counts.argmax(axis=1)
        return best

    @cached_property
    def support(self) -> NDArray[np.int64]:
        """Released numbers of rows."""
        total: NDArray[np.int64] = self.groups.counts.sum(axis=1)
        return total

    @cached_property
    def confidence(self) -> NDArray[np.float64]:
        """The predicted classes' shares."""
        largest = self.groups.counts.max(axis=1)
        share: NDArray[np.float64] = np.clip(largest / np.maximum(self.support, 1), 0.0, 1.0)
        return np.where(self.support > 0, share, 0.0)

    @cached_property
    def variance(self) -> NDArray[np.float64]:
        """Per rule, the variance of the noise in one class count."""
        spread: NDArray[np.float64] = self.draw_variance * self.groups.n_draws.astype(np.float64)
        return spread

    @property
    def stands_out(self) -> NDArray[np.bool_]:
        """Whether noise alone hardly explains the support."""
        return stands_out(self.support, self.groups.counts.shape[1] * self.variance)

    @cached_property
    def numbers(self) -> dict[str, NDArray[Any]]:
        """Support and confidence with their intervals, by the names they have in a `Rule`."""
        support_low, support_high = support_intervals(self.groups.counts, self.variance)
        low, high = confidence_intervals(self.groups.counts, self.predicted, self.variance)
        return {
            "support": self.support, "support_low": support_low, "support_high": support_high,
            "confidence": self.confidence, "confidence_low": low, "confidence_high": high,
        }  # fmt: skip

    def rules(self) -> Iterator[Rule]:
        """Yield the rules in order."""
        for i in range(len(self)):
            numbers = {name: column[i].item() for name, column in self.numbers.items()}
            yield Rule(
                tree=int(self.tree[i]), node=int(self.groups.node[i]), depth=int(self.depth[i]),
                is_leaf=bool(self.is_leaf[i]), conditions=self._conditions(i),
                counts=tuple(self.groups.counts[i].tolist()), prediction=self._prediction(i), **numbers,
            )  # fmt: skip

    def to_frame(self) -> "pd.DataFrame":
        """Return one line per rule: its text, its numbers, and a column of released counts for every class."""
        import pandas as pd

        texts = [_text(self._conditions(i), self._prediction(i)) for i in range(len(self))]
        columns: dict[str, Any] = {"rule": np.array(texts, dtype=object)}
        columns["prediction"] = np.array(self.schema.classes)[self.predicted]
        columns |= self.numbers
        columns |= {"tree": self.tree, "node": self.groups.node, "depth": self.depth, "is_leaf": self.is_leaf}
        columns |= {f"n({label})": self.groups.counts[:, j] for j, label in enumerate(self.schema.classes)}
        return pd.DataFrame(columns)

    def _conditions(self, i: int) -> tuple[Condition, ...]:
        node = int(self.groups.node[i])
        return self.paths.conditions(node, self.groups.codes.get(node))

    def _prediction(self, i: int) -> Label:
        return self.schema.classes[int(self.predicted[i])]


def chosen_rules(
    table: RuleTable, min_support: float, min_confidence: float, class_: Label | None, *, leaves_only: bool
) -> RuleTable:
    """Return the rules that reach both bounds and predict ``class_``, if one is given, ranked.

    A root above other nodes is left out: it has no condition and is the same in every tree.
    """
    support = _at_least_0("min_support", min_support, most=math.inf)
    confidence = _at_least_0("min_confidence", min_confidence, most=1)
    wanted = (table.support >= support) & (table.confidence >= confidence) & ((table.depth > 0) | table.is_leaf)
    if class_ is not None:
        wanted &= table.predicted == _class_position(table.schema, class_)
    if leaves_only:
        wanted &= table.is_leaf
    return table.take(wanted).ranked()


class RulesMixin:
    """What a forest of counted nodes says in rules."""

    # One of reconstructed cells has no intervals.
    _has_intervals: ClassVar[bool] = True

    def rules(
        self,
        min_support: float = 0,
        min_confidence: float = 0.0,
        class_: Label | None = None,
        merge: bool = False,
        leaves_only: bool = False,
    ) -> "pd.DataFrame":
        """Return what the trees say below their roots, one rule a line, those with the most rows behind them first.

        Parameters
        ----------
        min_support : float
            Leave out rules of fewer rows, by their counts; by default those that noise has made negative.
        min_confidence : float
            Leave out rules whose predicted class has a smaller share, from 0 to 1.
        class_ : label, optional
            Only rules that predict this class.
        merge : bool
            Take sibling leaves that predict the same class together: ``education in {Bachelors, Masters}``.
        leaves_only : bool
            Only rules that run to the end of a path.

        Returns
        -------
        pandas.DataFrame
            With the columns rule, prediction, support and confidence, each with the ends of an interval that holds the
            exact number 95 times of 100 (for a rule fixed beforehand, not for the best of many), tree, node, depth,
            is_leaf, and counts, one column a class. Of disturbed answers all of these are estimates, and those of a
            reconstruction tree, which count rows by the cells that they were put into, have no intervals.

        Privacy
        -------
        Only released numbers, or disturbed answers, enter: post-processing, which costs nothing.
        """
        table = self.rule_table(merge=bool(merge))
        frame = chosen_rules(table, min_support, min_confidence, class_, leaves_only=bool(leaves_only)).to_frame()
        return frame if self._has_intervals else frame.drop(columns=INTERVALS)

    def rule_table(self, *, merge: bool = False) -> RuleTable:
        """Return the rules of all nodes as arrays."""
        check_is_fitted(self)
        fitted: Any = self
        return RuleTable.of(fitted.nodes_, fitted.schema_, merge=merge)


def _at_least_0(name: str, value: object, *, most: float) -> float:
    number = isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)
    if number and 0 <= value <= most:  # type: ignore[operator]
        return float(value)  # type: ignore[arg-type]
    span = "a number of at least 0" if math.isinf(most) else f"a number from 0 to {most:g}"
    raise ParameterError(f"{name}={value!r} must be {span}")


def _class_position(schema: Schema, class_: Label) -> int:
    plain = class_.item() if isinstance(class_, np.generic) else class_
    # True equals 1 and is another label.
    is_label = isinstance(plain, (str, int, float)) and label_kind(plain) == label_kind(schema.classes[0])
    if not is_label or plain not in schema.classes:
        known = ", ".join(repr(label) for label in schema.classes[:_SHOWN_CLASSES])
        more = ", ..." if len(schema.classes) > _SHOWN_CLASSES else ""
        raise ParameterError(f"class {plain!r} is not known to the model; choose from {known}{more}")
    return schema.classes.index(plain)


def _text(conditions: tuple[Condition, ...], prediction: Label) -> str:
    return f"if {joined(conditions)} then {quoted(prediction)}" if conditions else f"always {quoted(prediction)}"


def single_nodes(counted: CountedForest) -> Groups:
    """Return every node by itself."""
    forest = counted.forest
    return Groups(np.arange(forest.n_nodes), forest.attribute == LEAF, counted.counts, counted.n_draws, {})


def merged_nodes(counted: CountedForest) -> Groups:
    """Return the nodes, with siblings merged that predict the same class.

    From the lowest level up, a node whose children are all leaves of one class becomes a leaf of that class. Then the
    leaves of one class under a test with a child per code become one. Predictions of single trees stay as they are.
    """
    single, forest = single_nodes(counted), counted.forest
    predicted = single.counts.argmax(axis=1)
    if counted.fails is not None:
        predicted[counted.fails] = single.counts.shape[1]  # they agree with each other alone
    is_leaf = _merge_children(forest, predicted)
    kept = np.ones(forest.n_nodes, dtype=bool)
    for level in range(1, forest.depth + 1):
        own = slice(forest.level_start[level], forest.level_start[level + 1])
        parent = forest.parent[own]
        kept[own] = kept[parent] & ~is_leaf[parent]
    return _merge_siblings(forest, replace(single, is_leaf=is_leaf), predicted, kept)


def _merge_children(forest: Forest, predicted: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return which nodes are leaves once nodes whose children are all leaves of their own class become leaves."""
    is_leaf: NDArray[np.bool_] = forest.attribute == LEAF
    for level in range(forest.depth - 1, -1, -1):
        start, middle, stop = forest.level_start[level : level + 3]
        inner = start + np.flatnonzero(forest.n_children[start:middle])
        agrees = is_leaf[middle:stop] & (predicted[middle:stop] == predicted[forest.parent[middle:stop]])
        is_leaf[inner] = np.logical_and.reduceat(agrees, forest.first_child[inner] - middle)
    return is_leaf


def _merge_siblings(forest: Forest, single: Groups, predicted: NDArray[np.int64], kept: NDArray[np.bool_]) -> Groups:
    nodes = np.flatnonzero(kept)
    parent = forest.parent[nodes]
    mergeable = single.is_leaf[nodes] & (parent >= 0) & (forest.cut[parent] < 0)
    # The key of a group: its parent and class where siblings may merge, else the node itself.
    keys = np.stack([np.where(mergeable, parent, -1), np.where(mergeable, predicted[nodes], nodes)], axis=1)
    _, first, group = np.unique(keys, axis=0, return_index=True, return_inverse=True)
    group = group.reshape(-1)
    counts = np.zeros((len(first), single.counts.shape[1]), dtype=np.int64)
    np.add.at(counts, group, single.counts[nodes])
    n_draws = np.bincount(group, weights=single.n_draws[nodes]).astype(np.int64)
    order = np.argsort(first)
    merged = Groups(nodes[first], single.is_leaf[nodes[first]], counts, n_draws, {}).take(order)
    return replace(merged, codes=_codes(forest, nodes, group, first))


def _codes(
    forest: Forest, nodes: NDArray[np.int64], group: NDArray[np.int64], first: NDArray[np.int64]
) -> dict[int, Codes]:
    several = np.flatnonzero(np.bincount(group)[group] > 1)
    codes: dict[int, list[int]] = {}
    for position in several:
        node = nodes[position]
        branch = int(node - forest.first_child[forest.parent[node]])
        codes.setdefault(int(nodes[first[group[position]]]), []).append(branch)
    return {node: tuple(branches) for node, branches in codes.items()}
