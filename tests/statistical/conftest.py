"""Chi-square p-values for integer noise: small where the draws do not follow the law."""

import numpy as np
import pytest
from scipy.stats import chi2_contingency, chisquare


def bins_of(weights, n_bins):
    """Label neighbouring values so that each label holds about the same weight."""
    share = np.cumsum(weights) / np.sum(weights)
    return np.unique(np.minimum(share * n_bins, n_bins - 1).astype(int), return_inverse=True)[1]


def merged(expected, observed, least=25.0):
    """Join neighbouring bins until each expects enough for the chi-square law to hold."""
    pairs, held = [], np.zeros(2)
    for pair in zip(expected, observed, strict=True):
        held = held + pair
        if held[0] >= least:
            pairs.append(held)
            held = np.zeros(2)
    pairs[-1] = pairs[-1] + held
    return np.array(pairs).T


@pytest.fixture
def p_value():
    """Return the p-value of ``draws`` under the law with the given ``weight`` of each integer."""

    def compute(draws, weight, *, reach, n_bins=40):
        values = np.arange(-reach, reach + 1)
        weights = weight(values.astype(float))
        labels = bins_of(weights, n_bins)
        expected = np.bincount(labels, weights) / weights.sum() * draws.size
        observed = np.bincount(labels[np.clip(draws, -reach, reach) + reach], minlength=labels.max() + 1)
        expected, observed = merged(expected, observed)
        return chisquare(observed, expected).pvalue

    return compute


@pytest.fixture
def p_value_of_two():
    """Return the p-value of two samples having one law."""

    def compute(ours, theirs, *, n_bins=30):
        pooled = np.concatenate([ours, theirs])
        values, counts = np.unique(pooled, return_counts=True)
        labels = bins_of(counts, n_bins)
        table = [
            np.bincount(labels[np.searchsorted(values, sample)], minlength=labels.max() + 1)
            for sample in (ours, theirs)
        ]
        kept = np.sum(table, axis=0) >= 50
        return chi2_contingency(np.array(table)[:, kept]).pvalue

    return compute
