"""Attributes of dates, in every method: days inside, dates wherever a person reads them."""

import re

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal

from privet import Categorical, Date, HorizontalForest, RandomizedResponse, Schema, load
from privet.errors import ChannelError, ParameterError
from privet.export import portable_document
from privet.partitioned import Structure
from privet.registry import METHODS
from tests.contracts.readers import words_of
from tests.contracts.tasks import OF_CLASSES
from tests.partitioned.parties import parties, roster_of

SCHEMA = Schema(
    [Date("admitted", "2020-01-01", "2025-12-31"), Categorical("ward", ["a", "b"], never_missing=True)],
    classes=["no", "yes"], target="back", rows=900,
)  # fmt: skip
FIRST, LAST = pd.Timestamp("2020-01-01"), pd.Timestamp("2025-12-31")


def rows(n=900):
    rng = np.random.default_rng(6)
    days = FIRST + pd.to_timedelta(rng.integers(0, (LAST - FIRST).days + 1, n), "D")
    X = pd.DataFrame({"admitted": days, "ward": rng.choice(["a", "b"], n)})
    return X, np.where(X["admitted"] > pd.Timestamp("2023-06-01"), "yes", "no")


X, Y = rows()


def of_parties(folder):
    agreed = Structure.draw(SCHEMA, epsilon=4.0, n_trees=4, random_state=3)
    holders = parties(folder)
    releases = [holder.release(agreed, X[i::3], Y[i::3]) for i, holder in enumerate(holders.values())]
    return HorizontalForest.combine(agreed, roster_of(holders), releases)


CASES = {
    **{name: lambda _, name=name: METHODS[name](SCHEMA, epsilon=8.0, random_state=1).fit(X, Y) for name in OF_CLASSES},
    "horizontal": of_parties,
}


@pytest.fixture(scope="module", params=CASES)
def fitted(request, tmp_path_factory):
    return CASES[request.param](tmp_path_factory.mktemp("parties"))


def test_people_read_dates_and_never_the_number_of_a_day(fitted, tmp_path):
    said = words_of(fitted, tmp_path)
    assert any(re.search(r"20\d\d-\d\d-\d\d", text) for text in said)
    # From 2020-01-01 to 2025-12-31 days have the numbers 737,425 to 739,616.
    found = [re.sub(r"[0-9a-f]{64}", "", text) for text in said]
    assert not [text for text in found if re.search(r"(?<![\d,.-])73[789],?\d{3}(?!\d)", text)]


def test_times_and_text_of_a_day_are_predicted_alike_and_files_keep_dates(fitted, tmp_path):
    chances = fitted.predict_proba(X)
    assert_array_equal(fitted.predict_proba(X.assign(admitted=X["admitted"] + pd.Timedelta("23h"))), chances)
    assert_array_equal(fitted.predict_proba(X.assign(admitted=X["admitted"].dt.strftime("%Y-%m-%d"))), chances)
    fitted.save(tmp_path / "model.privet")
    assert_array_equal(load(tmp_path / "model.privet").predict_proba(X), chances)
    assert load(tmp_path / "model.privet").schema_ == fitted.schema_


def test_exports_say_that_they_do_not_read_dates(fitted):
    with pytest.raises(ParameterError, match="cannot be exported: (?:'admitted' is a date, which exported|its vote)"):
        portable_document(fitted)


def test_dates_are_learnt_from():
    model = METHODS["private-forest"](SCHEMA, epsilon=8.0, random_state=1).fit(X, Y)
    assert model.score(X, Y) > 0.9


def test_disturbed_answers_refuse_dates():
    for schema in (SCHEMA, SCHEMA.for_answers()):
        with pytest.raises(ChannelError, match="'admitted' is a date, which disturbed answers do not know; ask for a"):
            _ = RandomizedResponse(schema, epsilon=4).channel
