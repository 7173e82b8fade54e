"""An attribute that is declared never missing: no leaf, rule or picture speaks of it, in any method."""

import math
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from privet import (
    ColumnForest,
    FieldSampling,
    GaussianNoise,
    HorizontalForest,
    Ledger,
    RandomizedResponse,
    RandomResponseForestClassifier,
    ReconstructionTreeClassifier,
    RecordComplement,
    Schema,
    Secret,
    VerticalForest,
    load,
    perturb,
)
from privet.errors import DataError, ParameterError
from privet.export import portable_document
from privet.export.predictor import Predictor
from privet.partitioned import SplitStructure, Structure
from privet.registry import METHODS
from tests.contracts.readers import words_of
from tests.contracts.tasks import OF_NUMBERS, answers, labels_for, schema_for
from tests.partitioned.parties import SCHEMA, SPLIT, parties, released, released_columns, roster_of, table

COMPLETE = SCHEMA.with_attributes(replace(a, never_missing=True) for a in SCHEMA.attributes)
X, Y = table()
# The first row lacks a number, the second a category, the third has one that is none, the last lacks everything.
LACKING = X[:4].astype({"night": object})
LACKING.loc[0, "age"], LACKING.loc[1, "night"], LACKING.loc[2, "job"] = np.nan, None, "pilot"
LACKING.loc[3] = [np.nan, None, np.nan, None]


def disturbed(channel):
    answers = perturb(X.assign(group=Y), channel, Secret(), max_epsilon=math.inf)
    return answers.drop(columns="group"), answers["group"]


def tree_of(channel):
    return ReconstructionTreeClassifier(channel=channel).fit(*disturbed(channel))


def forest_of(channel):
    return RandomResponseForestClassifier(channel=channel, n_trees=3, random_state=1).fit(*disturbed(channel))


def of_parties(schema, folder):
    agreed = Structure.draw(schema, epsilon=4.0, n_trees=4, random_state=3)
    holders = parties(folder)
    return HorizontalForest.combine(agreed, roster_of(holders), released(holders, agreed))


def of_halves(schema, folder):
    agreed = SplitStructure.draw(schema, SPLIT, epsilon=4.0, n_trees=4, random_state=3)
    holders = parties(folder, tuple(SPLIT))
    return VerticalForest.combine(agreed, roster_of(holders), released_columns(holders, agreed))


def of_columns(schema, folder):
    agreed = SplitStructure.draw(schema, SPLIT, method="private-forest", epsilon=40.0)
    holders = parties(folder, tuple(SPLIT))
    return ColumnForest.combine(agreed, roster_of(holders), released_columns(holders, agreed))


CASES = {
    **{
        name: lambda schema, _folder, name=name: METHODS[name](
            schema_for(name, schema), epsilon=4.0, random_state=1
        ).fit(X, labels_for(name, schema, Y))
        for name in METHODS
    },
    "horizontal": of_parties,
    "vertical": of_halves,
    "columns": of_columns,
    "reconstruction-tree, Gaussian noise": lambda s, _: tree_of(GaussianNoise(s, privacy=0.5).channel),
    "reconstruction-tree, random answers": lambda s, _: tree_of(RandomizedResponse(s, epsilon=40).channel),
    "response forest, random answers": lambda s, _: forest_of(RandomizedResponse(s, epsilon=40, label=True).channel),
    "response forest, flipped records": lambda s, _: forest_of(RecordComplement(s, theta=0.9).channel),
}


@pytest.fixture(scope="module", params=CASES)
def fitted(request, tmp_path_factory):
    """Return a model of every method, of a schema in which nothing is ever missing."""
    return CASES[request.param](COMPLETE, tmp_path_factory.mktemp("parties"))


def test_nothing_that_people_read_speaks_of_missing_values(fitted, tmp_path):
    about = [text for text in words_of(fitted, tmp_path) if "missing" in text.replace("never missing", "")]
    assert not about


@pytest.mark.parametrize("name", ["private-rdt", "private-forest", "response forest, random answers"])
def test_that_search_finds_missing_values_where_they_are_possible(name, tmp_path):
    model = CASES[name](SCHEMA, tmp_path)
    assert any("missing" in text for text in words_of(model, tmp_path))


def test_no_leaf_is_for_missing_values(fitted):
    trees = getattr(fitted, "trees_", None)
    if trees is not None:
        assert trees.n_trees
        assert {axis.missing for own in trees.first.axes for axis in own} == {"never"}
        assert not any(axis.own_missing for own in trees.axes for axis in own)
    elif not hasattr(fitted, "coding_"):  # bits have no missing value anyway
        forest = fitted.forest_
        inner = forest.attribute >= 0
        n_values = np.array([a.n_values for a in fitted.schema_.attributes])[forest.attribute]
        assert_array_equal(forest.n_children[inner], np.where(forest.cut >= 0, 2, n_values)[inner])


