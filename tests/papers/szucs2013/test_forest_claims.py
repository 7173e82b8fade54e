import pandas as pd
import pytest

from papers.szucs2013.curves import Curves
from papers.szucs2013.forest import FOREST
from papers.szucs2013.forest_claims import (
    equal_on_attributes,
    equal_on_bits,
    falls_towards_half,
    forest_claims,
    label_disguised_too,
    reaches_the_printed,
    trade_off,
)
from papers.szucs2013.plain_forest import PLAIN_FOREST

FALLING = {1.0: 0.90, 0.8: 0.89, 0.55: 0.85}


def curves_of(auc=FALLING, hidden=None, ignored=None, bits=0.90, attributes=0.92):
    hidden, ignored = hidden or auc, ignored or dict.fromkeys(auc, 0.90)
    forest = [("adult", 9, theta, 0, 1 - theta, auc[theta], hidden[theta], ignored[theta], 1.0) for theta in auc]
    plain = [("adult", 9, given, least, area) for given, area in (("bits", bits), ("attributes", attributes))
             for least in (100, 2)]  # fmt: skip
    return Curves(
        pd.DataFrame(forest, columns=list(FOREST.header)), pd.DataFrame(plain, columns=list(PLAIN_FOREST.header))
    )


def test_runs_are_averaged_and_the_least_disguise_comes_first():
    lines = pd.DataFrame(
        [("adult", 9, theta, run, 0.5, area, area, area, 1.0) for theta, run, area in
         [(0.6, 0, 0.7), (0.6, 1, 0.8), (1.0, 0, 0.9)]], columns=list(FOREST.header),
    )  # fmt: skip
    curve = Curves(lines, pd.DataFrame(columns=list(PLAIN_FOREST.header))).of("adult")
    assert list(curve.index) == [1.0, 0.6]
    assert list(curve) == pytest.approx([0.9, 0.75])


def test_the_area_printed_is_reached_or_not():
    assert reaches_the_printed(curves_of(), "adult").holds
    assert reaches_the_printed(curves_of({1.0: 0.88}), "adult").holds is False


def test_a_plain_forest_is_equal_within_half_a_hundredth():
    assert equal_on_bits(curves_of(bits=0.904), "adult").holds
    assert equal_on_bits(curves_of(bits=0.91), "adult").holds is False
    claim = equal_on_attributes(curves_of(), "adult")
    assert (claim.holds, claim.measured) == (False, "0.900 against 0.920")
    assert "the amount of a capital gain" in claim.why


def test_a_curve_must_fall_throughout():
    claim = falls_towards_half(curves_of(), "adult")
    assert (claim.holds, claim.measured) == (True, "0.900 at 1, 0.890 at 0.8, 0.850 at 0.55")
    assert falls_towards_half(curves_of({1.0: 0.9, 0.8: 0.8, 0.55: 0.85}), "adult").holds is False
    assert falls_towards_half(curves_of({1.0: 0.9, 0.8: 0.9, 0.55: 0.9}), "adult").holds is False


def test_from_which_theta_on_a_disguised_label_does_not_matter_is_told():
    assert label_disguised_too(curves_of(), "adult").holds
    claim = label_disguised_too(curves_of(hidden={1.0: 0.9, 0.8: 0.89, 0.55: 0.7}), "adult")
    assert (claim.holds, claim.measured) == (False, "loses at most 0.1500, at theta 0.55")
    assert claim.why.endswith("from theta 0.8 on they are as good")


def test_there_is_a_trade_off_only_if_ignoring_the_disguise_costs_something():
    assert trade_off(curves_of(ignored={1.0: 0.9, 0.8: 0.8, 0.55: 0.7}), "adult").holds
    claim = trade_off(curves_of(), "adult")
    assert claim.holds is False
    assert "anonymity goes from 0.00 to 0.45" in claim.measured


def test_a_table_that_was_not_measured_is_not_judged():
    claims = list(forest_claims(curves_of()))
    assert len(claims) == 12
    assert [claim.holds for claim in claims[6:]] == [None] * 6
