"""The messages of a secure sum, and what is opened from them."""

import base64
import json
import math

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from privet import load
from privet.errors import ModelFileError, ParameterError, PartyError
from privet.partitioned import SecureSumForest
from privet.partitioned.secure_sum.messages import KEY, read_message
from privet.privacy.events import NoiseShares
from tests.partitioned.sums import NAMES, keys_of, messages, parties_of, prepare, structure_of, table_of, terms_of


@pytest.fixture(scope="module")
def exact_round(tmp_path_factory):
    """A sum without noise: its terms and both messages of all parties."""
    terms = terms_of(structure_of(epsilon=math.inf))
    parties = parties_of(terms, tmp_path_factory.mktemp("parties"))
    prepare(parties)
    return terms, *messages(parties)


def exact_sum(structure):
    return sum(structure.exact_counts(table_of(name).X, table_of(name).y, n_jobs=1) for name in NAMES)


def test_the_sum_is_exact_to_the_last_count(exact_round):
    terms, keys, masked = exact_round
    model = SecureSumForest.open(terms, 1, keys, masked)
    assert_array_equal(model.noisy_counts_, exact_sum(terms.structure))
    assert model.noisy_counts_.sum() == 3 * 4 * 300


def test_a_masked_vector_looks_like_uniform_bits_and_not_like_counts(exact_round):
    _, _, masked = exact_round
    vectors = [np.frombuffer(base64.b64decode(json.loads(masked[name])["vector"]), dtype="<u8") for name in NAMES]
    n_bits = 64 * len(NAMES) * vectors[0].size
    ones = np.unpackbits(np.concatenate(vectors).view(np.uint8)).sum()
    assert abs(ones - n_bits / 2) < 6.2 * math.sqrt(n_bits) / 2
    # Any three of the four leave a mask of the fourth in every number: counts would be far below 2^40.
    for missing in range(len(NAMES)):
        partial = sum(vector for i, vector in enumerate(vectors) if i != missing)
        assert ((partial > 2**40) & (partial < 2**64 - 2**40)).mean() > 0.9


def test_the_opened_model_states_what_it_rests_on_and_survives_its_file(tmp_path):
    terms = terms_of(honest=2)
    parties = parties_of(terms, tmp_path)
    prepare(parties)
    model = SecureSumForest.open(terms, 1, *messages(parties))
    guarantee = model.guarantee_
    assert (guarantee.epsilon, guarantee.mode) == (1.0, "sound")
    assert guarantee.assumptions == (
        "no row is with more than one party",
        "at least 2 of the 4 parties followed the protocol and did not collude",
    )
    assert isinstance(guarantee.event, NoiseShares)
    assert (guarantee.event.honest, guarantee.event.parties, guarantee.event.sensitivity) == (2, 4, 3)
    model.save(tmp_path / "model.privet")
    again = load(tmp_path / "model.privet")
    assert again.guarantee_ == guarantee
    assert_array_equal(again.noisy_counts_, model.noisy_counts_)
    assert_array_equal(again.predict(table_of("bank").X), model.predict(table_of("bank").X))


@pytest.mark.parametrize(("field", "value"), [("honest", 4), ("parties", 5), ("sensitivity", 2), ("scale", "1/1")])
def test_a_file_whose_receipt_does_not_fit_is_refused(tmp_path, field, value):
    terms = terms_of(honest=2)
    parties = parties_of(terms, tmp_path)
    prepare(parties)
    document = SecureSumForest.open(terms, 1, *messages(parties)).to_document()
    document["guarantee"]["event"][field] = value
    with pytest.raises(ModelFileError, match="the guarantee"):
        SecureSumForest.from_document(document, terms.structure.schema)


def test_where_all_must_be_honest_the_model_says_against_whom_it_does_not_protect(tmp_path):
    terms = terms_of(honest=4)
    parties = parties_of(terms, tmp_path)
    prepare(parties)
    model = SecureSumForest.open(terms, 1, *messages(parties))
    assert "all 4 parties followed the protocol, and none uses its own noise against another" in str(model.guarantee_)


@pytest.mark.parametrize("kind", [0, 1])
def test_a_missing_party_opens_nothing(exact_round, kind):
    terms, *both = exact_round
    both[kind] = {name: message for name, message in both[kind].items() if name not in ("clinic", "mill")}
    with pytest.raises(PartyError, match="message has come from 'clinic', 'mill'; a sum opens only with all parties"):
        SecureSumForest.open(terms, 1, *both)


def changed(message, **changes):
    return json.dumps(json.loads(message) | changes).encode()


@pytest.mark.parametrize("kind", [0, 1])
@pytest.mark.parametrize("changes", [{"signature": "0" * 128}, {"signature": 5}, {"attempt": 2}, {"terms": "0" * 64}])
def test_a_changed_message_is_refused(exact_round, kind, changes):
    terms, *both = exact_round
    both[kind] = both[kind] | {"mill": changed(both[kind]["mill"], **changes)}
    with pytest.raises(
        PartyError, match=r"signature of the (key|masked) message of 'mill' is not that of its key in the"
    ):
        SecureSumForest.open(terms, 1, *both)


def test_a_changed_number_is_refused(exact_round):
    terms, keys, masked = exact_round
    vector = json.loads(masked["mill"])["vector"]
    other = vector[:-4] + ("AAAA" if vector[-4:] != "AAAA" else "BBBB")
    with pytest.raises(PartyError, match="signature of the masked message of 'mill'"):
        SecureSumForest.open(terms, 1, keys, masked | {"mill": changed(masked["mill"], vector=other)})


