"""privet perturb."""

import io
import json
import stat
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
from numpy.testing import assert_array_equal

from privet import Channel, Secret, perturb
from privet.cli.support.output import EXIT_DATA, EXIT_USAGE
from privet.errors import DataError, ParameterError
from privet.local.channels.perturb import Respondents
from privet.schema import Schema

GAUSSIAN = "perturb rows.csv --schema schema.json --noise gaussian --privacy 100 --secret key.json"
KEPT = "perturb rows.csv --schema schema.json --noise randomized-response --keep 1 --secret key.json"
N_ROWS = 300


def clear():
    return pd.read_csv("rows.csv")


def with_ids(names=None):
    table = clear().assign(person=[f"p{i}" for i in range(N_ROWS)] if names is None else names)
    table.to_csv("rows.csv", index=False)
    return table


def left(folder):
    return {path.name for path in folder.iterdir()}


def test_it_writes_answers_channel_and_secret_and_says_what_is_promised(privet):
    result = privet(f"{GAUSSIAN} --keep 0.8")
    assert result.exit_code == 0, result.output
    first = "Given as they are, and protected by nothing: class. None proven: age, children were disturbed"
    assert result.stdout.startswith(first)
    assert "fitted by: --method reconstruction-tree\n" in result.stdout
    assert result.stdout.splitlines()[-2:] == ["answers: rows.disturbed.csv", "channel: rows.channel.json"]
    assert "people are told apart by their place in this file" in result.stderr
    assert "a new secret was written to 'key.json'" in result.stderr
    answers = pd.read_csv("rows.disturbed.csv")
    assert list(answers) == ["age", "sex", "children", "class"]
    assert_array_equal(answers["class"], clear()["class"])
    assert (answers["age"] != clear()["age"]).mean() > 0.9
    assert 0.6 < (answers["sex"] == clear()["sex"]).mean() < 0.95


def test_the_secret_is_for_its_owner_alone(privet):
    privet(GAUSSIAN)
    assert stat.S_IMODE(Path("key.json").stat().st_mode) == 0o600


def test_the_channel_file_is_the_one_that_python_writes(privet):
    privet(GAUSSIAN)
    channel = Channel.load("rows.channel.json")
    channel.save("again.json")
    assert Path("again.json").read_bytes() == Path("rows.channel.json").read_bytes()
    assert [column.kind for column in channel.columns] == ["gaussian", "clear", "gaussian"]


def test_the_answers_are_those_of_python_with_the_same_secret(privet):
    with_ids()
    assert privet(f"{GAUSSIAN} --keep 0.8 --label --id person").exit_code == 0
    told = perturb(with_ids(), Channel.load("rows.channel.json"), Secret("key.json"), person="person")
    answers = pd.read_csv("rows.disturbed.csv")
    assert_array_equal(answers["age"], told["age"])
    for name in ("sex", "class"):
        assert_array_equal(answers[name], told[name])


def test_asking_again_gives_the_same_answers_in_any_order(privet):
    table = with_ids()
    privet(f"{GAUSSIAN} --id person --keep-id")
    table.sample(frac=1, random_state=1).to_csv("mixed.csv", index=False)
    line = "perturb mixed.csv --channel rows.channel.json --secret key.json --id person --keep-id"
    result = privet(line)
    assert result.exit_code == 0, result.output
    assert "channel:" not in result.stdout
    first, again = (pd.read_csv(f"{name}.disturbed.csv").set_index("person") for name in ("rows", "mixed"))
    pd.testing.assert_frame_equal(first, again.loc[first.index])


def test_another_channel_for_the_same_people_is_refused_and_nothing_is_written(privet, refused, folder):
    privet(GAUSSIAN)
    before = left(folder)
    line = "perturb rows.csv --schema schema.json --noise gaussian --privacy 50 --secret key.json -o more.csv"
    assert "was answered through another channel with this secret" in refused(line, EXIT_DATA)
    assert left(folder) == before


