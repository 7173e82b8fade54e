"""The files of one batch, fingerprinted in the pass in which they are counted."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from privet.central.update_fingerprint import Fingerprint
from privet.counting.file_source import Files, PathLike
from privet.schema import Schema
from privet.schema.encoding import Encoder


class BatchFiles(Files):
    """Files whose last row has been read before any noise is drawn: the moment to refuse them.

    Parameters
    ----------
    *named, watch
        As of `Files`.
    key : callable, optional
        Returns the key of the fingerprint when the first row is about to be read; without it none is taken.
    at_end : callable
        Told the fingerprint, or None, after the last row; what it raises stops the fit while nothing is spent.
    """

    def __init__(
        self,
        *named: PathLike,
        at_end: Callable[[str | None], None],
        key: Callable[[], bytes] | None = None,
        watch: Callable[[float], None] | None = None,
    ) -> None:
        super().__init__(*named, watch=watch)
        self._key, self._at_end = key, at_end

    def batches(self, schema: Schema, names: Sequence[str]) -> Iterator[Any]:
        """Yield Arrow batches of the columns called ``names``; a pass over all columns ends with `at_end`."""
        if not {*schema.names, schema.target} <= set(names):  # a pass that only counts rows
            yield from super().batches(schema, names)
            return
        fingerprint, encoder = None if self._key is None else Fingerprint(self._key()), Encoder(schema)
        for batch in super().batches(schema, names):
            if fingerprint is not None:
                labels = encoder.encode_labels(batch.column(schema.target))
                fingerprint.add(encoder.encode(batch.select(schema.names)), labels)
            yield batch
        self._at_end(None if fingerprint is None else fingerprint.hexdigest())
