"""The forest on disguised records, and its sibling on answers attribute by attribute."""

import json
import math

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import roc_auc_score

from papers.szucs2013.mirror_attack import recovered_share
from privet import Categorical, Numeric, Schema, load
from privet.datasets.uci import uci
from privet.errors import DataError, ModelFileError, ParameterError, SchemaError
from privet.local import Channel, GaussianNoise, RandomizedResponse, RecordComplement, Secret, perturb
from privet.local.channels.coding import Coding
from privet.local.channels.record_complement import Complement
from privet.local.response_forest.bit_forest import BitPaths
from privet.local.response_forest.random_response_forest import RandomResponseForestClassifier, n_tried
from privet.model_file import read_document
from privet.schema.encoding import Encoder
from privet.tree.conditions import joined
from privet.tree.forest import Forest

VOTES = ("mean", "majority")
SCHEMA = Schema(
    [
        Categorical("job", ["none", "clerk", "nurse", "cook", "pilot"]),
        Categorical("sex", ["f", "m"]),
        Numeric("age", 0, 80),
        Numeric("score", 0, 1, bins=8),
    ],
    classes=["no", "yes"],
)


def people(n, seed=0):
    rng = np.random.default_rng(seed)
    table = pd.DataFrame(
        {
            "job": rng.choice(["none", "clerk", "nurse", "cook", "pilot"], size=n, p=[0.1, 0.4, 0.3, 0.15, 0.05]),
            "sex": rng.choice(["f", "m"], size=n),
            "age": rng.uniform(0, 80, size=n),
            "score": rng.uniform(0, 1, size=n),
        }
    )
    likely = np.where((table.job == "clerk") & (table.age > 40), 0.9, np.where(table.sex == "m", 0.3, 0.05))
    return table, np.where(rng.random(n) < likely, "yes", "no")


X, Y = people(4_000)
TEST_X, TEST_Y = people(4_000, seed=9)


def forest(**options):
    return RandomResponseForestClassifier(**{"n_trees": 20, "random_state": 5, **options})


def disguised(theta, *, label=False, **options):
    """Return the channel and what came through it."""
    channel = RecordComplement(SCHEMA, theta=theta, label=label, **options).channel
    # At theta 1 clear rows are what is wanted.
    table = perturb(X.assign(**{"class": Y}), channel, Secret.of_key(bytes(32)), max_epsilon=np.inf)
    return channel, table.drop(columns="class"), table["class"]


def answered(*, label=False, **options):
    way = RandomizedResponse(SCHEMA, label=label, secret=Secret.of_key(bytes(32)), **options).fit()
    table = way.transform(X.assign(**{"class": Y}))
    return way.channel_, table.drop(columns="class"), table["class"]


def auc(model):
    return roc_auc_score(TEST_Y == "yes", model.predict_proba(TEST_X)[:, 1])


def test_on_clear_rows_it_is_as_good_as_a_plain_forest_on_the_same_bits():
    model = forest(schema=SCHEMA, min_rows=20, min_leaf=5).fit(X, Y)
    coding = Coding.from_rows(X, SCHEMA)
    assert model.coding_.codes == coding.codes
    bits, test_bits = (coding.bits(Encoder(coding.schema).encode(table)) for table in (X, TEST_X))
    plain = RandomForestClassifier(20, min_samples_split=20, min_samples_leaf=5, random_state=5).fit(bits, Y)
    assert auc(model) == pytest.approx(roc_auc_score(TEST_Y == "yes", plain.predict_proba(test_bits)[:, 1]), abs=0.01)
    assert model.guarantee_.mode == "not private"
    # Nothing is disguised, and the drawing of a bag still takes its counts off those of all rows.
    assert model.node_sd_[model.n_trees :].min() > 0
    assert not forest(schema=SCHEMA, bootstrap=False, n_trees=1).fit(X, Y).node_sd_.any()


def test_records_that_are_never_flipped_grow_the_plain_forest():
    channel, table, labels = disguised(1.0, coding=Coding.from_rows(X, SCHEMA))
    same = forest(channel=channel).fit(table, labels)
    clear = forest(schema=SCHEMA).fit(X, Y)
    assert_array_equal(same.predict_proba(TEST_X), clear.predict_proba(TEST_X))
    assert same.oob_error_ == clear.oob_error_


