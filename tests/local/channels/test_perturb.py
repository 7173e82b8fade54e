"""People's answers: fixed once, alike for tables of any make, and silent about what was true."""

import math

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from numpy.testing import assert_array_equal
from pandas.testing import assert_frame_equal
from scipy.stats import chisquare

from privet import Categorical, Numeric, Schema
from privet.errors import ChannelError, DataError, ParameterError, PrivacyLeakWarning, SchemaError
from privet.local import (
    Channel,
    GaussianNoise,
    Intervals,
    LaplaceNoise,
    RandomizedResponse,
    RecordComplement,
    Secret,
    UniformNoise,
    perturb,
)
from privet.local.channels.perturb import Respondents
from tests.local.people import SCHEMA, channels, people, same_secret

CHANNELS = channels()
TABLE = people(200)


def answers(table, channel, secret=None):
    return perturb(table, channel, same_secret() if secret is None else secret, person="name")


@pytest.mark.parametrize("name", CHANNELS)
def test_asking_twice_gives_the_same_answers(name):
    assert_frame_equal(answers(TABLE, CHANNELS[name]), answers(TABLE, CHANNELS[name]))


@pytest.mark.parametrize("name", CHANNELS)
def test_a_person_s_answer_depends_on_nobody_else(name):
    shuffled = TABLE.sample(frac=0.5, random_state=7)
    expected = answers(TABLE, CHANNELS[name]).loc[shuffled.index].reset_index(drop=True)
    assert_frame_equal(answers(shuffled, CHANNELS[name]), expected, check_dtype=False)


def test_another_secret_or_person_answers_differently():
    table = TABLE.assign(age=50.0)
    ages = answers(table, CHANNELS["laplace"])["age"]
    assert ages.nunique() > 190
    assert (answers(table, CHANNELS["laplace"], Secret())["age"] != ages).mean() > 0.9


def test_a_changed_value_is_a_new_answer():
    before, after = (answers(TABLE.assign(age=age), CHANNELS["uniform"])["age"] - age for age in (50.0, 60.0))
    assert (np.abs(before - after) > 1e-6).mean() > 0.9


def test_without_a_person_column_the_same_table_gives_the_same_answers():
    table = TABLE.drop(columns="name")
    first, again = (perturb(table, CHANNELS["mixed"], same_secret()) for _ in range(2))
    assert_frame_equal(first, again)


def test_without_a_person_column_rows_at_one_place_of_two_tables_share_no_noise():
    table = TABLE.drop(columns="name").assign(age=50.0)
    other = table.assign(job=table["job"].iloc[::-1].to_numpy())
    first, second = (perturb(rows, CHANNELS["uniform"], same_secret())["age"] for rows in (table, other))
    assert (np.abs(first - second) > 1e-6).mean() > 0.9


def test_a_table_in_batches_gives_the_answers_of_the_whole():
    people_in_batches = Respondents(CHANNELS["mixed"], same_secret(), "name")
    batches = [people_in_batches.answer(TABLE[start : start + 70]) for start in range(0, 200, 70)]
    ages = np.concatenate([batch["age"] for batch in batches])
    assert_array_equal(ages, answers(TABLE, CHANNELS["mixed"])["age"])


def test_the_person_leaves_with_no_answer():
    for channel in CHANNELS.values():
        assert "name" not in answers(TABLE, channel).columns


# Makes of tables


@pytest.mark.parametrize("name", CHANNELS)
@pytest.mark.parametrize("make", ["polars", "arrow"])
def test_tables_of_any_make_give_the_same_answers(name, make):
    expected = answers(TABLE, CHANNELS[name])
    table = {"polars": pl.from_pandas, "arrow": pa.Table.from_pandas}[make](TABLE)
    given = answers(table, CHANNELS[name])
    assert type(given) is type(table)
    lists = given.to_dict(as_series=False) if make == "polars" else given.to_pydict()
    assert lists == {column: [None if pd.isna(v) else v for v in values] for column, values in expected.items()}


