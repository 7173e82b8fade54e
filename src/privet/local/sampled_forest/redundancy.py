"""How far attributes repeat each other within a class, from the questions about two of them. See sampled_forest.md."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from privet.local.channels.sampling.question import Support
from privet.local.channels.sampling.sampled_fields import SampledFields
from privet.local.sampled_forest.class_tables import joint_table
from privet.local.sampled_forest.value_weights import ValueWeights

Floats = NDArray[np.float64]
# None is used unless the mean correlation of the pairs that were asked is known as well as this, and they are this
# share of all.
_PRECISE, _ASKED = 0.05, 0.5
_STEPS, _FIRST_SPREAD, _LEAST_SPREAD = 30, 0.2, 1e-2
# No sum of scores is taken to vary by less than this share of what it would if attributes were independent.
_LEAST_EIGENVALUE = 0.05
# How much is added to each attribute's own variance, so that noise does not set attributes against each other.
_RIDGE, _MOST = 0.2, 2.0


@dataclass(frozen=True)
class Redundancy:
    """Correlations of what attributes say, within a class, and how far each one's scores vary there."""

    correlations: Floats
    deviations: Floats

    @classmethod
    def of(cls, deviations: Floats, seen: Floats, variance: Floats) -> Self | None:
        """Return noisy correlations drawn towards their mean, as far as noise explains that they differ from it.

        ``variance`` is infinite for pairs that were not asked for, which are given the mean. None is returned where
        these are most, or where noise leaves even the mean uncertain.
        """
        above = np.triu_indices(len(seen), 1)
        asked = np.isfinite(variance[above])
        x, noise = seen[above][asked], variance[above][asked]
        if not asked.any() or asked.mean() < _ASKED or (1 / noise).sum() < 1 / _PRECISE**2:
            return None
        spread = _FIRST_SPREAD
        for _ in range(_STEPS):
            weights = 1 / (spread**2 + noise)
            mean = float((weights * x).sum() / weights.sum())
            apart = float((weights**2 * ((x - mean) ** 2 - noise)).sum() / (weights**2).sum())
            spread = max(apart, _LEAST_SPREAD**2) ** 0.5
        kept = np.full(len(asked), mean)
        kept[asked] += spread**2 / (spread**2 + noise) * (x - mean)
        drawn = np.eye(len(seen))
        drawn[above] = np.clip(kept, -1.0, 1.0)
        return cls(_possible(drawn + np.triu(drawn, 1).T), deviations)

    def counts_for(self) -> Floats:
        """Return how much each attribute counts: 1 for independent ones, less for what others say too."""
        matrix = (self.correlations + _RIDGE * np.eye(len(self.deviations))) / (1 + _RIDGE)
        own = np.maximum(self.deviations, 1e-9)
        fitted: Floats = np.clip(np.linalg.solve(matrix, own) / own, 0.0, _MOST)
        return fitted

    def spread(self, counts_for: Floats) -> float:
        """Return a weighted sum's variance within a class, over what it would be if attributes were independent."""
        own = counts_for * self.deviations
        independent = float((own**2).sum())
        return float(own @ self.correlations @ own) / independent if independent > 0 else 1.0


def measured_redundancy(
    record: SampledFields, supports: Sequence[Support], attributes: Mapping[str, ValueWeights], balance: Floats
) -> Redundancy | None:
    """Return the redundancy of attributes that are weighted so, None where too few were asked about two at once."""
    order = {name: j for j, name in enumerate(attributes)}
    residuals, deviations = zip(*(_residuals(own, balance) for own in attributes.values()), strict=True)
    seen = np.zeros((len(order), len(order)))
    variance = np.full_like(seen, np.inf)
    for question, support in zip(record.questions, supports, strict=True):
        if len(question.fields) < 2 or support.n <= 0:
            continue
        one, other = (order[name] for name in question.fields)
        scale = deviations[one] * deviations[other]
        if scale <= 0:
            continue
        table = joint_table(support, question.shape)
        products = np.einsum("vyc,uyc,c->vuy", residuals[one], residuals[other], balance) / scale
        shares = table.counts.reshape(question.shape) / table.n
        of_cell = (table.noise / table.n + np.clip(shares, 0.0, 1.0)) / table.n
        seen[one, other] = seen[other, one] = float((shares * products).sum())
        variance[one, other] = variance[other, one] = float((of_cell * products**2).sum())
    return Redundancy.of(np.array(deviations), seen, np.maximum(variance, 1e-12))


def _residuals(own: ValueWeights, balance: Floats) -> tuple[Floats, float]:
    """Return how far each value's scores lie from their mean in each class, and their standard deviation."""
    joint = own.joint(balance)
    joint = joint / joint.sum(axis=0) * balance
    scores = own.weights - (own.weights @ balance)[:, None]
    residuals = scores[:, None, :] - (joint.T @ scores) / balance[:, None]
    return residuals, float(np.sqrt(np.einsum("vy,vyc,c->", joint, residuals**2, balance)))


def _possible(correlations: Floats) -> Floats:
    """Return the nearest that a joint distribution can have, with no direction all but certain."""
    values, vectors = np.linalg.eigh(correlations)
    raised = (vectors * np.maximum(values, _LEAST_EIGENVALUE)) @ vectors.T
    own = np.sqrt(np.diag(raised))
    matrix: Floats = raised / np.outer(own, own)
    return matrix
