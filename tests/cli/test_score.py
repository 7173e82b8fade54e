"""privet score: exact scores of a model on rows with known labels."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import balanced_accuracy_score, log_loss, recall_score, roc_auc_score

from privet import load
from privet.cli.support.output import EXIT_DATA, EXIT_USAGE
from privet.model_file import read_document


def test_scores_are_those_of_scikit_learn(privet, model_file):
    result = privet("score model.privet rows.csv --by sex --json")
    assert result.exit_code == 0, result.output
    assert "unless the rows are public, do not publish them" in result.stderr
    said, rows, model = json.loads(result.stdout), pd.read_csv("rows.csv"), load(model_file)
    chances, y = model.predict_proba(rows[list(model.schema_.names)]), rows["class"]
    predicted = model.classes_[chances.argmax(axis=1)]
    assert said["model"] == read_document(model_file)["checksum"]
    assert said["rows"] == len(rows)
    assert said["accuracy"] == pytest.approx((predicted == y).mean())
    assert said["balanced_accuracy"] == pytest.approx(balanced_accuracy_score(y, predicted))
    assert said["log_loss"] == pytest.approx(log_loss(y, chances, labels=list(model.classes_)))
    assert said["auc"] == pytest.approx(roc_auc_score(y == "yes", chances[:, 1]))
    assert said["recall"]["yes"] == pytest.approx(recall_score(y, predicted, pos_label="yes"))
    for sex, own in said["by_group"]["sex"].items():
        there = rows["sex"] == sex
        assert own["rows"] == there.sum()
        assert own["accuracy"] == pytest.approx((predicted == y)[there].mean())


def test_a_line_a_group(privet, model_file):
    lines = privet("score model.privet rows.csv --by sex").stdout.splitlines()
    assert [line.split("  ")[0] for line in lines] == ["rows", "all", "sex = female", "sex = male"]


def test_a_column_that_the_model_does_not_have_can_make_groups(privet, model_file):
    rows = pd.read_csv("rows.csv")
    rows.assign(ward=np.where(rows.index < 10, 1, 2)).to_csv("wards.csv", index=False)
    said = json.loads(privet("score model.privet wards.csv --by ward --json").stdout)
    assert {name: own["rows"] for name, own in said["by_group"]["ward"].items()} == {"1": 10, "2": 290}


def test_one_class_alone_has_no_auc(privet, model_file):
    rows = pd.read_csv("rows.csv")
    rows[rows["class"] == "yes"].to_csv("old.csv", index=False)
    said = json.loads(privet("score model.privet old.csv --json").stdout)
    assert "auc" not in said
    assert list(said["recall"]) == ["yes"]


@pytest.mark.parametrize(
    ("line", "code", "sentence"),
    [
        ("score model.privet rows.csv --by age", EXIT_USAGE, "--by 'age' has more than 50 values; choose a column"),
        ("score model.privet rows.csv --by nothing", EXIT_DATA, "nothing"),
        ("score model.privet rows.csv --by class", EXIT_DATA, "'class' is the label itself; name another column"),
        ("score model.privet empty.csv", EXIT_DATA, "'empty.csv' has no rows; pass rows with their labels"),
    ],
)
def test_what_cannot_be_scored_is_refused(refused, model_file, line, code, sentence):
    Path("empty.csv").write_text("age,sex,children,class\n")
    assert sentence in refused(line, code)
