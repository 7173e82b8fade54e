"""The model of a secure sum without its masks. They cancel, so the opened sum is that of counts and shares of noise."""

from typing import TYPE_CHECKING

import numpy as np

from privet.partitioned import NewtonRound, TableForest, TableRound
from privet.partitioned.structure import Counts
from privet.partitioned.tables.newton_round import OpenedSum
from privet.privacy.mechanisms.noise_shares import noise_share
from privet.rng import SystemNoise

if TYPE_CHECKING:
    from benchmarks.parties.run import Dealt


def secure_forest(dealt: "Dealt", epsilon: float) -> TableForest:
    """Return the model of both rounds; all parties but one are honest."""
    schema = dealt.split.schema
    tables = _opened(TableRound.draw(schema, epsilon=epsilon, n_rows=len(dealt.y)), dealt)
    return TableForest.of_sum(_opened(NewtonRound.after(tables), dealt))


def _opened(structure: Counts, dealt: "Dealt") -> OpenedSum:
    n, total = len(dealt.parts), np.zeros(structure.shape, dtype=np.int64)
    for part in dealt.parts:
        exact = structure.exact_counts(dealt.X.iloc[part].reset_index(drop=True), dealt.y[part])
        noised, event = noise_share(
            exact, epsilon=structure.epsilon, sensitivity=structure.sensitivity, honest=n - 1, parties=n,
            what=structure.what, noise=SystemNoise(),
        )  # fmt: skip
        total += noised
    return OpenedSum(structure, tuple(f"party-{i:02}" for i in range(n)), total, event)
