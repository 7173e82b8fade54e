"""What releases cost together: by hand, by quadrature in many digits, and with faults that quadrature catches."""

import itertools
import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from privet.central.weights.policy import MOST_WEIGHTS
from privet.privacy.mechanisms import joint_loss
from privet.privacy.mechanisms.joint_loss import Stage, joint_delta, largest_mu
from privet.privacy.mechanisms.objective_perturbation import NORMAL_DEFECT, NormalLoss, gaussian_delta
from tests.loops import loop_over

PRECISE = mpmath.MPContext()
PRECISE.dps = 40

# A fit's other releases, as shares of epsilon: class balance, eight choices, histograms, last digits.
USUAL = (0.05, *[0.025] * 8, 0.05, 0.01)


def usual(epsilon):
    return [share * epsilon for share in USUAL]


def delta_of(epsilon, pure, *fits, n_numbers=1):
    return joint_delta(epsilon, pure, fits, n_numbers=n_numbers)


def tail_of(x):
    return PRECISE.erfc(x / PRECISE.sqrt(2)) / 2


# By hand.


def test_pure_releases_alone_cost_the_mean_of_what_randomized_response_exceeds_epsilon_by():
    # A loss of 1 with probability 1 / (1 + 1 / e) exceeds 1/2 by 1/2.
    assert delta_of(0.5, [1.0]) == pytest.approx(0.5 / (1 + math.exp(-1)), rel=1e-8)
    # Of two losses of 1/2, both must be up to exceed 3/4, by 1/4.
    assert delta_of(0.75, [0.5, 0.5]) == pytest.approx(0.25 / (1 + math.exp(-0.5)) ** 2, rel=1e-3)
    assert delta_of(0.75, [0.5, 0.25]) < 1e-3


def test_a_fit_without_curvature_costs_what_a_normal_variate_exceeds_epsilon_by():
    # X ~ N(0.02, 0.2^2): E max(0, X - 0.5) = 0.2 (density - u tail) at u = 2.4.
    expected = 0.2 * (math.exp(-(2.4**2) / 2) / math.sqrt(2 * math.pi) - 2.4 * math.erfc(2.4 / math.sqrt(2)) / 2)
    found = delta_of(0.5, [], NormalLoss(0.2, 0.0, 2))
    assert expected <= found <= 1.01 * expected
    assert gaussian_delta(0.5, 0.2) < found < 1.1 * gaussian_delta(0.5, 0.2)


def test_the_chance_of_a_loss_by_hand():
    # mu 0.2 and curvature 0.5: mean 0.02 and bend 0.48. A loss of 0.12 is that of X = 2 sqrt(0.48 * 0.12) - 0.48 = 0.
    two = NormalLoss(0.2, 0.5, 2).tail(np.array([0.0, 0.12, 0.48, 0.62]))
    assert_allclose(two, [float(tail_of(z)) for z in (-2.5, -0.1, 2.3, 3.0)], rtol=1e-12)
    # Nothing is above a curvature of next to nothing but the variate itself, once for each other class.
    assert_allclose(NormalLoss(0.2, 0.0, 4).tail(np.array([0.62])), [3 * float(tail_of(3.0))], rtol=1e-12)


def test_with_more_classes_the_least_of_three_bounds_counts():
    mu, curvature = 0.2, 0.2
    half, room, x = 0.02, 0.19, 0.9
    first = 2 * tail_of((x - half - 0.1) / mu)
    pairs = 2 * tail_of((x - half) / mu) + tail_of((x - half - room) / (mu * PRECISE.sqrt(0.75)))
    threes = 2 * tail_of((x - half) / mu) + 2 * tail_of(
        (x - half - room * 2 / 3) / (mu * PRECISE.sqrt(7 / PRECISE.mpf(9)))
    )
    (found,) = NormalLoss(mu, curvature, 3).tail(np.array([x]))
    assert found == pytest.approx(float(min(first, pairs, threes)), rel=1e-12)
    assert threes < pairs < first
    # With four other classes, one of three is drawn alone in 4 ways, two in 12, three in 4.
    small = NormalLoss(mu, 1e-9, 5).tail(np.array([0.9]))
    assert small[0] == pytest.approx(4 * float(tail_of((x - half) / mu)), rel=1e-6)


def test_a_unit_of_several_rows_costs_what_one_row_of_so_much_more_does():
    several = NormalLoss.of(Fraction(50), 0.1, n_trees=4, n_classes=3, rows=5)
    assert several == pytest.approx((5 * math.sqrt(8) / 50, 0.5, 3))
    assert largest_mu(1.0, 1e-6, usual(1.0), [Stage(0.1, 2, rows=5)]) == pytest.approx(
        largest_mu(1.0, 1e-6, usual(1.0), [Stage(0.5, 2)]) / 5, rel=1e-5
    )


