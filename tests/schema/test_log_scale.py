"""Numbers on a log scale: where cells lie, what is read into them, and what every method makes of them."""

import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from privet import RandomizedResponse, load
from privet.central.weights.knots import knot_values, with_cells, without_cells
from privet.errors import ChannelError, SchemaError
from privet.export import portable_document
from privet.export.predictor import Predictor
from privet.registry import METHODS
from privet.schema import Date, Numeric, Schema
from privet.schema.encoding import Encoder
from tests.contracts.tasks import OF_CLASSES

PAY = Numeric("pay", 1, 10_000, scale="log")
DAYS = Numeric("days", 0, 999, scale="log", whole=True)
SCHEMA = Schema([PAY, DAYS], classes=["no", "yes"], rows=2_000)


def rows(n=2_000):
    rng = np.random.default_rng(8)
    X = pd.DataFrame({"pay": np.exp(rng.uniform(0, math.log(10_000), n)), "days": rng.geometric(0.05, n) - 1})
    return X, np.where(X["pay"] > 60, "yes", "no")


X, Y = rows()


def test_cells_are_equally_wide_in_the_logarithm():
    assert_allclose(replace(PAY, bins=4).borders, [1, 10, 100, 1_000, 10_000])
    assert_allclose(np.diff(np.log(PAY.borders)), math.log(10_000) / 255, rtol=1e-3)
    assert_allclose(replace(PAY, bins=4).middles, 10 ** np.array([0.5, 1.5, 2.5, 3.5]), rtol=1e-5)


def test_a_lower_bound_of_0_has_the_logarithm_of_1_and_x():
    assert_allclose(Numeric("x", 0, 999, bins=3, scale="log").borders, [0, 9, 99, 999])


def test_whole_numbers_have_whole_borders_each_once():
    assert_array_equal(DAYS.borders[:6], [0, 1, 2, 3, 4, 5])
    assert (DAYS.borders % 1 == 0).all()
    assert (np.diff(DAYS.borders) >= 1).all()
    assert DAYS.borders[-1] == 1_000
    assert DAYS.n_values < 255


def test_edges_go_before_the_scale():
    assert_array_equal(replace(PAY, edges=[5, 50]).borders, [1, 5, 50, 10_000])


@pytest.mark.parametrize("attribute", [PAY, DAYS, Numeric("x", 0, 1e-3, scale="log"), Numeric("x", 5, 6, scale="log")])
def test_codes_count_the_cuts_up_to_a_value(attribute):
    values = np.random.default_rng(1).uniform(attribute.low - 1, attribute.high + 1, 500)
    values = np.concatenate([values, attribute.cuts, [np.nan]])
    schema = Schema([attribute], classes=["no", "yes"])
    clipped = np.clip(values, attribute.low, attribute.high)
    twin = [attribute.n_values if x != x else sum(cut <= x for cut in attribute.cuts) for x in clipped]
    assert_array_equal(Encoder(schema).encode(values[:, None])[:, 0], twin)


def test_knots_are_equally_far_apart_on_the_scale_and_the_declaration_is_found_again():
    assert_allclose(np.diff(np.log(knot_values(PAY, 5))), math.log(10_000) / 4, rtol=1e-5)
    assert knot_values(Numeric("pay", 1, 10_000), 5) != knot_values(PAY, 5)
    for schema in (SCHEMA, Schema([Numeric("x", 0, 9)], classes=["no", "yes"])):
        assert without_cells(with_cells(schema, 20), 20) == schema


@pytest.mark.parametrize("name", OF_CLASSES)
def test_every_method_fits_predicts_saves_and_exports_it(name, tmp_path):
    model = METHODS[name](SCHEMA, epsilon=8.0, random_state=1).fit(X, Y)
    chances = model.predict_proba(X)
    model.save(tmp_path / "model.privet")
    assert_array_equal(load(tmp_path / "model.privet").predict_proba(X), chances)
    if name != "dp-rf":  # whose votes are no sums
        predictor = Predictor(portable_document(model))
        assert_allclose([predictor.predict_proba(row) for row in X[:20].to_dict("records")], chances[:20], rtol=1e-12)


def test_cells_of_a_count_lie_where_the_numbers_are():
    scores = {}
    for scale in ("linear", "log"):
        schema = Schema([replace(PAY, high=1e7, scale=scale)], classes=["no", "yes"], rows=2_000)
        model = METHODS["diffpid3"](schema, epsilon=8.0, random_state=1).fit(X[["pay"]], Y)
        scores[scale] = model.score(X[["pay"]], Y)
    assert scores["log"] > 0.85
    assert scores["linear"] < 0.65


def test_a_schema_keeps_the_scale_in_its_file_where_it_is_declared(tmp_path):
    SCHEMA.save(tmp_path / "schema.json")
    assert Schema.load(tmp_path / "schema.json") == SCHEMA
    assert SCHEMA.to_json()["attributes"][0]["scale"] == "log"
    assert "scale" not in Numeric("pay", 0, 1).domain_json()


def test_answers_take_it_as_an_ordinary_number():
    schema = Schema([PAY], classes=["no", "yes"])
    with pytest.raises(
        ChannelError, match=r"'pay' is on a log scale, which disturbed answers.*schema\.for_answers\(\)"
    ):
        _ = RandomizedResponse(schema, epsilon=4).channel
    assert schema.for_answers().attributes == (Numeric("pay", 1, 10_000),)
    assert RandomizedResponse(schema.for_answers(), epsilon=4).channel


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: Numeric("x", 0, 1, scale="sqrt"), '\'x\': scale must be "linear" or "log"; write "log", or'),
        (lambda: Numeric("x", -1, 1, scale="log"), "'x': a log scale needs a low of at least 0; raise it"),
        (lambda: Date("x", "2020-01-01", "2021-01-01", scale="log"), "'x': dates have no log scale; leave scale out"),
    ],
)
def test_a_scale_that_makes_no_sense_is_refused(make, sentence):
    with pytest.raises(SchemaError, match=sentence):
        make()
