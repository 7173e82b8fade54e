"""Shares of attributes and classes together: by hand, their variance, their intervals, survey weights."""

import numpy as np
import pandas as pd
import pytest

from privet import Categorical, Numeric, SampledForestClassifier, Schema, Secret
from privet.errors import DataError, ParameterError
from privet.local import FieldSampling, perturb
from privet.local.channels.sampling.question import Support
from privet.local.sampled_forest.class_tables import ClassTable, class_balance, joint_table, label_tables
from privet.local.sampled_forest.joint_shares import JointShares, joint_shares

SCHEMA = Schema(
    [Categorical("job", ["a", "b"], never_missing=True), Numeric("age", 0, 80, bins=2)],
    classes=["no", "yes"], target="smoker",
)  # fmt: skip


def people(n, seed):
    rng = np.random.default_rng(seed)
    smoker = rng.random(n) < 0.4
    job = np.where(rng.random(n) < np.where(smoker, 0.9, 0.5), "a", "b")
    age = np.where(rng.random(n) < 0.1, np.nan, rng.uniform(0, 80, n))
    return pd.DataFrame({"job": job, "age": age, "smoker": np.where(smoker, "yes", "no")})


def asked(epsilon=6.0, **options):
    return FieldSampling(SCHEMA, epsilon=epsilon, **options).channel


def test_shares_of_a_question_are_computed_by_hand():
    record = asked(label_alone=True, pairs=[]).record
    chances = (0.6, 0.2)
    nobody = [Support(0, np.zeros(cells), chances) for cells in (6, 2)]
    supports = [Support(100, np.array([60, 20, 20, 20]), chances), *nobody]
    found = JointShares.of(record, supports, ["job"])
    assert found.shares == pytest.approx(np.array([[1, 0], [0, 0]]))
    # 0.16 / 0.4^2 a person from the channel; where all are in the cell, (1 - 0.4) / 0.4 - 1 more.
    assert found.margins == pytest.approx(1.959964 * np.sqrt(np.array([[1.5, 1], [1, 1]]) / 100))
    frame = found.to_frame()
    assert list(frame.columns) == ["job", "smoker", "share", "low", "high"]
    assert frame.iloc[0].tolist()[:3] == ["a", "no", pytest.approx(1)]
    assert (frame["low"].min(), frame["high"].max()) == (0, 1)


def test_a_label_alone_tells_the_balance():
    record = asked(label_alone=True, pairs=[]).record
    nobody = [Support(0, np.zeros(cells), (0.6, 0.2)) for cells in (4, 6)]
    supports = [*nobody, Support(100, np.array([60, 40]), (0.75, 0.25))]
    assert class_balance(label_tables(record, supports))[0] == pytest.approx([0.7, 0.3])
    assert JointShares.of(record, supports, []).to_frame()["share"].tolist() == pytest.approx([0.7, 0.3])


def test_the_variance_is_that_of_answers_and_of_who_was_asked():
    rng, n, share, (kept, other) = np.random.default_rng(0), 400, 0.5, (0.34, 0.017)
    sent = rng.binomial(n, other + share * (kept - other), 40_000)
    true = float(((sent - n * other) / (kept - other)).var())
    table = joint_table(Support(n, np.array([other * n + share * n * (kept - other)] * 4), (kept, other)), (2, 2))
    assert table.variance[0, 0] == pytest.approx(true, rel=0.05)
    without = ClassTable(table.n, table.counts, table.noise)  # the planted fault: as if the true cell were always sent
    assert without.variance[0, 0] < 0.5 * true


def test_intervals_of_pairs_hold_the_truth_about_95_times_of_100_and_narrower_ones_do_not():
    channel, clear = asked(), people(200_000, 0)
    cell = [clear["job"], pd.cut(clear["age"], [-1, 40, 81]).cat.codes, clear["smoker"]]
    truth = (clear.groupby(cell).size() / len(clear)).to_numpy().reshape(2, 3, 2)[:, [1, 2, 0]]  # missing ones last
    held, held_by_half = [], []
    for seed in range(60):
        found = joint_shares(perturb(people(900, 10 + seed), channel, Secret()), channel.record, ["age", "job"])
        apart = np.abs(found.shares - truth)
        held.append(apart <= found.margins)
        held_by_half.append(apart <= found.margins / 2)
    assert 0.9 < np.mean(held) < 0.99
    assert np.mean(held_by_half) < 0.8


def test_the_model_tells_the_same_shares_from_its_file_and_names_ranges(tmp_path):
    from privet import load

    channel = asked()
    model = SampledForestClassifier(channel=channel).fit(perturb(people(3_000, 1), channel, Secret()))
    model.save(tmp_path / "m.privet")
    frame = model.shares("job", "age")
    pd.testing.assert_frame_equal(load(tmp_path / "m.privet").shares("age", "job"), frame)
    assert frame["age"].drop_duplicates().tolist() == ["0 to 40", "40 to 80", None]
    assert frame["share"].sum() == pytest.approx(1)
    assert model.shares()["share"].tolist() == pytest.approx(model.class_shares_)
    assert model.shares("job").groupby("job")["share"].sum()["a"] == pytest.approx(0.66, abs=0.06)


def test_survey_weights_undo_a_skewed_choice_and_widen_intervals():
    channel, clear = asked(), people(12_000, 2)
    chosen = clear[(clear["smoker"] == "yes") | (np.arange(len(clear)) % 3 == 0)]
    answers = perturb(chosen, channel, Secret())
    weights = np.where(chosen["smoker"] == "yes", 1.0, 3.0)
    plain, weighted = (joint_shares(answers, channel.record, [], own) for own in (None, weights))
    assert weighted.shares == pytest.approx([0.6, 0.4], abs=0.05)
    assert plain.shares[1] > 0.6  # the planted fault: weights that are left out
    same = joint_shares(answers, channel.record, ["job"], np.full(len(answers), 2.5))
    unweighted = joint_shares(answers, channel.record, ["job"])
    assert same.shares == pytest.approx(unweighted.shares)
    assert same.margins == pytest.approx(unweighted.margins)
    assert weighted.margins[0] > plain.margins[0]


def test_what_was_not_asked_cannot_be_told():
    channel = asked(pairs=[])
    answers = perturb(people(300, 1), channel, Secret())
    for names, message in (
        (["job", "age"], "nobody was asked about 'job' and 'age' together"), (["shoe"], "no field 'shoe'"),
        (["job", "job"], "two different ones"),
    ):  # fmt: skip
        with pytest.raises(ParameterError, match=message):
            joint_shares(answers, channel.record, names)
    with pytest.raises(ParameterError, match="nobody answered"):
        joint_shares(answers.head(0), channel.record, [])
    with pytest.raises(DataError, match="one number for each answer"):
        joint_shares(answers, channel.record, [], [1.0])
