"""What goes to whoever counts a part, and what comes back: exact whole numbers with the id of the part.

Engines run a piece of work again when a worker dies, and may do so when it did not. So a piece of work has no effect
but its result, a result says which part it is of, and of each part exactly one is taken. Price and noise stay with
the caller: what is sent is the structure to count on and how values are coded, both public.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from privet.counting.engines.partition import Block, Partition
from privet.entropy import unforeseeable_name
from privet.errors import ExecutorError
from privet.schema.encoding import Encoder

_NOTHING_RELEASED = "nothing was released; run the fit again, and if it happens again with another executor"


class Delivery(NamedTuple):
    """The result of one part; not for anyone who may not see the rows."""

    partition: str
    exact: Any
    n_rows: int

    def __repr__(self) -> str:
        return f"Delivery(partition={self.partition!r})"  # engines log results


class Count(Protocol):
    """Goes through blocks once and adds up whole numbers; it can be pickled."""

    def __call__(self, blocks: Iterable[Block], n_threads: int = 1) -> NDArray[np.int64]:
        """Return the exact sums."""
        ...


def gathered(blocks: Iterable[Block]) -> Block | None:
    """Return a part's blocks as one, where a method needs the encoded rows themselves."""
    parts = list(blocks)
    if not parts:
        return None
    return np.concatenate([codes for codes, _ in parts]), np.concatenate([labels for _, labels in parts])


@dataclass(frozen=True)
class Work:
    """What is done with every part: ``count``, or where that is None only its size is found out."""

    count: Any  # a Count, or `gathered`
    encoder: Encoder
    # Dask remembers results by what they were made of, and a file may have changed since.
    run: str = field(default_factory=unforeseeable_name)

    def __call__(self, partition: Partition) -> Delivery:
        """Read and count one part."""
        if self.count is None:
            return Delivery(partition.id, None, partition.exact_size(self.encoder))
        passing = _Passing(partition.blocks(self.encoder))
        exact = self.count(passing)
        return Delivery(partition.id, exact, passing.n_rows)


class _Passing:
    """Blocks that are counted as they pass."""

    def __init__(self, blocks: Iterable[Block]) -> None:
        self._blocks, self.n_rows = blocks, 0

    def __iter__(self) -> Iterator[Block]:
        for codes, labels in self._blocks:
            self.n_rows += len(labels)
            yield codes, labels


class Parts(Protocol):
    """A table in parts, and an engine that counts them."""

    def deliver(self, work: Work) -> tuple[Sequence[str], Iterable[Delivery]]:
        """Return the ids of all parts, and what comes back, in any order."""
        ...


def one_each(ids: Sequence[str], deliveries: Iterable[Delivery]) -> Iterator[Delivery]:
    """Yield the deliveries; refuse one of a part that was delivered or does not exist, and at the end a missing one."""
    missing = set(ids)
    for delivery in deliveries:
        if not isinstance(delivery, Delivery):
            raise ExecutorError(f"the executor brought back something other than counts; {_NOTHING_RELEASED}")
        if delivery.partition not in missing:
            raise ExecutorError(f"the executor delivered a part of the rows twice; {_NOTHING_RELEASED}")
        missing.remove(delivery.partition)
        yield delivery
    if missing:
        raise ExecutorError(f"the executor did not deliver all parts of the rows; {_NOTHING_RELEASED}")
