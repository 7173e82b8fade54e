"""More digits, where floats do not suffice: slow, and sure."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose

from privet.joint import release
from privet.joint.certificate import float_gradient
from privet.joint.precise import precise_gradient
from privet.joint.preconditioner import preconditioner
from privet.joint.release import certified_minimiser
from tests.joint.problems import exact_gradient, farthest, problem, random_weights

CASES = [(c, weighted) for c in (2, 3, 6) for weighted in (False, True)]


@pytest.mark.parametrize(("n_classes", "weighted"), CASES)
def test_it_equals_the_float_gradient_within_both_bounds(n_classes, weighted):
    objective = problem(1, n_rows=40, n_classes=n_classes, weighted=weighted)
    weights = random_weights(objective)
    precise = precise_gradient(objective, weights, np.zeros_like(weights), digits=40)
    floats = float_gradient(objective, weights)
    assert np.abs(precise.values - floats.values).max() <= precise.error + floats.error
    assert farthest(precise.values, exact_gradient(objective, weights)) <= precise.error
    assert precise.error < floats.error


def test_what_floats_left_over_counts():
    objective = problem(1, n_rows=40)
    weights, rest = random_weights(objective), np.zeros(objective.shape)
    weights[3], rest[3] = 1.0, 2.0**-70
    moved = precise_gradient(objective, weights, rest, digits=60)
    with_none = precise_gradient(objective, weights, np.zeros_like(rest), digits=60)
    # At 2**-70 the gradient moves by the Hessian times that, below what its own floats show unless it is small.
    shift = weights.copy()
    shift[3] += 2.0**-20
    slope = (precise_gradient(objective, shift, rest * 0, digits=60).values - with_none.values) * 2.0**20
    assert np.abs(moved.values - with_none.values).max() <= 2.0**-60
    assert np.abs(slope[3, 0]) > 1


def certified(objective, tolerance):
    weights, rest = certified_minimiser(objective, tolerance, tilt_error=0.0)
    found = precise_gradient(objective, weights, rest, digits=80)
    assert found.largest <= tolerance
    return weights, rest


@pytest.mark.parametrize("n_classes", [2, 3])
def test_floats_suffice_at_the_usual_tolerance(monkeypatch, n_classes):
    monkeypatch.setattr(release, "precise_gradient", None)
    _, rest = certified_minimiser(problem(2, n_classes=n_classes), 1e-8, tilt_error=1e-9)
    assert not rest.any()


@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_tiny_tolerance_is_reached_with_more_digits(n_classes):
    _, rest = certified(problem(2, n_rows=20, n_classes=n_classes), 1e-25)
    assert 0 < np.abs(rest).max() < 1e-14


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("times", [10**7, 10**9])
def test_far_more_rows_than_declared_are_certified_with_more_digits(n_classes, times):
    objective = problem(2, n_rows=20, n_classes=n_classes)
    crowd = replace(objective, rows=replace(objective.rows, weights=np.full(20, times)), _bends=[])
    assert float_gradient(crowd, np.zeros(crowd.shape)).error > 1e-8
    certified(crowd, 1e-8)


def stopping_at(weights):
    """Return a solver that ends at ``weights``, wherever the minimiser is."""

    def solve(objective, *, tolerance):
        objective.gradient(weights)
        return weights, preconditioner(objective, weights)

    return solve


def impatient(monkeypatch, most=25):
    """Make a search that does not end fail."""
    look, seen = release._gradient, []

    def looked(*arguments):
        seen.append(arguments)
        assert len(seen) < most, "the search for a certified minimiser goes on and on"
        return look(*arguments)

    monkeypatch.setattr(release, "_gradient", looked)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("size", [1e-6, 1e-3, 1.0, 5.0])
def test_wherever_the_solver_stops_only_a_certified_minimiser_is_returned(monkeypatch, n_classes, size):
    objective = problem(2, n_rows=60, n_classes=n_classes)
    right, _ = certified(objective, 1e-8)
    garbage = right + random_weights(objective, 3, size)
    monkeypatch.setattr(release, "approximate_minimiser", stopping_at(garbage))
    impatient(monkeypatch)
    weights, rest = certified(replace(objective, _bends=[]), 1e-8)
    assert_allclose(weights + rest, right, atol=1e-7)


def test_an_error_of_the_tilt_makes_it_go_on():
    objective = problem(2, n_rows=20)
    weights, rest = certified_minimiser(objective, 1e-12, tilt_error=1e-12 * (1 - 1e-6))
    assert precise_gradient(objective, weights, rest, digits=80).largest <= 1.1e-18
