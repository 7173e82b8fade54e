import pandas as pd
import pytest

from papers.szucs2013.curves import Curves
from papers.szucs2013.forest import FOREST
from papers.szucs2013.forest_claims import (
    disguise_ignored,
    equal_on_attributes,
    equal_on_bits,
    forest_claims,
    label_disguised_too,
    mean_falls,
    mean_reaches_the_printed,
    reaches_the_printed,
    trade_off,
    worse_near_half,
)
from papers.szucs2013.plain_forest import MAJORITY, MEAN, PLAIN_FOREST
from papers.szucs2013.votes import VOTES

FALLING = {1.0: 0.90, 0.8: 0.89, 0.55: 0.85}
RISING = {1.0: 0.90, 0.8: 0.91, 0.55: 0.85}


def curves_of(auc=FALLING, hidden=None, ignored=None, bits=0.90, attributes=0.92, votes=None, more=()):
    """Return curves of one table; all votes and least nodes have ``auc``, but for what ``votes`` says by its key."""
    hidden, ignored = hidden or auc, ignored or dict.fromkeys(auc, 0.90)
    forest = [("adult", 9, theta, 0, 1 - theta, auc[theta], hidden[theta], ignored[theta], 1.0) for theta in auc]
    plain = [
        ("adult", 9, given, least, vote, area)
        for given, area in (("bits", bits), ("attributes", attributes))
        for least in (100, 2)
        for vote in (MEAN, MAJORITY)
    ]
    by_vote = {(vote, least): auc for vote in (MEAN, MAJORITY) for least in (100, 2)} | (votes or {})
    voted = [
        ("adult", 9, theta, least, 0, vote, area)
        for (vote, least), curve in by_vote.items()
        for theta, area in curve.items()
    ]
    return Curves(
        pd.DataFrame(forest, columns=list(FOREST.header)),
        pd.DataFrame(plain, columns=list(PLAIN_FOREST.header)),
        pd.DataFrame([*voted, *more], columns=list(VOTES.header)),
    )


def test_runs_are_averaged_and_the_least_disguise_comes_first():
    found = [(0.6, 0, 0.7), (0.6, 1, 0.8), (1.0, 0, 0.9)]
    lines = pd.DataFrame(
        [("adult", 9, theta, run, 0.5, area, area, area, 1.0) for theta, run, area in found], columns=FOREST.header
    )
    voted = pd.DataFrame(
        [("adult", 9, theta, 2, run, MEAN, area) for theta, run, area in found], columns=list(VOTES.header)
    )
    curves = Curves(lines, pd.DataFrame(columns=list(PLAIN_FOREST.header)), voted)
    for curve in (curves.of("adult"), curves.voted("adult", MEAN, 2)):
        assert list(curve.index) == [1.0, 0.6]
        assert list(curve) == pytest.approx([0.9, 0.75])
    assert curves.apart("adult", 0.6) == pytest.approx(0.1)


def test_larger_forests_are_no_part_of_a_curve_and_may_have_the_largest_area():
    curves = curves_of(more=[("adult", 50, 1.0, 2, 0, MAJORITY, 0.95)])
    assert curves.undisguised("adult", MAJORITY, 2) == 0.90
    assert curves.largest_undisguised("adult", MAJORITY) == (0.95, 2, 50)


def test_the_area_printed_is_reached_within_rounding_by_majority_vote_or_not():
    low = {(MAJORITY, least): {1.0: 0.884} for least in (100, 2)}
    claim = reaches_the_printed(curves_of(votes=low), "adult")
    assert (claim.holds, claim.fault) == (False, "protocol")
    assert (
        claim.measured
        == "0.884 nodes of 100 rows, 0.884 trees grown to the end; at best 0.884 (9 trees, nodes of 2 rows)"
    )
    assert "have 0.900, so it is the vote" in claim.why
    assert reaches_the_printed(curves_of(votes={**low, (MAJORITY, 2): {1.0: 0.886}}), "adult").holds


