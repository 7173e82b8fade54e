"""One tree, chosen by how many rows it gets right, with the class counts of its leaves."""

import math
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from privet import Categorical, Numeric, Schema
from privet.central.weights import single_tree
from privet.central.weights.fitting import Fitting
from privet.central.weights.leaf_weights import LeafWeights
from privet.central.weights.link import scores_of
from privet.central.weights.policy import MARGIN, Overrides, Policy
from privet.central.weights.released_weights import CHOICES, COUNTS
from privet.central.weights.selection import merged
from privet.central.weights.single_tree import choose_accurate, release_leaves, weights_of_counts
from privet.central.weights.trees import Trees
from privet.counting.rows import MemoryRows
from privet.privacy.accounting import pure_epsilon
from privet.privacy.events import DiscreteLaplace, NoNoise, PermuteAndFlip
from privet.privacy.mechanisms.permute_and_flip import permute_and_flip
from privet.rng import SystemNoise
from tests.loops import loop_over
from tests.privacy.replay import Choice

SCHEMA = Schema(
    [Numeric("age", 0, 90), Categorical("job", ["nurse", "clerk", "cook"]), Numeric("pay", 0, 10, never_missing=True)],
    classes=["no", "yes"],
)
THREE = Schema(SCHEMA.attributes, classes=[5, 7, 9])


def policy_of(schema=SCHEMA, n_rows=40, epsilon=1.0, **fixed):
    return Policy(schema, epsilon, n_rows, Overrides(**fixed))


def seen_by(monkeypatch, tables, codings, **options):
    """Return the scores that a choice was made by, and its receipt."""
    seen = []

    def noted(scores, **own):
        seen.append((scores.tolist(), own))
        return permute_and_flip(scores, **own)

    monkeypatch.setattr(single_tree, "permute_and_flip", noted)
    options = {"epsilon": 1.0, "rows": 1, "what": CHOICES, "noise": SystemNoise(), **options}
    candidate, receipt = choose_accurate(tables, codings, **options)
    return seen[0][0], candidate, receipt


# The choice.

BY_HAND = [np.array([[9, 1], [0, 4], [2, 2]]), np.array([[10, 0], [1, 7]])]
WAYS = [[np.array([0, 1, 2]), np.array([0, 0, 1])], [np.array([0, 1])]]


def test_scores_by_hand(monkeypatch):
    # Three cells get 9 + 4 + 2 right, two of them 9 + 2; the other attribute 10 + 7. A cell costs 0.3 / 0.1 = 3.
    scores, _, receipt = seen_by(monkeypatch, BY_HAND, WAYS, epsilon=0.1)
    assert scores == [15 - 9, 11 - 6, 17 - 6]
    assert isinstance(receipt, PermuteAndFlip)
    assert (receipt.epsilon, receipt.sensitivity, receipt.candidates, receipt.monotone) == (0.1, 1, 3, True)
    # For people of four rows a cell costs four times as much.
    scores, _, receipt = seen_by(monkeypatch, BY_HAND, WAYS, epsilon=0.1, rows=4)
    assert scores == [15 - 36, 11 - 24, 17 - 24]
    assert (receipt.sensitivity, receipt.monotone) == (4, True)


def test_without_noise_cells_cost_nothing_and_the_most_accurate_tree_is_chosen(monkeypatch):
    scores, candidate, receipt = seen_by(monkeypatch, BY_HAND, WAYS, epsilon=math.inf)
    assert (scores, candidate, receipt) == ([15, 11, 17], (1, 0), NoNoise(CHOICES))


def plain_score(codes, labels, cells, cost):
    """Return how many rows are of the most frequent class of their cell, less the cost of each cell, row by row."""
    counts = {}
    for code, label in zip(codes, labels, strict=True):
        counts.setdefault(int(cells[code]), []).append(int(label))
    right = sum(max(map(found.count, found)) for found in counts.values())
    return right - round(cost * len(set(cells.tolist())))


def table_of(policy, codes, labels):
    """Return the class counts of every attribute's codes."""
    rows = MemoryRows(codes.astype(np.uint16), labels.astype(np.uint16))
    return Fitting(policy, rows, 1, 1.0, np.random.default_rng(0), SystemNoise())._exact_tables()


