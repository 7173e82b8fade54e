"""Who is counted in a sum of which parties may vanish: the list that is signed, and the sum that opens with it.

A list names the parties that dealt out shares and those whose masked counts have come, with the hash of each message.
The argument is in dropouts.md.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Self, TypeAlias

import numpy as np

from privet.checks import is_hex
from privet.errors import PartyError
from privet.partitioned.secure_sum.masks import WORD, AgreementKey, Words, add_streams
from privet.partitioned.secure_sum.messages import (
    KEY,
    MASKED,
    SHARES,
    SURVIVORS,
    UNMASK,
    Seen,
    mask,
    read_message,
    words_of,
)
from privet.partitioned.secure_sum.shamir import SHARE_BYTES
from privet.partitioned.secure_sum.shares import MASKS, SEED, KeyedAttempt
from privet.partitioned.secure_sum.terms import Terms
from privet.signing.documents import DIGEST_CHARACTERS, digest

Documents: TypeAlias = Mapping[str, Mapping[str, Any]]  # messages of one kind that were checked, by party


@dataclass(frozen=True)
class Survivors:
    """The hashes of all keys, of each message with shares, and of each message with masked counts."""

    keys: str
    shares: Mapping[str, str]
    masked: Mapping[str, str]

    @classmethod
    def of_documents(cls, attempt: KeyedAttempt, dealt: Documents, counted: Documents) -> Self:
        """Return the list of those who dealt out shares and of those who are counted."""
        return cls(attempt.keys, hashes(dealt), hashes(counted))

    @classmethod
    def read(cls, attempt: KeyedAttempt, message: bytes, name: str) -> Self:
        """Return the list that ``name`` has signed."""
        document = read_message(message, SURVIVORS, name, attempt.terms, attempt.number)
        for part in (document["shares"], document["masked"]):
            if not (
                isinstance(part, Mapping) and all(is_hex(value, DIGEST_CHARACTERS // 2) for value in part.values())
            ):
                raise PartyError(f"the list of survivors that {name!r} signed is damaged; ask the party for its own")
        return cls(document["keys"], document["shares"], document["masked"])

    @property
    def content(self) -> dict[str, Any]:
        """What is signed."""
        return {"keys": self.keys, "shares": dict(self.shares), "masked": dict(self.masked)}

    def secret_of(self, name: str) -> str:
        """Return which secret of a party is opened: its seed where it is counted, else its key for masks."""
        return SEED if name in self.masked else MASKS


def hashes(documents: Documents) -> dict[str, str]:
    """Return the hash of each party's message."""
    return {name: digest(document) for name, document in sorted(documents.items())}


def read_dealt(attempt: KeyedAttempt, messages: Mapping[str, bytes]) -> Documents:
    """Check all messages with shares. Enough of them must be there."""
    dealt = {name: attempt.read_dealt(message, name) for name, message in messages.items()}
    check_enough(attempt.terms, dealt, "shares")
    return dealt


def read_counted(attempt: KeyedAttempt, messages: Mapping[str, bytes], dealt: Documents) -> Documents:
    """Check all messages with masked counts. Enough of them must be there, all masked for the same parties."""
    counted = {name: _read_masked(attempt, message, name, dealt) for name, message in messages.items()}
    check_enough(attempt.terms, counted, "masked counts")
    return counted


def check_signed(attempt: KeyedAttempt, survivors: Survivors, messages: Mapping[str, bytes]) -> None:
    """Refuse a list of survivors that too few parties have signed. Nothing has been revealed then."""
    signers, faults = [], []
    for name, message in messages.items():
        try:
            same = Survivors.read(attempt, message, name) == survivors
        except PartyError as error:
            faults.append(str(error))
            continue
        if same:
            signers.append(name)
        else:
            faults.append(f"{name!r} signed another list of survivors")
    check_enough(attempt.terms, signers, "signatures of this list of survivors", faults)


