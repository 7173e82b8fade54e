"""What noise in an objective costs: by hand, by brute force, and against another library's Gaussian mechanism."""

import math
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import norm

from privet.errors import ParameterError
from privet.privacy.mechanisms.objective_perturbation import (
    NORMAL_DEFECT,
    curvature_at_most,
    gaussian_delta,
    gaussian_objective_delta,
    largest_growth,
    linear_at_most,
    pure_objective_epsilon,
)
from tests.loops import loop_over

LINEARS, CURVATURES, CLASSES = [1e-3, 0.1, 0.7, 2.0, 9.0], [0.0, 0.05, 0.7, 3.0, 40.0], [2, 3, 4, 9]
CASES = [(linear, curvature, n) for linear in LINEARS for curvature in CURVATURES for n in CLASSES]


def by_brute_force(linear, curvature, n_classes):
    """Return the largest linear (1 - p) + log det(I + curvature (diag q - q q')) over p, others alike."""
    p = np.linspace(0.0, 1.0, 3001)
    chances = np.repeat((1 - p)[:, None] / (n_classes - 1), n_classes, axis=1)
    chances[:, 0] = p
    spread = chances[:, :, None] * np.eye(n_classes) - chances[:, :, None] * chances[:, None, :]
    if n_classes == 2:  # one weight, whose score is the difference of both
        grown = np.log1p(curvature * p * (1 - p))
    else:
        grown = np.linalg.slogdet(np.eye(n_classes) + curvature * spread)[1]
    return float((linear * (1 - p) + grown).max())


@loop_over(("linear", "curvature", "n_classes"), CASES)
def test_the_epsilon_is_the_maximum_over_all_chances(linear, curvature, n_classes):
    brute = by_brute_force(linear, curvature, n_classes)
    found = pure_objective_epsilon(linear, curvature, n_classes)
    assert brute * (1 - 1e-12) <= found <= brute + 1e-6 * (1 + curvature)


@pytest.mark.parametrize("n_classes", [3, 5])
def test_no_other_chances_of_the_other_classes_let_the_determinant_grow_more(n_classes):
    rng = np.random.default_rng(5)
    for alpha in (0.1, 1.0, 5.0):
        for chances in rng.dirichlet(np.full(n_classes, alpha), size=200):
            spread = np.diag(chances) - np.outer(chances, chances)
            for curvature in (0.1, 1.0, 10.0):
                grown = np.linalg.slogdet(np.eye(n_classes) + curvature * spread)[1]
                assert grown <= largest_growth(chances[0], curvature, n_classes) + 1e-12


def test_prices_by_hand():
    # Two classes and curvature <= linear: the determinant is free.
    assert pure_objective_epsilon(0.5, 0.5, 2) == pytest.approx(0.5, rel=1e-11)
    # linear 1, curvature 4: slope -1 + 4 (1 - 2p) / (1 + 4 p (1 - p)) = 0 where 4 p^2 - 12 p + 3 = 0.
    p = (3 - math.sqrt(6)) / 2
    assert pure_objective_epsilon(1.0, 4.0, 2) == pytest.approx(1 - p + math.log(1 + 4 * p * (1 - p)), rel=1e-11)
    # Three classes, little curvature: the maximum is at p = 0, where one class of two others may be up: log(1 + V / 2).
    assert pure_objective_epsilon(1.0, 0.5, 3) == pytest.approx(1 + math.log(1.25), rel=1e-11)
    assert pure_objective_epsilon(1.0, 0.0, 9) == pytest.approx(1.0, rel=1e-11)


def test_growth_by_hand():
    # p = 1/2 of two classes: log(1 + V / 4). Three equal chances: W has the eigenvalue 1/3 twice.
    assert largest_growth(0.5, 4.0, 2) == pytest.approx(math.log(2))
    assert largest_growth(1 / 3, 3.0, 3) == pytest.approx(2 * math.log(2))
    assert largest_growth(1.0, 7.0, 4) == 0.0


@pytest.mark.parametrize("n_classes", CLASSES)
def test_prices_rise_with_linear_and_with_curvature(n_classes):
    prices = np.array([[pure_objective_epsilon(linear, v, n_classes) for v in CURVATURES] for linear in LINEARS])
    assert (np.diff(prices, axis=0) > 0).all()
    assert (np.diff(prices, axis=1) >= 0).all()


@loop_over("n_classes", CLASSES)
@loop_over("price", [1e-4, 0.1, 1.0, 5.0])
def test_the_largest_linear_costs_the_price_and_hardly_more_is_too_dear(price, n_classes):
    for curvature in (0.1 * price, 0.8 * price):
        linear = linear_at_most(price, curvature, n_classes)
        assert pure_objective_epsilon(linear, curvature, n_classes) <= price
        assert pure_objective_epsilon(linear * (1 + 1e-6), curvature, n_classes) > price


@loop_over("n_classes", CLASSES)
@loop_over("price", [1e-4, 0.1, 1.0, 5.0])
def test_the_largest_curvature_costs_the_price_and_hardly_more_is_too_dear(price, n_classes):
    for share in (0.5, 0.8, 0.92):
        curvature = curvature_at_most(price, share * price, n_classes)
        assert pure_objective_epsilon(share * price, curvature, n_classes) <= price
        assert pure_objective_epsilon(share * price, curvature * (1 + 1e-6), n_classes) > price


