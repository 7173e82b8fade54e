"""Filtering noise out: what theory says it recovers, on columns that go together and on those that do not."""

import math

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from privet import Categorical, Numeric, Schema
from privet.errors import DataError
from privet.local import Channel, GaussianNoise, Intervals, RandomizedResponse, UniformNoise
from privet.local.measures.filtering import attack, best_linear, spectral

N = 40_000


def mean_square(guess, values):
    return np.mean((guess - values) ** 2, axis=0)


@pytest.fixture
def rng():
    return np.random.default_rng(7)


def test_two_equal_columns_halve_the_variance_of_the_noise(rng):
    values = np.repeat(rng.normal(5, 100, (N, 1)), 2, axis=1)
    answers = values + rng.normal(0, 3, (N, 2))
    for guess in (best_linear(answers, np.full(2, 9.0)), spectral(answers, np.full(2, 9.0))):
        assert mean_square(guess, values) == pytest.approx([4.5, 4.5], rel=0.03)


def test_k_equal_columns_with_different_noise_are_weighed_by_their_precision(rng):
    noise = np.array([4.0, 9.0, 36.0])
    values = np.repeat(rng.normal(0, 200, (N, 1)), 3, axis=1)
    answers = values + rng.normal(0, np.sqrt(noise), (N, 3))
    expected = 1 / np.sum(1 / noise)
    assert mean_square(best_linear(answers, noise), values) == pytest.approx([expected] * 3, rel=0.03)
    assert mean_square(spectral(answers, noise), values) == pytest.approx([expected] * 3, rel=0.03)


def test_a_single_column_is_drawn_to_its_mean(rng):
    values = rng.normal(50, 10, (N, 1))
    answers = values + rng.normal(0, 20, (N, 1))
    # Wiener: s^2 sigma^2 / (s^2 + sigma^2), with 100 and 400.
    assert mean_square(best_linear(answers, np.array([400.0])), values) == pytest.approx([80.0], rel=0.05)
    assert mean_square(spectral(answers, np.array([400.0])), values) == pytest.approx([400.0], rel=0.05)


def test_a_clear_column_gives_its_twin_away(rng):
    values = np.repeat(rng.normal(0, 10, (N, 1)), 2, axis=1)
    answers = values + np.column_stack([rng.normal(0, 20, N), np.zeros(N)])
    assert mean_square(best_linear(answers, np.array([400.0, 0.0])), values)[0] < 1.0


def test_noise_alone_leaves_the_mean(rng):
    answers = rng.normal(3, 5, (N, 4))
    for guess in (best_linear(answers, np.full(4, 25.0)), spectral(answers, np.full(4, 25.0))):
        assert np.abs(guess - 3).max() < 2


SCHEMA = Schema(
    [Numeric("a", 0, 1000), Numeric("b", 0, 1000), Numeric("c", 0, 1000), Categorical("d", ["u", "v"])],
    classes=["no", "yes"],
)


def rows(rng, n=N // 2):
    a = rng.uniform(200, 800, n)
    table = pd.DataFrame({"a": a, "b": 1000 - a, "c": rng.uniform(200, 800, n), "d": rng.choice(["u", "v"], n)})
    return table.assign(who=[f"person {i}" for i in range(n)], **{"class": rng.choice(["no", "yes"], n)})


def test_an_attack_on_clear_rows_compares_four_guesses(rng):
    channel = GaussianNoise(SCHEMA, scale=50).channel
    found = attack(rows(rng), channel, person="who")
    assert list(found) == ["a", "b", "c"]
    mean_error = 0.05 * math.sqrt(2 / math.pi)
    for name in ("a", "b"):
        assert found[name].answer == pytest.approx(mean_error, rel=0.03)
        # Two answers halve the noise, 2500; what is left is drawn to the mean of values that vary by 600^2 / 12.
        assert found[name].linear == pytest.approx(mean_error / math.sqrt(2 * (1 + 1_250 / 30_000)), rel=0.03)
        assert found[name].spectral == pytest.approx(mean_error / math.sqrt(2), rel=0.05)
        assert found[name].naive == pytest.approx(0.15, rel=0.03)  # a quarter of 600
        assert found[name].best == min(found[name].linear, found[name].spectral)
    assert found["c"].linear == pytest.approx(mean_error / math.sqrt(1 + 2_500 / 30_000), rel=0.03)


def test_a_twin_given_clear_or_in_intervals_is_used(rng):
    table = rows(rng)
    alone = attack(table, UniformNoise(SCHEMA, scale=800, columns=["a", "c"]).channel, person="who")
    beside = (
        UniformNoise(SCHEMA, scale=800, columns=["a", "c"]).channel | Intervals(SCHEMA, bins=50, columns=["b"]).channel
    )
    assert alone["a"].linear < 0.03
    assert attack(table, beside, person="who")["a"].linear < 0.03
    assert alone["c"].linear > 0.1


@pytest.mark.parametrize("make", [lambda t: t, pl.from_pandas, pa.Table.from_pandas], ids=["pandas", "polars", "arrow"])
def test_tables_of_any_make_with_missing_values(rng, make):
    table = rows(rng, 2_000)
    table.loc[::7, "a"] = np.nan
    found = attack(make(table), GaussianNoise(SCHEMA, scale=50).channel, person="who")
    assert found["a"].linear < found["a"].answer < found["a"].naive


def test_a_numpy_table(rng):
    schema = Schema(SCHEMA.attributes[:3], classes=["no", "yes"])
    found = attack(rows(rng)[["a", "b", "c"]].to_numpy(), GaussianNoise(schema, scale=50).channel)
    assert found["b"].linear < 0.9 * found["b"].answer


def test_constant_columns_do_no_harm(rng):
    table = rows(rng, 500).assign(b=7.0)
    found = attack(table, GaussianNoise(SCHEMA, scale=50, columns=["a", "b"]).channel, person="who")
    assert found["b"].naive == 0.0
    assert 0 < found["b"].linear < found["b"].answer


def test_nothing_is_found_where_there_is_no_noise_or_hardly_a_row(rng):
    assert attack(rows(rng, 100), Channel.clear(SCHEMA), person="who") == {}
    assert attack(rows(rng, 100), RandomizedResponse(SCHEMA, keep=0.9).channel, person="who") == {}
    assert attack(rows(rng, 19), GaussianNoise(SCHEMA, scale=50).channel, person="who") == {}
    assert attack(rows(rng, 50).assign(c=np.nan), GaussianNoise(SCHEMA, scale=50).channel, person="who") == {}


def test_a_table_without_a_field_is_refused(rng):
    with pytest.raises(DataError, match="lacks the column 'a'"):
        attack(rows(rng, 50).drop(columns="a"), GaussianNoise(SCHEMA, scale=50).channel, person="who")
