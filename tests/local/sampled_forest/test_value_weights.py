"""What each value says of each class: by hand, beside a plain twin, and against what noise would say."""

import numpy as np
import pytest
from scipy.stats import norm

from privet.local.sampled_forest import value_weights as subject
from privet.local.sampled_forest.class_tables import ClassTable
from privet.local.sampled_forest.value_weights import value_weights


def weights_of(counts, balance, noise=0.0):
    table = ClassTable(float(np.sum(counts)), np.array(counts, dtype=float), noise)
    return value_weights(table, np.array(balance), ordered=False, has_missing=False).weights


def posterior(seen, variance, *, own_spreads=True):
    """Return the means and what is left uncertain, number by number from the definition."""
    n_values, n_classes = seen.shape
    deviations = [np.sqrt(spread**2 + variance) for spread in subject._SPREADS]
    fits = np.array([norm.logpdf(seen, 0, own).sum(axis=0) for own in deviations]).T
    mean, left = np.zeros_like(seen), np.zeros_like(seen)
    for c in range(n_classes):
        counts_for = [(n_classes - 1 if other == c else 1) / n_classes for other in range(n_classes)]
        if not own_spreads:
            counts_for = [(n_classes - 1) / n_classes] * n_classes
        fit = np.array(counts_for) @ fits
        parts = np.exp(fit - fit.max()) / np.exp(fit - fit.max()).sum()
        for v in range(n_values):
            kept = [s**2 / (s**2 + variance[v, c]) for s in subject._SPREADS]
            means = np.array(kept) * seen[v, c]
            mean[v, c] = parts @ means
            left[v, c] = parts @ (np.array(kept) * variance[v, c] + (means - mean[v, c]) ** 2)
    return mean, left


def test_weights_are_computed_by_hand_for_one_spread(monkeypatch):
    monkeypatch.setattr(subject, "_SPREADS", (1.0,))
    # Each value has 100 people, 50 of each class expected; chance alone has the variance 25 / 50^2 = 0.01. What is
    # left is 0.01 / 1.01, of which half, over 1 and itself, is added: 0.5 * 0.01 / 1.02.
    mean, added = 1 / 1.01, 0.005 / 1.02
    likely, unlikely = 1 + mean + added, 1 - mean + added
    found = weights_of([[100, 0], [0, 100]], [0.5, 0.5])
    expected = np.log(np.array([likely, unlikely]) / (1 + added))
    assert found == pytest.approx(np.array([expected, expected[::-1]]))


def test_many_people_say_what_their_shares_say():
    found = weights_of(1e8 * np.array([[3.0, 1.0, 1.0], [1.0, 1.0, 3.0]]), [0.4, 0.2, 0.4])
    assert found == pytest.approx(np.log([[1.5, 1.0, 0.5], [0.5, 1.0, 1.5]]), abs=1e-3)


def test_nobody_in_a_cell_is_never_certain_however_many_were_asked():
    found = weights_of(1e14 * np.array([[1.0, 0.0], [1.0, 2.0]]), [0.5, 0.5])
    assert np.isfinite(found).all()
    assert -40 < found[0, 1] < -10


@pytest.mark.parametrize("n_classes", [2, 3, 5])
def test_effects_are_averaged_like_in_a_plain_twin(n_classes):
    rng = np.random.default_rng(n_classes)
    seen, variance = rng.normal(0, 0.5, (4, n_classes)), rng.uniform(0.01, 0.5, (4, n_classes))
    found = subject._posterior(seen, variance, np.eye(4))
    for own, expected in zip(found, posterior(seen, variance), strict=True):
        assert own == pytest.approx(expected)


def test_two_classes_share_their_spread_as_their_effects_are_one_number():
    seen, variance = np.array([[0.5, -0.5], [-0.3, 0.3]]), np.full((2, 2), 0.1)
    mean, left = subject._posterior(seen, variance, np.eye(2))
    for own, twin in zip((mean, left), posterior(seen, variance, own_spreads=False), strict=True):
        assert own == pytest.approx(twin)
    assert mean.sum(axis=1) == pytest.approx([0, 0])


def test_a_class_of_which_an_attribute_tells_nothing_is_taken_for_more_where_classes_share_a_spread():
    rng, deviation = np.random.default_rng(22), 0.3
    errors, errors_of_shared = [], []
    for _ in range(100):
        true = rng.normal(0, 0.5, (10, 3)) * [1, 1, 0]
        seen, variance = true + rng.normal(0, deviation, true.shape), np.full(true.shape, deviation**2)
        of_shared = posterior(seen, variance, own_spreads=False)  # the planted fault
        for found, kept in ((subject._posterior(seen, variance, np.eye(10)), errors), (of_shared, errors_of_shared)):
            kept.append(np.mean((found[0] - true)[:, 2] ** 2))
    assert np.mean(errors) < 0.3 * deviation**2
    assert np.mean(errors_of_shared) > 0.33 * deviation**2
