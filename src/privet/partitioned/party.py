"""A party: it releases what a structure asks of its own rows, signs, and stores what it has sent. See party.md."""

import sys
from pathlib import Path
from typing import Any

from privet.central.updates.batches import BatchCheck
from privet.errors import LedgerError, PartyError
from privet.files.whole_file import remove_unfinished
from privet.partitioned.release import Release
from privet.partitioned.structure import Round
from privet.privacy.accounting import check_delta
from privet.privacy.ledger import Ledger, NoReservation, Reservation
from privet.privacy.ledger.account import Account
from privet.privacy.ledger.entry_kinds import FAILED, WITHDRAWN
from privet.privacy.mechanisms.rational import check_epsilon
from privet.signing.documents import make_store, write_secret
from privet.signing.keys import PrivateKey
from privet.signing.roster import Roster

OTHER_TABLES = (
    "this party has taken part in a second round that follows from other tables of the same first round: somebody "
    "shows different tables to different parties; find out who, and all begin a new round with a new structure"
)


class Party:
    """One holder of rows, which never leave it.

    Parameters
    ----------
    key : PrivateKey or path
        Its name and signing key.
    store : path
        The folder of its releases; created if it does not exist.
    ledger : Ledger, optional
        The cost of a release is reserved there before a row is read, and settled afterwards.
    epsilon : float, optional
        The most that a release may cost. A structure that costs more is refused. One without noise is refused unless
        inf is given here.
    delta : float, optional
        The most delta that a release may have; with ``epsilon`` given, 0 by default.
    n_jobs : int, optional
        Threads; -1 uses all cores.

    Examples
    --------
    >>> import tempfile
    >>> from privet import HorizontalForest, Party
    >>> from privet.datasets import agrawal
    >>> from privet.partitioned import PrivateKey, Roster, Structure
    >>> here, data = agrawal(2_000, function=1, random_state=7), agrawal(2_000, function=1, random_state=8)
    >>> structure = Structure.draw(here.schema, epsilon=1.0, n_rows=4_000, random_state=7)
    >>> bank, clinic = (Party(PrivateKey.generate(n), store=tempfile.mkdtemp()) for n in ("bank", "clinic"))
    >>> releases = [bank.release(structure, here.X, here.y), clinic.release(structure, data.X, data.y)]
    >>> model = HorizontalForest.combine(structure, Roster([bank.public, clinic.public]), releases)
    >>> model.guarantee_.epsilon
    1.0
    """

    def __init__(
        self,
        key: PrivateKey | str | Path,
        *,
        store: str | Path,
        ledger: Ledger | None = None,
        epsilon: float | None = None,
        delta: float | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.key = key if isinstance(key, PrivateKey) else PrivateKey.load(key)
        self.public = self.key.public
        self.store = Path(store)
        self.ledger = ledger
        self.epsilon = sys.float_info.max if epsilon is None else check_epsilon(epsilon)
        self.delta = check_delta(delta) if delta is not None else 1.0 if epsilon is None else 0.0
        self.n_jobs = n_jobs

    def release(
        self, structure: Round, X: Any, y: Any = None, *, again: bool = False, n_rows: int | None = None
    ) -> Release:
        """Return this party's release of ``structure``: the stored one if there is one, or else a new one.

        Parameters
        ----------
        structure : Round
        X, y
            The party's rows and labels, or a file that has both. They are not read if the release is stored.
        again : bool
            Spend a second time if the ledger has a release that the store has lost.
        n_rows : int, optional
            About how many rows the party has, where that is public and each party fits a forest of its own. Without it
            a noisy number takes a part of epsilon.

        Privacy
        -------
        New noise on the same counts would be a second release, and the average of two hides less. So a release is
        stored before it is returned, and later calls return the stored bytes.
        """
        self.check_structure(structure)
        structure.check_rows(n_rows)
        stored = self.stored(structure)
        if stored is not None:
            remove_unfinished(self.store)  # left by a run that was stopped after it stored the release
            return stored
        if self.ledger is not None:
            self._check_not_spent(self.ledger.account(), structure, again=again)
        make_store(self.store, what="releases")
        self.commit(structure)
        made: list[Release] = []

        def keep(released: dict[str, Any]) -> str:
            made.append(Release.signed(self.key, structure, released))
            self._store_release(structure, made[0])
            return made[0].hash

        reservation = self._reserve(structure, again=again)  # refuses here, before a row is read
        batch = None if self.ledger is None or self.ledger.part is None else BatchCheck(self.ledger)
        structure.release(X, y, reservation, keep, n_jobs=self.n_jobs, n_rows=n_rows, batch=batch)
        return made[0]

    def commit(self, structure: Round) -> None:
        """Note which round follows an earlier one, and refuse any other that does.

        Privacy
        -------
        A party that lies can have different sums of a first round opened, and each would ask for a second round. Their
        noises are different, and the mean of them hides less. So the first that is asked for is the only one.
        """
        if structure.follows is None:
            return
        path = self.store / f"{structure.follows}.next"
        try:
            write_secret(path, structure.hash.encode("ascii"), what="note of the second round")
        except PartyError:
            if not path.exists():
                raise
        if path.read_bytes() != structure.hash.encode("ascii"):
            raise PartyError(OTHER_TABLES)

    def stored(self, structure: Round) -> Release | None:
        """Return the stored release of ``structure``, if there is one."""
        path = self._path(structure)
        if not path.exists():
            return None
        release = Release.load(path)
        release.check(structure, Roster([self.public]))
        return release

    def check_structure(self, structure: Round) -> None:
        """Refuse a structure that costs more than this party spends, or that is for another party."""
        cost = structure.total_epsilon
        if cost > self.epsilon:
            raise PartyError(f"the structure costs epsilon={cost!r}, more than this party spends; agree on another")
        if structure.cost.delta > self.delta:
            raise PartyError(
                f"the structure has delta={structure.cost.delta!r}, more than this party spends; agree on another, or "
                "allow for it with delta (--delta)"
            )
        if structure.party not in (None, self.key.name):
            raise PartyError(
                f"this part of the structure is for {structure.party!r}, and the key belongs to {self.key.name!r}; "
                "use the part of the same name"
            )

    def has_paid(self, structure: Round) -> bool:
        """Return whether the ledger has a release of ``structure`` that counts as spent."""
        return self.ledger is not None and _has_paid(self.ledger.account(), structure)

    def _check_not_spent(self, account: Account, structure: Round, *, again: bool) -> None:
        check_follows(account, structure)
        if _has_paid(account, structure) and not again:
            raise LedgerError(
                f"the ledger has a release of this structure that the store {str(self.store)!r} lacks: name the store "
                "that has it; if a process of this party is still running, wait, and run this again; if one was "
                "stopped, it counts as spent: spend a second time with again=True (--again)"
            )

    def _reserve(self, structure: Round, *, again: bool) -> Reservation | NoReservation:
        if self.ledger is None:
            return NoReservation()
        note = {"method": "party", "what": "release", "structure": structure.hash, "round": structure.round}
        note |= note_of_following(structure)
        return self.ledger.reserve(
            structure.cost,
            unit=structure.unit.name,
            check=lambda account: self._check_not_spent(account, structure, again=again),
            **note,
        )

    def _store_release(self, structure: Round, release: Release) -> None:
        path = self._path(structure)
        try:
            write_secret(path, release.bytes, what="release")
        except PartyError:
            if not path.exists():
                raise
            if path.read_bytes() == release.bytes:
                return  # the file is complete; only a later step failed
            raise PartyError(
                "another process of this party has released the same structure in the meantime; the counts of this "
                "one are dropped, and count as spent: run it again to send what is stored"
            ) from None

    def _path(self, structure: Round) -> Path:
        return self.store / f"{structure.hash}.json"


def note_of_following(structure: Round) -> dict[str, str]:
    """Return what the ledger holds about a round that follows another."""
    return {} if structure.follows is None else {"follows": structure.follows, "second": structure.hash}


def check_follows(account: Account, structure: Round) -> None:
    """Refuse a round that follows one which another round in the ledger has followed already."""
    for spending in account.spendings:
        body = spending.begun.body
        paid = structure.follows is not None and spending.state not in (WITHDRAWN, FAILED)
        if paid and body.get("follows") == structure.follows and body.get("second") != structure.hash:
            raise PartyError(OTHER_TABLES)


def _has_paid(account: Account, structure: Round) -> bool:
    return any(
        spending.begun.body.get("structure") == structure.hash and spending.state not in (WITHDRAWN, FAILED)
        for spending in account.spendings
    )
