import math

import pandas as pd
import pytest
from tests.papers.agrawal2000.tables_of_accuracy import lines_of

from papers.agrawal2000.means import Means


def test_runs_are_averaged():
    first = lines_of()
    second = lines_of({(1, "uniform", 0.5, "Local"): 90.0}).assign(run=1)
    means = Means(pd.concat([first, second]))
    assert means.of(1, "uniform", 0.5, "Local") == 92
    assert means.sd(1, "uniform", 0.5, "Local") == pytest.approx(8**0.5)
    assert means.n_runs == 2


def test_original_is_the_same_whatever_the_noise():
    means = Means(lines_of(original=97.0))
    assert means.of(3, "gaussian", 1.0, "Original") == means.original(3) == 97


def test_what_was_not_measured_is_nan():
    means = Means(lines_of(privacies=(0.25, 1.0)))
    assert math.isnan(means.of(1, "uniform", 2.0, "Local"))
    assert math.isnan(means.sd(1, "uniform", 1.0, "Local"))
    assert means.privacies == (0.25, 1.0)
