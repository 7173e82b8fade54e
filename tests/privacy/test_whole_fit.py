"""The recommended forest from the class balance to the second stage, against neighbours, at every price it states.

The outputs are chosen by adversaries, so that what the row tells is seen at its largest and not where noise happens to
fall. Faults that are planted in the fit show that the search would find them.
"""

from dataclasses import replace
from fractions import Fraction
from functools import cached_property

import numpy as np
import pytest

from privet import Categorical, Numeric, Schema
from privet.central.weights import fitting, order, selection, single_tree
from privet.central.weights.fitting import Fitting
from privet.central.weights.knots import with_cells
from privet.central.weights.leaf_weights import LeafWeights
from privet.central.weights.minimiser import certified_minimiser
from privet.central.weights.noise_groups import NoiseGroups
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
)
from privet.central.weights.trees import Axis, Trees
from privet.errors import ParameterError
from privet.privacy.mechanisms.linear_noise import scales_at_least
from tests.privacy.replay import FAR, Minimiser, Random, Replay, Worst, all_paid, all_told

NO_ROUNDING = 1 + 1e-9
ATTRIBUTES = [
    Numeric("age", 0, 8), Numeric("pay", 0, 8, never_missing=True), Categorical("job", ["nurse", "clerk"]),
    Numeric("debt", 0, 8),
]  # fmt: skip
# Numbers in four bins are soft in both stages, and have cells from code 0 to the last one.
N_BINS = 4
LAST = with_cells(Schema(ATTRIBUTES, classes=["no", "yes"]), N_BINS).attributes[0].n_values - 1
MISSING, THIRD, MOST, FEW = LAST + 1, LAST // 3, 3 * LAST // 4, LAST // 6
# Rows with which the added one shares cells, leaves or nothing; between knots and at the ends.
TABLES = {
    "empty": [],
    "far": [((0, LAST, 1, MISSING), 0)],
    "near": [
        ((THIRD, MOST, 0, FEW), 0), ((THIRD + 1, LAST // 4, 0, FEW), 1), ((THIRD, MOST - 1, 1, 2 * THIRD), 0),
        ((1, MOST, 0, MISSING), 0),
    ],
    "crowd": [((LAST // 2, MOST, 0, FEW), 0)] * 6 + [((THIRD, LAST // 2, 1, FEW), 1)] * 5,
}  # fmt: skip
ROW = (THIRD, MOST, 0, FEW)


# Two trees that share their noise, and one of so many leaves that it is alone.
TOWNS = [Categorical("job", ["nurse", "clerk"]), Categorical("night", [True]), Categorical("town", range(40))]


def in_town(codes):
    """Return the codes of such attributes for a row that has some of the others."""
    return codes[2], codes[0] % 2, 7


def played(table, adversary, *, n_classes=2, epsilon=2.0, max_rows=1, fault=None, directions=None, town=False, **fixed):
    """Return the releases of a fit to a table with and without the row, its receipts and its budget."""
    attributes, coded = (TOWNS, in_town) if town else (ATTRIBUTES, tuple)
    rows, row = [(coded(codes), label) for codes, label in TABLES[table]], (coded(ROW), n_classes - 1)
    schema = Schema(attributes, classes=["no", "yes"] if n_classes == 2 else range(n_classes), rows=FAR)
    policy = Policy(schema, epsilon / max_rows, FAR, Overrides(n_bins=N_BINS, **fixed))
    with pytest.MonkeyPatch.context() as patched:
        replay = Replay(policy, max_rows, directions=directions or {}).patch(patched)
        if fault is not None:
            fault(patched, replay)
        return *replay.played(rows, [row] * max_rows, adversary), epsilon


def check(steps, receipts, epsilon):
    """Say what is wrong with a fit: a release that tells more than its price, or has none, or all of them together."""
    for step in steps:
        assert abs(step.told) <= step.price * NO_ROUNDING + 1e-12, f"{step.what} told more than its price"
    fits = {DIGITS: (WEIGHTS, DIGITS), LATER_DIGITS: (LATER_WEIGHTS, LATER_DIGITS)}
    wanted = [name for step in steps for name in fits.get(step.what, (step.what,))]
    assert [receipt.what for receipt in receipts] == wanted, "a release has no receipt"
    assert abs(all_told(steps)) <= all_paid(receipts) * NO_ROUNDING, "all releases told more than was paid"
    assert all_paid(receipts) <= epsilon, "more was paid than there is"


def told_of(steps, what):
    return max(abs(step.told) / step.price for step in steps if step.what == what)


def test_numbers_are_soft_in_both_stages_and_the_row_lies_between_knots():
    schema = Schema(ATTRIBUTES, classes=["no", "yes"], rows=FAR)
    policy = Policy(schema, 2.0, FAR, Overrides(n_bins=N_BINS))
    assert policy.is_soft
    assert policy.cells.attributes[0].n_values - 1 == LAST
    first = Trees.of([[a] for a in range(4)], policy.cells, policy.knots(None, np.array([0.5, 0.5])))
    later = Trees.later([[0, 1, 3]], policy.cells, policy.later_knots(None))
    for trees, numbers in ((first, (0, 1, 3)), (later, (0,))):
        assert trees.is_soft
        shares = trees.shares.toarray()
        cells = trees.cells(np.array([ROW], dtype=np.uint16))[0].astype(int) + trees.cell_starts
        # Some leaves have a part of the row, and all of a tree's parts are one.
        parts = np.split(shares[cells].sum(axis=0), np.cumsum(trees.sizes)[:-1])
        assert [own.sum() for own in parts] == [1.0] * trees.n_trees
        assert sum(((own > 0) & (own < 1)).any() for own in parts) >= min(2, len(numbers))


# Three classes in tables with many rows take a minute each; `make slow` has them.
REPLAYED = [
    pytest.param(n_classes, sign, table, marks=[pytest.mark.slow] * (n_classes == 3 and table in ("crowd", "near")))
    for n_classes in (2, 3)
    for sign in (1, -1)
    for table in TABLES
]


@pytest.mark.parametrize(("n_classes", "sign", "table"), REPLAYED)
def test_no_release_tells_more_than_its_price_nor_do_all_together(n_classes, sign, table):
    for fixed in ({}, {"n_attributes": 3}):
        steps, receipts, epsilon = played(table, Worst(sign), n_classes=n_classes, **fixed)
        check(steps, receipts, epsilon)
        names = [step.what for step in steps]
        assert names[0] == BALANCE
        assert names[-1] == LATER_DIGITS
        assert (names.count(CHOICES), names.count(CELLS), names.count(DIGITS)) == (3 if fixed else 0, 1, 1)
        assert names.count(GROUPS) >= 2


@pytest.mark.parametrize("epsilon", [0.5, 1.0])
def test_a_row_without_company_is_told_by_nearly_all_that_is_paid(epsilon):
    steps, receipts, _ = played("empty", Worst(), epsilon=epsilon)
    check(steps, receipts, epsilon)
    assert told_of(steps, DIGITS) > 0.99
    assert told_of(steps, LATER_DIGITS) > 0.99
    # All but what choosing groups and the last digits cost.
    assert all_told(steps) > 0.85 * epsilon


def test_a_person_of_two_rows_is_told_by_no_more_than_the_price_of_both():
    steps, receipts, epsilon = played("near", Worst(), epsilon=4.0, max_rows=2, n_attributes=3)
    check(steps, receipts, epsilon)
    alone, paid, epsilon = played("empty", Worst(), epsilon=4.0, max_rows=2)
    check(alone, paid, epsilon)
    assert all_told(alone) > 0.85 * epsilon


@pytest.mark.parametrize("n_classes", [2, 3])
def test_random_outputs_tell_no_more_than_their_prices(n_classes):
    largest = {}
    for seed in range(8):
        for fixed in ({}, {"n_attributes": 3}):
            played_so = played(("near", "crowd")[seed % 2], Random(seed), n_classes=n_classes, **fixed)
            check(*played_so)
            for step in played_so[0]:
                largest[step.what] = max(largest.get(step.what, 0.0), abs(step.told) / step.price)
    # A search that sees nothing would prove nothing.
    assert min(largest[what] for what in (CHOICES, DIGITS, GROUPS, LATER_DIGITS)) > 0.2


# Weights in order.

ORDERED = {0: 1, 1: -1, 3: 1}


@pytest.mark.parametrize("table", TABLES)
def test_weights_kept_in_order_tell_no_more_than_their_prices(table):
    for adversary in (Worst(1), Worst(-1), Random(5)):
        steps, receipts, epsilon = played(table, adversary, directions=ORDERED)
        check(steps, receipts, epsilon)
        assert [step.what for step in steps][-1] == LATER_DIGITS


def test_a_row_without_company_is_told_by_much_of_what_a_fit_in_order_costs():
    assert told_of(played("empty", Worst(), directions=ORDERED)[0], DIGITS) > 0.6


@pytest.mark.parametrize("what", ["strength", "slack"])
def test_an_order_that_follows_from_the_rows_is_caught(what):
    def plant(patched, _):
        of = order.Order.of.__func__

        def of_rows(cls, trees, directions, slack, *, held):
            own = of(cls, trees, directions, slack, held=held)
            n_rows = next(patched_rows)
            return replace(own, **{what: getattr(own, what) + 0.01 * n_rows})

        patched_rows = iter(range(100))  # the table with the row is fitted after the one without it
        patched.setattr(order.Order, "of", classmethod(of_rows))

    with pytest.raises(AssertionError, match="public numbers depend on the row"):
        played("near", Worst(), directions=ORDERED, fault=plant)


# A single tree.


def few_played(table, adversary, *, n_classes=2, epsilon=1.0, max_rows=1, fault=None, row=None, worth=40):
    """Return the releases of a fit of few rows, which has a single tree, with and without the row."""
    schema = Schema(ATTRIBUTES, classes=["no", "yes"] if n_classes == 2 else range(n_classes), rows=40)
    policy = Policy(schema, epsilon / max_rows, round(worth * max_rows / epsilon), max_rows=max_rows)
    assert policy.has_one_tree == (worth == 40)
    last = policy.cells.attributes[0].n_values - 1

    def stretched(codes):
        """Put the same rows into the cells that this fit has."""
        return tuple(
            code if a == 2 else last + 1 if code == MISSING else code * last // LAST for a, code in enumerate(codes)
        )

    rows = [(stretched(codes), label) for codes, label in TABLES[table]]
    more = [(stretched(ROW), n_classes - 1)] * max_rows if row is None else [row] * max_rows
    with pytest.MonkeyPatch.context() as patched:
        replay = Replay(policy, max_rows).patch(patched)
        if fault is not None:
            fault(patched, replay)
        return *replay.played(rows, more, adversary), epsilon


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize(("epsilon", "max_rows"), [(1.0, 1), (0.3, 1), (3.0, 3)])
def test_a_single_tree_tells_no_more_than_its_choice_and_its_counts_cost(table, n_classes, epsilon, max_rows):
    for adversary in (Worst(), Worst(-1), *map(Random, range(4))):
        steps, receipts, _ = few_played(table, adversary, n_classes=n_classes, epsilon=epsilon, max_rows=max_rows)
        check(steps, receipts, epsilon)
        assert [step.what for step in steps] == [CHOICES, COUNTS]
        if type(adversary) is Worst:  # counts tell all that is paid for them
            assert told_of(steps, COUNTS) == pytest.approx(1.0)


def test_a_row_that_only_one_tree_gets_right_is_told_by_much_of_what_its_choice_costs():
    told = [told_of(few_played(table, Worst(sign))[0], CHOICES) for table in TABLES for sign in (1, -1)]
    assert max(told) > 0.3


class Lopsided(Worst):
    """Lets nearly all rows be of one class, that of the row or another, and then does as `Worst`."""

    def __init__(self, sign=1, outside=64):
        super().__init__(sign)
        self.outside = outside

    def counts(self, without, with_row):
        if without.what != BALANCE:
            return super().counts(without, with_row)
        label, output = int((with_row.exact - without.exact).argmax()), np.zeros(len(without.exact), dtype=np.int64)
        few = round(self.outside / without.row_epsilon)
        output[[label - 1, label] if self.sign > 0 else [label, label - 1]] = without.n_rows - few, few
        return output


# Some of few attributes are chosen, or all of them are kept; the balance then says that there is a tree.
LOPSIDED_WORTH = [400, 10**7]


@pytest.mark.parametrize("worth", LOPSIDED_WORTH)
@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize(("epsilon", "max_rows"), [(1.0, 1), (3.0, 3)])
def test_a_tree_after_a_lopsided_balance_tells_no_more_than_all_three_releases_cost(
    worth, table, n_classes, epsilon, max_rows
):
    for adversary in (Lopsided(), Lopsided(-1)):
        steps, receipts, _ = few_played(
            table, adversary, n_classes=n_classes, epsilon=epsilon, max_rows=max_rows, worth=worth
        )
        check(steps, receipts, epsilon)
        assert [step.what for step in steps] == [BALANCE, CHOICES, COUNTS]
        assert told_of(steps, COUNTS) == pytest.approx(1.0)
        assert told_of(steps, BALANCE) == pytest.approx(1.0)
        assert abs(all_told(steps)) > 0.4 * epsilon


@pytest.mark.parametrize("outside", [30, 400])
def test_with_other_rows_outside_the_largest_class_there_is_a_fit_that_tells_no_more_either(outside):
    steps, receipts, epsilon = few_played("far", Lopsided(outside=outside), worth=2500)
    check(steps, receipts, epsilon)
    assert WEIGHTS in {receipt.what for receipt in receipts}
    assert COUNTS not in {step.what for step in steps}


@pytest.mark.parametrize("name", [BALANCE, CHOICES, COUNTS])
def test_a_release_after_a_lopsided_balance_that_is_not_paid_is_caught(name):
    with pytest.raises(AssertionError, match="a release has no receipt"):
        check(*few_played("near", Lopsided(), worth=400, fault=without_receipts_of(name)))


def test_a_tree_that_the_exact_balance_decides_on_is_caught():
    def plant(patched, replay):
        with_balance = Policy.with_balance

        def exactly(policy, _):
            exact = replay.seen[0].exact
            return with_balance(policy, np.array([0.5, 0.5]) if exact[1] else np.array([0.8125, 0.1875]))

        patched.setattr(Policy, "with_balance", exactly)

    with pytest.raises(AssertionError, match="what is released next depends on the row"):
        check(*few_played("far", Lopsided(), worth=400, fault=plant))


@pytest.mark.parametrize("name", [CHOICES, COUNTS])
def test_a_release_of_a_single_tree_that_is_not_paid_is_caught(name):
    with pytest.raises(AssertionError, match="a release has no receipt"):
        check(*few_played("near", Worst(), fault=without_receipts_of(name)))


def test_counts_of_a_tree_for_one_row_of_three_are_caught():
    def plant(patched, _):
        release = fitting.release_leaves
        patched.setattr(fitting, "release_leaves", lambda *args, **options: release(*args, **{**options, "rows": 1}))

    with pytest.raises(AssertionError, match="class counts of the leaves of one tree told more than its price"):
        check(*few_played("near", Worst(), epsilon=3.0, max_rows=3, fault=plant))


def test_a_score_that_is_not_monotone_but_charged_so_is_caught():
    def plant(patched, _):
        class Lead(np.ndarray):
            """Counts whose largest is how far the classes are apart, which a row can make less."""

            def max(self, axis):
                return np.asarray(self).max(axis=axis) - np.asarray(self).min(axis=axis)

        merge = single_tree.merged
        patched.setattr(single_tree, "merged", lambda *args: merge(*args).view(Lead))

    told = []
    for table in TABLES:
        for adversary in (Worst(), Worst(-1)):
            steps, *_ = few_played(table, adversary, fault=plant)
            told.append(told_of(steps, CHOICES))
    assert max(told) > 1.05


# Planted faults.


def without_receipts_of(*names):
    """Return a fault: these releases are neither paid nor in the receipts."""

    def plant(patched, _):
        pay = Fitting._pay

        def forgetful(self, epsilon, *receipts):
            if not any(receipt.what in names for receipt in receipts):
                pay(self, epsilon, *receipts)

        patched.setattr(Fitting, "_pay", forgetful)

    return plant


@pytest.mark.parametrize("names", [(LATER_WEIGHTS,), (LATER_WEIGHTS, GROUPS, LATER_DIGITS)])
def test_a_second_fit_that_is_not_paid_is_caught(names):
    steps, receipts, epsilon = played("empty", Worst(), fault=without_receipts_of(*names))
    if LATER_DIGITS in names:  # else all that was forgotten is spent on the last digits
        assert all_told(steps) > all_paid(receipts) * NO_ROUNDING
    with pytest.raises(AssertionError, match="a release has no receipt"):
        check(steps, receipts, epsilon)


def test_groups_that_are_not_paid_are_caught():
    with pytest.raises(AssertionError, match="a release has no receipt"):
        check(*played("near", Worst(), fault=without_receipts_of(GROUPS)))


def test_a_first_fit_that_leaves_nothing_for_the_second_is_refused():
    def plant(patched, _):
        later = Policy.later
        patched.setattr(Policy, "later", lambda self, *args: replace(later(self, *args), fit=self.shares.fit))

    with pytest.raises(ParameterError, match="a budget cannot be overdrawn"):
        played("empty", Worst(), fault=plant)


def test_half_the_noise_in_the_second_fit_is_caught():
    def plant(patched, replay):
        choose = replay._choose_noise

        def halved(policy, trees, *args, **options):
            chosen = choose(policy, trees, *args, **options)
            if not trees.n_later:
                return chosen
            # As drawn, not as stated: the receipt is that of the whole noise.
            event = chosen.event
            less = replace(chosen, scales=tuple(scale / 2 for scale in chosen.scales))
            object.__setattr__(less, "event", event)
            return less

        replay._choose_noise = halved

    with pytest.raises(
        AssertionError, match="last digits of leaf weights of the second stage told more than its price"
    ):
        check(*played("empty", Worst(), fault=plant))


def laws_chosen(patched, replay):
    """Note which noise was chosen, and plant no fault."""
    replay._choose_noise = remembered(replay._choose_noise)


def remembered(choose):
    def chosen(*args, **options):
        own = choose(*args, **options)
        LAWS.append([len(group.trees) for group in own.groups])
        return own

    return chosen


LAWS = []


@pytest.mark.parametrize("n_classes", [2, 3])
def test_with_trees_that_share_noise_and_one_that_is_alone_no_release_tells_more_than_its_price(n_classes):
    LAWS.clear()
    for table in ("empty", "far") if n_classes == 3 else TABLES:
        for adversary in (Worst(1), Worst(-1), Random(2)):
            check(*played(table, adversary, n_classes=n_classes, town=True, group_size=1, fault=laws_chosen))
    assert [1, 2] in map(sorted, LAWS)


def test_a_row_without_company_is_told_by_nearly_all_that_groups_pay_together():
    steps, receipts, epsilon = played("empty", Worst(), epsilon=1.0, town=True, group_size=1)
    check(steps, receipts, epsilon)
    assert told_of(steps, DIGITS) > 0.99
    assert told_of(steps, LATER_DIGITS) > 0.99


def with_scales(change):
    """Return a fault: other scales are drawn than are stated, in the first fit."""

    def plant(patched, replay):
        choose = replay._choose_noise

        def changed(policy, trees, *args, **options):
            chosen = choose(policy, trees, *args, **options)
            if trees.n_later:
                return chosen
            less = replace(chosen, scales=tuple(change(chosen)))
            object.__setattr__(less, "event", chosen.event)
            return less

        replay._choose_noise = changed

    return plant


def half_in(n_trees):
    """Halve the scale of the group of so many trees."""
    return lambda own: [
        scale / (2 if len(group.trees) == n_trees else 1) for group, scale in zip(own.groups, own.scales, strict=True)
    ]


def whole_in_each(own):
    """Let each group have all that is paid for the noise."""
    return scales_at_least(float(sum(1 / scale for scale in own.scales)), [Fraction(1)] * len(own.scales))


@pytest.mark.parametrize(
    ("change", "least"), [(half_in(1), 1.2), (half_in(2), 1.2), (whole_in_each, 1.9)],
    # Half of what two trees share is also what hides a row in one of them.
    ids=["half in one tree", "half in two trees", "each group has all"],
)  # fmt: skip
def test_other_scales_than_are_paid_for_are_caught(change, least):
    steps, receipts, epsilon = played("empty", Worst(), epsilon=1.0, town=True, group_size=1, fault=with_scales(change))
    assert told_of(steps, DIGITS) > least
    with pytest.raises(AssertionError, match="last digits of leaf weights told more than its price"):
        check(steps, receipts, epsilon)


def test_groups_that_all_have_the_whole_of_a_price_cost_more_than_there_is():
    def plant(patched, _):
        patched.setattr(NoiseGroups, "shares", property(lambda self: [Fraction(1)] * len(self.groups)))

    # The receipt counts what was drawn, so the fit does not hide it.
    with pytest.raises(AssertionError, match="more was paid than there is"):
        check(*played("empty", Worst(), town=True, group_size=1, fault=plant))


def test_shares_that_add_up_to_more_than_one_are_caught():
    def plant(patched, _):
        plain = Axis.shares.func

        def doubled(self):
            return plain(self) * (2 if self.grid > 1 else 1)

        shares = cached_property(doubled)
        shares.__set_name__(Axis, "shares")
        patched.setattr(Axis, "shares", shares)

    # A row then pulls at trees by different amounts, which no noise that they share can hide.
    with pytest.raises(AssertionError, match="no noise leads here"):
        played("empty", Worst(), fault=plant)


def test_scores_of_weights_that_were_not_released_are_caught():
    def plant(patched, replay):
        def unreleased(trees, offsets, weights, margin):
            objective = next(each for each in replay.seen[::-1] if isinstance(each, Minimiser)).objective
            silent = replace(objective, linear_noise=np.zeros(objective.shape))
            return LeafWeights(trees, offsets, certified_minimiser(silent, 1e-8, noise_error=0.0)[0], margin)

        patched.setattr(fitting, "LeafWeights", unreleased)

    with pytest.raises(AssertionError, match="of the second stage told more than its price"):
        check(*played("crowd", Worst(), fault=plant))


def test_the_sum_over_codings_in_the_place_of_the_best_is_caught():
    def plant(patched, _):
        patched.setattr(selection, "max", sum, raising=False)

    caught = []
    for table in ("near", "crowd"):
        for adversary in (Worst(), Worst(-1)):
            steps, *_ = played(table, adversary, n_attributes=3, fault=plant)
            caught.append(told_of(steps, CHOICES))
    assert max(caught) > 1.5


def test_a_choice_for_every_coding_that_is_paid_once_is_caught():
    def plant(patched, _):
        choose = fitting.choose_informative

        def apart(tables, codings, *args, **options):
            runs = [
                choose(tables, [[ways[k % len(ways)]] for ways in codings], *args, **options)
                for k in range(max(map(len, codings)))
            ]
            return runs[0]

        patched.setattr(fitting, "choose_informative", apart)

    with pytest.raises(AssertionError, match="a release has no receipt"):
        check(*played("near", Worst(), n_attributes=3, fault=plant))


def test_a_choice_that_looks_at_the_rows_is_caught():
    def plant(patched, _):
        groups = fitting.choose_groups

        def fewer(unexplained, pairs, later, **options):
            return groups(unexplained, pairs[unexplained.rows.n_lines % 2 :], later, **options)

        patched.setattr(fitting, "choose_groups", fewer)

    with pytest.raises(AssertionError, match="public numbers depend on the row"):
        check(*played("near", Worst(), fault=plant))
