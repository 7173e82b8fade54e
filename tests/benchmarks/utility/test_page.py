import csv
import math

import pytest

from benchmarks.utility import page, tables
from benchmarks.utility.methods import BOOSTING, EPSILONS, FOREST, MAJORITY, METHODS, RANDOM_FOREST
from benchmarks.utility.scores import Scores
from benchmarks.utility.store import Cell, Store
from benchmarks.utility.summary import Place, Summary, critical_difference

VOTING, TIC = "congressional-voting", "tic-tac-toe"
RIVAL = "diffprivlib forest"


def scores(accuracy: float) -> Scores:
    return Scores(accuracy, accuracy - 0.1, 0.9, 0.5, 0.01)


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    """Two tables, two splits: the forest is best but on Tic-Tac-Toe at epsilon 0.1, where a peer is."""
    store = Store(tmp_path_factory.mktemp("fits") / "fits.jsonl")
    for repeat in range(2):
        for table in (VOTING, TIC):
            bounds = {MAJORITY: 0.6, RANDOM_FOREST: 0.9, BOOSTING: 1.0}
            for method, accuracy in bounds.items():
                store.add(Cell(method, table, None, repeat), scores(accuracy))
            for method in (name for name in METHODS if METHODS[name].epsilons == EPSILONS):
                for epsilon in EPSILONS:
                    accuracy = 0.8 + repeat / 50 if method == FOREST else 0.7
                    if (method, table, epsilon) == (RIVAL, TIC, 0.1):
                        accuracy = 0.85 + repeat / 50 + 0.002 * repeat
                    store.add(Cell(method, table, epsilon, repeat), scores(accuracy))
    return store


@pytest.fixture(scope="module")
def summary(store):
    return Summary(store.scores())


@pytest.fixture(scope="module")
def folder(store, tmp_path_factory):
    folder = tmp_path_factory.mktemp("page")
    page.write(store, folder, folder / "images" / "accuracy.png")
    return folder


def test_means_and_deviations_are_over_splits(summary):
    place = Place(FOREST, VOTING, 1.0)
    assert summary.mean(place) == pytest.approx(0.81)
    assert summary.deviation(place) == pytest.approx(0.01 * math.sqrt(2))
    assert summary.repeats(place) == 2
    assert math.isnan(summary.mean(Place(FOREST, "adult", 1.0)))


def test_the_gap_is_from_guessing_to_the_better_of_both_without_privacy(summary):
    assert summary.gap_closed(Place(FOREST, VOTING, 1.0)) == pytest.approx(0.21 / 0.4)


def test_means_over_tables_are_over_those_that_all_are_measured_on(summary):
    assert summary.common_tables([FOREST, RIVAL], EPSILONS) == [VOTING, TIC]
    fewer = {cell: own for cell, own in summary.results.items() if (cell.method, cell.table) != (RIVAL, TIC)}
    assert Summary(fewer).common_tables([FOREST, RIVAL], EPSILONS) == [VOTING]


def test_equals_share_a_rank(summary):
    assert summary.ranks([RIVAL, FOREST, "DP-RF"], 0.1, [VOTING, TIC]).tolist() == [1.75, 1.5, 2.75]


def test_a_lead_is_clear_where_it_is_more_than_twice_its_error(summary):
    lead = summary.lead(Place(RIVAL, TIC, 0.1), FOREST)
    assert lead.ahead == pytest.approx(0.051)
    assert lead.error == pytest.approx(0.001)
    assert lead.is_clear
    assert not lead._replace(error=0.03).is_clear
    assert not lead._replace(error=math.nan).is_clear


def test_the_critical_difference_is_that_of_the_textbook():
    assert critical_difference(4, 14) == pytest.approx(2.569 * math.sqrt(4 * 5 / (6 * 14)), abs=1e-3)  # Demšar 2006


def test_where_a_peer_wins_it_is_shown(summary):
    losses = summary.losses(FOREST, tables.rivals(), EPSILONS)
    assert [lead.place for lead in losses] == [Place(RIVAL, TIC, 0.1)]
    line = tables.loss_table(summary, losses).splitlines()[2]
    assert line == "| tic-tac-toe | 0.1 | diffprivlib forest | epsilon | 86.1 | 81.0 | +5.1 ± 0.1 | yes |"
    assert f"| {RIVAL} | epsilon | 8 | 1 (1) | 7 (7) | -9.0 |" in tables.duel_table(summary)


