"""The picture of a reconstruction shows the three distributions, whatever the attribute is called."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from privet.errors import DataError, ParameterError
from privet.local.channels.added_noise import AddedNoise
from privet.local.channels.distributions import Gaussian
from privet.local.channels.randomized_response import RandomAnswer
from privet.local.reconstruction.reconstruct import reconstruct
from privet.report.plots.reconstruction import plot_reconstruction
from privet.schema import Categorical, Numeric

COLOUR = Categorical("<b>$colour_$", ["red", "$green$", "blue"])


@pytest.fixture(autouse=True)
def closed():
    from matplotlib import pyplot as plt

    yield
    plt.close("all")


@pytest.fixture
def numbers():
    rng = np.random.default_rng(0)
    column, x = AddedNoise(Numeric("$x_$", 0, 1, bins=10), Gaussian(0.2)), rng.uniform(0.3, 0.7, 5_000)
    return reconstruct(column.answer_for(column.codes(x), rng.integers(0, 2**64, 5_000, dtype=np.uint64)), column), x


@pytest.fixture
def colours():
    channel = RandomAnswer(COLOUR.name, 4, 0.6, covers_missing=True)
    return reconstruct(["red"] * 60 + ["blue"] * 30 + [None] * 10, channel, attribute=COLOUR)


def labels(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def test_numbers_are_drawn_as_steps_that_hold_all_values(numbers):
    made, x = numbers
    ax = plot_reconstruction(made, original=x)
    ax.figure.canvas.draw()
    assert labels(ax) == ["original", "disturbed", "reconstructed"]
    assert ax.get_xlabel() == "$x_$"
    for patch, n_cells in zip(ax.patches, (10, len(made.observed), 10), strict=True):
        data = patch.get_data()
        assert len(data.values) == n_cells
        assert data.values.sum() == pytest.approx(100)
    low, high = ax.get_xlim()
    assert -1 < low < 0 < 1 < high < 2


def test_categories_are_drawn_as_bars_with_one_for_missing(colours):
    ax = plot_reconstruction(colours, original=["red", "blue", "blue", "$green$"])
    ax.figure.canvas.draw()
    assert labels(ax) == ["original", "disturbed", "reconstructed"]
    assert [text.get_text() for text in ax.get_xticklabels()] == ["red", "$green$", "blue", "missing"]
    heights = [[bar.get_height() for bar in bars] for bars in ax.containers]
    assert_allclose(heights[0], [25, 25, 50, 0])
    assert_allclose(heights[1], [60, 0, 30, 10])
    assert_allclose(heights[2], 100 * colours.estimate)


def test_a_collector_who_knows_no_original_sees_two(numbers):
    ax = plot_reconstruction(numbers[0])
    assert labels(ax) == ["disturbed", "reconstructed"]


def test_the_legend_stands_above_what_is_drawn(numbers, colours):
    for made in (numbers[0], colours):
        ax = plot_reconstruction(made)
        ax.figure.canvas.draw()
        assert ax.get_legend().get_window_extent().y0 >= ax.get_window_extent().y1


def test_large_numbers_are_spelled_without_powers_of_ten_and_far_answers_left_out():
    column = AddedNoise(Numeric("x", 0, 10_000_000, bins=10), Gaussian(5e7))
    words = np.random.default_rng(0).integers(0, 2**64, 500, dtype=np.uint64)
    ax = plot_reconstruction(reconstruct(column.answer_for(column.codes(np.full(500, 4e6)), words), column))
    ax.figure.canvas.draw()
    assert ax.get_ylabel() == "% of values, per 1,000,000"
    assert "10,000,000" in [text.get_text() for text in ax.get_xticklabels()]
    assert ax.get_xlim() == (-10_000_000, 20_000_000)


def test_it_draws_where_it_is_told(numbers):
    from matplotlib import pyplot as plt

    _, ax = plt.subplots()
    assert plot_reconstruction(numbers[0], ax=ax) is ax


def test_equal_answers_at_the_end_of_the_range_are_drawn():
    column = AddedNoise(Numeric("x", 0, 1), Gaussian(0.2))
    made = reconstruct([column.bounds[1]] * 3, column)
    plot_reconstruction(made).figure.canvas.draw()


def test_what_it_cannot_draw_is_refused(numbers):
    with pytest.raises(ParameterError, match="draws what reconstruct returns"):
        plot_reconstruction([0.5, 0.5])
    with pytest.raises(DataError, match="original has no value of the attribute's domain"):
        plot_reconstruction(numbers[0], original=[None])
