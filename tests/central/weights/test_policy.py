"""What the recommended forest decides from public quantities."""

import math
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from numpy.testing import assert_allclose

from privet import Categorical, Numeric, Schema
from privet.central.weights import policy as policy_module
from privet.central.weights.histograms import Histogram
from privet.central.weights.knots import (
    _CODINGS,
    FINE_HALVINGS,
    cell_cuts,
    codings,
    knot_values,
    quantile_codes,
    with_cells,
)
from privet.central.weights.objective_noise import choose_noise
from privet.central.weights.policy import (
    CHOICES_A_GROUP,
    LATER_PART,
    MOST_LEAVES,
    MOST_WEIGHTS,
    Overrides,
    Policy,
)
from privet.central.weights.trees import CODES_A_BIN, GRID, Trees, coarse_axes
from privet.privacy.mechanisms.joint_loss import joint_delta
from privet.privacy.mechanisms.objective_perturbation import NormalLoss, pure_objective_epsilon
from privet.privacy.mechanisms.rational import MIN_EPSILON
from tests.central.weights.problems import GROUPS, schema_of
from tests.loops import loop_over

TEN = Schema([Numeric(f"x{j}", 0, 1) for j in range(10)], classes=["no", "yes"])
THREE_CLASSES = Schema([Numeric(f"x{j}", 0, 1) for j in range(10)], classes=[5, 7, 9])
EPSILONS = [1e-4, 1e-3, 0.1, 1 / 3, 0.7, 1.0, 7 / 3, math.pi, 10.0, 123.456, 1e6]


def policy(n_rows, epsilon, schema=TEN, *, delta=0.0, max_rows=1, **fixed):
    return Policy(schema, epsilon, n_rows, Overrides(**fixed), delta, max_rows)


@pytest.mark.parametrize(
    ("n_rows", "epsilon", "only_balance"),
    [(16, 1.0, False), (15, 1.0, True), (159, 0.1, True), (160, 0.1, False), (10**9, 9e-5, True), (1, math.inf, False)],
)
def test_below_sixteen_rows_times_epsilon_only_the_balance_is_released(n_rows, epsilon, only_balance):
    assert policy(n_rows, epsilon).only_balance == only_balance


def test_more_rows_keep_more_attributes_and_never_nearly_all():
    worths = [1, 10, 100, 300, 600, 1000, 1500, 2500, 4000, 10**4, 10**6]
    kept = [policy(worth, 1.0).n_attributes for worth in worths]
    assert kept == sorted(kept)
    assert (kept[0], kept[-1]) == (1, 10)
    # To leave out three of ten would cost a choice and gain little.
    assert not {7, 8, 9} & set(kept)
    for worth, n in zip(worths, kept, strict=True):
        assert policy(10 * worth, 0.1).n_attributes == n
        assert policy(worth, 1.0).chooses == (n < 10)


def test_beyond_4000_rows_times_epsilon_eight_times_as_many_keep_twice_as_many_attributes():
    wide = [Schema([Numeric(f"x{j}", 0, 1) for j in range(60)], classes=range(n)) for n in (2, 10, 80)]
    # (4000 / 110)^(2/3) is 10.98, and (1000 / 110)^(2/3) is 4.4.
    kept = [policy(n_rows, 1.0, wide[0]).n_attributes for n_rows in (1000, 4000, 32_000, 400_000)]
    assert kept == [4, 11, 22, 60]  # 51 of 60 are nearly all
    assert policy(200_000, 1.0, wide[0]).n_attributes == 40
    # Ten classes are not many; with eight times as many an attribute takes four times the rows that are left to it.
    assert policy(32_000, 1.0, wide[1]).n_attributes == 22
    assert policy(32_000, 1.0, wide[2]).n_attributes == round(21.97 / 4)


def test_a_category_of_few_values_costs_less_than_a_number():
    few, many = (Schema([Categorical(f"a{j}", range(n)) for j in range(40)], classes=[5, 9]) for n in (3, 9))
    assert policy(3000, 1.0, few).n_attributes > policy(3000, 1.0, many).n_attributes


def test_bins_grow_with_rows_within_bounds():
    bins = [policy(n, 1.0, n_attributes=4).n_bins for n in (20, 200, 600, 1000, 1200, 10**6)]
    assert bins == sorted(bins)
    assert (bins[0], bins[-1]) == (2, 16)
    # With more classes a row counts half.
    assert policy(1000, 1.0, THREE_CLASSES, n_attributes=4).n_bins < policy(1000, 1.0, n_attributes=4).n_bins
    assert policy(300, 1.0, n_bins=37).n_bins == 37


@pytest.mark.parametrize(
    ("n_rows", "epsilon", "balance"), [(8, 1.0, 0.2), (40, 1.0, 0.2), (80, 1.0, 0.1), (160, 1.0, 0.05), (10**6, 2, 0.1)]
)
def test_the_balance_costs_eight_rows_within_bounds(n_rows, epsilon, balance):
    # Fixed attributes are for a fit, however few rows there are.
    assert policy(n_rows, epsilon, n_attributes=1).shares.balance == pytest.approx(balance)
    free = policy(n_rows, epsilon)
    assert free.shares.balance == pytest.approx(0.0 if free.has_one_tree else balance)
    assert free.has_one_tree == (n_rows < 75)


