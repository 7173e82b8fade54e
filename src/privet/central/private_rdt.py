"""Private-RDT: random decision trees with noisy leaf counts (Jagannathan, Pillaipakkamnatt, Wright 2012).

The argument is in private_rdt.md.
"""

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from privet.central.count_forest import MAX_BATCHES, MAX_HEIGHT, MAX_TREES, CountForestClassifier
from privet.checks import check_whole
from privet.counting.rows import Rows, exact_leaf_counts
from privet.errors import ParameterError, StructureTooLarge
from privet.plan import Plan, Step, epsilon_needed, laplace_step
from privet.privacy.events import Event, Sequential
from privet.privacy.ledger import Ledger
from privet.privacy.mechanisms.discrete_laplace import discrete_laplace
from privet.privacy.mechanisms.rational import MIN_EPSILON, check_epsilon, remaining, scale_at_least
from privet.privacy.unit import Unit
from privet.rng import NoiseSource, public_generator
from privet.schema import Schema
from privet.tree.forest import Forest
from privet.tree.random_structure import random_structure
from privet.tree.threads import n_threads

# Of epsilon, for a noisy number of rows where the schema declares none. The height grows with its logarithm, so a rough
# number does.
ROW_COUNT_SHARE = 0.05
_ROW_COUNT, _LEAF_COUNTS = "number of rows", "class counts of leaves"


