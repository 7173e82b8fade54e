"""Which trees share noise: shares, deviations and costs by hand, and a plain twin that tries every way to cut."""

import math
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from privet.central.weights import noise_groups
from privet.central.weights.noise_groups import NoiseGroup, NoiseGroups
from privet.central.weights.trees import CROWDED
from privet.privacy.mechanisms.k_norm import MOST_DIMENSIONS, MOST_SHARED_LEAVES, shared_deviation
from privet.privacy.mechanisms.linear_noise import laplace_factor
from tests.loops import loop_over

MANY_SIZES = [
    [2], [1], [300], [2, 2], [1, 1, 1], [5, 3, 12], [33, 33, 33], [2, 32, 2, 32], [8, 2, 8, 3, 7, 2, 100],
    [24, 24, 3, 3], [9, 9, 9, 9, 9, 25, 15, 5], [32] * 12, [2] * 300, list(range(1, 41)),
]  # fmt: skip


def groups_of(sizes, n_classes=2):
    return NoiseGroups.of(np.array(sizes, dtype=np.int64), n_classes)


def of_sizes(*sizes, n_classes=2):
    return NoiseGroup(tuple(range(len(sizes))), sizes, n_classes)


def noise_of(groups):
    """Return what groups are to make small: noise in a leaf against its rows, squared and added up over trees."""
    sizes = np.array([size for group in groups for size in group.sizes])
    deviations = groups.deviations(1.0)[[tree for group in groups for tree in group.trees]]
    return float(((deviations * np.minimum(sizes, CROWDED)) ** 2).sum())


def alone(sizes, n_classes=2):
    return NoiseGroups(tuple(NoiseGroup((tree,), (size,), n_classes) for tree, size in enumerate(sizes)))


@loop_over("sizes", MANY_SIZES)
@loop_over("n_classes", [2, 3, 30])
def test_shares_add_up_to_one_exactly_and_every_tree_is_in_one_group(sizes, n_classes):
    groups = groups_of(sizes, n_classes)
    shares = groups.shares
    assert sum(shares) == 1
    assert all(isinstance(share, Fraction) and share > 0 for share in shares)
    assert len(shares) == len(list(groups))
    assert sorted(tree for group in groups for tree in group.trees) == list(range(len(sizes)))
    for group in groups:
        assert group.sizes == tuple(sizes[tree] for tree in group.trees)
        assert group.n_classes == n_classes
        assert group.is_shared == (len(group.trees) > 1)


def test_without_trees_there_are_no_groups():
    groups = groups_of([])
    assert (groups.groups, groups.shares) == ((), [])
    assert_array_equal(groups.deviations(1.0), np.empty(0))


@loop_over("sizes", MANY_SIZES)
@loop_over("n_classes", [2, 3])
def test_trees_that_share_noise_are_neighbours_within_the_limits(sizes, n_classes):
    groups = groups_of(sizes, n_classes).groups
    for group in groups:
        if group.is_shared:
            assert max(group.sizes) <= MOST_SHARED_LEAVES
            assert group.n_dimensions <= MOST_DIMENSIONS
        assert list(group.sizes) == sorted(group.sizes)
    ranges = sorted((min(group.sizes), max(group.sizes)) for group in groups)
    assert all(left[1] <= right[0] for left, right in pairwise(ranges))


def test_large_trees_are_alone():
    groups = groups_of([33, 4, 4000, 4, 33, 32, 32])
    assert {group.trees for group in groups if not group.is_shared} >= {(0,), (2,), (4,)}
    assert all(33 not in group.sizes and 4000 not in group.sizes for group in groups if group.is_shared)
    # What decides is their leaves and nothing else: with one leaf less they share.
    assert [group.trees for group in groups_of([32, 32])] == [(0, 1)]
    assert sorted(group.trees for group in groups_of([33, 33])) == [(0,), (1,)]


