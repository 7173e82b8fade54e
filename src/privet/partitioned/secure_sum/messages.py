"""The signed messages of a secure sum: each quotes the terms, the attempt and the party.

Where all parties must be there, each sends two: a key for masks, and its masked counts, which quote all keys that their
masks were made with, so that parties that saw different keys are detected. Where some may vanish, there are five, whose
contents are in `shares` and `survivors`.
"""

import base64
import binascii
from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

import numpy as np

from privet.checks import check_whole, is_hex
from privet.errors import PartyError
from privet.partitioned.secure_sum.masks import KEY_BYTES, WORD, AgreementKey, Words, add_streams
from privet.partitioned.secure_sum.terms import Terms
from privet.signing.documents import canonical, check_document, digest, parse
from privet.signing.keys import PrivateKey

KEY, SHARES, MASKED, SURVIVORS, UNMASK = "key", "shares", "masked", "survivors", "unmask"
Seen: TypeAlias = Mapping[str, Mapping[str, bytes]]  # messages by kind, and by party
_VERSION, _STREAM_FORMAT = 1, "privet-sum-stream"
_COMMON = {"terms", "attempt", "party", "signature"}
_OWN = {KEY: {"public"}, MASKED: {"keys", "vector"}}
_OWN_WITH_DROPOUTS = {
    KEY: {"public", "sharing"},
    SHARES: {"keys", "seed", "shares"},
    MASKED: {"keys", "shares", "vector"},
    SURVIVORS: {"keys", "shares", "masked"},
    UNMASK: {"survivors", "shares"},
}
MAX_ATTEMPTS = 10**6
_TEXT_BYTES = 2**12
# A name, sealed shares and commitments to them.
_BYTES_PER_PARTY = 2**10


def kinds_of(terms: Terms) -> tuple[str, ...]:
    """Return the kinds of messages that each party sends, in their order."""
    return tuple(_OWN_WITH_DROPOUTS if terms.dropouts else _OWN)


def key_message(key: PrivateKey, terms: Terms, attempt: int, agreement: AgreementKey) -> bytes:
    """Return the first message of a party: the public half of its key for this attempt."""
    return signed(key, KEY, terms, attempt, {"public": agreement.public})


def masked_message(key: PrivateKey, terms: Terms, attempt: int, keys: Mapping[str, str], masked: Words) -> bytes:
    """Return the second message of a party: its masked counts, and the hash of the keys of their masks."""
    return signed(key, MASKED, terms, attempt, {"keys": digest(dict(keys)), "vector": in_base64(masked)})


def longest_message(terms: Terms) -> int:
    """Return an upper bound on the bytes of a message: masked counts in base64, and some text."""
    n_leaves, n_classes = terms.structure.shape
    each = _BYTES_PER_PARTY * terms.n_parties if terms.dropouts else 0
    return 2 * WORD.itemsize * n_leaves * n_classes + _TEXT_BYTES + each


def check_attempt(attempt: object) -> int:
    """Return the number of an attempt, from 1."""
    return check_whole("attempt", attempt, least=1, most=MAX_ATTEMPTS)


def read_keys(messages: Mapping[str, bytes], terms: Terms, attempt: int) -> dict[str, str]:
    """Check that all key messages are there and valid, and return every party's public key for the masks."""
    keys = {}
    for name in all_of(messages, terms, KEY):
        public = read_message(messages[name], KEY, name, terms, attempt)["public"]
        if not is_hex(public, KEY_BYTES):
            raise PartyError(f"the key that {name!r} sent for the masks is damaged; ask the party to begin again")
        keys[name] = public
    if len(set(keys.values())) < len(keys):
        raise PartyError("two parties sent the same key for the masks; the round is not safe: find out who copied it")
    return keys


