"""Private-RDT: random decision trees with noisy leaf counts (Jagannathan, Pillaipakkamnatt, Wright 2012).

The argument is in private_rdt.md.
"""

import math
from pathlib import Path
from typing import ClassVar

import numpy as np

from privet.central.class_weight import ClassWeight
from privet.central.count_forest import MAX_HEIGHT, MAX_TREES
from privet.central.leaf_counts import LeafCountClassifier
from privet.checks import Whole
from privet.errors import ParameterError, StructureTooLarge
from privet.privacy.ledger import Ledger
from privet.privacy.mechanisms.rational import scale_at_least
from privet.schema import Schema
from privet.tree.counted import CountedForest
from privet.tree.forest import Forest
from privet.tree.random_structure import random_structure
from privet.tree.vote import SummedCounts, Vote


class PrivateRDTClassifier(LeafCountClassifier):
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
    class_weight : "balanced", dict or None
        How much each class counts: chances are then those of rows where classes are so much more frequent. "balanced"
        makes all classes equally frequent, by their released shares; a class that a dict leaves out weighs 1. It costs
        nothing, and `with_class_weight` changes it later.
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
    constraints: ClassVar = {"n_trees": Whole(1, MAX_TREES), "height": Whole(1, MAX_HEIGHT, optional=True)}

    def __init__(
        self,
        schema: Schema | str | Path | None = None,
        *,
        epsilon: float = 1.0,
        n_trees: int = 10,
        height: int | None = None,
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
        self.class_weight = class_weight
        self.unit = unit
        self.max_rows = max_rows
        self.ledger = ledger
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.unsafe_seeded_noise = unsafe_seeded_noise

    def check_parameters(self) -> float:
        """Refuse a parameter that is out of its range, before any data are read, and return epsilon."""
        epsilon = super().check_parameters()
        if math.isfinite(epsilon):
            scale_at_least(self.n_trees * self._unit().max_rows, epsilon)
        return epsilon

    def _needs_rows(self) -> bool:
        return self.height is None

    def _draw_forest(self, schema: Schema, n_rows: int, epsilon: float, public_rng: np.random.Generator) -> Forest:  # noqa: ARG002
        return draw_trees(schema, n_trees=self.n_trees, height=self.height, n_rows=n_rows, public_rng=public_rng)

    def _vote_of(self, nodes: CountedForest, schema: Schema) -> Vote:
        return SummedCounts.of_counts(nodes, schema.attributes)

    def _check_next_batch(self) -> None:
        super()._check_next_batch()
        if self.n_trees != self.forest_.n_trees or (self.height is not None and self.height < self.forest_.depth):
            raise ParameterError("n_trees or height changed since the first batch; set them back, or fit again")


def draw_trees(
    schema: Schema, *, n_trees: int, height: int | None, n_rows: int, public_rng: np.random.Generator
) -> Forest:
    """Draw the trees; where the rule's height is too much for memory, the next lower one that is not."""
    lowered = height or height_rule(schema, n_rows)
    while True:
        try:
            return random_structure(schema, n_trees=n_trees, height=lowered, public_rng=public_rng)
        except StructureTooLarge:
            # A height that was asked for is not changed; one that a noisy count led to must not show in an error.
            if height is not None or lowered == 1:
                raise
            lowered -= 1


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
