"""The prior: what a row's score may vary by, from the precision that is used."""

from fractions import Fraction

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from privet import Categorical, Numeric, Schema
from privet.central.weights.prior import _DECAY, _SHRUNK, Prior, covariance_of, spread_of
from privet.central.weights.trees import Trees
from privet.errors import PrivetError
from tests.central.weights.problems import GROUPS, LATER, SOFT, schema_of
from tests.loops import loop_over

SCHEMA = schema_of()
TREES = Trees.of(GROUPS, SCHEMA)


def exact_inverse(matrix):
    """Return the inverse in exact arithmetic, and whether all pivots were positive."""
    n = len(matrix)
    lines = [[*map(Fraction, row), *(Fraction(int(i == j)) for j in range(n))] for i, row in enumerate(matrix.tolist())]
    positive = True
    for k in range(n):
        positive = positive and lines[k][k] > 0
        lines[k] = [value / lines[k][k] for value in lines[k]]
        for i in range(n):
            if i != k and lines[i][k]:
                lines[i] = [own - lines[i][k] * other for own, other in zip(lines[i], lines[k], strict=True)]
    return [line[n:] for line in lines], positive


@pytest.mark.parametrize(
    ("variance", "groups"),
    [(1e-9, GROUPS), (0.3, GROUPS), (2.0, [[0], [2], [1], [3]]), (100.0, GROUPS), (0.7, [[3, 2]]), (0.7, [[0, 2]])],
)
def test_no_row_has_more_than_the_curvature_by_the_precision_that_is_used(variance, groups):
    trees = Trees.of(groups, SCHEMA)
    curvature = variance * trees.n_trees
    variances = np.full(trees.n_trees, variance)
    prior = Prior.of(trees, SCHEMA, variances, curvature=curvature)
    largest, spread = Fraction(0), Fraction(0)
    for precision in prior.precisions:
        assert_array_equal(precision, precision.T)
        inverse, positive = exact_inverse(precision)
        assert positive
        largest += max(inverse[i][i] for i in range(len(inverse)))
        spread += sum(abs(value) for line in inverse for value in line)
    assert largest <= Fraction(curvature)
    assert largest >= Fraction(curvature) * (1 - Fraction(1, 10**4))
    # The release counts on the sum of all sizes.
    assert spread <= Fraction(spread_of(trees, SCHEMA, variances))
    assert spread >= Fraction(spread_of(trees, SCHEMA, variances)) * (1 - Fraction(1, 10**4))


@pytest.mark.parametrize("trees", [SOFT, LATER], ids=["soft", "later"])
def test_no_cell_between_knots_has_more_than_the_curvature(trees):
    variances = np.full(trees.n_trees, 0.7)
    prior = Prior.of(trees, SCHEMA, variances, curvature=0.7 * trees.n_trees)
    largest, at_knots = Fraction(0), Fraction(0)
    for t, precision in enumerate(prior.precisions):
        inverse, positive = exact_inverse(precision)
        assert positive
        shares = (trees.whole_shares(t) / float(trees.grids[t])).toarray()
        varied = []
        for line in shares:
            found = [(i, Fraction(share)) for i, share in enumerate(line) if share]
            varied.append(sum(a * b * inverse[i][j] for i, a in found for j, b in found))
        largest += max(varied)
        at_knots += max(inverse[i][i] for i in range(len(inverse)))
        # A row between knots has less: its score is a mean of weights that are not all alike.
        assert trees.grids[t] == 1 or min(varied) < max(varied) * Fraction(99, 100)
    assert largest == at_knots <= Fraction(0.7) * trees.n_trees


@loop_over("seed", range(8))
def test_every_kernel_has_a_unit_diagonal_and_is_positive_definite(seed):
    rng = np.random.default_rng(seed)
    attributes = [
        Numeric(f"a{j}", 0, 1, bins=int(rng.integers(1, 13)))
        if rng.random() < 0.5
        else Categorical(f"a{j}", range(n := int(rng.integers(1, 9))), ordered=n > 2 and bool(j % 2))
        for j in range(3)
    ]
    schema, size = Schema(attributes, classes=[5, 9]), 1 + seed % 3
    trees = Trees.of([list(range(size))], schema)
    covariance = covariance_of(trees, 0, schema, 4.0)
    assert_allclose(covariance.diagonal(), 4.0, rtol=3e-5)
    assert (covariance.diagonal() <= 4.0 * (1 - _SHRUNK) * (1 + 1e-15)).all()
    assert (covariance >= 0).all()
    assert np.linalg.eigvalsh(covariance).min() > 0


