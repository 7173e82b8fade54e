"""One fit, step by step: what is released, in which order, at which price."""

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from privet import Categorical, Numeric, Schema
from privet.central.receipts import composed
from privet.central.weights import fitting as fitting_module
from privet.central.weights.fitting import Fitting, noise_scale
from privet.central.weights.leaf_rows import LeafRows
from privet.central.weights.leaf_weights import LeafWeights
from privet.central.weights.link import scores_of
from privet.central.weights.policy import Overrides, Policy
from privet.central.weights.released_weights import (
    BALANCE,
    CELLS,
    CHOICES,
    COUNTS,
    DIGITS,
    GROUPS,
    LATER_DIGITS,
    LATER_WEIGHTS,
    WEIGHTS,
    ReleasedWeights,
)
from privet.central.weights.selection import SENSITIVITY
from privet.central.weights.trees import Trees
from privet.counting.rows import MemoryRows
from privet.errors import ParameterError
from privet.privacy.accounting import pure_epsilon, stated_delta, stated_epsilon
from privet.privacy.events import DiscreteLaplace, NoNoise, NormalObjective, Seeded
from privet.privacy.mechanisms.discrete_laplace import discrete_laplace
from privet.privacy.mechanisms.rational import equal_share
from privet.rng import SeededNoise, SystemNoise
from tests.central.weights.problems import schema_of
from tests.loops import loop_over


def rows_of(n_rows=400, n_classes=2, seed=1):
    """Return codes of which age tells the class."""
    rng = np.random.default_rng(seed)
    codes = np.stack([rng.integers(0, n + 1, n_rows) for n in (4, 3, 2, 2)], axis=1).astype(np.uint8)
    return MemoryRows(codes, (codes[:, 0] % n_classes).astype(np.uint16))


def fitting(epsilon=1.0, *, n_rows=400, declared=None, n_classes=2, max_rows=1, noise=None, delta=0.0, **fixed):
    declared = n_rows if declared is None else declared
    policy = Policy(schema_of(n_classes), epsilon / max_rows, declared, Overrides(**fixed), delta, max_rows)
    return Fitting(
        policy, rows_of(n_rows, n_classes), max_rows, epsilon, np.random.default_rng(1), noise or SystemNoise()
    )


def names(own):
    return [receipt.what for receipt in own.receipts]


def test_all_attributes_need_no_choice():
    own = fitting(2.0)
    released = own.release()
    assert names(own) == [BALANCE, WEIGHTS, DIGITS]
    assert sorted(a for trees in released.trees.attributes for a in trees) == [0, 1, 2, 3]
    assert released.weights.shape == (released.trees.n_leaves, 1)
    assert released.balance.shape == (2,)


def test_with_enough_rows_the_cells_of_kept_attributes_are_counted_before_the_fit():
    # 400 rows at epsilon 4 are 400 for each of four attributes, at epsilon 2 they are 200.
    own = fitting(4.0)
    released = own.release()
    assert names(own)[:4] == [BALANCE, CELLS, WEIGHTS, DIGITS]
    assert set(names(own)[4:]) == ({GROUPS, LATER_WEIGHTS, LATER_DIGITS} if released.trees.n_later else set())
    assert released.cells.shape == (5 + 4 + 3 + 3,)
    assert own.receipts[1].epsilon == pytest.approx(own.policy.shares.histograms)
    assert own.receipts[1].sensitivity == 4
    chosen = fitting(4.0, n_attributes=2)
    assert len(chosen.release().trees.kept) == 2
    assert names(chosen)[:6] == [BALANCE, CHOICES, CHOICES, CELLS, WEIGHTS, DIGITS]
    assert fitting(2.0).release().cells is None


def test_a_person_of_three_rows_moves_a_cell_of_each_attribute_three_times():
    one, three = fitting(3.0, n_rows=1200), fitting(9.0, n_rows=1200, max_rows=3)
    one.release(), three.release()
    assert (one.receipts[1].sensitivity, three.receipts[1].sensitivity) == (4, 12)
    assert three.receipts[1].epsilon == pytest.approx(3 * one.receipts[1].epsilon)
    assert three.receipts[1].scale == pytest.approx(one.receipts[1].scale, rel=1e-6)


