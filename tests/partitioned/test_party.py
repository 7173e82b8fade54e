"""A party counts exactly, adds noise once, stores before it sends, and keeps account."""

import math
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal

from privet import Ledger, Party, PrivateRDTClassifier
from privet.errors import BudgetExceeded, DataError, LedgerError, ParameterError, PartyError
from privet.partitioned import PrivateKey, Roster
from privet.partitioned import party as party_module
from privet.privacy.events import DiscreteLaplace
from privet.privacy.unit import Unit
from tests.partitioned.parties import SCHEMA, parties, split_structure, structure, table


@pytest.fixture
def ledger(tmp_path):
    return Ledger(tmp_path / "bank.db", dataset="customers", epsilon=1.0)


@pytest.fixture
def bank(tmp_path, ledger):
    return Party(PrivateKey.generate("bank"), store=tmp_path / "store", ledger=ledger)


def test_counts_are_those_of_a_fit_without_noise():
    model = PrivateRDTClassifier(SCHEMA, epsilon=math.inf, n_trees=4, random_state=3).fit(*table())
    assert_array_equal(structure().exact_counts(*table()), model.noisy_counts_)


def test_a_file_is_counted_as_its_table_is(tmp_path):
    X, y = table()
    X.assign(group=y).to_parquet(tmp_path / "rows.parquet")
    assert_array_equal(structure().exact_counts(tmp_path / "rows.parquet"), structure().exact_counts(X, y))
    with pytest.raises(ParameterError, match="leave y out for a file"):
        structure().exact_counts(tmp_path / "rows.parquet", y)


def test_of_a_person_so_many_rows_are_counted_as_agreed():
    X, y = table(12)
    X = X.assign(person=np.repeat([1, 2, 3], 4))
    counts = structure(unit=Unit("person", 2)).exact_counts(X, y)
    assert counts.sum() == 4 * 3 * 2  # trees, persons, rows


def test_labels_are_needed():
    with pytest.raises(DataError, match="a table in memory needs its labels; pass y, one label per row"):
        structure().exact_counts(table()[0])


def test_a_release_carries_the_noise_that_was_agreed_on(bank):
    agreed = structure(0.5)
    release = bank.release(agreed, *table())
    assert_array_equal(release.check(agreed, Roster([bank.public])).shape, agreed.shape)
    assert agreed.receipt == DiscreteLaplace("class counts of leaves", 0.5, 4, Fraction(8))
    assert (release.check(agreed, Roster([bank.public])) != agreed.exact_counts(*table())).any()


def test_a_release_is_settled_in_the_ledger_and_asking_again_costs_nothing(bank, ledger):
    agreed = structure(0.5)
    first = bank.release(agreed, *table())
    [spending] = ledger.account().spendings
    assert (spending.state, ledger.spent) == ("settled", 0.5)
    assert spending.begun.body["structure"] == agreed.hash
    assert spending.ended.body["model"] == first.hash
    # The rows are not even looked at.
    assert bank.release(agreed, "nowhere.csv").bytes == first.bytes
    assert len(ledger.account().spendings) == 1


def test_another_process_of_the_same_party_sends_the_same_bytes(bank, tmp_path):
    agreed = structure(0.5)
    first = bank.release(agreed, *table())
    assert Party(bank.key, store=tmp_path / "store").release(agreed, None).bytes == first.bytes


def test_another_round_is_another_spend(bank, ledger):
    bank.release(structure(0.5), *table())
    bank.release(structure(0.5), *table())
    assert ledger.spent == 1.0
    with pytest.raises(BudgetExceeded, match="costs epsilon=0.5, but 0.0 is left of the budget of 'customers'"):
        bank.release(structure(0.5), "nowhere.csv")  # refused before it is looked for


def test_a_table_that_cannot_be_read_costs_nothing(bank, ledger):
    with pytest.raises(DataError, match="labels that are not in the schema's classes"):
        bank.release(structure(0.5), table()[0], [7] * 600)
    assert ledger.spent == 0.0


def test_a_crash_after_the_noise_counts_as_spent_and_is_not_repeated_unasked(bank, ledger, monkeypatch):
    agreed = structure(0.5)

    def power_cut(*_, **__):
        raise KeyboardInterrupt

    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr(party_module, "write_secret", power_cut)
        bank.release(agreed, *table())
    assert ledger.spent == 0.5
    with pytest.raises(LedgerError, match="has a release of this structure that the store .*store' lacks: name"):
        bank.release(agreed, *table())
    bank.release(agreed, *table(), again=True)
    assert ledger.spent == 1.0


