"""Parts of an account in Python: the same rows are known again; what was stated of people travels with the model."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from privet import (
    Categorical,
    DPDFClassifier,
    DPRFClassifier,
    Ledger,
    Numeric,
    PrivateForestClassifier,
    PrivateRDTClassifier,
    Schema,
    load,
)
from privet.errors import DataError, LedgerError, ParameterError

ATTRIBUTES = [Numeric("age", 0, 100), Categorical("city", list("abcdefgh"))]
SCHEMA = Schema(ATTRIBUTES, classes=["no", "yes"], target="label", rows=200)
UNCOUNTED = Schema(ATTRIBUTES, classes=["no", "yes"], target="label")
ALL = pytest.mark.parametrize(
    "kind",
    [PrivateForestClassifier, PrivateRDTClassifier, DPRFClassifier, DPDFClassifier],
    ids=lambda kind: kind.method,
)
SENTENCE = "the ledger has this batch in the part 'january', and no row is in two parts"
STATED = "no 'pid' is in more than one part of the data set"


def rows(seed=0):
    rng = np.random.default_rng(seed)
    columns = {"age": rng.uniform(0, 100, 200), "city": rng.choice(list("abcdefgh"), 200)}
    return pd.DataFrame({**columns, "label": rng.choice(["no", "yes"], 200)})


def given(table, form, folder):
    """Return X and y as a fit may be given them."""
    if form == "frame":
        return table.drop(columns="label"), table["label"]
    if form == "file":
        table.to_csv(folder / "rows.csv", index=False)
        return folder / "rows.csv", None
    batches = pa.Table.from_pandas(table).to_batches(max_chunksize=70)
    return {"list": batches, "iterator": iter(batches), "function": lambda: iter(batches)}[form], None


@pytest.fixture
def ledger(tmp_path):
    return Ledger(tmp_path / "ledger.db", dataset="visits", epsilon=5.0)


@ALL
@pytest.mark.parametrize("schema", [SCHEMA, UNCOUNTED], ids=["rows declared", "rows bought"])
def test_the_same_rows_are_refused_in_another_part_before_noise_is_drawn(ledger, kind, schema, tmp_path):
    X, y = given(rows(), "frame", tmp_path)
    kind(schema, ledger=ledger.for_part("january")).fit(X, y)
    model = kind(schema, epsilon=0.5, ledger=ledger.for_part("march"))
    for again, labels in ((X[::-1], y[::-1]), given(rows(), "file", tmp_path), given(rows(), "list", tmp_path)):
        with pytest.raises(DataError, match=SENTENCE):
            model.fit(again, labels)
    assert not hasattr(model, "guarantee_")
    assert ledger.for_part("march").spent == 0.0
    model.fit(*given(rows(1), "frame", tmp_path))
    model.set_params(ledger=ledger.for_part("january")).fit(X, y)
    assert ledger.for_part("january").spent == pytest.approx(1.5)


@pytest.mark.parametrize("form", ["iterator", "function"])
def test_streams_are_compared_in_their_only_pass(ledger, form, tmp_path):
    PrivateRDTClassifier(SCHEMA, ledger=ledger.for_part("january")).fit(*given(rows(), "file", tmp_path))
    with pytest.raises(DataError, match=SENTENCE):
        PrivateRDTClassifier(SCHEMA, ledger=ledger.for_part("march")).fit(*given(rows(), form, tmp_path))
    PrivateRDTClassifier(SCHEMA, ledger=ledger.for_part("march")).fit(*given(rows(1), form, tmp_path))


def test_one_method_knows_what_another_was_fitted_to(ledger, tmp_path):
    X, y = given(rows(), "frame", tmp_path)
    PrivateForestClassifier(SCHEMA, ledger=ledger.for_part("january")).fit(X, y)
    for kind in (PrivateRDTClassifier, DPDFClassifier):
        with pytest.raises(DataError, match=SENTENCE):
            kind(SCHEMA, ledger=ledger.for_part("march")).fit(X, y)


def test_a_batch_that_is_added_is_compared_with_parts_and_with_the_model(ledger, tmp_path):
    model = PrivateRDTClassifier(SCHEMA, ledger=ledger.for_part("january")).fit(*given(rows(), "frame", tmp_path))
    model.set_params(ledger=ledger.for_part("march"))
    with pytest.raises(DataError, match=SENTENCE):
        model.partial_fit(*given(rows(), "list", tmp_path))
    model.partial_fit(*given(rows(1), "frame", tmp_path))
    with pytest.raises(DataError, match="this batch is in the model already"):
        model.partial_fit(*given(rows(1), "iterator", tmp_path))
    assert ledger.spent == 1.0


def test_without_a_part_no_fingerprint_is_taken(ledger, tmp_path):
    PrivateRDTClassifier(SCHEMA, ledger=ledger).fit(*given(rows(), "frame", tmp_path))
    assert [entry.kind for entry in ledger.file.entries()] == ["opened", "budget", "reserved", "settled"]


# People.


def people():
    table = rows()
    return table.drop(columns="label").assign(pid=np.arange(200) // 2), table["label"]


@pytest.fixture
def account(tmp_path):
    return Ledger(tmp_path / "people.db", dataset="visits", epsilon=1.0, unit="pid")


@ALL
def test_what_was_stated_of_people_is_an_assumption_of_the_model_and_its_file(account, kind, tmp_path):
    unstated = kind(SCHEMA, unit="pid", ledger=account.for_part("march"))
    with pytest.raises(LedgerError, match="say so with no_person_in_two_parts=True"):
        unstated.fit(tmp_path / "no row is read", None)
    march = account.for_part("march", no_person_in_two_parts=True)
    model = kind(SCHEMA, unit="pid", ledger=march).fit(*people())
    assert model.guarantee_.assumptions == (STATED,)
    model.save(tmp_path / "model.privet")
    assert load(tmp_path / "model.privet").guarantee_ == model.guarantee_
    plain = model.set_params(ledger=None).fit(*people())
    assert plain.guarantee_.assumptions == ()


def test_a_model_keeps_the_statement_when_batches_are_added_without(account, tmp_path):
    march = account.for_part("march", no_person_in_two_parts=True)
    model = PrivateRDTClassifier(SCHEMA, unit="pid", ledger=march).fit(*people())
    model.save(tmp_path / "model.privet")
    for each in (model.set_params(ledger=None), load(tmp_path / "model.privet")):
        each.partial_fit(*people())
        assert each.guarantee_.assumptions == ("no 'pid' is in more than one batch", STATED)
        each.save(tmp_path / "updated.privet")
        assert load(tmp_path / "updated.privet").guarantee_ == each.guarantee_


# Strict accounts.


@ALL
def test_on_a_strict_account_a_label_that_is_no_class_is_paid_for_and_a_wrong_parameter_is_not(kind, tmp_path):
    strict = Ledger(tmp_path / "strict.db", dataset="visits", epsilon=1.0, strict=True)
    X, y = given(rows(), "frame", tmp_path)
    guess = Schema(ATTRIBUTES, classes=["no", "perhaps"], target="label", rows=200)
    failing = [
        lambda: kind(guess, epsilon=-1.0, ledger=strict).fit(X, y),
        lambda: kind(guess, epsilon=0.125, ledger=strict).fit(X, None),
        lambda: kind(tmp_path / "none.json", epsilon=0.125, ledger=strict).fit(X, y),
        lambda: kind("infer", epsilon=0.125, ledger=strict).fit(X, y),
        lambda: kind(guess, epsilon=0.125, ledger=strict).fit(tmp_path / "none.csv"),
        lambda: kind(guess, epsilon=0.125, ledger=strict).fit(
            [given(rows(), "file", tmp_path)[0], tmp_path / "none.csv"]
        ),
    ]
    for fit in failing:
        with pytest.raises((ParameterError, DataError, ValueError)):
            fit()
    assert strict.spent == 0.0
    for asked, labels in ((X, y), given(rows(), "file", tmp_path), given(rows(), "iterator", tmp_path)):
        with pytest.raises(DataError) as caught:
            kind(guess, epsilon=0.125, ledger=strict).fit(asked, labels)
        assert "this account is strict, so epsilon=0.125 counts as spent" in caught.value.__notes__[0]
    assert strict.spent == 0.375
