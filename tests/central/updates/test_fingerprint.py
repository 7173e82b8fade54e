"""The fingerprint of a batch: the same for the same rows, by hand, against a plain twin, and never for other rows."""

import hashlib
import hmac

import numpy as np

from privet.central.updates.batches import Fingerprint
from tests.loops import loop_over

KEY = bytes(range(32))


def table(seed, n_rows=40, n_columns=3, most=5):
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, most, (n_rows, n_columns)).astype(np.uint8)
    return codes, rng.integers(0, 2, n_rows).astype(np.uint16)


def taken(codes, labels, key=KEY, block=1_000):
    fingerprint = Fingerprint(key)
    for start in range(0, len(labels), block):
        fingerprint.add(codes[start : start + block], labels[start : start + block])
    return fingerprint.hexdigest()


def plain(codes, labels, key=KEY):
    """Return the same with one hash a row and HMAC written out."""

    def keyed(message):
        padded = key.ljust(64, b"\0")
        inner = hashlib.sha256(bytes(b ^ 0x36 for b in padded) + message).digest()
        return hashlib.sha256(bytes(b ^ 0x5C for b in padded) + inner).digest()

    total = 0
    for row, label in zip(codes.tolist(), labels.tolist(), strict=True):
        total += int.from_bytes(keyed(b"".join(value.to_bytes(2, "little") for value in (*row, label))), "big")
    return keyed(b"batch" + (total % 2**256).to_bytes(32, "big") + len(labels).to_bytes(16, "big")).hex()


def test_two_rows_by_hand():
    hashes = [hmac.digest(KEY, row, "sha256") for row in (b"\x01\0\x02\0\x01\0", b"\x03\0\x04\0\0\0")]
    total = sum(int.from_bytes(each, "big") for each in hashes) % 2**256
    wanted = hmac.digest(KEY, b"batch" + total.to_bytes(32, "big") + (2).to_bytes(16, "big"), "sha256").hex()
    assert taken(np.array([[1, 2], [3, 4]], dtype=np.uint8), np.array([1, 0], dtype=np.uint16)) == wanted


@loop_over("seed", range(5))
def test_it_agrees_with_its_plain_twin(seed):
    assert taken(*table(seed)) == plain(*table(seed))


@loop_over("seed", range(5))
def test_neither_order_nor_blocks_nor_the_width_of_codes_matter(seed):
    codes, labels = table(seed)
    order = np.random.default_rng(seed).permutation(len(labels))
    assert taken(codes[order].astype(np.uint16), labels[order], block=7) == taken(codes, labels)


def test_whatever_else_is_changed_makes_another_batch():
    codes, labels = table(5)
    other_code, other_label = codes.copy(), labels.copy()
    other_code[3, 1] += 1
    other_label[3] ^= 1
    doubled = np.concatenate([codes, codes]), np.concatenate([labels, labels])
    taken_from = [(codes, labels), (other_code, labels), (codes, other_label), (codes[1:], labels[1:]), doubled]
    fingerprints = {taken(*each) for each in taken_from} | {taken(codes, labels, key=bytes(32))}
    assert len(fingerprints) == 6


def test_a_row_that_changes_places_with_its_label_is_another_row():
    ones, twos = np.array([[1]], dtype=np.uint8), np.array([[2]], dtype=np.uint8)
    assert taken(ones, np.array([2], dtype=np.uint16)) != taken(twos, np.array([1], dtype=np.uint16))


def test_a_batch_without_rows_has_one_too():
    assert taken(*table(5, n_rows=0)) == plain(*table(5, n_rows=0))