def read_masked(messages: Mapping[str, bytes], terms: Terms, attempt: int, keys: Mapping[str, str]) -> Words:
    """Check all masked messages and return their sum modulo 2**64, in which the masks cancel."""
    n_leaves, n_classes = terms.structure.shape
    total = np.zeros(n_leaves * n_classes, dtype=WORD)
    for name in all_of(messages, terms, MASKED):
        document = read_message(messages[name], MASKED, name, terms, attempt)
        if document["keys"] != digest(dict(keys)):
            raise PartyError(
                f"the masked counts of {name!r} were masked with other keys than these, so their masks would not "
                "cancel; nothing was opened: begin another attempt"
            )
        total += words_of(document["vector"], total.size, name)
    return total


def mask(
    vector: Words,
    agreement: AgreementKey,
    name: str,
    terms: Terms,
    attempt: int,
    keys: Mapping[str, str],
    others: Iterable[str] | None = None,
) -> Words:
    """Return a party's counts with one mask for each other party. The alphabetically first of a pair adds it."""
    streams: dict[bool, list[bytes]] = {True: [], False: []}
    for other in terms.roster.names if others is None else others:
        if other != name:
            first, second = sorted([name, other])
            context = {
                "format": _STREAM_FORMAT, "version": _VERSION, "terms": terms.hash, "attempt": attempt,
                "first": first, "second": second, "first_key": keys[first], "second_key": keys[second],
            }  # fmt: skip
            streams[name == first].append(agreement.stream_key(keys[other], context))
    return add_streams(vector, streams[True], streams[False])


def read_message(data: bytes, kind: str, name: str, terms: Terms, attempt: int) -> dict[str, Any]:
    """Return a message of ``kind``, or refuse one that ``name`` did not sign for these terms and this attempt."""
    what = f"the {kind} message of {name!r}"
    document = parse(data, what)
    own = (_OWN_WITH_DROPOUTS if terms.dropouts else _OWN)[kind]
    check_document(document, what, format_=_format_of(kind, terms), version=_VERSION, keys=_COMMON | own)
    if document["party"] != name:
        raise PartyError(f"{what} is by another party; a message was moved or copied: ask {name!r} for its own")
    body = {key: value for key, value in document.items() if key != "signature"}
    if not terms.roster.key_of(name).verifies(body, document["signature"]):
        raise PartyError(
            f"the signature of {what} is not that of its key in the roster: it was changed, or somebody else made it; "
            "nothing was opened"
        )
    if document["terms"] != terms.hash:
        raise PartyError(
            f"{what} is from another round: its structure, roster or number of honest parties differs; compare "
            "the hashes of both files with that party"
        )
    if document["attempt"] != attempt or type(document["attempt"]) is not int:
        raise PartyError(f"{what} is from another attempt than attempt {attempt}; it is not used")
    return document


def signed(key: PrivateKey, kind: str, terms: Terms, attempt: int, own: Mapping[str, Any]) -> bytes:
    """Return a message of ``kind`` with the content ``own``, signed for these terms and this attempt."""
    body = {
        "format": _format_of(kind, terms),
        "version": _VERSION,
        "terms": terms.hash,
        "attempt": attempt,
        "party": key.name,
        **own,
    }
    return canonical({**body, "signature": key.sign(body)})


def _format_of(kind: str, terms: Terms) -> str:
    return f"privet-sum-dropouts-{kind}" if terms.dropouts else f"privet-sum-{kind}"


def all_of(messages: Mapping[str, bytes], terms: Terms, kind: str) -> tuple[str, ...]:
    """Return the names of the roster, or refuse if a message is missing."""
    missing = [name for name in terms.roster.names if name not in messages]
    if missing:
        raise PartyError(
            f"no {kind} message has come from {', '.join(map(repr, missing))}; a sum opens only with all parties"
        )
    return terms.roster.names


def in_base64(masked: Words) -> str:
    """Return masked counts as text."""
    return base64.b64encode(masked.astype(WORD).tobytes()).decode("ascii")


def words_of(text: object, size: int, name: str) -> Words:
    """Return the masked counts that ``name`` sent as text."""
    try:
        data = base64.b64decode(str(text), validate=True)
    except (binascii.Error, ValueError):
        data = b""
    if len(data) != size * WORD.itemsize:
        raise PartyError(f"the masked counts of {name!r} do not fit the structure; ask the party to begin again")
    return np.frombuffer(data, dtype=WORD)
