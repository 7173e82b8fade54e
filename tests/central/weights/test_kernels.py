"""The kernels agree with their plain twins."""

from decimal import Decimal, localcontext
from fractions import Fraction

import numba
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from privet.central.weights import certificate, double_floats, kernels
from tests.central.weights import reference
from tests.loops import loop_over

TYPES = [np.uint8, np.uint16]
# Sums of whole numbers are in units of one over this.
UNIT = 2.0**36


def as_floats(sums):
    """Return sums that come in two, in units of 2**24 and of 1, as floats."""
    assert sums.dtype == np.int64
    return (sums[0] * 2.0**24 + sums[1]) / UNIT


def shapes(rng, seed, dtype, widest=8):
    """Return random cells, where trees start, how many cells there are, and how many rows each line stands for."""
    n_trees, n_lines = int(rng.integers(1, 5)), (0, 1, 2, 17, 60)[seed % 5]
    sizes = rng.integers(2, widest + 1, n_trees)
    cells = rng.integers(0, sizes, (n_lines, n_trees)).astype(dtype).reshape(-1)
    counts = rng.integers(1, 1000, n_lines) if seed % 2 else np.empty(0, dtype=np.int64)
    return cells, np.cumsum(sizes) - sizes, int(sizes.sum()), n_lines, counts


