import csv
import math

import pytest
from scipy.stats import t as student

from benchmarks.utility import monotone, page
from benchmarks.utility.methods import BOOSTING, FOREST, MAJORITY, RANDOM_FOREST
from benchmarks.utility.scores import Scores
from benchmarks.utility.store import Cell, Store
from benchmarks.utility.summary import Summary

TIC = "tic-tac-toe"
# Of Tic-Tac-Toe: better and better but for one step, 1 to 2, which falls by 0.05.
ACCURACIES = (0.7, 0.72, 0.74, 0.85, 0.8, 0.82, 0.9)


def scores(accuracy: float) -> Scores:
    return Scores(accuracy, accuracy, 0.9, 0.5, 0.01)


@pytest.fixture
def store(tmp_path):
    """Three splits and two runs; runs differ by 0.02 around their mean, and splits shift all epsilons alike."""
    store = Store(tmp_path / "fits.jsonl")
    for repeat in range(3):
        for method, accuracy in {MAJORITY: 0.6, RANDOM_FOREST: 0.9, BOOSTING: 1.0}.items():
            store.add(Cell(method, TIC, None, repeat), scores(accuracy))
        for epsilon, accuracy in zip(monotone.EPSILONS, ACCURACIES, strict=True):
            moved = accuracy + repeat / 20 + (0.003 * repeat if epsilon == 2.0 else 0)
            for run, noise in enumerate((-0.01, 0.01)):
                store.add(Cell(FOREST, TIC, epsilon, repeat, run), scores(moved + noise))
    return store


@pytest.fixture
def summary(store):
    return Summary(store.scores())


def test_every_epsilon_split_and_run_is_asked_for_and_two_splits_of_the_largest():
    assert len(monotone.cells([TIC], runs=2)) == 7 * 5 * 2
    asked = monotone.cells(["census-income-kdd"])
    assert {cell.repeat for cell in asked} == {0, 1}
    assert {cell.run for cell in asked} == set(range(5))
    assert sorted({cell.epsilon for cell in asked}) == [0.1, 0.2, 0.5, 1, 2, 4, 8]


def test_steps_are_paired_by_split_after_the_mean_of_the_runs(summary):
    step = monotone.steps(summary, TIC)[3]
    assert step.epsilons == (1.0, 2.0)
    assert step.lead.ahead == pytest.approx(-0.05 + 0.003)
    assert step.lead.error == pytest.approx(0.003 / math.sqrt(3))


def test_only_the_step_that_falls_clearly_is_marked(summary):
    (fall,) = monotone.falls(summary)
    assert fall.epsilons == (1.0, 2.0)
    assert monotone.score_lines(summary, monotone.SCORES[0]) == [
        [TIC, "75.0", "77.0", "79.0", "90.0", "85.3 ▼", "87.0", "95.0"]
    ]
    assert monotone.fall_lines(summary) == [[TIC, "Accuracy, percent", "1 to 2", "-4.7 ± 0.2"]]


def test_a_fall_within_two_standard_errors_is_not_marked(summary):
    noisy = {
        cell: own._replace(accuracy=own.accuracy + 0.1 * cell.repeat) if cell.epsilon == 2.0 else own
        for cell, own in summary.results.items()
    }
    less = {
        cell: own._replace(accuracy=own.accuracy - 0.1) if cell.epsilon == 2.0 else own for cell, own in noisy.items()
    }
    assert monotone.steps(Summary(less), TIC)[3].lead.ahead < 0
    assert monotone.falls(Summary(less)) == []


def test_a_log_loss_falls_where_it_grows(summary):
    accuracy, _, loss = monotone.SCORES
    worse = {
        cell: own._replace(log_loss=0.7 + 0.001 * cell.repeat) if cell.epsilon == 8.0 else own
        for cell, own in summary.results.items()
    }
    (fall,) = monotone.falls(Summary(worse), loss)
    assert fall.epsilons == (4.0, 8.0)
    assert [TIC, "Log loss, nats", "4 to 8", "+0.201 ± 0.001"] in monotone.fall_lines(Summary(worse))
    assert len(monotone.falls(Summary(worse), accuracy)) == 1


def test_it_is_said_how_many_steps_chance_would_mark(summary):
    assert monotone.by_chance(summary) == pytest.approx(6 * student.cdf(-2, 2))
    said = monotone.printed(summary)
    assert "Of 6 steps on 1 tables (runs of noise on each split: 2), these get clearly worse: 1 in Accuracy, " in said


def test_later_splits_and_splits_that_lack_an_epsilon_are_not_looked_at(summary):
    later = {Cell(FOREST, TIC, epsilon, 7): scores(0.1) for epsilon in monotone.EPSILONS}
    unfinished = {Cell(FOREST, TIC, epsilon, 3): scores(0.1) for epsilon in monotone.EPSILONS[:-1]}
    assert monotone.csv_lines(Summary({**summary.results, **later, **unfinished})) == monotone.csv_lines(summary)


def test_a_table_that_lacks_an_epsilon_is_left_out(summary):
    fewer = {cell: own for cell, own in summary.results.items() if cell.epsilon != 0.2}
    assert monotone.measured_tables(Summary(fewer)) == []
    assert monotone.section(Summary(fewer)) == "Not measured yet: `make monotone`."


def test_the_page_has_the_section_its_picture_and_its_figures(store, tmp_path):
    page.write(store, tmp_path / "page", tmp_path / "accuracy.png")
    assert (
        "| tic-tac-toe | 75.0 | 77.0 | 79.0 | 90.0 | 85.3 ▼ | 87.0 | 95.0 |"
        in (tmp_path / "page/README.md").read_text()
    )
    assert (tmp_path / "page" / "monotone.png").read_bytes().startswith(b"\x89PNG")
    with (tmp_path / "page" / "monotone.csv").open(newline="", encoding="utf-8") as file:
        lines = list(csv.DictReader(file))
    assert len(lines) == 7
    assert (lines[0]["accuracy"], lines[0]["accuracy_change"], lines[0]["accuracy_falls"]) == ("0.75000", "", "")
    assert (lines[4]["splits"], lines[4]["runs"], lines[4]["accuracy_falls"]) == ("3", "2", "yes")
    assert (lines[4]["accuracy_change"], lines[4]["accuracy_change_error"]) == ("-0.04700", "0.00173")
