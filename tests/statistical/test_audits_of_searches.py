"""Whole searches attacked, with all that the trial fitted in view; ``make audit`` prints how many fits it took."""

from fractions import Fraction

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from privet import PrivateRDTClassifier, PrivateSearch
from privet.central import private_search
from privet.central.private_search import RowParts
from privet.privacy import events
from privet.privacy.unit import EACH_ROW
from tests.statistical.audited import ONE, search

pytestmark = pytest.mark.slow

EPSILON, SHARE, MAX_ROWS = 2.0, 0.5, 2
NAMES = ("a", "b", "c", "d")


def table(*people):
    """Return a table of people, each with a value, a label and a number of rows."""
    rows = [(value, label, f"p{i}") for i, (value, label, n) in enumerate(people) for _ in range(n)]
    values, labels, persons = zip(*rows, strict=True)
    return pd.DataFrame({"a": values, "person": persons}), list(labels)


FEW = ((5, "no", 1), (9, "yes", 1), (5, "no", 1))
# One more person has far more rows than are used.
WITHOUT, WITH = table(*FEW), table(*FEW, (9, "no", 30))
FITTED = []


class InView(PrivateRDTClassifier):
    """A candidate that an attacker sees, also in the trial."""

    def _run(self, call):
        FITTED.append(super()._run(call))
        return FITTED[-1]


def searched(rows):
    """Return the position of the chosen candidate; all that was fitted is in view."""
    FITTED.clear()
    candidates = {name: InView(ONE, n_trees=1, height=1) for name in NAMES}
    search_ = PrivateSearch(candidates, epsilon=EPSILON, share=SHARE, unit="person", max_rows=MAX_ROWS)
    return NAMES.index(search_.fit(*rows).best_)


def in_its_cell(rows):
    """Return how many rows the models of the trial have, all together, where that person's rows are."""
    searched(rows)
    return np.array([float(sum(np.clip(model.noisy_counts_[1, 0], 0, MAX_ROWS) for model in FITTED[:-1]))])


def is_best_for_few(rows):
    """Return whether the chosen candidate is the one that guesses most of the few rows right."""
    chosen, (X, labels) = searched(rows), WITHOUT
    right = [(model.predict(X[["a"]]) == labels).sum() for model in FITTED[:-1]]
    return np.array([float(chosen == np.argmax(right))])


class AllRowsInAllParts(RowParts):
    """A planted fault: parts that are not disjoint."""

    def part(self, number):
        return iter([pa.concat_tables([own for i in range(5) for own in super(AllRowsInAllParts, self).part(i)])])


class RowsOfAPersonApart(RowParts):
    """A planted fault: a coin for each row, where a person has several."""

    def __init__(self, batches, n_parts, unit):
        super().__init__(batches, n_parts, EACH_ROW)


class AllHeldOut(RowParts):
    """All rows in the part that is scored, where the choice shows most. It is one of the ways that coins may fall."""

    def _part_of(self, units):
        return np.full(len(units), self._n_parts - 1, dtype=np.uint32)


def test_a_trial_keeps_its_share_of_epsilon_even_where_all_its_models_are_seen():
    asked = in_its_cell, (WITHOUT, WITH)
    assert not search("search", *asked, epsilon=EPSILON * SHARE, n_jobs=1, most=400).contradicts


def test_a_trial_whose_parts_overlap_is_caught(monkeypatch):
    monkeypatch.setattr(private_search, "RowParts", AllRowsInAllParts)
    asked = in_its_cell, (WITHOUT, WITH)
    assert search("search, parts overlap", *asked, epsilon=EPSILON * SHARE, n_jobs=1).contradicts


def test_a_person_in_several_parts_is_caught(monkeypatch):
    monkeypatch.setattr(private_search, "RowParts", RowsOfAPersonApart)
    asked = in_its_cell, (WITHOUT, WITH)
    assert search("search, a person in several parts", *asked, epsilon=EPSILON * SHARE, n_jobs=1).contradicts


def test_a_choice_that_nothing_is_paid_for_is_caught_and_a_paid_one_is_not(monkeypatch):
    asked = is_best_for_few, (WITHOUT, WITH)
    monkeypatch.setattr(private_search, "RowParts", AllHeldOut)
    assert not search("search, all held out", *asked, epsilon=EPSILON * SHARE, n_jobs=1, most=400).contradicts

    def largest(scores, **given):
        receipt = events.PermuteAndFlip(given["what"], given["epsilon"], MAX_ROWS, len(scores), True, Fraction(1, 9))
        return int(np.argmax(scores)), receipt

    monkeypatch.setattr(private_search, "permute_and_flip", largest)
    assert search("search, the best is taken", *asked, epsilon=EPSILON * SHARE, n_jobs=1).contradicts
