"""Noise in an objective: scales keep their promise, grids, bounds on the distance to the exact law, sums of zero."""

import math
from fractions import Fraction

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from privet.errors import ParameterError
from privet.privacy.mechanisms import linear_noise
from privet.privacy.mechanisms.linear_noise import (
    MOST_SUM_ZERO_CLASSES,
    draw_laplace,
    draw_normal,
    draw_sum_zero,
    grid_of,
    normal_sigma_at_least,
    scales_at_least,
    sum_zero_share,
)
from privet.privacy.mechanisms.rational import MAX_TERM
from privet.rng import SeededNoise, SystemNoise
from tests.loops import loop_over

SCALE = Fraction(5)
SHARES = [[Fraction(1)], [Fraction(1, 3), Fraction(2, 3)], [Fraction(math.sqrt(n)) for n in (2, 3, 5, 8, 8)]]


def scales_of(linear, shares):
    whole = sum(shares)
    return scales_at_least(linear, [share / whole for share in shares])


@loop_over("linear", [1e-5, 0.1, 1 / 3, 0.94, 2.0, 700.0])
@loop_over("shares", SHARES)
def test_one_over_each_scale_adds_up_to_linear_at_most_and_hardly_less(linear, shares):
    scales = scales_of(linear, shares)
    total = sum(1 / scale for scale in scales)
    assert Fraction(linear) * (1 - Fraction(2, 10**6)) <= total <= Fraction(linear)


@loop_over("linear", [1e-5, 0.1, 1 / 3, 0.94, 2.0, 700.0])
@loop_over("shares", SHARES)
def test_scales_are_many_steps_and_few_enough_for_the_samplers(linear, shares):
    scales = scales_of(linear, shares)
    for scale in scales:
        steps = scale / grid_of(scale)
        assert 2**37 <= steps <= 2**38 + 1
        assert steps.numerator < MAX_TERM
        assert steps.denominator <= 2


def test_each_share_has_its_own_scale():
    small, large = scales_at_least(0.5, [Fraction(1, 3), Fraction(2, 3)])
    assert float(small) == pytest.approx(6.0, rel=1e-5)
    assert float(large) == pytest.approx(3.0, rel=1e-5)


def test_the_grid_is_a_power_of_two():
    assert grid_of(Fraction(3)) == Fraction(2) ** (2 - 38)
    assert grid_of(Fraction(1, 3)) == Fraction(2) ** (-1 - 38)
    assert grid_of(Fraction(4)) == Fraction(2) ** (2 - 38)


def test_laplace_noise_lies_halfway_between_grid_points_and_is_off_by_half_a_step():
    drawn, grid = draw_laplace(SCALE, 14, n_weights=2, noise=SystemNoise()), float(grid_of(SCALE))
    assert drawn.values.shape == (14, 2)
    assert_array_equal(drawn.values / grid % 1, 0.5)
    assert 0.5 * grid <= drawn.error <= 0.51 * grid


@pytest.mark.parametrize("n_weights", [3, 4, 5, 10, MOST_SUM_ZERO_CLASSES])
def test_weights_add_up_to_zero_within_the_error(n_weights):
    drawn = draw_sum_zero(SCALE, 14, n_weights=n_weights, noise=SystemNoise())
    assert drawn.values.shape == (14, n_weights)
    assert (np.abs(drawn.values.sum(axis=1)) <= drawn.error).all()
    assert ((drawn.values > 0).any(axis=1) & (drawn.values < 0).any(axis=1)).all()


@pytest.mark.parametrize("n_weights", [3, 5, MOST_SUM_ZERO_CLASSES])
def test_the_cuts_of_both_signs_add_up_to_the_same_whole(n_weights):
    parts = np.empty(50 * n_weights, dtype=np.int64)
    bounds = np.cumsum([math.comb(n_weights, j) * math.comb(n_weights - 2, j - 1) for j in range(1, n_weights)])
    linear_noise.fill(
        linear_noise._fill_cuts, parts, bounds.astype(np.uint64), np.uint64(n_weights), words_each=4.0,
        noise=SystemNoise(),
    )  # fmt: skip
    parts = parts.reshape(50, n_weights)
    assert_array_equal(np.where(parts > 0, parts, 0).sum(axis=1), 2**48)
    assert_array_equal(np.where(parts < 0, parts, 0).sum(axis=1), -(2**48))