def test_what_the_mean_of_probabilities_reaches_is_a_claim_of_ours():
    claim = mean_reaches_the_printed(curves_of(), "adult")
    assert (claim.holds, claim.source) == (True, "ours")
    assert mean_reaches_the_printed(curves_of(votes={(MEAN, 100): {1.0: 0.88}}), "adult").holds is False


def test_a_plain_forest_is_equal_within_rounding():
    assert equal_on_bits(curves_of(bits=0.904), "adult").holds
    claim = equal_on_bits(curves_of(votes={(MAJORITY, 2): {1.0: 0.91}}), "adult")
    assert claim.holds is False
    assert claim.why.startswith("not majority trees grown to the end: ")


def test_a_plain_forest_on_the_table_as_it_comes_is_told_from_one_on_bits():
    claim = equal_on_attributes(curves_of(), "adult")
    assert (claim.holds, claim.measured) == (False, "majority 0.900 against 0.920; mean 0.900 against 0.920")
    assert "on bits the same one has 0.900 (mean)" in claim.why
    assert equal_on_attributes(curves_of(attributes=0.904), "adult").holds


def test_near_one_half_one_of_both_forests_must_be_worse():
    claim = worse_near_half(curves_of(), "adult")
    assert (claim.holds, claim.why) == (True, "")
    assert claim.measured == "theta 0.55 loses 0.050 nodes of 100 rows, 0.050 trees grown to the end"
    better = {1.0: 0.84, 0.55: 0.85}
    one = worse_near_half(curves_of(votes={(MAJORITY, 2): better}), "adult")
    assert one.holds
    assert one.why.startswith("not with trees grown to the end: the least node")
    none = worse_near_half(curves_of(votes={(MAJORITY, least): better for least in (100, 2)}), "adult")
    assert (none.holds, none.fault) == (False, "protocol")


def test_the_trade_off_is_judged_by_the_papers_own_vote():
    assert trade_off(curves_of(votes={(MEAN, 100): RISING}), "adult").holds
    one = trade_off(curves_of(votes={(MAJORITY, 100): RISING}), "adult")
    assert one.holds
    assert one.why.startswith("not with nodes of 100 rows: ")
    claim = trade_off(curves_of(votes={(MAJORITY, least): RISING for least in (100, 2)}), "adult")
    assert (claim.holds, claim.fault) == (False, "protocol")
    assert claim.why.startswith("AUC rises by 0.010 or 0.010 before it falls")
    assert claim.why.endswith("rise by 0.000 at most")


def test_small_rises_add_up():
    slowly = {1.0: 0.90, 0.9: 0.904, 0.8: 0.908, 0.55: 0.85}
    assert trade_off(curves_of(auc=slowly), "adult").holds is False


def test_by_the_mean_a_curve_must_fall_throughout():
    claim = mean_falls(curves_of(), "adult")
    assert (claim.holds, claim.measured) == (True, "0.900 at 1, 0.890 at 0.8, 0.850 at 0.55")
    assert mean_falls(curves_of(RISING), "adult").holds is False
    assert mean_falls(curves_of(dict.fromkeys(FALLING, 0.9)), "adult").holds is False


def test_from_which_theta_on_a_disguised_label_does_not_matter_is_told():
    assert label_disguised_too(curves_of(), "adult").holds
    claim = label_disguised_too(curves_of(hidden={1.0: 0.9, 0.8: 0.89, 0.55: 0.7}), "adult")
    assert (claim.holds, claim.measured) == (False, "loses at most 0.1500, at theta 0.55")
    assert claim.why.endswith("from theta 0.8 on no more than 0.01 is lost")


def test_who_ignores_the_disguise_may_lose_or_not():
    claim = disguise_ignored(curves_of(), "adult")
    assert (claim.holds, claim.source) == (True, "ours")
    assert "anonymity goes from 0.00 to 0.45" in claim.measured
    assert disguise_ignored(curves_of(ignored={1.0: 0.9, 0.8: 0.8, 0.55: 0.7}), "adult").holds is False


def test_a_table_that_was_not_measured_is_not_judged():
    claims = list(forest_claims(curves_of()))
    assert len(claims) == 18
    assert [claim.holds for claim in claims[9:]] == [None] * 9
