"""Parties and carriers that lie, replay, or show different things to different parties: each is refused by name."""

import contextlib
import json
from dataclasses import replace

import pytest
from numpy.testing import assert_array_equal

from privet.errors import PartyError
from privet.partitioned.secure_sum.messages import KEY, MASKED, SHARES, SURVIVORS, UNMASK
from privet.partitioned.secure_sum.shares import MASKS, SEED, AttemptSecrets
from tests.partitioned.dropouts import THREE, keyed, opened, others, revealed, secrets_of, signed_by, sum_of, ten
from tests.partitioned.sums import TEN, conversation, terms_of


@pytest.fixture
def talk(tmp_path):
    """Ten parties and all that they have said up to their masked counts."""
    parties = ten(tmp_path)
    return parties, conversation(parties, until=MASKED)


def changed_share(message, to):
    shares = json.loads(message)["shares"]
    sealed = shares[to]["sealed"]
    shares[to]["sealed"] = sealed[:-2] + ("00" if sealed[-2:] != "00" else "01")
    return {"shares": shares}


def test_a_share_that_was_changed_on_its_way_is_refused(talk):
    parties, seen = talk
    forged = json.dumps(json.loads(seen[SHARES]["mill"]) | changed_share(seen[SHARES]["mill"], "bank")).encode()
    with pytest.raises(PartyError, match="the signature of the shares message of 'mill' is not that of its key"):
        parties["bank"].message(MASKED, 1, seen | {SHARES: seen[SHARES] | {"mill": forged}})


@pytest.mark.parametrize("field", ["sealed", MASKS, SEED])
def test_a_false_share_that_its_dealer_signed_is_refused_before_anything_is_masked(tmp_path, field):
    parties = ten(tmp_path)
    seen = conversation(parties, until=SHARES)
    shares = json.loads(seen[SHARES]["mill"])["shares"]
    shares["bank"][field] = shares["clinic"][field]
    false = seen[SHARES] | {"mill": signed_by("mill", seen[SHARES]["mill"], shares=shares)}
    with pytest.raises(PartyError, match="the share that 'mill' sealed for 'bank' is not the one it has committed to"):
        parties["bank"].message(MASKED, 1, {KEY: seen[KEY], SHARES: false})
    assert not list((tmp_path / "bank").rglob("*.masked"))


@pytest.mark.parametrize("part", ["terms", "number", "masks", "dealer", "to"])
def test_a_sealed_share_is_for_one_party_from_one_dealer_in_one_attempt_with_these_keys(tmp_path, part):
    parties = ten(tmp_path)
    seen = conversation(parties, until=SHARES)
    attempt = keyed(seen, parties["bank"].terms)
    document = attempt.read_dealt(seen[SHARES]["mill"], "mill")
    names = {"dealer": "mill", "to": "bank"}
    key = secrets_of(tmp_path, "bank").sharing
    assert attempt.unseal(document, **names, key=key)
    changed = {
        "terms": terms_of(names=TEN, dropouts=3, honest=5), "number": 2,
        "masks": {**attempt.masks, "yard": attempt.sharing["yard"]},
    }  # fmt: skip
    other = replace(attempt, **{part: changed[part]}) if part in changed else attempt
    names |= {part: "guild"} if part in names else {}
    with pytest.raises(PartyError, match=rf"the share that '{names['dealer']}' sealed for '{names['to']}' is not the"):
        other.unseal(document, **names, key=key)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [({"shares": 5}, "the shares of 'mill' are damaged"),
     ({"shares": {"bank": {}}}, "the shares of 'mill' are damaged"),
     ({"seed": "00"}, "the shares of 'mill' are damaged"),
     ({"keys": "0" * 64}, "the shares of 'mill' were made with other keys than these"),
     ({"more": 1}, "lacks a part or has one too many"),
     ({"attempt": True}, "is from another attempt than attempt 1")],
)  # fmt: skip
def test_damaged_shares_are_refused_though_they_are_signed(talk, changes, sentence):
    parties, seen = talk
    false = seen[SHARES] | {"mill": signed_by("mill", seen[SHARES]["mill"], **changes)}
    with pytest.raises(PartyError, match=sentence):
        parties["bank"].message(MASKED, 1, {KEY: seen[KEY], SHARES: false})