@pytest.mark.parametrize("n_weights", [3, 5, MOST_SUM_ZERO_CLASSES])
def test_noise_that_adds_up_to_zero_is_off_by_half_a_step_for_every_exponential_variate(n_weights):
    drawn, grid = draw_sum_zero(SCALE, 14, n_weights=n_weights, noise=SystemNoise()), float(grid_of(SCALE))
    largest = np.abs(drawn.values).sum(axis=1).max() / 2
    assert drawn.error >= grid * (n_weights - 1) / 2 + largest * 2.0**-48
    assert drawn.error <= grid * (n_weights / 2 + 1)


def test_the_weights_of_orthants_stay_within_what_is_drawn_from():
    n = MOST_SUM_ZERO_CLASSES
    total = sum(math.comb(n, j) * math.comb(n - 2, j - 1) for j in range(1, n))
    assert total == math.comb(2 * n - 2, n - 1) < 2**48 < math.comb(2 * n, n)


@pytest.mark.parametrize("n_weights", [2, MOST_SUM_ZERO_CLASSES + 1])
def test_noise_that_adds_up_to_zero_is_for_some_numbers_of_classes(n_weights):
    with pytest.raises(ParameterError, match="noise that adds up to zero is for 3 to 26 classes"):
        draw_sum_zero(SCALE, 2, n_weights=n_weights, noise=SystemNoise())


@pytest.mark.parametrize("sigma", [1e-3, 0.7, 1.0, 1.0000001, 3.3, 1e6])
def test_a_sigma_is_no_smaller_than_asked_and_many_whole_steps(sigma):
    rounded = normal_sigma_at_least(sigma)
    assert Fraction(sigma) <= rounded <= Fraction(sigma) * (1 + Fraction(1, 2**35))
    drawn = draw_normal(rounded, 3, n_weights=2, noise=SystemNoise())
    grid = drawn.error / (0.5 + 2.0**-10)
    assert Fraction(2) ** 35 <= rounded / Fraction(grid) <= Fraction(2) ** 37
    assert (rounded / Fraction(grid)).denominator == 1
    assert_array_equal(drawn.values / grid % 1, 0.0)
    assert drawn.values.shape == (3, 2)


@pytest.mark.parametrize(
    "draw",
    [
        lambda noise: draw_laplace(SCALE, 14, n_weights=1, noise=noise),
        lambda noise: draw_sum_zero(SCALE, 14, n_weights=4, noise=noise),
        lambda noise: draw_normal(Fraction(3), 14, n_weights=2, noise=noise),
    ],
    ids=["laplace", "sum zero", "normal"],
)
def test_a_seed_fixes_the_noise_and_nothing_else_does(draw):
    assert_array_equal(draw(SeededNoise(7)).values, draw(SeededNoise(7)).values)
    assert (draw(SeededNoise(7)).values != draw(SeededNoise(8)).values).any()
    assert (draw(SystemNoise()).values != draw(SystemNoise()).values).any()


@pytest.mark.parametrize(("draw", "n_weights", "most"), [(draw_laplace, 1, 2), (draw_sum_zero, 3, 4)])
def test_noise_grows_with_its_scale(draw, n_weights, most):
    small, large = (
        np.abs(draw(Fraction(scale), 4000, n_weights=n_weights, noise=SystemNoise()).values).mean()
        for scale in (1, 100)
    )
    assert small < most < 50 < large < 100 * most


@pytest.mark.parametrize(("n_classes", "square"), [(3, 2.5), (5, 6.0)])
def test_noise_that_adds_up_to_zero_has_the_moments_of_its_law(n_classes, square):
    # E|v|^2 is so many times sigma^2, and that of independent noise 2 n_classes times.
    assert sum_zero_share(n_classes) == pytest.approx(math.sqrt(square / (2 * n_classes)))
    assert sum_zero_share(27) == 1.0
