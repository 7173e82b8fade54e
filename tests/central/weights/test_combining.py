"""Several fits to different rows as one forest: by hand, by a plain twin, and what its noise is."""

import math
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from privet import Categorical, Numeric, Schema
from privet.central.weights import combining
from privet.central.weights.combining import Scales, combined, combined_scales, noise_after_each
from privet.central.weights.knots import with_cells, without_cells
from privet.central.weights.link import scores_of
from privet.central.weights.policy import MARGIN
from privet.central.weights.released_weights import ReleasedWeights
from privet.central.weights.trees import Trees

SCHEMA = Schema(
    [Categorical("cup", ["a", "b"], never_missing=True), Categorical("lid", ["a", "b", "c"], never_missing=True)],
    classes=["no", "yes"],
)
NO_NOISE = Scales(0.0, 0.0)


def release(weights, *, trees=((0,),), rows=1000, variance=0.1, noise=0.0, share=0.5, cells=None):
    """Return a fit whose rows have ``share`` of "no"; ``weights`` are those of all leaves, in sixteenths."""
    own = Trees.of([list(tree) for tree in trees], SCHEMA)
    balance = np.array([round(share * rows), rows - round(share * rows)])
    n = own.n_trees
    return ReleasedWeights(
        own, rows, balance, np.array(weights).reshape(-1, 1), -4, np.full(n, variance), np.full(n, noise), cells
    )


def weights_of(released):
    return released.weights[:, 0] * 2.0**released.exponent


def both(*releases):
    return combined(releases, [NO_NOISE] * len(releases), SCHEMA)


def test_two_fits_without_noise_are_weighed_by_their_rows_and_have_one_prior_between_them():
    # A leaf of two holds half of the rows, each with a pull of 1/4: 125 and 375. The prior has a precision of 10.
    found = both(release([16, -16]), release([32, -32], rows=3000))
    expected = ((125 + 10) * 1.0 + (375 + 10) * 2.0) / (125 + 375 + 10)
    assert_allclose(weights_of(found), [expected, -expected], atol=2**-20)
    assert (found.n_rows, found.balance.tolist()) == (4000, [2000, 2000])
    assert found.noise_std.tolist() == [0.0]


def test_a_fit_with_noise_counts_by_what_its_rows_hold_beside_it():
    # Its rows hold 125 a leaf and its noise has a variance of 400, so it counts for 125 / 525.
    noisy, exact = release([16, -16], noise=20.0), release([32, -32])
    found = both(noisy, exact)
    counts = 125 / 525
    expected = (counts * 135 * 1.0 + 135 * 2.0) / (125 * counts + 125 + np.mean([10 * counts, 10]))
    assert_allclose(weights_of(found), [expected, -expected], atol=2**-20)
    assert_allclose(found.noise_std, [20 * counts])


def test_a_tree_that_only_one_fit_has_is_not_taken_for_none_in_the_other():
    found = both(release([16, -16]), release([0, 16, -16], trees=[(1,)]))
    cup = 135 / (250 - combining._LEFT_OPEN * 125 + 10)
    assert_allclose(weights_of(found)[:2], [cup, -cup], atol=2**-20)
    assert list(found.trees.attributes) == [(0,), (1,)]


def plain_combined(releases, n_leaves):
    """Return the weights of one tree for each attribute, as lists; fits without noise and of even classes."""
    found = []
    for a, leaves in enumerate(n_leaves):
        said, own, precisions = [0.0] * leaves, 0.0, []
        for fit in releases:
            place = next((t for t, tree in enumerate(fit.trees.attributes) if list(tree) == [a]), None)
            if place is None:
                continue
            start, held = int(fit.trees.starts[place]), fit.n_rows / 4 / leaves
            precision = 1 / fit.variances[place]
            for leaf in range(leaves):
                said[leaf] += (held + precision) * weights_of(fit)[start + leaf]
            own += held
            precisions.append(precision)
        every = sum(fit.n_rows for fit in releases) / 4 / leaves
        below = every - 0.3 * (every - own) + sum(precisions) / len(precisions)
        found += [each / below for each in said]
    return found


