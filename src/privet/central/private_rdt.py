"""Private-RDT: random decision trees with noisy leaf counts (Jagannathan, Pillaipakkamnatt, Wright 2012).

The argument is in private_rdt.md.
"""

import math
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from privet.counting.rows import Rows, exact_leaf_counts, exact_size
from privet.errors import ModelFileError, ParameterError
from privet.estimator import PrivateClassifier, check_whole, public_facts
from privet.model_file import counts_from_json, counts_to_json, structure_from_json, structure_to_json
from privet.privacy.events import Event, Parallel, Sequential
from privet.privacy.guarantee import NOT_PRIVATE, Guarantee
from privet.privacy.mechanisms.discrete_laplace import discrete_laplace
from privet.privacy.mechanisms.rational import MIN_EPSILON, check_epsilon, remaining
from privet.privacy.mechanisms.spread import standard_deviation
from privet.rng import NoiseSource, noise_source, public_generator
from privet.schema import Schema
from privet.tree.forest import Forest
from privet.tree.importance import gini_importances
from privet.tree.random_structure import random_forest
from privet.tree.vote import SummedCounts

# Of epsilon, for a noisy number of rows where the schema declares none. The height grows with its logarithm, so a rough
# number does.
ROW_COUNT_SHARE = 0.05
MAX_TREES = 10_000
MAX_HEIGHT = 64
_ONE_BATCH_A_ROW = "no row is in more than one batch"


