"""Reconstruction brings distributions back, and says something sensible where there is little to go by."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from privet.errors import DataError, ParameterError
from privet.local.channels.added_noise import AddedNoise
from privet.local.channels.distributions import Gaussian, Laplace, Uniform
from privet.local.channels.field_channel import Clear
from privet.local.channels.intervals import IntervalMembership
from privet.local.channels.randomized_response import RandomAnswer
from privet.local.reconstruction.reconstruct import intervals_for, reconstruct
from privet.schema import Categorical, Numeric

UNIT = Numeric("x", 0, 1, bins=20)
COLOUR = Categorical("colour", ["red", "green", "blue"])


def drawn(shape, n, seed=0):
    rng = np.random.default_rng(seed)
    if shape == "plateau":
        return rng.uniform(0.25, 0.75, n)
    return np.where(rng.random(n) < 0.5, rng.triangular(0, 0.25, 0.5, n), rng.triangular(0.5, 0.75, 1, n))


def answered(column, codes, seed=1):
    return column.answer_for(codes, np.random.default_rng(seed).integers(0, 2**64, len(codes), dtype=np.uint64))


def colours(channel, shares, n, seed=0):
    codes = np.random.default_rng(seed).choice(len(shares), n, p=shares)
    return np.array([*COLOUR.categories, None], dtype=object)[answered(channel, codes)]


@pytest.mark.parametrize("mass", ["interval", "midpoint"])
@pytest.mark.parametrize(
    ("noise", "most"), [(Gaussian(0.25), 0.5), (Uniform(0.5), 0.15), (Laplace(0.15), 0.6)], ids=lambda each: str(each)
)
@pytest.mark.parametrize("shape", ["plateau", "triangles"])
def test_shapes_come_back(shape, noise, most, mass):
    column, x = AddedNoise(UNIT, noise), drawn(shape, 100_000)
    made = reconstruct(answered(column, column.codes(x)), column, mass=mass)
    before = np.abs(made.observed - np.histogram(x, made.observed_edges)[0]).sum() / len(x)
    after = np.abs(made.expected_counts - np.histogram(x, made.edges)[0]).sum() / len(x)
    assert after < most * before
    assert made.converged
    assert made.observed.sum() == made.n_values == len(x)
    assert made.estimate.sum() == pytest.approx(1)


def test_randomized_response_comes_back_both_ways():
    channel, shares = RandomAnswer("colour", 3, 0.6), [0.7, 0.2, 0.1]
    answers = colours(channel, shares, 200_000)
    for method in ("iterate", "invert"):
        made = reconstruct(answers, channel, attribute=COLOUR, method=method)
        assert_allclose(made.estimate, shares, atol=0.02)
        assert made.categories == ["red", "green", "blue"]
        assert made.edges is None


def test_channel_inversion_by_hand():
    # Kept with 1/2, else 1/4 each: an answer's share is 1/4 + p/4, so 50, 30 and 20 % stand for 100, 20 and -20 %.
    answers = ["red"] * 50 + ["green"] * 30 + ["blue"] * 20
    made = reconstruct(answers, RandomAnswer("colour", 3, 0.5), attribute=COLOUR, method="invert")
    assert_allclose(made.unclipped, [1.0, 0.2, -0.2])
    assert_allclose(made.estimate, [1 / 1.2, 0.2 / 1.2, 0.0])
    # (share - 1/4) / (1/4): the standard error is 4 times that of a share.
    assert_allclose(made.standard_errors, 4 * np.sqrt(np.array([0.5 * 0.5, 0.3 * 0.7, 0.2 * 0.8]) / 100))
    iterated = reconstruct(answers, RandomAnswer("colour", 3, 0.5), attribute=COLOUR, tolerance=1e-12)
    assert iterated.estimate[2] < 1e-3
    assert iterated.unclipped is None


def test_standard_errors_are_how_far_estimates_scatter():
    channel = RandomAnswer("colour", 3, 0.6)
    made = [
        reconstruct(
            answered(channel, np.repeat([0, 1, 2], [700, 200, 100]), seed), channel, attribute=codes, method="invert"
        )
        for seed in range(120)
        for codes in [Categorical("colour", [0, 1, 2])]
    ]
    scatter = np.std([each.unclipped for each in made], axis=0)
    stated = np.mean([each.standard_errors for each in made], axis=0)
    # Who has which colour is fixed here, and drawn in the formula, so it is a little wider.
    assert (scatter < 1.15 * stated).all()
    assert (scatter > 0.7 * stated).all()


def test_missing_answers_are_left_out_and_counted_unless_the_channel_covers_them():
    column = AddedNoise(UNIT, Uniform(0.5))
    made = reconstruct([0.5, None, 0.75, float("nan")], column)
    assert (made.n_values, made.n_missing) == (2, 2)
    covers = RandomAnswer("colour", 4, 0.9, covers_missing=True)
    made = reconstruct(["red", None, None, "blue"], covers, attribute=COLOUR)
    assert (made.n_values, made.n_missing) == (4, 0)
    assert made.categories == ["red", "green", "blue", None]
    assert made.estimate[3] > 0.4
    made = reconstruct(["red", None, None, "blue"], RandomAnswer("colour", 3, 0.9), attribute=COLOUR)
    assert (made.n_values, made.n_missing) == (2, 2)


@pytest.mark.parametrize("make", [list, np.array, pd.Series, pa.array])
def test_any_make_of_column_will_do(make):
    column, x = AddedNoise(UNIT, Uniform(0.5)), drawn("plateau", 500)
    values = answered(column, column.codes(x))
    assert_array_equal(reconstruct(make(values.tolist()), column).estimate, reconstruct(values, column).estimate)


def test_clear_columns_and_intervals_are_only_counted():
    made = reconstruct([0.01, 0.02, 0.99], Clear(UNIT))
    assert_allclose(made.expected_counts[[0, 19]], [2, 1])
    assert_array_equal(made.observed_edges, made.edges)
    membership = IntervalMembership(Numeric("x", 0, 1, bins=4))
    assert_allclose(reconstruct([0.125, 0.125, 0.875, None], membership).estimate, [2 / 3, 0, 0, 1 / 3])
    made = reconstruct(["blue", "red", "blue", None], Clear(COLOUR))
    assert_allclose(made.estimate, [1 / 3, 0, 2 / 3])
    assert (made.n_steps, made.n_missing) == (0, 1)


def test_the_number_of_intervals_follows_the_answers_unless_it_is_declared():
    assert [intervals_for(n) for n in (1, 999, 1_100, 5_050, 10**6)] == [10, 10, 11, 50, 100]
    column = AddedNoise(Numeric("x", 0, 1), Gaussian(0.25))
    values = answered(column, column.codes(drawn("plateau", 2_500)))
    assert len(reconstruct(values, column).estimate) == 25
    assert len(reconstruct(values, column, bins=7).estimate) == 7
    edges = AddedNoise(Numeric("x", 0, 1, edges=[0.3, 0.9]), Gaussian(0.25))
    assert_array_equal(reconstruct(values, edges).edges, [0, 0.3, 0.9, 1])
    assert len(reconstruct(values, edges, bins=7).estimate) == 7


def test_unequal_cells_come_back_too():
    column = AddedNoise(Numeric("x", 0, 1, edges=[0.25, 0.3, 0.75]), Uniform(0.3))
    made = reconstruct(answered(column, column.codes(drawn("plateau", 100_000))), column)
    assert_allclose(made.estimate, [0, 0.1, 0.9, 0], atol=0.05)


@pytest.mark.parametrize("noise", [Gaussian(0.25), Uniform(0.5), Laplace(0.2)], ids=lambda noise: noise.name)
def test_answers_far_beyond_the_range_are_refused(noise):
    for number in (-1e300, -50.0, -np.inf, np.inf):
        with pytest.raises(DataError, match="all or nearly all of the rows hold a number in 'x' that is"):
            reconstruct(np.repeat(number, 1_000), AddedNoise(UNIT, noise))


@pytest.mark.parametrize("noise", [Gaussian(0.25), Uniform(0.5), Laplace(0.2)], ids=lambda noise: noise.name)
@pytest.mark.parametrize("n", [1, 2, 9, 5_000])
def test_equal_answers_few_or_many_make_a_distribution(noise, n):
    made = reconstruct(np.full(n, 0.5), AddedNoise(Numeric("x", 0, 1, bins=21), noise))
    assert made.estimate.sum() == pytest.approx(1)
    assert (made.estimate >= 0).all()
    # They lie in the middle cell, and tell as much of one side as of the other.
    assert_allclose(made.estimate, made.estimate[::-1], atol=1e-9)
    assert made.estimate[10] == pytest.approx(made.estimate.max())


def test_a_cell_that_nobody_is_in_comes_out_empty():
    column = AddedNoise(UNIT, Uniform(0.1))
    made = reconstruct(answered(column, column.codes(np.repeat([0.025, 0.975], 500))), column)
    assert made.estimate[7:13].max() < 1e-9
    assert made.observed[10:14].max() == 0


def test_a_single_cell_has_it_all():
    assert_array_equal(reconstruct([0.25, 0.75], AddedNoise(UNIT, Uniform(0.5)), bins=1).estimate, [1.0])


def test_steps_can_be_bounded_and_it_says_that_it_has_not_converged():
    column = AddedNoise(UNIT, Gaussian(0.25))
    made = reconstruct(answered(column, column.codes(drawn("triangles", 10_000))), column, max_steps=3)
    assert (made.n_steps, made.converged) == (3, False)


@pytest.mark.parametrize(
    ("values", "channel", "options", "error", "sentence"),
    [
        (
            [],
            AddedNoise(UNIT, Uniform(0.5)),
            {},
            DataError,
            "there are no answers to reconstruct from; pass at least one",
        ),
        ([None], Clear(UNIT), {}, DataError, "there are no answers to reconstruct from"),
        ([None], RandomAnswer("colour", 3, 0.5), {"attribute": COLOUR}, DataError, "there are no answers"),
        (
            ["a"],
            AddedNoise(UNIT, Uniform(0.5)),
            {},
            DataError,
            "column 'x' holds text, but the schema calls it continuous",
        ),
        (["red"], RandomAnswer("colour", 3, 0.5), {}, ParameterError, "pass attribute=, as the schema has it"),
        (["red"], RandomAnswer("colour", 4, 0.5), {"attribute": COLOUR}, ParameterError, "pass attribute="),
        ([1.0], Clear(UNIT), {"method": "invert"}, ParameterError, 'method="invert" is for randomized response'),
        ([1.0], Clear(UNIT), {"method": "guess"}, ParameterError, "method='guess' is not known"),
        ([1.0], Clear(UNIT), {"bins": 0}, ParameterError, "bins=0 must be a whole number from 1"),
        ([1.0], IntervalMembership(UNIT), {"bins": 5}, ParameterError, "are intervals already; leave bins out"),
        ([1.0], Clear(UNIT), {"max_steps": 0}, ParameterError, "max_steps=0 must be a whole number from 1"),
        ([1.0], Clear(UNIT), {"tolerance": 1}, ParameterError, "tolerance=1 must be a number from 0 to below 1"),
    ],
)
def test_what_cannot_be_is_refused_with_the_way_out(values, channel, options, error, sentence):
    with pytest.raises(error, match=sentence):
        reconstruct(values, channel, **options)