@pytest.mark.parametrize("fixed", [{}, {"n_attributes": 3}, {"group_size": 2}])
def test_without_noise_cells_hold_the_rows_that_a_plain_count_finds(fixed):
    own = fitting(math.inf, **fixed)
    released, codes = own.release(), rows_of().codes
    found = released.histograms(0.0, 7)
    assert sorted(found) == sorted(released.trees.kept)
    for a, histogram in found.items():
        counts = [int((codes[:, a] == code).sum()) for code in range((4, 3, 2, 2)[a] + 1)]
        assert histogram.noisy.tolist() == counts
        assert_allclose(histogram.shares, np.array(counts) / 400)
    assert NoNoise(CELLS) in own.receipts


def test_each_choice_has_a_receipt():
    own = fitting(2.0, n_attributes=3, n_classes=3)
    released = own.release()
    assert names(own) == [BALANCE, CHOICES, CHOICES, CHOICES, WEIGHTS, DIGITS]
    assert sum(map(len, released.trees.attributes)) == 3
    assert released.weights.shape == (released.trees.n_leaves, 3)
    assert released.balance.shape == (3,)


def test_too_few_rows_release_the_balance_alone_by_what_was_declared():
    for n_rows, declared in ((400, 15), (3, 15)):
        own = fitting(1.0, n_rows=n_rows, declared=declared)
        released = own.release()
        assert names(own) == [BALANCE]
        assert own.receipts[0].epsilon == 1.0
        assert released.trees.n_trees == 0
    assert names(fitting(1.0, n_rows=3, declared=16)) == []
    few = fitting(1.0, n_rows=3, declared=16, n_attributes=4)
    few.release()
    assert WEIGHTS in names(few)


def test_few_rows_release_a_single_tree_by_what_was_declared():
    for n_rows, declared in ((4000, 59), (3, 59), (3, 16)):
        own = fitting(1.0, n_rows=n_rows, declared=declared)
        released = own.release()
        assert names(own) == [CHOICES, COUNTS]
        assert [receipt.epsilon for receipt in own.receipts] == [0.5, 0.5]
        assert (released.trees.n_trees, len(released.trees.kept), own.left) == (1, 1, 0.0)
    fitted = fitting(1.0, n_rows=3, declared=75)
    fitted.release()
    assert names(fitted)[0] == BALANCE
    assert WEIGHTS in names(fitted)


@loop_over("max_rows", [1, 3])
@pytest.mark.parametrize("fixed", [{}, {"n_attributes": 2}, {"n_attributes": 3, "selection_share": 0.5}])
@loop_over("epsilon", [0.2, 1 / 3, 2.0, 30.0])
def test_what_is_paid_adds_up_to_epsilon_and_never_to_more(epsilon, fixed, max_rows):
    own = fitting(epsilon, max_rows=max_rows, **fixed)
    own.release()
    paid = sum(Fraction(pure_epsilon(receipt)) for receipt in own.receipts)
    assert Fraction(epsilon) * (1 - Fraction(1, 10**9)) <= paid <= Fraction(epsilon)
    assert own.left == 0


# The second stage.


def test_a_second_stage_comes_last_and_has_receipts_of_its_own():
    own = fitting(30.0)
    released = own.release()
    n_choices = names(own).count(GROUPS)
    assert names(own) == [BALANCE, CELLS, WEIGHTS, DIGITS, *[GROUPS] * n_choices, LATER_WEIGHTS, LATER_DIGITS]
    assert released.trees.n_later >= 1
    assert len(released.weights) == released.trees.n_leaves == released.trees.sizes.sum()
    assert len(released.variances) == len(released.noise_std) == released.trees.n_trees
    first = [receipt.epsilon for receipt in own.receipts if receipt.what in (WEIGHTS, DIGITS)]
    later = [receipt.epsilon for receipt in own.receipts if receipt.what in (GROUPS, LATER_WEIGHTS, LATER_DIGITS)]
    assert 0 < sum(later) < sum(first)


def test_a_person_of_several_rows_has_noise_for_all_of_them_in_both_stages():
    own = fitting(120.0, max_rows=4)
    own.release()
    found = {receipt.what: receipt for receipt in own.receipts}
    assert found[GROUPS].sensitivity == 4 * SENSITIVITY
    assert found[WEIGHTS].rows == found[LATER_WEIGHTS].rows == 4
    alone = fitting(30.0)
    alone.release()
    one = {receipt.what: receipt for receipt in alone.receipts}
    for what in (WEIGHTS, GROUPS, LATER_WEIGHTS):
        assert found[what].epsilon == pytest.approx(4 * one[what].epsilon)


