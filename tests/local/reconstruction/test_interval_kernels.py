"""The kernels agree with their plain twins, and with splits and orders worked out by hand."""

from fractions import Fraction

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from privet.local.reconstruction import interval_kernels
from tests.local.reconstruction import interval_reference
from tests.loops import loop_over


def both(name, *arguments):
    """Return what kernel and twin write to the last of ``arguments``."""
    written = []
    for module in (interval_kernels, interval_reference):
        own = [a.copy() if isinstance(a, np.ndarray) else a for a in arguments]
        getattr(module, name)(*own)
        written.append(own[-1])
    return written


@loop_over("seed", range(20))
def test_answers_are_counted_as_by_the_twin(seed):
    rng = np.random.default_rng(seed)
    group, answer = rng.integers(-1, 4, 200), rng.integers(-1, 6, 200)
    fast, plain = both("count_answers", group, answer, np.zeros((4, 6), dtype=np.int64))
    assert_array_equal(fast, plain)
    assert fast.sum() == np.count_nonzero((group >= 0) & (answer >= 0))


@loop_over("seed", range(20))
def test_rows_are_ordered_as_by_the_twin(seed):
    rng = np.random.default_rng(seed)
    rows, place = rng.permutation(100), rng.integers(-1, 12, 100)
    order = np.empty(np.count_nonzero(place >= 0), dtype=np.int64)
    fast, plain = both("order_by_place", rows, place, 15, order)
    assert_array_equal(fast, plain)


def test_rows_of_one_place_stay_in_order():
    order = np.empty(3, dtype=np.int64)
    interval_kernels.order_by_place(np.array([3, 1, 0, 2]), np.array([1, 1, -1, 0]), 2, order)
    assert_array_equal(order, [3, 1, 0])  # row 2 has no place


@loop_over("seed", range(20))
def test_rows_are_assigned_as_by_the_twin(seed):
    rng = np.random.default_rng(seed)
    group, order = rng.integers(-1, 3, 100), rng.permutation(100)
    upto = np.array([np.sort(rng.integers(0, size + 1, 5)) for size in np.bincount(group + 1, minlength=4)[1:]])
    upto[:, -1] = np.bincount(group + 1, minlength=4)[1:]
    fast, plain = both("assign_in_order", order, group, upto, 1, np.full((100, 2), 77, dtype=np.uint8))
    assert_array_equal(fast, plain)
    assert (fast[:, 0] == 77).all()
    assert_array_equal(fast[:, 1] == 77, group == -1)


def test_rows_are_assigned_in_order_by_hand():
    codes = np.full((5, 1), 9, dtype=np.uint8)
    order, group = np.array([3, 1, 4, 0, 2]), np.array([0, 0, -1, 0, 0])
    interval_kernels.assign_in_order(order, group, np.array([[1, 1, 4]]), 0, codes)
    # Row 3 comes first and has cell 0 alone; cell 1 is empty; row 2 is in no group.
    assert_array_equal(codes[:, 0], [2, 2, 9, 0, 2])


def splits_of(module, tables, n_codes, binary, n_classes):
    n_codes = np.array(n_codes)
    offsets = (np.cumsum(n_codes) - n_codes) * n_classes
    n = len(tables)
    found = np.empty(n, np.int64), np.empty(n, np.int64), np.empty(n)
    module.best_splits(np.array(tables), offsets, n_codes, np.array(binary), n_classes, *found)
    return found


def exact_purity(table, n_codes, binary, n_classes, attribute, cut):
    start = sum(n_codes[:attribute]) * n_classes
    part = np.array(table[start : start + n_codes[attribute] * n_classes]).reshape(-1, n_classes)
    children = [part[: cut + 1].sum(axis=0), part[cut + 1 :].sum(axis=0)] if binary[attribute] else list(part)
    return sum(Fraction(int((c**2).sum()), int(c.sum())) for c in children if c.sum())


@loop_over("seed", range(60))
def test_the_best_split_is_that_of_the_twin(seed):
    rng = np.random.default_rng(seed)
    n_classes, n_codes, binary = int(rng.integers(2, 4)), rng.integers(2, 7, 3).tolist(), rng.random(3) < 0.6
    labels = rng.integers(0, n_classes, 40)
    tables = []
    for _ in range(4):
        parts = [np.zeros((n, n_classes), dtype=np.int64) for n in n_codes]
        for part in parts:
            np.add.at(part, (rng.integers(0, len(part), 40), labels), 1)
        tables.append(np.concatenate([part.ravel() for part in parts]))
    (attribute, cut, purity), plain = (
        splits_of(m, tables, n_codes, binary, n_classes) for m in (interval_kernels, interval_reference)
    )
    assert_allclose(purity, plain[2], rtol=1e-12)
    # Equally good splits may differ in the last digit, by the order of a sum: compared exactly, all are best.
    for i, table in enumerate(tables):
        exact = [exact_purity(table, n_codes, binary, n_classes, a[i], c[i]) for a, c in ((attribute, cut), plain[:2])]
        assert exact[0] == exact[1]


def test_a_border_is_found_by_hand():
    # Codes 0 and 1 hold class 0, code 2 class 1: n_c^2 / n = 3 + 2.
    found = splits_of(interval_kernels, [[2, 0, 1, 0, 0, 2]], [3], [True], 2)
    assert [part.tolist() for part in found] == [[0], [1], [5.0]]


def test_a_cut_lies_in_the_middle_of_the_empty_codes():
    found = splits_of(interval_kernels, [[3, 0, *[0] * 10, 0, 2]], [7], [True], 2)
    assert found[1][0] == (0 + 5) // 2


def test_the_code_of_missing_values_lies_above_every_cut():
    found = splits_of(interval_kernels, [[3, 0, 0, 0, 0, 2]], [3], [True], 2)
    assert found[1][0] == 0
    found = splits_of(interval_kernels, [[2, 0, 1, 0, 0, 4]], [3], [True], 2)
    assert found[1][0] == 1  # all values to the left, missing ones to the right


def test_categories_have_a_child_each():
    found = splits_of(interval_kernels, [[3, 0, 0, 2, 2, 0, *[5, 2, 0, 0, 0, 0]]], [3, 3], [False, True], 2)
    assert [part.tolist() for part in found] == [[0], [-1], [7.0]]


@pytest.mark.parametrize("table", [[4, 3, 0, 0, 0, 0], [2, 2, 2, 2, 0, 0], [0, 0, 0, 0, 0, 0]])
@pytest.mark.parametrize("binary", [True, False])
def test_where_nothing_gains_there_is_no_split(table, binary):
    for module in (interval_kernels, interval_reference):
        assert splits_of(module, [table], [3], [binary], 2)[0][0] == -1
