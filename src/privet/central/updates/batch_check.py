"""The rows of one fit: fingerprinted in the first pass over them, refused or put on record. Argued in update.md."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from privet.central.updates.batches import BatchHistory, Fingerprint, Version
from privet.counting.sources import BatchStream, Files, source_of
from privet.privacy.ledger import Ledger
from privet.schema import Schema
from privet.schema.encoding import Encoder, encoder_of


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
