"""A regressor under attack: it keeps its promise, and faults in what becomes of targets are caught."""

import numpy as np
import pytest

from privet import (
    Categorical,
    Numeric,
    PrivateForestClassifier,
    PrivateForestRegressor,
    Schema,
    audit,
    audit_in_one_run,
)
from privet.attack.neighbours import Neighbours, empty_table, table_of, worst_cases
from privet.errors import ParameterError
from privet.schema import encoding

ATTRIBUTES = [Categorical("sex", ["female", "male"]), Categorical("job", ["nurse", "cook"])]
SCHEMA = Schema(ATTRIBUTES, target=Numeric("pay", 0, 10), rows=100)
RUNS = 400
# What is shown is too much in one run of a million.
CONFIDENCE = 1 - 1e-6


def regressor(**options):
    return PrivateForestRegressor(SCHEMA, **{"epsilon": 1.0, "n_jobs": 1, "random_state": 3, **options})


def test_the_worst_cases_are_those_of_two_classes_at_the_bounds():
    of_classes = worst_cases(Schema(ATTRIBUTES, classes=[0.0, 10.0]))
    for own, other in zip(worst_cases(SCHEMA), of_classes, strict=True):
        assert own.name == other.name
        assert own.with_row.y.tolist() == other.with_row.y.tolist()


def test_attacks_show_no_more_than_the_claim():
    assert audit(regressor(), runs=RUNS, confidence=CONFIDENCE, n_jobs=1).epsilon_shown <= 1.0


def test_a_fit_without_noise_is_told_apart():
    case = [Neighbours("a row, or an empty table", empty_table(SCHEMA), table_of([["male", "cook"]], [7.5]))]
    assert (
        audit(
            regressor(epsilon=float("inf")), case, epsilon=1.0, runs=RUNS, confidence=CONFIDENCE, n_jobs=1
        ).epsilon_shown
        > 1.0
    )


def test_targets_that_are_not_clipped_are_caught(monkeypatch):
    case = [Neighbours("far beyond the bounds", empty_table(SCHEMA), table_of([["male", "cook"]], [120.0]))]
    assert audit(regressor(), case, runs=RUNS, confidence=CONFIDENCE, n_jobs=1).epsilon_shown <= 1.0

    def unclipped(self, labels):
        return np.rint(np.asarray(labels, dtype=float) / 10 * encoding.TARGET_STEPS).astype(np.uint16)

    monkeypatch.setattr(encoding.TargetEncoder, "encode_labels", unclipped)
    assert audit(regressor(), case, runs=RUNS, confidence=CONFIDENCE, n_jobs=1).epsilon_shown > 1.5


def test_one_run_is_for_classifiers():
    with pytest.raises(ParameterError, match="one run takes a classifier of privet"):
        audit_in_one_run(regressor())
    assert isinstance(audit_in_one_run(PrivateForestClassifier(epsilon=1.0), n_canaries=20).right, int)
