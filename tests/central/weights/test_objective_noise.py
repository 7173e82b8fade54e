"""Which noise is added to the objective, and what it costs."""

import math
from fractions import Fraction

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from privet import Categorical, Schema
from privet.central.weights.objective_noise import (
    ObjectiveNoise,
    choose_noise,
    deviations,
    is_normal_less,
    public_error,
)
from privet.central.weights.policy import Normal, Policy, tree_shares
from privet.central.weights.trees import Trees
from privet.privacy.accounting import pure_epsilon, stated_delta, stated_epsilon
from privet.privacy.events import (
    DiscreteLaplace,
    GaussianObjective,
    Jointly,
    NoNoise,
    NormalObjective,
    ObjectivePerturbation,
)
from privet.privacy.mechanisms.joint_loss import Stage, largest_mu
from privet.privacy.mechanisms.linear_noise import laplace_factor
from privet.privacy.mechanisms.objective_perturbation import gaussian_objective_delta
from privet.privacy.mechanisms.rational import multiple
from privet.rng import SeededNoise, SystemNoise
from tests.loops import loop_over


def setting(n_trees=3, n_classes=2, epsilon=1.0, n_values=4, delta=0.0, rows=1):
    """Return a policy that has ``epsilon`` for each of a unit's rows, and a tree an attribute."""
    schema = Schema([Categorical(f"a{j}", range(n_values)) for j in range(n_trees)], classes=range(n_classes))
    policy = Policy(schema, epsilon, 10**5, delta=delta, max_rows=rows)
    return policy, Trees.of([[j] for j in range(n_trees)], schema)


def noise_of(**options):
    """Return the Laplace noise of a fit."""
    policy, trees = setting(**options)
    return choose_noise(policy, trees, policy.shares.fit)


@loop_over("n_classes", [2, 3, 26, 27])
@loop_over("epsilon", [1e-3, 0.1, 1 / 3, 2.0, 50.0])
def test_the_receipt_costs_no_more_than_the_fit_and_hardly_less(n_classes, epsilon):
    chosen = noise_of(n_classes=n_classes, epsilon=epsilon)
    for rows in (1, 3, 7):
        receipt = chosen.event("weights", rows=rows)
        assert isinstance(receipt, ObjectivePerturbation)
        assert Fraction(pure_epsilon(receipt)) <= rows * Fraction(chosen.fit)
        assert pure_epsilon(receipt) == pytest.approx(rows * chosen.fit, rel=1e-12)
        assert Fraction(receipt.linear) >= sum(1 / scale for scale in chosen.scales)
        assert (receipt.curvature, receipt.classes, receipt.rows) == (chosen.curvature, n_classes, rows)


def test_scales_are_one_over_each_trees_share_of_linear():
    policy, trees = setting()
    chosen = choose_noise(policy, trees, policy.shares.fit)
    _, linear = policy.curvature_and_linear(policy.shares.fit)
    for scale, share in zip(chosen.scales, tree_shares(trees), strict=True):
        assert Fraction(1) <= scale * Fraction(linear) * share <= 1 + Fraction(2, 10**6)


def test_without_an_end_to_epsilon_there_is_no_noise():
    chosen = noise_of(epsilon=math.inf)
    assert_array_equal(chosen.draw(SystemNoise()).values, np.zeros((15, 1)))
    assert chosen.event("weights", rows=1) == NoNoise("weights")
    assert (public_error(NoNoise("weights"), chosen.trees), chosen.draw(SystemNoise()).error) == (0.0, 0.0)
    assert_array_equal(chosen.noise_std, np.zeros(3))


def normal_of(policy, pure):
    """Return the normal noise that one fit may have beside these pure releases, with the curvature of the plan."""
    curvature = policy.normal_plan.alone.curvature
    stage = Stage(curvature, policy.n_classes, policy.max_rows)
    return Normal(largest_mu(multiple(policy.epsilon, policy.max_rows), policy.delta, pure, [stage]), curvature)


def joint_of(epsilon=1.0, delta=1e-6, rows=1, **options):
    """Return the normal noise of one fit that a unit of ``rows`` has all epsilon for, and what its others cost."""
    policy, trees = setting(epsilon=epsilon / rows, delta=delta, rows=rows, **options)
    shares = policy.shares
    pure = [multiple(share, rows) for share in (shares.balance, shares.histograms, shares.release) if share]
    return choose_noise(policy, trees, shares.fit, normal_of(policy, pure)), pure


def receipt_of(chosen, pure, rows, *, epsilon=1.0, delta=1e-6):
    counts = [DiscreteLaplace("counts", own, 1, 1 / Fraction(own)) for own in pure]
    return Jointly((*counts, chosen.event("weights", rows=rows)), epsilon, delta)