def random_rows(policy, n_rows, rng):
    codes = np.stack([rng.integers(0, own.n_codes, n_rows) for own in policy.cells.attributes], axis=1)
    return codes, rng.integers(0, policy.n_classes, n_rows)


@loop_over("epsilon", [0.05, 1.0])
@loop_over("rows", [1, 3])
@pytest.mark.parametrize("schema", [SCHEMA, THREE])
def test_scores_are_those_of_a_plain_count(schema, epsilon, rows, monkeypatch):
    policy, rng = policy_of(schema), np.random.default_rng(4)
    codes, labels = random_rows(policy, 60, rng)
    tables = table_of(policy, codes, labels)
    scores, (attribute, coding), _ = seen_by(monkeypatch, tables, policy.codings, epsilon=epsilon, rows=rows)
    cost = 0.3 * rows / epsilon
    assert scores == [
        plain_score(codes[:, a], labels, cells, cost) for a, ways in enumerate(policy.codings) for cells in ways
    ]
    assert coding < len(policy.codings[attribute])


@loop_over("m", [1, 2, 5])
@pytest.mark.parametrize("schema", [SCHEMA, THREE])
def test_rows_that_are_added_never_lower_a_score_nor_raise_one_by_more_than_themselves(schema, m, monkeypatch):
    policy, rng = policy_of(schema), np.random.default_rng(m)
    largest = 0
    for n_rows in (0, 1, 5, 40):
        for _ in range(6):
            codes, labels = random_rows(policy, n_rows + m, rng)
            if rng.random() < 0.5:  # all rows of a person are alike
                codes[n_rows:], labels[n_rows:] = codes[-1], labels[-1]
            few, many = (table_of(policy, codes[:n], labels[:n]) for n in (n_rows, n_rows + m))
            before, after = (np.array(seen_by(monkeypatch, t, policy.codings, rows=m)[0]) for t in (few, many))
            moved = after - before
            assert moved.min() >= 0
            assert moved.max() <= m
            largest = max(largest, moved.max())
            # The counts of any tree's leaves move by exactly m together.
            for a, ways in enumerate(policy.codings):
                for cells in ways:
                    assert np.abs(merged(many[a], cells) - merged(few[a], cells)).sum() == m
    assert largest == m


def chances(scores, epsilon, *, sensitivity=1, monotone=True):
    """Return the law of the choice, exactly."""
    _, receipt = permute_and_flip(scores, epsilon=epsilon, sensitivity=sensitivity, monotone=monotone)
    return np.exp(Choice(CHOICES, receipt, np.array(scores)).log_chances)


def farthest(found, law):
    """Return how many deviations the counts of choices are from a law, at most."""
    n = found.sum()
    return float((np.abs(found - n * law) / np.sqrt(n * law * (1 - law))).max())


def drawn(tables, ways, n, epsilon):
    index = {pair: i for i, pair in enumerate((a, i) for a, own in enumerate(ways) for i in range(len(own)))}
    found = np.zeros(len(index), dtype=np.int64)
    for _ in range(n):
        candidate, _ = choose_accurate(tables, ways, epsilon=epsilon, rows=1, what=CHOICES, noise=SystemNoise())
        found[index[candidate]] += 1
    return found


def test_choices_have_the_law_of_monotone_scores_and_no_other():
    scores, epsilon = np.array([15 - 2, 11 - 1, 17 - 1]), 0.5
    found = drawn(BY_HAND, WAYS, 3000, epsilon)
    assert farthest(found, chances(scores, epsilon)) < 5
    # Planted: a score that is charged as not monotone, or without its cells' cost, has another law.
    assert farthest(found, chances(scores, epsilon, monotone=False)) > 8
    assert farthest(found, chances(scores, epsilon, sensitivity=2)) > 8
    assert farthest(found, chances(np.array([15, 10, 10]), epsilon)) > 8


def loss(with_row, without, epsilon):
    return float(np.abs(np.log(chances(with_row, epsilon) / chances(without, epsilon))).max())


def accuracy(table):
    return int(table.max(axis=1).sum())


def difference(table):
    """How far the classes of each cell are apart: a score that a row can lower."""
    return int(np.abs(table[:, 0] - table[:, 1]).sum())


