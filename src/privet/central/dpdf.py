"""DPDF: greedy differentially private decision forests (Fletcher and Islam 2015). The argument is in dpdf.md."""

import math
from pathlib import Path
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from privet.central.class_weight import ClassWeight
from privet.central.count_forest import MAX_HEIGHT, MAX_TREES
from privet.central.greedy_forest import PAPER, BudgetedQueries, GreedyForestClassifier, OpenNodes
from privet.central.quantiles import QUANTILE_SHARE, WHAT, open_numbers, release_quantiles
from privet.central.receipts import in_sequence, is_chosen, is_count, is_path
from privet.checks import OneOf, Whole
from privet.counting.rows import Rows
from privet.errors import ParameterError
from privet.plan import Step, choice_step, laplace_step
from privet.privacy.events import Event, Unproven
from privet.privacy.ledger import Ledger
from privet.privacy.mechanisms.deviation import standard_deviation
from privet.privacy.mechanisms.rational import multiple, remaining
from privet.rng import NoiseSource
from privet.schema import Schema
from privet.schema.encoding import Encoder
from privet.tree.counted import CountedForest
from privet.tree.criteria import GINI, GRID, MAX_CLASS, Score, entropy_score, gini_over_sensitivity
from privet.tree.forest import Forest
from privet.tree.pruning import cut_back, useful_splits
from privet.tree.vote import SummedCounts, Vote, class_shares, confidence_weights, nearest_nonempty, node_shares

# In the paper's form scores are in units of the exponent, so that a step is worth epsilon / GRID.
_PAPER_SCORE = Score(lambda counts: counts, GRID)
# The entropy is exact up to so many times the declared rows, and its sensitivity is for those.
_MOST_TIMES = 2
# Its table of logarithms has an entry for each of these rows, twice over.
_MOST_FOR_ENTROPY = 10_000_000
_NOT_PROVEN = (
    "split attributes are chosen with the sensitivity of the Gini index at the noisy size of a node (Theorem 1 of the "
    "paper), and a node may be far smaller than it seems"
)


SOUND = "sound"
_COUNTS, _SPLITS = "class counts of level {}", "split attributes of level {}"