def test_a_dealer_whose_shares_do_not_fit_together_opens_nothing_and_is_named(tmp_path):
    parties = ten(tmp_path)
    seen = conversation(parties, until=SHARES)
    attempt, own = keyed(seen, parties["mill"].terms), secrets_of(tmp_path, "mill")
    other = AttemptSecrets(own.masks, own.sharing, bytes(32))
    dealt, false = attempt.deal(own, "mill"), attempt.deal(other, "mill")
    mixed = {name: (false if name == "bank" else dealt)["shares"][name] for name in TEN}
    seen[SHARES]["mill"] = signed_by("mill", seen[SHARES]["mill"], **(dealt | {"shares": mixed}))
    next((tmp_path / "mill").rglob("attempt-1.shares")).chmod(0o600)
    next((tmp_path / "mill").rglob("attempt-1.shares")).write_bytes(seen[SHARES]["mill"])
    for kind in (MASKED, SURVIVORS, UNMASK):
        seen[kind] = {name: party.message(kind, 1, seen) for name, party in parties.items()}
    with pytest.raises(
        PartyError, match="the shares that 'mill' dealt out do not make up its secret, so the sum stays"
    ):
        opened(parties, seen)


def test_messages_of_another_attempt_are_refused_by_name(tmp_path):
    parties = ten(tmp_path)
    first = conversation(parties, until=MASKED)
    second = conversation(parties, 2, until=MASKED)
    for kind in (KEY, SHARES, MASKED):
        replayed = second | {kind: second[kind] | {"mill": first[kind]["mill"]}}
        with pytest.raises(PartyError, match=f"the {kind} message of 'mill' is from another attempt than attempt 2"):
            parties["bank"].message(SURVIVORS, 2, replayed)


def test_messages_of_other_terms_are_refused_by_name(tmp_path):
    parties, twins = ten(tmp_path / "one"), ten(tmp_path / "two", honest=5)
    seen, other = conversation(parties, until=MASKED), conversation(twins, until=MASKED)
    for kind in (KEY, SHARES, MASKED):
        with pytest.raises(PartyError, match=f"the {kind} message of 'mill' is from another round"):
            parties["bank"].message(SURVIVORS, 1, seen | {kind: seen[kind] | {"mill": other[kind]["mill"]}})


def test_a_party_that_signs_a_wrong_list_is_named_and_the_others_go_on(talk):
    parties, seen = talk
    without = seen | {MASKED: {name: seen[MASKED][name] for name in others("yard")}}
    seen[SURVIVORS] = {name: party.message(SURVIVORS, 1, without if name == "mill" else seen)
                       for name, party in parties.items()}  # fmt: skip
    with pytest.raises(
        PartyError, match="nothing was opened; 'bank' signed another list of survivors; 'clinic' signed"
    ):
        parties["mill"].message(UNMASK, 1, seen)
    seen[UNMASK] = {name: parties[name].message(UNMASK, 1, seen) for name in others("mill")}
    assert opened(parties, seen).parties == list(TEN)


def test_two_lists_shown_to_different_parties_open_nothing(talk, tmp_path):
    parties, seen = talk
    lists = [{name: seen[MASKED][name] for name in others(left_out)} for left_out in ("bank", "yard")]
    signed = {}
    for i, (name, party) in enumerate(parties.items()):
        signed[name] = party.message(SURVIVORS, 1, seen | {MASKED: lists[i % 2]})
    for party in parties.values():
        with pytest.raises(
            PartyError, match="signatures of this list of survivors of 5 parties, and 7 of 10 must stay: nothing was"
        ):
            party.message(UNMASK, 1, seen | {SURVIVORS: signed})
    assert revealed(tmp_path) == []


