"""The certified gradient: its error is bounded, and the bound is worth something."""

from dataclasses import replace
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from privet.central.weights import certificate, minimiser
from privet.central.weights.certificate import BoundedGradient, bounded_gradient
from privet.central.weights.leaf_rows import LeafRows
from privet.central.weights.minimiser import Grid, certified_minimiser
from privet.central.weights.solver import approximate_minimiser, preconditioner
from tests.central.weights.problems import exact_gradient, farthest, problem, random_weights
from tests.loops import loop_over

CASES = [
    {"n_classes": c, "weighted": weighted, "noise": noise}
    for c in (2, 3, 6)
    for weighted, noise in ((False, 1.0), (True, 0.0), (False, 1e6))
]


def gradient_at(objective, weights):
    return bounded_gradient(objective, weights, np.zeros_like(weights))


def left_over(weights, seed=5):
    """Return numbers below the last digit of each weight."""
    return weights * 2.0**-54 * np.random.default_rng(seed).uniform(-1, 1, weights.shape)


@loop_over("size", [1e-3, 1.0, 40.0])
@pytest.mark.parametrize("case", CASES, ids=str)
def test_the_true_gradient_is_within_the_bound(case, size):
    objective = problem(1, n_rows=40, **case)
    weights = random_weights(objective, 2, size)
    rest = left_over(weights)
    found = bounded_gradient(objective, weights, rest)
    assert farthest(found.values, exact_gradient(objective, weights, rest)) <= found.error


@pytest.mark.parametrize("n_classes", [2, 3, 6])
def test_where_the_gradient_is_small_all_of_its_digits_are_right(n_classes):
    # At a minimiser the last rounding of each number is nothing, and only the proven bound is left.
    objective = problem(1, n_rows=40, n_classes=n_classes)
    weights, rest = certified_minimiser(objective, 1e-18, noise_error=0.0)
    found = bounded_gradient(objective, weights, rest)
    assert farthest(found.values, exact_gradient(objective, weights, rest)) <= found.error < 40 * 2.0**-70


def test_parts_of_the_sum_are_exact_or_as_near_as_they_say():
    coarse, fine = certificate._powers()
    rng = np.random.default_rng(3)
    with localcontext() as context:
        context.prec = 60
        for _ in range(300):
            a, b = rng.normal(size=2) * 10.0 ** rng.integers(-6, 6, 2)
            assert sum(map(Fraction, certificate._two_sum(a, b))) == Fraction(a) + Fraction(b)
            assert sum(map(Fraction, certificate._two_product(a, b))) == Fraction(a) * Fraction(b)
            x = rng.uniform(0, 75) * rng.integers(0, 2) + rng.uniform(0, 2.0**-9)
            low = x * 2.0**-54 * rng.uniform(-1, 1)
            true = (-Decimal(x) - Decimal(low)).exp()
            assert abs(sum(map(Decimal, certificate._exp_minus(x, low, coarse, fine))) / true - 1) < 2.0**-72
            whole = Decimal(1.0 + x) + Decimal(low)
            assert abs(sum(map(Decimal, certificate._one_over(1.0 + x, low))) * whole - 1) < 2.0**-100
    assert certificate._exp_minus(75.1, 0.0, coarse, fine) == (0.0, 0.0)


@pytest.mark.parametrize("n_classes", [2, 3, 5, 12, 20])
def test_as_many_rows_as_were_declared_are_certified_at_once(n_classes):
    objective = problem(1, n_rows=300, n_classes=n_classes)
    crowd = replace(objective, rows=replace(objective.rows, weights=np.full(300, 20_000)), _curvatures=[])
    weights, _ = approximate_minimiser(crowd, tolerance=1e-9)
    grid = Grid.of(6 * 10**6, 1.0, shape=crowd.shape, noise_error=0.0, epsilon=0.01)
    assert gradient_at(crowd, weights).largest < 0.9 * grid.tolerance


def test_the_order_of_rows_does_not_matter_and_nor_do_merged_ones():
    for n_classes in (2, 4):
        objective = problem(1, n_rows=3000, n_classes=n_classes)
        weights = random_weights(objective)
        order = np.random.default_rng(0).permutation(3000)
        rows = objective.rows
        shuffled = replace(objective, rows=LeafRows(rows.leaves[order], rows.labels[order], None))
        merged = replace(objective, rows=rows.merged(objective.trees, n_classes))
        assert merged.rows.weights is not None
        found = gradient_at(objective, weights)
        assert_array_equal(gradient_at(shuffled, weights).values, found.values)
        assert_array_equal(gradient_at(merged, weights).values, found.values)


def test_rows_of_one_sign_do_not_overflow():
    # 2**36 rows a leaf, residuals near 1: 2**108 units of 2**-72 in a single integer would wrap around.
    objective = problem(1, n_rows=3, labels=1, noise=0.0)
    heavy = replace(objective, rows=replace(objective.rows, weights=np.full(3, 2**36)))
    weights = np.full(objective.shape, -20.0)
    found = gradient_at(heavy, weights)
    assert farthest(found.values, exact_gradient(heavy, weights)) <= found.error < 1e-4
    assert found.values.min() < -(2.0**35)
    crowd = replace(objective, rows=replace(objective.rows, weights=np.full(3, 2**37)))
    with pytest.raises(OverflowError, match=r"^2\*\*38 rows or more cannot be counted$"):
        gradient_at(crowd, weights)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_extreme_scores_are_bounded_too(n_classes):
    objective = problem(1, n_classes=n_classes, noise=0.0)
    weights = random_weights(objective, 5, 1e4)
    found = gradient_at(objective, weights)
    assert np.isfinite(found.values).all()
    assert farthest(found.values, exact_gradient(objective, weights)) <= found.error


