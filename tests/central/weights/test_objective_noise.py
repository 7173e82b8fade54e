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
    is_normal_less,
)
from privet.central.weights.policy import Normal, Policy
from privet.central.weights.trees import Trees
from privet.privacy.accounting import pure_epsilon, stated_delta, stated_epsilon
from privet.privacy.events import (
    DiscreteLaplace,
    Jointly,
    KNormObjective,
    NoNoise,
    NormalObjective,
)
from privet.privacy.mechanisms.joint_loss import Stage, largest_mu
from privet.privacy.mechanisms.k_norm import shared_deviation
from privet.privacy.mechanisms.linear_noise import draw_laplace, draw_sum_zero, laplace_factor
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
    """Return the K-norm noise of a fit."""
    policy, trees = setting(**options)
    return choose_noise(policy, trees, policy.shares.fit)


@loop_over("n_classes", [2, 3, 26, 27])
@loop_over("epsilon", [1e-3, 0.1, 1 / 3, 2.0, 50.0])
def test_the_receipt_costs_no_more_than_the_fit_and_hardly_less(n_classes, epsilon):
    chosen = noise_of(n_classes=n_classes, epsilon=epsilon)
    for rows in (1, 3, 7):
        receipt = chosen.event("weights", rows=rows)
        assert type(receipt) is KNormObjective
        assert Fraction(pure_epsilon(receipt)) <= rows * Fraction(chosen.fit)
        assert pure_epsilon(receipt) == pytest.approx(rows * chosen.fit, rel=1e-12)
        assert Fraction(receipt.linear) >= sum(1 / scale for scale in chosen.scales)
        assert (receipt.curvature, receipt.classes, receipt.rows) == (chosen.curvature, n_classes, rows)


def mixed(n_classes=2, sizes=(2, 2, 4, 4, 40, 1)):
    """Return a policy and a tree of so many leaves for each attribute."""
    attributes = [Categorical(f"a{j}", range(size), never_missing=True) for j, size in enumerate(sizes)]
    schema = Schema(attributes, classes=range(n_classes))
    return Policy(schema, 1.0, 10**5), Trees.of([[j] for j in range(len(sizes))], schema)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_scales_are_one_over_each_groups_share_of_linear(n_classes):
    policy, trees = mixed(n_classes)
    chosen = choose_noise(policy, trees, policy.shares.fit)
    _, linear = policy.curvature_and_linear(policy.shares.fit)
    assert len(chosen.scales) == len(chosen.groups.groups) > 1
    for scale, share in zip(chosen.scales, chosen.groups.shares, strict=True):
        assert Fraction(1) <= scale * Fraction(linear) * share <= 1 + Fraction(2, 10**6)


@pytest.mark.parametrize("n_classes", [2, 3, 30])
def test_each_groups_noise_lies_in_the_leaves_of_its_trees(n_classes):
    policy, trees = mixed(n_classes)
    chosen = choose_noise(policy, trees, policy.shares.fit)
    drawn, columns = chosen.draw(SystemNoise()), chosen.n_columns
    assert drawn.values.shape == (53, columns)
    assert (drawn.values != 0).all()
    parts = np.split(drawn.values, trees.starts[1:])
    assert {group.trees for group in chosen.groups if not group.is_shared} == {(4,)}
    for group in chosen.groups:
        sums = np.array([parts[tree].sum(axis=0) for tree in group.trees])
        assert (np.ptp(sums, axis=0) <= drawn.error).all()  # trees that share noise have the same sum
        if group.is_shared or columns <= 26:
            within = np.concatenate([parts[tree] for tree in group.trees])
            assert columns == 1 or np.abs(within.sum(axis=1)).max() <= columns * drawn.error
    # Those of different groups are independent.
    one_each = [parts[group.trees[0]].sum(axis=0) for group in chosen.groups]
    assert (np.abs(np.diff(one_each, axis=0)) > 1e3 * drawn.error).all()


@pytest.mark.parametrize(("n_classes", "times"), [(2, 1), (3, 1), (26, 1), (27, 2)])
def test_a_tree_that_is_alone_has_noise_of_its_own_in_every_leaf(n_classes, times):
    policy, trees = mixed(n_classes, (40,))
    chosen = choose_noise(policy, trees, policy.shares.fit)
    draw = draw_sum_zero if 2 < n_classes < 27 else draw_laplace
    n_weights = 1 if n_classes == 2 else n_classes
    own = draw(times * chosen.scales[0], 40, n_weights=n_weights, noise=SeededNoise(3))
    drawn = chosen.draw(SeededNoise(3))
    assert_array_equal(drawn.values, own.values)
    assert drawn.error == own.error


