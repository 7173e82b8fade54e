"""Noise on a number: uniform, normal or Laplace. The argument for the local epsilon of Laplace's is in columns.md."""

import math
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from privet.errors import ParameterError
from privet.local.channels.cells import FieldValues, Floats, Ints, SeenCells
from privet.local.channels.distributions import (
    DISTRIBUTIONS,
    TOTAL_WEIGHT,
    DiscreteDistribution,
    NoiseDistribution,
    log_ratio,
)
from privet.local.channels.field_channel import (
    AnswerTests,
    Draw,
    Impossible,
    Mass,
    NumberChannel,
    SeenAnswers,
    number_in,
)
from privet.local.measures.posterior import Histogram, entropy_of
from privet.schema import Attribute, Numeric

# Numbers are put on a grid of so many steps over their range before noise is added: a floating-point sum would give
# away its terms in the last digits. Where the noise is wider than the range, fewer steps are as good.
GRID, LEAST_GRID = 4_096, 64
_MOST_RANGES = 1_000
# How far from the grid an answer may lie, in steps: files may round.
_TOLERANCE = 1e-3
# Windows of answers, at least as wide as this share of the grid, for tests of two fields together.
_WINDOWS = 16
# What differences of chances lose to rounding.
_ROUNDING = 1e-15
# Cells that the answers are counted in. Beyond it they are made wider: noise is so wide then that nothing is lost.
_MOST_SEEN = 4_096
# Cells that a range with borders of its own choice is seen in, where its narrowest cell asks for more.
_MOST_INNER = 500
_CACHED = 64
# For entropies: beyond this confidence lies a part of the noise that no entropy feels.
_NEARLY_ALL, _N_POINTS = 1 - 1e-12, 2**14


