"""What the ledger remembers of batches: one key, the way that led to a model, and nothing that spends."""

import json
import sqlite3
from contextlib import closing

import numpy as np
import pytest

from privet import Ledger
from privet.central.updates.batches import BatchHistory, Version
from privet.errors import DataError, LedgerError, ParameterError, notes_of
from privet.privacy.ledger import Cost
from privet.privacy.mechanisms.discrete_laplace import discrete_laplace
from privet.rng import SystemNoise

TREES = "trees"
FIRST, SECOND, THIRD = (Version(name, TREES, n) for n, name in enumerate(("one", "two", "three"), start=1))


@pytest.fixture
def ledger(tmp_path):
    return Ledger(tmp_path / "ledger.db", dataset="patients", epsilon=1.0)


@pytest.fixture
def history(ledger):
    """one -a-> two -b-> three"""
    known = BatchHistory(ledger)
    known.record(FIRST, SECOND, "a", "2026-11-01")
    known.record(SECOND, THIRD, "b")
    return known


def test_the_key_is_made_once_and_each_data_set_has_its_own(ledger):
    other = Ledger(ledger.path, dataset="staff", epsilon=1.0)
    key = BatchHistory(ledger).key()
    assert len(key) == 32
    assert BatchHistory(ledger).key() == key
    assert BatchHistory(other).key() != key


def test_the_path_goes_back_from_the_model_at_hand(history):
    assert [batch.fingerprint for batch in history.path_to(THIRD)] == ["a", "b"]
    assert [batch.fingerprint for batch in history.path_to(SECOND)] == ["a"]
    assert history.path_to(FIRST) == []


@pytest.mark.parametrize("fingerprint", ["a", "b"])
def test_a_batch_on_the_path_is_refused(history, fingerprint):
    with pytest.raises(DataError, match="this batch is in the model already"):
        history.check_new(THIRD, fingerprint)
    history.check_new(THIRD, "c")


def test_a_batch_of_another_branch_is_not_in_this_model(history):
    history.check_new(SECOND, "b")
    history.check_new(FIRST, "a")


def test_where_the_path_has_a_gap_every_batch_of_these_trees_counts(history):
    unknown = Version("somebody updated this elsewhere", TREES, 4)
    with pytest.raises(DataError, match="in the model already, dated 2026-11-01: its rows would count twice"):
        history.check_new(unknown, "a")
    history.check_new(Version("a model of other trees", "other trees", 4), "a")


def test_a_first_fit_can_be_on_the_path(ledger):
    history = BatchHistory(ledger)
    history.record(None, FIRST, "rows of the fit")
    history.record(FIRST, SECOND, "a")
    with pytest.raises(DataError, match="in the model already"):
        history.check_new(SECOND, "rows of the fit")


def test_another_data_set_of_the_same_ledger_knows_nothing_of_it(history, ledger):
    assert BatchHistory(Ledger(ledger.path, dataset="staff", epsilon=1.0)).batches() == []


@pytest.mark.parametrize("dated", ["2026-11-01", "2026-10-31"])
def test_dates_go_forward(history, dated):
    history.check_date(THIRD, "2026-11-02")
    history.check_date(FIRST, dated)
    with pytest.raises(ParameterError, match=f"--dated {dated} is not after 2026-11-01, the newest batch in the model"):
        history.check_date(THIRD, dated)


def test_batches_spend_nothing_and_stand_in_no_account(history, ledger):
    history.key()
    shown = json.dumps(ledger.account().to_json())
    assert ledger.spent == 0
    assert json.loads(shown)["releases"] == []
    assert history.key().hex() not in shown


def test_a_batch_on_record_closes_no_reservation(ledger):
    reservation = ledger.reserve(Cost(0.5), what="update", method="private-rdt")
    BatchHistory(ledger).record(FIRST, SECOND, "a")
    zeros = np.zeros(1, dtype=np.int64)
    _, receipt = discrete_laplace(zeros, epsilon=0.5, sensitivity=1, what="counts", noise=SystemNoise())
    reservation.settle(receipt)
    assert [spending.state for spending in ledger.account().spendings] == ["settled"]


def test_the_same_rows_go_on_record_in_one_part_only(ledger):
    BatchHistory(ledger.for_part("march")).record(None, FIRST, "a")
    with pytest.raises(DataError, match="the ledger has this batch in the part 'march'") as caught:
        BatchHistory(ledger.for_part("spring")).record(None, SECOND, "a")
    assert notes_of(caught.value) == ["the model is withheld"]
    BatchHistory(ledger.for_part("march")).record(FIRST, THIRD, "a")
    assert [batch.part for batch in BatchHistory(ledger).batches()] == ["march", "march"]


def test_an_entry_that_is_changed_is_noticed(history, ledger):
    with closing(sqlite3.connect(ledger.path)) as connection, connection:
        connection.execute("DROP TRIGGER no_change")
        connection.execute("UPDATE entries SET body = replace(body, '\"a\"', '\"z\"') WHERE kind = 'batch'")
    with pytest.raises(LedgerError, match="was changed"):
        history.record(THIRD, FIRST, "c")
    with pytest.raises(LedgerError, match="was changed"):
        BatchHistory(Ledger(ledger.path, dataset="patients")).batches()
