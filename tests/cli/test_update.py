"""privet update: a file in place or beside, a folder of dated models, and what is refused."""

import json
import os
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from privet import Ledger, load
from privet.cli.support.output import EXIT_BUDGET, EXIT_DATA, EXIT_USAGE
from privet.cli.verbs.update import UpdateTarget
from privet.errors import ModelFileError

FIT = "fit rows.csv --schema schema.json --method private-rdt"
MARK = "xyzzy"
SINGLE_ROWS = "single rows that are in two batches are not noticed: that there are none is your promise"


@pytest.fixture
def batches(folder):
    """Files of new rows, in the fixture's columns: one.csv, two.csv, three.csv."""
    for seed, name in enumerate(("one", "two", "three")):
        rng = np.random.default_rng(seed)
        columns = {"age": rng.integers(16, 100, 50), "sex": rng.choice(["female", "male"], 50)}
        columns |= {"children": rng.integers(0, 5, 50), "class": rng.choice(["no", "yes"], 50)}
        pd.DataFrame(columns).to_csv(f"{name}.csv", index=False)


@pytest.fixture
def account(privet, batches):
    """A ledger, and a private model whose fit is in it."""
    assert privet("ledger init ledger.db --dataset patients --epsilon 4").exit_code == 0
    assert privet(f"{FIT} --epsilon 1 --ledger ledger.db").exit_code == 0
    return Ledger("ledger.db", dataset="patients")


@pytest.fixture
def dated(privet, account):
    """The same model as the first state of a folder."""
    Path("models").mkdir()
    Path("model.privet").rename("models/2026-10-01.privet")
    return Path("models")


def said(result):
    return [line.removeprefix("privet: ") for line in result.stderr.splitlines()]


def counts(path):
    return load(path).noisy_counts_


def test_a_batch_is_added_in_place(privet, model_file, batches):
    before = counts(model_file)
    result = privet("update model.privet one.csv two.csv")
    assert result.exit_code == 0
    # Without noise, a hundred rows more are a hundred more in every tree.
    assert (counts(model_file) - before).sum() == 100 * load(model_file).forest_.n_trees
    assert result.stdout.endswith("model: model.privet\n")
    assert "There is no noise to grow: the model is not private." in result.stdout


def test_with_an_output_the_model_stays_as_it_was(privet, model_file, batches):
    before = model_file.read_bytes()
    assert privet("update model.privet one.csv -o new.privet").exit_code == 0
    assert model_file.read_bytes() == before
    assert len(load("new.privet").noise_growth_) == 2


def test_growth_and_advice_are_shown(privet, account):
    for name in ("one", "two"):
        assert privet(f"update model.privet {name}.csv --ledger ledger.db").exit_code == 0
    lines = privet("update model.privet three.csv --ledger ledger.db").stdout.splitlines()
    start = lines.index("batch  noise a count  times that of one fit")
    assert lines[start + 1 : start + 5] == [
        "    1           14.1                   1.00",
        "    2           20.0                   1.41",
        "    3           24.5                   1.73",
        "    4           28.3                   2.00",
    ]
    assert lines[start + 6 :] == [
        "Think of a refit: one fit on all rows so far, at the same epsilon, has noise of about 14.1 a count instead of "
        "28.3; it costs its own epsilon=1 on every row again, old and new.",
        "budget of 'patients': epsilon=4 of 4 spent per row, 0 left",
        "model: model.privet",
    ]


def test_before_a_refit_is_worth_it_the_number_of_batches_left_is_told(privet, account):
    shown = privet("update model.privet one.csv --ledger ledger.db").stdout
    assert "No need to refit: after 2 more batches one fit on all rows would halve the noise; it costs its own" in shown


def test_of_a_long_history_the_first_and_the_last_batches_are_shown(privet, model_file, batches):
    model = load(model_file)
    for _ in range(13):
        model.partial_fit("one.csv")
    model.save(model_file)
    lines = privet("update model.privet two.csv").stdout.splitlines()
    start = lines.index("batch  noise a count  times that of one fit")
    assert [line.split()[0] for line in lines[start + 1 : start + 13]] == ["1", "...", *map(str, range(6, 16))]


