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
    joint_curvature,
    public_error,
)
from privet.central.weights.policy import Policy, tree_shares
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
from privet.privacy.mechanisms.rational import multiple
from privet.rng import SeededNoise, SystemNoise
from tests.loops import loop_over


def setting(n_trees=3, n_classes=2, epsilon=1.0, n_values=4):
    schema = Schema([Categorical(f"a{j}", range(n_values)) for j in range(n_trees)], classes=range(n_classes))
    return Policy(schema, epsilon, 10**5), Trees.of([[j] for j in range(n_trees)], schema)


def noise_of(delta=0.0, rows=1, **options):
    policy, trees = setting(**options)
    return choose_noise(policy, trees, policy.shares.fit, delta=delta, rows=rows)


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
    chosen = choose_noise(policy, trees, policy.shares.fit, delta=0.0, rows=1)
    _, linear = policy.curvature_and_linear(policy.shares.fit)
    for scale, share in zip(chosen.scales, tree_shares(trees), strict=True):
        assert Fraction(1) <= scale * Fraction(linear) * share <= 1 + Fraction(2, 10**6)


def test_without_an_end_to_epsilon_there_is_no_noise():
    chosen = noise_of(epsilon=math.inf)
    assert_array_equal(chosen.draw(SystemNoise()).values, np.zeros((15, 1)))
    assert chosen.event("weights", rows=1) == NoNoise("weights")
    assert (public_error(NoNoise("weights"), chosen.trees), chosen.draw(SystemNoise()).error) == (0.0, 0.0)
    assert_array_equal(chosen.noise_std, np.zeros(3))


@pytest.mark.parametrize(("delta", "n_trees", "normal"), [(0.0, 40, False), (1e-5, 40, True), (1e-5, 2, False)])
def test_normal_noise_is_for_a_delta_and_many_trees(delta, n_trees, normal):
    chosen = noise_of(delta=delta, n_trees=n_trees)
    laplace = noise_of(n_trees=n_trees)
    assert (chosen.sigma is not None) == normal
    assert (chosen.noise_std.mean() < 0.85 * laplace.noise_std.mean()) == normal


@pytest.mark.parametrize("n_classes", [2, 4])
def test_the_receipt_of_normal_noise_holds_at_its_delta(n_classes):
    chosen = noise_of(delta=1e-5, n_trees=60, n_classes=n_classes)
    receipt = chosen.event("weights", rows=1)
    assert isinstance(receipt, GaussianObjective)
    assert (receipt.epsilon, receipt.delta) == (chosen.fit, 1e-5)
    assert (receipt.trees, receipt.classes) == (60, n_classes)
    assert receipt.numbers == 60 * 5 * (1 if n_classes == 2 else n_classes)
    assert stated_delta(receipt) == 1e-5
    # Hardly less noise would cost more.
    less = GaussianObjective(**{**vars(receipt), "sigma": receipt.sigma * Fraction(999, 1000)})
    assert stated_delta(less) > 1e-5


def test_a_person_of_several_rows_never_has_normal_noise():
    assert noise_of(delta=1e-5, n_trees=40, rows=2).sigma is None


def joint_of(epsilon=1.0, delta=1e-6, rows=1, **options):
    """Return the noise of a fit and what its other releases cost."""
    policy, trees = setting(epsilon=epsilon / rows, **options)
    shares = policy.shares
    pure = [multiple(share, rows) for share in (shares.balance, shares.histograms, shares.release) if share]
    return choose_noise(policy, trees, delta=delta, rows=rows, pure=pure, epsilon=epsilon), pure


def receipt_of(chosen, pure, rows, *, epsilon=1.0, delta=1e-6):
    counts = [DiscreteLaplace("counts", own, 1, 1 / Fraction(own)) for own in pure]
    return Jointly((*counts, chosen.event("weights", rows=rows)), epsilon, delta)


