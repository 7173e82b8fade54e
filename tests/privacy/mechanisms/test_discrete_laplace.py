import math
from fractions import Fraction

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from privet.errors import ParameterError
from privet.privacy import events
from privet.privacy.mechanisms.discrete_laplace import discrete_laplace
from privet.rng import SeededNoise


def test_noise_keeps_the_shape_and_leaves_the_exact_values_alone():
    exact = np.arange(24, dtype=np.int32).reshape(2, 3, 4)
    before = exact.copy()
    noisy, _ = discrete_laplace(exact, epsilon=0.01, sensitivity=1)
    assert noisy.shape == (2, 3, 4)
    assert noisy.dtype == np.int64
    assert (noisy != exact).any()
    assert_array_equal(exact, before)


@pytest.mark.parametrize("shape", [(), (0,), (3, 0, 2)])
def test_shapes_without_an_axis_or_without_values_are_kept(shape):
    noisy, event = discrete_laplace(np.zeros(shape, dtype=np.uint8), epsilon=1.0, sensitivity=1)
    assert noisy.shape == shape
    assert isinstance(event, events.DiscreteLaplace)


def test_the_receipt_says_what_was_asked_and_what_was_drawn():
    _, event = discrete_laplace([5, 9], epsilon=0.3, sensitivity=7, what="leaf counts")
    assert isinstance(event, events.DiscreteLaplace)
    assert (event.what, event.epsilon, event.sensitivity) == ("leaf counts", 0.3, 7)
    assert event.scale >= 7 / Fraction(0.3)
    assert float(event.scale) == pytest.approx(7 / 0.3, rel=1e-6)


def test_an_infinite_epsilon_returns_a_copy_and_says_so():
    exact = np.array([5, 9])
    noisy, event = discrete_laplace(exact, epsilon=math.inf, sensitivity=1, what="leaf counts")
    assert_array_equal(noisy, exact)
    assert not np.shares_memory(noisy, exact)
    assert event == events.NoNoise("leaf counts")


def test_a_large_finite_epsilon_adds_no_visible_noise_and_is_still_a_release():
    noisy, event = discrete_laplace([5, 9], epsilon=1e300, sensitivity=1)
    assert_array_equal(noisy, [5, 9])
    assert event == events.DiscreteLaplace("counts", 1e300, 1, Fraction(1, 2**20))


def test_the_smallest_epsilon_works():
    noisy, event = discrete_laplace(np.zeros(1000, dtype=np.int64), epsilon=1e-6, sensitivity=1)
    assert event.scale >= 1 / Fraction(1e-6)
    assert 1e5 < np.abs(noisy).mean() < 1e7


def test_two_releases_differ_and_seeded_ones_agree():
    exact = np.zeros(50, dtype=np.int64)
    draws = [discrete_laplace(exact, epsilon=0.01, sensitivity=1)[0] for _ in range(2)]
    seeded = [discrete_laplace(exact, epsilon=0.01, sensitivity=1, noise=SeededNoise(3))[0] for _ in range(2)]
    assert (draws[0] != draws[1]).any()
    assert_array_equal(*seeded)


@pytest.mark.parametrize("epsilon", [0.0, -1.0, 1e-7, math.nan, "1", True])
def test_an_epsilon_out_of_range_is_refused(epsilon):
    with pytest.raises(ParameterError, match=r"epsilon=.* is out of range; pass a number from 1e-06 to inf"):
        discrete_laplace([5, 9], epsilon=epsilon, sensitivity=1)


@pytest.mark.parametrize("sensitivity", [0, -3, 1.0, 0.5, True, None, 2**62 + 1])
def test_a_sensitivity_that_is_no_positive_integer_is_refused(sensitivity):
    with pytest.raises(ParameterError, match=r"sensitivity=.* must be a whole number from 1"):
        discrete_laplace([5, 9], epsilon=1.0, sensitivity=sensitivity)


@pytest.mark.parametrize("exact", [[1.5], [True, False], ["no"], np.array([1, None])])
@pytest.mark.parametrize("epsilon", [1.0, math.inf])
def test_values_that_are_no_integers_are_refused_without_quoting_them(exact, epsilon):
    with pytest.raises(ParameterError, match=r"exact values must be integers, not \S+; count in whole units"):
        discrete_laplace(exact, epsilon=epsilon, sensitivity=1)


@pytest.mark.parametrize("exact", [[2**62 + 1], [-(2**62) - 1], np.array([2**64 - 1], dtype=np.uint64)])
def test_values_that_could_overflow_are_refused_without_quoting_them(exact):
    with pytest.raises(ParameterError, match=r"must stay within 2\*\*62 on either side of 0; count in coarser units"):
        discrete_laplace(exact, epsilon=1.0, sensitivity=1)


def test_the_largest_values_survive_the_widest_noise():
    exact = np.array([2**62, -(2**62)] * 100)
    noisy, _ = discrete_laplace(exact, epsilon=1e-6, sensitivity=10**6)
    assert (np.sign(noisy) == np.sign(exact)).all()


def test_a_scale_beyond_the_sampler_is_refused():
    with pytest.raises(ParameterError, match="beyond the sampler's limit"):
        discrete_laplace([5, 9], epsilon=1e-6, sensitivity=2**22)