@pytest.mark.parametrize("n_used", [1, 2])
def test_choices_that_are_not_needed_leave_more_for_the_second_fit(monkeypatch, n_used):
    def few(unexplained, pairs, later, *, epsilon, rows, what, noise):
        groups, receipts = choose_groups(unexplained, pairs, later, epsilon=epsilon, rows=rows, what=what, noise=noise)
        return groups[:1], receipts[:n_used]

    choose_groups = fitting_module.choose_groups
    usual = fitting(30.0)
    usual.release()
    monkeypatch.setattr(fitting_module, "choose_groups", few)
    own = fitting(30.0)
    own.release()

    def paid(fit, what):
        return sum(receipt.epsilon for receipt in fit.receipts if receipt.what == what)

    spared = paid(usual, GROUPS) - paid(own, GROUPS)
    assert spared > 0
    assert paid(own, LATER_WEIGHTS) - paid(usual, LATER_WEIGHTS) == pytest.approx(spared)
    assert sum(Fraction(pure_epsilon(receipt)) for receipt in own.receipts) <= 30


def with_delta(n_attributes=40, n_rows=20_000, declared=None, max_rows=1, **options):
    """Return a fit of many attributes with a delta, of which the first tells the class."""
    schema = Schema([Categorical(f"a{i}", range(3)) for i in range(n_attributes)], classes=["no", "yes"])
    rng = np.random.default_rng(2)
    codes = rng.integers(0, 4, (n_rows, n_attributes)).astype(np.uint8)
    rows = MemoryRows(codes, (codes[:, 0] % 2).astype(np.uint16))
    policy = Policy(schema, 1.0 / max_rows, declared or n_rows, Overrides(group_size=1, **options), 1e-6, max_rows)
    return Fitting(policy, rows, max_rows, 1.0, np.random.default_rng(1), SystemNoise())


@pytest.mark.parametrize(("n_rows", "max_rows", "n_fits"), [(8000, 1, 1), (40_000, 3, 1), (10**5, 1, 2)])
def test_all_releases_with_normal_noise_cost_delta_together(n_rows, max_rows, n_fits):
    own = with_delta(n_rows=n_rows, max_rows=max_rows)
    released = own.release()
    assert own.is_planned
    assert 1 + bool(released.trees.n_later) == n_fits
    fits = [receipt for receipt in own.receipts if isinstance(receipt, NormalObjective)]
    assert [fit.what for fit in fits] == [WEIGHTS, LATER_WEIGHTS][:n_fits]
    planned = [own.normal.alone] if n_fits == 1 else [own.normal.first, own.normal.later]
    assert [fit.curvature for fit in fits] == [each.curvature for each in planned]
    assert {fit.rows for fit in fits} == {max_rows}
    whole = composed(own.receipts, 1.0, 1e-6)
    assert (stated_epsilon(whole), stated_delta(whole)) == (1.0, 1e-6)
    # Either plan has half of delta, and hardly less noise in the fits would cost more.
    assert stated_delta(composed(own.receipts, 1.0, 1e-6 / 2)) == 1e-6 / 2
    less = [replace(each, sigma=each.sigma * Fraction(99, 100)) if each in fits else each for each in own.receipts]
    assert stated_delta(composed(less, 1.0, 1e-6 / 2)) > 1e-6 / 2


def test_what_was_planned_is_promised_where_k_norm_noise_is_less():
    # What earlier releases told decides which noise is less, and must not decide what is promised.
    own = with_delta(n_attributes=2)
    own.release()
    assert (own.is_planned, own.normal) == (True, None)
    assert not any(isinstance(receipt, NormalObjective) for receipt in own.receipts)
    assert sum(Fraction(pure_epsilon(receipt)) for receipt in own.receipts) <= 1
    assert stated_delta(composed(own.receipts, 1.0, 1e-6)) == 1e-6


def test_normal_noise_that_was_planned_for_other_rows_is_not_drawn():
    own = with_delta(declared=10**6)
    own.release()
    assert (own.is_planned, own.normal) == (True, None)
    assert not any(isinstance(receipt, NormalObjective) for receipt in own.receipts)
    assert sum(Fraction(pure_epsilon(receipt)) for receipt in own.receipts) <= 1


