"""The certified gradient: its error is bounded, and the bound is worth something."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from privet.joint.certificate import BoundedGradient, float_gradient
from privet.joint.leaf_rows import LeafRows
from privet.joint.release import Grid
from privet.joint.solver import approximate_minimiser
from tests.joint.problems import exact_gradient, farthest, problem, random_weights

CASES = [
    {"n_classes": c, "weighted": weighted, "tilt": tilt}
    for c in (2, 3, 6)
    for weighted, tilt in ((False, 1.0), (True, 0.0), (False, 1e6))
]


@pytest.mark.parametrize("size", [1e-3, 1.0, 40.0])
@pytest.mark.parametrize("case", CASES, ids=str)
def test_the_true_gradient_is_within_the_bound(case, size):
    objective = problem(1, n_rows=40, **case)
    weights = random_weights(objective, 2, size)
    found = float_gradient(objective, weights)
    assert farthest(found.values, exact_gradient(objective, weights)) <= found.error


@pytest.mark.parametrize("n_classes", [2, 3, 5, 12, 20])
def test_floats_certify_as_many_rows_as_were_declared(n_classes):
    objective = problem(1, n_rows=300, n_classes=n_classes)
    crowd = replace(objective, rows=replace(objective.rows, weights=np.full(300, 20_000)), _bends=[])
    weights, _ = approximate_minimiser(crowd, tolerance=1e-9)
    grid = Grid.of(6 * 10**6, 1.0, shape=crowd.shape, tilt_error=0.0, epsilon=0.01)
    assert (
        float_gradient(crowd, weights).largest < 0.9 * grid.tolerance
    )  # else it takes more digits: minutes become days


def test_the_order_of_rows_does_not_matter_and_nor_do_merged_ones():
    for n_classes in (2, 4):
        objective = problem(1, n_rows=3000, n_classes=n_classes)
        weights = random_weights(objective)
        order = np.random.default_rng(0).permutation(3000)
        rows = objective.rows
        shuffled = replace(objective, rows=LeafRows(rows.leaves[order], rows.labels[order], None))
        merged = replace(objective, rows=rows.merged(objective.trees, n_classes))
        assert merged.rows.weights is not None
        found = float_gradient(objective, weights)
        assert_array_equal(float_gradient(shuffled, weights).values, found.values)
        assert_array_equal(float_gradient(merged, weights).values, found.values)


def test_rows_of_one_sign_do_not_overflow():
    # 2**40 rows a leaf, residuals near 1: 2**92 units of 2**-52 in a single integer would wrap around.
    objective = problem(1, n_rows=3, labels=1, tilt=0.0)
    times = np.full(3, 2**40)
    heavy = replace(objective, rows=replace(objective.rows, weights=times))
    weights = np.full(objective.shape, -20.0)
    found = float_gradient(heavy, weights)
    assert farthest(found.values, exact_gradient(heavy, weights)) <= found.error
    assert found.values.min() < -(2.0**39)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_extreme_scores_are_bounded_too(n_classes):
    objective = problem(1, n_classes=n_classes, tilt=0.0)
    weights = random_weights(objective, 5, 1e4)
    found = float_gradient(objective, weights)
    assert np.isfinite(found.values).all()
    assert farthest(found.values, exact_gradient(objective, weights)) <= found.error


def test_it_agrees_with_the_solver_and_is_not_the_same_sum():
    objective = problem(3, n_classes=3)
    weights = random_weights(objective)
    found = float_gradient(objective, weights)
    assert np.abs(found.values - objective.gradient(weights)).max() < 1e-11


def test_a_solver_that_stops_early_or_elsewhere_is_caught():
    objective = problem(3)
    weights, _ = approximate_minimiser(objective, tolerance=1e-9)
    assert float_gradient(objective, weights).largest <= 1e-8
    for wrong in (weights + 1e-7, weights * (1 - 1e-6), np.zeros_like(weights)):
        assert float_gradient(objective, wrong).largest > 1e-8


@pytest.mark.parametrize("planted", ["margin", "offset", "one row less", "tilt of one leaf"])
def test_a_solver_of_another_objective_is_caught(planted):
    objective = problem(3, n_classes=3)
    tilt = objective.tilt.copy()
    tilt[7, 1] += 1e-6
    rows = objective.rows
    other = {
        "margin": replace(objective, margin=1.0 + 1e-6, _bends=[]),
        "offset": replace(objective, offsets=objective.offsets + np.array([0, 1e-6, 0]), _bends=[]),
        "one row less": replace(objective, rows=LeafRows(rows.leaves[1:], rows.labels[1:], None), _bends=[]),
        "tilt of one leaf": replace(objective, tilt=tilt, _bends=[]),
    }[planted]
    weights, _ = approximate_minimiser(other, tolerance=1e-10)
    assert float_gradient(other, weights).largest <= 1e-9
    assert float_gradient(objective, weights).largest > 1e-8


def test_the_largest_number_counts_the_error():
    assert BoundedGradient(np.array([[0.5], [-2.0]]), 0.25).largest == 2.25
    assert BoundedGradient(np.empty((0, 1)), 0.25).largest == 0.25
