"""The density of a minimiser in real arithmetic, written down plainly for tables of a few rows.

theta is the minimiser for exactly one tilt b, so its density is that of b there times the determinant of the Hessian.
Trees that share noise have the same sums of b, and so of P theta: other weights cannot come out, whatever the rows are.
"""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy.linalg import null_space
from scipy.optimize import minimize, minimize_scalar
from scipy.special import expit, softmax

from privet import Categorical, Numeric, Schema
from privet.central.weights.noise_groups import NoiseGroups
from privet.central.weights.policy import Policy
from privet.central.weights.prior import Prior
from privet.central.weights.trees import Axis, Trees
from privet.privacy.mechanisms.linear_noise import scales_at_least
from tests.central.weights.noise_law import NoiseLaw

ATTRIBUTES = [Numeric("age", 0, 100, bins=2), Categorical("job", ["nurse"]), Categorical("night", [True])]
# Trees of 3, 2 and 4 leaves in all; the cells of numbers, and those of a pair, are alike.
GROUPS = {1: [[0]], 2: [[0], [1]], 3: [[0], [1], [2]]}
PAIR = [[0], [1, 2]]
# Trees of very different sizes: some share noise, one is alone; or some share it here, and others there.
MIXED = Trees(((Axis(1, 2, "own"),), (Axis(1, 1, "own"),), (Axis(1, 39, "own"),)))
APART = Trees(((Axis(1, 1, "own"),), (Axis(1, 29, "own"),), (Axis(1, 1, "own"),), (Axis(1, 29, "own"),)))
# Numbers with knots: a tree of the first stage, and trees of the second, of which a cell belongs to up to four leaves.
SOFT = Trees(((Axis(0, 9, "own", (0, 4, 8), 4),), (Axis(1, 1, "own"),)))
LATER = Trees(
    (
        (Axis(0, 5, "middle", (0, 4), 4, merged=True), Axis(1, 1, "own")),
        (Axis(0, 5, "middle", (0, 4), 2, merged=True), Axis(2, 1, "own")),
    ),
    n_later=2,
)


def cells_of(trees, places):
    """Return the numbers of these cells, one of each tree, among all cells."""
    return np.asarray(places) + trees.cell_starts


@dataclass(frozen=True)
class TinyFit:
    """A fit with K-norm noise at the product's own prices; ``price`` is what one row costs."""

    price: float
    law: NoiseLaw
    precision: np.ndarray
    offsets: np.ndarray
    margin: float
    shares: np.ndarray

    @classmethod
    def of(cls, n_classes, epsilon, *, groups, lead=-14.0, margin=1.0, kernels=None):
        """Return the fit in which the last class has a score that is ahead by ``lead``.

        ``groups`` may be trees. ``kernels`` may be other correlations of each tree's leaves than the prior's own.
        """
        policy, trees = setting_of(n_classes, epsilon, groups)
        curvature, linear = policy.curvature_and_linear(policy.shares.fit)
        shared = NoiseGroups.of(trees.sizes, n_classes)
        scales = scales_at_least(linear, shared.shares)
        law = NoiseLaw.of(trees.sizes, [own.trees for own in shared], scales, n_classes)
        variances = np.full(trees.n_trees, curvature / trees.n_trees)
        blocks = Prior.of(trees, policy.cells, variances, curvature=curvature).precisions
        if kernels is not None:
            blocks = [np.linalg.inv(v * kernel) for v, kernel in zip(variances, kernels, strict=True)]
        offsets = lead * np.eye(n_classes)[-1]
        return cls(policy.shares.fit, law, joined(blocks), offsets - offsets.mean(), margin, trees.shares.toarray())

    @property
    def n_classes(self):
        return len(self.offsets)

    @cached_property
    def basis(self):
        """The directions in which a leaf's weights are free: all of one, or those that add up to zero."""
        return np.eye(1) if self.n_classes == 2 else null_space(np.ones((1, self.n_classes)))

    def reached(self, cells):
        """Return what a row in these cells, one of each tree, has of all leaves."""
        return self.shares[np.asarray(cells)].sum(axis=0)

    def pull_and_curvature(self, weights, reached, label, known=0.0):
        """Return the first and second derivatives of a row's loss in its scores, margin included."""
        score = reached @ weights + known
        if self.n_classes == 2:
            sign = 2 * label - 1
            chance = float(expit(sign * (self.offsets[1] - self.offsets[0] + score[0]) - self.margin))
            return np.array([-sign * (1 - chance)]), np.array([[chance * (1 - chance)]])
        own = np.eye(self.n_classes)[label]
        chances = softmax(self.offsets + score - self.margin * own)
        return chances - own, np.diag(chances) - np.outer(chances, chances)

    def log_density(self, weights, rows):
        """Return the logarithm of the density at ``weights``, but for a constant that no row changes."""
        tilt = -self.precision @ weights
        assert self.law.outside(tilt) < 1e-6 * (1 + np.abs(tilt).max() / min(self.law.scales)), "no noise leads here"
        hessian = np.kron(self.precision, np.eye(self.basis.shape[1]))
        for cells, label, *known in rows:
            reached = self.reached(cells)
            pull, bend = self.pull_and_curvature(weights, reached, label, *known)
            tilt = tilt - np.outer(reached, pull)
            hessian = hessian + np.kron(np.outer(reached, reached), self.basis.T @ bend @ self.basis)
        return np.linalg.slogdet(hessian)[1] + self.law.log_density(tilt)

    def log_ratio(self, weights, rows, row):
        """Return how many times likelier ``weights`` are with ``row`` than without it, as a logarithm."""
        return self.log_density(weights, [*rows, row]) - self.log_density(weights, rows)

    def with_scales(self, factors):
        """Return the fit in which each group has so many times its scale."""
        return replace(self, law=self.law.with_scales(np.array(self.law.scales) * factors))

    def with_noise_halved(self):
        return self.with_scales(1 / 2)

    def with_curvature(self, factor):
        return replace(self, precision=self.precision / factor)

    def with_linear_at_the_whole_price(self):
        """Return the fit whose tilt costs all of the price, as if the determinant cost nothing."""
        return self.with_scales(self.law.linear / self.price)


