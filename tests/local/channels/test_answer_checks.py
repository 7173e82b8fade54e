"""What a channel excludes is refused, what is all but impossible is doubted, and honest answers are neither."""

import math

import numpy as np
import pandas as pd
import pytest

from privet import Categorical, Numeric, Schema
from privet.errors import DataError, NoGuaranteeWarning
from privet.local import (
    Channel,
    GaussianNoise,
    Intervals,
    LaplaceNoise,
    RandomizedResponse,
    RandomResponseForestClassifier,
    ReconstructionTreeClassifier,
    RecordComplement,
    Secret,
    UniformNoise,
    perturb,
    reconstruct,
)
from privet.local.channels.added_noise import AddedNoise
from privet.local.channels.answer_checks import (
    RECORDS,
    _log_repeats,
    _log_twins,
    doubts_about,
    log_chance,
    refuse_impossible,
)
from privet.local.channels.distributions import DISTRIBUTIONS
from tests.loops import loop_over

N_ROWS = 3_000
# Whole numbers lie on the grid of its noise, so that clear rows are not told by that.
SCHEMA = Schema(
    [Numeric("age", 0, 64), Categorical("job", ["clerk", "cook", "judge"]), Categorical("robe", ["no", "yes"])],
    classes=["no", "yes"],
    target="smoker",
)
CHANNELS = {
    "laplace": LaplaceNoise(SCHEMA, epsilon=4).channel,
    "laplace, wide": LaplaceNoise(SCHEMA, epsilon=0.1).channel,
    "gaussian": GaussianNoise(SCHEMA, privacy=1.0).channel,
    "uniform": UniformNoise(SCHEMA, privacy=0.5).channel,
    "random": RandomizedResponse(SCHEMA, epsilon=4, columns=["job", "robe"], label=True).channel,
    "random, all": RandomizedResponse(SCHEMA, epsilon=9, label=True, covers_missing=True).channel,
    "intervals": Intervals(SCHEMA, bins=5).channel,
    "mixed": LaplaceNoise(SCHEMA, epsilon=2).channel
    | RandomizedResponse(SCHEMA, epsilon=2, columns=["job", "robe"], label=True).channel,
    "records": RecordComplement(SCHEMA, theta=0.8).channel,
    "records with label": RecordComplement(SCHEMA, theta=0.6, label=True).channel,
}


def clear_rows(seed=0):
    """Judges have robes, others none, and most people are of one age: all that a clear table may show."""
    rng = np.random.default_rng(seed)
    job = rng.choice(["clerk", "cook", "judge"], N_ROWS, p=[0.7, 0.25, 0.05])
    age = np.where(rng.random(N_ROWS) < 0.6, 30.0, rng.integers(0, 65, N_ROWS))
    robe = np.where(job == "judge", "yes", "no")
    return pd.DataFrame({"age": age, "job": job, "robe": robe, "smoker": np.where(age < 20, "yes", "no")})


def looked_at(channel, answers):
    """Return the doubts about a table with its label."""
    fields = answers.drop(columns="smoker")
    refuse_impossible(channel, fields)
    return doubts_about(channel, fields, (answers["smoker"] == "yes").to_numpy().astype(np.int64))


@pytest.mark.parametrize("name", CHANNELS)
@loop_over("seed", range(3))
def test_honest_answers_are_neither_refused_nor_doubted(name, seed):
    answers = perturb(clear_rows(seed), CHANNELS[name], Secret.of_key(bytes([seed] * 32)))
    assert looked_at(CHANNELS[name], answers) == ()


@pytest.mark.parametrize("name", ["laplace", "laplace, wide", "gaussian", "mixed"])
def test_clear_numbers_that_lie_on_the_grid_are_doubted(name):
    assert "age" in looked_at(CHANNELS[name], clear_rows())


def test_clear_categories_are_doubted_by_how_they_go_together():
    channel = CHANNELS["random"]
    assert {"job", "robe"} <= set(looked_at(channel, clear_rows()))
    alone = Channel.of(SCHEMA, [channel.columns[2]])  # a share of 5 % is too small for an answer, in so many rows
    assert looked_at(alone, clear_rows()) == ("robe",)


def test_clear_records_in_bits_are_doubted():
    kept = RecordComplement(SCHEMA, theta=1.0).channel
    bits = perturb_quietly(clear_rows(), kept)
    assert looked_at(CHANNELS["records"], bits) == (RECORDS,)


