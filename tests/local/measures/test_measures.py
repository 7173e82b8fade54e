"""How private is it: every measure on its own scale, with what it does not promise."""

import json
import math

import numpy as np
import pandas as pd
import pytest

from privet import Categorical, Numeric, Schema
from privet.local import Channel, GaussianNoise, Intervals, LaplaceNoise, RandomizedResponse, RecordComplement
from privet.local.channels.randomized_response import RandomAnswer
from privet.local.measures.measures import EVENLY, NOT_PROMISED, OWNERS_ONLY, _told_apart, measure
from privet.local.measures.posterior import BestGuess
from tests.local.people import SCHEMA, channels, people

CHANNELS = channels()
ROWS = people(500)


def of_field(measures, name):
    return next(part for part in measures.fields if part.field == name)


@pytest.mark.parametrize("rows", [None, ROWS], ids=["evenly", "rows"])
@pytest.mark.parametrize("name", CHANNELS)
def test_every_channel_is_measured_in_json_and_in_english(name, rows):
    measures = measure(CHANNELS[name], rows, person="name")
    document = json.loads(json.dumps(measures.to_json(), allow_nan=False))
    assert document["from_rows"] == (rows is not None)
    told = list(measures.lines())
    assert told[0] == (EVENLY if rows is None else OWNERS_ONLY)
    assert not any(character < " " for line in told for character in line)
    for measure_name, sentence in document["not_promised"].items():
        assert sentence == NOT_PROMISED[measure_name]
        assert any(line.endswith(sentence) for line in told)


def test_widths_at_three_confidences_as_shares_of_the_range():
    age = of_field(measure(GaussianNoise(SCHEMA, privacy=1, columns=["age"]).channel), "age").to_json()
    assert [part["confidence"] for part in age["interval"]] == [0.5, 0.95, 0.999]
    assert age["interval"][1]["width"] == pytest.approx(84)
    assert [part["share"] for part in age["interval"]] == pytest.approx([1.349 / 3.92, 1, 6.581 / 3.92], rel=1e-3)


def test_epsilons_stand_apart_from_all_else():
    channel = CHANNELS["mixed"]  # uniform noise on the age, randomized response on owner and label
    measures = measure(channel)
    assert of_field(measures, "age").local_epsilon is None
    assert of_field(measures, "owner").local_epsilon == pytest.approx(math.log(3))
    assert of_field(measures, "smoker").local_epsilon == pytest.approx(math.log(3))
    assert measures.local_epsilon is None
    assert "All disturbed fields together: no local epsilon, since not every one of them has one" in measures.lines()
    assert measure(CHANNELS["randomized"]).local_epsilon == CHANNELS["randomized"].local_epsilon


def test_clear_fields_have_no_measure():
    document = of_field(measure(CHANNELS["mixed"], ROWS, person="name"), "income").to_json()
    assert document.pop("field") == "income"
    assert document.pop("channel") == "clear"
    assert set(document.values()) == {None}
    assert "'income' is given as it is." in measure(CHANNELS["mixed"]).lines()


def test_only_measures_that_are_given_are_explained():
    assert list(measure(Intervals(SCHEMA, bins=4).channel).not_promised) == ["interval", "posterior_entropy"]
    assert list(measure(CHANNELS["records"]).not_promised) == ["binary_anonymity"]
    assert "filtering" in measure(CHANNELS["laplace"], ROWS, person="name").not_promised
    assert "filtering" not in measure(CHANNELS["laplace"]).not_promised
    assert measure(Channel.clear(SCHEMA)).not_promised == {}


def test_the_best_guess_uses_the_answer_or_the_most_frequent_value():
    matrix = RandomAnswer("a", 2, 0.75).matrix
    assert BestGuess.of(matrix, np.array([0.5, 0.5])).to_json() == pytest.approx(
        {"naive": 0.5, "answer": 0.75, "best": 0.75}
    )
    rare = BestGuess.of(matrix, np.array([0.9, 0.1]))
    assert rare.to_json() == pytest.approx({"naive": 0.9, "answer": 0.75, "best": 0.9})


