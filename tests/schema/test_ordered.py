"""Ordered categories: how they are declared, and what the methods make of the order."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from privet import PrivateForestClassifier, RandomizedResponse, load
from privet.cli.verbs.schema import domain_text
from privet.errors import ChannelError, SchemaError
from privet.export import portable_document
from privet.export.predictor import Predictor
from privet.local.channels.channel import Channel
from privet.registry import METHODS
from privet.report import write_report
from privet.schema import Categorical, Schema
from tests.contracts.tasks import OF_CLASSES, OF_NUMBERS, answers, labels_for, schema_for

SIZES = ["small", "medium", "large", "huge"]
SIZE = Categorical("size", SIZES, ordered=True)
COLOUR = Categorical("colour", ["red", "blue", "green"])
SCHEMA = Schema([SIZE, COLOUR], classes=[5, 9], rows=900)
PLAIN = SCHEMA.with_attributes([replace(SIZE, ordered=False), COLOUR])


def rows(n=900):
    rng = np.random.default_rng(6)
    X = pd.DataFrame({"size": rng.choice(SIZES, n), "colour": rng.choice(COLOUR.categories, n)})
    X.loc[rng.random(n) < 0.05, "size"] = None
    return X, np.where(X["size"].isin(["large", "huge"]) ^ (rng.random(n) < 0.1), 9, 5)


X, Y = rows()


def test_a_schema_keeps_the_order_in_its_file_where_it_is_declared(tmp_path):
    SCHEMA.save(tmp_path / "schema.json")
    assert Schema.load(tmp_path / "schema.json") == SCHEMA
    size, colour = SCHEMA.to_json()["attributes"]
    assert size == {"name": "size", "type": "categorical", "categories": SIZES, "ordered": True}
    assert "ordered" not in colour
    assert domain_text(SIZE, most=2) == "4 ordered categories: small, medium, ..."


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (
            {"categories": ["no", "yes"], "ordered": True},
            "'x' is ordered, which takes at least 3 categories",
        ),
        ({"categories": SIZES, "ordered": 1}, "'x': ordered must be true or false; write true, or leave it out"),
        ({"type": "continuous", "bounds": [0, 1], "ordered": True}, "'x' has an unknown key 'ordered'"),
    ],
)
def test_an_order_that_makes_no_sense_is_refused(data, sentence):
    attribute = {"name": "x", "type": "categorical", **data}
    with pytest.raises(SchemaError, match=sentence):
        Schema.from_json({"classes": [5, 9], "attributes": [attribute]})


def test_answers_take_it_as_ordinary_categories():
    for make in (lambda: RandomizedResponse(SCHEMA, epsilon=4).channel, lambda: Channel.clear(SCHEMA)):
        with pytest.raises(
            ChannelError, match=r"'size' is declared ordered, which disturbed answers.*schema\.for_answers\(\)"
        ):
            make()
    channel = RandomizedResponse(SCHEMA.for_answers(), epsilon=4).channel
    assert channel.schema.attributes == PLAIN.attributes
    assert "ordered" not in str(channel.to_json())


@pytest.mark.parametrize("name", METHODS)
def test_every_method_fits_predicts_saves_and_exports_it(name, tmp_path):
    model = METHODS[name](schema_for(name, SCHEMA), epsilon=8.0, random_state=1).fit(X, labels_for(name, SCHEMA, Y))
    said = answers(model, X)
    model.save(tmp_path / "model.privet")
    assert_array_equal(answers(load(tmp_path / "model.privet"), X), said)
    if name not in {"dp-rf", *OF_NUMBERS}:  # whose votes are no sums, and whose answers are no chances
        predictor = Predictor(portable_document(model))
        records = X[:20].astype(object).where(X[:20].notna(), None).to_dict("records")
        assert_allclose([predictor.predict_proba(row) for row in records], said[:20], rtol=1e-12)


@pytest.mark.parametrize("name", [name for name in OF_CLASSES if name != "private-forest"])
def test_trees_of_counts_have_a_branch_for_every_category_as_without_an_order(name):
    either = [
        METHODS[name](schema, epsilon=8.0, random_state=1, unsafe_seeded_noise=True).fit(X, Y)
        for schema in (SCHEMA, PLAIN)
    ]
    assert_array_equal(*(model.predict_proba(X) for model in either))
    assert_array_equal(*(model.forest_.n_children for model in either))


def test_shapes_and_reports_have_the_categories_in_their_order(tmp_path):
    model = PrivateForestClassifier(SCHEMA, epsilon=8.0, random_state=1).fit(X, Y)
    shape = next(shape for shape in model.shapes() if shape.title == "size")
    assert list(shape.cells[0]) == [*SIZES, "missing"]
    write_report(model, tmp_path / "report.html")
    assert "small &lt; medium &lt; large &lt; huge" in (tmp_path / "report.html").read_text(encoding="utf-8")


LEVELS = list(range(12))


def levels(seed, n=900):
    """Return rows whose chance of class 9 rises with the level, slowly."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame({"level": rng.integers(0, 12, n), "other": rng.integers(0, 3, n)})
    return X, np.where(rng.random(n) < 1 / (1 + np.exp(2.75 - X["level"] / 2)), 9, 5)


def brier(seed, categories, *, ordered):
    level = Categorical("level", categories, ordered=ordered)
    schema = Schema([level, Categorical("other", [0, 1, 2])], classes=[5, 9], rows=900)
    model = PrivateForestClassifier(
        schema, epsilon=0.3, n_attributes=2, group_size=1, random_state=seed, unsafe_seeded_noise=True
    ).fit(*levels(seed))
    test, y = levels(1000, 4000)
    return float(np.mean((model.predict_proba(test)[:, 1] - (y == 9)) ** 2))


def test_an_order_that_is_true_helps_where_there_is_much_noise_and_a_false_one_does_not():
    mixed = [LEVELS[(5 * i) % 12] for i in LEVELS]
    gains = {}
    for name, categories in (("true", LEVELS), ("false", mixed)):
        gains[name] = np.array(
            [brier(s, categories, ordered=False) - brier(s, categories, ordered=True) for s in range(16)]
        )
    error = {name: own.std(ddof=1) / np.sqrt(len(own)) for name, own in gains.items()}
    assert gains["true"].mean() > 3 * error["true"]
    assert gains["false"].mean() < gains["true"].mean() - 3 * (error["true"] + error["false"])
