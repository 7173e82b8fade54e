"""The rows in each cell: in the file, the receipts, the plan and the report of a forest."""

import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from privet import Categorical, Numeric, PrivateForestClassifier, Schema, load
from privet.central.receipts import in_sequence
from privet.errors import ModelFileError
from privet.model_file import write_document
from privet.report.page.weights import released_values

# Enough for each of three attributes at epsilon 1 that it is released how they lie; a fifth of them is too few.
N_ROWS = 1_100
ATTRIBUTES = [Numeric("age", 0, 100, bins=4), Categorical("job", ["nurse", "cook"]), Numeric("pay", 0, 9, edges=[3])]


def rows(n=N_ROWS, seed=1):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {"age": rng.uniform(0, 50, n), "job": rng.choice(["nurse", "cook"], n), "pay": rng.uniform(0, 3, n)}
    )
    return X, np.where(X["age"] > 25, "yes", "no")


def forest(epsilon=1.0, n=N_ROWS, **options):
    schema = Schema(ATTRIBUTES, classes=["no", "yes"], rows=n)
    return PrivateForestClassifier(schema, epsilon=epsilon, **options)


def test_a_forest_with_cells_comes_back_from_its_file_as_it_was(tmp_path):
    model = forest().fit(*rows())
    document = model.to_document()
    assert document["version"] == (5 if model.trees_.n_later else 4)
    assert len(document["released"]["cells"]) == 5 + 3 + 3
    model.save(tmp_path / "m.privet")
    again = load(tmp_path / "m.privet")
    assert again.to_document() == document
    assert_array_equal(again.feature_importances_, model.feature_importances_)
    assert_array_equal(again.told_apart_, model.told_apart_)
    assert_array_equal(again.predict_proba(rows()[0]), model.predict_proba(rows()[0]))


def test_a_forest_without_cells_has_the_version_that_it_had():
    assert forest(n=299).fit(*rows(299)).to_document()["version"] == 3
    three = Schema(ATTRIBUTES, classes=["no", "yes", "maybe"], rows=299)
    assert PrivateForestClassifier(three).fit(*rows(299)).to_document()["version"] == 2
    counted = PrivateForestClassifier(replace(three, rows=N_ROWS)).fit(*rows())
    assert counted.to_document()["version"] == (5 if counted.trees_.n_later else 4)


def test_cells_change_no_prediction():
    model = forest().fit(*rows())
    before = model.predict_proba(rows()[0])
    model._set_fitted(model._encoder, [replace(model.released_, cells=None)], model.guarantee_)
    assert_array_equal(model.predict_proba(rows()[0]), before)


def forged(document, what):
    released, receipts = dict(document["released"]), list(document["guarantee"]["event"]["parts"])
    place = [receipt["what"] for receipt in receipts].index("rows in each cell")
    if what == "a cell less":
        released["cells"] = released["cells"][:-1]
    elif what == "no cell":
        released["cells"] = []
    elif what == "counts beyond floats":
        released["cells"] = [-(2**53)] * len(released["cells"])
    elif what == "a share":
        released["cells"][0] = 0.5
    elif what in ("no cells", "no cells but an earlier version"):
        del released["cells"]
    elif what == "no receipt":
        receipts.pop(place)
    elif what == "noise for one attribute":
        receipts[place] = {**receipts[place], "sensitivity": 1}
    elif what == "a receipt at the end":
        receipts.append(receipts.pop(place))
    version = 3 if "earlier" in what else document["version"]
    event = {**document["guarantee"]["event"], "parts": receipts}
    return {
        **document, "version": version, "released": released, "guarantee": {**document["guarantee"], "event": event},
    }  # fmt: skip


@pytest.mark.parametrize(
    "what",
    ["a cell less", "no cell", "counts beyond floats", "a share", "no cells", "an earlier version",
     "no cells but an earlier version", "no receipt", "noise for one attribute", "a receipt at the end"],
)  # fmt: skip
def test_a_file_whose_cells_are_not_what_was_paid_for_is_refused(tmp_path, what):
    write_document(tmp_path / "m.privet", forged(forest().fit(*rows()).to_document(), what))
    with pytest.raises(ModelFileError, match=r"do not fit the trees|was changed|is damaged|not that of this schema"):
        load(tmp_path / "m.privet")


