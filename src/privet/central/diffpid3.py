"""DiffPID3: one greedy tree that asks for sizes and leaf counts (Friedman and Schuster 2010). See diffpid3.md."""

import math
from pathlib import Path
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from privet.central.class_weight import ClassWeight
from privet.central.count_forest import MAX_HEIGHT
from privet.central.greedy_forest import BudgetedQueries, GreedyForestClassifier, OpenNodes
from privet.central.receipts import in_sequence, is_choice, is_count
from privet.checks import OneOf, Whole
from privet.plan import Step, choice_step, laplace_step
from privet.privacy.events import Event
from privet.privacy.ledger import Ledger
from privet.privacy.mechanisms.deviation import standard_deviation
from privet.schema import Schema
from privet.tree.counted import CountedForest
from privet.tree.criteria import GINI, GINI_INDEX
from privet.tree.forest import Forest
from privet.tree.pruning import cut_back, error_based
from privet.tree.vote import SummedCounts, Vote, class_shares

_SCORES = {"gini": GINI_INDEX, "n_gini": GINI}
_SIZES, _SPLITS, _LEAVES = "sizes of nodes of level {}", "split attributes of level {}", "class counts of leaves"


class DiffPID3Classifier(GreedyForestClassifier):
    """One tree: noisy sizes decide where to stop, the exponential mechanism what to split on, leaves are counted last.

    Parameters
    ----------
    schema : Schema, path or "infer"
        What is public about the table. Numeric attributes without bins or edges are cut into 5 cells.
    epsilon : float
        The whole budget of the fit, from 1e-6 to inf; inf adds no noise and promises nothing.
    height : int
        The number of tests on a path.
    criterion : str
        ``"gini"``, the index with its sensitivity of 1/2, or ``"n_gini"``, in rows, with 2.
    min_support : int, optional
        A node is split if its released size is at least this. By default it is its authors' rule: a cell of the widest
        split must be expected to hold more than its noise. 100 is the rule of DPDF's authors.
    class_weight, unit, max_rows, ledger, random_state, n_jobs, verbose, unsafe_seeded_noise
        As in `PrivateRDTClassifier`; ``random_state`` serves seeded noise alone, since no structure is drawn.

    Attributes
    ----------
    guarantee_, forest_, nodes_, noisy_counts_, classes_, schema_, n_features_in_, feature_names_in_
        As in `PrivateRDTClassifier`.

    Examples
    --------
    >>> from privet import DiffPID3Classifier
    >>> from privet.datasets import agrawal
    >>> data = agrawal(10_000, function=1, random_state=7)
    >>> model = DiffPID3Classifier(data.schema, epsilon=2.0).fit(data.X, data.y)
    >>> model.guarantee_.epsilon
    2.0
    """

    method = "diffpid3"
    file_parameters = ("height", "criterion", "min_support")
    later_parameters: ClassVar = {"min_support": None}
    constraints: ClassVar = {
        "height": Whole(1, MAX_HEIGHT),
        "criterion": OneOf(*_SCORES),
        "min_support": Whole(1, 2**53, optional=True),
    }
    n_trees = 1

    def __init__(
        self,
        schema: Schema | str | Path | None = None,
        *,
        epsilon: float = 1.0,
        height: int = 4,
        criterion: str = "gini",
        min_support: int | None = None,
        class_weight: ClassWeight = None,
        unit: str = "row",
        max_rows: int = 1,
        ledger: Ledger | None = None,
        random_state: int | np.random.Generator | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        unsafe_seeded_noise: bool = False,
    ) -> None:
        self.schema = schema
        self.epsilon = epsilon
        self.height = height
        self.criterion = criterion
        self.min_support = min_support
        self.class_weight = class_weight
        self.unit = unit
        self.max_rows = max_rows
        self.ledger = ledger
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.unsafe_seeded_noise = unsafe_seeded_noise

    def _n_queries(self, schema: Schema) -> int:
        """Return how many: a size of every node of a path, a choice at all but the last, a histogram at its leaf."""
        return 2 * (self._n_levels(schema) + 1)

    def _release_level(self, counts: NDArray[np.int64], level: int, queries: BudgetedQueries) -> NDArray[np.int64]:
        per_query, sizes = self._query_epsilon(queries.schema, queries.epsilon), counts.sum(axis=1, keepdims=True)
        noisy, receipt = queries.release_counts(sizes, _SIZES.format(level), epsilon=per_query)
        queries.receipts.append(receipt)
        # What is released last, leaf by leaf, needs the counts of nodes that stay leaves here.
        queries.exact_levels.append(counts)
        return noisy

    def _worth_splitting(self, noisy: NDArray[np.int64], queries: BudgetedQueries) -> NDArray[np.bool_]:
        worth: NDArray[np.bool_] = noisy[:, 0] >= self._least_support(queries.schema, queries.epsilon)
        return worth

    def _least_support(self, schema: Schema, epsilon: float) -> float:
        """Return the asked support, by default where a cell of the widest split is expected to hold its noise."""
        if self.min_support is not None:
            return self.min_support
        per_query, widest = self._query_epsilon(schema, epsilon), max(a.n_values for a in schema.attributes)
        return max(1.0, widest * len(schema.classes) * math.sqrt(2) * self._unit().max_rows / per_query)

    def _choose_attributes(
        self, nodes: OpenNodes, queries: BudgetedQueries
    ) -> tuple[NDArray[np.int64], NDArray[np.int64], list[Event]]:
        score, per_query = _SCORES[self.criterion], self._query_epsilon(queries.schema, queries.epsilon)
        exact_scores = np.stack([score.of(counts) for counts in nodes.exact_of_attributes], axis=1)
        what = _SPLITS.format(nodes.level)
        chosen, receipt = queries.choose(exact_scores, nodes.allowed, what, epsilon=per_query, score=score)
        return chosen, nodes.exact_tables, [receipt]

    def _release_last(self, counts: NDArray[np.int64], forest: Forest, queries: BudgetedQueries) -> None:
        self._release_level(counts, queries.n_levels, queries)
        exact_counts = np.concatenate(queries.exact_levels)[forest.leaves]
        per_query = self._query_epsilon(queries.schema, queries.epsilon)
        noisy, receipt = queries.release_counts(exact_counts, _LEAVES, epsilon=per_query)
        queries.released.append(noisy)
        queries.receipts.append(receipt)

    def _prune(self, forest: Forest, queries: BudgetedQueries) -> tuple[Forest, NDArray[np.int64]]:
        return forest, queries.released[0]

    def _vote_of(self, nodes: CountedForest, schema: Schema) -> Vote:
        counts = np.maximum(nodes.counts, 0)
        return SummedCounts.of_nodes(nodes.forest, counts, class_shares(nodes.counts[:1]), schema.attributes)

    def _counted(self, forest: Forest, noisy_counts: NDArray[np.int64], event: Event, schema: Schema) -> CountedForest:
        grown = CountedForest.of_leaves(forest, noisy_counts, standard_deviation(in_sequence(event)[-1]) ** 2)
        kept, nodes = cut_back(forest, error_based(forest, grown.counts), schema)
        # Leaves that pruning adds up bring their draws of noise along.
        return CountedForest(kept, grown.counts[nodes], grown.n_draws[nodes], grown.draw_variance)

    def _steps(self, schema: Schema, epsilon: float) -> tuple[Step, ...]:
        n_levels, max_rows = self._n_levels(schema), self._unit().max_rows
        per_query, score = self._query_epsilon(schema, epsilon), _SCORES[self.criterion]
        steps: list[Step] = []
        for level in range(n_levels + 1):
            steps.append(laplace_step(_SIZES.format(level), per_query, sensitivity=max_rows, n_values=1, a_node=True))
            if level < n_levels:
                steps.append(choice_step(_SPLITS.format(level), per_query, sensitivity=score.sensitivity * max_rows))
        return (
            *steps,
            laplace_step(_LEAVES, per_query, sensitivity=max_rows, n_values=len(schema.classes), a_node=True),
        )

    def _is_receipt(self, event: Event, forest: Forest, schema: Schema) -> bool:
        *path, leaves = in_sequence(event)
        score, max_rows = _SCORES[self.criterion], self._unit().max_rows
        return (
            forest.n_trees == 1
            and len(path) % 2 == 1
            and forest.depth <= len(path) // 2 == self._n_levels(schema)
            and all(is_count(receipt, sensitivity=max_rows) for receipt in (*path[::2], leaves))
            and all(is_choice(receipt, score, max_rows=max_rows) for receipt in path[1::2])
        )
