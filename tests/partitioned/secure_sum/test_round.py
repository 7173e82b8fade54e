"""One party's side: noised counts drawn once, keys and masks again in every attempt."""

import json
import math
import stat

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from privet import Ledger
from privet.errors import BudgetExceeded, LedgerError, ParameterError, PartyError
from privet.partitioned import Party, PrivateKey, SecureSumForest, SumParty
from tests.partitioned.sums import NAMES, messages, parties_of, prepare, structure_of, table_of, terms_of


def secret_files(folder):
    return [path for path in folder.rglob("*") if path.name == "noised" or path.suffix == ".secret"]


def stored_sum(folder):
    return sum(np.frombuffer(path.read_bytes(), dtype="<i8") for path in folder.rglob("noised"))


def test_a_rerun_has_the_same_noise_under_other_masks(tmp_path):
    terms = terms_of()
    parties = parties_of(terms, tmp_path)
    prepare(parties)
    (keys, masked), (keys_again, masked_again) = messages(parties, 1), messages(parties, 2)
    first, second = (
        SecureSumForest.open(terms, 1, keys, masked),
        SecureSumForest.open(terms, 2, keys_again, masked_again),
    )
    assert_array_equal(first.noisy_counts_, second.noisy_counts_)
    assert_array_equal(first.noisy_counts_.ravel(), stored_sum(tmp_path))
    exact = sum(terms.structure.exact_counts(table_of(name).X, table_of(name).y) for name in NAMES)
    assert (first.noisy_counts_ != exact).any()
    for name in NAMES:
        assert json.loads(keys[name])["public"] != json.loads(keys_again[name])["public"]
        assert json.loads(masked[name])["vector"] != json.loads(masked_again[name])["vector"]


def test_rows_are_not_read_again_once_the_noised_counts_are_there(tmp_path):
    party = parties_of(terms_of(), tmp_path)["bank"]
    data = table_of("bank")
    party.prepare(data.X, data.y)
    before = next(tmp_path.rglob("noised")).read_bytes()
    party.prepare("no such file.csv")
    assert next(tmp_path.rglob("noised")).read_bytes() == before


def test_secrets_are_for_their_owner_and_keys_are_forgotten_when_they_have_served(tmp_path):
    parties = parties_of(terms_of(), tmp_path)
    prepare(parties)
    keys = {name: party.key_message(1) for name, party in parties.items()}
    assert len(secret_files(tmp_path)) == 8
    assert all(stat.S_IMODE(path.stat().st_mode) == 0o600 for path in secret_files(tmp_path))
    for party in parties.values():
        party.masked_message(1, keys)
    assert {path.name for path in secret_files(tmp_path)} == {"noised"}


def test_the_keys_of_an_attempt_that_was_given_up_are_forgotten_in_the_next(tmp_path):
    party = parties_of(terms_of(), tmp_path)["bank"]
    prepare({"bank": party})
    party.key_message(1)
    party.key_message(3)
    assert {path.name for path in secret_files(tmp_path)} == {"noised", "attempt-3.secret"}


def test_a_party_that_was_killed_goes_on_with_the_same_messages(tmp_path):
    terms = terms_of()
    parties = parties_of(terms, tmp_path)
    prepare(parties)
    keys, masked = messages(parties)
    reborn = parties_of(terms, tmp_path)
    assert messages(reborn) == (keys, masked)


@pytest.mark.parametrize("lost", ["attempt-1.key", "attempt-1.masked"])
def test_a_kill_between_two_writes_changes_nothing(tmp_path, lost, monkeypatch):
    # Both messages are kept after the key for the masks, which is forgotten last: each gap is closed by the next run.
    terms = terms_of()
    parties = parties_of(terms, tmp_path)
    prepare(parties)
    forget = "privet.partitioned.secure_sum.store.SumStore.forget_agreement"
    with monkeypatch.context() as patch:
        patch.setattr(forget, lambda *_: None)
        keys, masked = messages(parties)
    next((tmp_path / "bank").rglob(lost)).unlink()
    assert messages(parties_of(terms, tmp_path)) == (keys, masked)
    assert {path.name for path in secret_files(tmp_path)} == {"noised"}


