"""Version 0.1.0 refuses keys and types that it does not know: it opens no schema whose meaning it would miss."""

from dataclasses import replace

import pytest

from privet import Categorical, Date, Numeric, Schema
from privet.methods import methods_of
from privet.registry import METHODS
from privet.schema.acceptance import Acceptance

# What 0.1.0 reads, and refuses anything beyond.
KEYS = {"target", "classes", "rows", "attributes", "classes_inferred"}
KEYS_OF = {
    "categorical": {"name", "type", "categories", "inferred"},
    "continuous": {"name", "type", "bounds", "bins", "edges", "inferred"},
}
ANN = Acceptance("Ann", "2026-11-19")
NEW = {
    "whole": Numeric("x", 0, 9, whole=True),
    "log scale": Numeric("x", 0, 9, scale="log"),
    "date": Date("x", "2020-01-01", "2020-12-31"),
    "never missing": Numeric("x", 0, 9, never_missing=True),
    "accepted bounds": Numeric("x", 0, 9, accepted=ANN),
    "ordered categories": Categorical("x", ["a", "b", "c"], ordered=True),
    "accepted categories": Categorical("x", ["a", "b"], accepted=ANN),
}


def opens_in_0_1_0(schema):
    data = schema.to_json()
    attributes = data["attributes"]
    return set(data) <= KEYS and all(set(a) <= KEYS_OF.get(a["type"], set()) for a in attributes)


@pytest.mark.parametrize("kind", NEW)
def test_0_1_0_refuses_a_schema_with_a_new_kind(kind):
    assert not opens_in_0_1_0(Schema([NEW[kind]], classes=["no", "yes"]))


def test_0_1_0_refuses_accepted_classes():
    assert not opens_in_0_1_0(Schema([Numeric("x", 0, 9)], classes=["no", "yes"], classes_accepted=ANN))


def test_schemas_without_them_are_written_as_they_were():
    schema = Schema(
        [
            Numeric("age", 0, 9, bins=3, inferred=True),
            Numeric("pay", 0, 9, edges=[2, 5]),
            Categorical("sex", ["f", "m"], inferred=True),
        ],
        classes=["no", "yes"],
        target="ill",
        rows=40,
        classes_inferred=True,
    )
    assert opens_in_0_1_0(schema)
    assert schema.to_json() == {
        "target": "ill",
        "classes": ["no", "yes"],
        "rows": 40,
        "classes_inferred": True,
        "attributes": [
            {"name": "age", "type": "continuous", "bounds": [0.0, 9.0], "bins": 3, "inferred": True},
            {"name": "pay", "type": "continuous", "bounds": [0.0, 9.0], "edges": [2.0, 5.0]},
            {"name": "sex", "type": "categorical", "categories": ["f", "m"], "inferred": True},
        ],
    }


@pytest.mark.parametrize("kind", ["whole", "date", "log scale", "ordered categories"])
def test_models_have_the_kind_in_their_schema_so_that_they_are_refused_too(kind):
    attribute = replace(NEW[kind], never_missing=False)
    values = {"date": ["2020-01-01", "2020-12-31"], "ordered categories": ["a", "c"]}.get(kind, [0, 9])
    rows = [[value] for _ in range(20) for value in values]
    for method in methods_of("central", "classes"):
        model = METHODS[method.name](Schema([attribute], classes=["no", "yes"], rows=40), epsilon=4.0, random_state=1)
        document = model.fit(rows, ["no", "yes"] * 20).to_document()
        assert not opens_in_0_1_0(Schema.from_json(document["schema"]))
