"""What a joint fit gives away, seen from outside: attacks on released weights gain no more than epsilon.

Each fit holds many small tables side by side. Categories are strangers to each other in the prior, so leaves that share
no row have nothing to do with each other: leaf i of every tree holds table i, and one fit is an audit of all of them.
"""

import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binomtest
from threadpoolctl import threadpool_limits

from privet import Categorical, PrivateForestClassifier, Schema
from privet.central.weights import minimiser
from privet.central.weights.fitting import PublicFit
from privet.central.weights.leaf_rows import LeafRows
from privet.central.weights.link import chances_of, scores_of
from privet.central.weights.minimiser import release_minimiser
from privet.central.weights.objective import Objective
from privet.central.weights.objective_noise import choose_noise
from privet.central.weights.policy import MARGIN, Overrides, Policy
from privet.central.weights.prior import Prior
from privet.central.weights.solver import newton_step, preconditioner
from privet.central.weights.trees import Trees
from privet.counting.rows import MemoryRows
from privet.privacy.accounting import pure_epsilon
from privet.privacy.events import Sequential
from privet.rng import SystemNoise
from privet.schema.encoding import Encoder
from tests.statistical.audited import told

N_TABLES = 128  # the last is that of missing values
ROWS = 10**6  # declared, and public: the prior is then as wide as the price allows
CONFIDENCE = 1 - 2e-7


class Audited:
    """The fit's last steps at the product's own prices, given the offsets that an earlier release led to.

    The class balance and the choice of attributes are left out: ``epsilon`` is what the weights and their last digits
    cost.
    """

    def __init__(self, budget, *, n_classes=2, n_trees=1, lead=-5.0):
        schema = Schema(
            [Categorical(f"a{t}", range(N_TABLES - 1)) for t in range(n_trees)], classes=range(n_classes), rows=ROWS
        )
        self.policy = Policy(schema, budget, ROWS, Overrides(prior_variance=100.0))
        self.trees = Trees.of([[t] for t in range(n_trees)], schema)
        self.law = choose_noise(self.policy, self.trees, self.policy.shares.fit)
        shares = chances_of(lead * np.eye(n_classes)[-1:], MARGIN)[0]
        self.offsets = scores_of(shares, MARGIN)
        self.public = PublicFit.of(self.policy, self.law, shares, self.last_share)
        self.prior = self.prior_of(1.0)
        self.epsilon = pure_epsilon(Sequential((self.law.event("weights", rows=1), self.receipt_of_digits())))

    @property
    def last_share(self):
        return self.policy.shares.release

    def prior_of(self, factor):
        curvature = self.law.curvature
        variances = self.public.variances
        assert variances == pytest.approx(curvature / self.trees.n_trees)
        return Prior.of(self.trees, self.policy.cells, factor * variances, curvature=factor * curvature)

    def with_noise_halved(self):
        """Plant a fault: half the noise, at the price of all."""
        self.law = replace(self.law, scales=tuple(scale / 2 for scale in self.law.scales))
        return self

    def with_four_times_the_curvature(self):
        """Plant a fault: a prior that is wider than what was paid for."""
        self.prior = self.prior_of(4.0)
        return self

    def released(self, labels):
        """Return the weights of one fit, trees x tables x columns, and the receipt of their last digits."""
        noise = SystemNoise()
        tables = np.repeat(np.arange(N_TABLES), len(labels)).astype(np.uint8)
        rows = LeafRows(
            np.repeat(tables[:, None], self.trees.n_trees, axis=1), np.tile(labels, N_TABLES).astype(np.uint8), None
        )
        drawn = self.law.draw(noise)
        objective = Objective(rows, self.trees, self.prior, self.offsets, drawn.values)
        weights, receipt = release_minimiser(
            objective, self.public.grid, noise_error=drawn.error, epsilon=self.last_share, what="digits", noise=noise
        )
        shape = self.trees.n_trees, N_TABLES, -1
        return weights.reshape(shape) * 2.0**self.public.grid.exponent, receipt

    def receipt_of_digits(self):
        return self.released([])[1]

    @property
    def variance(self):
        """The prior variance of a weight: how far a pull of one row moves it where no other row is."""
        return float(self.public.variances[0])

    def hits(self, labels, attack, n_fits):
        with threadpool_limits(1, "blas"):
            return sum(int(attack(self.released(labels)[0]).sum()) for _ in range(n_fits))

    def shown(self, row, others, attack, *, n_fits):
        """Return a lower bound on the epsilon that the attack shows, in the direction in which it shows more."""
        tried = n_fits * N_TABLES
        present = binomtest(self.hits([*others, row], attack, n_fits), tried).proportion_ci(CONFIDENCE)
        missing = binomtest(self.hits(others, attack, n_fits), tried).proportion_ci(CONFIDENCE)
        return max(
            math.log(max(one.low, 1e-12) / other.high) for one, other in [(present, missing), (missing, present)]
        )


