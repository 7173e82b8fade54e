"""The channel of a table: one JSON document, read back as it was or not at all."""

import copy
import json
import math

import pytest

from privet import Categorical, Numeric, Schema
from privet.errors import ChannelError
from privet.local import Channel, GaussianNoise, Intervals, LaplaceNoise, RandomizedResponse, UniformNoise
from privet.local.channels.field_channel import Clear
from privet.local.channels.randomized_response import RandomAnswer
from privet.local.channels.secret import CLEAR
from tests.local.people import SCHEMA, channels

CHANNELS = channels()


@pytest.mark.parametrize("name", CHANNELS)
def test_a_channel_comes_back_from_json_and_from_a_file(name, tmp_path):
    channel = CHANNELS[name]
    again = Channel.from_json(json.loads(json.dumps(channel.to_json(), allow_nan=False)))
    assert again == channel
    assert again.fingerprints == channel.fingerprints
    channel.save(tmp_path / "channel.json")
    assert Channel.load(tmp_path / "channel.json") == channel


def places(document, path=()):
    """Yield the path of every part of a document."""
    items = document.items() if isinstance(document, dict) else enumerate(document)
    for key, part in items:
        yield (*path, key)
        if isinstance(part, (dict, list)):
            yield from places(part, (*path, key))


def changed(document, path, damage):
    """Return the document without the part at ``path``, or with ``damage`` there."""
    again = copy.deepcopy(document)
    parent = again
    for key in path[:-1]:
        parent = parent[key]
    if damage == "gone":
        parent.pop(path[-1])
    else:
        parent[path[-1]] = damage
    return again


@pytest.mark.parametrize("name", ["gaussian", "intervals", "mixed", "records with label"])
@pytest.mark.parametrize("damage", ["gone", None, -1, 0.3, [], {}, "other", True, math.nan, 10**400])
def test_every_part_that_is_removed_or_changed_is_refused_or_is_another_channel(name, damage):
    document = CHANNELS[name].to_json()
    n_refused = 0
    for path in places(document):
        damaged = changed(document, path, damage)
        if damaged == document:
            continue
        try:
            channel = Channel.from_json(damaged)
        except ChannelError:
            n_refused += 1
        else:
            # A changed bound, category or chance describes another channel, which has other fingerprints.
            assert channel.to_json() == damaged
            assert channel != CHANNELS[name]
            if decides_an_answer(path, CHANNELS[name]):
                assert channel.fingerprints != CHANNELS[name].fingerprints
    assert n_refused > 10


def decides_an_answer(path, channel):
    """Return whether a part of the document belongs to something that is disturbed."""
    if channel.record is not None:
        return path[0] in {"schema", "record"}
    if path[0] == "schema":
        path = path[1:]
    if path[0] in {"fields", "attributes"} and len(path) > 1:
        return channel.schema.names[path[1]] in channel.disturbed
    return path[0] == "label" or (path[0] == "classes" and channel.label is not None)


@pytest.mark.parametrize("key", CHANNELS["mixed"].to_json())
def test_a_document_that_lacks_a_key_or_has_one_too_many_is_refused(key):
    document = CHANNELS["mixed"].to_json()
    with pytest.raises(ChannelError, match="this is no description of a channel; pass the file"):
        Channel.from_json({k: v for k, v in document.items() if k != key})
    with pytest.raises(ChannelError, match="this is no description of a channel"):
        Channel.from_json({**document, "more": key})


def test_a_later_version_says_so():
    with pytest.raises(ChannelError, match="of a later version than this privet reads; update privet"):
        Channel.from_json({**CHANNELS["mixed"].to_json(), "version": 2})


@pytest.mark.parametrize("text", ["", "{", "null", "[]", "[" * 100_000, '{"format": "privet-channel"}'])
def test_a_file_that_is_no_channel_is_refused(tmp_path, text):
    (tmp_path / "channel.json").write_text(text)
    with pytest.raises(ChannelError, match="no JSON document|no description of a channel"):
        Channel.load(tmp_path / "channel.json")


def test_a_file_that_is_not_there_is_named(tmp_path):
    with pytest.raises(ChannelError, match=r"cannot read the channel '.*nowhere.json': .*; check the path"):
        Channel.load(tmp_path / "nowhere.json")


def test_epsilons_of_disturbed_fields_add_up():
    channel = RandomizedResponse(SCHEMA, keep=0.75, columns=["owner"], label=True).channel
    assert channel.local_epsilon == pytest.approx(2 * math.log(3), rel=1e-11)
    both = channel | LaplaceNoise(SCHEMA, epsilon=1, columns=["age"]).channel
    assert both.local_epsilon == pytest.approx(1 + 2 * math.log(3), rel=1e-5)


def test_one_field_without_an_epsilon_leaves_the_record_without_one():
    channel = RandomizedResponse(SCHEMA, keep=0.75, columns=["owner"]).channel
    assert (channel | UniformNoise(SCHEMA, privacy=1, columns=["age"]).channel).local_epsilon == math.inf
    assert CHANNELS["records"].local_epsilon == math.inf
    assert Channel.clear(SCHEMA).local_epsilon == math.inf


def test_what_is_disturbed_and_what_is_clear():
    assert Channel.clear(SCHEMA).is_clear
    assert CHANNELS["mixed"].disturbed == ("age", "owner")
    assert list(CHANNELS["mixed"].fields) == ["age", "owner", "smoker"]
    assert CHANNELS["records"].disturbed == SCHEMA.names
    label_only = Channel.of(SCHEMA, [], label=RandomAnswer("smoker", 2, 0.9))
    assert not label_only.is_clear
    assert all(isinstance(column, Clear) for column in label_only.columns)


