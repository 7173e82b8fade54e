"""Channels of single fields: their local epsilon by hand and by full enumeration, their answers, their JSON."""

import itertools
import math
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from privet import Categorical, Numeric
from privet.errors import ChannelError, ParameterError
from privet.local.channels import added_noise
from privet.local.channels.added_noise import AddedNoise
from privet.local.channels.distributions import DISTRIBUTIONS, TOTAL_WEIGHT, Gaussian, Laplace, Uniform
from privet.local.channels.field_channel import Clear
from privet.local.channels.intervals import IntervalMembership
from privet.local.channels.kinds import KINDS, field_from_json
from privet.local.channels.randomized_response import RandomAnswer
from privet.schema.attribute import labels_of

AGE = Numeric("age", 20, 60)
EDGED = Numeric("income", 0, 100, edges=[10, 40])
JOB = Categorical("job", ["cook", "clerk", "none"])


def words(*values):
    return np.array(values, dtype=np.uint64)


def log(ratio):
    """Return the logarithm of a fraction to 40 digits."""
    with localcontext(prec=40):
        return (Decimal(ratio.numerator) / Decimal(ratio.denominator)).ln()


def exact_matrix(column):
    """Return the weight of every answer (a row) for every value (a column): every word of every value is followed."""
    distribution, reach = column.distribution, column.reach
    weights = np.diff([0, *map(int, distribution.upto), TOTAL_WEIGHT])
    outcomes = distribution.first + np.arange(len(weights))
    matrix = np.zeros((column.n_steps + 2 * reach + 1, column.n_steps + 1), dtype=object)
    for code in range(column.n_steps + 1):
        places = np.clip(code + outcomes, -reach, column.n_steps + reach) + reach
        np.add.at(matrix[:, code], places, weights)
    return matrix


def largest_ratio(matrix):
    """Return how much likelier an answer is for one value than for another, at most."""
    possible = matrix[matrix.max(axis=1) > 0]
    return max(Fraction(int(high), int(low)) for high, low in zip(possible.max(1), possible.min(1), strict=True))


# By hand


def test_three_quarters_of_two_answers_give_ln_3():
    assert RandomAnswer("owner", 2, 0.75).local_epsilon == pytest.approx(math.log(3), rel=2e-12)
    assert RandomAnswer("owner", 4, 0.5).local_epsilon == pytest.approx(math.log(3), rel=2e-12)


def test_a_true_answer_for_sure_has_no_epsilon():
    sure = RandomAnswer("owner", 2, 1.0)
    assert sure.local_epsilon == math.inf
    assert sure.answer_for(np.array([0, 1]), words(0, TOTAL_WEIGHT - 1)).tolist() == [0, 1]


@pytest.mark.parametrize(("range_", "scale"), [(40, 40), (40, 4), (40, 400), (40, 39_000)])
def test_laplace_noise_has_the_epsilon_of_range_over_scale(range_, scale):
    epsilon = AddedNoise(AGE, Laplace(scale)).local_epsilon
    assert epsilon == pytest.approx(range_ / scale, rel=2e-6)


def test_no_other_noise_has_an_epsilon():
    assert AddedNoise(AGE, Uniform(40)).local_epsilon == math.inf
    assert AddedNoise(AGE, Gaussian(40)).local_epsilon == math.inf
    assert IntervalMembership(AGE).local_epsilon == math.inf
    assert Clear(AGE).local_epsilon == math.inf


# By enumeration


@pytest.mark.parametrize("spread", [1 / 14, 1 / 8, 1 / 3, 1.0, 1.7])
def test_the_stated_epsilon_is_what_the_whole_matrix_shows_and_no_more(monkeypatch, spread):
    monkeypatch.setattr(added_noise, "GRID", 64)
    column = AddedNoise(AGE, Laplace(40 * spread))
    matrix = exact_matrix(column)
    assert column.n_steps == 64
    assert (matrix.sum(axis=0) == TOTAL_WEIGHT).all()
    assert (matrix > 0).all()
    shown = log(largest_ratio(matrix))
    assert shown <= Decimal(column.local_epsilon) <= shown * (1 + Decimal("3e-12"))


