"""Intervals of rules: how often they hold the true numbers of those who answered."""

from functools import cache

import numpy as np
import pytest
from numpy.testing import assert_allclose
from pandas.testing import assert_frame_equal

from privet import Categorical, Schema
from privet.local import Channel
from privet.local.channels.coding import Coding
from privet.local.channels.randomized_response import RandomAnswer
from privet.local.channels.record_complement import Complement
from privet.local.response_forest.bit_forest import ResponseRules, share_intervals
from privet.local.response_forest.bit_trees import Bag, Growth, joined
from privet.local.response_forest.inverse_counts import GRID, AnswerCodes, AnsweredRows, InverseCounts, chances_of
from privet.local.response_forest.mirror_counts import MirrorCounts, MirrorRows
from privet.local.response_forest.random_response_forest import RandomResponseForestClassifier
from privet.local.response_forest.response_growth import inverse_estimates, is_mirrored, mirror_estimates
from privet.tree.counted import CountedForest

N_ROWS, N_REPEATS = 600, 600
# 95 of 100, less three deviations of a share of so many.
LEAST = 0.95 - 3 * np.sqrt(0.95 * 0.05 / N_REPEATS)


def asked(n_classes):
    """Return a table of one question: the schema, true values, true classes."""
    schema = Schema([Categorical("owner", ["f", "m"])], classes=["no", "yes", "unsure"][:n_classes])
    rng = np.random.default_rng(3)
    owner = (rng.random(N_ROWS) < 0.4).astype(np.int64)
    labels = np.where(rng.random(N_ROWS) < np.where(owner == 1, 0.9, 0.2), 1, 0)
    return schema, owner, np.where(rng.random(N_ROWS) < 0.1, n_classes - 1, labels)


def answers_through(channel, owner, labels, rng):
    """Disguise the table again: codes, or bits where whole records are flipped, and labels."""
    if channel.record is not None:
        flipped = rng.random(N_ROWS) >= channel.record.keep
        return (owner ^ flipped)[:, None], labels ^ flipped if channel.record.flips_label else labels
    words = rng.integers(2**64, size=(2, N_ROWS), dtype=np.uint64)
    column = channel.columns[0]
    codes = column.answer_for(owner, words[0]) if isinstance(column, RandomAnswer) else owner
    return codes[:, None].astype(np.uint8), labels if channel.label is None else channel.label.answer_for(
        labels, words[1]
    )


@cache
def answers_of(channel):
    return AnswerCodes.of(Coding.of(channel.schema), channel)


def grown(channel, codes, labels, rng, *, bootstrap):
    """Return a tree of one split on disguised rows."""
    growth, bag = Growth(1, 1, 2.0, 1.0, 1, bootstrap), Bag.sample(len(labels), rng, bootstrap=bootstrap)
    n_classes, record = len(channel.schema.classes), channel.record
    if is_mirrored(channel):
        keep, flips = (record.keep, record.flips_label) if record else (1.0, False)
        rows = MirrorRows.of(codes.astype(np.uint8), labels, n_classes=n_classes, keep=keep, flips_label=flips)
    else:
        rows = AnsweredRows(codes, labels, answers_of(channel), chances_of(channel.label), n_classes)
    return rows.grow(growth, bag)


def rules_of(trees, channel, *, bootstrap):
    """Return the rules of trees, each with answers of its own."""
    coding, n_classes = Coding.of(channel.schema), len(channel.schema.classes)
    forest, numbers = joined(trees, coding)
    if is_mirrored(channel):
        counts = numbers[0][:, :n_classes], numbers[0][:, n_classes:]
        estimates = mirror_estimates(*counts, channel, len(trees), bootstrap=bootstrap)
    else:
        sums = (np.rint(number * GRID).astype(np.int64) for number in numbers)
        estimates = inverse_estimates(*sums, channel, len(trees), bootstrap=bootstrap)
    counts = np.rint(estimates.unclipped).astype(np.int64)
    counted = CountedForest(forest, counts, np.zeros(len(counts), dtype=np.int64), 1.0)
    return ResponseRules.of_bits(counted, coding, estimates, merge=False)


