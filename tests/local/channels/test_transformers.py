"""The six transformers: what their parameters mean, and that scikit-learn can handle them."""

import math

import numpy as np
import pandas as pd
import pytest
from pandas.testing import assert_frame_equal
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline

from privet import Categorical, Numeric, Schema
from privet.errors import ParameterError, SchemaError
from privet.local import (
    GaussianNoise,
    Intervals,
    LaplaceNoise,
    RandomizedResponse,
    RecordComplement,
    Secret,
    UniformNoise,
)
from tests.local.people import SCHEMA, people, same_secret

NUMBERS = Schema([Numeric("a", 0, 100), Numeric("b", 0, 10)], classes=["no", "yes"])
WORDS = Schema([Categorical("a", ["u", "v"]), Categorical("b", ["p", "q", "r"])], classes=[5, 7, 9])
ALL = [
    UniformNoise(SCHEMA, privacy=0.5),
    GaussianNoise(SCHEMA, privacy=0.5),
    LaplaceNoise(SCHEMA, epsilon=1),
    Intervals(SCHEMA, bins=5),
    RandomizedResponse(SCHEMA, epsilon=5),
    RecordComplement(SCHEMA, theta=0.8),
]
TABLE = people(60)


def scales(transformer):
    return [column.noise.scale for column in transformer.channel.columns]


@pytest.mark.parametrize("transformer", ALL, ids=lambda t: type(t).__name__)
def test_scikit_learn_can_clone_fit_and_ask_again(transformer):
    fresh = clone(transformer).set_params(person="name", secret=same_secret())
    given = fresh.fit(TABLE).transform(TABLE)
    assert fresh.channel_ == fresh.channel
    assert_frame_equal(given, fresh.transform(TABLE))
    assert_frame_equal(given, make_pipeline(clone(fresh)).fit_transform(TABLE))


@pytest.mark.parametrize("transformer", ALL, ids=lambda t: type(t).__name__)
def test_nothing_is_learnt_from_rows_and_parameters_stay(transformer):
    fresh = clone(transformer).set_params(person="name")
    before = fresh.get_params()
    assert fresh.fit(TABLE).channel_ == clone(fresh).fit(people(30, seed=8)).channel_ == fresh.fit().channel_
    assert fresh.get_params() == before
    assert fresh.secret is None


def test_without_a_secret_every_fit_draws_anew():
    noise = UniformNoise(SCHEMA, privacy=1.0, columns=["income"], person="name")
    first, second = (noise.fit().transform(TABLE)["income"] for _ in range(2))
    assert (first != second).mean() > 0.9


def test_before_fit_there_is_a_channel_and_no_answer():
    assert ALL[0].channel.disturbed == ("age", "income")
    with pytest.raises(NotFittedError):
        clone(ALL[0]).transform(TABLE)


def test_privacy_is_the_width_at_95_per_cent_as_a_share_of_the_range():
    assert scales(UniformNoise(NUMBERS, privacy=1.0)) == pytest.approx([50 / 0.95, 5 / 0.95])
    assert scales(GaussianNoise(NUMBERS, privacy=1.0)) == pytest.approx([100 / 3.919928, 10 / 3.919928])
    assert scales(LaplaceNoise(NUMBERS, privacy=0.5)) == pytest.approx(
        [50 / (2 * math.log(20)), 5 / (2 * math.log(20))]
    )
    assert scales(UniformNoise(NUMBERS, privacy=1.0, confidence=0.5)) == pytest.approx([100, 10])
    assert scales(GaussianNoise(NUMBERS, scale=7)) == [7.0, 7.0]


def test_an_epsilon_is_shared_out_over_the_columns_and_never_exceeded():
    for epsilon in (0.0021, 0.1, 1, 10, 40):
        channel = LaplaceNoise(NUMBERS, epsilon=epsilon).channel
        assert epsilon * (1 - 1e-5) < channel.local_epsilon <= epsilon
        assert channel.columns[0].local_epsilon == pytest.approx(epsilon / 2, rel=1e-5)
    for epsilon in (0.01, 3.0, 20.0):
        channel = RandomizedResponse(WORDS, epsilon=epsilon, label=True).channel
        assert epsilon * (1 - 1e-6) < channel.local_epsilon <= epsilon
        assert [column.local_epsilon for column in (*channel.columns, channel.label)] == pytest.approx(
            [epsilon / 3] * 3
        )


def test_the_widest_noise_still_keeps_its_epsilon():
    one = NUMBERS.with_attributes(NUMBERS.attributes[:1])
    assert LaplaceNoise(one, epsilon=0.00101).channel.local_epsilon <= 0.00101


