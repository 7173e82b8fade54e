"""Sampled questions: what is sent, against a plain twin; what is counted; what is refused or doubted; waves."""

import hashlib
import hmac
import json
import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from privet import Categorical, Numeric, Schema
from privet.errors import ChannelError, DataError, ParameterError
from privet.local import Channel, Coding, FieldSampling, RandomizedResponse, Secret, measure, perturb
from privet.local.channels.answer_checks import doubts_about, refuse_impossible
from privet.local.channels.perturb import kept_fields
from privet.local.channels.sampling import subset_selection
from privet.local.channels.sampling.field_sampling import growing_cells
from privet.local.channels.sampling.sampled_fields import SampledFields
from privet.local.channels.sampling.sent_cells import PICKED
from privet.local.guarantee import LocalGuarantee
from tests.local.channels.sampling.test_lots import plain_lots
from tests.local.channels.sampling.test_subset_selection import plain_draw, variance_of
from tests.local.people import SCHEMA, SECRET_KEY, channels, people, same_secret

CHANNELS = {name: channel for name, channel in channels().items() if name.startswith("sampled")}
TABLE = people(300)
SMALL = Schema(
    [Categorical("a", ["u", "v", "w"], never_missing=True), Numeric("b", 0, 4, bins=2), Categorical("c", [5, 9])],
    classes=["no", "yes"],
)


def small_people(n_rows, seed=1):
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "a": rng.choice(["u", "v", "w"], n_rows, p=[0.6, 0.3, 0.1]),
            "b": rng.uniform(0, 4, n_rows),
            "c": rng.choice([5.0, 9.0, np.nan], n_rows),
            "class": rng.choice(["no", "yes"], n_rows, p=[0.7, 0.3]),
        }
    )