def test_a_party_signs_one_list_in_an_attempt(talk):
    parties, seen = talk
    parties["bank"].message(SURVIVORS, 1, seen)
    without = seen | {MASKED: {name: seen[MASKED][name] for name in others("mill")}}
    with pytest.raises(PartyError, match="has sent its survivors message of attempt 1 for other keys or other parties"):
        parties["bank"].message(SURVIVORS, 1, without)


def test_masked_counts_are_not_made_a_second_time_for_other_parties(talk):
    parties, seen = talk
    fewer = {KEY: seen[KEY], SHARES: {name: seen[SHARES][name] for name in others("mill")}}
    with pytest.raises(PartyError, match="has sent its masked message of attempt 1 for other keys or other parties"):
        parties["bank"].message(MASKED, 1, fewer)


def test_both_secrets_of_a_party_are_never_revealed(tmp_path):
    # The carrier shows the bank a list with the mill, and then one without it that all others have signed.
    parties = ten(tmp_path)
    seen = conversation(parties, until=SURVIVORS)
    answer = parties["bank"].message(UNMASK, 1, seen)
    assert set(json.loads(answer)["shares"]) == set(TEN)  # one share of each
    masked = json.loads(seen[SURVIVORS]["bank"])["masked"]
    del masked["mill"]
    lists = {name: signed_by(name, seen[SURVIVORS][name], masked=masked) for name in others("bank")}
    with pytest.raises(PartyError, match="there are signatures of this list of survivors of 1 parties, and 7 of 10"):
        parties["bank"].message(UNMASK, 1, seen | {SURVIVORS: lists})
    assert parties["bank"].message(UNMASK, 1, seen) == answer


def test_a_list_that_nobody_asked_this_party_to_sign_takes_no_masks_off(tmp_path):
    parties = ten(tmp_path)
    seen = conversation(parties, until=MASKED)
    seen[SURVIVORS] = {name: parties[name].message(SURVIVORS, 1, seen) for name in others("bank")}
    with pytest.raises(PartyError, match="this party has signed no list of survivors of attempt 1; ask for it first"):
        parties["bank"].message(UNMASK, 1, seen)


def test_a_false_share_in_the_unmasking_is_refused_by_name(tmp_path):
    parties = ten(tmp_path)
    seen = conversation(parties)
    shares = json.loads(seen[UNMASK]["bank"])["shares"] | {"mill": "00" * 66}
    seen[UNMASK]["bank"] = signed_by("bank", seen[UNMASK]["bank"], shares=shares)
    assert_array_equal(opened(parties, seen).noisy_counts_.ravel(), sum_of(tmp_path, TEN))  # the others are enough
    for name in THREE:
        del seen[UNMASK][name]
    with pytest.raises(PartyError, match="of 6 parties, .*: nothing was opened; 'bank' sent a false share of 'mill'"):
        opened(parties, seen)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [({"shares": {}}, "'bank' did not send one share of every party"),
     ({"shares": 5}, "'bank' did not send one share of every party"),
     ({"survivors": "0" * 64}, "'bank' unmasked another list of survivors"),
     ({"attempt": 2}, "the unmask message of 'bank' is from another attempt than attempt 1")],
)  # fmt: skip
def test_a_damaged_unmasking_is_refused_by_name(tmp_path, changes, sentence):
    parties = ten(tmp_path)
    seen = conversation(parties, silent={UNMASK: THREE})
    seen[UNMASK]["bank"] = signed_by("bank", seen[UNMASK]["bank"], **changes)
    with pytest.raises(PartyError, match=sentence):
        opened(parties, seen)