def test_json_says_the_same(privet, account):
    shown = json.loads(privet("update model.privet one.csv --ledger ledger.db --dated 2026-11-01 --json").stdout)
    assert (shown["model"], shown["updated_from"], shown["dated"]) == ("model.privet", "model.privet", "2026-11-01")
    assert (shown["batches"], shown["method"], shown["refit_advised"]) == (2, "private-rdt", False)
    assert shown["noise_growth"] == load("model.privet").noise_growth_.tolist()
    assert shown["noise_of_one_fit"] == pytest.approx(shown["noise_growth"][0])
    assert shown["ledger"]["spent"] == 2.0
    assert shown["guarantee"]["assumptions"] == ["no row is in more than one batch"]


def test_what_cannot_be_noticed_is_said_on_stderr(privet, account):
    without = privet("update model.privet one.csv")
    assert said(without) == [
        "no ledger was kept, so a batch that is added a second time cannot be noticed; pass --ledger",
        SINGLE_ROWS,
    ]
    with_ledger = privet("update model.privet two.csv --ledger ledger.db")
    words = "the ledger has no fingerprint of the model's first 2 batches: whether these are the same rows cannot be"
    assert said(with_ledger) == [f"{words} noticed", SINGLE_ROWS]


def test_the_same_batch_in_another_order_is_refused_and_costs_nothing(privet, refused, account):
    assert privet("update model.privet one.csv --ledger ledger.db").exit_code == 0
    before = Path("model.privet").read_bytes()
    pd.read_csv("one.csv").sort_values("age").to_parquet("sorted.parquet")
    sentence = refused("update model.privet sorted.parquet --ledger ledger.db", EXIT_DATA)
    assert sentence == (
        "this batch is in the model already: its rows would count twice, and the promise is for once; add rows that "
        "are new, or, if these are others that only look alike, add them with the next batch"
    )
    assert Path("model.privet").read_bytes() == before
    assert account.spent == 2.0


def test_the_rows_of_the_first_fit_are_refused_too(privet, refused, account):
    sentence = refused("update model.privet rows.csv --ledger ledger.db", EXIT_DATA)
    assert sentence.startswith("this batch is in the model already: its rows would count twice")
    assert account.spent == 1.0


def test_of_a_first_fit_without_the_ledger_it_is_said_that_its_rows_cannot_be_noticed(privet, account):
    assert privet(f"{FIT} --epsilon 1 -o other.privet").exit_code == 0
    result = privet("update other.privet rows.csv --ledger ledger.db")
    words = "the ledger has no fingerprint of the model's first fit: whether these are the same rows cannot be noticed"
    assert said(result) == [words, SINGLE_ROWS]


def test_the_budget_is_refused_before_a_row_is_read(privet, refused, account):
    account.add(2.5, what="something else")
    before = Path("model.privet").read_bytes()
    sentence = refused("update model.privet nowhere.csv --ledger ledger.db", EXIT_BUDGET)
    assert sentence.startswith("this release costs epsilon=1.0, but 0.5 is left of the budget of 'patients'")
    assert Path("model.privet").read_bytes() == before


def test_batches_as_parts_are_spent_side_by_side(privet, account):
    for name in ("one", "two"):
        assert privet(f"update model.privet {name}.csv --ledger ledger.db --part {name}").exit_code == 0
    assert account.spent == 2.0


def test_a_folder_keeps_every_state_and_goes_on_from_the_newest(privet, dated):
    first = (dated / "2026-10-01.privet").read_bytes()
    for name, date in (("one", "2026-11-01"), ("two", "2026-12-01")):
        result = privet(f"update models {name}.csv --dated {date} --ledger ledger.db")
        assert result.stdout.endswith(f"model: {Path('models') / date}.privet\n")
    states = sorted(dated.iterdir())
    assert [path.name for path in states] == ["2026-10-01.privet", "2026-11-01.privet", "2026-12-01.privet"]
    assert [len(load(path).noise_growth_) for path in states] == [1, 2, 3]
    assert states[0].read_bytes() == first