def test_a_group_has_at_most_so_many_dimensions():
    # 128 trees of two leaves have a dimension each.
    assert len(groups_of([2] * 128).groups) == 1
    assert len(groups_of([2] * 129).groups) == 2
    # Four of 32 leaves have 124, five would have 155.
    assert max(len(group.trees) for group in groups_of([32] * 9)) == 4


def test_the_cost_of_a_group_by_hand():
    assert of_sizes(5).cost == pytest.approx(math.cbrt(2 * 5**2))
    assert of_sizes(500).cost == pytest.approx(math.cbrt(2 * 8**2))
    # Two trees of two leaves: a variance of 2 * 4 * 5 / 12, twice, of leaves that are half of all.
    assert of_sizes(2, 2).cost == pytest.approx(math.cbrt(2 * (10 / 3) * 4))
    assert of_sizes(2, 2).n_dimensions == 2
    assert of_sizes(2, 9).cost == pytest.approx(math.cbrt((2 * 11 * 12 / 12) * 4 + (2 * 11 * 12 / 110) * 64))
    assert of_sizes(7, n_classes=3).cost == pytest.approx(math.cbrt(laplace_factor(3) ** 2 * 49))


def test_two_trees_of_two_leaves_share_their_noise_and_a_large_one_has_its_own():
    groups = groups_of([2, 40, 2])
    assert [group.trees for group in groups] in ([(0, 2), (1,)], [(1,), (0, 2)])
    costs = {False: math.cbrt(2 * 64), True: math.cbrt(80 / 3)}
    whole = sum(costs.values())
    assert {group.is_shared: float(share) for group, share in zip(groups, groups.shares, strict=True)} == pytest.approx(
        {own: cost / whole for own, cost in costs.items()}
    )
    # Of linear = 0.5 each has its share, one over which is its scale.
    shared, own = math.sqrt(10 / 3), math.sqrt(2)
    assert_allclose(
        groups.deviations(0.5),
        [shared * whole / costs[True] / 0.5, own * whole / costs[False] / 0.5, shared * whole / costs[True] / 0.5],
    )


@loop_over("sizes", MANY_SIZES)
@loop_over("n_classes", [2, 3, 30])
def test_deviations_are_those_of_each_trees_group_at_its_scale(sizes, n_classes):
    groups, found = groups_of(sizes, n_classes), np.zeros(len(sizes))
    for group, share in zip(groups, groups.shares, strict=True):
        n = sum(size - 1 for size in group.sizes)
        for tree, size in zip(group.trees, group.sizes, strict=True):
            own = shared_deviation(size, n, n_classes) if len(group.trees) > 1 else laplace_factor(n_classes)
            found[tree] = own / float(share) / 0.7
    assert_allclose(groups.deviations(0.7), found)


def cuts_of(n):
    """Return every way to cut ``n`` things that lie in a row: the ends of the pieces."""
    if n == 0:
        return [[]]
    return [[*before, n] for start in range(n) for before in cuts_of(start)]


def least_of_all_cuts(sizes, n_classes):
    """Return the least that the costs of groups add up to, and how many ways of cutting were allowed."""
    ordered, found = sorted(sizes), []
    for ends in cuts_of(len(ordered)):
        pieces = [ordered[start:end] for start, end in pairwise([0, *ends])]
        shared = [piece for piece in pieces if len(piece) > 1]
        if all(max(own) <= MOST_SHARED_LEAVES and sum(own) - len(own) <= MOST_DIMENSIONS for own in shared):
            found.append(sum(of_sizes(*piece, n_classes=n_classes).cost for piece in pieces))
    return min(found), len(found)


def some_sizes(n_cases=60):
    rng = np.random.default_rng(3)
    kinds = [[2, 3, 4, 5, 8, 9, 16], [2, 2, 2, 40], [1, 2, 3], [24, 28, 31, 32, 33], list(range(1, 60))]
    return [rng.choice(kinds[case % len(kinds)], size=rng.integers(1, 9)).tolist() for case in range(n_cases)]


