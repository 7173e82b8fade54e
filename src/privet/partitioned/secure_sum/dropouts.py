"""One party's side of a secure sum that goes on when parties vanish: five messages per attempt.

Everything that a party says is stored before it is sent, and repeated byte for byte. It takes masks off once for these
terms, for one list of survivors, in one attempt. The argument is in dropouts.md.
"""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privet.errors import PartyError
from privet.partitioned.secure_sum.masks import WORD, add_streams
from privet.partitioned.secure_sum.messages import KEY, MASKED, SHARES, SURVIVORS, UNMASK, Seen, in_base64, mask, signed
from privet.partitioned.secure_sum.shares import AttemptSecrets, KeyedAttempt
from privet.partitioned.secure_sum.store import NEW_ROUND, SumStore
from privet.partitioned.secure_sum.survivors import Documents, Survivors, check_signed, hashes, read_counted, read_dealt
from privet.partitioned.secure_sum.terms import Terms
from privet.signing.documents import digest, parse
from privet.signing.keys import PrivateKey


class DropoutRound:
    """The messages of one party of a sum of which parties may vanish.

    Parameters
    ----------
    key : PrivateKey
    terms : Terms
    store : SumStore
    noised : function
        Returns the noised counts: the same ones in all attempts.
    """

    def __init__(self, key: PrivateKey, terms: Terms, store: SumStore, noised: Callable[[], NDArray[np.int64]]) -> None:
        self._key, self._name, self._terms, self._store, self._noised = key, key.name, terms, store, noised

    def key_message(self, attempt: int) -> bytes:
        """Return the first message of a new attempt: public keys for masks and for sealing shares."""
        self._check_not_unmasked(attempt)
        data = self._store.secret(attempt, AttemptSecrets.N_BYTES)
        secrets = AttemptSecrets.generate() if data is None else AttemptSecrets.from_bytes(data)
        if data is None:
            self._store.keep_secret(attempt, secrets.to_bytes())
        return self._say(KEY, attempt, {"public": secrets.masks.public, "sharing": secrets.sharing.public})

    def message(self, kind: str, attempt: int, seen: Seen) -> bytes:
        """Return a message that follows the keys. ``seen`` has the messages before it, the same for all parties."""
        make = {SHARES: self._shares, MASKED: self._masked, SURVIVORS: self._survivors, UNMASK: self._unmask}[kind]
        return make(KeyedAttempt.of_messages(seen[KEY], self._terms, attempt), seen)

    def said(self, kind: str, attempt: int) -> bytes | None:
        """Return the message of this kind that was sent in ``attempt``, if one was."""
        if kind != UNMASK:
            return self._store.message(kind, attempt)
        sent = self._store.unmasking()
        return sent if sent is not None and _attempt_of(sent) == attempt else None

    def _shares(self, attempt: KeyedAttempt, seen: Seen) -> bytes:  # noqa: ARG002 - of one form with the others
        sent = self._sent(SHARES, attempt, {"keys": attempt.keys})
        return sent or self._say(SHARES, attempt.number, attempt.deal(self._secrets(attempt), self._name))

    def _masked(self, attempt: KeyedAttempt, seen: Seen) -> bytes:
        dealt = self._read_dealt(attempt, seen)
        masked_for = {"keys": attempt.keys, "shares": hashes(dealt)}
        sent = self._sent(MASKED, attempt, masked_for)
        if sent is not None:
            return sent
        if self._name not in dealt:
            raise PartyError(
                f"the shares of this party came too late to be counted in attempt {attempt.number}; it can still help "
                "to open the sum"
            )
        secrets = self._secrets(attempt)
        for dealer, document in dealt.items():
            attempt.unseal(document, dealer, self._name, secrets.sharing)
        words = self._noised().view(np.uint64).astype(WORD)
        masked = mask(words, secrets.masks, self._name, self._terms, attempt.number, attempt.masks, others=dealt)
        masked = add_streams(masked, [attempt.stream_of(secrets.seed, self._name)], [])
        return self._say(MASKED, attempt.number, {**masked_for, "vector": in_base64(masked)})

    def _survivors(self, attempt: KeyedAttempt, seen: Seen) -> bytes:
        dealt = self._read_dealt(attempt, seen)
        self._sent(MASKED, attempt, {"keys": attempt.keys, "shares": hashes(dealt)})
        counted = read_counted(attempt, seen[MASKED], dealt)
        self._check_own(MASKED, attempt, counted)
        survivors = Survivors.of_documents(attempt, dealt, counted)
        sent = self._sent(SURVIVORS, attempt, survivors.content)
        return sent or self._say(SURVIVORS, attempt.number, survivors.content)

    def _unmask(self, attempt: KeyedAttempt, seen: Seen) -> bytes:
        dealt = self._read_dealt(attempt, seen)
        own = self._store.message(SURVIVORS, attempt.number)
        if own is None:
            raise PartyError(
                f"this party has signed no list of survivors of attempt {attempt.number}; ask for it first"
            )
        survivors = Survivors.read(attempt, own, self._name)
        if survivors.shares != hashes(dealt) or survivors.keys != attempt.keys:
            raise PartyError("these are not the shares that this party signed for; it takes no masks off")
        check_signed(attempt, survivors, {**seen[SURVIVORS], self._name: own})
        self._check_not_unmasked(attempt.number)
        message = self.said(UNMASK, attempt.number)
        if message is None:
            key = self._secrets(attempt).sharing
            # One share of each party, by the signed list: never of both its secrets.
            shares = {
                dealer: attempt.unseal(document, dealer, self._name, key)[survivors.secret_of(dealer)].hex()
                for dealer, document in dealt.items()
            }
            content = {"survivors": digest(survivors.content), "shares": shares}
            message = signed(self._key, UNMASK, self._terms, attempt.number, content)
            self._store.keep_unmasking(message)
        self._store.forget_agreement(attempt.number)
        return message

    def _say(self, kind: str, attempt: int, content: Mapping[str, Any]) -> bytes:
        message = signed(self._key, kind, self._terms, attempt, content)
        self._store.keep_message_once(kind, attempt, message)
        return message

    def _sent(self, kind: str, attempt: KeyedAttempt, expected: Mapping[str, Any]) -> bytes | None:
        """Return the message that was sent, or refuse if it was for something else than ``expected``."""
        sent = self._store.message(kind, attempt.number)
        if sent is None:
            return None
        document = parse(sent, f"the {kind} message in the store")
        if any(document.get(name) != value for name, value in expected.items()):
            raise PartyError(
                f"this party has sent its {kind} message of attempt {attempt.number} for other keys or other parties; "
                f"somebody shows different messages to different parties: begin attempt {attempt.number + 1}"
            )
        return sent

    def _read_dealt(self, attempt: KeyedAttempt, seen: Seen) -> Documents:
        dealt = read_dealt(attempt, seen[SHARES])
        self._check_own(SHARES, attempt, dealt)
        return dealt

    def _check_own(self, kind: str, attempt: KeyedAttempt, documents: Documents) -> None:
        """Refuse a message under this party's name that it did not send."""
        sent = self._store.message(kind, attempt.number)
        if self._name in documents and (sent is None or parse(sent, "the store") != documents[self._name]):
            raise PartyError(
                f"the {kind} message of {self._name!r} is not the one that this party sent in attempt {attempt.number}"
                f"; find out who uses its key, and {NEW_ROUND}"
            )

    def _secrets(self, attempt: KeyedAttempt) -> AttemptSecrets:
        self._check_not_unmasked(attempt.number)
        data = self._store.secret(attempt.number, AttemptSecrets.N_BYTES)
        if data is None or attempt.number < self._store.newest():
            raise PartyError(
                f"this party has no keys for attempt {attempt.number} any more; all parties continue with attempt "
                f"{max(attempt.number + 1, self._store.newest())}"
            )
        secrets = AttemptSecrets.from_bytes(data)
        keys = secrets.masks.public, secrets.sharing.public
        if keys != (attempt.masks[self._name], attempt.sharing[self._name]):
            raise PartyError(
                f"attempt {attempt.number} uses a key that this party does not have; begin attempt {attempt.number + 1}"
            )
        return secrets

    def _check_not_unmasked(self, attempt: int) -> None:
        """Refuse another attempt once this party has taken masks off: two opened sums could be subtracted."""
        sent = self._store.unmasking()
        if sent is not None and (done := _attempt_of(sent)) != attempt:
            raise PartyError(
                f"this party has helped to open the sum in attempt {done}, and takes part in no other attempt: two "
                "sums of different parties would show the counts of one; let those who have not yet done so run "
                f"attempt {done} again, or {NEW_ROUND}"
            )


def _attempt_of(unmasking: bytes) -> Any:
    return parse(unmasking, "the unmasking in the store").get("attempt")
