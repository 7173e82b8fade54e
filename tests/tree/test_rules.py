import re

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from privet import PrivateRDTClassifier
from privet.errors import ParameterError
from privet.schema import Categorical, Numeric, Schema
from privet.tree.counted import CountedForest
from privet.tree.forest import LEAF, Forest
from privet.tree.random_structure import random_structure
from privet.tree.rules import RuleTable, merged_nodes, single_nodes
from tests.loops import loop_over
from tests.tree.forests import by_hand, mixed_forest

# Leaves: the lone root, x < 2, c = a, c = b, c missing.
COUNTS = np.array([[7, 6], [8, 2], [2, 0], [0, 8], [1, 3]])
SCHEMA = Schema(
    [
        Numeric("age", 0, 4, edges=[1, 2, 3]),
        Categorical("colour", ["red", "green", "blue"]),
        Numeric("size", 0, 10, edges=[5, 7]),
    ],
    classes=["no", "yes"],
)


def holds(text, value):
    """Return whether a condition's words are true of a value; None is missing."""
    return any(holds_alone(part, value) for part in text.split(" or "))


def holds_alone(text, value):
    if text == "missing" or text.endswith(" is missing"):
        return value is None
    if value is None:
        return False
    words = text.split(" ", 1)
    if words[1] == "is not missing":
        return True
    if words[1].startswith("in {"):
        return value in re.findall(r"\w+", words[1][3:])
    if words[1].startswith("= "):
        return value == words[1][2:]
    bounds = re.fullmatch(r"(?:([\d.]+) <= )?\w+(?: < ([\d.]+)| >= ([\d.]+))", text)
    low, below, least = (float(bound) if bound else None for bound in bounds.groups())
    return (low is None or value >= low) and (below is None or value < below) and (least is None or value >= least)


def rows_and_leaf_counts(forest, rng, n_rows=200):
    """Return rows with labels, and the counts of the leaves that they reach, by a walk of their own."""
    codes = np.stack([rng.integers(0, a.n_values + 1, n_rows) for a in SCHEMA.attributes], axis=1)
    labels = rng.integers(0, 2, n_rows)
    counts = np.zeros((forest.n_nodes, 2), dtype=np.int64)
    for row, label in zip(codes, labels, strict=True):
        for root in range(forest.n_trees):
            node = root
            while forest.n_children[node]:
                code, cut = row[forest.attribute[node]], forest.cut[node]
                node = forest.first_child[node] + (code if cut < 0 else int(code > cut))
            counts[node, label] += 1
    middles = {"age": (0.5, 1.5, 2.5, 3.5, None), "colour": ("red", "green", "blue", None), "size": (1, 6, 9, None)}
    rows = [{name: middles[name][code] for name, code in zip(SCHEMA.names, row, strict=True)} for row in codes]
    return rows, labels, counts[forest.leaves]


def cuts_only(rng):
    return random_structure(SCHEMA, n_trees=3, height=4, public_rng=rng)


def cells_and_cuts(rng):
    return mixed_forest(rng, SCHEMA, n_trees=3, height=3)


@pytest.mark.parametrize("merge", [False, True])
@pytest.mark.parametrize("grown", [cuts_only, cells_and_cuts])
@loop_over("seed", range(6))
def test_the_words_of_every_rule_pick_the_rows_that_it_counts(seed, grown, merge):
    rng = np.random.default_rng(seed)
    forest = grown(rng)
    rows, labels, counts = rows_and_leaf_counts(forest, rng)
    rules = list(RuleTable.of(CountedForest.of_leaves(forest, counts, 0.0), SCHEMA, merge=merge).rules())
    for rule in rules:
        met = [all(holds(c.text, row[c.attribute]) for c in rule.conditions) for row in rows]
        assert tuple(np.bincount(labels[met], minlength=2)) == rule.counts
        assert len({c.attribute for c in rule.conditions}) == len(rule.conditions)
    for tree in range(3):
        leaves = [rule for rule in rules if rule.tree == tree and rule.is_leaf]
        assert sum(rule.support for rule in leaves) == len(rows)


def test_rules_by_hand():
    schema, forest = by_hand()
    rules = list(RuleTable.of(CountedForest.of_leaves(forest, COUNTS, 0.0), schema).rules())
    assert [rule.text for rule in rules] == [
        "always yes",
        "always no",
        "if x < 2 then no",
        "if x >= 2 or missing then yes",
        "if (x >= 2 or missing) and c = a then no",
        "if (x >= 2 or missing) and c = b then yes",
        "if (x >= 2 or missing) and c is missing then yes",
    ]
    assert [rule.counts for rule in rules[:4]] == [(11, 13), (7, 6), (8, 2), (3, 11)]
    assert [(rule.tree, rule.node, rule.depth, rule.is_leaf) for rule in rules[1:5]] == [
        (1, 1, 0, True), (0, 2, 1, True), (0, 3, 1, False), (0, 4, 2, True),
    ]  # fmt: skip
    assert (rules[2].support, rules[2].confidence) == (10, 0.8)
    assert (rules[2].support_low, rules[2].confidence_high) == (10, 0.8)


