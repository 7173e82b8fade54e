"""What may be passed to a fit: tables with their labels in them, lazy frames, streams; each row counted once."""

import copy

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from numpy.testing import assert_array_equal

from privet import Categorical, Ledger, Numeric, PrivateForestClassifier, PrivateRDTClassifier, PrivateSearch, Schema
from privet.errors import DataError

N_ROWS = 300
ATTRIBUTES = [Numeric("age", 0, 100), Categorical("job", ["cook", "judge"])]
SCHEMA = Schema(ATTRIBUTES, classes=["no", "yes"], target="smoker", rows=N_ROWS)
UNDECLARED = Schema(ATTRIBUTES, classes=["no", "yes"], target="smoker")


def people():
    rng = np.random.default_rng(3)
    X = pd.DataFrame({"age": rng.uniform(0, 100, N_ROWS), "job": rng.choice(["cook", "judge"], N_ROWS)})
    return X, np.where(X["age"] > 50, "yes", "no")


X, Y = people()
FRAME = X.assign(smoker=Y)[["smoker", "job", "age"]]


def counts(table, y=None, *, schema=SCHEMA, **options):
    """Exact counts, which tell how often each row was counted."""
    model = PrivateRDTClassifier(schema, epsilon=float("inf"), n_trees=2, height=2, random_state=0, **options)
    return model.fit(table, y).noisy_counts_


MAKES = {
    "pandas": lambda: FRAME,
    "polars": lambda: pl.from_pandas(FRAME),
    "a lazy frame": lambda: pl.from_pandas(FRAME).lazy(),
    "Arrow": lambda: pa.Table.from_pandas(FRAME),
    "an Arrow reader": lambda: pa.Table.from_pandas(FRAME).to_reader(),
}


@pytest.mark.parametrize("make", MAKES)
def test_a_table_with_its_labels_is_fitted_as_table_and_labels(make):
    assert_array_equal(counts(MAKES[make]()), counts(X, Y))


@pytest.mark.parametrize("estimator", [PrivateForestClassifier, PrivateRDTClassifier])
@pytest.mark.parametrize("schema", [SCHEMA, UNDECLARED], ids=["declared", "undeclared"])
def test_a_lazy_frame_is_computed_once_by_a_fit_however_often_it_goes_through_the_rows(estimator, schema):
    computed = []

    def seen(frame):
        computed.append(len(frame))
        return frame

    lazy = pl.from_pandas(FRAME).lazy().map_batches(seen)
    model = estimator(schema, epsilon=5.0).fit(lazy)
    assert computed == [N_ROWS]
    assert model.predict(lazy).shape == (N_ROWS,)
    assert computed == [N_ROWS] * 2


@pytest.mark.parametrize("make", [make for make in MAKES if make != "an Arrow reader"])
def test_a_search_takes_the_same_tables_and_computes_a_lazy_frame_once(make):
    computed, given = [], MAKES[make]()
    if make == "a lazy frame":
        given = given.map_batches(lambda frame: computed.append(len(frame)) or frame)
    candidates = {"forest": PrivateForestClassifier(SCHEMA), "random": PrivateRDTClassifier(SCHEMA)}
    search = PrivateSearch(candidates, epsilon=4.0).fit(given)
    assert search.predict(X).shape == (N_ROWS,)
    assert computed == [N_ROWS] * (make == "a lazy frame")


def test_a_persons_rows_are_bounded_and_batches_are_added_with_labels_in_the_table():
    person = np.arange(N_ROWS) // 3
    for table in (FRAME.assign(person=person), pl.from_pandas(FRAME.assign(person=person)).lazy()):
        assert counts(table, unit="person").sum() == 2 * N_ROWS / 3
    model = PrivateRDTClassifier(SCHEMA, epsilon=float("inf"), n_trees=2, height=2, random_state=0)
    model.partial_fit(FRAME[:100]).partial_fit(FRAME[100:])
    assert_array_equal(model.noisy_counts_, counts(X, Y))
    weights = np.arange(N_ROWS) % 2
    model.fit(FRAME, sample_weight=weights)
    assert model.noisy_counts_.sum() == N_ROWS


