"""Which batches went into a model, by their fingerprints in the owner's ledger. Argued in update.md."""

import hmac
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privet.central.class_weight import CLASS_WEIGHT
from privet.counting.sources import BatchStream, Files, source_of
from privet.entropy import secure_bytes
from privet.errors import DataError, LedgerError, Note, ParameterError
from privet.model_file import checksum, checksum_of
from privet.privacy.ledger import Ledger
from privet.privacy.ledger.entry_kinds import BATCH, BATCH_KEY, KEY_BYTES
from privet.privacy.ledger.ledger_file import Entry
from privet.schema import Schema
from privet.schema.encoding import Encoder, encoder_of

_HASH = "sha256"
_MODULUS = 2**256
_WORD = np.dtype("<u2")


class Fingerprint:
    """A sum of keyed hashes of encoded rows, taken batch by batch.

    A sum, and not a hash of the rows one after the other: sorting a file must not make a new batch of it. Rows enter
    by their codes, so a CSV and a Parquet file of the same rows are the same batch.

    Privacy
    -------
    Exact: with the key, a guess of the whole batch can be tested. It stays where the rows are.
    """

    def __init__(self, key: bytes) -> None:
        self._key = key
        self._sum, self._exact_rows = 0, 0

    def add(self, codes: NDArray[Any], labels: NDArray[np.uint16]) -> None:
        """Take in encoded rows with their class codes."""
        records = np.column_stack([codes, labels]).astype(_WORD)
        as_bytes = records.view(f"V{records.shape[1] * _WORD.itemsize}").ravel().tolist()
        # Rows repeat in codes; each distinct one is hashed once.
        for record, times in Counter(as_bytes).items():
            self._sum += times * int.from_bytes(hmac.digest(self._key, record, _HASH))
        self._sum %= _MODULUS
        self._exact_rows += len(records)

    def hexdigest(self) -> str:
        """Return the fingerprint of all rows so far."""
        # Hashed once more: of two batches that share rows, the bare sums would show the sum of the others.
        closing = self._sum.to_bytes(32) + self._exact_rows.to_bytes(16)
        return hmac.digest(self._key, b"batch" + closing, _HASH).hex()


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
        """Return the version that a fitted model is; it may have several batches.

        Trees of counts stay the same. Where each batch has its own, those of the first one stand for the model. Class
        weights are no part of it: a model that was weighed otherwise holds the same batches.
        """
        document = model.to_document()
        parameters = {name: value for name, value in document["parameters"].items() if name != CLASS_WEIGHT}
        document |= {"parameters": parameters}
        structure = document["structure"]
        if "fits" in structure:
            structure = {name: value for name, value in structure["fits"][0].items() if name != "version"}
        return cls(checksum_of(document), checksum(structure), len(getattr(model, "noise_growth_", [0.0])))


class BatchHistory:
    """The batches that a data set's ledger knows, and the key of their fingerprints."""

    def __init__(self, ledger: Ledger) -> None:
        self._dataset, self._part = ledger.dataset, ledger.part
        self._file = ledger.file

    def key(self) -> bytes:
        """Return the key, made when it is first asked for."""
        found = self._key_in(self._file.last_read)
        if found is None:
            with self._file.transaction() as transaction:
                # Looked for again in the transaction: of two processes, the second finds what the first has made.
                found = self._key_in(transaction.entries)
                if found is None:
                    found = secure_bytes(KEY_BYTES).hex()
                    transaction.append(BATCH_KEY, {"dataset": self._dataset, "key": found})
        return bytes.fromhex(found)

    def batches(self) -> list[Batch]:
        """Return all batches of this data set, the earliest first, as the ledger was last read."""
        return self._batches_in(self._file.last_read)

    def refresh(self) -> None:
        """Read the ledger again: since it was opened, another process may have updated the model at hand."""
        self._file.entries()

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
            # An update was made without this ledger, so whatever went into any model of these trees may be in this one.
            path = [batch for batch in self.batches() if batch.structure == version.structure]
        found = next((batch for batch in path if batch.fingerprint == fingerprint), None)
        if found is not None:
            when = "" if found.dated is None else f", dated {found.dated}"
            raise DataError(
                f"this batch is in the model already{when}: its rows would count twice, and the promise is for once; "
                "add rows that are new, or, if these are others that only look alike, add them with the next batch"
            )

    def check_part(self, fingerprint: str) -> None:
        """Refuse a batch that the ledger has in another part, since only the most expensive part counts as spent."""
        if self._part is not None:
            # Read again: rows may have been read for hours, and a refusal now costs nothing.
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
        """Write down which batch made ``after`` of ``before``, or of nothing; an error withholds the model."""
        origin = None if before is None else before.checksum
        batch = Batch(origin, after.checksum, after.structure, fingerprint, dated, self._part)
        try:
            with self._file.transaction() as transaction:
                # Since that was checked, another process may have put the same rows in another part.
                self._check_part_in(transaction.entries, fingerprint)
                transaction.append(BATCH, {"dataset": self._dataset, **asdict(batch)})
        except (DataError, LedgerError) as error:
            error.add_note(Note("the model is withheld"))
            raise

    def _batches_in(self, entries: Sequence[Entry]) -> list[Batch]:
        known = Batch.__dataclass_fields__
        bodies = [entry.body for entry in self._own(entries, BATCH)]
        return [Batch(**{name: value for name, value in body.items() if name in known}) for body in bodies]

    def _key_in(self, entries: Sequence[Entry]) -> str | None:
        return next((entry.body["key"] for entry in self._own(entries, BATCH_KEY)), None)

    def _own(self, entries: Iterable[Entry], kind: str) -> list[Entry]:
        return [entry for entry in entries if entry.kind == kind and entry.body["dataset"] == self._dataset]