def test_where_everything_is_kept_categories_come_through_and_numbers_are_middles_of_cells(privet):
    assert privet(f"{KEPT} --bins 21").exit_code == 0
    answers = pd.read_csv("rows.disturbed.csv")
    assert_array_equal(answers["sex"], clear()["sex"])
    assert (answers["age"] - clear()["age"]).abs().max() <= 2
    assert set(answers["age"]) <= set(range(18, 100, 4))
    assert_array_equal(answers["children"], clear()["children"] + 0.5)  # the schema's own ten cells


@pytest.mark.parametrize(
    ("options", "kinds"),
    [
        ("--noise uniform --scale 5", ["uniform", "clear", "uniform"]),
        ("--noise laplace --epsilon 2", ["laplace", "clear", "laplace"]),
        ("--noise intervals --bins 4", ["intervals", "clear", "intervals"]),
        ("--noise intervals --column children", ["clear", "clear", "intervals"]),
        ("--noise gaussian --privacy 50 --clear children", ["gaussian", "clear", "clear"]),
        ("--noise laplace --epsilon 2 --categories-epsilon 1", ["laplace", "randomized_response", "laplace"]),
        ("--noise uniform --scale 5 --keep 0.9 --column age --column sex", ["uniform", "randomized_response", "clear"]),
        (
            "--noise randomized-response --epsilon 3 --clear sex",
            ["randomized_response", "clear", "randomized_response"],
        ),
    ],
)
def test_options_say_what_happens_to_which_field(privet, options, kinds):
    result = privet(f"perturb rows.csv --schema schema.json {options} --secret key.json --json")
    assert result.exit_code == 0, result.output
    told = json.loads(result.stdout)
    assert [field["channel"] for field in told["guarantee"]["fields"]] == kinds
    assert (told["answers"], told["channel"]) == ("rows.disturbed.csv", "rows.channel.json")


def test_epsilon_is_shared_out_and_never_exceeded(privet):
    line = "perturb rows.csv --schema schema.json --noise laplace --epsilon 2 --categories-epsilon 1 --label"
    told = json.loads(privet(f"{line} --secret key.json --json").stdout)["guarantee"]
    assert 2.99 < told["local_epsilon"] <= 3
    assert [round(field["local_epsilon"], 3) for field in told["fields"]] == [1.0, 0.5, 1.0, 0.5]
    assert told["mode"] == "sound"


def test_a_label_alone_can_be_disturbed_beside_noise(privet):
    line = "perturb rows.csv --schema schema.json --noise uniform --scale 5 --keep 0.75 --label --clear sex --json"
    told = json.loads(privet(f"{line} --secret key.json").stdout)["guarantee"]
    assert told["given_clear"] == ["sex"]
    assert told["fields"][-1]["field"] == "class"
    assert told["fields"][-1]["local_epsilon"] == pytest.approx(np.log(3))


@pytest.mark.parametrize("name", ["rows.csv.gz", "rows.parquet"])
def test_other_formats_give_the_same_answers(privet, name):
    with_ids()
    privet(f"{GAUSSIAN} --keep 0.8 --id person")
    _ = clear().to_parquet(name) if name.endswith("parquet") else clear().to_csv(name, index=False)
    line = f"perturb {name} --channel rows.channel.json --secret key.json --id person -o answers.parquet"
    assert privet(line).exit_code == 0
    answers, again = pd.read_csv("rows.disturbed.csv"), pd.read_parquet("answers.parquet")
    assert_array_equal(answers["age"], again["age"])
    assert_array_equal(answers["sex"], again["sex"])


def test_the_default_output_has_the_format_of_the_rows(privet):
    clear().to_parquet("rows.parquet")
    privet(GAUSSIAN.replace("rows.csv", "rows.parquet"))
    assert pq.read_table("rows.disturbed.parquet").num_rows == N_ROWS