@pytest.mark.parametrize("schema", [TEN, THREE_CLASSES])
def test_a_single_tree_is_for_few_rows_times_epsilon_for_each_class_but_one(schema):
    border = policy_module._ROWS_OF_ONE_TREE * (len(schema.classes) - 1) ** policy_module._POWER_OF_CLASSES
    for epsilon in (0.125, 1.0, 4.0):
        assert policy(math.ceil(border / epsilon) - 1, epsilon, schema).has_one_tree
        assert not policy(math.ceil(border / epsilon), epsilon, schema).has_one_tree
    few = policy(20, 1.0, schema)
    assert (few.has_one_tree, few.n_attributes, few.chooses) == (True, 1, True)
    # What the caller fixes is for a fit; a single attribute needs no choice; without an end to epsilon all are fitted.
    for fixed in ({"n_attributes": 2}, {"n_bins": 4}, {"balance_share": 0.1}):
        assert not policy(20, 1.0, schema, **fixed).has_one_tree
    assert policy(20, 1.0, schema, selection_share=0.25, group_size=2, prior_variance=1.0).has_one_tree
    assert not policy(20, 1.0, Schema(schema.attributes[:1], classes=schema.classes)).has_one_tree
    assert not policy(1, math.inf, schema).has_one_tree


@pytest.mark.parametrize(
    ("n_rows", "epsilon", "outside", "is_tree"),
    [
        # From 60 rows times epsilon outside the largest class to 300, where they are less than a fifth of all.
        (1000, 1.0, 0.061, True), (1000, 1.0, 0.059, False), (1000, 1.0, 0.19, True), (1000, 1.0, 0.21, False),
        (10_000, 1.0, 0.029, True), (10_000, 1.0, 0.031, False), (20_000, 0.5, 0.029, True),
        (250, 1.0, 0.1, False), (10**6, 1.0, 1e-4, True), (10**6, 1.0, 1e-3, False),
    ],
)  # fmt: skip
def test_where_few_rows_are_outside_the_largest_class_there_is_a_tree(n_rows, epsilon, outside, is_tree):
    for schema, rest in ((TEN, [outside]), (THREE_CLASSES, [outside / 3, 2 * outside / 3])):
        own, balance = policy(n_rows, epsilon, schema), np.array([1 - outside, *rest])
        assert not own.has_one_tree
        assert own.with_balance(balance).has_one_tree == is_tree
        assert (own.with_balance(balance) is own) == (not is_tree)
        # What the caller fixes is for a fit, but for a share of the balance, which is paid for anyway.
        for fixed in ({"n_attributes": 2}, {"n_bins": 4}):
            assert not policy(n_rows, epsilon, schema, **fixed).with_balance(balance).has_one_tree
        assert policy(n_rows, epsilon, schema, balance_share=0.1).with_balance(balance).has_one_tree == is_tree


def test_the_shares_that_decide_for_a_tree_are_public():
    assert policy(1000, 1.0).lopsided == pytest.approx((0.06, 0.2))
    assert policy(10_000, 1.0).lopsided == pytest.approx((0.006, 0.03))
    for own in (policy(250, 1.0), policy(1000, 1.0, n_bins=4), policy(1000, math.inf)):
        assert own.lopsided == (0.0, 0.0)


@loop_over("share", [None, 0.01, 0.5])
@loop_over("balance_share", [None, 0.1])
@loop_over("epsilon", [1e-3, 1 / 3, 1.0, math.pi])
def test_a_tree_after_the_balance_has_what_the_balance_leaves(share, balance_share, epsilon):
    before = policy(math.ceil(5000 / epsilon), epsilon, selection_share=share, balance_share=balance_share)
    own = before.with_balance(np.array([0.02, 0.98]))
    assert (before.has_one_tree, own.has_one_tree, own.chooses, own.n_attributes) == (False, True, True, 1)
    shares = own.shares
    assert shares.balance == before.shares.balance  # it is spent by then
    assert (shares.histograms, shares.release) == (0.0, 0.0)
    left = epsilon - shares.balance
    assert shares.selection == pytest.approx((policy_module._PART_OF_TREE if share is None else share) * left)
    paid = Fraction(shares.balance) + Fraction(shares.selection) + Fraction(shares.fit)
    assert Fraction(epsilon) * (1 - Fraction(1, 2**50)) <= paid <= Fraction(epsilon)


@loop_over("share", [None, 0.01, 0.5])
@loop_over("epsilon", [1e-3, 1 / 3, 1.0, math.pi])
def test_the_choice_of_a_single_tree_has_its_share_and_its_leaves_all_else(share, epsilon):
    own = policy(math.ceil(20 / epsilon), epsilon, selection_share=share)
    assert own.has_one_tree
    shares = own.shares
    assert (shares.balance, shares.histograms, shares.release) == (0.0, 0.0, 0.0)
    assert shares.selection == (policy_module._PART_OF_TREE if share is None else share) * epsilon
    paid = Fraction(shares.selection) + Fraction(shares.fit)
    assert Fraction(epsilon) * (1 - Fraction(1, 2**50)) <= paid <= Fraction(epsilon)


@loop_over("epsilon", [0.01, 1.0])
@loop_over("found", [1, 2, 10, 59])
def test_once_a_balance_is_paid_no_correction_makes_a_single_tree_of_a_fit(epsilon, found):
    declared = policy(round(10**4 / epsilon), epsilon)
    assert not declared.has_one_tree
    corrected = declared.with_rows(max(1, round(found / epsilon)))
    assert policy(max(1, round(found / epsilon)), epsilon).has_one_tree
    assert not corrected.has_one_tree
    # What was paid for the balance stays, and all shares still add up.
    assert Fraction(corrected.shares.balance) <= Fraction(declared.shares.balance) * (1 + Fraction(1, 2**50))
    assert corrected.shares.balance == pytest.approx(declared.shares.balance, rel=1e-15)
    assert sum(map(Fraction, vars(corrected.shares).values())) <= Fraction(epsilon)


OPEN = Schema(
    [Numeric("age", 0, 90), Numeric("debt", -5, 9, never_missing=True), Numeric("pay", 0, 10, bins=4),
     Categorical("job", [1, 2])], classes=["no", "yes"],
)  # fmt: skip


