"""Where the rows of a rehearsal come from: made-up people, or a public table of the same kind."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from privet.counting.files import read_batches, table_of
from privet.datasets.stand_in import StandIn
from privet.errors import DataError
from privet.schema import Schema
from privet.schema.encoding import Encoder
from privet.schema.table import as_arrow, column_of

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
_TEST_ROWS, _TEST_SHARE, _FEWEST_ROWS = 4_000, 0.25, 20


@dataclass(frozen=True)
class Draw:
    """What one draw trains and tests on.

    Attributes
    ----------
    rows : callable
        Returns a number of training rows and their labels.
    test : table
        Other rows.
    chances : array
        How likely each class is for each of them; of rows with a label that is one or nothing.
    best : float or None
        The accuracy of what could be known at most, where that is known.
    """

    rows: Callable[[int], tuple[Any, NDArray[Any]]]
    test: Any
    chances: Floats
    best: float | None = None

    def accuracy(self, guessed: NDArray[np.int64]) -> float:
        """Return how often the guesses are right, on average over the labels that such rows have."""
        return float(self.chances[np.arange(len(guessed)), guessed].mean())


class Population(Protocol):
    """Rows that anybody may see."""

    def describe(self) -> str:
        """Return in words what the rows are."""
        ...

    def draw(self, rng: np.random.Generator) -> Draw:
        """Return rows to train and to test on."""
        ...


@dataclass(frozen=True)
class MadeUpPeople:
    """People drawn from the schema and from what its owner states of them."""

    schema: Schema
    class_shares: Floats
    strengths: tuple[float, ...]
    best: float | None = None

    def describe(self) -> str:
        """Return in words what the rows are."""
        if self.best is not None:
            return f"made-up rows, of which {100 * self.best:.3g} % can be guessed right at most"
        low, high = min(self.strengths), max(self.strengths)
        each = f"{low:g}" if low == high else f"{low:g} to {high:g}"
        return f"made-up rows, each attribute going with the class by Cohen's w = {each}"

    def draw(self, rng: np.random.Generator) -> Draw:
        """Return new people of a new kind each time: what says what is drawn again."""
        stated = self.schema, self.class_shares, self.strengths
        people = StandIn.draw(*stated, rng) if self.best is None else StandIn.draw_as_good(*stated, self.best, rng)
        codes = people.people(_TEST_ROWS, rng)[0]
        chances, classes = people.chances(codes), np.array(self.schema.classes)

        def rows(n: int) -> tuple[Any, NDArray[Any]]:
            own, labels = people.people(n, rng)
            return people.table(own), classes[labels]

        return Draw(rows, people.table(codes), chances, float(chances.max(axis=1).mean()))


@dataclass(frozen=True, eq=False)
class PublicRows:
    """A table that anybody may see. Where it has too few rows, they repeat."""

    schema: Schema
    table: Any
    labels: Ints

    @classmethod
    def of(cls, schema: Schema, like: Any) -> Self:
        """Return the rows of a file, or of a table with named columns, the label's among them."""
        import pyarrow as pa

        names = [*schema.names, schema.target]
        if isinstance(like, (str, Path)):
            batches = list(read_batches(like, schema, names))
            table = table_of(batches) if batches else None
        else:
            table = pa.table({name: as_arrow(column_of(like, name), name) for name in names})
        if table is None or table.num_rows < _FEWEST_ROWS:
            raise DataError(f"like needs {_FEWEST_ROWS} rows or more; pass a larger public table, or leave it out")
        labels = Encoder(schema).encode_labels(table.column(schema.target)).astype(np.int64)
        return cls(schema, table.select(list(schema.names)), labels)

    def describe(self) -> str:
        """Return in words what the rows are."""
        return f"rows of a public table, which has {len(self.labels):,}"

    def draw(self, rng: np.random.Generator) -> Draw:
        """Return a quarter of the rows, at most 4,000, to test on; training rows are drawn from the others."""
        order = rng.permutation(len(self.labels))
        n_test = min(int(_TEST_SHARE * len(order)), _TEST_ROWS)
        test, others = order[:n_test], order[n_test:]
        classes = np.array(self.schema.classes)

        def rows(n: int) -> tuple[Any, NDArray[Any]]:
            own = rng.choice(others, n, replace=n > len(others))
            return self.table.take(own), classes[self.labels[own]]

        return Draw(rows, self.table.take(test), np.eye(len(classes))[self.labels[test]])
