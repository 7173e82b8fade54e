"""The respondent's script asks only what the coin picked, and adds up what was answered."""

import json
import math
from decimal import Context, Decimal

import numpy as np
import pandas as pd
import pytest

from privet import Numeric, Schema
from privet.local import Channel, FieldSampling, perturb
from tests.local.channels.sampling.test_sampled_fields import FORGED, SMALL, small_people
from tests.local.channels.test_respondent_js import WAYS_IN, ask, is_refusal, plain_rows
from tests.local.people import SCHEMA, people, same_secret

TABLE = people(500)
CHANNELS = {
    "one": FieldSampling(SCHEMA, epsilon=1).channel,
    "three": FieldSampling(SCHEMA, epsilon=6, ask=3, bins=50, pairs=[("age", "income"), ("job", "owner")]).channel,
    "fine": FieldSampling(SCHEMA, epsilon=0.2, bins=600).channel,
    "pairs": FieldSampling(SCHEMA, epsilon=8).channel,
}
ASK_PICKED = """
const { picked } = await import("./respondent.mjs");
const told = {};
for (const [name, channel] of Object.entries(channels)) {
  told[name] = await Promise.all(rows.map(async ([person, record]) => {
    const asked = await picked(channel, secret, person);
    const names = [...new Set(asked.flatMap(({ fields }) => fields)), channel.schema.target];
    const only = Object.fromEntries(names.map((field) => [field, record[field]]));
    return { asked, names, answers: await answer(channel, secret, person, only) };
  }));
}
console.log(JSON.stringify(told));
"""


@pytest.fixture(scope="module")
def told(tmp_path_factory):
    return ask(ASK_PICKED, tmp_path_factory.mktemp("picked"), channels=CHANNELS, rows=plain_rows(TABLE))


@pytest.mark.parametrize("name", CHANNELS)
def test_who_gives_only_what_was_picked_answers_as_python_does(told, name):
    expected = perturb(TABLE, CHANNELS[name], same_secret(), person="name").to_dict("records")
    assert [own["answers"] for own in told[name]] == expected


@pytest.mark.parametrize("name", CHANNELS)
def test_what_is_picked_is_what_is_answered(told, name):
    questions, ask_for = CHANNELS[name].record.questions, CHANNELS[name].record.ask
    for own in told[name]:
        numbers = [own["answers"][f"question_{i}"] for i in range(1, ask_for + 1)]
        assert [asked["number"] for asked in own["asked"]] == numbers
        assert [asked["fields"] for asked in own["asked"]] == [questions[number].fields for number in numbers]
    counts = np.bincount([asked["number"] for own in told[name] for asked in own["asked"]], minlength=len(questions))
    share = ask_for / len(questions)
    assert np.abs(counts - len(TABLE) * share).max() < 5 * np.sqrt(len(TABLE) * share * (1 - share))


ANSWER = """
const told = rows.map(([person, record]) => answer(channels.one, secret, person, record));
console.log(JSON.stringify(await Promise.all(told)));
"""


