"""Noise at the ends of what epsilon may be, 1e-6 and 50: each draw has the stated law and not another."""

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import binomtest, chisquare, gamma, kstest, laplace, norm

from privet import Numeric, PrivateRDTClassifier, Schema
from privet.errors import ParameterError
from privet.local import LaplaceNoise
from privet.local.channels.randomized_response import RandomAnswer
from privet.privacy.mechanisms.discrete_gaussian import discrete_gaussian
from privet.privacy.mechanisms.discrete_laplace import discrete_laplace
from privet.privacy.mechanisms.linear_noise import (
    draw_laplace,
    draw_normal,
    draw_sum_zero,
    normal_sigma_at_least,
    scales_at_least,
)
from privet.privacy.mechanisms.noise_shares import noise_share
from privet.privacy.mechanisms.permute_and_flip import permute_and_flip_each
from privet.privacy.mechanisms.rational import MIN_RHO
from privet.rng import SystemNoise
from tests.statistical.test_noise_selection import probabilities

SMALLEST, LARGE = 1e-6, 50.0
QUICK, MANY = 20_000, 1_000_000
SIZES = [QUICK, pytest.param(MANY, marks=pytest.mark.slow)]
# A quick sample tells scales apart that differ by a quarter, a large one those that differ by a twentieth.
OFF = {QUICK: 1.25, MANY: 1.05, MANY // 10: 1.1}


def zeros(n):
    return np.zeros(n, dtype=np.int64)


def assert_this_scale_and_no_other(p_value_at, scale, n):
    """The p-value is fair at ``scale``, and vanishes at scales a little smaller and larger."""
    assert p_value_at(scale) > 1e-9
    assert p_value_at(scale / OFF[n]) < 1e-6
    assert p_value_at(scale * OFF[n]) < 1e-6


def against(draws, law):
    """Return p-values by scale for noise whose steps are far finer than the test sees."""
    return lambda scale: kstest(draws, law(scale=scale).cdf).pvalue


def in_steps(p_value, draws, weight, reach):
    """Return p-values by scale for noise of few steps."""
    return lambda scale: p_value(draws, lambda x: weight(x / scale), reach=reach)


def exponential(x):
    return np.exp(-np.abs(x))


def bell(x):
    return np.exp(-(x**2) / 2)


# The smallest epsilon: noise of a million steps.


@pytest.mark.parametrize("n", SIZES)
def test_laplace_noise_of_the_smallest_epsilon(n):
    draws, event = discrete_laplace(zeros(n), epsilon=SMALLEST, sensitivity=1)
    assert float(event.scale) == pytest.approx(1e6, rel=2e-6)
    assert_this_scale_and_no_other(against(draws, laplace), 1e6, n)


@pytest.mark.parametrize("n", SIZES)
def test_laplace_noise_near_the_samplers_limit(n):
    draws, _ = discrete_laplace(zeros(n), epsilon=SMALLEST, sensitivity=10**6)
    assert_this_scale_and_no_other(against(draws, laplace), 1e12, n)


@pytest.mark.parametrize("n", SIZES)
def test_gaussian_noise_of_the_smallest_rho(n):
    draws, event = discrete_gaussian(zeros(n), rho=MIN_RHO, sensitivity_squared=1)
    assert float(event.sigma) == pytest.approx(1e6, rel=2e-6)
    assert_this_scale_and_no_other(against(draws, norm), 1e6, n)


def sum_of_shares(epsilon, sensitivity, n):
    settings = {"epsilon": epsilon, "sensitivity": sensitivity, "honest": 5, "parties": 5}
    return sum(noise_share(zeros(n), **settings)[0] for _ in range(5))


@pytest.mark.parametrize("n", [QUICK, pytest.param(MANY // 10, marks=pytest.mark.slow)])
def test_shares_of_noise_of_the_smallest_epsilon(n):
    assert_this_scale_and_no_other(against(sum_of_shares(SMALLEST, 1, n), laplace), 1e6, n)


# Steps of a million: at an epsilon of 1e-6 they are what is told apart.
SCORES = [2_000_000, 0, 1_000_000]


def choices(scores, n, **parameters):
    lines = np.tile(scores, (n, 1))
    return np.bincount(permute_and_flip_each(lines, np.ones_like(lines, dtype=bool), **parameters)[0], minlength=3)


def p_of_choices(counts, scores):
    return lambda rate: chisquare(counts, probabilities(scores, rate) * counts.sum()).pvalue


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize(("monotone", "rate"), [(False, 5e-7), (True, 1e-6)])
def test_choices_of_the_smallest_epsilon(monotone, rate, n):
    counts = choices(SCORES, n, epsilon=SMALLEST, sensitivity=1, monotone=monotone)
    assert_this_scale_and_no_other(p_of_choices(counts, SCORES), rate, n)


def noises(price, n):
    """Two trees of noise of this price, of which the second has two thirds."""
    scales = scales_at_least(price, [Fraction(1, 3), Fraction(2, 3)])
    one = [draw_laplace(scale, n, n_weights=1, noise=SystemNoise()).values[:, 0] for scale in scales]
    three = [draw_sum_zero(scale, n, n_weights=3, noise=SystemNoise()).values for scale in scales]
    return np.concatenate(one), np.abs(np.concatenate(three)).sum(axis=1)


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("price", [SMALLEST, LARGE])
def test_the_noise_in_an_objective(price, n):
    one, three = noises(price, n)
    for tree, scale in ((slice(0, n), 3 / price), (slice(n, 2 * n), 1.5 / price)):
        assert_this_scale_and_no_other(against(one[tree], laplace), scale, n)
        assert_this_scale_and_no_other(
            lambda s, own=three[tree]: kstest(own, gamma(2, scale=2 * s).cdf).pvalue, scale, n
        )


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("sigma", [1 / SMALLEST, 1 / LARGE])
def test_the_normal_noise_in_an_objective(sigma, n):
    draws = draw_normal(normal_sigma_at_least(sigma), n, n_weights=1, noise=SystemNoise()).values[:, 0]
    assert_this_scale_and_no_other(against(draws, norm), sigma, n)


def answers(answer, n):
    words = np.frombuffer(SystemNoise().words(2 * n).tobytes(), dtype=np.uint64)
    return np.bincount(answer.answer_for(zeros(n), words), minlength=answer.n_answers)


def p_of_answers(counts):
    """Return p-values by epsilon: e^epsilon times as likely is the true answer, the first."""

    def compute(epsilon):
        law = np.array([math.exp(epsilon), *([1.0] * (counts.size - 1))])
        return chisquare(counts, law / law.sum() * counts.sum()).pvalue

    return compute


@pytest.mark.parametrize("n", SIZES)
def test_randomized_response_of_the_smallest_epsilon_tells_nothing(n):
    p_at = p_of_answers(answers(RandomAnswer.of_epsilon("job", 3, SMALLEST), n))
    assert p_at(SMALLEST) > 1e-9
    assert p_at(25 * math.sqrt(1 / n)) < 1e-6  # what so many answers can tell beyond doubt


# An epsilon of 50: at a sensitivity of 1 hardly any noise, at 100 of few steps.


@pytest.mark.parametrize("n", SIZES)
def test_laplace_noise_of_a_large_epsilon(p_value, n):
    draws, _ = discrete_laplace(zeros(n), epsilon=LARGE, sensitivity=100)
    assert_this_scale_and_no_other(in_steps(p_value, draws, exponential, 80), 2.0, n)


@pytest.mark.parametrize("n", SIZES)
def test_gaussian_noise_of_a_large_rho(p_value, n):
    draws, _ = discrete_gaussian(zeros(n), rho=LARGE, sensitivity_squared=100)
    assert_this_scale_and_no_other(in_steps(p_value, draws, bell, 12), 1.0, n)


@pytest.mark.parametrize("n", [QUICK, pytest.param(MANY // 10, marks=pytest.mark.slow)])
def test_shares_of_noise_of_a_large_epsilon(p_value, n):
    assert_this_scale_and_no_other(in_steps(p_value, sum_of_shares(LARGE, 100, n), exponential, 80), 2.0, n)


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize(("monotone", "rate"), [(False, 0.25), (True, 0.5)])
def test_choices_of_a_large_epsilon(monotone, rate, n):
    counts = choices([12, 9, 11], n, epsilon=LARGE, sensitivity=100, monotone=monotone)
    assert_this_scale_and_no_other(p_of_choices(counts, [12, 9, 11]), rate, n)


@pytest.mark.parametrize("n", SIZES)
def test_what_is_off_once_in_e_to_the_50_is_never_seen_to_be(n):
    # Noise differs from 0 with a chance of 4e-22, a choice from the best with one of 4e-22 too. At an epsilon of 5
    # Laplace noise would show in one draw of 75.
    assert not discrete_laplace(zeros(n), epsilon=LARGE, sensitivity=1)[0].any()
    assert not discrete_gaussian(zeros(n), rho=LARGE, sensitivity_squared=1)[0].any()
    assert not sum_of_shares(LARGE, 1, n).any()
    assert choices([1, 0, 0], n, epsilon=2 * LARGE, sensitivity=1).tolist() == [n, 0, 0]
    assert binomtest(0, n, 1 - math.tanh(2.5)).pvalue < 1e-6


@pytest.mark.parametrize("n", SIZES)
def test_randomized_response_of_ten_of_fifty(n):
    # Five fields of one record share 50.
    counts = answers(RandomAnswer.of_epsilon("job", 1000, 10.0), n)
    wrong = int(counts[1:].sum())
    assert binomtest(wrong, n, 999 / (999 + math.exp(10))).pvalue > 1e-9
    assert binomtest(wrong, n, 999 / (999 + math.exp(10.3))).pvalue < 1e-6
    assert chisquare(counts[1:]).pvalue > 1e-9


def test_randomized_response_of_one_field_stops_at_thirty():
    with pytest.raises(ParameterError, match="to 30, which hides nothing"):
        RandomAnswer.of_epsilon("job", 3, LARGE)


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("epsilon", [0.0011, LARGE])
def test_laplace_noise_on_a_number(p_value, epsilon, n):
    column = LaplaceNoise(Schema([Numeric("x", 0, 1)], classes=["no", "yes"]), epsilon=epsilon).channel.columns[0]
    draws = column.distribution.draw(np.frombuffer(SystemNoise().words(2 * n).tobytes(), dtype=np.uint64))
    reach = -column.distribution.first
    assert_this_scale_and_no_other(
        lambda scale: p_value(draws, lambda x: folded(x, column.step / scale, reach), reach=reach), 1 / epsilon, n
    )


def folded(x, rate, reach):
    """Geometric weights on both sides, the tails put on the ends."""
    return np.exp(-np.abs(x) * rate) / np.where(np.abs(x) == reach, -math.expm1(-rate), 1.0)


@pytest.mark.parametrize("epsilon", [SMALLEST, LARGE])
def test_a_whole_fit_adds_the_noise_of_its_epsilon(p_value, epsilon):
    # Of an empty table the released counts are the noise: 50 trees, so the scale is 50 / epsilon.
    schema = Schema([Numeric(f"x{i}", 0, 1) for i in range(9)], classes=["no", "yes"], rows=1000)
    model = PrivateRDTClassifier(schema, epsilon=epsilon, n_trees=50, height=8).fit(np.empty((0, 9)), [])
    draws, scale = model.noisy_counts_.ravel(), 50 / epsilon
    assert draws.size == 50 * 2**8 * 2
    p_at = against(draws, laplace) if epsilon == SMALLEST else in_steps(p_value, draws, exponential, 40)
    assert_this_scale_and_no_other(p_at, scale, QUICK)