@pytest.mark.parametrize("label", [False, True])
def test_disguised_records_still_tell_the_classes_apart(label):
    channel, table, labels = disguised(0.8, label=label)
    model = forest(channel=channel).fit(table, labels)
    assert auc(model) > auc(forest(schema=SCHEMA).fit(X, Y)) - 0.03
    assert model.score(TEST_X, TEST_Y) > (TEST_Y == "no").mean() + 0.05
    assert model.guarantee_.mode == "paper"
    assert "deniability" in model.guarantee_.sentence
    assert 0 < model.noise_only_.mean() < 1


@pytest.mark.parametrize(("theta", "label"), [(1.0, False), (0.8, False), (0.8, True)])
def test_the_out_of_bag_error_is_that_of_new_rows(theta, label):
    channel, table, labels = disguised(theta, label=label)
    model = forest(channel=channel, n_trees=60).fit(table, labels)
    assert model.oob_error_ == pytest.approx(1 - model.score(TEST_X, TEST_Y), abs=0.06)
    assert model.oob_auc_ == pytest.approx(auc(model), abs=0.06)


def test_estimated_roots_hold_all_rows_and_children_add_up():
    channel, table, labels = disguised(0.8)
    model = forest(channel=channel, bootstrap=False, n_trees=3).fit(table, labels)
    counts = [(Y == "no").sum(), (Y == "yes").sum()]
    assert_allclose(model.estimates_.unclipped[:3], [counts] * 3)
    inner = np.flatnonzero(model.forest_.attribute >= 0)
    first = model.forest_.first_child[inner]
    estimates = model.estimates_.unclipped
    assert_allclose(estimates[first] + estimates[first + 1], estimates[inner], atol=1e-9)
    assert math.isnan(model.oob_error_)


@pytest.mark.parametrize(
    "options", [{"epsilon": 16.0}, {"keep": 0.9, "label": True}, {"keep": 0.95, "covers_missing": True}]
)
def test_answers_attribute_by_attribute_have_an_epsilon_and_grow_the_same_trees(options):
    channel, table, labels = answered(**options)
    model = forest(channel=channel).fit(table, labels)
    assert auc(model) > 0.8
    assert model.guarantee_.mode == "sound"
    assert model.guarantee_.epsilon == pytest.approx(channel.local_epsilon)
    assert_allclose(model.estimates_.unclipped[: model.n_trees].sum(axis=1), len(X))
    assert not model.node_sd_[: model.n_trees].any()
    assert model.node_sd_[model.n_trees :].min() > 0
    assert math.isnan(model.oob_error_)


def test_the_more_is_hidden_the_more_nodes_are_left_unsplit():
    sizes = []
    for epsilon in (4.0, 12.0, 24.0):
        channel, table, labels = answered(epsilon=epsilon)
        sizes.append(forest(channel=channel).fit(table, labels).forest_.n_nodes)
    assert sizes[0] < sizes[1] < sizes[2]


def test_three_classes_some_fields_clear_and_missing_answers():
    schema = Schema(SCHEMA.attributes, classes=[5, 7, 9])
    rng = np.random.default_rng(1)
    labels = np.where(X.job == "clerk", 9, np.where(X.sex == "m", 7, 5))
    table = X.assign(job=X.job.mask(rng.random(len(X)) < 0.1), age=X.age.mask(rng.random(len(X)) < 0.1))
    way = RandomizedResponse(schema, keep=0.9, columns=["job"], secret=Secret.of_key(bytes(32))).fit()
    model = forest(channel=way.channel_).fit(way.transform(table), labels)
    known = table.job.notna().to_numpy()
    assert model.score(table[known], labels[known]) > 0.95
    assert_array_equal(model.classes_, [5, 7, 9])
    assert model.predict(table).shape == labels.shape
    clear = forest(schema=schema).fit(table, labels)
    assert len(clear.coding_.codes[0].codes) == 6  # a missing job has a code of its own
    assert clear.score(table[known], labels[known]) > 0.95


def test_a_majority_of_first_choices_is_a_share_of_trees():
    model = forest(schema=SCHEMA, vote="majority").fit(X, Y)
    votes = model.predict_proba(TEST_X) * 20
    assert_allclose(votes, np.rint(votes), atol=1e-9)
    assert model.score(TEST_X, TEST_Y) > (TEST_Y == "no").mean() + 0.05


def test_a_tree_alone_votes_for_its_first_choice():
    alone = {vote: forest(schema=SCHEMA, vote=vote, n_trees=1).fit(X, Y).predict_proba(TEST_X) for vote in VOTES}
    first_choice = np.eye(2)[alone["mean"].argmax(axis=1)]
    sure = alone["mean"][:, 0] != alone["mean"][:, 1]
    assert_array_equal(alone["majority"][sure], first_choice[sure])
    assert (alone["mean"] != alone["majority"]).any()


