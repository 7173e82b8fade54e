import pytest
from tests.papers.accuracy_lines import accuracies_of, lines_of

from papers.accuracies import Accuracies
from papers.fletcher2015_dpdf.accuracy import (
    BUDGETS,
    FOREST,
    GINI,
    GINI_100,
    N_GINI,
    PAPER_1,
    PAPER_4,
    PAPER_METHODS,
    SOUND_1,
    SOUND_4,
    TABLES,
)
from papers.fletcher2015_dpdf.claims import (
    ANOTHER_SET_UP,
    RULES,
    above_diffpid3,
    connect_4_above_the_forest,
    connect_4_does_not_rise,
    halves_the_difference,
    no_overlap_at_four_trees,
    nursery_above_diffpid3,
    nursery_near_the_forest,
    one_tree_or_four,
    overlap_at_one_tree,
    paper_claims,
    rises_with_the_budget,
)
from papers.fletcher2015_dpdf.own_claims import (
    accuracy_claims,
    ahead,
    price_of_a_choice,
    price_of_a_question,
    price_of_a_sound_choice,
)

METHODS = {PAPER_1: 80.0, PAPER_4: 75.0, SOUND_1: 81.0, SOUND_4: 76.0, GINI_100: 69.0, GINI: 70.0, N_GINI: 82.0}
LEVELS = {FOREST: 90.0}


def accuracies(told=None):
    return accuracies_of(TABLES, BUDGETS, METHODS, LEVELS, told)


def everywhere(method, table, accuracy):
    return {(method, table, budget): accuracy for budget in BUDGETS}


@pytest.mark.parametrize("rival", RULES)
def test_above_diffpid3_holds_in_every_cell_or_not_at_all(rival):
    claim = above_diffpid3(accuracies(), rival)
    assert claim.holds
    assert claim.measured == "20 of 20 cells; sound form: 20 of 20 cells"
    claim = above_diffpid3(accuracies({(PAPER_1, "nursery", 0.1): 69.0}), rival)
    assert claim.holds is False
    assert claim.measured.startswith("19 of 20 cells;")
    assert claim.why.startswith("not above in Nursery at 0.1; ")


def test_where_one_rule_of_stopping_decides_the_protocol_is_the_reason_and_else_the_table():
    between = {(PAPER_1, "nursery", 0.1): 69.5}  # above DiffPID3 that stops at 100 rows, below the other
    assert above_diffpid3(accuracies(between), GINI_100).holds
    claim = above_diffpid3(accuracies(between), GINI)
    assert (claim.fault, claim.why) == ("protocol", "not above in Nursery at 0.1; with the other rule it holds")
    claim = above_diffpid3(accuracies({(PAPER_1, "nursery", 0.1): 60.0}), GINI)
    assert claim.fault == "protocol"
    assert claim.why.endswith(f"with the other rule it does not hold either, on Nursery; {ANOTHER_SET_UP}")


def test_tables_that_overlap_are_not_among_those_that_must_be_above():
    assert above_diffpid3(accuracies(everywhere(PAPER_1, "tic-tac-toe", 10.0)), GINI).holds


def test_lines_overlap_where_they_cross_or_touch_and_not_where_one_is_far_above_or_below():
    near = {(PAPER_1, "tic-tac-toe", 0.1): 70.5, (PAPER_1, "connect-4", 0.1): 60.0}
    claim = overlap_at_one_tree(accuracies(near), GINI)
    assert claim.holds
    assert claim.measured.startswith("Tic-Tac-Toe +0.5 to +10.0, Connect-4 -10.0 to +10.0;")
    claim = overlap_at_one_tree(accuracies(), GINI)
    assert claim.holds is False
    assert claim.why.startswith("apart: Tic-Tac-Toe +10.0 to +10.0, Connect-4 +10.0 to +10.0; with the other rule it")
    below = everywhere(PAPER_1, "tic-tac-toe", 60.0) | {(PAPER_1, "connect-4", 0.1): 60.0}
    assert overlap_at_one_tree(accuracies(below), GINI).holds is False


def test_four_trees_must_win_every_cell():
    assert no_overlap_at_four_trees(accuracies(), GINI).holds
    claim = no_overlap_at_four_trees(accuracies({(PAPER_4, "connect-4", 0.25): 70.0}), GINI)
    assert claim.holds is False
    assert claim.why.startswith("not above in Connect-4 at 0.25; with the other rule it holds")


def test_half_of_the_way_is_halfway_between_diffpid3_and_the_forest():
    claim = halves_the_difference(accuracies(), GINI)
    assert claim.holds
    assert claim.measured == "6 of 6 with one tree, 0 with four; sound form: 6 and 0"
    three = {(FOREST, name): 91.0 for name in list(TABLES)[:3]}
    claim = halves_the_difference(accuracies(three), GINI)
    assert claim.holds is False
    assert "Nursery 50 %" in claim.why


