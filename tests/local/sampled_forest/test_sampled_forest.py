"""A forest from one question of many: its tables by hand, what it learns, its file, and what it refuses."""

import json

import numpy as np
import pandas as pd
import pytest

from privet import Categorical, Numeric, SampledForestClassifier, Schema, Secret, load
from privet.errors import DataError, ModelFileError, ParameterError
from privet.local import FieldSampling, RandomizedResponse, perturb
from privet.local.channels.sampling.question import Support
from privet.local.sampled_forest.answers import supports_from_json, supports_to_json
from privet.local.sampled_forest.calibration import calibrate
from privet.local.sampled_forest.class_tables import ClassTable, class_balance, class_tables, joint_table, pooled
from privet.local.sampled_forest.value_weights import value_weights

SCHEMA = Schema(
    [
        Categorical("job", ["a", "b", "c"], never_missing=True),
        Numeric("age", 0, 80, bins=4),
        Categorical("sex", ["f", "m"], never_missing=True),
    ],
    classes=["no", "yes"],
    target="smoker",
)


def people(n: int, seed: int, *, told: float = 0.9) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    smoker = rng.random(n) < 0.4
    job = np.where(rng.random(n) < told, np.where(smoker, "a", "b"), "c")
    age = np.clip(rng.normal(30 + 20 * smoker, 12, n), 0, 80)
    sex = rng.choice(["f", "m"], n)
    return pd.DataFrame({"job": job, "age": age, "sex": sex, "smoker": np.where(smoker, "yes", "no")})


def fitted(epsilon: float, n: int = 6_000, seed: int = 1, **options) -> SampledForestClassifier:
    channel = FieldSampling(SCHEMA, epsilon=epsilon, **options).channel
    return SampledForestClassifier(channel=channel).fit(perturb(people(n, seed), channel, Secret()))


@pytest.fixture(scope="module")
def model():
    return fitted(4.0)


def test_a_table_has_the_counts_and_the_noise_that_are_computed_by_hand():
    # Of 100 people, 60 sent the first cell; p - q = 0.6 - 0.2.
    table = joint_table(Support(100, np.array([60, 20, 20, 20]), (0.6, 0.2)), (2, 2))
    assert table.counts == pytest.approx(np.array([[100.0, 0.0], [0.0, 0.0]]))
    assert table.noise == pytest.approx(100 * 0.2 * 0.8 / 0.16)


def test_tables_of_one_attribute_are_pooled_by_their_noise():
    exact = ClassTable(100, np.array([[80.0, 20.0]]), 0.0)
    noisy = ClassTable(100, np.array([[20.0, 80.0]]), 300.0)  # four times the variance, so one part of five
    assert pooled([exact, noisy]).counts / 200 == pytest.approx(np.array([[0.68, 0.32]]))
    assert class_balance([exact])[0] == pytest.approx([0.8, 0.2])


def test_intervals_of_shares_hold_the_truth_about_95_times_of_100_and_fewer_without_the_noise():
    channel = FieldSampling(SCHEMA, epsilon=1.0).channel
    clear = people(200_000, 0)
    truth = [float((clear["sex"].eq(s) & clear["smoker"].eq(c)).mean()) for s in "fm" for c in ("no", "yes")]
    held, held_without = [], []
    for seed in range(40):
        answers = perturb(people(600, 10 + seed), channel, Secret())
        table = class_tables(channel.record, channel.record.supports(answers))[2]
        for of, found in ((table, held), (ClassTable(table.n, table.counts, 0.0), held_without)):
            shares, far = of.shares()
            found.extend(np.abs(shares.ravel() - truth) <= far.ravel())
    assert 0.88 < np.mean(held) <= 1
    assert np.mean(held_without) < 0.85  # the planted fault: noise that is not counted


def test_an_attribute_that_is_no_more_than_noise_says_next_to_nothing():
    rng, balance = np.random.default_rng(0), np.array([0.6, 0.4])
    noise = ClassTable(1_000, 250 * 2 * balance + rng.normal(0, 60, (2, 2)), 3_600.0)
    signal = ClassTable(1_000, np.array([[550.0, 0.0], [50.0, 400.0]]), 36.0)
    of_noise, of_signal = (value_weights(t, balance, ordered=False, has_missing=False) for t in (noise, signal))
    assert np.abs(of_noise.weights).max() < 0.3
    assert of_signal.weights[0, 0] > 0.3
    assert of_signal.weights[0, 1] < -2


def test_imagined_people_have_the_class_balance_and_nothing_told_keeps_it_alone():
    balance = np.array([0.7, 0.3])
    nothing = value_weights(ClassTable(1_000, 500 * np.array([balance, balance]), 10.0), balance,
                            ordered=False, has_missing=False)  # fmt: skip
    kept = calibrate([nothing], balance, 0.01)
    assert kept.counts_for.tolist() == [0.0]
    assert kept.offsets[0] - kept.offsets[1] == pytest.approx(np.log(7 / 3))