def test_a_row_that_lacks_a_value_is_answered_all_the_same(fitted, tmp_path):
    chances = answers(fitted, LACKING)
    assert np.isfinite(chances).all()
    fitted.save(tmp_path / "model.privet")
    assert_array_equal(answers(load(tmp_path / "model.privet"), LACKING), chances)
    if fitted.method in OF_NUMBERS:
        with pytest.raises(ParameterError, match="predicts a number, and exported predictors know classes alone"):
            portable_document(fitted)
        return
    assert_allclose(chances.sum(axis=1), 1.0)
    if type(fitted).__name__ in {"DPRFClassifier", "VerticalForest"}:  # whose votes are no sums
        with pytest.raises(ParameterError, match="cannot be exported: its vote is not a sum"):
            portable_document(fitted)
        return
    document = portable_document(fitted)
    rows = LACKING.astype(object).where(LACKING.notna(), None).to_dict("records")
    assert_allclose([Predictor(document).predict_proba(row) for row in rows], chances, rtol=1e-12)


@pytest.mark.parametrize("name", METHODS)
def test_a_row_that_lacks_a_value_is_refused_by_a_fit_and_nothing_is_spent(name, tmp_path):
    for column, row in {"age": 0, "night": 1, "job": 2}.items():
        ledger = Ledger(tmp_path / f"{column}.db", dataset="people", epsilon=9.0)
        model = METHODS[name](schema_for(name, COMPLETE), epsilon=4.0, ledger=ledger)
        with pytest.raises(DataError, match=f"column '{column}' has .* but the schema declares it never_missing"):
            model.fit(
                LACKING[row : row + 1].astype({"night": bool} if row != 1 else {}), labels_for(name, COMPLETE, [5])
            )
        assert ledger.left == 9.0
        assert not hasattr(model, "guarantee_")


def test_on_a_strict_account_a_fit_that_fails_so_is_charged(tmp_path):
    ledger = Ledger(tmp_path / "people.db", dataset="people", epsilon=9.0, strict=True)
    with pytest.raises(DataError, match="column 'age' has missing numbers"):
        METHODS["private-rdt"](COMPLETE, epsilon=4.0, ledger=ledger).fit(X.assign(age=np.nan), Y)
    assert ledger.left == 5.0


@pytest.mark.parametrize("name", ["dpdf", "diffpid3", "private-id3"])
def test_without_noise_the_node_that_asks_answers_with_its_own_rows(name):
    model = METHODS[name](COMPLETE, epsilon=math.inf).fit(X, Y)
    root = COMPLETE.attributes[model.forest_.attribute[0]].name
    lacking = X[:1].assign(**{root: None if root in {"job", "night"} else np.nan})
    shares = model.nodes_.counts[0] / model.nodes_.counts[0].sum()
    wanted = np.eye(2)[shares.argmax()] if name == "dpdf" else shares  # one tree of DPDF votes for its majority
    assert_allclose(model.predict_proba(lacking)[0], wanted)


def test_a_row_of_a_file_that_lacks_a_value_is_refused_too(tmp_path):
    X.assign(group=Y).to_csv(tmp_path / "rows.csv", index=False)
    X.assign(group=Y, age=np.nan).to_csv(tmp_path / "empty.csv", index=False)
    for name in METHODS:
        schema = schema_for(name, COMPLETE)
        METHODS[name](schema, epsilon=4.0).fit(tmp_path / "rows.csv")
        with pytest.raises(
            DataError, match="column 'age' has missing numbers, but the schema declares it never_missing"
        ):
            METHODS[name](schema, epsilon=4.0).fit(tmp_path / "empty.csv")


def test_a_respondent_who_lacks_a_value_is_refused():
    for channel in (
        GaussianNoise(COMPLETE, privacy=0.5).channel,
        RandomizedResponse(COMPLETE, epsilon=4).channel,
        RecordComplement(COMPLETE, theta=0.9).channel,
        FieldSampling(COMPLETE, epsilon=1).channel,
    ):
        with pytest.raises(
            DataError, match="column 'age' has missing numbers, but the schema declares it never_missing"
        ):
            perturb(X[:2].assign(age=np.nan, group=Y[:2]), channel, Secret(), max_epsilon=math.inf)


def test_a_party_refuses_a_row_that_lacks_a_value(tmp_path):
    agreed = Structure.draw(COMPLETE, epsilon=4.0, n_trees=4, random_state=3)
    holder = parties(tmp_path)["bank"]
    with pytest.raises(DataError, match="column 'age' has missing numbers, but the schema declares it never_missing"):
        holder.release(agreed, X[:5].assign(age=np.nan), Y[:5])


def test_the_guarantee_says_what_was_declared(fitted):
    assert "that 4 of 4 attributes are never missing" in fitted.guarantee_.public


def test_leaves_are_fewer_and_noise_is_the_same():
    for name in ("private-rdt", "dp-rf"):
        either = [METHODS[name](s, epsilon=4.0, n_trees=3, random_state=1).fit(X, Y) for s in (SCHEMA, COMPLETE)]
        assert len(either[1].forest_.leaves) < len(either[0].forest_.leaves)
        assert either[1].noise_std_ == either[0].noise_std_


def test_a_schema_keeps_the_declaration_in_its_file(tmp_path):
    COMPLETE.save(tmp_path / "schema.json")
    assert Schema.load(tmp_path / "schema.json") == COMPLETE
    assert '"never_missing": true' in (tmp_path / "schema.json").read_text()
