"""Rows and mirror images: estimates by hand, and by statistics with and without clipping."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from privet.errors import ParameterError
from privet.local.response_forest.mirror_counts import MirrorCounts, packed, weights_of


def counts_of(kept, mirrored, keep, **options):
    # A root that no test looks at stands first.
    kept, mirrored = (np.array([[50, 50], *lines]) for lines in (kept, mirrored))
    return MirrorCounts(1, options.pop("bootstrap", False), kept, mirrored, keep, **options)


def test_the_equation_by_hand():
    # theta .75: a row stands for 1.5 and a mirror image for -.5 true ones.
    assert weights_of(0.75) == (1.5, 0.5)
    counts = counts_of([[30, 4], [2, 9]], [[10, 20], [0, 40]], 0.75)
    assert_allclose(counts.unclipped[1:], [[40, -4], [3, -6.5]])
    # 40 rows are all that may be true ones, 3 of 2 are one too many, and fewer than none there cannot be.
    assert_allclose(counts.clipped[1:], [[40, 0], [2, 0]])
    # sqrt((S + M) theta (1 - theta)) / (2 theta - 1) = sqrt(64 * 3/16) / (1/2)
    assert_allclose(counts.sd[1:], [np.sqrt(64 * 3 / 16) * 2, np.sqrt(51 * 3 / 16) * 2])
    assert counts.sd[0] == 0
    # A bag of 100 adds 100 / 99 (1.5^2 34 + .5^2 30 - 36^2 / 100).
    drawn = counts_of([[30, 4]], [[10, 20]], 0.75, bootstrap=True)
    assert_allclose(drawn.sd[1] ** 2, 48 + 100 / 99 * (76.5 + 7.5 - 12.96))


def test_without_disguise_counts_are_as_they_are():
    counts = counts_of([[30, 4]], [[0, 0]], 1.0)
    assert_array_equal(counts.clipped[1], [30, 4])
    assert not counts.sd.any()
    assert not counts.noise_only[1]
    assert counts_of([[7, 7]], [[0, 0]], 1.0).noise_only[1]


def test_a_lead_within_two_standard_deviations_is_noise():
    # theta .75 again: a lead of 1.5 (a - b) of a and b rows, with a deviation of sqrt(.75 (a + b)): 7.5 within
    # 10.2, and 15 beyond 9.5.
    assert_array_equal(counts_of([[20, 15], [20, 10]], np.zeros((2, 2), int), 0.75).noise_only[1:], [True, False])
    assert_array_equal(counts_of([[20, 14], [20, 17]], np.full((2, 2), 20), 0.75).noise_only[1:], [True, True])


@pytest.mark.parametrize("keep", [0.5, 0.4, 1.01])
def test_one_half_is_refused(keep):
    with pytest.raises(ParameterError, match="at 1/2 an answer says nothing"):
        weights_of(keep)


def repeated(true_rows, mirror_rows, keep, *, flips_label, n_repeats=40_000):
    """Disguise rows of a path (class 0, class 1) and of its mirror image many times over, and count both."""
    rng = np.random.default_rng(11)
    stays = [rng.binomial(n, keep, size=n_repeats) for n in (*true_rows, *mirror_rows)]
    flips = [n - s for n, s in zip((*true_rows, *mirror_rows), stays, strict=True)]
    swap = 1 if flips_label else 0
    # A flipped row of the mirror image arrives on the path, its label flipped with it; a mirror image takes it back.
    kept = np.stack([stays[c] + flips[2 + (c ^ swap)] for c in (0, 1)], axis=1)
    mirrored = np.stack([stays[2 + (c ^ swap)] + flips[c] for c in (0, 1)], axis=1)
    return MirrorCounts(0, False, kept, mirrored, keep, flips_label)


@pytest.mark.parametrize("flips_label", [False, True])
def test_estimates_are_unbiased_before_clipping_and_have_the_stated_spread(flips_label):
    counts = repeated((40, 15), (10, 200), 0.8, flips_label=flips_label)
    error = counts.sd.mean() / np.sqrt(len(counts.kept))
    assert_allclose(counts.unclipped.mean(axis=0), [40, 15], atol=6 * error)
    total = counts.unclipped.sum(axis=1)
    assert np.abs(total.std() / counts.sd.mean() - 1) < 0.03
    lead = counts.unclipped[:, 0] - counts.unclipped[:, 1]
    nodes = np.zeros(len(lead), dtype=np.int64)
    stated = np.sqrt(counts.difference_variance(nodes, nodes + 1).mean())
    assert np.abs(lead.std() / stated - 1) < 0.03


def test_clipping_adds_four_tenths_of_a_deviation_where_there_is_nothing():
    counts = repeated((0, 60), (300, 300), 0.7, flips_label=False)
    sd = np.sqrt(300 * 0.21) / 0.4
    assert abs(counts.unclipped[:, 0].mean()) < 6 * sd / np.sqrt(len(counts.kept))
    assert counts.clipped[:, 0].mean() == pytest.approx(sd / np.sqrt(2 * np.pi), rel=0.05)
    # Far from none and from all nothing is clipped, and nothing is biased.
    many = repeated((200, 60), (300, 300), 0.7, flips_label=False)
    assert_allclose(many.clipped[:, 0], many.unclipped[:, 0])


def test_records_are_packed_into_words_of_64_bits():
    bits = np.zeros((2, 70), dtype=np.uint8)
    bits[0, [0, 63]] = 1
    bits[1, 69] = 1
    assert_array_equal(packed(bits), [[1 + 2**63, 0], [0, 2**5]])
