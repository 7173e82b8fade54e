"""From an objective with noise to released weights: the grid, the rounding, the last noise."""

import math
from fractions import Fraction

import numpy as np
import pytest
from numpy.testing import assert_allclose

from privet.central.weights import minimiser
from privet.central.weights.certificate import bounded_gradient
from privet.central.weights.minimiser import MOST_WEIGHT, Grid, certified_minimiser, release_minimiser
from privet.central.weights.prior import spread_of
from privet.privacy.events import DiscreteLaplace, NoNoise
from privet.rng import SeededNoise, SystemNoise
from tests.central.weights.problems import problem, schema_of
from tests.loops import loop_over


def grid(n_rows=1000, spread=8.0, shape=(20, 1), noise_error=0.0, epsilon=0.01):
    return Grid.of(n_rows, spread, shape=shape, noise_error=noise_error, epsilon=epsilon)


def spread(objective):
    return spread_of(objective.trees, schema_of(), np.full(3, 0.5))


def test_a_grid_by_hand():
    # The radius is 1e-9 x 8; two of them over .01 x 2**36 steps is 2.3e-17, far below the finest step of 2**-40.
    small = grid()
    assert (small.tolerance, small.exponent, small.step) == (1e-9, -40, Fraction(1, 2**40))
    assert small.sensitivity == math.ceil(2 * Fraction(1e-9) * 8 * 2**40) + 20
    # More classes: a radius for each, and as many numbers that are rounded.
    assert grid(shape=(20, 3)).sensitivity == math.ceil(2 * Fraction(1e-9) * 8 * 3 * 2**40) + 60


def test_the_tolerance_follows_from_rows_and_from_the_noise():
    assert grid(n_rows=10**7).tolerance == 10**7 * 2.0**-53
    assert grid(noise_error=1e-6).tolerance == 4e-6


@loop_over("epsilon", [1e-6, 1e-3, 1.0, 50.0, math.inf])
@loop_over("spread", [1e-6, 1.0, 1e6])
@loop_over("noise_error", [0.0, 1e-3])
def test_the_noise_stays_within_what_the_sampler_draws(epsilon, spread, noise_error):
    own = grid(spread=spread, epsilon=epsilon, noise_error=noise_error)
    radius = Fraction(own.tolerance) * Fraction(spread)
    assert own.sensitivity >= 2 * radius / own.step + 20
    assert own.sensitivity <= 2 * radius / own.step + 21
    assert own.sensitivity / min(epsilon, 1.0) <= 2**36 + 21 / min(epsilon, 1.0)
    # Never coarser than it must be.
    assert own.exponent == -40 or 2 * radius / (own.step / 2) > Fraction(min(epsilon, 1.0)) * 2**36


def test_weights_are_rounded_to_whole_steps_with_what_floats_left_over():
    own = Grid(1e-8, -2, 1)
    weights = np.array([[0.26], [-0.36], [0.375], [0.375]])
    rest = np.array([[0.0], [0.0], [2.0**-80], [-(2.0**-80)]])
    assert own.rounded(weights, rest).tolist() == [[1], [-1], [2], [1]]


@pytest.mark.parametrize("exponent", [-40, -39, -7, 0, 3, 12, 13])
def test_floats_are_rounded_as_fractions_would_be(exponent):
    # Ties between two steps, their neighbours among floats, and numbers of every size and beyond the end.
    rng, step = np.random.default_rng(exponent + 40), 2.0**exponent
    ties = step * (rng.integers(-99, 99, 50) + 0.5)
    sizes = rng.normal(size=60) * 2.0 ** rng.integers(-60, 14, 60)
    ends = [0.0, -0.0, 5e-324, 1e300, -1e300, MOST_WEIGHT, -MOST_WEIGHT, MOST_WEIGHT - step / 2]
    weights = np.concatenate([ties, np.nextafter(ties, -np.inf), np.nextafter(ties, np.inf), sizes, ends])
    most = int(Fraction(MOST_WEIGHT) / Fraction(step))
    expected = [min(max(round(Fraction(weight) / Fraction(step)), -most), most) for weight in weights.tolist()]
    found = Grid(1e-8, exponent, 1).rounded(weights[:, None], np.zeros((len(weights), 1)))
    assert found.dtype == np.int64
    assert found[:, 0].tolist() == expected


