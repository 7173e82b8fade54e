import math

import pandas as pd
import pytest

from papers.agrawal2000.settings import OPEN_SETTINGS, SETTINGS, least_gap, measure


def lines(*found):
    """Return lines of one cell and noise each: purity, algorithm, accuracy."""
    told = [(2, 0, 100, noise, 0.5, purity, 500, name, accuracy) for noise, purity, name, accuracy in found]
    return pd.DataFrame(told, columns=list(OPEN_SETTINGS.header))


def test_the_best_setting_is_that_whose_worst_gap_is_least():
    found = lines(
        ("gaussian", 0.9, "Original", 99.0), ("gaussian", 0.9, "ByClass", 98.0), ("gaussian", 0.9, "Local", 95.0),
        ("uniform", 0.9, "Original", 99.0), ("uniform", 0.9, "ByClass", 89.0), ("uniform", 0.9, "Local", 98.0),
        ("gaussian", 1.0, "Original", 97.0), ("gaussian", 1.0, "ByClass", 90.0), ("gaussian", 1.0, "Local", 96.0),
        ("uniform", 1.0, "Original", 97.0), ("uniform", 1.0, "ByClass", 96.0), ("uniform", 1.0, "Local", 96.0),
    )  # fmt: skip
    assert least_gap(found, 2, 0.5) == 7.0


def test_what_was_not_tried_has_no_gap():
    assert math.isnan(least_gap(lines(), 2, 0.5))


def test_every_setting_is_tried_on_the_same_rows():
    found = measure(2, 0, 3_000, "uniform", 0.25)
    assert [line[:2] for line in found[::3]] == list(SETTINGS)
    assert [line[2] for line in found] == ["Original", "ByClass", "Local"] * len(SETTINGS)
    original = {line[:2]: line[3] for line in found if line[2] == "Original"}
    assert original[0.99, 100] > original[0.99, 2_000]


@pytest.mark.parametrize(("scale", "n_cells"), [("quick", 4), ("full", 12)])
def test_both_hard_functions_are_tried_under_both_noises(scale, n_cells):
    assert len(list(OPEN_SETTINGS.cells(scale))) == n_cells
