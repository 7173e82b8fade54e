"""What makes Newton's equations easy to solve."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from privet.central.weights import preconditioner as module
from privet.central.weights.preconditioner import preconditioner
from tests.central.weights.problems import problem, random_weights

CASES = [(c, weighted) for c in (2, 3, 5) for weighted in (False, True)]


def whole_hessian(objective, weights):
    """Return the Hessian, a column at a time."""
    objective.gradient(weights)
    units = np.eye(objective.tilt.size).reshape(-1, *objective.shape)
    return np.stack([objective.bent(unit).ravel() for unit in units], axis=1)


@pytest.mark.parametrize(("n_classes", "weighted"), CASES)
def test_few_rows_and_weights_are_solved_outright(n_classes, weighted):
    objective = problem(1, n_classes=n_classes, weighted=weighted)
    weights, residual = random_weights(objective), random_weights(objective, 4)
    hessian = whole_hessian(objective, weights)
    assert_allclose(hessian, hessian.T, atol=1e-9)
    solved = preconditioner(objective, weights)(residual)
    assert_allclose(hessian @ solved.ravel(), residual.ravel(), atol=1e-5)


@pytest.mark.parametrize(("n_classes", "weighted"), CASES)
def test_many_weights_are_solved_a_tree_and_a_class_at_a_time(monkeypatch, n_classes, weighted):
    monkeypatch.setattr(module, "_MOST_DENSE", 10)
    objective = problem(1, n_classes=n_classes, weighted=weighted)
    weights, residual = random_weights(objective), random_weights(objective, 4)
    hessian = whole_hessian(objective, weights).reshape(*objective.shape, *objective.shape)
    solved = preconditioner(objective, weights)(residual)
    for start, size in zip(objective.trees.starts, objective.trees.sizes, strict=True):
        own = slice(start, start + size)
        for c in range(objective.shape[1]):
            # float32 chances lose a little more in p (1 - p).
            assert_allclose(hessian[own, c, own, c] @ solved[own, c], residual[own, c], rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("most_dense", [10, 4096])
def test_it_is_positive_definite(monkeypatch, most_dense):
    monkeypatch.setattr(module, "_MOST_DENSE", most_dense)
    objective = problem(1, n_classes=4)
    solve = preconditioner(objective, random_weights(objective))
    units = np.eye(objective.tilt.size).reshape(-1, *objective.shape)
    inverse = np.stack([solve(unit).ravel() for unit in units], axis=1)
    assert_allclose(inverse, inverse.T, atol=1e-9)
    assert np.linalg.eigvalsh(inverse).min() > 0


def test_a_sample_of_many_rows_is_near_enough(monkeypatch):
    monkeypatch.setattr(module, "_LEAST_SAMPLE", 200)
    objective = problem(1, n_rows=4000)
    weights, residual = random_weights(objective), random_weights(objective, 4)
    solved = preconditioner(objective, weights)(residual)
    objective.gradient(weights)
    left = objective.bent(solved) - residual
    assert 0 < np.linalg.norm(left) < 0.5 * np.linalg.norm(residual)
