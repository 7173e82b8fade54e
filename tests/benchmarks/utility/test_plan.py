from benchmarks.utility.methods import METHODS
from benchmarks.utility.plan import SYNTHETIC_TABLES, cells, is_measured, repeats_of


def test_the_first_repeat_of_everything_comes_first_and_the_slowest_last():
    asked = cells()
    first = [cell for cell in asked if cell.repeat == 0 and cell.table != "census-income-kdd"]
    assert asked[: len(first)] == first
    assert {cell.table for cell in asked if cell.repeat == 0} == {cell.table for cell in asked}
    assert {cell.table for cell in asked[-50:]} == {"census-income-kdd"}
    assert len(set(asked)) == len(asked)


def test_large_tables_are_cut_less_often():
    assert repeats_of("tic-tac-toe", "DP-EBM") == 10
    assert repeats_of("adult", "DP-EBM") == 5
    assert repeats_of("census-income-kdd", "DPDF, 1 tree") == 2
    assert repeats_of("census-income-kdd", "DP-EBM") == 1


def test_a_peer_for_two_classes_is_not_asked_for_more():
    assert is_measured("adult", METHODS["DP-EBM"])
    assert not is_measured("nursery", METHODS["DP-EBM"])


def test_what_draws_synthetic_rows_is_fitted_to_one_split_of_few_tables():
    asked = cells(methods=["MST, then boosting", "AIM, then boosting"])
    assert {cell.table for cell in asked} == set(SYNTHETIC_TABLES)
    assert {cell.repeat for cell in asked} == {0}
    assert len(asked) == 2 * 4 * len(SYNTHETIC_TABLES)


def test_methods_without_a_price_are_fitted_once_a_split_and_others_at_every_price():
    asked = cells(["adult"], ["random forest", "DP-RF", "reconstruction tree"], range(2))
    assert [cell.epsilon for cell in asked if cell.method == "random forest"] == [None, None]
    assert [cell.epsilon for cell in asked if cell.method == "DP-RF"] == [0.1, 0.5, 1.0, 2.0] * 2
    assert [cell.epsilon for cell in asked if cell.method == "reconstruction tree"] == [1.0, 2.0, 4.0, 8.0] * 2


def test_the_recommended_forest_has_five_runs_a_split_and_others_one():
    assert [cell.run for cell in cells(["adult"], ["private forest"]) if cell[2:4] == (1.0, 4)] == [0, 1, 2, 3, 4]
    assert {cell.run for cell in cells(["adult"], ["DP-RF"])} == {0}
    assert {cell.run for cell in cells(["adult"], ["private forest"], range(100, 102))} == {0}
    assert {cell.run for cell in cells(["adult"], ["private forest"], range(100, 102), runs=2)} == {0, 1}


def test_other_prices_can_be_asked_for_where_there_is_one():
    asked = cells(["adult"], ["random forest", "DP-RF"], [0], epsilons=[4.0])
    assert [cell.epsilon for cell in asked] == [None, 4.0]
