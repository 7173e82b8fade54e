"""What a fit releases, seen from outside: the noise it should have, and no more than epsilon to gain by an attack."""

import math

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binomtest

from privet import Categorical, PrivateRDTClassifier, Schema
from privet.counting.rows import MemoryRows
from privet.privacy.mechanisms.discrete_laplace import discrete_laplace
from privet.schema.encoding import Encoder
from privet.tree.random_structure import random_structure

SCHEMA = Schema([Categorical("a", ["u", "v"]), Categorical("b", ["p", "q", "r"])], classes=["no", "yes"], rows=10)
ROW, LABEL = np.array([["u", "q"]], dtype=object), ["yes"]
EMPTY = np.empty((0, 2), dtype=object), np.empty(0, dtype=str)


def law(scale):
    return lambda x: np.exp(-np.abs(x) / scale)


def test_an_empty_table_releases_noise_of_scale_trees_over_epsilon_in_every_leaf(p_value):
    wide = Schema([Categorical("zip", range(3000))], classes=["no", "yes"], rows=10)
    empty = np.empty((0, 1)), EMPTY[1]
    counts = PrivateRDTClassifier(wide, epsilon=0.5, n_trees=6).fit(*empty).noisy_counts_
    assert counts.shape == (6 * 3001, 2)
    assert p_value(counts.ravel(), law(12.0), reach=480) > 1e-9
    assert p_value(counts.ravel(), law(0.9 * 12.0), reach=480) < 1e-6
    assert p_value(counts.ravel(), law(1.1 * 12.0), reach=480) < 1e-6
    assert p_value(counts.ravel(), law(2.0), reach=480) < 1e-6  # the noise of one tree for six


class ChargesForOneTree(PrivateRDTClassifier):
    """A planted fault: the sensitivity of one tree, whatever their number."""

    def _release_counts(self, forest, schema, rows, epsilon, noise):
        exact, _ = super()._release_counts(forest, schema, rows, math.inf, noise)
        return discrete_laplace(exact, epsilon=epsilon, sensitivity=1)


class CountsRowsForFree(PrivateRDTClassifier):
    """A planted fault: the exact number of rows decides the height."""

    def _number_of_rows(self, schema, rows, epsilon, noise):
        self._n_rows = sum(len(labels) for _, labels in rows.blocks())
        return 1, epsilon, ()

    def _draw_forest(self, schema, n_rows, epsilon, public_rng):
        return random_structure(schema, n_trees=1, height=1 + min(self._n_rows, 1), public_rng=public_rng)


def taller(model: PrivateRDTClassifier) -> bool:
    """Attack: taller trees speak for the row."""
    return model.height_ > 1


def all_counts_above_zero(model: PrivateRDTClassifier) -> bool:
    """Attack: counts above zero in all leaves that the row reaches speak for the row."""
    codes = model._encoder.encode(ROW)[0]
    root_attributes = model.forest_.attribute[: model.n_trees]
    leaves = model.forest_.first_child[: model.n_trees] + codes[root_attributes]
    own_counts = model.noisy_counts_[np.searchsorted(model.forest_.leaves, leaves), 1]
    return bool((own_counts > 0).all())


def own_count_above_one(model: PrivateRDTClassifier) -> bool:
    """Attack: more than one row in the leaf that the person's rows reach speaks for the person."""
    codes = model._encoder.encode(ROW)[0]
    leaf = model.forest_.first_child[0] + codes[model.forest_.attribute[0]]
    return bool(model.noisy_counts_[np.searchsorted(model.forest_.leaves, leaf), 1] > 1)


def epsilon_shown(
    classifier, *, epsilon, n_trees, runs, attack=all_counts_above_zero, member=(ROW, LABEL), absent=EMPTY, **options
) -> float:
    """Return a lower bound on the epsilon that the attack shows, at a confidence of 1 - 2e-7."""

    def rate(X, y):
        fitted = (classifier(SCHEMA, epsilon=epsilon, n_trees=n_trees, **options).fit(X, y) for _ in range(runs))
        hits = sum(attack(model) for model in fitted)
        return binomtest(hits, runs).proportion_ci(1 - 2e-7)

    present, missing = rate(*member), rate(*absent)
    return math.log(max(present.low, 1e-12) / missing.high)


@pytest.mark.slow
@pytest.mark.parametrize(("epsilon", "n_trees"), [(0.5, 1), (1.0, 1), (1.0, 3), (2.0, 2)])
def test_an_attack_on_a_fit_gains_no_more_than_epsilon(epsilon, n_trees):
    shown = epsilon_shown(PrivateRDTClassifier, epsilon=epsilon, n_trees=n_trees, runs=8_000, height=1)
    assert 0.5 * epsilon < shown <= epsilon


@pytest.mark.slow
def test_the_attack_catches_the_noise_of_one_tree_for_three():
    assert epsilon_shown(ChargesForOneTree, epsilon=1.0, n_trees=3, runs=8_000, height=1) > 1.5


def test_the_attack_catches_a_height_read_off_the_rows():
    assert epsilon_shown(CountsRowsForFree, epsilon=1.0, n_trees=1, runs=300, attack=taller) > 1.5


# A person with nine equal rows, of which two are used, against no such person.
PERSON = pd.DataFrame({"person": ["ann"] * 9, "a": "u", "b": "q"}), LABEL * 9
NOBODY = PERSON[0][:0], EMPTY[1]
OF_A_PERSON = {"member": PERSON, "absent": NOBODY, "unit": "person", "max_rows": 2, "height": 1}


class ChargesForOneRow(PrivateRDTClassifier):
    """A planted fault: the sensitivity of one row, for a person who has two."""

    def _release_counts(self, forest, schema, rows, epsilon, noise):
        exact, _ = super()._release_counts(forest, schema, rows, math.inf, noise)
        return discrete_laplace(exact, epsilon=epsilon, sensitivity=forest.n_trees)


class UsesAllRows(PrivateRDTClassifier):
    """A planted fault: a person's rows are not bounded."""

    def _open(self, X, y, encoder=None):
        encoder = Encoder(SCHEMA, "person")
        return encoder, MemoryRows(encoder.encode(X), encoder.encode_labels(y))


@pytest.mark.slow
@pytest.mark.parametrize(("epsilon", "n_trees"), [(1.0, 1), (1.0, 3)])
def test_an_attack_on_a_person_with_many_rows_gains_no_more_than_epsilon(epsilon, n_trees):
    shown = epsilon_shown(PrivateRDTClassifier, epsilon=epsilon, n_trees=n_trees, runs=8_000, **OF_A_PERSON)
    assert 0.5 * epsilon < shown <= epsilon


@pytest.mark.slow
@pytest.mark.parametrize("classifier", [ChargesForOneRow, UsesAllRows])
def test_the_attack_catches_a_person_charged_as_a_row_and_rows_without_bound(classifier):
    # With one tree the two rows of a person show in one count; the attack asks for more than one of them.
    shown = epsilon_shown(classifier, epsilon=1.0, n_trees=1, runs=8_000, attack=own_count_above_one, **OF_A_PERSON)
    assert shown > 1.2
