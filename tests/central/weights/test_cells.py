"""Public cells of numbers."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from privet import Categorical, Numeric, Schema
from privet.central.weights.cells import with_cells


def edges(n_bins, low, high):
    (attribute,) = with_cells(Schema([Numeric("x", low, high)], classes=["no", "yes"]), n_bins).attributes
    return attribute.edges


def test_a_range_from_zero_has_equal_widths_and_halves_the_first_cell_again_and_again():
    assert edges(4, 0, 16) == (1, 2, 4, 8, 12)


def test_a_range_above_zero_is_finer_at_its_lower_bound():
    assert edges(4, 100, 116) == (101, 102, 104, 108, 112)
    assert edges(4, -16, 0) == (-15, -14, -12, -8, -4)


def test_a_range_around_zero_is_finer_to_both_sides_of_it():
    # Equal widths: -8, 0, 8. Halvings of 16 / 4 and of -16 / 4, twice each.
    assert edges(4, -16, 16) == (-8, -2, -1, 0, 1, 2, 8)
    # Zero is a cut of its own where no equal width ends there.
    assert edges(2, -16, 48) == (-4, 0, 12, 16)


def test_half_an_odd_number_of_bins_is_rounded_up():
    assert edges(3, 0, 24) == (2, 4, 8, 16)
    assert edges(1, 0, 8) == (4,)


def test_declared_bins_edges_and_categories_stay():
    attributes = [
        Numeric("a", 0, 1, bins=7), Numeric("b", 0, 1, edges=[0.5]), Numeric("c", 0, 1, edges=[]),
        Categorical("d", [1, 2]), Numeric("e", 0, 1, inferred=True),
    ]  # fmt: skip
    schema = Schema(attributes, classes=[5, 9], target="t", rows=77)
    celled = with_cells(schema, 2)
    assert celled.attributes[:4] == schema.attributes[:4]
    assert celled.attributes[4].edges == (0.25, 0.5)
    assert celled.attributes[4].inferred
    assert (celled.rows, celled.target, celled.classes) == (77, "t", (5, 9))


@pytest.mark.parametrize("n_bins", [1, 2, 16, 64])
@pytest.mark.parametrize(
    ("low", "high"),
    [(0, 1), (-1, 1), (-1e-300, 1e300), (1e16, 1e16 + 1024), (-(2.0**1022), 2.0**1022), (0, 1e-300), (-3, -1)],
)
def test_any_range_has_increasing_edges_within_it(n_bins, low, high):
    found = np.array(edges(n_bins, low, high))
    assert (np.diff(found) > 0).all()
    assert ((low < found) & (found < high)).all()
    assert len(found) <= n_bins - 1 + 2 * -(-n_bins // 2) + 1


def test_the_first_cell_is_as_narrow_as_the_halvings_make_it():
    assert_allclose(edges(16, 0, 1)[0], 2.0**-8 / 16)


@pytest.mark.parametrize(("n_bins", "low", "high"), [(4, -0.3, 0.9), (16, -0.1, 0.7), (16, -1.1, 0.1), (10, -7, 3)])
def test_no_cell_is_there_only_because_floats_round(n_bins, low, high):
    found = np.array([low, *edges(n_bins, low, high), high])
    assert np.diff(found).min() > 1e-9 * (high - low)