def leaf_shares(rng, starts, n_cells, *, soft):
    """Return where each cell's leaves begin, the leaves and the shares, of how many leaves, and where trees' begin."""
    sizes = np.diff(np.append(starts, n_cells))
    n_leaves = sizes if not soft else np.maximum(1, sizes // 2)
    first = np.cumsum(n_leaves) - n_leaves
    ends, leaves, shares = [0], [], []
    for start, size, own in zip(first, sizes, n_leaves, strict=True):
        for cell in range(size):
            found = [cell] if not soft else sorted(rng.choice(own, min(own, 1 + cell % 3), replace=False))
            leaves += [start + leaf for leaf in found]
            shares += list(rng.dirichlet(np.ones(len(found)))) if soft else [1.0]
            ends.append(len(leaves))
    return np.array(ends), np.array(leaves), np.array(shares), int(n_leaves.sum()), first


def known_scores(rng, seed, n_lines, n_columns):
    shape = (n_lines, n_columns) if seed % 3 else (0, 0)
    return rng.normal(size=shape).astype(np.float32)


def binary_results(module, seed, dtype):
    rng = np.random.default_rng(seed)
    widest = 300 if dtype is np.uint16 and seed % 3 == 0 else 8
    cells, starts, n_cells, n_lines, counts = shapes(rng, seed, dtype, widest)
    labels = rng.integers(0, 2, n_lines).astype(np.uint8)
    weights, direction = rng.normal(size=(2, n_cells))
    gradient, out = rng.integers(0, 2**20, (2, 2, n_cells))
    *places, n_leaves, _ = leaf_shares(rng, starts, n_cells, soft=seed % 4 > 1)
    curvatures, hessian = np.empty(n_lines, dtype=np.float32), np.zeros((n_leaves, n_leaves))
    before = known_scores(rng, seed, n_lines, 1).reshape(-1)
    module.binary_gradient(cells, starts, labels, counts, before, weights, 0.3, 1.0, UNIT, curvatures, gradient)
    known = rng.uniform(0, 9, n_lines).astype(np.float32)
    module.binary_hessian_product(cells, starts, known, direction * UNIT, out)
    module.binary_hessian(cells, starts, *places, known, hessian)
    return [as_floats(gradient), curvatures, as_floats(out), hessian]


def softmax_results(module, seed, dtype, n_classes):
    rng = np.random.default_rng(seed)
    cells, starts, n_cells, n_lines, counts = shapes(rng, seed, dtype)
    labels = rng.integers(0, n_classes, n_lines).astype(np.uint16 if seed % 3 else np.uint8)
    weights, direction = rng.normal(size=(2, n_cells, n_classes))
    gradient, out = rng.integers(0, 2**20, (2, 2, n_cells, n_classes))
    *places, n_leaves, first = leaf_shares(rng, starts, n_cells, soft=seed % 4 > 1)
    chances, hessian = np.empty((n_lines, n_classes), dtype=np.float32), np.zeros((n_leaves * n_classes,) * 2)
    before = known_scores(rng, seed, n_lines, n_classes)
    offsets = rng.normal(size=n_classes)
    module.softmax_gradient(cells, starts, labels, counts, before, weights, offsets, 1.0, UNIT, chances, gradient)
    known = rng.dirichlet(np.ones(n_classes), n_lines).astype(np.float32)
    module.softmax_hessian_product(cells, starts, counts, known, direction * UNIT, out)
    module.softmax_hessian(cells, starts, *places, first, counts, known, hessian)
    return [as_floats(gradient), chances, as_floats(out), np.tril(hessian)]


def cell_results(module, seed, dtype, n_columns):
    rng = np.random.default_rng(seed)
    cells, starts, n_cells, n_lines, _ = shapes(rng, seed, dtype)
    sums, weights = rng.normal(size=(2, n_cells, n_columns))
    scores = rng.normal(size=(n_lines, n_columns))
    module.cell_curvatures(cells, starts, rng.uniform(size=(n_lines, n_columns)).astype(np.float32), sums)
    module.scores_of(cells, starts, weights, scores)
    return [sums, scores]


def looked_up(module, seed, dtype):
    rng = np.random.default_rng(seed)
    n_cells, n_lines = rng.integers(1, 40, 3), int(rng.integers(0, 60))
    cells = np.stack([rng.integers(0, n, n_lines) for n in n_cells], axis=1).astype(dtype)
    trees = np.array([2, 0, 1, 0])  # two attributes are in one tree
    starts = np.cumsum([0, *n_cells[trees]])
    out = np.empty((4, n_lines), dtype=np.uint16)
    module.look_up(cells, trees, starts[:-1], rng.integers(0, 999, starts[-1]).astype(np.uint16), out)
    return out


@pytest.mark.parametrize("dtype", TYPES)
@loop_over("seed", range(10))
def test_leaves_of_cells_are_those_of_their_twin(seed, dtype):
    assert_array_equal(looked_up(kernels, seed, dtype), looked_up(reference, seed, dtype))


def group_results(module, seed, n_columns):
    rng = np.random.default_rng(seed)
    n_leaves, n_lines = rng.integers(1, 7, 5), int(rng.integers(0, 60))
    members = np.array([[0, 1, -1, -1], [4, 2, 3, -1], [3, 1, 0, 2], [2, 4, -1, -1]])
    sizes = [np.prod([n_leaves[a] for a in group if a >= 0]) for group in members]
    starts = np.cumsum([0, *sizes])
    nearest = np.stack([rng.integers(0, n, n_lines) for n in n_leaves]).astype(np.uint16)
    counts = rng.integers(1, 9, n_lines) if seed % 2 else np.empty(0, dtype=np.int64)
    out = rng.integers(-9, 9, (starts[-1], n_columns))
    module.add_groups(
        nearest, n_leaves, members, starts, counts, rng.integers(-(2**20), 2**20, (n_lines, n_columns), dtype=np.int32),
        out,
    )  # fmt: skip
    return out


@pytest.mark.parametrize("n_columns", [1, 4])
@loop_over("seed", range(20))
def test_sums_over_groups_are_those_of_their_twin(seed, n_columns):
    assert_array_equal(group_results(kernels, seed, n_columns), group_results(reference, seed, n_columns))


@pytest.mark.parametrize("module", [kernels, reference])
def test_sums_over_a_group_by_hand(module):
    # Attributes of 2 and 3 leaves; lines lie in the leaves (0, 2), (1, 0) and (0, 2), and count 1, 2 and 3 rows.
    nearest, values = np.array([[0, 1, 0], [2, 0, 2]], np.uint16), np.array([[5], [-7], [1]], np.int32)
    for members, sums in (([0, 1], [0, 0, 5 + 3, -14, 0, 0]), ([1, 0], [0, -14, 0, 0, 5 + 3, 0])):
        out = np.zeros((6, 1), dtype=np.int64)
        module.add_groups(
            nearest,
            np.array([2, 3]),
            np.array([[*members, -1, -1]]),
            np.array([0, 6]),
            np.array([1, 2, 3]),
            values,
            out,
        )
        assert out[:, 0].tolist() == sums


def assert_alike(fast, plain):
    for own, other in zip(fast, plain, strict=True):
        assert own.dtype == other.dtype
        # Each line's part may be rounded the other way; numbers kept as float32 are rounded once.
        assert_allclose(own, other, rtol=2e-6 if own.dtype == np.float32 else 1e-10, atol=2e-9)


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
    cells, counts = rng.integers(0, 2, 2 * n_lines).astype(np.uint8), rng.integers(1, 9, n_lines)
    starts, ends, leaves, shares = np.array([0, 2]), np.arange(5), np.arange(4), np.ones(4)
    chances = rng.dirichlet(np.ones(n_classes), n_lines).astype(np.float32)
    fast, plain = np.zeros((2, 4 * n_classes, 4 * n_classes))
    kernels.softmax_hessian(cells, starts, ends, leaves, shares, starts, counts, chances, fast)
    reference.softmax_hessian(cells, starts, ends, leaves, shares, starts, counts, chances, plain)
    assert_alike([np.tril(fast)], [plain])


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("n_columns", [1, 4])
@loop_over("seed", range(5))
def test_sums_over_cells_agree_with_their_twins(seed, dtype, n_columns):
    assert_alike(cell_results(kernels, seed, dtype, n_columns), cell_results(reference, seed, dtype, n_columns))


def other_cells(module, seed, dtype):
    rng = np.random.default_rng(seed)
    n_cells, n_lines = rng.integers(1, 40, 3), int(rng.integers(0, 60))
    cells = np.stack([rng.integers(0, n, n_lines) for n in n_cells], axis=1).astype(dtype)
    trees = np.array([2, 0, 1, 0])  # the first later tree asks for three attributes, the second for one
    starts = np.cumsum([0, *n_cells[trees]])
    out = np.empty((n_lines, 2), dtype=np.uint16)
    added = rng.integers(0, 999, starts[-1])
    module.recode(cells, trees, starts[:-1], added, np.array([0, 3, 4]), out)
    counted = rng.integers(0, 9, int(n_cells.sum()))
    counts = rng.integers(1, 9, n_lines) if seed % 2 else np.empty(0, dtype=np.int64)
    module.count_cells(cells.reshape(-1), np.cumsum(n_cells) - n_cells, counts, counted)
    return out, counted


@pytest.mark.parametrize("dtype", TYPES)
@loop_over("seed", range(10))
def test_cells_in_other_trees_and_counts_of_cells_are_those_of_their_twins(seed, dtype):
    for own, other in zip(other_cells(kernels, seed, dtype), other_cells(reference, seed, dtype), strict=True):
        assert_array_equal(own, other)


@pytest.mark.parametrize("module", [kernels, reference])
def test_cells_in_other_trees_by_hand(module):
    # A later tree of the attributes in the second and the first tree: two cells of the latter to one of the former.
    cells, out = np.array([[1, 0], [0, 2]], np.uint8), np.empty((2, 1), np.uint8)
    module.recode(cells, np.array([1, 0]), np.array([0, 3]), np.array([0, 2, 4, 0, 1]), np.array([0, 2]), out)
    assert out[:, 0].tolist() == [0 + 1, 4 + 0]


@pytest.mark.parametrize("module", [kernels, reference])
def test_two_rows_pull_their_cells_by_hand(module):
    # One tree of two cells; the row of the second class has score 1, the other one, of the first class, score 0.
    cells, starts, labels = np.array([0, 1], np.uint8), np.array([0]), np.array([1, 0], np.uint8)
    for known, weights in (([], [1.0, 0.0]), ([0.5, 2.0], [0.5, -2.0])):
        gradient, curvatures = np.zeros((2, 2), np.int64), np.empty(2, np.float32)
        module.binary_gradient(
            cells, starts, labels, np.array([1, 3]), np.array(known, np.float32), np.array(weights), 0.0, 1.0,
            UNIT, curvatures, gradient,
        )  # fmt: skip
        # The margin of 1 leaves the first at the border: it pulls by a half. The second is behind by 1, and counts 3.
        behind = 1 / (1 + np.exp(-1.0))
        assert_allclose(as_floats(gradient), [-0.5, 3 * behind], rtol=0, atol=0.5 / UNIT)
        # A half is 2**35 units: of 2**24 it is 2**11, and nothing is left over.
        assert gradient[:, 0].tolist() == [-(2**11), 0]
        assert_allclose(curvatures, [0.25, 3 * behind * (1 - behind)], rtol=1e-6)


@pytest.mark.parametrize("steps", [2, 4096])
@pytest.mark.parametrize("dtype", TYPES)
@loop_over("seed", range(10))
def test_the_gradient_of_shares_is_that_of_its_twin(seed, dtype, steps):
    rng = np.random.default_rng(seed)
    cells, starts, n_cells, n_lines, counts = shapes(rng, seed, dtype)
    labels, weights = rng.integers(0, steps + 1, n_lines).astype(np.uint16), rng.normal(size=n_cells)
    before = known_scores(rng, seed, n_lines, 1).reshape(-1)
    found = []
    for module in (kernels, reference):
        gradient, curvatures = np.zeros((2, n_cells), dtype=np.int64), np.empty(n_lines, dtype=np.float32)
        module.share_gradient(
            cells, starts, labels, steps, counts, before, weights, 0.3, 1.0, UNIT, curvatures, gradient
        )
        found.append((as_floats(gradient), curvatures))
    assert_allclose(found[0][0], found[1][0], rtol=0, atol=(n_lines + 1) * 1000 * 2.0 / UNIT)
    assert_allclose(found[0][1], found[1][1], rtol=1e-5)


@pytest.mark.parametrize("module", [kernels, reference])
def test_a_row_of_half_of_each_class_is_pulled_by_neither_where_both_are_as_likely_by_hand(module):
    gradient, curvatures = np.zeros((2, 2), np.int64), np.empty(2, np.float32)
    module.share_gradient(
        np.array([0, 1], np.uint8), np.array([0]), np.array([2, 1], np.uint16), 4, np.empty(0, np.int64),
        np.empty(0, np.float32), np.zeros(2), 0.0, 1.0, UNIT, curvatures, gradient,
    )  # fmt: skip
    behind = 1 / (1 + np.exp(-1.0))
    # The second row is of the second class by a quarter: three parts pull down, one pulls up.
    assert_allclose(as_floats(gradient), [0.0, (3 - 1) / 4 * behind], rtol=0, atol=0.5 / UNIT)
    assert_allclose(curvatures, [behind * (1 - behind)] * 2, rtol=1e-6)


@pytest.mark.parametrize("module", [kernels, reference])
def test_a_row_between_two_knots_bends_both_by_hand(module):
    # One tree of two leaves; the row's cell has a quarter of the first and three of the second.
    hessian = np.zeros((2, 2))
    module.binary_hessian(
        np.array([0], np.uint8), np.array([0]), np.array([0, 2]), np.array([0, 1]), np.array([0.25, 0.75]),
        np.array([16.0], np.float32), hessian,
    )  # fmt: skip
    assert_allclose(np.tril(hessian), [[1.0, 0.0], [3.0, 9.0]])


def test_exp_is_right_to_the_last_digits_and_finite_beyond_all_scores():
    compiled = numba.njit(error_model="numpy")(lambda values, room: kernels._exp(values, room))
    values = np.append(np.random.default_rng(0).uniform(-40, 40, 999), 0.0)
    found = values.copy()
    compiled(found, np.empty(1000, dtype=np.int64))
    with localcontext() as context:
        context.prec = 40
        off = [abs(Decimal(own) / Decimal(value).exp() - 1) for own, value in zip(found, values, strict=True)]
    assert max(off) < 2.0**-52
    assert found[-1] == 1.0
    far = np.array([1e300, -1e300])
    compiled(far, np.empty(2, dtype=np.int64))
    assert far[0] > 1e300
    assert 0 < far[1] < 1e-300


@loop_over("seed", range(20))
def test_weights_in_two_add_up_without_rounding_and_lose_next_to_nothing(seed):
    rng = np.random.default_rng(seed)
    weights = rng.normal(size=(30, 2)) * 10.0 ** rng.integers(-12, 12, size=(30, 2)) * (rng.random((30, 2)) < 0.9)
    rest = weights * 2.0**-54 * rng.uniform(-1, 1, weights.shape)
    starts = np.array([0, 10, 20])
    cut, farthest = certificate._in_two(weights, rest, starts)
    for row in rng.integers(0, 10, size=(50, 3)) + starts:
        for c in (0, 1):
            whole, left = cut[row, c].T.tolist()
            assert sum(map(Fraction, whole)) == Fraction(whole[0] + whole[1] + whole[2])
            exact = sum(map(Fraction, [*weights[row, c].tolist(), *rest[row, c].tolist()]))
            off = abs(sum(map(Fraction, whole)) + Fraction(left[0] + left[1] + left[2]) - exact)
            assert off <= certificate._score_error(3, np.zeros(2), farthest)


def residual_sums(add, cells, starts, labels, counts, known, weights, rest, offsets, steps=1):
    """Return sums of residuals in units of 2**-72, and the bound on their error: of all lines as of the worst one."""
    sums = np.zeros((3, *weights.shape), dtype=np.int64)
    if add is not certificate._sum_residuals:
        bound = add(cells, starts, labels, counts, known, weights, rest, offsets, 1.0, steps, sums)
    else:
        cut, farthest = certificate._in_two(weights, rest, starts)
        tables = double_floats.powers()
        largest = add(cells, starts, labels, counts, known, cut, offsets, 1.0, steps, *tables, sums)
        assert largest == np.abs(known).max(initial=0.0)
        error = certificate._score_error(len(starts), offsets, largest + farthest)
        bound = (error + certificate._OWN) * (counts.sum() if counts.size else len(labels))
    return (sums[0].astype(object) * 2**24 + sums[1]) * 2**24 + sums[2], bound


@pytest.mark.parametrize(("n_classes", "steps"), [(2, 1), (3, 1), (6, 1), (2, 4), (2, 4096)])
@pytest.mark.parametrize("dtype", TYPES)
@loop_over("seed", range(10))
def test_exact_sums_agree_with_their_twin_within_both_bounds(seed, dtype, n_classes, steps):
    rng = np.random.default_rng(seed)
    cells, starts, n_cells, n_lines, counts = shapes(rng, seed, dtype)
    labels = rng.integers(0, n_classes if steps == 1 else steps + 1, n_lines).astype(np.uint16)
    weights = rng.normal(size=(n_cells, 1 if n_classes == 2 else n_classes)) * 10.0 ** rng.integers(-3, 3)
    rest = weights * 2.0**-54 * rng.uniform(-1, 1, weights.shape)
    known = known_scores(rng, seed, n_lines, weights.shape[1])
    given = cells, starts, labels, counts, known, weights, rest, np.linspace(-1, 1, n_classes), steps
    fast, bound = residual_sums(certificate._sum_residuals, *given)
    plain, plain_bound = residual_sums(reference.sum_residuals, *given)
    assert abs(fast - plain).max(initial=0) * 2.0**-72 <= bound + plain_bound
    size = 6 + np.abs(weights).max() * len(starts)
    assert bound <= max(1, counts.sum(), n_lines) * (2.0**-71 + 2.0**-95 * size)


@pytest.mark.parametrize(("n_classes", "steps"), [(2, 1), (3, 1), (2, 4096)])
def test_no_single_residual_is_off_by_more_than_its_bound(n_classes, steps):
    # In long sums errors cancel, and a bound that forgot one of them would go unnoticed.
    rng = np.random.default_rng(n_classes)
    start, none = np.zeros(1, dtype=np.int64), np.empty(0, dtype=np.int64)
    for _ in range(300):
        one = np.array([0 if steps == 1 else rng.integers(steps + 1)], dtype=np.uint16)
        weights = rng.normal(size=(1, 1 if n_classes == 2 else n_classes)) * 10.0 ** rng.integers(-3, 3)
        known = rng.normal(size=weights.shape).astype(np.float32)
        offsets = rng.normal(size=n_classes)
        given = one * 0, start, one, none, known, weights, weights * 2.0**-54, offsets, steps
        fast, bound = residual_sums(certificate._sum_residuals, *given)
        plain, plain_bound = residual_sums(reference.sum_residuals, *given)
        assert abs(fast - plain).max() * 2.0**-72 <= bound + plain_bound