def largest_loss(score, epsilon):
    """Return the largest log ratio of a choice between neighbours, over small tables, charged as monotone."""
    rng, worst = np.random.default_rng(5), 0.0
    for _ in range(300):
        tables = [rng.integers(0, 4, (2, 2)) for _ in range(2)]
        more = [own.copy() for own in tables]
        label = int(rng.integers(2))
        for own in more:
            own[rng.integers(2), label] += 1
        scores = [np.array([score(own) for own in each]) for each in (more, tables)]
        worst = max(worst, loss(*scores, epsilon))
    return worst


@pytest.mark.parametrize("epsilon", [0.5, 2.0])
def test_a_choice_tells_no_more_than_its_price_and_a_score_that_is_not_monotone_would(epsilon):
    found = largest_loss(accuracy, epsilon)
    assert 0.5 * epsilon < found <= epsilon * (1 + 1e-9)
    assert largest_loss(difference, epsilon) > 1.3 * epsilon


# The counts of leaves.


def test_counts_of_leaves_by_hand_with_missing_values_last():
    schema = Schema([Numeric("x", 0, 8, edges=[2, 4, 6]), Categorical("a", [1, 2])], classes=["no", "yes"])
    table = np.array([[5, 0], [3, 1], [0, 2], [0, 7], [1, 1]])
    trees = Trees.of([[0]], schema, {0: ((0, 2), 1)})
    noisy, receipt = release_leaves(
        trees, table, epsilon=math.inf, rows=1, what=COUNTS, noise=SystemNoise()
    )  # two codes a leaf, and missing values
    assert noisy.tolist() == [[8, 1], [0, 9], [1, 1]]
    assert receipt == NoNoise(COUNTS)
    _, receipt = release_leaves(trees, table, epsilon=0.25, rows=3, what=COUNTS, noise=SystemNoise())
    assert isinstance(receipt, DiscreteLaplace)
    assert (receipt.epsilon, receipt.sensitivity, receipt.scale) == (0.25, 3, 12)


@pytest.mark.parametrize("schema", [SCHEMA, THREE])
def test_the_leaves_of_a_chosen_tree_are_the_cells_of_its_coding(schema):
    policy, rng = policy_of(schema), np.random.default_rng(7)
    codes, labels = random_rows(policy, 300, rng)
    tables = table_of(policy, codes, labels)
    for a, ways in enumerate(policy.codings):
        for i, cells in enumerate(ways):
            trees = policy.tree_of_coding(a, i)
            noisy, _ = release_leaves(trees, tables[a], epsilon=math.inf, rows=1, what=COUNTS, noise=SystemNoise())
            counts = merged(tables[a], cells)
            assert_array_equal(noisy, counts[np.unique(cells)])
            assert noisy.sum() == 300
            assert not any(axis.grid > 1 for own in trees.axes for axis in own)


# The weights.


def tree_of(n_leaves, n_classes=2):
    names = [Categorical("a", range(n_leaves - 1)), Categorical("b", [1, 2])]
    return Trees.of([[0]], Schema(names, classes=range(n_classes)))


def chances_by_leaf(released, scale):
    """Return what a row in each leaf is told."""
    shares = released.class_shares(scale * math.sqrt(released.trees.n_leaves))
    weights = released.weights * np.float64(2.0**released.exponent)
    model = LeafWeights(released.trees, scores_of(shares, MARGIN), weights, MARGIN)
    return model.chances(np.arange(released.trees.n_leaves)[:, None].astype(np.uint16))


def test_weights_give_back_the_shares_of_their_leaves():
    rng = np.random.default_rng(8)
    for n_classes, scale in ((2, 0.0), (2, 2.0), (3, 0.4), (3, 30.0), (9, 7.0)):
        noisy = rng.integers(-20, 90, (5, n_classes))
        noisy[0] = -3  # a leaf of nothing but noise
        released = weights_of_counts(tree_of(5, n_classes), 100, noisy, scale)
        added = 2 * max(1.0, scale)
        assert_array_equal(released.balance, noisy.sum(axis=0))
        balance = np.maximum(noisy.sum(axis=0), max(1.0, scale * math.sqrt(5) / 2))
        balance = balance / balance.sum()
        wanted = np.array([[max(int(n), 0) + added * p for n, p in zip(own, balance, strict=True)] for own in noisy])
        wanted /= wanted.sum(axis=1, keepdims=True)
        assert_allclose(chances_by_leaf(released, scale), wanted, atol=1e-5)
        # What has no rows says what the balance says, to the last digit.
        assert not released.weights[0].any() or np.abs(released.weights[0]).max() <= 1
        assert released.weights.shape == (5, 1 if n_classes == 2 else n_classes)
        # A row that is added holds as much against noise as one that is there.
        assert released.variances.tolist() == pytest.approx([1 / (added * (balance * (1 - balance)).mean())])


