import pandas as pd
import pytest

from papers.szucs2013.coding import CODING, FINDINGS, cells, measure
from papers.szucs2013.coding_claims import better_of_two, coding_claims, numbers_are_kept


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
    assert (found["age"]["by_eq_7"], found["age"]["by_eq_8"]) == ("", "")


def test_equation_8_must_be_better_somewhere():
    attributes = {"a": {"by_eq_7": 0.9, "by_eq_8": 0.8}, "b": {"by_eq_7": "", "by_eq_8": ""}}
    claim = better_of_two(lines(**attributes), "adult")
    assert (claim.holds, claim.measured) == (False, "equation 8 is better for 0 of 1 attributes")
    attributes["a"]["by_eq_8"] = 0.95
    assert better_of_two(lines(**attributes), "adult").holds


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
    assert [claim.holds for claim in claims] == [True, False, True, None, None]
    assert list(cells("quick")) == [("adult",)]
    assert len(CODING.header) == 1 + len(FINDINGS)
