"""What models of disturbed records promise: an epsilon or none, the papers' measures beside it, never mixed."""

import math
import re
from dataclasses import replace

import pytest

from privet import Numeric, Schema
from privet.errors import ModelFileError
from privet.local import Channel, LaplaceNoise, RandomizedResponse, RecordComplement, UniformNoise
from privet.local.guarantee import LocalGuarantee
from tests.local.people import SCHEMA, channels

CHANNELS = channels()
SOUND = [name for name in CHANNELS if name.startswith(("laplace", "randomized", "sampled"))]


@pytest.mark.parametrize("name", CHANNELS)
def test_a_guarantee_comes_back_from_json(name):
    guarantee = LocalGuarantee(CHANNELS[name])
    again = LocalGuarantee.from_json(guarantee.to_json())
    assert again == guarantee
    assert again.sentence == str(guarantee)


@pytest.mark.parametrize("name", CHANNELS)
def test_only_channels_with_an_epsilon_are_sound(name):
    guarantee = LocalGuarantee(CHANNELS[name])
    expected = "sound" if name in SOUND else "not private" if name == "clear" else "paper"
    assert guarantee.mode == expected
    assert math.isfinite(guarantee.epsilon) == (name in SOUND)
    assert ("epsilon = " in guarantee.sentence) == (name in SOUND)


def test_the_sentence_of_a_sound_channel_says_who_is_trusted_what_is_clear_and_what_is_assumed():
    channel = RandomizedResponse(SCHEMA, keep=0.75, columns=["owner"]).channel
    sentence = LocalGuarantee(channel).sentence
    assert sentence.startswith("Given as they are, and protected by nothing: smoker, age, income and 2 more. Nobody")
    assert "Nobody had to be trusted with the rest: any answers of a person" in sentence
    assert "up to a factor e^1.098612289 = 3.01 (pure local differential privacy, epsilon = 1.098612289; " in sentence
    two = RandomizedResponse(SCHEMA, keep=0.75, columns=["job", "owner"]).channel
    assert "the sum over 2 fields" in LocalGuarantee(two).sentence
    assert "each person answered once through this channel" in sentence
    assert "which answers are missing is no secret" in sentence


def test_covered_missing_values_need_no_assumption():
    for name in ("randomized, missing covered", "randomized, some never missing"):
        covered = LocalGuarantee(CHANNELS[name])
        assert not any("missing" in assumption for assumption in covered.assumptions)


def test_values_that_are_never_missing_need_no_assumption():
    complete = SCHEMA.with_attributes(replace(a, never_missing=True) for a in SCHEMA.attributes)
    told = [LocalGuarantee(RandomizedResponse(s, keep=0.75).channel).assumptions for s in (SCHEMA, complete)]
    assert ["which answers are missing is no secret" in own for own in told] == [True, False]


@pytest.mark.parametrize(
    ("name", "sentence"),
    [("clear", "This model is not private: its rows were given as they are."),
     ("uniform", "Given as they are, .*: smoker, job, .* None proven: age, income were .* but no epsilon bounds what"),
     ("records", "Given as they are, .*: smoker. None proven: a record was given as it is or with every bit")],
)  # fmt: skip
def test_other_channels_say_that_nothing_is_proven(name, sentence):
    guarantee = LocalGuarantee(CHANNELS[name])
    assert re.match(sentence, guarantee.sentence)


def test_what_is_kept_with_certainty_counts_as_given_clear():
    kept = RandomizedResponse(SCHEMA, keep=1.0, columns=["owner"]).channel
    hidden = RandomizedResponse(SCHEMA, epsilon=1, columns=["job"], label=True).channel
    guarantee = LocalGuarantee(kept | hidden)
    assert guarantee.as_they_are == ("age", "income", "rooms", "owner")
    assert "owner" in guarantee.reason
    assert "epsilon =" not in guarantee.sentence


def test_answers_that_do_not_look_so_are_promised_nothing():
    channel = CHANNELS["randomized"]
    doubted = LocalGuarantee(channel, doubts=("job", "rooms"))
    assert (doubted.mode, doubted.epsilon) == ("paper", math.inf)
    assert doubted.sentence.startswith(
        "None proven: the answers in job, rooms do not look as if they had come through the channel"
    )
    assert doubted.trust.startswith("not known")
    data = doubted.to_json()
    assert LocalGuarantee.from_json(data) == doubted
    assert "doubts" not in LocalGuarantee(channel).to_json()  # as before there were any
    for wrong in ("job", [1], {}):
        with pytest.raises(ModelFileError, match="damaged"):
            LocalGuarantee.from_json({**data, "doubts": wrong})