@loop_over("n_classes", [2, 4])
@loop_over("sizes", some_sizes())
def test_no_other_cut_of_the_sorted_trees_costs_less(sizes, n_classes):
    least, n_allowed = least_of_all_cuts(sizes, n_classes)
    groups = groups_of(sizes, n_classes)
    assert sum(group.cost for group in groups) == pytest.approx(least, rel=1e-8)
    assert n_allowed == 2 ** (len(sizes) - 1) or any(size > MOST_SHARED_LEAVES for size in sizes) or sum(sizes) > 128


@loop_over("sizes", [*MANY_SIZES, *some_sizes(20)])
@loop_over("n_classes", [2, 3, 5])
def test_groups_are_never_worse_than_every_tree_alone(sizes, n_classes):
    groups, each = groups_of(sizes, n_classes), alone(sizes, n_classes)
    assert noise_of(groups) <= noise_of(each) * (1 + 1e-7)
    # It is the cube of all costs.
    assert noise_of(groups) == pytest.approx(sum(group.cost for group in groups) ** 3)


def test_trees_of_as_many_leaves_gain_much():
    # Eight trees of nine leaves: alone each has an eighth of the price.
    sizes = [9] * 8
    assert noise_of(groups_of(sizes)) < 0.7 * noise_of(alone(sizes))
    assert noise_of(groups_of([2] * 8)) < 0.4 * noise_of(alone([2] * 8))


def test_other_shares_than_those_of_costs_are_worse():
    groups = groups_of([2, 2, 2, 9, 9, 40]).groups
    costs = np.array([group.cost for group in groups])
    assert len(costs) > 1
    best = ((costs**3) / (costs / costs.sum()) ** 2).sum()
    rng = np.random.default_rng(1)
    for _ in range(100):
        shares = costs * rng.uniform(0.8, 1.25, len(costs))
        assert ((costs**3) / (shares / shares.sum()) ** 2).sum() >= best


@loop_over("sizes", [[4] * 6, [2, 2, 3, 3], [32] * 9, [2] * 200, [40] * 5, [9, 9, 9, 9, 9, 25, 15, 5]])
def test_which_trees_are_alike_decides_and_not_their_order(sizes):
    first = groups_of(sizes)
    assert groups_of(list(sizes)) == first
    rng = np.random.default_rng(2)
    for _ in range(5):
        order = rng.permutation(len(sizes))
        shuffled = groups_of(np.array(sizes)[order].tolist())
        assert [group.sizes for group in shuffled] == [group.sizes for group in first]
        assert shuffled.shares == first.shares


def test_equal_costs_are_cut_the_same_whatever_the_last_digits_are(monkeypatch):
    # Another machine's roots may differ in their last digits.
    plain, root = noise_groups._best.__wrapped__, math.cbrt
    rng = np.random.default_rng(4)
    for sizes in [(32,) * 9, (2,) * 200, (5,) * 60, (40,) * 5]:
        monkeypatch.setattr(math, "cbrt", root)
        pieces = [group.sizes for group in plain(sizes, 2)]
        for _ in range(5):
            monkeypatch.setattr(math, "cbrt", lambda number: root(number) * (1 + rng.choice([-3, -1, 0, 1, 3]) * 1e-16))
            assert [group.sizes for group in plain(sizes, 2)] == pieces


def test_a_long_process_does_not_keep_the_groups_of_every_forest():
    for size in range(2, 402):
        groups_of([size, 2])
    assert noise_groups._best.cache_info().currsize <= 256


def test_a_thousand_trees_of_two_leaves_share_noise():
    groups = groups_of([2] * 1000)
    assert all(group.is_shared for group in groups)
    assert sum(len(group.trees) for group in groups) == 1000
    assert len(groups.groups) >= 8  # of 128 dimensions at most
    assert sum(groups.shares) == 1