def test_the_noise_of_a_node_is_that_of_all_its_leaves():
    schema, forest = by_hand()
    rules = list(RuleTable.of(CountedForest.of_leaves(forest, 1000 * COUNTS, 100.0), schema).rules())
    widths = [(rule.support_high - rule.support_low) / 2 for rule in rules]
    # 4, 1 and 3 leaves of 2 classes: ln(20) / sqrt(2) deviations of 10 sqrt(2 L), and one, in whole rows.
    assert widths[:4] == [60, 30, 30, 52]
    assert all(rule.confidence_low < rule.confidence < rule.confidence_high for rule in rules[:4])


def test_a_rule_stands_out_beyond_three_deviations_of_its_own_noise():
    schema, forest = by_hand()
    table = RuleTable.of(CountedForest.of_leaves(forest, COUNTS, 2.0), schema)
    # Of 4, 1, 1, 3, 1, 1, 1 leaves with a variance of 2 in 2 classes: three deviations are 12, 6, 6, 10.4, 6, 6, 6.
    assert table.support.tolist() == [24, 13, 10, 14, 2, 8, 4]
    assert table.stands_out.tolist() == [True, True, True, True, False, True, False]


def test_a_support_that_is_not_positive_gives_no_confidence():
    schema, forest = by_hand()
    (_, lone, *_) = RuleTable.of(CountedForest.of_leaves(forest, -COUNTS, 4.0), schema).rules()
    assert (lone.support, lone.confidence, lone.confidence_low, lone.confidence_high) == (-13, 0.0, 0.0, 1.0)


def test_sibling_leaves_that_agree_become_one_rule():
    schema, forest = by_hand()
    table = RuleTable.of(CountedForest.of_leaves(forest, 1000 * COUNTS, 100.0), schema, merge=True)
    texts = [rule.text for rule in table.rules()]
    assert texts[-2:] == [
        "if (x >= 2 or missing) and c = a then no",
        "if (x >= 2 or missing) and (c = b or missing) then yes",
    ]
    *_, merged = table.rules()
    assert (merged.counts, merged.node, merged.is_leaf) == ((1000, 11000), 5, True)
    assert merged.support_high - merged.support == 43  # two leaves, two classes: 2.118 * 20, and one


def test_a_node_whose_leaves_all_agree_becomes_a_leaf_up_to_the_root():
    schema, forest = by_hand()
    agreeing = np.array([[7, 6], [8, 2], [2, 0], [9, 8], [4, 3]])
    rules = list(RuleTable.of(CountedForest.of_leaves(forest, agreeing, 0.0), schema, merge=True).rules())
    assert [(rule.text, rule.is_leaf, rule.counts) for rule in rules] == [
        ("always no", True, (23, 13)), ("always no", True, (7, 6)),
    ]  # fmt: skip


def test_rules_of_many_nodes_are_worded_one_by_one(monkeypatch):
    schema = Schema([Categorical("c", range(1_000))], classes=[5, 9])
    attribute = np.array([0, *[-1] * 1_001], dtype=np.int32)
    forest = Forest.from_nodes(attribute, np.full(1_002, -1, dtype=np.int32), 1, schema.attributes)
    worded = []
    monkeypatch.setattr("privet.tree.rules.Paths.conditions", lambda *a: worded.append(a) or ())
    rules = RuleTable.of(CountedForest.of_leaves(forest, np.ones((1_001, 2), dtype=np.int64), 0.0), schema).rules()
    next(rules)
    assert len(worded) == 1


@pytest.fixture
def model():
    rng = np.random.default_rng(4)
    X = np.stack([rng.integers(0, 4, 400), rng.integers(0, 3, 400)], axis=1).astype(object)
    schema = Schema([Numeric("x", 0, 4, bins=4), Categorical("c", [0, 1, 2])], classes=[5, 9])
    y = np.where(X[:, 0].astype(int) > 1, 9, 5)
    return PrivateRDTClassifier(schema, epsilon=np.inf, n_trees=3, height=2, random_state=1).fit(X, y)


def test_the_frame_has_the_most_supported_rules_first_and_a_column_a_class(model):
    frame = model.rules()
    assert list(frame.columns) == [
        "rule", "prediction", "support", "support_low", "support_high", "confidence", "confidence_low",
        "confidence_high", "tree", "node", "depth", "is_leaf", "n(5)", "n(9)",
    ]  # fmt: skip
    assert len(frame) == model.forest_.n_nodes - 3
    assert frame.depth.min() == 1  # roots ask nothing
    assert frame.support.is_monotonic_decreasing
    assert_array_equal(frame["n(5)"] + frame["n(9)"], frame.support)
    assert list(frame[frame.is_leaf].groupby("tree").support.sum()) == [400] * 3


def test_the_frame_holds_what_was_asked_for(model):
    every = model.rules()
    asked = model.rules(min_support=50, min_confidence=0.75, class_=9, leaves_only=True)
    expected = every[(every.support >= 50) & (every.confidence >= 0.75) & (every.prediction == 9) & every.is_leaf]
    assert 0 < len(asked) < len(every)
    assert list(asked.rule) == list(expected.rule)
    assert len(model.rules(class_=np.int64(9))) == len(every[every.prediction == 9])
    assert len(model.rules(merge=True)) < len(every)
    assert len(model.rules(min_support=401)) == 0