def all_above(least):
    """Attack two classes: large weights in every tree speak for a row of the second."""
    return lambda weights: (weights[..., 0] > least).all(axis=0)


def between(low, high):
    """Attack one tree: weights where the row's class becomes likely speak for the row."""
    return lambda weights: (weights[0, :, 0] > low) & (weights[0, :, 0] < high)


def own_class_above(least):
    """Attack more classes: a large weight of the last, and all others as far down, speak for a row of it."""
    return lambda weights: (
        (weights[0, :, -1] > least) & (weights[0, :, :-1] < -least / (weights.shape[2] - 1)).all(axis=-1)
    )


# 1,563 fits of 128 tables are 200,000 runs a side.
@pytest.mark.slow
@pytest.mark.parametrize(
    ("epsilon", "n_trees", "n_fits"), [(0.5, 1, 1563), (1.0, 1, 1563), (2.0, 1, 782), (1.0, 2, 782), (1.0, 3, 782)]
)
def test_an_attack_on_two_classes_gains_nearly_epsilon_and_no_more(epsilon, n_trees, n_fits):
    audited = Audited(epsilon, n_trees=n_trees, lead=-10.0)
    shown = audited.shown(1, [], all_above(audited.variance), n_fits=n_fits)
    assert 0.75 * audited.epsilon < shown <= audited.epsilon


@pytest.mark.slow
@pytest.mark.parametrize("n_classes", [3, 5])
def test_an_attack_on_more_classes_gains_no_more_than_epsilon(n_classes):
    audited = Audited(1.0, n_classes=n_classes, lead=-10.0)
    shown = audited.shown(n_classes - 1, [], own_class_above(audited.variance), n_fits=782)
    assert 0.5 * audited.epsilon < shown <= audited.epsilon


@pytest.mark.slow
@pytest.mark.parametrize(("others", "lead"), [([0], -8.0), ([1], -5.0), ([0, 1], 0.0)])
def test_other_rows_make_an_attack_no_stronger(others, lead):
    audited = Audited(1.0, lead=lead)
    for least in (1.0, 3.0):
        shown = audited.shown(1, others, all_above(least * audited.variance), n_fits=391)
        assert shown <= audited.epsilon


@pytest.mark.slow
def test_the_attack_on_more_classes_catches_half_the_noise():
    audited = Audited(1.0, n_classes=3, lead=-10.0).with_noise_halved()
    assert audited.shown(2, [], own_class_above(audited.variance), n_fits=782) > 1.3 * audited.epsilon


@pytest.mark.slow
@pytest.mark.parametrize(("epsilon", "n_trees"), [(0.5, 1), (1.0, 1), (1.0, 3)])
def test_the_attack_catches_half_the_noise(epsilon, n_trees):
    audited = Audited(epsilon, n_trees=n_trees, lead=-10.0).with_noise_halved()
    assert audited.shown(1, [], all_above(audited.variance), n_fits=782) > 1.5 * audited.epsilon


# Where the row's class is neither hopeless nor sure, a wide prior lets the determinant speak.
WHERE_CURVATURE_SHOWS = [(0.5, -2.0, (1.5, 3.0)), (1.0, -3.5, (3.0, 4.0)), (2.0, -8.0, (8.5, 9.5))]


@pytest.mark.slow
@pytest.mark.parametrize(("epsilon", "lead", "window"), WHERE_CURVATURE_SHOWS)
def test_the_attack_catches_four_times_the_curvature(epsilon, lead, window):
    audited = Audited(epsilon, lead=lead).with_four_times_the_curvature()
    assert audited.shown(1, [], between(*window), n_fits=1172) > 1.1 * audited.epsilon


