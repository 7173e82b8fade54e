"""The transformer whose people answer one question of many, or a few."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from privet.checks import is_number, is_whole
from privet.errors import ParameterError
from privet.local.channels.channel import Channel
from privet.local.channels.randomized_response import in_cells
from privet.local.channels.sampled_fields import SampledFields
from privet.local.channels.sampled_question import all_questions
from privet.local.channels.secret import Secret
from privet.local.channels.transformers import ChannelTransformer, check_epsilon
from privet.schema import Schema

# The cells of a number, up to each epsilon: with little of it, the noise of many cells outweighs what they tell.
# Measured on six tables, as is how many questions a person is asked.
_CELLS = ((0.75, 4), (3.0, 8), (math.inf, 16))
# Up to this epsilon one more question is worth less than a clearer answer to the first.
_EPSILON_A_QUESTION = 3.0


class FieldSampling(ChannelTransformer):
    """Ask each person one question of many, picked by their own coin: an attribute together with the label.

    Parameters
    ----------
    schema : Schema
        What is public about the table.
    epsilon : float
        The local epsilon of all that a person sends.
    ask : int, optional
        How many questions a person is asked, which share the epsilon; by default it is chosen by the epsilon.
    bins : int, optional
        The cells of a number that declares none; by default they are chosen by the epsilon.
    pairs : sequence of pairs of str
        Attributes that are asked for together, besides each by itself.
    epsilons : mapping of str to float, optional
        Attributes that are hidden more strongly: what all answers that one of them has a part in cost at most.
    wave : str, optional
        The name of the wave, where the same people are asked again; each wave costs them its epsilon.
    person, secret
        As for `UniformNoise`.
    """

    columns = None

    def __init__(
        self, schema: Schema, *, epsilon: float, ask: int | None = None, bins: int | None = None,
        pairs: Sequence[Sequence[str]] = (), epsilons: Mapping[str, float] | None = None, wave: str | None = None,
        person: str | None = None, secret: Secret | None = None,
    ) -> None:  # fmt: skip
        self.schema = schema
        self.epsilon = epsilon
        self.ask = ask
        self.bins = bins
        self.pairs = pairs
        self.epsilons = epsilons
        self.wave = wave
        self.person = person
        self.secret = secret

    @property
    def channel(self) -> Channel:
        """The channel that the parameters describe."""
        check_epsilon(self.epsilon)
        bins = cells_for(self.epsilon) if self.bins is None else self.bins
        attributes = [in_cells(attribute, bins) for attribute in self._chosen()]
        schema = self.schema.with_attributes(attributes)
        self._check_names()
        n_questions = len(attributes) + len(self.pairs)
        ask = questions_for(self.epsilon, n_questions) if self.ask is None else self.ask
        if not is_whole(ask) or not 1 <= ask <= n_questions:
            raise ParameterError(f"ask={ask!r} must be a whole number from 1 to the number of questions, {n_questions}")
        questions = tuple(all_questions(schema, self.epsilon, ask, self.pairs, self.epsilons))
        return Channel.of(schema, [], record=SampledFields(schema, questions, ask, self.wave))

    def _check_names(self) -> None:
        """Refuse pairs and epsilons of attributes that the schema does not have."""
        epsilons: Mapping[str, Any] = self.epsilons or {}
        for pair in self.pairs:
            if isinstance(pair, str) or len(set(pair)) != 2 or len(pair) != 2:
                raise ParameterError("pairs must be pairs of two attributes, such as [('age', 'sex')]; correct them")
        unknown = [name for names in (*self.pairs, epsilons) for name in names if name not in self.schema.names]
        if unknown:
            raise ParameterError(f"the schema has no attribute {unknown[0]!r}; pairs and epsilons must name its own")
        if not all(is_number(epsilon) and epsilon > 0 for epsilon in epsilons.values()):
            raise ParameterError("epsilons must be numbers above 0, by the attribute's name; correct them")


def questions_for(epsilon: float, n_questions: int) -> int:
    """Return how many questions a person is asked: one, and more where the epsilon is large."""
    return min(max(int(epsilon // _EPSILON_A_QUESTION), 1), n_questions)


def cells_for(epsilon: float) -> int:
    """Return into how many cells a number is cut that declares none."""
    return next(cells for most, cells in _CELLS if epsilon <= most)
