import pandas as pd

from papers.szucs2013.deniability_claims import deniability_claims, mirrors_occur, sibling_learns, truth_is_hidden
from papers.szucs2013.forest import FOREST


def forest(recovered):
    line = ("adult", 9, 0.8, 0, 0.7, 0.9, 0.9, 0.9, recovered)
    return pd.DataFrame([line], columns=list(FOREST.header))


def mirrors(mirrored):
    return pd.DataFrame({"table": ["adult"], "records": [2_000], "different": [1_500], "mirrored": [mirrored]})


def test_mirror_images_occur_or_not():
    assert mirrors_occur(mirrors(3), "adult").holds
    claim = mirrors_occur(mirrors(0), "adult")
    assert (claim.holds, claim.measured) == (False, "0 of 2,000 records do")


def test_the_truth_is_not_hidden_from_an_attacker_who_is_nearly_always_right():
    claim = truth_is_hidden(forest(0.9987), "adult")
    assert claim.holds is False
    assert "finds 99.87% of the records or more, down to theta 0.8" in claim.measured
    assert "finds 99.99% of the records or more" in truth_is_hidden(forest(1.0), "adult").measured
    assert truth_is_hidden(forest(0.804), "adult").holds
    assert truth_is_hidden(forest(0.81), "adult").holds is False


def test_records_that_were_given_as_they_are_do_not_count_as_found():
    open_ones = forest(1.0).assign(theta=1.0)
    claims = list(deniability_claims(pd.concat([open_ones, forest(0.6)]), mirrors(0)))
    assert [claim.holds for claim in claims] == [False, True, None, None]


def test_the_sibling_must_do_better_than_guessing():
    lines = pd.DataFrame({"epsilon": [14.0, 3.5], "auc": [0.85, 0.7]})
    claim = sibling_learns(lines)
    assert (claim.holds, claim.measured, claim.source) == (True, "0.700 at 3.5, 0.850 at 14", "ours")
    assert sibling_learns(lines.assign(auc=[0.85, 0.5])).holds is False