def test_a_key_that_has_served_and_cannot_be_removed_is_told_of_and_the_next_run_repeats_the_message(
    tmp_path, monkeypatch
):
    terms = terms_of()
    prepare(parties_of(terms, tmp_path))
    with monkeypatch.context() as patch:
        patch.setattr("pathlib.Path.unlink", forbidden)
        with pytest.raises(PartyError, match=r"cannot remove the used mask key .*: Permission denied; remove it, and"):
            messages(parties_of(terms, tmp_path))
    messages(parties_of(terms, tmp_path))
    assert {path.name for path in secret_files(tmp_path)} == {"noised"}


def forbidden(path, **_):
    if path.name.endswith(".secret"):
        raise PermissionError(13, "Permission denied")


def test_an_attempt_is_not_continued_with_other_keys(tmp_path):
    terms = terms_of()
    parties = parties_of(terms, tmp_path / "one")
    twins = parties_of(terms, tmp_path / "two")
    prepare(parties)
    prepare(twins)
    keys, _ = messages(parties)
    other = keys | {"mill": twins["mill"].key_message(1)}
    with pytest.raises(
        PartyError, match="has sent its masked counts of attempt 1 with other keys; somebody changed a key"
    ):
        parties["bank"].masked_message(1, other)
    replaced = keys | {"bank": twins["bank"].key_message(1)}
    with pytest.raises(PartyError, match="with other keys"):
        parties["bank"].masked_message(1, replaced)


def test_counts_are_not_masked_with_a_key_that_is_not_ones_own(tmp_path):
    terms = terms_of()
    parties, twins = parties_of(terms, tmp_path / "one"), parties_of(terms, tmp_path / "two")
    prepare(parties)
    prepare(twins)
    keys = {name: party.key_message(1) for name, party in parties.items()}
    with pytest.raises(PartyError, match="uses a key that this party does not have; begin attempt 2"):
        parties["bank"].masked_message(1, keys | {"bank": twins["bank"].key_message(1)})
    assert not list(tmp_path.rglob("*.masked"))


def test_an_old_attempt_is_over(tmp_path):
    party = parties_of(terms_of(), tmp_path)["bank"]
    prepare({"bank": party})
    party.key_message(5)
    with pytest.raises(
        PartyError, match="attempt 4 is over: this party has begun attempt 5; all parties continue with that"
    ):
        party.key_message(4)


def test_a_key_replayed_from_another_attempt_masks_nothing(tmp_path):
    parties = parties_of(terms_of(), tmp_path)
    prepare(parties)
    old = {name: party.key_message(1) for name, party in parties.items()}
    new = {name: party.key_message(2) for name, party in parties.items()}
    with pytest.raises(PartyError, match="the key message of 'mill' is from another attempt than attempt 2"):
        parties["bank"].masked_message(2, new | {"mill": old["mill"]})


def test_a_party_without_counts_sends_nothing(tmp_path):
    with pytest.raises(PartyError, match="this party has not counted its rows for these terms; prepare it first"):
        parties_of(terms_of(), tmp_path)["bank"].key_message(1)


def test_a_stranger_and_a_party_with_another_key_are_refused(tmp_path):
    for name, sentence in [("tavern", "the party 'tavern' is not in the roster"),
                           ("bank", "the roster has another key for 'bank'")]:  # fmt: skip
        with pytest.raises(PartyError, match=sentence):
            SumParty(Party(PrivateKey.generate(name), store=tmp_path), terms_of())


def ledger_of(tmp_path, epsilon=2.5):
    return Ledger(tmp_path / "bank.db", dataset="accounts", epsilon=epsilon)


