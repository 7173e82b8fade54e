import pandas as pd

from papers.szucs2013.anonymity import measure
from papers.szucs2013.anonymity_claims import (
    anonymity_claims,
    largest_at_half,
    none_without_a_partner,
    unequal_is_lower,
)


def curves():
    found = {pair: dict(measure(pair)) for pair in (0.5, 0.8, 0.95, 1.0)}
    return pd.DataFrame(found)


def test_of_the_equation_three_claims_hold_and_two_do_not():
    lines = pd.DataFrame(
        [(pair, *line) for pair in (0.5, 0.8, 0.95, 1.0) for line in measure(pair)],
        columns=["frequent", "theta", "anonymity"],
    )
    claims = list(anonymity_claims(lines))
    assert [claim.holds for claim in claims] == [True, True, True, False, False]
    assert claims[4].measured == "0.50 / 0.36 / 0.14"
    assert claims[3].why.startswith("worked out from equation 3, no data needed; it gives half the entropy")


def test_a_curve_with_its_peak_elsewhere_is_seen():
    shifted = curves()
    shifted.loc[0.6, 0.8] = 1.5
    claim = largest_at_half(shifted)
    assert claim.holds is False
    assert claim.measured == "0.5, 0.6, 0.5"


def test_curves_that_cross_are_seen():
    crossing = curves()
    crossing.loc[0.1, 0.95] = 0.9
    assert (unequal_is_lower(crossing).holds, unequal_is_lower(crossing).why) == (
        False,
        "two curves cross; worked out from equation 3, no data needed",
    )


def test_a_value_alone_without_anonymity_would_hold():
    none = curves()
    none[1.0] = 0.0
    assert none_without_a_partner(none).holds