def test_a_numpy_table_comes_back_as_one():
    schema = Schema([Numeric("a", 0, 10), Numeric("b", 0, 1, bins=2)], classes=[5, 9])
    channel = UniformNoise(schema, scale=2.0, columns=["a"]).channel
    rows = np.array([[1.0, 0.2], [np.nan, 0.9], [30.0, np.nan]])
    given = perturb(rows, channel, same_secret())
    named = perturb(pd.DataFrame(rows, columns=["a", "b"]), channel, same_secret())
    assert given.dtype == np.float64
    assert_array_equal(given, named.to_numpy())
    assert_array_equal(given[:, 1], rows[:, 1])
    assert np.isnan(given[1, 0])
    assert 8 <= given[2, 0] <= 12  # clipped first


def test_an_index_of_a_pandas_table_does_not_leave():
    table = TABLE.set_index(pd.Index(TABLE["income"], name="pay"))
    assert answers(table, CHANNELS["mixed"]).index.equals(pd.RangeIndex(200))


def test_one_secret_tells_people_apart_in_one_way():
    secret, table = Secret(), TABLE.drop(columns="name")
    perturb(table, CHANNELS["mixed"], secret)
    perturb(table, CHANNELS["mixed"], secret)
    for rows, person in ((table[1:], None), (TABLE, "name")):
        with pytest.raises(ChannelError, match="told apart in another way.*or take a new secret for other people"):
            perturb(rows, CHANNELS["mixed"], secret, person=person)


def test_a_table_without_names_is_answered_through_one_channel_whatever_its_fields_are_called():
    secret, ages = Secret(), np.array([[30.0], [44.0]])
    schemas = [Schema([Numeric(name, 0, 100)], classes=[5, 9]) for name in ("age", "years")]
    perturb(ages, GaussianNoise(schemas[0], privacy=1.0).channel, secret)
    with pytest.raises(ChannelError, match="told apart in another way"):
        perturb(ages, GaussianNoise(schemas[1], privacy=1.0).channel, secret)


def test_whole_numbers_name_people_in_any_spelling():
    table = TABLE.assign(name=np.arange(200))
    expected = answers(table, CHANNELS["mixed"])
    for names in (np.arange(200.0), [str(i) for i in range(200)]):
        assert_frame_equal(answers(table.assign(name=names), CHANNELS["mixed"]), expected)


def test_people_are_not_named_by_lists():
    with pytest.raises(DataError, match="holds nested values, and persons are identified by text or whole numbers"):
        answers(TABLE.assign(name=[[i] for i in range(200)]), CHANNELS["mixed"])


def test_a_value_that_is_no_answer_is_refused_where_it_would_show():
    table = TABLE.assign(job="pirate")
    with pytest.raises(DataError, match="'job' has values that are not among its categories, and would show"):
        answers(table, CHANNELS["randomized"])
    given = answers(table, CHANNELS["randomized, missing covered"])["job"]
    assert 0.4 < given.isna().mean() < 0.8  # a missing value like any other, kept with chance 0.6


# Fields


def test_clear_fields_are_given_as_they_are():
    given = answers(TABLE, CHANNELS["mixed"])
    for column in ("income", "job", "rooms"):
        assert given[column].equals(TABLE[column]) or given[column].tolist() == TABLE[column].tolist()
    assert given["smoker"].tolist() != TABLE["smoker"].tolist()


def test_a_missing_value_stays_missing_and_visible():
    for name in ("uniform", "gaussian", "laplace", "intervals", "randomized"):
        assert_array_equal(answers(TABLE, CHANNELS[name])["age"].isna(), TABLE["age"].isna())
    unknown = ~TABLE["job"].isin(SCHEMA.attributes[2].categories)
    assert_array_equal(answers(TABLE, CHANNELS["randomized"])["job"].isna(), unknown)


def test_a_missing_value_that_is_covered_does_not_show():
    given = answers(people(3000), CHANNELS["randomized, missing covered"])
    was_missing = people(3000)["age"].isna()
    # Of the present ones a tenth is given as missing, of the missing ones four in ten as present.
    assert given["age"].isna()[~was_missing].mean() == pytest.approx(0.1, abs=0.03)
    assert given["age"].isna()[was_missing].mean() == pytest.approx(0.6, abs=0.15)