def test_rows_drawn_twice_are_seen_with_labels_in_the_table():
    with pytest.raises(DataError, match="rows are in the table more than once"):
        counts(FRAME.sample(N_ROWS, replace=True, random_state=0))


@pytest.mark.parametrize(
    ("table", "sentence"),
    [
        (X, "requires y to be passed, but the target y is None; pass one label per row, or a table with named columns"),
        (X.to_numpy(), "requires y to be passed, but the target y is None"),
        (pd.concat([FRAME, FRAME["smoker"]], axis=1), "has the column 'smoker' twice; drop or rename one"),
        (FRAME.assign(note="a"), "has a column 'note' that the schema lacks; drop it, or add it to the schema"),
        (FRAME.assign(smoker="maybe"), "column 'smoker' has labels that are not in the schema's classes"),
    ],
)
def test_a_table_without_its_labels_is_refused(table, sentence):
    with pytest.raises(DataError, match=sentence):
        counts(table)


def test_labels_in_two_places_are_refused():
    with pytest.raises(DataError, match="the label's column 'smoker' is among the attributes; drop it from the table"):
        counts(FRAME, Y)


def test_an_inferred_schema_names_no_target():
    with pytest.raises(DataError, match="requires y to be passed"):
        counts(FRAME, schema="infer")


def test_what_needs_no_row_to_be_refused_is_free_and_a_lazy_frame_that_fails_is_charged_in_a_strict_account(tmp_path):
    ledger = Ledger(tmp_path / "ledger.db", dataset="people", epsilon=10.0, strict=True)
    model = PrivateRDTClassifier(SCHEMA, epsilon=1.0, ledger=ledger)
    for table in (X.to_numpy(), X, pl.from_pandas(X)):
        with pytest.raises(DataError, match="requires y to be passed"):
            model.fit(table)
    assert ledger.spent == 0
    # Whether it fails depends on rows: an exact answer.
    failing = pl.from_pandas(FRAME).lazy().with_columns(pl.col("smoker").cast(pl.Int8))
    with pytest.raises(DataError, match="the lazy frame cannot be computed") as caught:
        model.fit(failing)
    assert "yes" not in str(caught.value)
    assert ledger.spent == 1.0


def test_copies_of_a_model_spend_from_the_same_ledger(tmp_path):
    ledger = Ledger(tmp_path / "ledger.db", dataset="people", epsilon=10.0)
    model = PrivateRDTClassifier(SCHEMA, epsilon=1.0, ledger=ledger)
    for own in (model, copy.copy(model), copy.deepcopy(model)):
        own.fit(FRAME)
    assert ledger.spent == 3.0


@pytest.mark.parametrize("classes", [["no", "yes"], [False, True], [5, 9], [0.5, 2.0]])
def test_numbered_classes_are_for_codes_and_codes_are_refused_without(classes):
    schema = Schema(ATTRIBUTES, classes=classes, target="smoker", rows=N_ROWS)
    numbered = schema.with_numbered_classes()
    assert (numbered.classes, numbered.names, numbered.target) == ((0, 1), schema.names, "smoker")
    codes = (Y == "yes").astype(int)
    assert_array_equal(counts(X, codes, schema=numbered), counts(X, Y))
    with pytest.raises(DataError, match=r"a wrapper of scikit-learn that numbers the classes needs schema.with_numb"):
        counts(X, codes, schema=schema)


def test_chances_as_a_frame_have_the_classes_for_columns():
    model = PrivateForestClassifier(SCHEMA, epsilon=5.0).fit(FRAME)
    frame = model.predict_proba_frame(X[::-2])
    assert frame.columns.tolist() == ["no", "yes"]
    assert_array_equal(frame.index, X.index[::-2])
    assert_array_equal(frame, model.predict_proba(X[::-2]))
    assert model.predict_proba_frame(X, "polars")["yes"].to_list() == model.predict_proba(X)[:, 1].tolist()
    assert model.predict_proba_frame(pl.from_pandas(X).lazy(), "pyarrow").column_names == ["no", "yes"]
    with pytest.raises(ValueError, match="library='numpy' is not known; choose from pandas, polars, pyarrow"):
        model.predict_proba_frame(X, "numpy")
