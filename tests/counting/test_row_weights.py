"""Rows that count for more or less than others, up to a declared maximum."""

import math

import numpy as np
import pytest
from scipy.stats import binom

from privet import Categorical, PrivateForestClassifier, PrivateRDTClassifier, Schema
from privet.counting.rows import RowWeights
from privet.errors import ParameterError
from privet.rng import SeededNoise, SystemNoise

SCHEMA = Schema([Categorical("job", ["cook", "nurse"])], classes=["no", "yes"], rows=1000)
N_ROWS = 1000
X = [["cook"], ["nurse"]] * (N_ROWS // 2)
Y = ["no", "no", "yes", "yes"] * (N_ROWS // 4)


def table():
    return np.array(X, dtype=object), np.array(Y)


class Words:
    """A source of words that are given."""

    secure = True

    def __init__(self, *words):
        self.given = np.array(words, dtype=np.uint32)

    def words(self, n):
        assert n == len(self.given)
        return self.given


def test_which_rows_are_kept_by_hand():
    # Chances 0, 1/4, 1/4, 1/2, 1 and 1: the last weight is above the maximum. A coin is a share of 2^32.
    quarter = 2**30
    kept = RowWeights([0, 1, 1, 2, 4, 9], 4.0, Words(0, quarter - 1, quarter, 2**31 - 1, 2**32 - 1, 2**32 - 1)).kept(6)
    assert kept.tolist() == [False, True, False, True, True, True]


def n_kept(weight, most, coins):
    return int(RowWeights(np.full(20_000, weight), most, coins).kept(20_000).sum())


def test_rows_are_kept_as_often_as_their_weights_say_and_not_as_others_would():
    n = n_kept(1.5, 5.0, SystemNoise())
    # Chances that would mislead one run in a million, each way.
    assert binom.cdf(n, 20_000, 0.3) > 5e-7
    assert binom.sf(n - 1, 20_000, 0.3) > 5e-7
    assert binom.cdf(n, 20_000, 0.34) < 5e-7
    assert binom.sf(n - 1, 20_000, 0.26) < 5e-7


def test_coins_of_one_row_do_not_depend_on_weights_of_others():
    one, other = (RowWeights([w, 1.0, 2.0], 3.0, SeededNoise(5)).kept(3) for w in (0.0, 3.0))
    assert one[1:].tolist() == other[1:].tolist()
    assert (bool(one[0]), bool(other[0])) == (False, True)


def test_counts_without_noise_are_those_of_the_kept_rows():
    weights = np.where(np.array(Y) == "yes", 5.0, 1.0)
    model = PrivateRDTClassifier(SCHEMA, epsilon=math.inf, n_trees=1, height=1).fit(
        *table(), sample_weight=weights, max_sample_weight=5.0
    )
    no, yes = model.noisy_counts_.sum(axis=0)
    assert yes == N_ROWS // 2
    assert binom.cdf(no, N_ROWS // 2, 0.2) > 5e-7 < binom.sf(no - 1, N_ROWS // 2, 0.2)


@pytest.mark.parametrize("method", [PrivateRDTClassifier, PrivateForestClassifier])
def test_coins_are_secret_unless_noise_is_seeded_too(method):
    weights = np.full(N_ROWS, 1.0)

    def fitted(**options):
        model = method(SCHEMA, epsilon=math.inf, random_state=3, **options)
        return model.fit(*table(), sample_weight=weights, max_sample_weight=2.0).predict_proba(table()[0][:2])

    seeded = {"unsafe_seeded_noise": True}
    assert (fitted(**seeded) == fitted(**seeded)).all()
    assert any((fitted() != fitted()).any() for _ in range(20))


def test_a_weighted_fit_costs_what_any_fit_does():
    plain, weighted = (
        PrivateRDTClassifier(SCHEMA, epsilon=0.5).fit(*table(), **options)
        for options in ({}, {"sample_weight": np.full(N_ROWS, 0.7), "max_sample_weight": 2.0})
    )
    assert weighted.guarantee_.epsilon == plain.guarantee_.epsilon
    assert weighted.guarantee_.event == plain.guarantee_.event


@pytest.mark.parametrize("weights", [[1.0], np.full(N_ROWS, -1.0), np.full(N_ROWS, np.nan), ["a"] * N_ROWS])
def test_what_is_no_weight_is_refused(weights):
    with pytest.raises(ParameterError, match="sample_weight must have one number per row, 0 or more; leave it out"):
        PrivateRDTClassifier(SCHEMA).fit(*table(), sample_weight=weights, max_sample_weight=2.0)


@pytest.mark.parametrize("most", [0, -1.0, math.inf, math.nan, "5", True])
def test_what_is_no_maximum_is_refused_before_rows_are_read(most):
    with pytest.raises(ParameterError, match="must be a number above 0, the largest weight of a row"):
        PrivateRDTClassifier(SCHEMA).fit(object(), object(), sample_weight=[1.0], max_sample_weight=most)


def test_a_maximum_without_weights_is_refused():
    with pytest.raises(ParameterError, match="max_sample_weight is the largest of weights; pass them as sample_weight"):
        PrivateRDTClassifier(SCHEMA).fit(*table(), max_sample_weight=2.0)


def test_other_weights_are_pointed_to_the_maximum():
    with pytest.raises(ParameterError, match="declare the largest that there may be with max_sample_weight"):
        PrivateRDTClassifier(SCHEMA).fit(*table(), sample_weight=np.full(N_ROWS, 0.5))