def test_many_batches_are_joined_in_order_with_one_type_a_column(privet, monkeypatch):
    table = clear().astype({"sex": object})
    table.loc[:150, "sex"] = None  # a batch without any answer
    table.to_csv("rows.csv", index=False)
    privet(f"{GAUSSIAN} --keep 0.8 -o one.parquet")
    monkeypatch.setattr("privet.counting.files._BLOCK_BYTES", 512)
    line = "perturb rows.csv --channel one.channel.json --secret key.json -o many.parquet"
    assert privet(line).exit_code == 0
    assert pq.read_table("many.parquet").equals(pq.read_table("one.parquet"))
    assert pq.read_table("many.parquet")["sex"].null_count == 151


def test_missing_values_stay_missing_unless_they_are_covered(privet):
    table = clear()
    table.loc[:9, ["age", "sex"]] = None
    table.to_csv("rows.csv", index=False)
    privet(f"{GAUSSIAN} --keep 0.8")
    assert pd.read_csv("rows.disturbed.csv").isna().sum().to_dict() == {"age": 10, "sex": 10, "children": 0, "class": 0}
    line = f"{KEPT} --covers-missing -o covered.csv".replace("key.json", "other.json")
    assert privet(line.replace("--keep 1", "--keep 0.5")).exit_code == 0
    assert pd.read_csv("covered.csv")["sex"].isna().sum() > 10


def test_without_ids_the_same_file_is_answered_alike_and_another_is_refused(privet, refused):
    for name in ("first", "again"):
        privet(f"{GAUSSIAN} --force -o {name}.csv")
    assert Path("first.csv").read_bytes() == Path("again.csv").read_bytes()
    clear().iloc[:-1].to_csv("rows.csv", index=False)
    assert "told apart in another way" in refused(f"{GAUSSIAN} --force -o another.csv", EXIT_DATA)


def test_rows_that_are_not_there_are_told_in_one_sentence(refused, folder):
    before = left(folder)
    assert "cannot read 'gone.csv'" in refused(GAUSSIAN.replace("rows.csv", "gone.csv"), EXIT_DATA)
    assert left(folder) == before


def test_a_table_without_rows_has_answers_without_rows(privet):
    Path("rows.csv").write_text("age,sex,children,class\n")
    for name in ("none.csv", "none.parquet"):
        assert privet(f"{GAUSSIAN} --force -o {name}").exit_code == 0
    assert Path("none.csv").read_text() == "age,sex,children,class\n"
    assert pq.read_table("none.parquet").num_rows == 0


def test_columns_that_the_schema_does_not_know_are_left_out_and_named(privet):
    clear().assign(diary="dear diary", person=range(N_ROWS)).to_csv("rows.csv", index=False)
    result = privet(f"{GAUSSIAN} --id person")
    assert "left out, since the channel does not know them: 'diary'" in result.stderr
    assert "place in this file" not in result.stderr
    assert "dear diary" not in Path("rows.disturbed.csv").read_text()
    assert "person" not in Path("rows.disturbed.csv").read_text()


def test_rows_without_a_label_are_disturbed_too(privet):
    clear().drop(columns="class").to_csv("rows.csv", index=False)
    result = privet(GAUSSIAN)
    assert "the file has no column 'class', so the answers have no label" in result.stderr
    assert list(pd.read_csv("rows.disturbed.csv")) == ["age", "sex", "children"]


def test_whole_records_become_bits(privet):
    line = "perturb rows.csv --schema schema.json --noise record-complement --theta 1 --label --secret key.json"
    result = privet(line)
    assert result.exit_code == 0, result.output
    assert "bits, all flipped or none" in result.stdout
    answers = pd.read_csv("rows.disturbed.csv")
    coding = Channel.load("rows.channel.json").record.coding
    assert list(answers) == [*coding.bit_names, "class"]
    assert_array_equal(answers["class"], clear()["class"])
    assert set(answers["sex:0"]) == {0, 1}