@cache
def repeated(way, options, bootstrap):
    """Disguise a table many times over; the rules are all roots, then by turns those of both values."""
    channel, owner, labels = way(*options)
    rng = np.random.default_rng(8)
    trees = [
        grown(channel, *answers_through(channel, owner, labels, rng), rng, bootstrap=bootstrap)
        for _ in range(N_REPEATS)
    ]
    rules = rules_of(trees, channel, bootstrap=bootstrap)
    assert len(rules) == 3 * N_REPEATS
    return rules


def held(rules, owner, labels):
    """Return how often the intervals hold the true supports and the true confidences, one column a value."""
    size = np.bincount(owner)
    share = np.array([np.bincount(labels[owner == value], minlength=3) / size[value] for value in (0, 1)])
    low, high = (
        np.stack([rules.numbers[f"{name}_{end}"][N_REPEATS:].reshape(-1, 2) for name in ("support", "confidence")])
        for end in ("low", "high")
    )
    true = np.stack([np.tile(size, (N_REPEATS, 1)), share[[0, 1], rules.predicted[N_REPEATS:].reshape(-1, 2)]])
    return ((low <= true) & (true <= high)).mean(axis=1)


def by_answers(keep, label, n_classes=2):
    schema, owner, labels = asked(n_classes)
    answer = None if label is None else RandomAnswer("class", n_classes, label)
    return Channel.of(schema, [RandomAnswer("owner", 2, keep)], label=answer), owner, labels


def by_records(keep, flips_label):
    schema, owner, labels = asked(2)
    return Channel.of(schema, [], record=Complement(Coding.of(schema), keep, flips_label)), owner, labels


WAYS = pytest.mark.parametrize(
    ("way", "options"),
    [
        (by_answers, (0.8, None)), (by_answers, (0.99, None)), (by_answers, (0.95, 0.65)), (by_answers, (0.9, 0.6, 3)),
        (by_records, (0.8, False)), (by_records, (0.8, True)), (by_records, (0.99, False)),
    ],
)  # fmt: skip


@pytest.mark.parametrize("bootstrap", [False, True])
@WAYS
def test_intervals_hold_the_true_numbers_95_times_of_100(way, options, bootstrap):
    _, owner, labels = way(*options)
    assert held(repeated(way, options, bootstrap), owner, labels).min() > LEAST


@pytest.mark.parametrize("bootstrap", [False, True])
@WAYS
def test_variances_are_those_of_many_repetitions(way, options, bootstrap):
    known = repeated(way, options, bootstrap).estimates
    first = np.zeros(len(known.unclipped), dtype=np.int64)
    found, totals = known.unclipped, known.totals
    for nodes in (slice(0, N_REPEATS), slice(N_REPEATS, None, 2), slice(N_REPEATS + 1, None, 2)):
        stated, total = known.class_variance[nodes].mean(axis=0), known.total_variance[nodes].mean()
        # A variance from 600 draws spreads by sqrt(2 / 600), 6 % of itself; that of few flips by some more.
        assert_allclose(found[nodes].var(axis=0), stated, rtol=0.25, atol=1e-6)
        assert_allclose(totals[nodes].var(), total, rtol=0.25, atol=1e-6)
        lead = (found[nodes, 0] - found[nodes, 1]).var()
        assert_allclose(lead, known.difference_variance(first, first + 1)[nodes].mean(), rtol=0.25, atol=1e-6)
        covariance = [np.cov(found[nodes, j], totals[nodes])[0, 1] for j in range(found.shape[1])]
        error = np.sqrt(stated.max() * total / N_REPEATS)
        assert_allclose(covariance, known.class_covariance[nodes].mean(axis=0), atol=5 * error + 1e-6)


