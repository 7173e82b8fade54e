import csv
import math

import pytest

from papers.claim import HEADER, Claim, too_little, write_claims


@pytest.mark.parametrize(("holds", "word"), [(True, "yes"), (False, "no"), (None, "not measured")])
def test_a_verdict_is_a_word(holds, word):
    assert Claim("Fig. 1", "90", "91", holds).cells() == ("Fig. 1", "90", "91", word, "", "")


def test_what_is_at_fault_is_told_only_where_a_claim_does_not_hold():
    told = [Claim("Fig. 1", "90", "", holds, reason="protocol").cells()[4] for holds in (True, None, False)]
    assert told == ["", "", "protocol"]


def test_a_claim_of_ours_says_so_where_others_have_the_papers_figure():
    assert Claim("Fig. 1", "", "91", True, ours=True).cells()[1] == "ours"
    assert too_little("Fig. 1", ours=True).cells()[1] == "ours"


@pytest.mark.parametrize("also", [{"paper": "90"}, {"paper": "", "reading": "within 2 points"}])
def test_a_claim_is_not_ours_and_the_papers_at_once(also):
    with pytest.raises(ValueError, match="'Fig. 1' is a claim of ours; leave out what the paper says"):
        Claim("Fig. 1", measured="91", holds=True, ours=True, **also)


def test_what_we_read_into_a_word_is_marked_as_ours():
    claim = Claim("Fig. 1", "very close", "1.5", True, reading="within 2 points")
    assert claim.cells()[1] == "very close; our reading: within 2 points"


@pytest.mark.parametrize("numbers", [[], [1.0, math.nan]])
def test_a_claim_is_not_judged_by_numbers_that_are_missing(numbers):
    claim = Claim("Fig. 1", "90", "nan", False, "far off", reason="paper")
    assert claim.judged_by(numbers).cells() == ("Fig. 1", "90", "", "not measured", "", "")
    assert claim.judged_by([1.0]) == claim


def test_the_table_of_claims_is_written_to_read_and_to_compute_with(tmp_path):
    claims = [
        Claim("Fig. 1: a | b", "90", "91.0", True),
        Claim("Fig. 2", "80", "60.0", False, "another table", reason="data set"),
    ]
    write_claims(tmp_path, claims, command="privet papers run toy --full")
    with (tmp_path / "claims.csv").open(newline="", encoding="utf-8") as file:
        assert list(csv.reader(file)) == [list(HEADER), *(list(claim.cells()) for claim in claims)]
    assert (tmp_path / "claims.md").read_text().splitlines() == [
        "Made by `privet papers run toy --full`.",
        "",
        "| claim | paper | measured | holds? | reason | why |",
        "| --- | --- | --- | --- | --- | --- |",
        r"| Fig. 1: a \| b | 90 | 91.0 | yes |  |  |",
        "| Fig. 2 | 80 | 60.0 | no | data set | another table |",
    ]
