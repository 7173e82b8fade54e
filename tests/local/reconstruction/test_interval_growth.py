"""Trees grow where it gains, stop where they should, and find cells again only for what their path has not tested."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from privet.counting.rows import MemoryRows, exact_leaf_counts
from privet.local.reconstruction.hidden_columns import HiddenColumn
from privet.local.reconstruction.interval_growth import GrowthLimits, IntervalGrowth, children_counts
from privet.schema import Categorical, Numeric, Schema
from privet.tree.forest import LEAF

SCHEMA = Schema([Numeric("x", 0, 8, bins=8), Numeric("z", 0, 8, bins=8)], classes=[5, 9])
LIMITS = GrowthLimits(min_rows=2, purity=1.0, height=64, min_gain=0.0)


def grown(codes, labels, limits=LIMITS, schema=SCHEMA, hidden=()):
    rows = MemoryRows(np.array(codes, dtype=np.uint8), np.array(labels, dtype=np.uint16))
    return IntervalGrowth.root(schema, rows, list(hidden), limits).grow(), rows


def asked_by(forest):
    return [(int(a), int(c)) for a, c in zip(forest.attribute, forest.cut, strict=True) if a != LEAF]


def test_one_border_by_hand():
    forest, rows = grown([[0, 3], [1, 3], [4, 3], [5, 3]], [0, 0, 1, 1])
    assert asked_by(forest) == [(0, 2)]  # between 1 and 4
    assert_array_equal(exact_leaf_counts(forest, rows, n_classes=2), [[2, 0], [0, 2]])


def test_an_exclusive_or_is_found_when_the_first_cut_gains_a_little():
    points = [(x, z) for x in range(8) for z in range(8) if (x, z) != (0, 0)]
    labels = [(x < 4) != (z < 4) for x, z in points]
    forest, rows = grown(points, labels)
    counts = exact_leaf_counts(forest, rows, n_classes=2)
    assert (counts.min(axis=1) == 0).all()


@pytest.mark.parametrize(
    ("limits", "n_nodes"),
    [
        (GrowthLimits(2, 1.0, 64, 0.0), 5),
        (GrowthLimits(13, 1.0, 64, 0.0), 1),
        (GrowthLimits(12, 1.0, 64, 0.0), 3),
        (GrowthLimits(2, 1.0, 1, 0.0), 3),
        (GrowthLimits(2, 0.75, 64, 0.0), 3),
        (GrowthLimits(2, 0.5, 64, 0.0), 1),
        (GrowthLimits(2, 1.0, 64, 0.4), 1),
    ],
)
def test_growth_stops_by_rows_purity_height_and_gain(limits, n_nodes):
    # 6 of class 0 below, then 5 of class 1 and 1 of class 0: two cuts make it pure.
    codes, labels = [[0, 0]] * 6 + [[4, 0]] * 5 + [[7, 0]], [0] * 6 + [1] * 5 + [0]
    assert grown(codes, labels, limits)[0].n_nodes == n_nodes


def test_a_gain_is_the_fall_of_the_gini_index():
    # Half and half, told apart wholly: from 1/2 to 0.
    codes, labels = [[0, 0]] * 4 + [[7, 0]] * 4, [0] * 4 + [1] * 4
    assert grown(codes, labels, GrowthLimits(2, 1.0, 64, 0.499))[0].n_nodes == 3
    assert grown(codes, labels, GrowthLimits(2, 1.0, 64, 0.5))[0].n_nodes == 1


def test_missing_codes_go_right_and_can_be_told_from_all_others():
    forest, _ = grown([[0, 0], [7, 0], [3, 0], [8, 0], [8, 0]], [0, 0, 0, 1, 1])
    assert asked_by(forest) == [(0, 7)]


def test_categories_branch_once_for_all_codes_and_never_again_on_a_path():
    schema = Schema([Categorical("colour", ["red", "green"]), SCHEMA.attributes[1]], classes=[5, 9])
    codes, labels = [[0, 0], [0, 1], [1, 0], [1, 1], [2, 0]] * 3, [0, 1, 1, 0, 1] * 3
    forest, rows = grown(codes, labels, schema=schema)
    assert asked_by(forest)[0] == (0, -1)
    assert forest.n_children[0] == 3
    assert {a for a, _ in asked_by(forest)[1:]} == {1}
    assert (exact_leaf_counts(forest, rows, n_classes=2).min(axis=1) == 0).all()


def test_children_counts_by_hand():
    table = np.array([[1, 0], [2, 3], [0, 4]])
    assert_array_equal(children_counts(table, 0), [[1, 0], [2, 7]])
    assert_array_equal(children_counts(table, -1), table)


class Recorded(HiddenColumn):
    """Notes which rows it is asked to place, and gives them all the same cells as before."""

    def __init__(self, position):
        object.__setattr__(self, "position", position)
        object.__setattr__(self, "asked", [])

    def place(self, group, n_groups, codes):
        self.asked.append((group.copy(), n_groups))

    def _assign(self, group, counts, shares, codes):
        raise NotImplementedError


def test_cells_are_found_anew_in_large_nodes_for_what_the_path_has_not_tested():
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 8, (400, 2))
    codes[:250, 0], codes[250:, 0] = codes[:250, 0] % 4, 4 + codes[250:, 0] % 4
    labels = np.where(rng.random(400) < 0.2, 1, codes[:, 0] > 3).astype(int)
    x, z = Recorded(0), Recorded(1)
    limits = GrowthLimits(50, 1.0, 2, 0.0, min_reconstructed=200)
    forest, _ = grown(codes, labels, limits, hidden=[x, z])
    assert asked_by(forest)[0] == (0, 3)
    # Both children have tested x. One of them has 200 rows: its z is placed again, class by class.
    assert x.asked == []
    ((group, n_groups),) = z.asked
    assert n_groups == 2
    assert_array_equal(group >= 0, codes[:, 0] <= 3)
    assert_array_equal(group[group >= 0], labels[codes[:, 0] <= 3])


def test_without_a_least_number_of_rows_no_cell_is_found_anew():
    z = Recorded(1)
    grown([[0, 0], [1, 1], [4, 0], [5, 1]] * 5, [0, 1, 1, 0] * 5, hidden=[z])
    assert z.asked == []
