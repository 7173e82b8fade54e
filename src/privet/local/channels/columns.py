"""What happens to one field before it leaves its owner. The argument for the local epsilons is in columns.md.

A column's channel is public. It says how a person's value and 64 random bits become the answer, and so how likely every
answer is for every value; nothing about anybody is in it.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray

from privet.errors import ChannelError, ParameterError, PrivetError
from privet.local.channels.discrete_distribution import TOTAL_WEIGHT, DiscreteDistribution, log_ratio
from privet.local.channels.noise_distribution import DISTRIBUTIONS, Laplace, NoiseDistribution
from privet.local.channels.random_answer import RandomAnswer, answer_from_json
from privet.schema import Attribute, Categorical, Numeric
from privet.schema.attribute import Label

# Numbers are put on a grid of so many steps over their range before noise is added: a floating-point sum would give
# away its terms in the last digits. Where the noise is wider than the range, fewer steps are as good.
GRID, LEAST_GRID = 4_096, 64
_MOST_RANGES = 1_000


@dataclass(frozen=True)
class Clear:
    """The field is given as it is."""

    attribute: Attribute
    kind: ClassVar[str] = "clear"
    local_epsilon: ClassVar[float] = math.inf

    def to_json(self) -> dict[str, Any]:
        """Return the channel as plain JSON values."""
        return {"field": self.attribute.name, "channel": self.kind}


@dataclass(frozen=True)
class AddedNoise:
    """A number plus noise of a public distribution."""

    attribute: Numeric
    noise: NoiseDistribution

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
        clamped = self.n_steps if isinstance(self.noise, Laplace) else 0
        return DiscreteDistribution.of_noise(self.noise, self.step, self.reach + clamped)

    @cached_property
    def local_epsilon(self) -> float:
        """The logarithm of how much likelier an answer can be for one value than for another; often infinite.

        Only Laplace's distribution bounds it; see columns.md.
        """
        if not isinstance(self.noise, Laplace):
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

    def codes(self, numbers: NDArray[np.float64]) -> NDArray[np.int64]:
        """Return where on the grid numbers lie, -1 for NaN."""
        clipped = np.clip(numbers, self.attribute.low, self.attribute.high)
        places = np.rint((clipped - self.attribute.low) / self.step)
        # Where the bounds are next to zero a step is rounded, and the last place might lie beyond the grid.
        return np.nan_to_num(np.minimum(places, self.n_steps), nan=-1.0).astype(np.int64)

    def answers(self, codes: NDArray[np.int64], words: NDArray[np.uint64]) -> NDArray[np.float64]:
        """Return the answers of people with values at ``codes``, each with 64 random bits; NaN for none."""
        places = np.clip(codes + self.distribution.draw(words), -self.reach, self.n_steps + self.reach)
        return np.where(codes < 0, np.nan, self.attribute.low + places * self.step)

    def chance_below(self, steps: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the chance that the noise is fewer than so many steps of the grid."""
        upto = np.concatenate([[0.0], self.distribution.upto.astype(np.float64) / TOTAL_WEIGHT, [1.0]])
        chances: NDArray[np.float64] = upto[np.clip(steps - self.distribution.first, 0, len(upto) - 1)]
        return chances

    def mass(self, true_edges: NDArray[np.float64], seen_edges: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return how likely an answer falls in each seen cell (a row) for a value from each true cell (a column).

        The value is taken as anywhere in its cell with equal chance. The outer edges of what is seen may be infinite.
        """
        low, high = true_edges[:-1], true_edges[1:]
        finite = np.isfinite(seen_edges)
        distance = np.where(finite, seen_edges, 0.0)[:, None]
        mean_cdf = (self.noise.cdf_integral(distance - low) - self.noise.cdf_integral(distance - high)) / (high - low)
        mean_cdf = np.where(finite[:, None], mean_cdf, np.heaviside(seen_edges, 0.0)[:, None])
        return np.maximum(np.diff(mean_cdf, axis=0), 0.0)

    def to_json(self) -> dict[str, Any]:
        """Return the channel as plain JSON values."""
        return {"field": self.attribute.name, "channel": self.kind, "scale": self.noise.scale}

    @property
    def _range(self) -> float:
        return self.attribute.high - self.attribute.low


@dataclass(frozen=True)
class IntervalMembership:
    """A number's interval instead of the number; the answer is the interval's midpoint."""

    attribute: Numeric
    kind: ClassVar[str] = "intervals"
    local_epsilon: ClassVar[float] = math.inf

    @cached_property
    def midpoints(self) -> NDArray[np.float64]:
        """The answers."""
        return midpoints_of(self.attribute)

    def width(self, confidence: float) -> float:
        """Return the width, in the narrowest interval, that holds the value with this confidence."""
        return confidence * float(np.diff(edges_of(self.attribute)).max())

    def to_json(self) -> dict[str, Any]:
        """Return the channel as plain JSON values."""
        edges = [float(edge) for edge in self.attribute.cuts]
        return {"field": self.attribute.name, "channel": self.kind, "edges": edges}


ColumnChannel: TypeAlias = Clear | AddedNoise | IntervalMembership | RandomAnswer


def edges_of(attribute: Numeric) -> NDArray[np.float64]:
    """Return the borders of all cells, the bounds with them."""
    return np.array([attribute.low, *attribute.cuts, attribute.high])


def midpoints_of(attribute: Numeric) -> NDArray[np.float64]:
    """Return the middle of every cell."""
    edges = edges_of(attribute)
    middle: NDArray[np.float64] = (edges[:-1] + edges[1:]) / 2
    return middle


def labels_of(attribute: Attribute) -> list[Label]:
    """Return what stands for each code in a table: the category, or the middle of the cell."""
    if isinstance(attribute, Categorical):
        return list(attribute.categories)
    return [float(middle) for middle in midpoints_of(attribute)]


def column_from_json(data: object, attribute: Attribute) -> ColumnChannel:
    """Read a column's channel back; what `to_json` could not have written is an error."""
    if not isinstance(data, Mapping) or data.get("field") != attribute.name:
        raise ChannelError(f"the channel says nothing about the field {attribute.name!r}; the file is damaged")
    try:
        column = _read(dict(data), attribute)
    except (PrivetError, TypeError, KeyError) as error:
        raise ChannelError(f"the channel of {attribute.name!r} is damaged; fetch the file again") from error
    if column.to_json() != data:
        raise ChannelError(f"the channel of {attribute.name!r} is not as privet writes it; the file was changed")
    return column


def _read(data: dict[str, Any], attribute: Attribute) -> ColumnChannel:
    kind = data["channel"]
    if kind == Clear.kind:
        return Clear(attribute)
    if kind == RandomAnswer.kind:
        return answer_from_json(data, attribute.name, attribute.n_values)
    if not isinstance(attribute, Numeric):
        raise ChannelError(f"{attribute.name!r} has categories, to which no number can be added")
    if kind == IntervalMembership.kind:
        return IntervalMembership(attribute)
    return AddedNoise(attribute, DISTRIBUTIONS[kind](data["scale"]))
