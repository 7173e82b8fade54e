"""privet reconstruct."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from privet import Categorical, Channel, Schema, reconstruct
from privet.cli.support.output import EXIT_DATA, EXIT_USAGE

PERTURB = "perturb rows.csv --schema schema.json --noise uniform --privacy 25 --keep 0.8 --secret key.json"
RECONSTRUCT = "reconstruct rows.disturbed.csv --channel rows.channel.json"


@pytest.fixture
def disturbed(privet):
    """Answers of four thousand people, of whom only those above 50 say yes."""
    rng = np.random.default_rng(2)
    age = rng.integers(16, 100, 4_000).astype(float)
    sex = rng.choice(["female", "male"], 4_000, p=[0.9, 0.1])
    table = {"age": age, "sex": sex, "children": rng.integers(0, 5, 4_000), "class": np.where(age > 50, "yes", "no")}
    pd.DataFrame(table).to_csv("rows.csv", index=False)
    secret = {"format": "privet-secret", "version": 1, "key": "07" * 32, "answered": {}, "people": None}
    Path("key.json").write_text(json.dumps(secret))  # the same answers in every run
    assert privet(PERTURB).exit_code == 0
    return pd.read_csv("rows.disturbed.csv")


def shares(privet, options):
    return json.loads(privet(f"{RECONSTRUCT} {options} --json").stdout)


def test_the_shares_are_those_of_python(privet, disturbed):
    told = shares(privet, "--column age --class yes --bins 21")
    column = Channel.load("rows.channel.json").columns[0]
    found = reconstruct(disturbed["age"][disturbed["class"] == "yes"], column, 21)
    assert [cell["reconstructed"] for cell in told["cells"]] == found.estimate.tolist()
    assert told["steps"] == found.n_steps
    seen = sum(cell["disturbed"] for cell in told["cells"])
    assert seen + told["disturbed_below"] + told["disturbed_above"] == pytest.approx(1)


def test_disturbed_shares_are_those_of_the_file(privet, disturbed):
    told = shares(privet, "--column age --bins 4")
    first = disturbed["age"].between(16, 37, inclusive="left").mean()
    assert told["cells"][0]["disturbed"] == pytest.approx(first)
    assert told["disturbed_below"] == pytest.approx((disturbed["age"] < 16).mean())
    assert (told["cells"][0]["from"], told["cells"][0]["to"]) == (16, 37)


def test_an_open_range_has_twenty_intervals_and_a_declared_one_its_own(privet, disturbed):
    assert len(shares(privet, "--column age")["cells"]) == 20
    assert len(shares(privet, "--column children")["cells"]) == 10


def test_one_class_can_be_picked(privet, disturbed):
    told = shares(privet, "--column age --class yes")
    assert told["class"] == "yes"
    assert told["answers"] == (disturbed["class"] == "yes").sum()
    assert sum(cell["reconstructed"] for cell in told["cells"] if cell["to"] < 46) < 0.02


def test_categories_are_estimated_by_the_inverse_with_their_error(privet, disturbed):
    told = shares(privet, "--column sex")
    answered = (disturbed["sex"] == "female").mean()
    female = told["cells"][0]
    assert female["value"] == "female"
    assert female["reconstructed"] == pytest.approx((answered - 0.2) / 0.6)
    assert female["standard_error"] == pytest.approx(np.sqrt(answered * (1 - answered) / 4_000) / 0.6)


def test_the_table_has_a_line_an_interval_and_those_beyond(privet, disturbed):
    lines = privet(f"{RECONSTRUCT} --column age --bins 4").stdout.splitlines()
    assert lines[0].split() == ["interval", "disturbed", "reconstructed"]
    assert [line.split()[0] for line in lines[1:7]] == ["below", "16", "37", "58", "79", "above"]
    assert lines[-1].startswith("From 4,000 answers.")
    assert "standard error" in privet(f"{RECONSTRUCT} --column sex").stdout


def test_a_label_that_was_disturbed_is_reconstructed_and_picks_no_class(privet, refused, disturbed):
    line = PERTURB.replace("--keep 0.8", "--keep 0.8 --label").replace("key.json", "new.json")
    assert privet(f"{line} -o all.csv").exit_code == 0
    line = "reconstruct all.csv --channel all.channel.json"
    told = json.loads(privet(f"{line} --column class --json").stdout)
    assert [cell["value"] for cell in told["cells"]] == ["no", "yes"]
    assert "leave out --class" in refused(f"{line} --column age --class yes", EXIT_USAGE)


@pytest.mark.parametrize("name", ["age.png", "age.svg", "age.pdf"])
def test_a_picture_is_drawn_beside_clear_rows(privet, disturbed, name):
    result = privet(f"{RECONSTRUCT} --column age --plot {name} --original rows.csv")
    assert result.exit_code == 0, result.output
    assert result.stdout.endswith(f"picture: {name}\n")
    opening = {".png": b"\x89PNG", ".svg": b"<?xml", ".pdf": b"%PDF"}[Path(name).suffix]
    assert Path(name).read_bytes().startswith(opening)


def test_what_cannot_be_drawn_or_reconstructed_is_refused(privet, refused, disturbed):
    assert "--original is for the picture" in refused(f"{RECONSTRUCT} --column age --original rows.csv", EXIT_USAGE)
    assert "a picture is written as .png" in refused(f"{RECONSTRUCT} --column age --plot age.txt", EXIT_USAGE)
    assert "the channel has no field 'shoe'; choose from age, sex" in refused(
        f"{RECONSTRUCT} --column shoe", EXIT_USAGE
    )
    assert "did you mean 'children'?" in refused(f"{RECONSTRUCT} --column child", EXIT_USAGE)
    assert "none of the schema's classes" in refused(f"{RECONSTRUCT} --column age --class maybe", EXIT_USAGE)
    line = "reconstruct rows.disturbed.csv --channel rows.csv --column age"
    assert "is no JSON document" in refused(line, EXIT_DATA)
    Path("empty.csv").write_text("age,sex,children,class\n")
    line = RECONSTRUCT.replace("rows.disturbed.csv", "empty.csv")
    assert "has no rows" in refused(f"{line} --column age", EXIT_DATA)


def test_a_class_is_named_in_the_picture(privet, disturbed):
    privet(f"{RECONSTRUCT} --column age --class yes --plot age.svg")
    privet(f"{RECONSTRUCT} --column age --plot all.svg")
    assert "<!-- class = yes -->" in Path("age.svg").read_text()
    assert "class = " not in Path("all.svg").read_text()


def test_clear_values_in_place_of_answers_are_refused(privet, refused, disturbed):
    assert "do not look" not in privet(f"{RECONSTRUCT} --column age").stdout
    line = f"{RECONSTRUCT} --column age".replace("rows.disturbed.csv", "rows.csv")
    sentence = refused(line, EXIT_DATA)
    assert sentence.startswith("all or nearly all of the rows hold a number in 'age' that is not on the grid of its")


def test_values_that_are_all_but_impossible_are_remarked_on(privet, disturbed):
    answers = pd.read_csv("rows.disturbed.csv")
    answers.assign(age=answers["age"].iloc[0]).to_csv("same.csv", index=False)
    line = f"{RECONSTRUCT} --column age".replace("rows.disturbed.csv", "same.csv")
    assert "The answers do not look as if they had come through this channel" in privet(line).stdout
    assert json.loads(privet(f"{line} --json").stdout)["looks_answered"] is False


def test_large_numbers_are_spelled_without_powers_of_ten(privet, folder):
    schema = json.loads(Path("schema.json").read_text())
    schema["attributes"][0]["bounds"] = [0, 4_000_000]
    Path("schema.json").write_text(json.dumps(schema))
    privet(PERTURB)
    lines = privet(f"{RECONSTRUCT} --column age --bins 4").stdout
    assert "1,000,000 to 2,000,000" in lines
    assert "e+" not in lines


def test_flipped_records_have_no_column_to_reconstruct(privet, refused, disturbed):
    privet("perturb rows.csv --schema schema.json --noise record-complement --theta 0.8 --secret new.json -o bits.csv")
    line = "reconstruct bits.csv --channel bits.channel.json --column age"
    assert "fit a random-response-forest" in refused(line, EXIT_USAGE)


@pytest.fixture
def asked(privet):
    """Answers of three thousand people, of whom those who say no weigh three times as much."""
    rng = np.random.default_rng(5)
    smoker = rng.random(3_000) < 0.5
    table = pd.DataFrame({"job": np.where(smoker, "cook", "clerk"), "owner": rng.choice(["no", "yes"], 3_000)})
    table["smoker"] = np.where(smoker, "yes", "no")
    table.to_csv("people.csv", index=False)
    fields = {"job": ["clerk", "cook"], "owner": ["no", "yes"]}
    attributes = [Categorical(name, values, never_missing=True) for name, values in fields.items()]
    Schema(attributes, classes=["no", "yes"], target="smoker").save("people.json")
    secret = {"format": "privet-secret", "version": 1, "key": "07" * 32, "answered": {}, "people": None}
    Path("q.json").write_text(json.dumps(secret))
    line = "perturb people.csv --schema people.json --noise field-sampling --pair job,owner --epsilon 6"
    result = privet(f"{line} --secret q.json -o sent.csv")
    assert result.exit_code == 0, result.output
    answers = pd.read_csv("sent.csv", dtype=str)
    answers.assign(weight=np.where(smoker, 1.0, 3.0)).to_csv("sent.csv", index=False)
    return table


QUESTIONS = "reconstruct sent.csv --channel sent.channel.json"


def test_values_and_classes_together_are_told_with_their_intervals(privet, asked):
    told = json.loads(privet(f"{QUESTIONS} --column job --json").stdout)
    assert (told["answers"], told["weighted"], told["looks_answered"]) == (3_000, False, True)
    first, second = told["cells"][:2]
    assert (first["job"], first["smoker"]) == ("clerk", "no")
    assert first["low"] < 0.5 < first["high"]
    assert second["low"] == 0
    lines = privet(f"{QUESTIONS} --column owner --column job").stdout.splitlines()
    assert lines[0].split()[:4] == ["job", "owner", "smoker", "share"]
    assert lines[1].split()[:3] == ["clerk", "no", "no"]
    assert lines[-1].startswith("From 3,000 answers.")


def test_survey_weights_move_shares_and_the_label_is_told_alone(privet, asked):
    plain, weighted = (
        json.loads(privet(f"{QUESTIONS} --column smoker {more} --json").stdout) for more in ("", "--weights weight")
    )
    assert plain["cells"][0]["share"] == pytest.approx(0.5, abs=0.06)
    assert weighted["cells"][0]["share"] == pytest.approx(0.75, abs=0.06)
    assert weighted["weighted"] is True
    assert "answers, weighted." in privet(f"{QUESTIONS} --column smoker --weights weight").stdout


def test_what_is_not_for_questions_or_only_for_them_is_refused(privet, refused, asked, disturbed):
    assert "--bins is not for answers to sampled questions" in refused(f"{QUESTIONS} --column job --bins 3", EXIT_USAGE)
    assert "--class is not for" in refused(f"{QUESTIONS} --column job --class yes", EXIT_USAGE)
    assert "no field 'shoe'" in refused(f"{QUESTIONS} --column shoe", EXIT_USAGE)
    assert "a second --column, and --weights" in refused(f"{RECONSTRUCT} --column age --weights w", EXIT_USAGE)
    Path("half.csv").write_text("question_1,answer_1\n0,9\n")
    line = QUESTIONS.replace("sent.csv", "half.csv")
    assert "hold a cell that their question does not have" in refused(f"{line} --column job", EXIT_DATA)