def test_what_nothing_can_pay_for_is_refused():
    # At p = 1/2 the determinant alone costs log(1 + 40 / 4) > 1.
    with pytest.raises(ParameterError, match="too small for any noise to pay for it; raise epsilon"):
        linear_at_most(1.0, 40.0, 2)
    with pytest.raises(ParameterError, match="too small for any noise to pay for it; raise epsilon"):
        curvature_at_most(1.0, 1.0, 3)


@pytest.mark.parametrize(
    "arguments", [(0.0, 1.0, 2), (-1.0, 1.0, 2), (math.nan, 1.0, 2), (1.0, -1.0, 2), (1.0, 1.0, 1)]
)
def test_a_price_of_nothing_sensible_is_refused(arguments):
    with pytest.raises(ParameterError, match="epsilon needs linear > 0, curvature >= 0 and at least 2 classes"):
        pure_objective_epsilon(*arguments)


@pytest.mark.parametrize(("epsilon", "mu"), [(0.1, 0.05), (0.5, 0.2), (1.0, 0.4), (1.0, 2.0), (4.0, 1.0), (20.0, 4.0)])
def test_delta_is_that_of_the_gaussian_mechanism(epsilon, mu):
    def over(z):
        return norm.pdf(z) * -math.expm1(min(0.0, epsilon - mu * z - mu * mu / 2))

    first = epsilon / mu - mu / 2
    integral, _ = quad(over, first, first + 12, epsabs=0, epsrel=1e-11, limit=200)
    assert gaussian_delta(epsilon, mu) == pytest.approx(integral, rel=1e-8)


@pytest.mark.parametrize(("epsilon", "mu"), [(0.5, 0.2), (1.0, 0.4), (4.0, 1.0)])
def test_delta_agrees_with_dp_accounting(epsilon, mu):
    from dp_accounting.pld.privacy_loss_mechanism import GaussianPrivacyLoss

    theirs = GaussianPrivacyLoss(1 / mu).get_delta_for_epsilon(epsilon)
    assert gaussian_delta(epsilon, mu) == pytest.approx(theirs, rel=1e-9)


def test_a_delta_beyond_floats_is_zero_and_none_is_negative():
    assert gaussian_delta(50.0, 0.1) == 0.0
    assert all(gaussian_delta(epsilon, 0.01) >= 0 for epsilon in np.linspace(0.01, 2, 200))


def price_of(sigma, curvature, *, n_classes=2, epsilon=1.0, n_trees=4, n_numbers=1):
    return gaussian_objective_delta(
        Fraction(sigma), curvature, n_trees=n_trees, n_classes=n_classes, epsilon=epsilon, n_numbers=n_numbers
    )


def test_normal_noise_for_two_classes_costs_what_the_gaussian_mechanism_does():
    # mu = sqrt(4) / 5; curvature 0.92 + mu^2 / 2 = 1.
    assert price_of(5, 0.92 - 1e-9) == pytest.approx(gaussian_delta(1.0, 0.4), rel=1e-8)
    assert price_of(5, 0.92 + 1e-9) == 1.0


def test_normal_noise_for_more_classes_pays_for_the_determinant_and_for_each_other_class():
    # mu = sqrt(2 * 4) / 10, C = 3: a curvature of 0.2 costs e2 = 0.1, and two other classes may be the worst.
    mu = math.sqrt(8) / 10
    assert price_of(10, 0.2, n_classes=3) == pytest.approx(2 * gaussian_delta(0.9, mu), rel=1e-8)
    # Room for 3/2 V + mu^2 / 2 <= 1 is there up to V = 0.64.
    assert price_of(10, 0.64 - 1e-9, n_classes=3) < 1.0
    assert price_of(10, 0.64 + 1e-9, n_classes=3) == 1.0


def test_discrete_noise_costs_a_little_more_for_every_number():
    extra = price_of(5, 0.5, n_numbers=10**9) - price_of(5, 0.5, n_numbers=1)
    assert extra == pytest.approx((10**9 - 1) * NORMAL_DEFECT * (1 + math.e), rel=1e-6)
    assert price_of(1, 0.1, epsilon=0.01) == 1.0


def test_less_noise_costs_more():
    deltas = [price_of(sigma, 0.5) for sigma in (3, 4, 5, 8, 12)]
    assert all(more > less for more, less in pairwise(deltas))


@pytest.mark.parametrize("sigma", [1, 2, 5, 20])
def test_discrete_normal_noise_is_nearer_to_a_rounded_normal_variate_than_the_proof_says(sigma):
    steps = np.arange(-60 * sigma, 60 * sigma + 1)
    weights = np.exp(-((steps / sigma) ** 2) / 2)
    rounded = norm.cdf((steps + 0.5) / sigma) - norm.cdf((steps - 0.5) / sigma)
    distance = np.abs(weights / weights.sum() - rounded).sum() / 2
    assert 0.3 / (24 * sigma**2) < distance <= 1 / (23 * sigma**2)


def test_the_defect_covers_the_coarsest_grid_that_is_used():
    assert 1 / (23 * Fraction(2) ** 58) < Fraction(NORMAL_DEFECT)
