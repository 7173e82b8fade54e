"""Answers seen from outside: an attack on many respondents gains no more than the stated local epsilon."""

import math

import numpy as np
import pytest
from scipy.stats import binomtest

from privet import Categorical, Numeric, Schema
from privet.local import LaplaceNoise, RandomizedResponse, Secret, perturb
from privet.local.channels.added_noise import AddedNoise
from privet.local.channels.distributions import Laplace
from privet.local.channels.randomized_response import RandomAnswer

NUMBER = Schema([Numeric("x", 0, 1)], classes=["no", "yes"])
WORD = Schema([Categorical("a", ["u", "v", "w"])], classes=["no", "yes"])
RUNS = 100_000


def epsilon_shown(answers_of, first, second, attack, runs=RUNS):
    """Return a lower bound on the epsilon that the attack shows, at a confidence of 1 - 2e-7."""
    hits = [
        binomtest(int(attack(answers_of(value, runs)).sum()), runs).proportion_ci(1 - 2e-7) for value in (first, second)
    ]
    return math.log(max(hits[0].low, 1e-12) / hits[1].high)


def respondents(channel):
    """Return a function that asks as many people with the same value, each under a secret of one draw."""
    return lambda value, runs: perturb(np.full((runs, 1), value, dtype=object), channel, Secret())[:, 0]


class LessNoise(AddedNoise):
    """A planted fault: noise of 80 % of the scale for which the epsilon is stated."""

    @property
    def distribution(self):
        return AddedNoise(self.attribute, Laplace(0.8 * self.noise.scale)).distribution


class KeepsMore(RandomAnswer):
    """A planted fault: the true answer is kept 5 % more often."""

    @property
    def distribution(self):
        return RandomAnswer(self.field, self.n_answers, self.keep * 1.05).distribution


def words(runs):
    return np.frombuffer(np.random.default_rng().bytes(8 * runs), dtype=np.uint64)


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", [0.5, 1.0, 2.0, 4.0])
def test_an_attack_on_laplace_noise_gains_no_more_than_epsilon(epsilon):
    channel = LaplaceNoise(NUMBER, epsilon=epsilon).channel
    shown = epsilon_shown(respondents(channel), 0.0, 1.0, lambda answers: answers.astype(float) <= 0.0)
    assert 0.85 * epsilon < shown <= channel.local_epsilon <= epsilon


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", [0.5, 1.0, 2.0, 4.0])
def test_an_attack_on_randomized_response_gains_no_more_than_epsilon(epsilon):
    channel = RandomizedResponse(WORD, epsilon=epsilon).channel
    shown = epsilon_shown(respondents(channel), "u", "v", lambda answers: answers == "u")
    assert 0.85 * epsilon < shown <= channel.local_epsilon <= epsilon


@pytest.mark.slow
def test_an_attack_on_the_tail_of_laplace_noise_gains_no_more_either():
    column = LaplaceNoise(NUMBER, epsilon=1.0).channel.columns[0]

    def answers_of(value, runs):
        return column.answer_for(np.full(runs, value), words(runs))

    shown = epsilon_shown(answers_of, 0, column.n_steps, lambda answers: answers <= -3.0, runs=2_000_000)
    assert 0.9 < shown <= 1.0


@pytest.mark.slow
def test_the_attack_catches_noise_of_four_fifths_of_its_scale():
    column = LessNoise(NUMBER.attributes[0], Laplace(1.0))

    def answers_of(value, runs):
        return column.answer_for(np.full(runs, value), words(runs))

    shown = epsilon_shown(answers_of, 0, column.n_steps, lambda answers: answers <= 0.0, runs=1_000_000)
    assert shown > 1.1  # where 1 is stated


@pytest.mark.slow
def test_the_attack_catches_a_true_answer_kept_too_often():
    column = KeepsMore("a", 3, RandomAnswer.of_epsilon("a", 3, 1.0).keep)

    def answers_of(value, runs):
        return column.answer_for(np.full(runs, value), words(runs))

    shown = epsilon_shown(answers_of, 0, 1, lambda answers: answers == 0, runs=1_000_000)
    assert column.local_epsilon <= 1.0 + 1e-11
    assert shown > 1.05


def fine(answers):
    """Attack: a number with digits beyond those that 1 plus noise can have was never near 1."""
    return np.ldexp(answers, 53) % 1 != 0


def test_the_last_digits_give_floating_point_noise_away_and_not_answers_on_a_grid():
    def naive(value, runs):
        return value + np.random.default_rng().laplace(0.0, 1.0, runs)

    column = LaplaceNoise(NUMBER, epsilon=1.0).channel.columns[0]

    def answers_of(value, runs):
        return column.answer_for(np.full(runs, value * column.n_steps), words(runs))

    assert epsilon_shown(naive, 0, 1, fine, runs=20_000) > 3
    assert epsilon_shown(answers_of, 0, 1, fine, runs=20_000) < 1
    assert not fine(answers_of(0, 20_000)).any()