@pytest.mark.parametrize("n_classes", [2, 3, 30])
def test_deviations_are_those_of_each_group_at_its_scale(n_classes):
    policy, trees = mixed(n_classes)
    chosen = choose_noise(policy, trees, policy.shares.fit)
    expected = np.zeros(6)
    for group, scale in zip(chosen.groups, chosen.scales, strict=True):
        n = sum(group.sizes) - len(group.sizes)
        for tree, size in zip(group.trees, group.sizes, strict=True):
            own = shared_deviation(size, n, n_classes) if group.is_shared else laplace_factor(n_classes)
            expected[tree] = own * float(scale)
    assert_allclose(chosen.noise_std, expected)


def test_without_an_end_to_epsilon_there_is_no_noise():
    chosen = noise_of(epsilon=math.inf)
    assert_array_equal(chosen.draw(SystemNoise()).values, np.zeros((15, 1)))
    assert chosen.event("weights", rows=1) == NoNoise("weights")
    assert (chosen.public_error, chosen.draw(SystemNoise()).error) == (0.0, 0.0)
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


EVEN = np.array([0.5, 0.5])


@pytest.mark.parametrize(("n_trees", "normal"), [(40, True), (2, False)])
def test_normal_noise_is_less_where_there_are_many_trees(n_trees, normal):
    policy, trees = setting(n_trees=n_trees, delta=1e-5)
    fit, planned = policy.shares.fit, normal_of(policy, [0.06])
    chosen, k_norm = choose_noise(policy, trees, fit, planned), choose_noise(policy, trees, fit)
    assert (chosen.sigma is None, k_norm.sigma is None) == (False, True)
    assert is_normal_less(policy, trees, EVEN, fit, planned) == normal
    assert (chosen.noise_std.mean() < 0.85 * k_norm.noise_std.mean()) == normal


def border(policy, trees, balance):
    """Return the mu at which normal noise is as large as K-norm noise."""
    low, high = 1e-3, 1e3
    for _ in range(60):
        middle = math.sqrt(low * high)
        is_less = is_normal_less(policy, trees, balance, policy.shares.fit, Normal(middle, 1.0))
        low, high = (low, middle) if is_less else (middle, high)
    return low


@loop_over("balance", [EVEN, np.array([0.9, 0.1]), np.array([0.999, 0.001])])
@loop_over("attributes", [[[0], [1], [2, 3]], [[4], [5], [0]], [[4], [5]], [[0], [1], [2], [3]], [[5]]])
def test_the_noise_that_moves_scores_less_is_drawn(attributes, balance):
    sizes = [2, 2, 3, 3, 40, 200]
    schema = Schema([Categorical(f"a{j}", range(size)) for j, size in enumerate(sizes)], classes=[5, 9])
    policy = Policy(schema, 1.0, 10**5, delta=1e-6)
    trees = Trees.of(attributes, schema)
    # A row's score moves by the noise in its leaf of each tree over what that leaf's rows hold against it.
    pull = max(balance[0] * balance[1], 0.05)
    held = [10**5 * pull / min(math.prod(sizes[a] + 1 for a in own), 8) + 1 for own in attributes]
    k_norm = choose_noise(policy, trees, policy.shares.fit).noise_std
    moved = sum((own / signal) ** 2 for own, signal in zip(k_norm, held, strict=True))
    sigma = math.sqrt(moved / sum(1 / signal**2 for signal in held))
    assert border(policy, trees, balance) == pytest.approx(math.sqrt(len(attributes)) / sigma, rel=1e-5)


def test_without_a_plan_noise_is_k_norm_whatever_delta_is():
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


@loop_over(("n_trees", "n_classes", "rows"), [(40, 2, 1), (25, 2, 1), (25, 2, 5), (40, 3, 1), (14, 3, 1), (40, 7, 2)])
def test_joint_noise_is_smaller_than_that_for_a_share_alone(n_trees, n_classes, rows):
    joint, _ = joint_of(n_trees=n_trees, n_classes=n_classes, rows=rows)
    alone = noise_of(n_trees=n_trees, n_classes=n_classes, epsilon=1.0 / rows)
    assert joint.noise_std.mean() < 0.95 * alone.noise_std.mean()
    if rows == 1:  # normal noise that a share has for itself is larger, too, however small its curvature
        assert joint.noise_std.mean() < sigma_alone(alone.fit, 0.1 * alone.fit, n_trees, n_classes, 1e-6)
        assert joint.noise_std.mean() < 0.95 * sigma_alone(alone.fit, joint.curvature, n_trees, n_classes, 1e-6)