def test_the_price_is_paid_once_however_many_attempts_there_are(tmp_path):
    ledger = ledger_of(tmp_path)
    party = parties_of(terms_of(), tmp_path, ledgers={"bank": ledger})["bank"]
    for attempt in (1, 2, 3):
        prepare({"bank": party})
        party.key_message(attempt)
    assert ledger.spent == 1.0
    (spending,) = ledger.account().spendings
    assert spending.begun.body["what"] == "secure sum"


def test_a_changed_roster_structure_or_number_of_honest_parties_is_a_new_spend(tmp_path):
    ledger = ledger_of(tmp_path, epsilon=4.0)
    for terms in (terms_of(), terms_of(names=NAMES[:3]), terms_of(honest=2), terms_of(structure_of(round_="autumn"))):
        prepare({"bank": parties_of(terms, tmp_path, ledgers={"bank": ledger})["bank"]})
    assert ledger.spent == 4.0
    noised = [path.read_bytes() for path in tmp_path.rglob("noised")]
    assert len(set(noised)) == 4


def test_a_budget_that_is_used_up_refuses_before_a_row_is_read(tmp_path):
    ledger = ledger_of(tmp_path, epsilon=0.5)
    party = parties_of(terms_of(), tmp_path, ledgers={"bank": ledger})["bank"]
    with pytest.raises(BudgetExceeded, match="this release costs epsilon=1.0, but 0.5 is left"):
        party.prepare("no such file.csv")
    assert ledger.spent == 0.0


def power_cut(*_):
    raise KeyboardInterrupt


def test_a_crash_before_the_noised_counts_are_kept_is_spent_and_not_repeated_unasked(tmp_path, monkeypatch):
    ledger = ledger_of(tmp_path)
    party = parties_of(terms_of(), tmp_path, ledgers={"bank": ledger})["bank"]
    data = table_of("bank")
    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr("privet.partitioned.secure_sum.store.SumStore.keep_noised", power_cut)
        party.prepare(data.X, data.y)
    assert ledger.spent == 1.0
    with pytest.raises(
        LedgerError, match="has reserved the epsilon of this sum, and nothing was sent: .*: spend a second"
    ):
        party.prepare(data.X, data.y)
    party.prepare(data.X, data.y, again=True)
    assert ledger.spent == 2.0
    assert party.key_message(1)


LOST = "noised counts were drawn for this sum, and the store .* lacks them: name the store that has them, or let all"


def share_law(scale, honest, size=400):
    """How likely each share from -size to size is: the difference of two negative binomial variables."""
    k = np.arange(1, size + 1)
    q = math.exp(-1 / scale)
    steps = np.concatenate([[1.0], np.cumprod(q * (k - 1 + 1 / honest) / k)])
    law = np.correlate(steps, steps, "full")
    return law / law.sum()


def most_told(law, at=400, around=100):
    """The largest log-ratio between neighbouring values that are not far from 0."""
    near = np.log(law[at - around : at + around])
    return np.abs(np.diff(near)).max()


def test_other_noise_of_one_party_in_the_same_sum_would_take_from_the_promise_to_another():
    # Two honest parties, scale 10: epsilon is 0.1. One of them drew twice, and both sums show the same share.
    share = share_law(10, 2)
    assert most_told(np.convolve(share, share, "same")) == pytest.approx(0.1, abs=1e-6)
    seen_twice = share**2 / np.sum(share**2)
    assert most_told(np.convolve(share, seen_twice, "same")) == pytest.approx(0.247, abs=1e-3)


@pytest.mark.parametrize("lost", ["noised", "sum-*"])
def test_noised_counts_that_may_have_left_are_never_drawn_again(tmp_path, lost):
    # The others have masked their own counts for this sum already, or will: two sums would differ in one share.
    ledger = ledger_of(tmp_path)
    party = parties_of(terms_of(), tmp_path, ledgers={"bank": ledger})["bank"]
    prepare({"bank": party})
    party.key_message(1)
    next((tmp_path / "bank").rglob(lost)).rename(tmp_path / "elsewhere")
    for again in (False, True):
        with pytest.raises(PartyError, match=LOST):
            party.prepare("no such file.csv", again=again)
    assert ledger.spent == 1.0


