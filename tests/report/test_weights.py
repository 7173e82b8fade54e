"""The report on a forest of weights."""

import json
import math
import re

import numpy as np
import pandas as pd
import pytest

from privet import Categorical, Numeric, PrivateForestClassifier, Schema
from privet.report.page import weights as module
from privet.report.page.effects import effects_of
from privet.report.page.facts import facts
from tests.report.pages import Elements, embedded, page_of
from tests.report.people import HOSTILE, people
from tests.report.weighty import (
    N_ROWS,
    exact_weights,
    grouped,
    hostile_weights,
    of_many_attributes,
    only_balance,
    weights,
    without_shares,
)


def told(model):
    return facts(model, model_checksum="0" * 64)


@pytest.fixture(scope="module")
def source():
    return page_of(weights())


def test_the_page_is_whole(source):
    read = Elements(source)
    assert weights().guarantee_.sentence in read.text
    assert 'class="banner"' not in source
    headings = (
        "What an attacker can gain", "Noise against rows", "Class balance, as released", "What matters",
        "What each attribute does", "The questions of NIST", "Sign-off",
    )  # fmt: skip
    assert [heading for heading in headings if heading not in read.text] == []
    assert "The strongest rules" not in read.text
    assert "trees" not in embedded(source)


def test_the_head_tells_trees_numbers_and_noise(source):
    read = Elements(source)
    model = weights()
    assert f"{model.trees_.n_trees}trees of height 1" in read.text
    n_numbers = model.released_.weights.size + 2 + model.released_.cells.size
    assert f"{n_numbers}numbers released" in read.text
    assert "noise that pulls at a leaf, standard deviation in rows" in read.text


def test_receipts_name_the_mechanism(source):
    read = Elements(source)
    assert "K-norm noise in the objective" in read.text
    assert "The last digits of weights are in steps of the grid" in read.text
    assert "Laplace noise in the objective" not in read.text
    assert "KNormObjective" not in read.text
    assert "ObjectivePerturbation" not in read.text


def test_every_picture_is_told_in_words_and_as_a_table(source):
    tags = [dict(fields) for tag, fields in Elements(source).tags if tag == "svg" and "aria-labelledby" in dict(fields)]
    assert len(tags) == sum(effect.is_shown for effect in effects_of(weights()))
    ids = re.findall(r' id="([^"]+)"', source)
    assert len(ids) == len(set(ids))
    for tag in tags:
        assert set(tag["aria-labelledby"].split()) <= set(ids)
    assert source.count("<summary>The same as a table</summary>") == len(tags)


def test_the_table_shows_released_weights():
    model = exact_weights()
    read = Elements(page_of(model))
    (age,) = [shape for shape in model.shapes() if shape.names == ("age",)]
    value = 2 * age.weights[0, 1]
    assert f"16{value:.3g}0".replace("-", "\N{MINUS SIGN}") in read.text
    assert "These weights carry no noise." in read.text
    assert "They are those of the exact fit" in read.text


def test_noise_is_said_to_depend_on_how_rows_lie(source):
    read = Elements(source)
    assert "for rows that lie as their released shares say" in read.text
    assert "if rows were spread evenly" not in read.text
    assert re.search(r"Noise, 2 standard deviations: ± [\d.]+ for most rows", read.text)


def test_a_model_without_shares_of_cells_says_that_they_were_not_released():
    read = Elements(page_of(without_shares(weights())))
    assert "How many rows a cell has was not released" in read.text
    assert "That number is not released" in read.text
    assert re.search(r"± [\d.]+ if rows were spread evenly, ± [\d.]+ where hardly any row comes", read.text)


def test_missing_values_that_nobody_has_are_said_not_to_be_seen():
    text = Elements(page_of(grouped(2))).text.split("What each attribute does")[1]
    assert text.count("No missing values seen.") == 4


def test_only_a_class_balance_is_reported_as_such():
    read = Elements(page_of(only_balance()))
    assert "only the class balance was released. Every row gets the same probabilities." in read.text
    assert "What each attribute does" not in read.text
    assert "notree: only the class balance was released" in read.text


def test_a_single_tree_of_counts_is_not_told_as_a_fit_of_weights():
    model = weights(epsilon=0.05)
    text = Elements(page_of(model)).text
    noise = f"{model.noise_std_:.3g} rows was added to each count"
    assert noise in text
    assert "noise in each count, standard deviation in rows" in text
    assert "sum over the leaves of the tree" in text
    assert not any(words in text for words in ("fitted together", "pulls at", "The model is a sum", "second stage"))
    assert "in each class count of the leaves of one tree" in text


def test_scores_are_told_as_chances(source):
    told = "sum of \N{MINUS SIGN}4, \N{MINUS SIGN}2, 0, 2, 4 is a chance of 4.6 %, 22.0 %, 50.0 %, 78.0 %, 95.4 %"
    assert told in Elements(source).text
    assert "is a chance of" not in Elements(page_of(grouped(2, classes=("no", "yes", "perhaps")))).text


def test_pairs_have_a_map_and_triples_a_list(monkeypatch):
    monkeypatch.setattr("privet.report.page.effects._LEAST_SHARE", 0.0)
    assert "<rect" in page_of(grouped(2)).split("What attributes do together")[1]
    read = Elements(page_of(grouped(3)))
    assert "The strongest cells" in read.text