@loop_over("rows", [1, 5])
def test_of_fourteen_trees_shared_noise_is_less_than_joint_noise_and_only_noise_of_their_own_is_more(rows):
    joint, _ = joint_of(n_trees=14, rows=rows)
    alone = noise_of(n_trees=14, epsilon=1.0 / rows)
    assert [len(group.trees) for group in alone.groups] == [14]
    each_its_own = 14 * math.sqrt(2) * float(alone.scales[0])
    assert 1.1 * alone.noise_std.mean() < joint.noise_std.mean() < 0.95 * each_its_own
    assert joint.noise_std.mean() < sigma_alone(rows * alone.fit, joint.curvature * rows, 14, 2, 1e-6)


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


def test_joint_noise_deviates_by_sigma_and_the_error_of_its_draw_is_bounded():
    chosen, _ = joint_of(n_trees=40, n_classes=3)
    receipt = chosen.event("weights", rows=1)
    assert_array_equal(chosen.noise_std, np.full(40, float(receipt.sigma)))
    assert 0 < chosen.draw(SeededNoise(1)).error <= chosen.public_error


@pytest.mark.parametrize(
    ("delta", "n_trees", "n_classes"), [(0, 3, 2), (0, 3, 3), (0, 2, 5), (0, 2, 30), (1e-5, 60, 2), (1e-5, 60, 3)]
)
def test_the_draw_has_the_deviation_and_the_error_that_the_law_says(delta, n_trees, n_classes):
    options = {"n_trees": n_trees, "n_classes": n_classes, "n_values": 200}
    chosen = joint_of(delta=delta, **options)[0] if delta else noise_of(**options)
    assert (chosen.sigma is not None) == bool(delta)
    drawn = chosen.draw(SeededNoise(1))
    assert drawn.values.shape == (n_trees * 201, chosen.n_columns)
    assert 0 < drawn.error <= chosen.public_error
    # Some thousands of values: a deviation is known to a few hundredths.
    for own, std in zip(np.split(drawn.values, n_trees), chosen.noise_std, strict=True):
        assert own.std() == pytest.approx(std, rel=0.3 if chosen.n_columns == 1 else 0.2)
    if 2 < n_classes <= 26 and not delta:
        assert np.abs(drawn.values.sum(axis=1)).max() <= n_classes * drawn.error


@loop_over("n_classes", [2, 3, 30])
def test_the_error_of_every_draw_is_bounded_before_it_is_drawn(n_classes):
    policy, trees = mixed(n_classes)
    chosen = choose_noise(policy, trees, policy.shares.fit)
    for seed in range(9):
        drawn = chosen.draw(SeededNoise(seed))
        assert 0 < drawn.error <= chosen.public_error
        assert drawn.values.shape == (53, chosen.n_columns)
    assert chosen.public_error < 1e-8 * chosen.noise_std.min()


@pytest.mark.parametrize("n_classes", [2, 3])
def test_shared_noise_has_the_deviation_and_every_draw_is_another(n_classes):
    chosen, n = noise_of(n_trees=4, n_classes=n_classes), 1000
    assert [group.is_shared for group in chosen.groups] == [True]
    noise = SeededNoise(2)
    drawn = np.array([chosen.draw(noise).values for _ in range(n)]).reshape(n, 4, 5, chosen.n_columns)
    squares = drawn.var(axis=2, ddof=1).mean(axis=(1, 2))
    # The stated deviation is off by a fortieth at most, its square by a twentieth.
    spread = 6 * squares.std() / math.sqrt(n)
    stated = chosen.noise_std[0] ** 2
    assert abs(squares.mean() - stated) < stated / 20 + spread
    for wrong in (0.8, 1.25):
        assert abs(wrong**2 * squares.mean() - stated) > stated / 20 + wrong**2 * spread


@pytest.mark.parametrize("n_classes", [2, 3, 30])
def test_a_receipt_tells_the_deviations_of_the_law(n_classes):
    policy, trees = mixed(n_classes)
    chosen = choose_noise(policy, trees, policy.shares.fit)
    receipt = chosen.event("weights", rows=1)
    assert_allclose(chosen.groups.deviations(receipt.linear), chosen.noise_std, rtol=1e-5)
    fewer = chosen.groups.deviations(receipt.linear * (1 + 1e-4))
    assert (np.abs(fewer / chosen.noise_std - 1) > 1e-5).all()


def test_the_law_of_an_empty_forest_has_no_columns_of_its_own():
    schema = Schema([Categorical("a", [1, 2])], classes=[5, 7, 9])
    assert ObjectiveNoise(Trees.of([], schema), 3, 1.0, 1.0).n_columns == 3
    assert ObjectiveNoise(Trees.of([], schema), 2, 1.0, 1.0).n_columns == 1
