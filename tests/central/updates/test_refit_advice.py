"""When a refit is worth its price."""

import math

import numpy as np
import pytest

from privet.central.forest_plan import expected_loss
from privet.central.updates.update import LossAdvice, RefitAdvice


def after(n_batches, noise=10.0):
    return RefitAdvice(noise * np.sqrt(np.arange(1, n_batches + 1)))


@pytest.mark.parametrize(("n_batches", "advised", "until"), [(2, False, 2), (3, False, 1), (4, True, 0), (9, True, 0)])
def test_four_batches_of_one_price_have_twice_the_noise_of_one_fit(n_batches, advised, until):
    advice = after(n_batches)
    assert advice.one_fit == pytest.approx(10.0)
    assert advice.ratios[-1] == pytest.approx(math.sqrt(n_batches))
    assert (advice.advised, advice.batches_until) == (advised, until)


def test_of_batches_of_different_prices_the_dearest_says_what_one_fit_would_have():
    # Noise of 3 and then of 4 a count: 5 in all, and the dearer one alone has 3.
    advice = RefitAdvice(np.array([3.0, 5.0]))
    assert advice.one_fit == pytest.approx(3.0)
    assert (advice.now, advice.advised, advice.batches_until) == (5.0, False, 2)


def test_without_noise_nothing_grows():
    advice = RefitAdvice(np.zeros(7))
    assert (advice.now, advice.one_fit, advice.advised) == (0.0, 0.0, False)
    assert advice.ratios.tolist() == [1.0] * 7


def forest_after(n_batches, rows, epsilon=1.0):
    root = np.sqrt(np.arange(1, n_batches + 1))
    return LossAdvice(10.0 * root, rows * root**2, 10.0, epsilon, n_attributes=10, n_classes=2)


def test_noise_of_batches_is_expected_to_cost_what_a_smaller_epsilon_does():
    advice = forest_after(4, 1000)
    assert advice.losses[3] == expected_loss(4000, 0.5, 10, 2).mean
    assert advice.losses_of_one_fit[3] == expected_loss(4000, 1.0, 10, 2).mean
    assert advice.gain == advice.losses[3] - advice.losses_of_one_fit[3] > 0
    assert forest_after(1, 1000).gain == 0


def test_few_rows_are_worth_a_refit_soon_and_many_never():
    few = forest_after(2, 100)
    assert (few.advised, few.batches_until) == (True, 0)
    later = forest_after(2, 1000)
    n = later.batches_until
    assert not later.advised
    assert not forest_after(2 + n - 1, 1000).advised
    assert forest_after(2 + n, 1000).advised
    many = forest_after(2, 1_000_000)
    assert (many.advised, many.batches_until) == (False, None)
