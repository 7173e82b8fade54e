import csv

import pytest

from papers.claim import HEADER, Claim, write_claims


@pytest.mark.parametrize(("holds", "word"), [(True, "yes"), (False, "no"), (None, "not measured")])
def test_a_verdict_is_a_word(holds, word):
    assert Claim("Fig. 1", "90", "91", holds).cells() == ("Fig. 1", "90", "91", word, "")


def test_the_table_of_claims_is_written_to_read_and_to_compute_with(tmp_path):
    claims = [Claim("Fig. 1: a | b", "90", "91.0", True), Claim("Fig. 2", "80", "60.0", False, "another table")]
    write_claims(tmp_path, claims, command="privet papers run toy --full")
    with (tmp_path / "claims.csv").open(newline="", encoding="utf-8") as file:
        assert list(csv.reader(file)) == [list(HEADER), *(list(claim.cells()) for claim in claims)]
    assert (tmp_path / "claims.md").read_text().splitlines() == [
        "Made by `privet papers run toy --full`.",
        "",
        "| claim | paper | measured | holds? | why |",
        "| --- | --- | --- | --- | --- |",
        r"| Fig. 1: a \| b | 90 | 91.0 | yes |  |",
        "| Fig. 2 | 80 | 60.0 | no | another table |",
    ]
