import numpy as np
import pytest

from papers.agrawal2000.shapes import RECONSTRUCTION, SCALES, SHAPES, WIDTH, cells, measure, sample


@pytest.mark.parametrize("noise", SCALES)
@pytest.mark.parametrize("shape", SHAPES)
def test_shares_add_up_to_one_and_cells_touch(shape, noise):
    low, *shares = np.array(measure(3_000, shape, noise, 0)).T
    assert np.diff(low) == pytest.approx(WIDTH)
    assert [share.sum() for share in shares] == pytest.approx([1, 1, 1], abs=1e-3)


def test_nothing_is_reconstructed_outside_the_range():
    lines = np.array(measure(3_000, "triangles", "gaussian", 0))
    outside = (lines[:, 0] < -1e-9) | (lines[:, 0] > 1 - 1e-9)
    assert lines[outside, 2].sum() > 0.05
    assert not lines[outside, 3].any()


def test_shapes_lie_where_the_paper_draws_them():
    plateau, triangles = (sample(shape, 20_000, np.random.default_rng(0)) for shape in SHAPES)
    assert np.quantile(plateau, [0, 0.5, 1]) == pytest.approx([0.25, 0.5, 0.75], abs=0.01)
    # A triangle's middle half lies within 0.25 (1 - sqrt(1/2)) of its peak.
    assert np.mean(abs(triangles - 0.25) < 0.25 * (1 - 0.5**0.5)) == pytest.approx(0.25, abs=0.02)
    assert np.mean(abs(triangles - 0.5) < 0.05) < 0.03


def test_quick_cells_are_few_and_full_ones_too():
    assert set(cells("quick")) <= set(cells("full"))
    assert len(list(cells("quick"))) == 4
    assert len(RECONSTRUCTION.settings) == len(next(iter(cells("quick"))))
