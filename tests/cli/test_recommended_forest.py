"""The verbs on the recommended forest, which is fitted where no method is named."""

import json
from pathlib import Path

import pytest

from privet import PrivateForestClassifier, load
from privet.cli.support.output import EXIT_USAGE

FIT = "fit rows.csv --schema schema.json"
PLAN = "plan --schema schema.json --random-state 3"


@pytest.fixture
def weights_file(privet):
    assert privet(f"{FIT} --epsilon inf --random-state 3").exit_code == 0
    return Path("model.privet")


def test_it_is_what_fit_fits(weights_file):
    model = load(weights_file)
    assert isinstance(model, PrivateForestClassifier)
    again = PrivateForestClassifier("schema.json", epsilon=float("inf"), random_state=3).fit("rows.csv")
    assert model.released_.weights.tolist() == again.released_.weights.tolist()


def test_the_summary_tells_trees_and_height(privet):
    summary = json.loads(privet(f"{FIT} --epsilon 50 --json").stdout)
    assert set(summary) == {"model", "method", "trees", "height", "guarantee", "importances", "not_told_apart"}
    told = load("model.privet").told_apart_
    assert summary["not_told_apart"] == [
        name for name, own in zip(["age", "sex", "children"], told, strict=True) if not own
    ]
    trees = load("model.privet").trees_
    assert trees.first.n_trees == 3
    height = max(map(len, trees.attributes))
    assert (summary["method"], summary["trees"], summary["height"]) == ("private-forest", trees.n_trees, height)
    assert max(summary["importances"], key=summary["importances"].get) == "age"


def test_a_fit_of_the_balance_alone_says_that_nothing_stands_out(privet):
    result = privet(f"{FIT} --epsilon 0.001")
    assert result.exit_code == 0
    assert "only the class balance would be released" in result.stderr
    assert "No attribute stands out from the noise" in result.stdout
    summary = json.loads(privet(f"{FIT} --epsilon 0.001 --force --json").stdout)
    assert (summary["trees"], summary["height"]) == (0, 0)


def test_a_delta_reaches_the_model_and_the_ledger(privet):
    privet("ledger init ledger.db --dataset patients --epsilon 3 --delta 0.001")
    assert privet(f"{FIT} --epsilon 1 --delta 1e-6 --ledger ledger.db").exit_code == 0
    assert load("model.privet").delta == 1e-6


@pytest.mark.parametrize("verb", [FIT, "plan --schema schema.json", "evaluate rows.csv --schema schema.json"])
def test_a_delta_is_refused_where_the_method_knows_none(refused, verb):
    said = refused(f"{verb} --method dpdf --delta 1e-6", EXIT_USAGE)
    assert said == "--delta does not apply to dpdf; leave it out, or choose another --method"


def test_a_delta_is_a_chance(refused):
    assert "invalid value for '--delta'" in refused(f"{FIT} --delta 2", EXIT_USAGE)
    assert "delta=1.0 is no probability below 1" in refused(f"{FIT} --delta 1", EXIT_USAGE)


@pytest.mark.parametrize("option", ["--trees 3", "--height 2", "--variant paper"])
def test_what_it_settles_by_itself_is_refused(refused, option):
    said = refused(f"{FIT} {option}", EXIT_USAGE)
    assert said == f"{option.split()[0]} does not apply to private-forest; leave it out, or choose another --method"


def test_a_fit_says_which_attributes_are_not_told_apart_from_noise(privet, monkeypatch):
    monkeypatch.setattr("privet.report.page.counts.not_told_apart", lambda model: ["sex"])
    lines = privet(f"{FIT} --epsilon 50").stdout.splitlines()
    (line,) = [line for line in lines if "not told apart" in line]
    assert line.startswith("sex ")
    assert line.endswith("not told apart from noise")


def test_its_plan_shows_the_split_and_the_expected_loss(privet):
    result = privet(f"{PLAN} --epsilon 100")
    lines = result.stdout.splitlines()
    assert lines[0] == "private-forest at epsilon=100 per row, planned for 300 rows"
    assert [line.split("  ")[0] for line in lines[3:7]] == [
        "class balance", "rows in each cell", "leaf weights", "last digits of leaf weights",
    ]  # fmt: skip
    assert "`privet evaluate` measures how accurate the model is" in " ".join(lines[-2:])
    needed = PrivateForestClassifier("schema.json").epsilon_needed()
    assert f"epsilon for an expected loss of 2 points at 300 rows: {needed:g}" in lines
    assert any(line.startswith("expected loss against no noise  about ") for line in lines)
    assert "reliable" not in result.stdout
    assert result.stderr == ""


def test_json_is_the_estimators_own_plan(privet):
    data = json.loads(privet(f"{PLAN} --rows 50000 --delta 1e-6 --json").stdout)
    model = PrivateForestClassifier("schema.json", delta=1e-6, random_state=3)
    plan = model.plan(50_000)
    assert {key: data[key] for key in plan.to_json()} == json.loads(json.dumps(plan.to_json()))
    assert data["expected_loss"] == plan.expected_loss._asdict()
    assert (data["asked_loss"], data["epsilon_needed"]) == (0.02, model.epsilon_needed(50_000, loss=0.02))


def test_a_plan_for_too_few_rows_says_what_would_be_released(privet):
    said = privet(f"{PLAN} --epsilon 0.01")
    assert "for so few rows at this epsilon only the class balance would be released" in said.stderr
    assert said.exit_code == 0
    assert "noise is expected to cost about" in privet(f"{PLAN} --epsilon 0.08").stderr


def test_rules_are_refused_with_the_methods_that_have_them(weights_file, refused):
    assert refused("rules model.privet", EXIT_USAGE) == (
        "'model.privet' is a private-forest, which releases weights and has no rules; see `privet report` and `privet "
        "explain`, or fit with --method diffpid3, dp-rf, dpdf, private-id3, private-rdt"
    )


def test_the_report_shows_what_attributes_do(weights_file, privet):
    assert privet("report model.privet").exit_code == 0
    assert "What each attribute does" in Path("model.html").read_text()
    said = json.loads(privet("report model.privet --json").stdout)
    assert {name for shape in said["shapes"] for name in shape["attributes"]} == {"age", "sex", "children"}


def test_it_predicts_and_evaluates(weights_file, privet):
    assert set(privet("predict model.privet rows.csv").stdout.split()[1:]) == {"no", "yes"}
    scores = json.loads(privet("evaluate rows.csv --schema schema.json --folds 2 --epsilon inf --json").stdout)
    assert scores["scores"][0]["accuracy"] > 0.9
