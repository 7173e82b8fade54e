"""The experiments on the smallest table, without noise where a figure is expected."""

import math

import numpy as np
import pandas as pd
import pytest

from papers.jagannathan2012 import batches, epsilons, folds, horizontal, table1, vertical
from papers.jagannathan2012.run import PAPER
from papers.jagannathan2012.tables import MUSHROOM, NURSERY, VOTES, WHOLE_MUSHROOM, WHOLE_NURSERY, prepared

pytestmark = pytest.mark.real_data


@pytest.fixture
def two_folds(monkeypatch):
    monkeypatch.setattr(folds, "FOLDS", 2)


def test_tables_are_prepared_as_in_the_paper():
    assert len(prepared(NURSERY).schema.classes) == 3
    assert len(prepared(MUSHROOM).schema.attributes) == 21
    assert len(prepared(WHOLE_MUSHROOM).schema.attributes) == 22
    assert not prepared(VOTES).X.isna().any(axis=None)


def test_table_1_has_nursery_with_five_classes_of_which_the_most_frequent_has_a_third():
    assert len(prepared(WHOLE_NURSERY).schema.classes) == 5
    assert prepared(WHOLE_NURSERY).majority == pytest.approx(100 / 3)


def test_only_stalk_root_may_be_missing():
    for name in (NURSERY, WHOLE_NURSERY, MUSHROOM, VOTES):
        assert all(attribute.never_missing for attribute in prepared(name).schema.attributes)
    lacking = [a.name for a in prepared(WHOLE_MUSHROOM).schema.attributes if not a.never_missing]
    assert lacking == ["stalk-root"]


def test_a_failure_counts_as_an_error():
    class Tree:
        def predict(self, X):
            return np.array(["yes", "yes", "no", "no"])

        def fails(self, X):
            return np.array([False, True, False, True])

    labels = np.array(["yes", "yes", "no", "yes"])
    assert epsilons.FailuresAreErrors(Tree()).score(None, labels) == 0.5


def test_the_papers_private_id3_fails_where_ours_answers(two_folds):
    table = prepared(VOTES)
    papers, ours = (epsilons.one_tree(table, table.X, table.y, epsilon=0.01, ours=ours).tree for ours in (False, True))
    assert (papers.variant, ours.variant) == ("paper", "privet")
    assert not ours.fails(table.X).any()


def test_a_run_has_the_same_folds_and_trees_every_time(two_folds):
    once, again = (epsilons.measure(VOTES, epsilons.RDT, 5, math.inf, 3) for _ in range(2))
    assert once == again
    assert 85 < once[0][0] < 95


def test_without_noise_batches_change_nothing(two_folds):
    assert batches.measure(VOTES, 5, 3, math.inf, 3) == epsilons.measure(VOTES, epsilons.RDT, 5, math.inf, 3)


@pytest.mark.parametrize("way", list(horizontal.COMBINE))
def test_parties_with_a_large_epsilon_come_near_the_forest_without_noise(two_folds, way):
    [(measured,)] = horizontal.measure(VOTES, 5, way, 2, 1000.0, 3)
    [(without,)] = epsilons.measure(VOTES, epsilons.RDT, 5, math.inf, 3)
    assert abs(measured - without) < 2


@pytest.mark.parametrize(("way", "spent"), [(vertical.WHOLE, 2.0), (vertical.SHARED, 2.0), (vertical.PAPER, 4.0)])
def test_halves_say_what_they_truly_spend(two_folds, way, spent):
    [(price, measured)] = vertical.measure(VOTES, 5, way, 2.0, 0)
    assert price == pytest.approx(spent)
    assert 70 < measured < 100


def test_table_1_counts_questions():
    assert table1.questions(NURSERY, 0.5) == 36
    assert table1.questions(VOTES, 0.5) == 136
    assert table1.questions(WHOLE_MUSHROOM, 0.5) == 253


def test_the_most_frequent_class_needs_no_question():
    [(asked, share)] = table1.measure(VOTES, table1.MOST_FREQUENT, math.inf, 0)
    assert asked == 0
    assert share == pytest.approx(61.4, abs=0.1)


def test_accuracy_is_the_mean_over_ten_folds():
    class Model:
        def score(self, X, y):
            return len(X) / 435

    assert folds.accuracy(VOTES, 0, lambda table, X, y: Model()) == pytest.approx(10.0)


def test_quick_cells_are_full_ones_too():
    for experiment in PAPER.experiments:
        assert set(experiment.cells("quick")) < set(experiment.cells("full"))


def test_figures_are_drawn_from_what_there_is(tmp_path):
    results = {e.name: pd.DataFrame(columns=e.header) for e in PAPER.experiments}
    assert PAPER.draw(results, tmp_path) == []
    lines = [(VOTES, epsilons.RDT, 5, epsilon, run, 90.0 - run) for epsilon in (0.5, math.inf) for run in (0, 1)]
    results["epsilons"] = pd.DataFrame(lines, columns=results["epsilons"].columns)
    assert PAPER.draw(results, tmp_path) == [tmp_path / "figure3.png"]
    assert (tmp_path / "figure3.png").stat().st_size > 1000