@pytest.mark.slow
@pytest.mark.parametrize(("epsilon", "lead", "window"), WHERE_CURVATURE_SHOWS)
def test_the_same_attack_gains_no_more_than_epsilon_on_the_curvature_that_was_paid_for(epsilon, lead, window):
    audited = Audited(epsilon, lead=lead)
    assert audited.shown(1, [], between(*window), n_fits=782) <= audited.epsilon


def one_newton_step(objective, tolerance, *, noise_error):
    """Plant a fault: no certificate, and one step of the solver."""
    start = np.zeros(objective.shape)
    gradient = objective.gradient(start)
    solve = preconditioner(objective, start)
    return newton_step(objective, gradient, solve, wanted=1e-6)[0], start


@pytest.mark.slow
def test_the_attack_catches_a_solver_that_stops_early(monkeypatch):
    monkeypatch.setattr(minimiser, "certified_minimiser", one_newton_step)
    assert audit_of_large_weights("an unconverged joint fit") > 1.05


@pytest.mark.slow
def test_the_same_attack_gains_nothing_on_a_certified_minimiser():
    assert audit_of_large_weights("a converged joint fit") <= 1.0


def audit_of_large_weights(name):
    """Return the share of epsilon that large weights show, where the row's own class has even chances at first.

    There a step of Newton's squeezes the noise as if the loss were bent as much everywhere.
    """
    audited = Audited(2.0, lead=1.0)
    shown = audited.shown(1, [], all_above(2.4 * audited.variance), n_fits=1563)
    told(name, audited.epsilon, shown, 2 * 1563 * N_TABLES, "caught" if shown > audited.epsilon else "nothing found")
    return shown / audited.epsilon


# The whole of `fit`, with a row of one class in every other cell and of the other class in the rest.

CELLS = np.arange(N_TABLES - 1)
SIDES = np.where(CELLS % 2 == 0, "no", "yes")
SCHEMA = Schema([Categorical("cell", CELLS.tolist())], classes=["no", "yes"], rows=ROWS)


def fit_shown(classifier, X, y, *, n_fits, **options):
    """Return a lower bound on the epsilon that weights away from the rows' own classes show: they speak against."""

    def rate(X, y):
        hits = 0
        for _ in range(n_fits):
            # So wide a prior is as wide as the price allows, however few rows the class balance tells.
            model = classifier(SCHEMA, prior_variance=100.0, **options).fit(X, y)
            weights = model.leaf_weights_.weights[:-1, 0]
            hits += int((weights * np.where(SIDES == "yes", 1, -1) < -0.5).sum())
        return binomtest(hits, n_fits * len(CELLS)).proportion_ci(CONFIDENCE)

    return math.log(rate(X[:0], y[:0]).low / rate(X, y).high)


@pytest.mark.slow
def test_an_attack_on_a_whole_fit_gains_no_more_than_epsilon():
    X = pd.DataFrame({"cell": CELLS})
    assert 0.5 < fit_shown(PrivateForestClassifier, X, SIDES, n_fits=600, epsilon=1.0) <= 1.0


# Each cell has a person of nine rows, of which two are used.
PERSONS = pd.DataFrame({"cell": np.repeat(CELLS, 9), "person": np.repeat(CELLS, 9)}), np.repeat(SIDES, 9)
BOUND = {"epsilon": 2.0, "unit": "person", "max_rows": 2}


class UsesAllRows(PrivateForestClassifier):
    """A planted fault: a person's rows are not bounded."""

    def _open(self, call, reservation, encoder=None):
        encoder = encoder or Encoder(SCHEMA, "person")
        return encoder, MemoryRows(encoder.encode(call.X), encoder.encode_labels(call.y))


@pytest.mark.slow
def test_an_attack_on_persons_with_many_rows_gains_no_more_than_epsilon():
    assert 1.0 < fit_shown(PrivateForestClassifier, *PERSONS, n_fits=600, **BOUND) <= 2.0


@pytest.mark.slow
def test_the_attack_on_persons_catches_rows_without_bound():
    assert fit_shown(UsesAllRows, *PERSONS, n_fits=300, **BOUND) > 2.5
