"""A target that is a number: declared in Python and JSON, and what does not go with it."""

import json
from dataclasses import replace

import pytest

from privet import Numeric, Schema
from privet.errors import SchemaError

AGE = Numeric("age", 0, 100)
SCHEMA = Schema([AGE], target=Numeric("pay", 0, 9000), rows=50)


def test_it_is_written_as_a_name_with_bounds_and_read_back(tmp_path):
    SCHEMA.save(tmp_path / "schema.json")
    data = json.loads((tmp_path / "schema.json").read_text())
    assert data["target"] == {"name": "pay", "bounds": [0.0, 9000.0]}
    assert "classes" not in data
    assert Schema.load(tmp_path / "schema.json") == SCHEMA
    assert (SCHEMA.target, SCHEMA.classes, SCHEMA.n_classes, SCHEMA.ends) == ("pay", (), 2, (0.0, 9000.0))


def test_it_stays_through_changes_of_the_schema():
    assert replace(SCHEMA, rows=7).number == SCHEMA.with_bins(4).number == SCHEMA.number


def test_bounds_that_were_read_from_the_rows_are_a_leak():
    inferred = Schema([AGE], target=Numeric("pay", 0, 9000, inferred=True))
    assert inferred.leaks == ("bounds of 'pay'",)
    assert Schema.from_json(inferred.to_json()) == inferred


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({}, "target 'class' needs classes: list every possible label; or, to learn a number, declare its bounds"),
        ({"target": Numeric("pay", 0, 1), "classes": ["no", "yes"]}, "is a number and has no classes"),
        ({"target": Numeric("pay", 0, 1, bins=3)}, "has a name and bounds, and nothing else"),
        ({"target": Numeric("pay", 0, 1, whole=True)}, "has a name and bounds, and nothing else"),
        ({"target": Numeric("age", 0, 1)}, "the target must be a column name that no attribute has"),
    ],
)
def test_what_does_not_go_together_is_refused(options, said):
    with pytest.raises(SchemaError, match=said):
        Schema([AGE], **options)


@pytest.mark.parametrize(
    ("target", "said"),
    [
        ({"name": "pay"}, "the schema's target lacks 'bounds'"),
        ({"name": "pay", "bounds": [0]}, "bounds must be"),
        ({"name": "pay", "bounds": [0, 1], "bins": 3}, "unknown key 'bins'"),
        ("pay", "the schema lacks 'classes'"),
    ],
)
def test_a_damaged_file_is_refused(target, said):
    with pytest.raises(SchemaError, match=said):
        Schema.from_json({**SCHEMA.to_json(), "target": target})