def test_a_column_brings_its_cells_into_the_schema():
    channel = Intervals(SCHEMA, bins=7, columns=["age"]).channel
    assert channel.schema.attributes[0].bins == 7
    assert channel.schema.attributes[1:] == SCHEMA.attributes[1:]


def test_channels_are_joined_where_they_disturb_different_fields():
    age, owner = (
        UniformNoise(SCHEMA, privacy=1, columns=["age"]),
        RandomizedResponse(SCHEMA, keep=0.75, columns=["owner"]),
    )
    assert (age.channel | owner.channel).disturbed == ("age", "owner")
    with pytest.raises(ChannelError, match="both channels disturb 'age'; leave it out of one"):
        _ = age.channel | GaussianNoise(SCHEMA, privacy=1).channel
    with pytest.raises(ChannelError, match="both channels disturb 'smoker'; leave it out of one"):
        _ = CHANNELS["mixed"] | RandomizedResponse(SCHEMA, keep=0.75, columns=["job"], label=True).channel
    with pytest.raises(ChannelError, match="as a whole cannot be disturbed field by field"):
        _ = age.channel | CHANNELS["records"]
    other = Schema([Numeric("age", 0, 9), Categorical("b", ["x", "y"])], classes=["no", "yes"])
    with pytest.raises(ChannelError, match="different schemas"):
        _ = owner.channel | UniformNoise(other, privacy=1).channel


@pytest.mark.parametrize("turn", [1, -1])
def test_a_number_answered_in_cells_keeps_them_beside_any_other_channel(turn):
    schema = Schema([Numeric("age", 16, 100), Numeric("wage", 0, 10)], classes=["no", "yes"])
    noise = UniformNoise(schema, privacy=1, columns=["age"]).channel
    answers = RandomizedResponse(schema, keep=0.75, bins=6, columns=["wage"]).channel
    first, second = [noise, answers][::turn]
    joined = first | second
    assert joined.schema.attributes[1].bins == 6
    assert Channel.from_json(joined.to_json()) == joined
    assert joined.fingerprints == {**noise.fingerprints, **answers.fingerprints}


@pytest.mark.parametrize("answer", [RandomAnswer("age", 4, 0.75), RandomAnswer("owner", 2, 0.75, covers_missing=True)])
def test_answers_that_are_not_those_of_the_schema_are_refused(answer):
    with pytest.raises(ChannelError, match=f"'{answer.field}' is about another field or domain"):
        Channel.of(SCHEMA, [answer])
    with pytest.raises(ChannelError, match="'smoker' is about another field or domain"):
        Channel.of(SCHEMA, [], label=RandomAnswer("smoker", 3, 0.75))


def test_a_label_is_answered_by_a_class_and_never_by_a_missing_value():
    document = CHANNELS["mixed"].to_json()
    for label in (RandomAnswer("smoker", 3, 0.75, covers_missing=True), Clear(CHANNELS["mixed"].label_attribute)):
        with pytest.raises(ChannelError, match="'smoker' can only be answered by one of its classes at random"):
            Channel.of(SCHEMA, [], label=label)
        with pytest.raises(ChannelError, match="'smoker' can only be answered by one of its classes at random"):
            Channel.from_json({**document, "label": label.to_json()})


def test_a_column_that_the_schema_does_not_have_is_refused():
    with pytest.raises(ChannelError, match="no attribute 'ownr' to disturb; correct its name"):
        Channel.of(SCHEMA, [RandomAnswer("ownr", 2, 0.75)])


def test_fingerprints_depend_on_the_field_s_channel_and_domain_alone():
    fingerprint = CHANNELS["mixed"].fingerprints["age"]
    alone = UniformNoise(SCHEMA, privacy=0.5, columns=["age"]).channel
    assert alone.fingerprints == {"age": fingerprint}
    others = [
        UniformNoise(SCHEMA, privacy=0.51, columns=["age"]).channel,
        GaussianNoise(SCHEMA, scale=alone.columns[0].noise.scale, columns=["age"]).channel,
        UniformNoise(with_age(Numeric("age", 16, 101)), scale=alone.columns[0].noise.scale, columns=["age"]).channel,
    ]
    assert len({fingerprint, *(channel.fingerprints["age"] for channel in others)}) == 4


def with_age(age):
    return SCHEMA.with_attributes([age, *SCHEMA.attributes[1:]])


def test_a_flipped_record_pins_every_field_that_it_speaks_of():
    whole, labelled = CHANNELS["records"], CHANNELS["records with label"]
    mark = whole.fingerprints[""]
    assert whole.pins == {**dict.fromkeys(["", *SCHEMA.names], mark), "smoker": CLEAR}
    assert set(labelled.pins.values()) == {labelled.fingerprints[""]}
    assert set(labelled.pins) == {"", *SCHEMA.names, "smoker"}


def test_fields_that_are_given_as_they_are_are_marked_so():
    channel = UniformNoise(SCHEMA, privacy=0.5, columns=["age"]).channel
    others = [name for name in [*SCHEMA.names, "smoker"] if name != "age"]
    assert channel.pins == {**channel.fingerprints, **dict.fromkeys(others, CLEAR)}


def test_a_schema_is_checked_once_however_many_transformers_share_it():
    noise = UniformNoise(SCHEMA, privacy=1, columns=["age"]).channel
    answers = RandomizedResponse(SCHEMA, keep=0.75, columns=["owner"]).channel
    assert noise.schema is SCHEMA
    assert (noise | answers).schema is SCHEMA
