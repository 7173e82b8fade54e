"""2^h(X|W): closed forms, limits, and a plain double sum."""

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose

from privet import Numeric
from privet.local.channels.added_noise import AddedNoise
from privet.local.channels.distributions import DISTRIBUTIONS, Gaussian, Laplace, Uniform
from privet.local.channels.intervals import IntervalMembership
from privet.local.channels.randomized_response import RandomAnswer
from privet.local.measures import posterior
from privet.local.measures.posterior import Histogram

RANGE = Numeric("x", 10, 30)
EVENLY = Histogram.flat(10, 30)


def left_of(column, prior):
    return column.measures(prior)["posterior_entropy"]


@pytest.mark.parametrize("alpha", [0.5, 3.0, 9.9])
def test_uniform_noise_narrower_than_the_range_in_closed_form(alpha):
    # Given w the value is uniform over what is left of the range within alpha of it; E log2 of that length.
    left = left_of(AddedNoise(RANGE, Uniform(alpha)), EVENLY)
    assert left.after == pytest.approx(2 * alpha * math.exp(-alpha / 20), rel=1e-4)
    assert (left.before, left.out_of) == (pytest.approx(20), 20)
    assert left.share == pytest.approx(left.after / 20)


@pytest.mark.parametrize("alpha", [10.0, 25.0, 400.0])
def test_uniform_noise_wider_than_the_range_in_closed_form(alpha):
    left = left_of(AddedNoise(RANGE, Uniform(alpha)), EVENLY)
    assert left.after == pytest.approx(20 * math.exp(-20 / (4 * alpha)), rel=1e-4)


def test_narrow_noise_leaves_its_own_entropy_and_wide_noise_the_prior_s():
    assert left_of(AddedNoise(RANGE, Gaussian(0.05)), EVENLY).after == pytest.approx(
        0.05 * math.sqrt(2 * math.pi * math.e), rel=0.01
    )
    assert left_of(AddedNoise(RANGE, Laplace(0.05)), EVENLY).after == pytest.approx(0.1 * math.e, rel=0.01)
    for noise in DISTRIBUTIONS.values():
        assert left_of(AddedNoise(RANGE, noise(10_000)), EVENLY).after == pytest.approx(20, rel=1e-2)


@pytest.mark.parametrize("noise", [Uniform(7.0), Gaussian(4.0), Laplace(3.0)], ids=lambda noise: noise.name)
def test_a_histogram_agrees_with_a_plain_sum_over_a_fine_grid(noise):
    prior = Histogram(np.array([10.0, 12.0, 20.0, 30.0]), np.array([0.5, 0.2, 0.3]))
    x = 10 + 20 * (np.arange(1000) + 0.5) / 1000
    weight = np.select([x < 12, x < 20], [0.5 / 2, 0.2 / 8], 0.3 / 10) * 0.02
    w, step = np.linspace(-40, 80, 4001, retstep=True)
    joint = noise.density(w[:, None] - x) * weight * step
    joint = joint / joint.sum()
    h = posterior.entropy_of(joint) - posterior.entropy_of(joint.sum(axis=1)) + math.log2(0.02)
    assert left_of(AddedNoise(RANGE, noise), prior).after == pytest.approx(2**h, rel=3e-3)


def test_intervals_leave_the_mean_width_and_finer_priors_less():
    cut = IntervalMembership(Numeric("x", 10, 30, edges=[15]))
    assert left_of(cut, EVENLY).after == pytest.approx(5 ** (1 / 4) * 15 ** (3 / 4))
    in_one = Histogram(np.array([10.0, 12.0, 30.0]), np.array([1.0, 0.0]))
    assert left_of(cut, in_one).after == pytest.approx(2.0)


def test_randomized_answers_by_hand():
    even = posterior.of_answer(RandomAnswer("a", 2, 0.75).matrix, np.array([0.5, 0.5]))
    assert even.after == pytest.approx(2 ** (-0.75 * math.log2(0.75) - 0.25 * math.log2(0.25)))
    assert even.before == 2.0
    sure = posterior.of_answer(np.eye(3), np.array([0.2, 0.3, 0.5]))
    assert sure.after == pytest.approx(1.0)
    blind = posterior.of_answer(np.full((3, 3), 1 / 3), np.array([0.2, 0.3, 0.5]))
    assert blind.after == pytest.approx(blind.before)


def test_a_histogram_counts_clipped_values_in_ten_to_a_hundred_cells():
    few = Histogram.of(np.array([9.0, 11.0, 29.0, 99.0]), 10, 30)
    assert len(few.shares) == 10
    assert_allclose(few.shares[[0, -1]], [0.5, 0.5])
    assert len(Histogram.of(np.linspace(10, 30, 3_400), 10, 30).shares) == 34
    assert len(Histogram.of(np.linspace(10, 30, 50_000), 10, 30).shares) == 100
    assert Histogram.of(np.full(50, 15.0), 10, 30).entropy == pytest.approx(1.0)  # a cell of width 2


def test_cutting_a_histogram_finer_changes_nothing():
    prior = Histogram(np.array([10.0, 12.0, 30.0]), np.array([0.5, 0.5]))
    finer = prior.cut_at(np.array([10.0, 11.0, 20.0, 30.0]))
    assert finer.edges.tolist() == [10, 11, 12, 20, 30]
    assert_allclose(finer.shares, [0.25, 0.25, 0.5 * 8 / 18, 0.5 * 10 / 18])
    assert finer.entropy == pytest.approx(prior.entropy)
