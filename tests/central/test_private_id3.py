"""Private ID3: histograms of every attribute, level by level."""

import json
import math
import warnings
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from privet import Categorical, Ledger, PrivateID3Classifier, Schema, load
from privet.central import greedy_forest
from privet.errors import ParameterError
from privet.privacy.accounting import pure_epsilon
from privet.privacy.events import DiscreteLaplace
from privet.report import export_text
from privet.schema.encoding import Encoder
from privet.tree.forest import LEAF
from tests.central.plain import SCHEMA, bits, coded, greedy, table, told


@pytest.mark.parametrize("height", [1, 2, 3, None])
def test_without_noise_it_is_plain_id3(height):
    X, y = table()
    model = PrivateID3Classifier(SCHEMA, epsilon=math.inf, height=height).fit(X, y)
    assert told(model) == greedy(coded(X, y), [0, 1, 2, 3], height or 4, measure=bits, least=1)


def test_by_hand_on_a_table_that_is_an_exclusive_or():
    # Neither attribute tells anything alone; both together tell all. c splits off two rows at once.
    rows = [("u", "p", 1, "no"), ("u", "q", 1, "yes"), ("v", "p", 1, "yes"), ("v", "q", 1, "no")] * 3
    rows += [("u", "p", 2, "yes")] * 2
    schema = Schema(
        [Categorical("a", ["u", "v"]), Categorical("b", ["p", "q"]), Categorical("c", [1, 2])], classes=["no", "yes"]
    )  # fmt: skip
    X = pd.DataFrame([row[:3] for row in rows], columns=["a", "b", "c"])
    model = PrivateID3Classifier(schema, epsilon=math.inf).fit(X, [row[3] for row in rows])
    root = told(model)
    assert (root.attribute, root.counts) == (2, (6, 8))
    assert [child.counts for child in root.children] == [(6, 6), (0, 2), (0, 0)]
    assert [child.attribute for child in root.children] == [0, LEAF, LEAF]
    assert model.score(X, [row[3] for row in rows]) == 1.0


@pytest.mark.parametrize(("height", "questions"), [(None, 10), (1, 4), (2, 7), (9, 10)])
@pytest.mark.parametrize("max_rows", [1, 3])
def test_a_path_has_a_histogram_of_every_attribute_that_is_left(height, questions, max_rows):
    X, y = table()
    X = X.assign(person=np.arange(len(X)))
    model = PrivateID3Classifier(SCHEMA, epsilon=0.7, height=height, unit="person", max_rows=max_rows).fit(X, y)
    receipts = model.guarantee_.event.parts
    left = [4, 3, 2, 1][: min(height or 4, 4)]
    assert all(isinstance(receipt, DiscreteLaplace) for receipt in receipts)
    assert [receipt.sensitivity for receipt in receipts] == [each * max_rows for each in left]
    assert [receipt.epsilon for receipt in receipts] == pytest.approx([each * 0.7 / questions for each in left])
    assert sum(Fraction(pure_epsilon(receipt)) for receipt in receipts) <= Fraction(0.7)


def test_the_papers_numbers_of_questions():
    # Its Table 1: 36, 136 and 253 for 8, 16 and 22 attributes.
    for k, questions in ((8, 36), (16, 136), (22, 253)):
        schema = Schema([Categorical(f"c{j}", ["u"]) for j in range(k)], classes=["no", "yes"])
        assert PrivateID3Classifier(schema)._n_queries(schema) == questions


def test_attributes_that_a_path_has_used_are_not_looked_at_again():
    X, y = table()
    asked = []

    class Listening(PrivateID3Classifier):
        def _choose_attributes(self, nodes, queries):
            chosen, noisy_tables, receipts = super()._choose_attributes(nodes, queries)
            asked.append((nodes.layout, nodes.allowed, noisy_tables))
            return chosen, noisy_tables, receipts

    Listening(SCHEMA, epsilon=math.inf, height=2).fit(X, y)
    layout, allowed, released = asked[1]
    for attribute in range(4):
        used = ~allowed[:, attribute]
        assert not layout.of_attribute(released, attribute)[used].any()
        assert layout.of_attribute(released, attribute)[~used].any() or used.all()