def test_a_kept_sum_that_lost_its_folder_is_not_drawn_again_even_if_nothing_was_sent(tmp_path):
    # From an empty place nobody can tell what was sent.
    ledger = ledger_of(tmp_path)
    party = parties_of(terms_of(), tmp_path, ledgers={"bank": ledger})["bank"]
    prepare({"bank": party})
    elsewhere = SumParty(Party(party.party.key, store=tmp_path / "new", ledger=ledger), terms_of())
    with pytest.raises(PartyError, match=LOST):
        elsewhere.prepare("no such file.csv", again=True)


def test_without_a_ledger_messages_that_were_sent_tell_of_lost_noised_counts(tmp_path):
    party = parties_of(terms_of(), tmp_path)["bank"]
    prepare({"bank": party})
    party.key_message(1)
    next(tmp_path.rglob("noised")).unlink()
    with pytest.raises(PartyError, match=LOST):
        party.prepare("no such file.csv")


def test_a_store_that_keeps_nothing_is_refused_before_anything_is_spent(tmp_path, monkeypatch):
    ledger = ledger_of(tmp_path)
    party = parties_of(terms_of(), tmp_path, ledgers={"bank": ledger})["bank"]

    def without_links(*_):
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr("os.link", without_links)
    with pytest.raises(ParameterError, match="cannot keep noised counts in .*: Operation not permitted; choose"):
        prepare({"bank": party})
    assert ledger.account().spendings == ()
    assert not [path for path in (tmp_path / "bank").rglob("*") if path.is_file()]


def test_sums_whose_hashes_begin_alike_share_no_noised_counts(tmp_path, monkeypatch):
    first, second = terms_of(), terms_of(honest=2)
    start = first.hash[:32]
    for terms, end in ((first, "1"), (second, "2")):
        monkeypatch.setitem(vars(terms), "hash", start + end * 32)
        prepare({"bank": parties_of(terms, tmp_path)["bank"]})
    assert len({path.read_bytes() for path in tmp_path.rglob("noised")}) == 2


def test_an_unreadable_file_costs_nothing(tmp_path):
    ledger = ledger_of(tmp_path)
    party = parties_of(terms_of(), tmp_path, ledgers={"bank": ledger})["bank"]
    with pytest.raises(Exception, match="no such file"):
        party.prepare(tmp_path / "no such file.csv")
    assert ledger.spent == 0.0


def test_damaged_noised_counts_are_refused(tmp_path):
    party = parties_of(terms_of(), tmp_path)["bank"]
    prepare({"bank": party})
    path = next(tmp_path.rglob("noised"))
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(PartyError, match="the noised counts in the store are damaged; put a copy back"):
        party.key_message(1)


def test_noised_counts_that_others_can_read_are_refused(tmp_path):
    party = parties_of(terms_of(), tmp_path)["bank"]
    prepare({"bank": party})
    next(tmp_path.rglob("noised")).chmod(0o644)
    with pytest.raises(PartyError, match="'noised' in the store can be read by others on this machine"):
        party.key_message(1)


def test_a_second_process_does_not_replace_noised_counts(tmp_path):
    terms = terms_of()
    first, second = (parties_of(terms, tmp_path)["bank"] for _ in range(2))
    second._noised = lambda: None  # it looked before the first one had finished
    prepare({"bank": first})
    before = next(tmp_path.rglob("noised")).read_bytes()
    with pytest.raises(PartyError, match="are being made by another process; run one at a time"):
        prepare({"bank": second})
    assert next(tmp_path.rglob("noised")).read_bytes() == before
    assert not list(tmp_path.rglob("*.unfinished"))


def test_without_noise_nothing_is_claimed(tmp_path):
    terms = terms_of(structure_of(epsilon=math.inf), names=("bank", "mill"))
    parties = parties_of(terms, tmp_path)
    prepare(parties)
    model = SecureSumForest.open(terms, 1, *messages(parties))
    assert model.guarantee_.mode == "not private"