def test_priors_are_read_from_the_rows_where_there_are_some():
    schema = Schema([Categorical("a", ["u", "v", "w"]), Numeric("b", 0, 100)], classes=["no", "yes"])
    table = pd.DataFrame({"a": ["u"] * 80 + ["v"] * 20, "b": [5.0] * 100, "class": ["no"] * 90 + ["yes"] * 10})
    channel = RandomizedResponse(schema, keep=0.5, columns=["a"]).channel
    channel |= GaussianNoise(schema, scale=1000, columns=["b"]).channel
    channel |= Channel.of(schema, [], label=RandomAnswer("class", 2, 0.75))
    measures = measure(channel, table)
    assert of_field(measures, "a").best_guess.naive == pytest.approx(0.8)
    assert of_field(measures, "class").best_guess.naive == pytest.approx(0.9)
    assert of_field(measures, "b").posterior_entropy.before == pytest.approx(10)  # one of ten cells
    assert of_field(measure(channel), "b").posterior_entropy.before == pytest.approx(100)
    assert of_field(measure(channel, table.drop(columns="class")), "class").best_guess.naive == 0.5


def test_a_missing_value_counts_as_an_answer_where_it_is_covered():
    schema = Schema([Categorical("a", ["u", "v"])], classes=["no", "yes"])
    table = pd.DataFrame({"a": ["u", None, None, None]})
    covered = RandomizedResponse(schema, keep=0.9, covers_missing=True).channel
    assert of_field(measure(covered, table), "a").best_guess.naive == 0.75
    assert of_field(measure(RandomizedResponse(schema, keep=0.9).channel, table), "a").best_guess.naive == 1.0


def test_a_column_that_is_always_missing_is_taken_to_be_spread_evenly():
    schema = Schema([Categorical("a", ["u", "v"]), Numeric("b", 0, 100)], classes=["no", "yes"])
    table = pd.DataFrame({"a": [None] * 30, "b": [None] * 30}, dtype=object)
    channel = RandomizedResponse(schema, keep=0.9, columns=["a"]).channel | LaplaceNoise(schema, epsilon=1).channel
    measures = measure(channel, table)
    assert of_field(measures, "a").best_guess.naive == 0.5
    assert of_field(measures, "b").posterior_entropy.before == pytest.approx(100)


def test_a_record_is_told_from_its_mirror_image_by_frequencies():
    # Three rows 01 and one 10: an answer 01 is 01 kept (.6 x 3) or 10 flipped (.4 x 1); an answer 10, .6 x 1 or .4 x 3.
    bits = np.array([[0, 1], [0, 1], [0, 1], [1, 0]], dtype=np.uint8)
    assert _told_apart(bits, 0.6) == pytest.approx((1.8 + 1.2) / 4)
    # No mirror image occurs: every answer gives itself away.
    assert _told_apart(np.array([[0, 0, 1], [0, 1, 1]], dtype=np.uint8), 0.6) == pytest.approx(1.0)


def test_flipped_records_have_binary_anonymity_and_no_epsilon():
    channel = RecordComplement(SCHEMA, theta=0.7).channel
    measures = measure(channel, ROWS, person="name")
    assert measures.local_epsilon is None
    assert measures.fields == ()
    assert measures.record.binary_anonymity == channel.record.coding.anonymity(0.7)
    assert measures.record.told_apart > 0.7
    assert measure(channel).record.of_rows is None


def test_names_from_a_schema_are_quoted():
    schema = Schema([Numeric("\x1b[2J<b>", 0, 1)], classes=["no", "yes"])
    told = "\n".join(measure(LaplaceNoise(schema, epsilon=1).channel).lines())
    assert "\x1b" not in told
    assert "'\\x1b[2J<b>'" in told