def test_the_root_is_always_asked_and_empty_nodes_do_not_explode():
    X, y = table()
    for epsilon in (math.inf, 1.0):
        model = PrivateID3Classifier(SCHEMA, epsilon=epsilon, height=1).fit(X[:0], y[:0])
        assert model.forest_.attribute[0] != LEAF
    assert PrivateID3Classifier(SCHEMA, epsilon=math.inf).fit(X[:0], y[:0]).forest_.depth == 1
    # Of a support that is noise alone fewer than one in a hundred stands out, so most children stay leaves.
    wide = Schema([Categorical(f"c{j}", range(200)) for j in range(5)], classes=["no", "yes"])
    model = PrivateID3Classifier(wide, random_state=1, unsafe_seeded_noise=True).fit(np.zeros((0, 5)), [])
    assert model.forest_.n_nodes < 202 + 0.05 * 202 * 201 * 3


def test_the_root_holds_what_its_children_hold_and_so_does_its_noise():
    X, y = table()
    model = PrivateID3Classifier(SCHEMA, epsilon=5.0, height=2).fit(X, y)
    forest = model.forest_
    children = slice(1, 1 + forest.n_children[0])
    assert_array_equal(model.noisy_counts_[0], model.noisy_counts_[children].sum(axis=0))
    assert model.nodes_.n_draws[0] == forest.n_children[0]
    assert (model.nodes_.n_draws[1:] == 1).all()


def test_a_leaf_without_rows_votes_as_its_nearest_ancestor_with_some():
    rows = [("u", "no")] * 2 + [("u", "yes")] * 6 + [("v", "no")] * 3
    schema = Schema([Categorical("a", ["u", "v", "w"])], classes=["no", "yes"])
    model = PrivateID3Classifier(schema, epsilon=math.inf)
    model.fit(pd.DataFrame({"a": [row[0] for row in rows]}), [row[1] for row in rows])
    new = pd.DataFrame({"a": ["u", "v", "w", None]})
    assert_allclose(model.predict_proba(new), [[0.25, 0.75], [1, 0], [5 / 11, 6 / 11], [5 / 11, 6 / 11]])


ONE = Schema([Categorical("a", ["u", "v", "w"])], classes=["no", "yes"])
ROWS = pd.DataFrame({"a": ["u"] * 8 + ["v"] * 3})
LABELS = ["no"] * 2 + ["yes"] * 6 + ["no"] * 3


def test_in_the_papers_variant_a_leaf_without_rows_answers_nothing():
    model = PrivateID3Classifier(ONE, epsilon=math.inf, variant="paper").fit(ROWS, LABELS)
    new = pd.DataFrame({"a": ["u", "v", "w", None]})
    assert_allclose(model.predict_proba(new), [[0.25, 0.75], [1, 0], [0.5, 0.5], [0.5, 0.5]])
    assert_array_equal(model.fails(new), [False, False, True, True])
    ours = PrivateID3Classifier(ONE, epsilon=math.inf).fit(ROWS, LABELS)
    assert not ours.fails(new).any()


def test_a_row_without_a_value_that_is_never_missing_does_not_fail_but_is_answered_by_the_node_that_asks():
    complete = Schema([Categorical("a", ["u", "v", "w"], never_missing=True)], classes=["no", "yes"])
    model = PrivateID3Classifier(complete, epsilon=math.inf, variant="paper").fit(ROWS, LABELS)
    new = pd.DataFrame({"a": ["u", "w", None]})
    assert_array_equal(model.fails(new), [False, True, False])
    assert_allclose(model.predict_proba(new), [[0.25, 0.75], [0.5, 0.5], [5 / 11, 6 / 11]])


class Listening(PrivateID3Classifier):
    """Keeps the histograms that were released, level by level."""

    def _choose_attributes(self, nodes, queries):
        found = super()._choose_attributes(nodes, queries)
        self.layout, self.heard = nodes.layout, [*getattr(self, "heard", []), found[1]]
        return found


