import pandas as pd
import pytest
from pandas.testing import assert_frame_equal

from papers.accuracies import Accuracies, cells, complete, place

TITLES = {"oak": "Oak", "elm": "Elm"}
LINES = pd.DataFrame(
    [
        ("oak", "swift", 0.5, 0, 70.0),
        ("oak", "swift", 0.5, 1, 74.0),
        ("oak", "swift", 2.0, 0, 80.0),
        ("elm", "swift", 0.5, 0, 60.0),
        ("elm", "swift", 2.0, 0, 61.0),
        ("oak", "slow", 0.5, 0, 71.0),
        ("oak", "slow", 2.0, 0, 85.0),
        ("elm", "slow", 0.5, 0, 50.0),
        ("elm", "flat", float("inf"), 0, 40.0),
        ("oak", "flat", float("inf"), 0, 55.0),
    ],
    columns=["table", "method", "epsilon", "run", "accuracy"],
)
ACCURACIES = Accuracies(LINES, ("oak", "elm"), (0.5, 2.0))


def frame(oak, elm):
    return pd.DataFrame([oak, elm], index=["oak", "elm"], columns=[0.5, 2.0])


def test_accuracies_are_means_over_runs_in_the_order_of_the_figure():
    assert_frame_equal(ACCURACIES.of("swift"), frame([72.0, 80.0], [60.0, 61.0]), check_names=False)
    assert ACCURACIES.without_budget("flat").tolist() == [55.0, 40.0]


def test_the_deviation_is_over_runs_and_missing_where_there_is_one():
    deviation = ACCURACIES.deviation("swift")
    assert deviation.loc["oak", 0.5] == pytest.approx(8**0.5)
    assert deviation.isna().sum().sum() == 3


def test_a_lead_is_a_difference_of_means_and_incomplete_where_one_was_not_measured():
    lead = ACCURACIES.lead("swift", "slow")
    assert lead.loc["oak"].tolist() == [1.0, -5.0]
    assert lead.loc["elm", 0.5] == 10.0
    assert not complete(lead)
    assert complete(lead.loc[["oak"]])


def test_with_nothing_measured_everything_is_missing():
    none = Accuracies(LINES.iloc[:0].astype(object), ("oak", "elm"), (0.5, 2.0))
    assert none.of("swift").isna().to_numpy().all()
    assert none.of("swift").shape == (2, 2)
    assert none.without_budget("flat").isna().all()


def test_cells_are_told_by_table_and_budget():
    assert cells(frame([True, False], [False, False]), TITLES) == "Oak at 0.5"
    assert cells(frame([True, True], [False, True]), TITLES) == "Oak at every budget; Elm at 2"
    assert cells(frame([False, False], [False, False]), TITLES) == "none"


def test_the_largest_and_the_least_cell_are_told_with_their_place():
    figures = frame([1.0, -5.0], [10.0, 2.0])
    assert place(figures, largest=True, titles=TITLES) == (10.0, "Elm at 0.5")
    assert place(figures, largest=False, titles=TITLES) == (-5.0, "Oak at 2")
