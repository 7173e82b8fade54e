"""What a command leaves behind that is stopped, or cannot write its model: nothing is lost that was saved."""

import json
import re
import stat
from pathlib import Path

import pytest

from privet import Ledger, PrivateRDTClassifier, load
from privet.central.updates.batches import BatchHistory
from privet.cli.support.files import PendingModel
from privet.cli.support.output import EXIT_DATA, EXIT_INTERRUPTED, EXIT_USAGE
from privet.datasets import agrawal
from privet.errors import LedgerError, ParameterError
from privet.files.file_lock import file_lock
from privet.privacy.ledger import Reservation

FIT = "fit rows.csv --schema schema.json --epsilon 1 --ledger ledger.db"
COUNTS = f"{FIT} --method private-rdt --trees 2 --height 2"
UPDATE = "update model.privet new.csv --ledger ledger.db"
PUT = r"the model is whole, and was put in '(.+?)': move it from there"
SAVED = "the model was saved before this, is whole and may be used"
SPENT = "noise was drawn by then, so epsilon=1 counts as spent, and a further run costs as much again"
NEVER_SETTLED = "was never settled: its process was stopped, or is still at work; its epsilon=1 counts as spent"
BOTH = pytest.mark.parametrize("line", [FIT, COUNTS], ids=["a forest of weights", "a forest of counts"])


@pytest.fixture(scope="module")
def model():
    data = agrawal(50, random_state=5)
    return PrivateRDTClassifier(data.schema, n_trees=1, height=1).fit(data.X, data.y)


@pytest.fixture
def ledger(privet):
    assert privet("ledger init ledger.db --dataset people --epsilon 4").exit_code == 0
    return Ledger("ledger.db", dataset="people")


@pytest.fixture
def updatable(privet, ledger):
    assert privet(COUNTS).exit_code == 0
    Path("new.csv").write_text("age,sex,children,class\n30,female,1,no\n40,male,2,yes\n")
    return ledger


def stopped(privet, line, owner, name):
    """Run a command that is stopped where it calls ``owner.name``, and return what it says."""

    def stop(*_, **__):
        raise KeyboardInterrupt

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(owner, name, stop)
        result = privet(line)
    assert result.exit_code == EXIT_INTERRUPTED
    return result.stderr


def states(ledger):
    return [spending.state for spending in ledger.account().spendings]


# A file that cannot be written.


@pytest.mark.parametrize("replace", [False, True])
def test_where_the_folder_has_gone_it_is_put_where_its_owner_alone_can_read_it(model, tmp_path, monkeypatch, replace):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with pytest.raises(ParameterError, match=f"cannot write to .*: No such file or directory; {PUT}") as refusal:
        PendingModel(tmp_path / "gone" / "model.privet", replace).save(model)
    place = Path(re.search(PUT, str(refusal.value))[1])
    assert place.is_file()
    assert stat.S_IMODE(place.parent.stat().st_mode) == 0o700


def test_a_file_that_another_process_made_meanwhile_stays(model, tmp_path):
    path = tmp_path / "model.privet"
    path.write_text("theirs")
    with pytest.raises(ParameterError, match=f"was made by another process meanwhile; it is left as it is; {PUT}"):
        PendingModel(path, replace=False).save(model)
    assert path.read_text() == "theirs"
    assert len(list(tmp_path.iterdir())) == 2


def test_a_folder_that_another_process_keeps_is_not_waited_for_without_end(model, tmp_path, monkeypatch):
    monkeypatch.setattr("privet.cli.support.files._PATIENCE_SECONDS", 0.05)
    with file_lock(tmp_path), pytest.raises(ParameterError, match=f"another process keeps the folder of .*; {PUT}"):
        PendingModel(tmp_path / "model.privet", replace=False).save(model)


def test_a_model_that_fits_nowhere_counts_as_spent_and_leaves_the_old_one(privet, ledger, monkeypatch):
    Path("model.privet").write_text("the old one")

    def full(*_):
        raise ParameterError("cannot write: no space; choose another path")

    monkeypatch.setattr("privet.estimator.write_document", full)
    result = privet(f"{COUNTS} --force")
    assert result.exit_code == EXIT_USAGE
    assert f"could not be put elsewhere either: make room, or choose another output with -o; {SPENT}" in result.stderr
    assert Path("model.privet").read_text() == "the old one"
    assert (states(ledger), ledger.spent) == (["reserved"], 1.0)


# A command that is stopped.


