"""privet ledger, and privet fit --ledger."""

import json
import sqlite3
from pathlib import Path

import pytest

from privet import Ledger
from privet.cli.support.output import EXIT_BUDGET, EXIT_BUG, EXIT_DATA, EXIT_INTERRUPTED, EXIT_USAGE
from privet.privacy.ledger.ledger_file import LedgerFile

FIT = "fit rows.csv --schema schema.json --ledger ledger.db --force"


@pytest.fixture
def account(privet):
    assert privet("ledger init ledger.db --dataset patients --epsilon 1").exit_code == 0
    return Ledger("ledger.db", dataset="patients")


def test_an_account_is_opened_and_opening_it_again_changes_nothing(privet):
    line = "ledger init ledger.db --dataset patients --epsilon 1 --delta 1e-6 --unit person_id"
    words = "budget of 'patients': epsilon=0 of 1 at delta=1e-06 spent per person_id, 1 left\n"
    assert privet(line).stdout == words
    head = json.loads(privet("ledger verify ledger.db --json").stdout)["head"]
    assert privet(line).stdout == words
    assert json.loads(privet("ledger verify ledger.db --json").stdout)["head"] == head


def test_a_fit_spends_and_says_what_is_left(privet, account):
    result = privet(f"{FIT} --epsilon 0.75")
    assert result.stdout.splitlines()[-2:] == [
        "budget of 'patients': epsilon=0.75 of 1 spent per row, 0.25 left",
        "model: model.privet",
    ]
    summary = json.loads(privet(f"{FIT} --epsilon 0.25 --json").stdout)["ledger"]
    assert (summary["spent"], summary["left"], summary["dataset"]) == (1.0, 0.0, "patients")


def test_what_exceeds_the_budget_exits_with_4_and_opens_no_data_file(refused, privet, account):
    assert privet(f"{FIT} --epsilon 0.75").exit_code == 0
    before = Path("model.privet").read_bytes()
    sentence = refused("fit nowhere.parquet --schema schema.json --ledger ledger.db --epsilon 0.5 --force", EXIT_BUDGET)
    assert sentence.startswith("this release costs epsilon=0.5, but 0.25 is left of the budget of 'patients'; ask for")
    assert Path("model.privet").read_bytes() == before
    assert refused("ledger add ledger.db --what 'a table' --epsilon 0.5", EXIT_BUDGET).startswith("this release costs")


def test_without_a_ledger_a_fit_says_that_nobody_keeps_account(privet):
    shown = privet("fit rows.csv --schema schema.json").stdout
    assert "no ledger was kept: further fits on these rows add to what they cost" in shown


def test_parts_are_named_on_the_line(privet, account):
    rows = Path("rows.csv").read_text().splitlines()
    for part, half in (("january", rows[:150]), ("march", [rows[0], *rows[150:]])):
        Path("rows.csv").write_text("\n".join(half))
        assert privet(f"{FIT} --epsilon 1 --part {part}").exit_code == 0
    data = json.loads(privet("ledger show ledger.db --json").stdout)["datasets"][0]
    assert (data["spent"], data["left"]) == (1.0, 0.0)
    assert data["parts"]["march"] == {"spent": 1.0, "left": 0.0}


@pytest.mark.parametrize("method", ["private-forest", "private-rdt", "dpdf"])
def test_the_same_rows_are_not_paid_for_as_two_parts(privet, refused, account, method):
    line = f"{FIT} --epsilon 1 --method {method} --part"
    assert privet(f"{line} january").exit_code == 0
    assert "the ledger has this batch in the part 'january'" in refused(f"{line} march", EXIT_DATA)
    assert account.for_part("march").spent == 0.0


def test_a_part_of_people_needs_a_statement_that_the_model_and_the_report_repeat(privet, refused, folder):
    rows = Path("rows.csv").read_text().splitlines()
    Path("people.csv").write_text(
        "\n".join([rows[0] + ",person", *(f"{row},{i // 3}" for i, row in enumerate(rows[1:]))])
    )
    privet("ledger init ledger.db --dataset visits --epsilon 1 --unit person")
    line = "fit people.csv --schema schema.json --ledger ledger.db --unit person --part march"
    assert "say so with no_person_in_two_parts=True (--no-person-in-two-parts)" in refused(line, EXIT_DATA)
    shown = privet(f"{line} --no-person-in-two-parts").stdout
    assert "provided that no 'person' is in more than one part of the data set; trusted" in shown
    assert privet("report model.privet --ledger ledger.db").exit_code == 0
    assert "no &#39;person&#39; is in more than one part of the data set" in Path("model.html").read_text()
    assert privet("predict model.privet people.csv").exit_code == 0
    sentence = refused("fit people.csv --schema schema.json --no-person-in-two-parts --force", EXIT_USAGE)
    assert "pass its file with --ledger" in sentence