@loop_over("factor", [0.001, 0.1, 10, 1000])
def test_rows_that_were_declared_wrong_change_no_cell(factor):
    # The rows are coded by the cells before the balance tells how many there are.
    for n_rows, epsilon in ((300, 1.0), (3000, 1.0), (10**5, 0.1)):
        declared = policy(round(n_rows * factor) + 1, epsilon, OPEN, balance_share=0.1)
        corrected = declared.with_rows(n_rows)
        assert corrected.n_rows == n_rows
        assert corrected.cells == declared.cells
        assert corrected.fixed.n_bins is None
        assert corrected.n_bins == policy(n_rows, epsilon, OPEN, balance_share=0.1).n_bins


def test_shares_by_hand():
    # 300 rows keep one attribute of ten: .35; four of ten: .2; all: nothing. The last digits have a hundredth.
    one = policy(300, 1.0).shares
    assert (one.balance, one.selection, one.release) == pytest.approx((0.05, 0.35, 0.01))
    assert one.fit == pytest.approx(0.59)
    assert (one.histograms, policy(1000, 1.0).shares.histograms) == (0.0, 0.0)
    assert policy(1000, 1.0).shares.selection == pytest.approx(0.2)
    everything = policy(10**5, 1.0).shares
    assert (everything.selection, everything.histograms, everything.fit) == pytest.approx((0.0, 0.05, 0.89))


EACH = math.ceil(policy_module._LEAST_HISTOGRAM)


@pytest.mark.parametrize(
    ("n_rows", "epsilon", "n_attributes", "counts"),
    [(10 * EACH - 1, 1.0, None, False), (10 * EACH, 1.0, None, True), (20 * EACH, 0.5, None, True),
     (20 * EACH - 1, 0.5, None, False), (2 * EACH, 1.0, 2, True), (2 * EACH - 1, 1.0, 2, False),
     (10**9, 1.0, 1, False), (1, math.inf, None, True)],
)  # fmt: skip
def test_cells_are_counted_where_several_attributes_have_enough_rows_each(n_rows, epsilon, n_attributes, counts):
    own = policy(n_rows, epsilon, n_attributes=n_attributes)
    assert own.counts_cells == counts
    assert (own.shares.histograms > 0) == counts or math.isinf(epsilon)


FIXED = [
    {}, {"balance_share": 0.5}, {"balance_share": 0.01}, {"selection_share": 0.5, "n_attributes": 3},
    {"selection_share": 0.5, "balance_share": 0.5, "n_attributes": 9}, {"n_attributes": 1}, {"n_attributes": 99},
    {"selection_share": 0.01, "n_attributes": 2},
]  # fmt: skip


@pytest.mark.parametrize("fixed", FIXED)
@loop_over("n_rows", [1, 50, 1000, 10**7])
def test_shares_add_up_to_epsilon_and_never_to_more(n_rows, fixed):
    others = np.random.default_rng(n_rows).uniform(1e-4, 20, 40).tolist()
    for epsilon in [*EPSILONS, *others]:
        shares = policy(n_rows, epsilon, **fixed).shares
        parts = [Fraction(part) for part in vars(shares).values()]
        assert all(part >= 0 for part in parts)
        assert shares.fit > 0
        assert sum(parts) <= Fraction(epsilon)
        assert sum(parts) >= Fraction(epsilon) * (1 - Fraction(1, 2**50))


def test_fixed_shares_are_honoured():
    shares = policy(1000, 2.0, balance_share=0.3, selection_share=0.4, n_attributes=3).shares
    assert (shares.balance, shares.selection) == pytest.approx((0.6, 0.8))
    # What is left after both has a tenth of itself for the fit at least; here cells have their share, too.
    shares = policy(3 * EACH, 1.0, balance_share=0.5, selection_share=0.5, n_attributes=3).shares
    assert shares.histograms > 0
    assert shares.selection == pytest.approx(0.9 * (0.5 - shares.histograms - shares.release))
    shares = policy(3 * EACH - 1, 1.0, balance_share=0.5, selection_share=0.5, n_attributes=3).shares
    assert shares.histograms == 0
    assert shares.selection == pytest.approx(0.9 * (0.5 - shares.release))
    assert policy(1000, 1.0, n_attributes=99).n_attributes == 10


def test_without_an_end_to_epsilon_all_shares_have_none():
    shares = policy(100, math.inf).shares
    assert set(vars(shares).values()) == {math.inf}
    assert policy(100, math.inf).n_attributes == 10


@loop_over("epsilon", EPSILONS)
@pytest.mark.parametrize("n_classes", [2, 3, 5, 20])
def test_curvature_and_linear_cost_the_fit_and_hardly_less(epsilon, n_classes):
    schema = Schema([Categorical("a", [1, 2])], classes=range(n_classes))
    fit = policy(10**5, epsilon, schema).shares.fit
    curvature, linear = policy(10**5, epsilon, schema).curvature_and_linear(fit)
    assert 0 < linear <= fit
    assert pure_objective_epsilon(linear, curvature, n_classes) <= fit
    if epsilon < 600:  # beyond that the determinant has more room than it can use
        assert pure_objective_epsilon(linear, curvature, n_classes) >= fit * (1 - 1e-6)


def test_two_classes_have_a_curvature_of_the_fit_times_epsilon_from_one_to_two():
    for epsilon, factor in ((0.3, 1), (1.0, 1), (1.5, 1.5), (8.0, 2)):
        assert policy(10**5, epsilon).curvature_and_linear(0.2)[0] == pytest.approx(0.2 * factor)
    # Up to the fit itself the determinant is free.
    assert policy(10**5, 0.5).curvature_and_linear(0.4)[1] == pytest.approx(0.4, rel=1e-6)


def test_trees_have_one_number_each_and_groups_of_categorical_attributes():
    names = [Categorical(f"c{j}", [1, 2]) for j in range(5)]
    schema = Schema([Numeric("x", 0, 1), *names, Numeric("z", 0, 1)], classes=[5, 9])
    trees = policy(10**6, 1.0, schema).trees(list(range(7)), np.random.default_rng(3))
    assert trees.attributes[:2] == ((0,), (6,))
    assert sorted(map(len, trees.attributes[2:])) == [2, 3]
    assert sorted(a for own in trees.attributes for a in own) == list(range(7))
    other = policy(10**6, 1.0, schema).trees(list(range(7)), np.random.default_rng(4))
    assert other.attributes != trees.attributes
    few = policy(100, 1.0, schema).trees(list(range(7)), np.random.default_rng(3))
    assert all(len(own) == 1 for own in few.attributes)


