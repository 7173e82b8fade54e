import math
from fractions import Fraction

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from privet.errors import ParameterError
from privet.privacy import events
from privet.privacy.mechanisms.discrete_gaussian import discrete_gaussian


def test_the_receipt_says_what_was_asked_and_what_was_drawn():
    noisy, event = discrete_gaussian([[5, 9]], rho=0.3, sensitivity_squared=7, what="leaf counts")
    assert noisy.shape == (1, 2)
    assert (event.what, event.rho, event.sensitivity_squared) == ("leaf counts", 0.3, 7)
    assert event.sigma**2 >= 7 / (2 * Fraction(0.3))
    assert float(event.sigma) == pytest.approx(math.sqrt(7 / 0.6), rel=1e-6)


def test_an_infinite_rho_returns_a_copy_and_says_so():
    exact = np.array([5, 9])
    noisy, event = discrete_gaussian(exact, rho=math.inf, sensitivity_squared=1)
    assert_array_equal(noisy, exact)
    assert not np.shares_memory(noisy, exact)
    assert event == events.NoNoise("counts")


def test_the_smallest_and_the_largest_rho_work():
    wide, event = discrete_gaussian(np.zeros(1000, dtype=np.int64), rho=5e-13, sensitivity_squared=1)
    narrow, _ = discrete_gaussian([5, 9], rho=1e300, sensitivity_squared=1)
    assert event.sigma >= 10**6
    assert 0.8e6 < wide.std() < 1.2e6
    assert_array_equal(narrow, [5, 9])


@pytest.mark.parametrize("rho", [0, -1.0, 1e-13, math.nan, "1", True])
def test_a_rho_out_of_range_is_refused(rho):
    with pytest.raises(ParameterError, match=r"rho=.* is out of range; pass a number from 5e-13 to inf"):
        discrete_gaussian([5, 9], rho=rho, sensitivity_squared=1)


def test_a_squared_sensitivity_that_is_no_positive_integer_is_refused():
    with pytest.raises(ParameterError, match=r"sensitivity_squared=0.5 must be a whole number"):
        discrete_gaussian([5, 9], rho=1.0, sensitivity_squared=0.5)


def test_values_that_are_no_integers_are_refused():
    with pytest.raises(ParameterError, match="exact values must be integers, not float64"):
        discrete_gaussian([5.0, 9.0], rho=1.0, sensitivity_squared=1)
