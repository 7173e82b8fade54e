import math

import pytest

from benchmarks.speed import harness
from benchmarks.speed.curve import Curve, fitted_exponent


def curve(points, expected=1.0, **options):
    return Curve("fit", "rows", "10 trees", tuple(points), expected, **options)


def test_a_power_law_has_its_exponent_and_no_error():
    found = fitted_exponent([1_000, 2_000, 4_000, 8_000], [0.5 * n**1.5 for n in (1_000, 2_000, 4_000, 8_000)])
    assert found.value == pytest.approx(1.5, abs=1e-12)
    assert found.error == pytest.approx(0.0, abs=1e-12)


def test_what_does_not_grow_has_exponent_0():
    # How sums are rounded depends on where arrays lie in memory.
    assert fitted_exponent([1, 2, 4], [7.0, 7.0, 7.0]).value == pytest.approx(0.0, abs=1e-12)


def test_an_exponent_and_its_error_by_hand():
    # In logarithms to base 2: x = 0, 1, 2 and y = 0, 2, 1. The slope is 1/2; residuals are -1/2, 1, -1/2, whose squares
    # add up to 3/2; one degree of freedom is left, and x has a sum of squares of 2.
    found = fitted_exponent([1, 2, 4], [1.0, 4.0, 2.0])
    assert found.value == pytest.approx(0.5)
    assert found.error == pytest.approx(math.sqrt(1.5 / 2))
    assert str(found) == "0.50 ± 0.87"


def test_two_points_have_no_error_to_tell():
    with pytest.raises(ValueError, match="three points or more; measure more sizes"):
        fitted_exponent([1, 2], [1.0, 2.0])


def test_linear_growth_holds_and_quadratic_growth_does_not():
    linear, quadratic = (curve((n, n**power) for n in (10, 20, 40)) for power in (1.0, 2.0))
    assert linear.verdict == harness.HOLDS
    assert quadratic.verdict == harness.FAILS


def test_a_little_above_the_expected_exponent_holds():
    assert curve((n, n**1.14) for n in (10, 20, 40)).verdict == harness.HOLDS
    assert curve((n, n**1.16) for n in (10, 20, 40)).verdict == harness.FAILS
    assert curve(((n, n**0.06) for n in (10, 20, 40)), 0.0, allowance=0.05).verdict == harness.FAILS


def test_a_line_shows_both_ends_the_exponent_and_the_target():
    cells = curve([(1_000, 0.001), (2_000, 0.002), (4_000, 0.004)]).cells()
    assert cells == ("fit", "rows", "1,000: 1 ms", "4,000: 4 ms", "1.00 ± 0.00", "<= 1.15", "holds")


def test_memory_is_shown_in_megabytes():
    cells = curve([(1e6, 300.0), (2e6, 300.0), (4e6, 300.0)], 0.0, unit="MB", allowance=0.05).cells()
    assert cells[2:] == ("1,000,000: 300 MB", "4,000,000: 300 MB", "0.00 ± 0.00", "<= 0.05", "holds")