@BOTH
def test_the_model_is_saved_before_its_cost_is_settled(privet, ledger, line):
    said = stopped(privet, line, Reservation, "_close")
    assert SAVED in said
    assert SPENT in said
    assert (states(ledger), ledger.spent) == (["reserved"], 1.0)
    assert load("model.privet").guarantee_.epsilon == 1.0
    again = privet(f"{line} -o second.privet")
    assert again.exit_code == 0
    assert NEVER_SETTLED in again.stderr
    assert "a model that it saved is whole and may be used" in again.stderr
    assert ledger.spent == 2.0


@BOTH
def test_a_fit_that_is_stopped_before_it_saves_counts_as_spent_and_has_no_model(privet, ledger, line):
    said = stopped(privet, line, PendingModel, "_check_free")
    assert SPENT in said
    assert SAVED not in said
    assert not Path("model.privet").exists()
    assert ledger.spent == 1.0
    for command in (
        "plan --schema schema.json --epsilon 1 --ledger ledger.db",
        "ledger add ledger.db --what table --epsilon 0.1",
    ):
        result = privet(command)
        assert result.exit_code == 0
        assert NEVER_SETTLED in result.stderr


def test_a_settlement_that_fails_leaves_the_model_and_says_so(privet, ledger, monkeypatch):
    def refuse(*_):
        raise LedgerError("the ledger is busy; wait")

    monkeypatch.setattr(Reservation, "_close", refuse)
    result = privet(COUNTS)
    assert result.exit_code == EXIT_DATA
    assert result.stderr.endswith(f"the ledger is busy; wait; {SAVED}; {SPENT} (`privet ledger show`)\n")
    assert load("model.privet").guarantee_.epsilon == 1.0
    assert ledger.spent == 1.0


def test_a_release_that_costs_more_than_was_reserved_is_not_saved(privet, ledger, monkeypatch):
    monkeypatch.setattr("privet.privacy.ledger.spending.Cost.covers", lambda *_: False)
    result = privet(COUNTS)
    assert result.exit_code == EXIT_DATA
    assert "the release cost more than was reserved for it; it is withheld, and counts as spent" in result.stderr
    assert not Path("model.privet").exists()


def test_what_was_settled_is_the_model_that_was_saved(privet, ledger):
    assert privet(FIT).exit_code == 0
    [spending] = ledger.account().spendings
    assert spending.ended.body["model"] == json.loads(Path("model.privet").read_text())["checksum"]


def test_nothing_is_left_beside_the_ledger(privet, ledger):
    stopped(privet, FIT, Reservation, "_close")
    assert sorted(path.name for path in Path().glob("ledger.db*")) == ["ledger.db"]


# Batches.


def test_a_model_whose_batch_cannot_be_recorded_is_withheld(privet, ledger, monkeypatch):
    def refuse(*_):
        raise LedgerError("the ledger is busy; wait")

    monkeypatch.setattr(BatchHistory, "record", refuse)
    result = privet(COUNTS)
    assert result.exit_code == EXIT_DATA
    assert SPENT in result.stderr
    assert not Path("model.privet").exists()
    assert ledger.spent == 1.0


def test_a_first_fit_in_a_part_is_not_saved_before_its_rows_are_on_record(privet, ledger):
    stopped(privet, f"{COUNTS} --part north", BatchHistory, "record")
    assert not Path("model.privet").exists()
    assert privet(f"{COUNTS} --part south").exit_code == 0


def test_an_update_that_is_stopped_after_it_saved_is_there_and_its_batch_is_known(privet, updatable):
    assert SAVED in stopped(privet, UPDATE, Reservation, "_close")
    assert len(load("model.privet").noise_growth_) == 2
    again = privet(UPDATE)
    assert again.exit_code == EXIT_DATA
    assert "this batch is in the model already" in again.stderr
    assert updatable.spent == 2.0


@pytest.mark.parametrize(
    ("owner", "name"), [(BatchHistory, "record"), (PendingModel, "_check_free")], ids=["recorded", "saved"]
)
def test_an_update_that_is_stopped_before_it_is_saved_leaves_the_model_as_it_was(privet, updatable, owner, name):
    stopped(privet, UPDATE, owner, name)
    assert len(load("model.privet").noise_growth_) == 1
    # The batch may be added still, and is paid for again.
    assert privet(UPDATE).exit_code == 0
    assert len(load("model.privet").noise_growth_) == 2
    assert updatable.spent == 3.0
