"""What DPDF gives away, seen from outside: an attack on counts and choices together gains no more than epsilon."""

import math

import numpy as np
import pytest
from scipy.stats import binomtest

from privet import Categorical, DPDFClassifier, Schema
from privet.privacy.mechanisms.discrete_laplace import discrete_laplace
from privet.privacy.mechanisms.permute_and_flip import permute_and_flip_each

SCHEMA = Schema([Categorical("a", [5, 9]), Categorical("b", [5, 9])], classes=["no", "yes"])
# Without the row both attributes tell the classes apart and are chosen alike. The row agrees with b and not with a.
ABSENT = np.array([[5, 5]] * 20 + [[9, 9]] * 20), np.array(["no"] * 20 + ["yes"] * 20)
PRESENT = np.vstack([ABSENT[0], [[5, 9]]]), np.append(ABSENT[1], "yes")


class ChoosesForFree(DPDFClassifier):
    """A planted fault: the best attribute is taken, and a receipt written as if there had been noise."""

    def _choose_attributes(self, nodes, asked):
        scores = self._scores(nodes, self._score(asked.schema))
        _, _, receipts = super()._choose_attributes(nodes, asked)
        best, _ = permute_and_flip_each(scores, nodes.allowed, epsilon=math.inf, sensitivity=1)
        return best, nodes.exact_tables, receipts


class PaysForOneQuestion(DPDFClassifier):
    """A planted fault: every question costs the whole epsilon, as if it were the only one."""

    def _n_queries(self, schema):
        return 1


class NoiseForOneTree(DPDFClassifier):
    """A planted fault: noise for one tree, at the price of all."""

    def _release_level(self, counts, level, asked):
        noisy = super()._release_level(counts, level, asked)
        price = asked.n_trees * self._query_epsilon(asked.schema, asked.epsilon)
        noisy[:], _ = discrete_laplace(counts, epsilon=price, sensitivity=1)
        return noisy


def counts_and_choice_speak_against(model: DPDFClassifier) -> bool:
    """Attack one tree: few "yes" at the root, a chosen, and no "yes" in the row's leaf speak against the row."""
    if model._grown.attribute[0] != 0:
        return False
    return bool(model.noisy_counts_[0, 1] <= 20 and model.noisy_counts_[1, 1] <= 0)


def all_trees_speak_against(model: DPDFClassifier) -> bool:
    """Attack four trees: few "yes" at every root, and in the row's leaves of the first two speak against the row."""
    grown, yes = model._grown, model.noisy_counts_[:, 1]
    if (grown.attribute[:2] < 0).any():
        return False
    # The row has the first value of a, where no other row is a "yes", and the second of b, where 20 are.
    leaves = grown.first_child[:2] + grown.attribute[:2]
    return bool((yes[:4] <= 20).all() and (yes[leaves] <= 20 * grown.attribute[:2]).all())


def epsilon_shown(classifier, *, runs, attack=counts_and_choice_speak_against, n_trees=1, **options) -> float:
    """Return a lower bound on the epsilon that the attack shows, at a confidence of 1 - 2e-7."""

    def rate(X, y):
        unfitted = {"n_trees": n_trees, "height": 1, "min_support": 0, **options}
        hits = sum(attack(classifier(SCHEMA, **unfitted).fit(X, y)) for _ in range(runs))
        return binomtest(hits, runs).proportion_ci(1 - 2e-7)

    absent, present = rate(*ABSENT), rate(*PRESENT)
    return math.log(max(absent.low, 1e-12) / present.high)


@pytest.mark.slow
def test_an_attack_on_counts_and_choice_gains_no_more_than_epsilon():
    assert 0.5 < epsilon_shown(DPDFClassifier, epsilon=1.0, runs=8_000) <= 1.0


@pytest.mark.slow
def test_an_attack_on_the_choice_by_majorities_gains_no_more_than_epsilon():
    assert 0.3 < epsilon_shown(DPDFClassifier, epsilon=1.0, runs=5_000, criterion="max_class") <= 1.0


@pytest.mark.slow
def test_an_attack_on_four_trees_gains_no_more_than_epsilon():
    assert epsilon_shown(DPDFClassifier, epsilon=2.0, runs=4_000, n_trees=4, attack=all_trees_speak_against) <= 2.0


@pytest.mark.slow
def test_the_attack_catches_a_choice_that_is_not_paid_for():
    assert epsilon_shown(ChoosesForFree, epsilon=1.0, runs=2_000) > 1.5


@pytest.mark.slow
def test_the_attack_catches_the_price_of_one_question_for_three():
    assert epsilon_shown(PaysForOneQuestion, epsilon=1.0, runs=4_000) > 1.5


@pytest.mark.slow
def test_the_attack_catches_the_noise_of_one_tree_for_four():
    assert epsilon_shown(NoiseForOneTree, epsilon=2.0, runs=6_000, n_trees=4, attack=all_trees_speak_against) > 2.0