def test_the_second_stage_knows_the_first_by_its_released_weights_alone(monkeypatch):
    seen = []
    release = fitting_module.release_minimiser

    def noted(objective, grid, **options):
        weights, receipt = release(objective, grid, **options)
        seen.append((objective, weights * 2.0**grid.exponent))
        return weights, receipt

    monkeypatch.setattr(fitting_module, "release_minimiser", noted)
    fitting(30.0, n_classes=3).release()
    (first, weights), (second, _) = seen
    model = LeafWeights(first.trees, first.offsets, weights, 1.0)
    codes = rows_of(n_classes=3).codes
    if first.rows.weights is None:
        assert_array_equal(second.rows.scores, model.scores(codes).astype(np.float32))
    assert not second.offsets.any()
    assert second.rows.scores.dtype == np.float32


@pytest.mark.parametrize("n_rows", [0, 1, 2])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_table_of_hardly_any_rows_is_fitted_as_others_are(n_rows, n_classes, monkeypatch):
    # Whatever noise says of the number of rows: both stages run, and fail on no table.
    def told(exact, *, what, **options):
        noisy, receipt = discrete_laplace(exact, what=what, **options)
        return (np.full(n_classes, 10**6) if what == BALANCE else noisy), receipt

    monkeypatch.setattr(fitting_module, "discrete_laplace", told)
    own = fitting(2.0, n_rows=n_rows, declared=n_classes * 10**6, n_classes=n_classes)
    assert own.release().trees.n_later >= 1


@pytest.mark.parametrize("declared", [50, 100, 200])
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("fixed", [{}, {"n_attributes": 1}])
def test_the_balance_is_the_count_of_each_class_whatever_was_declared(declared, n_classes, fixed):
    own = fitting(math.inf, n_rows=100, declared=declared, n_classes=n_classes, **fixed)
    counts = np.bincount(rows_of(100, n_classes).labels)
    released = own.release()
    assert released.balance.tolist() == counts.tolist()
    assert_allclose(released.class_shares(0.0), counts / 100)
    assert (released.n_rows, released.about_rows(0.0)) == (declared, 100)


@pytest.mark.parametrize("declared", [320, 400_000])
def test_a_wrong_number_of_rows_leads_to_the_attributes_and_the_prior_of_the_right_one(declared):
    # 2,000 rows at epsilon 0.25 are worth some of 9 attributes; 320 would be worth one, and 400,000 all of them.
    schema = Schema([Categorical(f"a{i}", range(3)) for i in range(9)], classes=["no", "yes"])
    rng = np.random.default_rng(2)
    rows = MemoryRows(rng.integers(0, 4, (2000, 9)).astype(np.uint8), rng.integers(0, 2, 2000).astype(np.uint16))

    def fit(declared):
        policy = Policy(schema, 0.25, declared)
        own = Fitting(policy, rows, 1, 0.25, np.random.default_rng(1), SystemNoise())
        return policy, own.release(), own

    (_, right, _), (policy, wrong, own) = fit(2000), fit(declared)
    assert policy.n_attributes == {320: 1, 400_000: 9}[declared]
    n_kept = Policy(schema, 0.25, 2000).n_attributes
    assert 1 < n_kept < 9
    assert len(wrong.trees.kept) == len(right.trees.kept) == n_kept
    assert names(own) == [BALANCE, *[CHOICES] * n_kept, WEIGHTS, DIGITS]
    assert_allclose(wrong.variances, right.variances, rtol=0.3)
    paid = sum(Fraction(pure_epsilon(receipt)) for receipt in own.receipts)
    assert Fraction(0.25) * (1 - Fraction(1, 10**9)) <= paid <= Fraction(0.25)