def test_groups_leave_several_times_more_rows_than_noise_in_a_leaf():
    # 4 attributes of 4 cells: in pairs 2 trees, noise sqrt(2) 2 / (.87 fit); in threes as many.
    schema = Schema([Categorical(f"c{j}", [1, 2, 3]) for j in range(4)], classes=["no", "yes"])

    def largest(n_rows):
        return max(map(len, policy(n_rows, 1.0, schema).trees(list(range(4)), np.random.default_rng(0)).attributes))

    times = policy_module._ROWS_OVER_NOISE
    # Up to 1,200 rows nothing is paid for how rows lie over cells.
    for rows, size, leaves in ((10**3, 2, 16), (10**4, 3, 64)):
        noise = math.sqrt(2) * 2 / (policy(rows, 1.0, schema).shares.fit * 0.8)
        border = times * noise * leaves
        assert policy(math.floor(border), 1.0, schema).shares == policy(rows, 1.0, schema).shares
        assert largest(math.floor(border) - 1) == size - 1
        assert largest(math.ceil(border) + 1) == size


def test_a_fixed_group_is_smaller_where_its_leaves_are_too_many():
    small = Schema([Categorical(f"c{j}", range(9)) for j in range(6)], classes=[5, 9])
    wide = Schema([Categorical(f"c{j}", range(50)) for j in range(6)], classes=[5, 9])
    public_rng = np.random.default_rng(1)
    assert {len(own) for own in policy(50, 1.0, small, group_size=3).trees(list(range(6)), public_rng).attributes} == {
        3
    }
    # 51**3 leaves are too many, 51**2 three times too; one by one they have room.
    assert {len(own) for own in policy(50, 1.0, wide, group_size=3).trees(list(range(6)), public_rng).attributes} == {1}


@pytest.mark.parametrize("fixed", [{}, {"n_attributes": 200}, {"n_bins": 64}, {"group_size": 3}])
@pytest.mark.parametrize("n_classes", [2, 5, 100])
def test_there_are_never_more_weights_than_there_is_room_for(n_classes, fixed):
    numbers = [Numeric(f"x{j}", -1, 1) for j in range(150)]
    schema = Schema([*numbers, *(Categorical(f"c{j}", range(100)) for j in range(50))], classes=range(n_classes))
    own = policy(10**7, 1.0, schema, **fixed)
    kept = sorted(range(200), key=lambda a: -own.cells.attributes[a].n_values)[: own.n_attributes]
    trees = own.trees(sorted(kept), np.random.default_rng(0))
    assert trees.n_leaves <= MOST_LEAVES
    assert trees.n_leaves * own.n_columns <= MOST_WEIGHTS


def test_noise_moves_a_score_by_its_part_of_what_rows_hold_in_every_tree():
    trees = Trees.of(GROUPS, schema_of())  # 5, 3 and 12 leaves
    own = policy(800, 1.0, schema_of())
    # Of 800 rows a quarter pulls, shared by 5, 3 and 8 leaves, and one more.
    held = np.array([41.0, 200 / 3 + 1, 26.0])
    even, noise_std = np.array([0.5, 0.5]), np.array([3.0, 5.0, 7.0])
    assert own.score_variance(noise_std, trees, even) == pytest.approx(((noise_std / held) ** 2).sum())
    assert own.score_variance(np.zeros(3), trees, even) == 0.0
    # What is reckoned with is the noise that would be drawn.
    drawn = choose_noise(own, trees, own.shares.fit).noise_std
    assert own.noise(trees, even) == pytest.approx(own.score_variance(drawn, trees, even), rel=1e-5)
    planned = policy(800, 1.0, schema_of(), delta=1e-6)
    normal = choose_noise(planned, trees, planned.shares.fit, planned.normal_plan.alone).noise_std
    assert planned.noise(trees, even, planned.normal_plan) == pytest.approx(
        planned.score_variance(normal, trees, even), rel=1e-5
    )
    assert policy(800, math.inf, schema_of()).noise(trees, even) == 0.0


def test_prior_variances_by_hand():
    trees = Trees.of(GROUPS, schema_of())
    even, noise = np.array([0.5, 0.5]), np.array([0.0, 10.0, 10.0])
    # 2 / (1 + sd^2 / (n / 4 / min(leaves, 8) + 1)), at most a third of the curvature.
    variances = policy(800, 1.0, schema_of()).prior_variances(trees, noise, even, 30.0)
    assert_allclose(variances, [2.0, 2 / (1 + 100 / (200 / 3 + 1)), 2 / (1 + 100 / 26)])
    assert_allclose(policy(800, 1.0, schema_of()).prior_variances(trees, noise, even, 0.3), [0.1, 0.1, 0.1])
    fixed = policy(800, 1.0, schema_of(), prior_variance=50.0).prior_variances(trees, noise, even, math.inf)
    assert fixed[0] == 50.0


def test_a_rare_class_pulls_as_if_it_had_a_twentieth():
    trees, rare = Trees.of(GROUPS, schema_of()), np.array([0.999, 0.001])
    variances = policy(800, 1.0, schema_of()).prior_variances(trees, np.full(3, 10.0), rare, math.inf)
    assert variances[0] == pytest.approx(2 / (1 + 100 / (800 * 0.05 / 5 + 1)))


@pytest.mark.parametrize("epsilon", [math.inf, 1e300, 1e308])
def test_a_boundless_epsilon_keeps_as_many_attributes_as_there_is_room_for(epsilon):
    wide = Schema([Numeric(f"x{i}", 0, 1) for i in range(300)], classes=["no", "yes"])
    own = policy(1000, epsilon, wide)
    assert own.chooses
    assert (
        own.n_attributes == MOST_LEAVES // 35
    )  # a number has up to 2 x 16 knots, two more at its ends, and one missing


