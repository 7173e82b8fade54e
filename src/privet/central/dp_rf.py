"""DP-RF: random forests tuned by signal to noise (Fletcher and Islam 2015). The argument is in dp_rf.md."""

import math
from pathlib import Path
from typing import ClassVar

import numpy as np

from privet.central.class_weight import ClassWeight
from privet.central.count_forest import MAX_HEIGHT, MAX_TREES
from privet.central.greedy_forest import DEFAULT_BINS
from privet.central.leaf_counts import LeafCountClassifier
from privet.checks import OneOf, Whole
from privet.errors import StructureTooLarge
from privet.privacy.ledger import Ledger
from privet.schema import Schema
from privet.tree.counted import CountedForest
from privet.tree.forest import Forest
from privet.tree.pruning import reliable_nodes
from privet.tree.random_structure import Support, random_structure
from privet.tree.vote import SHARE_GRID, MostConfident, SummedCounts, Vote, class_shares, most_confident, node_shares

_NOISE_FACTORS = {"classes": float, "sqrt_classes": math.sqrt}


class DPRFClassifier(LeafCountClassifier):
    """Random trees whose number and depth follow from how strong the signal can be against the noise.

    The structure is drawn before anyone looks at a row. Counts of inner nodes are sums of their leaves, which averages
    noise out; what is weaker than its noise is not used, and the surest node of a path speaks for it.

    Parameters
    ----------
    schema : Schema, path or "infer"
        What is public about the table. Numeric attributes without bins or edges are cut into 5 cells. Without a
        declared number of rows, 5 % of epsilon buys a noisy one.
    epsilon : float
        The whole budget of the fit, from 1e-6 to inf; inf adds no noise and promises nothing.
    n_trees : int, optional
        By default the paper's tau: as many trees as leave each enough signal, at most one per attribute.
    noise_factor : str
        ``"classes"`` as in the paper, or ``"sqrt_classes"``, by which the noise of a sum of class counts really grows.
    vote : str
        ``"max_confidence"`` as in the paper: the surest tree decides; or ``"sum"`` of all trees' class shares.
    missing_branches : str
        Which branches for missing values count where the vote adds up leaves: ``"reliable"`` for those whose support
        stands out from its noise, or ``"all"``, which is how version 0.1.0 voted. Rules and reports show the sums over
        all leaves. Where the schema says never_missing there are no such branches.
    class_weight, unit, max_rows, ledger, random_state, n_jobs, verbose, unsafe_seeded_noise
        As in `PrivateRDTClassifier`.

    Attributes
    ----------
    guarantee_, forest_, nodes_, noisy_counts_, classes_, schema_, n_features_in_, feature_names_in_
        As in `PrivateRDTClassifier`.

    Examples
    --------
    >>> from privet import DPRFClassifier
    >>> from privet.datasets import agrawal
    >>> data = agrawal(10_000, function=1, random_state=7)
    >>> model = DPRFClassifier(data.schema, epsilon=1.0, random_state=7).fit(data.X, data.y)
    >>> model.guarantee_.epsilon
    1.0
    """

    method = "dp-rf"
    file_parameters = ("noise_factor", "vote", "missing_branches")
    later_parameters: ClassVar = {"missing_branches": "all"}
    constraints: ClassVar = {
        "n_trees": Whole(1, MAX_TREES, optional=True),
        "noise_factor": OneOf(*_NOISE_FACTORS),
        "vote": OneOf("max_confidence", "sum"),
        "missing_branches": OneOf("reliable", "all"),
    }

    def __init__(
        self,
        schema: Schema | str | Path | None = None,
        *,
        epsilon: float = 1.0,
        n_trees: int | None = None,
        noise_factor: str = "classes",
        vote: str = "max_confidence",
        missing_branches: str = "reliable",
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
        self.noise_factor = noise_factor
        self.vote = vote
        self.missing_branches = missing_branches
        self.class_weight = class_weight
        self.unit = unit
        self.max_rows = max_rows
        self.ledger = ledger
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.unsafe_seeded_noise = unsafe_seeded_noise

    def _needs_rows(self) -> bool:
        return True

    def _draw_forest(self, schema: Schema, n_rows: int, epsilon: float, public_rng: np.random.Generator) -> Forest:
        n_trees, theta = self._tau_and_theta(schema, n_rows, epsilon)
        order = public_rng.permutation(len(schema.attributes))
        roots = order[np.arange(n_trees) % len(order)].astype(np.int64)
        while True:
            support = Support(np.full(n_trees, float(n_rows)), theta)
            try:
                return random_structure(
                    schema,
                    n_trees=n_trees,
                    height=MAX_HEIGHT,
                    public_rng=public_rng,
                    binned=True,
                    roots=roots,
                    support=support,
                )
            except StructureTooLarge:
                if theta > n_rows:  # roots alone are too many
                    raise
                theta *= 2  # a noisy number of rows must not show in an error

    def _tau_and_theta(self, schema: Schema, n_rows: int, epsilon: float) -> tuple[int, float]:
        """Return the number of trees, and how many rows a node must be expected to hold to be split.

        The paper's tau is the largest number of trees, up to one per attribute, at which theta, the noise in a node of
        one tree, stays below n / b^2, the rows of a node two levels down. Noise grows with the rows of a person.
        """
        most = len(schema.attributes)
        per_tree = self._noise_factor(schema) * math.sqrt(2) * self._unit().max_rows / epsilon
        b = float(np.mean([attribute.n_values for attribute in schema.attributes]))
        limit = n_rows / b**2
        tau = most if per_tree == 0 else int(min(most, max(1, math.ceil(limit / per_tree) - 1)))
        n_trees = tau if self.n_trees is None else int(self.n_trees)
        return n_trees, max(1.0, n_trees * per_tree)

    def _noise_factor(self, schema: Schema) -> float:
        return _NOISE_FACTORS[self.noise_factor](len(schema.classes))

    def _tuning(self, schema: Schema, n_rows: int, epsilon: float) -> dict[str, str]:
        n_trees, theta = self._tau_and_theta(schema, n_rows, epsilon)
        b = float(np.mean([attribute.n_values for attribute in schema.attributes]))
        depth = max(1.0, 1 + math.log(max(1.0, n_rows / theta), max(b, 1 + 1e-9)))
        return {
            "tau, the number of trees": f"{n_trees}",
            "theta, rows worth a split": f"{theta:,.3g}",
            "expected depth": f"{min(depth, len(schema.attributes)):.2g}",
        }

    def _adapted(self, schema: Schema) -> Schema:
        return schema.with_bins(DEFAULT_BINS)

    def _vote_of(self, nodes: CountedForest, schema: Schema) -> Vote:
        nodes = nodes if self.missing_branches == "all" else nodes.without_missing_noise(schema.attributes)
        forest, shares = nodes.forest, node_shares(nodes.counts)
        kept = reliable_nodes(nodes, noise_factor=self._noise_factor(schema))
        own = shares[most_confident(forest, shares, kept)]
        otherwise = class_shares(nodes.counts[: forest.n_trees])
        if self.vote == "sum":
            return SummedCounts.of_nodes(
                forest, np.round(own * SHARE_GRID).astype(np.int64), otherwise, schema.attributes
            )
        return MostConfident.of_nodes(forest, own, otherwise, schema.attributes)

    @classmethod
    def _shape_parameters(cls, forest: Forest) -> dict[str, int]:
        return {"n_trees": forest.n_trees}