def test_show_says_what_was_recorded_before_privet_asked(privet):
    privet("ledger init ledger.db --dataset visits --epsilon 1 --unit person")
    old = {"dataset": "visits", "epsilon": 0.5, "delta": 0.0, "what": "fit", "method": "private-rdt"}
    with LedgerFile(Path("ledger.db").resolve()).transaction() as transaction:
        transaction.append("budget", {"dataset": "Visits", "epsilon": 2.0, "delta": 0.0, "unit": "row"})
        for part in ("january", "January"):
            transaction.append("added", {**old, "part": part})
    shown = privet("ledger show ledger.db").stdout
    assert "The accounts 'visits' and 'Visits' look alike, and each has a budget of its own." in shown
    assert "The parts 'January' and 'january' look alike, and each has a share of its own." in shown
    assert (
        "Nobody has stated that no person is in two of the parts 'January', 'january': they count side by side" in shown
    )
    data = json.loads(privet("ledger show ledger.db --json").stdout)
    assert data["alike"] == [["visits", "Visits"]]
    assert data["datasets"][0]["unstated_parts"] == ["January", "january"]


def test_on_a_strict_account_a_fit_that_rows_made_fail_is_spent_and_shown_so(privet, refused):
    line = "ledger init ledger.db --dataset patients --epsilon 1 --strict"
    assert privet(line).stdout == "strict budget of 'patients': epsilon=0 of 1 spent per row, 1 left\n"
    declared = json.loads(Path("schema.json").read_text())
    declared["classes"] = ["no", "perhaps"]
    Path("guess.json").write_text(json.dumps(declared))
    told = privet("fit rows.csv --schema guess.json --ledger ledger.db --epsilon 0.25").stderr
    assert "this account is strict, so epsilon=0.25 counts as spent" in told
    for free in (
        "nowhere.csv --schema schema.json",
        "rows.csv --schema nowhere.json",
        "rows.csv nowhere.csv --schema guess.json",
    ):
        assert "strict" not in privet(f"fit {free} --ledger ledger.db --epsilon 0.25").stderr
    shown = privet("ledger show ledger.db").stdout
    assert shown.splitlines()[:2] == ["patients: epsilon=1 per row, strict", "spent 0.25, left 0.75"]
    assert "failed (DataError), counts as spent" in shown
    assert (
        refused("ledger init ledger.db --dataset patients --epsilon 2", EXIT_DATA).count("'row', strict; it never") == 1
    )
    assert privet("ledger init ledger.db --dataset patients --epsilon 1").exit_code == 0


def test_show_lists_every_release_with_its_state_and_model(privet, account):
    privet(f"{FIT} --epsilon 0.25")
    privet("fit nowhere.csv --schema schema.json --ledger ledger.db --epsilon 0.25 -o other.privet")
    privet("ledger add ledger.db --what 'ages by hand' --epsilon 0.125")
    checksum = json.loads(Path("model.privet").read_text())["checksum"]
    shown = privet("ledger show ledger.db").stdout.splitlines()
    assert shown[:2] == ["patients: epsilon=1 per row", "spent 0.375, left 0.625"]
    assert shown[3].endswith(f"settled                {checksum[:12]}")
    assert "withdrawn (DataError)" in shown[4]
    assert "ages by hand  outside of privet" in shown[5]
    assert shown[-1].startswith("head: ")


def test_a_release_that_never_came_back_is_shown_as_spent(privet, account):
    from privet.privacy.ledger import Cost

    account.reserve(Cost(0.5), method="private-rdt", what="fit")
    assert "not settled, counts as spent" in privet("ledger show ledger.db").stdout


@pytest.mark.parametrize(
    ("error", "code", "beginning"),
    [
        (MemoryError(), EXIT_BUG, "privet: an unexpected MemoryError stopped the command"),
        (KeyboardInterrupt(), EXIT_INTERRUPTED, "privet: interrupted"),
    ],
)
def test_whatever_stops_a_fit_after_its_noise_is_told_with_what_it_cost(
    privet, account, monkeypatch, error, code, beginning
):
    def stop(_):
        raise error

    monkeypatch.setattr("privet.central.released_classifier.ReleasedClassifier._ledger_note", stop)
    result = privet(f"{FIT} --epsilon 0.25 --method private-rdt")
    told = result.stderr.splitlines()[-1]
    assert result.exit_code == code
    assert told.startswith(beginning)
    assert "noise was drawn by then, so epsilon=0.25 counts as spent, and a further run costs as much again" in told
    assert account.spent == 0.25


