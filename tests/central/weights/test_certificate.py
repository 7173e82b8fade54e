"""The certified gradient: its error is bounded, and the bound is worth something."""

from dataclasses import replace
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from privet.central.weights import certificate, double_floats, minimiser
from privet.central.weights.certificate import BoundedGradient, bounded_gradient
from privet.central.weights.leaf_rows import LeafRows
from privet.central.weights.minimiser import Grid, certified_minimiser
from privet.central.weights.solver import approximate_minimiser, preconditioner
from privet.central.weights.trees import Axis, Trees
from tests.central.weights.problems import (
    KINDS,
    LATER,
    SOFT,
    exact_gradient,
    farthest,
    plain_shares,
    problem,
    random_weights,
)
from tests.loops import loop_over

CASES = [
    {"n_classes": c, "weighted": weighted, "noise": noise, "kind": kind}
    for kind in KINDS
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
@pytest.mark.parametrize("kind", KINDS)
def test_where_the_gradient_is_small_all_of_its_digits_are_right(n_classes, kind):
    # At a minimiser the last rounding of each number is nothing, and only the proven bound is left.
    objective = problem(1, n_rows=40, n_classes=n_classes, kind=kind)
    weights, rest = certified_minimiser(objective, 1e-18, noise_error=0.0)
    found = bounded_gradient(objective, weights, rest)
    assert farthest(found.values, exact_gradient(objective, weights, rest)) <= found.error < 40 * 2.0**-70


def test_parts_of_the_sum_are_exact_or_as_near_as_they_say():
    coarse, fine = double_floats.powers()
    rng = np.random.default_rng(3)
    with localcontext() as context:
        context.prec = 60
        for _ in range(300):
            a, b = rng.normal(size=2) * 10.0 ** rng.integers(-6, 6, 2)
            assert sum(map(Fraction, double_floats.two_sum(a, b))) == Fraction(a) + Fraction(b)
            assert sum(map(Fraction, double_floats.two_product(a, b))) == Fraction(a) * Fraction(b)
            x = rng.uniform(0, 75) * rng.integers(0, 2) + rng.uniform(0, 2.0**-9)
            low = x * 2.0**-54 * rng.uniform(-1, 1)
            true = (-Decimal(x) - Decimal(low)).exp()
            assert abs(sum(map(Decimal, double_floats.exp_minus(x, low, coarse, fine))) / true - 1) < 2.0**-72
            whole = Decimal(1.0 + x) + Decimal(low)
            assert abs(sum(map(Decimal, double_floats.one_over(1.0 + x, low))) * whole - 1) < 2.0**-100
    assert double_floats.exp_minus(75.1, 0.0, coarse, fine) == (0.0, 0.0)


@pytest.mark.parametrize("n_classes", [2, 3, 5, 12, 20])
def test_as_many_rows_as_were_declared_are_certified_at_once(n_classes):
    objective = problem(1, n_rows=300, n_classes=n_classes)
    crowd = replace(objective, rows=replace(objective.rows, weights=np.full(300, 20_000)))
    weights, _ = approximate_minimiser(crowd, tolerance=1e-9)
    grid = Grid.of(6 * 10**6, 1.0, shape=crowd.shape, noise_error=0.0, epsilon=0.01)
    assert gradient_at(crowd, weights).largest < 0.9 * grid.tolerance


@loop_over("kind", ["hard", "soft"])
def test_the_order_of_rows_does_not_matter_and_nor_do_merged_ones(kind):
    for n_classes in (2, 4):
        objective = problem(1, n_rows=22_000, n_classes=n_classes, kind=kind)
        weights = random_weights(objective)
        order = np.random.default_rng(0).permutation(22_000)
        rows = objective.rows
        shuffled = replace(objective, rows=LeafRows(rows.cells[order], rows.labels[order], None))
        merged = replace(objective, rows=rows.merged(objective.trees, n_classes))
        assert merged.rows.weights is not None
        found = gradient_at(objective, weights)
        assert_array_equal(gradient_at(shuffled, weights).values, found.values)
        assert_array_equal(gradient_at(merged, weights).values, found.values)


@pytest.mark.parametrize("kind", KINDS)
def test_rows_of_one_sign_do_not_overflow(kind):
    # 2**36 rows a leaf, residuals near 1: 2**108 units of 2**-72 in a single integer would wrap around.
    objective = problem(1, n_rows=3, labels=1, noise=0.0, kind=kind)
    heavy = replace(objective, rows=replace(objective.rows, weights=np.full(3, 2**36)))
    weights = np.full(objective.shape, -20.0)
    found = gradient_at(heavy, weights)
    assert farthest(found.values, exact_gradient(heavy, weights)) <= found.error < 1e-4
    assert found.values.min() < -(2.0**35 if kind == "hard" else 2.0**33)
    crowd = replace(objective, rows=replace(objective.rows, weights=np.full(3, 2**37)))
    with pytest.raises(OverflowError, match=r"^2\*\*38 rows or more cannot be counted$"):
        gradient_at(crowd, weights)


def whole_sums(trees, sums):
    """Return what leaves have of whole sums over cells, in units of 2**-72 of a leaf, as fractions."""
    shares = plain_shares(trees)
    units = (sums[0].astype(object) * 2**24 + sums[1]) * 2**24 + sums[2]
    return [
        [sum(Fraction(shares[cell, leaf]) * units[cell, c] for cell in np.flatnonzero(shares[:, leaf])) for c in (0, 1)]
        for leaf in range(trees.n_leaves)
    ]


WIDEST = Trees((tuple(Axis(a, 25, "middle", (0, 8, 16, 24), 8, merged=True) for a in range(2)),), n_later=1)


@pytest.mark.parametrize("trees", [SOFT, LATER, WIDEST], ids=["soft", "later", "widest"])
@pytest.mark.parametrize("sign", [-1, 1])
def test_the_sums_of_leaves_are_exact_whatever_the_rows(trees, sign):
    # As many rows as may be, spread over all cells of each tree, with residuals that fill all digits.
    rng = np.random.default_rng(trees.n_trees)
    sums = np.zeros((3, int(trees.cell_sizes.sum()), 2), dtype=np.int64)
    for start, size in zip(trees.cell_starts, trees.cell_sizes, strict=True):
        rows = rng.multinomial(2**38 - 1, rng.dirichlet(np.ones(size)))[:, None]
        for k, most in enumerate((2**24, 2**23, 2**24)):
            sums[k, start : start + size] = sign * (most * rows - rng.integers(0, 2**20, (size, 2)) * (rows > 2))
    parts = certificate._sums_of_leaves(trees, sums)
    found = [[sum(Fraction(part[leaf, c]) for part in parts) * 2**72 for c in (0, 1)] for leaf in range(trees.n_leaves)]
    assert found == whole_sums(trees, sums)


def test_without_halves_the_same_sums_would_be_rounded():
    sums = np.full((3, int(LATER.cell_sizes.sum()), 2), 2**56 + 1, dtype=np.int64)
    whole = (LATER.whole_shares(0).T @ sums[0, : LATER.cell_sizes[0]]).astype(np.float64)
    assert Fraction(whole[0, 0]) != sum(
        Fraction(share) * (2**56 + 1) for share in LATER.whole_shares(0).toarray()[:, 0].tolist()
    )


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


@pytest.mark.parametrize("kind", ["soft", "later"])
def test_shares_or_known_scores_that_the_solver_gets_wrong_are_caught(kind):
    objective = problem(3, kind=kind)
    rows = objective.rows
    cells = rows.cells.copy()
    cells[7, 0] = cells[7, 0] - 1 if cells[7, 0] else 1
    others = [replace(objective, rows=replace(rows, cells=cells))]
    if kind == "later":
        others.append(replace(objective, rows=replace(rows, scores=rows.scores * np.float32(1.001))))
    for other in others:
        weights, _ = approximate_minimiser(other, tolerance=1e-10)
        assert gradient_at(other, weights).largest <= 1e-9
        assert gradient_at(objective, weights).largest > 1e-6


@pytest.mark.parametrize("planted", ["margin", "offset", "one row less", "noise of one leaf"])
def test_a_solver_of_another_objective_is_caught(planted):
    objective = problem(3, n_classes=3)
    noise = objective.linear_noise.copy()
    noise[7, 1] += 1e-6
    rows = objective.rows
    other = {
        "margin": replace(objective, margin=1.0 + 1e-6),
        "offset": replace(objective, offsets=objective.offsets + np.array([0, 1e-6, 0])),
        "one row less": replace(objective, rows=LeafRows(rows.cells[1:], rows.labels[1:], None)),
        "noise of one leaf": replace(objective, linear_noise=noise),
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
@pytest.mark.parametrize("times", [10**7, 10**10])
@pytest.mark.parametrize("kind", KINDS)
def test_far_more_rows_than_declared_are_certified(n_classes, times, kind):
    objective = problem(2, n_rows=20, n_classes=n_classes, kind=kind)
    certified(replace(objective, rows=replace(objective.rows, weights=np.full(20, times))), 1e-8)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("variance", [0.5, 100.0])
@pytest.mark.parametrize("kind", ["soft", "later"])
def test_a_crowd_between_two_knots_is_certified(n_classes, variance, kind):
    # All rows in one cell: without the prior its leaves would not be told apart.
    objective = problem(2, n_rows=2, n_classes=n_classes, kind=kind, variance=variance)
    rows = replace(objective.rows, cells=np.ones_like(objective.rows.cells), weights=np.array([2**36, 2**37]))
    certified(replace(objective, rows=replace(rows, labels=np.array([0, 1], np.uint8))), 1e-9)
    certified(replace(objective, rows=replace(rows, labels=np.ones(2, np.uint8))), 1e-9)


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
    weights, rest = certified(replace(objective), 1e-8)
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
