"""Every path of a sampler, with its probability: the law drawn is the law claimed, without statistics."""

import itertools
import math
from collections import Counter
from fractions import Fraction

import pytest

from tests.privacy.mechanisms import reference


class Choice(Exception):
    """The path so far is too short: here are the probabilities of its next step."""


class Scripted(reference.Coins):
    """Coins whose uniform numbers follow a path of outcomes fixed beforehand."""

    def __init__(self, path):
        self._path = iter(path)

    def below(self, m):
        return self._next([1 / m] * m)

    def happens(self, numerator, denominator):
        return bool(self._next([1 - numerator / denominator, numerator / denominator]))

    def _next(self, probabilities):
        try:
            return next(self._path)
        except StopIteration:
            raise Choice(probabilities) from None


class Believed(Scripted):
    """As `Scripted`, but coins of exp have the probability they claim in one step; it is proved apart."""

    def exp_minus_one(self):
        return self.exp_minus(1, 1)

    def exp_minus(self, a, b):
        yes = math.exp(-a / b)
        return bool(self._next([1 - yes, yes]))

    def exp_minus_product(self, k, rest, top):
        x = rest / top
        yes = math.exp(-x * (2 * k + x) / (2 * k + 2))
        return bool(self._next([1 - yes, yes]))


def law_of(sampler, *, coins=Believed, least=1e-8):
    """Return the probability of each outcome, paths rarer than ``least`` aside, and those paths' total."""
    law, missed, unfinished = Counter(), 0.0, [((), 1.0)]
    while unfinished:
        path, probability = unfinished.pop()
        if probability < least:
            missed += probability
            continue
        try:
            law[sampler(coins(path))] += probability
        except Choice as choice:
            steps = [(step, p) for step, p in enumerate(choice.args[0]) if p > 0]
            unfinished += [((*path, step), probability * p) for step, p in steps]
    return law, missed


def assert_law(law, missed, weight):
    """Outcomes are kept in proportion to ``weight``; None stands for beginning again."""
    kept = {x: p for x, p in law.items() if x is not None}
    total = sum(kept.values())
    norm = sum(weight(x) for x in range(-400, 401))
    assert missed < 2e-5
    for x, p in kept.items():
        assert p / total == pytest.approx(weight(x) / norm, abs=4 * missed / total)


def test_every_path_of_the_coin_of_exp_minus_one_adds_up():
    law, missed = law_of(lambda coins: coins.exp_minus_one(), coins=Scripted)
    assert missed < 1e-7
    assert law[True] == pytest.approx(math.exp(-1), abs=1e-7)


@pytest.mark.parametrize(("a", "b"), [(0, 3), (1, 3), (1, 2), (6, 7), (4, 4)])
def test_every_path_of_a_coin_of_exp_adds_up(a, b):
    law, missed = law_of(lambda coins: coins.exp_minus(a, b), coins=Scripted)
    assert missed < 1e-6
    assert law[True] == pytest.approx(math.exp(-a / b), abs=1e-6)


@pytest.mark.parametrize(("k", "rest", "top"), [(0, 1, 2), (0, 4, 5), (1, 2, 3), (2, 1, 5), (3, 0, 4), (3, 6, 7)])
def test_every_path_of_the_gaussian_samplers_coin_adds_up(k, rest, top):
    law, missed = law_of(lambda coins: coins.exp_minus_product(k, rest, top), coins=Scripted)
    x = rest / top
    assert missed < 1e-3
    assert law[True] == pytest.approx(math.exp(-x * (2 * k + x) / (2 * k + 2)), abs=missed + 1e-9)


@pytest.mark.parametrize("scale", ["1/2", "1", "7/3", "5"])
def test_every_path_of_the_laplace_sampler_adds_up_to_the_discrete_laplace(scale):
    scale = Fraction(scale)
    law, missed = law_of(lambda coins: reference.laplace_attempt(scale, coins))
    assert_law(law, missed, lambda x: math.exp(-abs(x) / scale))


@pytest.mark.parametrize("sigma", ["1/3", "1/2", "1", "5/2"])
def test_every_path_of_the_gaussian_sampler_adds_up_to_the_discrete_gaussian(sigma):
    sigma = Fraction(sigma)
    law, missed = law_of(lambda coins: reference.gaussian_attempt(sigma, coins))
    assert_law(law, missed, lambda x: math.exp(-((x / sigma) ** 2) / 2))


def test_a_wrong_law_would_be_noticed():
    law, missed = law_of(lambda coins: reference.laplace_attempt(Fraction(2), coins))
    with pytest.raises(AssertionError):
        assert_law(law, missed, lambda x: math.exp(-abs(x) / 2.001))


def test_every_path_of_the_choice_adds_up_to_permute_and_flip():
    gaps, rate = [0, 3, 1], Fraction(2, 5)
    law, missed = law_of(lambda coins: reference.permute_and_flip_once(gaps, rate, coins))
    heads = [math.exp(-gap * rate) for gap in gaps]
    expected = [0.0, 0.0, 0.0]
    for order in itertools.permutations(range(3)):
        still = 1 / 6
        for candidate in order:
            expected[candidate] += still * heads[candidate]
            still *= 1 - heads[candidate]
    assert missed == 0
    assert [law[candidate] for candidate in range(3)] == pytest.approx(expected)
