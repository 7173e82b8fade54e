"""Shamir's shares: by hand, by a twin that solves equations, and by statistics that can fail."""

import numpy as np
import pytest
from scipy.stats import chisquare

from privet.entropy import secure_bytes
from privet.errors import EntropyError
from privet.partitioned.secure_sum import shamir
from privet.partitioned.secure_sum.shamir import PRIME, SHARE_BYTES, join, split


def number(share):
    return int.from_bytes(share, "big")


def drawn(monkeypatch, *coefficients):
    """Let the polynomial be known."""
    coming = iter(coefficients)
    monkeypatch.setattr(shamir, "_draw", lambda: next(coming))


def test_a_line_through_five_is_computed_by_hand(monkeypatch):
    drawn(monkeypatch, 9)
    shares = split(b"\x05", 2, 4)
    assert [number(share) for share in shares] == [14, 23, 32, 41]  # 5 + 9 x
    assert join({1: shares[0], 3: shares[2]}, 1) == join({4: shares[3], 2: shares[1]}, 1) == b"\x05"


def test_a_parabola_is_computed_by_hand(monkeypatch):
    drawn(monkeypatch, 9, 2)
    shares = split(b"\x05", 3, 3)
    assert [number(share) for share in shares] == [16, 31, 50]  # 5 + 9 x + 2 x^2
    assert join(dict(enumerate(shares, 1)), 1) == b"\x05"


def test_numbers_wrap_around_at_the_prime(monkeypatch):
    drawn(monkeypatch, PRIME - 1)
    assert [number(share) for share in split(b"\x05", 2, 6)] == [4, 3, 2, 1, 0, PRIME - 1]  # 5 - x


def test_the_prime_is_one():
    # Lucas and Lehmer: 2^p - 1 is prime exactly if s_(p-2) is 0, with s_0 = 4 and s_(i+1) = s_i^2 - 2.
    s = 4
    for _ in range(521 - 2):
        s = (s * s - 2) % PRIME
    assert s == 0


def solved(shares, threshold):
    """The secret by Gauss's elimination of the equations of ``threshold`` shares: another algorithm."""
    rows = [[pow(x, power, PRIME) for power in range(threshold)] + [number(share)] for x, share in shares.items()]
    for i in range(threshold):
        pivot = next(row for row in rows[i:] if row[i])
        rows.remove(pivot)
        pivot = [value * pow(pivot[i], -1, PRIME) % PRIME for value in pivot]
        rows = [[(a - row[i] * b) % PRIME for a, b in zip(row, pivot, strict=True)] for row in rows]
        rows.insert(i, pivot)
    return rows[0][-1]


@pytest.mark.parametrize(("threshold", "n"), [(1, 1), (2, 2), (2, 5), (7, 10), (10, 10), (20, 31)])
def test_any_group_that_is_large_enough_finds_the_secret_as_its_twin_does(threshold, n):
    secret = secure_bytes(32)
    shares = dict(enumerate(split(secret, threshold, n), 1))
    for seed in range(5):
        group = np.random.default_rng(seed).permutation(list(shares))[:threshold].tolist()
        held = {x: shares[x] for x in group}
        assert join(held, 32) == secret
        assert solved(held, threshold) == number(secret)
    assert join(shares, 32) == secret


def test_every_secret_fits_the_shares_of_a_group_that_is_too_small():
    held = dict(list(enumerate(split(secure_bytes(32), 3, 5), 1))[:2])
    for guess in (b"\x00" * 32, b"\xff" * 32, secure_bytes(32)):
        # Through two shares and any secret there is a parabola, so two shares exclude none.
        at = {0: guess.rjust(SHARE_BYTES, b"\0"), **held}
        third = sum(number(y) * weight for y, weight in zip(at.values(), (1, PRIME - 3, 3), strict=True)) % PRIME
        assert join({**held, 3: third.to_bytes(SHARE_BYTES, "big")}, 32) == guess


def test_a_false_share_gives_no_secret_or_another_one():
    secret = secure_bytes(32)
    shares = dict(enumerate(split(secret, 3, 3), 1))
    assert join({**shares, 2: bytes(SHARE_BYTES)}, 32) != secret


def p_value_of_shares(n=20_000):
    """The p-value of the leading bits of single shares of one secret under the uniform law."""
    leading = [number(split(b"\x05" * 32, 2, 1)[0]) >> 513 for _ in range(n)]
    return chisquare(np.bincount(leading, minlength=256)).pvalue


def test_a_share_of_a_known_secret_is_uniform_and_a_poor_generator_is_noticed(monkeypatch):
    assert p_value_of_shares() > 1e-6
    monkeypatch.setattr(shamir, "_draw", lambda: number(secure_bytes(SHARE_BYTES)) >> 8)  # one bit short
    assert p_value_of_shares() < 1e-6


def test_without_secure_bytes_there_are_no_shares(monkeypatch):
    def broken(_):
        raise EntropyError

    monkeypatch.setattr(shamir, "secure_bytes", broken)
    with pytest.raises(EntropyError):
        split(b"\x05", 2, 3)