def test_a_record_is_flipped_as_a_whole_or_not_at_all(privet):
    privet("perturb rows.csv --schema schema.json --noise record-complement --theta 1 --secret a.json -o a.csv")
    privet("perturb rows.csv --schema schema.json --noise record-complement --theta 0.6 --secret b.json -o b.csv")
    differ = (pd.read_csv("a.csv") != pd.read_csv("b.csv")).drop(columns="class")
    assert set(differ.sum(axis=1)) == {0, differ.shape[1]}


def test_public_frequencies_decide_the_codes(privet):
    facts = {"frequencies": {"sex": {"female": 0.9, "male": 0.1}}, "quartiles": {"age": [30, 50, 70]}}
    Path("known.json").write_text(json.dumps(facts))
    line = "perturb rows.csv --schema schema.json --noise record-complement --theta 0.8 --secret key.json"
    told = json.loads(privet(f"{line} --frequencies known.json --json").stdout)
    codes = {code["field"]: code for code in told["guarantee"]["channel"]["record"]["coding"]["fields"]}
    assert codes["sex"]["shares"] == [0.9, 0.1]
    assert codes["age"]["bits"] == 2
    assert told["guarantee"]["leaks"] == []


def test_frequencies_read_from_the_rows_are_a_recorded_leak_with_a_warning(privet):
    line = "perturb rows.csv --schema schema.json --noise record-complement --theta 0.8 --secret key.json"
    result = privet(f"{line} --infer-frequencies --json")
    assert "it is recorded there as a leak" in result.stderr
    assert "frequencies of 'sex'" in json.loads(result.stdout)["guarantee"]["leaks"]


FREQUENCIES = "perturb rows.csv --schema schema.json --noise record-complement --theta 0.8 --secret k --frequencies f"


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("nothing", "is no JSON document"),
        ("[]", "does not hold frequencies and quartiles"),
        ('{"shares": {}}', "does not hold frequencies and quartiles"),
        ('{"frequencies": {"sex": [1]}}', "has entries that are no numbers"),
        ('{"frequencies": {"sex": {"male": "often"}}}', "has entries that are no numbers"),
        ('{"frequencies": {"shoe": {"43": 1}}}', "names 'shoe', which is no attribute of the schema"),
    ],
)
def test_a_file_of_frequencies_that_is_wrong_is_refused(refused, content, sentence):
    Path("f").write_text(content)
    assert sentence in refused(FREQUENCIES, EXIT_DATA)


WRONG = {
    "--schema schema.json": "say what happens to the rows",
    "--noise uniform --scale 1": "a schema is needed",
    "--schema schema.json --noise uniform": "--noise uniform takes one of --privacy or --scale",
    "--schema schema.json --noise record-complement": "--noise record-complement takes --theta",
    "--schema schema.json --noise laplace --epsilon 1 --scale 2": "one of --privacy, --scale or --epsilon",
    "--schema schema.json --noise gaussian --epsilon 1": "--epsilon does not apply to --noise gaussian",
    "--schema schema.json --noise uniform --scale 1 --theta 0.7": "--theta does not apply to --noise uniform",
    "--schema schema.json --noise record-complement --theta 0.7 --clear sex": "--clear does not apply",
    "--schema schema.json --noise uniform --privacy 0": "--privacy 0 must be above 0",
    "--schema schema.json --noise intervals --privacy 100": "must be above 0 and below 100",
    "--schema schema.json --noise uniform --privacy 50 --confidence 100": "must lie between 0 and 100 percent",
    "--schema schema.json --noise uniform --scale 1 --column shoe": "the schema has no attribute 'shoe'",
    "--schema schema.json --noise uniform --scale 1 --column age --clear age": "by --column and by --clear",
    "--schema schema.json --noise uniform --scale 1 --column age --column sex": "'sex' has categories, to which",
    "--schema schema.json --noise uniform --scale 1 --column sex": "no number is left for --noise uniform",
    "--schema schema.json --noise uniform --scale 1 --label": "--label is for random answers; add --keep",
    "--schema schema.json --noise uniform --scale 1 --keep 0.9 --categories-epsilon 1": "leave one out",
    "--schema schema.json --noise randomized-response --keep 0.1": "must be kept with a chance above",
    "--schema schema.json --noise randomized-response --keep 0.9 --clear age --clear sex --clear children": "no field",
    "--schema schema.json --noise uniform --scale 1 --keep-id": "--keep-id keeps the column that --id names",
    "--schema schema.json --noise uniform --scale 1 --id class": "is the label's column",
    "--schema schema.json --noise uniform --scale 1 --id sex": "is a field of the schema",
}  # fmt: skip


