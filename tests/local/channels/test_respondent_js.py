"""The respondent's script answers as Python does: cell by cell under one secret, and by distribution."""

import copy
import json
import math
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import chisquare

import privet.local
from privet import Categorical, Numeric, Schema
from privet.errors import PrivetError
from privet.local import Channel, LaplaceNoise, RandomizedResponse, perturb
from privet.local.channels.added_noise import AddedNoise
from privet.local.channels.distributions import DISTRIBUTIONS
from privet.local.guarantee import LocalGuarantee
from tests.export.node import run_node
from tests.local.people import SCHEMA, SECRET_KEY, channels, people, same_secret

SCRIPT = Path(privet.local.__file__).parent / "channels" / "respondent.js"
CHANNELS = channels()
TABLE = people(150)
ASK = """
import { readFileSync } from "node:fs";
import { answer, fingerprints, newSecret } from "./respondent.mjs";
const { channels, key, rows } = JSON.parse(readFileSync("asked.json", "utf8"));
const secret = Uint8Array.from(key);
"""
ANSWER_ALL = """
const given = {};
for (const [name, channel] of Object.entries(channels)) {
  const answers = [];
  for (const [person, record] of rows) answers.push(await answer(channel, secret, person, record));
  given[name] = { answers, pins: [...(await fingerprints(channel))] };
}
console.log(JSON.stringify(given));
"""


def ask(script, folder, *, channels=(), rows=()):
    """Run a script that knows channels and rows, and return what it prints."""
    shutil.copy(SCRIPT, folder / "respondent.mjs")
    asked = {
        "channels": {k: c.to_json() if isinstance(c, Channel) else c for k, c in dict(channels).items()},
        "key": list(SECRET_KEY),
        "rows": list(rows),
    }
    (folder / "asked.json").write_text(json.dumps(asked))
    return run_node(ASK + script, folder, module=True)


def plain_rows(table):
    records = table.drop(columns="name").astype(object).where(table.drop(columns="name").notna(), None)
    return list(zip(table["name"], records.to_dict("records"), strict=True))


@pytest.fixture(scope="module")
def given(tmp_path_factory):
    return ask(ANSWER_ALL, tmp_path_factory.mktemp("node"), channels=CHANNELS, rows=plain_rows(TABLE))


@pytest.mark.parametrize("name", CHANNELS)
def test_every_answer_is_the_one_that_python_gives(given, name):
    expected = perturb(TABLE, CHANNELS[name], same_secret(), person="name")
    expected = expected.astype(object).where(expected.notna(), None).to_dict("list")
    answers = {field: [answer[field] for answer in given[name]["answers"]] for field in given[name]["answers"][0]}
    assert list(answers) == list(expected)
    assert answers == expected


@pytest.mark.parametrize("name", CHANNELS)
def test_fingerprints_are_those_of_python(given, name):
    assert dict(given[name]["pins"]) == CHANNELS[name].pins


N_PEOPLE = 3_000
ASK_MANY = f"""
const people = Array.from({{ length: {N_PEOPLE} }}, (_, i) => `person ${{i}}`);
const heard = {{}};
for (const [name, channel] of Object.entries(channels)) {{
  const field = channel.fields[0].field;
  const record = {{ [field]: field === "x" ? 0.25 : "w" }};
  const answers = await Promise.all(people.map((person) => answer(channel, secret, person, record)));
  heard[name] = answers.map((said) => said[field]);
}}
console.log(JSON.stringify(heard));
"""
NUMBER, WORD = Numeric("x", 0, 1), Categorical("a", ["u", "v", "w"])
WORDS = Schema([WORD], classes=[5, 9])


@pytest.fixture(scope="module")
def heard(tmp_path_factory):
    """What as many people say who all have the same value."""
    noise = {
        kind: Channel.of(Schema([NUMBER], classes=[5, 9]), [AddedNoise(NUMBER, DISTRIBUTIONS[kind](0.5))])
        for kind in DISTRIBUTIONS
    }
    asked = {**noise, "random": RandomizedResponse(WORDS, keep=0.5).channel}
    return ask(ASK_MANY, tmp_path_factory.mktemp("many"), channels=asked)