@dataclass(frozen=True)
class AddedNoise(NumberChannel):
    """A number plus noise of a public distribution."""

    noise: NoiseDistribution
    kinds: ClassVar[dict[str, str]] = {
        "uniform": "uniform noise",
        "gaussian": "normal noise",
        "laplace": "Laplace noise",
    }

    def __post_init__(self) -> None:
        spread = self.noise.scale / self._range
        if not 4 / GRID <= spread <= _MOST_RANGES or not 0 < self.step < 20 * self.noise.scale < math.inf:
            raise ParameterError(
                f"noise of scale {self.noise.scale:g} on {self.attribute.name!r} is out of proportion to its range; "
                f"choose between a thousandth of the range and {_MOST_RANGES:,} times it"
            )

    @property
    def kind(self) -> str:
        """The name of the distribution."""
        return self.noise.name

    @property
    def reads_numbers(self) -> bool:
        """Whether the answer depends on more of a number than its cell."""
        return True

    @property
    def chances(self) -> None:
        """Answers are no codes."""
        return

    @property
    def noise_variance(self) -> float:
        """The variance of the noise."""
        return self.noise.std**2

    @property
    def n_steps(self) -> int:
        """How many steps of the grid the range has."""
        halvings = math.frexp(max(1.0, self.noise.scale / self._range))[1] - 1  # a logarithm, and never rounded
        return max(LEAST_GRID, GRID >> halvings)

    @property
    def step(self) -> float:
        """One step of the grid."""
        return self._range / self.n_steps

    @cached_property
    def reach(self) -> int:
        """How many steps beyond the range the answers go."""
        return math.ceil(self.noise.reach / self.step)

    @property
    def bounds(self) -> tuple[float, float]:
        """The range of the answers."""
        widened = self.reach * self.step
        return self.attribute.low - widened, self.attribute.high + widened

    @cached_property
    def distribution(self) -> DiscreteDistribution:
        """The noise, in steps of the grid."""
        clamped = self.n_steps if self.noise.bounds_epsilon else 0
        return DiscreteDistribution.of_noise(self.noise, self.step, self.reach + clamped)

    @cached_property
    def local_epsilon(self) -> float:
        """The logarithm of how much likelier an answer can be for one value than for another.

        Only Laplace's distribution bounds it; see columns.md.
        """
        if not self.noise.bounds_epsilon:
            return math.inf
        weights, steps = self.distribution.weights, self.n_steps
        middle = len(weights) // 2
        # An answer j steps from the low end takes noise of j - steps ... j, by the value it came from.
        answers = np.arange(1 - self.reach, steps + self.reach)
        ends = np.stack([weights[middle + answers], weights[middle + answers - steps]])
        has_middle = (answers >= 0) & (answers <= steps)
        least, likeliest = ends.min(axis=0), np.where(has_middle, weights[middle], ends.max(axis=0))
        # What is put on the border, from the value next to it and from the one furthest away.
        nearest, furthest = int(self.distribution.upto[steps]), int(self.distribution.upto[0])
        return log_ratio(max(float(((likeliest - least) / least).max()), (nearest - furthest) / furthest))

    def width(self, confidence: float) -> float:
        """Return the width of the interval about an answer that holds the value with this confidence."""
        return self.noise.width(confidence)

    def entropy_after(self, prior: Histogram) -> float:
        """Return the entropy of a value that is left when its answer is known.

        Noise is taken as its distribution has it; the grid and the clamping of answers hide a little more.
        """
        return prior.entropy + self.noise.entropy - self._entropy_of_answers(prior)

    def codes(self, numbers: Floats) -> Ints:
        """Return where on the grid numbers lie, -1 for NaN."""
        clipped = np.clip(numbers, self.attribute.low, self.attribute.high)
        places = np.rint((clipped - self.attribute.low) / self.step)
        # Where the bounds are next to zero a step is rounded, and the last place might lie beyond the grid.
        return np.nan_to_num(np.minimum(places, self.n_steps), nan=-1.0).astype(np.int64)

    def answer_for(self, codes: Ints, words: NDArray[np.uint64]) -> Floats:
        """Return the answers of people with values at ``codes``, each with 64 random bits; NaN for none."""
        places = np.clip(codes + self.distribution.draw(words), -self.reach, self.n_steps + self.reach)
        return np.where(codes < 0, np.nan, self.attribute.low + places * self.step)

    def answer(self, values: FieldValues, draw: Draw) -> NDArray[Any]:
        """Return the answers of people with these values."""
        codes = self.codes(values.numbers)
        return self.answer_for(codes, draw(codes))

    def chance_below(self, steps: Ints) -> Floats:
        """Return the chance that the noise is fewer than so many steps of the grid."""
        upto = np.concatenate([[0.0], self.distribution.upto.astype(np.float64) / TOTAL_WEIGHT, [1.0]])
        chances: Floats = upto[np.clip(steps - self.distribution.first, 0, len(upto) - 1)]
        return chances

    def mass(self, true_edges: Floats, seen_edges: Floats) -> Floats:
        """Return how likely an answer falls in each seen cell (a row) for a value from each true cell (a column).

        The value is taken as anywhere in its cell with equal chance. The outer edges of what is seen may be infinite.
        """
        low, high = true_edges[:-1], true_edges[1:]
        finite = np.isfinite(seen_edges)
        distance = np.where(finite, seen_edges, 0.0)[:, None]
        mean_cdf = (self.noise.cdf_integral(distance - low) - self.noise.cdf_integral(distance - high)) / (high - low)
        mean_cdf = np.where(finite[:, None], mean_cdf, np.heaviside(seen_edges, 0.0)[:, None])
        return np.maximum(np.diff(mean_cdf, axis=0), 0.0)

    def see(self, values: FieldValues, cells: Attribute, mass: Mass = "interval") -> SeenAnswers:
        """Return answers by cells over the widened range, and by their places on the grid."""
        matrix, low = noise_matrix(self, number_in(cells), mass), self.bounds[0]
        n_places = round((self.bounds[1] - low) / self.step) + 1
        place = SeenCells(low - self.step / 2, self.step, n_places).of(values.numbers)
        seen = np.append(matrix.seen.of(low + self.step * np.arange(n_places, dtype=np.float64)), -1)
        answer = matrix.seen.of(values.numbers)
        return SeenAnswers(answer, matrix.chances, matrix.start, matrix.seen.edges, place, seen)

    def impossible(self, values: FieldValues) -> Impossible:
        """Yield numbers that are not on the grid, and those beyond its ends."""
        place, is_near = self._places(values.numbers)
        yield ~is_near, f"hold a number in {self.name!r} that is not on the grid of its noise"
        outside = (place < -self.reach) | (place > self.n_steps + self.reach)
        yield outside, f"hold a number in {self.name!r} that is beyond the reach of its noise"

    def tests(self, values: FieldValues) -> AnswerTests:
        """Return the chances of places on the grid, and of windows of them."""
        numbers = values.numbers
        place = np.where(np.isnan(numbers), -1, self._places(numbers)[0] + self.reach).astype(np.int64)
        n_places = self.n_steps + 2 * self.reach + 1
        # One step, and twice as much each time, until few windows are left.
        widths = [2**k for k in range(max(1, math.ceil(math.log2(n_places / _WINDOWS)) + 1))]
        return AnswerTests(self.name, place, tuple(self.windows(width) for width in widths))

    def windows(self, width: int) -> tuple[Ints, Floats, Floats]:
        """Return the window of every place, and how likely an answer is in each at least and at most."""
        n_places, reach = self.n_steps + 2 * self.reach + 1, self.reach
        start = np.arange(0, n_places, width) - reach
        stop = np.minimum(start + width, n_places - reach)
        # Noise falls off to both sides, so a window is likeliest from its middle and least likely from one of the ends.
        middle = np.clip((start + stop - 1) // 2, 0, self.n_steps)
        values = np.stack([np.zeros_like(middle), np.full_like(middle, self.n_steps), middle,
                           np.minimum(middle + 1, self.n_steps)])  # fmt: skip
        chances = self.chance_below(stop - values) - self.chance_below(start - values)
        chances[:, 0] = self.chance_below(stop[0] - values[:, 0])
        chances[:, -1] = 1 - self.chance_below(start[-1] - values[:, -1])
        least, most = chances.min(axis=0) - _ROUNDING, chances.max(axis=0) + _ROUNDING
        return np.arange(n_places) // width, np.maximum(least, 0.0), np.minimum(most, 1.0)

    def describe(self) -> dict[str, Any]:
        """Return the scale, the widths of intervals, and the local epsilon."""
        return {"channel": self.kind, "scale": self.noise.scale, **super().describe()}

    def to_json(self) -> dict[str, Any]:
        """Return the channel as plain JSON values."""
        return {"field": self.name, "channel": self.kind, "scale": self.noise.scale}

    @classmethod
    def from_json(cls, data: dict[str, Any], attribute: Attribute) -> Self:
        """Read the channel back."""
        return cls(number_in(attribute), DISTRIBUTIONS[data["channel"]](data["scale"]))

    @property
    def _range(self) -> float:
        return self.attribute.high - self.attribute.low

    def _places(self, numbers: Floats) -> tuple[Floats, NDArray[np.bool_]]:
        """Return where on the grid numbers lie, and whether they lie there as near as rounding puts them."""
        low, step = self.attribute.low, self.step
        with np.errstate(over="ignore", invalid="ignore"):
            place = np.rint((numbers - low) / step)
            miss = np.abs(low + place * step - numbers)
        return place, np.isnan(numbers) | (miss <= _TOLERANCE * step + 4 * np.spacing(np.abs(numbers)))

    def _entropy_of_answers(self, prior: Histogram) -> float:
        """Return the differential entropy of value plus noise: the density is exact, its integral a sum over points."""
        spread = self.noise.width(_NEARLY_ALL) / 2
        low, high = self.attribute.low - spread, self.attribute.high + spread
        step = (high - low) / _N_POINTS
        points = low + (np.arange(_N_POINTS) + 0.5) * step
        density = np.zeros(_N_POINTS)
        for start, end, share in zip(prior.edges, prior.edges[1:], prior.shares, strict=False):
            if share > 0:
                density += share * (self.noise.cdf(points - start) - self.noise.cdf(points - end)) / (end - start)
        chances = density * step
        return entropy_of(chances / chances.sum()) + math.log2(step)


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
    edges = cells.borders
    if mass == "midpoint":
        middle = seen.edges[:-1] + seen.width / 2
        chances = column.noise.density(middle[:, None] - cells.middles[None, :])
    else:
        # Whatever lies beyond is counted in the outermost cells.
        chances = column.mass(edges, np.concatenate([[-np.inf], seen.edges[1:-1], [np.inf]]))
    return NoiseMatrix(seen, chances, np.diff(edges) / (cells.high - cells.low))


def _seen_cells(column: AddedNoise, cells: Numeric) -> SeenCells:
    """Return cells as wide as the true ones, which fall on their borders, over the widened range."""
    low, high = column.bounds
    span, n_inner = cells.high - cells.low, cells.n_values
    if not cells.uniform:
        narrowest = float(np.diff(cells.borders).min())
        n_inner = max(n_inner, min(_MOST_INNER, math.ceil(span / narrowest)))
    width = span / n_inner * math.ceil((high - low) / span * n_inner / _MOST_SEEN)
    n_below, n_above = math.ceil((cells.low - low) / width - 1e-9), math.ceil((high - cells.low) / width - 1e-9)
    return SeenCells(cells.low - n_below * width, width, n_below + n_above)
