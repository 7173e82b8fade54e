"""The generator by hand, against a plain twin, and by statistics."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy import stats
from tests.loops import loop_over

from privet.datasets import agrawal
from privet.datasets.agrawal import group_of
from privet.errors import ParameterError

FUNCTIONS = [1, 2, 3, 4, 5]


def groups(function, **columns):
    """Return the groups as one word, such as "ABBA"."""
    return "".join(group_of(function, columns))


def test_function_1_puts_the_young_and_the_old_into_a():
    assert groups(1, age=[30, 39.9, 40, 50, 59.9, 60, 80]) == "AABBBAA"


@pytest.mark.parametrize(
    ("age", "salaries", "expected"),
    [
        (39, [49_999, 50_000, 100_000, 100_001], "BAAB"),
        (40, [74_999, 75_000, 125_000, 125_001], "BAAB"),
        (59, [50_000, 75_000, 125_000, 150_000], "BAAB"),
        (60, [24_999, 25_000, 75_000, 75_001], "BAAB"),
    ],
)
def test_function_2_has_one_salary_range_for_each_age(age, salaries, expected):
    assert groups(2, age=np.full(4, age), salary=salaries) == expected


@pytest.mark.parametrize(
    ("age", "salary", "by_elevel"),
    [
        (30, 30_000, "AABBB"),
        (30, 60_000, "AAAAB"),
        (30, 90_000, "BBAAB"),
        (50, 60_000, "BAAAB"),
        (50, 90_000, "BAAAA"),
        (50, 120_000, "BBBBA"),
        (70, 30_000, "BABBB"),
        (70, 60_000, "BAAAA"),
        (70, 90_000, "BBAAA"),
    ],
)
def test_function_3_reads_the_salary_range_off_age_and_education(age, salary, by_elevel):
    assert groups(3, age=np.full(5, age), salary=np.full(5, salary), elevel=np.arange(5)) == by_elevel


def test_function_4_weighs_income_against_the_loan():
    # 0.67 * 100K = 67K, less 10K: a loan of 285K takes exactly the remaining 57K.
    assert groups(4, salary=[100_000] * 3, commission=[0] * 3, loan=[284_000, 286_000, 500_000]) == "ABB"
    # 0.67 * (20K + 10K) = 20.1K: commission counts like salary.
    assert groups(4, salary=[20_000] * 2, commission=[10_000] * 2, loan=[50_000, 51_000]) == "AB"


def test_function_5_adds_equity_for_the_years_beyond_twenty():
    # Without equity 67K - 100K - 10K = -43K. A 500K house adds 0.2 * 0.1 * 500K = 10K for each year over 20.
    people = {"salary": [100_000] * 4, "commission": [0] * 4, "loan": [500_000] * 4, "hvalue": [500_000] * 4}
    assert groups(5, **people, hyears=[1, 20, 24, 25]) == "BBBA"


def plain_group(function, person):
    """Decide on one row with ordinary ifs; the intervals are kept in a table instead of in the condition."""
    age, k = person["age"], person["salary"] / 1000
    stage = "young" if age < 40 else "middle" if age < 60 else "old"
    if function == 1:
        return "B" if stage == "middle" else "A"
    if function == 2:
        low = {"young": 50, "middle": 75, "old": 25}[stage]
        return "A" if low <= k <= low + 50 else "B"
    if function == 3:
        lows = {
            "young": [25, 25, 50, 50, None],
            "middle": [None, 50, 50, 50, 75],
            "old": [None, 25, 50, 50, 50],
        }
        low = lows[stage][person["elevel"]]
        return "A" if low is not None and low <= k <= low + 50 else "B"
    rest = 0.67 * (person["salary"] + person["commission"]) - 0.2 * person["loan"] - 10_000
    if function == 5 and person["hyears"] > 20:
        rest += 0.2 * (0.1 * person["hvalue"] * (person["hyears"] - 20))
    return "A" if rest > 0 else "B"


@pytest.mark.parametrize("function", FUNCTIONS)
def test_groups_agree_with_the_plain_twin(function):
    data = agrawal(2000, function=function, random_state=function)
    assert set(data.y) == {"A", "B"}
    assert_array_equal(data.y, [plain_group(function, person) for person in data.X.to_dict("records")])


@pytest.fixture(scope="module")
def people():
    return agrawal(100_000, random_state=11).X


def test_values_lie_in_their_public_domains_and_reach_their_ends(people):
    schema = agrawal(0).schema
    assert schema.names == tuple(people.columns)
    for attribute in schema.attributes:
        column = people[attribute.name]
        if attribute.kind == "categorical":
            assert sorted(column.unique()) == list(attribute.categories)
        else:
            slack = 0.01 * (attribute.high - attribute.low)
            assert attribute.low <= column.min() <= attribute.low + slack
            assert attribute.high - slack <= column.max() <= attribute.high


def test_only_salaries_below_75k_have_a_commission(people):
    paid = people["commission"][people["salary"] < 75_000]
    assert paid.between(10_000, 75_000).all()
    assert (people["commission"][people["salary"] >= 75_000] == 0).all()


def test_house_values_grow_with_the_zipcode(people):
    for k, values in people.groupby("zipcode")["hvalue"]:
        assert values.between(k * 50_000, k * 150_000).all()
        assert uniform_p_value(values, k * 50_000, k * 150_000) > 1e-6
        assert uniform_p_value(values, k * 50_000, k * 160_000) < 1e-6


def uniform_p_value(values, low, high):
    return stats.kstest(values, "uniform", args=(low, high - low)).pvalue


@pytest.mark.parametrize(
    ("name", "low", "high"),
    [("salary", 20_000, 150_000), ("age", 20, 80), ("hyears", 1, 30), ("loan", 0, 500_000)],
)
def test_numbers_are_uniform_on_their_range_and_not_on_another(people, name, low, high):
    assert uniform_p_value(people[name], low, high) > 1e-6
    assert uniform_p_value(people[name], low, high + 0.05 * (high - low)) < 1e-6


@pytest.mark.parametrize("name", ["elevel", "car", "zipcode"])
def test_categories_are_equally_frequent_and_the_test_would_see_a_skew(people, name):
    counts = people[name].value_counts().to_numpy()
    assert stats.chisquare(counts).pvalue > 1e-6
    skewed = counts.copy()
    skewed[0] += counts[0] // 10
    assert stats.chisquare(skewed).pvalue < 1e-6


@pytest.mark.parametrize("function", FUNCTIONS)
@loop_over("n_rows", [0, 1, 2, 5, 1000])
def test_balanced_groups_differ_by_at_most_the_odd_one(function, n_rows):
    data = agrawal(n_rows, function=function, balanced=True, random_state=4)
    assert (data.y == "A").sum() == (n_rows + 1) // 2
    assert (data.y == "B").sum() == n_rows // 2
    assert_array_equal(data.y, group_of(function, data.X))


def test_balancing_keeps_the_distribution_inside_a_group():
    free, balanced = (agrawal(20_000, function=5, balanced=flag, random_state=8) for flag in (False, True))
    for group in "AB":
        salaries = [data.X["salary"][data.y == group] for data in (free, balanced)]
        assert stats.ks_2samp(*salaries).pvalue > 1e-6
    assert stats.ks_2samp(free.X["salary"], balanced.X["salary"]).pvalue < 1e-6


def test_balanced_rows_are_shuffled():
    first_half = agrawal(10_000, function=2, balanced=True, random_state=3).y[:5000]
    assert stats.binomtest(int((first_half == "A").sum()), 5000).pvalue > 1e-6


def test_a_seed_fixes_the_table_and_another_changes_it():
    first, again, other = (agrawal(50, balanced=True, random_state=seed).X for seed in (1, 1, 2))
    assert first.equals(again)
    assert not first.equals(other)


def test_the_schema_declares_groups_and_size():
    schema = agrawal(70, function=3).schema
    assert (schema.classes, schema.target, schema.rows) == (("A", "B"), "group", 70)
    assert agrawal(0).schema.rows is None
    assert not schema.leaks


def test_codes_are_integers_and_amounts_are_floats():
    kinds = agrawal(10).X.dtypes.map(lambda dtype: dtype.kind).to_dict()
    assert [name for name, kind in kinds.items() if kind == "i"] == ["elevel", "car", "zipcode"]
    assert set(kinds.values()) == {"i", "f"}


def test_no_rows_still_make_a_table():
    data = agrawal(0, function=5)
    assert data.X.shape == (0, 9)
    assert data.y.shape == (0,)


@pytest.mark.parametrize("n_rows", [-1, 2.5, True, "10", None])
def test_a_number_of_rows_that_is_none_is_refused(n_rows):
    with pytest.raises(ParameterError, match=r"n_rows=.* is not a number of rows; pass a whole number >= 0"):
        agrawal(n_rows)


@pytest.mark.parametrize("function", [0, 6, 1.0, True, "1", [1]])
def test_a_function_that_the_paper_does_not_have_is_refused(function):
    with pytest.raises(ParameterError, match=r"function=.* is not in agrawal2000; pass a whole number from 1 to 5"):
        agrawal(5, function=function)
    with pytest.raises(ParameterError, match="pass a whole number from 1 to 5"):
        group_of(function, {"age": [30]})
