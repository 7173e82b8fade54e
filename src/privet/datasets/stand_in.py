"""A table of made-up people, drawn from a schema and what its owner states: no row is read."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from privet.checks import is_number
from privet.errors import ParameterError
from privet.rng import public_generator
from privet.schema import Attribute, Date, Label, Numeric, Schema
from privet.schema.attribute import labels_of

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
# How strongly an attribute goes with the class: a word or Cohen's w.
Strength: TypeAlias = float | str
# Cohen's w, the root of chi-square over the number of people.
STRENGTHS = {"weak": 0.1, "medium": 0.2, "strong": 0.4}
_MOST_GAIN, _STEPS = 30.0, 50
_ROUNDING = 1e-6
# Of a search for strengths by what they let be guessed.
_LEAST_W, _MOST_W, _GAIN_STEPS, _ASKED = 0.005, 0.95, 14, 2_000


@dataclass(frozen=True)
class StandIn:
    """Made-up people: attributes are independent in each class.

    ``values`` has the shares of each attribute's values in each class: values x classes.
    """

    schema: Schema
    class_shares: Floats
    values: tuple[Floats, ...]

    @classmethod
    def draw(
        cls, schema: Schema, class_shares: Floats, strength: float | Sequence[float], rng: np.random.Generator
    ) -> Self:
        """Return people whose attributes go with the class as strongly as asked, each alike or each its own."""
        each = np.broadcast_to(np.asarray(strength, dtype=np.float64), len(schema.attributes)).tolist()
        asked = zip(schema.attributes, each, strict=True)
        return cls(schema, class_shares, tuple(_values(a, class_shares, own, rng) for a, own in asked))

    @classmethod
    def draw_as_good(
        cls, schema: Schema, class_shares: Floats, strength: Sequence[float], best: float, rng: np.random.Generator
    ) -> "StandIn":
        """Return people of whom ``best`` can be guessed right at most; ``strength`` says which attribute tells more.

        Where no strength is enough, they are as easily guessed as such people can be.
        """
        seed = int(rng.integers(2**63))

        def drawn(gain: float) -> StandIn:
            each = np.clip(gain * np.asarray(strength), _LEAST_W, _MOST_W).tolist()
            return cls.draw(schema, class_shares, each, public_generator(seed))

        low, high = math.log(_LEAST_W / max(strength)), math.log(_MOST_W / min(strength))
        for _ in range(_GAIN_STEPS):
            middle = (low + high) / 2
            low, high = (middle, high) if drawn(math.exp(middle)).best(seed) < best else (low, middle)
        return drawn(math.exp(high))

    def best(self, seed: int) -> float:
        """Return how many of 2,000 people can be guessed right at most."""
        codes, _ = self.people(_ASKED, public_generator(seed))
        return float(self.chances(codes).max(axis=1).mean())

    def people(self, n: int, rng: np.random.Generator) -> tuple[Ints, Ints]:
        """Return the codes and labels of ``n`` of them."""
        labels = rng.choice(len(self.class_shares), n, p=self.class_shares)
        codes = np.empty((n, len(self.values)), dtype=np.int64)
        for a, shares in enumerate(self.values):
            upper = np.cumsum(shares, axis=0)[:-1]
            codes[:, a] = (rng.random(n)[:, None] >= upper[:, labels].T).sum(axis=1)
        return codes, labels

    def chances(self, codes: Ints) -> Floats:
        """Return how likely each class is for these people: what could be known at most."""
        scores = np.log(self.class_shares) + sum(
            np.log(np.maximum(shares, 1e-300))[codes[:, a]] for a, shares in enumerate(self.values)
        )
        powers = np.exp(scores - scores.max(axis=1, keepdims=True))
        chances: Floats = powers / powers.sum(axis=1, keepdims=True)
        return chances

    def table(self, codes: Ints) -> Any:
        """Return the codes as clear rows."""
        import pandas as pd

        columns = zip(self.schema.attributes, codes.T, strict=True)
        return pd.DataFrame({a.name: np.array(_written(a), dtype=object)[own] for a, own in columns})


def _written(attribute: Attribute) -> list[Label]:
    """Return what stands for each code in a table that a fit takes."""
    if isinstance(attribute, Date):
        return [attribute.written(day) for day in attribute.middles.tolist()]
    return labels_of(attribute)


def checked_strength(strength: object) -> float:
    """Return Cohen's w, or refuse what is none."""
    own = STRENGTHS.get(strength, strength) if isinstance(strength, str) else strength
    if not is_number(own) or not 0 < own < 1:
        raise ParameterError(f"strength={strength!r} must be weak, medium, strong, or Cohen's w between 0 and 1")
    return float(own)


def checked_shares(schema: Schema, class_shares: Mapping[Label, float] | None) -> Floats:
    """Return how frequent each class is stated to be, in the schema's order; by default all alike.

    Classes that are not named have equal parts of what is left.
    """
    stated = dict(class_shares or {})
    unknown = [label for label in stated if label not in schema.classes]
    if unknown:
        raise ParameterError(
            f"class_shares names {unknown[0]!r}, which is no class; choose from {list(schema.classes)}"
        )
    if not all(is_number(share) and 0 < share < 1 for share in stated.values()):
        raise ParameterError(f"class_shares={stated!r} must be shares of all rows, each between 0 and 1")
    left, others = 1 - math.fsum(stated.values()), len(schema.classes) - len(stated)
    if (others and left <= 0) or (not others and abs(left) > _ROUNDING):
        raise ParameterError(f"class_shares={stated!r} must add up to 1, or leave something to the classes not named")
    shares = np.array([stated.get(label, left / max(others, 1)) for label in schema.classes])
    scaled: Floats = shares / shares.sum()
    return scaled


def _values(attribute: Attribute, class_shares: Floats, strength: float, rng: np.random.Generator) -> Floats:
    """Return the shares of an attribute's values in each class; what cells of a number say rises or falls with it."""
    n = attribute.n_values
    frequent, towards = rng.dirichlet(np.ones(n)), rng.random((n, len(class_shares))) - 0.5
    if isinstance(attribute, Numeric):
        towards = np.linspace(-1, 1, n)[:, None] * towards[:1]
    # Else a large gain would draw all classes to the same values.
    towards = towards - towards.mean(axis=1, keepdims=True)
    low, high = 0.0, _MOST_GAIN
    for _ in range(_STEPS):
        middle = (low + high) / 2
        weaker = cohens_w(_tilted(frequent, middle * towards), class_shares) < strength
        low, high = (middle, high) if weaker else (low, middle)
    return _tilted(frequent, high * towards)


def _tilted(frequent: Floats, gain: Floats) -> Floats:
    powers = frequent[:, None] * np.exp(gain - gain.max(axis=0))
    shares: Floats = powers / powers.sum(axis=0)
    return shares


def cohens_w(values: Floats, class_shares: Floats) -> float:
    """Return how strongly values go with the class: the root of chi-square over the number of people."""
    together = values * class_shares
    expected = together.sum(axis=1, keepdims=True) * class_shares
    return math.sqrt(float(((together - expected) ** 2 / np.maximum(expected, 1e-300)).sum()))
