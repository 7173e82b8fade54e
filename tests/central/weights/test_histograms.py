"""How rows lie over cells: what is released, and the shares that are read off it."""

import math
from collections import Counter

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import chisquare

from privet.central.weights.histograms import Histogram, release_histograms
from privet.privacy.events import DiscreteLaplace, NoNoise
from privet.rng import SystemNoise


def released(exact, epsilon=1.0, rows=1):
    return release_histograms(
        [np.array(own) for own in exact], epsilon=epsilon, rows=rows, what="cells", noise=SystemNoise()
    )


def test_all_histograms_are_one_release_of_a_row_in_each():
    noisy, receipt = released([[5, 0, 2], [7, 0]], epsilon=0.5, rows=3)
    assert noisy.shape == (5,)
    assert isinstance(receipt, DiscreteLaplace)
    assert (receipt.what, receipt.epsilon, receipt.sensitivity, receipt.scale) == ("cells", 0.5, 6, 12)
    exact, receipt = released([[5, 0, 2], [7, 0]], epsilon=math.inf)
    assert_array_equal(exact, [5, 0, 2, 7, 0])
    assert receipt == NoNoise("cells")


def test_shares_by_hand():
    # The noise may be taken off alike until the rest adds up to 1: .1 here, and the third cell is empty then.
    histogram = Histogram(np.array([80, 40, -5]), 100, 10.0)
    assert_allclose(histogram.shares, [0.7, 0.3, 0.0])
    # Two scales are a fifth of the rows.
    assert_allclose(histogram.least_shares, [0.5, 0.1, 0.0])
    assert_allclose(histogram.sure_shares, np.array([5, 1, 0]) / 6)


def test_a_count_that_noise_explains_is_not_sure():
    histogram = Histogram(np.array([900, 95, 5]), 1000, 50.0)
    assert_allclose(histogram.shares, [0.9, 0.095, 0.005])
    assert_allclose(histogram.sure_shares, [1, 0, 0])


def test_where_nothing_is_sure_the_shares_are_as_they_are():
    histogram = Histogram(np.array([4, 3, 3]), 10, 100.0)
    assert_allclose(histogram.sure_shares, [0.4, 0.3, 0.3])
    assert_array_equal(histogram.least_shares, [0, 0, 0])


def test_without_noise_shares_are_exact_whatever_number_of_rows_was_declared():
    for n_rows in (1, 8, 10**6):
        assert_allclose(Histogram(np.array([6, 0, 2]), n_rows, 0.0).shares, [0.75, 0, 0.25])
        assert_allclose(Histogram(np.array([6, 0, 2]), n_rows, 0.0).sure_shares, [0.75, 0, 0.25])
    assert_allclose(Histogram(np.array([0, 0]), 5, 0.0).shares.sum(), 1)


def plain_shares(noisy):
    """Take as much off every share as leaves 1 in all, found by halving."""
    low, high = noisy.min() - 1.0, noisy.max()
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if np.maximum(noisy - middle, 0).sum() > 1 else (low, middle)
    return np.maximum(noisy - low, 0)


@pytest.mark.parametrize("seed", range(20))
def test_shares_agree_with_their_plain_twin(seed):
    rng = np.random.default_rng(seed)
    counts = rng.integers(-300, 2000, int(rng.integers(1, 60)))
    histogram = Histogram(counts, 1000, 30.0)
    assert_allclose(histogram.shares, plain_shares(counts / 1000), atol=1e-12)
    assert histogram.shares.sum() == pytest.approx(1)
    assert (histogram.shares >= 0).all()


def goodness(noise, scale):
    """Return how well whole noise fits the discrete Laplace law of this scale; rare values are put together."""
    most = int(4 * scale)
    seen = Counter(np.clip(noise, -most, most).tolist())
    q = math.exp(-1 / scale)
    chances = {k: (1 - q) / (1 + q) * q ** abs(k) for k in range(-most + 1, most)}
    chances |= dict.fromkeys((-most, most), (1 - sum(chances.values())) / 2)
    observed, expected = zip(*((seen[k], len(noise) * chance) for k, chance in chances.items()), strict=True)
    return chisquare(observed, expected).pvalue


def test_the_noise_of_cells_has_its_scale_and_not_one_off_by_a_tenth():
    # Four histograms of ten thousand cells, of people with two rows: a scale of 8 / 1.
    exact = [np.arange(10_000)] * 4
    noisy, receipt = release_histograms(exact, epsilon=1.0, rows=2, what="cells", noise=SystemNoise())
    noise = noisy - np.concatenate(exact)
    assert receipt.scale == 8
    assert goodness(noise, 8.0) > 1e-9
    assert goodness(noise, 7.2) < 1e-6
    assert goodness(noise, 8.8) < 1e-6


def test_missing_values_have_a_sure_share_only_where_noise_hardly_could_show_as_many():
    few = Histogram(np.array([600, 300, 35]), 1_000, 10.0)
    assert few.sure_shares[-1] > 0
    assert few.surest_shares(has_missing=True)[-1] == 0
    assert few.surest_shares(has_missing=True).sum() == pytest.approx(1)
    assert_allclose(few.surest_shares(has_missing=False), few.sure_shares)
    many = Histogram(np.array([600, 300, 100]), 1_000, 10.0)
    assert_allclose(many.surest_shares(has_missing=True), many.sure_shares)
    # All rows may be without a value.
    assert Histogram(np.array([0, 0, 30]), 30, 10.0).surest_shares(has_missing=True)[-1] == 1