@pytest.mark.parametrize("options", WRONG)
def test_what_contradicts_itself_is_refused_and_nothing_is_written(refused, folder, options):
    before = left(folder)
    assert WRONG[options] in refused(f"perturb rows.csv {options} --secret key.json", EXIT_USAGE)
    assert left(folder) == before


def test_a_secret_and_rows_are_asked_for(refused):
    line = "perturb rows.csv --schema schema.json --noise uniform --scale 1"
    assert "a secret is needed: it fixes each person's answers" in refused(line, EXIT_USAGE)
    assert "name the table of clear rows" in refused(line.replace("rows.csv ", ""), EXIT_USAGE)


def test_a_published_channel_says_all_of_it(privet, refused):
    privet(GAUSSIAN)
    line = "perturb rows.csv --channel rows.channel.json --secret key.json -o more.csv"
    assert "--scale does not go with --channel" in refused(f"{line} --scale 2", EXIT_USAGE)
    assert "--schema does not go with --channel" in refused(f"{line} --schema schema.json", EXIT_USAGE)
    assert "--channel-output does not go with" in refused(f"{line} --channel-output c.json", EXIT_USAGE)
    Channel.clear(Schema.load("schema.json")).save("clear.json")
    assert "disturbs nothing" in refused(line.replace("rows.channel.json", "clear.json"), EXIT_USAGE)


@pytest.mark.parametrize(
    "option", ["-o rows.csv", "-o schema.json.csv --schema schema.json.csv", "--channel-output rows.csv"]
)
def test_an_input_is_never_written_over(refused, option):
    Path("schema.json.csv").write_text(Path("schema.json").read_text())
    assert "is read by this command" in refused(f"{GAUSSIAN} --force {option}", EXIT_USAGE)


def test_answers_never_take_the_secrets_name(refused, privet):
    line = GAUSSIAN.replace("key.json", "key.csv")
    assert "three files" in refused(f"{line} -o key.csv", EXIT_USAGE)
    privet(line)
    assert "is read by this command" in refused(f"{line} -o key.csv --force", EXIT_USAGE)


def test_files_that_are_there_are_replaced_only_when_asked_to(privet, refused):
    privet(GAUSSIAN)
    assert "'rows.disturbed.csv' exists" in refused(GAUSSIAN, EXIT_USAGE)
    assert "'rows.channel.json' exists" in refused(
        f"{GAUSSIAN} -o other.csv --channel-output rows.channel.json", EXIT_USAGE
    )
    assert privet(f"{GAUSSIAN} --force").exit_code == 0


def test_rows_that_cannot_be_read_leave_nothing_behind(refused, folder, monkeypatch):
    monkeypatch.setattr("privet.counting.files._BLOCK_BYTES", 512)
    with Path("rows.csv").open("a") as file:
        file.write("xyzzy,male,1,no\n")
    before = left(folder)
    sentence = refused(GAUSSIAN, EXIT_DATA)
    assert "column 'age' holds values that are not numbers" in sentence
    assert "xyzzy" not in sentence
    assert left(folder) == before


