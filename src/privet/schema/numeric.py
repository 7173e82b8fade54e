"""A number with public bounds, cut into cells: equally wide, by edges, whole, or on a log scale.

The code of a number is the cell of its public range.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from privet.checks import is_whole
from privet.errors import SchemaError
from privet.schema.acceptance import Acceptance
from privet.schema.labels import check_name

# Codes are at most uint16, and one code is reserved for missing values.
MAX_VALUES = 65_534
# As fine as codes of one byte allow: 255 cells and the code for missing values.
DEFAULT_CELLS = 255


@dataclass(frozen=True)
class Numeric:
    """An attribute with public bounds, cut into cells.

    Parameters
    ----------
    name : str
        The column's name.
    low, high : float
        Publicly known bounds. Values beyond them are clipped.
    bins : int, optional
        Cut the range into this many cells of equal width.
    edges : sequence of float, optional
        Cut the range at these values instead, in increasing order, each strictly between ``low`` and ``high``. A cell
        contains its lower edge and not its upper one.
    inferred : bool
        The bounds were read from the rows; a model that uses them says so.
    never_missing : bool
        Every row has a number. A fit refuses a row that has none, and no tree has a branch for missing values; a row
        that lacks the number at predict is answered by the node that asks for it.
    whole : bool
        All values are whole numbers, such as ages in years. Bounds and edges then are whole too, and no tree cuts
        between two of them. A fraction is cut off: 34.7 is read as 34.
    accepted : Acceptance, optional
        The bounds were read from the rows, and somebody declared that they were public before.
    scale : {"linear", "log"}
        With "log", cells and knots are equally wide in the logarithm, for incomes, durations and counts that span
        several sizes. ``low`` is at least 0; where it is 0, it is the logarithm of 1 + x.

    Notes
    -----
    With neither ``bins`` nor ``edges`` the range has 255 cells of equal width, as many as one byte allows. A range of
    fewer whole numbers than ``bins`` has a cell for each of them.
    """

    name: str
    low: float
    high: float
    bins: int | None = None
    edges: Sequence[float] | None = None
    inferred: bool = False
    never_missing: bool = False
    whole: bool = False
    accepted: Acceptance | None = None
    scale: str = "linear"

    kind: ClassVar[str] = "continuous"

    def __post_init__(self) -> None:
        check_name(self.name)
        object.__setattr__(self, "low", self._finite(self.low, "low"))
        object.__setattr__(self, "high", self._finite(self.high, "high"))
        if not self.low < self.high:
            raise SchemaError(f"attribute {self.name!r}: low must be below high; write bounds as [low, high]")
        if not isinstance(self.whole, bool):
            raise SchemaError(f"attribute {self.name!r}: whole must be true or false; write true, or leave it out")
        self._check_whole((self.low, self.high), "its bounds")
        if self.scale not in ("linear", "log"):
            raise SchemaError(f'attribute {self.name!r}: scale must be "linear" or "log"; write "log", or leave it out')
        if self.is_log and self.low < 0:
            raise SchemaError(
                f"attribute {self.name!r}: a log scale needs a low of at least 0; raise it, or drop scale"
            )
        if self.edges is not None:
            object.__setattr__(self, "edges", self._checked_edges(self.edges))
        self._check_bins()
        if np.any(np.diff(self.borders) <= 0):
            raise SchemaError(
                f"attribute {self.name!r}: its bounds are too close together for that many bins; lower bins"
            )

    @cached_property
    def cuts(self) -> NDArray[np.float64]:
        """Inner cell borders. The code of x is the number of cuts that are <= x."""
        return self.borders[1:-1].copy()

    @property
    def is_open(self) -> bool:
        """Whether neither bins nor edges were declared, so that a method may choose the cells."""
        return self.bins is None and self.edges is None

    @property
    def uniform(self) -> bool:
        """Whether all cells are equally wide."""
        return self.edges is None and not self.is_log and not (self.whole and self._span % self.n_values)

    @property
    def n_values(self) -> int:
        """How many codes stand for values."""
        if self.edges is not None:
            return len(self.edges) + 1
        if self.is_log:
            return len(self.borders) - 1
        n_cells = self.bins or DEFAULT_CELLS
        return min(n_cells, int(self._span)) if self.whole else n_cells

    @property
    def missing_code(self) -> int:
        """The code of a missing value, above every threshold."""
        return self.n_values

    @property
    def n_codes(self) -> int:
        """How many codes the rows of a fit can have."""
        return self.n_values + (not self.never_missing)

    @property
    def branches(self) -> int:
        """A node that tests this attribute has two children: below a threshold, and above it."""
        return 2

    @property
    def domain_size(self) -> int:
        """A thresholded attribute counts as 2 in the papers' mean domain size."""
        return 2

    @cached_property
    def borders(self) -> NDArray[np.float64]:
        """Where cells begin, and where the last one ends. Whole numbers end where the next one would begin."""
        end = self.high + self.whole
        if self.edges is not None:
            return np.array([self.low, *self.edges, end])
        if self.is_log:
            return np.array([self.low, *self._log_cuts(), end])
        if self.whole:
            return self.low + np.floor(np.arange(self.n_values + 1) * self._span / self.n_values + 0.5)
        steps = np.arange(self.n_values + 1) / self.n_values
        # A convex combination stays finite where high - low would overflow.
        return self.low * (1 - steps) + end * steps

    @property
    def middles(self) -> NDArray[np.float64]:
        """The value in the middle of each cell."""
        if self.is_log:
            places = self.place(self.borders)
            return self.value((places[1:] + places[:-1]) / 2)
        found: NDArray[np.float64] = (self.borders[1:] + self.borders[:-1] - self.whole) / 2
        return found

    @property
    def is_log(self) -> bool:
        """Whether the scale is logarithmic."""
        return self.scale == "log"

    def place(self, values: Any) -> NDArray[np.float64]:
        """Return where values lie on the scale: themselves, or their logarithms."""
        numbers = np.asarray(values, dtype=np.float64)
        if not self.is_log:
            return numbers
        found: NDArray[np.float64] = np.log(numbers) if self.low > 0 else np.log1p(numbers)
        return found

    def value(self, places: Any) -> NDArray[np.float64]:
        """Return the values at these places of the scale; of logarithms, to six digits, whatever the machine."""
        numbers = np.asarray(places, dtype=np.float64)
        if not self.is_log:
            return numbers
        found = np.exp(numbers) if self.low > 0 else np.expm1(numbers)
        return np.array([float(f"{number:.6g}") for number in found.ravel()]).reshape(found.shape)

    def _log_cuts(self) -> list[float]:
        """Return cuts of equal distance on the log scale, at values of few digits where these tell them apart."""
        n_cells = self.bins or DEFAULT_CELLS
        low, high = self.place([self.low, self.high + self.whole])
        steps = np.arange(1, n_cells) / n_cells
        cuts = self.value(low * (1 - steps) + high * steps)
        if self.whole:
            cuts = np.floor(cuts + 0.5)
        return sorted({float(cut) for cut in cuts if self.low < cut < self.high + self.whole})

    def written(self, number: float) -> str:
        """Return a whole number of the range as text."""
        return f"{number:.0f}"

    def domain_json(self) -> dict[str, Any]:
        """Return the bounds, bins and edges as plain JSON values."""
        data: dict[str, Any] = {"bounds": [self.low, self.high]}
        data.update({} if self.bins is None else {"bins": int(self.bins)})
        data.update({} if self.edges is None else {"edges": list(self.edges)})
        data.update({"scale": self.scale} if self.is_log else {})
        return data

    @property
    def _span(self) -> float:
        """The width of the range, which for whole numbers is how many there are."""
        return self.high - self.low + self.whole

    def _finite(self, value: object, which: str) -> float:
        if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, float, np.integer, np.floating)):
            raise SchemaError(f"attribute {self.name!r}: {which} must be a number; write it without quotes")
        try:
            number = float(value)
        except OverflowError:
            number = math.inf
        # Half the largest double, so that differences of bounds stay finite.
        if not abs(number) <= 2.0**1022:
            raise SchemaError(
                f"attribute {self.name!r}: {which} must be finite; give the widest range that is plausible"
            )
        return number

    def _checked_edges(self, edges: object) -> tuple[float, ...]:
        if isinstance(edges, str) or not isinstance(edges, Iterable):
            raise SchemaError(f"attribute {self.name!r}: edges must be a list of numbers; write them in [ ]")
        checked = tuple(self._finite(edge, "every edge") for edge in edges)
        if list(checked) != sorted(set(checked)):
            raise SchemaError(f"attribute {self.name!r}: edges must increase; sort them and drop repeats")
        self._check_whole(checked, "its edges")
        if checked and not (self.low < checked[0] and checked[-1] < self.high + self.whole):
            raise SchemaError(
                f"attribute {self.name!r}: edges must lie strictly between the bounds; leave the bounds out"
            )
        return checked

    def _check_whole(self, numbers: Iterable[float], which: str) -> None:
        if self.whole and not all(number.is_integer() and abs(number) < 2**53 for number in numbers):
            raise SchemaError(
                f"attribute {self.name!r} is whole, so {which} must be whole numbers below 2^53; round them, or take "
                "whole out of the schema"
            )

    def _check_bins(self) -> None:
        where = f"attribute {self.name!r}"
        if self.bins is not None and self.edges is not None:
            raise SchemaError(f"{where}: give bins or edges, not both")
        if self.bins is not None and not is_whole(self.bins):
            raise SchemaError(f"{where}: bins must be a whole number; round it")
        given = DEFAULT_CELLS if self.bins is None else self.bins
        n_values = given if self.edges is None else len(self.edges) + 1
        if not 1 <= n_values <= MAX_VALUES:
            raise SchemaError(f"{where}: it needs between 1 and {MAX_VALUES:,} cells; change bins or edges")
