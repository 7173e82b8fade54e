"""Planted faults that the library's own audit must catch; ``make audit`` prints how many fits it took."""

import math
import warnings
from functools import partial

import numpy as np
import pytest
from sklearn.base import clone

from privet import Categorical, DPDFClassifier, PrivateForestClassifier, PrivateRDTClassifier, Schema
from privet.attack.evidence import Evidence
from privet.attack.neighbours import Neighbours, table_of, worst_cases
from privet.errors import NoGuaranteeWarning
from privet.privacy.events import Parallel
from privet.privacy.mechanisms.discrete_laplace import discrete_laplace
from privet.tree.forest import LEAF
from tests.statistical.audited import ALONE, EMPTY, SECOND, TWO, search

pytestmark = pytest.mark.slow


class HalfTheNoise(PrivateRDTClassifier):
    """A planted fault: the scale halved."""

    def _release_counts(self, forest, schema, rows, epsilon, noise):
        return super()._release_counts(forest, schema, rows, 2 * epsilon, noise)


class OneTreeForTen(PrivateRDTClassifier):
    """A planted fault: the sensitivity of one tree for ten."""

    def _release_counts(self, forest, schema, rows, epsilon, noise):
        exact, _ = super()._release_counts(forest, schema, rows, math.inf, noise)
        return discrete_laplace(exact, epsilon=epsilon, sensitivity=1)


class NoNoiseOnEmptyLeaves(PrivateRDTClassifier):
    """A planted fault: a count of zero is released as it is."""

    def _release_counts(self, forest, schema, rows, epsilon, noise):
        exact, _ = super()._release_counts(forest, schema, rows, math.inf, noise)
        noisy, receipt = super()._release_counts(forest, schema, rows, epsilon, noise)
        return np.where(exact == 0, 0, noisy), receipt


class PrunedByTheRows(PrivateRDTClassifier):
    """A planted fault: leaves that no row reaches are taken away, by their exact counts."""

    def _release_counts(self, forest, schema, rows, epsilon, noise):
        exact, _ = super()._release_counts(forest, schema, rows, math.inf, noise)
        noisy, receipt = super()._release_counts(forest, schema, rows, epsilon, noise)
        return np.where(exact.sum(axis=1, keepdims=True) == 0, 0, noisy), receipt


class ChargesForOneRow(PrivateRDTClassifier):
    """A planted fault: the sensitivity of one row, for a person who has two."""

    def _release_counts(self, forest, schema, rows, epsilon, noise):
        exact, _ = super()._release_counts(forest, schema, rows, math.inf, noise)
        return discrete_laplace(exact, epsilon=epsilon, sensitivity=forest.n_trees)


FAULTS = {
    "half the noise": HalfTheNoise(TWO, epsilon=1.0, n_trees=1, height=1),
    "the sensitivity of one tree for ten": OneTreeForTen(TWO, epsilon=1.0, n_trees=10, height=1),
    "no noise on empty leaves": NoNoiseOnEmptyLeaves(TWO, epsilon=1.0, n_trees=1, height=1),
    "a person charged as a row": ChargesForOneRow(TWO, epsilon=1.0, n_trees=1, height=1, unit="person", max_rows=2),
    "pruned by the rows": PrunedByTheRows(TWO, epsilon=1.0, n_trees=1, height=1),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_planted_fault_is_caught(name):
    assert search(name, FAULTS[name]).contradicts


class CombinedWithoutNoise(PrivateForestClassifier):
    """A planted fault: a second forest of the same rows has no noise, and is combined as one of other people."""

    def fit(self, X, y=None):
        super().fit(X, y)
        exact = PrivateForestClassifier(self.schema, epsilon=math.inf).fit(X, y)
        event = Parallel((self.guarantee_.event,) * 2, "no row is with more than one party")
        self._set_fitted(self._encoder, [*self.releases_, *exact.releases_], self._guarantee(self.schema_, event))
        return self


def test_a_forest_that_is_combined_without_its_noise_is_caught():
    both = table_of([[5]] * 200, ["no"] * 200).plus(table_of([[9]] * 200, ["yes"] * 200))
    case = Neighbours("a row that contradicts its leaf", both, table_of([[5]], ["yes"]))
    model = CombinedWithoutNoise(Schema([Categorical("a", [5, 9])], classes=["no", "yes"], rows=400), epsilon=1.0)
    assert search("combined without its noise", model, [case], most=1_600).contradicts


def asked_twice(table):
    """Two answers to the same question, each at the whole price, of which one is paid."""
    model = PrivateRDTClassifier(TWO, epsilon=1.0, n_trees=1, height=1)
    return [Evidence(ALONE)(clone(model).fit(table.X, table.y)) for _ in range(2)]


def test_a_question_asked_twice_and_paid_once_is_caught():
    tables = ALONE.without, ALONE.with_row
    assert search("asked twice, paid once", asked_twice, tables, epsilon=1.0, read=np.ravel, n_jobs=-1).contradicts


def both_halves(table):
    """Two vertical parties, each with its own attribute and the whole epsilon."""
    return [
        PrivateRDTClassifier(Schema([attribute], classes=TWO.classes, rows=40), epsilon=1.0, n_trees=1)
        .fit(table.X[:, [i]], table.y)
        .noisy_counts_.ravel()
        for i, attribute in enumerate(TWO.attributes)
    ]


def test_vertical_parties_composed_in_parallel_are_caught():
    tables = EMPTY.without, EMPTY.with_row
    assert search(
        "vertical parties composed in parallel", both_halves, tables, epsilon=1.0, read=np.ravel, n_jobs=-1
    ).contradicts


def test_without_a_fault_the_same_search_finds_nothing():
    assert not search("no fault", PrivateRDTClassifier(TWO, epsilon=1.0, n_trees=1, height=1), most=1_600).contradicts


# Noise in ten classes makes a node of two rows look like hundreds, and the paper's choice then hangs on one of them.
TEN = Schema(TWO.attributes, classes=[f"class {i}" for i in range(10)], rows=40)


def attribute_of_the_root(estimator, table):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NoGuaranteeWarning)
        return {LEAF: 0.0, 0: 1.0, 1: -1.0}[int(clone(estimator).fit(table.X, table.y).forest_.attribute[0])]


@pytest.mark.parametrize(("variant", "caught"), [("paper", True), ("sound", False)])
def test_the_papers_variant_of_dpdf_is_caught_and_the_sound_one_is_not(variant, caught):
    estimator = DPDFClassifier(TEN, variant=variant, epsilon=0.03, height=1, min_support=0)
    case = next(case for case in worst_cases(TEN) if case.name == SECOND.name)
    found = search(
        f"dpdf, variant {variant}", partial(attribute_of_the_root, estimator), (case.without, case.with_row),
        epsilon=0.03, most=12_800, n_jobs=-1,
    )  # fmt: skip
    assert found.contradicts == caught
