"""The law of noise that trees share: each draw has the stated one and not another."""

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import chisquare, expon, gamma, ks_2samp, kstest, laplace, rv_continuous

from privet.privacy.mechanisms import k_norm
from privet.privacy.mechanisms.k_norm import draw_shared, shared_deviation
from privet.rng import SystemNoise
from tests.draws import cached

QUICK, MANY = 6_000, 60_000
SCALE = Fraction(7, 3)
QUICKLY_AND_SLOWLY = pytest.mark.parametrize("n", [QUICK, pytest.param(MANY, marks=pytest.mark.slow)])


def fresh_draws(sizes, n, scale):
    noise = SystemNoise()
    return np.array([draw_shared(scale, sizes, n_weights=1, noise=noise).values[:, 0] for _ in range(n)])


remembered_draws = cached(fresh_draws)


def draws_of(sizes, n, scale=SCALE):
    """Return ``n`` draws, a line each; quick tests of the same sizes have the same ones."""
    return (remembered_draws if n <= QUICK else fresh_draws)(sizes, n, scale)


def enough(sizes, n):
    """Return how many draws do: with many leaves each draw tells more."""
    return n // max(1, sum(sizes) // 6)


def column_draws(sizes, n, scale=SCALE):
    """Return draws of trees of which there may be one."""
    noise = SystemNoise()
    return np.array([k_norm._draw_column(scale, sizes, noise).values for _ in range(n)])


def trees_of(draws, sizes):
    return np.split(draws, np.cumsum(sizes)[:-1], axis=1)


def norm_of(draws, sizes):
    """Return what a row changes by one at most: the largest norm of a tree's noise."""
    return np.max([np.abs(own).sum(axis=1) for own in trees_of(draws, sizes)], axis=0)


def by_rejection(sizes, n):
    """Draw from the law another way: uniformly in the body, by throwing points into a box, times a gamma variate.

    The body's points are given by the common sum and by all leaves but one of each tree, all from -1 to 1.
    """
    rng, kept, free = np.random.default_rng(), [], sum(sizes) - len(sizes)
    while sum(map(len, kept)) < n:
        points = rng.uniform(-1, 1, size=(400_000, free + 1))
        parts = np.split(points[:, 1:], np.cumsum([size - 1 for size in sizes])[:-1], axis=1)
        leaves = np.hstack([np.column_stack([own, points[:, 0] - own.sum(axis=1)]) for own in parts])
        kept.append(leaves[norm_of(leaves, sizes) <= 1])
    body = np.concatenate(kept)[:n]
    return body * rng.gamma(free + 2, float(SCALE), size=(n, 1))


def marginals_of(draws, sizes):
    first, last = trees_of(draws, sizes)[0], trees_of(draws, sizes)[-1]
    return {
        "a leaf": first[:, 0],
        "a leaf of the last tree": last[:, -1],
        "a difference of leaves": first[:, 0] - first[:, 1],
        "leaves of two trees": first[:, 0] + last[:, 0],
        "the sum over both trees": first.sum(axis=1) + last.sum(axis=1),
        "what sums differ by": np.round(first.sum(axis=1) - last.sum(axis=1), 6),
        "the norm of a tree": np.abs(last).sum(axis=1),
        "the norm": norm_of(draws, sizes),
        "the smaller norm": np.minimum(np.abs(first).sum(axis=1), np.abs(last).sum(axis=1)),
        "the largest leaf": draws.max(axis=1),
        "positive leaves": (draws > 0).sum(axis=1) + 0.0,
    }


def p_values(ours, theirs, sizes):
    pairs = zip(marginals_of(ours, sizes).items(), marginals_of(theirs, sizes).values(), strict=True)
    # In most samples ties are few; where there are many, the test is the more cautious.
    return {name: ks_2samp(own, other, method="asymp").pvalue for (name, own), other in pairs}


