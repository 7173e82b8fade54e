"""A secure sum of ten of whom three may vanish: what opens, what does not, and who is refused."""

import hashlib
import itertools
import json
import stat

import numpy as np
import pytest
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms
from numpy.testing import assert_array_equal
from scipy.stats import chisquare

from privet import load
from privet.errors import ModelFileError, ParameterError, PartyError
from privet.partitioned import SecureSumForest
from privet.partitioned.secure_sum.masks import AgreementKey, add_streams
from privet.partitioned.secure_sum.messages import (
    KEY,
    MASKED,
    SHARES,
    SURVIVORS,
    UNMASK,
    key_message,
    mask,
    masked_message,
    words_of,
)
from privet.partitioned.secure_sum.shares import MASKS, SEED, AttemptSecrets
from privet.privacy.events import NoiseShares, SurvivingNoiseShares
from tests.partitioned.dropouts import THREE, keyed, noised_of, opened, others, revealed, secrets_of, sum_of, ten
from tests.partitioned.sums import TEN, conversation, keys_of, parties_of, prepare, structure_of, table_of, terms_of

AFTER = {"their keys": SHARES, "their shares": MASKED, "their masked counts": SURVIVORS, "their signatures": UNMASK}


@pytest.mark.parametrize("last", AFTER)
def test_a_sum_of_ten_opens_when_three_vanish_after(last, tmp_path):
    parties = ten(tmp_path)
    seen = conversation(parties, silent={AFTER[last]: THREE})
    counted = list(TEN) if AFTER[last] in (SURVIVORS, UNMASK) else others(*THREE)
    model = opened(parties, seen)
    assert model.parties == counted
    assert_array_equal(model.noisy_counts_.ravel(), sum_of(tmp_path, counted))


def test_a_sum_of_ten_opens_when_they_vanish_one_after_another(tmp_path):
    parties = ten(tmp_path)
    model = opened(parties, conversation(parties, silent={SHARES: ["bank"], MASKED: ["guild"], SURVIVORS: ["yard"]}))
    assert model.parties == others("bank", "guild")
    assert_array_equal(model.noisy_counts_.ravel(), sum_of(tmp_path, others("bank", "guild")))


def test_a_sum_of_ten_opens_when_nobody_vanishes(tmp_path):
    parties = ten(tmp_path)
    assert_array_equal(opened(parties, conversation(parties)).noisy_counts_.ravel(), sum_of(tmp_path, TEN))


def test_four_parties_open_their_sum_without_the_one_that_may_vanish(tmp_path):
    parties = parties_of(terms_of(dropouts=1), tmp_path)
    prepare(parties)
    model = opened(parties, conversation(parties, silent={MASKED: ["clinic"]}))
    assert_array_equal(model.noisy_counts_.ravel(), sum_of(tmp_path, ["bank", "mill", "school"]))


@pytest.mark.parametrize(
    ("last", "what"),
    [("their keys", "shares"), ("their shares", "masked counts"),
     ("their masked counts", "signatures of this list of survivors")],
)  # fmt: skip
def test_where_a_fourth_vanishes_nothing_is_opened_and_nothing_revealed(last, what, tmp_path):
    parties = ten(tmp_path)
    with pytest.raises(PartyError, match=f"there are {what} of 6 parties, and 7 of 10 must stay: nothing was opened"):
        conversation(parties, silent={AFTER[last]: [*THREE, "bank"]})
    assert revealed(tmp_path) == []


def test_a_fourth_that_vanishes_last_leaves_the_sum_closed_until_one_returns(tmp_path):
    parties = ten(tmp_path)
    seen = conversation(parties, silent={UNMASK: [*THREE, "bank"]})
    with pytest.raises(PartyError, match="there are valid shares for the unmasking of 6 parties, and 7 of 10 must"):
        opened(parties, seen)
    seen[UNMASK]["mill"] = parties_of(parties["mill"].terms, tmp_path)["mill"].message(UNMASK, 1, seen)
    assert_array_equal(opened(parties, seen).noisy_counts_.ravel(), sum_of(tmp_path, TEN))