@pytest.mark.parametrize("merged", [True, False])
def test_compressed_rows_unpack_to_rows_of_the_same_leaves(merged, monkeypatch):
    monkeypatch.setattr("privet.central.weights.coded_rows._MOST_MERGED", 2**26 if merged else 0)
    schema = Schema([Categorical("a", range(700)), Categorical("b", [5, 9]), Categorical("c", [5, 9])], classes=[5, 9])
    trees, alone = Trees.of([[1, 2], [0]], schema), Trees.of([[0], [2], [1]], schema)
    rng = np.random.default_rng(3)
    codes = np.stack([rng.choice([0, 2, 3, 699, 700], 500), rng.integers(0, 3, 500), rng.integers(0, 3, 500)], axis=1)
    rows = MemoryRows(codes.astype(np.uint16), rng.integers(0, 2, 500).astype(np.uint16))
    packed = LeafRows.of(rows, trees, n_labels=2)
    unpacked = packed.unpacked(trees)
    assert unpacked.exact_size() == 500

    def lines(rows):
        found = LeafRows.of(rows, alone, n_labels=2)
        return sorted(map(tuple, np.column_stack([found.cells, found.labels]).tolist()))

    assert lines(unpacked) == lines(rows)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_without_noise_the_attribute_that_tells_is_chosen(n_classes):
    own = fitting(math.inf, n_attributes=1, n_classes=n_classes)
    assert own.release().trees.attributes == ((0,),)
    assert set(map(type, own.receipts)) == {NoNoise}


def test_a_person_of_several_rows_has_noise_for_all_of_them():
    own = fitting(2.0, max_rows=4, n_attributes=2)
    own.release()
    balance, *choices, fit, digits = own.receipts
    assert balance.sensitivity == 4
    assert {choice.sensitivity for choice in choices} == {4 * SENSITIVITY}
    assert fit.rows == 4
    assert isinstance(digits, DiscreteLaplace)  # what the solver leaves open does not depend on how many rows differ


def test_seeded_noise_repeats():
    one, two = (fitting(1.0, noise=SeededNoise(3)).release() for _ in range(2))
    assert_array_equal(one.weights, two.weights)
    own = fitting(1.0, noise=SeededNoise(3))
    own.release()
    assert all(isinstance(receipt, Seeded) for receipt in own.receipts)


def test_what_is_paid_depends_on_the_rows_by_the_released_balance_alone(monkeypatch):
    def told(exact, *, what, **options):
        noisy, receipt = discrete_laplace(exact, what=what, **options)
        return (np.array([150, 260]) if what == BALANCE else noisy), receipt

    monkeypatch.setattr("privet.central.weights.fitting.discrete_laplace", told)

    def terms(n_rows, declared):
        own = fitting(1.0, n_rows=n_rows, declared=declared)
        own.release()
        return [repr(receipt) for receipt in own.receipts]

    assert terms(0, 400) == terms(1, 400) == terms(400, 400)
    assert terms(0, 40_000) == terms(400, 40_000)


def test_the_scale_of_the_balance_is_found_among_receipts():
    own = fitting(1.0, noise=SeededNoise(3))
    own.release()
    assert noise_scale(own.receipts, BALANCE) == pytest.approx(1 / 0.05)
    assert noise_scale([NoNoise(BALANCE)], BALANCE) == 0


def released(balance, n_rows=100):
    return ReleasedWeights.balance_only(Trees.of([], schema_of()), n_rows, np.array(balance))


@pytest.mark.parametrize(
    ("balance", "scale", "shares"),
    [
        # One number is the difference of two classes, in files of an earlier privet.
        ([0], 0.0, [0.5, 0.5]),
        ([50], 0.0, [0.25, 0.75]),
        ([-50], 4.0, [0.75, 0.25]),
        # Beyond the public number of rows: the other class has what noise of this scale leaves uncertain.
        ([300], 40.0, [20 / 220, 200 / 220]),
        ([100], 0.0, [1 / 101, 100 / 101]),
        ([10, 30, 60], 0.0, [0.1, 0.3, 0.6]),
        ([-5, 30, 60], 20.0, [0.1, 0.3, 0.6]),
        ([30, 10], 0.0, [0.75, 0.25]),
        ([-7, 90], 20.0, [0.1, 0.9]),
    ],
)
def test_class_shares_by_hand(balance, scale, shares):
    assert_allclose(released(balance).class_shares(scale), shares)
    assert np.isfinite(scores_of(released(balance).class_shares(scale), 1.0)).all()


def test_the_declared_number_of_rows_holds_while_noise_explains_the_difference():
    # Noise of scale 20 in two counts: 2 x (ln 20 / sqrt 2 x 40 + 1), about 171.
    told = released([450, 550], n_rows=1000)
    assert told.about_rows(20.0) == 1000
    assert released([450, 550], n_rows=1165).about_rows(20.0) == 1165
    assert released([450, 550], n_rows=1180).about_rows(20.0) == 1000
    assert released([450, 550], n_rows=820).about_rows(20.0) == 1000
    assert released([-50, -60], n_rows=820).about_rows(20.0) == 1
    assert released([-50], n_rows=820).about_rows(20.0) == 820


