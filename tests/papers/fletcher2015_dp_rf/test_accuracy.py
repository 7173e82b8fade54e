import math

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from tests.papers.accuracy_lines import told_by_colour

from papers.fletcher2015_dp_rf import accuracy
from papers.fletcher2015_dp_rf.accuracy import (
    BUDGETS,
    DP_RF,
    FEWER_RUNS,
    MOST_FREQUENT,
    PRIVATE_RDT,
    ROOT_C,
    RUNS,
    TABLES,
    cells,
    classifier,
    in_five,
    measure,
    prepared,
)
from privet import Categorical, Numeric, Schema
from privet.datasets import Dataset


def test_a_quick_run_is_the_first_run_of_the_full_one():
    quick, full = list(cells("quick")), list(cells("full"))
    assert len(quick) == len(TABLES) * (3 * len(BUDGETS) + 1)
    assert full[: len(quick)] == quick
    assert len(full) == len(set(full))


def test_the_full_run_has_the_papers_number_of_runs_but_for_what_is_ours():
    full = list(cells("full"))
    assert sum(cell[:3] == ("nursery", DP_RF, 0.05) for cell in full) == RUNS
    assert sum(cell[:3] == ("adult", PRIVATE_RDT, 2.0) for cell in full) == RUNS
    assert sum(cell[:3] == ("nursery", ROOT_C, 0.05) for cell in full) == FEWER_RUNS < RUNS
    assert next(cell for cell in full if cell[1] == MOST_FREQUENT) == ("car-evaluation", MOST_FREQUENT, math.inf, 0)


def test_methods_are_what_their_names_say():
    schema = told_by_colour().schema
    assert classifier(DP_RF, schema, 0.5).noise_factor == "classes"
    assert classifier(ROOT_C, schema, 0.5).noise_factor == "sqrt_classes"
    assert classifier(PRIVATE_RDT, schema, 0.5).n_trees == 10
    assert classifier(PRIVATE_RDT, schema, 0.5).epsilon == 0.5


@pytest.mark.parametrize("method", [DP_RF, ROOT_C, PRIVATE_RDT])
def test_without_noise_every_method_learns_what_an_attribute_tells(method, monkeypatch):
    monkeypatch.setattr(accuracy, "prepared", lambda _name: told_by_colour())
    assert measure("colours", method, math.inf, 0) == [(100.0,)]


def test_the_most_frequent_class_is_measured_by_the_same_folds(monkeypatch):
    monkeypatch.setattr(accuracy, "prepared", lambda _name: told_by_colour())
    assert measure("colours", MOST_FREQUENT, math.inf, 0) == [(66.667,)]


def test_a_number_becomes_the_category_of_its_cell_by_hand():
    schema = Schema([Numeric("age", 0, 100), Categorical("sex", ["m", "w"])], classes=["no", "yes"])
    # Cells of width 20 hold their lower edge; what is beyond the bounds is in the outer cells.
    X = pd.DataFrame({"age": [0, 19.9, 20, 99, 100, -3, 250, np.nan], "sex": ["m", "w"] * 4})
    cut = in_five(Dataset(X, np.array(["no"] * 8), schema, "people"))
    assert cut.schema.attributes == (
        Categorical("age", range(5)), Categorical("sex", ["m", "w"], never_missing=True),
    )  # fmt: skip
    assert cut.X["age"].tolist()[:-1] == [0, 0, 1, 4, 4, 0, 4]
    assert cut.X["age"].isna().tolist() == [False] * 7 + [True]
    assert_array_equal(cut.X["sex"], X["sex"])


@pytest.mark.real_data
@pytest.mark.parametrize("method", [DP_RF, PRIVATE_RDT])
def test_both_methods_split_a_number_five_ways(method):
    data = prepared("pima-diabetes")
    model = classifier(method, data.schema, 2.0).fit(data.X, data.y)
    tested = model.forest_.attribute[model.forest_.n_children > 0]
    assert len(tested) > 0
    assert set(model.forest_.n_children[model.forest_.n_children > 0]) == {5}


@pytest.mark.real_data
def test_what_has_missing_values_may_lack_them():
    lacking = {a.name for a in prepared("adult").schema.attributes if not a.never_missing}
    assert lacking == {"workclass", "occupation", "native-country"}
    assert [a.name for a in prepared("mushroom").schema.attributes if not a.never_missing] == ["stalk-root"]
