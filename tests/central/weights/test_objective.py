"""The objective's derivatives are those of the plainly written one."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from privet.central.weights.leaf_rows import LeafRows
from tests.central.weights.problems import KINDS, plain_precision, plain_value, problem, random_weights
from tests.loops import loop_over

CASES = [(c, weighted) for c in (2, 3, 5) for weighted in (False, True)]


def slope(objective, weights, direction, step=1e-4):
    """Return the derivative along ``direction``, from values at four places."""
    at = [plain_value(objective, weights + k * step * direction) for k in (-2, -1, 1, 2)]
    return (at[0] - 8 * at[1] + 8 * at[2] - at[3]) / (12 * step)


@pytest.mark.parametrize(("n_classes", "weighted"), CASES)
@pytest.mark.parametrize("kind", KINDS)
@loop_over("margin", [0.0, 1.0])
def test_the_gradient_is_that_of_the_plain_objective(n_classes, weighted, margin, kind):
    objective = problem(3, n_classes=n_classes, weighted=weighted, margin=margin, kind=kind)
    weights = random_weights(objective)
    gradient = objective.gradient(weights)
    for seed in range(5):
        direction = random_weights(objective, seed)
        assert (gradient * direction).sum() == pytest.approx(slope(objective, weights, direction), rel=1e-7, abs=1e-6)


@pytest.mark.parametrize(("n_classes", "weighted"), CASES)
@pytest.mark.parametrize("kind", KINDS)
def test_products_with_the_hessian_are_differences_of_gradients(n_classes, weighted, kind):
    objective = problem(4, n_classes=n_classes, weighted=weighted, kind=kind)
    weights, direction = random_weights(objective), random_weights(objective, 9)
    ahead, behind = (objective.gradient(weights + step * direction) for step in (1e-5, -1e-5))
    objective.gradient(weights)
    # The curvatures are kept as float32.
    assert_allclose(objective.hessian_product(direction), (ahead - behind) / 2e-5, rtol=1e-5, atol=1e-4)


def test_the_hessian_is_that_of_the_last_gradient():
    objective = problem(4)
    weights, direction = random_weights(objective), random_weights(objective, 1)
    objective.gradient(weights)
    here = objective.hessian_product(direction)
    objective.gradient(weights + 5)
    assert not np.allclose(objective.hessian_product(direction), here)


@pytest.mark.parametrize(("n_classes", "weighted"), CASES)
@pytest.mark.parametrize("kind", KINDS)
def test_neither_threads_nor_blocks_nor_the_order_of_rows_change_a_bit(monkeypatch, n_classes, weighted, kind):
    objective = problem(5, n_classes=n_classes, weighted=weighted, kind=kind)
    weights, direction = random_weights(objective), random_weights(objective, 2)
    order = np.random.default_rng(3).permutation(objective.rows.n_lines)
    columns = (getattr(objective.rows, name) for name in ("cells", "labels", "weights", "scores"))
    shuffled = LeafRows(*(None if column is None else column[order] for column in columns))

    def results(n_threads, rows):
        own = replace(objective, n_threads=n_threads, rows=rows)
        curvatures = [found for _, found in own.curved_blocks(weights)]
        return own.gradient(weights), own.hessian_product(direction), np.sort(np.concatenate(curvatures), axis=0)

    whole = results(1, objective.rows)
    monkeypatch.setattr("privet.central.weights.leaf_rows.BLOCK_LINES", 7)
    for other in (results(1, objective.rows), results(3, objective.rows), results(2, shuffled)):
        for of_whole, of_other in zip(whole, other, strict=True):
            assert_array_equal(of_other, of_whole)


@pytest.mark.parametrize(("n_classes", "weighted"), CASES)
def test_second_derivatives_that_were_not_kept_are_found_anew(n_classes, weighted):
    objective = problem(5, n_classes=n_classes, weighted=weighted)
    weights, direction = random_weights(objective), random_weights(objective, 2)
    objective.gradient(weights)
    kept = objective.hessian_product(direction)
    lost = replace(objective, rows=replace(objective.rows))
    lost._last[:] = objective._last
    assert_array_equal(lost.hessian_product(direction), kept)


@pytest.mark.parametrize("wrong", [np.nan, np.inf])
def test_what_is_no_number_stays_none(wrong):
    objective = problem(5)
    weights = random_weights(objective)
    objective.gradient(weights)
    spoiled = weights.copy()
    spoiled[3] = wrong
    assert np.isnan(objective.gradient(spoiled)).all()
    assert np.isnan(objective.hessian_product(spoiled)).all()
    # The last gradient that was one is where the Hessian is still.
    assert np.isfinite(objective.hessian_product(weights)).all()


def test_a_gradient_is_measured_in_the_prior_covariance():
    objective = problem(6, n_classes=3)
    gradient = objective.gradient(random_weights(objective))
    squares = (gradient * np.linalg.solve(plain_precision(objective), gradient)).sum()
    assert objective.size_of(gradient) == pytest.approx(np.sqrt(squares), rel=1e-5)


def test_a_sample_stands_for_all_rows():
    objective = problem(7, n_rows=900)
    assert objective.sampled(500) is objective
    sample = objective.sampled(100)
    assert sample.rows.n_lines == 100
    assert sample.rows.exact_size == 900
    whole = replace(objective, rows=replace(objective.rows, weights=np.full(900, 1)))
    assert whole.sampled(100).rows.exact_size == 900
