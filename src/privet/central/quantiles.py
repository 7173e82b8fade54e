"""Cells of about equal weight for numeric attributes, found with noise and paid for. The argument is in dpdf.md."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from privet.central.greedy_forest import DEFAULT_BINS
from privet.counting.engines.parts import Block, Count
from privet.counting.rows import Rows
from privet.counting.tables import TableLayout, exact_tables
from privet.privacy.events import Event
from privet.privacy.mechanisms.discrete_laplace import discrete_laplace
from privet.privacy.unit import Unit
from privet.rng import NoiseSource
from privet.schema import Attribute, Numeric, Schema
from privet.tree.greedy import Growth

# Of epsilon, for the histograms that quantiles are read off.
QUANTILE_SHARE = 0.1
WHAT = "histograms of numeric attributes"


@dataclass(frozen=True)
class RecodedRows:
    """Rows whose codes are translated, attribute by attribute; one row never changes another's."""

    rows: Rows
    new_code: tuple[NDArray[np.int64], ...]

    def blocks(self) -> Iterator[Block]:
        """Yield translated codes, and class codes."""
        return _recoded(self.rows.blocks(), self.new_code)

    def exact_sum(self, count: Count, n_jobs: int | None = None) -> NDArray[np.int64]:
        """Return what ``count`` finds in the translated rows."""
        return self.rows.exact_sum(RecodedCount(count, self.new_code), n_jobs)

    def require_rereadable(self) -> None:
        """Take note, or refuse, as the rows themselves do."""
        self.rows.require_rereadable()

    def exact_size(self) -> int:
        """Return the number of rows."""
        return self.rows.exact_size()


@dataclass(frozen=True)
class RecodedCount:
    """Translates codes before it counts, wherever the rows are."""

    count: Count
    new_code: tuple[NDArray[np.int64], ...]

    def __call__(self, blocks: Iterable[Block], n_threads: int = 1) -> NDArray[np.int64]:
        """Return the exact sums."""
        return self.count(_recoded(blocks, self.new_code), n_threads)


def _recoded(blocks: Iterable[Block], new_code: tuple[NDArray[np.int64], ...]) -> Iterator[Block]:
    for codes, labels in blocks:
        columns = [table[codes[:, j]] for j, table in enumerate(new_code)]
        yield np.stack(columns, axis=1).astype(codes.dtype), labels


def open_numbers(schema: Schema) -> list[int]:
    """Return the positions of numeric attributes that declare neither bins nor edges."""
    return [j for j, a in enumerate(schema.attributes) if isinstance(a, Numeric) and a.is_open]


def release_quantiles(
    schema: Schema, rows: Rows, *, epsilon: float, unit: Unit, noise: NoiseSource
) -> tuple[Schema, Rows, Event]:
    """Return the schema with quantiles as edges, the rows coded by it, and the receipt.

    Privacy
    -------
    A row adds 1 to one cell of each histogram, so noise is for as many as there are, times the rows of a person.
    """
    layout, chosen = TableLayout.of(schema), open_numbers(schema)
    forest = Growth.roots(schema.attributes, 1).forest
    ((_, table),) = exact_tables(forest, np.array([0]), rows, layout)
    # Missing values, if there can be any, come after a number's cells.
    exact_cells = [layout.of_attribute(table, j)[0].sum(axis=1)[: schema.attributes[j].n_values] for j in chosen]
    noisy_cells, receipt = discrete_laplace(
        np.concatenate(exact_cells), epsilon=epsilon, sensitivity=len(chosen) * unit.max_rows, what=WHAT, noise=noise
    )
    parts = np.split(noisy_cells, np.cumsum([len(cells) for cells in exact_cells])[:-1])
    borders = {j: _borders(cells) for j, cells in zip(chosen, parts, strict=True)}
    attributes = [_with_edges(a, borders[j]) if j in borders else a for j, a in enumerate(schema.attributes)]
    new_code = tuple(_translation(a.n_values, borders.get(j)) for j, a in enumerate(schema.attributes))
    return schema.with_attributes(attributes), RecodedRows(rows, new_code), receipt


def _borders(noisy_cells: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the last cells of all bins but the last, so that bins hold about the same number of rows."""
    weight = np.cumsum(np.maximum(noisy_cells, 0))
    if weight[-1] == 0:
        weight = np.arange(1, len(noisy_cells) + 1)
    at = np.searchsorted(weight, weight[-1] * np.arange(1, DEFAULT_BINS) / DEFAULT_BINS)
    borders: NDArray[np.int64] = np.unique(at[at < len(noisy_cells) - 1])
    return borders


def _with_edges(attribute: Attribute, borders: NDArray[np.int64]) -> Attribute:
    if not isinstance(attribute, Numeric):
        return attribute
    return replace(attribute, edges=tuple(attribute.cuts[borders].tolist()))


def _translation(n_values: int, borders: NDArray[np.int64] | None) -> NDArray[np.int64]:
    if borders is None:
        return np.arange(n_values + 1)
    return np.append(np.searchsorted(borders, np.arange(n_values)), len(borders) + 1)
