from collections import Counter
from pathlib import Path

import pytest

from papers.agrawal2000 import accuracy
from papers.agrawal2000.accuracy import ACCURACY, cells, measure


def test_quick_cells_are_the_first_run_of_full_ones():
    quick, full = list(cells("quick")), list(cells("full"))
    assert set(quick) <= set(full)
    assert {run for _, run, *_ in quick} == {0}
    assert len(quick) == 5 * (1 + 2 * 3)
    assert len(full) == 10 * 5 * (1 + 2 * 4)


def test_the_first_run_of_everything_comes_first():
    runs = [run for _, run, *_ in cells("full")]
    assert runs == sorted(runs)
    assert set(Counter(runs).values()) == {45}


def test_disturbed_rows_are_given_to_four_algorithms():
    found = dict(measure(1, 0, 2_000, "uniform", 0.25))
    assert list(found) == ["Randomized", "Global", "ByClass", "Local"]
    assert found["ByClass"] > 80


def test_clear_rows_are_given_to_original_with_and_without_a_least_gain():
    found = dict(measure(1, 0, 2_000, "none", 0.0))
    assert list(found) == ["Original", "Original, least gain"]
    assert min(found.values()) > 95


def test_a_run_draws_its_own_people(monkeypatch):
    seeds = []

    def noted(n_rows, function, seed):
        seeds.append(seed)
        raise LookupError

    monkeypatch.setattr(accuracy, "people", noted)
    for cell in ((1, 0), (1, 1), (2, 0)):
        with pytest.raises(LookupError):
            measure(*cell, 100, "none", 0.0)
    assert len(set(seeds)) == 3


def test_the_committed_results_hold_every_cell():
    results = Path(accuracy.__file__).with_name("results")
    assert ACCURACY.missing(results, "full") == []
    assert len(ACCURACY.read(results, "full")) == 10 * 5 * (2 + 2 * 4 * 4)