def setting_of(n_classes, epsilon, groups):
    classes = [f"class {c}" for c in range(n_classes)]
    if isinstance(groups, Trees):
        return Policy(Schema(ATTRIBUTES, classes=classes), epsilon, 10**5), groups
    attributes = sorted({a for own in groups for a in own})
    schema = Schema([ATTRIBUTES[a] for a in attributes], classes=classes)
    return Policy(schema, epsilon, 10**5), Trees.of(groups, schema)


def joined(blocks):
    whole = np.zeros((sum(map(len, blocks)),) * 2)
    start = 0
    for block in blocks:
        whole[start : start + len(block), start : start + len(block)] = block
        start += len(block)
    return whole


def correlated(size, rng):
    """Return random correlations."""
    vectors = rng.normal(size=(size, size))
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors @ vectors.T


def built_worst_case(fit, rows, row):
    """Return the largest size of the log ratio along the direction in which the row's class is pulled up.

    There the tilt lies as the row's gradient does, and with no other row the bounds of the proof are met with equality.
    """
    cells, label, *_ = row
    own = np.eye(fit.n_classes)[label] - 1 / fit.n_classes if fit.n_classes > 2 else np.array([2 * label - 1.0])
    along = np.linalg.solve(fit.precision, np.outer(fit.reached(cells), own))

    def shown(length):
        return abs(fit.log_ratio(length * along, rows, row))

    lengths = np.concatenate([-np.geomspace(60, 0.1, 10), np.geomspace(0.1, 200, 50)])
    best = lengths[int(np.argmax([shown(length) for length in lengths]))]
    polished = minimize_scalar(
        lambda length: -shown(length), bounds=sorted([0.85 * best, 1.2 * best]), method="bounded"
    )
    return max(shown(best), -polished.fun)


def searched(fit, rows, row, rng, *, n_starts, n_polished, n_steps):
    """Return the largest size of the log ratio over random weights, the best of which are polished."""

    def weights_of(free):
        return covariance @ (fit.law.basis @ free).reshape(fit.law.shape)

    def minus_shown(free):
        return -abs(fit.log_ratio(weights_of(free), rows, row))

    covariance, root = np.linalg.inv(fit.precision), np.linalg.cholesky(fit.precision)
    starts = [
        fit.law.basis.T @ (10 ** rng.uniform(-1, 1.5) * fit.law.random(root, rng)).ravel() for _ in range(n_starts)
    ]
    starts.sort(key=minus_shown)
    options = {"maxfev": n_steps, "xtol": 1e-3}
    polished = [minimize(minus_shown, start, method="Powell", options=options).fun for start in starts[:n_polished]]
    return -min(minus_shown(starts[0]), *polished)
