"""How far attributes repeat each other: by hand, against clear rows, and with noise."""

import numpy as np
import pandas as pd
import pytest

from privet import Categorical, SampledForestClassifier, Schema, Secret
from privet.local import FieldSampling, perturb
from privet.local.sampled_forest.class_tables import class_balance, class_tables
from privet.local.sampled_forest.redundancy import Redundancy, measured_redundancy
from privet.local.sampled_forest.value_weights import value_weights

SCHEMA = Schema(
    [Categorical(name, ["x", "y", "z"], never_missing=True) for name in ("first", "copy", "other")],
    classes=[5, 9], target="kind",
)  # fmt: skip


def people(n, seed=3):
    """Of three attributes that tell of the class, the second repeats the first."""
    rng = np.random.default_rng(seed)
    kind = np.where(rng.random(n) < 0.5, 9, 5)
    own = [np.where(rng.random(n) < 0.6, np.where(kind == 9, "x", "y"), rng.choice(["x", "y", "z"], n)) for _ in "ab"]
    return pd.DataFrame({"first": own[0], "copy": own[0], "other": own[1], "kind": kind})


def alike(correlation, variance):
    return np.full((3, 3), correlation), np.full((3, 3), variance)


def test_exact_correlations_are_kept_and_equal_attributes_share_what_they_say():
    found = Redundancy.of(np.array([2.0, 2.0, 2.0]), *alike(0.5, 1e-12))
    assert found.correlations[0] == pytest.approx([1, 0.5, 0.5])
    # With the ridge of 0.2 correlations are 5 / 12, and each weight is 1 / (1 + 10 / 12).
    assert found.counts_for() == pytest.approx([6 / 11] * 3)
    assert found.spread(np.ones(3)) == pytest.approx(2)
    assert found.spread(np.zeros(3)) == 1


def test_independent_attributes_count_in_full():
    found = Redundancy.of(np.array([1.0, 2.0, 3.0]), *alike(0.0, 1e-12))
    assert found.counts_for() == pytest.approx([1, 1, 1])
    assert found.spread(np.ones(3)) == pytest.approx(1)


def test_what_noise_explains_is_drawn_to_the_mean_and_so_is_what_was_not_asked():
    seen, variance = alike(0.3, 1e-3)
    seen[0, 1], variance[1, 2] = 0.33, np.inf
    found = Redundancy.of(np.ones(3), seen, variance)
    # Both known ones are equally certain: their mean is 0.315, and the least spread is 0.01.
    kept = 1e-4 / (1e-4 + 1e-3)
    expected = [0.315 + kept * 0.015, 0.315 - kept * 0.015, 0.315]
    assert found.correlations[np.triu_indices(3, 1)] == pytest.approx(expected)


def test_an_uncertain_mean_is_not_used():
    assert Redundancy.of(np.ones(3), *alike(0.5, 0.1)) is None
    assert Redundancy.of(np.ones(3), *alike(0.0, np.inf)) is None
    assert Redundancy.of(np.ones(1), np.zeros((1, 1)), np.zeros((1, 1))) is None


def test_a_pair_says_nothing_of_many_others():
    seen, variance = alike(0.5, np.inf)
    variance[0, 1] = 1e-6
    assert Redundancy.of(np.ones(3), seen, variance) is None


def test_correlations_that_no_people_can_have_are_made_possible():
    seen, variance = alike(-1.0, 1e-12)
    found = Redundancy.of(np.ones(3), seen, variance)
    assert np.linalg.eigvalsh(found.correlations).min() > 0
    assert np.diag(found.correlations) == pytest.approx(np.ones(3))


def measured(n, channel):
    clear = people(n)
    supports = channel.record.supports(perturb(clear, channel, Secret.of_key(bytes(32))))
    tables = class_tables(channel.record, supports)
    balance, _ = class_balance(tables)
    weights = [value_weights(own, balance, ordered=False, has_missing=False) for own in tables]
    by_name = dict(zip(channel.schema.names, weights, strict=True))
    return clear, balance, by_name, measured_redundancy(channel.record, supports, by_name, balance)


def plain_correlations(clear, balance, by_name):
    """Return the correlations of clear people's scores within their class, from the definition."""
    scores = {}
    for name, own in by_name.items():
        of_value = {value: own.weights[j] for j, value in enumerate("xyz")}
        found = pd.DataFrame([of_value[value] for value in clear[name]])
        scores[name] = found - found.groupby(clear["kind"]).transform("mean")
    products = {(a, b): float((scores[a] * scores[b] * balance).sum(axis=1).mean()) for a in scores for b in scores}
    return np.array([[products[a, b] / np.sqrt(products[a, a] * products[b, b]) for b in scores] for a in scores])


def test_correlations_from_answers_are_those_of_clear_people():
    clear, balance, by_name, found = measured(30_000, FieldSampling(SCHEMA, epsilon=6).channel)
    plain = plain_correlations(clear, balance, by_name)
    assert plain[0, 1] == pytest.approx(1, abs=0.01)
    assert np.abs(found.correlations - plain)[0, 1] < 0.15
    assert np.abs(found.correlations - plain)[2, :2].max() < 0.1
    first, copy, other = found.counts_for()
    assert max(first, copy) < 0.75 < other


def test_without_pairs_nothing_is_measured_and_a_model_with_them_is_surer_of_copies_only():
    assert measured(3_000, FieldSampling(SCHEMA, epsilon=6, pairs=[]).channel)[3] is None
    channel = FieldSampling(SCHEMA, epsilon=8).channel
    model = SampledForestClassifier(channel=channel).fit(perturb(people(30_000), channel, Secret.of_key(bytes(32))))
    clear = people(20_000, seed=4)
    right = (model.predict(clear[list(SCHEMA.names)]) == clear["kind"]).mean()
    # It imagines scores that are spread normally; these have 27 values. Six secrets lay from 0.029 to 0.034 above.
    assert 0.02 < model.expected_accuracy_ - right < 0.045
