"""How likely each answer is for a value from each true cell, as the reconstruction needs it."""

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from privet.errors import ParameterError
from privet.local.channels.columns import AddedNoise, edges_of, midpoints_of
from privet.local.channels.random_answer import RandomAnswer
from privet.schema import Numeric

Mass: TypeAlias = Literal["interval", "midpoint"]
Floats = NDArray[np.float64]

# Cells that the answers are counted in. Beyond it they are made wider: noise is so wide then that nothing is lost.
_MOST_SEEN = 4_096
# Cells that a range with borders of its own choice is seen in, where its narrowest cell asks for more.
_MOST_INNER = 500
# A k x k matrix of more would not fit in memory.
MOST_ANSWERS = 4_096
_CACHED = 64


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

    def of(self, numbers: Floats) -> NDArray[np.int64]:
        """Return the cell of every number, -1 for NaN; beyond the range it is the outermost."""
        places = np.clip(np.floor((numbers - self.low) / self.width), 0, self.n_cells - 1)
        cells: NDArray[np.int64] = np.nan_to_num(places, nan=-1.0).astype(np.int64)
        return cells


@dataclass(frozen=True, eq=False)
class NoiseMatrix:
    """Added noise, by cells: ``chances`` has a row for each seen cell, a column for each true one.

    ``start`` is the uniform distribution over the true cells.
    """

    seen: SeenCells
    chances: Floats
    start: Floats


@lru_cache(maxsize=_CACHED)
def noise_matrix(column: AddedNoise, cells: Numeric, mass: Mass = "interval") -> NoiseMatrix:
    """Return what ``column`` does to numbers that are known by their cell.

    With ``mass="interval"`` a chance is the exact mass of the noise, averaged over both cells; with "midpoint" it is
    proportional to the density at the distance of their midpoints, as in the paper.
    """
    if mass not in ("interval", "midpoint"):
        raise ParameterError(f'mass={mass!r} is not known; choose "interval" or "midpoint"')
    seen = _seen_cells(column, cells)
    edges = edges_of(cells)
    if mass == "midpoint":
        middle = seen.edges[:-1] + seen.width / 2
        chances = column.noise.density(middle[:, None] - midpoints_of(cells)[None, :])
    else:
        # Whatever lies beyond is counted in the outermost cells.
        chances = column.mass(edges, np.concatenate([[-np.inf], seen.edges[1:-1], [np.inf]]))
    return NoiseMatrix(seen, chances, np.diff(edges) / (cells.high - cells.low))


def random_answer_matrix(column: RandomAnswer) -> Floats:
    """Return the chance of each answer for each value."""
    if column.n_answers > MOST_ANSWERS:
        raise ParameterError(
            f"{column.field!r} has more than {MOST_ANSWERS:,} answers, too many to reconstruct; merge its rare values"
        )
    return column.matrix


def _seen_cells(column: AddedNoise, cells: Numeric) -> SeenCells:
    """Return cells as wide as the true ones, which fall on their borders, over the widened range."""
    low, high = column.bounds
    span, n_inner = cells.high - cells.low, cells.n_values
    if not cells.uniform:
        narrowest = float(np.diff(edges_of(cells)).min())
        n_inner = max(n_inner, min(_MOST_INNER, math.ceil(span / narrowest)))
    width = span / n_inner * math.ceil((high - low) / span * n_inner / _MOST_SEEN)
    n_below, n_above = math.ceil((cells.low - low) / width - 1e-9), math.ceil((high - cells.low) / width - 1e-9)
    return SeenCells(cells.low - n_below * width, width, n_below + n_above)
