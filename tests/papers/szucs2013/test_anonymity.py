import math

import pytest

from papers.szucs2013.anonymity import cells, measure


def test_equally_frequent_values_at_one_half_reach_one():
    found = dict(measure(0.5))
    assert (found[0.5], found[0.0], found[1.0]) == (1, 0.5, 0.5)
    assert len(found) == 101


def test_a_value_alone_has_half_the_entropy_of_the_coin():
    coin = -(0.2 * math.log2(0.2) + 0.8 * math.log2(0.8))
    assert dict(measure(1.0))[0.2] == pytest.approx(coin / 2, abs=1e-4)


def test_three_pairs_and_a_value_alone_are_measured():
    assert list(cells("quick")) == list(cells("full")) == [(0.5,), (0.8,), (0.95,), (1.0,)]
