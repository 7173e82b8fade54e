"""What exports add up: trees over groups of attributes become nodes that lead to the same leaves."""

from copy import copy
from itertools import product

import numpy as np
import pytest
from numpy.testing import assert_allclose

from privet import Categorical, Numeric, PrivateForestClassifier, load
from privet.central.weights.leaf_weights import LeafWeights
from privet.central.weights.trees import GRID, MOST_CELLS, Trees
from privet.errors import ParameterError
from privet.export import portable_document
from privet.export.leaf_sums import MAX_VOTES, leaf_sums
from privet.export.predictor import Predictor
from privet.tree.forest import LEAF
from tests.export.models import schema_of, table_of
from tests.export.weight_models import fitted_weights, shared_cells, with_random_weights, with_released
from tests.tree.reference import route

# The softmax of scores 0 and log 3 is 1/4 and 3/4; bent by 1/2 that is 7/32 and 15/32.
DOCUMENT = {
    "guarantee": "", "classes": ["no", "yes"], "attributes": [{"name": "x", "categories": ["a"]}],
    "trees": {"count": 1, "attribute": [0, LEAF, LEAF], "cut": []}, "kind": "weights",
    "leaf_weights": [-1, 1, 0, 0], "step": np.log(3) / 2, "offsets": [0.0, 0.0], "bend": 0.5,
}  # fmt: skip


@pytest.fixture(scope="module")
def model():
    attributes = [Categorical("sex", ["f", "m"]), Numeric("age", 0, 30, bins=3), Categorical("own", [False, True])]
    return fitted_weights(schema_of(attributes, ["no", "yes"]))


@pytest.fixture
def by_hand(model):
    """One tree asks for the sex and then whether they own, the other for the age."""
    weights = np.array([[10 * i] for i in range(9)] + [[1], [-2], [3], [0]])
    return with_released(model, [[0, 2], [1]], weights=weights, exponent=-3, balance=np.array([0]))


def test_the_document_by_hand(by_hand):
    document = portable_document(by_hand)
    assert document["kind"] == "weights"
    assert document["attributes"][1] == {
        "name": "age", "type": "continuous", "bounds": [0.0, 30.0], "cuts": [10.0, 20.0],
    }  # fmt: skip
    # The roots; three sexes and the leaves of the second tree; below each sex three leaves.
    assert document["trees"] == {"count": 2, "attribute": [0, 1, 2, 2, 2, *[LEAF] * 13], "cut": [-1]}
    # Two classes have half a weight each, so steps are half those of the grid.
    assert document["step"] == 2.0**-4
    assert document["leaf_weights"] == [-1, 1, 2, -2, -3, 3, 0, 0, *np.ravel([[-10 * i, 10 * i] for i in range(9)])]
    assert document["offsets"] == pytest.approx([0.0, 0.0], abs=1e-15)
    assert document["bend"] == 1 - np.exp(-1)


@pytest.fixture(scope="module")
def soft():
    """The age has three knots, 64 codes apart. The second stage asks for it by 16 cells, and the sex.

    A number that no tree asks for is there as well.
    """
    attributes = [
        Categorical("sex", ["f", "m"]),
        Numeric("age", 0, 129, edges=range(1, 129)),
        Numeric("pay", 0, 10, bins=5),
    ]
    model = fitted_weights(schema_of(attributes, ["no", "yes"]))
    knots = {1: ((0, 64, 128), GRID)}
    trees = Trees.of([[1], [0]], model.schema_, knots).with_later(Trees.later([[1, 0]], model.schema_, knots))
    # Knots of the age and missing; sexes; below each knot the sexes.
    weights = np.array([0, 64, -64, 7, 0, 1, 2, *range(0, 144, 16)])[:, None]
    return with_released(model, trees, weights=weights, exponent=-3, balance=np.array([0]))