def test_a_folder_remembers_its_batches_by_date(privet, refused, dated):
    assert privet("update models one.csv --dated 2026-11-01 --ledger ledger.db").exit_code == 0
    sentence = refused("update models one.csv --dated 2026-12-01 --ledger ledger.db", EXIT_DATA)
    assert sentence.startswith("this batch is in the model already, dated 2026-11-01: its rows would count twice")
    assert not (dated / "2026-12-01.privet").exists()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ("--dated 2026-10-01", "--dated 2026-10-01: that state is there already in 'models'"),
        ("--dated 2026-09-30", "--dated 2026-09-30: that state is before 2026-10-01, the newest in 'models'"),
        ("--dated 2026-10-01 --force", "--dated 2026-10-01: that state is there already"),
        ("--dated 2026-11-31", "--dated '2026-11-31' is no date; write it as YYYY-MM-DD"),
        ("--dated 20261101", "--dated '20261101' is no date; write it as YYYY-MM-DD"),
        ("", "the folder 'models' keeps states by date; give the batch's with --dated"),
        ("--dated 2026-11-01 -o x.privet", "the folder 'models' keeps its states by date; leave -o out"),
    ],
)
def test_a_folder_refuses_what_does_not_fit_its_order(refused, options, words):
    Path("models").mkdir()
    Path("models/2026-10-01.privet").touch()  # refused before a model is opened
    assert refused(f"update models one.csv {options}", EXIT_USAGE).startswith(words)
    assert [path.name for path in Path("models").iterdir()] == ["2026-10-01.privet"]


def test_a_packed_state_is_a_state(refused):
    Path("models").mkdir()
    for name in ("2026-10-01.privet", "2026-11-01.privet.gz", "2026-12-01.csv"):
        Path("models", name).touch()
    sentence = refused("update models one.csv --dated 2026-11-01", EXIT_USAGE)
    assert sentence.startswith("--dated 2026-11-01: that state is there already")


def test_a_folder_without_states_says_how_to_begin(refused, batches):
    Path("models").mkdir()
    Path("models/notes.txt").write_text("not a model")
    sentence = refused("update models one.csv --dated 2026-11-01", EXIT_USAGE)
    assert sentence == (
        "the folder 'models' holds no model named by a date; begin with a fit and -o FOLDER/YYYY-MM-DD.privet"
    )


def test_a_file_keeps_dates_in_the_ledger_alone(privet, refused, account):
    sentence = refused("update model.privet one.csv --dated 2026-11-01", EXIT_USAGE)
    assert sentence.startswith("--dated is kept as a file's name in a folder, or in a ledger, never in the model")
    assert privet("update model.privet one.csv --dated 2026-11-01 --ledger ledger.db").exit_code == 0
    sentence = refused("update model.privet two.csv --dated 2026-11-01 --ledger ledger.db", EXIT_USAGE)
    assert sentence.startswith("--dated 2026-11-01 is not after 2026-11-01, the newest batch in the model")
    assert "2026-11-01" not in Path("model.privet").read_text()


@pytest.fixture
def forest(privet, batches):
    """A ledger, and a model of the recommended forest whose fit is in it."""
    assert privet("ledger init ledger.db --dataset patients --epsilon 4").exit_code == 0
    assert privet("fit rows.csv --schema schema.json --epsilon 1 --ledger ledger.db").exit_code == 0
    return Path("model.privet")


def test_the_recommended_forest_takes_batches_and_says_what_they_are_expected_to_cost(privet, forest):
    shown = privet("update model.privet one.csv --ledger ledger.db").stdout
    assert "batch  noise at a leaf  times that of one fit  expected loss, points  of one fit" in shown
    assert "no row is in more than one batch" in shown
    assert re.search(r"one fit on all rows( so far)?,? .*points? of accuracy.*epsilon=1 on every row again", shown)
    said = json.loads(privet("update model.privet two.csv --ledger ledger.db --json").stdout)
    assert (said["batches"], said["method"], said["ledger"]["spent"]) == (3, "private-forest", 3.0)
    assert len(said["expected_loss"]) == len(said["expected_loss_of_one_fit"]) == 3
    assert said["expected_loss"][2] > said["expected_loss_of_one_fit"][2]
    assert len(load(forest).releases_) == 3


def test_the_same_batch_of_the_recommended_forest_is_refused(privet, refused, forest):
    before = forest.read_bytes()
    assert refused("update model.privet rows.csv --ledger ledger.db", EXIT_DATA).startswith(
        "this batch is in the model"
    )
    assert forest.read_bytes() == before
    assert privet("update model.privet one.csv --ledger ledger.db").exit_code == 0
    assert refused("update model.privet one.csv --ledger ledger.db", EXIT_DATA).startswith("this batch is in the model")


def test_the_report_of_the_recommended_forest_says_how_many_batches_there_are(privet, forest):
    for rows in ("one.csv", "two.csv"):
        assert privet(f"update model.privet {rows} --ledger ledger.db").exit_code == 0
    assert privet("report model.privet -o page.html").exit_code == 0
    assert "New rows were added in 3 batches, each fitted by itself." in Path("page.html").read_text()
    said = json.loads(privet("report model.privet --json").stdout)
    assert len(said["noise"]["growth"]) == len(said["noise"]["epsilon_of_batches"]) == 3


