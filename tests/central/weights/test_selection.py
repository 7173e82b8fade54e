"""Which attributes are worth a tree."""

from itertools import product

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from privet.central.weights import selection
from privet.central.weights.selection import SENSITIVITY, choose_informative, exact_score, whole_parts
from privet.privacy.events import NoNoise, PermuteAndFlip
from privet.rng import SeededNoise
from tests.loops import loop_over

PARTS = 2**20
EVEN = np.array([0.5, 0.5])
# The first tells the classes apart, the second a little, the last not at all.
TELLING, HALF, NOTHING = np.array([[9, 0], [0, 9]]), np.array([[9, 3], [0, 6]]), np.array([[5, 5], [4, 4]])


def chosen(tables, n_kept, *, epsilon=np.inf, balance=EVEN, rows=1, codings=None):
    codings = [[np.arange(len(table))] for table in tables] if codings is None else codings
    return choose_informative(
        tables, codings, balance, n_kept, epsilon=epsilon, rows=rows, what="choices", noise=SeededNoise(1)
    )  # fmt: skip


def scores_seen(monkeypatch, tables, balance, codings=None):
    """Return the scores that the choice is made by."""
    seen = []

    def first(scores, **_):
        seen.append(np.array(scores))
        return 0, NoNoise("choice")

    monkeypatch.setattr(selection, "permute_and_flip", first)
    chosen(tables, 1, balance=np.array(balance), codings=codings)
    return seen[0]


def test_the_score_by_hand():
    # |n_vc - p_c n_v|: 4.5 four times, twice the number of parts over: 2 parts x 9.
    parts = whole_parts(EVEN)
    assert exact_score(TELLING, parts) == 18 * PARTS
    assert exact_score(NOTHING, parts) == 0
    # Row (9, 3) of 12 is off by 3 twice, row (0, 6) by 3 twice.
    assert exact_score(HALF, parts) == 12 * PARTS
    # With shares 1/4 and 3/4, (9, 0) is off by 6.75 twice and (0, 9) by 2.25 twice.
    assert exact_score(TELLING, whole_parts(np.array([1.0, 3.0]))) == 18 * PARTS


