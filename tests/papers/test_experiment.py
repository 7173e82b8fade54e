import os

import pandas as pd
import pytest

from papers.experiment import Experiment, ExperimentFailed
from papers.workers import Workers
from privet.errors import DataError, ExecutorError

N_RUNS = {"quick": 1, "full": 3}


def cells(scale):
    return [
        (table, epsilon, run) for run in range(N_RUNS[scale]) for table in ("ham", "spam") for epsilon in (0.5, 2.0)
    ]


def measure(table, epsilon, run):
    return [(len(table) + run + epsilon,)]


def measure_no_spam(table, epsilon, run):
    if table == "spam":
        raise ZeroDivisionError("no spam")
    return [(1.0,)]


SETTINGS = ("table", "epsilon", "run")
TOY = Experiment("toy", SETTINGS, ("accuracy",), cells, measure)
FAILING = Experiment("toy", SETTINGS, ("accuracy",), cells, measure_no_spam)


def watched(experiment, folder, scale, **options):
    told = []
    experiment.run(folder, scale, watch=lambda done, total: told.append((done, total)), **options)
    return told


def test_every_cell_is_measured_once_and_read_back_as_numbers(tmp_path):
    assert watched(TOY, tmp_path, "quick") == [(0, 4), (1, 4), (2, 4), (3, 4), (4, 4)]
    expected = {"table": ["ham", "ham", "spam", "spam"], "epsilon": [0.5, 2.0] * 2, "run": [0] * 4}
    lines = TOY.read(tmp_path, "quick")
    pd.testing.assert_frame_equal(
        lines, pd.DataFrame({**expected, "accuracy": [3.5, 5.0, 4.5, 6.0]}), check_dtype=False
    )


def test_a_second_run_measures_nothing(tmp_path):
    TOY.run(tmp_path, "quick")
    assert watched(FAILING, tmp_path, "quick") == [(4, 4)]


def test_a_full_run_goes_on_from_a_quick_one(tmp_path):
    TOY.run(tmp_path, "quick")
    assert watched(TOY, tmp_path, "full")[0] == (4, 12)
    assert len(TOY.read(tmp_path, "full")) == 12
    assert len(TOY.read(tmp_path, "quick")) == 4


def test_worker_processes_measure_what_one_does_experiment_after_experiment(tmp_path):
    TOY.run(tmp_path / "one", "full")
    with Workers(2) as workers:
        for folder in ("two", "three"):
            TOY.run(tmp_path / folder, "full", workers=workers)
            TOY.settle(tmp_path / folder)
            assert TOY.path(tmp_path / folder).read_text() == TOY.path(tmp_path / "one").read_text()


def test_lines_are_put_in_the_order_of_the_full_scale(tmp_path):
    path = TOY.path(tmp_path)
    path.write_text("table,epsilon,run,accuracy\nspam,2,2,1\nham,0.5,1,2\nspam,0.5,0,3\nham,0.5,0,4\n")
    TOY.settle(tmp_path)
    assert path.read_text().splitlines()[1:] == ["ham,0.5,0,4", "spam,0.5,0,3", "ham,0.5,1,2", "spam,2,2,1"]


def test_a_line_that_a_crash_cut_short_is_measured_again(tmp_path):
    TOY.run(tmp_path, "quick")
    whole = TOY.path(tmp_path).read_text()
    TOY.path(tmp_path).write_text(whole[:-3])
    assert TOY.missing(tmp_path, "quick") == [("spam", 2.0, 0)]
    TOY.run(tmp_path, "quick")
    assert TOY.path(tmp_path).read_text() == whole


def test_a_header_that_a_crash_cut_short_is_written_again(tmp_path):
    TOY.path(tmp_path).write_text("table,eps")
    TOY.run(tmp_path, "quick")
    assert len(TOY.read(tmp_path, "quick")) == 4


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_failing_cell_is_named_and_what_was_measured_is_kept(tmp_path, jobs):
    with pytest.raises(ExperimentFailed, match=r"^toy: nothing came of table=spam, epsilon=(0\.5|2), run=0$") as failed:
        FAILING.run(tmp_path, "quick", jobs=jobs)
    assert isinstance(failed.value.__cause__, ZeroDivisionError)
    assert len(FAILING.read(tmp_path, "quick")) == 2


def test_an_interrupt_keeps_what_was_measured(tmp_path):
    def interrupt(done, total):
        if done == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        TOY.run(tmp_path, "quick", watch=interrupt)
    assert len(TOY.missing(tmp_path, "quick")) == 2


def test_nothing_measured_is_an_empty_table_with_all_columns(tmp_path):
    assert list(TOY.read(tmp_path, "quick").columns) == ["table", "epsilon", "run", "accuracy"]


def test_a_file_of_another_experiment_is_refused(tmp_path):
    TOY.path(tmp_path).write_text("table,accuracy\nham,1\n")
    with pytest.raises(DataError, match="other columns than this experiment; move it away"):
        TOY.run(tmp_path, "quick")


def measure_and_die(table, epsilon, run):
    os._exit(3)


def test_a_worker_that_dies_ends_the_run_with_a_way_out(tmp_path):
    dying = Experiment("toy", SETTINGS, ("accuracy",), cells, measure_and_die)
    with pytest.raises(ExecutorError, match="ended without a word, .*; go on by the same command with fewer jobs"):
        dying.run(tmp_path, "quick", jobs=2)
