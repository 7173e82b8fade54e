"""The recommended forest: small trees whose leaf weights are fitted together. The argument is in private_forest.md."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from privet.central.class_weight import ClassWeight
from privet.central.forest_plan import epsilon_for_loss
from privet.central.recommended_forest import RecommendedForest
from privet.central.updated_classifier import UpdatedClassifier
from privet.central.weight_forest import WeightForestClassifier
from privet.errors import ParameterError
from privet.privacy.ledger import Ledger
from privet.schema import Schema


class PrivateForestClassifier(RecommendedForest, WeightForestClassifier, UpdatedClassifier):
    """A forest of small trees whose leaf weights are fitted together, with noise added once, in the objective.

    Nothing has to be tuned: what the parameters below leave open follows from epsilon, the number of rows and the
    schema.

    Parameters
    ----------
    schema : Schema, path or "infer"
        What is public about the table.
    epsilon : float
        The whole budget of the fit, from 1e-6 to inf; inf adds no noise and promises nothing.
    delta : float
        0 for pure differential privacy. Above it, normal noise is used where it is smaller: from about ten trees on.
    n_attributes : int, optional
        How many attributes have a tree; where some are left out, choosing has its share of epsilon.
    n_bins : int, optional
        How many knots of equal distance numbers have that declare neither bins nor edges, up to 64; half as many finer
        ones are added at the lower bound, or as many around zero where the range spans it. Between knots a number's
        effect is a straight line; with fewer than 4 it has steps. By default knots lie where released counts find rows.
    group_size : int, optional
        How many categorical attributes share a tree, 1 to 3.
    prior_variance : float, optional
        How large weights may be before any row is seen, 0.01 to 100; noise makes it smaller.
    balance_share, selection_share : float, optional
        Of epsilon, for the class balance and for choosing attributes, 0.01 to 0.5.
    monotonic_cst : dict, optional
        Numbers and ordered categories that may move the chance of the second class one way only, by name: 1 up, -1
        down. It is for two classes, and costs nothing.
    class_weight, unit, max_rows, ledger, random_state, n_jobs, verbose, unsafe_seeded_noise
        As in `PrivateRDTClassifier`; ``random_state`` fixes how attributes are grouped.

    Attributes
    ----------
    guarantee_ : Guarantee
        What the model promises.
    trees_ : Trees
        Which attributes each tree asks for.
    released_ : ReleasedWeights
        What left the room, as whole numbers.
    class_shares_ : array
        Each class's share of the rows, from the released class counts.
    n_rows_ : int
        About how many rows there were: as declared, unless the released class counts tell otherwise.
    feature_importances_ : array
        Each attribute's share in the size of effects, less what noise would show; all 0 where nothing is left. Rough
        where rows times epsilon are below 300 for each kept attribute: how many rows a cell has is not released then.
    cell_shares_ : dict or None
        Each cell's share of the rows, missing values last, by attribute, from released counts; None where they were
        not released.
    told_apart_ : array of bool
        Which attributes do more than noise alone would, however rows lie over their cells. About one in eight that
        does nothing passes too.
    leaf_weights_ : LeafWeights
        The fitted scores: offsets, and a weight for each leaf and class.
    noise_std_, tree_noise_std_ : float, array
        The standard deviation of the noise in the pull of a leaf, in rows: the mean, and of each tree.
    releases_ : tuple of ReleasedWeights
        What each batch released: one after `fit`, and one more after each `partial_fit`. ``released_`` is all together.
    noise_growth_ : array
        The standard deviation of the noise in the pull of a leaf after each batch, in rows.
    classes_, schema_, n_features_in_, feature_names_in_
        As in `PrivateRDTClassifier`; the schema has the cells that were used.

    Examples
    --------
    >>> from privet import PrivateForestClassifier
    >>> from privet.datasets import agrawal
    >>> data = agrawal(10_000, function=1, random_state=7)
    >>> model = PrivateForestClassifier(data.schema, epsilon=1.0).fit(data.X, data.y)
    >>> model.guarantee_.epsilon <= 1.0
    True
    """

    method = "private-forest"

    def __init__(
        self,
        schema: Schema | str | Path | None = None,
        *,
        epsilon: float = 1.0,
        delta: float = 0.0,
        n_attributes: int | None = None,
        n_bins: int | None = None,
        group_size: int | None = None,
        prior_variance: float | None = None,
        balance_share: float | None = None,
        selection_share: float | None = None,
        monotonic_cst: Mapping[str, int] | None = None,
        class_weight: ClassWeight = None,
        unit: str = "row",
        max_rows: int = 1,
        ledger: Ledger | None = None,
        random_state: int | np.random.Generator | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        unsafe_seeded_noise: bool = False,
    ) -> None:
        super().__init__(
            schema, epsilon=epsilon, delta=delta, n_attributes=n_attributes, n_bins=n_bins, group_size=group_size,
            prior_variance=prior_variance, balance_share=balance_share, selection_share=selection_share,
            monotonic_cst=monotonic_cst, unit=unit, max_rows=max_rows, ledger=ledger, random_state=random_state,
            n_jobs=n_jobs, verbose=verbose, unsafe_seeded_noise=unsafe_seeded_noise,
        )  # fmt: skip
        self.class_weight = class_weight

    def epsilon_needed(
        self, n_rows: int | None = None, reliability: float | None = None, *, loss: float = 0.02
    ) -> float:
        """Return the least epsilon at which noise is expected to cost at most ``loss`` of accuracy; it reads no row.

        Parameters
        ----------
        n_rows : int, optional
            About how many rows there are; by default as the schema says.
        loss : float
            Against the same forest without noise, as a share of all rows: 0.02 are two points. Tables differ, and
            `plan` says how far.
        reliability : None
            Other methods have it. Here leaves are reliable long before the forest is any good, so it is refused.
        """
        self.check_parameters()
        if reliability is not None:
            raise ParameterError(
                f"reliability={reliability!r} says nothing of how good this forest is; "
                "pass loss=0.02 (--loss 0.02) for an expected loss of two points of accuracy"
            )
        schema = self._declared_schema()
        return epsilon_for_loss(
            loss, self._checked_rows(n_rows, schema), self._unit(), len(schema.attributes), len(schema.classes)
        )