def test_forests_of_many_fits_are_those_of_a_plain_twin():
    rng = np.random.default_rng(5)
    for _ in range(20):
        fits = [release(rng.integers(-99, 99, 5), trees=[(0,), (1,)], rows=800, variance=0.3)]
        for _ in range(rng.integers(1, 6)):
            chosen = [((0,),), ((1,),), ((1,), (0,))][rng.integers(3)]
            n_weights = sum({0: 2, 1: 3}[tree[0]] for tree in chosen)
            rows = 2 * int(rng.integers(50, 5000))
            fits.append(
                release(rng.integers(-99, 99, n_weights), trees=chosen, rows=rows, variance=rng.uniform(0.01, 1))
            )
        assert_allclose(weights_of(both(*fits)), plain_combined(fits, (2, 3)), atol=2**-20)


def test_the_order_of_fits_does_not_matter():
    fits = [release([16, -16]), release([0, 16, -16], trees=[(1,)], rows=300), release([3, 1], rows=77)]
    assert_array_equal(both(*fits).weights, both(*fits[::-1]).weights)


def test_a_fit_to_hardly_any_rows_changes_nearly_nothing():
    large, tiny = release([16, -16], rows=100_000, noise=20.0), release([-99, 99], rows=10, noise=20.0)
    assert_allclose(weights_of(both(large, tiny)), weights_of(both(large, large)), rtol=0.02)
    large_too = replace(tiny, n_rows=100_000, balance=large.balance)
    assert abs(weights_of(both(large, large_too))[0]) > 2  # had it as many rows, it would change much


def test_fits_of_the_class_balance_alone_add_their_rows():
    alone = ReleasedWeights.balance_only(Trees.of([], SCHEMA), 100, np.array([30, 70]))
    found = combined([alone, alone], [Scales(2.0, 0.0)] * 2, SCHEMA)
    assert (found.n_rows, found.balance.tolist(), found.trees.n_trees) == (200, [60, 140], 0)
    with_tree = combined([alone, release([16, -16])], [NO_NOISE] * 2, SCHEMA)
    assert (with_tree.n_rows, with_tree.trees.n_trees) == (1100, 1)


def test_the_difference_of_two_classes_of_an_earlier_privet_is_made_counts():
    earlier = replace(release([16, -16]), balance=np.array([200]))
    assert both(earlier, release([16, -16])).balance.tolist() == [400 + 500, 600 + 500]


def test_noise_of_counts_adds_up_and_counts_of_some_stand_for_all():
    some = release([16, -16], cells=np.array([400, 600]))
    scales = [Scales(3.0, 6.0), Scales(4.0, 0.0)]
    assert combined_scales([some, release([16, -16])], scales) == Scales(5.0, 12.0)
    assert both(some, release([16, -16])).cells.tolist() == [800, 1200]


@pytest.mark.parametrize("n_fits", [1, 2, 9])
def test_the_noise_of_fits_alike_grows_with_the_root_of_their_number(n_fits):
    fits = [release([16, -16], noise=20.0)] * n_fits
    assert_allclose(noise_after_each(fits, [NO_NOISE] * n_fits), 20 * np.sqrt(np.arange(1, n_fits + 1)))


def test_noise_is_that_of_all_rows_whichever_of_them_count():
    large, tiny = release([16, -16], rows=100_000, noise=20.0), release([16, -16], rows=10, noise=20.0)
    assert_allclose(noise_after_each([large, tiny], [NO_NOISE] * 2), [20, 20], rtol=0.01)
    alone = ReleasedWeights.balance_only(Trees.of([], SCHEMA), 1000, np.array([500, 500]))
    # Rows that no tree was fitted to are in a fit to all: the noise is as large as if half of the rows were lost.
    assert_allclose(noise_after_each([large, replace(alone, n_rows=100_000)], [NO_NOISE] * 2)[0], 20)
    first, second = noise_after_each([alone, release([16, -16], noise=20.0)], [Scales(100.0, 0.0), NO_NOISE])
    assert first == pytest.approx(math.sqrt(2) * 100, rel=0.01)
    assert second == pytest.approx(40)


