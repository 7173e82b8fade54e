"""Binary anonymity, by hand."""

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose

from privet import Categorical, Schema
from privet.errors import ParameterError
from privet.local.channels.coding import Coding
from privet.local.measures.anonymity import binary_anonymity, pair_anonymity, record_anonymity


def entropy(p):
    return 0.0 if p in (0, 1) else -p * math.log2(p) - (1 - p) * math.log2(1 - p)


@pytest.mark.parametrize("p", [0.5, 0.8, 0.95, 1.0])
@pytest.mark.parametrize("theta", [0.5, 0.6, 0.9, 1.0])
def test_a_pair_has_half_the_entropy_of_the_coin_and_half_its_own(p, theta):
    assert pair_anonymity(p, 1 - p, theta) == pytest.approx((entropy(theta) + entropy(p)) / 2)


def test_the_curves_of_figure_1_are_highest_at_one_half_and_for_equal_pairs():
    theta = np.linspace(0, 1, 101)
    equal, unequal, most_unequal = (pair_anonymity(p, 1 - p, theta) for p in (0.5, 0.8, 0.95))
    for curve in (equal, unequal, most_unequal):
        assert curve.argmax() == 50
        assert_allclose(curve, curve[::-1], atol=1e-12)
    assert equal[50] == 1
    assert np.all(equal > unequal)
    assert np.all(unequal > most_unequal)


def test_the_equation_is_followed_where_the_text_says_nought():
    # A value without a partner, and records that nobody flips.
    assert pair_anonymity(1.0, 0.0, 0.5) == 0.5
    assert pair_anonymity(0.5, 0.5, 1.0) == 0.5
    assert pair_anonymity(1.0, 0.0, 1.0) == 0.0


def test_pairs_count_by_how_many_rows_they_have():
    # Of 10 rows, 4 and 4 are a pair of equals and 2 have no partner.
    assert binary_anonymity([(4, 4), (2, 0)], 0.5) == pytest.approx(0.8 * 1.0 + 0.2 * 0.5)
    assert binary_anonymity([(0.4, 0.4), (0.2, 0), (0, 0)], 0.5) == pytest.approx(0.9)


def test_a_coding_has_the_mean_over_its_attributes():
    schema = Schema([Categorical("a", ["u", "v"]), Categorical("b", ["x", "y"])], classes=["no", "yes"])
    coding = Coding.of(schema, {"a": {"u": 0.5, "v": 0.5}, "b": {"x": 1.0}})
    assert coding.anonymity(0.5) == pytest.approx((1.0 + 0.5) / 2)


def test_records_are_paired_with_their_mirror_images():
    bits = np.array([[0, 0, 1]] * 3 + [[1, 1, 0]] + [[0, 1, 0]] * 4, dtype=np.uint8)
    assert record_anonymity(bits, 1.0) == pytest.approx(0.5 * entropy(0.25) / 2)
    assert record_anonymity(bits, 0.5) == pytest.approx(0.5 * (1 + entropy(0.25)) / 2 + 0.5 * 0.5)


def test_what_cannot_be_a_share_or_a_chance_is_refused():
    with pytest.raises(ParameterError, match="theta must lie between 0 and 1"):
        pair_anonymity(0.5, 0.5, 1.2)
    with pytest.raises(ParameterError, match="at least one pair with a positive share"):
        binary_anonymity([(0, 0)], 0.5)
    with pytest.raises(ParameterError, match="at least one pair with a positive share"):
        binary_anonymity([(1, -0.5)], 0.5)
