"""Trees from disturbed values: what comes back, with which kinds of columns, and what is refused."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone

from privet import load
from privet.datasets import agrawal
from privet.errors import DataError, ParameterError, PrivacyLeakWarning
from privet.local import Channel, RecordComplement
from privet.local.channels.added_noise import AddedNoise
from privet.local.channels.distributions import Gaussian, Laplace, Uniform
from privet.local.channels.intervals import IntervalMembership
from privet.local.channels.randomized_response import RandomAnswer
from privet.local.reconstruction.reconstruction_tree import ReconstructionTreeClassifier
from privet.schema import Categorical, Numeric, Schema
from privet.tree.forest import LEAF
from tests.local.reconstruction.plain_tree import Node, PlainTree

STRATEGIES = ["by_class", "local", "global", "none"]
AGE, PAY = Numeric("age", 0, 100), Numeric("pay", 0, 10, bins=10)
COLOUR = Categorical("colour", ["red", "green", "blue"])
SCHEMA = Schema([AGE, PAY, COLOUR], classes=["no", "yes"])
WIDE = Uniform(50.0)


def words(n, seed):
    return np.random.default_rng(seed).integers(0, 2**64, n, dtype=np.uint64)


def people(n=4_000, seed=0):
    """Middle-aged reds and all greens say yes; pay is beside the point."""
    rng = np.random.default_rng(seed)
    age, colour = rng.uniform(0, 100, n), rng.choice(3, n, p=[0.6, 0.1, 0.3])
    label = ((age > 30) & (age < 70) & (colour == 0)) | (colour == 1)
    X = pd.DataFrame({"age": age, "pay": rng.uniform(0, 10, n), "colour": np.array(COLOUR.categories, object)[colour]})
    return X, np.where(label, "yes", "no")


def noisy(X, noise=WIDE, seed=1):
    """Return the people with noise on their age, and the channel."""
    column = AddedNoise(AGE, noise)
    disturbed = X.assign(age=column.answer_for(column.codes(X["age"].to_numpy()), words(len(X), seed)))
    return disturbed, Channel.of(SCHEMA, [column])


def disguised(X, keep=0.7, seed=2):
    """Return the people with their colour under randomized response, and the channel."""
    column = RandomAnswer("colour", 3, keep)
    codes = X["colour"].map({name: i for i, name in enumerate(COLOUR.categories)}).to_numpy()
    answers = column.answer_for(codes, words(len(X), seed))
    return X.assign(colour=np.array(COLOUR.categories, object)[answers]), Channel.of(SCHEMA, [column])


def asked_about(model):
    return {model.schema_.names[a] for a in model.forest_.attribute if a != LEAF}


def test_clear_rows_give_the_tree_that_made_them():
    X, y = people()
    model = ReconstructionTreeClassifier(SCHEMA).fit(X, y)
    assert model.score(*people(seed=9)) > 0.99
    assert asked_about(model) == {"age", "colour"}
    assert model.feature_importances_[1] == 0
    assert model.guarantee_.sentence == "This model is not private: its rows were given as they are."
    assert_array_equal(model.classes_, ["no", "yes"])


@pytest.mark.parametrize("noise", [Uniform(50.0), Gaussian(25.0), Laplace(40.0)], ids=lambda noise: noise.name)
def test_reconstruction_finds_what_noise_has_hidden(noise):
    X, y = people(20_000)
    disturbed, channel = noisy(X, noise)
    scores = {
        strategy: ReconstructionTreeClassifier(channel=channel, strategy=strategy, random_state=0)
        .fit(disturbed, y)
        .score(*people(seed=9))
        for strategy in STRATEGIES
    }
    assert min(scores["by_class"], scores["local"]) > max(scores["none"] + 0.03, 0.85)


def test_the_papers_function_1_comes_back_from_nine_disturbed_attributes():
    whole = {"elevel": (-0.5, 4.5, 5), "car": (0.5, 20.5, 20), "zipcode": (0.5, 9.5, 9)}
    data, test = agrawal(20_000, balanced=True, random_state=3), agrawal(2_000, balanced=True, random_state=4)
    numbers = [Numeric(a.name, *whole[a.name]) if a.name in whole else a for a in data.schema.attributes]
    schema = data.schema.with_attributes(numbers)
    columns = [AddedNoise(a, Uniform.of_width(a.high - a.low, 0.95)) for a in schema.attributes]
    answers = {
        c.attribute.name: c.answer_for(c.codes(data.X[c.attribute.name].to_numpy(float)), words(20_000, j))
        for j, c in enumerate(columns)
    }
    channel = Channel.of(schema, columns)
    model = ReconstructionTreeClassifier(channel=channel, random_state=0).fit(pd.DataFrame(answers), data.y)
    assert model.score(test.X.astype(float), test.y) > 0.93
    assert model.feature_importances_.argmax() == 2  # age


@pytest.mark.parametrize("strategy", ["by_class", "local"])
def test_a_disguised_category_is_reconstructed(strategy):
    X, y = people(20_000)
    answers, channel = disguised(X)
    model = ReconstructionTreeClassifier(channel=channel, strategy=strategy, random_state=0).fit(answers, y)
    asked = model.rules(leaves_only=False, merge=True)
    assert "colour" in asked_about(model)
    assert model.score(*people(seed=9)) > 0.9
    greens = asked[asked["rule"].str.startswith("if colour = green then")]
    # Of those who answered green, few are green; of those that reconstruction has made green, most say yes.
    shares = pd.Series(y)[answers["colour"] == "green"].eq("yes").mean()
    assert (greens["confidence"] > shares + 0.1).all()


def test_clear_disturbed_and_interval_columns_stand_side_by_side():
    X, y = people(10_000)
    disturbed, first = noisy(X)
    answers, second = disguised(disturbed)
    answers["pay"] = np.floor(answers["pay"]) + 0.5
    channel = first | second | Channel.of(SCHEMA, [IntervalMembership(PAY)])
    for strategy in STRATEGIES:
        model = ReconstructionTreeClassifier(channel=channel, strategy=strategy, random_state=0).fit(answers, y)
        assert model.score(*people(seed=9)) > (0.6 if strategy in ("none", "global") else 0.8)
    assert [a.n_values for a in model.schema_.attributes] == [1_000, 10, 3]


def test_numbers_are_cut_as_finely_as_they_are_known():
    X, y = people(3_000)
    disturbed, channel = noisy(X)
    cells = {
        strategy: ReconstructionTreeClassifier(channel=channel, strategy=strategy)
        .fit(disturbed, y)
        .schema_.attributes[0]
        for strategy in STRATEGIES
    }
    assert {name: a.bins for name, a in cells.items()} == {"by_class": 30, "local": 30, "global": 30, "none": 1_000}
    assert ReconstructionTreeClassifier(SCHEMA).fit(X, y).schema_.attributes[0].bins == 1_000


def test_missing_answers_go_their_own_way():
    X, y = people(10_000)
    disturbed, channel = noisy(X)
    hidden = np.random.default_rng(5).random(len(X)) < 0.3
    disturbed.loc[hidden, "age"] = np.nan
    y = np.where(hidden & (X["colour"] == "blue"), "yes", y)
    model = ReconstructionTreeClassifier(channel=channel, random_state=0).fit(disturbed, y)
    blue = pd.DataFrame({"age": [50.0, np.nan], "pay": [5.0, 5.0], "colour": ["blue", "blue"]})
    assert_array_equal(model.predict(blue), ["no", "yes"])
    nobody = pd.DataFrame({"age": [np.nan], "pay": [np.nan], "colour": [None]})
    assert_allclose(model.predict_proba(nobody).sum(), 1)


def test_a_column_that_nobody_answered_is_of_no_use_and_no_harm():
    X, y = people(2_000)
    disturbed, channel = noisy(X)
    model = ReconstructionTreeClassifier(channel=channel).fit(disturbed.assign(age=np.nan), y)
    assert "age" not in asked_about(model)
    assert np.isfinite(model.predict_proba(X)).all()


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_three_classes_and_labels_that_are_numbers(strategy):
    X, _ = people(10_000)
    y = np.digitize(X["age"], [33, 66]) * 4 + 1
    disturbed, channel = noisy(X, Uniform(40.0))
    schema = Schema([AGE, PAY, COLOUR], classes=[9, 5, 1])
    channel = Channel.of(schema, [c for c in channel.columns if isinstance(c, AddedNoise)])
    model = ReconstructionTreeClassifier(channel=channel, strategy=strategy, random_state=0).fit(disturbed, y)
    assert_array_equal(model.classes_, [1, 5, 9])
    test, _ = people(seed=9)
    right = np.mean(model.predict(test) == np.digitize(test["age"], [33, 66]) * 4 + 1)
    assert right > (0.6 if strategy in ("none", "global") else 0.9)


def test_a_category_that_nobody_has_decides_as_the_node_above():
    X, y = people()
    some = X["colour"] != "blue"
    y = np.where(X["colour"] == "green", "yes", "no")
    model = ReconstructionTreeClassifier(SCHEMA).fit(X[some], y[some])
    assert asked_about(model) == {"colour"}
    blue = model.predict_proba(X[~some][:1])[0]
    assert_allclose(blue, [np.mean(y[some] == "no"), np.mean(y[some] == "yes")])


def test_a_purely_random_label_leaves_a_root_alone():
    X, _ = people()
    y = np.where(np.random.default_rng(3).random(len(X)) < 0.2, "yes", "no")
    model = ReconstructionTreeClassifier(SCHEMA, min_rows=1_000).fit(X, y)
    assert model.height_ == 0
    assert_allclose(model.predict_proba(X[:1])[0], [np.mean(y == "no"), np.mean(y == "yes")])
    assert model.rules()["rule"].tolist() == ["always no"]


@pytest.mark.parametrize("n", [1, 2, 9, 60])
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_small_tables_are_fitted_too(n, strategy):
    X, y = people(n)
    disturbed, channel = noisy(X)
    answers, other = disguised(disturbed)
    model = ReconstructionTreeClassifier(channel=channel | other, strategy=strategy).fit(answers, y)
    assert_allclose(model.predict_proba(X).sum(axis=1), 1)


@pytest.mark.parametrize(("n", "min_rows", "again"), [(100, 5, 200), (20_000, 100, 400), (10**6, 500, 2_000)])
def test_limits_scale_down_with_the_table(n, min_rows, again):
    limits = ReconstructionTreeClassifier(SCHEMA, strategy="local")._limits(n)
    assert (limits.min_rows, limits.min_reconstructed) == (min_rows, again)
    given = ReconstructionTreeClassifier(SCHEMA, strategy="local", min_rows=7, min_reconstructed=8, height=3)._limits(n)
    assert (given.min_rows, given.min_reconstructed, given.height) == (7, 8, 3)
    assert ReconstructionTreeClassifier(SCHEMA)._limits(n).min_reconstructed is None


def test_a_least_gain_stops_growth():
    X, y = people()
    assert ReconstructionTreeClassifier(SCHEMA, min_gain=0.5).fit(X, y).height_ == 0


@pytest.mark.parametrize("strategy", ["by_class", "local", "global"])
def test_a_seed_fixes_the_tree(strategy):
    X, y = people()
    disturbed, channel = noisy(X)
    answers, other = disguised(disturbed)
    model = ReconstructionTreeClassifier(channel=channel | other, strategy=strategy, cautious=False, random_state=5)
    first, again = (clone(model).fit(answers, y).to_document() for _ in range(2))
    assert first == again
    assert model.set_params(random_state=6).fit(answers, y).to_document() != first


def nested(model, node=0):
    """Return a fitted tree as its plain twin has it."""
    forest, counts = model.forest_, model.nodes_.counts[node].tolist()
    first = int(forest.first_child[node])
    children = [nested(model, first + i) for i in range(int(forest.n_children[node]))]
    return Node(counts, int(forest.attribute[node]), int(forest.cut[node]), children)


@pytest.mark.parametrize("strategy", ["by_class", "local"])
@pytest.mark.parametrize("seed", range(3))
def test_the_tree_is_that_of_its_plain_twin(seed, strategy):
    rng = np.random.default_rng(seed)
    attributes = [Numeric("x", 0, 1, bins=6), Numeric("y", -5, 5, edges=[-2, 0, 3]), Numeric("z", 0, 1, bins=4)]
    distributions = Gaussian(0.15), Uniform(2.0), Laplace(0.2)
    columns = [AddedNoise(a, noise) for a, noise in zip(attributes, distributions, strict=True)]
    truth = np.column_stack([rng.uniform(a.low, a.high, 160) for a in attributes])
    labels = np.where((truth[:, 0] > 0.5) != (truth[:, 1] > 0), 2, truth[:, 2] > 0.7).astype(int)
    answers = np.column_stack(
        [c.answer_for(c.codes(truth[:, j]), words(160, 10 * seed + j)) for j, c in enumerate(columns)]
    )
    _, first = zip(*(np.unique(column, return_index=True) for column in answers.T), strict=True)
    alone = np.array([row for row in range(160) if all(row in own for own in first)])
    answers, labels = answers[alone], labels[alone]
    schema = Schema(attributes, classes=["a", "b", "c"])
    model = ReconstructionTreeClassifier(
        channel=Channel.of(schema, columns),
        strategy=strategy,
        min_rows=20,
        min_reconstructed=40,
        cautious=False,
        random_state=seed,
    ).fit(answers, np.array(["a", "b", "c"])[labels])
    plain = PlainTree(columns, 3, model._limits(len(labels))).fit(answers.tolist(), labels.tolist())
    assert nested(model) == plain
    assert model.height_ >= 1


def test_the_cells_of_a_number_can_be_answered_at_random():
    X, _ = people(10_000)
    column = RandomAnswer("pay", 10, 0.4)
    cells = np.floor(X["pay"].to_numpy()).astype(int)
    y = np.where(cells >= 6, "yes", "no")
    answers = X.assign(pay=column.answer_for(cells, words(len(X), 3)) + 0.5)
    model = ReconstructionTreeClassifier(channel=Channel.of(SCHEMA, [column]), random_state=0).fit(answers, y)
    assert model.score(X, y) > 0.99


def test_any_make_of_table_gives_the_same_tree(tmp_path):
    X, y = people(1_500)
    disturbed, channel = noisy(X)
    model = ReconstructionTreeClassifier(channel=channel, random_state=0)
    wanted = model.fit(disturbed, y).to_document()
    labelled = disturbed.assign(**{"class": y})
    labelled.to_csv(tmp_path / "answers.csv", index=False)
    pq.write_table(pa.Table.from_pandas(labelled, preserve_index=False), tmp_path / "answers.parquet")
    channel.save(tmp_path / "channel.json")
    by_path = ReconstructionTreeClassifier(channel=tmp_path / "channel.json", random_state=0)
    for X_, y_ in [
        (pl.from_pandas(disturbed), y),
        (pa.Table.from_pandas(disturbed, preserve_index=False), pa.array(y)),
        (disturbed.to_numpy(), y.tolist()),
        (tmp_path / "answers.csv", None),
        (tmp_path / "answers.parquet", None),
    ]:
        assert by_path.fit(X_, y_).to_document() == wanted


def test_the_rows_given_are_left_as_they_are():
    X, y = people(500)
    disturbed, channel = noisy(X)
    values = disturbed[["age", "pay"]].to_numpy()
    schema = Schema([AGE, PAY], classes=["no", "yes"])
    before = values.copy()
    ReconstructionTreeClassifier(channel=Channel.of(schema, channel.columns[:1])).fit(values, y)
    assert_array_equal(values, before)


def test_what_the_channel_promises_is_the_guarantee():
    X, y = people(500)
    noisy_rows, noise = noisy(X)
    model = ReconstructionTreeClassifier(channel=noise).fit(noisy_rows, y)
    assert model.guarantee_.mode == "paper"
    assert "colour. None proven: age was disturbed" in model.guarantee_.sentence
    answers, response = disguised(X, keep=0.5)
    model = ReconstructionTreeClassifier(channel=response).fit(answers, y)
    assert model.guarantee_.mode == "sound"
    assert model.guarantee_.epsilon == pytest.approx(np.log(2))


def test_a_fit_that_fails_leaves_the_model_as_it_was():
    X, y = people(500)
    model = ReconstructionTreeClassifier(SCHEMA, random_state=0).fit(X, y)
    before = model.to_document()
    with pytest.raises(DataError, match="different lengths"):
        model.fit(X, y[:-1])
    assert model.to_document() == before


def test_an_inferred_schema_is_a_leak_that_is_recorded():
    X, y = people(500)
    with pytest.warns(PrivacyLeakWarning):
        model = ReconstructionTreeClassifier("infer").fit(X, y)
    assert "bounds of 'age'" in model.guarantee_.leaks


def test_it_says_what_it_does_where_asked(capsys):
    X, y = people(500)
    disturbed, channel = noisy(X)
    ReconstructionTreeClassifier(channel=channel, verbose=1).fit(disturbed, y)
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("privet: reconstructed: age\nprivet: a tree of ")


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        ({"strategy": "best"}, "strategy='best' is not known; choose from by_class, local, global, none"),
        ({"min_rows": 0}, "min_rows=0 must be a whole number from 1"),
        ({"min_reconstructed": 2.5}, "min_reconstructed=2.5 must be a whole number"),
        ({"height": 65}, "height=65 must be a whole number from 1 to 64"),
        ({"purity": 1.5}, "purity=1.5 must be a number from 0 to 1"),
        ({"min_gain": "much"}, "min_gain='much' must be a number from 0 to 1"),
        ({"min_gain": float("nan")}, "min_gain=nan must be a number from 0 to 1"),
        ({"n_jobs": 0}, "n_jobs=0 must be a whole number other than 0"),
        ({"channel": 5}, "channel must be a Channel, the path of one, or None"),
    ],
)
def test_parameters_out_of_range_are_refused(parameters, sentence):
    with pytest.raises(ParameterError, match=sentence):
        ReconstructionTreeClassifier(SCHEMA, **parameters).fit(*people(50))


def test_flipped_records_are_refused_with_the_way_out():
    flipped = RecordComplement(SCHEMA, theta=0.8).channel
    with pytest.raises(ParameterError, match="records in bits, .*; use the method 'random-response-forest'"):
        ReconstructionTreeClassifier(channel=flipped).fit(*people(50))


def with_label(channel, y, keep=0.8, seed=4):
    """Return the channel with the label disturbed too, and the labels as they were answered."""
    label = RandomAnswer("class", 2, keep)
    answered = label.answer_for((y == "yes").astype(np.int64), words(len(y), seed))
    return channel | Channel.of(SCHEMA, [], label=label), np.array(["no", "yes"])[answered]


@pytest.mark.parametrize("strategy", ["by_class", "local"])
def test_noisy_numbers_and_a_disturbed_label_are_fitted_together(strategy):
    X, y = people(20_000)
    disturbed, channel = noisy(X, Laplace(30.0))
    channel, answered = with_label(channel, y)
    model = ReconstructionTreeClassifier(channel=channel, strategy=strategy, random_state=0).fit(disturbed, answered)
    assert model.score(*people(seed=9)) > 0.9
    # One answer in five is wrong; the counts are about true labels all the same.
    assert_allclose(model.nodes_.counts[0] / 20_000, [(y == "no").mean(), (y == "yes").mean()], atol=0.02)
    assert model.guarantee_.given_clear == ("pay", "colour")


def test_counts_are_those_of_true_labels_by_hand():
    # Of 100 answers 60 say yes; kept with chance .75, they come from (60 - 25) / .5 = 70 people who are.
    schema = Schema([Categorical("colour", ["red"])], classes=["no", "yes"])
    channel = Channel.of(schema, [], label=RandomAnswer("class", 2, 0.75))
    X, y = pd.DataFrame({"colour": ["red"] * 100}), np.repeat(["no", "yes"], [40, 60])
    model = ReconstructionTreeClassifier(channel=channel).fit(X, y)
    assert model.nodes_.counts.tolist() == [[30, 70]]
    assert_allclose(model.predict_proba(X[:1]), [[0.3, 0.7]])


def test_a_model_through_a_disturbed_label_comes_back_from_its_file(tmp_path):
    X, y = people(3_000)
    disturbed, channel = noisy(X)
    channel, answered = with_label(channel, y)
    model = ReconstructionTreeClassifier(channel=channel, cautious=False).fit(disturbed, answered)
    model.save(tmp_path / "model.privet")
    assert_array_equal(load(tmp_path / "model.privet").predict_proba(X), model.predict_proba(X))


def test_purity_and_least_gain_are_about_true_labels():
    model = ReconstructionTreeClassifier(SCHEMA, purity=0.9, min_gain=0.1)
    limits = model._limits(1_000, (0.8, 0.2))
    assert (limits.purity, limits.min_gain) == (pytest.approx(0.2 + 0.6 * 0.9), pytest.approx(0.036))
    assert (model._limits(1_000).purity, model._limits(1_000).min_gain) == (0.9, 0.1)


def chancy(n=3_000, seed=0):
    """Nothing goes with the label, three of four say no, and noise is all there is to learn from."""
    X, _ = people(n, seed)
    y = np.where(np.random.default_rng(seed + 100).random(n) < 0.25, "yes", "no")
    disturbed, noise = noisy(X, Laplace(100.0), seed + 200)
    disturbed, response = disguised(disturbed, 0.4, seed + 300)
    return disturbed, *with_label(noise | response, y, 0.6, seed + 400)


def test_what_is_noise_alone_leaves_the_class_balance():
    for seed in range(5):
        answers, channel, answered = chancy(seed=seed)
        careless = ReconstructionTreeClassifier(channel=channel, cautious=False, random_state=0).fit(answers, answered)
        model = ReconstructionTreeClassifier(channel=channel, random_state=0).fit(answers, answered)
        assert careless.forest_.n_nodes > 1
        assert model.forest_.n_nodes == 1
        assert model.nodes_.counts[0].argmax() == 0


def test_no_rows_are_refused():
    X, y = people(3)
    with pytest.raises(DataError, match="the table has no rows; nothing can be learnt from it"):
        ReconstructionTreeClassifier(SCHEMA).fit(X[:0], y[:0])