@pytest.mark.parametrize("method", ["dpdf", "diffpid3"])
def test_a_method_without_updates_is_refused(privet, refused, batches, method):
    assert privet(f"fit rows.csv --schema schema.json --method {method}").exit_code == 0
    sentence = refused("update model.privet one.csv", EXIT_USAGE)
    assert sentence == (
        f"a model of the method '{method}' takes no further rows: nothing that it released can be added to; fit again "
        "on all rows, or use private-forest, private-rdt or dp-rf from the start"
    )


@pytest.mark.parametrize(
    ("line", "code", "words"),
    [
        ("update nowhere.privet one.csv", EXIT_DATA, "cannot read the model 'nowhere.privet': No such file"),
        ("update one.csv two.csv", EXIT_DATA, "'one.csv' is not a model file, or it is damaged"),
        ("update model.privet nowhere.csv", EXIT_DATA, "cannot read 'nowhere.csv': No such file or directory"),
        ("update model.privet one.csv -o rows.csv", EXIT_USAGE, "'rows.csv' exists; choose another output"),
        ("update model.privet one.csv -o one.csv --force", EXIT_USAGE, "'one.csv' is read by this command"),
        ("update model.privet one.csv --dataset patients", EXIT_USAGE, "--dataset and --part name an account"),
    ],
)
def test_whatever_is_refused_leaves_the_model_as_it_was(refused, model_file, batches, line, code, words):
    before = model_file.read_bytes()
    assert refused(line, code).startswith(words)
    assert model_file.read_bytes() == before


@pytest.mark.parametrize("rows", ["new", "new/*.parquet"])
def test_a_file_of_the_folder_or_pattern_is_never_replaced(refused, model_file, batches, rows):
    Path("new").mkdir()
    pd.read_csv("one.csv").to_parquet("new/a.parquet")
    before = Path("new/a.parquet").read_bytes()
    said = refused(f"update model.privet {rows} -o new/a.parquet --force", EXIT_USAGE)
    assert said == "'new/a.parquet' is read by this command; choose another output with -o"
    assert Path("new/a.parquet").read_bytes() == before


def test_a_planted_value_shows_in_no_output(privet, account):
    planted = [f"50,{MARK},1,no", f"50,male,1,{MARK}", f"{MARK},male,1,no", f'50,"{MARK},1,no']
    for bad in planted:
        Path("planted.csv").write_text(f"age,sex,children,class\n40,female,2,yes\n{bad}\n")
        result = privet("update model.privet planted.csv --ledger ledger.db -o out.privet --force --json")
        assert result.exit_code in {0, EXIT_DATA}
        assert MARK not in result.output


def test_the_ledger_shows_neither_key_nor_fingerprint(privet, account):
    assert privet("update model.privet one.csv --ledger ledger.db").exit_code == 0
    from privet.central.updates.batches import BatchHistory

    history = BatchHistory(account)
    for line in ("ledger show ledger.db", "ledger show ledger.db --json", "ledger verify ledger.db --json"):
        shown = privet(line).stdout
        assert history.key().hex() not in shown
        assert history.batches()[0].fingerprint not in shown


def test_a_model_that_another_update_has_replaced_meanwhile_is_left_alone(folder):
    model_file = Path("model.privet")
    model_file.touch()
    place = UpdateTarget.of(model_file, None, None)
    place.check_unchanged()
    model_file.write_text("another")
    with pytest.raises(
        ModelFileError, match="'model.privet' changed while this update was made, and was left as it is"
    ):
        place.check_unchanged()


def test_a_state_that_another_update_has_added_meanwhile_stops_this_one(tmp_path):
    (tmp_path / "2026-10-01.privet").touch()
    place = UpdateTarget.of(tmp_path, None, "2026-12-01")
    place.check_unchanged()
    (tmp_path / "2026-11-15.privet").touch()
    with pytest.raises(ModelFileError, match="changed while this update was made"):
        place.check_unchanged()


def test_a_model_that_cannot_be_saved_in_its_folder_is_refused_before_anything_is_spent(refused, account, monkeypatch):
    really = os.access
    monkeypatch.setattr(os, "access", lambda path, mode: mode != os.W_OK and really(path, mode))
    sentence = refused("update model.privet one.csv --ledger ledger.db", EXIT_USAGE)
    assert sentence == "cannot write to 'model.privet': its folder is read-only; choose another with -o"
    assert account.spent == 1.0
