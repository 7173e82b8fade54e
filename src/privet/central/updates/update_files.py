"""The rows of one batch, fingerprinted in the first pass over them. The argument is in update.md."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from privet.central.updates.update_fingerprint import Fingerprint
from privet.central.updates.update_history import BatchHistory, Version
from privet.counting.sources import BatchStream, Files, PathLike, source_of
from privet.privacy.ledger import Ledger
from privet.schema import Schema
from privet.schema.encoding import Encoder


class _FirstPass:
    """A source whose first pass ends by telling a fingerprint, before any noise is drawn: the moment to refuse it.

    It reads all columns, whichever are asked for: a pass that only counts rows may be paid for before the next one.
    """

    _at_end: Callable[[str | None], None]
    _key: Callable[[], bytes] | None = None
    _schema: Schema | None = None
    _is_over = False

    def batches(self, schema: Schema, names: Sequence[str]) -> Iterator[Any]:
        """Yield Arrow batches of the columns called ``names``."""
        passed: Any = super()
        if self._is_over:
            yield from passed.batches(schema, names)
            return
        own = self._schema or schema
        fingerprint, encoder = None if self._key is None else Fingerprint(self._key()), Encoder(own)
        for batch in passed.batches(schema, list(dict.fromkeys([*names, *own.names, own.target]))):
            if fingerprint is not None:
                labels = encoder.encode_labels(batch.column(own.target))
                fingerprint.add(encoder.encode(batch.select(own.names)), labels)
            yield batch.select(list(names))
        self._at_end(None if fingerprint is None else fingerprint.hexdigest())
        self._is_over = True


class BatchFiles(_FirstPass, Files):
    """Files of one batch.

    Parameters
    ----------
    *named, watch
        As of `Files`.
    key : callable, optional
        Returns the key of the fingerprint when the first row is about to be read; without it none is taken.
    at_end : callable
        Told the fingerprint, or None, after the last row; what it raises stops the fit while nothing is spent.
    schema : Schema, optional
        By whose codes rows are compared; by default the one they are read by.
    """

    def __init__(
        self,
        *named: PathLike,
        at_end: Callable[[str | None], None],
        key: Callable[[], bytes] | None = None,
        watch: Callable[[float], None] | None = None,
        schema: Schema | None = None,
    ) -> None:
        super().__init__(*named, watch=watch)
        self._key, self._at_end, self._schema = key, at_end, schema


class _StreamOfBatch(_FirstPass, BatchStream):
    """A stream of one batch."""

    def __init__(
        self, given: Any, at_end: Callable[[str | None], None], key: Callable[[], bytes], schema: Schema | None
    ) -> None:
        super().__init__(given)
        self._key, self._at_end, self._schema = key, at_end, schema


class PartCheck:
    """The rows of one fit in a named part of an account: refused where the ledger has them in another part.

    ``before`` is the model that they are added to, if they are.
    """

    def __init__(self, ledger: Ledger, before: Version | None) -> None:
        self._history, self._before = BatchHistory(ledger), before
        self._fingerprint: str | None = None

    @property
    def is_done(self) -> bool:
        """Whether the rows have been looked at."""
        return self._fingerprint is not None

    def watching(self, table: Any, schema: Schema | None) -> Any:
        """Return files or batches that are checked in their first pass; whoever made `BatchFiles` checks them."""
        source = source_of(table)
        if isinstance(source, BatchFiles):
            return source
        if isinstance(source, Files):
            watch = source.watch
            return BatchFiles(*source.named, at_end=self._check, key=self._history.key, watch=watch, schema=schema)
        if isinstance(source, BatchStream):
            return _StreamOfBatch(source.given, self._check, self._history.key, schema)
        return table  # a cluster's frame: the key stays here

    def check(self, encoder: Encoder, table: Any, labels: Any) -> None:
        """Look at a table in memory."""
        fingerprint = Fingerprint(self._history.key())
        fingerprint.add(encoder.encode(table), encoder.encode_labels(labels))
        self._check(fingerprint.hexdigest())

    def record(self, fitted: Any) -> None:
        """Write down which rows are in a model that was released; what it raises withholds it."""
        if self._fingerprint is not None:
            self._history.record(self._before, Version.of(fitted), self._fingerprint)

    def _check(self, fingerprint: str | None) -> None:
        if fingerprint is not None:
            self._history.check_part(fingerprint)
            if self._before is not None:
                self._history.check_new(self._before, fingerprint)
        self._fingerprint = fingerprint