def test_intervals_give_the_middle_of_the_cell():
    schema = Schema([Numeric("a", 0, 100, edges=[10, 40])], classes=[5, 9])
    rows = np.array([[-5.0], [9.99], [10.0], [39.0], [40.0], [500.0], [np.nan]])
    given = perturb(rows, Intervals(schema).channel, same_secret())
    assert_array_equal(given[:, 0], [5.0, 5.0, 25.0, 25.0, 70.0, 70.0, np.nan])


def test_a_flipped_record_has_every_bit_flipped_and_the_label_with_them():
    schema = Schema([Categorical("a", ["u", "v", "w", "x"]), Categorical("b", ["p", "q"])], classes=["no", "yes"])
    table = pd.DataFrame({"a": ["v"] * 2000, "b": "q", "class": "no"})
    with pytest.warns(PrivacyLeakWarning, match="the channel always keeps whole records: these answers are the clear"):
        kept = RecordComplement(schema, theta=1.0, label=True).fit().transform(table)
    mixed = RecordComplement(schema, theta=0.7, label=True).fit().transform(table)
    assert list(mixed.columns) == ["a:0", "a:1", "b:0", "class"]
    true, mirror = tuple(kept.iloc[0]), (*(1 - kept.iloc[0, :3]), "yes")
    assert set(map(tuple, mixed.to_numpy())) == {true, mirror}
    assert (mixed["class"] == "no").mean() == pytest.approx(0.7, abs=0.06)


def test_a_label_is_copied_or_disturbed_or_absent():
    table = TABLE.drop(columns="smoker")
    assert "smoker" not in answers(table, CHANNELS["mixed"]).columns
    assert answers(TABLE, CHANNELS["uniform"])["smoker"].tolist() == TABLE["smoker"].tolist()
    with pytest.raises(DataError, match="flips the label too; add the column 'smoker'"):
        answers(table, CHANNELS["records with label"])


# By distribution


def test_random_answers_follow_the_matrix_and_no_other():
    schema = Schema([Categorical("a", ["u", "v", "w"])], classes=[5, 9])
    table = pd.DataFrame({"a": ["v"] * 20_000})
    given = perturb(table, RandomizedResponse(schema, keep=0.5).channel, Secret())["a"].value_counts()[["u", "v", "w"]]
    for keep, fits in [(0.5, True), (0.55, False), (0.45, False)]:
        expected = 20_000 * RandomizedResponse(schema, keep=keep).channel.columns[0].matrix[:, 1]
        assert (chisquare(given, expected).pvalue > 1e-6) == fits


def test_answers_to_different_fields_are_independent():
    schema = Schema([Numeric("a", 0, 1), Numeric("b", 0, 1)], classes=[5, 9])
    rows = np.full((20_000, 2), 0.5)
    given = perturb(rows, LaplaceNoise(schema, epsilon=2).channel, Secret())
    assert abs(np.corrcoef(given.T)[0, 1]) < 6 / math.sqrt(20_000)


# What is refused


def test_a_second_channel_for_a_field_is_refused():
    secret = Secret()
    answers(TABLE, CHANNELS["uniform"], secret)
    answers(TABLE, CHANNELS["uniform"], secret)
    with pytest.raises(ChannelError, match="'age' was answered through another channel"):
        answers(TABLE, CHANNELS["gaussian"], secret)


@pytest.mark.parametrize(("first", "second"), [("records", "uniform"), ("uniform", "records")])
def test_a_record_and_its_fields_are_not_both_asked_for(first, second):
    secret = Secret()
    answers(TABLE, CHANNELS[first], secret)
    with pytest.raises(ChannelError, match="another channel"):
        answers(TABLE, CHANNELS[second], secret)


def refusals():
    twice = TABLE.assign(name=["the same secret name"] * 200)
    nobody = TABLE.assign(name=[None, *TABLE["name"][1:]])
    words = TABLE.assign(age=["very old"] * 200)
    label = TABLE.assign(smoker="sometimes secretly")
    return {
        "the same person twice; give each person one row": (twice, "mixed"),
        "'name' has missing values, and every row must belong to a person; drop those rows": (nobody, "mixed"),
        "'age' holds text, but the schema calls it continuous": (words, "mixed"),
        "labels that are not in the schema's classes": (label, "mixed"),
        "lacks the column 'age'": (TABLE.drop(columns="age"), "mixed"),
        "lacks the column 'name'": (TABLE.drop(columns="name"), "mixed"),
    }