def test_words_that_are_passed_over_are_passed_over_by_both(tmp_path):
    schema = Schema([Numeric("x", 0, 1, bins=389, never_missing=True)], classes=["no", "yes"])
    channel, names = FieldSampling(schema, epsilon=0.2).channel, [f"p{i}" for i in range(20_000)]
    assert channel.record.questions[0].cells_of(np.array([[389 // 2]]), np.array([1])).tolist() == [389]
    selection = channel.record.questions[0].selection
    limits = [2**64 - 2**64 % math.prod(group) for group in selection._lots._groups]
    words = same_secret().many_words(channel.fingerprints[""], [f'"{name}",[0,389]' for name in names], 1 + len(limits))
    late = np.flatnonzero((words[:, 1:] > np.array([limit - 1 for limit in limits], dtype=np.uint64)).any(axis=1))
    assert len(late) > 2
    table = pd.DataFrame({"name": names, "x": 0.5, "class": "yes"}).iloc[late]
    answers = ask(ANSWER, tmp_path, channels={"one": channel}, rows=plain_rows(table))
    assert answers == perturb(table, channel, same_secret(), person="name").to_dict("records")


SPEND = """
const { spent } = await import("./respondent.mjs");
const [pins, said] = [new Map(), []];
const tell = async (channel, changes = {}) => {
  const record = { ...rows[0][1], ...changes };
  const done = await answer(channel, secret, "ann", record, pins, { maxEpsilon: 2.5 }).catch((error) => error.message);
  said.push([typeof done === "string" ? done : "answered", spent(pins)]);
};
await tell(channels.one);
await tell(channels.one);
await tell(channels.two);
await tell(channels.two, { smoker: rows[0][1].smoker === "no" ? "yes" : "no" });
await tell(channels.three);
await tell(channels.one);
await tell(channels.once);
console.log(JSON.stringify(said));
"""


def test_waves_and_changed_records_are_added_up_and_refused_beyond_the_limit(tmp_path):
    prices = {"one": 1, "two": 0.5, "three": 0.75}
    asked = {wave: FieldSampling(SCHEMA, epsilon=epsilon, wave=wave).channel for wave, epsilon in prices.items()}
    said = ask(SPEND, tmp_path, channels={**asked, "once": CHANNELS["one"]}, rows=plain_rows(TABLE)[:1])
    answered = [1, 1, 1.5, 2]
    assert said[:4] == [["answered", total] for total in answered]
    assert said[4] == [
        "all answers together would cost epsilon = 2.75, where the limit is 2.5; do not answer this one",
        2,
    ]
    assert said[5] == ["answered", 2]
    assert "where the limit is 2.5" in said[6][0]


MISTAKES = """
const { picked } = await import("./respondent.mjs");
const told = [];
for (const go of [
  () => picked(channels.uniform, secret, "ann"),
  () => picked(channels.one, secret.slice(1), "ann"),
  () => answer(channels.one, secret, "ann", {}),
  () => answer(channels.one, secret, "ann", { ...rows[0][1], smoker: null }),
  () => answer(channels.one, secret, "ann", (({ smoker, ...rest }) => rest)(rows[0][1])),
  () => answer(channels.one, secret, "ann", rows[0][1], null, { maxEpsilon: 0.9 }),
]) told.push(await go().then(() => "no error", (error) => error.message));
console.log(JSON.stringify(told));
"""


def test_mistakes_are_told(tmp_path):
    from tests.local.people import channels

    one = FieldSampling(SCHEMA, epsilon=1, label_alone=False).channel
    asked = {"one": one, "uniform": channels()["uniform"]}
    told = ask(MISTAKES, tmp_path, channels=asked, rows=plain_rows(TABLE)[:1])
    parts = [
        "asks everybody for every field", "newSecret", "the record lacks", "one of the channel's classes",
        'every question is about "smoker" too', "costs epsilon = 1, where the limit is 0.9",
    ]  # fmt: skip
    for sentence, part in zip(told, parts, strict=True):
        assert part in sentence


def doctored_channels():
    """Return channels that privet would not make but reads: every size, with the least and the most kept."""
    document = json.dumps(FieldSampling(SMALL, epsilon=1, label_alone=False).channel.to_json())
    made = {}
    for size in range(1, 6):
        least = size / 6
        while int(least * 2**64) * 6 <= size * 2**64:
            least = math.nextafter(least, 1)
        for keep in (least, (1 + least) / 2, math.nextafter(1, 0)):
            own = json.loads(document)
            for question in own["record"]["questions"]:
                question.update(size=size, keep=keep)
            made[f"{size} at {keep!r}"] = Channel.from_json(own)
    return made


ASK_DOCTORED = """
const { localEpsilon } = await import("./respondent.mjs");
const told = {};
for (const [name, channel] of Object.entries(channels)) {
  const answers = await Promise.all(rows.map(([person, record]) => answer(channel, secret, person, record)));
  told[name] = { epsilon: localEpsilon(channel), answers };
}
console.log(JSON.stringify(told));
"""


def test_doctored_channels_state_their_whole_epsilon_and_are_answered_alike(tmp_path):
    asked, table = doctored_channels(), small_people(60).assign(name=[f"p{i}" for i in range(60)])
    told, context = ask(ASK_DOCTORED, tmp_path, channels=asked, rows=plain_rows(table)), Context(prec=40)
    for name, channel in asked.items():
        question = channel.record.questions[0].selection
        kept = int(question.keep * 2**64)
        ratio = context.divide(Decimal(kept * (6 - question.size)), Decimal((2**64 - kept) * question.size))
        assert ratio.ln(context) <= Decimal(channel.total_epsilon()), name
        assert channel.total_epsilon() <= float(ratio.ln(context)) * (1 + 1e-9) + 1e-300, name
        assert told[name]["epsilon"] == channel.total_epsilon(), name
        expected = perturb(table, channel, same_secret(), person="name").to_dict("records")
        assert told[name]["answers"] == expected, name


def test_what_python_refuses_the_script_refuses_in_every_function(tmp_path):
    forged = {name: document for name, document in FORGED.items() if name != "half a character"}
    said = ask(WAYS_IN, tmp_path, channels=forged, rows=[("ann", {"a": "u", "b": 1, "c": 5, "class": "no"})])
    taken = [(name, way) for name in said for way, own in said[name].items() if not is_refusal(own)]
    assert not taken
