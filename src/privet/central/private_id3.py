"""Private ID3: one tree from noisy histograms of every attribute (Jagannathan et al. 2012). See private_id3.md."""

import math
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from privet.central.class_weight import ClassWeight
from privet.central.count_forest import MAX_HEIGHT
from privet.central.greedy_forest import PAPER, BudgetedQueries, GreedyForestClassifier, OpenNodes
from privet.central.receipts import in_sequence, is_count
from privet.checks import OneOf, Whole
from privet.plan import Step, laplace_step
from privet.privacy.events import Event
from privet.privacy.ledger import Ledger
from privet.privacy.mechanisms.deviation import standard_deviation
from privet.privacy.mechanisms.rational import multiple
from privet.schema import Schema
from privet.tree.counted import CountedForest
from privet.tree.criteria import entropy
from privet.tree.forest import LEAF, Forest
from privet.tree.intervals import RELIABLE
from privet.tree.vote import SummedCounts, Vote, class_shares, nearest_nonempty

PRIVET = "privet"
_HISTOGRAMS = "histograms of all attributes in level {}"


class PrivateID3Classifier(GreedyForestClassifier):
    """ID3 on noisy histograms: the baseline that Private-RDT was measured against.

    Every level releases, for each node and each attribute that its path has left, how often values and classes go
    together. Sizes and class counts are read off these histograms.

    Parameters
    ----------
    schema : Schema, path or "infer"
        What is public about the table. Numeric attributes without bins or edges are cut into 5 cells.
    epsilon : float
        The whole budget of the fit, from 1e-6 to inf; inf adds no noise and promises nothing: it is plain ID3.
    height : int, optional
        The number of tests on a path; by default all attributes, k (k + 1) / 2 questions in sequence. Lower trees ask
        less, and so get less noise.
    variant : str
        Where to stop; both variants ask the same and are equally private. ``"privet"`` splits while a node's released
        size stands out from its noise, and a leaf without rows answers as its nearest ancestor with some. ``"paper"``
        is the paper's Algorithm 1 on released counts: it splits while the size and at least two class
        counts are positive, and a leaf without rows answers nothing (see `fails`).
    class_weight, unit, max_rows, ledger, random_state, n_jobs, verbose, unsafe_seeded_noise
        As in `PrivateRDTClassifier`; ``random_state`` serves seeded noise alone, since no structure is drawn.

    Attributes
    ----------
    guarantee_, forest_, nodes_, classes_, schema_, n_features_in_, feature_names_in_
        As in `PrivateRDTClassifier`.
    noisy_counts_ : int64 array of shape (nodes, classes)
        The released counts of every node.

    Examples
    --------
    >>> from privet import PrivateID3Classifier
    >>> from privet.datasets import agrawal
    >>> data = agrawal(10_000, function=1, random_state=7)
    >>> model = PrivateID3Classifier(data.schema, epsilon=2.0, height=2).fit(data.X, data.y)
    >>> round(model.guarantee_.epsilon, 9)
    2.0
    """

    method = "private-id3"
    counts_every_node = True
    file_parameters = ("height", "variant")
    later_parameters: ClassVar = {"variant": PRIVET}
    constraints: ClassVar = {"height": Whole(1, MAX_HEIGHT, optional=True), "variant": OneOf(PRIVET, PAPER)}
    n_trees = 1

    def __init__(
        self,
        schema: Schema | str | Path | None = None,
        *,
        epsilon: float = 1.0,
        height: int | None = None,
        variant: str = PRIVET,
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
        self.variant = variant
        self.class_weight = class_weight
        self.unit = unit
        self.max_rows = max_rows
        self.ledger = ledger
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.unsafe_seeded_noise = unsafe_seeded_noise

    def fails(self, X: Any) -> NDArray[np.bool_]:
        """Return which rows end at a leaf that answers nothing, the Failure of Algorithm 1.

        `predict_proba` gives equal shares there. With ``variant="privet"`` no row fails. Only released numbers
        enter: post-processing, which costs nothing.
        """
        check_is_fitted(self)
        codes, fails = self._encoder.encode_new(X), self.nodes_.fails
        if fails is None:
            return np.zeros(len(codes), dtype=bool)
        # A vote on one class, in which nodes that fail, or have no count left, weigh nothing.
        weights = np.where(fails | (self.nodes_.counts <= 0).all(axis=1), 0, 1)[:, None]
        answers = SummedCounts.of_nodes(self.forest_, weights, np.zeros(1), self.schema_.attributes)
        failed: NDArray[np.bool_] = answers.probabilities(codes, n_jobs=self.n_jobs)[:, 0] == 0
        return failed

    def _n_queries(self, schema: Schema) -> int:
        """Return how many: a histogram of every attribute that the path has left, level by level."""
        k = len(schema.attributes)
        return sum(k - level for level in range(self._n_levels(schema)))

    def _release_level(self, counts: NDArray[np.int64], level: int, queries: BudgetedQueries) -> NDArray[np.int64]:
        """Ask nothing: below the root the counts were read off histograms and are released already."""
        if level == 0:  # these are exact, and nobody has to know them
            return np.zeros_like(counts)
        queries.released.append(counts)
        return counts

    def _worth_splitting(self, noisy: NDArray[np.int64], queries: BudgetedQueries) -> NDArray[np.bool_]:
        """Split where the support stands out from its noise and two classes or more are left; the root always."""
        if not queries.released:
            return np.ones(len(noisy), dtype=bool)
        mixed = (noisy > 0).sum(axis=1) > 1
        worth: NDArray[np.bool_] = (noisy.sum(axis=1) > self._least_support(queries.schema, queries.epsilon)) & mixed
        return worth

    def _least_support(self, schema: Schema, epsilon: float) -> float:
        """Return what a support must exceed: 0 in the paper, else what lets it stand out from its noise."""
        if self.variant == PAPER:
            return 0.0
        per_query = self._query_epsilon(schema, epsilon)
        return RELIABLE * self._deviation(per_query) * math.sqrt(len(schema.classes))

    def _choose_attributes(
        self, nodes: OpenNodes, queries: BudgetedQueries
    ) -> tuple[NDArray[np.int64], NDArray[np.int64], list[Event]]:
        """Release the histograms of all attributes that are left, and take the one that leaves the least entropy."""
        layout, n_attributes = nodes.layout, len(nodes.layout.n_codes)
        left = n_attributes - nodes.level
        per_query = self._query_epsilon(queries.schema, queries.epsilon)
        used = np.repeat(~nodes.allowed, layout.n_codes * layout.n_classes, axis=1)
        exact, what = np.where(used, 0, nodes.exact_tables), _HISTOGRAMS.format(nodes.level)
        noisy_tables, receipt = queries.release_counts(exact, what, epsilon=multiple(per_query, left), moves=left)
        each = [entropy(layout.of_attribute(noisy_tables, a).astype(np.float64)) for a in range(n_attributes)]
        remaining = np.where(nodes.allowed, np.stack(each, axis=1), np.inf)
        return remaining.argmin(axis=1), noisy_tables, [receipt]

    def _release_last(self, counts: NDArray[np.int64], forest: Forest, queries: BudgetedQueries) -> None:  # noqa: ARG002
        queries.released.append(counts)

    def _prune(self, forest: Forest, queries: BudgetedQueries) -> tuple[Forest, NDArray[np.int64]]:
        # The root is always split, and holds what its children hold.
        root = queries.released[0].sum(axis=0, keepdims=True)
        return forest, np.concatenate([root, *queries.released])

    def _vote_of(self, nodes: CountedForest, schema: Schema) -> Vote:
        counts = np.maximum(nodes.counts, 0)
        if nodes.fails is not None:
            counts[nodes.fails] = 0
            even = np.full(counts.shape[1], 1 / counts.shape[1])
            return SummedCounts.of_nodes(nodes.forest, counts, even, schema.attributes)
        stand_in = nearest_nonempty(nodes.forest, counts.astype(np.float64))
        otherwise = class_shares(nodes.counts[:1])
        return SummedCounts.of_nodes(nodes.forest, counts[stand_in], otherwise, schema.attributes)

    def _counted(self, forest: Forest, noisy_counts: NDArray[np.int64], event: Event, schema: Schema) -> CountedForest:  # noqa: ARG002
        n_draws = np.ones(forest.n_nodes, dtype=np.int64)
        n_draws[0] = forest.n_children[0]
        fails = (noisy_counts.sum(axis=1) <= 0) & (forest.attribute == LEAF) if self.variant == PAPER else None
        return CountedForest(forest, noisy_counts, n_draws, standard_deviation(in_sequence(event)[0]) ** 2, fails)

    def _steps(self, schema: Schema, epsilon: float) -> tuple[Step, ...]:
        n_levels, k, max_rows = self._n_levels(schema), len(schema.attributes), self._unit().max_rows
        per_query, n_cells = self._query_epsilon(schema, epsilon), sum(a.n_codes for a in schema.attributes)
        return tuple(
            laplace_step(
                _HISTOGRAMS.format(level), multiple(per_query, k - level), sensitivity=(k - level) * max_rows,
                n_values=n_cells * len(schema.classes), a_node=True,
            )
            for level in range(n_levels)
        )  # fmt: skip

    def _is_receipt(self, event: Event, forest: Forest, schema: Schema) -> bool:
        receipts, k = in_sequence(event), len(schema.attributes)
        max_rows = self._unit().max_rows
        return (
            forest.n_trees == 1
            and forest.depth <= len(receipts) == self._n_levels(schema)
            and bool(forest.n_children[0])
            and all(is_count(each, sensitivity=(k - level) * max_rows) for level, each in enumerate(receipts))
        )