@pytest.mark.parametrize("block", [512, 2**21])
def test_the_same_person_twice_is_refused_even_far_apart(refused, folder, monkeypatch, block):
    monkeypatch.setattr("privet.counting.files._BLOCK_BYTES", block)
    with_ids([*(f"p{i}" for i in range(N_ROWS - 1)), "p0"])
    before = left(folder)
    sentence = refused(f"{GAUSSIAN} --id person", EXIT_DATA)
    assert "column 'person' holds the same person twice" in sentence
    assert "p0" not in sentence
    assert left(folder) == before


def test_a_column_that_is_not_there_is_not_remembered_as_the_one_that_tells_people_apart(privet, refused):
    with_ids()
    Secret("key.json")
    before = Path("key.json").read_text()
    assert "did you mean 'person'?" in refused(f"{GAUSSIAN} --id persn", EXIT_DATA)
    assert Path("key.json").read_text() == before
    assert privet(f"{GAUSSIAN} --id person").exit_code == 0


def in_two_batches(monkeypatch):
    monkeypatch.setattr("privet.counting.files._BLOCK_BYTES", 2_048)


def test_stdout_holds_the_answers_and_nothing_else(privet, folder):
    with_ids()
    result = privet(f"{GAUSSIAN} --id person -o -")
    assert result.exit_code == 0, result.output
    answers = pd.read_csv(io.StringIO(result.stdout))
    assert len(answers) == N_ROWS
    assert_array_equal(answers["class"], clear()["class"])
    assert "None proven" in result.stderr
    assert {"key.json", "rows.channel.json"} <= left(folder)


def test_stdout_takes_answers_or_json(privet, folder):
    before = left(folder)
    result = privet(f"{GAUSSIAN} -o - --json")
    assert result.exit_code == EXIT_USAGE
    assert "would both go to stdout" in json.loads(result.stdout)["error"]
    assert left(folder) == before


def test_the_same_person_twice_is_refused_before_anything_goes_to_stdout(privet, folder, monkeypatch):
    in_two_batches(monkeypatch)
    with_ids([*(f"p{i}" for i in range(N_ROWS - 1)), "p0"])
    before = left(folder)
    result = privet(f"{GAUSSIAN} --id person -o -")
    assert (result.exit_code, result.stdout) == (EXIT_DATA, "")
    assert "holds the same person twice" in result.stderr
    assert left(folder) == before


@pytest.mark.parametrize("another_answers", [False, True])
def test_a_run_that_fails_takes_back_its_new_secret_unless_another_has_answered_with_it(
    privet, folder, monkeypatch, another_answers
):
    with_ids()
    before = left(folder)

    def meanwhile(self, table):
        if another_answers:
            Respondents(self._channel, Secret("key.json"), "person")
        raise DataError("the first batch is bad; mend it")

    monkeypatch.setattr(Respondents, "answer", meanwhile)
    assert privet(f"{GAUSSIAN} --id person").exit_code == EXIT_DATA
    assert left(folder) - before == ({"key.json"} if another_answers else set())


@pytest.mark.parametrize("error", [DataError("the last batch is bad"), KeyboardInterrupt(), BrokenPipeError()])
def test_a_secret_that_answered_on_stdout_is_kept_whatever_happens_then(privet, folder, monkeypatch, error):
    in_two_batches(monkeypatch)
    answers = Respondents.answer

    def second_fails(self, table):
        if self._n_answered:
            raise error
        return answers(self, table)

    monkeypatch.setattr(Respondents, "answer", second_fails)
    result = privet(f"{GAUSSIAN} -o -")
    assert result.exit_code != 0
    assert result.stdout.count("\n") > 1
    assert "a new secret was written to 'key.json'" in result.stderr
    assert {"key.json", "rows.channel.json"} <= left(folder)
    monkeypatch.setattr(Respondents, "answer", answers)
    again = privet(f"{GAUSSIAN} -o - --force").stdout
    assert again.startswith(result.stdout)  # the same answers, as far as they went


