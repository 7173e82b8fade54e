"""The search of tests/privacy/test_joint_density.py, longer and over more settings."""

import itertools

import numpy as np
import pytest

from tests.central.weights.density import (
    GROUPS,
    LATER,
    MIXED,
    PAIR,
    SOFT,
    TinyFit,
    built_worst_case,
    cells_of,
    correlated,
    searched,
    setting_of,
)
from tests.privacy.test_joint_density import random_row

NO_ROUNDING = 1 + 1e-9
TREES = {"1 tree": GROUPS[1], "2 trees": GROUPS[2], "3 trees": GROUPS[3], "a pair": PAIR}
ALL_TREES = {**TREES, "soft": SOFT, "later": LATER, "mixed": MIXED}


@pytest.mark.slow
@pytest.mark.parametrize("n_classes", [2, 3, 5])
@pytest.mark.parametrize("groups", TREES.values(), ids=TREES)
def test_the_price_is_met_and_never_passed(n_classes, groups):
    for epsilon, margin in itertools.product([0.1, 0.5, 1.0, 2.0, 5.0], [0.0, 1.0, 2.0]):
        row = cells_of(setting_of(n_classes, epsilon, groups)[1], [0] * len(groups)), n_classes - 1
        fits = [TinyFit.of(n_classes, epsilon, groups=groups, margin=margin, lead=lead) for lead in (-14.0, -4.0, 0.0)]
        shown = [built_worst_case(fit, [], row) / fit.price for fit in fits]
        assert 0.99 < max(shown) <= NO_ROUNDING


@pytest.mark.slow
@pytest.mark.parametrize("n_classes", [2, 3, 5])
@pytest.mark.parametrize("groups", ALL_TREES.values(), ids=ALL_TREES)
@pytest.mark.parametrize("seed", range(4))
def test_no_search_finds_weights_that_cost_more(n_classes, groups, seed):
    rng = np.random.default_rng([n_classes, seed, list(ALL_TREES.values()).index(groups)])
    epsilon = float(rng.choice([0.1, 0.5, 1.0, 2.0, 4.0]))
    trees = setting_of(n_classes, epsilon, groups)[1]
    fit = TinyFit.of(
        n_classes, epsilon, groups=groups, lead=float(rng.uniform(-14, 2)), margin=float(rng.choice([0, 1, 2])),
        kernels=[correlated(size, rng) for size in trees.sizes] if seed % 2 else None,
    )  # fmt: skip
    known = bool(trees.n_later)
    rows = [random_row(rng, trees, n_classes, known=known) for _ in range(rng.integers(4))]
    for label in range(n_classes):
        cells, _, *scores = random_row(rng, trees, n_classes, known=known)
        row = cells, label, *scores
        assert built_worst_case(fit, rows, row) <= fit.price * NO_ROUNDING
        assert searched(fit, rows, row, rng, n_starts=100, n_polished=2, n_steps=800) <= fit.price * NO_ROUNDING


@pytest.mark.slow
@pytest.mark.parametrize("n_classes", [2, 3, 5])
def test_the_search_alone_finds_half_the_noise(n_classes):
    rng = np.random.default_rng(n_classes)
    fit = TinyFit.of(n_classes, 1.0, groups=GROUPS[1], lead=-8.0).with_noise_halved()
    found = searched(fit, [], ([0], n_classes - 1), rng, n_starts=200, n_polished=2, n_steps=1500)
    assert found > 1.3 * fit.price
