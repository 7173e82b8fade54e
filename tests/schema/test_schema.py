import copy
import json
import pickle
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from privet.errors import SchemaError
from privet.schema import Categorical, Numeric, Schema

AGE, SEX = Numeric("age", 16, 100), Categorical("sex", ["female", "male"])


def a_schema(**changes) -> Schema:
    return Schema(**{"attributes": [AGE, SEX], "classes": ["no", "yes"], "target": "income", "rows": 900, **changes})


FULL = Schema(
    [
        Numeric("age", 16, 100, bins=7),
        Numeric("gain", -1.5, 2.5, edges=[0.0, 0.5], inferred=True),
        Categorical("sex", ["female", "male"]),
        Categorical("code", [1, 2, 5], inferred=True),
        Categorical("member", [False, True], never_missing=True),
        Numeric("height", 1, 2, never_missing=True),
    ],
    classes=[5, 9],
    target="label",
    rows=1000,
    classes_inferred=True,
)


@pytest.mark.parametrize("schema", [a_schema(), FULL, a_schema(rows=None)])
def test_a_schema_comes_back_from_json_equal(schema, tmp_path):
    assert Schema.from_json(json.loads(json.dumps(schema.to_json()))) == schema
    schema.save(tmp_path / "s.json")
    assert Schema.load(tmp_path / "s.json") == schema
    assert pickle.loads(pickle.dumps(schema)) == copy.deepcopy(schema) == schema


def test_the_json_has_the_documented_shape():
    assert a_schema().to_json() == {
        "target": "income",
        "classes": ["no", "yes"],
        "rows": 900,
        "attributes": [
            {"name": "age", "type": "continuous", "bounds": [16.0, 100.0]},
            {"name": "sex", "type": "categorical", "categories": ["female", "male"]},
        ],
    }


@pytest.mark.real_data
def test_the_schemas_of_the_uci_tables_are_read_as_they_are(uci_table):
    adult = uci_table("adult").schema
    assert len(adult.attributes) == 14
    assert adult.classes == ("<=50K", ">50K")
    assert adult.rows == 48842
    assert not adult.leaks


def test_descriptions_are_read_over_and_never_kept():
    data = {**a_schema().to_json(), "class_counts": {"no": 7, "yes": 3}, "title": "t", "missing_cells": 4}
    assert Schema.from_json(data).to_json() == a_schema().to_json()


def test_the_mean_domain_size_counts_a_numeric_attribute_as_two_and_no_missing_code():
    assert a_schema(attributes=[AGE, Categorical("c", ["a", "b", "d"])]).mean_domain_size == Fraction(5, 2)


def test_a_schema_says_what_was_read_from_the_rows():
    assert FULL.leaks == ("bounds of 'gain'", "categories of 'code'", "classes of 'label'")
    assert a_schema().leaks == ()


def test_numpy_values_become_plain_ones():
    schema = a_schema(classes=np.array([5, 9]), rows=np.int64(10))
    assert schema.classes == (5, 9)
    assert all(type(label) is int for label in schema.classes)
    assert type(schema.rows) is int


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"attributes": []}, "needs attributes: a list of at least one"),
        ({"attributes": ["age"]}, "needs attributes: a list of at least one"),
        ({"attributes": [AGE, AGE]}, "'age' is listed twice"),
        (
            {"attributes": [AGE, SEX], "target": "sex"},
            "the target must be a column name that no attribute has",
        ),
        ({"target": ""}, "the target must be a column name"),
        (
            {"classes": ["yes"]},
            "'income' has one class, so there is nothing to learn; list every possible label",
        ),
        ({"classes": []}, "'income': classes is empty"),
        ({"classes": ["a", "a"]}, "'income': classes holds the same value twice"),
        ({"classes": "ab"}, "'income': classes must be a list"),
        ({"classes": range(70_000)}, "'income' has more than 65,535 classes; merge rare ones"),
        ({"rows": 0}, "rows must be a whole number of at least 1"),
        ({"rows": True}, "rows must be a whole number of at least 1"),
        ({"rows": 1.5}, "rows must be a whole number of at least 1"),
        ({"classes_inferred": "no"}, "inferred must be true or false"),
        (
            {"attributes": [replace(AGE, never_missing="no")]},
            "'age': never_missing must be true or false; write true, or leave it out",
        ),
    ],
)
def test_a_wrong_schema_is_refused_with_the_way_out(changes, sentence):
    with pytest.raises(SchemaError, match=sentence):
        a_schema(**changes)


def test_what_is_never_missing_is_said_in_the_json_where_it_is_true():
    written = a_schema(attributes=[AGE, replace(SEX, never_missing=True)]).to_json()["attributes"]
    assert "never_missing" not in written[0]
    assert written[1]["never_missing"] is True


def test_too_many_attributes_are_refused():
    with pytest.raises(SchemaError, match="at most 32,767 attributes"):
        a_schema(attributes=[Numeric(f"x{i}", 0, 1) for i in range(2**15)])


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        ([], "a schema is a JSON object"),
        ({"attributes": []}, "the schema lacks 'classes'; add it"),
        (
            {"classes": [], "attributes": [], "row": 4},
            "unknown key 'row'; known keys are attributes, classes, ",
        ),
        ({"classes": ["a", "b"], "attributes": {}}, "attributes must be a list"),
        ({"classes": {"a": 1}, "attributes": []}, "classes must be a list"),
        ({"classes": ["a", "b"], "attributes": [3]}, "every attribute must be a JSON object"),
        ({"classes": ["a", "b"], "attributes": [{"name": "x", "type": "text"}]}, "'x': type must be"),
        (
            {"classes": ["a", "b"], "attributes": [{"name": "x", "type": "categorical"}]},
            "'x' lacks 'categories'",
        ),
        ({"classes": ["a", "b"], "attributes": [{"name": "x", "type": "continuous"}]}, "'x' lacks 'bounds'"),
        (
            {"classes": ["a", "b"], "attributes": [{"name": "x", "type": "continuous", "bounds": [1]}]},
            r"'x': bounds must be \[low, high\]",
        ),
        (
            {
                "classes": ["a", "b"],
                "attributes": [{"name": "x", "type": "continuous", "bounds": [0, 1], "bin": 3}],
            },
            "'x' has an unknown key 'bin'; known keys are accepted, bins, bounds",
        ),
    ],
)
def test_wrong_json_is_refused_with_the_way_out(data, sentence):
    with pytest.raises(SchemaError, match=sentence):
        Schema.from_json(data)


def test_a_file_that_is_missing_or_no_json_or_no_text_is_a_schema_error(tmp_path):
    with pytest.raises(SchemaError, match="cannot read the schema .*No such file.*check the path"):
        Schema.load(tmp_path / "nowhere.json")
    for content, sentence in (
        (b"{,}", "not valid JSON"),
        (b"\xff\xfe\x00", "not UTF-8"),
        (b"[" * 100_000, "not valid JSON"),
    ):
        (tmp_path / "s.json").write_bytes(content)
        with pytest.raises(SchemaError, match=sentence):
            Schema.load(tmp_path / "s.json")