@pytest.mark.parametrize("value", [5, {"bank": 5}, {"bank": "00"}])
def test_a_damaged_list_is_refused_by_name(tmp_path, value):
    parties = ten(tmp_path)
    seen = conversation(parties, until=SURVIVORS, silent={SURVIVORS: THREE})
    seen[SURVIVORS]["bank"] = signed_by("bank", seen[SURVIVORS]["bank"], masked=value)
    with pytest.raises(PartyError, match="the list of survivors that 'bank' signed is damaged"):
        parties["dairy"].message(UNMASK, 1, seen)


def test_without_lists_nothing_opens(talk):
    parties, seen = talk
    with pytest.raises(PartyError, match="no party has signed a list of survivors; nothing was opened"):
        opened(parties, seen | {SURVIVORS: {}, UNMASK: {}})


def test_a_counted_message_that_is_lost_or_exchanged_opens_nothing(tmp_path):
    parties = ten(tmp_path)
    seen = conversation(parties)
    lost = seen | {MASKED: {name: seen[MASKED][name] for name in others("mill")}}
    with pytest.raises(PartyError, match="a message of 'mill' is missing, which was counted"):
        opened(parties, lost)
    vector = json.loads(seen[MASKED]["bank"])["vector"]
    lie = signed_by("mill", seen[MASKED]["mill"], vector=vector)
    with pytest.raises(PartyError, match="the messages are not those that the survivors signed for"):
        opened(parties, seen | {MASKED: seen[MASKED] | {"mill": lie}})


def test_masked_counts_under_a_partys_own_name_that_it_did_not_send_are_noticed(talk):
    parties, seen = talk
    vector = json.loads(seen[MASKED]["mill"])["vector"]
    lie = signed_by("bank", seen[MASKED]["bank"], vector=vector)
    with pytest.raises(
        PartyError, match="the masked message of 'bank' is not the one that this party sent in attempt 1"
    ):
        parties["bank"].message(SURVIVORS, 1, seen | {MASKED: seen[MASKED] | {"bank": lie}})


@pytest.mark.parametrize("field", ["public", "sharing"])
def test_damaged_and_copied_keys_are_refused(talk, field):
    parties, seen = talk
    for value, sentence in (("00", "a key that 'mill' sent is damaged"),
                            (json.loads(seen[KEY]["bank"])["sharing"], "the same key was sent twice")):  # fmt: skip
        keys = seen[KEY] | {"mill": signed_by("mill", seen[KEY]["mill"], **{field: value})}
        with pytest.raises(PartyError, match=sentence):
            parties["dairy"].message(SHARES, 1, {KEY: keys})


ODD = (None, 5, -1, True, 1.5, "", "é", "0" * 64, [], ["bank"], {}, {"bank": None}, {"tavern": "0" * 64, "nobody": []})


def odd_versions(content):
    """The content with each of its parts in turn, and each part of those, replaced by something odd."""
    for key, value in content.items():
        for odd in ODD:
            yield {**content, key: odd}
        if isinstance(value, dict) and value:
            inner = next(iter(value))
            for odd in ODD:
                yield {**content, key: {**value, inner: odd}}


@pytest.mark.parametrize("kind", [KEY, SHARES, MASKED, SURVIVORS, UNMASK])
def test_whatever_a_party_signs_the_others_end_with_a_sentence_or_without_it(tmp_path, kind):
    parties = ten(tmp_path)
    seen = conversation(parties)
    reader = {KEY: SHARES, SHARES: MASKED, MASKED: SURVIVORS, SURVIVORS: UNMASK}.get(kind)
    common = {"format", "version", "terms", "party", "signature"}
    content = {key: value for key, value in json.loads(seen[kind]["mill"]).items() if key not in common}
    for odd in odd_versions(content):
        heard = seen | {kind: seen[kind] | {"mill": signed_by("mill", seen[kind]["mill"], **odd)}}
        with contextlib.suppress(PartyError):
            opened(parties, heard)
        if reader is not None:
            with contextlib.suppress(PartyError):
                assert parties["bank"].message(reader, 1, heard) == seen[reader]["bank"]
