"""Private ID3: histograms of every attribute, level by level."""

import math
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from privet import Categorical, PrivateID3Classifier, Schema
from privet.errors import ParameterError
from privet.privacy.accounting import pure_epsilon
from privet.privacy.events import DiscreteLaplace
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
        def _choose_attributes(self, tables, noisy, allowed, level, layout, queries):
            chosen, noisy_tables, receipts = super()._choose_attributes(tables, noisy, allowed, level, layout, queries)
            asked.append((layout, allowed, noisy_tables))
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


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"height": 0}, "height=0 must be a whole number from 1 to 64"),
        ({"epsilon": 1e-6}, "epsilon=1e-06 is too little for 10 queries"),
        ({"epsilon": "1"}, "epsilon='1' is out of range"),
        ({"n_jobs": 0}, "n_jobs=0 must be a whole number other than 0"),
    ],
)
def test_a_parameter_out_of_range_is_refused(changes, sentence):
    with pytest.raises(ParameterError, match=sentence):
        PrivateID3Classifier(SCHEMA, **changes).fit(*table(50))
