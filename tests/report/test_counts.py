"""Released counts against their noise."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from privet import Categorical, Numeric, Schema
from privet.report.page import counts
from privet.report.page.trees import shares
from privet.tree.counted import CountedForest
from privet.tree.forest import Forest

SCHEMA = Schema([Categorical("sex", ["female", "male"]), Numeric("age", 0, 10, bins=10)], classes=["no", "yes"])


def model(noisy_counts, noise_std=2.0):
    """Two trees: one with three leaves, one with two."""
    attribute = np.array([0, 1, -1, -1, -1, -1, -1], np.int32)
    cut = np.array([-1, 4, -1, -1, -1, -1, -1], np.int32)
    forest = Forest.from_nodes(attribute, cut, 2, SCHEMA.attributes)
    nodes = CountedForest.of_leaves(forest, np.array(noisy_counts), noise_std**2)
    return SimpleNamespace(forest_=forest, nodes_=nodes, schema_=SCHEMA)


FIVE_LEAVES = [[10, 0], [0, 20], [5, 5], [12, 0], [0, 27]]


def test_supports_and_their_noise_by_hand():
    small = model(FIVE_LEAVES)
    assert counts.leaf_supports(small).tolist() == [10, 20, 10, 12, 27]
    assert counts.support_deviation(small) == pytest.approx(2 * 2**0.5)
    # Three deviations are 8.5 rows, with a noise of 4 they are 17.
    assert counts.share_above_noise(small) == 1.0
    assert counts.share_above_noise(model(FIVE_LEAVES, noise_std=4.0)) == pytest.approx(2 / 5)


def test_a_leaf_made_of_several_holds_the_noise_of_all_of_them():
    small = model(FIVE_LEAVES)
    nodes = replace(small.nodes_, n_draws=np.full(small.forest_.n_nodes, 4))
    merged = SimpleNamespace(forest_=small.forest_, nodes_=nodes, schema_=SCHEMA)
    # Four draws of 2 spread like one of 4: three deviations of a sum over two classes are 17 rows.
    assert counts.share_above_noise(merged) == pytest.approx(2 / 5)
    assert counts.histogram(merged) == counts.histogram(model(FIVE_LEAVES, noise_std=4.0))


def test_trees_with_fewer_leaves_weigh_more_in_the_class_balance():
    no, yes = counts.class_balance(model(FIVE_LEAVES))
    # The first tree counts 15 and 25 on three leaves, the second 12 and 27 on two: weights 2/5 and 3/5.
    assert no["rows"] == pytest.approx(0.4 * 15 + 0.6 * 12)
    assert yes["rows"] == pytest.approx(0.4 * 25 + 0.6 * 27)
    half = (no["high"] - no["low"]) / 2
    assert half == pytest.approx(2.1183 * 2 / (1 / 3 + 1 / 2) ** 0.5 + 1, abs=1e-3)


def test_without_noise_the_class_balance_is_exact():
    no, _ = counts.class_balance(model(FIVE_LEAVES, noise_std=0.0))
    assert no["low"] == no["rows"] == no["high"]


def test_the_histogram_counts_every_leaf_once():
    told = counts.histogram(model([[-9, 0], [0, -3], [1, 0], [5, 0], [400, 0]]))
    assert sum(each.leaves for each in told) == 5
    assert [each.leaves for each in told] == [1, 1, 1, 1, 0, 0, 0, 1]
    assert [each.within_noise for each in told] == [True] * 4 + [False] * 4


def test_three_deviations_exactly_are_within_noise_in_share_and_histogram():
    # Two classes with a noise of 2^0.5 each: a support's deviation is 2, up to rounding.
    small = model([[6, 0], [7, 0], [0, 5], [0, 0], [9, 9]], noise_std=2**0.5)
    assert counts.share_above_noise(small) == pytest.approx(2 / 5)
    assert sum(each.leaves for each in counts.histogram(small) if not each.within_noise) == 2


def test_without_noise_the_histogram_counts_rows():
    told = counts.histogram(model([[0, 0], [1, 1], [3, 0], [29, 1], [1_000, 0]], noise_std=0.0))
    assert {each.label: each.leaves for each in told if each.leaves} == {
        "0": 1, "1 to 2": 1, "3 to 9": 1, "30 to 99": 1, "1,000 +": 1,
    }  # fmt: skip


def test_negative_counts_have_no_share():
    assert shares(np.array([[-4, 1, 3], [-1, 0, -2]])).tolist() == [[0.0, 0.25, 0.75], [0.0, 0.0, 0.0]]