def test_a_saved_majority_stays_one_and_the_mean_is_another(tmp_path):
    channel, table, labels = disguised(0.8)
    mean, majority = (forest(channel=channel, vote=vote).fit(table, labels) for vote in VOTES)
    majority.save(tmp_path / "model.privet")
    again = load(tmp_path / "model.privet")
    assert again.vote == "majority"
    assert_array_equal(again.predict_proba(TEST_X), majority.predict_proba(TEST_X))
    assert (mean.predict_proba(TEST_X) != majority.predict_proba(TEST_X)).any()


def test_random_state_decides_and_threads_do_not():
    channel, table, labels = disguised(0.8)
    first, second, other = (
        forest(channel=channel, random_state=seed, n_jobs=jobs).fit(table, labels).predict_proba(TEST_X)
        for seed, jobs in ((1, 1), (1, 3), (2, 1))
    )
    assert_array_equal(first, second)
    assert (first != other).any()


@pytest.mark.parametrize("kind", ["clear", "records", "answers"])
def test_a_saved_model_predicts_as_before(kind, tmp_path):
    channel, table, labels = {
        "clear": lambda: (Channel.clear(SCHEMA), X, Y), "records": lambda: disguised(0.8, label=True),
        "answers": lambda: answered(keep=0.9, label=True),
    }[kind]()  # fmt: skip
    model = forest(channel=None if kind == "clear" else channel, schema=SCHEMA, n_trees=7).fit(table, labels)
    model.save(tmp_path / "model.privet")
    document = read_document(tmp_path / "model.privet")
    again = RandomResponseForestClassifier.from_document(document, model.schema_)
    assert_array_equal(again.predict_proba(TEST_X), model.predict_proba(TEST_X))
    assert_array_equal(again.noise_only_, model.noise_only_)
    assert_allclose(again.node_sd_, model.node_sd_)
    assert again.guarantee_.sentence == model.guarantee_.sentence
    assert again.n_trees == 7
    assert json.loads(json.dumps(again.to_document())) == json.loads(json.dumps(model.to_document()))


def test_a_damaged_model_is_refused():
    channel, table, labels = answered(keep=0.9)
    model = forest(channel=channel, n_trees=2).fit(table, labels)
    document = json.loads(json.dumps(model.to_document()))

    def changed(part, **values):
        return {**document, part: {**document[part], **values}}

    nodes = document["released"]["nodes"]
    for damaged, sentence in (
        (changed("released", nodes={"sums": nodes["sums"]}), "the nodes' numbers are not those of this channel"),
        (changed("released", nodes={**nodes, "squares": [-1, *nodes["squares"][1:]]}), "are not those of rows"),
        (changed("released", nodes={**nodes, "sums": nodes["sums"][1:]}), "do not fit the trees and classes"),
        (changed("released", coding={**document["released"]["coding"], "leaks": 3}), "coding is damaged: .*leaks"),
        (changed("released", extra=1), "keeps its nodes and a coding, and nothing else"),
        (changed("structure", n_trees=1), "too many or too few nodes"),
        (changed("structure", cut=[1, *document["structure"]["cut"][1:]]), "cut lies outside|none that this method"),
        (changed("parameters", vote="loud"), "a parameter of the model is out of its range"),
        (changed("parameters", n_trees=3), "a tree is none that this method grows"),
    ):
        with pytest.raises(ModelFileError, match=sentence):
            RandomResponseForestClassifier.from_document(damaged, model.schema_)


def test_a_file_of_answers_is_fitted_whole(tmp_path):
    channel, table, labels = disguised(0.8)
    channel.save(tmp_path / "channel.json")
    table.assign(**{"class": labels}).to_csv(tmp_path / "answers.csv", index=False)
    from_file = forest(channel=tmp_path / "channel.json").fit(tmp_path / "answers.csv")
    assert_array_equal(
        from_file.predict_proba(TEST_X), forest(channel=channel).fit(table, labels).predict_proba(TEST_X)
    )


def test_attributes_that_matter_stand_out_and_rules_speak_of_values():
    channel, table, labels = disguised(0.85)
    model = forest(channel=channel).fit(table, labels)
    job, sex, age, score = model.feature_importances_
    assert job + sex + age == pytest.approx(1 - score)
    assert min(job, sex, age) > score
    rules = model.rules(min_support=100, class_="yes")
    assert len(rules)
    assert rules.rule.str.contains("job = clerk").any() or rules.rule.str.contains("job in {").any()
    assert not rules.rule.str.contains(":").any()