FAULTS = {
    "a scale that is too small": lambda draws, sizes: 0.85 * draws,
    "a scale that is too large": lambda draws, sizes: 1.15 * draws,
    "independent Laplace noise of the same deviation": lambda draws, sizes: np.random.default_rng().laplace(
        scale=draws.std(axis=0) / math.sqrt(2), size=draws.shape
    ),
    "trees with noise of their own": lambda draws, sizes: np.hstack(
        [np.roll(own, t, axis=0) for t, own in enumerate(trees_of(draws, sizes))]
    ),
    "sums that are not tied": lambda draws, sizes: np.hstack([
        own * np.where(np.arange(len(own)) % 2, -1, 1)[:, None] if t else own
        for t, own in enumerate(trees_of(draws, sizes))
    ]),
    "noise that adds up to zero": lambda draws, sizes: np.hstack(
        [own - own.mean(axis=1, keepdims=True) for own in trees_of(draws, sizes)]
    ),
    "signs of one kind": lambda draws, sizes: np.abs(draws),
    "a draw of the body's surface": lambda draws, sizes: draws
    * np.random.default_rng().gamma(sum(sizes) - len(sizes) + 2, float(SCALE), size=(len(draws), 1))
    / norm_of(draws, sizes)[:, None],
}  # fmt: skip


@QUICKLY_AND_SLOWLY
@pytest.mark.parametrize("sizes", [(2, 2), (2, 3), (3, 3), (3, 1)])
def test_shared_noise_has_the_law_of_points_thrown_into_the_body(sizes, n):
    ours, theirs = draws_of(sizes, n), by_rejection(sizes, 8 * n)
    for name, p_value in p_values(ours, theirs, sizes).items():
        assert p_value > 1e-9, name
    for fault, planted in FAULTS.items():
        assert min(p_values(planted(ours, sizes), theirs, sizes).values()) < 1e-6, fault


class Difference(rv_continuous):
    """Two trees of two leaves: the sum and both differences are uniform in a cube, as large as a gamma variate is.

    Beyond z > 0 there is the integral of exp(-t) (t^2 + 2 t + 2) / 12 from z on.
    """

    def _cdf(self, x):
        z = np.abs(x)
        tail = np.exp(-z) * (z**2 + 4 * z + 6) / 12
        return np.where(x > 0, 1 - tail, tail)


@QUICKLY_AND_SLOWLY
def test_the_noise_of_two_trees_of_two_leaves_is_uniform_in_a_cube(n):
    n *= 2
    a, b, c, d = fresh_draws((2, 2), n, SCALE).T / float(SCALE)
    law = Difference()
    for own in (a + b, a - b, c + d, c - d):
        assert kstest(own, law.cdf).pvalue > 1e-9
        assert kstest(own / 0.85, law.cdf).pvalue < 1e-6
        assert kstest(own / 1.15, law.cdf).pvalue < 1e-6
    cube = np.column_stack([a + b, a - b, c - d])
    size = np.abs(cube).max(axis=1, keepdims=True)
    # Which of the six faces is nearest, and where on it, tells nothing; nor does any of these tell of another.
    face = 2 * np.abs(cube).argmax(axis=1) + (cube[np.arange(n), np.abs(cube).argmax(axis=1)] > 0)
    assert chisquare(np.bincount(face, minlength=6)).pvalue > 1e-9
    inner = np.sort(np.abs(cube), axis=1)[:, :2] / size
    assert kstest(inner[:, 1] ** 2, "uniform").pvalue > 1e-9
    assert kstest(inner[:, 0] / inner[:, 1], "uniform").pvalue > 1e-9
    assert kstest(inner[:, 1] ** 3, "uniform").pvalue < 1e-6


@QUICKLY_AND_SLOWLY
@pytest.mark.parametrize("sizes", [(2, 2), (8, 8, 8), (2, 5, 9), (1, 4, 4), (16,) * 8, (2,) * 30])
def test_the_norm_of_shared_noise_is_a_gamma_variate(sizes, n):
    scale = SCALE if len(sizes) < 30 else Fraction(1, 1000)
    norms, dimensions = norm_of(draws_of(sizes, enough(sizes, n), scale), sizes), sum(sizes) - len(sizes) + 1
    assert kstest(norms, gamma(dimensions, scale=float(scale)).cdf).pvalue > 1e-9
    for wrong in (0.85, 1.15):
        assert kstest(norms / wrong, gamma(dimensions, scale=float(scale)).cdf).pvalue < 1e-6


