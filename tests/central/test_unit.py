"""The unit of privacy: people with several rows."""

import json

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from numpy.testing import assert_array_equal

from privet import Categorical, Ledger, Numeric, PrivateRDTClassifier, Schema, load
from privet.errors import DataError, ModelFileError, ParameterError, SchemaError
from privet.model_file import read_document, write_document
from privet.privacy.events import DiscreteLaplace

SCHEMA = Schema([Numeric("age", 0, 100), Categorical("sex", ["female", "male"])], classes=["no", "yes"], rows=600)


def visits(n_persons=200, each=3):
    rng = np.random.default_rng(8)
    n_rows = n_persons * each
    table = pd.DataFrame(
        {
            "person_id": rng.permutation(np.repeat(np.arange(n_persons), each)),
            "age": rng.uniform(0, 100, n_rows),
            "sex": rng.choice(["female", "male"], n_rows),
        }
    )
    return table, np.where(table["age"] > 50, "yes", "no")


def unfitted(**options):
    parameters = {"epsilon": 2.0, "n_trees": 4, "height": 2, "unit": "person_id", "max_rows": 2, "random_state": 5}
    return PrivateRDTClassifier(SCHEMA, **{**parameters, **options})


def test_only_the_first_rows_of_each_person_are_counted():
    X, y = visits()
    model = unfitted(epsilon=float("inf")).fit(X, y)
    first = X.groupby("person_id").cumcount() < 2
    rows = PrivateRDTClassifier(SCHEMA, epsilon=float("inf"), n_trees=4, height=2, random_state=5)
    assert_array_equal(
        model.noisy_counts_, rows.fit(X[first].drop(columns="person_id"), y[first.to_numpy()]).noisy_counts_
    )
    assert model.noisy_counts_.sum() == 4 * 400


@pytest.mark.parametrize("name", ["rows.csv", "rows.csv.gz", "rows.parquet"])
def test_a_file_is_bounded_as_a_table_is(tmp_path, name):
    X, y = visits()
    table = X.assign(**{"class": y})
    _ = table.to_parquet(tmp_path / name) if name.endswith("parquet") else table.to_csv(tmp_path / name, index=False)
    model = unfitted(epsilon=float("inf")).fit(X, y)
    assert_array_equal(unfitted(epsilon=float("inf")).fit(tmp_path / name).noisy_counts_, model.noisy_counts_)


def by_make(table, make):
    """The same table with persons of another make, as Arrow."""
    return pa.Table.from_pandas(table.assign(person_id=table["person_id"].astype(make)))


@pytest.mark.parametrize("make", ["str", "float64", "uint16", "category"])
def test_a_person_who_is_a_number_here_and_of_another_make_there_counts_once(tmp_path, make):
    X, y = visits(each=1)
    table = X.assign(**{"class": y})
    january, february = by_make(table, "int64"), by_make(table, make)
    pq.write_table(january, tmp_path / "january.parquet")
    pq.write_table(february, tmp_path / "february.parquet")
    table.to_csv(tmp_path / "march.csv", index=False)
    files = [tmp_path / name for name in ("january.parquet", "february.parquet", "march.csv")]
    batches = [january, february, *january.to_batches()]
    for source in (files, batches, lambda: iter(batches)):
        model = unfitted(max_rows=1, epsilon=float("inf")).fit(source)
        assert model.noisy_counts_.sum() == 4 * 200


def test_persons_of_a_type_that_cannot_be_matched_are_refused_before_a_row_is_read(tmp_path, monkeypatch):
    X, y = visits(each=1)
    table = pa.Table.from_pandas(X.assign(**{"class": y, "person_id": X["person_id"] > 5}))
    pq.write_table(table, tmp_path / "rows.parquet")
    monkeypatch.setattr("privet.counting.rows.BatchRows.blocks", None)  # would be called to read one
    for source in (tmp_path / "rows.parquet", [table], table.to_reader()):
        with pytest.raises(DataError, match="column 'person_id' holds true/false, and persons are identified by"):
            unfitted().fit(source)


def test_persons_who_may_be_one_stop_the_fit_and_cost_nothing(tmp_path):
    X, y = visits(each=1)
    table = X.assign(**{"class": y})
    table.to_parquet(tmp_path / "january.parquet")
    table.assign(person_id=[f"{i:05}" for i in X["person_id"]]).to_csv(tmp_path / "february.csv", index=False)
    ledger = Ledger(tmp_path / "ledger", dataset="visits", epsilon=2.0, unit="person_id")
    model = unfitted(ledger=ledger)
    with pytest.raises(DataError, match="column 'person_id' spells what may be one person in two ways"):
        model.fit([tmp_path / "january.parquet", tmp_path / "february.csv"])
    assert not hasattr(model, "guarantee_")
    assert ledger.spent == 0


def test_text_in_arrows_views_is_bounded_too(tmp_path):
    X, y = visits(each=1)
    table = by_make(X.assign(**{"class": y}), "str")
    views = table.cast(
        pa.schema([(f.name, pa.float64() if f.name == "age" else pa.string_view()) for f in table.schema])
    )
    pq.write_table(views, tmp_path / "rows.parquet")
    model = unfitted(max_rows=1, epsilon=float("inf")).fit([tmp_path / "rows.parquet"])
    assert model.noisy_counts_.sum() == 4 * 200