@pytest.mark.parametrize(("n_trees", "normal"), [(40, True), (2, False)])
def test_normal_noise_is_less_where_there_are_many_trees(n_trees, normal):
    policy, trees = setting(n_trees=n_trees, delta=1e-5)
    fit, planned = policy.shares.fit, normal_of(policy, [0.06])
    chosen, laplace = choose_noise(policy, trees, fit, planned), choose_noise(policy, trees, fit)
    assert (chosen.sigma is None, laplace.sigma is None) == (False, True)
    assert is_normal_less(policy, trees, fit, planned) == normal
    assert (chosen.noise_std.mean() < 0.85 * laplace.noise_std.mean()) == normal


def border(policy, trees):
    """Return the mu at which normal noise is as large as Laplace noise."""
    low, high = 1e-3, 1e3
    for _ in range(60):
        middle = math.sqrt(low * high)
        is_less = is_normal_less(policy, trees, policy.shares.fit, Normal(middle, 1.0))
        low, high = (low, middle) if is_less else (middle, high)
    return low


def test_which_noise_is_less_depends_on_how_many_trees_there_are_and_not_on_which():
    sizes = [2, 2, 3, 3, 40, 200]
    schema = Schema([Categorical(f"a{j}", range(size)) for j, size in enumerate(sizes)], classes=[5, 9])
    policy = Policy(schema, 1.0, 10**5, delta=1e-6)
    narrow, wide = Trees.of([[0], [1], [2, 3]], schema), Trees.of([[4], [5], [0]], schema)
    assert border(policy, narrow) == pytest.approx(border(policy, wide), rel=1e-5)
    # With fewer trees, by which normal noise gains less, the border is another.
    assert border(policy, Trees.of([[4], [5]], schema)) > 1.1 * border(policy, wide)


def test_without_a_plan_noise_is_laplace_whatever_delta_is():
    for delta in (0.0, 1e-5):
        assert noise_of(n_trees=40, delta=delta).scales == noise_of(n_trees=40).scales != ()


@loop_over("epsilon", [0.1, 1.0, 4.0])
@loop_over("n_classes", [2, 4])
@loop_over("rows", [1, 5])
def test_normal_noise_costs_the_whole_fit_its_delta_and_hardly_less_noise_costs_more(epsilon, n_classes, rows):
    chosen, pure = joint_of(epsilon, n_trees=30, n_classes=n_classes, rows=rows)
    receipt = receipt_of(chosen, pure, rows, epsilon=epsilon)
    fit = receipt.parts[-1]
    assert isinstance(fit, NormalObjective)
    assert (fit.trees, fit.classes, fit.rows, fit.curvature) == (30, n_classes, rows, chosen.curvature)
    assert fit.numbers == 30 * 5 * chosen.n_columns
    assert (stated_epsilon(receipt), stated_delta(receipt)) == (epsilon, 1e-6)
    less = NormalObjective(**{**vars(fit), "sigma": fit.sigma * Fraction(9999, 10000)})
    assert stated_delta(Jointly((*receipt.parts[:-1], less), epsilon, 1e-6)) > 1e-6


def sigma_alone(fit, curvature, n_trees, n_classes, delta):
    """Return the least sigma for which a fit alone, of one row, costs (fit, delta)."""
    low, high = 1e-3, 1e6
    for _ in range(80):
        middle = math.sqrt(low * high)
        cost = gaussian_objective_delta(
            Fraction(middle), curvature, n_trees=n_trees, n_classes=n_classes, epsilon=fit, n_numbers=n_trees * 5
        )
        low, high = (low, middle) if cost <= delta else (middle, high)
    return high


@loop_over(("n_trees", "n_classes", "rows"), [(40, 2, 1), (14, 2, 1), (14, 2, 5), (40, 3, 1), (40, 7, 2)])
def test_joint_noise_is_smaller_than_that_for_a_share_alone(n_trees, n_classes, rows):
    joint, _ = joint_of(n_trees=n_trees, n_classes=n_classes, rows=rows)
    alone = noise_of(n_trees=n_trees, n_classes=n_classes, epsilon=1.0 / rows)
    assert joint.noise_std.mean() < 0.95 * alone.noise_std.mean()
    if rows == 1:  # normal noise that a share has for itself is larger, too, however small its curvature
        assert joint.noise_std.mean() < sigma_alone(alone.fit, 0.1 * alone.fit, n_trees, n_classes, 1e-6)
        assert joint.noise_std.mean() < 0.95 * sigma_alone(alone.fit, joint.curvature, n_trees, n_classes, 1e-6)


def test_what_a_joint_fit_costs_does_not_depend_on_its_trees():
    few, many = (joint_of(n_trees=n_trees)[0] for n_trees in (20, 80))
    assert few.sigma * 2 == pytest.approx(many.sigma, rel=1e-5)
    assert few.curvature == many.curvature == setting(delta=1e-6)[0].normal_plan.alone.curvature


def curvatures(**options):
    """Return the curvatures of a fit that is alone, of the first and of the second of two."""
    policy, _ = setting(delta=1e-6, **options)
    return [own.curvature for own in policy.normal_plan]


