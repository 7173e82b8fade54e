"""Scores by hand, by a plain twin in fractions, and how far one row more moves them."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from privet.tree.criteria import (
    GINI,
    GINI_INDEX,
    GRID,
    MAX_CLASS,
    MAX_ROWS,
    entropy,
    entropy_score,
    gini_index_score,
    gini_over_sensitivity,
    gini_score,
    max_class_score,
)
from tests.central.selection import given_away, probabilities

ENTROPY = entropy_score(500)
# One node, two values: 3 and 1 rows of the classes, and 0 and 2.
BY_HAND = np.array([[[3, 1], [0, 2]]])


def one_node(values) -> np.ndarray:
    return np.array([values], dtype=np.int64)


@st.composite
def tables(draw, most=60):
    """One node's counts of an attribute, values x classes, and the cell that one row more falls into."""
    n_values, n_classes = draw(st.integers(1, 5)), draw(st.integers(2, 4))
    line = st.lists(st.integers(0, most // n_classes // 2), min_size=n_classes, max_size=n_classes)
    counts = one_node(draw(st.lists(line, min_size=n_values, max_size=n_values)))
    return counts, (0, draw(st.integers(0, n_values - 1)), draw(st.integers(0, n_classes - 1)))


def fall(score, counts, cell) -> int:
    """Return how many steps one row more takes off a score."""
    more = counts.copy()
    more[cell] += 1
    return int(score(counts)[0] - score(more)[0])


def test_scores_by_hand():
    # 4 (1 - (9 + 1) / 16) = 1.5 rows of impurity in the first value, none in the second.
    assert_array_equal(gini_score(BY_HAND), [-1.5 * GRID])
    assert_array_equal(max_class_score(BY_HAND), [3 + 2])
    assert_array_equal(gini_index_score(BY_HAND), [-1.5 * GRID / 6])
    assert_array_equal(entropy_score(10).of(one_node([[1, 1], [0, 3]])), [-2 * GRID])
    assert_allclose(entropy(one_node([[2, 2], [0, 8]]).astype(float)), [4.0])


def test_nodes_are_scored_one_by_one_and_an_empty_one_has_nothing_impure():
    both = np.concatenate([BY_HAND, np.zeros_like(BY_HAND)])
    assert_array_equal(gini_score(both), [-1536, 0])
    for score in (max_class_score, gini_index_score, ENTROPY.of):
        assert score(both)[1] == 0
        assert_array_equal(score(both)[:1], score(BY_HAND))


def test_released_counts_below_zero_are_taken_as_zero_in_the_entropy():
    assert_allclose(entropy(one_node([[2, 2], [-5, 8]]).astype(float)), [4.0])
    assert_allclose(entropy(one_node([[-1, -1]]).astype(float)), [0.0])


@given(tables())
def test_one_row_more_takes_between_0_and_2_rows_off_the_gini_score(case):
    assert 0 <= fall(gini_score, *case) <= GINI.sensitivity == 2 * GRID


@given(tables())
def test_one_row_more_is_right_or_not(case):
    assert -fall(max_class_score, *case) in {0, 1}
    assert MAX_CLASS.sensitivity == 1


@given(tables(most=400))
def test_one_row_more_never_raises_the_entropy_score_and_takes_no_more_off_than_its_sensitivity(case):
    assert 0 <= fall(ENTROPY.of, *case) <= ENTROPY.sensitivity


@given(tables())
def test_one_row_more_moves_the_gini_index_by_no_more_than_its_sensitivity(case):
    assert abs(fall(gini_index_score, *case)) <= GINI_INDEX.sensitivity
    assert not GINI_INDEX.monotone


def test_smaller_sensitivities_would_be_wrong():
    # A row of another class beside 3: 4 gini = 4 - 10/4 = 1.5 rows. Beside a thousand it is nearly 2.
    assert fall(gini_score, one_node([[3, 0]]), (0, 0, 1)) == 1.5 * GRID
    assert fall(gini_score, one_node([[1000, 0]]), (0, 0, 1)) > 1.99 * GRID
    assert fall(gini_index_score, one_node([[1, 0]]), (0, 0, 1)) == GRID // 2
    # Among 499 rows of the other class one takes f(498) = 498 log2 (499 / 498) + log2 499 bits.
    assert ENTROPY.sensitivity == math.floor(GRID * (math.log2(500) + 499 * math.log2(500 / 499)))
    assert fall(ENTROPY.of, one_node([[498, 0]]), (0, 0, 1)) > ENTROPY.sensitivity - 3 * GRID // 499


def test_the_gini_index_moves_both_ways_and_the_others_do_not():
    mixed = one_node([[1, 1], [0, 0]])
    assert fall(gini_index_score, mixed, (0, 1, 0)) < 0 < fall(gini_index_score, one_node([[2, 0]]), (0, 0, 1))


@given(st.lists(st.lists(st.integers(0, 2**28), min_size=2, max_size=2), min_size=1, max_size=3))
def test_the_gini_score_is_exact_up_to_the_largest_tables(counts):
    def impure(line):
        n = sum(line)
        return math.floor(GRID * (n - Fraction(sum(c * c for c in line), n))) if n else 0

    assert gini_score(one_node(counts))[0] == -sum(map(impure, counts))


@pytest.mark.parametrize("line", [(MAX_ROWS - 2, 1), (2**30, 2**30 - 1), (MAX_ROWS - 1, 0), (2**31 - 65_536, 65_535)])
def test_scores_are_exact_just_below_the_most_rows(line):
    n = sum(line)
    exact = n - Fraction(sum(c * c for c in line), n)
    assert gini_score(one_node([line]))[0] == -math.floor(GRID * exact)
    assert gini_index_score(one_node([line]))[0] == math.floor(Fraction(-math.floor(GRID * exact), n))
    assert 0 <= fall(gini_score, one_node([line]), (0, 0, 1)) <= GINI.sensitivity
    assert max_class_score(one_node([line]))[0] == max(line)


def test_beyond_its_table_the_entropy_still_moves_one_way_and_within_its_sensitivity():
    score = entropy_score(50)
    rng = np.random.default_rng(4)
    for _ in range(300):
        counts = rng.integers(0, 60, (1, 3, 3))
        more = counts.copy()
        more[0, rng.integers(3), rng.integers(3)] += 1
        assert 0 <= int(score.of(counts)[0] - score.of(more)[0]) <= score.sensitivity


def test_the_gini_score_does_not_wrap_around_where_machine_integers_would():
    counts = one_node([(1_239_850_263, 1_239_850_263, 1_239_850_263)])
    more = counts.copy()
    more[0, 0, 0] += 1
    assert 0 <= int(gini_score(counts)[0] - gini_score(more)[0]) <= GINI.sensitivity


@given(tables(most=400))
def test_the_entropy_score_is_the_entropy_up_to_a_step_a_row(case):
    counts, _ = case
    assert abs(ENTROPY.of(counts)[0] / GRID + entropy(counts.astype(float))[0]) <= counts.sum() / GRID + 1e-9


SCORES = {"gini": GINI, "max_class": MAX_CLASS, "entropy": ENTROPY, "gini index": GINI_INDEX}
ROWS = st.lists(st.tuples(*[st.integers(0, 2)] * 4), min_size=0, max_size=40)


def counted(rows, attribute) -> np.ndarray:
    counts = np.zeros((1, 3, 3), dtype=np.int64)
    for row in rows:
        counts[0, row[attribute], row[3]] += 1
    return counts


@pytest.mark.parametrize("name", SCORES)
@given(rows=ROWS, more=st.tuples(*[st.integers(0, 2)] * 4))
@settings(max_examples=60, deadline=None)
def test_a_choice_by_score_gives_away_no_more_than_it_costs(name, rows, more):
    score, epsilon = SCORES[name], 0.7

    def law(table):
        return probabilities([score.of(counted(table, a))[0] for a in range(3)], score=score, epsilon=epsilon)

    assert given_away(law(rows), law([*rows, more])) <= epsilon + 1e-9


def test_half_the_sensitivity_would_give_away_more_than_the_choice_costs():
    half = type(GINI)(gini_score, GINI.sensitivity // 2)
    rows, more = [(0, 0, 0, 0)] * 30, (0, 1, 1, 1)

    def law(table, score):
        return probabilities([gini_score(counted(table, a))[0] for a in range(2)], score=score, epsilon=1.0)

    assert given_away(law(rows, half), law([*rows, more], half)) > 1.9
    assert 0.9 < given_away(law(rows, GINI), law([*rows, more], GINI)) <= 1.0


def test_the_papers_exponent_by_hand():
    # At size 1 Theorem 1 has Delta = 1 - 1/4 - 1/4 = 1/2: G / (2 Delta) is G itself.
    even = one_node([[1, 1]])
    assert_array_equal(gini_over_sensitivity(even, np.array([1])), [-GRID // 2])
    # At size 3 Delta = 1 - 9/16 - 1/16 = 3/8.
    assert_array_equal(gini_over_sensitivity(even, np.array([3])), [math.floor(-GRID / 2 / (3 / 4))])


def test_a_noisy_size_below_one_counts_as_one():
    even = one_node([[1, 1]])
    for size in (0, -300):
        assert_array_equal(gini_over_sensitivity(even, np.array([size])), [-GRID // 2])