@pytest.mark.parametrize("message", refusals())
def test_what_does_not_fit_is_refused_without_a_value_or_a_number(message):
    table, name = refusals()[message]
    with pytest.raises(DataError, match=message) as error:
        answers(table, CHANNELS[name])
    for told in ("the same secret name", "very old", "sometimes secretly", "200", "person 1"):
        assert told not in str(error.value)


def test_arguments_that_make_no_sense_are_refused():
    with pytest.raises(ParameterError, match="secret must be a Secret; make one with"):
        perturb(TABLE, CHANNELS["mixed"], b"key", person="name")
    with pytest.raises(ParameterError, match="person='age' is a field of the schema"):
        perturb(TABLE, CHANNELS["mixed"], Secret(), person="age")
    with pytest.raises(SchemaError, match="'smoker' is in the schema"):
        perturb(TABLE, CHANNELS["mixed"], Secret(), person="smoker")


def test_a_clear_channel_gives_everything_as_it_is():
    given = answers(TABLE, Channel.clear(SCHEMA))
    assert_frame_equal(given, TABLE.drop(columns="name"), check_dtype=False)


def test_what_is_no_channel_secret_or_column_is_refused_in_words():
    channel = CHANNELS["mixed"]
    for arguments, sentence in (
        ((3, Secret()), "channel must be a Channel; load a published one"),
        ((channel, "my.key"), "secret must be a Secret; make one with"),
    ):
        with pytest.raises(ParameterError, match=sentence):
            perturb(TABLE, *arguments, person="name")
    with pytest.raises(ParameterError, match="person=3 must be the name of a column; write it as text"):
        perturb(TABLE, channel, Secret(), person=3)
    with pytest.raises(ParameterError, match="a channel is loaded from the path of a file; pass that"):
        Channel.load(3)
    with pytest.raises(ParameterError, match=r"columns must be a list of names; write \['age'\]"):
        _ = GaussianNoise(SCHEMA, privacy=1.0, columns="age").channel


def test_a_limit_of_the_owner_is_kept_before_the_secret_remembers_anything(tmp_path):
    channel = RandomizedResponse(SCHEMA, epsilon=2, label=True).channel
    secret, table = Secret(tmp_path / "my.key"), people(20)
    before = (tmp_path / "my.key").read_bytes()
    with pytest.raises(ParameterError, match=r"costs epsilon = 2.0, more than the limit of 1; ask for one"):
        perturb(table, channel, secret, person="name", max_epsilon=1)
    with pytest.raises(ParameterError, match="gives smoker, age, income and 3 more without any bound"):
        perturb(table, Channel.clear(SCHEMA), secret, person="name", max_epsilon=1)
    with pytest.raises(ParameterError, match="gives smoker, the record as a whole without any bound"):
        perturb(table, RecordComplement(SCHEMA, theta=0.7).channel, secret, person="name", max_epsilon=30)
    for wrong in (0, -1, float("nan"), "1", True):
        with pytest.raises(ParameterError, match="max_epsilon=.* must be a number above 0"):
            perturb(table, channel, secret, person="name", max_epsilon=wrong)
    assert (tmp_path / "my.key").read_bytes() == before
    assert len(perturb(table, channel, secret, person="name", max_epsilon=2)) == 20


def test_what_may_be_given_clear_has_to_be_named():
    channel = RandomizedResponse(SCHEMA, epsilon=1, label=True, columns=SCHEMA.names[1:]).channel
    assert channel.total_epsilon() == np.inf
    assert channel.total_epsilon(["age"]) == 1
    with pytest.raises(ParameterError, match="gives age without any bound"):
        perturb(people(5), channel, Secret(), person="name", max_epsilon=1)
    assert len(perturb(people(5), channel, Secret(), person="name", max_epsilon=1, clear=["age"])) == 5
    with pytest.raises(ParameterError, match="clear must be a list of names"):
        perturb(people(5), channel, Secret(), person="name", max_epsilon=1, clear="age")
