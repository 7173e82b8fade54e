"""A marked value in the rows shows in no output, whether a verb succeeds or fails."""

from pathlib import Path

import pytest

HEADER = "age,sex,children,class"
MARK, NUMBER = "xyzzy", "73519"
PLANTED = {
    "a number beyond the bounds": f"{NUMBER},male,1,no",
    "a category that is not known": f"50,{MARK},1,no",
    "text among numbers": f"{MARK},male,1,no",
    "a label that is not known": f"50,male,1,{MARK}",
    "a number as label": f"50,male,1,{NUMBER}",
    "one field too many": f"50,male,1,no,{MARK}",
    "an open quote": f'50,"{MARK},1,no',
    "bytes that are no text": f"50,{MARK}\udcff,1,no",
}
LINES = [
    "schema init planted.csv -o draft.json",
    "schema check schema.json planted.csv",
    "fit planted.csv --schema schema.json -o planted.privet",
    "fit planted.csv --schema schema.json --tune private-forest,private-rdt -o planted.privet",
    "predict model.privet planted.csv --proba",
    "evaluate planted.csv --schema schema.json --folds 2 --trees 2",
    "evaluate planted.csv --schema schema.json --folds 2 --by sex --confusion",
    "rehearse --schema schema.json --rows 40,50 --epsilon 1 --draws 2 --like planted.csv",
    "perturb planted.csv --schema schema.json --noise laplace --epsilon 1 --secret key.json",
    "perturb planted.csv --schema schema.json --noise randomized-response --keep 0.9 --label --secret key.json",
    "perturb planted.csv --schema schema.json --noise record-complement --theta 0.9 --infer-frequencies --explain",
]


@pytest.mark.parametrize("flag", ["", " --json"])
@pytest.mark.parametrize("line", LINES, ids=lambda line: " ".join(line.split()[:2]))
@pytest.mark.parametrize("where", PLANTED)
def test_a_planted_value_shows_in_no_output(privet, model_file, where, line, flag):
    rows = [HEADER, "40,female,2,yes", "60,male,0,no", "20,male,0,no", "70,female,2,yes", PLANTED[where]]
    Path("planted.csv").write_text("\n".join(rows) + "\n", errors="surrogateescape")
    result = privet(line + flag)
    assert result.exit_code in {0, 2, 3}
    assert MARK not in result.output
    assert NUMBER not in result.output
    assert "Traceback" not in result.output


def test_the_mark_was_there_to_be_shown(privet):
    rows = [HEADER, "40,female,2,yes", PLANTED["a category that is not known"]]
    Path("planted.csv").write_text("\n".join(rows) + "\n")
    assert privet(LINES[0]).exit_code == 0
    assert MARK in Path("draft.json").read_text()


@pytest.mark.parametrize("line", LINES[1:3], ids=["schema check", "fit"])
def test_the_number_of_rows_shows_in_no_output(privet, line):
    # A schema that declares another number than there are rows.
    rows = [HEADER, *["40,female,2,yes", "60,male,0,no"] * 1_777]
    Path("planted.csv").write_text("\n".join(rows) + "\n")
    result = privet(line)
    assert result.exit_code == 0
    for count in ("3554", "3,554", "1777", "1,777"):
        assert count not in result.output
