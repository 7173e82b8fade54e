"""The file of a tree of disturbed rows, its rules and its importances; what a stranger may have put into the file."""

import copy

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.exceptions import NotFittedError

from privet.errors import ModelFileError, ParameterError
from privet.local import Channel, RecordComplement
from privet.local.channels.added_noise import AddedNoise
from privet.local.channels.distributions import Uniform
from privet.local.reconstruction.reconstruction_tree import ReconstructionTreeClassifier
from privet.model_file import read_document, schema_from_json
from privet.schema import Categorical, Numeric, Schema

AGE = Numeric("age", 0, 100, bins=10)
SCHEMA = Schema([AGE, Categorical("colour", ["red", "green"])], classes=[5, 9])
# Of the reds those from 40 on are nines; of the greens none.
ROWS = np.array([[10.0, 0], [20, 0], [50, 0], [60, 0], [10, 1], [60, 1]] * 20, dtype=object)
ROWS[:, 1] = np.where(ROWS[:, 1] == 0, "red", "green")
LABELS = np.array([5, 5, 9, 9, 5, 5] * 20)


@pytest.fixture(scope="module")
def model():
    return ReconstructionTreeClassifier(SCHEMA, random_state=0).fit(ROWS, LABELS)


@pytest.fixture(scope="module")
def disturbed():
    column = AddedNoise(AGE, Uniform(30.0))
    channel = Channel.of(SCHEMA, [column])
    rng = np.random.default_rng(0)
    words = rng.integers(0, 2**64, len(ROWS), dtype=np.uint64)
    answers = ROWS.copy()
    answers[:, 0] = column.answer_for(column.codes(ROWS[:, 0].astype(float)), words)
    return ReconstructionTreeClassifier(channel=channel, strategy="local", min_rows=7, random_state=0).fit(
        answers, LABELS
    )


def restored(document):
    return ReconstructionTreeClassifier.from_document(document, schema_from_json(document["schema"]))


def test_counts_and_rules_by_hand(model):
    rules = model.rules(leaves_only=True)
    assert rules["rule"].tolist() == [
        "if age < 40 then 5",
        "if (age >= 40 or missing) and colour = red then 9",
        "if (age >= 40 or missing) and colour = green then 5",
        "if (age >= 40 or missing) and colour is missing then 5",
    ]
    assert rules["support"].tolist() == [60, 40, 20, 0]
    assert rules["n(9)"].tolist() == [0, 40, 0, 0]
    assert not {"support_low", "confidence_high"} & set(rules.columns)
    assert model.rules(class_=9, leaves_only=True)["confidence"].tolist() == [1.0]
    assert model.height_ == 2


def test_importances_by_hand(model):
    # Rows x Gini: 120 * 4/9 before, 60 * 4/9 after the first cut, 0 after the second.
    assert_allclose(model.feature_importances_, [0.5, 0.5])


def test_a_saved_tree_predicts_the_same(model, disturbed, tmp_path):
    for own in (model, disturbed):
        own.save(tmp_path / "tree.privet")
        document = read_document(tmp_path / "tree.privet")
        again = restored(document)
        assert_array_equal(again.predict_proba(ROWS), own.predict_proba(ROWS))
        assert again.to_document() == own.to_document()
        assert again.guarantee_ == own.guarantee_
    assert (again.strategy, again.min_rows) == ("local", 7)


def test_a_file_holds_no_seed_and_no_row(disturbed):
    document = disturbed.to_document()
    assert set(document) == {"method", "parameters", "schema", "structure", "released", "guarantee"}
    assert set(document["released"]) == {"counts"}
    assert "random_state" not in document["parameters"]


def changed(document, path, value):
    damaged = copy.deepcopy(document)
    *above, last = path
    part = damaged
    for key in above:
        part = part[key]
    part[last] = value
    return damaged


@pytest.mark.parametrize(
    ("path", "value", "sentence"),
    [
        (("released", "counts", 0), -1, "the counts are not those of rows"),
        (("released", "counts"), [1, 2], "do not fit the trees and classes"),
        (("released",), {"counts": [], "weights": []}, "this method keeps counts and nothing else"),
        (("structure", "cut", 0), -1, "too many or too few nodes"),
        (("structure", "cut", 0), 10, "a tree's cut lies outside its attribute's cells"),
        (("structure",), {"n_trees": 3, "attribute": [-1] * 3, "cut": [-1] * 3}, "one tree of at most 64 tests"),
        (
            ("structure",),
            {"n_trees": 1, "attribute": [0] + [-1] * 11, "cut": [-1] * 12},
            "no tree of this method tests",
        ),
        (("parameters",), {}, "the model's parameters are not those of its method"),
        (("parameters", "strategy"), "best", "a parameter of the model is out of its range"),
        (("parameters", "purity"), "high", "a parameter of the model is out of its range"),
        (("guarantee", "mode"), "sound", "the guarantee does not follow from its channel"),
        (("schema", "rows"), 7, "the guarantee's channel is not of this schema"),
    ],
)
def test_a_changed_file_is_refused(disturbed, path, value, sentence):
    with pytest.raises(ModelFileError, match=sentence):
        restored(changed(disturbed.to_document(), path, value))


def test_a_channel_that_no_such_tree_is_grown_through_is_refused(model):
    from privet.local.guarantee import LocalGuarantee

    flipped = RecordComplement(SCHEMA, theta=0.8).channel
    document = changed(model.to_document(), ("guarantee",), LocalGuarantee(flipped).to_json())
    document["schema"] = flipped.schema.to_json()
    with pytest.raises(ModelFileError, match="no tree of this method is grown through such a channel"):
        restored(document)


def test_what_needs_a_fit_says_so():
    model = ReconstructionTreeClassifier(SCHEMA)
    for ask in (model.rules, lambda: model.feature_importances_, lambda: model.height_, lambda: model.predict(ROWS)):
        with pytest.raises(NotFittedError):
            ask()


def test_rules_refuse_what_is_out_of_range(model):
    with pytest.raises(ParameterError, match="class 7 is not known to the model; choose from 5, 9"):
        model.rules(class_=7)