class PrivateRDTClassifier(PrivateClassifier):
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
        The number of tests on a path. By default the paper's rule, from the schema and its number of rows; without
        a declared number, 5 % of epsilon buys a noisy one.
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
    height_ : int
        The number of tests on a path.
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

    def __init__(
        self,
        schema: Schema | str | Path | None = None,
        *,
        epsilon: float = 1.0,
        n_trees: int = 10,
        height: int | None = None,
        random_state: int | np.random.Generator | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        unsafe_seeded_noise: bool = False,
    ) -> None:
        self.schema = schema
        self.epsilon = epsilon
        self.n_trees = n_trees
        self.height = height
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
        self._check_parameters()
        coins = public_generator(self.random_state)
        noise = noise_source(coins, unsafe_seeded_noise=self.unsafe_seeded_noise)
        rows = self._open(X, y)
        self.height_, left, receipts = self._choose_height(rows, noise)
        self.forest_ = random_forest(self.schema_, n_trees=self.n_trees, height=self.height_, coins=coins)
        self._say(f"{self.n_trees} trees of height {self.height_} with {len(self.forest_.leaves):,} leaves: counting")
        noisy_counts, receipt = self._release_counts(rows, left, noise)
        batch = Sequential((*receipts, receipt)) if receipts else receipt
        return self._set_released(noisy_counts, [batch], secure_noise=noise.secure)

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
            return self.fit(X, y)._check_classes(classes)
        self._check_parameters()._check_classes(classes)
        noise = noise_source(public_generator(self.random_state), unsafe_seeded_noise=self.unsafe_seeded_noise)
        noisy_counts, receipt = self._release_counts(self._open_more(X, y), check_epsilon(self.epsilon), noise)
        secure = noise.secure and not self._noise_was_seeded
        return self._set_released(self.noisy_counts_ + noisy_counts, [*self._batches, receipt], secure_noise=secure)

    @property
    def noise_growth_(self) -> NDArray[np.float64]:
        """The standard deviation of the noise in a released count after each batch."""
        check_is_fitted(self)
        deviations = [standard_deviation(_leaf_receipt(batch)) for batch in self._batches]
        return np.sqrt(np.cumsum(np.square(deviations)))

    @property
    def noise_std_(self) -> float:
        """The standard deviation of the noise in a released count."""
        return float(self.noise_growth_[-1])

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """Each attribute's share of the fall in Gini impurity, from released counts alone and corrected for noise."""
        return gini_importances(
            self.forest_, self.noisy_counts_, noise_variance=self.noise_std_**2, n_attributes=self.n_features_in_
        )

    def _check_parameters(self) -> Self:
        check_epsilon(self.epsilon)
        check_whole("n_trees", self.n_trees, least=1, most=MAX_TREES)
        if self.height is not None:
            check_whole("height", self.height, least=1, most=MAX_HEIGHT)
        return self

    def _check_classes(self, classes: Any) -> Self:
        if classes is not None and set(np.asarray(classes).tolist()) != set(self.schema_.classes):
            raise ParameterError("classes differ from the schema's; leave classes out, or declare them in the schema")
        return self

    def _choose_height(self, rows: Rows, noise: NoiseSource) -> tuple[int, float, tuple[Event, ...]]:
        """Return the height, what is left of epsilon, and the receipt of the row count if one was bought."""
        epsilon = check_epsilon(self.epsilon)
        if self.height is not None:
            return self.height, epsilon, ()
        if self.schema_.rows is not None:
            return height_rule(self.schema_, self.schema_.rows), epsilon, ()
        share = ROW_COUNT_SHARE * epsilon
        if share < MIN_EPSILON:  # such a count would be noise alone
            return height_rule(self.schema_, 1), epsilon, ()
        exact = np.array([exact_size(rows)], dtype=np.int64)
        noisy, receipt = discrete_laplace(exact, epsilon=share, sensitivity=1, what="number of rows", noise=noise)
        return height_rule(self.schema_, max(1, int(noisy[0]))), remaining(epsilon, share), (receipt,)

    def _release_counts(self, rows: Rows, epsilon: float, noise: NoiseSource) -> tuple[NDArray[np.int64], Event]:
        exact_counts = exact_leaf_counts(self.forest_, rows, n_classes=len(self.classes_), n_jobs=self.n_jobs)
        # A row lands in one leaf of every tree, so it moves n_trees counts by 1.
        return discrete_laplace(
            exact_counts, epsilon=epsilon, sensitivity=self.forest_.n_trees, what="class counts of leaves", noise=noise
        )

    def _set_released(
        self, noisy_counts: NDArray[np.int64], batches: Sequence[Event], *, secure_noise: bool
    ) -> Self:
        several = len(batches) > 1
        guarantee = Guarantee.from_event(
            Parallel(tuple(batches), because=_ONE_BATCH_A_ROW) if several else batches[0],
            public=[*public_facts(self.schema_), "the method and its parameters"],
            leaks=self.schema_.leaks,
            assumptions=[_ONE_BATCH_A_ROW] if several else [],
            secure_noise=secure_noise,
        )
        self._set_fitted(noisy_counts, guarantee)
        self._say(f"released with noise of standard deviation {self.noise_std_:.3g} a count, batch {len(batches)}")
        return self

    def _set_fitted(self, noisy_counts: NDArray[np.int64], guarantee: Guarantee) -> None:
        self.noisy_counts_ = noisy_counts
        self._vote = SummedCounts.of(self.forest_, noisy_counts)
        self.guarantee_ = guarantee

    @property
    def _batches(self) -> tuple[Event, ...]:
        event = self.guarantee_.event
        return event.parts if isinstance(event, Parallel) else (event,)

    @property
    def _noise_was_seeded(self) -> bool:
        return self.guarantee_.mode == NOT_PRIVATE and self.noise_std_ > 0

    def _probabilities(self, codes: NDArray[Any]) -> NDArray[np.float64]:
        return self._vote.probabilities(codes, n_jobs=self.n_jobs)

    def _document(self) -> dict[str, Any]:
        epsilon = float(self.epsilon)
        return {
            "method": type(self).__name__,
            "parameters": {"epsilon": "inf" if math.isinf(epsilon) else epsilon, "height": self.height_},
            "schema": self.schema_.to_json(),
            "structure": structure_to_json(self.forest_),
            "released": {"counts": counts_to_json(self.noisy_counts_)},
            "guarantee": self.guarantee_.to_json(),
        }

    @classmethod
    def _from_document(cls, document: Mapping[str, Any], schema: Schema) -> Self:
        """Return the model that a checked document holds."""
        forest = structure_from_json(document["structure"], schema.attributes)
        epsilon, height = _parameters_from_json(document["parameters"], forest)
        model = cls(schema, epsilon=epsilon, n_trees=forest.n_trees, height=height)
        released = document["released"]
        if not isinstance(released, Mapping) or set(released) != {"counts"}:
            raise ModelFileError("a Private-RDT model releases counts and nothing else; the file is damaged")
        counts = counts_from_json(released["counts"], n_leaves=len(forest.leaves), n_classes=len(schema.classes))
        model._set_schema(schema)
        model.height_, model.forest_ = height, forest
        model._set_fitted(counts, Guarantee.from_json(document["guarantee"]))
        return model

    def _say(self, message: str) -> None:
        if self.verbose:
            print(f"privet: {message}", file=sys.stderr)


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


def _leaf_receipt(batch: Event) -> Event:
    return batch.parts[-1] if isinstance(batch, Sequential) else batch


def _parameters_from_json(data: object, forest: Forest) -> tuple[float, int]:
    if not isinstance(data, Mapping) or set(data) != {"epsilon", "height"}:
        raise ModelFileError("the parameters are not those of Private-RDT; the file is damaged")
    try:
        epsilon = check_epsilon(math.inf if data["epsilon"] == "inf" else data["epsilon"])
        height = check_whole("height", data["height"], least=1, most=MAX_HEIGHT)
    except ParameterError as error:
        raise ModelFileError(f"the parameters are out of range: {error}") from error
    if forest.depth > height or forest.n_trees > MAX_TREES:
        raise ModelFileError("the trees are taller or more than the parameters say; the file is damaged")
    return epsilon, height