def mean_squares(spread, *, n_draws=2000, n_fits=4):
    """Return how far combined weights of 0 and noise of a known size lie from 0, in what the combination states."""
    rng = np.random.default_rng(3)
    sizes = []
    for _ in range(n_draws // n_fits):
        fits = []
        for _ in range(n_fits):
            # A leaf's weight minimises 125 w^2 / 2 + 10 w^2 / 2 + noise w.
            drawn = rng.normal(0, 20 * spread, 2) / 135
            fits.append(
                replace(release([0, 0], noise=20.0), exponent=-30, weights=np.rint(drawn[:, None] * 2**30).astype(int))
            )
        found = both(*fits)
        counts = 125 / 525
        held = n_fits * 125 * counts + 10 * counts
        sizes.append(weights_of(found) * held / found.noise_std)
    return float(np.mean(np.square(sizes)))


def test_the_noise_of_combined_weights_is_as_stated():
    assert mean_squares(1.0) == pytest.approx(1.0, abs=0.15)


@pytest.mark.parametrize("spread", [0.8, 1.25])
def test_noise_that_is_other_than_stated_is_seen(spread):
    assert mean_squares(spread) != pytest.approx(1.0, abs=0.15)


def test_knots_of_trees_of_several_attributes_leave_no_part_between_them_without_a_code():
    numbers = Schema([Numeric("age", 0, 100), Numeric("pay", 0, 9)], classes=["no", "yes"])
    cut = with_cells(numbers, 33)
    first = Trees.of([[0], [1]], cut, {0: ((0, 60, 100), 32), 1: ((0, 100), 32)})
    fits = []
    for knots in ((0, 50, 100), (3, 51, 97), (20, 55, 140)):
        trees = first.with_later(Trees.later([[0, 1]], cut, {0: (knots, 8), 1: (knots, 8)}))
        rng, balance = np.random.default_rng(knots[0]), np.array([500, 500])
        weights = rng.integers(-9, 9, (trees.n_leaves, 1))
        fits.append(ReleasedWeights(trees, 1000, balance, weights, -4, np.full(3, 0.1), np.full(3, 5.0)))
    found = combined(fits, [NO_NOISE] * 3, cut)
    shared = [axis for own in found.trees.axes for axis in own if len(own) > 1]
    assert len(shared) == 2
    for axis in shared:
        assert len(axis.knots) > 3
        assert set(axis.cell_of.tolist()) == set(range(axis.n_cells))


def test_cells_that_a_fit_gave_are_told_from_declared_ones():
    declared = Schema(
        [
            Numeric("age", 0, 100),
            Numeric("pay", -5, 9, bins=4),
            Numeric("debt", 0, 9, edges=[3.0]),
            Numeric("gain", -1, 1),
        ],
        classes=["no", "yes"],
        rows=70,
    )
    for n_bins in (5, 33):
        cut = with_cells(declared, n_bins)
        assert cut.attributes[0].edges is not None
        assert without_cells(cut, n_bins) == declared
        assert without_cells(declared, n_bins) == declared
        assert without_cells(cut, n_bins + 1) == cut


def test_a_fit_to_some_people_alone_is_raised_to_where_they_are():
    """One fit has all its rows in cup a, most of them "yes"; its own tree cannot tell, and its start does."""
    # Rows of the cells of cup: 1000 in a, and 500 in each. Both released them; the fits have no noise.
    alone = release([0, 0], share=0.1, cells=np.array([1000, 0]))
    mixed = release([-32, 32], share=0.5, cells=np.array([500, 500]))
    start = scores_of(combined([alone, mixed], [NO_NOISE] * 2, SCHEMA).class_shares(0.0), MARGIN)
    found = combined([alone, mixed], [NO_NOISE] * 2, SCHEMA)
    in_a, in_b = weights_of(found) + start[1] - start[0]
    theirs = scores_of(np.array([0.1, 0.9]), MARGIN)
    # In cup a, two thirds of the rows' pull is that of the first fit, which scores them by its start alone.
    assert theirs[1] - theirs[0] > in_a > 0
    assert in_b > 1.0
    untold = combined([replace(alone, cells=None), replace(mixed, cells=None)], [NO_NOISE] * 2, SCHEMA)
    assert (weights_of(untold) + start[1] - start[0])[0] < in_a
