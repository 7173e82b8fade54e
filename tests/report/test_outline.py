"""Trees as nested boxes."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator

from privet.errors import ParameterError
from privet.report.page.outline import Box, Outline
from tests.report.forests import cells_tree, one_tree, wide_forest


def every_box(box):
    return [box, *(below for child in box.children for below in every_box(child))]


def test_a_small_tree_by_hand():
    root = Outline(one_tree()).tree(0, max_depth=None)
    assert (root.text, root.counts.tolist(), root.n_ends, root.n_levels) == ("", [4, 2], 2, 2)
    assert [(child.text, child.counts.tolist(), child.is_leaf) for child in root.children] == [
        ("age < 50", [3, 0], True), ("age >= 50 or missing", [1, 2], True),
    ]  # fmt: skip


def test_a_node_that_branches_on_cells_has_a_box_for_each():
    root = Outline(cells_tree()).tree(0, max_depth=None)
    assert [child.text for child in root.children] == [
        "age < 20", "20 <= age < 40", "40 <= age < 60", "age >= 60", "age is missing",
    ]  # fmt: skip


@pytest.mark.parametrize("max_depth", [1, 2, None])
@pytest.mark.parametrize("most_children", [None, 5])
def test_every_node_is_a_box_or_counted_below_one(max_depth, most_children):
    model = wide_forest()
    total = 0
    for tree in range(6):
        boxes = every_box(Outline(model).tree(tree, max_depth=max_depth, most_children=most_children))
        folded = [int(box.text.split()[1]) for box in boxes if box.text.startswith("…")]
        total += len(boxes) - len(folded) + sum(folded) + sum(box.n_below for box in boxes)
    assert total == model.forest_.n_nodes


def test_the_smallest_siblings_are_folded_and_keep_their_counts_and_noise():
    model = wide_forest(40, height=1)
    tree = next(t for t in range(6) if model.forest_.attribute[t] == 0)
    root = Outline(model).tree(tree, max_depth=None, most_children=4)
    *kept, folded = root.children
    assert (len(kept), folded.text) == (3, "… 38 more")
    assert np.array_equal(sum(child.counts for child in root.children), root.counts)
    assert folded.variance == pytest.approx(38 * model.noise_std_**2)
    assert min(child.counts.sum() for child in kept) >= folded.counts.sum() / 38


def test_noise_reaches_by_its_variance_and_hides_three_deviations():
    # A variance of 2 in each of 2 counts: the sum's deviation is 2.
    assert [Box("", np.array([n, 0]), 2.0, True).stands_out for n in (6, 7)] == [False, True]
    assert Box("", np.array([6, 0]), 2.0, True).reach == int(2.1183 * 2**0.5 + 1)
    assert Box("", np.array([1, 0]), 0.0, True).reach == 0


def test_a_model_without_counts_is_refused():
    class OfWeights(BaseEstimator):
        def fit(self):
            self.weights_ = [0.5]
            return self

    with pytest.raises(ParameterError, match="OfWeights releases no counts, so it has no tree .*; use plot_shapes"):
        Outline(OfWeights().fit())
