"""One party's side of a secure sum: counts with a share of noise, drawn once, and the messages of each attempt.

The argument is in forest.md, and in dropouts.md where parties may vanish.
"""

from collections.abc import Collection, Mapping
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from privet.errors import LedgerError, PartyError
from privet.partitioned.party import Party, check_follows, note_of_following
from privet.partitioned.secure_sum.dropouts import DropoutRound
from privet.partitioned.secure_sum.forest import SecureSumForest
from privet.partitioned.secure_sum.masks import WORD, AgreementKey
from privet.partitioned.secure_sum.messages import (
    KEY,
    MASKED,
    SHARES,
    Seen,
    check_attempt,
    key_message,
    kinds_of,
    mask,
    masked_message,
    read_keys,
)
from privet.partitioned.secure_sum.store import NEW_ROUND, SumStore
from privet.partitioned.secure_sum.terms import Terms
from privet.privacy.events import Event
from privet.privacy.ledger import Cost, NoReservation, Reservation
from privet.privacy.ledger.account import Account
from privet.privacy.ledger.entry_kinds import FAILED, RESERVED, WITHDRAWN
from privet.privacy.mechanisms.noise_shares import noise_share
from privet.rng import NoiseSource, SystemNoise
from privet.signing.documents import digest, parse


class Exchange(Protocol):
    """Carries the messages of one attempt. It is trusted with delivery only."""

    def send(self, kind: str, party: str, message: bytes) -> None:
        """Send a message to all other parties."""
        ...

    def collect(
        self, kind: str, of: Collection[str] | None = None, *, least: int | None = None, same: bool = False
    ) -> dict[str, bytes]:
        """Return the messages of this kind from the parties ``of``, by default all, or raise an error.

        Where some may vanish, ``least`` messages are enough, and those of others may be there too. With ``same``, all
        parties get the same messages, of as many as have come in time.
        """
        ...