def test_the_document_of_soft_trees_by_hand(soft):
    document = portable_document(soft)
    assert document["version"] == 5
    assert [len(attribute.get("cuts", [])) for attribute in document["attributes"]] == [0, 128, 0]
    age, sex, later = document["places"]
    # Code 64 is the second knot, 32 parts after the first; a missing age has the fourth child for itself, at 3 x 32.
    assert GRID == 32
    places = [(code + 1) // 2 for code in range(129)]
    assert age == {"attribute": 1, "of_code": [*places, 96], "grid": 32, "children": 4}
    assert sex == {"attribute": 0, "of_code": [0, 1, 2], "grid": 1, "children": 3}
    assert (later["attribute"], later["grid"], later["children"]) == (1, 8, 3)
    # Of 129 codes on 16 steps, 3 is nearest to none and 4 to the first; a missing age is in the middle.
    assert (later["of_code"][:6], later["of_code"][-2:]) == ([0, 0, 0, 0, 1, 1], [16, 8])
    assert document["trees"] == {"count": 3, "attribute": [0, 1, 2, *[LEAF] * 7, 1, 1, 1, *[LEAF] * 9], "cut": []}
    assert document["leaf_weights"][:14] == [0, 0, -64, 64, 64, -64, -7, 7, 0, 0, -1, 1, -2, 2]


@pytest.mark.parametrize(
    ("row", "votes"),
    [
        (["f", 0.5], 0),  # at the first knot of all
        (["f", 16.5], 16 + 12),  # a quarter of 64; 2 of 8 steps from 0 to 48
        (["m", 64.5], 64 + 1 + 64),  # at the second knots
        (["f", 96.5], 0 + 72),  # half-way from 64 to -64; from 48 to 96
        ([None, None], 7 + 2 + 80),  # missing: its own child, and the middle below which the sex is missing
    ],
)
def test_the_sums_of_soft_trees_by_hand(soft, row, votes):
    predictor = Predictor({**portable_document(soft), "offsets": [0.0, 0.0]})
    assert predictor._sums(predictor._codes([*row, 1.0])) == [-votes * 2.0**-4, votes * 2.0**-4]


def test_shares_that_a_double_cannot_hold_are_refused(soft):
    weights = np.zeros_like(soft.released_.weights)
    weights[0] = MAX_VOTES // GRID
    assert portable_document(with_released(soft, soft.trees_, weights=weights))["leaf_weights"][1] == MAX_VOTES // GRID
    weights[0] += 1
    with pytest.raises(ParameterError, match=r"shares of its released weights may add up beyond 2\^53.*; predict with"):
        portable_document(with_released(soft, soft.trees_, weights=weights))


def test_the_link_by_hand():
    predictor = Predictor(DOCUMENT)
    assert predictor.predict_proba({"x": "a"}) == pytest.approx([7 / 22, 15 / 22], rel=1e-15)
    assert predictor.predict_proba({"x": "b"}) == [0.5, 0.5]
    assert [predictor.predict([value]) for value in ("a", None)] == ["yes", "no"]


def test_the_document_holds_nothing_that_the_model_file_lacks(tmp_path):
    schema = schema_of([Numeric("age", 0, 100), Categorical("sex", ["f", "m"])], [5, 7, 9])
    labels = [schema.classes[i % 3] for i in range(500)]
    model = PrivateForestClassifier(schema, epsilon=5.0).fit(table_of(schema, 500), labels)
    model.save(tmp_path / "model.privet")
    document = portable_document(model)
    assert portable_document(load(tmp_path / "model.privet")) == document
    assert sorted(document["leaf_weights"]) == sorted(model.released_.weights.ravel().tolist())
    assert document["step"] == 2.0**model.released_.exponent
    assert set(document) == {
        "format", "version", "software", "guarantee", "target", "classes", "attributes", "trees", "kind",
        "leaf_weights", "step", "offsets", "bend", "places",
    }  # fmt: skip


@pytest.mark.parametrize("groups", [[[0], [1], [2]], [[2, 0], [1]], [[1, 0, 2]], [[1], [2, 0]], [[2]]])
def test_nodes_lead_to_the_leaves_of_the_groups(model, groups):
    grouped = with_random_weights(model, groups)
    codes = np.array(list(product(range(3), range(4), range(3))), dtype=np.uint8)
    sums = leaf_sums(grouped)
    found = np.zeros((len(codes), 2))
    for tree in range(len(groups)):
        found += sums.weights[np.searchsorted(sums.forest.leaves, reached(sums.forest, tree, codes))]
    expected = grouped.leaf_weights_.scores(codes) - grouped.leaf_weights_.offsets
    assert found * sums.step == pytest.approx(expected, abs=1e-12)
    assert len(np.unique(found, axis=0)) > 2


def reached(forest, tree, codes):
    """Return the node that each row reaches, by the walk of the plain twin."""
    out = np.empty(len(codes), dtype=np.uint32)
    route(forest.words, tree, forest.depth, forest.multiway, codes.reshape(-1), codes.shape[1], 0, len(codes), out)
    return out


def test_categories_that_share_a_cell_name_it_and_numbers_keep_the_borders_between_cells():
    model = shared_cells()
    many, fine, one, _ = portable_document(model)["attributes"]
    assert (len(many["categories"]), len(many["cells"])) == (700, 700)
    assert many["cells"][:6] == [0, 0, 0, 1, 1, 1]  # 255 / 700 of 0 to 5
    assert set(many["cells"]) == set(range(MOST_CELLS))
    assert "cells" not in one
    schema_cuts = model.schema_.attributes[1].cuts
    # Code 4 is the first whose cell, 4 * 255 // 1000, is another; so the border is the fourth.
    assert fine["cuts"][0] == schema_cuts[3]
    assert len(fine["cuts"]) == MOST_CELLS - 1
    assert set(fine["cuts"]) < set(schema_cuts)


def test_neighbours_that_share_a_cell_have_the_same_answer_and_others_have_not():
    predictor = Predictor(portable_document(shared_cells()))
    answers = [predictor.predict_proba([place, 0.5, "only", True]) for place in ("place 0", "place 2", "place 3", "x")]
    assert answers[0] == answers[1]
    assert len(set(map(tuple, answers))) == 3


def test_the_class_balance_alone_is_a_leaf_without_weight(model):
    alone = with_released(model, [], weights=np.zeros((0, 1), dtype=np.int64))
    document = portable_document(alone)
    assert document["trees"] == {"count": 1, "attribute": [LEAF], "cut": []}
    assert document["leaf_weights"] == [0, 0]
    wanted = alone.predict_proba(table_of(alone.schema_, 1))[0]
    assert_allclose(Predictor(document).predict_proba([None, None, None]), wanted, rtol=1e-15)


class OtherScores(LeafWeights):
    """Scores that may be added up in another way."""


def test_weights_that_may_add_up_in_another_way_are_refused(model):
    other = copy(model)
    other._weights_with_missing = OtherScores(
        **{name: getattr(model._weights_with_missing, name) for name in ("trees", "offsets", "weights", "margin")}
    )
    with pytest.raises(ParameterError, match="PrivateForestClassifier cannot be exported: .*; save it with save()"):
        portable_document(other)
