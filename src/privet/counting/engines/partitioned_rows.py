"""Rows in parts that an engine counts: the caller adds up, and sees that nothing is added twice or left out."""

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from privet.counting.engines.delivery import Count, Delivery, Parts, Work, gathered, one_each
from privet.counting.engines.partition import Block
from privet.errors import DataError, ExecutorError
from privet.schema.encoding import Encoder


@dataclass(frozen=True)
class PartitionedRows:
    """Rows of a table in parts. Counts are whole numbers, so neither their order nor who counted shows in a sum."""

    parts: Parts
    encoder: Encoder
    _sizes: dict[str, int] = field(default_factory=dict, init=False, repr=False)

    def exact_sum(self, count: Count, n_jobs: int | None = None) -> NDArray[np.int64]:  # noqa: ARG002
        """Return the sum over all parts of what ``count`` finds in each; a part is counted on one thread."""
        total = count(())
        for delivery in self._deliveries(Work(count, self.encoder)):
            total += _checked(delivery.exact, total)
        return total

    def blocks(self) -> Iterator[Block]:
        """Yield the encoded rows of one part after the other, in the order of the table."""
        for delivery in self._deliveries(Work(gathered, self.encoder)):
            if delivery.exact is not None:
                yield delivery.exact

    def exact_size(self) -> int:
        """Return the number of rows."""
        return sum(delivery.n_rows for delivery in self._deliveries(Work(None, self.encoder)))

    def require_rereadable(self) -> None:
        """Take note that the rows are gone through more than once: parts can be."""

    def _deliveries(self, work: Work) -> Iterator[Delivery]:
        for delivery in one_each(*self.parts.deliver(work)):
            # A table that grows between two passes would be counted as two tables.
            if self._sizes.setdefault(delivery.partition, delivery.n_rows) != delivery.n_rows:
                raise DataError("the rows changed while they were counted; leave them alone, and fit again")
            yield delivery


def _checked(exact: object, like: NDArray[np.int64]) -> NDArray[np.int64]:
    if isinstance(exact, np.ndarray) and exact.dtype == like.dtype and exact.shape == like.shape:
        return exact
    raise ExecutorError("the executor brought back something other than counts; nothing was released; use another one")