def test_a_new_secret_stays_where_the_answers_are_written_but_not_the_channel(privet, folder, monkeypatch):
    @contextmanager
    def full(path):
        yield io.StringIO()
        raise ParameterError("the disk is full")

    monkeypatch.setattr("privet.cli.verbs.perturb.whole_file", full)
    assert privet(GAUSSIAN).exit_code == EXIT_USAGE
    assert {"key.json", "rows.disturbed.csv"} <= left(folder)


def inferred():
    schema = json.loads(Path("schema.json").read_text())
    schema["attributes"][0]["inferred"] = True
    Path("schema.json").write_text(json.dumps(schema))


def test_a_schema_that_was_inferred_is_said(privet):
    assert "inferred" not in privet(GAUSSIAN).stderr
    inferred()
    words = "the schema is marked as inferred or accepted in places, so the channel gives away what was read"
    assert words in privet(f"{GAUSSIAN} --force".replace("key.json", "new.json")).stderr
    result = privet("perturb --channel rows.channel.json --explain")
    assert words in result.stderr
    assert "Read from clear rows, and covered by no promise: bounds of 'age'" in result.stdout
    assert json.loads(privet("perturb --channel rows.channel.json --explain --json").stdout)["leaks"]


def test_attributes_that_nobody_asked_to_give_clear_are_named(privet):
    line = "perturb rows.csv --schema schema.json --noise gaussian --privacy 50 --force"
    words = "1 attribute is given as it is: sex; hide it with --keep or --categories-epsilon"
    assert words in privet(f"{line} --secret a.json").stderr
    words = "2 attributes are given as they are: sex, children; hide them by naming them with --column"
    assert words in privet(f"{line} --column age --secret b.json").stderr
    for option in ("--clear sex", "--keep 0.8"):
        assert "as it is" not in privet(f"{line} {option} --secret c{option[2]}.json").stderr
    words = "2 attributes are given as they are: sex, children; the channel has it so"
    privet(f"{line} --column age --secret d.json")
    assert words in privet("perturb rows.csv --channel rows.channel.json --secret d.json -o d.csv").stderr


def test_a_label_that_is_flipped_with_the_record_stands_in_the_table(privet):
    line = "perturb rows.csv --schema schema.json --noise record-complement --theta 0.8 --label --secret key.json"
    lines = [" ".join(line.split()) for line in privet(line).stdout.splitlines()]
    assert "class flipped with the record kept, chance 0.8 none" in lines


def test_random_answers_to_numbers_are_told_as_intervals(privet):
    line = "perturb --schema schema.json --noise randomized-response --keep 0.5 --explain"
    assert "1 of 4 intervals, kept with chance 0.5" in privet(f"{line} --clear sex").stdout
    shown = privet(f"{line} --clear sex --covers-missing").stdout
    assert "1 of 10 intervals or missing, kept with chance 0.5" in shown


def test_an_attribute_that_is_misspelled_is_told_the_one_that_was_meant(refused):
    line = "perturb rows.csv --schema schema.json --noise uniform --scale 1 --secret key.json"
    assert refused(f"{line} --column agee", EXIT_USAGE).endswith("did you mean 'age'?")
    assert refused(f"{line} --clear shoe", EXIT_USAGE).endswith("choose from age, sex, children")


def test_explain_writes_nothing_and_gives_each_measure_its_own_scale(privet, folder):
    before = left(folder)
    result = privet("perturb --schema schema.json --noise gaussian --privacy 100 --keep 0.8 --explain")
    assert result.exit_code == 0, result.output
    assert left(folder) == before
    for words in (
        "Local epsilon:",
        "84 (100 %)",
        "Posterior entropy:",
        "Best guess:",
        "Not promised:",
        "hides nothing: class",
    ):
        assert words in result.stdout
    assert "Filtering" not in result.stdout
    assert "A record as a whole has no local epsilon: not every field has one (age, children)." in result.stdout