@QUICKLY_AND_SLOWLY
@pytest.mark.parametrize("size", [1, 2, 3, 8, 20])
def test_a_tree_that_is_alone_has_laplace_noise(size, n):
    draws = column_draws((size,), enough((size,), n)) / float(SCALE)
    # Leaves as different as can be are independent, too: neither sums nor extremes tell them from Laplace noise.
    theirs = np.random.default_rng().laplace(size=(4 * n, size))
    for own, other in [
        (draws.sum(axis=1), theirs.sum(axis=1)),
        (draws.max(axis=1), theirs.max(axis=1)),
        (draws[:, 0] - draws[:, -1], theirs[:, 0] - theirs[:, -1]),
        (draws[:, 0] * draws[:, -1], theirs[:, 0] * theirs[:, -1]),
    ][: 4 if size > 1 else 2]:
        assert ks_2samp(own, other).pvalue > 1e-9
    for own in (draws[:, 0], draws[:, -1]):
        assert kstest(own, laplace.cdf).pvalue > 1e-9
    every = draws.ravel()
    assert kstest(np.abs(every), expon.cdf).pvalue > 1e-9
    assert kstest(np.abs(draws).sum(axis=1), gamma(size).cdf).pvalue > 1e-9
    for wrong in (0.85, 1.15):
        assert kstest(np.abs(draws).sum(axis=1) / wrong, gamma(size).cdf).pvalue < 1e-6


def least_p_value_of_leaves(draws, sizes):
    """Return how likely it is that no leaf of a tree is favoured, in size and in sign."""
    found = []
    for own in trees_of(draws, sizes):
        found += [chisquare(np.bincount(by.argmax(axis=1), minlength=own.shape[1])).pvalue for by in (own, np.abs(own))]
        n_positive = (own > 0).sum(axis=0)
        found += [chisquare([k, len(own) - k]).pvalue for k in n_positive]
    n_above = int((trees_of(draws, sizes)[0].sum(axis=1) > 0).sum())
    return min(*found, chisquare([n_above, len(draws) - n_above]).pvalue)


@QUICKLY_AND_SLOWLY
@pytest.mark.parametrize("sizes", [(3, 3), (2, 5, 9), (8, 8, 8)])
def test_no_leaf_and_no_sign_is_favoured(sizes, n):
    n = enough(sizes, n)
    draws = draws_of(sizes, n)
    assert least_p_value_of_leaves(draws, sizes) > 1e-9
    ordered = np.hstack([np.sort(own, axis=1) for own in trees_of(draws, sizes)])
    assert least_p_value_of_leaves(ordered, sizes) < 1e-6
    seldom = np.where(np.arange(n)[:, None] % 5, draws, np.abs(draws))
    assert least_p_value_of_leaves(seldom, sizes) < 1e-6
    # One draw does not tell of the next.
    assert abs(np.corrcoef(draws[:-1, 0], draws[1:, 0])[0, 1]) < 6.2 / math.sqrt(n)


@QUICKLY_AND_SLOWLY
@pytest.mark.parametrize("sizes", [(2, 2), (2, 3), (8, 8, 8), (2, 5, 9), (16,) * 8, (32, 4, 4)])
def test_leaves_deviate_as_the_plan_says(sizes, n):
    n, dimensions = enough(sizes, n), sum(sizes) - len(sizes)
    for own, size in zip(trees_of(draws_of(sizes, n), sizes), sizes, strict=True):
        contrasts = ((own - own.mean(axis=1, keepdims=True)) ** 2).sum(axis=1) / (size - 1)
        spread = 6 * contrasts.std() / math.sqrt(n)
        stated = (shared_deviation(size, dimensions, 2) * float(SCALE)) ** 2
        # A fortieth of the deviation is a twentieth of the variance.
        assert abs(contrasts.mean() - stated) < stated / 20 + spread
        for wrong in (0.8, 1.25):
            assert abs(wrong**2 * contrasts.mean() - stated) > stated / 20 + wrong**2 * spread


@QUICKLY_AND_SLOWLY
@pytest.mark.parametrize("n_weights", [3, 5])
def test_noise_of_more_classes_is_that_of_each_at_twice_the_scale_less_the_mean(n_weights, n):
    sizes, noise = (2, 3), SystemNoise()
    ours = np.array([draw_shared(SCALE, sizes, n_weights=n_weights, noise=noise).values for _ in range(n // n_weights)])
    theirs = 2 * by_rejection(sizes, 4 * n * n_weights).reshape(4 * n, n_weights, -1).swapaxes(1, 2)
    for own, other in [
        (ours[:, :, 0] - ours[:, :, 1], theirs[:, :, 0] - theirs[:, :, 1]),
        (ours[:, :, -1], theirs[:, :, -1] - theirs.mean(axis=2)),
    ]:
        for name, p_value in p_values(own, other, sizes).items():
            assert p_value > 1e-9, name
        for wrong in (0.85, 1.15):
            assert min(p_values(wrong * own, other, sizes).values()) < 1e-6