def test_answers_follow_the_exact_matrix_and_no_other(heard):
    seen = [heard["random"].count(answer) for answer in WORD.categories]
    right, wrong = (RandomizedResponse(WORDS, keep=keep).channel.columns[0].matrix[:, 2] for keep in (0.5, 0.58))
    assert chisquare(seen, N_PEOPLE * right).pvalue > 1e-6
    assert chisquare(seen, N_PEOPLE * wrong).pvalue < 1e-6


@pytest.mark.parametrize("kind", DISTRIBUTIONS)
def test_noise_follows_the_exact_distribution_and_no_other_scale(heard, kind):
    p_values = [
        p_value(np.array(heard[kind]), AddedNoise(NUMBER, DISTRIBUTIONS[kind](scale))) for scale in (0.5, 0.42, 0.59)
    ]
    assert p_values[0] > 1e-6
    assert max(p_values[1:]) < 1e-6


def p_value(answers, column):
    """Return the p-value of the answers of people at 0.25 under the column's exact distribution, in some 20 bins."""
    weights = column.distribution.weights.astype(float)
    places = 0.25 + (column.distribution.first + np.arange(len(weights))) * column.step
    places = np.clip(places, *column.bounds)
    labels = np.minimum(np.cumsum(weights) / weights.sum() * 20, 19).astype(int)
    expected = np.bincount(labels, weights, minlength=20) / weights.sum() * len(answers)
    nearest = np.searchsorted(places + column.step / 2, answers).clip(max=len(places) - 1)
    seen = np.bincount(labels[nearest], minlength=20)
    # A wrong scale may hold an answer to be impossible.
    outside = np.abs(answers - places[nearest]) > column.step
    return 0.0 if outside.any() else chisquare(seen[expected > 0], expected[expected > 0]).pvalue


def test_another_channel_is_refused_where_pins_are_kept(tmp_path):
    wide, narrow = (LaplaceNoise(SCHEMA, epsilon=epsilon, columns=["age"]).channel for epsilon in (1, 2))
    script = """
    const pins = new Map();
    const [person, record] = rows[0];
    const first = await answer(channels.wide, secret, person, record, pins);
    const again = await answer(channels.wide, secret, person, record, pins);
    const refused = await answer(channels.narrow, secret, person, record, pins).catch((error) => error.message);
    console.log(JSON.stringify([first.age === again.age, [...pins.keys()], refused]));
    """
    asked = {"wide": wide, "narrow": narrow}
    same, pinned, refused = ask(script, tmp_path, channels=asked, rows=plain_rows(TABLE)[:1])
    assert same
    assert pinned == ["age"]
    assert 'the field "age" was answered through another channel' in refused


def test_a_record_cannot_be_asked_again_field_by_field(tmp_path):
    script = """
    const pins = new Map();
    await answer(channels.whole, secret, ...rows[0], pins);
    const refused = await answer(channels.fields, secret, ...rows[0], pins).catch((error) => error.message);
    console.log(JSON.stringify(refused));
    """
    asked = {"whole": CHANNELS["records"], "fields": CHANNELS["uniform"]}
    assert "another channel" in ask(script, tmp_path, channels=asked, rows=plain_rows(TABLE)[:1])


def test_new_secrets_differ_and_people_differ(tmp_path):
    script = """
    const said = [];
    for (const person of ["ann", "bob"]) {
      for (const own of [secret, newSecret(), newSecret()]) {
        said.push(JSON.stringify(await answer(channels.laplace, own, person, rows[0][1])));
      }
    }
    console.log(JSON.stringify([newSecret().length, new Set(said).size]));
    """
    table = TABLE.assign(age=50.0)
    length, distinct = ask(script, tmp_path, channels={"laplace": CHANNELS["laplace"]}, rows=plain_rows(table)[:1])
    assert length == 32
    assert distinct >= 5  # of 6, each one of tens of thousands of ages and as many incomes


