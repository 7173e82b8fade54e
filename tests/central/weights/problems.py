"""Small problems of all shapes, and plainly written answers to them."""

from decimal import Decimal, localcontext
from itertools import product

import numpy as np
from scipy.special import logsumexp

from privet import Categorical, Numeric, Schema
from privet.central.weights.leaf_rows import LeafRows
from privet.central.weights.objective import Objective
from privet.central.weights.prior import Prior
from privet.central.weights.trees import Trees
from tests.central.weights.reference import indicators, residuals

ATTRIBUTES = [
    Numeric("age", 0, 100, bins=4),
    Categorical("job", ["nurse", "clerk", "cook"]),
    Numeric("pay", 0, 10, bins=2),
    Categorical("night", [False, True]),
]
# Trees of 5, 3 and 12 leaves: a number, a number, two categorical attributes.
GROUPS = [[0], [2], [1, 3]]
NO_COUNTS = np.empty(0, dtype=np.int64)


def schema_of(n_classes=2, rows=None):
    return Schema(ATTRIBUTES, classes=["no", "yes"] if n_classes == 2 else list(range(n_classes)), rows=rows)


def problem(
    seed=0, *, n_rows=60, n_classes=2, weighted=False, noise=1.0, variance=0.5, labels=None, n_threads=1, margin=1.0
) -> Objective:
    """Return an objective over random rows whose first tree tells the class, most of the time."""
    rng = np.random.default_rng(seed)
    schema = schema_of(n_classes)
    trees = Trees.of(GROUPS, schema)
    leaves = np.stack([rng.integers(0, size, n_rows) for size in trees.sizes], axis=1).astype(np.uint8)
    told = np.where(rng.random(n_rows) < 0.8, leaves[:, 0], rng.integers(0, 9, n_rows)) % n_classes
    rows = LeafRows(
        leaves,
        (told if labels is None else np.full(n_rows, labels)).astype(np.uint8),
        rng.integers(1, 9, n_rows) if weighted else None,
    )
    prior = Prior.of(trees, schema, np.full(3, variance), curvature=3 * variance)
    offsets = rng.normal(size=n_classes)
    drawn = noise * rng.laplace(size=(trees.n_leaves, 1 if n_classes == 2 else n_classes))
    if n_classes > 2:
        drawn -= drawn.mean(axis=1, keepdims=True)
    return Objective(rows, trees, prior, offsets - offsets.mean(), drawn, margin, n_threads)


def random_weights(objective, seed=0, size=1.0):
    return size * np.random.default_rng(seed).normal(size=objective.shape)


def counts_of(objective):
    return NO_COUNTS if objective.rows.weights is None else objective.rows.weights


def plain_precision(objective):
    """Return the prior's precision as one matrix."""
    whole = np.zeros((objective.shape[0],) * 2)
    for start, own in zip(objective.trees.starts, objective.prior.precisions, strict=True):
        whole[start : start + len(own), start : start + len(own)] = own
    return whole


def plain_value(objective, weights):
    """Return the value of the objective: for a row log(1 + sum over other classes of exp(theirs - own + margin))."""
    rows = objective.rows
    reached = indicators(rows.leaves, objective.trees.starts, objective.shape[0])
    by_class = weights if weights.shape[1] > 1 else weights * np.array([-0.5, 0.5])
    scores = objective.offsets + reached @ by_class
    own = np.eye(len(objective.offsets), dtype=bool)[rows.labels]
    leads = scores - scores[own][:, None] + np.where(own, 0.0, objective.margin)
    losses = logsumexp(leads, axis=1) * (1 if rows.weights is None else rows.weights)
    prior = (weights * (plain_precision(objective) @ weights)).sum() / 2
    return float(losses.sum() + prior + (objective.linear_noise * weights).sum())


def exact_gradient(objective, weights, rest=None):
    """Return the gradient at ``weights + rest``, of numbers of 60 digits."""
    rest = np.zeros_like(weights) if rest is None else rest
    rows, starts, times = objective.rows, objective.trees.starts, objective.rows.weights
    with localcontext() as context:
        context.prec = 60
        sums = [[Decimal(value) for value in line] for line in objective.linear_noise.tolist()]
        for i, label in enumerate(rows.labels.tolist()):
            found = starts + rows.leaves[i]
            pulls = residuals(weights[found], rest[found], objective.offsets, label, objective.margin)
            for leaf, (c, pull) in product(found.tolist(), enumerate(pulls)):
                sums[leaf][c] += pull * (1 if times is None else int(times[i]))
        precision = plain_precision(objective).tolist()
        for i, j, c in product(range(len(sums)), range(len(sums)), range(objective.shape[1])):
            sums[i][c] += Decimal(precision[i][j]) * (Decimal(float(weights[j, c])) + Decimal(float(rest[j, c])))
    return sums


def farthest(values, exact):
    """Return the largest difference between floats and numbers of many digits."""
    with localcontext() as context:
        context.prec = 60
        pairs = zip(values.ravel().tolist(), (number for line in exact for number in line), strict=True)
        return float(max(abs(Decimal(value) - number) for value, number in pairs))