def test_intervals_by_bins_by_declaration_and_by_privacy():
    assert Intervals(NUMBERS, bins=4).channel.columns[0].midpoints.tolist() == [12.5, 37.5, 62.5, 87.5]
    declared = Schema([Numeric("a", 0, 100, edges=[50])], classes=[5, 9])
    assert Intervals(declared).channel.columns[0].midpoints.tolist() == [25.0, 75.0]
    # 19 intervals of which 95 % are as wide as 5 % of the range.
    assert Intervals(NUMBERS, privacy=0.05).channel.columns[0].attribute.bins == 19
    assert Intervals(NUMBERS, privacy=0.05).channel.columns[0].width(0.95) == pytest.approx(5.0)


def test_randomized_response_cuts_numbers_into_cells_and_may_cover_missing_values():
    channel = RandomizedResponse(SCHEMA, keep=0.75, bins=6, covers_missing=True).channel
    assert [column.n_answers for column in channel.columns] == [7, 5, 4, 4, 3]
    assert RandomizedResponse(SCHEMA, keep=0.75).channel.columns[0].n_answers == 4


def test_only_the_columns_named_are_disturbed():
    assert UniformNoise(SCHEMA, privacy=1, columns=["income"]).channel.disturbed == ("income",)
    assert RandomizedResponse(SCHEMA, keep=0.9, columns=["owner", "job"]).channel.disturbed == ("job", "owner")


REFUSED = {
    "give exactly one of scale or privacy": lambda: UniformNoise(NUMBERS),
    "give exactly one of scale or privacy:": lambda: GaussianNoise(NUMBERS, scale=1, privacy=1),
    "give exactly one of scale, privacy or epsilon": lambda: LaplaceNoise(NUMBERS, scale=1, epsilon=1),
    "give exactly one of epsilon or keep": lambda: RandomizedResponse(WORDS),
    "give bins or privacy, not both": lambda: Intervals(NUMBERS, bins=3, privacy=0.5),
    "'a' declares no cells; pass bins": lambda: Intervals(NUMBERS),
    "privacy=0 must be above 0": lambda: UniformNoise(NUMBERS, privacy=0),
    "confidence=1 must lie between 0 and 1": lambda: UniformNoise(NUMBERS, privacy=1, confidence=1),
    "epsilon=-1 must be above 0": lambda: LaplaceNoise(NUMBERS, epsilon=-1),
    "epsilon=0 must be above 0": lambda: RandomizedResponse(WORDS, epsilon=0),
    "privacy='much' must be above 0": lambda: UniformNoise(NUMBERS, privacy="much"),
    "privacy='much' must lie between 0 and 1": lambda: Intervals(NUMBERS, privacy="much"),
    "confidence='high' must lie between 0 and 1": lambda: GaussianNoise(NUMBERS, privacy=1, confidence="high"),
    "epsilon='1' must be above 0": lambda: LaplaceNoise(NUMBERS, epsilon="1"),
    "epsilon=True must be above 0": lambda: RandomizedResponse(WORDS, epsilon=True),
    "change keep='0.9'": lambda: RandomizedResponse(WORDS, keep="0.9"),
    "the chance of keeping a record, None, must be above 1/2": lambda: RecordComplement(WORDS, theta=None),
    "coding must be a Coding": lambda: RecordComplement(WORDS, coding=WORDS),
    "out of proportion": lambda: UniformNoise(NUMBERS, scale=1e6),
    "kept with a chance above 1/2": lambda: RandomizedResponse(WORDS, keep=0.4),
    "no attribute 'c'": lambda: UniformNoise(NUMBERS, scale=1, columns=["c"]),
    "disturbs numbers only; leave categories out": lambda: UniformNoise(SCHEMA, privacy=1, columns=["job"]),
    "no column for UniformNoise": lambda: UniformNoise(WORDS, privacy=1),
    "above 1/2 and at most 1": lambda: RecordComplement(WORDS, theta=0.5),
}


@pytest.mark.parametrize("message", REFUSED)
def test_parameters_that_make_no_sense_are_refused_by_fit_and_not_before(message):
    transformer = REFUSED[message]()
    with pytest.raises(ParameterError, match=message):
        transformer.fit()


def test_a_schema_is_needed_and_two_classes_to_flip_a_label():
    with pytest.raises(SchemaError, match="needs a Schema; load one"):
        UniformNoise("infer", privacy=1).fit()
    with pytest.raises(SchemaError, match="only where there are two classes"):
        RecordComplement(WORDS, label=True).fit()


def test_a_transformer_remembers_its_channel_through_the_secret(tmp_path):
    secret = Secret(tmp_path / "secret.json")
    UniformNoise(NUMBERS, privacy=1, secret=secret).fit().transform(np.ones((3, 2)))
    again = UniformNoise(NUMBERS, privacy=2, secret=Secret(tmp_path / "secret.json")).fit()
    with pytest.raises(ValueError, match="'a' was answered through another channel"):
        again.transform(pd.DataFrame({"a": [1.0], "b": [2.0]}))
