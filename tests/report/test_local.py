"""The page about a model of disturbed records, as text."""

import json
import math
import warnings

import numpy as np
import pandas as pd
import pytest

from privet import (
    Categorical,
    Channel,
    Coding,
    FieldSampling,
    GaussianNoise,
    LaplaceNoise,
    Numeric,
    RandomizedResponse,
    RandomResponseForestClassifier,
    ReconstructionTreeClassifier,
    RecordComplement,
    SampledForestClassifier,
    Schema,
    Secret,
    perturb,
)
from privet.report import write_report
from privet.report.page.local import local_facts
from privet.report.page.page import page
from tests.draws import cached
from tests.report.pages import Elements, embedded
from tests.report.people import HOSTILE, SCHEMA, people

KEY = Secret.of_key(bytes(range(32)))
TREES, SIGNATURE = "The tree", "Signature"


def told(model, name="people.privet"):
    return local_facts(model, model_checksum="0" * 64, name=name)


def page_of(model):
    return page(model, told(model))


def answered(channel, X=None, y=None):
    """Return the answers of people through a channel, and the labels with them."""
    clear, labels = people() if X is None else (X, y)
    target = channel.schema.target
    # Each channel has a secret of its own, with the same key.
    answers = perturb(clear.assign(**{target: labels}), channel, Secret.of_key(bytes(range(32))))
    return answers.drop(columns=target), answers[target]


@cached
def noisy_tree():
    mixed = (
        GaussianNoise(SCHEMA, privacy=1.0).channel | RandomizedResponse(SCHEMA, keep=0.8, columns=["country"]).channel
    )
    return ReconstructionTreeClassifier(channel=mixed, random_state=1).fit(*answered(mixed))


@cached
def sound_tree():
    channel = LaplaceNoise(SCHEMA, epsilon=3.0).channel
    return ReconstructionTreeClassifier(channel=channel, random_state=1).fit(*answered(channel))


@cached
def clear_tree():
    return ReconstructionTreeClassifier(SCHEMA, random_state=1).fit(*people())


@cached
def flipped_forest(*, leaks=False):
    coding = Coding.from_rows(people()[0], SCHEMA) if leaks else None
    channel = RecordComplement(SCHEMA, theta=0.8, coding=coding).channel
    return RandomResponseForestClassifier(channel=channel, n_trees=5, random_state=1).fit(*answered(channel))


@cached
def sound_forest():
    channel = RandomizedResponse(SCHEMA, epsilon=4.0, label=True).channel
    return RandomResponseForestClassifier(channel=channel, n_trees=5, random_state=1).fit(*answered(channel))


@cached
def sampled_forest():
    channel = FieldSampling(SCHEMA, epsilon=2.0).channel
    X, y = people()
    answers = perturb(X.assign(**{SCHEMA.target: y}), channel, Secret.of_key(bytes(range(32))))
    return SampledForestClassifier(channel=channel).fit(answers)


@cached
def hostile_tree():
    schema = Schema(
        [Numeric(HOSTILE, 0, 1), Categorical("a\u202eb", [HOSTILE, "&lt;"])],
        classes=[HOSTILE, "<b>yes"], target=HOSTILE + "t",
    )  # fmt: skip
    rng = np.random.default_rng(1)
    X = pd.DataFrame({HOSTILE: rng.random(300), "a\u202eb": rng.choice([HOSTILE, "&lt;"], 300)})
    channel = GaussianNoise(schema, privacy=0.25).channel
    rows = answered(channel, X, np.where(X[HOSTILE] > 0.5, HOSTILE, "<b>yes"))
    return ReconstructionTreeClassifier(channel=channel, random_state=1).fit(*rows)


ALL = [noisy_tree, sound_tree, clear_tree, flipped_forest, sound_forest, sampled_forest]


@pytest.mark.parametrize("made", ALL, ids=lambda made: made.__name__)
def test_every_page_opens_with_the_promise_and_can_be_signed(made):
    read = Elements(page_of(made()))
    assert made().guarantee_.sentence in read.text
    assert "0" * 64 in read.text
    assert SIGNATURE in read.text
    assert "What was taken as public" in read.text
    assert "NIST" not in read.text


@pytest.mark.parametrize(
    ("made", "words"),
    [
        (noisy_tree, "No local epsilon is proven for these answers."),
        (flipped_forest, "No local epsilon is proven for these answers."),
        (clear_tree, "This model is not private. Do not publish it as if it were."),
    ],
)
def test_a_banner_stands_where_nothing_is_proven(made, words):
    assert words in page_of(made())


def test_no_banner_stands_where_an_epsilon_bounds_all_answers():
    for made in (sound_tree, sound_forest, sampled_forest):
        assert 'class="banner"' not in page_of(made())


def test_every_field_stands_with_its_measures_and_the_sum():
    read = Elements(page_of(noisy_tree()))
    assert "agenormal noisescale 21.4" in read.text
    assert "countryrandom answerkept, chance 0.8" in read.text
    assert "classgiven as it is" in read.text
    # 100 % privacy at 95 %: the interval is as wide as the range, 84.
    assert "84" in read.text
    assert "100.0 %none" in read.text
    assert "That bounds those fields only" in read.text