class BatchCheck:
    """The rows of one fit: refused before noise is drawn if the ledger has them, and put on record before the release.

    Parameters
    ----------
    ledger : Ledger, optional
        Without one no fingerprint is taken, and nothing is refused or recorded.
    before : Version, optional
        The model that the rows are added to, if they are.
    dated : str, optional
        The batch's date.
    before_noise : callable, optional
        Called after the last row is read; it may raise to stop the fit while nothing is spent.
    """

    def __init__(
        self,
        ledger: Ledger | None,
        before: Version | None = None,
        dated: str | None = None,
        before_noise: Callable[[], None] | None = None,
    ) -> None:
        self._history = None if ledger is None else BatchHistory(ledger)
        self._before, self._dated, self._before_noise = before, dated, before_noise
        self._fingerprint: str | None = None
        self.is_done = False

    def watch(self, table: Any, schema: Schema | None) -> Any:
        """Return files or batches that are checked in their first pass, by the codes of ``schema`` or of the model."""
        source = source_of(table)
        if isinstance(source, Files):
            return _CheckedFiles(source, self, schema)
        if isinstance(source, BatchStream):
            return _CheckedStream(source, self, schema)
        return table  # a cluster's frame: the key stays here

    def check_table(self, encoder: Encoder, table: Any, labels: Any) -> None:
        """Check a table in memory."""
        fingerprint = self.fingerprint()
        if fingerprint is not None:
            fingerprint.add(encoder.encode(table), encoder.encode_labels(labels))
        self.check(fingerprint)

    def fingerprint(self) -> Fingerprint | None:
        """Return a fingerprint to begin with, if one is taken."""
        return None if self._history is None else Fingerprint(self._history.key())

    def check(self, taken: Fingerprint | None) -> None:
        """Refuse rows that are in the model already or in another part; called when all were read."""
        if self._before_noise is not None:
            self._before_noise()
        if self._history is not None and taken is not None:
            self._fingerprint = taken.hexdigest()
            self._history.check_part(self._fingerprint)
            if self._before is not None:
                self._history.check_new(self._before, self._fingerprint)
        self.is_done = True

    def record(self, fitted: Any) -> None:
        """Write down which rows are in a model that is about to be released; an error withholds it."""
        if self._history is not None and self._fingerprint is not None:
            self._history.record(self._before, Version.of(fitted), self._fingerprint, self._dated)


class _FirstPass:
    """A source whose first pass ends with a check, before any noise is drawn.

    It reads all columns, whichever are asked for: a pass that only counts rows may be paid for before the next one.
    """

    _check: BatchCheck
    _schema: Schema | None

    def batches(self, schema: Schema, names: Sequence[str]) -> Iterator[Any]:
        """Yield Arrow batches of the columns called ``names``."""
        passed: Any = super()
        if self._check.is_done:
            yield from passed.batches(schema, names)
            return
        own = self._schema or schema
        fingerprint, encoder = self._check.fingerprint(), encoder_of(own)
        for batch in passed.batches(schema, list(dict.fromkeys([*names, *own.names, own.target]))):
            if fingerprint is not None:
                labels = encoder.encode_labels(batch.column(own.target))
                fingerprint.add(encoder.encode(batch.select(own.names)), labels)
            yield batch.select(list(names))
        self._check.check(fingerprint)


class _CheckedFiles(_FirstPass, Files):
    def __init__(self, files: Files, check: BatchCheck, schema: Schema | None) -> None:
        super().__init__(*files.named, watch=files.watch)
        self._check, self._schema = check, schema


class _CheckedStream(_FirstPass, BatchStream):
    def __init__(self, stream: BatchStream, check: BatchCheck, schema: Schema | None) -> None:
        super().__init__(stream.given)
        self._check, self._schema = check, schema