def by_algorithm_1(model):
    """Grow by the paper's Algorithm 1, level by level, with released histograms for rows; return leaves' answers."""
    heard, answers = iter([node for level in model.heard for node in level]), []
    ahead = [(None, [0, 1, 2, 3])]  # the counts of the root are not known, and it is always split
    while ahead:
        counts, left = ahead.pop(0)
        if counts is not None and sum(counts) <= 0:
            answers.append("Failure")
        elif counts is not None and (sum(count > 0 for count in counts) == 1 or not left):
            answers.append(int(np.argmax(counts)))
        else:
            node = next(heard)[None]
            own = {a: model.layout.of_attribute(node, a)[0].tolist() for a in left}
            remaining = {a: sum(bits([max(c, 0) for c in line]) for line in own[a]) for a in left}
            best = min(left, key=lambda a: (round(remaining[a], 6), a))
            ahead += [(child, [a for a in left if a != best]) for child in own[best]]
    return answers


@pytest.mark.parametrize("epsilon", [math.inf, 100.0, 10.0, 1.0])
def test_the_papers_variant_is_algorithm_1_on_the_released_histograms(epsilon):
    model = Listening(SCHEMA, epsilon=epsilon, variant="paper").fit(*table())
    leaves = model.forest_.leaves
    failing, counts = model.nodes_.fails[leaves], model.nodes_.counts[leaves]
    answers = ["Failure" if fails else int(own.argmax()) for fails, own in zip(failing, counts, strict=True)]
    assert answers == by_algorithm_1(model)


def test_rows_that_fail_are_those_whose_leaf_seems_empty():
    X, y = table(300)
    model = PrivateID3Classifier(SCHEMA, epsilon=2.0, variant="paper", random_state=3, unsafe_seeded_noise=True)
    model.fit(X, y)
    forest, codes = model.forest_, Encoder(SCHEMA).encode(X)
    expected = []
    for row in codes:
        node = 0
        while forest.attribute[node] != LEAF:
            node = forest.first_child[node] + row[forest.attribute[node]]
        expected.append(model.noisy_counts_[node].sum() <= 0)
    assert_array_equal(model.fails(X), expected)
    assert 0 < np.mean(expected) < 1
    assert (model.predict_proba(X)[expected] == 0.5).all()


def test_both_variants_pay_the_same_and_a_ledger_takes_both(tmp_path):
    X, y = table()
    ledger = Ledger(tmp_path / "ledger.db", dataset="people", epsilon=2)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # that no promise is proven would be untrue
        fitted = [
            PrivateID3Classifier(SCHEMA, epsilon=1.0, variant=variant, ledger=ledger).fit(X, y)
            for variant in ("privet", "paper")
        ]
    ours, papers = (model.guarantee_ for model in fitted)
    assert (papers.event, papers.mode) == (ours.event, "sound")
    assert papers.epsilon == pytest.approx(1.0)
    assert ledger.spent == pytest.approx(2.0)
    plans = [model.plan() for model in fitted]
    assert plans[0].steps == plans[1].steps
    assert plans[1].tuning["rows worth a split"] == "0"


def test_what_fails_is_kept_in_the_file_and_the_default_is_left_out_as_in_version_0_1_0(tmp_path):
    X, y = table()
    for variant, kept in (("paper", {"height": None, "variant": "paper"}), ("privet", {"height": None})):
        model = PrivateID3Classifier(SCHEMA, epsilon=3.0, variant=variant).fit(X, y)
        model.save(tmp_path / "m.privet")
        assert json.loads((tmp_path / "m.privet").read_text())["parameters"] == kept
        again = load(tmp_path / "m.privet")
        assert again.variant == variant
        assert_array_equal(again.fails(X), model.fails(X))
        assert_array_equal(again.predict_proba(X), model.predict_proba(X))