def test_the_enumeration_would_see_noise_cut_off_at_its_reach(monkeypatch):
    monkeypatch.setattr(added_noise, "GRID", 64)
    column = AddedNoise(AGE, Laplace(40))
    matrix = exact_matrix(column)
    matrix[0] = 0  # as if what is put on the border were thrown away, but for the value next to it
    matrix[0, 0] = 1
    with pytest.raises(ZeroDivisionError):
        largest_ratio(matrix)


@pytest.mark.parametrize("noise", [Uniform(11.0), Gaussian(9.0)], ids=lambda noise: noise.name)
def test_the_matrix_of_the_other_distributions_has_zeros_or_no_bound(monkeypatch, noise):
    monkeypatch.setattr(added_noise, "GRID", 64)
    matrix = exact_matrix(AddedNoise(AGE, noise))
    assert (matrix.sum(axis=0) == TOTAL_WEIGHT).all()
    assert (matrix == 0).any()


@pytest.mark.parametrize("n_answers", [2, 3, 17, 65_535])
def test_an_epsilon_asked_for_is_never_exceeded_and_hardly_missed(n_answers):
    for epsilon in [1e-9, 1e-3, 0.1, math.log(3), 1.0, 5.0, 12.0, 20.0, 30.0]:
        column = RandomAnswer.of_epsilon("job", n_answers, epsilon)
        exact = log(Fraction(column._kept, column._other))
        assert exact <= Decimal(column.local_epsilon) <= Decimal(epsilon)
        assert float(exact) == pytest.approx(epsilon, rel=1e-3 if epsilon > 20 else 2e-6, abs=1e-10)


def test_a_chance_of_keeping_next_to_guessing_is_still_stated_rightly():
    for n_answers in (3, 60_001):
        column = RandomAnswer("job", n_answers, math.nextafter(1 / n_answers, 1))
        ratio = Fraction(max(column._kept, column._other), min(column._kept, column._other))
        assert 0 <= log(ratio) <= Decimal(column.local_epsilon)


def test_the_tickets_of_an_answer_add_up():
    for keep in (0.34, 0.5, 0.9, 1 - 2.0**-53):
        weights = [int(weight) for weight in RandomAnswer("job", 3, keep).distribution.weights]
        assert sum(weights) == TOTAL_WEIGHT
        assert weights[1] == weights[2]
        assert weights[0] <= keep * TOTAL_WEIGHT  # rounded towards less to be learnt


# What people answer


def test_numbers_are_clipped_and_put_on_the_grid():
    column = AddedNoise(Numeric("x", 0, 4096), Uniform(100))
    assert column.step == 1.0
    numbers = np.array([-5.0, 0.0, 0.5, 1.5, 2.4, 4096.0, 9999.0, np.inf, -np.inf, np.nan])
    assert column.codes(numbers).tolist() == [0, 0, 0, 2, 2, 4096, 4096, 4096, 0, -1]


