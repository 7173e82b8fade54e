"""What a party deals out to the others in case it vanishes: shares of its mask key and of its self-mask seed.

Each share is sealed for one party, and the message commits to all of them, so that a false one is detected whoever
sends it. The argument is in dropouts.md.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Self

from privet.checks import is_hex
from privet.entropy import secure_bytes
from privet.errors import PartyError
from privet.partitioned.secure_sum.masks import KEY_BYTES, AgreementKey, derived
from privet.partitioned.secure_sum.messages import KEY, SHARES, all_of, read_message
from privet.partitioned.secure_sum.shamir import SHARE_BYTES, join, split
from privet.partitioned.secure_sum.terms import Terms
from privet.signing.documents import canonical, digest

MASKS, SEED = "masks", "seed"  # the two secrets of a party
_SEALED_BYTES = 2 * SHARE_BYTES + 16
# A key seals one message only.
_NONCE = bytes(12)


@dataclass(frozen=True)
class AttemptSecrets:
    """A party's secrets in one attempt: a key for masks, a key for sealing shares, and the seed of its self-mask."""

    masks: AgreementKey
    sharing: AgreementKey
    seed: bytes = field(repr=False)

    N_BYTES = 3 * KEY_BYTES

    @classmethod
    def generate(cls) -> Self:
        """Return new secrets, drawn from the system's secure generator."""
        return cls(AgreementKey.generate(), AgreementKey.generate(), secure_bytes(KEY_BYTES))

    @classmethod
    def from_bytes(cls, data: bytes) -> Self:
        """Read secrets back."""
        masks, sharing, seed = (data[i : i + KEY_BYTES] for i in range(0, cls.N_BYTES, KEY_BYTES))
        return cls(AgreementKey(masks), AgreementKey(sharing), seed)

    def to_bytes(self) -> bytes:
        """Return the secrets for the store."""
        return self.masks.secret + self.sharing.secret + self.seed