@pytest.mark.parametrize(("declared", "found"), [(100, 4000), (4000, 100), (10**6, 1)])
def test_a_policy_for_other_rows_keeps_its_cells_and_the_price_of_the_balance(declared, found):
    wide = Schema([Numeric(f"x{i}", 0, 1) for i in range(30)], classes=["no", "yes"])
    first = policy(declared, 1.0, wide)
    better = first.with_rows(found)
    assert better.n_rows == found
    assert better.cells == first.cells  # rows were put into them already
    assert list(better.public_knots(5, soft=True)) == list(range(30))
    assert better.shares.balance == pytest.approx(first.shares.balance, rel=1e-12)
    assert better.n_attributes == policy(found, 1.0, wide).n_attributes
    assert first.with_rows(declared) is first


def test_a_policy_stays_where_other_rows_ask_for_choices_too_small_to_draw():
    wide = Schema([Numeric(f"x{i}", 0, 1) for i in range(90)], classes=["no", "yes"])
    first = policy(10**6, 2.0**-10, wide, selection_share=0.01)
    assert first.with_rows(10**7) is first
    assert first.with_rows(2 * 10**5) is not first


def edges(n_bins, low, high):
    return cell_cuts(Numeric("x", low, high), n_bins, None)


def test_a_range_from_zero_has_equal_widths_and_halves_the_first_cell_again_and_again():
    assert edges(4, 0, 16) == (1, 2, 4, 8, 12)


def test_a_range_above_zero_is_finer_at_its_lower_bound():
    assert edges(4, 100, 116) == (101, 102, 104, 108, 112)
    assert edges(4, -16, 0) == (-15, -14, -12, -8, -4)


def test_a_range_around_zero_is_finer_to_both_sides_of_it():
    # Equal widths: -8, 0, 8. Halvings of 16 / 4 and of -16 / 4, twice each.
    assert edges(4, -16, 16) == (-8, -2, -1, 0, 1, 2, 8)
    # Zero is a cut of its own where no equal width ends there.
    assert edges(2, -16, 48) == (-4, 0, 12, 16)


def test_half_an_odd_number_of_bins_is_rounded_up():
    assert edges(3, 0, 24) == (2, 4, 8, 16)
    assert edges(1, 0, 8) == (4,)


def test_declared_bins_edges_and_categories_stay():
    attributes = [
        Numeric("a", 0, 1, bins=7), Numeric("b", 0, 1, edges=[0.5]), Numeric("c", 0, 1, edges=[]),
        Categorical("d", [1, 2]), Numeric("e", 0, 1, inferred=True),
    ]  # fmt: skip
    schema = Schema(attributes, classes=[5, 9], target="t", rows=77)
    celled = with_cells(schema, 2)
    assert celled.attributes[:4] == schema.attributes[:4]
    own = celled.attributes[4]
    # From each knot to the next lie four cells, of which the first begins half a cell after the knot.
    knots = knot_values(schema.attributes[4], 2, FINE_HALVINGS)
    assert (knots[0], knots[-1]) == (0, 1)
    parts = [(2 * i + 1) / (2 * CODES_A_BIN) for i in range(CODES_A_BIN)]
    by_hand = [low + (high - low) * part for low, high in pairwise(knots) for part in parts]
    assert_allclose(own.edges, by_hand, rtol=1e-12)
    assert own.n_values == CODES_A_BIN * (len(knots) - 1) + 1
    assert own.inferred
    assert (celled.rows, celled.target, celled.classes) == (77, "t", (5, 9))


def test_cells_do_not_depend_on_how_many_rows_there_are():
    cells = [policy(n_rows, epsilon).cells for n_rows in (20, 4000, 10**7) for epsilon in (0.1, 1.0)]
    assert all(own == cells[0] for own in cells)
    assert policy(4000, 1.0, n_bins=3).cells == with_cells(TEN, 3) != cells[0]


def test_knots_by_hand():
    # Thirds of the range, and halvings of a quarter of it.
    assert knot_values(Numeric("x", 0, 24), 4) == [0, 1.5, 3, 8, 16, 24]
    assert knot_values(Numeric("x", -16, 16), 2) == [-16, -4, 0, 4, 16]
    assert knot_values(Numeric("x", 0, 8), 1) == [0, 4, 8]


RANGES = [(0, 1), (-1, 1), (-1e-300, 1e300), (1e16, 1e16 + 1024), (-(2.0**1022), 2.0**1022), (0, 1e-300), (-3, -1)]


@loop_over("n_bins", [1, 2, 7, 16, 64])
@pytest.mark.parametrize(("low", "high"), RANGES)
def test_a_value_in_any_range_falls_into_a_cell_between_knots(n_bins, low, high):
    own = policy(1000, 1.0, Schema([Numeric("x", low, high)], classes=[5, 9]), n_bins=n_bins)
    (attribute,) = own.cells.attributes
    found = np.array([low, *attribute.edges, high])
    assert (found[1:] > found[:-1]).all()
    for is_soft, grid in ((True, GRID), (False, 1)):
        knots = own.public_knots(n_bins, soft=is_soft)
        codes, found_grid = knots[0]
        assert found_grid == grid
        assert (np.diff(codes) > 0).all()
        assert 0 <= codes[0] <= codes[-1] < attribute.n_values
        assert Trees.of([[0]], own.cells, knots).cell_sizes.tolist() == [attribute.n_values + 1]
    ways = codings(attribute, n_bins, soft=True)
    assert len(ways) == 1 + len(_CODINGS)
    for way in ways:
        assert len(way) == attribute.n_codes
        assert (np.diff(way) >= 0).all()
        assert (way[-1] > way[:-1]).all()  # missing values have a cell of their own