class DPDFClassifier(GreedyForestClassifier):
    """Greedy trees: class counts of every node with noise, split attributes chosen by the exponential mechanism.

    Parameters
    ----------
    schema : Schema, path or "infer"
        What is public about the table.
    epsilon : float
        The whole budget of the fit, from 1e-6 to inf; inf adds no noise and promises nothing.
    n_trees : int
        The paper's tau. Trees have different root attributes while there are any. They share epsilon, and on the tables
        that were measured one tree is ahead of four at every epsilon.
    height : int
        The number of tests on a path; the paper's delta is one more.
    criterion : str
        What a good split is: ``"gini"``, ``"max_class"`` for the rows that majorities get right, or ``"entropy"``,
        whose sensitivity grows with the number of rows: the schema must declare it, roughly.
    numeric : str
        Numeric attributes that declare neither bins nor edges get 5 cells: of equal width (``"bins"``), or of about
        equal weight (``"quantiles"``), for 10 % of epsilon.
    min_support : int
        A node is split if its released counts sum up to this many rows, and to more than their own noise.
    variant : str
        ``"sound"``, or ``"paper"`` for the local sensitivity of its Theorem 1, for which nothing is proven.
    class_weight, unit, max_rows, ledger, random_state, n_jobs, verbose, unsafe_seeded_noise
        As in `PrivateRDTClassifier`; ``random_state`` serves seeded noise alone, since no structure is drawn.

    Attributes
    ----------
    guarantee_, forest_, nodes_, classes_, schema_, n_features_in_, feature_names_in_
        As in `PrivateRDTClassifier`.
    noisy_counts_ : int64 array of shape (nodes, classes)
        The released counts of every node that pruning left.

    Examples
    --------
    >>> from privet import DPDFClassifier
    >>> from privet.datasets import agrawal
    >>> data = agrawal(10_000, function=1, random_state=7)
    >>> model = DPDFClassifier(data.schema, epsilon=2.0, n_trees=1).fit(data.X, data.y)
    >>> model.guarantee_.epsilon
    2.0
    """

    method = "dpdf"
    counts_every_node = True
    file_parameters = ("n_trees", "height", "criterion", "numeric", "min_support", "variant")
    constraints: ClassVar = {
        "n_trees": Whole(1, MAX_TREES),
        "height": Whole(1, MAX_HEIGHT),
        "criterion": OneOf("gini", "max_class", "entropy"),
        "numeric": OneOf("bins", "quantiles"),
        "min_support": Whole(0, 2**53),
        "variant": OneOf(SOUND, PAPER),
    }

    def __init__(
        self,
        schema: Schema | str | Path | None = None,
        *,
        epsilon: float = 1.0,
        n_trees: int = 1,
        height: int = 4,
        criterion: str = "gini",
        numeric: str = "bins",
        min_support: int = 100,
        variant: str = SOUND,
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
        self.n_trees = n_trees
        self.height = height
        self.criterion = criterion
        self.numeric = numeric
        self.min_support = min_support
        self.variant = variant
        self.class_weight = class_weight
        self.unit = unit
        self.max_rows = max_rows
        self.ledger = ledger
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.unsafe_seeded_noise = unsafe_seeded_noise

    def _is_sound(self) -> bool:
        return self.variant == SOUND

    def _score(self, schema: Schema) -> Score:
        if self.variant == PAPER:
            return _PAPER_SCORE
        if self.criterion != "entropy":
            return GINI if self.criterion == "gini" else MAX_CLASS
        if schema.rows is None:
            raise ParameterError('criterion="entropy" needs to know roughly how many rows there are; declare rows')
        if schema.rows > _MOST_FOR_ENTROPY:
            raise ParameterError(
                f'criterion="entropy" is for tables of up to {_MOST_FOR_ENTROPY:,} rows; choose "gini" or "max_class"'
            )
        return entropy_score(_MOST_TIMES * schema.rows)

    def _check_query_epsilon(self, schema: Schema, epsilon: float) -> None:
        self._score(schema)
        super()._check_query_epsilon(schema, epsilon)

    def _adapted(self, schema: Schema) -> Schema:
        return schema if self.numeric == "quantiles" else super()._adapted(schema)

    def _prepare(
        self, encoder: Encoder, rows: Rows, epsilon: float, noise: NoiseSource
    ) -> tuple[Encoder, Rows, float, list[Event]]:
        self._score(encoder.schema)
        if self.numeric == "bins" or not open_numbers(encoder.schema):
            return encoder, rows, epsilon, []
        share = QUANTILE_SHARE * epsilon
        schema, recoded, receipt = release_quantiles(
            encoder.schema, rows, epsilon=share, unit=self._unit(), noise=noise
        )
        return Encoder(schema, encoder.unit), recoded, remaining(epsilon, share), [receipt]

    def _n_trees(self) -> int:
        return int(self.n_trees)

    def _n_queries(self, schema: Schema) -> int:
        """Return how many: one histogram more than choices on a path, in every tree."""
        return self._n_trees() * (2 * self._n_levels(schema) + 1)

    def _release_level(self, counts: NDArray[np.int64], level: int, queries: BudgetedQueries) -> NDArray[np.int64]:
        """Q1: the class histogram of every node."""
        per_query = self._query_epsilon(queries.schema, queries.epsilon)
        noisy, receipt = queries.release_counts(counts, _COUNTS.format(level), epsilon=per_query)
        queries.released.append(noisy)
        queries.receipts.append(receipt)
        return noisy

    def _worth_splitting(self, noisy: NDArray[np.int64], queries: BudgetedQueries) -> NDArray[np.bool_]:
        support = noisy.sum(axis=1)
        pure = (noisy >= support[:, None]).any(axis=1)
        worth: NDArray[np.bool_] = (support >= self._least_support(queries.schema, queries.epsilon)) & ~pure
        return worth

    def _least_support(self, schema: Schema, epsilon: float) -> float:
        """Return the paper's least support and, in the sound form, at least the noise in a support."""
        if self.variant == PAPER:
            return self.min_support
        per_query = self._query_epsilon(schema, epsilon)
        return max(self.min_support, self._deviation(per_query) * math.sqrt(len(schema.classes)))

    def _choose_attributes(
        self, nodes: OpenNodes, queries: BudgetedQueries
    ) -> tuple[NDArray[np.int64], NDArray[np.int64], list[Event]]:
        """Q2: the split attribute of every node. Trees compose in sequence, since they share the rows."""
        score, what, allowed = self._score(queries.schema), _SPLITS.format(nodes.level), nodes.allowed
        scores, per_query = self._scores(nodes, score), self._query_epsilon(queries.schema, queries.epsilon)
        chosen, is_root = np.empty(len(allowed), dtype=np.int64), nodes.level == 0
        # Roots are chosen tree by tree, since a root must not have the attribute of an earlier one.
        parts = np.arange(len(allowed))[:, None] if is_root and len(allowed) else [np.arange(len(allowed))]
        for own in parts:
            free = _without_earlier(allowed[own], chosen[: own[0]]) if is_root and len(own) else allowed[own]
            chosen[own], receipt = queries.choose(scores[own], free, what, epsilon=per_query, score=score)
        receipt = Unproven(receipt, _NOT_PROVEN) if self.variant == PAPER else receipt
        return chosen, nodes.exact_tables, [receipt] * queries.n_trees

    def _scores(self, nodes: OpenNodes, score: Score) -> NDArray[np.int64]:
        """Return one line a node, one column an attribute."""
        if self.variant == PAPER:
            size = nodes.noisy.sum(axis=1)
            return np.stack([gini_over_sensitivity(counts, size) for counts in nodes.exact_of_attributes], axis=1)
        return np.stack([score.of(counts) for counts in nodes.exact_of_attributes], axis=1)

    def _release_last(self, counts: NDArray[np.int64], forest: Forest, queries: BudgetedQueries) -> None:  # noqa: ARG002
        self._release_level(counts, queries.n_levels, queries)

    def _prune(self, forest: Forest, queries: BudgetedQueries) -> tuple[Forest, NDArray[np.int64]]:
        noisy_counts = np.concatenate(queries.released)[: forest.n_nodes]
        kept, nodes = cut_back(forest, useful_splits(forest, noisy_counts), queries.schema)
        return kept, noisy_counts[nodes]

    def _vote_of(self, nodes: CountedForest, schema: Schema) -> Vote:
        shares = node_shares(nodes.counts)
        stand_in = nearest_nonempty(nodes.forest, shares)
        weights = confidence_weights(shares[stand_in])
        otherwise = class_shares(nodes.counts[: nodes.forest.n_trees])
        return SummedCounts.of_nodes(nodes.forest, weights, otherwise, schema.attributes)

    def _counted(self, forest: Forest, noisy_counts: NDArray[np.int64], event: Event, schema: Schema) -> CountedForest:  # noqa: ARG002
        variance = standard_deviation(in_sequence(event)[-1]) ** 2
        return CountedForest(forest, noisy_counts, np.ones(forest.n_nodes, dtype=np.int64), variance)

    def _steps(self, schema: Schema, epsilon: float) -> tuple[Step, ...]:
        n_levels, n_trees, max_rows = self._n_levels(schema), self._n_trees(), self._unit().max_rows
        share = QUANTILE_SHARE * epsilon if self.numeric == "quantiles" and open_numbers(schema) else 0.0
        per_query = multiple(self._query_epsilon(schema, remaining(epsilon, share)), n_trees)
        score, cells = self._score(schema), open_numbers(schema)
        n_cells = sum(schema.attributes[j].n_values for j in cells)
        steps = [laplace_step(WHAT, share, sensitivity=len(cells) * max_rows, n_values=n_cells)] if share else []
        for level in range(n_levels + 1):
            counts = _COUNTS.format(level)
            steps.append(
                laplace_step(
                    counts, per_query, sensitivity=n_trees * max_rows, n_values=len(schema.classes), a_node=True
                )
            )
            if level < n_levels:
                steps.append(choice_step(_SPLITS.format(level), per_query, sensitivity=score.sensitivity * max_rows))
        return tuple(steps)

    def _is_receipt(self, event: Event, forest: Forest, schema: Schema) -> bool:
        """Return whether a path of counts and choices was paid for, as many as the height asks."""
        receipts, n_trees, max_rows = list(in_sequence(event)), self._n_trees(), self._unit().max_rows
        score = self._score(schema)
        if self.numeric == "quantiles" and (len(receipts) - 1) % (n_trees + 1) == 1:
            # How many attributes were open is not told by a schema that has their edges.
            cells = range(1, len(schema.attributes) + 1)
            if not any(is_count(receipts[0], sensitivity=n * max_rows) for n in cells):
                return False
            receipts = receipts[1:]
        n_levels = (len(receipts) - 1) // (n_trees + 1)
        return (
            forest.n_trees == n_trees
            and forest.depth <= n_levels == self._n_levels(schema)
            and is_path(receipts, score, n_trees=n_trees, max_rows=max_rows)
            and all(isinstance(each, Unproven) == (self.variant == PAPER) for each in receipts if is_chosen(each))
        )


def _without_earlier(allowed: NDArray[np.bool_], roots: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return what is allowed apart from the attributes of earlier trees' roots; when all are used, all are free."""
    fewer = allowed.copy()
    fewer[:, roots[len(roots) // allowed.shape[1] * allowed.shape[1] :]] = False
    return fewer