# Last digits of shares, and rows that were declared wrong.


def of_people(n_rows=5000):
    """Return a fit of people of three rows with normal noise, whose shares do not quite add up in floats."""
    schema = Schema([Numeric(f"x{j}", 0, 1) for j in range(17)], classes=[5, 7, 9])
    policy = Policy(schema, equal_share(3.0, 3), n_rows, Overrides(), 1e-6, 3)
    rng = np.random.default_rng(0)
    codes = np.stack([rng.integers(0, own.n_codes, n_rows) for own in policy.cells.attributes], axis=1)
    rows = MemoryRows(codes.astype(np.uint16), rng.integers(0, 3, n_rows).astype(np.uint16))
    return Fitting(policy, rows, 3, 3.0, np.random.default_rng(1), SystemNoise())


def test_shares_that_were_rounded_never_overdraw_what_is_left(monkeypatch):
    own = of_people()
    own.release()
    assert isinstance(next(each for each in own.receipts if each.what == WEIGHTS), NormalObjective)
    whole = composed(own.receipts, 3.0, 1e-6)
    assert (stated_epsilon(whole), stated_delta(whole)) == (3.0, 1e-6)
    assert own.left >= 0
    # Planted: the last digits take their share, whatever is left.
    monkeypatch.setattr(fitting_module, "min", lambda share, _: share, raising=False)
    with pytest.raises(ParameterError, match="a budget cannot be overdrawn"):
        of_people().release()


@pytest.mark.parametrize("declared", [200, 2000, 20_000])
@pytest.mark.parametrize("n_attributes", [None, 2])
def test_open_numbers_are_fitted_where_rows_were_declared_ten_times_too_many_or_too_few(declared, n_attributes):
    schema = Schema(
        [Numeric("age", 0, 90), Numeric("debt", -5, 9, never_missing=True), Numeric("pay", 0, 10, bins=4),
         Categorical("job", [1, 2])], classes=["no", "yes"],
    )  # fmt: skip
    policy, rng = Policy(schema, 1.0, declared, Overrides(n_attributes=n_attributes)), np.random.default_rng(1)
    codes = np.stack([rng.integers(0, own.n_codes, 2000) for own in policy.cells.attributes], axis=1)
    codes[:, 1] = np.minimum(codes[:, 1], policy.cells.attributes[1].n_values - 1)
    rows = MemoryRows(codes.astype(np.uint16), (codes[:, 0] % 2).astype(np.uint16))
    own = Fitting(policy, rows, 1, 1.0, np.random.default_rng(1), SystemNoise())
    released = own.release()
    assert own.policy.n_rows == pytest.approx(2000, rel=0.2)
    assert (own.policy is policy) == (declared == 2000)
    # The codes were made for these cells.
    assert own.policy.cells == policy.cells
    assert own.policy.n_attributes == Policy(schema, 1.0, 2000, Overrides(n_attributes=n_attributes)).n_attributes
    assert names(own)[0] == BALANCE
    assert WEIGHTS in names(own)
    assert released.trees.n_trees >= 1
    assert sum(Fraction(pure_epsilon(receipt)) for receipt in own.receipts) <= 1


@pytest.mark.parametrize("n_rows", [0, 6, 40])
def test_rows_that_turn_out_to_be_few_are_fitted_once_their_balance_is_paid(n_rows, monkeypatch):
    def told(exact, *, what, **options):
        noisy, receipt = discrete_laplace(exact, what=what, **options)
        return (np.full(2, n_rows // 2) if what == BALANCE else noisy), receipt

    monkeypatch.setattr(fitting_module, "discrete_laplace", told)
    own = fitting(1.0, n_rows=n_rows, declared=4000)
    released = own.release()
    assert own.policy.n_rows == max(1, n_rows)
    assert replace(own.policy, fixed=Overrides()).has_one_tree
    assert not own.policy.has_one_tree
    assert (names(own)[0], names(own)[-2:], COUNTS in names(own)) == (BALANCE, [WEIGHTS, DIGITS], False)
    assert released.trees.n_trees >= 1
    assert sum(Fraction(pure_epsilon(receipt)) for receipt in own.receipts) <= 1