@loop_over("epsilon", [0.1, 1.0, 4.0])
@loop_over("n_classes", [2, 4])
@loop_over("rows", [1, 5])
def test_joint_noise_costs_the_whole_fit_its_delta_and_hardly_less_noise_costs_more(epsilon, n_classes, rows):
    chosen, pure = joint_of(epsilon, n_trees=30, n_classes=n_classes, rows=rows)
    receipt = receipt_of(chosen, pure, rows, epsilon=epsilon)
    fit = receipt.parts[-1]
    assert isinstance(fit, NormalObjective)
    assert (fit.trees, fit.classes, fit.rows, fit.curvature) == (30, n_classes, rows, chosen.curvature)
    assert fit.numbers == 30 * 5 * chosen.n_columns
    assert (stated_epsilon(receipt), stated_delta(receipt)) == (epsilon, 1e-6)
    less = NormalObjective(**{**vars(fit), "sigma": fit.sigma * Fraction(9999, 10000)})
    assert stated_delta(Jointly((*receipt.parts[:-1], less), epsilon, 1e-6)) > 1e-6


@loop_over(("n_trees", "n_classes", "rows"), [(40, 2, 1), (14, 2, 1), (14, 2, 5), (40, 3, 1), (40, 7, 2)])
def test_joint_noise_is_smaller_than_that_for_a_share_alone(n_trees, n_classes, rows):
    joint, _ = joint_of(n_trees=n_trees, n_classes=n_classes, rows=rows)
    alone = noise_of(delta=1e-6, n_trees=n_trees, n_classes=n_classes, rows=rows, epsilon=1.0 / rows)
    assert joint.noise_std.mean() < 0.95 * alone.noise_std.mean()


def test_jointly_laplace_noise_stays_where_it_is_smaller_or_no_delta_is_given():
    assert joint_of(n_trees=2)[0].scales
    assert joint_of(n_trees=40, delta=0.0)[0].scales
    assert joint_of(n_trees=40, delta=1e-15)[0].scales


def test_what_a_joint_fit_costs_does_not_depend_on_its_trees():
    few, many = (joint_of(n_trees=n_trees)[0] for n_trees in (20, 80))
    assert few.sigma * 2 == pytest.approx(many.sigma, rel=1e-5)
    assert few.curvature == many.curvature == joint_curvature(1.0, 2, 1) == 1.0


def test_the_curvature_of_joint_noise_is_that_of_the_unit_and_may_be_the_callers():
    assert joint_curvature(1.0, 2, 5) == 0.2
    assert joint_curvature(1.0, 3, 1) == 0.2  # its determinant takes a tenth of epsilon: V / 2
    policy, trees = setting(n_trees=40)
    own = choose_noise(policy, trees, delta=1e-6, rows=1, pure=[0.3], epsilon=1.0, curvature=0.3)
    assert own.curvature == 0.3
    assert own.sigma < choose_noise(policy, trees, delta=1e-6, rows=1, pure=[0.3], epsilon=1.0, curvature=1.3).sigma


def test_the_receipt_of_joint_noise_tells_its_deviations_and_bounds_the_error_of_its_draw():
    chosen, _ = joint_of(n_trees=40, n_classes=3)
    receipt = chosen.event("weights", rows=1)
    assert_array_equal(deviations(receipt, chosen.trees), chosen.noise_std)
    assert 0 < chosen.draw(SeededNoise(1)).error <= public_error(receipt, chosen.trees)


@pytest.mark.parametrize(
    ("delta", "n_trees", "n_classes"), [(0, 3, 2), (0, 3, 3), (0, 2, 5), (0, 2, 30), (1e-5, 60, 2), (1e-5, 60, 3)]
)
def test_the_draw_has_the_deviation_and_the_error_that_the_law_says(delta, n_trees, n_classes):
    chosen = noise_of(delta=delta, n_trees=n_trees, n_classes=n_classes, n_values=200)
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
    policy, trees = setting(n_trees=50, n_classes=n_classes)
    chosen = choose_noise(policy, trees, policy.shares.fit, delta=delta, rows=1)
    receipt = chosen.event("weights", rows=1)
    assert_allclose(deviations(receipt, trees), chosen.noise_std, rtol=1e-5)
    assert_array_equal(deviations(NoNoise("weights"), trees), np.zeros(50))


def test_the_law_of_an_empty_forest_has_no_columns_of_its_own():
    schema = Schema([Categorical("a", [1, 2])], classes=[5, 7, 9])
    assert ObjectiveNoise(Trees.of([], schema), 3, 1.0, 1.0).n_columns == 3
    assert ObjectiveNoise(Trees.of([], schema), 2, 1.0, 1.0).n_columns == 1
