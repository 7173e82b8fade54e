import pytest

from benchmarks.utility import run
from benchmarks.utility.scores import Scores
from benchmarks.utility.store import Cell, Store

CELLS = [Cell("DP-RF", "adult", 1.0, repeat) for repeat in range(3)]


def test_a_run_goes_on_where_it_stopped_and_notes_what_failed(tmp_path, monkeypatch, capsys):
    asked = []

    def measured(cell):
        asked.append(cell)
        if cell.repeat == 1:
            raise ValueError("too few rows")
        return Scores(0.5, 0.5, 0.5, 0.7, 0.1)

    monkeypatch.setattr(run, "measured", measured)
    store = Store(tmp_path / "fits.jsonl")
    run.add_missing(store, CELLS[:2])
    run.add_missing(store, CELLS)
    assert asked == CELLS
    assert store.failures() == {CELLS[1]: "ValueError: too few rows"}
    assert "1/1  adult, repeat 2, DP-RF, epsilon=1.0: 0.500; about 0 min left" in capsys.readouterr().err


def test_the_command_line_names_methods_tables_and_repeats():
    given = run.options(["--methods", "DP-RF; DPDF, 1 tree", "--tables", "adult", "--repeats", "100-102"])
    assert given.methods == ["DP-RF", "DPDF, 1 tree"]
    assert given.tables == ["adult"]
    assert list(given.repeats) == [100, 101, 102]
    assert run.options(["--set", "n_bins=8", "--set", "unit=row"]).parameters == [("n_bins", 8), ("unit", "row")]


def test_an_unknown_name_is_refused_with_those_that_are_known(capsys):
    with pytest.raises(SystemExit):
        run.options(["--tables", "iris"])
    assert "'iris' is not known; choose from congressional-voting; " in capsys.readouterr().err


def test_one_fit_is_scored(toy):
    run._split.cache_clear()
    scores = run.measured(Cell("majority class", "toy", None, 0))
    run._split.cache_clear()
    assert (scores.accuracy, scores.balanced_accuracy, scores.auc) == (0.6, 0.5, 0.5)