@dataclass(frozen=True, eq=False)
class KeyedAttempt:
    """The terms, the number and all public keys of an attempt. Everything that is sealed or derived depends on them."""

    terms: Terms
    number: int
    masks: Mapping[str, str]
    sharing: Mapping[str, str]

    @classmethod
    def of_messages(cls, messages: Mapping[str, bytes], terms: Terms, number: int) -> Self:
        """Check that all key messages are there and valid, and take the keys from them."""
        masks, sharing = {}, {}
        for name in all_of(messages, terms, KEY):
            document = read_message(messages[name], KEY, name, terms, number)
            masks[name], sharing[name] = document["public"], document["sharing"]
            if not (is_hex(masks[name], KEY_BYTES) and is_hex(sharing[name], KEY_BYTES)):
                raise PartyError(f"a key that {name!r} sent is damaged; ask the party to begin again")
        if len({*masks.values(), *sharing.values()}) < 2 * len(masks):
            raise PartyError("the same key was sent twice; the round is not safe: find out who copied it")
        return cls(terms, number, masks, sharing)

    @cached_property
    def keys(self) -> str:
        """The hash of all public keys."""
        return digest({"masks": dict(self.masks), "sharing": dict(self.sharing)})

    def context(self, purpose: str, **more: str) -> dict[str, Any]:
        """Return what a key or a commitment for ``purpose`` depends on."""
        return {"format": f"privet-sum-{purpose}", "version": 1, "terms": self.terms.hash, "attempt": self.number,
                "keys": self.keys, **more}  # fmt: skip

    def stream_of(self, seed: bytes, party: str) -> bytes:
        """Return the key of the stream that is a party's self-mask."""
        return derived(seed, self.context("self-mask", party=party))

    def deal(self, secrets: AttemptSecrets, dealer: str) -> dict[str, Any]:
        """Return the content of a message with sealed shares of both secrets for every party, the dealer too."""
        names, threshold = self.terms.roster.names, self.terms.threshold
        dealt = zip(
            names,
            split(secrets.masks.secret, threshold, len(names)),
            split(secrets.seed, threshold, len(names)),
            strict=True,
        )
        shares = {
            to: {
                "sealed": self._seal(secrets.sharing, dealer, to, masks + seed).hex(),
                MASKS: self._commitment(masks, MASKS, dealer, to),
                SEED: self._commitment(seed, SEED, dealer, to),
            }
            for to, masks, seed in dealt
        }
        return {"keys": self.keys, "seed": self._seed_commitment(secrets.seed, dealer), "shares": shares}

    def read_dealt(self, message: bytes, dealer: str) -> dict[str, Any]:
        """Return a message with shares, or refuse one that ``dealer`` did not sign or that is damaged."""
        document = read_message(message, SHARES, dealer, self.terms, self.number)
        if document["keys"] != self.keys:
            raise PartyError(f"the shares of {dealer!r} were made with other keys than these; begin another attempt")
        shares = document["shares"]
        if not (
            is_hex(document["seed"], KEY_BYTES)
            and isinstance(shares, Mapping)
            and set(shares) == set(self.terms.roster.names)
            and all(map(_is_dealt, shares.values()))
        ):
            raise PartyError(f"the shares of {dealer!r} are damaged; ask the party to begin again")
        return document

    def unseal(self, document: Mapping[str, Any], dealer: str, to: str, key: AgreementKey) -> dict[str, bytes]:
        """Return the shares of both secrets of ``dealer`` that are sealed for ``to``."""
        from cryptography.exceptions import InvalidTag
        from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305

        context = self.context("share", dealer=dealer, to=to)
        sealed = bytes.fromhex(document["shares"][to]["sealed"])
        try:
            opened = ChaCha20Poly1305(key.stream_key(self.sharing[dealer], context)).decrypt(
                _NONCE, sealed, canonical(context)
            )
        except InvalidTag:
            opened = b""
        shares = {MASKS: opened[:SHARE_BYTES], SEED: opened[SHARE_BYTES:]}
        if not all(self.is_share(share, document, which, dealer, to) for which, share in shares.items()):
            raise PartyError(
                f"the share that {dealer!r} sealed for {to!r} is not the one it has committed to; nothing was sent: "
                f"ask {dealer!r}, and begin another attempt"
            )
        return shares

    def is_share(self, share: bytes, document: Mapping[str, Any], which: str, dealer: str, to: str) -> bool:
        """Return whether ``share`` is what ``dealer`` committed to for ``to``."""
        return bool(document["shares"][to][which] == self._commitment(share, which, dealer, to))

    def recover(self, shares: Mapping[str, bytes], document: Mapping[str, Any], which: str, dealer: str) -> bytes:
        """Return a secret of ``dealer`` from the shares that some parties hold of it, or refuse a wrong one."""
        names = self.terms.roster.names
        secret = join({names.index(name) + 1: share for name, share in shares.items()}, KEY_BYTES)
        if secret is not None and (
            AgreementKey(secret).public == self.masks[dealer]
            if which == MASKS
            else self._seed_commitment(secret, dealer) == document["seed"]
        ):
            return secret
        raise PartyError(
            f"the shares that {dealer!r} dealt out do not make up its secret, so the sum stays closed: {dealer!r} did "
            "not follow the protocol; let all others begin a new round, with a new structure"
        )

    def _seal(self, key: AgreementKey, dealer: str, to: str, shares: bytes) -> bytes:
        from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305

        context = self.context("share", dealer=dealer, to=to)
        return ChaCha20Poly1305(key.stream_key(self.sharing[to], context)).encrypt(_NONCE, shares, canonical(context))

    def _commitment(self, share: bytes, which: str, dealer: str, to: str) -> str:
        return derived(share, self.context("share-commitment", secret=which, dealer=dealer, to=to)).hex()

    def _seed_commitment(self, seed: bytes, dealer: str) -> str:
        return derived(seed, self.context("seed-commitment", dealer=dealer)).hex()


def _is_dealt(dealt: object) -> bool:
    return (
        isinstance(dealt, Mapping)
        and set(dealt) == {"sealed", MASKS, SEED}
        and is_hex(dealt["sealed"], _SEALED_BYTES)
        and is_hex(dealt[MASKS], KEY_BYTES)
        and is_hex(dealt[SEED], KEY_BYTES)
    )