def test_one_row_moves_a_lone_score_by_all_that_is_allowed(monkeypatch):
    tables = [np.zeros((2, 2), dtype=np.int64), np.array([[1, 0], [0, 0]])]
    assert scores_seen(monkeypatch, tables, [0.25, 0.75]).tolist() == [0, SENSITIVITY]
    # A row of the other class is less of a surprise: (1 - 3/4) / (1 - 1/4).
    tables = [np.zeros((2, 2), dtype=np.int64), np.array([[0, 1], [0, 0]])]
    assert scores_seen(monkeypatch, tables, [0.25, 0.75]).tolist() == [0, SENSITIVITY // 3]


@pytest.mark.parametrize("balance", [(0.5, 0.5), (0.1, 0.9), (1 / 3, 2 / 3), (0.001, 0.999)])
def test_no_neighbour_of_a_small_table_moves_its_score_farther(monkeypatch, balance):
    counts = list(product(range(4), repeat=4))
    tables = {own: np.array(own).reshape(2, 2) for own in counts}
    scores = dict(zip(counts, scores_seen(monkeypatch, list(tables.values()), balance).tolist(), strict=True))
    moves = [
        abs(scores[own] - scores[tuple(np.add(own, one))])
        for own in counts
        for one in np.eye(4, dtype=int)
        if tuple(np.add(own, one)) in scores
    ]
    assert max(moves) == SENSITIVITY


@loop_over("seed", range(20))
def test_no_neighbour_of_a_table_with_more_classes_moves_its_score_farther(monkeypatch, seed):
    rng = np.random.default_rng(seed)
    n_values, n_classes = rng.integers(1, 6), rng.integers(2, 6)
    table = rng.integers(0, 1000, (n_values, n_classes))
    more = [table + (np.arange(table.size) == i).reshape(table.shape) for i in range(table.size)]
    scores = scores_seen(monkeypatch, [table, *more], rng.dirichlet(np.ones(n_classes)))
    assert np.abs(scores[1:] - scores[0]).max() <= SENSITIVITY


# Codes 0 to 3: each alone, halves, ends against the middle.
WAYS = [np.array([0, 1, 2, 3]), np.array([0, 0, 1, 1]), np.array([0, 1, 1, 0])]


def test_the_score_is_that_of_the_best_coding_by_hand(monkeypatch):
    # Each alone: |4 - 2| eight times is 16, halved 8. Halves: (8, 0) and (0, 8), the same 8. The ends: nothing.
    steps, ends = np.array([[4, 0], [4, 0], [0, 4], [0, 4]]), np.array([[4, 0], [0, 4], [0, 4], [4, 0]])
    for tables, ways, best in (
        ([steps], [WAYS], 8), ([steps], [WAYS[2:]], 0), ([ends], [WAYS[1:]], 8), ([ends], [WAYS[1:2]], 0)
    ):  # fmt: skip
        assert scores_seen(monkeypatch, tables, EVEN, ways).tolist() == [best * 2 * SENSITIVITY]


def moved_most(monkeypatch, balance, ways):
    """Return how far one more row moves the score of any table of up to two rows a code and class, at most."""
    counts = [np.array(own).reshape(4, 2) for own in product(range(3), repeat=8)][:: 1 if len(ways) < 3 else 2]
    rows = [np.eye(8, dtype=int)[i].reshape(4, 2) for i in (0, 3, 5, 6)]
    tables = [own + row for own in counts for row in [0 * rows[0], *rows]]
    scores = scores_seen(monkeypatch, tables, balance, [ways] * len(tables)).reshape(len(counts), -1)
    return int(np.abs(scores[:, 1:] - scores[:, :1]).max())


@pytest.mark.parametrize("balance", [(0.5, 0.5), (0.1, 0.9)])
def test_no_neighbour_moves_the_score_of_the_best_coding_farther(monkeypatch, balance):
    assert moved_most(monkeypatch, balance, WAYS) == SENSITIVITY


def test_the_sum_over_codings_would_move_farther(monkeypatch):
    monkeypatch.setattr(selection, "max", sum, raising=False)
    assert moved_most(monkeypatch, (0.5, 0.5), WAYS) == 3 * SENSITIVITY


@pytest.mark.parametrize("balance", [[0.5, 0.5], [1e-9, 1], [1 / 3] * 3, [0.1] * 7 + [0.3], [2.0, 5.0]])
def test_parts_add_up_exactly(balance):
    parts = whole_parts(np.array(balance))
    assert parts.sum() == PARTS
    assert (parts >= 0).all()
    assert np.abs(parts / PARTS - np.array(balance) / sum(balance)).max() < len(balance) / PARTS


def test_without_noise_the_most_telling_are_kept_in_the_order_of_the_schema():
    tables = [NOTHING, HALF, NOTHING, TELLING]
    assert chosen(tables, 1)[0] == [3]
    assert chosen(tables, 2)[0] == [1, 3]
    kept, receipts = chosen([TELLING, HALF, NOTHING], 2)
    assert kept == [0, 1]
    assert receipts == [NoNoise("choices")] * 2


def test_each_choice_has_an_equal_share_and_one_candidate_less():
    _, receipts = chosen([TELLING, HALF, NOTHING, HALF], 3, epsilon=0.9, rows=5)
    parts = [receipt.part for receipt in receipts]  # seeded
    assert all(isinstance(part, PermuteAndFlip) and not part.monotone for part in parts)
    assert [part.candidates for part in parts] == [4, 3, 2]
    assert {part.sensitivity for part in parts} == {5 * SENSITIVITY}
    assert all(3 * part.epsilon <= 0.9 and part.epsilon == pytest.approx(0.3) for part in parts)


def test_all_but_one_can_be_kept():
    assert chosen([TELLING, NOTHING, HALF], 2)[0] == [0, 2]


def test_large_tables_do_not_wrap_around(monkeypatch):
    huge = np.array([[2**40, 0], [0, 2**40]])
    scores = scores_seen(monkeypatch, [huge, TELLING], EVEN)
    assert_array_equal(scores, [2 * 2**40 * SENSITIVITY, 18 * SENSITIVITY])