def test_explain_tries_an_attack_on_clear_rows_and_says_whose_numbers_these_are(privet, folder):
    with_ids()
    before = left(folder)
    result = privet("perturb rows.csv --schema schema.json --noise gaussian --privacy 100 --id person --explain")
    assert left(folder) == before
    assert result.stdout.startswith("Given as they are, which hides nothing: class, sex.\nExact numbers about the rows")
    assert "by the best linear estimate" in result.stdout


def test_explain_in_json_is_one_object(privet):
    privet(GAUSSIAN)
    told = json.loads(privet("perturb --channel rows.channel.json --explain --json").stdout)
    assert [field["field"] for field in told["fields"]] == ["age", "sex", "children"]
    assert told["local_epsilon"] is None


def test_explain_of_flipped_records_tells_their_binary_anonymity(privet):
    line = "perturb rows.csv --schema schema.json --noise record-complement --theta 0.8 --explain"
    result = privet(line)
    assert "Binary anonymity:" in result.stdout
    assert "told rightly whether flipped" in result.stdout
    assert "told rightly" not in privet(line.replace("rows.csv ", "")).stdout


RANDOM = "perturb rows.csv --schema schema.json --noise randomized-response --secret key.json"


def test_numbers_with_noise_and_a_disturbed_label_are_fitted_by_the_method_that_perturb_names(privet, folder):
    line = "perturb rows.csv --schema schema.json --noise laplace --epsilon 3 --categories-epsilon 1 --label"
    told = json.loads(privet(f"{line} --secret key.json --json").stdout)
    assert told["fitted_by"] == ["reconstruction-tree"]
    result = privet("fit rows.disturbed.csv --channel rows.channel.json --method reconstruction-tree")
    assert result.exit_code == 0, result.output
    assert result.stdout.startswith("Nobody had to be trusted: any answers")


def test_a_channel_that_no_method_fits_is_refused_before_anybody_answers(refused, folder):
    schema = json.loads(Path("schema.json").read_text())
    schema["attributes"][1]["categories"] = ["female", "male", *(f"place {i}" for i in range(5_000))]
    Path("schema.json").write_text(json.dumps(schema))
    before = left(folder)
    assert refused(f"{RANDOM} --epsilon 4", EXIT_USAGE).startswith("no method can fit answers through this channel")
    assert left(folder) == before


def test_a_limit_refuses_a_channel_before_anybody_answers(privet, refused, folder):
    before = left(folder)
    sentence = refused(f"{RANDOM} --epsilon 2 --label --max-epsilon 1.5", EXIT_USAGE)
    assert sentence.startswith("the channel costs epsilon = 2.0, more than the limit of 1.5")
    sentence = refused(f"{RANDOM} --epsilon 1 --max-epsilon 1.5", EXIT_USAGE)
    assert sentence.startswith("the channel gives class without any bound, where the limit is epsilon = 1.5")
    assert "gives class, age, sex and 1 more" in refused(f"{RANDOM} --keep 1 --label --max-epsilon 9", EXIT_USAGE)
    assert "must be a number above 0" in refused(f"{RANDOM} --epsilon 1 --label --max-epsilon -1", EXIT_USAGE)
    assert left(folder) == before
    assert privet(f"{RANDOM} --epsilon 2 --label --max-epsilon 2").exit_code == 0


def test_what_a_published_channel_gives_clear_has_to_be_named_under_a_limit(privet, refused, folder):
    privet(f"{RANDOM} --epsilon 1 --label --clear age")
    line = "perturb rows.csv --channel rows.channel.json --secret key.json -o again.csv"
    assert "gives age without any bound" in refused(f"{line} --max-epsilon 1", EXIT_USAGE)
    assert "--clear does not go with --channel" in refused(f"{line} --clear age", EXIT_USAGE)
    assert privet(f"{line} --max-epsilon 1 --clear age").exit_code == 0


def test_a_channel_that_keeps_everything_is_said_loudly(privet, folder):
    result = privet(f"{RANDOM} --keep 1 --label")
    assert "NOT PRIVATE: the channel always keeps age, sex, children and 1 more" in result.stderr