def test_a_weight_that_is_no_number_is_never_released():
    with pytest.raises(ValueError, match="NaN"):
        Grid(1e-8, -20, 1).rounded(np.array([[0.5, np.nan]]), np.zeros((1, 2)))


def test_weights_beyond_the_end_are_cut_off():
    own = Grid(1e-8, -40, 1)
    found = own.rounded(np.array([[5000.0, -5000.0, 4096.0, 4095.5]]), np.zeros((1, 4)))
    assert found.tolist() == [[2**52, -(2**52), 2**52, int(4095.5 * 2**40)]]
    assert MOST_WEIGHT == 4096


@pytest.mark.parametrize("exponent", [-40, -3])
def test_two_points_near_each_other_are_within_the_sensitivity_after_rounding(exponent):
    rng = np.random.default_rng(1)
    for _ in range(50):
        point, radius = rng.normal(size=(20, 1)), 1e-7
        moves = rng.dirichlet(np.ones(20), 2) * rng.choice([-1, 1], (2, 20)) * radius
        one, two = (Grid(1e-8, exponent, 1).rounded(point + move[:, None], np.zeros((20, 1))) for move in moves)
        assert np.abs(one - two).sum() <= math.ceil(2 * radius * 2.0**-exponent) + 20


@pytest.mark.parametrize("n_classes", [2, 3])
def test_without_noise_the_minimiser_itself_is_released(n_classes):
    objective = problem(1, n_classes=n_classes)
    own = grid(shape=objective.shape, spread=spread(objective), epsilon=math.inf)
    steps, receipt = release_minimiser(
        objective, own, noise_error=0.0, epsilon=math.inf, what="digits", noise=SystemNoise()
    )
    assert receipt == NoNoise("digits")
    weights = steps * 2.0**own.exponent
    assert bounded_gradient(objective, weights, weights * 0).largest < 2e-8


def test_the_last_noise_is_that_of_the_receipt():
    objective = problem(1)
    own = grid(shape=objective.shape, spread=spread(objective))
    exact, _ = certified_minimiser(objective, own.tolerance, noise_error=0.0)
    draws = [
        release_minimiser(objective, own, noise_error=0.0, epsilon=0.01, what="digits", noise=SeededNoise(i))
        for i in range(40)
    ]
    receipt = draws[0][1].part
    assert isinstance(receipt, DiscreteLaplace)
    assert (receipt.epsilon, receipt.sensitivity) == (0.01, own.sensitivity)
    off = np.array([steps - exact * 2.0**40 for steps, _ in draws])
    assert np.abs(off).mean() == pytest.approx(float(receipt.scale), rel=0.2)


def test_the_noise_does_not_go_beyond_the_end(monkeypatch):
    objective = problem(1)
    far, nothing = np.full(objective.shape, 1e6), np.zeros(objective.shape)
    monkeypatch.setattr(minimiser, "certified_minimiser", lambda *_, **__: (far, nothing))
    steps, _ = release_minimiser(
        objective, Grid(1e-8, -40, 10**9), noise_error=0.0, epsilon=0.01, what="digits", noise=SeededNoise(1)
    )
    assert steps.max() == 2**52
    assert steps.min() < 2**52


@pytest.mark.parametrize("n_classes", [2, 4])
def test_a_certified_minimiser_is_as_near_as_the_sensitivity_says(n_classes):
    objective = problem(1, n_classes=n_classes)
    best, _ = certified_minimiser(objective, 1e-13, noise_error=0.0)
    for tolerance in (1e-2, 1e-4, 1e-6):
        found, rest = certified_minimiser(objective, tolerance, noise_error=0.0)
        radius = tolerance * spread(objective) * objective.shape[1]
        assert np.abs(found + rest - best).sum() <= radius
    assert_allclose(found, best, atol=1e-5)