def test_what_does_not_stand_out_together_is_said_to_be_left_out(monkeypatch):
    monkeypatch.setattr("privet.report.page.effects._LEAST_SHARE", 1.0)
    read = Elements(page_of(grouped(2)))
    n_left = sum(len(effect.names) > 1 for effect in effects_of(grouped(2)))
    assert f"{n_left} effects of several attributes do not stand out from noise" in read.text


def test_more_classes_have_a_control_and_two_have_none(source):
    several = page_of(grouped(2, classes=("no", "yes", "maybe")))
    assert 'id="shape-class"' in several
    assert "class with the highest sum is predicted" in several
    assert 'id="shape-class"' not in source


def test_of_many_classes_the_most_frequent_are_drawn():
    rng = np.random.default_rng(2)
    schema = Schema([Categorical("a", ["x", "y", "z"])], classes=list(range(14)), rows=2_000)
    X = rng.choice(["x", "y", "z"], (2_000, 1))
    model = PrivateForestClassifier(schema, epsilon=5.0).fit(X, rng.integers(0, 14, 2_000))
    page = page_of(model)
    assert "the 10 most frequent of 14 classes" in page
    assert page.count("<circle") >= 10


def test_long_lists_are_cut_and_the_page_says_so(monkeypatch):
    monkeypatch.setattr(module, "MOST_SHAPES", 1)
    monkeypatch.setattr(module, "_MOST_LINES", 3)
    read = Elements(page_of(exact_weights()))
    assert "Left out: 1 less important attribute" in read.text
    assert "more cells; --json has them" in read.text


def test_only_lists_of_categories_are_said_to_be_cut():
    schema = Schema(
        [Numeric("a", 0, 40, bins=40), Categorical("b", list("abcdefghijklmnopqrstuvwxyz"))],
        classes=["no", "yes"],
        rows=400,
    )
    rng = np.random.default_rng(2)
    X = pd.DataFrame({"a": rng.uniform(0, 40, 400), "b": rng.choice(schema.attributes[1].categories, 400)})
    model = PrivateForestClassifier(schema, epsilon=math.inf, random_state=1).fit(X, np.where(X["a"] > 9, "yes", "no"))
    read = Elements(page_of(model))
    assert "The 24 strongest of 26 cells." in read.text
    assert "of 41 cells" not in read.text


def test_hostile_names_stay_text():
    source = page_of(hostile_weights())
    read = Elements(source)
    assert "img" not in {tag for tag, _ in read.tags}
    assert read.text.count("onerror=") > 3
    assert HOSTILE not in source


def test_the_same_model_has_the_same_page():
    assert page_of(exact_weights()) == page_of(exact_weights())


def test_facts_are_plain_values_and_hold_every_shape():
    said = told(weights())
    again = json.loads(json.dumps(said, allow_nan=False))
    assert [shape["attributes"] for shape in again["shapes"]]
    assert (said["model"]["trees"], said["model"]["height"]) == (weights().trees_.n_trees, 1)
    assert said["noise"]["standard_deviation_in_rows"] == weights().noise_std_
    (answer,) = [each for each in said["nist_sp_800_226"] if each["question"] == "Utility and accuracy"]
    assert answer["answer"].startswith("Noise of standard deviation")


def test_the_class_balance_is_exact_without_noise():
    rows = {each["class"]: each["rows"] for each in told(exact_weights())["class_balance"]}
    _, y = people(N_ROWS)
    assert rows == pytest.approx({label: (y == label).sum() for label in ("no", "yes")})


def test_the_noise_interval_of_the_balance_holds_the_released_rows():
    for each in told(weights())["class_balance"]:
        assert each["low"] < each["rows"] < each["high"]


def test_a_row_count_that_was_paid_for_is_counted():
    X, y = people()
    schema = Schema(weights().schema.attributes, classes=["no", "yes"])
    model = PrivateForestClassifier(schema, epsilon=1.0, random_state=1).fit(X, y)
    assert told(model)["released_values"] == model.released_.weights.size + 3
    assert "number of rows" in Elements(page_of(model)).text


def test_a_delta_is_told_wherever_the_promise_is():
    model = of_many_attributes()
    assert 0 < model.guarantee_.delta <= 1e-5
    read = Elements(page_of(model))
    assert model.guarantee_.sentence in read.text
    assert "normal noise in the objective" in read.text
    assert f"at delta {model.guarantee_.delta:g}" in read.text
    assert "pure differential privacy" not in read.text
    assert "Left out: 8 less important attributes" in read.text


def test_bars_are_pale_where_no_rows_are_for_sure():
    attributes = [Categorical("kind", ["many", "none"]), Numeric("x", 0, 1)]
    X = pd.DataFrame({"kind": ["many"] * 900, "x": np.linspace(0, 1, 900)})
    schema = Schema(attributes, classes=["no", "yes"], rows=900)
    model = PrivateForestClassifier(schema, epsilon=math.inf).fit(X, np.where(X["x"] > 0.5, "yes", "no"))
    page = page_of(model)
    assert 'fill-opacity="0.25"' in page
    assert "Pale where noise hides whether there are rows." in Elements(page).text
    assert "Pale where" not in Elements(page_of(grouped(1))).text