def perturb_quietly(table, channel):
    with pytest.warns(UserWarning, match="always keeps"):
        return perturb(table, channel, Secret())


def test_a_table_given_twice_and_thousands_of_equal_answers_are_doubted():
    channel = LaplaceNoise(SCHEMA, epsilon=4).channel | RandomizedResponse(SCHEMA, epsilon=2, label=True,
                                                                           columns=["job", "robe"]).channel  # fmt: skip
    fields = [Numeric(f"x{i}", 0, 1) for i in range(3)]
    schema = Schema(fields, classes=["no", "yes"], target="smoker")
    noise = LaplaceNoise(schema, epsilon=6).channel
    rng = np.random.default_rng(0)
    people = pd.DataFrame({f.name: rng.random(N_ROWS) for f in fields}).assign(smoker=rng.choice(["no", "yes"], N_ROWS))
    answers = perturb(people, noise, Secret.of_key(bytes(32)))
    assert looked_at(noise, answers) == ()
    assert RECORDS in looked_at(noise, pd.concat([answers, answers], ignore_index=True))
    same = perturb(clear_rows(), channel, Secret.of_key(bytes(32)))
    same.iloc[:2_000] = same.iloc[0].to_numpy()
    assert "age" in looked_at(channel, same)


IMPOSSIBLE = {
    "off the grid": ("laplace", "age", 30.001, "hold a number in 'age' that is not on the grid of its noise"),
    "out of reach": ("laplace", "age", 64_000.0, "hold a number in 'age' that is beyond the reach of its noise"),
    "infinite": ("gaussian", "age", np.inf, "hold a number in 'age'"),
    "no middle": ("intervals", "age", 30.0, "hold a number in 'age' that is the middle of no interval"),
    "no category": ("random", "job", "king", "hold a value in 'job' that is none of its categories"),
    "not covered": ("random, all", "job", "king", "hold a value in 'job' that is none of its categories"),
    "no bit": ("records", "robe:0", 2, "hold bits that no record is coded in"),
    "missing bit": ("records", "robe:0", None, "hold bits that no record is coded in"),
}


@pytest.mark.parametrize("case", IMPOSSIBLE)
@pytest.mark.parametrize(("share", "how_many"), [(0.001, "some"), (0.1, "about 1 in 10"), (1.0, "all or nearly all")])
def test_what_a_channel_excludes_is_refused_in_round_words(case, share, how_many):
    name, column, value, what = IMPOSSIBLE[case]
    answers = perturb(clear_rows(), CHANNELS[name], Secret.of_key(bytes(32))).drop(columns="smoker").astype(object)
    answers.loc[: int(share * N_ROWS) - 1, column] = value
    with pytest.raises(DataError, match=f"^{how_many} of the rows {what}") as refused:
        refuse_impossible(CHANNELS[name], answers)
    assert not any(word in str(refused.value) for word in ("king", "30", "3000", "300", "64"))


def test_a_record_that_neither_is_nor_mirrors_one_is_refused():
    # Three jobs take two bits and leave one code free, whose mirror image is taken; robes are 0 and 1.
    channel = CHANNELS["records"]
    coding = channel.record.coding
    (free,) = {0, 1, 2, 3} - set(coding.codes[1].codes)
    answers = perturb(clear_rows(), channel, Secret.of_key(bytes(32))).drop(columns="smoker")
    refuse_impossible(channel, answers)
    ages = coding.codes[0]
    both = {code for code in range(2**ages.n_bits) if code in ages.codes and ages.mirror(code) in ages.codes}
    assert both == set(range(2**ages.n_bits))  # so that ages exclude nothing here
    answers.loc[0, ["job:0", "job:1"]] = [free >> 1, free & 1]  # can be a flipped one
    refuse_impossible(channel, answers)


@pytest.mark.parametrize("method", [ReconstructionTreeClassifier, RandomResponseForestClassifier])
def test_every_local_fit_refuses_and_doubts(method):
    channel, answers = CHANNELS["random"], clear_rows()
    with pytest.warns(NoGuaranteeWarning, match="do not look as if they had come through the channel"):
        model = method(channel=channel).fit(answers.drop(columns="smoker"), answers["smoker"])
    assert "epsilon =" not in model.guarantee_.sentence
    assert math.isinf(model.guarantee_.epsilon)
    answers.loc[0, "job"] = "king"
    with pytest.raises(DataError, match="none of its categories"):
        method(channel=channel).fit(answers.drop(columns="smoker"), answers["smoker"])