@pytest.mark.parametrize("cell", [-(2**52), -(2**52) + 1, 0, 2**52])
def test_whatever_cells_a_file_may_hold_importances_are_shares(tmp_path, cell):
    document = PrivateForestClassifier(Schema(ATTRIBUTES, classes=["no", "yes"])).fit(*rows(2 * N_ROWS)).to_document()
    cells = [cell] * len(document["released"]["cells"])
    released = {**document["released"], "rows": 1, "balance": [1, 0], "cells": cells}
    write_document(tmp_path / "m.privet", {**document, "released": released})
    importances = load(tmp_path / "m.privet").feature_importances_
    assert np.isfinite(importances).all()
    assert importances.sum() == pytest.approx(1) or not importances.any()


@pytest.mark.parametrize("options", [{}, {"delta": 1e-6}, {"n_attributes": 2}, {"unit": "person", "max_rows": 2}])
def test_the_plan_lists_what_is_paid_for_cells(options):
    X, y = rows(3_000)
    model = forest(2.0, 3_000, **options)
    plan = model.plan()
    assert [step.what for step in plan.steps].count("rows in each cell") == 1
    assert sum(step.epsilon for step in plan.steps) == pytest.approx(2.0)
    model.fit(X.assign(person=np.arange(3_000) // 2) if "unit" in options else X, y)
    (step,) = (step for step in plan.steps if step.what == "rows in each cell")
    (receipt,) = (each for each in in_sequence(model.guarantee_.event) if each.what == "rows in each cell")
    assert (receipt.epsilon, receipt.sensitivity) == (step.epsilon, step.sensitivity)
    assert receipt.epsilon == pytest.approx(0.1)
    assert receipt.sensitivity == len(model.trees_.kept) * options.get("max_rows", 1)
    assert model.released_.cells.size == step.n_values or "n_attributes" in options
    assert "rows in each cell" in str(plan)


def test_the_report_counts_the_numbers_of_cells():
    model = forest().fit(*rows())
    assert released_values(model) == model.released_.weights.size + 2 + 11


def test_without_noise_the_cells_are_exact_and_nothing_is_promised():
    model = forest(math.inf).fit(*rows())
    age = np.histogram(rows()[0]["age"], [0, 25, 50, 75, 100])[0]
    assert model.released_.cells[:5].tolist() == [*age, 0]
    assert model.guarantee_.epsilon == math.inf
    assert_allclose(model.cell_shares_["age"], [*(age / N_ROWS), 0])
    assert list(model.cell_shares_) == [ATTRIBUTES[a].name for a in model.trees_.kept]


def test_shares_are_shown_where_they_were_released():
    shares = forest(20.0).fit(*rows()).cell_shares_
    assert_allclose(shares["age"], [0.5, 0.5, 0, 0, 0], atol=0.1)
    assert {name: len(own) for name, own in shares.items()} == {"age": 5, "job": 3, "pay": 3}
    assert forest(n=299).fit(*rows(299)).cell_shares_ is None


def test_a_weight_in_a_cell_that_no_row_reaches_does_not_make_an_attribute_matter():
    # Age decides, and half of its cells are empty; nobody has a pay beyond 3, where the weight is made a huge one.
    model = forest(20.0, 20_000).fit(*rows(20_000))
    first = model.feature_importances_
    assert first.argmax() == 0
    tree = model.trees_.attributes.index((2,))
    weights = model.released_.weights.copy()
    weights[model.trees_.starts[tree] + 1] = 30 * 2**-model.released_.exponent if model.released_.exponent < 0 else 30
    model._set_fitted(model._encoder, [replace(model.released_, weights=weights)], model.guarantee_)
    assert_allclose(model.feature_importances_, first, atol=0.05)
    assert not model.told_apart_[2]
    # Without the cells it would come first.
    model._set_fitted(model._encoder, [replace(model.released_, cells=None)], model.guarantee_)
    assert model.feature_importances_.argmax() == 2
