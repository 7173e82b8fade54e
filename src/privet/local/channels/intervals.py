"""A number's interval instead of the number: value-class membership (Agrawal and Srikant 2000)."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from privet.errors import ParameterError
from privet.local.channels.cells import FieldValues, Floats
from privet.local.channels.channel import Channel
from privet.local.channels.field_channel import Draw, Impossible, NumberChannel, number_in
from privet.local.channels.secret import Secret
from privet.local.channels.transformers import ChannelTransformer, check_share
from privet.local.measures.posterior import Histogram, entropy_of
from privet.schema import Attribute, Numeric, Schema

# How far from an interval's middle a number may lie, in widths of an interval: files may round.
_TOLERANCE = 1e-3


@dataclass(frozen=True)
class IntervalMembership(NumberChannel):
    """A number's interval instead of the number; the answer is the interval's midpoint."""

    kinds: ClassVar[dict[str, str]] = {"intervals": "its interval"}

    @property
    def has_own_cells(self) -> bool:
        """Whether answers are about the schema's cells."""
        return True

    @cached_property
    def midpoints(self) -> Floats:
        """The answers."""
        return self.attribute.middles

    def width(self, confidence: float) -> float:
        """Return the width, in the widest interval, that holds the value with this confidence."""
        return confidence * float(np.diff(self.attribute.borders).max())

    def entropy_after(self, prior: Histogram) -> float:
        """Return the entropy of a value that is left when its interval is known."""
        edges = self.attribute.borders
        fine = prior.cut_at(edges)
        cell_of = np.searchsorted(edges, fine.edges[:-1], side="right") - 1
        return fine.entropy - entropy_of(np.asarray(np.bincount(cell_of, fine.shares), dtype=np.float64))

    def answer(self, values: FieldValues, draw: Draw) -> NDArray[Any]:  # noqa: ARG002 - nothing is drawn
        """Return the midpoints of the intervals that the values are in."""
        midpoints: NDArray[Any] = np.append(self.midpoints, np.nan)[values.codes]
        return midpoints

    def impossible(self, values: FieldValues) -> Impossible:
        """Yield numbers that are the middle of no interval."""
        strange = ~are_midpoints(values.numbers, self.attribute)
        yield strange, f"hold a number in {self.name!r} that is the middle of no interval"

    def to_json(self) -> dict[str, Any]:
        """Return the channel as plain JSON values."""
        edges = [float(edge) for edge in self.attribute.cuts]
        return {"field": self.name, "channel": self.kind, "edges": edges}

    @classmethod
    def from_json(cls, data: dict[str, Any], attribute: Attribute) -> Self:  # noqa: ARG003 - the edges are the schema's
        """Read the channel back."""
        return cls(number_in(attribute))


def are_midpoints(numbers: Floats, attribute: Numeric) -> NDArray[np.bool_]:
    """Return which numbers are the middle of a cell, as near as rounding puts them, or missing."""
    answers = attribute.middles
    after = np.clip(np.searchsorted(answers, numbers), 1, max(len(answers) - 1, 1))
    nearest = np.minimum(np.abs(numbers - answers[after - 1]), np.abs(numbers - answers[after % len(answers)]))
    width = (attribute.high - attribute.low) / len(answers)
    close: NDArray[np.bool_] = np.isnan(numbers) | (nearest < _TOLERANCE * width + 4 * np.spacing(np.abs(numbers)))
    return close


class Intervals(ChannelTransformer):
    """Give a number's interval instead of the number.

    Parameters
    ----------
    schema : Schema
        What is public about the table.
    bins : int, optional
        How many intervals of equal width; by default the cells that an attribute declares.
    privacy : float, optional
        Instead of ``bins``: the width that holds a value with ``confidence``, as a share of its range.
    confidence : float
        For ``privacy``.
    columns, person, secret
        As for `UniformNoise`; without noise the secret decides nothing.
    """

    def __init__(
        self, schema: Schema, *, bins: int | None = None, privacy: float | None = None, confidence: float = 0.95,
        columns: Sequence[str] | None = None, person: str | None = None, secret: Secret | None = None,
    ) -> None:  # fmt: skip
        self.schema = schema
        self.bins = bins
        self.privacy = privacy
        self.confidence = confidence
        self.columns = columns
        self.person = person
        self.secret = secret

    @property
    def channel(self) -> Channel:
        """The channel that the parameters describe."""
        numbers = [a for a in self._chosen(Numeric) if isinstance(a, Numeric)]
        return Channel.of(self.schema, [IntervalMembership(self._cut(a)) for a in numbers])

    def _cut(self, attribute: Numeric) -> Numeric:
        if self.bins is not None and self.privacy is not None:
            raise ParameterError("give bins or privacy, not both")
        n_bins = self.bins
        if self.privacy is not None:
            check_share("privacy", self.privacy)
            check_share("confidence", self.confidence)
            n_bins = max(1, math.floor(self.confidence / self.privacy * (1 + 1e-12)))
        if n_bins is None and attribute.is_open:
            raise ParameterError(f"{attribute.name!r} declares no cells; pass bins, or declare its bins or edges")
        return attribute if n_bins is None else replace(attribute, bins=n_bins, edges=None)