MISTAKES = {
    "{...channel, format: 'other'}, secret, 'ann', record": "no description of a channel",
    "{...channel, version: 2}, secret, 'ann', record": "update the script",
    "null, secret, 'ann', record": "no description of a channel",
    "changed('channel', 'shot noise'), secret, 'ann', record": "update the script",
    "changed('scale', 1e9), secret, 'ann', record": "out of proportion",
    "changed('scale', NaN), secret, 'ann', record": "out of proportion",
    "changed('field', 'wage'), secret, 'ann', record": "not those of its schema",
    "channel, secret.slice(1), 'ann', record": "newSecret",
    "channel, secret, '', record": "a person is a text",
    "channel, secret, 7, record": "a person is a text",
    "channel, secret, 'ann', null": "a record is an object",
    "channel, secret, 'ann', {}": 'lacks "age"; pass null',
    "channel, secret, 'ann', {...record, age: '44'}": '"age" needs a number',
    "channel, secret, 'ann', {...record, smoker: 'maybe'}": "one of the channel's classes",
}


def test_mistakes_are_told_without_a_value(tmp_path):
    script = """
    const [channel, record] = [channels.mixed, rows[0][1]];
    const [first, ...others] = channel.fields;
    const changed = (key, value) => ({ ...channel, fields: [{ ...first, [key]: value }, ...others] });
    const told = [];
    for (const ask of [CALLS]) told.push(await ask().then(() => "no error", (error) => error.message));
    console.log(JSON.stringify(told));
    """.replace("CALLS", ", ".join(f"() => answer({call})" for call in MISTAKES))
    asked = {"mixed": CHANNELS["mixed"]}
    told = ask(script, tmp_path, channels=asked, rows=plain_rows(TABLE)[:1])
    for sentence, part in zip(told, MISTAKES.values(), strict=True):
        assert part in sentence
        assert "44" not in sentence
        assert "maybe" not in sentence


EPSILONS = """
const told = {};
for (const [name, channel] of Object.entries(channels)) {
  const clear = [...channel.schema.attributes.map((a) => a.name), channel.schema.target]
    .filter((name) => givenClear(channel).includes(name));
  told[name] = [localEpsilon(channel), localEpsilon(channel, clear), givenClear(channel)].map((x) =>
    x === Infinity ? "inf" : x);
}
console.log(JSON.stringify(told));
""".replace("const told", 'const { givenClear, localEpsilon } = await import("./respondent.mjs");\nconst told', 1)
PRICES = [1e-6, 0.05, 1 / 3, 1, 1.5, 4, 11, 25]


def epsilon_channels():
    random = {f"random {e:g}": RandomizedResponse(SCHEMA, epsilon=e, label=True).channel for e in PRICES}
    noise = {f"noise {e:g}": LaplaceNoise(SCHEMA, epsilon=e).channel for e in PRICES[1:]}
    scales = {f"scale {s:g}": LaplaceNoise(SCHEMA, scale=s, columns=["age"]).channel for s in (0.1, 1, 56, 84_000)}
    kept = {"always kept": RandomizedResponse(SCHEMA, keep=1.0, columns=["owner"], label=True).channel}
    return {**CHANNELS, **random, **noise, **scales, **kept}


def test_epsilons_are_those_of_python_to_the_last_digit(tmp_path):
    asked = epsilon_channels()
    told = ask(EPSILONS, tmp_path, channels=asked)
    for name, channel in asked.items():
        whole, but_for_clear, clear = told[name]
        as_they_are = LocalGuarantee(channel).as_they_are
        expected = [channel.total_epsilon(), channel.total_epsilon([n for n in as_they_are if n != "whole records"])]
        assert [whole, but_for_clear] == ["inf" if math.isinf(e) else e for e in expected], name
        if channel.record is None:
            assert clear == list(as_they_are), name
    assert told["random 1"][0] == 1
    assert told["always kept"][0] == "inf"


LIMITS = """
const tried = {};
for (const [name, channel] of Object.entries(channels)) {
  for (const limits of [{ maxEpsilon: 1 }, { maxEpsilon: 0.5 }, { maxEpsilon: 1, clear: ["age"] }, { maxepsilon: 1 },
                        { maxEpsilon: "1" }, {}]) {
    const pins = new Map();
    const said = await answer(channel, secret, ...rows[0], pins, limits).then(() => "answered", (e) => e.message);
    tried[`${name} ${JSON.stringify(limits)}`] = [said, pins.size];
  }
}
console.log(JSON.stringify(tried));
"""