def test_a_crash_between_storing_and_settling_is_spent_once_and_sent_as_stored(bank, ledger, monkeypatch):
    agreed = structure(0.5)

    def power_cut(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr("privet.privacy.ledger.reservation.Reservation.settle", power_cut)
        bank.release(agreed, *table())
    stored = next((bank.store).iterdir()).read_bytes()
    assert bank.release(agreed, *table()).bytes == stored
    assert ledger.spent == 0.5


def test_of_two_processes_at_once_one_release_leaves_and_both_are_spent(bank, ledger, monkeypatch):
    agreed = structure(0.5)
    first = bank.release(agreed, *table())
    with monkeypatch.context() as patched, pytest.raises(PartyError, match="another process of this party"):
        patched.setattr(Party, "stored", lambda *_: None)  # it looked before the other one had stored
        bank.release(agreed, *table(), again=True)
    assert bank.release(agreed, *table()).bytes == first.bytes
    assert ledger.spent == 1.0


def test_a_stored_release_that_was_changed_is_not_sent(bank):
    agreed = structure(0.5)
    bank.release(agreed, *table())
    [path] = bank.store.iterdir()
    path.write_text(path.read_text().replace('"round":"', '"round":"x'))
    with pytest.raises(PartyError, match="the signature of the release of 'bank' is not that of its key"):
        bank.release(agreed, *table())


def test_a_dearer_structure_than_the_party_pays_is_refused(tmp_path):
    careful = Party(PrivateKey.generate("bank"), store=tmp_path, epsilon=0.25)
    with pytest.raises(PartyError, match=r"costs epsilon=0.5, more than this party spends; agree on another"):
        careful.release(structure(0.5), "nowhere.csv")
    assert careful.release(structure(0.25), *table())


def test_exact_counts_leave_only_where_the_party_says_so(tmp_path):
    with pytest.raises(PartyError, match="costs epsilon=inf, more than this party spends"):
        Party(PrivateKey.generate("bank"), store=tmp_path).release(structure(math.inf), *table())


def test_a_ledger_pays_for_no_exact_counts(bank):
    bank.epsilon = math.inf
    with pytest.raises(BudgetExceeded):
        bank.release(structure(math.inf), *table())


def test_a_part_is_counted_by_its_own_party_alone(tmp_path):
    agreed = split_structure(1.0)
    with pytest.raises(PartyError, match="this part of the structure is for 'bank', and the key belongs to 'clinic'"):
        parties(tmp_path)["clinic"].release(agreed.part_of("bank"), "nowhere.csv")
    with pytest.raises(PartyError, match="the structure has no part for 'school'; it names bank, clinic"):
        agreed.part_of("school")


def test_a_store_that_cannot_be_made_is_refused_before_anything_is_spent(tmp_path, ledger):
    (tmp_path / "file").write_text("")
    bank = Party(PrivateKey.generate("bank"), store=tmp_path / "file" / "below", ledger=ledger)
    with pytest.raises(ParameterError, match="cannot keep releases in"):
        bank.release(structure(0.5), *table())
    assert ledger.account().spendings == ()


def test_nothing_that_is_stored_or_sent_holds_an_exact_count(bank):
    X, y = table()
    agreed = structure(0.5)
    release = bank.release(agreed, pd.concat([X] * 50, ignore_index=True), np.concatenate([y] * 50))
    exact = 50 * agreed.exact_counts(X, y)
    noisy = np.array(release.document["counts"]).reshape(exact.shape)
    assert np.std(noisy - exact) > 1  # the noise has a deviation of 11
    assert set(release.document) == {
        "format", "version", "party", "round", "structure", "schema", "counts", "event", "signature",
    }  # fmt: skip


def test_on_a_strict_account_rows_that_cannot_be_counted_are_paid_for_and_the_next_try_pays_anew(tmp_path):
    ledger = Ledger(tmp_path / "ledger.db", dataset="rows", epsilon=5.0, strict=True)
    party = Party(PrivateKey.generate("bank"), store=tmp_path / "store", ledger=ledger)
    (X, y), drawn = table(), structure(epsilon=1.0)
    with pytest.raises(DataError):
        party.release(drawn, X, ["neither"] * len(y))
    with pytest.raises(DataError):
        party.release(drawn, tmp_path / "none.csv")
    assert [spending.state for spending in ledger.account().spendings] == ["failed", "withdrawn"]
    party.release(drawn, X, y)
    assert ledger.spent == 2 * drawn.epsilon
