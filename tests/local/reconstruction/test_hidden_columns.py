"""Rows get as many places in every cell as were reconstructed: numbers in order, categories by lot."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from privet.local.channels.added_noise import AddedNoise
from privet.local.channels.cells import FieldValues
from privet.local.channels.distributions import Uniform
from privet.local.channels.randomized_response import RandomAnswer
from privet.local.reconstruction.bayes_iteration import iterate, posterior
from privet.local.reconstruction.hidden_columns import HiddenCategory, HiddenNumber, whole_sums
from privet.schema import Numeric

CELLS = Numeric("x", 0, 1, bins=10)
COLUMN = AddedNoise(CELLS, Uniform(0.5))
NOBODY = 99


def words(n, seed=0):
    return np.random.default_rng(seed).integers(0, 2**64, n, dtype=np.uint64)


def placed(hidden, group, n_groups, n_rows, n_columns=3):
    codes = np.full((n_rows, n_columns), NOBODY, dtype=np.uint8)
    hidden.place(np.asarray(group, dtype=np.int64), n_groups, codes)
    assert (np.delete(codes, hidden.position, axis=1) == NOBODY).all()
    return codes[:, hidden.position]


def seen(numbers):
    return COLUMN.see(FieldValues(CELLS, numbers), CELLS)


def answers(x, seed=0):
    return COLUMN.answer_for(COLUMN.codes(x), words(len(x), seed))


def test_whole_sums_by_hand():
    # 7 rows: 1.75, 3.5 (to even: 4) and 7 of them; 2 rows: 0, 0.5 (0) and 2.
    shares = np.array([[0.25, 0.25, 0.5], [0.0, 0.25, 0.75]])
    assert_array_equal(whole_sums(shares, np.array([7, 2])), [[2, 4, 7], [0, 0, 2]])


def test_whole_sums_never_exceed_the_rows_and_never_fall():
    rng = np.random.default_rng(5)
    sizes = rng.integers(0, 10**9, 200)
    upto = whole_sums(rng.dirichlet(np.full(50, 0.1), 200) * (1 + 1e-9), sizes)
    assert (np.diff(upto, axis=1) >= 0).all()
    assert_array_equal(upto[:, -1], sizes)
    assert (upto <= sizes[:, None]).all()


def test_cells_follow_the_order_of_the_answers_and_the_estimate():
    rng = np.random.default_rng(1)
    numbers = answers(rng.uniform(0.3, 0.6, 3_000))
    hidden = HiddenNumber.of(1, seen(numbers), rng.permutation(3_000))
    codes = placed(hidden, np.zeros(3_000), 1, 3_000)
    # Equal answers may lie in two cells, so their codes decide among them: no sort's order of ties is relied on.
    assert (np.diff(codes[np.lexsort((codes, numbers))].astype(int)) >= 0).all()
    estimate = iterate(hidden.chances, np.bincount(hidden.answer, minlength=len(hidden.chances))[None, :], hidden.start)
    assert np.abs(np.bincount(codes, minlength=10) - 3_000 * estimate.shares[0]).max() <= 1
    assert np.bincount(codes, minlength=10)[3:6].sum() > 2_500


def test_groups_are_reconstructed_each_by_itself():
    rng = np.random.default_rng(2)
    numbers = answers(np.concatenate([rng.uniform(0, 0.3, 2_000), rng.uniform(0.7, 1, 2_000)]))
    hidden = HiddenNumber.of(0, seen(numbers), rng.permutation(4_000))
    group = np.repeat([0, 1], 2_000)
    together = placed(hidden, group, 2, 4_000)
    for own in (0, 1):
        alone = placed(hidden, np.where(group == own, 0, -1), 1, 4_000)
        assert_array_equal(together[group == own], alone[group == own])
        assert (alone[group != own] == NOBODY).all()
    assert together[:2_000].mean() < 2.5
    assert together[2_000:].mean() > 6.5


def test_missing_answers_and_empty_groups_keep_their_code():
    numbers = np.array([0.2, np.nan, 0.8, np.nan])
    hidden = HiddenNumber.of(0, seen(numbers), np.arange(4))
    codes = placed(hidden, [1, 1, 1, 1], 3, 4)
    assert_array_equal(codes == NOBODY, np.isnan(numbers))


def test_equal_answers_are_put_in_order_by_lot_and_not_by_their_place():
    numbers = np.full(2_000, 0.5)
    codes = [
        placed(
            HiddenNumber.of(0, seen(numbers), np.random.default_rng(seed).permutation(2_000)),
            np.zeros(2_000),
            1,
            2_000,
        )
        for seed in (1, 2)
    ]
    assert_array_equal(np.bincount(codes[0]), np.bincount(codes[1]))
    assert not np.array_equal(*codes)
    # The first half of the table has no more of the lower cells than the second, up to chance.
    low = codes[0] < 5
    assert abs(int(low[:1_000].sum()) - int(low[1_000:].sum())) < 200


@pytest.mark.parametrize("covers_missing", [False, True])
def test_categories_move_as_the_posterior_says(covers_missing):
    n_answers = 3 + covers_missing
    column = RandomAnswer("colour", n_answers, 0.6, covers_missing)
    rng = np.random.default_rng(4)
    truth = rng.choice(4, 10_000, p=[0.6, 0.2, 0.1, 0.1])
    answer = column.answer_for(truth, words(10_000, 3)).astype(np.uint8)
    hidden = HiddenCategory.of(2, column.see(FieldValues(CELLS, None, answer), CELLS), rng.permutation(10_000))
    codes = placed(hidden, np.zeros(10_000), 1, 10_000)
    covered = answer < n_answers
    assert_array_equal(codes == NOBODY, ~covered)
    counts = np.bincount(answer[covered], minlength=n_answers)
    estimate = iterate(column.matrix, counts[None, :], np.full(n_answers, 1 / n_answers)).shares[0]
    plan = counts[:, None] * posterior(column.matrix, estimate)
    moved = np.zeros((n_answers, n_answers))
    np.add.at(moved, (answer[covered], codes[covered]), 1)
    assert np.abs(moved - plan).max() <= 1
    # After moving, the counts are those of the truth again, up to chance.
    assert (
        np.abs(
            np.bincount(codes[covered], minlength=n_answers) - np.bincount(truth[covered], minlength=n_answers)
        ).max()
        < 400
    )


def test_which_rows_move_is_drawn():
    column = RandomAnswer("colour", 2, 0.7)
    told = column.see(FieldValues(CELLS, None, np.repeat([0, 1], 500)), CELLS)
    first, second = (
        placed(
            HiddenCategory.of(0, told, np.random.default_rng(seed).permutation(1_000)),
            np.zeros(1_000),
            1,
            1_000,
        )
        for seed in (0, 1)
    )
    assert not np.array_equal(first, second)
    assert_array_equal(np.bincount(first[:500]), np.bincount(second[:500]))