class SumParty:
    """A party of a secure sum.

    Parameters
    ----------
    party : Party
        Its key, its store and its ledger.
    terms : Terms
        The terms that all parties have agreed on.
    """

    def __init__(self, party: Party, terms: Terms) -> None:
        self.party, self.terms = party, terms
        self.name = party.key.name
        if terms.roster.key_of(self.name) != party.public:
            raise PartyError(f"the roster has another key for {self.name!r}; use that one, or make a new roster")
        self._store = SumStore(party.store / f"sum-{terms.hash}")
        self._with_dropouts = DropoutRound(party.key, terms, self._store, self._kept_noised)

    @property
    def prepared(self) -> bool:
        """Whether the noised counts are stored, so that no row is read again."""
        return self._noised() is not None

    @property
    def has_paid(self) -> bool:
        """Whether the ledger has noised counts for these terms that count as spent."""
        return bool(self._states())

    def prepare(self, X: Any, y: Any = None, *, again: bool = False, noise: NoiseSource | None = None) -> None:
        """Count the party's rows and add its share of noise, unless that has been done for these terms.

        Parameters
        ----------
        X, y
            The party's rows and labels, or a file that has both. They are not read if the noised counts are stored.
        again : bool
            Spend a second time after a crash that lost the noised counts before anything was sent.
        noise : NoiseSource, optional
            For tests; the system's secure generator unless given.

        Privacy
        -------
        The noised counts are not private by themselves. They stay in the store, and leave it only under masks.
        """
        self.party.check_structure(self.terms.structure)
        if self.prepared:
            return
        self._check_not_drawn(self._states(), again=again)
        self._store.make()
        self.party.commit(self.terms.structure)
        with self._reserve(again=again) as reservation:  # refuses here, before a row is read
            noised, event = self._draw_noised_counts(X, y, reservation, noise or SystemNoise())
            self._store.keep_noised(noised.ravel())
            leaks = list(self.terms.structure.schema.leaks)
            reservation.settle(event, lambda: {"model": self.terms.hash, "leaks": leaks})

    def key_message(self, attempt: int) -> bytes:
        """Return the first message of ``attempt``. A second call returns the same one."""
        attempt = check_attempt(attempt)
        sent = self._store.message(KEY, attempt)
        if sent is not None:
            return sent
        if not self.prepared:
            raise PartyError("this party has not counted its rows for these terms; prepare it first")
        if attempt < self._store.newest():
            raise PartyError(
                f"attempt {attempt} is over: this party has begun attempt {self._store.newest()}; all parties "
                "continue with that one or a later one"
            )
        if self.terms.dropouts:
            return self._with_dropouts.key_message(attempt)
        agreement = self._store.agreement(attempt)
        if agreement is None:
            agreement = AgreementKey.generate()
            self._store.keep_agreement(attempt, agreement)
        message = key_message(self.party.key, self.terms, attempt, agreement)
        self._store.keep_message(KEY, attempt, message)
        return message

    def message(self, kind: str, attempt: int, seen: Seen) -> bytes:
        """Return any message of ``attempt``. ``seen`` has the messages of the kinds before it, by kind and party."""
        if kind == KEY:
            return self.key_message(attempt)
        if self.terms.dropouts:
            return self._with_dropouts.message(kind, check_attempt(attempt), seen)
        return self.masked_message(attempt, seen[KEY])

    def said(self, kind: str, attempt: int) -> bytes | None:
        """Return a message that was sent in ``attempt`` of a sum of which parties may vanish, if it was."""
        return self._with_dropouts.said(kind, check_attempt(attempt)) if self.terms.dropouts else None

    def masked_message(self, attempt: int, key_messages: Mapping[str, bytes]) -> bytes:
        """Return the second message of ``attempt``, masked with all keys. A second call returns the same one."""
        attempt = check_attempt(attempt)
        if self.terms.dropouts:
            raise PartyError("parties of these terms may vanish, so shares come before masked counts; use message")
        keys = read_keys(key_messages, self.terms, attempt)
        sent = self._store.message(MASKED, attempt)
        if sent is None:
            sent = self._make_masked_message(attempt, keys)
            self._store.keep_message(MASKED, attempt, sent)
        elif parse(sent, "the masked counts in the store").get("keys") != digest(keys):
            raise PartyError(
                f"this party has sent its masked counts of attempt {attempt} with other keys; somebody changed a key: "
                f"begin attempt {attempt + 1}"
            )
        self._store.forget_agreement(attempt)
        return sent

    def run(self, attempt: int, exchange: Exchange) -> SecureSumForest:
        """Send all messages, wait for those of the others, and open the sum."""
        return SecureSumForest.open(self.terms, attempt, *self.exchange(attempt, exchange))

    def exchange(self, attempt: int, exchange: Exchange) -> list[dict[str, bytes]]:
        """Send all messages, and return those of the parties, kind by kind.

        Where parties may vanish, one that comes too late to be counted still helps to open the sum of the others.
        """
        seen: dict[str, dict[str, bytes]] = {}
        present: Collection[str] = self.terms.roster.names
        for kind in kinds_of(self.terms):
            if kind != MASKED or self.name in present:
                exchange.send(kind, self.name, self.message(kind, attempt, seen))
            if kind == KEY or not self.terms.dropouts:
                seen[kind] = exchange.collect(kind)
            else:
                same = kind in (SHARES, MASKED)
                seen[kind] = exchange.collect(kind, present, least=self.terms.threshold, same=same)
            present = seen[kind]
        return list(seen.values())

    def _make_masked_message(self, attempt: int, keys: Mapping[str, str]) -> bytes:
        agreement, noised = self._store.agreement(attempt), self._noised()
        if agreement is None or noised is None or agreement.public != keys[self.name]:
            raise PartyError(f"attempt {attempt} uses a key that this party does not have; begin attempt {attempt + 1}")
        masked = mask(noised.view(np.uint64).astype(WORD), agreement, self.name, self.terms, attempt, keys)
        return masked_message(self.party.key, self.terms, attempt, keys, masked)

    def _kept_noised(self) -> NDArray[np.int64]:
        noised = self._noised()
        if noised is None:
            raise PartyError(
                f"the store {str(self.party.store)!r} lacks the noised counts; put them back, or {NEW_ROUND}"
            )
        return noised

    def _noised(self) -> NDArray[np.int64] | None:
        n_leaves, n_classes = self.terms.structure.shape
        return self._store.noised(n_leaves * n_classes)

    def _draw_noised_counts(
        self, X: Any, y: Any, reservation: Reservation | NoReservation, noise: NoiseSource
    ) -> tuple[NDArray[np.int64], Event]:
        structure = self.terms.structure
        return noise_share(
            structure.exact_counts(X, y, reservation, n_jobs=self.party.n_jobs), epsilon=structure.epsilon,
            sensitivity=structure.sensitivity, honest=self.terms.honest, parties=self.terms.n_parties,
            what=structure.what, noise=reservation.watch(noise),
        )  # fmt: skip

    def _check_not_drawn(self, states: set[str], *, again: bool) -> None:
        """Refuse to draw noised counts a second time, unless the first ones cannot have left this party.

        Two sums that differ only in this party's noise reveal that noise by their difference. The rows of all other
        parties would lose this share of their protection.
        """
        if not states and self._store.newest() == 0:
            return
        if not (self._store.nothing_sent and states == {RESERVED}):
            raise PartyError(
                f"noised counts were drawn for this sum, and the store {str(self.party.store)!r} lacks them: name the "
                f"store that has them, or {NEW_ROUND}; new noise in the same sum would weaken the guarantee of all rows"
            )
        if not again:
            raise LedgerError(
                "an earlier run has reserved the epsilon of this sum, and nothing was sent: if it is still running, "
                "wait; if it was stopped, it counts as spent: spend a second time with again=True (--again)"
            )

    def _states(self) -> set[str]:
        """Return the ledger's states of noised counts for these terms."""
        return set() if self.party.ledger is None else self._states_in(self.party.ledger.account())

    def _states_in(self, account: Account) -> set[str]:
        own = [spending for spending in account.spendings if spending.begun.body.get("terms") == self.terms.hash]
        return {spending.state for spending in own} - {WITHDRAWN, FAILED}

    def _reserve(self, *, again: bool) -> Reservation | NoReservation:
        if self.party.ledger is None:
            return NoReservation()
        structure = self.terms.structure
        note = {"method": "party", "what": "secure sum", "terms": self.terms.hash, "round": structure.round}
        note |= note_of_following(structure)

        def check(account: Account) -> None:
            check_follows(account, structure)
            self._check_not_drawn(self._states_in(account), again=again)

        return self.party.ledger.reserve(Cost(structure.epsilon), unit=structure.unit.name, check=check, **note)