def test_it_learns_and_with_hardly_any_epsilon_it_is_as_right_as_the_balance(model):
    test = people(2_000, 99)
    right = (model.predict(test[list(SCHEMA.names)]) == test["smoker"]).mean()
    assert right > 0.9
    assert model.class_shares_ == pytest.approx([0.6, 0.4], abs=0.06)
    assert model.feature_importances_.argmax() == 0
    blind = fitted(0.05, n=300)
    assert len(set(blind.predict(test[list(SCHEMA.names)]))) == 1


def test_pairs_and_several_questions_are_used():
    test = people(2_000, 99)
    model = fitted(6.0, ask=2, pairs=[("job", "age")])
    assert (model.predict(test[list(SCHEMA.names)]) == test["smoker"]).mean() > 0.9


def test_the_file_gives_the_same_model_and_explanations_add_up_to_its_scores(model, tmp_path):
    model.save(tmp_path / "m.privet")
    again, rows = load(tmp_path / "m.privet"), people(50, 5)[list(SCHEMA.names)]
    chances = model.predict_proba(rows)
    assert np.array_equal(again.predict_proba(rows), chances)
    scores = model.explain(rows).sum(axis=1).to_numpy()
    assert 1 / (1 + np.exp(-scores)) == pytest.approx(chances[:, 1])
    assert model.rules(leaves_only=True)["rule"].str.contains("job = a").any()


def test_survey_weights_move_the_balance_and_equal_ones_change_nothing():
    channel = FieldSampling(SCHEMA, epsilon=6.0).channel
    clear = people(6_000, 1)
    answers, unfitted = perturb(clear, channel, Secret()), SampledForestClassifier(channel=channel)
    plain = SampledForestClassifier(channel=channel).fit(answers)
    same = SampledForestClassifier(channel=channel).fit(answers, sample_weight=np.full(6_000, 3.0))
    assert same.class_shares_ == pytest.approx(plain.class_shares_)
    heavier = unfitted.fit(answers, sample_weight=np.where(clear["smoker"] == "yes", 3.0, 1.0))
    assert heavier.class_shares_[1] == pytest.approx(2 / 3, abs=0.07)


def test_a_file_of_answers_is_fitted_like_the_table(tmp_path):
    channel = FieldSampling(SCHEMA, epsilon=2.0).channel
    answers = perturb(people(500, 1), channel, Secret())
    answers.to_csv(tmp_path / "a.csv", index=False)
    of_file = SampledForestClassifier(channel=channel).fit(tmp_path / "a.csv")
    assert np.array_equal(of_file.class_shares_, SampledForestClassifier(channel=channel).fit(answers).class_shares_)


def test_what_it_cannot_fit_is_refused_with_the_way_out():
    channel = FieldSampling(SCHEMA, epsilon=2.0).channel
    answers = perturb(people(50, 1), channel, Secret())
    other = RandomizedResponse(SCHEMA, epsilon=1.0, label=True).channel
    with pytest.raises(ParameterError, match="make the channel with FieldSampling"):
        SampledForestClassifier(channel=other).fit(answers)
    with pytest.raises(ParameterError, match="leave y out"):
        SampledForestClassifier(channel=channel).fit(answers, ["no"] * 50)
    with pytest.raises(DataError, match="one number for each answer"):
        SampledForestClassifier(channel=channel).fit(answers, sample_weight=[1.0])
    with pytest.raises(DataError, match="numbers above 0"):
        SampledForestClassifier(channel=channel).fit(answers, sample_weight=np.zeros(50))
    with pytest.raises(DataError, match="cannot be read as answers"):
        SampledForestClassifier(channel=channel).fit("there-is-no-such.csv")


@pytest.mark.parametrize("change", [
    lambda parts: parts.pop(), lambda parts: parts[0].update(n=-1), lambda parts: parts[0].update(n=10**15),
    lambda parts: parts[0]["counts"].append(1), lambda parts: parts[0].update(counts="3"),
    lambda parts: parts[0].update(n=float("nan")), lambda parts: parts[0]["counts"].reverse() or parts[0].update(n=1),
])  # fmt: skip
def test_sent_cells_that_do_not_fit_the_channel_are_refused(model, change):
    record = model.guarantee_.channel.record
    parts = json.loads(json.dumps(supports_to_json(model.supports_)))
    assert len(supports_from_json(parts, record)) == 4
    change(parts)
    with pytest.raises(ModelFileError, match="sent cells are not what privet writes"):
        supports_from_json(parts, record)
