"""The laws of the noise in an objective: each draw has the stated one and not another."""

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import chisquare, gamma, ks_2samp, kstest, laplace, norm

from privet.privacy.mechanisms.linear_noise import (
    draw_laplace,
    draw_normal,
    draw_sum_zero,
    normal_sigma_at_least,
    sum_zero_share,
)
from privet.rng import SystemNoise

QUICK, MANY = 60_000, 1_000_000
SCALE = Fraction(7, 3)


def laplace_draws(scale, n):
    return draw_laplace(scale, n, n_weights=1, noise=SystemNoise()).values[:, 0]


def sum_zero_draws(scale, n, n_classes):
    return draw_sum_zero(scale, n, n_weights=n_classes, noise=SystemNoise()).values


def normal_draws(sigma, n):
    return draw_normal(normal_sigma_at_least(sigma), n, n_weights=1, noise=SystemNoise()).values[:, 0]


def assert_this_law_and_no_other(draws, law):
    """Compare with the law, and with those of a scale clearly smaller and larger."""
    assert kstest(draws, law.cdf).pvalue > 1e-9
    assert kstest(draws / 0.85, law.cdf).pvalue < 1e-6
    assert kstest(draws / 1.15, law.cdf).pvalue < 1e-6


@pytest.mark.parametrize("n", [QUICK, pytest.param(MANY, marks=pytest.mark.slow)])
@pytest.mark.parametrize("scale", [Fraction(1, 1000), SCALE, Fraction(10**5)])
def test_laplace_noise_has_the_stated_scale_and_not_another(scale, n):
    assert_this_law_and_no_other(laplace_draws(scale, n), laplace(scale=float(scale)))


@pytest.mark.parametrize("n", [QUICK, pytest.param(MANY, marks=pytest.mark.slow)])
@pytest.mark.parametrize("sigma", [1e-3, 2.5, 1e5])
def test_normal_noise_has_the_stated_sigma_and_not_another(sigma, n):
    assert_this_law_and_no_other(normal_draws(sigma, n), norm(scale=sigma))


@pytest.mark.parametrize("n", [QUICK, pytest.param(MANY, marks=pytest.mark.slow)])
@pytest.mark.parametrize("n_classes", [3, 5, 26])
def test_the_size_of_noise_that_adds_up_to_zero_is_a_gamma_variate(n_classes, n):
    sizes = np.abs(sum_zero_draws(SCALE, n // n_classes * 3, n_classes)).sum(axis=1)
    assert_this_law_and_no_other(sizes, gamma(n_classes - 1, scale=2 * float(SCALE)))


@pytest.mark.parametrize("n", [QUICK, pytest.param(MANY, marks=pytest.mark.slow)])
@pytest.mark.parametrize(("n_classes", "squares"), [(3, 2.5), (5, 6.0)])
def test_noise_that_adds_up_to_zero_has_the_moments_by_hand(n_classes, squares, n):
    drawn = sum_zero_draws(SCALE, n, n_classes) / (2 * float(SCALE))
    found = (drawn**2).sum(axis=1)
    spread = 7 * found.std() / math.sqrt(n)
    assert found.mean() == pytest.approx(squares, abs=spread)
    assert found.mean() * 1.1**2 != pytest.approx(squares, abs=spread)
    # The share that the policy reckons with: of the variance 2 of Laplace noise, for each class.
    assert squares == pytest.approx(2 * n_classes * sum_zero_share(n_classes) ** 2)


def by_rejection(scale, n, n_classes):
    """Draw from the law another way: all but one weight independent, the last one kept with the chance it has."""
    rng, kept = np.random.default_rng(), []
    while sum(map(len, kept)) < n:
        free = rng.laplace(scale=2 * scale, size=(n, n_classes - 1))
        last = -free.sum(axis=1)
        keep = rng.random(n) < np.exp(-np.abs(last) / (2 * scale))
        kept.append(np.column_stack([free, last])[keep])
    return np.concatenate(kept)[:n]


MARGINALS = {
    "first": lambda v: v[:, 0],
    "last": lambda v: v[:, -1],
    "largest": lambda v: v.max(axis=1),
    "second largest": lambda v: np.sort(v, axis=1)[:, -2],
    "first two": lambda v: v[:, 0] - v[:, 1],
}


@pytest.mark.parametrize("n", [QUICK, pytest.param(MANY // 4, marks=pytest.mark.slow)])
@pytest.mark.parametrize("n_classes", [3, 5])
def test_noise_that_adds_up_to_zero_has_the_law_of_independent_noise_that_happens_to(n_classes, n):
    ours, theirs = sum_zero_draws(SCALE, n, n_classes), by_rejection(float(SCALE), n, n_classes)
    for name, marginal in MARGINALS.items():
        assert ks_2samp(marginal(ours), marginal(theirs)).pvalue > 1e-9, name
        assert ks_2samp(1.25 * marginal(ours), marginal(theirs)).pvalue < 1e-6, name


@pytest.mark.parametrize("n_classes", [3, 4, 5, 8])
def test_as_many_weights_are_positive_as_volumes_say(n_classes):
    drawn = sum_zero_draws(SCALE, QUICK, n_classes)
    n_positive = np.bincount((drawn > 0).sum(axis=1), minlength=n_classes)[1:n_classes]
    # binom(n, j) / ((j - 1)! (n - j - 1)!): as many orthants, of such a volume each.
    weights = np.array([
        math.comb(n_classes, j) / (math.factorial(j - 1) * math.factorial(n_classes - j - 1))
        for j in range(1, n_classes)
    ])  # fmt: skip
    expected, orthants = (
        weights / weights.sum() * QUICK,
        np.array([math.comb(n_classes, j) for j in range(1, n_classes)]),
    )
    assert chisquare(n_positive, expected).pvalue > 1e-9
    if n_classes > 3:
        assert chisquare(n_positive, orthants / orthants.sum() * QUICK).pvalue < 1e-6


@pytest.mark.parametrize("n_classes", [3, 6])
def test_no_class_is_favoured(n_classes):
    drawn = sum_zero_draws(SCALE, QUICK, n_classes)
    most = np.bincount(drawn.argmax(axis=1), minlength=n_classes)
    assert chisquare(most).pvalue > 1e-9


def test_signs_are_fair_and_neighbours_uncorrelated():
    for draws in (laplace_draws(SCALE, QUICK), normal_draws(2.5, QUICK), sum_zero_draws(SCALE, QUICK, 4)[:, 1]):
        n_positive = int((draws > 0).sum())
        assert chisquare([n_positive, len(draws) - n_positive]).pvalue > 1e-9
        assert abs(np.corrcoef(draws[:-1], draws[1:])[0, 1]) < 6.2 / math.sqrt(len(draws))
