"""A regressor from the class balance to the second stage, against neighbours, as test_whole_fit.py has the classifier.

The row that is added has any share of its range, and so have those beside it.
"""

import numpy as np
import pytest

from privet import Numeric, Schema
from privet.central.weights import fitting, interactions
from privet.central.weights.policy import Overrides, Policy
from privet.central.weights.released_weights import BALANCE, CHOICES, COUNTS, DIGITS, GROUPS, LATER_DIGITS
from privet.schema.encoding import TARGET_STEPS
from tests.privacy.replay import FAR, Random, Replay, Worst, all_paid, all_told
from tests.privacy.test_whole_fit import ATTRIBUTES, LAST, MISSING, N_BINS, ROW, TABLES, check, told_of

SHARES = [0.0, 0.3, 0.5, 0.99, 1.0]
TARGET = Numeric("price", -5, 5)


def steps_of(share):
    return round(share * TARGET_STEPS)


def shared(table, seed=3):
    """Return rows of a table with random shares in the place of their classes."""
    rng = np.random.default_rng(seed)
    return [(codes, steps_of(rng.random())) for codes, _ in TABLES[table]]


def played(table, adversary, share, *, epsilon=2.0, max_rows=1, fault=None, **fixed):
    schema = Schema(ATTRIBUTES, target=TARGET, rows=FAR)
    policy = Policy(schema, epsilon / max_rows, FAR, Overrides(n_bins=N_BINS, **fixed))
    with pytest.MonkeyPatch.context() as patched:
        replay = Replay(policy, max_rows).patch(patched)
        if fault is not None:
            fault(patched)
        more = [(ROW, steps_of(share))] * max_rows
        return *replay.played(shared(table), more, adversary), epsilon


# Most take ten seconds or more; `make slow` has them.
REPLAYED = [
    pytest.param(table, share, sign, marks=[pytest.mark.slow] * ((table, share, sign) != ("empty", 0.3, 1)))
    for table in ("empty", "near")
    for share in SHARES
    for sign in (1, -1)
]


@pytest.mark.parametrize(("table", "share", "sign"), REPLAYED)
def test_no_release_tells_more_than_its_price_nor_do_all_together(table, share, sign):
    for fixed in ({}, {"n_attributes": 3}):
        steps, receipts, epsilon = played(table, Worst(sign), share, **fixed)
        check(steps, receipts, epsilon)
        names = [step.what for step in steps]
        assert names[0] == BALANCE
        assert names[-1] == LATER_DIGITS
        assert names.count(GROUPS) >= 2


@pytest.mark.slow
@pytest.mark.parametrize("share", [0.0, 1.0])
def test_a_row_at_a_bound_is_told_by_nearly_all_that_is_paid(share):
    steps, receipts, epsilon = played("empty", Worst(), share, epsilon=1.0)
    check(steps, receipts, epsilon)
    assert all_told(steps) > 0.8 * epsilon


@pytest.mark.slow
def test_a_person_of_two_rows_is_told_by_no_more_than_the_price_of_both():
    for share in (0.25, 1.0):
        check(*played("empty", Worst(), share, epsilon=4.0, max_rows=2, n_attributes=3))


@pytest.mark.slow
def test_random_outputs_tell_no_more_than_their_prices():
    largest = {}
    for seed in range(3):
        for fixed in ({}, {"n_attributes": 3}):
            steps, receipts, epsilon = played("near", Random(seed), SHARES[seed + 1], **fixed)
            check(steps, receipts, epsilon)
            for step in steps:
                largest[step.what] = max(largest.get(step.what, 0.0), abs(step.told) / step.price)
    # A search that sees nothing would prove nothing.
    assert min(largest[what] for what in (CHOICES, DIGITS, GROUPS, LATER_DIGITS)) > 0.1


@pytest.mark.parametrize("share", [0.0, 0.3, 1.0])
@pytest.mark.parametrize(("epsilon", "max_rows"), [(1.0, 1), (3.0, 3)])
def test_a_single_tree_tells_no_more_than_its_choice_and_its_counts_cost(share, epsilon, max_rows):
    schema = Schema(ATTRIBUTES, target=TARGET, rows=40)
    policy = Policy(schema, epsilon / max_rows, round(40 * max_rows / epsilon), max_rows=max_rows)
    assert policy.has_one_tree
    last = policy.cells.attributes[0].n_values - 1

    def stretched(codes):
        return tuple(
            code if a == 2 else last + 1 if code == MISSING else code * last // LAST for a, code in enumerate(codes)
        )

    rows = [(stretched(codes), label) for codes, label in shared("near")]
    for adversary in (Worst(), Worst(-1), *map(Random, range(3))):
        with pytest.MonkeyPatch.context() as patched:
            replay = Replay(policy, max_rows).patch(patched)
            steps, receipts = replay.played(rows, [(stretched(ROW), steps_of(share))] * max_rows, adversary)
        check(steps, receipts, epsilon)
        assert [step.what for step in steps] == [CHOICES, COUNTS]


# Planted faults.


def test_a_target_that_was_not_clipped_is_caught():
    with pytest.raises(AssertionError, match="told more than its price"):
        check(*played("empty", Worst(), 3.0))


def test_counts_of_both_classes_rounded_apart_are_caught():
    def plant(patched):
        def apart(exact, steps):
            first = exact[..., 0] * steps - exact[..., 1]
            return np.stack([(first + steps // 2) // steps, (exact[..., 1] + steps // 2) // steps], axis=-1)

        patched.setattr("privet.central.weights.coded_rows.in_whole_rows", apart)

    # Half a row of each class is a whole row of both.
    with pytest.raises(AssertionError, match="class balance told more than its price"):
        check(*played("empty", Worst(), 0.5, fault=plant))


@pytest.mark.slow
def test_a_row_that_is_two_is_caught():
    def plant(patched):
        def twice(first, second, labels, steps):
            return interactions_mean(first, second, labels, steps) * 2

        interactions_mean = interactions._mean_residuals
        patched.setattr(interactions, "_mean_residuals", twice)

    caught = []
    for share in (0.0, 1.0):
        for sign in (1, -1):
            steps, *_ = played("near", Worst(sign), share, fault=plant)
            caught.append(told_of(steps, GROUPS))
    honest = [told_of(played("near", Worst(sign), share)[0], GROUPS) for share in (0.0, 1.0) for sign in (1, -1)]
    assert max(honest) <= 1
    assert max(caught) > 1.5 * max(honest)


def test_a_fit_that_is_not_paid_is_caught():
    def plant(patched):
        pay = fitting.Fitting._pay

        def forgetful(self, epsilon, *receipts):
            if not any(receipt.what == BALANCE for receipt in receipts):
                pay(self, epsilon, *receipts)

        patched.setattr(fitting.Fitting, "_pay", forgetful)

    steps, receipts, epsilon = played("empty", Worst(), 0.7, fault=plant)
    assert all_paid(receipts) <= epsilon
    with pytest.raises(AssertionError, match="a release has no receipt"):
        check(steps, receipts, epsilon)