def test_numbers_are_alike_by_their_distance_and_categories_are_not():
    kernel = covariance_of(TREES, 0, SCHEMA, 1.0)  # age: 4 cells and the missing value
    assert_allclose(kernel[0, :4], np.exp(-_DECAY * np.arange(4) / 4), rtol=3e-5)
    assert_array_equal(kernel[4, :4], 0)
    lone = Trees.of([[1]], SCHEMA)
    assert_allclose(covariance_of(lone, 0, SCHEMA, 1.0), np.eye(4), rtol=3e-5)


def test_ordered_categories_are_alike_by_their_distance_in_both_stages():
    size = Categorical("size", ["s", "m", "l", "xl"], ordered=True)
    schema = Schema([size, Categorical("night", [False, True], never_missing=True)], classes=[5, 9])
    by_distance = np.exp(-_DECAY * np.abs(np.subtract.outer(np.arange(4), np.arange(4))) / 4)
    alone = covariance_of(Trees.of([[0]], schema), 0, schema, 1.0)
    assert_allclose(alone[:4, :4], by_distance, rtol=3e-5)
    assert_array_equal(alone[4, :4], 0)  # missing values have no neighbours
    # Alone and both together have half of a tree of the second stage, each attribute half of the first.
    trees = Trees.of([[0], [1]], schema).with_later(Trees.later([[0, 1]], schema, {}))
    both = covariance_of(trees, 2, schema, 1.0)
    assert_allclose(both[:8:2, :8:2], 0.25 + 0.75 * by_distance, rtol=3e-5)
    assert_allclose(both[:8:2, 1:8:2], 0.25 * by_distance, rtol=3e-5)


@pytest.mark.parametrize("n_categories", [3, 16, 255, 300])
def test_an_ordered_category_has_no_more_than_the_curvature(n_categories):
    schema = Schema([Categorical("grade", range(n_categories), ordered=True)], classes=[5, 9])
    trees = Trees.of([[0]], schema)
    prior = Prior.of(trees, schema, np.array([0.7]), curvature=0.7)
    inverse = np.linalg.inv(prior.precisions[0])
    assert 0.7 * (1 - 1e-4) <= inverse.diagonal().max() <= 0.7
    assert np.abs(inverse).sum() <= spread_of(trees, schema, np.array([0.7]))


def test_leaves_of_a_pair_share_what_their_attributes_share():
    kernel = covariance_of(TREES, 2, SCHEMA, 1.0)  # job x night, leaf = 3 job + night
    # The same job: half of .78. Nothing in common: nothing.
    assert kernel[0, 1] == pytest.approx(0.39, rel=3e-5)
    assert kernel[0, 3] == pytest.approx(0.39, rel=3e-5)
    assert kernel[0, 4] == 0


def test_leaves_of_three_share_singles_and_pairs():
    schema = Schema([Categorical(f"a{j}", [1, 2]) for j in range(3)], classes=[5, 9])
    kernel = covariance_of(Trees.of([[0, 1, 2]], schema), 0, schema, 1.0)  # leaf = 9 a + 3 b + c
    assert kernel[0, 13] == 0
    assert kernel[0, 4] == pytest.approx(0.7 / 3, rel=3e-5)
    assert kernel[0, 1] == pytest.approx(2 * 0.7 / 3 + 0.2 / 3, rel=3e-5)


def test_a_wide_tree_is_trusted():
    schema = Schema([Numeric("x", 0, 1, bins=255), Categorical("zip", range(1000))], classes=[5, 9])
    trees = Trees.of([[0], [1]], schema)
    prior = Prior.of(trees, schema, np.array([0.5, 0.5]), curvature=1.0)
    for precision, covariance in zip(prior.precisions, prior.covariances, strict=True):
        assert np.linalg.inv(precision).diagonal().max() <= 0.5
        assert_allclose(precision @ covariance, np.eye(256), atol=1e-9)


def test_variances_beyond_the_price_are_refused():
    with pytest.raises(PrivetError, match="the prior allows more than was paid for, which is a bug in privet"):
        Prior.of(TREES, SCHEMA, np.array([1.0, 1.0, 1.1]), curvature=3.0)


def test_a_kernel_that_cannot_be_inverted_is_refused(monkeypatch):
    monkeypatch.setattr("privet.central.weights.prior._DECAY", 1e-13)
    with pytest.raises(PrivetError, match="too ill-conditioned to be trusted; pass a smaller group_size or n_bins"):
        Prior.of(TREES, SCHEMA, np.full(3, 1.0), curvature=3.0)