def test_the_curvature_of_joint_noise_is_that_of_the_unit():
    whole, fifth = curvatures(), curvatures(epsilon=0.2, rows=5)
    assert [5 * own for own in fifth] == pytest.approx(whole)
    assert whole == sorted(whole, reverse=True)
    assert whole[-1] > 0
    # What determinants of more classes take of epsilon, V (n - 2) / (n - 1), is less than half in all fits together.
    for n in (3, 4, 7, 30):
        alone, first, later = (own * (n - 2) / (n - 1) for own in curvatures(n_classes=n))
        assert 0 < first + later < 0.5
        assert 0 < alone < 0.5


def test_a_smaller_curvature_leaves_room_for_less_noise():
    policy, trees = setting(n_trees=40)
    small, large = (
        choose_noise(policy, trees, 0.7, Normal(largest_mu(1.0, 1e-6, [0.3], [Stage(own, 2)]), own))
        for own in (0.3, 1.3)
    )
    assert (small.curvature, large.curvature) == (0.3, 1.3)
    assert small.sigma < large.sigma


@loop_over("n_classes", [2, 3, 30])
def test_sigma_is_the_sensitivity_of_all_trees_over_mu_and_hardly_more(n_classes):
    # A row moves one number a tree by 1 with two classes, and two of them by 1 with more.
    policy, trees = setting(n_trees=7, n_classes=n_classes)
    sensitivity = math.sqrt(7 * (1 if n_classes == 2 else 2))
    chosen = choose_noise(policy, trees, 0.7, Normal(0.25, 1.0))
    assert 1 <= float(chosen.sigma) * 0.25 / sensitivity <= 1 + 1e-6


def test_the_receipt_of_joint_noise_tells_its_deviations_and_bounds_the_error_of_its_draw():
    chosen, _ = joint_of(n_trees=40, n_classes=3)
    receipt = chosen.event("weights", rows=1)
    assert_array_equal(deviations(receipt, chosen.trees), chosen.noise_std)
    assert 0 < chosen.draw(SeededNoise(1)).error <= public_error(receipt, chosen.trees)


def test_receipts_of_normal_noise_in_earlier_files_tell_their_deviations_too():
    chosen, _ = joint_of(n_trees=40, n_classes=3)
    earlier = GaussianObjective("weights", 0.9, 1e-6, chosen.sigma, 0.1, 40, 3, 600)
    assert_array_equal(deviations(earlier, chosen.trees), chosen.noise_std)
    assert public_error(earlier, chosen.trees) == public_error(chosen.event("weights", rows=1), chosen.trees)


@pytest.mark.parametrize(
    ("delta", "n_trees", "n_classes"), [(0, 3, 2), (0, 3, 3), (0, 2, 5), (0, 2, 30), (1e-5, 60, 2), (1e-5, 60, 3)]
)
def test_the_draw_has_the_deviation_and_the_error_that_the_law_says(delta, n_trees, n_classes):
    options = {"n_trees": n_trees, "n_classes": n_classes, "n_values": 200}
    chosen = joint_of(delta=delta, **options)[0] if delta else noise_of(**options)
    assert (chosen.sigma is not None) == bool(delta)
    drawn = chosen.draw(SeededNoise(1))
    assert drawn.values.shape == (n_trees * 201, chosen.n_columns)
    assert 0 < drawn.error <= public_error(chosen.event("weights", rows=1), chosen.trees)
    # Some thousands of values: a deviation is known to a few hundredths.
    for own, std in zip(np.split(drawn.values, n_trees), chosen.noise_std, strict=True):
        assert own.std() == pytest.approx(std, rel=0.3 if chosen.n_columns == 1 else 0.2)
    if 2 < n_classes <= 26 and not delta:
        assert np.abs(drawn.values.sum(axis=1)).max() <= n_classes * drawn.error


@pytest.mark.parametrize("n_classes", [2, 3, 30])
@pytest.mark.parametrize("delta", [0.0, 1e-5])
def test_a_receipt_tells_the_deviations_of_the_law(n_classes, delta):
    chosen = (
        joint_of(delta=delta, n_trees=50, n_classes=n_classes)[0]
        if delta
        else noise_of(n_trees=50, n_classes=n_classes)
    )
    receipt = chosen.event("weights", rows=1)
    factor = laplace_factor(n_classes)
    law = [float(chosen.sigma)] * 50 if delta else [factor * float(scale) for scale in chosen.scales]
    assert_allclose(deviations(receipt, chosen.trees), law, rtol=1e-5)
    assert_array_equal(deviations(NoNoise("weights"), chosen.trees), np.zeros(50))


def test_the_law_of_an_empty_forest_has_no_columns_of_its_own():
    schema = Schema([Categorical("a", [1, 2])], classes=[5, 7, 9])
    assert ObjectiveNoise(Trees.of([], schema), 3, 1.0, 1.0).n_columns == 3
    assert ObjectiveNoise(Trees.of([], schema), 2, 1.0, 1.0).n_columns == 1
