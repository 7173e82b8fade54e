import pandas as pd
import pytest
from tests.papers.accuracy_lines import accuracies_of, lines_of

from papers.fletcher2015_dp_rf.accuracy import BUDGETS, DP_RF, MOST_FREQUENT, PRIVATE_RDT, ROOT_C, TABLES
from papers.fletcher2015_dp_rf.claims import (
    above_the_most_frequent_class,
    ahead_on_average,
    by_root_of_classes,
    cells_won,
    claims,
    largest_gain,
    largest_loss,
)

METHODS = {DP_RF: 80.0, PRIVATE_RDT: 70.0, ROOT_C: 75.0}
LEVELS = {MOST_FREQUENT: 60.0}


def accuracies(**told):
    return accuracies_of(TABLES, BUDGETS, METHODS, LEVELS, told.get("told"))


def lead(**cells_by_table):
    """Ten points everywhere, but for the cells told as table=(budget, points)."""
    figures = pd.DataFrame(10.0, index=list(TABLES), columns=list(BUDGETS))
    for name, (budget, points) in cells_by_table.items():
        figures.loc[name, budget] = points
    return figures


def behind_on(*names):
    figures = lead()
    figures.loc[list(names)] = -1.0
    return figures


def test_ahead_on_every_table_holds():
    claim = ahead_on_average(lead(nursery=(2.0, -50.0)))
    assert claim.holds
    assert claim.measured.startswith("9 of 9: Nursery +1.43, Car Evaluation +10.00")
    assert claim.why == ""


def test_tables_on_which_it_is_not_ahead_are_named_however_little():
    figures = behind_on("mushroom")
    figures.loc["page-blocks"] = 0.0
    claim = ahead_on_average(figures)
    assert claim.holds is False
    assert claim.measured.startswith("7 of 9: Mushroom -1.00, Page Blocks +0.00")
    assert claim.why.startswith("not ahead on Mushroom, Page Blocks; ahead on all others")
    assert claim.fault == "data set"
    figures.loc[["mushroom", "page-blocks"]] = 0.01
    assert ahead_on_average(figures).holds


def test_a_cell_is_won_by_any_lead_above_0():
    assert cells_won(lead(nursery=(2.0, 0.001))).measured == "63 of 63"
    assert cells_won(lead(nursery=(2.0, 0.0))).measured == "62 of 63, and 1 equal"
    assert cells_won(behind_on("car-evaluation")).holds
    claim = cells_won(behind_on("car-evaluation", "nursery"))
    assert claim.holds is False
    assert claim.measured == "49 of 63"
    assert claim.why.startswith("behind in Car Evaluation at every budget; Nursery at every budget;")
    assert claim.fault == "data set"


def test_where_every_table_has_lost_cells_the_choice_of_tables_is_no_explanation():
    figures = lead()
    figures[[1.0, 2.0]] = -1.0
    claim = cells_won(figures)
    assert claim.fault == "protocol"
    assert "each of ours has 2 cells or more in which it is not ahead" in claim.why


@pytest.mark.parametrize(("points", "holds"), [(44.6, True), (44.4, False)])
def test_the_largest_gain_is_a_whole_number_in_the_paper(points, holds):
    claim = largest_gain(lead(nursery=(0.05, points)))
    assert claim.holds is holds
    assert claim.measured == f"{points:.1f} (Nursery at 0.05)"


@pytest.mark.parametrize(("points", "holds"), [(-7.4, True), (-7.6, False)])
def test_the_largest_loss_is_a_whole_number_in_the_paper(points, holds):
    claim = largest_loss(lead(adult=(2.0, points)))
    assert claim.holds is holds
    assert claim.measured == f"{-points:.1f} (Adult at 2)"
    assert claim.why.startswith("" if holds else "beyond 7 in Adult at 2 and nowhere else; ")


def test_what_is_not_above_the_most_frequent_class_is_no_high_accuracy():
    assert above_the_most_frequent_class(accuracies()).holds
    told = {(DP_RF, name, budget): 60.9 for name in list(TABLES)[:5] for budget in BUDGETS}
    claim = above_the_most_frequent_class(accuracies(told=told))
    assert claim.holds is False
    assert claim.measured == "28 of 63 cells"
    assert claim.why.startswith("only Nursery at every budget")


def test_the_root_of_the_number_of_classes_is_compared_by_means_cells_and_the_worst():
    claim = by_root_of_classes(accuracies(told={(ROOT_C, "nursery", 1.0): 52.0}))
    assert claim.holds
    assert claim.source == "ours"
    means, cells = claim.measured.split("; ")
    assert means == "mean accuracy 80.0 with C, 74.6 with sqrt(C)"
    assert cells == "ahead of Private-RDT in 63 and 62 cells, at worst -10.0 and 18.0 behind"
    better = {(ROOT_C, name, budget): 81.0 for name in TABLES for budget in BUDGETS}
    assert by_root_of_classes(accuracies(told=better)).holds is False


def test_with_a_cell_missing_no_claim_is_judged():
    lines = lines_of(TABLES, BUDGETS, METHODS, LEVELS)
    lines = lines[~((lines["table"] == "adult") & (lines["epsilon"] == 2.0))]
    assert {claim.holds for claim in claims({"accuracy": lines})} == {None}