def test_discrete_noise_costs_a_little_more_for_every_number():
    extra = delta_of(1.0, [], NormalLoss(0.2, 0.5, 2), n_numbers=10**9) - delta_of(1.0, [], NormalLoss(0.2, 0.5, 2))
    assert extra == pytest.approx((10**9 - 1) * NORMAL_DEFECT * (1 + math.e), rel=1e-6)


def test_a_plan_covers_all_numbers_that_a_forest_may_have():
    assert joint_loss._MOST_NUMBERS >= MOST_WEIGHTS


@pytest.mark.parametrize(
    ("epsilon", "pure", "fits"),
    [(1.0, [2.1], []), (1.0, [1e-6] * 9000, []), (1.0, [], [(3.0, 0.1, 2)]), (1.0, [], [(0.1, 40.0, 2)]),
     (1.0, [], [(0.1, 0.1, 2)] * 4), (1.0, [], [(math.inf, 0.1, 2)]), (1.0, [], [(0.1, math.inf, 3)]),
     (5e-324, [5e-324], [])],
    ids=["pure", "many", "little noise", "curvature", "fits", "no noise", "no prior", "no epsilon"],
)  # fmt: skip
def test_what_the_grid_cannot_tell_promises_nothing(epsilon, pure, fits):
    assert delta_of(epsilon, pure, *[NormalLoss(*fit) for fit in fits]) == 1.0


def test_what_no_noise_can_pay_for_has_no_mu():
    assert largest_mu(1.0, 1e-6, [1.01], [Stage(0.1, 2)]) is None
    assert largest_mu(1.0, 1e-6, [], [Stage(4.0, 2)]) is None
    assert largest_mu(1.0, 1e-15, [], [Stage(0.1, 2)]) is None  # the discrete noise of so many numbers alone costs more


# By twin: sums over all outcomes of the pure releases, of integrals in 40 digits.


def exact_excess(epsilon, pure, mu, curvature):
    """Return E max(0, A + sum of pure losses - epsilon) for two classes."""
    mu, curvature = PRECISE.mpf(mu), PRECISE.mpf(curvature)
    half = mu**2 / 2
    bend = max(curvature - half, PRECISE.mpf(0))

    def worst(x):
        return x if x >= bend else (x + bend) ** 2 / (4 * bend) if x > -bend else PRECISE.mpf(0)

    def mean_excess(t):
        ends = sorted(
            {-bend, bend, t, half - 14 * mu, half + 14 * mu} | ({2 * PRECISE.sqrt(bend * t) - bend} if t > 0 else set())
        )
        ends = [end for end in ends if half - 14 * mu <= end <= half + 14 * mu]
        return PRECISE.quad(lambda x: PRECISE.npdf(x, half, mu) * max(worst(x) - t, PRECISE.mpf(0)), ends)

    total = PRECISE.mpf(0)
    for ups in itertools.product((1, -1), repeat=len(pure)):
        chance = PRECISE.fprod(1 / (1 + PRECISE.exp(-up * PRECISE.mpf(own))) for up, own in zip(ups, pure, strict=True))
        total += chance * mean_excess(
            PRECISE.mpf(epsilon) - sum(up * PRECISE.mpf(own) for up, own in zip(ups, pure, strict=True))
        )
    return total


@pytest.mark.parametrize("epsilon", [0.5, 2.0])
@pytest.mark.parametrize("mu", [0.1, 0.25])
@pytest.mark.parametrize("curvature", [0.0, 0.5, 1.1])
def test_delta_is_never_below_the_integral_and_hardly_above_it(epsilon, mu, curvature):
    pure = [0.11 * epsilon, 0.05 * epsilon, 0.1 * epsilon]
    exact = exact_excess(epsilon, pure, mu * epsilon, curvature * epsilon)
    assert exact <= delta_of(epsilon, pure, NormalLoss(mu * epsilon, curvature * epsilon, 2)) <= 1.06 * exact + 1e-15


@settings(deadline=None, max_examples=100)
@given(
    st.floats(1e-4, 3.0), st.floats(0.0, 3.0), st.sampled_from([2, 3, 4, 9]), st.floats(0.0, 12.0), st.integers(1, 9),
)  # fmt: skip
def test_chances_are_right_to_eleven_digits(mu, curvature, n_classes, deviations, rows):
    loss = NormalLoss(rows * mu, rows * curvature, n_classes)
    at = min(loss.reach(deviations), loss.reach(12.0))
    (found,) = loss.tail(np.array([at]))
    assert found == pytest.approx(
        float(precise_tail(*map(PRECISE.mpf, (loss.mu, loss.curvature, n_classes, at)))), rel=2e-12
    )