def words_of(fingerprint, told, n_words=400):
    """Return a person's words, from the definition."""
    key = hmac.digest(SECRET_KEY, fingerprint.encode(), "sha256")
    digests = [hmac.new(key, f"[{told},{i}]".encode(), hashlib.sha256).digest() for i in range(n_words // 4)]
    return [int.from_bytes(own[i : i + 8], "big") for own in digests for i in range(0, 32, 8)]


def plain_answer(channel, person, row):
    """Return one person's answers, from the definition."""
    record, schema = channel.record, channel.schema
    mark, name = channel.fingerprints[""], json.dumps(person, ensure_ascii=False)
    picked = sorted(plain_lots(len(record.questions), record.ask, words_of(mark, f'{name},"pick"')))
    sent = {}
    for i, number in enumerate(picked, start=1):
        question, cell = record.questions[number], 0
        for attribute in question.attributes:
            cell = cell * attribute.n_codes + plain_code(attribute, row[attribute.name])
        cell = cell * len(schema.classes) + schema.classes.index(row[schema.target])
        cells = plain_draw(question.selection, cell, words_of(mark, f"{name},[{number},{cell}]"))
        sent |= {f"question_{i}": number, f"answer_{i}": " ".join(map(str, cells))}
    return sent


def plain_code(attribute, value):
    if value is None or value != value:
        return attribute.n_values
    if isinstance(attribute, Categorical):
        return attribute.categories.index(value)
    return sum(cut <= value for cut in attribute.cuts)


@pytest.mark.parametrize("name", CHANNELS)
def test_every_answer_is_that_of_the_plain_twin(name):
    table, channel = TABLE.head(40), CHANNELS[name]
    answers = perturb(table, channel, same_secret(), person="name").to_dict("records")
    assert answers == [plain_answer(channel, row["name"], row) for row in table.to_dict("records")]


@pytest.mark.parametrize("name", CHANNELS)
def test_a_channel_comes_back_from_json(name):
    channel = CHANNELS[name]
    assert Channel.from_json(json.loads(json.dumps(channel.to_json()))) == channel


def test_the_document_is_as_it_was_agreed():
    record = FieldSampling(SMALL, epsilon=1, pairs=[("c", "a")]).channel.to_json()["record"]
    assert {key: record[key] for key in ("channel", "ask")} == {"channel": "sampled_fields", "ask": 1}
    assert [question["fields"] for question in record["questions"]] == [["a"], ["b"], ["c"], ["a", "c"], []]
    # a has 3 values and is never missing; b and c have 2 and one for missing; there are 2 classes.
    assert [question["cells"] for question in record["questions"]] == [6, 6, 6, 18, 2]
    assert set(record["questions"][0]) == {"fields", "cells", "size", "keep"}
    assert set(record) == {"channel", "ask", "questions"}
    assert FieldSampling(SMALL, epsilon=1, wave="spring").channel.to_json()["record"]["wave"] == "spring"


def test_a_person_pays_for_the_dearest_questions_that_can_be_picked():
    one = FieldSampling(SMALL, epsilon=2, epsilons={"a": 0.5}).channel
    assert one.total_epsilon() == 2
    assert [round(q.selection.local_epsilon, 8) for q in one.record.questions] == [0.5, 2, 2]
    two = FieldSampling(SMALL, epsilon=2, ask=2, epsilons={"a": 0.25, "b": 0.5}, label_alone=False).channel
    assert two.total_epsilon() == 1.5
    assert FieldSampling(SMALL, epsilon=2, ask=3).channel.total_epsilon() == 2


def test_a_fields_own_epsilon_is_for_all_answers_that_it_has_a_part_in():
    own = {"pairs": [("a", "b"), ("a", "c")], "epsilons": {"a": 0.5}}
    for ask, each in ((1, 0.5), (2, 0.25), (5, 0.5 / 3)):
        questions = FieldSampling(SMALL, epsilon=10, ask=ask, **own).channel.record.questions
        costs = [question.selection.local_epsilon for question in questions if "a" in question.fields]
        assert costs == pytest.approx([each] * 3, rel=1e-9)
        assert sum(costs[:ask]) <= 0.5
        assert questions[1].selection.local_epsilon == pytest.approx(10 / ask)


def test_the_label_alone_is_asked_for_where_epsilon_is_small_and_pairs_where_it_is_large():
    asked = {
        e: [q.fields for q in FieldSampling(SMALL, epsilon=e).channel.record.questions] for e in (1.9, 2, 4.2, 4.5)
    }
    single, pairs = [["a"], ["b"], ["c"]], [["a", "b"], ["a", "c"], ["b", "c"]]
    # All pairs have 18 cells, which is a quarter of e^4.277.
    assert asked == {1.9: [*single, []], 2: single, 4.2: single, 4.5: [*single, *pairs]}
    hidden = FieldSampling(SMALL, epsilon=4.5, epsilons={"a": 1}).channel.record.questions
    assert [q.fields for q in hidden] == [*single, ["b", "c"]]
    assert len(FieldSampling(SMALL, epsilon=9, pairs=[], label_alone=True).channel.record.questions) == 4


def test_too_many_pairs_are_not_asked_for():
    wide = Schema([Categorical(f"a{i}", [0, 1]) for i in range(46)], classes=["no", "yes"])
    assert len(FieldSampling(wide, epsilon=8).channel.record.questions) == 46
    less = wide.with_attributes(wide.attributes[:45])
    assert len(FieldSampling(less, epsilon=8).channel.record.questions) == 45 + 45 * 22


@pytest.mark.parametrize(
    ("low", "high", "edges"),
    [
        # log1p(80) / 4 = 1.0986, so that the edges are 3^1 - 1, 3^2 - 1 and 3^3 - 1.
        (0, 80, [2, 8, 26]),
        (20, 100, [22, 28, 46]),
        (-100, -20, [-46, -28, -22]),
        (-80, 80, [-8, 0, 8]),
        # A unit is a thousandth of the range: 80 log1p(1000) / log(1001) in quarters, two digits of each.
        (0, 80_000, [370, 2_500, 14_000]),
        (1, 5, [2, 3, 4]),
    ],
)
def test_cells_of_numbers_grow_with_the_distance_from_0_or_the_nearest_bound(low, high, edges):
    assert growing_cells(Numeric("b", low, high), 4).cuts.tolist() == pytest.approx(edges)


def test_a_label_alone_is_answered_and_counted():
    channel, table = FieldSampling(SMALL, epsilon=1.5).channel, small_people(40_000)
    own = channel.record.supports(perturb(table, channel, same_secret()))[3]
    assert own.n == pytest.approx(10_000, abs=500)
    assert own.estimated_counts / own.n == pytest.approx([0.7, 0.3], abs=0.05)
    assert channel.record.describe()[3]["field"] == "the label alone"


def test_cells_are_row_major_with_the_label_last():
    question = FieldSampling(SMALL, epsilon=1, pairs=[("a", "b")]).channel.record.questions[3]
    codes, labels = np.array([[0, 0], [2, 1], [1, 2]]), np.array([1, 0, 1])
    assert question.cells_of(codes, labels).tolist() == [1, (2 * 3 + 1) * 2, (1 * 3 + 2) * 2 + 1]


def test_counts_are_estimated_without_bias():
    table, channel = small_people(40_000), FieldSampling(SMALL, epsilon=3).channel
    supports = channel.record.supports(perturb(table, channel, same_secret()))
    assert sum(own.n for own in supports) == len(table)
    true = pd.crosstab(table["a"], table["class"]).to_numpy().ravel() / len(table)
    own = supports[0]
    spread = math.sqrt(variance_of(channel.record.questions[0].selection) * 6 / own.n)
    assert np.abs(own.estimated_counts / own.n - true).max() < 5 * spread
    assert own.estimated_counts.sum() == pytest.approx(own.n)


def test_supports_by_hand_and_with_weights():
    channel = FieldSampling(SMALL, epsilon=1, label_alone=False).channel
    answers = pd.DataFrame({"question_1": [0, 0, 2], "answer_1": ["1 4", "0 4", "2 5"]})
    first, second, third = channel.record.supports(answers)
    assert (first.n, second.n, third.n) == (2, 0, 1)
    assert first.counts.tolist() == [1, 1, 0, 0, 2, 0]
    assert first.counts.dtype == np.int64
    assert third.counts.tolist() == [0, 0, 1, 0, 0, 1]
    weighted = channel.record.supports(answers, weights=[0.5, 2, 3])
    assert [own.n for own in weighted] == [2.5, 0, 3]
    assert weighted[0].counts.tolist() == [2, 0.5, 0, 0, 2.5, 0]


@pytest.mark.parametrize("make", ["pandas", "polars", "arrow", "numpy"])
def test_answers_can_be_counted_in_tables_of_every_make(make, tmp_path):
    import polars as pl
    import pyarrow as pa

    channel, table = FieldSampling(SMALL, epsilon=9, ask=2).channel, small_people(200)
    answers = perturb(table, channel, same_secret())
    made = {
        "pandas": answers, "polars": pl.from_pandas(answers), "arrow": pa.Table.from_pandas(answers),
        "numpy": answers.to_numpy(object),
    }[make]  # fmt: skip
    expected = channel.record.supports(answers)
    assert [own.counts.tolist() for own in channel.record.supports(made)] == [own.counts.tolist() for own in expected]
    answers.to_csv(tmp_path / "answers.csv", index=False)  # of one cell each, so read back as numbers
    again = channel.record.supports(pd.read_csv(tmp_path / "answers.csv"))
    assert [own.counts.tolist() for own in again] == [own.counts.tolist() for own in expected]


IMPOSSIBLE = {
    "is none of the channel's": {"question_1": 4},
    "as many cells as their question": {"answer_1": "1"},
    "do not hold as many cells": {"answer_1": "1 2 3"},
    "hold a cell that their question does not have": {"answer_1": "1 6"},
    "not in increasing order": {"answer_1": "4 1"},
    "as many cells": {"answer_1": "1  4"},
    "cells as their question is answered with": {"answer_1": "01 4"},
}


@pytest.mark.parametrize("message", IMPOSSIBLE)
def test_impossible_answers_are_refused(message):
    channel = FieldSampling(SMALL, epsilon=1).channel
    honest = pd.DataFrame({"question_1": [0, 0, 2], "answer_1": ["1 4", "0 4", "2 5"]})
    refuse_impossible(channel, honest)
    forged = honest.astype(object)
    for column, value in IMPOSSIBLE[message].items():
        forged.loc[1, column] = value
    for look in (lambda: refuse_impossible(channel, forged), lambda: channel.record.supports(forged)):
        with pytest.raises(DataError, match=message):
            look()


def test_a_number_with_a_fraction_is_no_answer():
    channel = FieldSampling(SMALL, epsilon=8, ask=1).channel
    refuse_impossible(channel, pd.DataFrame({"question_1": [0.0, 2.0], "answer_1": [3.0, 4.0]}))
    for row, message in (({"answer_1": 3.5}, "as many cells"), ({"question_1": 0.5}, "is none of the channel's")):
        with pytest.raises(DataError, match=message):
            refuse_impossible(channel, pd.DataFrame([{"question_1": 0.0, "answer_1": 3.0, **row}]))


def test_whatever_is_sent_is_counted_whole_or_refused():
    asked = FieldSampling(SMALL, epsilon=1, pairs=[("a", "b")], label_alone=False)
    channel, rng = asked.channel, np.random.default_rng(6)
    sizes = [question.selection.size for question in channel.record.questions]
    odd = ["17", "-", ".", "e", "\n", "\x00", "\u0663", "999999999", "9999999999", "", "  "]
    counted = 0
    for _ in range(2_000):
        text = "".join(rng.choice(["0 ", "1 ", "2", " 4", " 5", " ", *rng.choice(odd, 2)], rng.integers(1, 4))).strip(
            " "
        )
        number = int(rng.choice([0, 1, 2, 3, 4, -1, 2**40]))
        try:
            supports = channel.record.supports(pd.DataFrame({"question_1": [number], "answer_1": [text]}))
        except DataError:
            continue
        counted += 1
        assert [own.n for own in supports] == [number == own for own in range(4)]
        assert [own.counts.sum() for own in supports] == [(number == i) * size for i, size in enumerate(sizes)]
    assert counted > 20


def test_questions_of_a_person_come_in_order_and_once():
    channel = FieldSampling(SMALL, epsilon=8, ask=2).channel
    for first, second in ((1, 1), (1, 0)):
        row = {"question_1": first, "answer_1": "1", "question_2": second, "answer_2": "1"}
        with pytest.raises(DataError, match="questions that are not in increasing order"):
            refuse_impossible(channel, pd.DataFrame([row]))


def doubts(channel, answers):
    return doubts_about(channel, answers, np.empty(0, np.int64))


@pytest.mark.parametrize("name", CHANNELS)
def test_honest_answers_are_not_doubted(name):
    table = pd.concat([TABLE.assign(name=TABLE["name"] + str(i)) for i in range(10)])
    answers = perturb(table, CHANNELS[name], same_secret(), person="name")
    refuse_impossible(CHANNELS[name], answers)
    assert doubts(CHANNELS[name], answers) == ()


def test_answers_that_no_coin_gave_are_doubted():
    channel = FieldSampling(SMALL, epsilon=1).channel
    answers = perturb(small_people(3_000), channel, same_secret())
    picked_by_hand = answers[answers["question_1"] != 1]
    assert doubts(channel, picked_by_hand) == (PICKED,)
    always_true = answers.assign(answer_1=answers["answer_1"].where(answers["question_1"] != 0, "0 3"))
    assert doubts(channel, always_true) == ("a",)
    wide = FieldSampling(SCHEMA, epsilon=1, bins=60).channel
    given = perturb(TABLE, wide, same_secret(), person="name")
    copied = pd.concat([given, given, given])
    assert "age" in doubts(wide, copied)
    assert doubts(channel, answers.head(0)) == ()


def test_nothing_is_clear_and_the_guarantee_names_the_coin():
    guarantee = LocalGuarantee(FieldSampling(SMALL, epsilon=1, pairs=[("a", "b")]).channel)
    assert guarantee.given_clear == guarantee.as_they_are == ()
    assert guarantee.mode == "sound"
    assert guarantee.sentence.startswith("Nobody had to be trusted: any answers of a person are as likely whatever")
    assert (
        "epsilon = 1, for one question of 5, picked by the person's own coin; neighbours: any two" in guarantee.sentence
    )
    assert "who answered again after their record had changed paid again" in guarantee.sentence
    assert "waves" not in guarantee.sentence
    wave = LocalGuarantee(FieldSampling(SMALL, epsilon=6, ask=2, wave="spring").channel)
    assert "for the sum over 2 questions of 3" in wave.sentence
    assert "what was answered in other waves adds up with this one" in wave.sentence
    assert kept_fields(guarantee.channel) == []
    assert measure(guarantee.channel).local_epsilon == pytest.approx(1)


def test_the_example_names_cells_in_words():
    told = FieldSampling(SMALL, epsilon=1).channel.record.example()
    assert told.startswith("For example, someone with a v, yes, whose coin picks this question, might send: a ")
    assert told.endswith("One of these may be true, or none.")


def test_frequencies_are_estimated_from_answers():
    channel, table = FieldSampling(SMALL, epsilon=6, pairs=[("a", "b")]).channel, small_people(20_000)
    (_, counts), *_ = channel.record.values_in(perturb(table, channel, same_secret()))
    assert counts[:3] / counts.sum() == pytest.approx([0.6, 0.3, 0.1], abs=0.03)
    assert Coding.from_answers(perturb(table, channel, same_secret()), channel).codes[0].attribute.name == "a"


def test_people_are_answered_in_blocks_without_a_seam(monkeypatch):
    channel = CHANNELS["sampled, several and in pairs"]
    whole = perturb(TABLE, channel, same_secret(), person="name")
    monkeypatch.setattr(subset_selection, "_BLOCK", 700)
    assert perturb(TABLE, channel, same_secret(), person="name").equals(whole)


def test_a_missing_label_or_none_is_refused():
    channel = FieldSampling(SMALL, epsilon=1).channel
    table = small_people(5)
    with pytest.raises(DataError, match="every question is about the label too; add the column 'class'"):
        perturb(table.drop(columns="class"), channel, Secret())
    with pytest.raises(DataError, match="column 'class' has missing labels"):
        perturb(table.assign(**{"class": ["no", None, "yes", "no", "no"]}), channel, Secret())


def test_an_unknown_category_is_missing_where_that_is_a_cell_and_else_refused():
    channel, table = FieldSampling(SMALL, epsilon=1).channel, small_people(50).assign(name=[f"p{i}" for i in range(50)])
    missing, unknown = table.assign(c=np.nan), table.assign(c=7.0)
    assert perturb(unknown, channel, same_secret(), person="name").equals(
        perturb(missing, channel, same_secret(), person="name")
    )
    with pytest.raises(DataError, match="never_missing"):
        perturb(table.assign(a="z"), channel, Secret(), person="name")


def test_the_same_record_is_answered_the_same_and_a_changed_one_is_picked_the_same():
    channel, table = FieldSampling(SCHEMA, epsilon=1).channel, TABLE
    secret = same_secret()
    first = perturb(table, channel, secret, person="name")
    assert perturb(table, channel, secret, person="name").equals(first)
    changed = perturb(
        table.assign(smoker=table["smoker"].map({"no": "yes", "yes": "no"})), channel, secret, person="name"
    )
    assert (changed["question_1"] == first["question_1"]).all()
    assert (changed["answer_1"] != first["answer_1"]).mean() > 0.5


def test_in_a_table_without_names_a_changed_label_is_another_table():
    channel, table, secret = FieldSampling(SMALL, epsilon=1).channel, small_people(20), same_secret()
    first = perturb(table, channel, secret)
    assert perturb(table, channel, secret).equals(first)
    changed = table.assign(**{"class": table["class"].map({"no": "yes", "yes": "no"})})
    with pytest.raises(ChannelError, match="told apart in another way"):
        perturb(changed, channel, secret)


def test_a_new_wave_is_a_new_pick_and_a_new_draw_and_costs_the_sum(tmp_path):
    one, two, three = (
        FieldSampling(SCHEMA, epsilon=e, wave=w).channel for e, w in ((1, "one"), (0.5, "two"), (1, "3"))
    )
    secret = Secret(tmp_path / "key")
    first = perturb(TABLE, one, secret, person="name", max_epsilon=1.5)
    assert secret.spent == 1
    assert perturb(TABLE, one, secret, person="name", max_epsilon=1.5).equals(first)
    second = perturb(TABLE, two, secret, person="name", max_epsilon=1.5)
    assert secret.spent == 1.5
    assert (first["question_1"] == second["question_1"]).mean() < 0.5
    again = Secret(tmp_path / "key")
    assert again.spent == 1.5
    with pytest.raises(ParameterError, match="this one would cost epsilon = 2.5 in all, more than the limit of 1.5"):
        perturb(TABLE, three, again, person="name", max_epsilon=1.5)
    assert again.spent == 1.5
    assert perturb(TABLE, one, again, person="name", max_epsilon=1.5).equals(first)


def test_waves_of_tenths_add_up_to_their_sum():
    secret = same_secret()
    for wave in "abc":
        perturb(TABLE, FieldSampling(SCHEMA, epsilon=0.1, wave=wave).channel, secret, person="name", max_epsilon=0.3)
    assert secret.spent == 0.3


def test_fields_that_are_asked_for_in_waves_are_asked_for_in_no_other_way():
    wave, once = FieldSampling(SCHEMA, epsilon=1, wave="one").channel, FieldSampling(SCHEMA, epsilon=1).channel
    other = RandomizedResponse(SCHEMA, epsilon=1, label=True).channel
    for first, second in ((wave, once), (once, wave), (wave, other), (other, wave)):
        secret = same_secret()
        perturb(TABLE, first, secret, person="name")
        with pytest.raises(ChannelError, match="was answered through another channel with this secret"):
            perturb(TABLE, second, secret, person="name")


def test_secrets_without_waves_are_written_as_before(tmp_path):
    perturb(TABLE, FieldSampling(SCHEMA, epsilon=1).channel, Secret(tmp_path / "key"), person="name")
    document = json.loads((tmp_path / "key").read_text())
    assert set(document) == {"format", "version", "key", "answered", "people", "uses"}


def changed(**parts):
    document = json.loads(json.dumps(FieldSampling(SMALL, epsilon=1, pairs=[("a", "b")]).channel.to_json()))
    document["record"].update(parts)
    return document


def with_question(**parts):
    document = changed()
    document["record"]["questions"][0].update(parts)
    return document


FORGED = {
    "none is asked": changed(ask=0), "too many are asked": changed(ask=6), "a flag is asked": changed(ask=True),
    "no questions": changed(questions=[]), "no list": changed(questions={}), "no name": changed(wave=""),
    "no text": changed(wave=7), "half a character": changed(wave="\ud800"), "no wave": changed(wave=None),
    "a key more": changed(keep=0.5), "another kind": changed(channel="sampled"),
    "another field": with_question(fields=["z"]), "no field": with_question(fields=[]),
    "a text of fields": with_question(fields="a"), "wrong order": with_question(fields=["b", "a"], cells=18),
    "twice": with_question(fields=["a", "a"], cells=18), "asked twice": with_question(fields=["b"]),
    "more cells": with_question(cells=7), "no cell sent": with_question(size=0), "all sent": with_question(size=6),
    "always": with_question(keep=1), "by chance": with_question(keep=2 / 6), "never": with_question(keep=0.0),
    "a text": with_question(keep="0.6"), "a part more": with_question(epsilon=1),
}  # fmt: skip


@pytest.mark.parametrize("name", FORGED)
def test_what_privet_does_not_write_is_no_channel(name):
    with pytest.raises(ChannelError):
        Channel.from_json(FORGED[name])


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"epsilon": 0}, "epsilon=0 must be above 0"),
        ({"epsilon": 8, "ask": 4}, "ask=4 must be a whole number from 1 to the number of questions, 3"),
        ({"epsilon": 1, "ask": 1.5}, "ask=1.5 must be a whole number"),
        ({"epsilon": 1, "pairs": ["ab"]}, "pairs must be pairs of two attributes"),
        ({"epsilon": 1, "pairs": [("a", "a")]}, "pairs must be pairs of two attributes"),
        ({"epsilon": 1, "pairs": [("a", "z")]}, "no attribute 'z'; pairs and epsilons must name its own"),
        ({"epsilon": 1, "pairs": [("a", "b"), ("b", "a")]}, "two questions are about the same attributes"),
        ({"epsilon": 1, "epsilons": {"z": 1}}, "no attribute 'z'"),
        ({"epsilon": 1, "epsilons": {"a": 0}}, "epsilons must be numbers above 0"),
        ({"epsilon": 1, "wave": ""}, "wave='' must be a name, or be left out"),
    ],
)
def test_impossible_parameters_are_refused(parameters, message):
    with pytest.raises(ParameterError, match=message):
        _ = FieldSampling(SMALL, **parameters).channel


def test_questions_of_another_schema_are_refused():
    questions = FieldSampling(SMALL, epsilon=1).channel.record.questions
    finer = SMALL.with_attributes([*SMALL.attributes[:1], replace(SMALL.attributes[1], bins=3), SMALL.attributes[2]])
    for other in (
        finer,
        Schema(SMALL.attributes, classes=[5, 7, 9]),
        Schema(SMALL.attributes[:2], classes=["no", "yes"]),
    ):
        with pytest.raises(ParameterError, match="a question is about another schema's attributes or classes"):
            SampledFields(other, questions)


def test_a_record_is_not_asked_about_field_by_field_too():
    sampled = FieldSampling(SMALL, epsilon=1).channel
    label = RandomizedResponse(SMALL, epsilon=1, label=True).channel.label
    with pytest.raises(ChannelError, match="cannot be disturbed field by field too"):
        replace(sampled, label=label)