def test_an_answer_is_the_value_plus_what_was_drawn():
    column = AddedNoise(Numeric("x", 0, 4096), Uniform(100))
    middle, least, most = words(TOTAL_WEIGHT // 2, 0, TOTAL_WEIGHT - 1)
    assert column.answer_for(np.array([7, 7, 7]), words(middle, least, most)).tolist() == [7.0, -93.0, 107.0]
    assert np.isnan(column.answer_for(np.array([-1]), words(middle))).all()
    assert column.bounds == (-100.0, 4196.0)


def test_answers_with_laplace_noise_end_at_public_borders_for_everybody():
    column = AddedNoise(Numeric("x", 0, 4096), Laplace(1000))
    low, high = column.bounds
    assert (low, high) == (-12_000.0, 16_096.0)
    for code in (0, 4096):
        assert column.answer_for(np.array([code, code]), words(0, TOTAL_WEIGHT - 1)).tolist() == [low, high]


def test_wide_noise_has_a_coarser_grid():
    steps = [
        AddedNoise(AGE, Gaussian(40 * spread)).n_steps for spread in (0.5, 1, 1.99, 2, 4, 7.999999999999999, 64, 999)
    ]
    assert steps == [4096, 4096, 4096, 2048, 1024, 1024, 64, 64]


@pytest.mark.parametrize("scale", [0.03, 40_001.0])
def test_noise_out_of_proportion_is_refused(scale):
    with pytest.raises(ParameterError, match="'age' is out of proportion to its range; choose"):
        AddedNoise(AGE, Laplace(scale))


@pytest.mark.parametrize("bounds", [(0, 1e-322), (-1e306, 1e306)])
def test_ranges_at_the_ends_of_floating_point_are_refused(bounds):
    attribute = Numeric("x", *bounds, bins=1)
    with pytest.raises(ParameterError, match="out of proportion"):
        AddedNoise(attribute, Laplace((attribute.high - attribute.low) * 10))


@pytest.mark.parametrize("noise", [noise(12.0) for noise in DISTRIBUTIONS.values()], ids=lambda noise: noise.name)
def test_the_mass_of_cells_is_the_mean_over_the_value_s_cell(noise):
    column = AddedNoise(AGE, noise)
    true_edges, seen_edges = np.array([20.0, 30.0, 35.0, 60.0]), np.array([-np.inf, 0.0, 28.0, 33.0, 70.0, np.inf])
    mass = column.mass(true_edges, seen_edges)
    assert mass.shape == (5, 3)
    assert_allclose(mass.sum(axis=0), 1.0)
    for i, (low, high) in enumerate(itertools.pairwise(true_edges)):
        values = low + (high - low) * (np.arange(20_000) + 0.5) / 20_000
        below = noise.cdf(np.clip(seen_edges, -1e9, 1e9)[:, None] - values).mean(axis=1)
        assert_allclose(mass[:, i], np.diff(below), atol=1e-7)


def test_the_grid_has_the_mass_of_its_law():
    column = AddedNoise(AGE, Gaussian(10.0))
    distribution = column.distribution
    places = 40 + (distribution.first + np.arange(len(distribution.weights))) * column.step
    seen = np.array([0.0, 30.0, 40.0, 45.0, 80.0])
    share = [
        float(distribution.weights[(places >= a) & (places < b)].sum()) / TOTAL_WEIGHT
        for a, b in itertools.pairwise(seen)
    ]
    assert_allclose(share, column.mass(np.array([40.0, 40.0 + 1e-6]), seen)[:, 0], atol=1e-3)


def test_random_answers_go_round_the_circle_of_all_answers():
    column = RandomAnswer("job", 3, 0.5)
    codes, quarter = np.array([0, 1, 2]), TOTAL_WEIGHT // 4
    assert column.answer_for(codes, words(0, 0, 0)).tolist() == [0, 1, 2]
    assert column.answer_for(codes, words(*[TOTAL_WEIGHT // 2 + 9] * 3)).tolist() == [1, 2, 0]
    assert column.answer_for(codes, words(*[3 * quarter + 9] * 3)).tolist() == [2, 0, 1]
    assert_allclose(column.matrix, [[0.5, 0.25, 0.25], [0.25, 0.5, 0.25], [0.25, 0.25, 0.5]])


def test_a_missing_value_stays_missing_unless_it_is_an_answer():
    last = words(TOTAL_WEIGHT - 1)
    assert RandomAnswer("job", 3, 0.5).answer_for(np.array([3]), last).tolist() == [3]
    assert RandomAnswer("job", 4, 0.5, covers_missing=True).answer_for(np.array([3]), last).tolist() == [2]


def test_an_interval_answers_with_its_middle():
    assert IntervalMembership(EDGED).midpoints.tolist() == [5.0, 25.0, 70.0]
    assert IntervalMembership(EDGED).width(0.95) == pytest.approx(57.0)
    assert labels_of(EDGED) == [5.0, 25.0, 70.0]
    assert labels_of(JOB) == ["cook", "clerk", "none"]


@pytest.mark.parametrize(
    ("n_answers", "keep", "message"),
    [(3, 1 / 3, "a chance above 1/3"), (2, 0.5, "above 1/2"), (2, 1.01, "at most 1"), (2, math.nan, "above 1/2"),
     (2, "0.9", "above 1/2"), (2, True, "above 1/2"), (1, 0.9, "one possible answer, which hides nothing"),
     (2.0, 0.9, "whole number"), ("2", 0.9, "whole number")],
)  # fmt: skip
def test_answers_that_say_nothing_or_make_no_sense_are_refused(n_answers, keep, message):
    with pytest.raises(ParameterError, match=message):
        RandomAnswer("job", n_answers, keep)


@pytest.mark.parametrize("epsilon", [0.0, -1.0, 5e-324, 9.9e-10, 30.1, math.inf, math.nan])
def test_an_epsilon_out_of_range_is_refused(epsilon):
    sentence = "must be from 1e-09, which tells nothing, to 30, which hides nothing; change epsilon"
    with pytest.raises(ParameterError, match=sentence):
        RandomAnswer.of_epsilon("job", 3, epsilon)


# JSON

COLUMNS = [
    (Clear(JOB), JOB),
    (AddedNoise(AGE, Gaussian(7.0)), AGE),
    (AddedNoise(AGE, Laplace(7.5)), AGE),
    (IntervalMembership(EDGED), EDGED),
    (RandomAnswer("job", 3, 0.5), JOB),
    (RandomAnswer("age", 256, 0.25, covers_missing=True), AGE),
]


@pytest.mark.parametrize(("column", "attribute"), COLUMNS, ids=lambda part: getattr(part, "kind", ""))
def test_a_column_comes_back_from_its_json(column, attribute):
    assert field_from_json(column.to_json(), attribute) == column


@pytest.mark.parametrize(("column", "attribute"), COLUMNS, ids=lambda part: getattr(part, "kind", ""))
@pytest.mark.parametrize("damage", [None, "gone", -3, 2.5, [], {}, "laplace", math.nan, "\x1b[2J"])
def test_a_damaged_column_is_refused(column, attribute, damage):
    for key in column.to_json():
        data = column.to_json()
        before = data.pop(key)
        if damage != "gone":
            data[key] = damage
        if data.get(key) == before or (key, damage, column.kind) == ("channel", "laplace", "gaussian"):
            continue  # which says the same, or is another channel as good as this
        if key == "scale" and damage == 2.5:
            continue
        with pytest.raises(ChannelError, match="damaged|changed"):
            field_from_json(data, attribute)


@pytest.mark.parametrize("extra", [{"more": 1}, {"scale": 3.0}])
def test_a_column_with_something_added_is_refused(extra):
    with pytest.raises(ChannelError, match="changed"):
        field_from_json({**Clear(JOB).to_json(), **extra}, JOB)


def test_categories_take_no_noise():
    with pytest.raises(ChannelError, match="damaged"):
        field_from_json({"field": "job", "channel": "gaussian", "scale": 2.0}, JOB)


@pytest.mark.parametrize("changes", [{"answers": 4}, {"answers": 3.0}, {"covers_missing": 1}, {"covers_missing": True}])
def test_an_answer_that_does_not_fit_its_domain_is_refused(changes):
    with pytest.raises(ChannelError, match="changed|damaged"):
        field_from_json({**RandomAnswer("job", 3, 0.5).to_json(), **changes}, JOB)


def test_what_is_no_column_is_refused():
    for data in (None, [], "clear", 7):
        with pytest.raises(ChannelError, match="'job'"):
            field_from_json(data, JOB)
    assert_array_equal(field_from_json(RandomAnswer("job", 3, 1).to_json(), JOB).matrix, np.eye(3))


def test_every_kind_is_registered_under_the_names_that_its_json_has():
    assert list(KINDS) == ["clear", "uniform", "gaussian", "laplace", "intervals", "randomized_response"]
    assert {column.kind for column, _ in COLUMNS} <= set(KINDS)
    assert all(words for kind in KINDS.values() for words in kind.kinds.values())
