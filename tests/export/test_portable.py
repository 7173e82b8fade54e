"""The portable document: by hand, compact, and refused where it could not be exact."""

import json
from copy import copy

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from privet import Categorical, Numeric, PrivateRDTClassifier, load
from privet.errors import ParameterError
from privet.export import portable_document
from privet.export.leaf_sums import MAX_VOTES
from privet.export.portable import FORMAT, VERSION, json_lines
from privet.tree.forest import LEAF
from privet.tree.vote import SummedCounts
from tests.export.models import fitted, schema_of, table_of, with_counts, with_forest


@pytest.fixture(scope="module")
def model():
    return fitted(schema_of([Numeric("age", 0, 100, bins=10), Categorical("sex", ["f", "m"])], [5, 9]))


@pytest.fixture
def by_hand(model):
    """Two trees: one cuts the age at 70, then at 30; one branches on the sex, then asks if the age is missing."""
    attribute = [0, 1, 0, LEAF, LEAF, LEAF, 0, LEAF, LEAF, LEAF, LEAF]
    cut = [6, -1, 2, -1, -1, -1, 9, -1, -1, -1, -1]
    return with_forest(model, attribute, cut, 2, [[1, -2], [0, 3], [4, 0], [5, 6], [-1, -1], [7, 0], [0, 8]])


def test_the_document_by_hand(by_hand):
    document = portable_document(by_hand)
    assert (document["format"], document["version"]) == (FORMAT, VERSION) == ("privet-predictor", 3)
    assert document["classes"] == [5, 9]
    assert document["guarantee"] == by_hand.guarantee_.sentence
    assert document["attributes"] == [
        {"name": "age", "type": "continuous", "bounds": [0.0, 100.0], "cuts": [30.0, 70.0]},
        {"name": "sex", "type": "categorical", "categories": ["f", "m"]},
    ]
    # The cut at the last cell, which only a missing age exceeds, comes after both borders.
    assert document["trees"] == {
        "count": 2, "attribute": [0, 1, 0, -1, -1, -1, 0, -1, -1, -1, -1], "cut": [1, 0, 2],
    }  # fmt: skip
    assert document["kind"] == "counts"
    assert document["leaf_weights"] == [1, 0, 0, 3, 4, 0, 5, 6, 0, 0, 7, 0, 0, 8]
    assert document["fallback"] == [16 / 30, 14 / 30]


def test_the_document_reads_back_from_its_lines(by_hand):
    document = portable_document(by_hand)
    text = "\n".join(json_lines(document))
    assert text.isascii()
    assert json.loads(text) == document


def test_borders_read_back_as_the_same_doubles():
    thirds = Numeric("x", 0.1, 0.7, bins=777)
    cuts = portable_document(fitted(schema_of([thirds], ["no", "yes"]), height=9))["attributes"][0]["cuts"]
    assert len(cuts) > 100
    assert set(json.loads(json.dumps(cuts))) <= set(thirds.cuts.tolist())


def test_thirty_trees_of_1024_leaves_take_well_under_a_megabyte():
    schema = schema_of([Numeric(f"x{j}", 0, 1) for j in range(20)], ["no", "yes"])
    model = fitted(schema, n_trees=30, height=10)
    # Counts of a table of a million rows.
    large = with_counts(model, np.abs(model.noisy_counts_) * 7 % 1_000)
    assert len(large.forest_.leaves) == 30 * 1024
    assert len("\n".join(json_lines(portable_document(large)))) < 700_000


def test_the_document_holds_nothing_that_the_model_file_lacks(tmp_path):
    schema = schema_of([Numeric("age", 0, 100, bins=10), Categorical("sex", ["f", "m"])], [5, 9])
    labels = [schema.classes[i % 2] for i in range(500)]
    model = PrivateRDTClassifier(schema, epsilon=1.0, n_trees=3, height=2).fit(table_of(schema, 500), labels)
    document = portable_document(model)
    model.save(tmp_path / "model.privet")
    assert portable_document(load(tmp_path / "model.privet")) == document
    assert document["leaf_weights"] == np.maximum(model.noisy_counts_, 0).ravel().tolist()
    assert set(document) == {
        "format", "version", "software", "guarantee", "target", "classes", "attributes", "trees", "kind",
        "leaf_weights", "fallback",
    }  # fmt: skip


def test_an_attribute_whose_nodes_branch_on_cells_carries_all_its_borders(model):
    # The first tree branches on the ten cells of the age; of its children the first cuts the age at 30, and the last,
    # where the age is missing, asks for the sex. The second tree cuts at 70.
    attribute = [0, 0, 0, *[LEAF] * 9, 1, LEAF, LEAF, *[LEAF] * 5]
    cut = [-1, 6, 2, *[-1] * 17]
    cells = with_forest(model, attribute, cut, 2, np.ones((16, 2)))
    document = portable_document(cells)
    assert document["attributes"][0]["cuts"] == [10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0, 80.0, 90.0]
    assert document["trees"]["cut"] == [-1, 6, 2]


def test_an_unfitted_model_is_refused(model):
    with pytest.raises(NotFittedError):
        portable_document(PrivateRDTClassifier(model.schema_))


class LogisticVote:
    """A vote that is no sum of counts."""


class OtherSum(SummedCounts):
    """A vote that may add up in another way."""


def test_a_vote_that_is_no_sum_of_counts_is_refused(model):
    sentence = "PrivateRDTClassifier cannot be exported: its vote is not a sum of leaf counts or weights over the trees"
    for vote in (LogisticVote(), OtherSum(**vars(model._vote))):
        other = copy(model)
        other._vote = vote
        with pytest.raises(ParameterError, match=sentence):
            portable_document(other)


def test_sums_that_a_double_cannot_hold_are_refused(by_hand):
    most = MAX_VOTES // by_hand.forest_.n_trees
    counts = np.zeros_like(by_hand.noisy_counts_)
    counts[3, 0] = most
    assert max(portable_document(with_counts(by_hand, counts))["leaf_weights"]) == most
    counts[3, 1] = 1
    with pytest.raises(ParameterError, match=r"may add up beyond 2\^53.*; predict with privet instead"):
        portable_document(with_counts(by_hand, counts))