def test_a_local_epsilon_is_told_with_what_it_means():
    read = Elements(page_of(sound_forest()))
    assert "All answers of a person together: local epsilon 4 , the sum." in read.text.replace("4,", "4 ,")
    # 1 / (1 + e^-4) is 98.2 of 100, rounded up.
    assert "They guess right at most 99 times of 100" in read.text
    assert told(sound_forest())["right_guesses"] == pytest.approx(1 / (1 + math.exp(-4)))


def test_the_epsilon_of_a_question_is_not_called_a_sum():
    text = Elements(page_of(sampled_forest())).text
    assert "together: local epsilon 2, for one question of 2, picked by the person's own coin." in text
    assert "3 of 3fields disturbed, including the label" in text
    assert told(noisy_tree())["right_guesses"] is None


def test_an_epsilon_is_told_to_as_many_digits_as_the_promise_tells_it():
    # A channel stays a little below what was asked for.
    assert told(sound_forest())["guarantee"]["local_epsilon"] < 4
    source = page_of(sound_forest())
    assert "4, for all answers of a person together" in Elements(source).text
    assert "3.99999" not in source


def test_random_answers_to_numbers_are_told_as_intervals():
    channel = RandomizedResponse(SCHEMA, keep=0.5, bins=4, columns=["age"], covers_missing=True).channel
    model = ReconstructionTreeClassifier(channel=channel, random_state=1).fit(*answered(channel))
    assert "agerandom answer1 of 4 intervals or missing, kept with chance 0.5" in Elements(page_of(model)).text


def test_a_label_that_is_flipped_with_its_record_stands_among_the_fields():
    channel = RecordComplement(SCHEMA, theta=0.8, label=True).channel
    model = RandomResponseForestClassifier(channel=channel, n_trees=2, random_state=1).fit(*answered(channel))
    assert "classflipped with the recordkept, chance 0.8" in Elements(page_of(model)).text
    assert "classgiven as it is" in Elements(page_of(flipped_forest())).text


def test_rules_of_estimates_are_told_as_such():
    assert "this method cannot tell how far chance has moved them" in Elements(page_of(noisy_tree())).text


def test_fields_that_are_given_clear_are_named():
    assert told(sound_tree())["guarantee"]["given_clear"] == ["country", "class"]
    assert "Fields that were given as they are: country, class." in Elements(page_of(sound_tree())).text


def test_leaks_have_a_banner_of_their_own():
    source = page_of(flipped_forest(leaks=True))
    assert "The channel leaks. No promise covers the following." in source
    assert "frequencies of 'country'" in Elements(source).text
    assert "The channel leaks" not in page_of(flipped_forest())


def test_binary_anonymity_is_told_and_never_as_an_epsilon():
    facts = told(flipped_forest())
    coding = flipped_forest().guarantee_.channel.record.coding
    assert facts["binary_anonymity"]["mean"] == coding.anonymity(0.8)
    assert facts["guarantee"]["local_epsilon"] is None
    read = Elements(page_of(flipped_forest()))
    assert "It is not an epsilon and not a bound." in read.text
    assert "binary anonymity, between 0 and 1" in read.text
    assert "binary anonymity" not in Elements(page_of(sound_tree())).text.lower()


def test_nodes_that_are_only_noise_are_counted():
    model = sound_forest()
    noise = told(model)["noise"]
    assert noise["nodes_that_are_only_noise"] == model.noise_only_.sum()
    assert noise["share_of_leaves"] == model.noise_only_[model.forest_.leaves].mean()
    assert "leaves are only noise" in Elements(page_of(model)).text


def test_a_tree_is_drawn_with_its_estimates_and_rules():
    source = page_of(noisy_tree())
    trees = embedded(source)["trees"]
    assert len(trees["parent"]) == noisy_tree().forest_.n_nodes
    assert "which are estimates" in source
    assert "estimated rows" in source
    assert "trees" not in embedded(page_of(flipped_forest()))


def test_hostile_names_are_inert():
    source = page_of(hostile_tree())
    read = Elements(source)
    assert "img" not in {tag for tag, _ in read.tags}
    assert "owned" not in "".join(str(attributes) for _, attributes in read.tags)
    assert HOSTILE not in source
    assert "\u202e" not in source
    assert HOSTILE in read.text


def test_facts_are_plain_values():
    for made in ALL:
        json.dumps(told(made()), allow_nan=False)


def test_the_same_model_file_gives_the_same_bytes(tmp_path):
    noisy_tree().save(tmp_path / "people.privet")
    for name in ("one.html", "two.html"):
        write_report(tmp_path / "people.privet", tmp_path / name)
    assert (tmp_path / "one.html").read_bytes() == (tmp_path / "two.html").read_bytes()


def test_a_single_leaf_has_a_page_without_rules():
    X, _ = people()
    channel = Channel.of(SCHEMA, [])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = ReconstructionTreeClassifier(channel=channel).fit(X, np.full(len(X), "yes"))
        read = Elements(page_of(model))
    assert "No class is more frequent in any leaf than overall." in read.text
