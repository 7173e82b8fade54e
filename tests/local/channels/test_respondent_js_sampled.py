"""The respondent's script asks only what the coin picked, and adds up what was answered."""

import numpy as np
import pytest

from privet.local import FieldSampling, perturb
from tests.local.channels.test_respondent_js import WAYS_IN, ask, is_refusal, plain_rows
from tests.local.channels.test_sampled_fields import FORGED
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


def test_what_python_refuses_the_script_refuses_in_every_function(tmp_path):
    forged = {name: document for name, document in FORGED.items() if name != "half a character"}
    said = ask(WAYS_IN, tmp_path, channels=forged, rows=[("ann", {"a": "u", "b": 1, "c": 5, "class": "no"})])
    taken = [(name, way) for name in said for way, own in said[name].items() if not is_refusal(own)]
    assert not taken
