import math

import pytest
from tests.papers.accuracy_lines import told_by_colour

from papers.fletcher2015_dpdf import accuracy
from papers.fletcher2015_dpdf.accuracy import (
    BUDGETS,
    CONNECT_4,
    FOREST,
    GINI,
    GINI_100,
    N_GINI,
    PAPER_4,
    PAPER_METHODS,
    PRIVATE,
    SOUND_1,
    TABLES,
    cells,
    cells_in_order,
    classifier,
    measure,
    measure_in_order,
)


def test_a_quick_run_is_the_first_run_of_the_full_one():
    quick, full = list(cells("quick")), list(cells("full"))
    assert len(quick) == len(TABLES) * (len(PRIVATE) * len(BUDGETS) + 1)
    assert full[: len(quick)] == quick
    assert len(full) == len(set(full))


def test_the_full_run_has_the_papers_ten_runs_but_for_the_largest_tables():
    full = list(cells("full"))
    assert sum(cell[:3] == ("nursery", SOUND_1, 0.5) for cell in full) == 10
    assert sum(cell[:3] == ("connect-4", SOUND_1, 0.5) for cell in full) == 5


def test_methods_are_what_their_names_say():
    schema = told_by_colour().schema
    paper, sound = classifier(PAPER_4, schema, 0.5), classifier(SOUND_1, schema, 0.5)
    assert (paper.n_trees, paper.variant, paper.height, paper.epsilon) == (4, "paper", 4, 0.5)
    assert (sound.n_trees, sound.variant) == (1, "sound")
    rules = {name: classifier(name, schema, 1.0) for name in (GINI_100, GINI, N_GINI)}
    assert [model.criterion for model in rules.values()] == ["gini", "gini", "n_gini"]
    assert [model.min_support for model in rules.values()] == [100, None, None]


def test_folds_in_the_order_of_the_file_are_tried_with_what_the_paper_shows_of_connect_4(monkeypatch):
    quick, full = list(cells_in_order("quick")), list(cells_in_order("full"))
    assert len(quick) == len(PAPER_METHODS) * len(BUDGETS) + 1
    assert full[: len(quick)] == quick
    assert {cell[0] for cell in full} == {CONNECT_4}
    monkeypatch.setattr(accuracy, "table", lambda _name: told_by_colour())
    monkeypatch.setattr(accuracy, "accuracy", lambda *_, run, in_order: (run, in_order))
    assert measure_in_order(CONNECT_4, GINI, 1.0, 3) == [((3, True),)]
    assert measure(CONNECT_4, GINI, 1.0, 3) == [((3, False),)]


@pytest.mark.parametrize("method", [*PRIVATE, FOREST])
def test_without_noise_every_method_learns_what_an_attribute_tells(method, monkeypatch):
    monkeypatch.setattr(accuracy, "table", lambda _name: told_by_colour())
    assert measure("colours", method, math.inf, 0) == [(100.0,)]
