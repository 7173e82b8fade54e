"""Trees as nested boxes, and which nodes the page shows."""

import math

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator

from privet import Categorical, PrivateID3Classifier, Schema
from privet.errors import ParameterError
from privet.report.page import trees as module
from privet.report.page.trees import Box, Outline, printed_trees, shown_trees, tree_data
from privet.tree.conditions import Paths
from privet.tree.intervals import RELIABLE
from tests.report.forests import cells_tree, one_tree, wide_forest
from tests.report.people import exact, fitted, of_method


def shown(model):
    return shown_trees(model, Paths(model.forest_, model.schema_))


def test_a_small_forest_is_shown_whole():
    trees = shown(exact())
    assert trees.complete
    assert trees.counts.tolist() == exact().forest_.sums_of_leaves(exact().noisy_counts_).tolist()


@pytest.mark.parametrize("room", [3, 7, 20, 50])
def test_a_node_is_never_shown_without_its_parent(monkeypatch, room):
    monkeypatch.setattr(module, "MAX_NODES", room)
    trees = shown(fitted(unsafe_seeded_noise=True))
    assert len(trees.chosen) == room
    assert not trees.complete
    assert trees.parent[:3].tolist() == [-1, -1, -1]
    inner = trees.parent[3:]
    assert np.all((inner >= 0) & (inner < np.arange(3, room)))
    assert np.array_equal(trees.chosen[inner], trees.forest.parent[trees.chosen[3:]])


def test_what_stands_out_most_comes_first(monkeypatch):
    model = exact()
    monkeypatch.setattr(module, "MAX_NODES", 3 + model.forest_.depth)
    trees = shown(model)
    # The way to the leaf with the most rows of all.
    supports = model.noisy_counts_.sum(axis=1)
    assert model.forest_.leaves[supports.argmax()] in trees.chosen


def test_only_the_first_trees_are_shown_where_there_are_many(monkeypatch):
    monkeypatch.setattr(module, "MAX_TREES", 2)
    trees = shown(exact())
    assert trees.n_trees == 2
    assert (trees.parent == -1).sum() == 2


def test_many_classes_leave_room_for_fewer_nodes(monkeypatch):
    monkeypatch.setattr(module, "_MAX_COUNTS", 20)
    assert len(shown(exact()).chosen) == 10


def test_a_leaf_that_answers_nothing_is_told_to_the_script_and_in_print():
    schema = Schema([Categorical("a", ["u", "v"])], classes=["no", "yes"])
    model = PrivateID3Classifier(schema, epsilon=math.inf, variant="paper")
    model.fit(pd.DataFrame({"a": ["u", "u", "u"]}), ["no", "yes", "yes"])
    trees = shown(model)
    assert tree_data(model, trees)["fails"] == [2, 3]
    (root,) = printed_trees(model, trees)
    told = {child["condition"]: (child["best"], child["fails"]) for child in root["below"]}
    assert told == {"a = u": ("yes", False), "a = v": (None, True), "a is missing": (None, True)}
    assert [box.fails for box in Outline(model).tree(0, max_depth=None).children] == [False, True, True]
    assert tree_data(exact(), shown(exact()))["fails"] == []


def test_the_lists_for_the_script_fit_each_other():
    model = exact()
    trees = shown(model)
    data = tree_data(model, trees)
    n_nodes = len(trees.chosen)
    for name in ("parent", "condition", "question", "branches", "many", "draws"):
        assert len(data[name]) == n_nodes
    assert len(data["counts"]) == n_nodes * 2
    assert data["draws"][0] + data["draws"][1] + data["draws"][2] == len(model.forest_.leaves)
    assert max(data["condition"]) < len(data["strings"])


def test_the_script_marks_what_python_takes_for_noise():
    assert tree_data(exact(), shown(exact()))["reliable"] == RELIABLE


def test_conditions_are_the_answers_to_the_parents_question():
    model = exact()
    trees = shown(model)
    data = tree_data(model, trees)
    assert trees.conditions[:3] == ["all rows"] * 3
    for node, parent in enumerate(trees.parent.tolist()):
        if parent >= 0:
            assert trees.conditions[node].startswith(data["strings"][data["question"][parent]])


def test_the_highest_ranks_are_those_of_a_whole_stable_sort():
    rng = np.random.default_rng(5)
    for room in (1, 7, 40, 60):
        rank = rng.integers(0, 6, 50).astype(np.float64)
        rank[rng.integers(0, 50, 5)] = -np.inf
        order = np.argsort(-rank, kind="stable")[:room]
        assert module._first(rank, room).tolist() == sorted(order[rank[order] > -np.inf].tolist())


def test_the_script_is_told_whether_branches_add_up():
    assert tree_data(exact(), shown(exact()))["summed"]
    greedy = of_method("dpdf")
    assert not tree_data(greedy, shown(greedy))["summed"]


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