def test_noise_grows_with_the_rows_that_a_person_may_have():
    X, y = visits()
    model = unfitted().fit(X, y)
    assert isinstance(model.guarantee_.event, DiscreteLaplace)
    assert model.guarantee_.event.sensitivity == 4 * 2
    assert model.guarantee_.event.scale >= 4
    single = unfitted(max_rows=1).fit(X, y)
    assert model.noise_std_ == pytest.approx(2 * single.noise_std_, rel=0.1)


def test_a_row_count_that_is_bought_is_bounded_too():
    X, y = visits()
    schema = Schema(SCHEMA.attributes, classes=SCHEMA.classes)
    model = PrivateRDTClassifier(schema, epsilon=2.0, unit="person_id", max_rows=3)
    rows, leaves = model.fit(X, y).guarantee_.event.parts
    assert (rows.sensitivity, leaves.sensitivity) == (3, 30)


def test_the_promise_says_who_is_protected():
    X, y = visits()
    guarantee = unfitted().fit(X, y).guarantee_
    assert (guarantee.unit, guarantee.max_rows, guarantee.epsilon) == ("person_id", 2, 2.0)
    assert "whether or not the rows of any one 'person_id' were in the table" in guarantee.sentence
    assert "neighbours: all rows of one 'person_id' more or less, of which the first 2 are used" in guarantee.sentence


def test_further_batches_are_of_other_persons():
    X, y = visits()
    model = unfitted().fit(X, y).partial_fit(X, y)
    assert model.guarantee_.assumptions == ("no 'person_id' is in more than one batch",)
    with pytest.raises(ParameterError, match="unit or max_rows changed since the first batch"):
        model.set_params(max_rows=1).partial_fit(X, y)


def test_new_rows_are_predicted_with_and_without_the_column():
    X, y = visits()
    model = unfitted().fit(X, y)
    assert_array_equal(model.predict_proba(X), model.predict_proba(X.drop(columns="person_id")))


def test_the_file_keeps_the_unit_and_refuses_a_lie_about_it(tmp_path):
    X, y = visits()
    model = unfitted().fit(X, y)
    model.save(tmp_path / "model.privet")
    again = load(tmp_path / "model.privet")
    assert again.guarantee_ == model.guarantee_
    assert (again.unit, again.max_rows) == ("person_id", 2)
    document = read_document(tmp_path / "model.privet")
    body = {key: value for key, value in document.items() if key not in {"format", "version", "checksum"}}
    text = json.dumps(body).replace("first 2 are used", "first 3 are used").replace('"max_rows": 2', '"max_rows": 3')
    write_document(tmp_path / "forged.privet", json.loads(text))
    with pytest.raises(ModelFileError, match="the guarantee is not that of this schema and these trees"):
        load(tmp_path / "forged.privet")
    text = json.dumps(body).replace('"max_rows": 2', '"max_rows": 0')
    write_document(tmp_path / "forged.privet", json.loads(text))
    with pytest.raises(ModelFileError, match="the guarantee's unit is not what privet writes there"):
        load(tmp_path / "forged.privet")


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"max_rows": 0}, "max_rows=0 must be a whole number from 1"),
        ({"unit": "row"}, "max_rows=2 bounds the rows of a person; name their column with unit"),
        ({"unit": ""}, "unit='' must be \"row\" or the name of the column"),
    ],
)
def test_bounds_that_make_no_sense_are_refused(options, sentence):
    with pytest.raises(ParameterError, match=sentence):
        unfitted(**options).fit(*visits())


def test_a_column_that_is_missing_nameless_or_learnt_is_refused():
    X, y = visits()
    with pytest.raises(DataError, match="the table lacks the column 'person_id'"):
        unfitted().fit(X.drop(columns="person_id"), y)
    with pytest.raises(SchemaError, match="the unit's column 'age' is in the schema and would be learnt"):
        unfitted(unit="age").fit(X, y)
    numeric = Schema([Numeric("age", 0, 100)], classes=["no", "yes"])
    model = PrivateRDTClassifier(numeric, unit="person_id")
    with pytest.raises(DataError, match="the table has no column names, so 'person_id' cannot be found"):
        model.fit(X[["age"]].to_numpy(), y)


def test_an_inferred_schema_leaves_the_persons_out():
    X, y = visits()
    with pytest.warns(UserWarning, match="reads domains and classes"):
        model = PrivateRDTClassifier("infer", unit="person_id").fit(X, y)
    assert model.schema_.names == ("age", "sex")


def test_parameters_that_another_thread_sets_during_a_fit_do_not_mix():
    X, y = visits()

    class Meddling(pd.DataFrame):
        """A table that raises the bound's price after the fit has begun."""

        def __getitem__(self, key):
            model.set_params(max_rows=1)
            return super().__getitem__(key)

    model = unfitted(max_rows=2)
    model.fit(Meddling(X), y)
    assert model.guarantee_.event.sensitivity == 4 * 2
    assert model.guarantee_.max_rows == 2
    assert model.max_rows == 1