def test_a_release_that_happened_is_recorded_even_over_the_budget(privet, account):
    result = privet("ledger add ledger.db --what 'a table' --epsilon 3 --already-released")
    assert result.stdout == "budget of 'patients': epsilon=3 of 1 spent per row, 0 left\n"


def test_verify_knows_an_old_head_and_not_a_foreign_one(privet, refused, account):
    head = json.loads(privet("ledger verify ledger.db --json").stdout)["head"]
    privet("ledger add ledger.db --what 'a table' --epsilon 0.5")
    assert privet(f"ledger verify ledger.db --head {head}").stdout.startswith("3 entries, chain intact\nhead: ")
    assert refused("ledger verify ledger.db --head abc", EXIT_DATA).startswith("the head that was noted is not in this")


@pytest.fixture
def cut_short(privet, monkeypatch):
    """A ledger whose end was cut off after a release."""
    monkeypatch.setenv("XDG_STATE_HOME", str(Path("state").resolve()))
    privet("ledger init ledger.db --dataset patients --epsilon 1")
    older = Path("ledger.db").read_bytes()
    privet("ledger add ledger.db --what 'a table' --epsilon 1")
    Path("ledger.db").write_bytes(older)


@pytest.mark.usefixtures("cut_short")
def test_an_end_that_was_cut_off_is_noticed_by_every_command_that_goes_by_the_ledger(refused, privet):
    sentence = (
        "the ledger 'ledger.db' lacks entry 3, which was seen before: its end was cut off, an older copy put back"
    )
    for line in (
        FIT, "ledger add ledger.db --what 'a table' --epsilon 1", "ledger verify ledger.db",
        "plan --schema schema.json --rows 300 --ledger ledger.db",
        "ledger init ledger.db --dataset others --epsilon 1",
    ):  # fmt: skip
        assert refused(line, EXIT_DATA).startswith(sentence)
    shown = privet("ledger show ledger.db")
    assert shown.stdout.startswith("patients: epsilon=1 per row\nspent 0, left 1")
    assert "entry 3, seen before, is not in this ledger" in shown.stderr


@pytest.mark.usefixtures("cut_short")
def test_a_ledger_that_was_put_back_on_purpose_is_accepted_by_name(privet):
    accepted = privet("ledger verify ledger.db --accept")
    assert accepted.stdout.startswith("2 entries, chain intact\nhead: ")
    assert "what was spent there and is not here counts no longer; record it with" in accepted.stderr
    assert privet("ledger add ledger.db --what 'a table' --epsilon 1 --already-released").exit_code == 0
    assert privet("ledger verify ledger.db").stdout.startswith("3 entries, chain intact")
    assert privet("ledger verify ledger.db --accept").stderr == ""


@pytest.mark.parametrize("named", ["not absolute", "taken by a file"])
def test_a_state_folder_that_takes_no_file_is_told_in_one_sentence(privet, monkeypatch, named):
    Path("file").write_text("")
    monkeypatch.setenv("HOME", str(Path("file").resolve()))
    monkeypatch.setenv("XDG_STATE_HOME", "state" if named == "not absolute" else str(Path("file").resolve()))
    result = privet("ledger init ledger.db --dataset patients --epsilon 1")
    assert result.exit_code == 0
    assert result.stderr.count("privet: ") == 1
    assert "so a ledger that" in result.stderr
    assert not Path("state").exists()


def test_verify_and_fit_notice_a_changed_entry(privet, refused, account):
    with sqlite3.connect("ledger.db") as connection:
        connection.executescript(
            "DROP TRIGGER no_change; UPDATE entries SET body = replace(body, '1.0', '9.0') WHERE number = 2"
        )
    connection.close()
    for line in ("ledger verify ledger.db", "ledger show ledger.db", f"{FIT} --epsilon 5"):
        assert "entry 2 of the ledger" in refused(line, EXIT_DATA)


def test_of_several_accounts_one_must_be_named(privet, refused, account):
    assert privet("ledger init ledger.db --dataset visits --epsilon 2").exit_code == 0
    assert refused(FIT, EXIT_DATA) == "the ledger has budgets for 'patients', 'visits'; say which with --dataset"
    assert privet(f"{FIT} --dataset visits").exit_code == 0
    assert Ledger("ledger.db", dataset="visits").spent == 1.0
    assert privet("ledger show ledger.db --dataset visits").stdout.startswith("visits: epsilon=2")
    assert "no budget for 'others'" in refused("ledger show ledger.db --dataset others", EXIT_DATA)


