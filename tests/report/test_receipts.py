"""Receipts read out."""

import math
from fractions import Fraction

import pytest

from privet.central.weights.released_weights import DIGITS, LATER_DIGITS
from privet.privacy import events
from privet.report.page.receipts import batch_epsilons, folded, receipts, single_releases

LAPLACE = events.DiscreteLaplace("class counts of leaves", 0.5, 10, Fraction(20))
ROWS = events.DiscreteLaplace("number of rows", 0.25, 1, Fraction(4))


def test_composition_stands_around_its_parts():
    event = events.Parallel((events.Sequential((ROWS, LAPLACE)), LAPLACE), because="no row is in two batches")
    read = list(receipts(event))
    assert [(r.depth, r.mechanism) for r in read] == [
        (0, "Parallel"), (1, "Sequential"), (2, "DiscreteLaplace"), (2, "DiscreteLaplace"), (1, "DiscreteLaplace"),
    ]  # fmt: skip
    assert [r.epsilon for r in read] == [0.75, 0.75, 0.25, 0.5, 0.5]
    assert read[0].what == "no row is in two batches"


def test_a_release_tells_its_noise():
    (read,) = receipts(LAPLACE)
    assert (read.sensitivity, read.scale, read.what) == (10, 20.0, "class counts of leaves")
    assert read.standard_deviation == pytest.approx(math.sqrt(2) * 20, rel=1e-3)


def test_gaussian_noise_tells_the_root_of_its_squared_sensitivity():
    (read,) = receipts(events.DiscreteGaussian("counts", 0.5, 9, Fraction(3)))
    assert (read.sensitivity, read.scale, read.epsilon) == (3.0, 3.0, math.inf)


def test_shares_of_noise_are_named_and_tell_the_noise_of_all_of_them():
    (read,) = receipts(events.NoiseShares("counts", 0.5, 10, Fraction(20), honest=3, parties=4))
    assert (read.name, read.sensitivity, read.scale) == ("discrete Laplace noise in shares", 10, 20.0)
    assert read.standard_deviation == pytest.approx(math.sqrt(2 * 4 / 3) * 20, rel=1e-3)


def test_shares_of_those_who_stay_tell_the_noise_of_those_who_are_counted():
    (read,) = receipts(events.SurvivingNoiseShares("counts", 0.5, 10, Fraction(20), 6, 7, roster=10, dropouts=3))
    assert (read.name, read.epsilon) == ("discrete Laplace noise in shares", 0.5)
    assert read.standard_deviation == pytest.approx(math.sqrt(2 * 7 / 6) * 20, rel=1e-3)


def test_a_choice_has_no_noise_of_a_value():
    (read,) = receipts(events.PermuteAndFlip("a split", 1.0, 1, 5, False, Fraction(1, 2)))
    assert read.standard_deviation is None


def test_single_releases_leave_the_wrappers_out():
    event = events.Sequential((events.Seeded(ROWS), LAPLACE, events.NoNoise("counts")))
    assert [r.what for r in single_releases(event)] == ["number of rows", "class counts of leaves", "counts"]


def test_equal_parts_stand_on_one_line_wherever_they_stand():
    choice = events.PermuteAndFlip("split attributes", 0.25, 1, 5, True, Fraction(1, 4))
    event = events.Sequential((LAPLACE, choice, ROWS, choice, choice))
    assert [(times, r.mechanism, r.depth) for times, r in folded(event)] == [
        (1, "Sequential", 0), (1, "DiscreteLaplace", 1), (3, "PermuteAndFlip", 1), (1, "DiscreteLaplace", 1),
    ]  # fmt: skip


def test_equal_compositions_are_folded_with_what_is_in_them():
    batch = events.Sequential((ROWS, LAPLACE))
    event = events.Parallel((batch, batch, LAPLACE), because="no row is in two batches")
    lines = [(times, r.depth, r.what) for times, r in folded(event)]
    assert lines == [
        (1, 0, "no row is in two batches"), (2, 1, ""), (1, 2, "number of rows"), (1, 2, "class counts of leaves"),
        (1, 1, "class counts of leaves"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("event", "words"),
    [
        (events.Seeded(LAPLACE), "discrete Laplace noise, from a seed and so not secret"),
        (events.Unproven(LAPLACE, "nobody knows"), "discrete Laplace noise, epsilon not proven"),
        (
            events.Unproven(events.Seeded(LAPLACE), "nobody knows"),
            "discrete Laplace noise, from a seed and so not secret, epsilon not proven",
        ),
    ],
)
def test_a_release_that_does_not_keep_to_its_price_is_one_line_with_both(event, words):
    (read,) = receipts(event)
    assert (read.name, read.what) == (words, "class counts of leaves")
    assert (read.epsilon, read.asked) == (math.inf, 0.5)
    assert read.standard_deviation == pytest.approx(math.sqrt(2) * 20, rel=1e-3)


def test_batches_cost_what_their_parts_cost():
    batches = (events.Sequential((ROWS, LAPLACE)), LAPLACE, events.Seeded(LAPLACE))
    assert batch_epsilons(events.Parallel(batches, because="")) == [0.75, 0.5, math.inf]
    assert batch_epsilons(events.Sequential((ROWS, LAPLACE))) == [0.75]


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        (events.KNormObjective, "K-norm noise in the objective"),
        (events.ObjectivePerturbation, "Laplace noise in the objective"),  # of earlier files
    ],
)
def test_noise_in_an_objective_has_its_name_and_its_price(kind, name):
    (read,) = receipts(kind("leaf weights", 0.9, 0.5, 0.1, 2, 1))
    assert (read.name, read.epsilon, read.delta) == (name, 0.9, 0.0)
    assert (read.sensitivity, read.scale, read.standard_deviation) == (None, None, None)


def test_releases_accounted_for_together_have_one_price_and_the_fit_none_of_its_own():
    fit = events.NormalObjective("leaf weights", Fraction(42), 0.46, 32, 2, 512, 1)
    around, rows, read = receipts(events.Jointly((ROWS, fit), 1.0, 1e-5))
    assert (around.name, around.epsilon, around.delta) == ("the same rows: one epsilon and delta for all", 1.0, 1e-5)
    assert (rows.epsilon, rows.delta) == (0.25, 0.0)
    assert (read.name, read.epsilon, read.scale) == ("normal noise in the objective", None, 42.0)
    (_, seeded) = receipts(events.Jointly((events.Seeded(fit),), 1.0, 1e-5))
    assert (seeded.epsilon, seeded.asked) == (math.inf, None)


def test_normal_noise_in_an_objective_costs_epsilon_at_a_delta():
    event = events.GaussianObjective("leaf weights", 0.47, 1e-5, Fraction(42), 0.46, 32, 2, 512)
    (read,) = receipts(event)
    assert (read.name, read.epsilon, read.scale) == ("normal noise in the objective", 0.47, 42.0)
    assert read.delta >= 1e-5
    (around, *_) = receipts(events.Sequential((ROWS, event)))
    assert around.epsilon == pytest.approx(0.72)
    assert around.delta == read.delta


@pytest.mark.parametrize("stage", [DIGITS, LATER_DIGITS])
def test_last_digits_of_either_stage_are_in_steps(stage):
    (read,) = receipts(events.DiscreteLaplace(stage, 0.01, 500, Fraction(50_000)))
    assert read.is_fine