def test_each_field_has_its_own_scales():
    fields = {part["field"]: part for part in LocalGuarantee(CHANNELS["mixed"]).fields}
    assert fields["income"] == {"channel": "clear", "field": "income"}
    assert fields["age"]["local_epsilon"] is None
    assert fields["age"]["privacy_at_95%"] == pytest.approx(0.5)
    assert fields["age"]["width_at_99.9%"] == pytest.approx(0.5 * 84 * 0.999 / 0.95)
    assert fields["owner"]["local_epsilon"] == pytest.approx(math.log(3))
    assert "privacy_at_95%" not in fields["owner"]


def test_measures_of_laplace_noise_stand_side_by_side():
    measures = LaplaceNoise(SCHEMA, epsilon=2, columns=["age"]).channel.columns[0].describe()
    assert measures["local_epsilon"] == pytest.approx(2, rel=1e-5)
    assert measures["width_at_50%"] == pytest.approx(84 / 2 * 2 * math.log(2), rel=1e-5)


def test_what_was_read_from_clear_rows_is_told_first():
    schema = Schema([Numeric("age", 0, 100, inferred=True)], classes=["no", "yes"])
    guarantee = LocalGuarantee(LaplaceNoise(schema, epsilon=1).channel)
    assert guarantee.leaks == ("bounds of 'age'",)
    first = "Given as they are, and protected by nothing: class. Apart from bounds of 'age', read from clear rows and "
    assert guarantee.sentence.startswith(f"{first}covered by no promise")


def test_given_clear_counts_the_label():
    assert LocalGuarantee(CHANNELS["records"]).given_clear == ("smoker",)
    assert LocalGuarantee(CHANNELS["records with label"]).given_clear == ()
    assert LocalGuarantee(CHANNELS["randomized"]).given_clear == ()
    assert LocalGuarantee(Channel.clear(SCHEMA)).given_clear == (*SCHEMA.names, "smoker")


IN_WORDS = {"sentence", "reason", "neighbours", "trust", "public", "assumptions"}


def test_a_guarantee_in_other_words_is_read_and_put_in_ours():
    guarantee = LocalGuarantee(CHANNELS["mixed"])
    data = {**guarantee.to_json(), **dict.fromkeys(IN_WORDS, "as an earlier version had it")}
    assert LocalGuarantee.from_json(data) == guarantee


def test_what_is_certain_to_be_true_is_not_private():
    certain = LocalGuarantee(RecordComplement(SCHEMA, theta=1.0).channel)
    assert (certain.mode, certain.reason) == ("not private", "its rows were given as they are")


@pytest.mark.parametrize("name", ["mixed", "randomized", "records"])
def test_a_guarantee_that_does_not_follow_from_its_channel_is_refused(name):
    data = LocalGuarantee(CHANNELS[name]).to_json()
    for key in data:
        with pytest.raises(ModelFileError, match="damaged|changed"):
            LocalGuarantee.from_json({k: v for k, v in data.items() if k != key})
    for key in set(data) - IN_WORDS:
        for value in (None, 0.5, [], "sound", {"a": 1}):
            if value != data[key]:
                with pytest.raises(ModelFileError, match="damaged|changed"):
                    LocalGuarantee.from_json({**data, key: value})
    for other in (None, [], "x", {**data, "more": 1}):
        with pytest.raises(ModelFileError, match="damaged|changed"):
            LocalGuarantee.from_json(other)


def test_a_smaller_epsilon_cannot_be_written_into_a_file():
    data = LocalGuarantee(CHANNELS["randomized"]).to_json()
    with pytest.raises(ModelFileError, match="does not follow from its channel"):
        LocalGuarantee.from_json({**data, "local_epsilon": data["local_epsilon"] / 2})


def test_neighbours_of_a_flipped_record_are_its_mirror_image_alone():
    assert LocalGuarantee(RecordComplement(SCHEMA).channel).neighbours == "a record and the one with every bit flipped"
    assert "differ in the disturbed fields only" in LocalGuarantee(UniformNoise(SCHEMA, privacy=1).channel).neighbours
