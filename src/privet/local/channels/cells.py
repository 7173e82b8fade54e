"""A column of values by the cells of its attribute, and the cells in which answers are counted."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privet.schema import Attribute, Schema
from privet.schema.encoding import Encoder, numbers_of, without_dictionary
from privet.schema.table import as_arrow

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

# Intervals by the rule of Agrawal and Srikant (2000): a hundred values each, within these bounds.
_VALUES_AN_INTERVAL, FEWEST_INTERVALS, MOST_INTERVALS = 100, 10, 100


class FieldValues:
    """One column of a table, as it was given and by the codes of its attribute."""

    def __init__(self, attribute: Attribute, column: Any, codes: Ints | None = None) -> None:
        self.attribute, self.column = attribute, column
        self._codes = codes

    @cached_property
    def codes(self) -> Ints:
        """The code of every value; that of missing values is the attribute's last."""
        return codes_of(self.column, self.attribute) if self._codes is None else self._codes

    @cached_property
    def numbers(self) -> Floats:
        """The values as numbers, NaN where missing."""
        name, column = self.attribute.name, self.column
        plain = column if isinstance(column, np.ndarray) else without_dictionary(as_arrow(column, name))
        return np.asarray(numbers_of(plain, name), dtype=np.float64)

    @property
    def is_given(self) -> NDArray[np.bool_]:
        """Whether there is a value."""
        return np.asarray(without_dictionary(as_arrow(self.column, self.attribute.name)).is_valid())


@dataclass(frozen=True, eq=False)
class SeenCells:
    """Cells of equal width over the range of the answers."""

    low: float
    width: float
    n_cells: int

    @property
    def edges(self) -> Floats:
        """Their borders."""
        return self.low + self.width * np.arange(self.n_cells + 1, dtype=np.float64)

    def of(self, numbers: Floats) -> Ints:
        """Return the cell of every number, -1 for NaN; beyond the range it is the outermost."""
        places = np.clip(np.floor((numbers - self.low) / self.width), 0, self.n_cells - 1)
        cells: Ints = np.nan_to_num(places, nan=-1.0).astype(np.int64)
        return cells


def intervals_for(n_values: int) -> int:
    """Return into how many intervals the paper's rule cuts a range that ``n_values`` answers are from."""
    return min(max(n_values // _VALUES_AN_INTERVAL, FEWEST_INTERVALS), MOST_INTERVALS)


def codes_of(values: Any, attribute: Attribute) -> Ints:
    """Return the code of every value of a column; that of missing values is the attribute's last."""
    import pyarrow as pa

    # An encoder is for tables with a label; this one is never asked for it.
    schema = Schema([attribute], classes=("no", "yes"), target=f"label of {attribute.name}")
    table = pa.table({attribute.name: as_arrow(values, attribute.name)})
    return Encoder(schema).encode(table)[:, 0].astype(np.int64)