def test_a_doubt_stays_in_the_file(tmp_path):
    from privet import load

    answers = clear_rows()
    with pytest.warns(NoGuaranteeWarning):
        model = ReconstructionTreeClassifier(channel=CHANNELS["random"]).fit(
            answers.drop(columns="smoker"), answers["smoker"]
        )
    model.save(tmp_path / "model.privet")
    assert load(tmp_path / "model.privet").guarantee_ == model.guarantee_


def test_a_reconstruction_refuses_and_doubts():
    column = CHANNELS["laplace"].columns[0]
    honest = perturb(clear_rows(), CHANNELS["laplace"], Secret.of_key(bytes(32)))["age"]
    assert reconstruct(honest, column).looks_answered
    assert not reconstruct(clear_rows()["age"], column).looks_answered
    with pytest.raises(DataError, match="some of the rows hold a number in 'age' that is not on the grid"):
        reconstruct([*honest, 0.3], column)


@pytest.mark.parametrize("method", [ReconstructionTreeClassifier, RandomResponseForestClassifier])
def test_who_answers_twice_is_refused_where_an_id_is_kept(method, tmp_path):
    channel = CHANNELS["random"]
    answers = perturb(clear_rows(), channel, Secret.of_key(bytes(32))).assign(id=np.arange(N_ROWS))
    X, y = answers.drop(columns="smoker"), answers["smoker"]
    assert method(channel=channel, person="id").fit(X, y).guarantee_.mode == "sound"
    answers.loc[1, "id"] = 0
    answers.to_csv(tmp_path / "answers.csv", index=False)
    for given in ((answers.drop(columns="smoker"), y), (tmp_path / "answers.csv",)):
        with pytest.raises(DataError, match="'id' holds the same person twice"):
            method(channel=channel, person="id").fit(*given)


def test_bounds_by_hand():
    # No head in 100 tosses of a fair coin has the chance 2^-100; a head more than all cannot be.
    fair = np.array([0.5])
    assert log_chance(np.array([0]), 100, fair, fair) == pytest.approx(-100 * math.log(2))
    assert log_chance(np.array([50]), 100, fair, fair) == 0
    assert log_chance(np.array([100]), 100, fair, np.array([1.0])) == 0
    # Of three records, three pairs may be equal, each with a chance of a tenth.
    assert _log_repeats(3, 2, math.log(0.1)) == pytest.approx(math.log(0.3))
    assert _log_repeats(4, 4, math.log(0.1)) == pytest.approx(math.log(0.001))
    # Four records make two disjoint pairs in three ways.
    assert _log_twins(4, 2, math.log(0.1)) == pytest.approx(math.log(0.03))


@pytest.mark.parametrize("noise", DISTRIBUTIONS)
@pytest.mark.parametrize("width", [1, 8, 512])
def test_windows_have_the_chances_that_every_value_gives_them(noise, width):
    column = AddedNoise(Numeric("x", 0, 64), DISTRIBUTIONS[noise](20.0))
    group, least, most = column.windows(width)
    weights = column.distribution.weights.astype(float) / 2.0**64
    values = [0, 1, 700, 2_048, 4_000, column.n_steps]
    for value in values:
        places = np.clip(
            value + column.distribution.first + np.arange(len(weights)), -column.reach, column.n_steps + column.reach
        )
        chances = np.bincount(group[places + column.reach], weights, minlength=len(least))
        assert (least - 1e-12 <= chances).all()
        assert (chances <= most + 1e-12).all()
    assert least.sum() <= 1 <= most.sum()


def test_the_bound_holds_for_those_who_are_least_likely_and_sees_a_channel_that_is_off():
    rng = np.random.default_rng(1)
    least = np.array([0.2])
    drawn = rng.binomial(1_000, 0.2, size=20_000)  # everybody has the value from which the answer is least likely
    rarely = np.mean([log_chance(np.array([x]), 1_000, least, np.ones(1)) < math.log(0.01) for x in drawn])
    assert rarely <= 0.01
    off = rng.binomial(1_000, 0.1)
    assert log_chance(np.array([off]), 1_000, least, np.ones(1)) < math.log(1e-6)