@pytest.mark.parametrize(("lead", "holds"), [(23.6, True), (23.4, False), (33.0, True)])
def test_almost_25_points_is_24_at_least(lead, holds):
    claim = nursery_above_diffpid3(accuracies({(PAPER_1, "nursery", 1.0): 70.0 + lead}), GINI)
    assert claim.holds is holds
    assert claim.measured == f"up to {lead:.1f} (at 1); sound form: 11.0"
    assert claim.why == ("" if holds else f"with the other rule up to {lead + 1:.1f}")


@pytest.mark.parametrize(("behind", "holds"), [(7.4, True), (7.6, False)])
def test_within_7_points_of_the_forest_is_judged_at_the_best_budget(behind, holds):
    claim = nursery_near_the_forest(accuracies({(PAPER_1, "nursery", 2.0): 90.0 - behind}))
    assert claim.holds is holds
    assert claim.measured == f"{behind:.1f} (at 2, forest 90.0); sound form: 9.0"


def test_accuracy_rises_if_most_steps_of_every_method_do():
    rising = {
        (method, name, budget): METHODS[method] + budget
        for method in PAPER_METHODS
        for name in TABLES
        for budget in BUDGETS
    }
    claim = rises_with_the_budget(accuracies(rising))
    assert claim.holds
    assert f"{GINI}: 24 of 24 steps rise" in claim.measured
    assert rises_with_the_budget(accuracies()).holds is False


def test_one_falling_step_on_connect_4_is_enough_and_elsewhere_none_counts():
    rising = {(method, "connect-4", budget): 60 + budget for method in PAPER_METHODS for budget in BUDGETS}
    falling = rising | {(GINI, "connect-4", 0.25): 60.0}
    claim = connect_4_does_not_rise(accuracies(rising), accuracies(falling))
    assert (claim.holds, claim.fault) == (False, "protocol")
    assert claim.measured == "0 of 16 steps fall"
    assert claim.why == "with folds in the order of the file 1 of 16 steps fall"
    assert connect_4_does_not_rise(accuracies(falling), accuracies(rising)).holds


def test_sometimes_is_once_or_more():
    claim = one_tree_or_four(accuracies())
    assert claim.holds
    assert claim.measured.startswith("30 of 30 cells, by 5.0 points on average;")
    never = {key: 90.0 for name in TABLES for key in everywhere(PAPER_4, name, 90.0)}
    assert one_tree_or_four(accuracies(never)).holds is False


def test_the_forest_on_connect_4_is_compared_with_every_private_method():
    low = accuracies({(FOREST, "connect-4"): 65.0})
    assert connect_4_above_the_forest(low, accuracies()).holds
    claim = connect_4_above_the_forest(accuracies(), low)
    assert (claim.holds, claim.fault) == (False, "protocol")
    assert claim.measured == "0 of 20 cells; the forest has 90.0, the best private tree 80.0"
    assert "20 of 20 cells are above" in claim.why
    assert claim.why.endswith("the forest has 65.0")


def test_prices_are_those_of_table_1():
    claim = price_of_a_question()
    assert claim.holds
    assert claim.measured == "15 of 15 equal"


def test_the_papers_choice_costs_more_than_its_price_and_the_sound_one_does_not():
    claim = price_of_a_choice()
    assert claim.holds is False
    assert claim.measured == "0.205 at a node of one row that seems to hold 1,000; 0.170 for the likelier choice"
    assert claim.why.endswith("one node of one row in 16 seems as large, or larger")
    assert price_of_a_sound_choice().holds


def test_ahead_on_average_is_ahead_by_any_mean_above_0():
    claim = ahead(accuracies(), SOUND_1, PAPER_1, "ahead")
    assert (claim.holds, claim.source) == (True, "ours")
    assert claim.measured == "+1.0 points on average, ahead in 30 of 30 cells"
    short = {(SOUND_1, name, budget): 79.9 for name in TABLES for budget in BUDGETS}
    assert ahead(accuracies(short), SOUND_1, PAPER_1, "ahead").holds is False


def test_where_it_is_behind_is_told():
    claim = ahead(accuracies({(SOUND_1, "nursery", 0.5): 60.0}), SOUND_1, GINI, "ahead")
    assert claim.holds
    assert claim.why == "behind in Nursery at 0.5"
    assert ahead(accuracies(), SOUND_1, N_GINI, "ahead").holds is False


def test_with_a_cell_missing_no_claim_about_it_is_judged():
    lines = lines_of(TABLES, BUDGETS, METHODS, LEVELS)
    some = Accuracies(lines[lines["epsilon"] != 2.0], tuple(TABLES), BUDGETS)
    assert {claim.holds for claim in (*paper_claims(some, some), *accuracy_claims(some))} == {None}
