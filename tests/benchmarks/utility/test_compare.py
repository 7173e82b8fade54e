import sys

import pytest

from benchmarks.utility import compare
from benchmarks.utility.methods import BOOSTING, FOREST, MAJORITY, RANDOM_FOREST
from benchmarks.utility.scores import Scores
from benchmarks.utility.store import Cell, Store

VOTING, TIC, LETTER = "congressional-voting", "tic-tac-toe", "letter"


def scores(accuracy: float) -> Scores:
    return Scores(accuracy, accuracy, 0.9, 0.5, 0.01)


def fits(accuracy, *, method=FOREST, tables=(VOTING, TIC, LETTER), repeats=range(100, 102), epsilons=(0.1, 1.0)):
    cells = [Cell(method, table, epsilon, repeat) for table in tables for epsilon in epsilons for repeat in repeats]
    return {cell: scores(accuracy(cell)) for cell in cells}


def bounds(*, tables=(VOTING, TIC, LETTER), repeats=range(100, 102)):
    """Guessing gets 0.5; what is possible without privacy is 0.9."""
    found = {}
    for table in tables:
        for repeat in repeats:
            for method, accuracy in {MAJORITY: 0.5, RANDOM_FOREST: 0.9, BOOSTING: 0.8}.items():
                found[Cell(method, table, None, repeat)] = scores(accuracy)
    return found


def write(path, results):
    store = Store(path)
    for cell, own in results.items():
        store.add(cell, own)
    return str(path)


def test_shares_of_the_gap_and_what_is_gained_by_hand():
    first = fits(lambda cell: 0.7)
    second = fits(lambda cell: 0.74 + 0.01 * (cell.repeat - 100))
    comparison = compare.compared([first, second], bounds())
    assert comparison.share("A", TIC, 0.1) == pytest.approx(0.5)
    assert comparison.share("B", TIC, 1.0) == pytest.approx(0.245 / 0.4)
    gain, error = comparison.gained(TIC, 1.0)
    assert gain == pytest.approx(0.045 / 0.4)
    assert error == pytest.approx(0.005 / 0.4)


def test_only_tables_splits_and_epsilons_that_all_have_count():
    first = fits(lambda cell: 0.9 if cell.repeat == 102 else 0.7, repeats=range(100, 103))
    second = fits(lambda cell: 0.7, tables=(TIC, LETTER), epsilons=(0.1, 0.5, 1.0))
    comparison = compare.compared([first, second], bounds(tables=(TIC,), repeats=range(100, 110)))
    assert comparison.tables == [TIC]
    assert comparison.epsilons == [0.1, 1.0]
    assert comparison.share("A", TIC, 0.1) == pytest.approx(0.5)


def test_a_difference_beyond_two_standard_errors_has_a_star_and_groups_have_means():
    clear = {VOTING: 0.0, TIC: 0.04, LETTER: 0.08}
    second = fits(lambda cell: 0.7 + clear[cell.table] + (0.01 if cell.repeat == 100 else -0.01))
    lines = compare.lines(compare.compared([fits(lambda cell: 0.7), second], bounds()))
    by_name = {line.partition("  ")[0]: line for line in lines}
    assert "+0.0 " in by_name[VOTING]
    assert "+10.0*" in by_name[TIC]
    assert "+20.0*" in by_name[LETTER]
    people, error = (lines[lines.index(by_name["mean, people and everyday things (2)"]) + k] for k in (0, 1))
    assert people.split("|")[2].split() == ["55.0", "55.0"]
    assert error.split("|")[3].split() == ["(5.0)", "(5.0)"]
    assert by_name["mean, measurements (1)"].split("|")[3].split() == ["+20.0", "+20.0"]
    assert by_name["mean, all (3)"].split("|")[1].split() == ["50.0", "50.0"]


def test_one_method_of_several_is_named_after_two_colons(tmp_path):
    other = "private forest, n_bins=8"
    path = write(tmp_path / "fits.jsonl", fits(lambda cell: 0.7) | fits(lambda cell: 0.8, method=other) | bounds())
    assert {cell.method for cell in compare.fits_of(f"{path}::{other}")} == {other}
    with pytest.raises(
        ValueError, match=r"has 2 methods; name one after two colons: private forest; private forest, n_"
    ):
        compare.fits_of(path)
    with pytest.raises(ValueError, match="has no fits of 'DP-RF'; it has private forest; "):
        compare.fits_of(f"{path}::DP-RF")


def test_the_command_prints_one_file_or_two(tmp_path, monkeypatch, capsys):
    own = write(tmp_path / "a.jsonl", fits(lambda cell: 0.7))
    limits = write(tmp_path / "bounds.jsonl", bounds())
    monkeypatch.setattr(sys, "argv", ["compare", own, "--bounds", limits])
    compare.main()
    said = capsys.readouterr().out
    assert "B - A" not in said
    assert "letter                       2  50.0  90.0 |    50.0     50.0 " in said
    monkeypatch.setattr(sys, "argv", ["compare", own, own, "--bounds", str(tmp_path / "none.jsonl")])
    with pytest.raises(SystemExit, match="no split has fits of every side and of the methods without privacy"):
        compare.main()
