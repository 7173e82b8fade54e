"""Small problems of all shapes, and plainly written answers to them."""

import math
from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import pairwise, product

import numpy as np
from scipy.special import logsumexp

from privet import Categorical, Numeric, Schema
from privet.central.weights.leaf_rows import LeafRows
from privet.central.weights.objective import Objective
from privet.central.weights.policy import Overrides, Policy
from privet.central.weights.prior import Prior
from privet.central.weights.trees import GRID, Axis, Trees
from tests.central.weights.reference import indicators, residuals

ATTRIBUTES = [
    Numeric("age", 0, 100, bins=4),
    Categorical("job", ["nurse", "clerk", "cook"]),
    Numeric("pay", 0, 10, bins=2),
    Categorical("night", [False, True]),
]
# Trees of 5, 3 and 12 leaves: a number, a number, two categorical attributes.
GROUPS = [[0], [2], [1, 3]]
NO_COUNTS, NO_SCORES = np.empty(0, dtype=np.int64), np.empty((0, 0), dtype=np.float32)
# The same attributes, numbers as knots: trees of the first stage, and of the second, which know a score already.
SOFT = Trees(
    (
        (Axis(0, 9, "own", (0, 4, 8), 4),), (Axis(2, 9, "never", (0, 8), 8),),
        (Axis(1, 3, "own"), Axis(3, 2, "own")),
    )
)  # fmt: skip
LATER = Trees(
    (
        (
            Axis(0, 9, "middle", (0, 4, 8), 2, merged=True), Axis(1, 3, "own"),
            Axis(2, 9, "middle", (0, 8), 2, merged=True),
        ),
        (Axis(2, 9, "middle", (0, 4, 8), 4, merged=True), Axis(0, 9, "middle", (0, 4, 8), 4, merged=True)),
    ),
    n_later=2,
)  # fmt: skip
KINDS = ["hard", "soft", "later"]


def schema_of(n_classes=2, rows=None):
    return Schema(ATTRIBUTES, classes=["no", "yes"] if n_classes == 2 else list(range(n_classes)), rows=rows)


def soft_cells(schema, n_bins, n_later=4):
    """Return the schema with cells for its numbers, knots by bounds alone, and few evenly spaced ones."""
    policy = Policy(schema, 1.0, 1000, Overrides(n_bins=n_bins))
    knots = policy.public_knots(n_bins, soft=True)
    later = {a: np.linspace(0, policy.cells.attributes[a].n_values - 1, n_later).round().astype(int) for a in knots}
    return policy.cells, knots, {a: (tuple(codes.tolist()), GRID) for a, codes in later.items()}


def problem(
    seed=0, *, n_rows=60, n_classes=2, weighted=False, noise=1.0, variance=0.5, labels=None, n_threads=1, margin=1.0,
    kind="hard",
) -> Objective:  # fmt: skip
    """Return an objective over random rows whose first tree tells the class, most of the time."""
    rng = np.random.default_rng(seed)
    schema, n_columns = schema_of(n_classes), 1 if n_classes == 2 else n_classes
    trees = {"hard": Trees.of(GROUPS, schema), "soft": SOFT, "later": LATER}[kind]
    cells = np.stack([rng.integers(0, size, n_rows) for size in trees.cell_sizes], axis=1).astype(np.uint8)
    told = np.where(rng.random(n_rows) < 0.8, cells[:, 0], rng.integers(0, 9, n_rows)) % n_classes
    rows = LeafRows(
        cells,
        (told if labels is None else np.full(n_rows, labels)).astype(np.uint8),
        rng.integers(1, 9, n_rows) if weighted else None,
        rng.normal(size=(n_rows, n_columns)).astype(np.float32) if kind == "later" else None,
    )
    prior = Prior.of(trees, schema, np.full(trees.n_trees, variance), curvature=trees.n_trees * variance)
    offsets = rng.normal(size=n_classes)
    drawn = noise * rng.laplace(size=(trees.n_leaves, n_columns))
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


def plain_shares(trees):
    """Return what each leaf has of a cell, by the places of knots: the shares of a tree are products of its axes'."""
    whole = np.zeros((int(trees.cell_sizes.sum()), trees.n_leaves))
    for t, axes in enumerate(trees.axes):
        for cell in np.ndindex(*(axis.n_cells for axis in axes)):
            for leaf in np.ndindex(*(axis.n_leaves for axis in axes)):
                share = np.prod([hat(axis, at, knot) for axis, at, knot in zip(axes, cell, leaf, strict=True)])
                line = trees.cell_starts[t] + np.ravel_multi_index(cell, [axis.n_cells for axis in axes])
                column = trees.starts[t] + np.ravel_multi_index(leaf, [axis.n_leaves for axis in axes])
                whole[line, column] = share
    return whole


