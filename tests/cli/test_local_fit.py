"""privet fit, and what follows it, for rows that were disturbed before anyone saw them."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from privet import load
from privet.cli.support.output import EXIT_DATA, EXIT_USAGE
from privet.registry import LOCAL_METHODS, METHODS

TREE = "fit rows.disturbed.csv --channel rows.channel.json --method reconstruction-tree"
FOREST = "fit bits.csv --channel bits.channel.json --method random-response-forest --trees 3 --random-state 1"


@pytest.fixture
def disturbed(privet):
    """Answers of three thousand people, and the channel that they came through."""
    rng = np.random.default_rng(5)
    age = rng.integers(16, 100, 3_000).astype(float)
    table = {"age": age, "sex": rng.choice(["female", "male"], 3_000), "children": rng.integers(0, 5, 3_000)}
    pd.DataFrame({**table, "class": np.where(age > 58, "yes", "no")}).to_csv("rows.csv", index=False)
    secret = {"format": "privet-secret", "version": 1, "key": "07" * 32, "answered": {}, "people": None}
    Path("key.json").write_text(json.dumps(secret))  # the same answers in every run
    line = "perturb rows.csv --schema schema.json --noise uniform --privacy 25 --keep 0.9 --secret key.json"
    assert privet(line).exit_code == 0


@pytest.fixture
def bits(privet):
    """Whole records, flipped or not."""
    line = "perturb rows.csv --schema schema.json --noise record-complement --theta 0.9 --secret bits.json -o bits.csv"
    assert privet(line).exit_code == 0


def test_a_round_trip_without_the_clear_rows(privet, disturbed):
    clear = pd.read_csv("rows.csv")
    clear.head(500).to_csv("test.csv", index=False)
    Path("rows.csv").unlink()
    Path("key.json").unlink()
    result = privet(TREE)
    assert result.exit_code == 0, result.output
    assert "protected by nothing: class. None proven: age, children were disturbed" in result.stdout
    assert "no budget was touched: it costs nothing further" in result.stdout
    assert result.stdout.endswith("model: model.privet\n")
    assert privet("predict model.privet test.csv -o predicted.csv").exit_code == 0
    right = pd.read_csv("predicted.csv")["prediction"] == clear["class"].head(500)
    assert right.mean() > 0.9


def test_what_was_learnt_is_told_in_json(privet, disturbed):
    told = json.loads(privet(f"{TREE} --strategy global --height 2 --json").stdout)
    assert (told["method"], told["trees"]) == ("reconstruction-tree", 1)
    assert told["height"] <= 2
    assert told["guarantee"]["local_epsilon"] is None
    assert max(told["importances"], key=told["importances"].get) == "age"
    assert load("model.privet").strategy == "global"


def test_a_forest_is_grown_from_flipped_records(privet, disturbed, bits):
    told = json.loads(privet(f"{FOREST} --height 4 --json").stdout)
    assert (told["method"], told["trees"]) == ("random-response-forest", 3)
    assert told["height"] <= 4
    result = privet("predict model.privet rows.csv --proba")
    assert result.stdout.startswith("prediction,P(no),P(yes)\n")


@pytest.mark.parametrize(
    "option",
    ["--epsilon 1", "--delta 0.1", "--ledger l.db", "--unit sex", "--max-rows 2", "--part a", "--variant paper"],
)
def test_what_a_curator_pays_is_refused_with_the_reason(refused, disturbed, option):
    sentence = refused(f"{TREE} {option}", EXIT_USAGE)
    assert sentence.startswith(f"{option.split()[0]} does not apply to reconstruction-tree: it costs nothing further")
    assert not Path("model.privet").exists()


def test_what_another_method_has_is_refused(privet, refused, disturbed, bits):
    assert "--trees does not apply to reconstruction-tree" in refused(f"{TREE} --trees 4", EXIT_USAGE)
    assert "--strategy does not apply to random-response" in refused(f"{FOREST} --strategy local", EXIT_USAGE)
    assert "strategy='best' is not known" in refused(f"{TREE} --strategy best", EXIT_USAGE)
    line = "fit rows.csv --schema schema.json --strategy local"
    assert "--strategy does not apply to private-forest" in refused(line, EXIT_USAGE)


def test_a_channel_is_asked_for_and_one_of_another_method_refused(refused, disturbed, bits):
    line = "fit rows.disturbed.csv --method reconstruction-tree --schema schema.json"
    assert "pass the file that `privet perturb` wrote with --channel" in refused(line, EXIT_USAGE)
    line = FOREST.replace("random-response-forest --trees 3", "reconstruction-tree")
    assert "choose --method random-response-forest" in refused(line, EXIT_USAGE)
    line = TREE.replace("reconstruction-tree", "random-response-forest")
    assert "choose --method reconstruction-tree" in refused(line, EXIT_USAGE)
    line = "fit rows.disturbed.csv --channel rows.channel.json --method private-forest"
    assert "fit disturbed answers with --method reconstruction-tree" in refused(line, EXIT_USAGE)


@pytest.mark.parametrize(
    ("line", "best"), [(TREE, "reconstruction-tree"), (FOREST.replace(" --trees 3", ""), "random-response-forest")]
)
def test_without_a_method_the_first_that_fits_the_channel_is_taken_and_named(privet, disturbed, bits, line, best):
    assert privet(f"{line} -o asked.privet").exit_code == 0
    result = privet(f"{line.replace(f' --method {best}', '')} -o taken.privet")
    assert result.exit_code == 0, result.output
    assert f"no --method is given; answers through this channel are fitted by {best}" in result.stderr
    assert Path("taken.privet").read_bytes() == Path("asked.privet").read_bytes()


def test_without_a_method_a_channel_takes_no_curators_options(refused, disturbed):
    line = "fit rows.disturbed.csv --channel rows.channel.json --epsilon 1"
    assert "--epsilon does not apply to reconstruction-tree" in refused(line, EXIT_USAGE)


def test_answers_of_another_channel_are_refused(refused, disturbed, bits):
    line = TREE.replace("rows.disturbed.csv", "bits.csv")
    assert "these answers came through another channel" in refused(line, EXIT_DATA)
    line = FOREST.replace("bits.csv", "rows.disturbed.csv")
    assert "holds no records in bits, as this channel answers them" in refused(line, EXIT_DATA)


def test_answers_in_bits_are_no_rows_to_predict(privet, refused, disturbed, bits):
    privet(TREE)
    sentence = refused("predict model.privet bits.csv", EXIT_DATA)
    assert sentence.endswith("predict needs clear rows, with the columns age, sex, children")


def test_clear_rows_in_place_of_answers_are_refused(privet, refused, disturbed):
    assert privet(TREE).stderr == ""
    sentence = refused(f"{TREE} --force".replace("rows.disturbed.csv", "rows.csv"), EXIT_DATA)
    assert sentence.startswith("most of the rows hold a number in 'age' that is not on the grid of its")


@pytest.mark.parametrize("noise", ["intervals --bins 4", "randomized-response --epsilon 9"])
def test_numbers_that_are_no_middles_of_intervals_are_refused(privet, refused, disturbed, noise):
    line = f"perturb rows.csv --schema schema.json --noise {noise} --secret cut.json -o cut.csv"
    assert privet(line).exit_code == 0
    line = "fit cut.csv --channel cut.channel.json --method reconstruction-tree --force"
    assert privet(line).exit_code == 0
    sentence = refused(line.replace("fit cut.csv", "fit rows.csv"), EXIT_DATA)
    assert "that is the middle of no interval" in sentence


@pytest.mark.parametrize("method", LOCAL_METHODS)
def test_answers_that_are_all_but_impossible_are_promised_nothing(privet, disturbed, method):
    sampled = method == "sampled-forest"
    noise = "field-sampling" if sampled else "randomized-response --label"
    privet(f"perturb rows.csv --schema schema.json --noise {noise} --epsilon 4 --secret s -o r.csv")
    answers = pd.read_csv("r.csv", dtype=str)
    alike = {"answer_1": answers.groupby("question_1")["answer_1"].transform("first")} if sampled else {"sex": "male"}
    answers.assign(**alike).to_csv("r.csv", index=False)
    result = privet(f"fit r.csv --channel r.channel.json --method {method}")
    assert result.exit_code == 0, result.output
    assert result.stdout.startswith("None proven: the answers in ")
    assert "do not look as if they had come through the channel" in result.stderr
    assert "Warning" not in result.stderr
    privet("report model.privet -o page.html")
    assert "The answers do not look as if they came through the channel." in Path("page.html").read_text()


def test_who_is_among_the_answers_twice_is_refused(privet, refused, disturbed):
    answers = pd.read_csv("rows.disturbed.csv")
    answers.assign(id=range(len(answers))).to_csv("rows.disturbed.csv", index=False)
    assert privet(f"{TREE} --id id").exit_code == 0
    answers.assign(id=7).to_csv("rows.disturbed.csv", index=False)
    assert "'id' holds the same person twice" in refused(f"{TREE} --id id --force", EXIT_DATA)
    line = "fit rows.csv --schema schema.json --id id -o other.privet"
    assert "--id does not apply to private-forest" in refused(line, EXIT_USAGE)


def test_a_schema_that_was_inferred_is_said_before_the_fit(privet, folder):
    schema = json.loads(Path("schema.json").read_text())
    schema["attributes"][0]["inferred"] = True
    Path("schema.json").write_text(json.dumps(schema))
    privet("perturb rows.csv --schema schema.json --noise uniform --privacy 25 --secret key.json")
    result = privet(TREE)
    assert result.exit_code == 0, result.output
    assert "the channel's schema is marked as inferred in places" in result.stderr


def test_verbs_that_have_nothing_to_do_say_so(refused, disturbed):
    line = "--channel rows.channel.json --method reconstruction-tree"
    assert "there is nothing to plan; see `privet perturb --explain`" in refused(f"plan {line} --rows 100", EXIT_USAGE)
    line = "--schema schema.json --method reconstruction-tree"
    assert "clear test rows" in refused(f"evaluate rows.csv {line}", EXIT_USAGE)


def test_an_unknown_method_is_told_those_of_both_sides(refused):
    for option in ("--schema schema.json", "--channel rows.channel.json"):
        sentence = refused(f"fit rows.csv {option} --method magic", EXIT_USAGE)
        assert sentence.startswith("--method 'magic' is not known; choose from")
        assert "private-forest" in sentence
        assert "reconstruction-tree" in sentence


def test_the_help_names_every_method(privet):
    words = privet("fit --help").stdout.replace("│", " ").split()
    assert {*METHODS, *LOCAL_METHODS} <= {word.strip(",.") for word in words}


def test_rules_of_a_tree_are_estimates_without_intervals_of_noise(privet, disturbed):
    privet(TREE)
    lines = privet("rules model.privet --leaves").stdout.splitlines()
    assert lines[0].split() == ["estimated", "rows", "confidence", "tree", "rule"]
    assert "if age" in lines[1]
    told = json.loads(privet("rules model.privet --json").stdout)
    assert told["noise_std"] is None
    assert not any("low" in name for name in told["rules"][0])
    assert privet("rules model.privet -o rules.csv").exit_code == 0
    assert "support_low" not in pd.read_csv("rules.csv")


def test_rules_of_a_forest_speak_of_values_as_they_do_in_python(privet, disturbed, bits):
    privet(FOREST)
    told = json.loads(privet("rules model.privet --json").stdout)["rules"]
    assert [rule["text"] for rule in told] == load("model.privet").rules()["rule"].tolist()
    assert not any(":" in rule["text"] for rule in told)


def test_trees_and_forests_of_bits_are_exported(privet, disturbed, bits):
    privet(TREE)
    privet(f"{FOREST} -o forest.privet")
    rows = [{"age": age, "sex": sex, "children": 1} for age in (20, 90, None) for sex in ("male", "female", None)]
    for name in ("model", "forest"):
        assert privet(f"export {name}.privet --format python -o {name}.py").exit_code == 0
        names: dict = {}
        exec(compile(Path(f"{name}.py").read_text(), f"{name}.py", "exec"), names)  # noqa: S102 - our own
        expected = load(f"{name}.privet").predict_proba(pd.DataFrame(rows))
        assert [names["predict_proba"](row) for row in rows] == expected.tolist()


def test_reports_are_written_of_both(privet, disturbed, bits):
    privet(TREE)
    privet(f"{FOREST} -o forest.privet")
    for name in ("model", "forest"):
        result = privet(f"report {name}.privet")
        assert result.exit_code == 0, result.output
        assert "None proven" in Path(f"{name}.html").read_text()
    told = json.loads(privet("report forest.privet --json").stdout)
    assert told["binary_anonymity"]["theta"] == 0.9


@pytest.mark.parametrize("class_", [None, "no"])
def test_a_sampled_forest_is_explained(privet, disturbed, class_):
    asked = "perturb rows.csv --schema schema.json --noise field-sampling --epsilon 4 --secret asked.json -o asked.csv"
    assert privet(asked).exit_code == 0
    assert privet("fit asked.csv --channel asked.channel.json").exit_code == 0
    pd.read_csv("rows.csv").drop(columns="class").head(50).to_csv("test.csv", index=False)
    result = privet(f"explain model.privet test.csv{'' if class_ is None else f' --class {class_}'} -o explained.csv")
    assert result.exit_code == 0, result.output
    found = pd.read_csv("explained.csv")
    expected = load("model.privet").explain(pd.read_csv("test.csv"), class_)
    effects = [f"effect({name})" for name in ("start", "age", "sex", "children")]
    assert list(found) == ["explained", *effects, "score"]
    np.testing.assert_array_equal(found[effects].to_numpy(), expected.to_numpy())
    assert set(found["explained"]) == {class_ or "yes"}


def test_explaining_a_tree_is_refused(privet, refused, disturbed):
    privet(TREE)
    assert "is a reconstruction-tree" in refused("explain model.privet rows.csv", EXIT_USAGE)