def test_codings_by_hand():
    # Four cells from each of 0, 2 and 8 to the next, with middles 0.125, 0.5, 1, 1.5, 2.125 and on from 3.5 by 1.5.
    attribute = Numeric("x", 0, 8, edges=[0.25, 0.75, 1.25, 1.75, 2.75, 4.25, 5.75, 7.25], never_missing=True)
    own, *others = codings(attribute, 2, soft=True)
    # The range has two halves, and the first one is halved: cells end at 2 and at 4.
    assert own.tolist() == [0, 0, 0, 0, 1, 1, 2, 2, 2]
    assert len(others) == len(_CODINGS)
    # Missing values come last; categories, and numbers with cells of their own, are as they are.
    missing = codings(replace(attribute, never_missing=False), 2, soft=True)
    assert missing[0].tolist() == [*own.tolist(), 3]
    assert [way.tolist() for way in codings(Categorical("a", [1, 2]), 2, soft=False)] == [[0, 1, 2]]
    assert [way.tolist() for way in codings(attribute, 2, soft=False)] == [list(range(9))]


def test_public_knots_by_hand():
    own = policy(1000, 1.0, Schema([Numeric("x", 0, 8), Categorical("a", [1, 2])], classes=[5, 9]), n_bins=2)
    (attribute, _) = own.cells.attributes
    # A knot is the code whose cell has its value: 0, 2 and 8.
    (codes, grid), *others = own.public_knots(2, soft=True).values()
    assert (grid, others) == (GRID, [])
    borders = [0, *attribute.edges, 8]
    for code, value in zip(codes, [0, 2, 8], strict=True):
        assert borders[code] <= value <= borders[code + 1]
    # A leaf that is not soft has all cells whose middles lie between its borders: 2 and 4 part three leaves.
    codes, grid = own.public_knots(2, soft=False)[0]
    assert grid == 1
    middles = [(low + high) / 2 for low, high in pairwise(borders)]
    assert codes == tuple(min(i for i, at in enumerate(middles) if at >= value) for value in (0, 2, 4))


# Knots where rows are counted.


