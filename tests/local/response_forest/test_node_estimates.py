"""Shares of nodes that noise may have made are those of the node above; others are their own."""

import numpy as np
import pandas as pd
from numpy.testing import assert_allclose, assert_array_equal

from privet import Categorical, Numeric, Schema
from privet.local import RandomizedResponse, RandomResponseForestClassifier, Secret, perturb
from privet.local.response_forest.node_estimates import SHRUNK_BELOW, balance_of, shrunk_shares
from privet.model_file import schema_from_json
from privet.tree.forest import LEAF, Forest
from tests.loops import loop_over

# A root, two children, and two children of the second.
TREE = Forest.from_nodes(
    np.array([0, LEAF, 0, LEAF, LEAF], np.int32),
    np.array([1, -1, 2, -1, -1], np.int32),
    1,
    [Numeric("x", 0, 1, bins=4)],
)
ESTIMATES = np.array([[60.0, 40.0], [10.0, 30.0], [50.0, 10.0], [60.0, -20.0], [-10.0, 30.0]])


def shares_at(variance):
    return shrunk_shares(TREE, ESTIMATES, np.array([0.6, 0.4]), lambda nodes, above: np.full_like(above, variance))


def test_without_noise_every_node_has_its_own_shares_clipped_at_none():
    assert_allclose(shares_at(0.0), [[0.6, 0.4], [0.25, 0.75], [5 / 6, 1 / 6], [1, 0], [0, 1]])


def test_with_much_noise_every_node_has_the_class_balance():
    assert_allclose(shares_at(1e6), np.tile([0.6, 0.4], (5, 1)))


def test_in_between_the_factor_is_that_of_james_and_stein_by_hand():
    # The first child has 10 where 0.6 * 40 = 24 were expected: 14 away, with a deviation of 3.5, so z = 4.
    assert SHRUNK_BELOW == 3
    weight = 1 - 9 / 16
    assert_allclose(shares_at(3.5**2)[1], [0.6 + weight * (0.25 - 0.6), 0.4 + weight * (0.75 - 0.4)])


def test_a_node_without_rows_is_as_the_one_above():
    estimates = ESTIMATES.copy()
    estimates[1] = [-5.0, 0.0]
    shares = shrunk_shares(TREE, estimates, np.array([0.6, 0.4]), lambda nodes, above: np.zeros_like(above))
    assert_allclose(shares[1], [0.6, 0.4])
    assert_allclose(balance_of(np.array([-1.0, -2.0])), [0.5, 0.5])
    assert_allclose(balance_of(np.array([-1.0, 3.0])), [0.0, 1.0])


SCHEMA = Schema([Categorical(name, ["a", "b", "c", "d"]) for name in "uvw"], classes=["no", "yes"])


def answered(epsilon, seed, *, goes_together):
    """Return answers in which the first field, or none, goes with a label that one of four has."""
    rng = np.random.default_rng(seed)
    people = pd.DataFrame({name: rng.choice(list("abcd"), 4_000) for name in "uvw"})
    chance = (people["u"] == "a").to_numpy() if goes_together else rng.random(4_000) < 0.25
    people["class"] = np.where(chance, "yes", "no")
    channel = RandomizedResponse(SCHEMA, epsilon=epsilon, label=True).channel
    return channel, perturb(people, channel, Secret.of_key(bytes([seed] * 32))), people


def fitted(channel, answers, **options):
    model = RandomResponseForestClassifier(channel=channel, n_trees=10, random_state=0, **options)
    return model.fit(answers[["u", "v", "w"]], answers["class"])


@loop_over("seed", range(3))
def test_a_forest_on_noise_votes_for_the_class_balance_and_one_on_more_does_not(seed):
    channel, answers, people = answered(1.0, seed, goes_together=False)
    assert (fitted(channel, answers).predict(people[["u", "v", "w"]]) == "no").all()
    careless = fitted(channel, answers, cautious=False).predict(people[["u", "v", "w"]])
    assert (careless == people["class"]).mean() < 0.74
    channel, answers, people = answered(8.0, seed, goes_together=True)
    assert fitted(channel, answers).score(people[["u", "v", "w"]], people["class"]) > 0.99


def test_clear_rows_are_not_shrunk():
    _, _, people = answered(1.0, 0, goes_together=True)
    models = [
        RandomResponseForestClassifier(SCHEMA, n_trees=5, random_state=0, cautious=cautious).fit(
            people[["u", "v", "w"]], people["class"]
        )
        for cautious in (True, False)
    ]
    assert_array_equal(*(model.predict_proba(people[["u", "v", "w"]]) for model in models))


def test_a_file_of_a_version_that_did_not_shrink_predicts_as_it_did():
    channel, answers, people = answered(1.0, 0, goes_together=False)
    careless = fitted(channel, answers, cautious=False)
    document = careless.to_document()
    del document["parameters"]["cautious"]
    again = RandomResponseForestClassifier.from_document(document, schema_from_json(document["schema"]))
    rows = people[["u", "v", "w"]]
    assert_array_equal(again.predict_proba(rows), careless.predict_proba(rows))
