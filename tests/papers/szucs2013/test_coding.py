import pandas as pd
import pytest

from papers.szucs2013.coding import CODING, FINDINGS, _anonymity, cells, measure
from papers.szucs2013.coding_claims import better_is_best, coding_claims, never_the_most_frequent, numbers_are_kept


def lines(**values):
    return pd.DataFrame([{"table": "adult", **dict.fromkeys(FINDINGS, ""), **line} for line in values.values()])


def test_every_attribute_has_its_bits_and_shares(small_split):
    found = {line[0]: dict(zip(FINDINGS, line, strict=True)) for line in measure("adult")}
    assert {name: (line["values"], line["bits"]) for name, line in found.items()} == {
        "colour": (3, 2), "amount": (2, 2), "age": (4, 2),
    }  # fmt: skip
    assert found["amount"]["largest_share"] > 0.85
    assert found["age"]["anonymity_at_half"] == pytest.approx(1, abs=0.01)


def test_of_an_odd_number_of_values_both_equations_are_tried_and_the_better_is_taken(small_split):
    found = {line[0]: dict(zip(FINDINGS, line, strict=True)) for line in measure("adult")}
    colour = found["colour"]
    assert colour["anonymity_at_half"] == max(colour["by_eq_7"], colour["by_eq_8"])
    assert colour["by_eq_7"] != colour["by_eq_8"]
    assert colour["by_any"] == colour["by_eq_7"]
    assert [found["age"][name] for name in ("by_eq_7", "by_eq_8", "by_any")] == ["", "", ""]


def test_the_best_of_all_places_is_found_by_hand():
    # Of .5, .3 and .2 at theta 1/2: half the coin's entropy, and half of each pair's weighted by its share.
    entropies = {0: 0.5 * 0.971, 1: 0.7 * 0.8631, 2: 0.8 * 0.9544}
    for place, entropy in entropies.items():
        assert _anonymity([0.5, 0.3, 0.2], alone=place) == pytest.approx(0.5 + entropy / 2, abs=1e-3)


def test_the_better_of_both_equations_must_be_the_best_of_all():
    attributes = {"a": {"by_eq_7": 0.8, "by_eq_8": 0.9, "by_any": 0.9}, "b": {}}
    claim = better_is_best(lines(**attributes), "adult")
    assert (claim.holds, claim.measured) == (True, "no value left alone gives more, for 1 of 1 attributes")
    attributes["a"]["by_any"] = 0.95
    assert better_is_best(lines(**attributes), "adult").holds is False


def test_that_equation_8_is_never_better_is_ours():
    attributes = {"a": {"by_eq_7": 0.9, "by_eq_8": 0.8, "by_any": 0.9}, "b": {}}
    claim = never_the_most_frequent(lines(**attributes))
    assert (claim.holds, claim.source) == (True, "ours")
    assert claim.measured == "equation 8 is better for 0 of 1 attributes"
    attributes["a"]["by_eq_8"] = 0.95
    assert never_the_most_frequent(lines(**attributes)).holds is False


def test_numbers_whose_quartiles_coincide_are_named():
    gain = {"attribute": "gain", "kind": "number", "values": 2, "largest_share": 0.9}
    age = {"attribute": "age", "kind": "number", "values": 4, "largest_share": 0.25}
    claim = numbers_are_kept(lines(gain=gain, age=age), "adult")
    assert claim.holds is False
    assert claim.measured == "1 of 2 numbers have fewer than four cells: gain (90% in one)"
    assert numbers_are_kept(lines(age=age), "adult").holds


def test_a_quick_run_judges_adult_alone():
    relationship = {"attribute": "relationship", "kind": "category", "values": 6, "bits": 3, "largest_share": 0.4}
    claims = list(coding_claims(lines(only=relationship)))
    assert [claim.holds for claim in claims] == [True, True, True, None, None, True]
    assert list(cells("quick")) == [("adult",)]
    assert len(CODING.header) == 1 + len(FINDINGS)