def hat(axis, cell, leaf):
    """Return the share of one leaf: 1 at its knot, 0 at the next ones and beyond, linear in between."""
    if axis.missing == "own" and (cell == axis.n_cells - 1 or leaf == axis.n_leaves - 1):
        return float(cell == axis.n_cells - 1 and leaf == axis.n_leaves - 1)
    at = Fraction(cell, axis.grid) if axis.merged or not axis.knots else plain_place(axis, cell)
    return float(max(Fraction(0), 1 - abs(at - leaf)))


def plain_place(axis, code):
    """Return where a code lies among the knots: 0 at the first, 1 at the second, in between on the nearest part."""
    for i, (low, high) in enumerate(pairwise(axis.knots)):
        if low <= code < high:
            far = Fraction(code - low, high - low)
            if axis.grid == 1 and not axis.merged:  # a code that is not shared is the lower knot's
                return Fraction(i)
            return i + Fraction(math.floor(far * axis.grid + Fraction(1, 2)), axis.grid)
    return Fraction(0 if code < axis.knots[0] else len(axis.knots) - 1)


def reached(objective):
    """Return what each line has of each leaf."""
    trees = objective.trees
    cells = indicators(objective.rows.cells, trees.cell_starts, int(trees.cell_sizes.sum()))
    return cells @ plain_shares(trees)


def plain_value(objective, weights):
    """Return the value of the objective: for a row log(1 + sum over other classes of exp(theirs - own + margin))."""
    rows = objective.rows
    by_class = weights if weights.shape[1] > 1 else weights * np.array([-0.5, 0.5])
    scores = objective.offsets + reached(objective) @ by_class
    if rows.scores is not None:
        scores += rows.scores if weights.shape[1] > 1 else rows.scores * np.array([-0.5, 0.5])
    own = np.eye(len(objective.offsets), dtype=bool)[rows.labels]
    leads = scores - scores[own][:, None] + np.where(own, 0.0, objective.margin)
    losses = logsumexp(leads, axis=1) * (1 if rows.weights is None else rows.weights)
    prior = (weights * (plain_precision(objective) @ weights)).sum() / 2
    return float(losses.sum() + prior + (objective.linear_noise * weights).sum())


def exact_gradient(objective, weights, rest=None):
    """Return the gradient at ``weights + rest``, of numbers of 60 digits."""
    rest = np.zeros_like(weights) if rest is None else rest
    rows, times, lines = objective.rows, objective.rows.weights, reached(objective)
    with localcontext() as context:
        context.prec = 60
        sums = [[Decimal(value) for value in line] for line in objective.linear_noise.tolist()]
        exact = [[Decimal(a) + Decimal(b) for a, b in zip(*pair, strict=True)] for pair in _pairs(weights, rest)]
        for i, label in enumerate(rows.labels.tolist()):
            found = np.flatnonzero(lines[i]).tolist()
            known = [0.0] * objective.shape[1] if rows.scores is None else rows.scores[i].tolist()
            scores = [
                Decimal(before) + sum(Decimal(lines[i, leaf]) * exact[leaf][c] for leaf in found)
                for c, before in enumerate(known)
            ]
            pulls = residuals(scores, objective.offsets, label, objective.margin)
            for leaf, (c, pull) in product(found, enumerate(pulls)):
                sums[leaf][c] += Decimal(lines[i, leaf]) * pull * (1 if times is None else int(times[i]))
        precision = plain_precision(objective).tolist()
        for i, j, c in product(range(len(sums)), range(len(sums)), range(objective.shape[1])):
            sums[i][c] += Decimal(precision[i][j]) * exact[j][c]
    return sums


def _pairs(weights, rest):
    return zip(weights.tolist(), rest.tolist(), strict=True)


def farthest(values, exact):
    """Return the largest difference between floats and numbers of many digits."""
    with localcontext() as context:
        context.prec = 60
        pairs = zip(values.ravel().tolist(), (number for line in exact for number in line), strict=True)
        return float(max(abs(Decimal(value) - number) for value, number in pairs))
