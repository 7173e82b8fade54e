"""Pairwise masks: two parties share a stream of numbers, which one adds and the other subtracts.

X25519 agrees on a secret, and HKDF-SHA256 and ChaCha20 turn it into a stream, all from the package cryptography.
Numbers are integers modulo 2**64, so that masks cancel exactly. The argument is in forest.md.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from privet.entropy import secure_bytes
from privet.errors import PartyError
from privet.lazy import of_extra
from privet.signing.documents import canonical

KEY_BYTES = 32
# 64-bit little-endian numbers, on every machine.
WORD = np.dtype("<u8")
Words = NDArray[np.uint64]

# The streams and sums of a block fit in the processor's second-level cache.
_BLOCK = 2**14


@dataclass(frozen=True)
class AgreementKey:
    """An X25519 key for one attempt at one sum."""

    secret: bytes = field(repr=False)

    @classmethod
    def generate(cls) -> Self:
        """Return a new key, drawn from the system's secure generator."""
        return cls(secure_bytes(KEY_BYTES))

    @property
    def public(self) -> str:
        """The public key for the other parties, in hexadecimal digits."""
        key = _x25519().X25519PrivateKey.from_private_bytes(self.secret)
        return str(key.public_key().public_bytes_raw().hex())

    def stream_key(self, public: str, context: Mapping[str, Any]) -> bytes:
        """Return the key of the stream that is shared with the owner of ``public``.

        The key depends on ``context``, so another round, roster, attempt or pair has another key.
        """
        x25519 = _x25519()
        theirs = x25519.X25519PublicKey.from_public_bytes(bytes.fromhex(public))
        try:
            shared = x25519.X25519PrivateKey.from_private_bytes(self.secret).exchange(theirs)
        except ValueError:  # a point of small order, with which everyone would know the secret
            raise PartyError("a key for the masks would hide nothing; ask its party to begin again") from None
        return derived(shared, context)


def add_streams(vector: Words, keys_to_add: list[bytes], keys_to_subtract: list[bytes]) -> Words:
    """Return ``vector`` plus the streams of some keys and minus those of others, modulo 2**64."""
    masked = vector.astype(WORD)
    streams = [(_stream(key), np.add) for key in keys_to_add] + [
        (_stream(key), np.subtract) for key in keys_to_subtract
    ]
    blank = bytes(_BLOCK * WORD.itemsize)
    words = np.empty(_BLOCK, dtype=WORD)
    for start in range(0, masked.size, _BLOCK):
        part = masked[start : start + _BLOCK]
        for stream, combine in streams:
            stream.update_into(blank, words.view(np.uint8).data)
            combine(part, words[: part.size], out=part)
    return masked


def _stream(key: bytes) -> Any:
    """Return the ChaCha20 stream of ``key``. Each key is used for one stream only, so the nonce may be zero."""
    from cryptography.hazmat.primitives.ciphers import Cipher, algorithms

    return Cipher(algorithms.ChaCha20(key, bytes(16)), mode=None).encryptor()


def derived(secret: bytes, context: Mapping[str, Any]) -> bytes:
    """Return a key or a commitment from ``secret`` by HKDF-SHA256. It depends on ``context``."""
    from cryptography.hazmat.primitives.hashes import SHA256
    from cryptography.hazmat.primitives.kdf.hkdf import HKDF

    return HKDF(algorithm=SHA256(), length=KEY_BYTES, salt=None, info=canonical(context)).derive(secret)


def _x25519() -> Any:
    return of_extra("cryptography.hazmat.primitives.asymmetric.x25519", "parties", "a secure sum")
