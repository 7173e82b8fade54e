"""Numbers that are declared whole: no rule, shape, picture or export cuts between two of them, in any method."""

import math
import re

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from privet import (
    ColumnForest,
    FieldSampling,
    GaussianNoise,
    HorizontalForest,
    Numeric,
    RandomizedResponse,
    RecordComplement,
    Schema,
    load,
)
from privet.errors import ChannelError
from privet.export import portable_document
from privet.export.predictor import Predictor
from privet.local.channels.channel import Channel
from privet.partitioned import SplitStructure, Structure
from privet.registry import METHODS
from tests.contracts.readers import words_of
from tests.contracts.tasks import OF_CLASSES
from tests.partitioned.parties import parties, roster_of


def schema_of(*, whole):
    numbers = [Numeric("age", 16, 101, whole=whole), Numeric("kids", 0, 7, whole=whole)]
    pay = Numeric("pay", -500, 90_000, bins=7, whole=whole)
    return Schema([*numbers, pay], classes=[5, 9], target="group", rows=900)


def rows(n=900):
    rng = np.random.default_rng(4)
    X = pd.DataFrame(
        {"age": rng.integers(16, 102, n), "kids": rng.poisson(1.5, n), "pay": rng.integers(-500, 90_000, n)}
    )
    return X, np.where(X["age"] - 9 * X["kids"] > 40, 9, 5)


X, Y = rows()
# A number as a person reads it, behind a comparison or in a span.
FRACTION = re.compile(
    r"(age|kids|pay)\S* (?:<|<=|>=|&lt;=?|&gt;=|=) -?\d+\.\d|-?\d+\.\d+ (?:<=|&lt;=) (?:age|kids|pay)"
)


def of_parties(schema, folder):
    agreed = Structure.draw(schema, epsilon=4.0, n_trees=4, random_state=3)
    holders = parties(folder)
    releases = [holder.release(agreed, X[i::3], Y[i::3]) for i, holder in enumerate(holders.values())]
    return HorizontalForest.combine(agreed, roster_of(holders), releases)


def of_columns(schema, folder):
    split = {"bank": ["age", "pay"], "clinic": ["kids"]}
    agreed = SplitStructure.draw(schema, split, method="private-forest", epsilon=40.0)
    holders = parties(folder, tuple(split))
    releases = [holders[part.party].release(part, X[split[part.party]], Y) for part in agreed.parts]
    return ColumnForest.combine(agreed, roster_of(holders), releases)


CASES = {
    **{
        name: lambda schema, _, name=name: METHODS[name](schema, epsilon=4.0, random_state=1).fit(X, Y)
        for name in OF_CLASSES
    },
    "private-forest, one attribute's knots": lambda schema, _: METHODS["private-forest"](
        schema, epsilon=math.inf, random_state=1
    ).fit(X, Y),
    "horizontal": of_parties,
    "columns": of_columns,
}


@pytest.fixture(scope="module", params=CASES)
def fitted(request, tmp_path_factory):
    return CASES[request.param](schema_of(whole=True), tmp_path_factory.mktemp("parties"))


def test_nothing_that_people_read_has_a_fraction_of_a_whole_number(fitted, tmp_path):
    assert not [text for text in words_of(fitted, tmp_path) if FRACTION.search(text)]
    if not hasattr(fitted, "shapes"):
        assert not [rule for rule in fitted.rules()["rule"] if "." in rule or re.search("<(?!=)", rule)]
        return
    for shape in fitted.shapes():
        numbers = [name for cells in shape.cells for name in cells if name != "missing"]
        assert numbers
        assert not [name for name in numbers if "." in name]
        assert all((values % 1 == 0).all() for values in shape.values if values is not None)


def test_that_search_finds_fractions_where_numbers_are_not_whole(tmp_path):
    model = CASES["private-rdt"](schema_of(whole=False), tmp_path)
    assert any(FRACTION.search(text) for text in words_of(model, tmp_path))
    forest = CASES["private-forest"](schema_of(whole=False), tmp_path)
    assert any((values % 1 != 0).any() for shape in forest.shapes() for values in shape.values)


def test_a_fraction_is_cut_off(fitted, tmp_path):
    chances = fitted.predict_proba(X)
    assert_array_equal(fitted.predict_proba(X + 0.9), chances)
    fitted.save(tmp_path / "model.privet")
    assert_array_equal(load(tmp_path / "model.privet").predict_proba(X), chances)
    if type(fitted).__name__ != "DPRFClassifier":  # whose votes are no sums
        predictor = Predictor(portable_document(fitted))
        found = [predictor.predict_proba(row) for row in (X[:30] + 0.9).to_dict("records")]
        assert_allclose(found, chances[:30], rtol=1e-12)


def test_knots_lie_on_whole_numbers_and_every_small_one_has_its_own_cell():
    model = METHODS["private-forest"](schema_of(whole=True), epsilon=math.inf, random_state=1).fit(X, Y)
    (kids,) = (shape for shape in model.shapes() if shape.names == ("kids",))
    assert kids.cells == (("0", "1", "2", "3", "4", "5", "6", "7", "missing"),)


def test_disturbed_answers_refuse_whole_numbers():
    schema = schema_of(whole=True)
    for make in (
        lambda: GaussianNoise(schema, privacy=0.5).channel,
        lambda: RandomizedResponse(schema, epsilon=4).channel,
        lambda: RecordComplement(schema, theta=0.9).channel,
        lambda: FieldSampling(schema, epsilon=1).channel,
        lambda: Channel.clear(schema),
    ):
        with pytest.raises(ChannelError, match="'age' is declared whole, which disturbed answers do not know; ask by"):
            make()
    channel = RandomizedResponse(schema.for_answers(), epsilon=4).channel
    assert [attribute.whole for attribute in channel.schema.attributes] == [False, False, False]
