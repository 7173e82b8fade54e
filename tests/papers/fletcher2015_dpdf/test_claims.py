import pytest
from tests.papers.accuracy_lines import accuracies_of, lines_of

from papers.accuracies import Accuracies
from papers.fletcher2015_dpdf.accuracy import (
    BUDGETS,
    FOREST,
    GINI,
    N_GINI,
    PAPER_1,
    PAPER_4,
    SOUND_1,
    SOUND_4,
    TABLES,
)
from papers.fletcher2015_dpdf.claims import (
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
    at_least_as_accurate,
    price_of_a_choice,
    price_of_a_question,
    price_of_a_sound_choice,
)

METHODS = {PAPER_1: 80.0, PAPER_4: 75.0, SOUND_1: 81.0, SOUND_4: 76.0, GINI: 70.0, N_GINI: 82.0}
LEVELS = {FOREST: 90.0}


def accuracies(told=None):
    return accuracies_of(TABLES, BUDGETS, METHODS, LEVELS, told)


def everywhere(method, table, accuracy):
    return {(method, table, budget): accuracy for budget in BUDGETS}


def test_above_diffpid3_holds_in_every_cell_or_not_at_all():
    claim = above_diffpid3(accuracies())
    assert claim.holds
    assert claim.measured == "20 of 20 cells; sound form: 20 of 20 cells"
    claim = above_diffpid3(accuracies({(PAPER_1, "nursery", 0.1): 69.0}))
    assert claim.holds is False
    assert claim.measured.startswith("19 of 20 cells;")
    assert claim.why.startswith("below in Nursery at 0.1: ")


def test_tables_that_overlap_are_not_among_those_that_must_be_above():
    assert above_diffpid3(accuracies(everywhere(PAPER_1, "tic-tac-toe", 10.0))).holds


def test_lines_overlap_where_they_cross_or_touch_and_not_where_one_is_far_above_or_below():
    near = {(PAPER_1, "tic-tac-toe", 0.1): 70.5, (PAPER_1, "connect-4", 0.1): 60.0}
    claim = overlap_at_one_tree(accuracies(near))
    assert claim.holds
    assert claim.measured.startswith("Tic-Tac-Toe +0.5 to +10.0, Connect-4 -10.0 to +10.0;")
    assert claim.why.endswith("those that cross: Connect-4")
    assert overlap_at_one_tree(accuracies()).holds is False
    below = everywhere(PAPER_1, "tic-tac-toe", 60.0) | {(PAPER_1, "connect-4", 0.1): 60.0}
    assert overlap_at_one_tree(accuracies(below)).holds is False


def test_four_trees_must_win_every_cell():
    assert no_overlap_at_four_trees(accuracies()).holds
    claim = no_overlap_at_four_trees(accuracies({(PAPER_4, "connect-4", 0.25): 70.0}))
    assert claim.holds is False
    assert claim.why.startswith("below in Connect-4 at 0.25: four trees share the budget")


def test_half_of_the_way_is_halfway_between_diffpid3_and_the_forest():
    claim = halves_the_difference(accuracies())
    assert claim.holds
    assert claim.measured == "6 of 6 with one tree, 0 with four; sound form: 6 and 0"
    assert "Nursery 50 %" in claim.why
    three = {(FOREST, name): 91.0 for name in list(TABLES)[:3]}
    assert halves_the_difference(accuracies(three)).holds is False


@pytest.mark.parametrize(("lead", "holds"), [(23.6, True), (23.4, False), (33.0, True)])
def test_almost_25_points_is_24_at_least(lead, holds):
    claim = nursery_above_diffpid3(accuracies({(PAPER_1, "nursery", 1.0): 70.0 + lead}))
    assert claim.holds is holds
    assert claim.measured == f"up to {lead:.1f} (at 1); sound form: 11.0"


@pytest.mark.parametrize(("behind", "holds"), [(7.4, True), (7.6, False)])
def test_within_7_points_of_the_forest_is_judged_at_the_best_budget(behind, holds):
    claim = nursery_near_the_forest(accuracies({(PAPER_1, "nursery", 2.0): 90.0 - behind}))
    assert claim.holds is holds
    assert claim.measured == f"{behind:.1f} (at 2, forest 90.0); sound form: 9.0"


def test_accuracy_rises_if_most_steps_of_every_method_do():
    rising = {
        (method, name, budget): METHODS[method] + budget
        for method in (PAPER_1, PAPER_4, GINI)
        for name in TABLES
        for budget in BUDGETS
    }
    claim = rises_with_the_budget(accuracies(rising))
    assert claim.holds
    assert f"{GINI}: 24 of 24 steps rise" in claim.measured
    assert rises_with_the_budget(accuracies()).holds is False


def test_one_falling_step_on_connect_4_is_enough_and_elsewhere_none_counts():
    rising = {(method, "connect-4", budget): 60 + budget for method in (PAPER_1, PAPER_4, GINI) for budget in BUDGETS}
    claim = connect_4_does_not_rise(accuracies(rising))
    assert claim.holds is False
    assert claim.measured == "0 of 12 steps fall"
    assert connect_4_does_not_rise(accuracies(rising | {(GINI, "connect-4", 0.25): 60.0})).holds


def test_sometimes_is_told_apart_from_nearly_always():
    claim = one_tree_or_four(accuracies())
    assert claim.holds
    assert claim.measured.startswith("30 of 30 cells, by 5.0 points on average;")
    assert claim.why.startswith("nearly always: ")
    never = {key: 90.0 for name in TABLES for key in everywhere(PAPER_4, name, 90.0)}
    assert one_tree_or_four(accuracies(never)).holds is False


def test_the_forest_on_connect_4_is_compared_with_every_private_method():
    assert connect_4_above_the_forest(accuracies({(FOREST, "connect-4"): 65.0})).holds
    claim = connect_4_above_the_forest(accuracies())
    assert claim.holds is False
    assert claim.measured == "0 of 15 cells; the forest has 90.0, the best private tree 80.0"


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


def test_the_sound_form_may_fall_a_point_short_of_the_papers():
    claim = at_least_as_accurate(accuracies(), SOUND_1, PAPER_1, "as good")
    assert claim.holds
    assert claim.measured == "+1.0 points on average, ahead in 30 of 30 cells"
    short = {(SOUND_1, name, budget): 78.9 for name in TABLES for budget in BUDGETS}
    assert at_least_as_accurate(accuracies(short), SOUND_1, PAPER_1, "as good").holds is False


def test_where_it_is_behind_is_told():
    claim = ahead(accuracies({(SOUND_1, "nursery", 0.5): 60.0}), SOUND_1, GINI, "ahead")
    assert claim.holds
    assert claim.why == "behind in Nursery at 0.5"
    assert ahead(accuracies(), SOUND_1, N_GINI, "ahead").holds is False


def test_with_a_cell_missing_no_claim_about_it_is_judged():
    lines = lines_of(TABLES, BUDGETS, METHODS, LEVELS)
    some = Accuracies(lines[lines["epsilon"] != 2.0], tuple(TABLES), BUDGETS)
    assert {claim.holds for claim in (*paper_claims(some), *accuracy_claims(some))} == {None}