def test_a_failure_is_no_rule_and_a_drawn_tree_names_it():
    model = PrivateID3Classifier(ONE, epsilon=math.inf, variant="paper").fit(ROWS, LABELS)
    assert set(model.rules().rule) == {"if a = u then yes", "if a = v then no"}
    ours = PrivateID3Classifier(ONE, epsilon=math.inf).fit(ROWS, LABELS)
    assert "if a = w then no" in set(ours.rules().rule)
    # Leaves that fail are not merged with the leaf of "no", which their counts of 0 would name.
    assert set(model.rules(merge=True).rule) == {"if a = u then yes", "if a = v then no"}
    assert export_text(model).splitlines()[-2:] == ["|--- a = w: Failure [0, 0]", "|--- a is missing: Failure [0, 0]"]


def test_what_does_not_fit_memory_stays_a_leaf_of_its_most_frequent_class(monkeypatch):
    X, y = table()
    whole = PrivateID3Classifier(SCHEMA, epsilon=math.inf, variant="paper").fit(X, y)
    monkeypatch.setattr(greedy_forest, "_MAX_NUMBERS", 2 * 2 * (3 + 4 + 5 + 4))  # the tables of two nodes
    model = PrivateID3Classifier(SCHEMA, epsilon=math.inf, variant="paper").fit(X, y)
    split = model.forest_.attribute != LEAF
    assert [int(split[start:stop].sum()) for start, stop in _levels(model.forest_)] == [1, 2, 2, 2, 0]
    assert model.forest_.n_nodes < whole.forest_.n_nodes
    leaves = model.forest_.leaves
    mixed = (model.noisy_counts_[leaves] > 0).all(axis=1)
    assert mixed.any()
    assert not model.nodes_.fails[leaves][mixed].any()


def _levels(forest):
    return list(zip(forest.level_start[:-1], forest.level_start[1:], strict=True))


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"height": 0}, "height=0 must be a whole number from 1 to 64"),
        ({"variant": "sound"}, "variant='sound' is not known; choose from privet, paper"),
        ({"epsilon": 1e-6}, "epsilon=1e-06 is too little for 10 queries"),
        ({"epsilon": "1"}, "epsilon='1' is out of range"),
        ({"n_jobs": 0}, "n_jobs=0 must be a whole number other than 0"),
    ],
)
def test_a_parameter_out_of_range_is_refused(changes, sentence):
    with pytest.raises(ParameterError, match=sentence):
        PrivateID3Classifier(SCHEMA, **changes).fit(*table(50))


def test_a_row_without_the_roots_value_fails_where_no_count_is_left_there():
    schema = Schema([Categorical("a", [5, 9], never_missing=True)], classes=["no", "yes"], rows=10)
    empty = pd.DataFrame({"a": pd.Series([], dtype=np.int64)})
    told = set()
    for seed in range(40):
        model = PrivateID3Classifier(schema, variant="paper", random_state=seed, unsafe_seeded_noise=True).fit(
            empty, []
        )
        left = (model.nodes_.counts[0] > 0).any()
        lacking = pd.DataFrame({"a": [np.nan]})
        assert model.fails(lacking).tolist() == [not left], seed
        assert (model.predict_proba(lacking).tolist() == [[0.5, 0.5]]) or left, seed
        told.add(bool(left))
    assert told == {True, False}


def test_a_tree_is_never_taller_than_a_file_may_hold(tmp_path):
    schema = Schema([Categorical(f"a{i}", [5, 9]) for i in range(70)], classes=["no", "yes"], rows=100)
    assert sum(step.sensitivity for step in PrivateID3Classifier(schema, epsilon=1e6).plan().steps) == sum(range(7, 71))
    X = pd.DataFrame(np.random.default_rng(0).choice([5, 9], (100, 70)), columns=schema.names)
    model = PrivateID3Classifier(schema, epsilon=1e6).fit(X, np.random.default_rng(1).choice(["no", "yes"], 100))
    model.save(tmp_path / "tall.privet")
    assert load(tmp_path / "tall.privet").height_ <= 64