def test_what_is_not_proven_is_no_rival():
    assert "DPDF, 1 tree, paper" not in tables.rivals(with_variants=True)
    assert "DPDF, 4 trees" in tables.rivals(with_variants=True)


def test_a_page_is_made_of_a_run_that_is_not_at_its_end(folder):
    text = (folder / "README.md").read_text()
    assert "**The run is not at its end**" in text
    assert "Not every method is measured on breast-cancer-wisconsin, " in text
    assert "| **private forest** | 81.0 (1.4) | 81.0 (1.4) | 81.0 (1.4) | 81.0 (1.4) | 2 |" in text
    assert "Fits that failed" not in text
    assert "nan" not in text
    for picture in ("tables_people.png", "tables_measurements.png", "ranks.png", "images/accuracy.png"):
        assert (folder / picture).read_bytes().startswith(b"\x89PNG")


def test_the_summary_has_a_line_for_every_method_table_and_price(folder, summary):
    with (folder / "summary.csv").open(newline="", encoding="utf-8") as file:
        lines = list(csv.DictReader(file))
    assert len(lines) == len(summary.places)
    forest = next(line for line in lines if (line["method"], line["table"], line["epsilon"]) == (FOREST, TIC, "0.5"))
    assert (forest["splits"], forest["accuracy"], forest["accuracy_sd"]) == ("2", "0.8100", "0.0141")


def test_fits_that_failed_are_told_once_for_each_reason(tmp_path):
    store = Store(tmp_path / "fits.jsonl")
    for epsilon in EPSILONS:
        store.add_failure(Cell("DP-EBM", "adult", epsilon, 0), "PeerFailed: ValueError: `no`")
    assert "- DP-EBM on adult, 4 fits: `PeerFailed: ValueError: no`" in page.page(store)


def test_the_runs_of_a_split_count_as_their_mean(summary):
    cell = Cell(FOREST, VOTING, 1.0, 0, 1)
    both = Summary({**summary.results, cell: scores(0.7)})
    place = Place(FOREST, VOTING, 1.0)
    assert both.repeats(place) == 2
    assert both.mean(place) == pytest.approx(((0.8 + 0.7) / 2 + 0.82) / 2)


def test_the_share_of_the_gap_is_by_group_with_the_best_peer_of_each_cell(summary):
    assert summary.best_gap_closed([RIVAL, "DP-EBM"], 0.1, [VOTING, TIC]) == pytest.approx((0.1 + 0.261) / 2 / 0.4)
    lines = tables.gap_table(summary, [FOREST, RIVAL], [VOTING, TIC]).splitlines()
    assert lines[2].startswith("| **private forest** | epsilon | 53 | 53 | 53 | 53 |  |  |  |  |")
    assert lines[3].startswith("| diffprivlib forest | epsilon | 45 | 25 | 25 | 25 |")
    assert "| the best peer, picked in each cell |  | 45 | 25 | 25 | 25 |" in lines[4]


def test_what_draws_synthetic_rows_stands_beside_the_forest_on_the_first_split_and_what_was_stopped_is_said(summary):
    place = ("MST, then boosting", "phoneme")
    both = {**summary.results, Cell(*place, 0.5, 0): scores(0.75), Cell(FOREST, "phoneme", 0.5, 0): scores(0.5)}
    both |= {Cell(FOREST, "phoneme", 0.5, 1): scores(0.9), Cell(MAJORITY, "phoneme", None, 0): scores(0.25)}
    lines = tables.synthetic_table(Summary(both), [Cell(*place, 2.0, 0)]).splitlines()
    assert len(lines) == 2 + 4
    assert lines[2] == "| phoneme | **private forest** |  | 50.0 |  |  | 25.0 |  |"
    assert lines[4] == "| phoneme | MST, then boosting |  | 75.0 |  | stopped | 25.0 |  |"


def test_losses_are_counted_by_group(summary):
    counted = tables.loss_counts(summary, summary.losses(FOREST, tables.rivals(), EPSILONS)).splitlines()
    assert counted[2:] == [
        "| people and everyday things | 8 | 1 | 1 | 1 | 1 |",
        "| measurements | 0 | 0 | 0 | 0 | 0 |",
        "| all | 8 | 1 | 1 | 1 | 1 |",
    ]
