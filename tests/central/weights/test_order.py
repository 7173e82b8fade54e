"""Weights kept in order while they are fitted: what it costs, its derivatives, and where the minimiser then lies."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from privet.central.weights.certificate import bounded_gradient
from privet.central.weights.minimiser import certified_minimiser
from privet.central.weights.order import Order
from privet.central.weights.trees import Axis, Trees
from tests.central.weights.problems import KINDS, exact_gradient, farthest, plain_value, problem, random_weights
from tests.loops import loop_over

# Three leaves of a number and one of missing values.
LINE = Trees(((Axis(0, 3, "own"),),))
ONE_KNOT_LESS = Trees(((Axis(0, 9, "own", (0, 4, 8), 4), Axis(1, 2, "own")),))


def order_of(trees, directions, slack=None, held=1.0):
    return Order.of(trees, directions, slack or {}, held=held)


def with_order(objective, directions, held=30.0, slack=None):
    return replace(objective, order=order_of(objective.trees, directions, slack, held))


def plain_cost(order, weights):
    far = [
        max(0.0, weights[a, 0] - weights[b, 0] - s)
        for a, b, s in zip(order.lower, order.upper, order.slack, strict=True)
    ]
    return order.strength / 2 * sum(each**2 for each in far)


def test_pairs_by_hand():
    up, down = order_of(LINE, {0: 1}), order_of(LINE, {0: -1})
    # Missing values have no place in the order.
    assert (up.lower.tolist(), up.upper.tolist()) == ([0, 1], [1, 2])
    assert (down.lower.tolist(), down.upper.tolist()) == ([1, 2], [0, 1])
    # Eight times what rows hold, as a power of two that is no smaller.
    assert order_of(LINE, {0: 1}, held=3.0).strength == 32.0
    assert order_of(LINE, {0: 1}, held=1e12).strength == 2.0**22
    assert order_of(LINE, {1: 1}) is None


def test_pairs_of_a_tree_of_two_attributes_are_along_lines_of_one():
    # Leaves of the number, missing ones included, times two categories and their missing ones: 4 x 3 leaves.
    order = order_of(ONE_KNOT_LESS, {0: 1}, {0: [0.25, 0.5]})
    pairs = sorted(zip(order.lower.tolist(), order.upper.tolist(), order.slack.tolist(), strict=True))
    assert pairs == [(0, 3, 0.25), (1, 4, 0.25), (2, 5, 0.25), (3, 6, 0.5), (4, 7, 0.5), (5, 8, 0.5)]


def test_cost_and_derivatives_by_hand():
    order = order_of(LINE, {0: 1}, {0: [0.0, 1.0]}, held=0.5)
    assert order.strength == 8.0
    weights = np.array([[3.0], [1.0], [0.5], [9.0]])
    # The first pair is 2 out of order, the second half a unit, which is allowed.
    assert order.broken(weights).tolist() == [True, False]
    assert order.gradient(weights).ravel().tolist() == [16.0, -16.0, 0.0, 0.0]
    assert order.hessian_product(weights, np.array([[1.0], [0.0], [5.0], [7.0]])).ravel().tolist() == [8.0, -8.0, 0, 0]
    hessian = np.zeros((4, 4))
    order.add_hessian(weights, hessian)
    assert hessian[:2, :2].tolist() == [[8.0, -8.0], [-8.0, 8.0]]
    assert not hessian[2:].any()


@loop_over("seed", range(8))
@loop_over("kind", KINDS)
def test_derivatives_are_those_of_the_cost(seed, kind):
    objective = with_order(problem(seed, kind=kind), {0: 1, 2: -1})
    order, weights = objective.order, random_weights(objective, seed)
    step = 1e-6 * random_weights(objective, seed + 100)
    rise = plain_cost(order, weights + step) - plain_cost(order, weights - step)
    assert rise == pytest.approx(2 * float((order.gradient(weights) * step).sum()), rel=1e-6)
    turn = order.gradient(weights + step) - order.gradient(weights - step)
    np.testing.assert_allclose(turn, 2 * order.hessian_product(weights, step), atol=1e-9)
    hessian = np.zeros((len(weights),) * 2)
    order.add_hessian(weights, hessian)
    np.testing.assert_allclose(hessian @ step, order.hessian_product(weights, step), atol=1e-12)


def exact_order(order, weights, rest):
    """Return the gradient of the cost in fractions."""
    exact = [Fraction(a) + Fraction(b) for a, b in zip(weights[:, 0].tolist(), rest[:, 0].tolist(), strict=True)]
    sums = [Fraction(0)] * len(exact)
    for low, high, slack in zip(order.lower.tolist(), order.upper.tolist(), order.slack.tolist(), strict=True):
        far = max(Fraction(0), exact[low] - exact[high] - Fraction(slack)) * Fraction(order.strength)
        sums[low] += far
        sums[high] -= far
    return sums


@loop_over("seed", range(6))
@loop_over("kind", KINDS)
def test_its_parts_add_up_to_the_exact_gradient_within_the_stated_error(seed, kind):
    objective = with_order(problem(seed, kind=kind), {0: -1, 2: 1}, held=1e5, slack={0: [0.3]})
    weights = random_weights(objective, seed, size=10.0 ** (seed - 3))
    rest = weights * 2.0**-54 * np.random.default_rng(seed).uniform(-1, 1, weights.shape)
    parts, error = objective.order.parts(weights, rest)
    for i, exact in enumerate(exact_order(objective.order, weights, rest)):
        assert abs(sum(Fraction(float(part[i, 0])) for part in parts) - exact) <= Fraction(error)
    assert error < 1e-20 * objective.order.strength * max(1.0, np.abs(weights).max())


@loop_over("kind", KINDS)
def test_the_certificate_holds_with_an_order_and_fails_without_its_parts(kind):
    plain = problem(3, kind=kind, n_rows=25)
    objective = with_order(plain, {0: 1, 2: 1})
    weights = random_weights(plain, 5)
    rest = np.zeros_like(weights)
    assert objective.order.broken(weights).any()
    found, silent = bounded_gradient(objective, weights, rest), bounded_gradient(plain, weights, rest)
    wanted = exact_order(objective.order, weights, rest)
    with_parts = [[line[0] + _decimal(more)] for line, more in zip(exact_gradient(plain, weights), wanted, strict=True)]
    assert farthest(found.values, with_parts) <= found.error
    assert farthest(silent.values, with_parts) > 1e6 * silent.error


def _decimal(value):
    from decimal import Decimal, localcontext

    with localcontext() as context:
        context.prec = 60
        return Decimal(value.numerator) / Decimal(value.denominator)


@loop_over("seed", range(2))
@loop_over("kind", KINDS)
def test_nothing_near_the_minimiser_is_lower(seed, kind):
    plain = problem(seed, kind=kind, noise=4.0, n_rows=20)
    objective = with_order(plain, {0: 1, 2: -1}, held=4.0)
    found, free = (certified_minimiser(each, 1e-8, noise_error=0.0)[0] for each in (objective, plain))

    def value(weights):
        return plain_value(plain, weights) + plain_cost(objective.order, weights)

    lowest = value(found)
    assert value(free) > lowest + 0.01
    for i in range(6):
        assert value(found + 10.0 ** (i % 3 - 3) * random_weights(objective, i)) > lowest


@loop_over("seed", range(15))
@loop_over("kind", KINDS)
def test_every_problem_is_certified_however_strong_noise_and_order_are(seed, kind):
    rng = np.random.default_rng(seed)
    noise, held = 10.0 ** rng.uniform(-1, 3), 10.0 ** rng.uniform(0, 6)
    objective = with_order(problem(seed, kind=kind, noise=noise, variance=2.0), {0: 1, 2: -1}, held=held)
    weights, rest = certified_minimiser(objective, 1e-8, noise_error=0.0)
    assert bounded_gradient(objective, weights, rest).largest <= 1e-8


def test_weights_out_of_order_come_nearly_into_it_and_would_not_otherwise():
    plain = problem(1, noise=8.0)
    ordered = with_order(plain, {0: 1}, held=1e4)
    free, kept = (certified_minimiser(each, 1e-8, noise_error=0.0)[0][:4, 0] for each in (plain, ordered))
    assert np.diff(free).min() < -0.1
    assert np.diff(kept).min() > -1e-3