# What messages say about counts.


def seeded_urandom(monkeypatch, seed):
    rng = np.random.default_rng(seed)
    monkeypatch.setattr("os.urandom", lambda n: rng.bytes(n))


def conversation_with(folder, monkeypatch, bank):
    """The messages up to the masked counts, with known coins, where the bank has counted ``bank``."""
    parties = ten(folder)
    next((folder / "bank").rglob("noised")).write_bytes(np.full(noised_of(folder, "bank").size, bank, "<i8").tobytes())
    for name in others("bank"):
        path = next((folder / name).rglob("noised"))
        path.write_bytes(np.arange(path.stat().st_size // 8, dtype="<i8").tobytes())
    with monkeypatch.context() as patch:
        seeded_urandom(patch, 5)
        return conversation(parties, until=MASKED, silent={SHARES: [*THREE]})


def test_other_counts_of_one_party_change_its_masked_words_and_nothing_else(tmp_path, monkeypatch):
    few, many = (conversation_with(tmp_path / str(bank), monkeypatch, bank) for bank in (5, 9))
    assert few[KEY] == many[KEY]
    assert few[SHARES] == many[SHARES]
    assert {name for name in few[MASKED] if few[MASKED][name] != many[MASKED][name]} == {"bank"}
    one, other = json.loads(few[MASKED]["bank"]), json.loads(many[MASKED]["bank"])
    assert {key for key in one if one[key] != other[key]} == {"vector", "signature"}


def leading_bits(words):
    return chisquare(np.bincount((words >> np.uint64(56)).astype(int), minlength=256)).pvalue


def words(message):
    document = json.loads(message)
    return words_of(document["vector"], len(document["vector"]) * 3 // 32, "a party").copy()


def without_pairwise_masks(parties, seen, name, secret):
    """What a carrier sees of a party's counts that knows its key for masks."""
    terms = parties[name].terms
    attempt = keyed(seen, terms)
    zeros = np.zeros(words(seen[MASKED][name]).size, dtype=np.uint64)
    return words(seen[MASKED][name]) - mask(zeros, AgreementKey(secret), name, terms, 1, attempt.masks, seen[SHARES])


def test_counts_that_were_held_back_stay_hidden_by_the_self_mask_when_the_mask_key_is_opened(tmp_path):
    # The carrier holds the mill's masked counts back, has its key for masks opened, and then looks at them.
    parties = ten(tmp_path, structure=structure_of(n_trees=10, height=7))
    seen = conversation(parties, until=MASKED)
    own, terms = secrets_of(tmp_path, "mill"), parties["mill"].terms
    late = seen[MASKED].pop("mill")
    for kind in (SURVIVORS, UNMASK):
        seen[kind] = {name: parties[name].message(kind, 1, seen) for name in others("mill")}
    assert opened(parties, seen).parties == others("mill")
    names = terms.roster.names
    held = {name: bytes.fromhex(json.loads(seen[UNMASK][name])["shares"]["mill"]) for name in names if name != "mill"}
    document = json.loads(seen[SHARES]["mill"])
    assert keyed(seen, terms).recover(held, document, MASKS, "mill") == own.masks.secret
    seen[MASKED]["mill"] = late
    looked_at = without_pairwise_masks(parties, seen, "mill", own.masks.secret)
    assert leading_bits(looked_at) > 1e-6
    # Without the self-mask, what is left would be the counts themselves, and the statistic sees it.
    bare = add_streams(looked_at, [], [keyed(seen, terms).stream_of(own.seed, "mill")])
    assert_array_equal(bare.astype(np.uint64).view(np.int64), noised_of(tmp_path, "mill"))
    assert leading_bits(bare) < 1e-6


def plainly_masked(folder, seen, name):
    """A party's masked counts in Python's integers, from the secrets of both sides of each pair."""
    own, size = secrets_of(folder, name), noised_of(folder, name).size
    attempt = keyed(seen, terms_of(names=TEN, dropouts=3))
    total = noised_of(folder, name).tolist()
    streams = [(1, attempt.stream_of(own.seed, name))]
    for other in seen[SHARES]:
        if other != name:
            first, second = sorted([name, other])
            context = {
                "format": "privet-sum-stream", "version": 1, "terms": attempt.terms.hash, "attempt": 1,
                "first": first, "second": second,
                "first_key": attempt.masks[first], "second_key": attempt.masks[second],
            }  # fmt: skip
            # As the other party would compute it.
            key = secrets_of(folder, other).masks.stream_key(own.masks.public, context)
            streams.append((1 if name == first else -1, key))
    for sign, key in streams:
        data = Cipher(algorithms.ChaCha20(key, bytes(16)), mode=None).encryptor().update(bytes(8 * size))
        for i in range(size):
            total[i] += sign * int.from_bytes(data[8 * i : 8 * i + 8], "little")
    return [value % 2**64 for value in total]


def test_masked_counts_are_those_of_a_plain_twin(tmp_path):
    parties = ten(tmp_path)
    seen = conversation(parties, until=MASKED, silent={SHARES: ["clinic"], MASKED: ["yard"]})
    for name in ("bank", "mill", "tavern"):
        assert words(seen[MASKED][name]).tolist() == plainly_masked(tmp_path, seen, name)


def test_masked_counts_are_uniform_words(tmp_path):
    parties = ten(tmp_path, structure=structure_of(n_trees=10, height=7))
    seen = conversation(parties, until=MASKED)
    for name in TEN:
        assert leading_bits(words(seen[MASKED][name])) > 1e-7


def test_six_parties_together_recover_no_secret_of_another(tmp_path):
    parties = ten(tmp_path)
    seen = conversation(parties, until=SHARES)
    attempt = keyed(seen, parties["bank"].terms)
    document = attempt.read_dealt(seen[SHARES]["yard"], "yard")
    held = {
        name: attempt.unseal(document, "yard", name, secrets_of(tmp_path, name).sharing)
        for name in TEN[:7]
    }  # fmt: skip
    for which, secret in (
        (MASKS, secrets_of(tmp_path, "yard").masks.secret),
        (SEED, secrets_of(tmp_path, "yard").seed),
    ):
        assert (
            attempt.recover({name: shares[which] for name, shares in held.items()}, document, which, "yard") == secret
        )
        with pytest.raises(PartyError, match="the shares that 'yard' dealt out do not make up its secret, so the sum"):
            attempt.recover({name: held[name][which] for name in TEN[:6]}, document, which, "yard")


# Those who return, and later attempts.


def test_a_party_that_returns_late_is_not_counted_and_helps_to_open_the_same_sum(tmp_path):
    parties = ten(tmp_path)
    seen = conversation(parties, silent={SHARES: ["bank"], MASKED: ["mill"], UNMASK: ["yard", "tavern"]})
    with pytest.raises(PartyError, match="valid shares for the unmasking of 6 parties, and 7 of 10 must stay"):
        opened(parties, seen)
    with pytest.raises(PartyError, match="the shares of this party came too late to be counted in attempt 1; it can"):
        parties["bank"].message(MASKED, 1, seen)
    for name in ("bank", "mill"):
        parties["bank"].message(SHARES, 1, seen)
        for kind in (SURVIVORS, UNMASK):
            seen[kind][name] = parties[name].message(kind, 1, seen)
    model = opened(parties, seen)
    assert model.parties == others("bank", "mill")
    assert_array_equal(model.noisy_counts_.ravel(), sum_of(tmp_path, others("bank", "mill")))


def test_after_a_sum_is_open_a_party_that_returns_opens_no_second_one(tmp_path):
    # The difference of two sums would be the counts of the mill, with a single share of noise.
    parties = ten(tmp_path)
    opened(parties, conversation(parties, silent={MASKED: ["mill"]}))
    parties["mill"].key_message(2)
    for name in others("mill"):
        with pytest.raises(
            PartyError,
            match="this party has helped to open the sum in attempt 1, and takes part in no other attempt: two sums of "
            "different parties would show the counts of one; let those who have not yet done so run attempt 1 again",
        ):
            parties[name].key_message(2)


def test_a_party_unmasks_in_one_attempt(tmp_path):
    parties = ten(tmp_path)
    first = conversation(parties, until=SURVIVORS)
    second = conversation(parties, 2, until=SURVIVORS)  # nobody has unmasked: this is allowed
    parties["bank"].message(UNMASK, 2, second)
    with pytest.raises(PartyError, match="has helped to open the sum in attempt 2, and takes part in no other attempt"):
        parties["bank"].message(UNMASK, 1, first)


def test_a_party_unmasks_once_even_if_two_of_its_processes_hurry(tmp_path, monkeypatch):
    parties = ten(tmp_path)
    seen = conversation(parties, until=SURVIVORS)
    secret = next((tmp_path / "bank").rglob("attempt-1.secret"))
    own = secret.read_bytes()
    answer = parties["bank"].message(UNMASK, 1, seen)
    # Another process looked before the first one had stored its unmasking and removed the secrets.
    secret.write_bytes(own)
    secret.chmod(0o600)
    with monkeypatch.context() as patch:
        patch.setattr("privet.partitioned.secure_sum.store.SumStore.unmasking", lambda _: None)
        with pytest.raises(PartyError, match="the unmasking and what belongs to it of this party are being made by an"):
            parties["bank"].message(UNMASK, 1, seen)
    assert parties["bank"].message(UNMASK, 1, seen) == answer


def test_an_attempt_that_was_given_up_is_not_continued(tmp_path):
    parties = ten(tmp_path)
    seen = conversation(parties, until=SURVIVORS)
    parties["bank"].key_message(2)
    with pytest.raises(
        PartyError, match="this party has no keys for attempt 1 any more; all parties continue with .* 2"
    ):
        parties["bank"].message(UNMASK, 1, seen)
    assert revealed(tmp_path) == []


def test_an_attempt_that_failed_is_repeated_with_the_same_noised_counts(tmp_path):
    parties = ten(tmp_path)
    conversation(parties, until=SURVIVORS)
    model = opened(parties, conversation(parties, 2, silent={SHARES: THREE}), 2)
    assert_array_equal(model.noisy_counts_.ravel(), sum_of(tmp_path, others(*THREE)))


def test_with_half_of_the_parties_two_sums_would_open_and_show_the_counts_of_one(tmp_path):
    # What the check of the terms prevents: a threshold of 2 among 4 lets a carrier open two lists.
    terms = terms_of(dropouts=1)
    object.__setattr__(terms, "dropouts", 2)
    parties = parties_of(terms, tmp_path)
    prepare(parties)
    seen = conversation(parties, until=MASKED)
    sums = []
    for group, counted in ((("bank", "clinic"), ("bank", "clinic", "mill")), (("mill", "school"), terms.roster.names)):
        heard = seen | {MASKED: {name: seen[MASKED][name] for name in counted}}
        for kind in (SURVIVORS, UNMASK):
            heard[kind] = {name: parties[name].message(kind, 1, heard) for name in group}
        sums.append(SecureSumForest.open(terms, 1, *heard.values()).noisy_counts_.ravel())
    assert_array_equal(sums[1] - sums[0], noised_of(tmp_path, "school"))


@pytest.mark.parametrize(("n", "dropouts"), [(4, 1), (5, 1), (6, 2), (7, 2)])
def test_no_carrier_with_colluding_parties_finds_signatures_for_two_lists(n, dropouts):
    # All ways in which honest parties sign one of two lists or none, and colluding ones sign both.
    names = TEN[:n]
    for honest in range(dropouts + 1, n - dropouts):
        terms = terms_of(names=names, dropouts=dropouts, honest=honest)
        colluding = n - dropouts - honest
        most = max(
            min(choice.count(1), choice.count(2)) + colluding
            for choice in itertools.product((0, 1, 2), repeat=n - colluding)
        )
        assert most < terms.threshold
    # One honest party fewer than the terms allow, and there is a way.
    colluding = n - dropouts - dropouts
    assert (n - colluding) // 2 + colluding >= n - dropouts


# Crashes.


def test_a_party_that_was_killed_repeats_every_message_byte_for_byte(tmp_path):
    parties = ten(tmp_path)
    seen = conversation(parties, silent={SHARES: THREE})
    reborn = parties_of(parties["bank"].terms, tmp_path)
    for kind, messages in seen.items():
        for name, message in messages.items():
            assert reborn[name].message(kind, 1, seen) == message


def power_cut(*_):
    raise KeyboardInterrupt


@pytest.mark.parametrize("kind", [KEY, SHARES, MASKED, SURVIVORS, UNMASK])
def test_a_kill_before_a_message_is_stored_sends_nothing_and_the_next_run_goes_on(tmp_path, monkeypatch, kind):
    parties = ten(tmp_path)
    kinds = [KEY, SHARES, MASKED, SURVIVORS, UNMASK]
    before = conversation(parties, until=kinds[kinds.index(kind) - 1]) if kind != KEY else {}
    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        keep = "keep_unmasking" if kind == UNMASK else "keep_message_once"
        patch.setattr(f"privet.partitioned.secure_sum.store.SumStore.{keep}", power_cut)
        parties["bank"].message(kind, 1, before)
    reborn = parties_of(parties["bank"].terms, tmp_path)
    assert_array_equal(opened(reborn, conversation(reborn)).noisy_counts_.ravel(), sum_of(tmp_path, TEN))


def test_secrets_are_for_their_owner_and_are_forgotten_when_masks_are_off(tmp_path):
    parties = ten(tmp_path)
    seen = conversation(parties, until=SURVIVORS)
    files = list(tmp_path.rglob("*.secret"))
    assert len(files) == 10
    assert all(stat.S_IMODE(path.stat().st_mode) == 0o600 for path in files)
    for party in parties.values():
        party.message(UNMASK, 1, seen)
    assert list(tmp_path.rglob("*.secret")) == []
    assert "seed" not in repr(AttemptSecrets.generate())


def test_a_second_process_makes_no_second_message(tmp_path, monkeypatch):
    parties = ten(tmp_path)
    seen = conversation(parties, until=SHARES)
    monkeypatch.setattr("privet.partitioned.secure_sum.store.SumStore.message", lambda *_: None)  # it looked before
    with pytest.raises(PartyError, match="the shares message and what belongs to it of this party are being made by"):
        parties["bank"].message(SHARES, 1, {KEY: seen[KEY]})


def test_noised_counts_that_are_lost_are_asked_for(tmp_path):
    parties = ten(tmp_path)
    seen = conversation(parties, until=SHARES)
    next((tmp_path / "bank").rglob("noised")).unlink()
    with pytest.raises(
        PartyError, match="lacks the noised counts; put them back, or let all parties begin a new round"
    ):
        parties["bank"].message(MASKED, 1, seen)


def test_a_key_that_is_not_ones_own_is_not_used(tmp_path):
    parties, twins = ten(tmp_path / "one"), ten(tmp_path / "two")
    keys = conversation(parties, until=KEY)[KEY] | {"bank": twins["bank"].key_message(1)}
    with pytest.raises(PartyError, match="attempt 1 uses a key that this party does not have; begin attempt 2"):
        parties["bank"].message(SHARES, 1, {KEY: keys})


# Terms, receipts and what stays as it was.


def test_the_model_states_who_is_counted_and_what_it_rests_on_and_survives_its_file(tmp_path):
    parties = ten(tmp_path)
    model = opened(parties, conversation(parties, silent={SHARES: THREE}))
    event = model.guarantee_.event
    assert isinstance(event, SurvivingNoiseShares)
    assert (event.honest, event.parties, event.roster, event.dropouts) == (6, 7, 10, 3)
    assert (model.guarantee_.epsilon, model.guarantee_.mode) == (1.0, "sound")
    assert model.guarantee_.assumptions[1] == (
        "at least 9 of the 10 parties, of which 7 are counted, followed the protocol until they vanished, if they did, "
        "and did not collude"
    )
    everyone = terms_of(names=TEN, honest=6).receipt(10)
    assert type(everyone) is NoiseShares
    model.save(tmp_path / "model.privet")
    again = load(tmp_path / "model.privet")
    assert again.guarantee_ == model.guarantee_
    assert again.noise_std_ == model.noise_std_


@pytest.mark.parametrize(
    ("field", "value"), [("honest", 7), ("honest", 3), ("parties", 8), ("roster", 11), ("roster", 6), ("dropouts", 2)]
)
def test_a_file_whose_receipt_does_not_fit_is_refused(tmp_path, field, value):
    parties = ten(tmp_path)
    document = opened(parties, conversation(parties, silent={SHARES: THREE})).to_document()
    document["guarantee"]["event"][field] = value
    with pytest.raises(ModelFileError, match="the guarantee"):
        SecureSumForest.from_document(document, table_of("bank").schema)


def test_terms_that_could_open_two_sums_or_leave_nobody_to_look_are_refused():
    for n, dropouts in ((2, 1), (3, 1), (4, 2), (9, 4), (10, 5)):
        with pytest.raises(
            ParameterError, match=rf"dropouts={dropouts} is not possible with {n} parties: fewer than half may vanish"
        ):
            terms_of(names=TEN[:n], dropouts=dropouts)
    for honest in (0, 3, 7, 10, 6.0, True):
        with pytest.raises(
            ParameterError, match=r"honest=.* must be a whole number from 4 to 6, where 3 of 10 parties"
        ):
            terms_of(names=TEN, dropouts=3, honest=honest)
    for dropouts in (-1, 1.0, True, None):
        with pytest.raises(ParameterError, match=r"dropouts=.* must be a whole number: how many parties may vanish"):
            terms_of(dropouts=dropouts)
    assert terms_of(names=TEN, dropouts=3).honest == 6
    assert terms_of(names=TEN, dropouts=3).threshold == 7
    assert (terms_of().dropouts, terms_of().threshold, terms_of().honest) == (0, 4, 3)


def test_another_number_of_dropouts_is_another_sum():
    hashes = {terms_of(names=TEN, dropouts=dropouts, honest=5).hash for dropouts in (0, 1, 2, 3)}
    assert len(hashes) == 4


# Of the messages of version 0.1.0.
GOLDEN = [
    "817ea71e72f96e8f16557742cf423460969b29419ac3b6df5920ef7d766cd9f5",
    "8dabe8b1d0d8e59424030ebad0ea43d4796bb90ea568b9f5c4e8072796040b2a",
]


def test_a_sum_of_which_none_may_vanish_has_the_messages_it_always_had(monkeypatch):
    terms = terms_of()
    assert set(terms.to_json()) == {"format", "version", "structure", "roster", "honest"}
    monkeypatch.setitem(vars(terms), "hash", "ab" * 32)
    keys = {name: AgreementKey(name.encode().rjust(32, b".")) for name in terms.roster.names}
    public = {name: key.public for name, key in keys.items()}
    masked = mask(np.arange(9, dtype=np.uint64), keys["bank"], "bank", terms, 1, public)
    own = keys_of()["bank"]
    sent = key_message(own, terms, 1, keys["bank"]), masked_message(own, terms, 1, public, masked)
    assert [hashlib.sha256(message).hexdigest() for message in sent] == GOLDEN


def test_the_two_messages_are_not_mixed_with_the_five(tmp_path):
    parties = ten(tmp_path)
    with pytest.raises(PartyError, match="parties of these terms may vanish, so shares come before masked counts"):
        parties["bank"].masked_message(1, {})
    assert not list(tmp_path.rglob("*.masked"))
