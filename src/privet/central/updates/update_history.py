"""Which batches went into a model, as the owner's ledger remembers them. The argument is in update.md."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from privet.entropy import secure_bytes
from privet.errors import DataError, LedgerError, Note, ParameterError
from privet.model_file import checksum, checksum_of
from privet.privacy.ledger import Ledger
from privet.privacy.ledger.bodies import BATCH, BATCH_KEY, KEY_BYTES
from privet.privacy.ledger.ledger_file import Entry

_PAID_AND_LOST = (
    "noise was drawn by then, so the release counts as spent; its model is withheld, and a further run costs as much "
    "again"
)


@dataclass(frozen=True)
class Batch:
    """A batch that made one model of another: both by checksum, the batch by its fingerprint.

    ``before`` is None where the batch was the first, ``dated`` where nobody gave a date, and ``part`` where its cost is
    borne by all parts of the data set.
    """

    before: str | None
    after: str
    structure: str
    fingerprint: str
    dated: str | None = None
    part: str | None = None


@dataclass(frozen=True)
class Version:
    """A model as history knows it; everything in it is public."""

    checksum: str
    structure: str
    n_batches: int

    @classmethod
    def of(cls, model: Any) -> "Version":
        """Return the version that a fitted model is; of leaf counts it may have several batches."""
        document = model.to_document()
        return cls(checksum_of(document), checksum(document["structure"]), len(getattr(model, "noise_growth_", [0.0])))


class BatchHistory:
    """The batches that a data set's ledger knows, and the key of their fingerprints."""

    def __init__(self, ledger: Ledger) -> None:
        self._dataset, self._part = ledger.dataset, ledger.part
        self._file = ledger.file

    def key(self) -> bytes:
        """Return the key, made when it is first asked for."""
        found = self._key_in(self._file.entries())
        if found is None:
            with self._file.transaction() as transaction:
                # In one turn: of two processes, the second finds what the first has made.
                found = self._key_in(transaction.entries)
                if found is None:
                    found = secure_bytes(KEY_BYTES).hex()
                    transaction.append(BATCH_KEY, {"dataset": self._dataset, "key": found})
        return bytes.fromhex(found)

    def batches(self) -> list[Batch]:
        """Return all batches of this data set, the earliest first."""
        return self._batches_in(self._file.entries())

    def path_to(self, version: Version) -> list[Batch]:
        """Return the batches that led to a model, the earliest first, as far back as the ledger knows."""
        made_by = {batch.after: batch for batch in self.batches()}
        path: list[Batch] = []
        batch = made_by.pop(version.checksum, None)
        while batch is not None:
            path.append(batch)
            batch = made_by.pop(batch.before or "", None)
        return path[::-1]

    def check_new(self, version: Version, fingerprint: str) -> None:
        """Refuse a batch that is in the model already."""
        path = self.path_to(version)
        if len(path) < version.n_batches - 1:
            # An update was made without this ledger. So whatever went into any model of these trees may be in this one.
            path = [batch for batch in self.batches() if batch.structure == version.structure]
        found = next((batch for batch in path if batch.fingerprint == fingerprint), None)
        if found is not None:
            when = "" if found.dated is None else f", dated {found.dated}"
            raise DataError(
                f"this batch is in the model already{when}: its rows would count twice, and the promise is for once; "
                "add rows that are new, or, if these are others that only look alike, add them with the next batch"
            )

    def check_part(self, fingerprint: str) -> None:
        """Refuse a batch that the ledger has in another part: of several parts, the dearest alone counts as spent."""
        self._check_part_in(self._file.entries(), fingerprint)

    def _check_part_in(self, entries: Sequence[Entry], fingerprint: str) -> None:
        parts = {batch.part for batch in self._batches_in(entries) if batch.fingerprint == fingerprint}
        others = sorted(part for part in parts - {self._part} if part is not None)
        if self._part is not None and others:
            raise DataError(
                f"the ledger has this batch in the part {others[0]!r}, and no row is in two parts; name that part, or, "
                "if these are other rows that only look alike, add them with the next batch"
            )

    def check_date(self, version: Version, dated: str) -> None:
        """Refuse a date that is not after those of the batches in the model."""
        newest = max((batch.dated for batch in self.path_to(version) if batch.dated is not None), default="")
        if dated <= newest:
            raise ParameterError(
                f"--dated {dated} is not after {newest}, the newest batch in the model; give the date of this batch"
            )

    def record(self, before: Version | None, after: Version, fingerprint: str, dated: str | None = None) -> None:
        """Write down which batch made ``after`` of ``before``, or of nothing; what it raises withholds the model."""
        origin = None if before is None else before.checksum
        batch = Batch(origin, after.checksum, after.structure, fingerprint, dated, self._part)
        try:
            with self._file.transaction() as transaction:
                # Since it was checked, another process may have put the same rows in another part.
                self._check_part_in(transaction.entries, fingerprint)
                transaction.append(BATCH, {"dataset": self._dataset, **asdict(batch)})
        except (DataError, LedgerError) as error:
            error.add_note(Note(_PAID_AND_LOST))
            raise

    def _batches_in(self, entries: Sequence[Entry]) -> list[Batch]:
        known = Batch.__dataclass_fields__
        bodies = [entry.body for entry in self._own(entries, BATCH)]
        return [Batch(**{name: value for name, value in body.items() if name in known}) for body in bodies]

    def _key_in(self, entries: Sequence[Entry]) -> str | None:
        return next((entry.body["key"] for entry in self._own(entries, BATCH_KEY)), None)

    def _own(self, entries: Iterable[Entry], kind: str) -> list[Entry]:
        return [entry for entry in entries if entry.kind == kind and entry.body["dataset"] == self._dataset]
