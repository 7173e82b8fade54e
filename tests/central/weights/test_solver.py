"""The solver ends at the minimiser."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import minimize

from privet.central.weights import solver
from privet.central.weights.objective import Objective
from privet.central.weights.solver import approximate_minimiser, newton_step, preconditioner
from tests.central.weights.problems import KINDS, plain_value, problem, random_weights

TOLERANCE = 1e-9


def solved(objective):
    weights, _ = approximate_minimiser(objective, tolerance=TOLERANCE)
    return weights


def largest_gradient(objective, weights):
    return np.abs(objective.gradient(weights)).max()


@pytest.mark.parametrize(("n_classes", "weighted"), [(2, False), (2, True), (3, False), (5, True)])
@pytest.mark.parametrize("kind", KINDS)
def test_it_reaches_the_minimiser_that_scipy_finds(kind, n_classes, weighted):
    objective = problem(1, n_classes=n_classes, weighted=weighted, kind=kind)
    best = minimize(
        lambda flat: plain_value(objective, flat.reshape(objective.shape)),
        np.zeros(objective.linear_noise.size),
        jac=lambda flat: objective.gradient(flat.reshape(objective.shape)).ravel(),
        method="L-BFGS-B", options={"ftol": 1e-15, "gtol": 1e-9, "maxiter": 2000},
    )  # fmt: skip
    weights = solved(objective)
    assert plain_value(objective, weights) <= best.fun + 1e-10
    assert_allclose(weights, best.x.reshape(objective.shape), atol=1e-5)
    assert largest_gradient(objective, weights) <= TOLERANCE


CASES = {
    "separable": {"variance": 100.0, "noise": 0.0, "n_rows": 200},
    "one class only": {"labels": 1, "variance": 2.0},
    "the other class only": {"labels": 0, "variance": 2.0},
    "no rows": {"n_rows": 0},
    "one row": {"n_rows": 1},
    "heavy noise": {"noise": 100.0},
    "huge noise": {"noise": 1e5, "variance": 1e-4},
    "huge noise and a wide prior": {"noise": 1e4, "variance": 2.0},
    "no noise": {"noise": 0.0},
    "many rows each": {"weighted": True, "n_rows": 500, "variance": 50.0},
    "two threads": {"n_threads": 2},
    "two threads and counts": {"n_threads": 2, "weighted": True},
}


@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("case", CASES)
def test_it_converges_from_anywhere(case, n_classes, kind):
    objective = problem(2, n_classes=n_classes, kind=kind, **CASES[case])
    weights = solved(objective)
    # Floats tell gradients apart down to a share of the noise.
    floor = 1e-12 * max(1.0, float(np.abs(objective.linear_noise).max()), float(np.abs(weights).max()))
    assert largest_gradient(objective, weights) <= max(TOLERANCE, floor)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("kind", KINDS)
def test_it_converges_where_weights_are_too_many_for_one_matrix(monkeypatch, n_classes, kind):
    monkeypatch.setattr(solver, "_MOST_DENSE", 8)
    objective = problem(2, n_classes=n_classes, n_rows=300, variance=5.0, kind=kind)
    assert largest_gradient(objective, solved(objective)) <= TOLERANCE


def test_samples_only_say_where_to_begin(monkeypatch):
    monkeypatch.setattr(solver, "_FEW_LINES", (50, 200))
    monkeypatch.setattr(solver, "_LEAST_SAMPLE", 50)
    objective = problem(3, n_rows=2000)
    assert objective.sampled(50) is not objective
    assert largest_gradient(objective, solved(objective)) <= TOLERANCE


@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_newton_step_leaves_no_more_than_wanted(n_classes):
    objective = problem(4, n_classes=n_classes)
    weights = random_weights(objective)
    gradient = objective.gradient(weights)
    for wanted in (0.5, 1e-2, 1e-6):
        step, n_steps = newton_step(objective, gradient, lambda residual: residual, wanted=wanted)
        left = objective.size_of(gradient + objective.hessian_product(step))
        assert left <= 1.01 * wanted * objective.size_of(gradient)
        assert n_steps >= 1


@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_end_of_the_last_step_is_foreseen(monkeypatch, n_classes):
    objective, seen = problem(3, n_rows=500, n_classes=n_classes, kind="soft"), []
    look = Objective.gradient
    monkeypatch.setattr(Objective, "gradient", lambda own, weights: seen.append(weights) or look(own, weights))
    weights = solved(objective)
    assert not any(np.array_equal(weights, at) for at in seen)
    assert TOLERANCE < largest_gradient(objective, seen[-1]) < 1e-3
    assert largest_gradient(objective, weights) <= TOLERANCE


SHAPES = [(c, weighted) for c in (2, 3, 5) for weighted in (False, True)]


def whole_hessian(objective, weights):
    """Return the Hessian, a column at a time."""
    objective.gradient(weights)
    units = np.eye(objective.linear_noise.size).reshape(-1, *objective.shape)
    return np.stack([objective.hessian_product(unit).ravel() for unit in units], axis=1)


@pytest.mark.parametrize(("n_classes", "weighted"), SHAPES)
@pytest.mark.parametrize("kind", KINDS)
def test_few_rows_and_weights_are_solved_outright(n_classes, weighted, kind):
    objective = problem(1, n_classes=n_classes, weighted=weighted, kind=kind)
    weights, residual = random_weights(objective), random_weights(objective, 4)
    hessian = whole_hessian(objective, weights)
    assert_allclose(hessian, hessian.T, atol=1e-9)
    solved = preconditioner(objective, weights)(residual)
    assert_allclose(hessian @ solved.ravel(), residual.ravel(), atol=1e-5)


@pytest.mark.parametrize(("n_classes", "weighted"), SHAPES)
@pytest.mark.parametrize("kind", KINDS)
def test_many_weights_are_solved_a_tree_and_a_class_at_a_time(monkeypatch, n_classes, weighted, kind):
    monkeypatch.setattr(solver, "_MOST_DENSE", 10)
    objective = problem(1, n_classes=n_classes, weighted=weighted, kind=kind)
    weights, residual = random_weights(objective), random_weights(objective, 4)
    hessian = whole_hessian(objective, weights).reshape(*objective.shape, *objective.shape)
    solved = preconditioner(objective, weights)(residual)
    # What classes have in common moves no chance, so there the prior alone decides.
    common = residual.mean(axis=1, keepdims=True) if n_classes > 2 else np.zeros_like(residual)
    expected = np.empty_like(residual)
    for t, (start, size) in enumerate(zip(objective.trees.starts, objective.trees.sizes, strict=True)):
        own = slice(start, start + size)
        for c in range(objective.shape[1]):
            expected[own, c] = np.linalg.solve(hessian[own, c, own, c], (residual - common)[own, c])
        if n_classes > 2:
            expected[own] -= expected[own].mean(axis=1, keepdims=True)
            expected[own] += np.linalg.solve(objective.prior.precisions[t], common[own])
    # float32 chances lose a little more in p (1 - p).
    assert_allclose(solved, expected, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("most_dense", [10, 4096])
def test_it_is_positive_definite(monkeypatch, most_dense):
    monkeypatch.setattr(solver, "_MOST_DENSE", most_dense)
    objective = problem(1, n_classes=4)
    solve = preconditioner(objective, random_weights(objective))
    units = np.eye(objective.linear_noise.size).reshape(-1, *objective.shape)
    inverse = np.stack([solve(unit).ravel() for unit in units], axis=1)
    assert_allclose(inverse, inverse.T, atol=1e-9)
    assert np.linalg.eigvalsh(inverse).min() > 0


def test_a_sample_of_many_rows_is_near_enough(monkeypatch):
    monkeypatch.setattr(solver, "_LEAST_SAMPLE", 200)
    objective = problem(1, n_rows=4000)
    weights, residual = random_weights(objective), random_weights(objective, 4)
    solved = preconditioner(objective, weights)(residual)
    objective.gradient(weights)
    left = objective.hessian_product(solved) - residual
    assert 0 < np.linalg.norm(left) < 0.5 * np.linalg.norm(residual)
