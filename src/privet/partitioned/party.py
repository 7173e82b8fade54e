"""A party: it counts its own rows, adds noise, signs, and stores what it has sent. The argument is in party.md."""

import sys
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privet.central.leaf_counts import LEAF_COUNTS
from privet.counting.opening import check_files_exist, has_own_labels, open_table
from privet.counting.rows import MemoryRows, Rows, exact_leaf_counts
from privet.errors import DataError, LedgerError, ParameterError, PartyError
from privet.files.whole_file import remove_unfinished
from privet.partitioned.keys import PrivateKey
from privet.partitioned.party_files import make_store, write_secret
from privet.partitioned.release import Release
from privet.partitioned.roster import Roster
from privet.partitioned.structure import Structure
from privet.privacy.events import Event
from privet.privacy.ledger import Cost, Ledger, NoReservation, Reservation
from privet.privacy.ledger.account import Account
from privet.privacy.ledger.bodies import FAILED, WITHDRAWN
from privet.privacy.mechanisms.discrete_laplace import discrete_laplace
from privet.privacy.mechanisms.rational import check_epsilon
from privet.rng import SystemNoise
from privet.schema.encoding import Encoder


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
        n_jobs: int | None = None,
    ) -> None:
        self.key = key if isinstance(key, PrivateKey) else PrivateKey.load(key)
        self.public = self.key.public
        self.store = Path(store)
        self.ledger = ledger
        self.epsilon = sys.float_info.max if epsilon is None else check_epsilon(epsilon)
        self.n_jobs = n_jobs

    def release(self, structure: Structure, X: Any, y: Any = None, *, again: bool = False) -> Release:
        """Return this party's release of ``structure``: the stored one if there is one, or else a new one.

        Parameters
        ----------
        structure : Structure
        X, y
            The party's rows and labels, or a file that has both. They are not read if the release is stored.
        again : bool
            Spend a second time if the ledger has a release that the store has lost.

        Privacy
        -------
        New noise on the same counts would be a second release, and the average of two hides less. So a release is
        stored before it is returned, and later calls return the stored bytes.
        """
        self.check_structure(structure)
        stored = self.stored(structure)
        if stored is not None:
            remove_unfinished(self.store)  # left by a run that was stopped after it stored the release
            return stored
        if self.ledger is not None:
            self._check_not_spent(self.ledger.account(), structure, again=again)
        make_store(self.store, what="releases")
        with self._reserve(structure, again=again) as reservation:  # refuses here, before a row is read
            noisy_counts, event = self._release_counts(structure, X, y, reservation)
            release = Release.signed(self.key, structure, noisy_counts, event)
            self._store_release(structure, release)
            reservation.settle(event, lambda: {"model": release.hash, "leaks": list(structure.schema.leaks)})
        return release

    def stored(self, structure: Structure) -> Release | None:
        """Return the stored release of ``structure``, if there is one."""
        path = self._path(structure)
        if not path.exists():
            return None
        release = Release.load(path)
        release.check(structure, Roster([self.public]))
        return release

    def _release_counts(
        self, structure: Structure, X: Any, y: Any, reservation: Reservation | NoReservation
    ) -> tuple[NDArray[np.int64], Event]:
        exact = exact_counts(structure, X, y, reservation, n_jobs=self.n_jobs)
        return discrete_laplace(
            exact, epsilon=structure.epsilon, sensitivity=structure.sensitivity, what=LEAF_COUNTS,
            noise=reservation.watch(SystemNoise()),
        )  # fmt: skip

    def check_structure(self, structure: Structure) -> None:
        """Refuse a structure that costs more than this party spends, or that is for another party."""
        if structure.epsilon > self.epsilon:
            raise PartyError(
                f"the structure costs epsilon={structure.epsilon!r}, more than this party spends; agree on another"
            )
        if structure.party not in (None, self.key.name):
            raise PartyError(
                f"this part of the structure is for {structure.party!r}, and the key belongs to {self.key.name!r}; "
                "use the part of the same name"
            )

    def has_paid(self, structure: Structure) -> bool:
        """Return whether the ledger has a release of ``structure`` that counts as spent."""
        return self.ledger is not None and _has_paid(self.ledger.account(), structure)

    def _check_not_spent(self, account: Account, structure: Structure, *, again: bool) -> None:
        if _has_paid(account, structure) and not again:
            raise LedgerError(
                f"the ledger has a release of this structure that the store {str(self.store)!r} lacks: name the store "
                "that has it; if a process of this party is still running, wait, and run this again; if one was "
                "stopped, it counts as spent: spend a second time with again=True (--again)"
            )

    def _reserve(self, structure: Structure, *, again: bool) -> Reservation | NoReservation:
        if self.ledger is None:
            return NoReservation()
        note = {"method": "party", "what": "release", "structure": structure.hash, "round": structure.round}
        return self.ledger.reserve(
            Cost(structure.epsilon),
            unit=structure.unit.name,
            check=lambda account: self._check_not_spent(account, structure, again=again),
            **note,
        )

    def _store_release(self, structure: Structure, release: Release) -> None:
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

    def _path(self, structure: Structure) -> Path:
        return self.store / f"{structure.hash}.json"


def _has_paid(account: Account, structure: Structure) -> bool:
    return any(
        spending.begun.body.get("structure") == structure.hash and spending.state not in (WITHDRAWN, FAILED)
        for spending in account.spendings
    )


def exact_counts(
    structure: Structure,
    X: Any,
    y: Any = None,
    reservation: Reservation | NoReservation | None = None,
    *,
    n_jobs: int | None = None,
) -> NDArray[np.int64]:
    """Return how many of a party's rows of each class reach each leaf. Exact: add noise before releasing it."""
    encoder = Encoder(structure.schema, structure.unit.column)
    rows = _rows(encoder, structure, X, y, reservation or NoReservation())
    return exact_leaf_counts(structure.forest, rows, n_classes=structure.n_classes, n_jobs=n_jobs)


def _rows(encoder: Encoder, structure: Structure, X: Any, y: Any, reservation: Reservation | NoReservation) -> Rows:
    if has_own_labels(X):
        if y is not None:
            raise ParameterError("leave y out for a file: the label is the schema's target column there")
        check_files_exist(X)
        reservation.mark_opened()
        return open_table(X, encoder, structure.unit, None)
    if y is None:
        raise DataError("a table in memory needs its labels; pass y, one label per row")
    reservation.mark_opened()
    return MemoryRows(encoder.encode(X), encoder.encode_labels(y)).bounded(structure.unit, X, y)