def test_what_is_known_has_no_interval():
    schema, owner, labels = asked(2)
    channel = Channel.clear(schema)
    tree = grown(channel, owner[:, None], labels, np.random.default_rng(1), bootstrap=False)
    rules = rules_of([tree], channel, bootstrap=False)
    for name in ("support", "confidence"):
        exact = rules.numbers[name]
        assert_allclose(rules.numbers[f"{name}_low"], exact)
        assert_allclose(rules.numbers[f"{name}_high"], exact)


def test_a_bootstrap_may_have_missed_the_only_row_of_a_class():
    # 20 rows of 100, all of one class: where two more are of the other, a bag leaves out both 1 time in 8.
    counts = MirrorCounts(1, True, np.array([[60, 40], [20, 0], [40, 40]]), np.zeros((3, 2), dtype=np.int64), 1.0)
    # A hundred draws of a share of one fifth have the variance 16, and as an unbiased estimate 100 / 99 of it.
    assert_allclose(counts.class_variance[1], [100 / 99 * 16, 0])
    assert_allclose(counts.sd[:2], [0, np.sqrt(100 / 99 * 16)])
    channel, labels = Channel.clear(asked(2)[0]), np.repeat([0, 1], [20, 10])
    tree = grown(channel, labels[:, None], labels, np.random.default_rng(1), bootstrap=True)
    rules = rules_of([tree], channel, bootstrap=True)
    assert rules.numbers["confidence"][1] == 1
    assert rules.numbers["confidence_low"][1] < 0.9


def test_variances_by_hand_where_the_label_is_disturbed():
    # Labels .75 and .25: one counts 1.5 for its class and -.5 for the other. Ten rows are known to be in the node.
    counts = InverseCounts(1, False, np.array([[6.0, 4.0]]), np.array([[6.0, 4.0]]), 10.0, (0.75, 0.25))
    assert_allclose(counts.unclipped, [[7, 3]])
    # 6 * 2.25 + 4 * .25 less 7, and 4 * 2.25 + 6 * .25 less 3: both 10 * 3/16 * 4.
    assert_allclose(counts.class_variance, [[7.5, 7.5]])
    assert_allclose(counts.class_covariance, [[0, 0]])
    assert_allclose(counts.difference_variance(np.array([0]), np.array([1])), [30])


def test_a_share_s_interval_solves_the_quadratic():
    own, total = np.array([60.0, 3.0]), np.array([100.0, 4.0])
    variances = np.array([16.0, 16.0]), np.array([4.0, 4.0]), np.array([25.0, 25.0])
    low, high = share_intervals(own, total, *variances)
    for end in (low[0], high[0]):
        spread = 16 - 2 * end * 4 + end**2 * 25
        assert (60 - 100 * end) ** 2 == pytest.approx(np.log(20) ** 2 / 2 * spread)
    assert low[0] < 0.6 < high[0]
    assert (low[1], high[1]) == (0, 1)  # four rows of a deviation of five may be none


def test_rules_of_a_fitted_forest_have_these_intervals():
    channel, owner, labels = by_answers(0.95, 0.65)
    codes, given = answers_through(channel, owner, labels, np.random.default_rng(2))
    table = np.array(["f", "m"], dtype=object)[codes]
    model = RandomResponseForestClassifier(channel=channel, n_trees=2, random_state=1)
    model.fit(table, np.array(["no", "yes"])[given])
    rules = model.rules()
    numbers = model.rule_table().numbers
    assert len(rules) == 4
    for name in ("support_low", "support_high", "confidence_low", "confidence_high"):
        assert_allclose(rules[name], numbers[name][rules.node])
    assert (rules.confidence_high - rules.confidence_low).min() > 0.1
    again = RandomResponseForestClassifier.from_document(model.to_document(), model.schema_)
    assert_frame_equal(again.rules(), rules)
