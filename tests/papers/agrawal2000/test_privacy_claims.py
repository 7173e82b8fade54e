import pandas as pd

from papers.agrawal2000.hiding import FINDINGS
from papers.agrawal2000.privacy_claims import (
    gaussian_widths,
    hidden_in_whole_range,
    local_costs_more,
    no_local_epsilon,
)


def hiding(after):
    lines = [
        (100, noise, privacy, attribute, privacy, 1.0, after * privacy, 0.25, 0.2, 0.15)
        for noise in ("gaussian", "uniform")
        for privacy in (0.25, 1.0)
        for attribute in ("salary", "age")
    ]
    return pd.DataFrame(lines, columns=["rows", "noise", "privacy", *FINDINGS])


def test_two_widths_printed_are_off_in_their_last_digit():
    claim = gaussian_widths()
    assert (claim.paper, claim.measured, claim.holds) == ("1.34 / 3.92 / 6.8", "1.35 / 3.92 / 6.58", False)
    assert claim.fault == "paper"
    assert claim.why.endswith("at 50.0% and 99.9% the figure printed is another")


def test_a_value_is_hidden_in_its_range_only_where_the_answer_tells_nothing():
    claim = hidden_in_whole_range(hiding(after=0.6), "uniform")
    assert claim.holds is False
    assert "as unsure as within 60% of before" in claim.measured
    assert "errs by 15% of the range, one without the answer by 25%" in claim.measured
    assert hidden_in_whole_range(hiding(after=0.97), "gaussian").holds


def test_added_noise_has_no_local_epsilon():
    claim = no_local_epsilon()
    assert (claim.holds, claim.source) == (True, "ours")
    assert claim.measured == "local epsilon: Gaussian inf, uniform inf"


def test_local_costs_considerably_more_from_twice_on():
    effort = pd.DataFrame({"by_class": [1.0, 2.0], "local": [3.0, 5.0]})
    claim = local_costs_more(effort)
    assert claim.holds
    assert claim.measured == "2.5 to 3.0 times ByClass, 2.8 in the mean"
    assert local_costs_more(effort.assign(local=[1.2, 2.4])).holds is False
