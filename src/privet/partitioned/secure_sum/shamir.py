"""Shamir's shares of a secret: any ``threshold`` of them give it back, and fewer say nothing about it.

Numbers are modulo the Mersenne prime 2**521 - 1. The argument is in dropouts.md.
"""

from collections.abc import Mapping

from privet.entropy import secure_bytes

PRIME = 2**521 - 1
SHARE_BYTES = 66
_SPARE_BITS = 8 * SHARE_BYTES - PRIME.bit_length()


def split(secret: bytes, threshold: int, n: int) -> list[bytes]:
    """Return ``n`` shares of ``secret``, which is shorter than a share.

    Share number i, counted from 1, is the value at i of a polynomial with ``threshold`` coefficients. The first is the
    secret, and the others are drawn from the system's secure generator.
    """
    coefficients = [int.from_bytes(secret, "big"), *(_draw() for _ in range(threshold - 1))]
    return [_value(coefficients, x).to_bytes(SHARE_BYTES, "big") for x in range(1, n + 1)]


def join(shares: Mapping[int, bytes], n_bytes: int) -> bytes | None:
    """Return the secret of ``n_bytes`` from shares by their numbers, or None where they do not belong to one.

    Shares that are too few or false give another secret, or None: the caller checks what comes out.
    """
    secret = 0
    for x, share in shares.items():
        top = bottom = 1
        for other in shares:
            if other != x:
                top, bottom = top * other % PRIME, bottom * (other - x) % PRIME
        secret += int.from_bytes(share, "big") * top * pow(bottom, -1, PRIME)
    secret %= PRIME
    return secret.to_bytes(n_bytes, "big") if secret < 256**n_bytes else None


def _value(coefficients: list[int], x: int) -> int:
    value = 0
    for coefficient in reversed(coefficients):
        value = (value * x + coefficient) % PRIME
    return value


def _draw() -> int:
    """Return a number below PRIME, all equally likely."""
    while (drawn := int.from_bytes(secure_bytes(SHARE_BYTES), "big") >> _SPARE_BITS) == PRIME:
        pass
    return drawn