def test_a_respondent_refuses_what_costs_more_than_their_limit_before_anything_is_answered(tmp_path):
    asked = {
        "all": RandomizedResponse(SCHEMA, epsilon=1, label=True).channel,
        "but age": RandomizedResponse(SCHEMA, epsilon=1, label=True, columns=SCHEMA.names[1:]).channel,
        "kept": RandomizedResponse(SCHEMA, keep=1.0, label=True).channel,
    }
    tried = ask(LIMITS, tmp_path, channels=asked, rows=plain_rows(TABLE)[:1])
    answered = {name for name, (said, _) in tried.items() if said == "answered"}
    assert answered == {
        'all {"maxEpsilon":1}', 'all {"maxEpsilon":1,"clear":["age"]}', 'but age {"maxEpsilon":1,"clear":["age"]}',
        "all {}", "but age {}", "kept {}",
    }  # fmt: skip
    assert all(pinned == 0 for said, pinned in tried.values() if said != "answered")
    assert tried['but age {"maxEpsilon":1}'][0].startswith("the channel gives age as it is, where the limit is 1")
    assert tried['all {"maxEpsilon":0.5}'][0].startswith("the channel costs epsilon = 1, where the limit is 0.5")
    assert "no limit is called" in tried['all {"maxepsilon":1}'][0]
    assert "maxEpsilon is a number" in tried['all {"maxEpsilon":"1"}'][0]


def test_a_page_without_https_is_told_so(tmp_path):
    script = """
    Object.defineProperty(globalThis, "crypto", { value: { getRandomValues: (bytes) => bytes } });
    const said = await answer(channels.all, secret, ...rows[0]).catch((error) => error.message);
    let made;
    try { newSecret(); } catch (error) { made = error.message; }
    console.log(JSON.stringify([said, made]));
    """
    asked = {"all": RandomizedResponse(SCHEMA, epsilon=1, label=True).channel}
    for sentence in ask(script, tmp_path, channels=asked, rows=plain_rows(TABLE)[:1]):
        assert sentence.endswith("open this page over https, or on localhost")


def test_a_channel_that_always_keeps_is_warned_of(tmp_path):
    script = """
    const heard = [];
    console.warn = (text) => heard.push(text);
    await answer(channels.kept, secret, ...rows[0]);
    console.log(JSON.stringify(heard));
    """
    asked = {"kept": RandomizedResponse(SCHEMA, keep=1.0, columns=["owner"]).channel}
    (heard,) = ask(script, tmp_path, channels=asked, rows=plain_rows(TABLE)[:1])
    assert heard == "privet: the channel always keeps owner: these answers are the clear values"


# Every way into the script, for each channel: what each one says, or why it refuses.
WAYS_IN = """
const { givenClear, localEpsilon } = await import("./respondent.mjs");
console.warn = () => {};
const ways = {
  answer: (channel, record) => answer(channel, secret, "ann", record, new Map(), { maxEpsilon: 9, clear: ["region"] }),
  without: (channel, record) => answer(channel, secret, "ann", record),
  localEpsilon: (channel) => localEpsilon(channel, ["region"]),
  givenClear,
  fingerprints: async (channel) => [...(await fingerprints(channel))],
};
const said = {};
for (const [name, channel] of Object.entries(channels)) {
  said[name] = {};
  for (const [way, go] of Object.entries(ways)) {
    const refusal = (error) => `refused: ${error.message}`;
    said[name][way] = await Promise.resolve().then(() => go(channel, rows[0][1])).catch(refusal);
  }
}
console.log(JSON.stringify(said));
"""
CLEAR_ALONE = """
const { givenClear } = await import("./respondent.mjs");
const named = {};
for (const [name, channel] of Object.entries(channels)) {
  try { named[name] = givenClear(channel); } catch (error) { named[name] = error.message; }
}
console.log(JSON.stringify(named));
"""
SICK = Schema(
    [Categorical("region", ["n", "s"]), Numeric("income", 0, 100_000, edges=[1, 50_000])],
    classes=["no", "yes"],
    target="sick",
)
SICK_CHANNEL = RandomizedResponse(SICK, keep=0.6, columns=["income"], label=True).channel.to_json()


