"""What the collector's page shows of answers about sampled fields: shares of values, and of values with a class."""

import json

import numpy as np
import pandas as pd
import pytest

from privet.local import FieldSampling, Secret, perturb
from privet.service.collect.distributions import distributions
from privet.service.collect.reports import Reports
from tests.service.collect.conftest import schema

N = 400


@pytest.fixture(scope="module")
def told():
    """At epsilon 40 a person's cell is all but always sent alone, so that shares can be counted by hand."""
    sex = np.where(np.arange(N) % 4 == 0, "male", "female")
    people = pd.DataFrame({"age": 10.0, "sex": sex, "smoker": np.where(sex == "male", "yes", "no")})
    channel = FieldSampling(schema(), epsilon=40.0, ask=2, pairs=[]).channel
    reports = Reports(channel)
    rows = pd.DataFrame(perturb(people, channel, Secret.of_key(bytes(32)))).astype(object).to_dict("records")
    kept = [reports.canonical({name: getattr(v, "item", lambda v=v: v)() for name, v in row.items()}) for row in rows]
    return {own["field"]: own["values"] for own in distributions(channel, reports, kept)}


def test_every_attribute_is_there_with_its_values_and_no_answer_last(told):
    assert list(told) == ["age", "sex"]
    assert [value["value"] for value in told["sex"]] == ["female", "male", None]
    assert [(value["low"], value["high"]) for value in told["age"][:2]] == [(0.0, 20.0), (20.0, 40.0)]


def test_joint_shares_are_of_all_people_and_add_up_to_the_value_s(told):
    female, male, none = told["sex"]
    assert [own["share"] for own in female["classes"]] == pytest.approx([0.75, 0.0], abs=1e-3)
    assert [own["share"] for own in male["classes"]] == pytest.approx([0.0, 0.25], abs=1e-3)
    assert [female["share"], male["share"], none["share"]] == pytest.approx([0.75, 0.25, 0.0], abs=1e-3)
    assert [own["class"] for own in male["classes"]] == ["no", "yes"]


def test_an_interval_is_1_96_standard_errors_to_both_sides(told):
    joint = told["sex"][1]["classes"][1]
    error = (0.25 * 0.75 / N) ** 0.5  # the channel adds next to nothing here: this is of who happened to be asked
    assert joint["high_share"] - joint["share"] == pytest.approx(1.96 * error, rel=1e-2)
    assert joint["share"] - joint["low_share"] == pytest.approx(1.96 * error, rel=1e-2)


def test_what_lies_below_zero_is_shown_as_none_and_its_interval_too(told):
    nobody = told["sex"][0]["classes"][1]
    assert 0 <= nobody["low_share"] <= nobody["share"] <= nobody["high_share"] < 0.01


def test_shares_can_be_written_as_json(told):
    assert json.loads(json.dumps(told)) == told