def histogram_of(attribute, values, scale=0.0):
    """Return the histogram of values, without noise; ``scale`` is what the noise is said to be."""
    codes = np.searchsorted(attribute.cuts, values, side="right")
    bins = (codes + CODES_A_BIN // 2) // CODES_A_BIN
    n_bins = (attribute.n_values - 1 + CODES_A_BIN // 2) // CODES_A_BIN + 1
    return Histogram(np.append(np.bincount(bins, minlength=n_bins), 0), len(values), scale)


def one_number(low=0, high=1):
    own = policy(10**6, 1.0, Schema([Numeric("x", low, high)], classes=["no", "yes"]))
    return own.cells.attributes[0]


@loop_over("n_knots", [2, 4, 9, 16])
def test_knots_lie_where_rows_are_counted_to_lie(n_knots):
    attribute = one_number()
    borders = np.array([0, *attribute.cuts, 1])
    rng = np.random.default_rng(n_knots)
    for low, high in ((0.1, 0.4), (0.6, 0.9)):
        values = rng.uniform(low, high, 10**5)
        codes = np.array(quantile_codes(attribute, histogram_of(attribute, values), n_knots))
        assert (np.diff(codes) > 0).all()
        assert len(codes) <= n_knots
        at = (borders[codes] + borders[codes + 1]) / 2
        inside = (low - 0.05 < at) & (at < high + 0.05)
        # Where rows lie there are most of the knots, and where none lie hardly any.
        assert inside.mean() >= 0.75 or n_knots == 2
        assert inside.any()


def test_noise_as_large_as_the_counts_leaves_knots_where_they_were_guessed():
    attribute = one_number()
    values = np.random.default_rng(0).uniform(0.6, 0.9, 10**4)
    sure, unsure, empty = (
        quantile_codes(attribute, histogram_of(attribute, own, scale), 9)
        for own, scale in ((values, 0.0), (values, 1e9), (np.zeros(0), 1e9))
    )
    assert unsure == empty != sure


def test_a_bin_that_has_nearly_all_rows_leaves_knots_for_the_others():
    attribute = one_number()
    values = np.append(np.full(99_000, 0.5), np.random.default_rng(0).uniform(0, 1, 1000))
    codes = quantile_codes(attribute, histogram_of(attribute, values), 12)
    at = np.array([0, *attribute.cuts, 1])[list(codes)]
    assert len(codes) >= 6
    assert (np.abs(at - 0.5) > 0.1).sum() >= 4


@pytest.mark.parametrize(("low", "high"), RANGES)
@loop_over("n_knots", [2, 5, 16])
def test_any_noisy_histogram_has_increasing_knots_that_are_codes(low, high, n_knots):
    attribute = one_number(low, high)
    rng = np.random.default_rng(n_knots)
    n_bins = len(histogram_of(attribute, np.array([low])).noisy)
    for noisy in (np.zeros(n_bins), -np.ones(n_bins), rng.integers(-99, 99, n_bins), 10**9 * np.eye(n_bins)[-2]):
        for scale in (0.0, 10.0):
            codes = quantile_codes(attribute, Histogram(noisy.astype(np.int64), 1000, scale), n_knots)
            assert 1 <= len(codes) <= n_knots
            assert (np.diff(codes) > 0).all()
            assert 0 <= codes[0] <= codes[-1] < attribute.n_values


def test_knots_are_counted_ones_where_rows_are_counted_and_public_ones_where_not():
    own = policy(10**5, 1.0)
    even, (attribute, *_) = np.array([0.5, 0.5]), own.cells.attributes
    counted = {a: histogram_of(attribute, np.random.default_rng(a).uniform(0.5, 1, 10**5)) for a in range(10)}
    assert own.knots(None, even) == own.public_knots(own.n_bins, soft=True)
    found, later = own.knots(counted, even), own.later_knots(counted)
    assert list(found) == list(later) == list(range(10))
    assert {grid for _, grid in [*found.values(), *later.values()]} == {GRID}
    assert found != own.knots(None, even)
    # The second stage has few knots.
    assert all(len(later[a][0]) < len(found[a][0]) for a in range(10))
    # Bins that the caller fixed are public, whatever is counted.
    fixed = policy(10**5, 1.0, n_bins=5)
    assert fixed.knots(counted, even) == fixed.public_knots(5, soft=True)
    assert fixed.later_knots(counted) == fixed.later_knots(None)


def test_rows_that_tell_more_have_more_knots_and_few_cells_are_not_soft():
    worths = (5000, 20_000, 10**6)
    policies = [policy(worth, 1.0) for worth in worths]
    attribute = policies[0].cells.attributes[0]
    counted = {a: histogram_of(attribute, np.random.default_rng(a).uniform(0, 1, 10**5)) for a in range(10)}
    n_knots = [len(own.knots(counted, np.array([0.5, 0.5]))[0][0]) for own in policies]
    assert n_knots == sorted(n_knots)
    assert n_knots[0] < n_knots[-1]
    rare = [len(own.knots(counted, np.array([0.99, 0.01]))[0][0]) for own in policies]
    assert all(few <= more for few, more in zip(rare, n_knots, strict=True))
    few = policy(100, 1.0)
    assert few.n_bins < policy_module._SOFT_FROM
    assert {grid for _, grid in few.knots(None, np.array([0.5, 0.5])).values()} == {1}


# Normal noise.


def both_plans(own):
    """Return what each plan pays purely and the laws of its fits, plainly: without a second stage, and with one."""
    m, shares, planned = own.max_rows, own.shares, own.normal_plan
    pure = [m * each for each in (shares.balance, shares.histograms, shares.release) if each]
    if own.chooses:
        pure += [m * shares.selection / own.n_attributes] * own.n_attributes
    groups = m * min(0.06 * own.epsilon, LATER_PART * shares.fit / 2)

    def law(normal):
        return NormalLoss(m * normal.mu, m * normal.curvature, own.n_classes)

    more = [groups / CHOICES_A_GROUP] * CHOICES_A_GROUP + [m * shares.release]
    return (pure, [law(planned.alone)]), ([*pure, *more], [law(planned.first), law(planned.later)])


@loop_over("max_rows", [1, 4])
@loop_over("n_rows", [600, 5000, 10**6])
@pytest.mark.parametrize("schema", [TEN, THREE_CLASSES])
def test_each_of_both_plans_costs_half_of_delta_and_a_little_more_precision_too_much(n_rows, max_rows, schema):
    own = policy(n_rows, 1.0 / max_rows, schema, delta=1e-6, max_rows=max_rows)
    for pure, fits in both_plans(own):
        assert joint_delta(1.0, pure, fits, n_numbers=2 * MOST_WEIGHTS) <= 1e-6 / 2
        dearer = [fit._replace(mu=fit.mu * 1.001) for fit in fits]
        assert joint_delta(1.0, pure, dearer, n_numbers=2 * MOST_WEIGHTS) > 1e-6 / 2


@pytest.mark.parametrize("schema", [TEN, THREE_CLASSES])
def test_what_the_second_stage_does_costs_no_more_than_was_planned_for_it(schema):
    # Choices of more groups are more and smaller ones; they and the second last digits are within the plan.
    for n_rows in (10**6, 10**8, 10**10):
        own = policy(n_rows, 1.0, schema, delta=1e-6)
        trees = own.trees(list(range(own.n_attributes)), np.random.default_rng(0))
        later = own.later(trees, axes_of(own, trees), np.full(own.n_classes, 1 / own.n_classes), own.normal_plan)
        (pure, _), (with_groups, fits) = both_plans(own)
        each = [later.groups / later.n_choices] * later.n_choices
        assert math.fsum(each) <= math.fsum(with_groups[len(pure) : -1]) * (1 + 1e-12)
        assert later.release <= with_groups[-1]
        assert joint_delta(1.0, [*pure, *each, later.release], fits, n_numbers=2 * MOST_WEIGHTS) <= 1e-6 / 2


def test_both_plans_are_made_whatever_the_noise_and_the_second_fit_has_two_fifths_of_the_precision():
    for n_rows in (400, 10**7):
        alone, first, later = policy(n_rows, 1.0, delta=1e-6).normal_plan
        assert 0 < later.mu < first.mu < alone.mu
        assert later.mu**2 / (first.mu**2 + later.mu**2) == pytest.approx(0.4)


def test_there_is_no_plan_without_a_delta_or_an_end_to_epsilon_or_with_too_few_rows():
    assert policy(10**5, 1.0).normal_plan is None
    assert policy(10**5, math.inf, delta=1e-6).normal_plan is None
    few, one = policy(10, 1.0, delta=1e-6), policy(59, 1.0, delta=1e-6)
    assert (few.only_balance, one.has_one_tree) == (True, True)
    assert few.normal_plan is one.normal_plan is None
    # The discrete noise of so many numbers alone costs more.
    assert policy(10**5, 1.0, delta=1e-15).normal_plan is None
    assert policy(10**5, 1.0, delta=1e-6).normal_plan is not None


def test_a_delta_never_keeps_fewer_attributes():
    wide = Schema([Numeric(f"x{i}", 0, 1) for i in range(60)], classes=["no", "yes"])
    for worth in (20, 300, 3000, 10_000, 10**6):
        assert policy(worth, 1.0, wide, delta=1e-6).n_attributes >= policy(worth, 1.0, wide).n_attributes
    assert policy(10_000, 1.0, wide, delta=1e-6).n_attributes > policy(10_000, 1.0, wide).n_attributes


# The second stage.

QUIET = {"n_rows": 10**7, "epsilon": 2.0}


def later_of(n_rows, epsilon, schema=TEN, **fixed):
    own = policy(n_rows, epsilon, schema, **fixed)
    trees = own.trees(list(range(own.n_attributes)), np.random.default_rng(1))
    return own, trees, own.later(trees, axes_of(own, trees), np.full(own.n_classes, 1 / own.n_classes))


def axes_of(own, trees):
    """Return how the second stage asks for each attribute that the first one has."""
    return {a: coarse_axes([a], own.cells, own.later_knots(None))[0] for a in sorted(trees.kept)}


def test_a_second_stage_needs_little_noise_and_two_attributes():
    assert later_of(**QUIET)[2] is not None
    assert later_of(2000, 1.0)[2] is None
    assert later_of(**QUIET, n_attributes=1)[2] is None
    alone = Schema(TEN.attributes[:1], classes=["no", "yes"])
    assert later_of(**QUIET, schema=alone)[2] is None


def test_less_noise_never_means_fewer_trees():
    n_trees = [getattr(later_of(n, 2.0)[2], "n_trees", 0) for n in (10**3, 10**4, 10**5, 10**6, 10**8, 10**10)]
    assert n_trees == sorted(n_trees)
    assert n_trees[-1] == 3


@loop_over("epsilon", [1e-3, 1 / 3, 1.0, 7.0, 123.456])
@pytest.mark.parametrize("schema", [TEN, THREE_CLASSES])
def test_the_stages_share_the_fit_and_the_second_has_its_own_last_digits(epsilon, schema):
    own, _, later = later_of(10**9, epsilon, schema)
    assert later is not None
    parts = [later.fit, later.groups, later.release, later.later_fit]
    assert min(parts) > 0
    assert sum(map(Fraction, parts)) <= Fraction(own.shares.fit)
    assert sum(map(Fraction, parts)) >= Fraction(own.shares.fit) * (1 - Fraction(1, 2**50))
    assert later.n_choices == 3 * later.n_trees


@loop_over("epsilon", [1e-4, 1.5e-4, 2e-4, 3e-4, 1e-3])
def test_no_share_of_the_second_stage_is_too_small_to_draw_noise_for(epsilon):
    _, _, later = later_of(10**14, epsilon)
    if later is not None:
        assert min(later.groups / later.n_choices, later.release) > 2 * MIN_EPSILON
    assert (later is None) == (epsilon < 5e-4)


def test_without_an_end_to_epsilon_the_second_stage_has_none_either():
    _, _, later = later_of(1000, math.inf)
    assert {later.fit, later.groups, later.release, later.later_fit} == {math.inf}


@pytest.mark.parametrize("epsilon", [2.0, math.inf])
def test_a_second_stage_needs_two_attributes_whose_leaves_have_room(epsilon):
    wide = Schema([Categorical(f"zip {j}", range(250)) for j in range(3)], classes=[5, 9])
    assert later_of(10**7, epsilon, wide)[2] is None
    narrow = Schema([*wide.attributes, Categorical("night", [False, True])], classes=[5, 9])
    assert later_of(10**7, epsilon, narrow)[2] is not None


@loop_over("n_classes", [2, 3, 30, 200, 800])
@loop_over("epsilon", [1.0, 8.0])
def test_a_second_stage_never_has_more_weights_than_were_planned_for(n_classes, epsilon):
    names = [*(Categorical(f"a{j}", range(20)) for j in range(2)), *(Categorical(f"b{j}", [5, 9]) for j in range(2))]
    own, trees, later = later_of(10**11, epsilon, Schema(names, classes=range(n_classes)), group_size=1)
    columns = 1 if n_classes == 2 else n_classes
    assert (later is None) == (n_classes == 800)  # trees of thirty leaves would have too many weights
    if later is not None:
        assert later.n_trees == 3
        assert later.n_trees * later.most_cells_of_pair * columns <= MOST_WEIGHTS
        assert (later.most_cells == policy_module._MOST_GROUP_CELLS) == (n_classes < 30)
        assert ((0, 1) in own.pairs(axes_of(own, trees), later)) == (3 * 21 * 21 * columns <= MOST_WEIGHTS)


def test_pairs_are_those_whose_leaves_have_room():
    wide = Schema([Categorical("zip", range(250)), *TEN.attributes[:2], Categorical("job", range(9))], classes=[5, 9])
    own, _, later = later_of(**QUIET, schema=wide)
    knots = dict.fromkeys((1, 2), ((0, 50, 100, 150), GRID))
    axes = {a: coarse_axes([a], own.cells, knots)[0] for a in range(4)}
    # Numbers have four leaves, the job ten; the place alone has 251.
    assert own.pairs(axes, replace(later, most_cells=41.0)) == [(1, 2), (1, 3), (2, 3)]
    assert (0, 3) not in own.pairs(axes, replace(later, most_cells=1500.0))
    assert own.pairs(axes, replace(later, most_cells=2510.0)) == [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]
    # However little is paid for, a pair may have thirty leaves.
    assert own.pairs(axes, replace(later, most_cells=1.0)) == [(1, 2)]


@loop_over("n_bins", [1, 2, 16, 64])
@pytest.mark.parametrize(("low", "high"), RANGES)
def test_any_range_has_increasing_edges_within_it(n_bins, low, high):
    found = np.array(edges(n_bins, low, high))
    assert (np.diff(found) > 0).all()
    assert ((low < found) & (found < high)).all()
    assert len(found) <= n_bins - 1 + 2 * -(-n_bins // 2) + 1


def test_the_first_cell_is_as_narrow_as_the_halvings_make_it():
    assert_allclose(edges(16, 0, 1)[0], 2.0**-8 / 16)


@pytest.mark.parametrize(("n_bins", "low", "high"), [(4, -0.3, 0.9), (16, -0.1, 0.7), (16, -1.1, 0.1), (10, -7, 3)])
def test_no_cell_is_there_only_because_floats_round(n_bins, low, high):
    found = np.array([low, *edges(n_bins, low, high), high])
    assert np.diff(found).min() > 1e-9 * (high - low)
