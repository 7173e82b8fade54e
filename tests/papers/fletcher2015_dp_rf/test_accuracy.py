import math

import pytest
from tests.papers.accuracy_lines import told_by_colour

from papers.cross_validation import table
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
    measure,
)


def test_a_quick_run_is_the_first_run_of_the_full_one():
    quick, full = list(cells("quick")), list(cells("full"))
    assert len(quick) == len(TABLES) * (3 * len(BUDGETS) + 1)
    assert full[: len(quick)] == quick
    assert len(full) == len(set(full))


def test_the_full_run_has_the_papers_number_of_runs_but_for_the_largest_tables_and_what_is_ours():
    full = list(cells("full"))
    assert sum(cell[:3] == ("nursery", DP_RF, 0.05) for cell in full) == RUNS
    assert sum(cell[:3] == ("adult", PRIVATE_RDT, 2.0) for cell in full) == FEWER_RUNS < RUNS
    assert sum(cell[:3] == ("nursery", ROOT_C, 0.05) for cell in full) == FEWER_RUNS
    assert next(cell for cell in full if cell[1] == MOST_FREQUENT) == ("car-evaluation", MOST_FREQUENT, math.inf, 0)


def test_methods_are_what_their_names_say():
    schema = told_by_colour().schema
    assert classifier(DP_RF, schema, 0.5).noise_factor == "classes"
    assert classifier(ROOT_C, schema, 0.5).noise_factor == "sqrt_classes"
    assert classifier(PRIVATE_RDT, schema, 0.5).n_trees == 10
    assert classifier(PRIVATE_RDT, schema, 0.5).epsilon == 0.5


@pytest.mark.parametrize("method", [DP_RF, ROOT_C, PRIVATE_RDT])
def test_without_noise_every_method_learns_what_an_attribute_tells(method, monkeypatch):
    monkeypatch.setattr(accuracy, "table", lambda _name: told_by_colour())
    assert measure("colours", method, math.inf, 0) == [(100.0,)]


def test_the_most_frequent_class_is_measured_by_the_same_folds(monkeypatch):
    monkeypatch.setattr(accuracy, "table", lambda _name: told_by_colour())
    assert measure("colours", MOST_FREQUENT, math.inf, 0) == [(66.667,)]


@pytest.mark.real_data
def test_numbers_are_cut_into_five_cells_for_both_methods():
    schema = table("pima-diabetes").schema.with_bins(accuracy.BINS)
    assert {attribute.n_values for attribute in schema.attributes} == {5}
