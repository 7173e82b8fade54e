"""A report is taken in the form that the page sends; whatever is taken can be read together with everybody else's."""

import io
from contextlib import suppress

import numpy as np
import pandas as pd
import pytest

from privet import Categorical, Intervals, LaplaceNoise, Numeric, RandomizedResponse, Schema, Secret, perturb
from privet.local import FieldSampling
from privet.local.channels.answer_checks import refuse_impossible
from privet.service.collect.distributions import distributions
from privet.service.collect.reports import Reports
from privet.service.requests import Refusal

SCHEMA = Schema(
    [Numeric("age", 0, 100, bins=4), Categorical("level", [0, 1, 2]), Categorical("code", ["0", "1", "no"])],
    classes=[5, 9], target="y", rows=1000,
)  # fmt: skip
CHANNELS = {
    "noise": LaplaceNoise(SCHEMA, epsilon=2.0).channel,
    "as it is": RandomizedResponse(SCHEMA, epsilon=2.0, columns=["code"]).channel,
    "all fields": RandomizedResponse(SCHEMA, epsilon=4.0, label=True).channel,
    "intervals": Intervals(SCHEMA, columns=["age"]).channel,
    "one question": FieldSampling(SCHEMA, epsilon=2.0, label_alone=True).channel,
}
ODD = [True, False, None, 0, 1, 1.0, -0.0, -1, 5, 9, 12.5, 50, 2**60, 2**63, 10**20, 10**400, 1e300, float("nan"),
       "", "0", "1", "5", "01", " 1", "1.0", "1 ", "1\n", "12.5", "0 1", "no", "No", "nan", "\x00", [], {}]  # fmt: skip


def honest(channel, n=40):
    rng = np.random.default_rng(5)
    columns = {"age": rng.integers(0, 100, n), "level": rng.integers(0, 3, n), "code": rng.choice(["0", "1", "no"], n)}
    people = pd.DataFrame({**columns, "y": rng.choice([5, 9], n)})
    rows = pd.DataFrame(perturb(people, channel, Secret.of_key(bytes(32)))).astype(object).to_dict("records")
    return [{name: getattr(v, "item", lambda v=v: v)() for name, v in row.items()} for row in rows]


def taken(reports, answers):
    """Return what of every odd value in every column is taken, as a list of texts to keep."""
    found = []
    for name in reports.columns:
        for value in ODD:
            with suppress(Refusal):
                found.append(reports.canonical({**answers, name: value}))
    return found


@pytest.mark.parametrize("name", CHANNELS)
def test_whatever_is_taken_can_be_read_with_all_others(name):
    channel, people = CHANNELS[name], honest(CHANNELS[name])
    reports = Reports(channel)
    kept = [reports.canonical(answers) for answers in people]
    odd = taken(reports, people[0])
    assert odd  # what people may send is among them
    for one in odd:
        shown = distributions(channel, reports, [*kept, one])
        assert {own["field"] for own in shown} >= set(SCHEMA.names)
        table = pd.read_csv(
            io.StringIO("".join(reports.csv_lines([*kept, one]))), keep_default_na=False, na_values=[""]
        )
        refuse_impossible(channel, table.drop(columns="y", errors="ignore"))


@pytest.mark.parametrize(
    ("name", "change"),
    [("noise", {"age": False}), ("noise", {"age": "12.5"}), ("noise", {"level": "1"}), ("noise", {"level": True}),
     ("as it is", {"age": "no"}), ("as it is", {"level": 7}), ("all fields", {"y": "5"}), ("all fields", {"y": None}),
     ("one question", {"question_1": "0"}), ("one question", {"question_1": 0.0}), ("one question", {"answer_1": 1})],
)  # fmt: skip
def test_an_answer_in_another_form_than_the_page_s_is_refused(name, change):
    reports, (answers, *_) = Reports(CHANNELS[name]), honest(CHANNELS[name])
    with pytest.raises(Refusal, match="did not come through this channel"):
        reports.canonical({**answers, **change})


def test_a_missing_value_is_taken_where_there_may_be_one():
    sure = Schema([Numeric("age", 0, 100, never_missing=True)], classes=["no", "yes"], target="y", rows=1000)
    for schema, is_taken in ((SCHEMA, True), (sure, False)):
        reports = Reports(LaplaceNoise(schema, epsilon=2.0).channel)
        answers = dict.fromkeys(schema.names) | {schema.target: schema.classes[0]}
        if is_taken:
            assert reports.canonical(answers) == "[null, null, null, 5]"
        else:
            with pytest.raises(Refusal, match="did not come through this channel"):
                reports.canonical(answers)


def test_a_whole_number_of_twenty_digits_is_kept_as_javascript_meant_it():
    kept = Reports(CHANNELS["as it is"]).canonical({"age": 10**20, "level": 1, "code": "no", "y": 5})
    assert kept == '[1e+20, 1, "no", 5]'
