"""A command that was stopped after it had paid: where its model is, and that nobody pays for it twice."""

import json
import re
from pathlib import Path

import pytest

from privet import Ledger, load
from privet.central.updates.update_history import BatchHistory
from privet.cli.support.output import EXIT_DATA, EXIT_INTERRUPTED
from privet.errors import LedgerError
from privet.files.file_lock import file_lock

FIT = "fit rows.csv --schema schema.json --epsilon 1 --ledger ledger.db"
COUNTS = f"{FIT} --method private-rdt --trees 2 --height 2"
WAITS = (
    r"the command that made entry \d \(.+, .+\) was stopped while it saved its model, which is paid for and waits in "
    r"'(?P<path>.+\.privet)'; move it to where it is to be, or delete it if it is there already"
)


@pytest.fixture
def ledger(privet):
    assert privet("ledger init ledger.db --dataset people --epsilon 4").exit_code == 0
    return Ledger("ledger.db", dataset="people")


def kept():
    return [path for ending in ("pending", "privet") for path in Path().glob(f"ledger.db.*.{ending}")]


def stop(*_, **__):
    raise KeyboardInterrupt


def stopped(privet, line, at):
    """Run a command that is stopped at ``at``, and return what it says."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(at, stop)
        result = privet(line)
    assert result.exit_code == EXIT_INTERRUPTED
    return result.stderr


@pytest.mark.parametrize("line", [FIT, COUNTS], ids=["a forest of weights", "a forest of counts"])
def test_a_fit_that_is_stopped_while_it_saves_leaves_its_model_beside_the_ledger(privet, refused, ledger, line):
    said = stopped(privet, line, "privet.cli.verbs.fit.save_paid")
    waiting = Path(re.search(WAITS, said)["path"])
    [(checksum, reservation)] = [(each.ended.body["model"], each.begun.hash) for each in ledger.account().spendings]
    assert waiting.name == f"ledger.db.{reservation[:16]}.privet"
    again = refused(line, EXIT_DATA)
    assert re.fullmatch(f"{WAITS}, before you pay for another one", again)
    assert not Path("model.privet").exists()
    assert ledger.spent == 1.0
    waiting.rename("model.privet")
    assert json.loads(Path("model.privet").read_text())["checksum"] == checksum
    assert load("model.privet").guarantee_.epsilon == 1.0
    assert privet(f"{line} -o second.privet").exit_code == 0
    assert ledger.spent == 2.0
    assert kept() == []


def test_every_command_that_opens_the_account_says_so(privet, ledger):
    stopped(privet, FIT, "privet.cli.verbs.fit.save_paid")
    for line in (
        "ledger show ledger.db",
        "ledger add ledger.db --what table --epsilon 0.1",
        "plan --schema schema.json --epsilon 1 --ledger ledger.db",
    ):
        result = privet(line)
        assert result.exit_code == 0, result.stderr
        assert re.search(WAITS, result.stderr)
    Path("link.db").symlink_to("ledger.db")
    assert re.search(WAITS, privet("ledger show link.db").stderr)
    [told] = json.loads(privet("ledger show ledger.db --json").stdout)["datasets"]
    assert told["waiting"] == [str(path.resolve()) for path in kept()]


def test_other_accounts_of_the_same_ledger_go_on(privet, ledger):
    stopped(privet, FIT, "privet.cli.verbs.fit.save_paid")
    assert privet("ledger init ledger.db --dataset others --epsilon 1").exit_code == 0
    result = privet(f"{FIT} --dataset others")
    assert result.exit_code == 0
    assert "waits" not in result.stderr
    assert len(kept()) == 1


def test_a_model_that_is_being_saved_at_this_moment_stops_nobody(privet, ledger):
    stopped(privet, FIT, "privet.cli.verbs.fit.save_paid")
    with file_lock(kept()[0]):
        result = privet(FIT)
    assert result.exit_code == 0
    assert "waits" not in result.stderr
    assert len(kept()) == 1


@pytest.mark.parametrize("place", ["plan --schema schema.json --epsilon 1 --ledger ledger.db", "ledger show ledger.db"])
def test_a_model_of_another_ledger_that_had_the_name_is_left_alone(privet, ledger, place):
    stopped(privet, FIT, "privet.cli.verbs.fit.save_paid")
    Path("ledger.db").rename("2025.db")
    assert privet("ledger init ledger.db --dataset people --epsilon 4").exit_code == 0
    result = privet(place)
    assert result.exit_code == 0
    assert "waits" not in result.stderr
    assert len(kept()) == 1


def test_what_is_not_the_model_that_was_settled_is_not_offered(privet, ledger):
    stopped(privet, FIT, "privet.cli.verbs.fit.save_paid")
    [waiting] = kept()
    whole = waiting.read_text()
    assert privet("fit rows.csv --schema schema.json --epsilon 1 -o other.privet").exit_code == 0
    for text in ("another file", Path("other.privet").read_text()):
        waiting.write_text(text)
        assert "waits" not in privet("ledger show ledger.db").stderr
        assert waiting.exists()
    waiting.write_text(whole)
    assert "waits" in privet("ledger show ledger.db").stderr


def test_a_first_fit_waits_though_workers_took_no_fingerprint(privet, ledger, monkeypatch):
    monkeypatch.setattr(BatchHistory, "record", lambda *_: None)
    assert re.search(WAITS, stopped(privet, COUNTS, "privet.cli.support.paid_model._check_free"))
    assert re.search(WAITS, privet("ledger show ledger.db").stderr)


def test_a_first_fit_that_is_stopped_before_its_batch_is_on_record_waits(privet, ledger):
    assert re.search(WAITS, stopped(privet, COUNTS, "privet.central.updates.update.BatchHistory.record"))


def test_a_first_fit_in_a_part_is_withheld_then_since_another_part_could_take_the_same_rows(privet, ledger):
    said = stopped(privet, f"{COUNTS} --part north", "privet.central.updates.update.BatchHistory.record")
    assert "was stopped before its batch was on record: its model is withheld" in said
    assert kept() == []
    assert privet(f"{COUNTS} --part south").exit_code == 0


def test_entries_that_are_no_fits_have_no_model_to_wait(privet, ledger):
    stopped(privet, FIT, "privet.cli.verbs.fit.save_paid")
    [waiting] = kept()
    ledger.add(0.1, what="a table")
    added = ledger.account().spendings[-1].begun.hash
    waiting.rename(f"ledger.db.{added[:16]}.privet")
    result = privet("ledger show ledger.db")
    assert result.exit_code == 0
    assert "waits" not in result.stderr


def test_a_model_that_is_refused_after_it_was_settled_is_withheld(privet, ledger, monkeypatch):
    def refuse(*_):
        raise LedgerError("the ledger is busy; wait")

    monkeypatch.setattr(BatchHistory, "record", refuse)
    result = privet(COUNTS)
    assert result.exit_code == EXIT_DATA
    assert "waits" not in result.stderr
    assert kept() == []


@pytest.mark.parametrize("line", [FIT, COUNTS], ids=["a forest of weights", "a forest of counts"])
def test_a_model_that_was_whole_before_it_could_be_settled_waits_too(privet, ledger, line):
    said = stopped(privet, line, "privet.privacy.ledger.reservation.Reservation._close")
    assert "epsilon=1 counts as spent" in said
    assert re.search(WAITS, said)
    again = privet(line)
    assert again.exit_code == EXIT_DATA
    assert "was never settled" in again.stderr
    assert ledger.spent == 1.0
    assert load(kept()[0]).guarantee_.epsilon == 1.0


def test_half_of_a_model_is_removed_and_only_what_was_reserved_is_told(privet, ledger):
    stopped(privet, FIT, "privet.privacy.ledger.reservation.Reservation._close")
    [waiting] = kept()
    waiting.with_suffix(".pending").write_bytes(waiting.read_bytes()[:100])
    waiting.unlink()
    result = privet("ledger add ledger.db --what table --epsilon 0.1")
    assert "was never settled" in result.stderr
    assert "waits" not in result.stderr
    assert kept() == []


def test_an_update_that_is_stopped_while_it_saves_can_be_fetched_and_its_batch_is_known(privet, refused, ledger):
    assert privet(COUNTS).exit_code == 0
    Path("new.csv").write_text("age,sex,children,class\n30,female,1,no\n40,male,2,yes\n")
    update = "update model.privet new.csv --ledger ledger.db"
    said = stopped(privet, update, "privet.cli.verbs.update.save_paid")
    Path(re.search(WAITS, said)["path"]).rename("model.privet")
    assert len(load("model.privet").noise_growth_) == 2
    assert "this batch is in the model already" in refused(update, EXIT_DATA)


def test_an_update_that_is_stopped_before_its_batch_is_on_record_is_withheld(privet, ledger):
    assert privet(COUNTS).exit_code == 0
    Path("new.csv").write_text("age,sex,children,class\n30,female,1,no\n40,male,2,yes\n")
    update = "update model.privet new.csv --ledger ledger.db"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(BatchHistory, "record", stop)
        said = privet(update).stderr
    assert "was stopped before its batch was on record: its model is withheld, and its price counts as spent" in said
    assert kept() == []
    # As it was, and the batch may be added, at its price.
    assert len(load("model.privet").noise_growth_) == 1
    assert privet(update).exit_code == 0
    assert ledger.spent == 3.0
