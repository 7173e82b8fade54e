"""The transformer whose people answer one question of many, or a few."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np

from privet.checks import is_number, is_whole
from privet.errors import ParameterError
from privet.local.channels.channel import Channel
from privet.local.channels.sampling.question import all_questions, size_of
from privet.local.channels.sampling.sampled_fields import SampledFields
from privet.local.channels.secret import Secret
from privet.local.channels.transformers import ChannelTransformer, check_epsilon
from privet.schema import Attribute, Numeric, Schema

# The cells of a number, up to each epsilon: with little of it, the noise of many cells outweighs what they tell.
# Measured on six tables, as are the numbers below.
_CELLS = ((0.75, 4), (3.0, 8), (6.0, 12), (math.inf, 16))
# The finest that cells of growing width become, as a share of the range; a range of whole numbers needs none below 1.
_FINEST = 1e-3
# Pairs are asked for where they have at most this share of e^epsilon cells: the true one is then nearly always sent.
_PAIR_CELLS = 0.25
_MOST_PAIRS = 1_000
# Below this epsilon answers about attributes hardly tell the class balance, and some people are asked for it alone.
_LABEL_BELOW = 2.0


class FieldSampling(ChannelTransformer):
    """Ask each person one question of many, picked by their own coin: an attribute together with the label.

    Parameters
    ----------
    schema : Schema
        What is public about the table.
    epsilon : float
        The local epsilon of all that a person sends.
    ask : int
        How many questions a person is asked, which share the epsilon.
    bins : int, optional
        The cells of a number that declares none, of equal width. By default their number is chosen by the epsilon,
        and they grow with the distance from 0, or from the nearest bound.
    pairs : sequence of pairs of str, optional
        Attributes that are asked for together, besides each by itself. By default all pairs of so few cells that the
        true one is nearly always sent: a few where epsilon is 4, most where it is 8.
    label_alone : bool, optional
        Whether some are asked for their label alone; by default where epsilon is below 2.
    epsilons : mapping of str to float, optional
        Attributes that are hidden more strongly: what all answers that one of them has a part in cost at most.
    wave : str, optional
        The name of the wave, where the same people are asked again; each wave costs them its epsilon.
    person, secret
        As for `UniformNoise`.
    """

    columns = None

    def __init__(
        self, schema: Schema, *, epsilon: float, ask: int = 1, bins: int | None = None,
        pairs: Sequence[Sequence[str]] | None = None, label_alone: bool | None = None,
        epsilons: Mapping[str, float] | None = None, wave: str | None = None, person: str | None = None,
        secret: Secret | None = None,
    ) -> None:  # fmt: skip
        self.schema = schema
        self.epsilon = epsilon
        self.ask = ask
        self.bins = bins
        self.pairs = pairs
        self.label_alone = label_alone
        self.epsilons = epsilons
        self.wave = wave
        self.person = person
        self.secret = secret

    @property
    def channel(self) -> Channel:
        """The channel that the parameters describe."""
        check_epsilon(self.epsilon)
        schema = self.schema.with_attributes([self._in_cells(attribute) for attribute in self._chosen()])
        self._check_names()
        if not is_whole(self.ask) or self.ask < 1:
            raise ParameterError(f"ask={self.ask!r} must be a whole number from 1; change ask")
        epsilon, order = self.epsilon / self.ask, list(schema.names)
        pairs = pairs_for(schema, epsilon, self.epsilons) if self.pairs is None else self.pairs
        fields = [*([name] for name in order), *(sorted(pair, key=order.index) for pair in pairs)]
        if epsilon < _LABEL_BELOW if self.label_alone is None else self.label_alone:
            fields.append([])
        questions = tuple(all_questions(schema, fields, self.epsilon, self.ask, self.epsilons))
        return Channel.of(schema, [], record=SampledFields(schema, questions, self.ask, self.wave))

    def _in_cells(self, attribute: Attribute) -> Attribute:
        """Return a number that declares no cells in some; any other attribute as it is."""
        if not (isinstance(attribute, Numeric) and attribute.is_open):
            return attribute
        return (
            growing_cells(attribute, cells_for(self.epsilon))
            if self.bins is None
            else replace(attribute, bins=self.bins)
        )

    def _check_names(self) -> None:
        """Refuse pairs and epsilons of attributes that the schema does not have."""
        epsilons: Mapping[str, Any] = self.epsilons or {}
        pairs = self.pairs or ()
        for pair in pairs:
            if isinstance(pair, str) or len(set(pair)) != 2 or len(pair) != 2:
                raise ParameterError("pairs must be pairs of two attributes, such as [('age', 'sex')]; correct them")
        unknown = [name for names in (*pairs, epsilons) for name in names if name not in self.schema.names]
        if unknown:
            raise ParameterError(f"the schema has no attribute {unknown[0]!r}; pairs and epsilons must name its own")
        if not all(is_number(epsilon) and epsilon > 0 for epsilon in epsilons.values()):
            raise ParameterError("epsilons must be numbers above 0, by the attribute's name; correct them")


def cells_for(epsilon: float) -> int:
    """Return into how many cells a number is cut that declares none."""
    return next(cells for most, cells in _CELLS if epsilon <= most)


def growing_cells(attribute: Numeric, cells: int) -> Numeric:
    """Return a number in cells that are equal on a log scale of the distance from 0, or from the bound next to it.

    Amounts and counts, of which most are small, so keep their small values apart. Edges have two digits. A range that
    has hardly more whole numbers than cells is cut into equal ones.
    """
    low, high = attribute.low, attribute.high
    if high - low <= cells:
        return replace(attribute, bins=cells)
    middle, unit = min(max(0.0, low), high), max(1.0, _FINEST * (high - low))
    first, last = (math.copysign(math.log1p(abs(end - middle) / unit), end - middle) for end in (low, high))
    steps = np.linspace(first, last, cells + 1)[1:-1].tolist()
    edges = [middle + float(f"{math.copysign(math.expm1(abs(step)) * unit, step):.2g}") for step in steps]
    return replace(attribute, edges=edges)


def pairs_for(schema: Schema, epsilon: float, epsilons: Mapping[str, float] | None = None) -> list[tuple[str, str]]:
    """Return the pairs of attributes that are worth a question of their own at this epsilon; none of too many."""
    own = epsilons or {}
    found = [
        (one.name, other.name)
        for one, other in combinations(schema.attributes, 2)
        if size_of((one, other), len(schema.classes))
        <= _PAIR_CELLS * math.exp(min(epsilon, own.get(one.name, epsilon), own.get(other.name, epsilon)))
    ]
    return found if len(found) <= _MOST_PAIRS else []
