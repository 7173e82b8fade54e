"""When a refit is worth its price."""

import math

import numpy as np
import pytest

from privet.central.updates.update import RefitAdvice


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