def open_survivors(terms: Terms, number: int, seen: Seen) -> tuple[list[str], Words]:
    """Return the names of those who are counted, and the sum of their counts modulo 2**64.

    ``seen`` may hold more messages than the signed list names: late ones are not used.
    """
    attempt = KeyedAttempt.of_messages(seen[KEY], terms, number)
    survivors = _signed_list(attempt, seen[SURVIVORS])
    dealt = read_dealt(attempt, _named(seen[SHARES], survivors.shares))
    counted = read_counted(attempt, _named(seen[MASKED], survivors.masked), dealt)
    if Survivors.of_documents(attempt, dealt, counted) != survivors:
        raise PartyError("the messages are not those that the survivors signed for; fetch them again")
    revealed = _read_unmasking(attempt, survivors, dealt, seen[UNMASK])
    total = np.zeros(_size(terms), dtype=WORD)
    for name, document in counted.items():
        total += words_of(document["vector"], total.size, name)
    for name, document in dealt.items():
        which = survivors.secret_of(name)
        held = {holder: shares_of[name] for holder, shares_of in revealed.items()}
        secret = attempt.recover(held, document, which, name)
        if which == SEED:
            total = add_streams(total, [], [attempt.stream_of(secret, name)])
        else:  # its masks with those who are counted, as it would have added them itself
            total = mask(total, AgreementKey(secret), name, terms, number, attempt.masks, others=counted)
    return sorted(counted), total


def check_enough(terms: Terms, names: Iterable[str], what: str, faults: Iterable[str] = ()) -> None:
    """Refuse to go on with fewer parties than must stay."""
    names = list(names)
    if len(names) < terms.threshold:
        reasons = "".join(f"; {fault}" for fault in faults)
        raise PartyError(
            f"there are {what} of {len(names)} parties, and {terms.threshold} of {terms.n_parties} must stay: nothing "
            f"was opened{reasons}"
        )


def _signed_list(attempt: KeyedAttempt, messages: Mapping[str, bytes]) -> Survivors:
    """Return the list that enough parties have signed. There cannot be two, while enough parties are honest."""
    lists, votes = {}, Counter[str]()
    for name, message in messages.items():
        with suppress(PartyError):  # check_signed names it, if it matters
            survivors = Survivors.read(attempt, message, name)
            lists[digest(survivors.content)] = survivors
            votes[digest(survivors.content)] += 1
    if not votes:
        raise PartyError("no party has signed a list of survivors; nothing was opened: let all parties run again")
    survivors = lists[votes.most_common(1)[0][0]]
    check_signed(attempt, survivors, messages)
    return survivors


def _named(messages: Mapping[str, bytes], names: Iterable[str]) -> dict[str, bytes]:
    missing = [name for name in names if name not in messages]
    if missing:
        raise PartyError(f"a message of {', '.join(map(repr, missing))} is missing, which was counted; fetch it again")
    return {name: messages[name] for name in names}


def _read_masked(attempt: KeyedAttempt, message: bytes, name: str, dealt: Documents) -> dict[str, Any]:
    document = read_message(message, MASKED, name, attempt.terms, attempt.number)
    if name not in dealt or document["keys"] != attempt.keys or document["shares"] != hashes(dealt):
        raise PartyError(
            f"the masked counts of {name!r} were masked with other keys or for other parties than these, so their "
            "masks would not cancel; nothing was opened: begin another attempt"
        )
    words_of(document["vector"], _size(attempt.terms), name)
    return document


def _read_unmasking(
    attempt: KeyedAttempt, survivors: Survivors, dealt: Documents, messages: Mapping[str, bytes]
) -> dict[str, dict[str, bytes]]:
    """Return, of as many parties as are needed, the share that each holds of one secret of every other.

    A false share is refused by the name of who sent it, and the others are enough if they are enough.
    """
    revealed, faults = {}, []
    for name, message in messages.items():
        try:
            revealed[name] = _read_unmask(attempt, survivors, dealt, message, name)
        except PartyError as error:
            faults.append(str(error))
    check_enough(attempt.terms, revealed, "valid shares for the unmasking", faults)
    return dict(list(revealed.items())[: attempt.terms.threshold])


def _read_unmask(
    attempt: KeyedAttempt, survivors: Survivors, dealt: Documents, message: bytes, holder: str
) -> dict[str, bytes]:
    document = read_message(message, UNMASK, holder, attempt.terms, attempt.number)
    if document["survivors"] != digest(survivors.content):
        raise PartyError(f"{holder!r} unmasked another list of survivors")
    shares = document["shares"]
    if not (isinstance(shares, Mapping) and set(shares) == set(dealt)):
        raise PartyError(f"{holder!r} did not send one share of every party; ask the party for its own message")
    opened = {}
    for dealer, share in shares.items():
        held = bytes.fromhex(share) if is_hex(share, SHARE_BYTES) else b""
        if not attempt.is_share(held, dealt[dealer], survivors.secret_of(dealer), dealer, holder):
            raise PartyError(f"{holder!r} sent a false share of {dealer!r}; it is not the one that was dealt to it")
        opened[dealer] = held
    return opened


def _size(terms: Terms) -> int:
    n_leaves, n_classes = terms.structure.shape
    return n_leaves * n_classes