@pytest.mark.parametrize(
    ("line", "code", "sentence"),
    [
        ("ledger show none.db", EXIT_DATA, "there is no ledger at"),
        ("ledger show rows.csv", EXIT_DATA, "is damaged or no ledger"),
        ("ledger init ledger.db --dataset patients --epsilon 2", EXIT_DATA, "is already set: epsilon=1"),
        ("ledger init ledger.db --dataset other --epsilon 0", EXIT_USAGE, "epsilon=0.0 is no amount"),
        ("ledger init ledger.db --dataset other --epsilon 1e305", EXIT_USAGE, "of at most 1e+300"),
        ("ledger init ledger.db --epsilon 2", EXIT_USAGE, "missing option '--dataset'"),
        ("fit rows.csv --schema schema.json --part a", EXIT_USAGE, "pass its file with --ledger"),
        (f"{FIT} -o ledger.db", EXIT_USAGE, "'ledger.db' is read by this command"),
        (f"{FIT} --unit sex", EXIT_DATA, "protects each row, this release each sex"),
    ],
)
def test_mistakes_are_told_in_one_line(refused, account, line, code, sentence):
    assert sentence in refused(line, code)


OF_THE_LEDGER = "would be taken for one of the ledger's own files, and be lost; choose another output with -o"


@pytest.mark.parametrize("name", ["ledger.db-journal", "ledger.db-wal", "Ledger.db-shm", "state/privet/ledgers/x.head"])
@pytest.mark.parametrize(
    "line",
    [FIT, "update model.privet new.csv --ledger ledger.db",
     "party release rows.csv --structure structure.json --key bank.key --ledger ledger.db",
     "party sum rows.csv --structure structure.json --roster r.json --key bank.key --folder . --ledger ledger.db"],
    ids=["fit", "update", "release", "sum"],
)  # fmt: skip
def test_an_output_that_the_ledger_would_take_for_its_own_is_refused_before_anything_is_spent(
    privet, refused, monkeypatch, model_file, line, name
):
    monkeypatch.setenv("XDG_STATE_HOME", str(Path("state").resolve()))
    for given in (
        "ledger init ledger.db --dataset patients --epsilon 1", "party keygen bank", "party roster bank.pub -o r.json",
        "party structure --schema schema.json --method private-rdt --epsilon 0.5",
    ):  # fmt: skip
        assert privet(given).exit_code == 0
    Path("new.csv").write_bytes(Path("rows.csv").read_bytes())
    assert refused(f"{line} -o {name}", EXIT_USAGE) == f"'{name}' {OF_THE_LEDGER}"
    assert Ledger("ledger.db", dataset="patients").spent == 0.0


@pytest.mark.usefixtures("account")
def test_a_link_does_not_hide_that_an_output_is_a_journal_of_the_ledger(refused):
    Path("elsewhere").mkdir()
    Path("linked.db").symlink_to("ledger.db")
    Path("linked").symlink_to(".")
    Path("elsewhere/model.privet").symlink_to(Path("ledger.db-journal").resolve())
    for line in (
        "fit rows.csv --schema schema.json --ledger linked.db -o ledger.db-journal",
        f"{FIT} -o linked/ledger.db-journal", f"{FIT} -o elsewhere/model.privet",
    ):  # fmt: skip
        assert OF_THE_LEDGER in refused(line, EXIT_USAGE)


def test_a_report_with_a_ledger_stays_out_of_the_folder_of_heads(privet, refused, monkeypatch, model_file, account):
    monkeypatch.setenv("XDG_STATE_HOME", str(Path("state").resolve()))
    Path("state/privet/ledgers").mkdir(parents=True)
    line = "report model.privet --ledger ledger.db -o state/privet/ledgers/page.html"
    assert OF_THE_LEDGER in refused(line, EXIT_USAGE)


def test_a_unit_is_named_on_the_line(privet, folder):
    rows = Path("rows.csv").read_text().splitlines()
    named = [rows[0] + ",person", *(f"{row},{number // 3}" for number, row in enumerate(rows[1:]))]
    Path("people.csv").write_text("\n".join(named) + "\n")
    result = privet("fit people.csv --schema schema.json --unit person --max-rows 2")
    assert "all rows of one 'person' more or less, of which the first 2 are used" in result.stdout
    assert privet("predict model.privet people.csv").exit_code == 0
