"""NumPy's integers wrap around: as parameters they must mean what plain ones mean, here and in every later fit."""

from fractions import Fraction

import numpy as np
import pytest

from privet.datasets import agrawal
from privet.privacy.mechanisms import rational
from privet.registry import METHODS
from tests.contracts.tasks import data_for
from tests.loops import loop_over

DATA = agrawal(200, random_state=5)
INTEGERS = [np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64]
# With the largest number that is tried.
MULTIPLIED = {"n_trees": 100, "height": 50, "n_attributes": 100}
TREES = ("forest_", "trees_")


@loop_over("kind", INTEGERS)
@pytest.mark.parametrize("method", sorted(METHODS))
def test_noise_is_that_of_plain_integers_and_stays_so(method, kind):
    data = data_for(method, DATA)
    rational._rounded_up.cache_clear()
    # What a method multiplies: trees, questions of a path, or choices.
    multiplied = next(name for name in MULTIPLIED if name in METHODS[method]().get_params())
    for times, epsilon in ((1, 1.01), (10, 0.1), (MULTIPLIED[multiplied], 0.08203125)):
        parameters = {"epsilon": epsilon, "unit": "row"}
        for number in (kind(times), times):
            model = METHODS[method](data.schema, max_rows=kind(1), **{multiplied: number}, **parameters)
            model.plan(200)
            model.fit(data.X, data.y)
            assert model.guarantee_.epsilon <= epsilon
            assert model.noise_std_ >= 1.0
            assert type(next(getattr(model, name) for name in TREES if hasattr(model, name)).n_trees) is int


@pytest.mark.parametrize("kind", INTEGERS)
def test_scales_and_rates_are_exact_whatever_integer_comes(kind):
    rational._rounded_up.cache_clear()
    for value in (1, 100):
        for number in (kind(value), value):
            for epsilon in (0.08203125, 1.01, 0.1):
                assert rational.scale_at_least(number, epsilon) >= value / Fraction(epsilon)
                assert rational.rate_at_most(number, epsilon, monotone=True) <= Fraction(epsilon) / value
                assert rational.sigma_at_least(number, epsilon) ** 2 >= value / (2 * Fraction(epsilon))
