"""Whoever has clear reference rows tells a record from its mirror image."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from papers.szucs2013.mirror_attack import MirrorAttack, recovered_share
from privet import Categorical, Schema
from privet.errors import DataError, ParameterError
from privet.local.channels.coding import Coding

NAMES = [f"x{j}" for j in range(8)]
CODING = Coding.of(Schema([Categorical(name, ["u", "v"]) for name in NAMES], classes=["no", "yes"]))


def people(n, seed, *, ones=0.2):
    rng = np.random.default_rng(seed)
    return (rng.random((n, 8)) < ones).astype(np.uint8)


def disguised(bits, keep, seed):
    return bits ^ (np.random.default_rng(seed).random((len(bits), 1)) >= keep)


def test_mirror_images_that_are_rare_are_found_out():
    true = people(3_000, 1, ones=0.1)
    share = recovered_share(true, disguised(true, 0.55, 2), people(1_000, 3, ones=0.1), CODING, 0.55)
    assert share > 0.98


def test_where_both_are_as_common_only_the_coin_is_left():
    true = people(4_000, 1, ones=0.5)
    share = recovered_share(true, disguised(true, 0.7, 2), people(4_000, 3, ones=0.5), CODING, 0.7)
    assert abs(share - 0.7) < 0.05


def test_a_code_that_no_value_has_is_a_mirror_image_and_a_balanced_pair_is_not_told_apart():
    coding = Coding.of(Schema([Categorical("pair", list("abc")), Categorical("x", ["u", "v"])], classes=["no", "yes"]))
    # Of the codes 00, 11 and 01 the last has no partner: 10 is a mirror image for sure.
    reference = np.array([[0, 0, 0], [1, 1, 1], [0, 1, 0], [0, 1, 1]] * 50, dtype=np.uint8)
    attack = MirrorAttack.of(reference, coding)
    chance = attack.chance_flipped(np.array([[1, 0, 0], [0, 1, 0]], dtype=np.uint8), 0.6)
    assert chance[0] > 0.95
    assert chance[1] < 0.05
    # 00 goes with 0 and 11 with 1 here, so mirror images fit as well and the coin alone decides.
    assert_allclose(attack.chance_flipped(np.array([[0, 0, 0]], dtype=np.uint8), 0.6), [0.4], atol=0.01)


def test_attributes_hang_on_the_one_they_depend_on_most():
    rng = np.random.default_rng(2)
    bits = people(2_000, 4, ones=0.5)
    bits[:, 5] = bits[:, 2] ^ (rng.random(2_000) < 0.05)
    bits[:, 7] = bits[:, 5]
    attack = MirrorAttack.of(bits, CODING)
    assert attack.parent[0] == -1
    assert {frozenset((j, int(attack.parent[j]))) for j in range(1, 8)} >= {frozenset((5, 7))}
    total = np.logaddexp.reduce(
        attack.log_likelihood(np.array([[(i >> j) & 1 for j in range(8)] for i in range(256)], np.uint8))
    )
    assert_allclose(total, 0, atol=1e-9)


def test_the_believed_record_is_the_given_one_or_its_mirror_image():
    attack = MirrorAttack.of(people(500, 1), CODING)
    given = people(50, 2, ones=0.6)
    believed = attack.recovered(given, 0.9)
    flipped = (believed != given).any(axis=1)
    assert_array_equal(believed[flipped], 1 - given[flipped])
    assert 0 < flipped.sum() < 50


def test_an_attack_needs_rows_and_a_coin():
    with pytest.raises(DataError, match="without reference rows"):
        MirrorAttack.of(people(0, 1), CODING)
    with pytest.raises(ParameterError, match="must lie between 0 and 1"):
        MirrorAttack.of(people(5, 1), CODING).chance_flipped(people(2, 1), 1.0)