def sick_channel(*, region=None, income=None, label=None):
    """Return the channel's document with parts of its fields and label changed."""
    document = copy.deepcopy(SICK_CHANNEL)
    for part, changes in zip((*document["fields"], document["label"]), (region, income, label), strict=True):
        part.update(changes or {})
    return document


# A script that trusts the document takes each for a channel; some of them give a value away that nobody named as clear.
FORGED = {
    "the last cell is missing for all to see": sick_channel(income={"answers": 2, "covers_missing": -1}),
    "the label calls itself by the name of a clear field": sick_channel(label={"field": "region", "keep": 1}),
    "the label is given as it is": sick_channel(label={"channel": "clear"}),
    "the label may be missing": sick_channel(label={"answers": 3, "covers_missing": True}),
    "the kind is a list": sick_channel(region={"channel": ["clear"]}),
    "the kind is one that every object has": sick_channel(region={"channel": "constructor"}),
    "always kept, said by true": sick_channel(income={"keep": True}),
    "always kept, said by a text": sick_channel(income={"keep": "1"}),
    "answers as a text": sick_channel(income={"answers": "3"}),
    "a flag as a number": sick_channel(income={"covers_missing": 0}),
    "a key too many": sick_channel(region={"keep": 1}),
    "another order of fields": {**SICK_CHANNEL, "fields": SICK_CHANNEL["fields"][::-1]},
    "a field too many": {**SICK_CHANNEL, "fields": [*SICK_CHANNEL["fields"], SICK_CHANNEL["fields"][0]]},
    "no word about the label": {key: part for key, part in SICK_CHANNEL.items() if key != "label"},
}
COMPLETE = SICK.with_attributes(replace(a, never_missing=True) for a in SICK.attributes)
COMPLETE_CHANNEL = RandomizedResponse(COMPLETE, keep=0.6, columns=["income"], label=True).channel.to_json()
FORGED["a value that is never missing may be missing"] = copy.deepcopy(COMPLETE_CHANNEL)
FORGED["a value that is never missing may be missing"]["fields"][1].update({"answers": 4, "covers_missing": True})
PERSON = ("ann", {"region": "n", "income": 51_000, "sick": "yes"})


@pytest.fixture(scope="module")
def forged(tmp_path_factory):
    return ask(WAYS_IN, tmp_path_factory.mktemp("forged"), channels={**FORGED, "true": SICK_CHANNEL}, rows=[PERSON])


@pytest.mark.parametrize("name", FORGED)
def test_a_forged_channel_is_refused_by_every_function_as_by_python(forged, name):
    with pytest.raises(PrivetError):
        Channel.from_json(FORGED[name])
    for way, said in forged[name].items():
        assert is_refusal(said), (way, said)


def test_the_channel_that_was_forged_is_answered_as_it_was_published(forged):
    assert not any(is_refusal(said) for said in forged["true"].values())
    assert forged["true"]["givenClear"] == ["region"]


def test_who_lacks_a_value_that_is_never_missing_is_not_asked(tmp_path):
    _, ann = PERSON
    lacking = {
        "number": {**ann, "income": None}, "clear category": {**ann, "region": None},
        "no category": {**ann, "region": "x"}, "nothing": ann,
    }  # fmt: skip
    script = """
    const said = {};
    for (const [name, record] of rows) {
      try { said[name] = Object.keys(await answer(channels.complete, secret, "ann", record)).length; }
      catch (error) { said[name] = error.message; }
    }
    console.log(JSON.stringify(said));
    """
    said = ask(script, tmp_path, channels={"complete": COMPLETE_CHANNEL}, rows=lacking.items())
    refusal = "{} is never missing in this channel; give one of its values"
    assert said == {
        "number": refusal.format('"income"'), "clear category": refusal.format('"region"'),
        "no category": refusal.format('"region"'), "nothing": 3,
    }  # fmt: skip


def is_refusal(said):
    """Return whether this is a sentence of the script's own, with the way out; an error of the language is none."""
    return isinstance(said, str) and said.startswith("refused: ") and "; " in said


