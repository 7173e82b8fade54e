"""The theorem of objective_perturbation.md, checked number by number on tiny tables, at the product's own prices."""

import math
from dataclasses import replace
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from scipy.integrate import simpson
from scipy.special import expit

from privet.central.weights.noise_groups import NoiseGroups
from privet.central.weights.objective_noise import choose_noise
from privet.central.weights.prior import Prior, spread_of
from privet.privacy.mechanisms.joint_loss import Stage, largest_mu
from privet.privacy.mechanisms.objective_perturbation import gaussian_objective_delta, pure_objective_epsilon
from tests.central.weights.density import (
    APART,
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

NO_ROUNDING = 1 + 1e-9
SETTINGS = [
    # classes, trees, epsilon, margin, by how much the row's class is behind
    (2, GROUPS[1], 0.1, 1.0, -14.0), (2, GROUPS[2], 1.0, 0.0, -8.0), (2, GROUPS[3], 2.0, 2.0, -14.0),
    (2, PAIR, 5.0, 1.0, -14.0), (3, GROUPS[1], 1.0, 1.0, -14.0), (3, GROUPS[2], 0.1, 2.0, -8.0),
    (3, PAIR, 2.0, 0.0, -14.0), (5, GROUPS[1], 2.0, 2.0, -14.0), (5, GROUPS[2], 0.5, 1.0, -14.0),
    (2, MIXED, 1.0, 1.0, -14.0), (3, MIXED, 0.5, 1.0, -14.0), (2, APART, 0.5, 1.0, -14.0),
]  # fmt: skip


def tiny_fit(setting):
    n_classes, groups, epsilon, margin, lead = setting
    _, trees = setting_of(n_classes, epsilon, groups)
    row = cells_of(trees, [0] * trees.n_trees), n_classes - 1
    return TinyFit.of(n_classes, epsilon, groups=groups, margin=margin, lead=lead), row


def groups_of(trees, n_classes):
    """Return how many trees share noise with each other, group by group."""
    return sorted(len(group.trees) for group in NoiseGroups.of(trees.sizes, n_classes))


def test_there_are_trees_that_share_noise_and_trees_that_are_alone():
    assert groups_of(setting_of(2, 1.0, GROUPS[1])[1], 2) == [1]
    for n_classes in (2, 3, 5):
        assert [groups_of(setting_of(n_classes, 1.0, own)[1], n_classes) for own in (GROUPS[2], GROUPS[3], PAIR)] == [
            [2], [3], [2]
        ]  # fmt: skip
        assert groups_of(MIXED, n_classes) == [1, 2]
    assert groups_of(APART, 2) == [2, 2]


@pytest.mark.parametrize("setting", SETTINGS)
def test_one_row_against_none_is_told_apart_by_the_price_and_no_more(setting):
    fit, row = tiny_fit(setting)
    assert 0.99 * fit.price < built_worst_case(fit, [], row) <= fit.price * NO_ROUNDING


@pytest.mark.parametrize("setting", [s for s in SETTINGS if s[2] < 5])
def test_half_the_noise_costs_more_than_the_price(setting):
    fit, row = tiny_fit(setting)
    assert built_worst_case(fit.with_noise_halved(), [], row) > 1.5 * fit.price


def dearer(setting, factors):
    """Return by how much a fit whose groups have so many times their scales passes its price, in parts of the price.

    That is nearly all by which the tilt costs more than what was paid for it.
    """
    fit, row = tiny_fit(setting)
    fault = fit.with_scales(factors)
    more, passed = fault.law.linear - fit.law.linear, built_worst_case(fault, [], row) - fit.price
    assert passed > 0.9 * more
    return passed / fit.price


@pytest.mark.parametrize("setting", [s for s in SETTINGS if s[1] in (MIXED, APART)])
@pytest.mark.parametrize("factors", [[1, 1 / 2], [1 / 2, 1]], ids=str)
def test_half_the_noise_in_one_of_two_groups_costs_more_than_the_price(setting, factors):
    assert dearer(setting, factors) > 0.2


@pytest.mark.parametrize("setting", [s for s in SETTINGS if s[1] in (MIXED, APART)])
def test_groups_that_each_have_all_that_is_paid_for_the_tilt_cost_more_than_the_price(setting):
    law = tiny_fit(setting)[0].law
    assert dearer(setting, [1 / (scale * law.linear) for scale in law.scales]) > 0.7


@pytest.mark.parametrize("setting", [s for s in SETTINGS if s[1] != GROUPS[1]])
def test_noise_for_a_row_in_one_tree_of_each_group_costs_more_than_the_price(setting):
    assert dearer(setting, [1 / len(own) for own in tiny_fit(setting)[0].law.groups]) > 0.3


@pytest.mark.parametrize("setting", SETTINGS)
def test_weights_of_trees_that_share_noise_have_one_sum_whatever_the_rows(setting):
    fit, row = tiny_fit(setting)
    rng = np.random.default_rng(1)
    own = fit.law.random(np.eye(len(fit.precision)), rng)
    weights = np.linalg.solve(fit.precision, own)
    assert np.isfinite(fit.log_density(weights, [row, row]))
    if all(len(group) == 1 for group in fit.law.groups) and fit.n_classes == 2:
        return
    moved = own.copy()
    moved[fit.law.groups[-1][-1][0], 0] += 0.1 * fit.law.scales[-1]
    with pytest.raises(AssertionError, match="no noise leads here"):
        fit.log_density(np.linalg.solve(fit.precision, moved), [row])


@pytest.mark.parametrize("setting", [s for s in SETTINGS if s[2] < 5])
def test_four_times_the_prior_variance_costs_more_than_the_price(setting):
    fit, row = tiny_fit(setting)
    assert built_worst_case(fit.with_curvature(4), [], row) > 1.2 * fit.price


@pytest.mark.parametrize("setting", [s for s in SETTINGS if s[0] > 2])
def test_a_determinant_that_is_not_paid_for_costs_more_than_the_price(setting):
    fit, row = tiny_fit(setting)
    assert built_worst_case(fit.with_linear_at_the_whole_price(), [], row) > 1.05 * fit.price


@pytest.mark.parametrize("n_rows", [0, 1, 2, 3])
@pytest.mark.parametrize(("n_classes", "n_trees"), [(2, 1), (2, 3), (3, 2), (5, 1)])
def test_no_weights_are_found_that_cost_more_whatever_the_other_rows(n_classes, n_trees, n_rows):
    rng = np.random.default_rng([n_classes, n_trees, n_rows])
    fit, rows, row = random_table(rng, n_classes, n_trees, n_rows)
    assert built_worst_case(fit, rows, row) <= fit.price * NO_ROUNDING
    assert searched(fit, rows, row, rng, n_starts=40, n_polished=1, n_steps=100) <= fit.price * NO_ROUNDING


def random_table(rng, n_classes, n_trees, n_rows):
    """Return a fit with random correlations, offsets and margin, and a table that pulls scores about."""
    groups, epsilon = GROUPS[n_trees], float(rng.choice([0.1, 0.5, 1.0, 2.0]))
    trees = setting_of(n_classes, epsilon, groups)[1]
    kernels = [correlated(size, rng) for size in trees.sizes]
    fit = TinyFit.of(
        n_classes, epsilon, groups=groups, lead=float(rng.uniform(-14, 2)), margin=float(rng.choice([0, 1, 2])),
        kernels=kernels,
    )  # fmt: skip
    rows = [random_row(rng, trees, n_classes) for _ in range(n_rows)]
    return fit, rows, (cells_of(trees, [0] * n_trees), int(rng.integers(n_classes)))


def random_row(rng, trees, n_classes, *, known=False):
    """Return a row's cells, its class, and what it scores already if so ``known``."""
    cells = cells_of(trees, [int(rng.integers(size)) for size in trees.cell_sizes])
    scores = [rng.normal(size=1 if n_classes == 2 else n_classes) * 3] if known else []
    return cells, int(rng.integers(n_classes)), *scores


@pytest.mark.parametrize("trees", [SOFT, LATER], ids=["soft", "later"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_no_cell_of_a_soft_tree_costs_more_than_the_price_whatever_rows_score_already(trees, n_classes):
    rng = np.random.default_rng([n_classes, trees.n_later])
    for n_rows in (0, 1, 3):
        kernels = [correlated(size, rng) for size in trees.sizes] if n_rows else None
        fit = TinyFit.of(n_classes, 1.0, groups=trees, lead=float(rng.uniform(-14, 2)), kernels=kernels)
        known = bool(trees.n_later)
        rows = [random_row(rng, trees, n_classes, known=known) for _ in range(n_rows)]
        for _ in range(6):
            row = random_row(rng, trees, n_classes, known=known)
            assert built_worst_case(fit, rows, row) <= fit.price * NO_ROUNDING
            assert searched(fit, rows, row, rng, n_starts=20, n_polished=1, n_steps=40) <= fit.price * NO_ROUNDING


@pytest.mark.parametrize("trees", [SOFT, LATER], ids=["soft", "later"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_row_between_knots_is_told_apart_by_the_price_too(trees, n_classes):
    # Up to epsilon 1 two classes pay for the tilt alone; of more classes the determinant has a part, and less of V.
    fit = TinyFit.of(n_classes, 1.0, groups=trees, lead=-14.0)
    row = cells_of(trees, [1, 1] if trees is LATER else [1, 0]), n_classes - 1
    assert (0.99 if n_classes == 2 else 0.8) * fit.price < built_worst_case(fit, [], row) <= fit.price * NO_ROUNDING
    # What the row scores already can only take the place of the offsets.
    known = (np.array([6.0]) if n_classes == 2 else np.array([-3.0, -3.0, 6.0]),)
    assert built_worst_case(fit, [], (*row, *known)) <= fit.price * NO_ROUNDING


@pytest.mark.parametrize("trees", [SOFT, LATER], ids=["soft", "later"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_shares_off_the_simplex_cost_more_than_the_price(trees, n_classes):
    fit = TinyFit.of(n_classes, 1.0, groups=trees, lead=-14.0)
    row = cells_of(trees, [1, 1] if trees is LATER else [1, 0]), n_classes - 1
    assert built_worst_case(replace(fit, shares=1.5 * fit.shares), [], row) > 1.3 * fit.price


@pytest.mark.parametrize("groups", [*GROUPS.values(), PAIR, SOFT, LATER])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_stored_precision_keeps_every_score_within_the_curvature_exactly(groups, n_classes):
    policy, trees = setting_of(n_classes, 1.0, groups)
    curvature, _ = policy.curvature_and_linear(policy.shares.fit)
    variances = np.full(trees.n_trees, curvature / trees.n_trees)
    prior = Prior.of(trees, policy.cells, variances, curvature=curvature)
    spread = Fraction(spread_of(trees, policy.cells, variances))
    inverses = [exact_inverse(precision) for precision in prior.precisions]
    assert sum(max(inverse[i][i] for i in range(len(inverse))) for inverse in inverses) <= Fraction(curvature)
    assert sum(abs(entry) for inverse in inverses for line in inverse for entry in line) <= spread


def exact_inverse(matrix):
    """Return the inverse, by elimination in fractions."""
    n = len(matrix)
    lines = [
        [*map(Fraction, line), *(Fraction(int(i == j)) for j in range(n))] for i, line in enumerate(matrix.tolist())
    ]
    for i in range(n):
        lines[i] = [entry / lines[i][i] for entry in lines[i]]
        for j in set(range(n)) - {i}:
            lines[j] = [entry - lines[j][i] * own for entry, own in zip(lines[j], lines[i], strict=True)]
    return [line[n:] for line in lines]


@pytest.mark.parametrize("n_classes", [2, 3, 5])
def test_groups_share_the_tilts_budget_and_no_more_and_each_tree_is_in_one(n_classes):
    for groups in [*GROUPS.values(), PAIR, MIXED, APART, SOFT, LATER]:
        policy, trees = setting_of(n_classes, 1.0, groups)
        shared = NoiseGroups.of(trees.sizes, n_classes)
        assert sum(shared.shares) == 1
        assert sorted(tree for group in shared for tree in group.trees) == list(range(trees.n_trees))
        _, linear = policy.curvature_and_linear(policy.shares.fit)
        scales = choose_noise(policy, trees, policy.shares.fit).scales
        assert sum(1 / scale for scale in scales) <= Fraction(linear)


# Normal noise: one leaf, by integrating both densities.


def normal_delta(epsilon, sigma, curvature, *, lead, margin=1.0, rows=1):
    """Return the delta of one leaf and two classes, rows against none, the worse of both ways."""
    weights = np.linspace(-14 * sigma * curvature, 14 * sigma * curvature, 40_001)
    chances = expit(lead + weights - margin)
    without = np.exp(-((weights / curvature / sigma) ** 2) / 2) / curvature
    tilt = -weights / curvature + rows * (1 - chances)
    present = np.exp(-((tilt / sigma) ** 2) / 2) * (1 / curvature + rows * chances * (1 - chances))
    unit = sigma * math.sqrt(2 * math.pi)
    return max(
        simpson(np.maximum(0.0, one - math.exp(epsilon) * other), x=weights) / unit
        for one, other in [(without, present), (present, without)]
    )


@pytest.mark.parametrize("lead", [-14.0, -4.0, 0.0])
@pytest.mark.parametrize(("epsilon", "mu"), [(0.5, 0.2), (1.0, 0.3), (2.0, 0.7)])
def test_normal_noise_costs_no_more_than_its_delta(epsilon, mu, lead):
    sigma, curvature = 1 / mu, (epsilon - mu**2 / 2) * (1 - 1e-9)
    price = gaussian_objective_delta(Fraction(sigma), curvature, n_trees=1, n_classes=2, epsilon=epsilon, n_numbers=1)
    delta = normal_delta(epsilon, sigma, curvature, lead=lead)
    assert delta <= price * (1 + 1e-6)
    if lead == -14.0:
        assert delta > 0.99 * price
        assert normal_delta(epsilon, sigma / 1.3, curvature, lead=lead) > 2 * price


def three_class_delta(epsilon, sigma, curvature, *, lead, margin=1.0):
    """Return the delta of one leaf and three classes; what all weights have in common is the same for both tables."""
    line = np.linspace(-9 * sigma * curvature, 9 * sigma * curvature, 401)
    first, second = np.meshgrid(line, line)
    # Two directions at right angles in which the weights of three classes add up to zero.
    directions = np.array([[1, -1, 0], [-1, -1, 2]]) / np.sqrt([[2], [6]])
    weights = first[..., None] * directions[0] + second[..., None] * directions[1]
    scores = weights + np.array([0, 0, lead - margin])
    chances = np.exp(scores - scores.max(axis=-1, keepdims=True))
    chances /= chances.sum(axis=-1, keepdims=True)
    bend = (chances[..., None] * np.eye(3)) - chances[..., None] * chances[..., None, :]
    grown = np.linalg.det(np.eye(2) / curvature + directions @ bend @ directions.T)
    tilt = -weights / curvature - (chances - np.array([0, 0, 1.0]))
    unit = 2 * math.pi * sigma**2
    without = np.exp(-(weights**2).sum(axis=-1) / (2 * (curvature * sigma) ** 2)) / curvature**2 / unit
    present = np.exp(-(tilt**2).sum(axis=-1) / (2 * sigma**2)) * grown / unit
    cell = (line[1] - line[0]) ** 2
    return max(
        float(np.maximum(0.0, one - math.exp(epsilon) * other).sum()) * cell
        for one, other in [(without, present), (present, without)]
    )


@pytest.mark.parametrize(("epsilon", "mu"), [(1.0, 0.3), (2.0, 0.7)])
def test_normal_noise_costs_three_classes_no_more_than_their_delta(epsilon, mu):
    sigma = math.sqrt(2) / mu
    curvature = min(0.1 * epsilon * 2, (epsilon - mu**2 / 2) * 2 / 3) * (1 - 1e-9)
    price = gaussian_objective_delta(Fraction(sigma), curvature, n_trees=1, n_classes=3, epsilon=epsilon, n_numbers=3)
    assert 0.01 * price < three_class_delta(epsilon, sigma, curvature, lead=-14.0) <= price
    assert three_class_delta(epsilon, sigma / 2, curvature, lead=-14.0) > price


# Normal noise, and randomized response beside it: all outcomes of the one, times the integral for the other.

PURE = (0.05, 0.1, 0.05, 0.1)


def joint_density_delta(delta_of_fit, epsilon, pure):
    """Return the delta of a fit and pure releases that tell as much as their epsilons allow."""
    total = 0.0
    for signs in product((1, -1), repeat=len(pure)):
        losses = [sign * own for sign, own in zip(signs, pure, strict=True)]
        chance = math.prod(1 / (1 + math.exp(-loss)) for loss in losses)
        total += chance * delta_of_fit(epsilon - sum(losses))
    return total


@pytest.mark.parametrize(("lead", "rows"), [(-14.0, 1), (-4.0, 1), (0.0, 1), (-14.0, 3), (-4.0, 3)])
@pytest.mark.parametrize("epsilon", [0.5, 1.0, 2.0])
def test_normal_noise_and_pure_releases_cost_no_more_than_their_joint_delta(epsilon, lead, rows):
    pure = [share * epsilon for share in PURE]
    curvature = 0.9 * epsilon / rows
    mu = largest_mu(epsilon, 1e-4, pure, [Stage(curvature, 2, rows)])
    delta = joint_density_delta(lambda t: normal_delta(t, 1 / mu, curvature, lead=lead, rows=rows), epsilon, pure)
    assert delta <= 1e-4
    if lead == -14.0:
        assert delta > 0.8e-4
        # A plan that forgets the pure releases, or the rows of a unit, is told.
        careless = largest_mu(epsilon, 1e-4, [], [Stage(curvature, 2, rows)])
        forgetful = largest_mu(epsilon, 1e-4, pure, [Stage(curvature, 2, 1)])
        faults = [careless, forgetful] if rows > 1 else [careless]
        for fault in faults:
            assert (
                joint_density_delta(
                    lambda t, m=fault: normal_delta(t, 1 / m, curvature, lead=lead, rows=rows), epsilon, pure
                )
                > 1.5e-4
            )


@pytest.mark.parametrize("share", [0.1, 0.3])
def test_normal_noise_for_three_classes_and_pure_releases_cost_no_more_than_their_joint_delta(share):
    pure, curvature = [0.1, 0.2], share
    mu = largest_mu(1.0, 1e-4, pure, [Stage(curvature, 3)])
    delta = joint_density_delta(lambda t: three_class_delta(t, math.sqrt(2) / mu, curvature, lead=-14.0), 1.0, pure)
    assert 0.05e-4 < delta <= 1e-4
    assert joint_density_delta(lambda t: three_class_delta(t, 1 / mu, curvature, lead=-14.0), 1.0, pure) > 1e-4


def test_the_price_of_a_forest_is_what_its_receipt_is_charged():
    fit, _ = tiny_fit(SETTINGS[0])
    curvature = sum(np.linalg.inv(fit.precision).diagonal()[own[0][0]] for own in fit.law.groups)
    assert fit.price * (1 - 1e-5) <= pure_objective_epsilon(fit.law.linear, curvature, 2) <= fit.price
