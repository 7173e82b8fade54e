import pytest

from benchmarks.utility import run
from benchmarks.utility import scores as scores_module
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
    assert "1/1  adult, repeat 2, DP-RF, epsilon=1.0, run 0: 0.500; about 0 min left" in capsys.readouterr().err


def test_tables_that_are_not_here_are_left_out_and_not_noted_as_failed(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("PRIVET_DATA", str(tmp_path))
    monkeypatch.setattr(run, "measured", lambda cell: Scores(0.5, 0.5, 0.5, 0.7, 0.1))
    store = Store(tmp_path / "fits.jsonl")
    run.add_missing(store, [CELLS[0], CELLS[0]._replace(table="letter")])
    assert list(store.scores()) == CELLS[:1]
    assert store.failures() == {}
    assert "left out, since the folder of more tables is not here: letter" in capsys.readouterr().err


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


def test_prices_and_runs_can_be_given():
    given = run.options(["--epsilons", ".1;2", "--runs", "3"])
    assert (given.epsilons, given.runs) == ([0.1, 2.0], 3)


def test_a_constant_of_a_module_is_set_for_the_process_and_named_with_the_forest(monkeypatch):
    module = "benchmarks.utility.scores"
    monkeypatch.setattr(scores_module, "LEAST_CHANCE", scores_module.LEAST_CHANCE)
    given = run.options(["--constant", f"{module}.LEAST_CHANCE=0.25"])
    assert given.constants == [(module, "LEAST_CHANCE", 0.25)]
    run.set_constants(given.constants)
    assert scores_module.LEAST_CHANCE == 0.25


def test_a_constant_that_no_module_has_is_refused(capsys):
    for words, sentence in [
        ("benchmarks.utility.scores.LEAST=1", "benchmarks.utility.scores has no constant 'LEAST'"),
        ("benchmarks.scores.LEAST=1", "there is no module 'benchmarks.scores'"),
        ("LEAST=1", "there is no module ''"),
    ]:
        with pytest.raises(SystemExit):
            run.options(["--constant", words])
        assert sentence in capsys.readouterr().err
