"""The plain frequency oracles estimate without bias and err by their formulas; the page says what was measured."""

import math

import numpy as np
import pytest

from benchmarks.local.frequency_oracles import RIVALS, HadamardResponse, LocalHashing, Subsets
from benchmarks.local.oracles import ORACLES, OURS, page, ratio

EPSILON, CELLS, N_PEOPLE, DRAWS = 1.5, 7, 3_000, 400
COUNTS = np.array([1_500, 700, 400, 200, 150, 50, 0])
SHARES = COUNTS / N_PEOPLE
HADAMARD = {f"Hadamard, {blocks} blocks": HadamardResponse(CELLS, EPSILON, blocks) for blocks in (1, 2, 8)}


@pytest.mark.parametrize("name", [*ORACLES, *HADAMARD])
def test_an_oracle_is_unbiased_and_errs_as_its_formula_says_and_not_as_another(name):
    oracle = HADAMARD.get(name) or ORACLES[name].best(CELLS, EPSILON)
    true, rng = np.repeat(np.arange(CELLS), COUNTS), np.random.default_rng(8)
    found = np.array([oracle.estimated(true, rng) for _ in range(DRAWS)])
    spread = found.std(axis=0, ddof=1) / math.sqrt(DRAWS)
    assert np.all(np.abs(found.mean(axis=0) - SHARES) < 5 * spread)
    errors = ((found - SHARES) ** 2).mean(axis=1) * N_PEOPLE
    spread = errors.std(ddof=1) / math.sqrt(DRAWS)
    assert abs(errors.mean() - oracle.variance(SHARES)) < 5 * spread
    if name in ORACLES:  # a third less epsilon is told apart
        assert abs(errors.mean() - ORACLES[name].best(CELLS, 1.0).variance(SHARES)) > 5 * spread


def test_parameters_are_the_best_by_hand():
    # Local hashing has e^epsilon + 1 groups; a Hadamard matrix of four rows takes three cells.
    assert LocalHashing.best(50, math.log(5)).groups == 6
    assert HadamardResponse(3, 1.0, 1).width == 4
    assert HadamardResponse(4, 1.0, 1).width == 8
    assert HadamardResponse(6, 1.0, 2).width == 4
    own, near, far = HadamardResponse(3, math.log(3), 1).chances
    assert (own, near, far) == pytest.approx((3 / 4, 1 / 2, 1 / 4))
    assert HadamardResponse.best(1_000, 6.0).blocks > 1
    assert Subsets.best(2, 1.0).selection.size == 1


def test_the_page_names_the_best_rival_and_both_ratios():
    line = {name: {"formula": 2e-6, "measured": 3e-6, "error": 1e-6} for name in RIVALS}
    line["local hashing"] = {"formula": 1e-6, "measured": 2e-6, "error": 1e-7}
    ours = {"formula": 5e-7, "measured": 6e-7, "error": 3e-8}
    result = {"cells": 4, "epsilon": 1.0, "draws": 2, OURS: ours, **line}
    assert (ratio(result), ratio(result, "measured")) == pytest.approx((0.5, 0.3))
    text = page([result])
    assert "| local hashing | 0.500 | 0.300 ± 0.021 |" in text
    assert "By formula the ratio is at most 0.500000." in text
    # Ours is 3.3 standard errors away, local hashing 10.
    assert "2 of 5 measured errors are more than 3 standard errors from the formula, the\n  farthest 10.0" in text