class PrivateRDTClassifier(CountForestClassifier):
    """Random decision trees whose leaf class counts are released with noise.

    The structure is drawn before anyone looks at a row; only the class counts of the leaves depend on the rows, and
    they are released once, with exact integer noise. New rows can be added later with `partial_fit`.

    Parameters
    ----------
    schema : Schema, path or "infer"
        What is public about the table. ``"infer"`` reads it from the rows, a leak that the guarantee records.
    epsilon : float
        The whole budget of the fit, from 1e-6 to inf; inf adds no noise and promises nothing.
    n_trees : int
        10 as in the paper; 5 suits tables of a few hundred rows.
    height : int, optional
        The number of tests on a path. By default the paper's rule, from the schema and its number of rows, lowered
        where the trees would not fit in memory; without a declared number, 5 % of epsilon buys a noisy one.
    unit : str
        ``"row"``, or the column that says whose row it is: the promise then covers all rows of a person. The column
        stands beside the schema's attributes and is not learnt.
    max_rows : int
        Of each person the first ``max_rows`` rows are used; noise grows with it.
    ledger : Ledger, optional
        Where the cost is reserved before a row is read, and settled after the release.
    random_state : int, Generator, RandomState or None
        Fixes the public structure. It never fixes the noise.
    n_jobs : int, optional
        Threads; -1 uses all cores.
    verbose : int
        Say on stderr what is being done, in words that reveal nothing about the rows.
    unsafe_seeded_noise : bool
        Draw the noise from ``random_state`` too, for tests and figures. The model then claims no privacy.

    Attributes
    ----------
    guarantee_ : Guarantee
        What the model promises; print it for the sentence.
    forest_ : Forest
        The public structure.
    noisy_counts_ : int64 array of shape (leaves, classes)
        The released counts.
    classes_, schema_, n_features_in_, feature_names_in_
        As in scikit-learn, and as the schema says.

    Examples
    --------
    >>> from privet import PrivateRDTClassifier
    >>> from privet.datasets import agrawal
    >>> data = agrawal(10_000, function=1, random_state=7)
    >>> model = PrivateRDTClassifier(data.schema, epsilon=1.0, random_state=7).fit(data.X, data.y)
    >>> model.guarantee_.epsilon
    1.0
    """

    method = "private-rdt"

    def __init__(
        self,
        schema: Schema | str | Path | None = None,
        *,
        epsilon: float = 1.0,
        n_trees: int = 10,
        height: int | None = None,
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
        self.unit = unit
        self.max_rows = max_rows
        self.ledger = ledger
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.unsafe_seeded_noise = unsafe_seeded_noise

    def fit(self, X: Any, y: Any = None) -> Self:
        """Fit to the rows of ``X`` and their labels ``y``, or to a Parquet or CSV file.

        Parameters
        ----------
        X : pandas, polars or Arrow table, NumPy array, or path
            Named columns are found by name, NumPy columns by position. A file also holds the labels.
        y : array of labels
            Each one of the schema's classes; left out for a file.
        """
        return self._fit_first_batch(X, y, classes=None)

    def partial_fit(self, X: Any, y: Any = None, classes: Any = None) -> Self:
        """Add a batch of new rows: counted on the same trees with fresh noise, and added (the paper's Algorithm 5).

        A row may be in one batch only. The cost of the model is then that of the dearest batch, while the variance of
        the noise grows with every batch; `noise_growth_` shows it. The first call is a fit.

        Parameters
        ----------
        X, y
            As in `fit`.
        classes : array of labels, optional
            For scikit-learn's sake; the schema has them, and other ones are an error.
        """
        if not hasattr(self, "guarantee_"):
            return self._fit_first_batch(X, y, classes=classes)
        epsilon = self.check_parameters()
        _check_classes(self.schema_, classes)
        self._check_next_batch()
        coins, stream = public_generator(self.random_state), len(self._batches)
        with self._reserve(epsilon, "update") as reservation:  # refuses here, before any data are read
            noise = self._noise(coins, reservation, stream=stream)
            _, rows = self._open(X, y, self._encoder)
            noisy_counts, receipt = self._release_counts(self.forest_, self.schema_, rows, epsilon, noise)
            return self._add_released(noisy_counts, receipt, reservation)

    def _fit_first_batch(self, X: Any, y: Any, *, classes: Any) -> Self:
        epsilon = self.check_parameters()
        coins = public_generator(self.random_state)
        with self._reserve(epsilon, "fit") as reservation:  # refuses here, before any data are read
            noise = self._noise(coins, reservation)
            encoder, rows = self._open(X, y)
            schema = encoder.schema
            _check_classes(schema, classes)
            height, left, receipts = self._choose_height(schema, rows, epsilon, noise)
            forest = self._draw_structure(schema, height, coins)
            self._say(f"{self.n_trees} trees of height {forest.depth} with {len(forest.leaves):,} leaves: counting")
            noisy_counts, receipt = self._release_counts(forest, schema, rows, left, noise)
            batch = Sequential((*receipts, receipt)) if receipts else receipt
            return self._set_released(encoder, forest, noisy_counts, [batch], reservation)

    def check_parameters(self) -> float:
        """Refuse a parameter that is out of its range, before any data are read, and return epsilon."""
        n_threads(self.n_jobs)
        check_whole("n_trees", self.n_trees, least=1, most=MAX_TREES)
        if self.height is not None:
            check_whole("height", self.height, least=1, most=MAX_HEIGHT)
        epsilon = check_epsilon(self.epsilon)
        if math.isfinite(epsilon):
            scale_at_least(self.n_trees * self._unit().max_rows, epsilon)
        return epsilon

    def plan(self, n_rows: int | None = None) -> Plan:
        """Say what a fit would do with the budget at about ``n_rows`` rows, by default the schema's; costs nothing."""
        return self._planner(n_rows)(self.check_parameters())

    def epsilon_needed(self, n_rows: int | None = None, reliability: float = 0.95) -> float:
        """Return the least epsilon at which votes are as reliable as asked (see `Plan`); it reads no row."""
        self.check_parameters()
        return epsilon_needed(self._planner(n_rows), reliability)

    def _planner(self, n_rows: int | None) -> Callable[[float], Plan]:
        """Return the function that plans for a price, with the trees that a fit at ``n_rows`` rows may have."""
        schema = self._declared_schema()
        n_rows = self._checked_rows(n_rows, schema)
        forest = self._draw_structure(
            schema, self.height or height_rule(schema, n_rows), public_generator(self.random_state)
        )
        unit, leaves_per_tree = self._unit(), len(forest.leaves) / forest.n_trees

        def planned(epsilon: float) -> Plan:
            steps = self._steps(schema, forest, epsilon)
            return Plan(
                self.method, epsilon, unit, n_rows, forest.n_trees, forest.depth, leaves_per_tree,
                n_rows / leaves_per_tree, steps,
            )  # fmt: skip

        return planned

    def _steps(self, schema: Schema, forest: Forest, epsilon: float) -> tuple[Step, ...]:
        share, n_counts = self._row_count_share(schema, epsilon), len(forest.leaves) * len(schema.classes)
        leaves = laplace_step(
            _LEAF_COUNTS, remaining(epsilon, share), sensitivity=forest.n_trees * self.max_rows, n_values=n_counts
        )
        if share == 0:
            return (leaves,)
        return laplace_step(_ROW_COUNT, share, sensitivity=self.max_rows, n_values=1), leaves

    def _check_next_batch(self) -> None:
        if self._unit() != Unit(self.guarantee_.unit, self.guarantee_.max_rows):
            raise ParameterError("unit or max_rows changed since the first batch; set them back, or fit anew")
        if self.n_trees != self.forest_.n_trees or (self.height is not None and self.height < self.forest_.depth):
            raise ParameterError("n_trees or height changed since the first batch; set them back, or fit anew")
        if len(self._batches) >= MAX_BATCHES:
            raise ParameterError(f"a model takes at most {MAX_BATCHES:,} batches; fit anew, with far less noise")

    def _choose_height(
        self, schema: Schema, rows: Rows, epsilon: float, noise: NoiseSource
    ) -> tuple[int, float, tuple[Event, ...]]:
        """Return the height, what is left of epsilon, and the receipt of the row count if one was bought."""
        share = self._row_count_share(schema, epsilon)
        if share == 0:
            return self.height or height_rule(schema, schema.rows or 1), epsilon, ()
        exact = np.array([rows.exact_size()], dtype=np.int64)
        noisy, receipt = discrete_laplace(exact, epsilon=share, sensitivity=self.max_rows, what=_ROW_COUNT, noise=noise)
        return height_rule(schema, max(1, int(noisy[0]))), remaining(epsilon, share), (receipt,)

    def _row_count_share(self, schema: Schema, epsilon: float) -> float:
        """Return the share of epsilon for a noisy number of rows: none where it is not needed."""
        share = ROW_COUNT_SHARE * epsilon
        needed = self.height is None and schema.rows is None
        return share if needed and share >= MIN_EPSILON else 0.0  # below that the count would be noise alone

    def _draw_structure(self, schema: Schema, height: int, coins: np.random.Generator) -> Forest:
        """Draw the trees; where the rule's height is too much for memory, the next lower one that is not."""
        while True:
            try:
                return random_structure(schema, n_trees=self.n_trees, height=height, coins=coins)
            except StructureTooLarge:
                # A height that was asked for is not changed; one that a noisy count led to must not show in an error.
                if self.height is not None or height == 1:
                    raise
                height -= 1

    def _release_counts(
        self, forest: Forest, schema: Schema, rows: Rows, epsilon: float, noise: NoiseSource
    ) -> tuple[NDArray[np.int64], Event]:
        exact_counts = exact_leaf_counts(forest, rows, n_classes=len(schema.classes), n_jobs=self.n_jobs)
        # A row lands in one leaf of every tree, so it moves n_trees counts by 1; a person has up to max_rows rows.
        return discrete_laplace(
            exact_counts,
            epsilon=epsilon,
            sensitivity=forest.n_trees * self.max_rows,
            what=_LEAF_COUNTS,
            noise=noise,
        )


def height_rule(schema: Schema, n_rows: int) -> int:
    """Return the paper's height: min(floor(k / 2), floor(log_b n) - 1), at least 1.

    k is the number of attributes, b their mean domain size, n the declared or noisy number of rows.
    """
    half = len(schema.attributes) // 2
    b, power, exponent = schema.mean_domain_size, schema.mean_domain_size, 0
    # Exact: a float logarithm may fall on the wrong side of a whole number.
    while exponent <= half and power <= n_rows:
        exponent, power = exponent + 1, power * b
    return max(1, min(half, exponent - 1, MAX_HEIGHT))


def _check_classes(schema: Schema, classes: Any) -> None:
    if classes is not None and set(np.asarray(classes).tolist()) != set(schema.classes):
        raise ParameterError("classes differ from the schema's; leave classes out, or declare them in the schema")
