"""The chances of answers, by hand and against draws, in cells that cover all answers."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from privet.errors import ParameterError
from privet.local.channels.added_noise import AddedNoise, noise_matrix
from privet.local.channels.cells import FieldValues, SeenCells
from privet.local.channels.distributions import Gaussian, Laplace, Uniform
from privet.local.channels.randomized_response import RandomAnswer
from privet.schema import Numeric

DISTRIBUTIONS = [Uniform(0.5), Gaussian(0.25), Laplace(0.2)]
QUARTERS = Numeric("x", 0, 1, bins=4)


@pytest.mark.parametrize("noise", DISTRIBUTIONS, ids=lambda noise: noise.name)
@pytest.mark.parametrize("cells", [QUARTERS, Numeric("x", 0, 1, edges=[0.1, 0.15, 0.7])], ids=["equal", "unequal"])
def test_a_value_of_every_cell_gives_some_answer(noise, cells):
    matrix = noise_matrix(AddedNoise(cells, noise), cells)
    assert_allclose(matrix.chances.sum(axis=0), 1.0)
    assert matrix.chances.shape == (matrix.seen.n_cells, 4)
    assert_allclose(matrix.start.sum(), 1.0)


def test_chances_of_uniform_noise_by_hand():
    # Noise up to half the range: from the first quarter, x + r lies in [-0.5, 0.75].
    matrix = noise_matrix(AddedNoise(QUARTERS, Uniform(0.5)), QUARTERS)
    assert_allclose(matrix.seen.edges, np.arange(-0.5, 1.51, 0.25))
    # x + r < -0.25 needs r < -0.25 - x: on average over x in [0, 0.25] a chance of 0.125.
    assert_allclose(matrix.chances[:, 0], [0.125, 0.25, 0.25, 0.25, 0.125, 0, 0, 0], atol=1e-12)


def test_midpoints_count_the_ends_of_uniform_noise_half():
    matrix = noise_matrix(AddedNoise(QUARTERS, Uniform(0.5)), QUARTERS, "midpoint")
    assert_allclose(matrix.chances[:, 0], [0.5, 1, 1, 1, 0.5, 0, 0, 0], atol=1e-12)


@pytest.mark.parametrize("noise", DISTRIBUTIONS, ids=lambda noise: noise.name)
def test_draws_are_as_likely_as_the_matrix_says(noise):
    cells = Numeric("x", 10, 20, edges=[11, 14])
    column = AddedNoise(cells, type(noise)(10 * noise.scale))
    matrix, rng, n = noise_matrix(column, cells), np.random.default_rng(3), 200_000
    x = rng.uniform(11, 14, n)
    seen = matrix.seen.of(column.answer_for(column.codes(x), rng.integers(0, 2**64, n, dtype=np.uint64)))
    assert_allclose(np.bincount(seen, minlength=matrix.seen.n_cells) / n, matrix.chances[:, 1], atol=0.005)


def test_the_uniform_distribution_knows_the_width_of_cells():
    cells = Numeric("x", 0, 10, edges=[1, 4])
    assert_allclose(noise_matrix(AddedNoise(cells, Gaussian(1.0)), cells).start, [0.1, 0.3, 0.6])


def test_wide_noise_is_seen_in_wider_cells_and_not_in_more():
    cells = Numeric("x", 0, 1, bins=200)
    matrix = noise_matrix(AddedNoise(cells, Gaussian(50.0)), cells)
    assert matrix.seen.n_cells <= 4_097
    assert_allclose(matrix.chances.sum(axis=0), 1.0)


def test_answers_beyond_the_range_fall_into_the_outermost_cells():
    seen = SeenCells(-1.0, 0.5, 6)
    numbers = np.array([-np.inf, -1.0, -0.51, 0.0, 1.99, 2.0, 1e300, np.nan])
    assert_array_equal(seen.of(numbers), [0, 0, 0, 2, 5, 5, 5, -1])
    assert_allclose(seen.edges, [-1, -0.5, 0, 0.5, 1, 1.5, 2])


def test_matrices_are_made_once():
    column = AddedNoise(QUARTERS, Uniform(0.5))
    again = AddedNoise(Numeric("x", 0, 1, bins=4), Uniform(0.5))
    assert noise_matrix(column, QUARTERS) is noise_matrix(again, again.attribute)


def test_an_unknown_mass_is_refused():
    with pytest.raises(ParameterError, match=r'mass=\'exact\' is not known; choose "interval" or "midpoint"'):
        noise_matrix(AddedNoise(QUARTERS, Uniform(0.5)), QUARTERS, "exact")


def test_too_many_answers_are_refused_before_they_fill_the_memory():
    with pytest.raises(ParameterError, match="'town' has more than 4,096 answers"):
        RandomAnswer("town", 60_000, 0.5).see(FieldValues(QUARTERS, None, np.zeros(1, np.int64)), QUARTERS)