def test_weights_by_hand():
    # Nine of ten rows in one leaf and one of ten in the other, each with two rows added, half of each class.
    released = weights_of_counts(tree_of(3), 20, np.array([[9, 1], [1, 9], [0, 0]]), 0.0)
    assert_allclose(chances_by_leaf(released, 0.0), [[10 / 12, 2 / 12], [2 / 12, 10 / 12], [0.5, 0.5]], atol=1e-5)
    assert released.weights[0, 0] == -released.weights[1, 0] < 0 == released.weights[2, 0]
    assert released.noise_std.tolist() == [0.0]


# A fit.


def fit(epsilon=1.0, *, max_rows=1, schema=SCHEMA, n_rows=40, **fixed):
    policy = Policy(schema, epsilon / max_rows, n_rows, Overrides(**fixed), 0.0, max_rows)
    codes, labels = random_rows(policy, n_rows, np.random.default_rng(2))
    rows = MemoryRows(codes.astype(np.uint16), labels.astype(np.uint16))
    own = Fitting(policy, rows, max_rows, epsilon, np.random.default_rng(1), SystemNoise())
    return own, own.release()


@loop_over("max_rows", [1, 3, 7])
@loop_over("epsilon", [1 / 3, 0.7, 1.0, math.pi])
@loop_over("share", [None, 0.01, 0.3])
def test_a_choice_and_counts_are_all_that_is_paid_and_add_up(epsilon, max_rows, share):
    own, released = fit(epsilon, max_rows=max_rows, n_rows=math.ceil(20 * max_rows / epsilon), selection_share=share)
    choice, counts = own.receipts
    assert (choice.what, counts.what) == (CHOICES, COUNTS)
    assert (choice.sensitivity, choice.monotone, counts.sensitivity) == (max_rows, True, max_rows)
    paid = sum(Fraction(pure_epsilon(receipt)) for receipt in own.receipts)
    assert Fraction(epsilon) * (1 - Fraction(1, 10**9)) <= paid <= Fraction(epsilon)
    assert own.left == 0
    assert choice.epsilon == pytest.approx((0.5 if share is None else share) * epsilon)
    assert (released.trees.n_trees, len(released.trees.kept), released.cells) == (1, 1, None)
    assert not own.is_planned


def test_a_single_tree_that_tells_the_class_is_found_most_of_the_time():
    schema = Schema([Categorical(f"a{j}", [5, 9]) for j in range(5)], classes=["no", "yes"])
    rng, policy = np.random.default_rng(3), policy_of(schema, 50)
    codes = rng.integers(0, 2, (50, 5)).astype(np.uint16)
    rows = MemoryRows(codes, codes[:, 3].copy())
    found = [
        Fitting(policy, rows, 1, 1.0, np.random.default_rng(1), SystemNoise()).release().trees.attributes
        for _ in range(40)
    ]
    # About 20 rows more than others, at half of epsilon.
    assert found.count(((3,),)) >= 38


def test_codings_of_more_cells_are_never_better_for_an_empty_table():
    # Only what cells cost is left.
    policy = policy_of()
    tables = [np.zeros((own.n_codes, 2), dtype=np.int64) for own in policy.cells.attributes]
    sizes = [len(np.unique(cells)) for ways in policy.codings for cells in ways]
    with pytest.MonkeyPatch.context() as patched:
        scores, *_ = seen_by(patched, tables, policy.codings, epsilon=0.01)
    for (size, score), (more, less) in pairwise(sorted(zip(sizes, scores, strict=True), key=lambda own: own[0])):
        assert (size == more) == (score == less)
        assert score >= less
