"""The kernels agree with their plain twins."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from privet.central.weights import certificate, kernels
from tests.central.weights import reference
from tests.loops import loop_over

TYPES = [np.uint8, np.uint16]


def shapes(rng, seed, dtype, widest=8):
    """Return random leaves, where trees start, how many leaves there are, and how many rows each line stands for."""
    n_trees, n_lines = int(rng.integers(1, 5)), (0, 1, 2, 17, 60)[seed % 5]
    sizes = rng.integers(2, widest + 1, n_trees)
    leaves = rng.integers(0, sizes, (n_lines, n_trees)).astype(dtype).reshape(-1)
    counts = rng.integers(1, 1000, n_lines) if seed % 2 else np.empty(0, dtype=np.int64)
    return leaves, np.cumsum(sizes) - sizes, int(sizes.sum()), n_lines, counts


def binary_results(module, seed, dtype):
    rng = np.random.default_rng(seed)
    widest = 300 if dtype is np.uint16 and seed % 3 == 0 else 8
    leaves, starts, n_leaves, n_lines, counts = shapes(rng, seed, dtype, widest)
    labels = rng.integers(0, 2, n_lines).astype(np.uint8)
    weights, direction, gradient, out = rng.normal(size=(4, n_leaves))
    curvatures, hessian = np.empty(n_lines, dtype=np.float32), np.zeros((n_leaves, n_leaves))
    module.binary_gradient(leaves, starts, labels, counts, weights, 0.3, 1.0, gradient, curvatures)
    known = rng.uniform(0, 9, n_lines).astype(np.float32)
    module.binary_hessian_product(leaves, starts, known, direction, out)
    module.binary_hessian(leaves, starts, known, hessian)
    return [gradient, curvatures, out, hessian]


def softmax_results(module, seed, dtype, n_classes):
    rng = np.random.default_rng(seed)
    leaves, starts, n_leaves, n_lines, counts = shapes(rng, seed, dtype)
    labels = rng.integers(0, n_classes, n_lines).astype(np.uint16 if seed % 3 else np.uint8)
    weights, direction, gradient, out = rng.normal(size=(4, n_leaves, n_classes))
    chances, hessian = np.empty((n_lines, n_classes), dtype=np.float32), np.zeros((n_leaves * n_classes,) * 2)
    module.softmax_gradient(leaves, starts, labels, counts, weights, rng.normal(size=n_classes), 1.0, gradient, chances)
    known = rng.dirichlet(np.ones(n_classes), n_lines).astype(np.float32)
    module.softmax_hessian_product(leaves, starts, counts, known, direction, out)
    module.softmax_hessian(leaves, starts, counts, known, hessian)
    return [gradient, chances, out, np.tril(hessian)]


def leaf_results(module, seed, dtype, n_columns):
    rng = np.random.default_rng(seed)
    leaves, starts, n_leaves, n_lines, _ = shapes(rng, seed, dtype)
    sums, weights = rng.normal(size=(2, n_leaves, n_columns))
    scores = rng.normal(size=(n_lines, n_columns))
    module.leaf_curvatures(leaves, starts, rng.uniform(size=(n_lines, n_columns)).astype(np.float32), sums)
    module.scores_of(leaves, starts, weights, scores)
    return [sums, scores]


def assert_alike(fast, plain):
    for own, other in zip(fast, plain, strict=True):
        assert own.dtype == other.dtype
        # Sums in another order; numbers kept as float32 are rounded once.
        assert_allclose(own, other, rtol=1e-10 if own.dtype == np.float64 else 2e-6, atol=1e-9)


@pytest.mark.parametrize("dtype", TYPES)
@loop_over("seed", range(30))
def test_kernels_of_two_classes_agree_with_their_twins(seed, dtype):
    assert_alike(binary_results(kernels, seed, dtype), binary_results(reference, seed, dtype))


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("n_classes", [2, 3, 4, 5, 6])
@loop_over("seed", range(10))
def test_kernels_of_more_classes_agree_with_their_twins(seed, dtype, n_classes):
    assert_alike(softmax_results(kernels, seed, dtype, n_classes), softmax_results(reference, seed, dtype, n_classes))


def test_the_hessian_of_many_classes_is_added_up_in_stretches_of_lines():
    rng, n_classes, n_lines = np.random.default_rng(7), 300, 50
    assert n_lines > kernels._MOST_CURVATURES // n_classes**2
    leaves, counts = rng.integers(0, 2, 2 * n_lines).astype(np.uint8), rng.integers(1, 9, n_lines)
    chances = rng.dirichlet(np.ones(n_classes), n_lines).astype(np.float32)
    fast, plain = np.zeros((2, 4 * n_classes, 4 * n_classes))
    kernels.softmax_hessian(leaves, np.array([0, 2]), counts, chances, fast)
    reference.softmax_hessian(leaves, np.array([0, 2]), counts, chances, plain)
    assert_alike([np.tril(fast)], [plain])


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("n_columns", [1, 4])
@loop_over("seed", range(5))
def test_sums_over_leaves_agree_with_their_twins(seed, dtype, n_columns):
    assert_alike(leaf_results(kernels, seed, dtype, n_columns), leaf_results(reference, seed, dtype, n_columns))


@pytest.mark.parametrize("module", [kernels, reference])
def test_two_rows_pull_their_leaves_by_hand(module):
    # One tree of two leaves; the row of the second class has score 1, the other one, of the first class, score 0.
    leaves, starts, labels = np.array([0, 1], np.uint8), np.array([0]), np.array([1, 0], np.uint8)
    gradient, curvatures = np.zeros(2), np.empty(2, np.float32)
    module.binary_gradient(
        leaves, starts, labels, np.array([1, 3]), np.array([1.0, 0.0]), 0.0, 1.0, gradient, curvatures
    )
    # The margin of 1 leaves the first at the border: it pulls by a half. The second is behind by 1, and stands for 3.
    behind = 1 / (1 + np.exp(-1.0))
    assert_allclose(gradient, [-0.5, 3 * behind], rtol=1e-15)
    assert_allclose(curvatures, [0.25, 3 * behind * (1 - behind)], rtol=1e-6)


def residual_sums(add, leaves, starts, labels, counts, weights, rest, offsets):
    """Return sums of residuals in units of 2**-72, and the bound on their error."""
    sums = np.zeros((3, *weights.shape), dtype=np.int64)
    tables = certificate._powers() if add is certificate._sum_residuals else ()
    bound = add(leaves, starts, labels, counts, weights, rest, offsets, 1.0, *tables, sums)
    return (sums[0].astype(object) * 2**24 + sums[1]) * 2**24 + sums[2], bound


@pytest.mark.parametrize("n_classes", [2, 3, 6])
@pytest.mark.parametrize("dtype", TYPES)
@loop_over("seed", range(10))
def test_exact_sums_agree_with_their_twin_within_both_bounds(seed, dtype, n_classes):
    rng = np.random.default_rng(seed)
    leaves, starts, n_leaves, n_lines, counts = shapes(rng, seed, dtype)
    labels = rng.integers(0, n_classes, n_lines).astype(np.uint8)
    weights = rng.normal(size=(n_leaves, 1 if n_classes == 2 else n_classes)) * 10.0 ** rng.integers(-3, 3)
    rest = weights * 2.0**-54 * rng.uniform(-1, 1, weights.shape)
    given = leaves, starts, labels, counts, weights, rest, np.linspace(-1, 1, n_classes)
    fast, bound = residual_sums(certificate._sum_residuals, *given)
    plain, plain_bound = residual_sums(reference.sum_residuals, *given)
    assert abs(fast - plain).max(initial=0) * 2.0**-72 <= bound + plain_bound
    size = 1 + np.abs(weights).max() * len(starts)
    assert bound <= max(1, counts.sum(), n_lines) * (2.0**-71 + 2.0**-95 * size)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_no_single_residual_is_off_by_more_than_its_bound(n_classes):
    # In long sums errors cancel, and a bound that forgot one of them would go unnoticed.
    rng = np.random.default_rng(n_classes)
    one, start, none = np.zeros(1, dtype=np.uint8), np.zeros(1, dtype=np.int64), np.empty(0, dtype=np.int64)
    for _ in range(300):
        weights = rng.normal(size=(1, 1 if n_classes == 2 else n_classes)) * 10.0 ** rng.integers(-3, 3)
        given = one, start, one, none, weights, weights * 2.0**-54, rng.normal(size=n_classes)
        fast, bound = residual_sums(certificate._sum_residuals, *given)
        plain, plain_bound = residual_sums(reference.sum_residuals, *given)
        assert abs(fast - plain).max() * 2.0**-72 <= bound + plain_bound
