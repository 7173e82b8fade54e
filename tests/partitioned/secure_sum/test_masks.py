import hashlib
import hmac

import numpy as np
import pytest
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms
from numpy.testing import assert_array_equal

from privet.errors import PartyError
from privet.partitioned.secure_sum.masks import AgreementKey, add_streams
from privet.signing.documents import canonical

CONTEXT = {"terms": "a round", "attempt": 1}


def plain_stream(key, n):
    """The first ``n`` numbers of a stream, all at once."""
    data = Cipher(algorithms.ChaCha20(key, bytes(16)), mode=None).encryptor().update(bytes(8 * n))
    return [int.from_bytes(data[8 * i : 8 * i + 8], "little") for i in range(n)]


def test_streams_are_added_and_taken_off_as_by_hand():
    vector = np.array([5, 9, 2**64 - 1], dtype=np.uint64)
    first, second = bytes(range(32)), bytes(range(32, 64))
    expected = [
        (value + a - b) % 2**64
        for value, a, b in zip(vector.tolist(), plain_stream(first, 3), plain_stream(second, 3), strict=True)
    ]
    assert add_streams(vector, [first], [second]).tolist() == expected
    assert vector.tolist() == [5, 9, 2**64 - 1]


@pytest.mark.parametrize("n", [0, 1, 2**14 - 1, 2**14, 2**14 + 1, 50_001])
def test_long_vectors_are_masked_in_blocks_with_one_stream(n):
    key = bytes(range(32))
    masked = add_streams(np.zeros(n, dtype=np.uint64), [key], [])
    assert masked.tolist() == plain_stream(key, n)
    assert_array_equal(add_streams(masked, [], [key]), np.zeros(n, dtype=np.uint64))


def test_a_mask_looks_like_uniform_bits():
    masked = add_streams(np.zeros(100_000, dtype=np.uint64), [bytes(32)], [])
    ones = np.unpackbits(masked.view(np.uint8)).mean()
    assert abs(ones - 0.5) < 6.2 * 0.5 / np.sqrt(6_400_000)
    assert np.unique(masked).size == masked.size


def test_two_parties_find_the_same_key_and_a_third_another():
    bank, clinic, mill = (AgreementKey.generate() for _ in range(3))
    assert bank.stream_key(clinic.public, CONTEXT) == clinic.stream_key(bank.public, CONTEXT)
    assert bank.stream_key(mill.public, CONTEXT) != bank.stream_key(clinic.public, CONTEXT)


@pytest.mark.parametrize("change", [{"terms": "another round"}, {"attempt": 2}, {"first": "bank"}])
def test_another_context_makes_another_key(change):
    bank, clinic = AgreementKey(bytes(range(32))), AgreementKey(bytes(range(32, 64)))
    assert bank.stream_key(clinic.public, CONTEXT) != bank.stream_key(clinic.public, CONTEXT | change)


def test_the_key_is_that_of_rfc_7748_and_rfc_5869():
    # Bob's secret, Alice's public key and what they share: RFC 7748, section 6.1. HKDF of one block by hand.
    bob = AgreementKey(bytes.fromhex("5dab087e624a8a4b79e17f8b83800ee66f3bb1292618b6fd1c2f8b27ff88e0eb"))
    alice = "8520f0098930a754748b7ddcb43ef75a0dbf3a0d26381af4eba4a98eaa9b4e6a"
    shared = bytes.fromhex("4a5d9d5ba4ce2de1728e3bf480350f25e07e21c947d19e3376f09b3c1e161742")
    spread = hmac.digest(bytes(32), shared, hashlib.sha256)
    expected = hmac.digest(spread, canonical(CONTEXT) + b"\x01", hashlib.sha256)
    assert bob.public == "de9edb7d7b7dc1b4d35b61c2ece435373f8343c85b78674dadfc7e146f882b4f"
    assert bob.stream_key(alice, CONTEXT) == expected


@pytest.mark.parametrize("small", [bytes(32), bytes([1]) + bytes(31)])
def test_a_key_that_hides_nothing_is_refused(small):
    with pytest.raises(PartyError, match="would hide nothing; ask its party to begin again"):
        AgreementKey.generate().stream_key(small.hex(), CONTEXT)


def test_a_secret_is_not_shown():
    assert "secret" not in repr(AgreementKey(bytes(32)))