N_MUTATED = 4_000
VALUES = [
    0, 1, 2, 3, 4, 5, -1, 0.5, 0.6, 1e-9, 1e9, 1e308, 2**53, True, False, None, "", "1", "0.75", "age", "smoker", "no",
    "clear", "uniform", "laplace", "intervals", "randomized_response", "record_complement", "constructor", "continuous",
    "sampled_fields",
    [], [0], ["clear"], [1, 2], [True], [None], {}, {"field": "age"}, "\ud800",
]  # fmt: skip
KEYS = ["keep", "scale", "answers", "covers_missing", "channel", "edges", "bins", "inferred", "rows", "label", "more",
        "wave", "ask", "size", "cells"]  # fmt: skip


def mutated_documents():
    """Return documents of channels of every kind with one to three parts changed, left out, added or exchanged."""
    rng = np.random.default_rng(5)

    def pick(items):
        return items[rng.integers(len(items))]

    whole = [channel.to_json() for channel in CHANNELS.values()] + [SICK_CHANNEL]
    documents = []
    for _ in range(N_MUTATED):
        document = copy.deepcopy(pick(whole))
        for _ in range(pick([1, 1, 1, 2, 3])):
            mutate(document, pick, whole)
        documents.append(as_written(document))
    return documents


def mutate(document, pick, others):
    # Most places are in the schema and in the codes of records: first a part of the document, then a place in it.
    inner = [key for key in ("fields", "label", "record", "schema") if isinstance(document.get(key), (dict, list))]
    top = pick([*document] if not inner or pick(range(10)) == 0 else inner)
    found = [place for place in places(document) if place[2] == top]
    if not found:
        return
    holder, key, _ = pick([place for place in found if place[0] is not document] or found)
    change = pick(["value", "value", "value", "remove", "add", "exchange"])
    if change == "value":
        holder[key] = copy.deepcopy(pick(VALUES))
    elif change == "remove":
        del holder[key]
    elif change == "add" and isinstance(holder[key], dict):
        holder[key][pick(KEYS)] = copy.deepcopy(pick(VALUES))
    elif change == "add" and isinstance(holder[key], list):
        holder[key].append(copy.deepcopy(pick([*VALUES, *holder[key]])))
    elif change == "exchange":
        other, own, _ = pick([place for place in places(pick(others)) if place[2] in ("fields", "label", "record")])
        holder[key] = copy.deepcopy(other[own])


def places(part, top=None):
    """Return every place in a document: what holds it, its key there, and the part of the document that it is in."""
    keys = list(part) if isinstance(part, dict) else range(len(part)) if isinstance(part, list) else ()
    found = []
    for key in keys:
        found += [(part, key, top or key), *places(part[key], top or key)]
    return found


def as_written(part, key=None):
    """Return a document with whole numbers as privet writes them: a script cannot tell 1 from 1.0, and Python can."""
    if isinstance(part, dict):
        return {own: as_written(value, own) for own, value in part.items()}
    if isinstance(part, list):
        return [as_written(value, key) for value in part]
    if isinstance(part, bool) or not isinstance(part, (int, float)):
        return part
    return float(part) if key == "shares" or abs(part) > 2**53 else int(part) if part == int(part) else part


def python_refuses(document):
    try:
        Channel.from_json(document)
    except PrivetError:
        return True
    return False


def test_whatever_python_refuses_the_script_refuses_too(tmp_path):
    documents = {str(i): document for i, document in enumerate(mutated_documents())}
    refused = {i: document for i, document in documents.items() if python_refuses(document)}
    taken = {i: document for i, document in documents.items() if i not in refused and document["version"] is not True}
    assert N_MUTATED / 2 < len(refused) < N_MUTATED
    assert len(taken) > N_MUTATED / 100
    record = {**plain_rows(TABLE)[0][1], **PERSON[1], "smoker": "no"}
    said = ask(WAYS_IN, tmp_path, channels=refused, rows=[("ann", record)])
    through = {
        (i, way): (told, refused[i]) for i in refused for way, told in said[i].items() if not is_refusal(told)
    }  # fmt: skip
    assert not through, f"{len(through):,} of {5 * len(refused):,}, such as {next(iter(through.items()))}"
    for i, told in ask(CLEAR_ALONE, tmp_path, channels=taken).items():
        assert isinstance(told, list), (told, taken[i])
