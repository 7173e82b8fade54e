"""Sums over randomized responses: unbiased, with the stated spread."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from privet import Categorical, Numeric, Schema
from privet.local import Channel
from privet.local.channels.coding import Coding
from privet.local.channels.randomized_response import RandomAnswer
from privet.local.response_forest.bit_trees import Bag, Growth
from privet.local.response_forest.inverse_counts import (
    AnswerCodes,
    AnsweredRows,
    InverseCounts,
    chances_of,
    label_weights,
)

SCHEMA = Schema(
    [Categorical("job", ["none", "clerk", "nurse"]), Categorical("sex", ["f", "m"]), Numeric("age", 0, 80, bins=4)],
    classes=["no", "yes"],
)
JOB, SEX, AGE = (
    RandomAnswer("job", 4, 0.7, covers_missing=True),
    RandomAnswer("sex", 2, 0.8),
    RandomAnswer("age", 4, 0.6),
)
LABEL = RandomAnswer("class", 2, 0.9)
CHANNEL = Channel.of(SCHEMA, [JOB, SEX, AGE], label=LABEL)


def test_what_the_kernel_is_told_of_attributes():
    told = AnswerCodes.of(Coding.of(CHANNEL.schema), CHANNEL)
    assert told.start.tolist() == [0, 4, 7, 12]
    # Missing has no frequency of its own, so it is coded as the first of the most frequent values.
    assert told.patterns.tolist() == [0, 3, 1, 0, 0, 1, 0, 0, 1, 2, 3, 0]
    assert told.n_answers.tolist() == [4, 2, 4]
    assert_allclose(told.kept, [0.7, 0.8, 0.6])
    assert_allclose(told.other, [0.1, 0.2, 0.4 / 3])
    assert told.bit_attribute.tolist() == [0, 0, 1, 2, 2]
    assert told.bit_mask.tolist() == [2, 1, 1, 2, 1]


def test_labels_count_by_the_inverse_of_their_channel():
    assert chances_of(None) == (1.0, 0.0)
    assert label_weights((1.0, 0.0)) == (1.0, 0.0)
    right, wrong = label_weights((0.9, 0.1))
    inverse = np.linalg.inv([[0.9, 0.1], [0.1, 0.9]])
    assert_allclose([[right, wrong], [wrong, right]], inverse)
    counts = InverseCounts(1, False, np.array([[60.0, 40.0]]), np.array([[60.0, 40.0]]), 100.0, (0.9, 0.1))
    assert_allclose(counts.unclipped, [inverse @ [60, 40]])


def estimates(seed, n_rows=3_000):
    """Answer for a fixed table with fresh random bits, grow two levels, and sum up."""
    fixed = np.random.default_rng(1)
    true = np.column_stack(
        [fixed.choice(4, n_rows, p=[0.1, 0.5, 0.3, 0.1]), fixed.choice(2, n_rows), fixed.choice(4, n_rows)]
    )
    labels = (fixed.random(n_rows) < 0.2 + 0.6 * true[:, 1] * (true[:, 0] == 1)).astype(np.int64)
    rng = np.random.default_rng(seed)
    words = rng.integers(2**64, size=(4, n_rows), dtype=np.uint64)
    answers = np.column_stack([c.answer_for(true[:, j], words[j]) for j, c in enumerate((JOB, SEX, AGE))]).astype(
        np.uint8
    )
    coding = Coding.of(CHANNEL.schema)
    rows = AnsweredRows(
        answers, LABEL.answer_for(labels, words[3]), AnswerCodes.of(coding, CHANNEL), chances_of(LABEL), 2
    )
    bag = Bag(np.arange(n_rows), np.ones(n_rows, dtype=np.int64), np.uint64(5))
    # One bit is tried at a time, so the first that is possible is taken: a choice by Gini would favour lucky estimates.
    tree = rows.grow(Growth(1, 1, 2.0, 1.0, 2, False), bag)
    inside = coding.bits(true)
    return tree, InverseCounts(1, False, *tree.numbers, float(n_rows), chances_of(LABEL)), inside, labels


def true_counts(tree, inside, labels):
    """Count clear rows in the nodes."""
    counts, on_path = np.zeros((len(tree.bit), 2)), {0: np.ones(len(labels), dtype=bool)}
    for node in range(len(tree.bit)):
        counts[node] = np.bincount(labels[on_path[node]], minlength=2)
        if tree.bit[node] >= 0:
            for value in (0, 1):
                on_path[int(tree.left[node]) + value] = on_path[node] & (inside[:, tree.bit[node]] == value)
    return counts


def test_estimates_are_unbiased_and_have_the_stated_spread():
    errors, leads, sizes = [], [], []
    for seed in range(150):
        tree, counts, inside, labels = estimates(seed)
        truth = true_counts(tree, inside, labels)
        deviation = np.maximum(counts.sd[1:], 1e-9)
        errors.append((counts.unclipped - truth)[1:].sum(axis=1) / deviation)
        nodes = np.zeros(len(truth), dtype=np.int64)
        spread = np.sqrt(counts.difference_variance(nodes, nodes + 1))[1:]
        leads.append(np.diff(counts.unclipped - truth, axis=1)[1:, 0] / spread)
        sizes.append(len(truth))
    assert min(sizes) >= 3
    for found in (np.concatenate(errors), np.concatenate(leads)):
        assert abs(found.mean()) < 0.15
        assert 0.88 < found.std() < 1.12


def test_a_clear_channel_counts_rows():
    channel = Channel.clear(SCHEMA)
    coding = Coding.of(channel.schema)
    codes = np.array([[1, 0, 0], [1, 1, 3], [0, 1, 3], [2, 0, 4]], dtype=np.uint8)
    rows = AnsweredRows(codes, np.array([0, 1, 1, 0]), AnswerCodes.of(coding, channel), (1.0, 0.0), 2)
    bag = Bag(np.arange(4), np.array([3, 1, 1, 2]), np.uint64(1))
    tree = rows.grow(Growth(1, 5, 2.0, 1.0, 5, False), bag)
    counts = InverseCounts(1, False, *tree.numbers, 7.0)
    assert_allclose(counts.unclipped, [[5, 2], [5, 0], [0, 2]])
    assert not counts.sd.any()
    assert counts.noise_only.tolist() == [False, False, False]


@pytest.mark.parametrize("keep", [0.5, 0.95])
def test_the_total_of_a_root_is_known(keep):
    rows, label = np.array([[6.0, 4.0]]), (keep + 0.02, 1 - keep - 0.02)
    counts = InverseCounts(1, True, rows, rows, 10.0, label)
    assert counts.sd[0] == 0
    assert counts.unclipped.sum() == pytest.approx(10)