def test_a_rule_names_the_values_whose_codes_have_the_bits():
    coding = Coding.of(Schema(SCHEMA.attributes[:1], classes=["no", "yes"]))
    # none 000, clerk 111, nurse 001, cook 110, pilot 010, and a missing job as none: bit 1 splits off none and nurse.
    nodes = np.array([1, -1, 0, -1, -1], dtype=np.int32)
    grown = Forest.from_nodes(nodes, np.where(nodes < 0, -1, 0).astype(np.int32), 1, coding.bit_schema.attributes)
    words = [joined(BitPaths(grown, coding).conditions(node)) for node in range(5)]
    assert words == [
        "", "job in {none, nurse} or missing", "job in {clerk, cook, pilot}", "job = pilot", "job in {clerk, cook}",
    ]  # fmt: skip


@pytest.mark.parametrize("n_rows", [1, 2, 10])
def test_few_rows_are_no_error(n_rows):
    model = forest(schema=SCHEMA, n_trees=3).fit(X.iloc[:n_rows], Y[:n_rows])
    assert np.isfinite(model.predict_proba(TEST_X)).all()


def test_how_many_bits_are_tried():
    assert [n_tried(asked, 40) for asked in ("sqrt", "log2", 7, 99, 0.5, None)] == [6, 5, 7, 40, 20, 40]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_trees": 0}, "n_trees=0 must be a whole number from 1"),
        ({"min_rows": 0.5}, "min_rows=0.5 must be a whole number"),
        ({"min_leaf": 0}, "min_leaf=0 must be a whole number from 1"),
        ({"max_depth": 65}, "max_depth=65 must be a whole number from 1 to 64"),
        ({"max_features": "all"}, "max_features='all' must be \"sqrt\""),
        ({"max_features": 1.5}, "max_features=1.5 must be"),
        ({"vote": "loud"}, "vote='loud' is not known; choose from mean, majority"),
        ({"bootstrap": 2}, "bootstrap=2 must be True or False"),
        ({"n_jobs": 0}, "n_jobs=0 must be"),
    ],
)
def test_parameters_out_of_range_are_refused(options, message):
    with pytest.raises(ParameterError, match=message):
        forest(schema=SCHEMA, **options).fit(X, Y)


def test_channels_that_bits_cannot_undo_are_refused():
    noisy = GaussianNoise(SCHEMA, privacy=0.5).channel
    with pytest.raises(
        ParameterError, match="use ReconstructionTreeClassifier, or disturb numbers by RandomizedResponse"
    ):
        forest(channel=noisy).fit(X, Y)
    with pytest.raises(ParameterError, match="above 1/2 and at most 1: at 1/2 an answer says nothing"):
        disguised(0.5)
    with pytest.raises(SchemaError, match="a schema is needed"):
        forest().fit(X, Y)


def test_tables_that_do_not_fit_are_refused():
    channel, table, labels = disguised(0.8)
    with pytest.raises(DataError, match="lacks the column 'job:0'"):
        forest(channel=channel).fit(X, Y)
    with pytest.raises(DataError, match="different lengths"):
        forest(channel=channel).fit(table, labels[:-1])
    with pytest.raises(DataError, match="no rows"):
        forest(channel=channel).fit(table.iloc[:0], labels[:0])


@pytest.mark.slow
@pytest.mark.real_data
@pytest.mark.parametrize(("theta", "least"), [(1.0, 0.89), (0.6, 0.88)])
def test_adult_is_told_apart_about_as_well_as_the_paper_has_it(theta, least):
    adult, n = uci("adult"), 32_561
    coding = Coding.from_rows(adult.X.iloc[:n], adult.schema)
    bits = coding.bits(Encoder(coding.schema).encode(adult.X.iloc[:n]))
    given = bits ^ (np.random.default_rng(3).random((n, 1)) >= theta)
    channel = Channel.of(coding.schema, [], record=Complement(coding, theta))
    model = forest(channel=channel, n_trees=30, cautious=False).fit(given, adult.y[:n])
    found = model.predict_proba(adult.X.iloc[n:])[:, 1]
    assert roc_auc_score(adult.y[n:] == model.classes_[1], found) > least
    if theta < 1:
        reference = coding.bits(Encoder(coding.schema).encode(adult.X.iloc[n:]))
        assert recovered_share(bits, given, reference, coding, theta) > 0.999
