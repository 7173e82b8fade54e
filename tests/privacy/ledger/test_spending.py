"""What costs come to, by hand."""

import math
from fractions import Fraction

import pytest

from privet.errors import ParameterError
from privet.privacy.accounting import epsilon_from_rho
from privet.privacy.events import DiscreteGaussian, DiscreteLaplace, NoNoise, Sequential
from privet.privacy.ledger.spending import Budget, Cost, Expense


def spread(*costs, part=None):
    return [Expense(cost, part) for cost in costs]


def test_amounts_add_up_as_people_write_them():
    budget = Budget(0.5)
    tenths = spread(*[Cost(0.1)] * 5)
    assert budget.spent(tenths) == 0.5
    assert budget.allows(tenths)
    assert not budget.allows([*tenths, *spread(Cost(1e-9))])
    assert budget.left(tenths[:2]) == 0.3
    assert budget.left(tenths) == 0.0


def test_what_is_left_can_be_spent_to_the_last_digit():
    budget = Budget(1.0)
    for amount in (1 / 3, 0.1 + 0.2, math.pi / 7):
        left = budget.left(spread(Cost(amount)))
        assert budget.allows(spread(Cost(amount), Cost(left)))
        assert not budget.allows(spread(Cost(amount), Cost(math.nextafter(left, 1.0)), Cost(1e-15)))


def test_parts_compose_in_parallel_and_with_what_is_about_all():
    budget = Budget(3.0)
    expenses = [
        *spread(Cost(1.0)),
        *spread(Cost(0.5), Cost(0.25), part="january"),
        *spread(Cost(0.5), part="march"),
    ]
    assert budget.spent(expenses) == 1.75
    assert budget.spent(expenses, "january") == 1.75
    assert budget.spent(expenses, "march") == 1.5
    assert budget.spent(expenses, "may") == 1.0
    assert budget.left(expenses) == 1.25
    assert budget.left(expenses, "may") == 2.0


def test_a_pure_budget_takes_no_delta_and_no_infinite_cost():
    assert not Budget(3.0).allows(spread(Cost(1.0, 1e-9)))
    assert not Budget(3.0).allows(spread(Cost(math.inf)))
    assert not Budget(3.0, 1e-6).allows(spread(Cost(math.inf)))


def test_a_budget_with_delta_takes_the_better_of_two_compositions():
    budget = Budget(2.0, 1e-6)
    many = spread(*[Cost(0.01)] * 1000)  # added up 10; through rho 1000 * 0.01^2 / 2 = 0.05
    assert budget.spent(many) == pytest.approx(epsilon_from_rho(0.05, 5e-7), rel=1e-9)
    assert budget.spent(many) < 2.0
    assert budget.spent(many[:3]) == 0.03
    assert Budget(20.0).spent(many) == 10.0


def test_releases_with_a_delta_have_half_of_it_and_compose_by_adding_up():
    budget = Budget(5.0, 1e-6)
    assert budget.spent(spread(Cost(0.5, 5e-7), Cost(0.25))) == 0.75
    assert budget.spent(spread(Cost(0.5, 5e-7), Cost(0.5, 1e-9))) == math.inf
    many = spread(Cost(0.5, 1e-9), *[Cost(0.01)] * 1000)
    assert budget.spent(many) == 10.5


def test_an_analyst_who_picks_the_composition_by_the_outcome_gains_no_delta():
    # Four randomised answers at 0.125; if all say yes one more at 0.1765, else a release that fails with delta 0.02.
    # Were both routes given all of delta, P(S) - e^0.5 Q(S) would come to 0.0254 > 0.02.
    budget = Budget(0.5, 0.02)
    answers = spread(*[Cost(0.1249999)] * 4)
    assert not budget.allows([*answers, *spread(Cost(1e-9, 0.02))])
    assert budget.allows([*answers, *spread(Cost(1e-9, 0.01))])


def test_a_release_without_any_privacy_can_be_recorded_and_leaves_nothing():
    for budget in (Budget(1.0), Budget(1.0, 1e-6)):
        for amount in (math.inf, 1e200):
            assert budget.spent(spread(Cost(amount))) == amount
            assert budget.left(spread(Cost(amount))) == 0.0


@pytest.mark.parametrize("amounts", [(-5.0,), (math.nan,), (1.0, -0.1), (1.0, 1.0), (1.0, 0.0, -1.0)])
def test_what_is_no_cost_is_refused(amounts):
    with pytest.raises(ParameterError, match="is no cost; epsilon is at least 0, delta below 1, and rho finite or"):
        Cost(*amounts)


def test_a_cost_covers_another_in_every_respect_or_not_at_all():
    reserved = Cost(1.0, 1e-6, rho=0.01)
    assert reserved.covers(Cost(0.5, 1e-6, rho=0.01))
    assert not reserved.covers(Cost(1.1))
    assert not reserved.covers(Cost(0.5, 1e-5, rho=0.01))
    assert not reserved.covers(Cost(0.5, 1e-6, rho=0.02))
    assert Cost(1.0, 1e-6).covers(Cost(0.5, 1e-6, rho=0.02))


def test_what_is_left_of_a_budget_with_delta_fits_and_a_little_more_does_not():
    budget = Budget(2.0, 1e-6)
    expenses = spread(*[Cost(0.05)] * 40)
    left = budget.left(expenses)
    assert left > 0
    assert budget.allows([*expenses, *spread(Cost(left))])
    assert not budget.allows([*expenses, *spread(Cost(left + 1e-6))])


def test_receipts_are_charged_for_what_they_prove():
    laplace = DiscreteLaplace("counts", 0.5, 1, Fraction(2))
    gaussian = DiscreteGaussian("counts", 0.02, 1, Fraction(5))
    assert Cost.of(laplace, 1e-6) == Cost(0.5)
    both = Cost.of(Sequential((laplace, gaussian)), 1e-6)
    assert both.rho == pytest.approx(0.5**2 / 2 + 1 / 50)
    assert both == Cost(epsilon_from_rho(both.rho, 1e-6), 1e-6, both.rho)
    assert Cost.of(NoNoise("counts"), 0.0).epsilon == math.inf