def precise_tail(mu, curvature, n_classes, x):
    half, n = mu**2 / 2, int(n_classes) - 1

    def variate(bend):
        return x if x >= bend else 2 * PRECISE.sqrt(bend * x) - bend

    if n == 1:
        return tail_of((variate(max(curvature - half, 0)) - half) / mu)
    first = n * tail_of((variate(max(curvature * (n + 1) / n - half, 0)) - half - curvature * (n - 1) / n) / mu)
    room, bounds = max(curvature - half / 2, PRECISE.mpf(0)), [first, PRECISE.mpf(1)]
    for draws in (2, 3):
        chances = PRECISE.mpf(0)
        for drawn in itertools.combinations_with_replacement(range(n), draws):
            alike = sum(PRECISE.mpf(drawn.count(c)) ** 2 for c in set(drawn)) / draws**2
            mean = half + room * (1 - alike) * draws / (draws - 1)
            chances += tail_of((variate(2 * room) - mean) / (mu * PRECISE.sqrt((1 + alike) / 2)))
        bounds.append(chances)
    return min(bounds)


def plain_delta(epsilon, pure, fits, *, n_cells=400_000, reach=4.0):
    """Return E max(0, sum - epsilon) on a fine grid of losses, all rounded to the nearest: neither above nor below."""
    step = 2 * reach * epsilon / n_cells

    def transform(losses, chances):
        law = np.zeros(n_cells)
        np.add.at(law, np.rint(losses / step).astype(int) % n_cells, chances)
        return np.fft.rfft(law)

    cells = step * np.arange(n_cells // 2)
    spectrum = np.ones(n_cells // 2 + 1, dtype=complex)
    for own in pure:
        up = 1 / (1 + math.exp(-own))
        spectrum = spectrum * transform(np.array([own, -own]), [up, 1 - up])
    for fit in fits:
        tails = fit.tail(cells)
        spectrum = spectrum * transform(cells, -np.diff(tails, prepend=1.0))
    law, losses = np.fft.irfft(spectrum, n_cells), step * np.arange(n_cells)
    losses = np.where(losses < reach * epsilon, losses, losses - 2 * reach * epsilon)
    return float((law * np.maximum(losses - epsilon, 0.0)).sum())


TWO_FITS = [NormalLoss(0.17, 0.4, 2), NormalLoss(0.12, 0.3, 2)]


@pytest.mark.parametrize(
    "fits", [TWO_FITS[:1], TWO_FITS, [NormalLoss(0.15, 0.1, 3), NormalLoss(0.1, 0.1, 3)], [*TWO_FITS, TWO_FITS[0]]],
    ids=["one fit", "two fits", "three classes", "three fits"],
)  # fmt: skip
def test_all_releases_of_several_fits_cost_what_the_law_of_their_sum_says(fits):
    plain = plain_delta(1.0, usual(1.0), fits)
    assert plain * 0.999 <= delta_of(1.0, usual(1.0), *fits) <= 1.08 * plain


@loop_over("epsilon", [0.1, 0.5, 1.0, 4.0])
@loop_over("n_classes", [2, 3, 7])
def test_the_largest_mu_costs_delta_and_hardly_more_is_too_dear(epsilon, n_classes):
    stages = [Stage(0.12 * epsilon, n_classes, rows=2, share=share) for share in (0.7, 0.3)]
    mu = largest_mu(epsilon, 1e-6, usual(epsilon), stages)
    assert mu is not None

    def cost(factor):
        return delta_of(epsilon, usual(epsilon), *[stage.loss(mu * factor) for stage in stages], n_numbers=MOST_WEIGHTS)

    assert cost(1.0) <= 1e-6 < cost(1.0001)


# Faults that the integral catches.


@pytest.mark.parametrize(
    "fault",
    [lambda mu, v, pure: (mu / 2, v, pure),  # the trees forgotten: sqrt(4) is missing in mu
     lambda mu, v, pure: (mu, 0.0, pure),  # the determinant forgotten
     lambda mu, v, pure: (mu, v, [])],  # the pure releases not counted
    ids=["trees", "determinant", "pure releases"],
)  # fmt: skip
def test_a_price_that_forgets_something_is_below_the_integral(fault):
    epsilon, pure, mu, curvature = 1.0, [0.1, 0.1, 0.1], 0.2, 1.4
    exact = exact_excess(epsilon, pure, mu, curvature)
    believed_mu, believed_curvature, believed_pure = fault(mu, curvature, pure)
    assert delta_of(epsilon, believed_pure, NormalLoss(believed_mu, believed_curvature, 2)) < 0.8 * exact
    assert delta_of(epsilon, pure, NormalLoss(mu, curvature, 2)) >= exact


@pytest.mark.parametrize(
    "fit", [NormalLoss(1e200, 1e200, 3), NormalLoss(1e200, math.inf, 2), NormalLoss(0.1, math.inf, 3)]
)
def test_a_fit_beyond_all_floats_promises_nothing_beside_others_too(fit):
    modest = NormalLoss(0.1, 0.1, 2)
    for epsilon in (1.0, 1e308):
        for fits in ([fit], [fit, modest], [modest, fit]):
            assert joint_delta(epsilon, [], fits, n_numbers=1) == 1.0


def test_no_epsilon_is_too_large_for_the_search():
    assert largest_mu(1e300, 1e-6, [1.0], [Stage(1e300, 2)]) is None
