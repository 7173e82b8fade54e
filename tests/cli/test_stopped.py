"""A command that was stopped after it had paid: where its model is, and that nobody pays for it twice."""

import json
import re
from pathlib import Path

import pytest

from privet import Ledger, load
from privet.central.update_history import BatchHistory
from privet.cli.output import EXIT_DATA, EXIT_INTERRUPTED
from privet.privacy.ledger.shelf import Shelf

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
    said = stopped(privet, line, "privet.cli.fit.save_paid")
    waiting = Path(re.search(WAITS, said)["path"])
    assert waiting.parent.resolve() == Path("ledger.db.paid").resolve()
    again = refused(line, EXIT_DATA)
    assert re.fullmatch(f"{WAITS}, before you pay for another one", again)
    assert not Path("model.privet").exists()
    assert ledger.spent == 1.0
    waiting.rename("model.privet")
    assert json.loads(Path("model.privet").read_text())["checksum"] == waiting.stem
    assert load("model.privet").guarantee_.epsilon == 1.0
    assert privet(f"{line} -o second.privet").exit_code == 0
    assert ledger.spent == 2.0
    assert not Path("ledger.db.paid").exists()


def test_every_command_that_opens_the_account_says_so(privet, ledger):
    stopped(privet, FIT, "privet.cli.fit.save_paid")
    for line in (
        "ledger show ledger.db",
        "ledger add ledger.db --what table --epsilon 0.1",
        "plan --schema schema.json --epsilon 1 --ledger ledger.db",
    ):
        result = privet(line)
        assert result.exit_code == 0, result.stderr
        assert re.search(WAITS, result.stderr)


def test_other_accounts_of_the_same_ledger_go_on(privet, ledger):
    stopped(privet, FIT, "privet.cli.fit.save_paid")
    assert privet("ledger init ledger.db --dataset others --epsilon 1").exit_code == 0
    result = privet(f"{FIT} --dataset others")
    assert result.exit_code == 0
    assert "waits" not in result.stderr
    assert len(list(Path("ledger.db.paid").iterdir())) == 1


def test_a_model_that_is_being_saved_at_this_moment_stops_nobody(privet, ledger):
    other = Shelf(ledger.path)
    other.put("0" * 64, "a model of a process that is at work")
    result = privet(FIT)
    assert result.exit_code == 0
    assert "waits" not in result.stderr
    assert other.leave() is not None


def test_a_model_whose_price_was_never_settled_is_removed(privet, ledger):
    said = stopped(privet, FIT, "privet.privacy.ledger.reservation.Reservation._close")
    assert "epsilon=1 counts as spent" in said
    assert not Path("ledger.db.paid").exists()
    assert "was never settled" in privet(FIT).stderr


def test_an_update_that_is_stopped_while_it_saves_can_be_fetched_and_its_batch_is_known(privet, refused, ledger):
    assert privet(COUNTS).exit_code == 0
    Path("new.csv").write_text("age,sex,children,class\n30,female,1,no\n40,male,2,yes\n")
    update = "update model.privet new.csv --ledger ledger.db"
    said = stopped(privet, update, "privet.cli.update.save_paid")
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
    assert not Path("ledger.db.paid").exists()
    # As it was, and the batch may be added, at its price.
    assert len(load("model.privet").noise_growth_) == 1
    assert privet(update).exit_code == 0
    assert ledger.spent == 3.0