def signed_by(name, message, **changes):
    """A message that is not as it should be, signed all the same by the party itself."""
    body = {key: value for key, value in (json.loads(message) | changes).items() if key != "signature"}
    return json.dumps({**body, "signature": keys_of()[name].sign(body)}).encode()


def test_a_message_signed_with_a_key_that_is_not_in_the_roster_is_refused(exact_round):
    terms, keys, masked = exact_round
    forged = signed_by("clinic", masked["mill"])
    with pytest.raises(PartyError, match="somebody else made it; nothing was opened"):
        SecureSumForest.open(terms, 1, keys, masked | {"mill": forged})


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [({"vector": "AAAA"}, "the masked counts of 'mill' do not fit the structure"),
     ({"vector": "%"}, "the masked counts of 'mill' do not fit the structure"),
     ({"vector": 5}, "the masked counts of 'mill' do not fit the structure"),
     ({"party": "clinic"}, "the masked message of 'mill' is by another party"),
     ({"more": 1}, "lacks a part or has one too many"),
     ({"version": 2}, "has a format version that this privet does not know"),
     ({"format": "privet-sum-key"}, "is not what its name says"),
     ({"attempt": True}, "is from another attempt than attempt 1"),
     ({"terms": "0" * 64}, "is from another round: its structure, roster or number of honest parties differs"),
     ({"keys": "0" * 64}, "were masked with other keys than these")],
)  # fmt: skip
def test_a_damaged_message_is_refused_though_it_is_signed(exact_round, changes, sentence):
    terms, keys, masked = exact_round
    with pytest.raises(PartyError, match=sentence):
        SecureSumForest.open(terms, 1, keys, masked | {"mill": signed_by("mill", masked["mill"], **changes)})


@pytest.mark.parametrize("data", [b"", b"{", b"[]", b"\xff", b'{"party":1,"party":2}'])
def test_what_is_no_message_is_refused_without_quoting_it(exact_round, data):
    terms, keys, masked = exact_round
    with pytest.raises(
        PartyError, match="the masked message of 'mill' is (not a JSON document|not one that privet wrote)"
    ):
        SecureSumForest.open(terms, 1, keys, masked | {"mill": data})


@pytest.mark.parametrize("public", ["00", 5, "g" * 64, "AB" * 32])
def test_a_damaged_key_for_the_masks_is_refused(exact_round, public):
    terms, keys, masked = exact_round
    with pytest.raises(PartyError, match="the key that 'mill' sent for the masks is damaged"):
        SecureSumForest.open(terms, 1, keys | {"mill": signed_by("mill", keys["mill"], public=public)}, masked)


def test_a_copied_key_for_the_masks_is_refused(exact_round):
    terms, keys, masked = exact_round
    copied = signed_by("mill", keys["mill"], public=json.loads(keys["bank"])["public"])
    with pytest.raises(PartyError, match="two parties sent the same key for the masks"):
        SecureSumForest.open(terms, 1, keys | {"mill": copied}, masked)


def test_a_party_that_sends_no_counts_is_noticed_where_the_sum_shows_it(exact_round):
    terms, keys, masked = exact_round
    vector = np.frombuffer(base64.b64decode(json.loads(masked["mill"])["vector"]), dtype="<u8") + np.uint64(2**60)
    lie = signed_by("mill", masked["mill"], vector=base64.b64encode(vector.tobytes()).decode())
    with pytest.raises(PartyError, match="the result is not a sum of counts"):
        SecureSumForest.open(terms, 1, keys, masked | {"mill": lie})


def test_a_message_of_another_attempt_is_not_used(exact_round):
    terms, keys, masked = exact_round
    with pytest.raises(PartyError, match="the key message of 'bank' is from another attempt than attempt 2"):
        SecureSumForest.open(terms, 2, keys, masked)


@pytest.mark.parametrize("attempt", [0, -1, 1.0, True, None, 10**7])
def test_an_attempt_is_a_whole_number(exact_round, attempt):
    with pytest.raises(ParameterError, match=r"attempt=.* must be a whole number from 1"):
        SecureSumForest.open(exact_round[0], attempt, *exact_round[1:])


@pytest.mark.parametrize(
    "other", [{"structure": structure_of(round_="autumn", epsilon=math.inf)}, {"names": NAMES[:3]}, {"honest": 2}]
)
def test_other_terms_are_another_round(exact_round, other):
    terms = terms_of(**({"structure": exact_round[0].structure} | other))
    with pytest.raises(PartyError, match="is from another round: its structure, roster or number of honest parties"):
        read_message(exact_round[1]["bank"], KEY, "bank", terms, 1)


def test_terms_of_one_party_or_of_too_many_honest_ones_are_refused():
    with pytest.raises(PartyError, match="a sum hides its parts among 2 to 10,000 parties"):
        terms_of(names=("bank",))
    for honest in (0, 5, 1.0, True):
        with pytest.raises(ParameterError, match=r"honest=.* must be a whole number from 1 to 4"):
            terms_of(honest=honest)
    with pytest.raises(PartyError, match="the structure is for 'bank' alone and is not summed"):
        terms_of(structure_of(party="bank"))
    assert terms_of().honest == 3