def test_it_agrees_with_the_solver_and_is_not_the_same_sum():
    objective = problem(3, n_classes=3)
    weights = random_weights(objective)
    found = gradient_at(objective, weights)
    assert np.abs(found.values - objective.gradient(weights)).max() < 1e-11


def test_a_solver_that_stops_early_or_elsewhere_is_caught():
    objective = problem(3)
    weights, _ = approximate_minimiser(objective, tolerance=1e-9)
    assert gradient_at(objective, weights).largest <= 1e-8
    for wrong in (weights + 1e-7, weights * (1 - 1e-6), np.zeros_like(weights)):
        assert gradient_at(objective, wrong).largest > 1e-8


@pytest.mark.parametrize("planted", ["margin", "offset", "one row less", "noise of one leaf"])
def test_a_solver_of_another_objective_is_caught(planted):
    objective = problem(3, n_classes=3)
    noise = objective.linear_noise.copy()
    noise[7, 1] += 1e-6
    rows = objective.rows
    other = {
        "margin": replace(objective, margin=1.0 + 1e-6, _curvatures=[]),
        "offset": replace(objective, offsets=objective.offsets + np.array([0, 1e-6, 0]), _curvatures=[]),
        "one row less": replace(objective, rows=LeafRows(rows.leaves[1:], rows.labels[1:], None), _curvatures=[]),
        "noise of one leaf": replace(objective, linear_noise=noise, _curvatures=[]),
    }[planted]
    weights, _ = approximate_minimiser(other, tolerance=1e-10)
    assert gradient_at(other, weights).largest <= 1e-9
    assert gradient_at(objective, weights).largest > 1e-8


def test_the_largest_number_counts_the_error():
    assert BoundedGradient(np.array([[0.5], [-2.0]]), 0.25).largest == 2.25
    assert BoundedGradient(np.empty((0, 1)), 0.25).largest == 0.25


def certified(objective, tolerance):
    weights, rest = certified_minimiser(objective, tolerance, noise_error=0.0)
    exact = exact_gradient(objective, weights, rest)
    assert max(abs(number) for line in exact for number in line) <= tolerance
    return weights, rest


@pytest.mark.parametrize("n_classes", [2, 3])
def test_floats_suffice_at_the_usual_tolerance(n_classes):
    _, rest = certified_minimiser(problem(2, n_classes=n_classes), 1e-8, noise_error=1e-9)
    assert not rest.any()


@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_tiny_tolerance_is_reached_with_what_floats_leave_over(n_classes):
    _, rest = certified(problem(2, n_rows=20, n_classes=n_classes), 1e-19)
    assert 0 < np.abs(rest).max() < 1e-14


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("times", [10**7, 10**9])
def test_far_more_rows_than_declared_are_certified(n_classes, times):
    objective = problem(2, n_rows=20, n_classes=n_classes)
    certified(replace(objective, rows=replace(objective.rows, weights=np.full(20, times)), _curvatures=[]), 1e-8)


def stopping_at(weights):
    """Return a solver that ends at ``weights``, wherever the minimiser is."""

    def solve(objective, *, tolerance):
        objective.gradient(weights)
        return weights, preconditioner(objective, weights)

    return solve


def impatient(monkeypatch, most=25):
    """Make a search that does not end fail."""
    look, seen = minimiser.bounded_gradient, []

    def looked(*arguments):
        seen.append(arguments)
        assert len(seen) < most, "the search for a certified minimiser goes on and on"
        return look(*arguments)

    monkeypatch.setattr(minimiser, "bounded_gradient", looked)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("size", [1e-6, 1e-3, 1.0, 5.0])
def test_wherever_the_solver_stops_only_a_certified_minimiser_is_returned(monkeypatch, n_classes, size):
    objective = problem(2, n_rows=60, n_classes=n_classes)
    right, _ = certified(objective, 1e-8)
    garbage = right + random_weights(objective, 3, size)
    monkeypatch.setattr(minimiser, "approximate_minimiser", stopping_at(garbage))
    impatient(monkeypatch)
    weights, rest = certified(replace(objective, _curvatures=[]), 1e-8)
    assert_allclose(weights + rest, right, atol=1e-7)


def test_an_error_of_the_tilt_makes_it_go_on():
    objective = problem(2, n_rows=20)
    weights, rest = certified_minimiser(objective, 1e-12, noise_error=1e-12 * (1 - 1e-6))
    assert max(abs(number) for line in exact_gradient(objective, weights, rest) for number in line) <= 1.1e-18


def test_a_tolerance_that_no_certificate_reaches_is_an_error_and_no_endless_search():
    with pytest.raises(ArithmeticError, match="^no weights have a gradient that is certainly as small as asked for$"):
        certified_minimiser(problem(2, n_rows=20), 1e-40, noise_error=0.0)


def test_weights_that_are_no_numbers_are_not_certified(monkeypatch):
    objective = problem(2, n_rows=20)
    monkeypatch.setattr(minimiser, "approximate_minimiser", lambda *_, **__: (np.full(objective.shape, np.nan), None))
    monkeypatch.setattr(minimiser, "_improved", lambda *_: pytest.fail("goes on"))
    with pytest.raises(pytest.fail.Exception, match="goes on"):
        certified_minimiser(objective, 1e-8, noise_error=0.0)