@pytest.mark.parametrize(
    ("bad", "sentence"),
    [
        ({"min_support": -1}, "min_support=-1 must be a number of at least 0"),
        ({"min_support": "9"}, "min_support='9' must be a number"),
        ({"min_support": np.nan}, "min_support=nan must be a number"),
        ({"min_confidence": 80}, "min_confidence=80 must be a number from 0 to 1"),
        ({"min_confidence": True}, "min_confidence=True must be a number from 0 to 1"),
        ({"class_": "9"}, "class '9' is not known to the model; choose from 5, 9"),
        ({"class_": [9]}, "is not known to the model"),
    ],
)
def test_what_makes_no_sense_is_refused(model, bad, sentence):
    with pytest.raises(ParameterError, match=re.escape(sentence)):
        model.rules(**bad)


def test_by_default_only_rules_that_noise_made_negative_are_left_out():
    schema = Schema([Numeric("x", 0, 1, bins=16)], classes=["no", "yes"])
    model = PrivateRDTClassifier(
        schema, epsilon=0.01, n_trees=20, height=3, random_state=1, unsafe_seeded_noise=True
    ).fit(np.zeros((4, 1)), ["no", "yes", "no", "yes"])
    frame = model.rules()
    everything = RuleTable.of(model.nodes_, schema)
    assert len(frame) == ((everything.support >= 0) & (everything.depth > 0)).sum() < len(everything) - 20
    assert (frame.support_low <= frame.support).all()
    assert (frame.confidence_low <= frame.confidence).all()
    assert (frame.confidence <= frame.confidence_high).all()


AGE = Schema([Numeric("age", 0, 100, edges=[20, 40, 60])], classes=["no", "yes"])


def cells(*leaf_counts):
    """Return a tree that branches on the four cells of an age and on its missing value."""
    forest = Forest.from_nodes(
        np.array([0, *[LEAF] * 5], np.int32), np.full(6, -1, dtype=np.int32), 1, AGE.attributes
    )  # fmt: skip
    return CountedForest.of_leaves(forest, np.array(leaf_counts), 4.0)


def test_single_nodes_are_all_nodes_as_they_are():
    _, forest = by_hand()
    groups = single_nodes(CountedForest.of_leaves(forest, COUNTS, 1.0))
    assert groups.node.tolist() == list(range(7))
    assert groups.counts[:4].tolist() == [[11, 13], [7, 6], [8, 2], [3, 11]]
    assert groups.n_draws.tolist() == [4, 1, 1, 3, 1, 1, 1]
    assert groups.codes == {}


def test_categories_of_one_class_become_one_group_with_the_sum_of_counts_and_draws():
    _, forest = by_hand()
    groups = merged_nodes(CountedForest.of_leaves(forest, COUNTS, 1.0))
    assert groups.node.tolist() == [0, 1, 2, 3, 4, 5]
    assert groups.counts[-2:].tolist() == [[2, 0], [1, 11]]
    assert groups.n_draws.tolist() == [4, 1, 1, 3, 1, 2]
    assert groups.codes == {5: (1, 2)}


def test_both_sides_of_a_cut_become_one_only_where_all_below_agrees():
    _, forest = by_hand()
    agreeing = np.array([[7, 6], [8, 2], [2, 0], [9, 8], [4, 3]])
    groups = merged_nodes(CountedForest.of_leaves(forest, agreeing, 1.0))
    assert (groups.node.tolist(), groups.is_leaf.tolist(), groups.codes) == ([0, 1], [True, True], {})


def test_neighbouring_cells_of_one_class_become_an_interval_and_others_are_joined_by_or():
    counted = cells([9, 1], [1, 9], [2, 8], [7, 3], [0, 5])
    groups = merged_nodes(counted)
    assert groups.codes == {1: (0, 3), 2: (1, 2, 4)}
    assert groups.counts.tolist() == [[19, 26], [16, 4], [3, 22]]
    assert [rule.text for rule in RuleTable.of(counted, AGE, merge=True).rules()] == [
        "always yes",
        "if age < 20 or age >= 60 then no",
        "if 20 <= age < 60 or missing then yes",
    ]


def test_one_odd_cell_splits_the_others_where_it_stands():
    counted = cells([1, 9], [9, 1], [1, 9], [2, 9], [3, 9])
    assert [rule.text for rule in RuleTable.of(counted, AGE, merge=True).rules()][1:] == [
        "if age < 20 or age >= 40 or missing then yes",
        "if 20 <= age < 40 then no",
    ]


def test_groups_are_taken_with_all_their_parts():
    groups = merged_nodes(cells([9, 1], [1, 9], [2, 8], [7, 3], [0, 5])).take(np.array([False, False, True]))
    assert (groups.node.tolist(), groups.counts.tolist(), groups.n_draws.tolist()) == ([2], [[3, 22]], [3])
    assert groups.codes[2] == (1, 2, 4)
