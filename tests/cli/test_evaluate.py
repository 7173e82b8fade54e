"""privet evaluate."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from privet import load
from privet.cli.support.output import EXIT_DATA, EXIT_USAGE

EVALUATE = "evaluate rows.csv --schema schema.json --folds 3 --random-state 1"
HEADER = "age,sex,children,class\n"


def test_a_list_of_prices_makes_a_table(privet):
    result = privet(f"{EVALUATE} --epsilon .1,5,inf")
    assert result.exit_code == 0
    lines = result.stdout.splitlines()
    assert lines[0].split() == ["accuracy", "sd", "over", "folds", "balanced", "AUC", "log", "loss"]
    names = [line.split(" %")[0].rsplit("  ")[0].strip() for line in lines[1:5]]
    assert [name.rsplit("  ")[0] for name in names] == [
        "epsilon = 0.1", "epsilon = 5", "epsilon = inf", "majority class"
    ]  # fmt: skip


def test_the_notice_is_on_stderr_and_in_the_json(privet):
    notice = "the figures must not be published"
    result = privet(f"{EVALUATE} --json")
    assert notice in result.stderr
    assert notice in json.loads(result.stdout)["notice"]


def test_json_has_every_price_and_the_majority(privet):
    data = json.loads(privet(f"{EVALUATE} --epsilon 1,inf --repeats 2 --json").stdout)
    assert [score["epsilon"] for score in data["scores"]] == [1.0, "inf"]
    assert (data["folds"], data["repeats"], data["method"]) == (3, 2, "private-forest")
    assert 0.5 < data["majority_class"]["accuracy"] < 0.7
    assert data["majority_class"]["accuracy"] < data["scores"][1]["accuracy"] <= 1


def test_scores_without_noise_repeat_with_the_random_state(privet):
    assert privet(f"{EVALUATE} --epsilon inf").stdout == privet(f"{EVALUATE} --epsilon inf").stdout


def test_the_baseline_is_a_forest_that_promises_nothing(privet):
    data = json.loads(privet(f"{EVALUATE} --baseline --json").stdout)
    assert data["random_forest"]["accuracy"] > 0.95
    assert "random forest, not private" in privet(f"{EVALUATE} --baseline").stdout


def test_a_rare_class_is_told_without_a_count(privet):
    lines = ["50,male,1,no"] * 9 + ["60,male,1,yes"]
    Path("rare.csv").write_text(HEADER + "\n".join(lines) + "\n")
    result = privet("evaluate rare.csv --schema schema.json --folds 3")
    assert result.exit_code == 0
    assert "privet: a class is rarer than the number of folds, so some folds lack it" in result.stderr
    assert "members" not in result.stderr


@pytest.mark.parametrize(
    ("lines", "sentence"),
    [
        ("", "'few.csv' has no rows; pass rows with their labels"),
        ("50,male,1,no\n60,male,1,yes\n", "the table has too few rows for that many folds; lower --folds"),
    ],
)
def test_too_few_rows_for_the_folds_exit_with_3(refused, lines, sentence):
    Path("few.csv").write_text(HEADER + lines)
    assert refused("evaluate few.csv --schema schema.json --folds 5", EXIT_DATA) == sentence


@pytest.mark.parametrize(
    ("epsilon", "sentence"),
    [
        ("one", "--epsilon 'one' is not a number or a list such as 0.1,1,inf"),
        ("1,,2", "--epsilon '1,,2' is not a number or a list such as 0.1,1,inf"),
        ("1,-1", "epsilon=-1.0 is out of range"),
    ],
)
def test_prices_are_checked_before_the_rows_are_read(refused, epsilon, sentence):
    assert sentence in refused(f"evaluate missing.csv --schema schema.json --epsilon {epsilon}", EXIT_USAGE)


def test_a_schema_is_needed(refused):
    assert "a schema is needed" in refused("evaluate rows.csv", EXIT_USAGE)


def test_a_file_that_is_not_there_exits_with_3(refused):
    assert "cannot read 'missing.csv'" in refused("evaluate missing.csv --schema schema.json", EXIT_DATA)


def test_prices_that_look_alike_keep_their_own_scores(privet):
    result = json.loads(privet(f"{EVALUATE} --epsilon 5000,5000.0001 --json").stdout)
    assert [score["epsilon"] for score in result["scores"]] == [5000, 5000.0001]
    assert all(score["accuracy"] > result["majority_class"]["accuracy"] + 0.05 for score in result["scores"])


def test_a_forest_that_only_guesses_is_told_what_may_help(privet):
    rows = pd.read_csv("rows.csv")
    rows["class"] = np.where(rows.index < 15, "yes", "no")  # 95 % no, and nothing to learn
    rows.to_csv("rows.csv", index=False)
    said = privet(f"{EVALUATE} --epsilon 0.000001").stderr
    assert "no better than guessing the majority class; a larger epsilon or more rows may help" in said
    said = privet(f"{EVALUATE} --method private-rdt --epsilon 0.000001").stderr
    assert "no better than guessing the majority class; taller or more trees may help" in said


def test_every_score_of_the_majority_is_that_of_its_share(privet):
    labels = pd.read_csv("rows.csv")["class"]
    share, largest = labels.value_counts(normalize=True).max(), labels.mode()[0]
    found = json.loads(privet(f"{EVALUATE} --json").stdout)["majority_class"]
    assert found["accuracy"] == pytest.approx(share, abs=0.005)
    assert (found["balanced_accuracy"], found["auc"]) == (0.5, 0.5)
    entropy = -(share * np.log(share) + (1 - share) * np.log(1 - share))
    assert found["log_loss"] == pytest.approx(entropy, abs=0.005)
    assert found["recall"] == {label: float(label == largest) for label in ("no", "yes")}
    assert found["confusion"] == dict.fromkeys(("no", "yes"), found["recall"])


def test_recall_and_confusion_are_shown_by_the_names_of_classes(privet):
    shown = privet(f"{EVALUATE} --epsilon inf --confusion").stdout
    data = json.loads(privet(f"{EVALUATE} --epsilon inf --json").stdout)["scores"][0]
    recall = next(line for line in shown.splitlines() if line.startswith("yes"))
    assert f"{100 * data['recall']['yes']:.1f} %" in recall
    assert "epsilon = inf: of" in shown
    assert f"{100 * data['confusion']['no']['yes']:.1f} %" in shown.split("epsilon = inf: of")[1]
    assert "as yes" not in privet(f"{EVALUATE} --epsilon inf").stdout


def test_scores_by_group_are_those_of_the_group_alone(privet):
    rows = pd.read_csv("rows.csv")
    # In one group the class hangs on age, in the other it is always the same.
    rows["class"] = np.where((rows["sex"] == "male") | (rows["age"] > 50), "yes", "no")
    rows.to_csv("rows.csv", index=False)
    data = json.loads(privet(f"{EVALUATE} --epsilon inf --by sex --json").stdout)["scores"][0]["groups"]
    assert list(data) == ["sex = female", "sex = male"]
    assert data["sex = male"]["auc"] is None
    assert data["sex = male"]["recall"]["no"] is None
    assert data["sex = female"]["auc"] > 0.9
    shown = privet(f"{EVALUATE} --epsilon inf --by sex").stdout
    assert "sex = female" in shown
    assert f"{100 * data['sex = female']['accuracy']:.1f} %" in shown.split("sex = female")[1]


def test_rows_that_lack_the_category_are_a_group(privet):
    rows = pd.read_csv("rows.csv")
    rows.loc[:40, "sex"] = None
    rows.to_csv("rows.csv", index=False)
    assert "sex missing" in json.loads(privet(f"{EVALUATE} --by sex --json").stdout)["scores"][0]["groups"]


@pytest.mark.parametrize("name", ["age", "height"])
def test_groups_need_categories(refused, name):
    said = refused(f"evaluate missing.csv --schema schema.json --by {name}", EXIT_USAGE)
    assert said == f"--by {name!r} is no attribute with categories; choose from sex"


@pytest.fixture
def number_schema(folder):
    """A schema whose target is the number of children."""
    document = json.loads(Path("schema.json").read_text())
    del document["classes"]
    attributes = [own for own in document["attributes"] if own["name"] != "children"]
    document |= {"attributes": attributes, "target": {"name": "children", "bounds": [0, 4]}}
    Path("numbers.json").write_text(json.dumps(document))
    pd.read_csv("rows.csv").drop(columns="class").assign(children=lambda own: own["age"] // 25).to_csv(
        "numbers.csv", index=False
    )


NUMBERS = "evaluate numbers.csv --schema numbers.json --method private-forest-regressor --folds 3 --random-state 1"


def test_a_number_has_r2_and_errors_beside_those_of_always_the_mean(privet, number_schema):
    said = json.loads(privet(f"{NUMBERS} --epsilon inf --baseline --json").stdout)
    assert said["scores"][0]["r2"] > 0.8
    assert said["random_forest"]["r2"] > 0.8
    assert -0.1 < said["mean"]["r2"] <= 0
    # The mean is off by the standard deviation, but for folds that differ.
    exact = (pd.read_csv("numbers.csv")["age"] // 25).std()
    assert said["mean"]["root_mean_squared_error"] == pytest.approx(exact, rel=0.05)


def test_a_number_is_scored_by_group_too(privet, number_schema):
    lines = privet(f"{NUMBERS} --epsilon inf --by sex").stdout
    assert [line.split("  ")[0] for line in lines.splitlines() if line.startswith("sex")] == [
        "sex = female",
        "sex = male",
    ] * 2


def test_a_number_has_no_confusion(refused, number_schema):
    said = refused(f"{NUMBERS} --confusion", EXIT_USAGE)
    assert said == "--confusion is about classes, and this is a number; leave it out"


def test_a_model_of_a_number_is_scored_by_r2_and_errors(privet, refused, number_schema):
    line = "fit numbers.csv --schema numbers.json --method private-forest-regressor --epsilon inf -o number.privet"
    assert privet(line).exit_code == 0
    said = json.loads(privet("score number.privet numbers.csv --by sex --json").stdout)
    rows = pd.read_csv("numbers.csv")
    off = load("number.privet").predict(rows[["age", "sex"]]) - rows["children"]
    assert said["mean_absolute_error"] == pytest.approx(off.abs().mean())
    assert said["r2"] == pytest.approx(1 - (off**2).mean() / rows["children"].var(ddof=0))
    women = off[rows["sex"] == "female"]
    assert said["by_group"]["sex"]["female"]["root_mean_squared_error"] == pytest.approx((women**2).mean() ** 0.5)
    said = refused("audit --model number.privet --members numbers.csv --others numbers.csv", EXIT_USAGE)
    assert "--members is for classes, and this model predicts a number" in said
