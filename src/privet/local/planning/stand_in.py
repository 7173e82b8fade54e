"""Models of made-up people, to see what accuracy may be expected: drawn from the schema, no row is read."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from privet.central.weights.link import softmax
from privet.checks import check_whole, is_number
from privet.errors import ParameterError
from privet.local.channels.cells import Floats, labels_of
from privet.local.channels.channel import Channel
from privet.local.channels.sampling.sampled_fields import SampledFields
from privet.local.planning.answers_plan import checked_class_shares, checked_people, epsilons_beside, stated_epsilon
from privet.local.planning.question_design import questions_of
from privet.local.sampled_forest.sampled_forest import SampledForestClassifier
from privet.rng import public_generator
from privet.schema import Attribute, Numeric, Schema

Ints = NDArray[np.int64]
# How strongly each attribute goes with the class: Cohen's w, the root of chi-square over the number of people.
STRENGTHS = {"weak": 0.1, "medium": 0.2, "strong": 0.4}
_TEST_PEOPLE = 4_000
_MOST_GAIN, _STEPS = 30.0, 50
_ONLY_SAMPLED = "made-up people are asked one question of many; make the channel with FieldSampling"


@dataclass(frozen=True)
class Simulation:
    """How accurate models of made-up people are.

    Attributes
    ----------
    strength : float
        How strongly each attribute goes with the class: Cohen's w.
    majority, without_noise : float
        The accuracy of always guessing the largest class, and of class tables without noise.
    people, epsilons : tuple
        How many answered, and what that cost each of them.
    accuracy, deviation : tuple of tuples
        Mean and standard deviation over draws: a line for each number of people, an entry for each epsilon.
    """

    strength: float
    majority: float
    without_noise: float
    people: tuple[int, ...]
    epsilons: tuple[float, ...]
    accuracy: tuple[tuple[float, ...], ...]
    deviation: tuple[tuple[float, ...], ...]


@dataclass(frozen=True)
class StandIn:
    """Made-up people: attributes are independent in each class.

    ``values`` has the shares of each attribute's values in each class: values x classes.
    """

    schema: Schema
    class_shares: Floats
    values: tuple[Floats, ...]

    @classmethod
    def draw(cls, schema: Schema, class_shares: Floats, strength: float, rng: np.random.Generator) -> Self:
        """Return people whose every attribute goes with the class as strongly as asked."""
        values = (_values(attribute, class_shares, strength, rng) for attribute in schema.attributes)
        return cls(schema, class_shares, tuple(values))

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
        return softmax(scores)

    def table(self, codes: Ints) -> Any:
        """Return the codes as clear rows."""
        import pandas as pd

        columns = zip(self.schema.attributes, codes.T, strict=True)
        return pd.DataFrame({a.name: np.array(labels_of(a), dtype=object)[own] for a, own in columns})


def simulate_answers(
    channel: Channel, people: int | None = None, *, strength: float | str = "medium", class_share: float | None = None,
    draws: int = 5, random_state: int | None = 0,
) -> Simulation:  # fmt: skip
    """Fit the sampled forest to answers of made-up people, and return how accurate it is.

    Parameters
    ----------
    channel : Channel
        What people are asked, by `FieldSampling`; the questions and cells are the same at every epsilon.
    people : int, optional
        About how many answer: a quarter of them and four times as many are tried too.
    strength : float or "weak", "medium", "strong"
        How strongly each attribute goes with the class, as Cohen's w: 0.1, 0.2 and 0.4, which moves even shares of two
        classes by 5, 10 and 20 points.
    class_share : float, optional
        How frequent one class is; by default all are equally frequent.
    draws : int
        How many times people and their answers are drawn.
    random_state : int, optional
        Fixes what is drawn.

    Returns
    -------
    Simulation
    """
    if not isinstance(channel.record, SampledFields):
        raise ParameterError(_ONLY_SAMPLED)
    n, shares = checked_people(channel, people), np.array(checked_class_shares(channel, class_share))
    own, sizes = _strength(strength), tuple(sorted({max(n // 4, 1), n, 4 * n}))
    channels = _at_epsilons(channel, shares.tolist())
    found = np.empty((check_whole("draws", draws, least=2, most=1_000), len(sizes), len(channels)))
    best = np.empty(len(found))
    for draw, rng in enumerate(public_generator(random_state).spawn(len(found))):
        population = StandIn.draw(channel.schema, shares, own, rng)
        test = population.people(_TEST_PEOPLE, rng)[0]
        chances, rows = population.chances(test), population.table(test)
        best[draw] = chances.max(axis=1).mean()
        for i, size in enumerate(sizes):
            codes, labels = population.people(size, rng)
            for j, each in enumerate(channels.values()):
                found[draw, i, j] = _accuracy(_fitted(each, codes, labels, rng), rows, chances)
    mean, deviation = (tuple(map(tuple, each.tolist())) for each in (found.mean(axis=0), found.std(axis=0, ddof=1)))
    return Simulation(own, float(shares.max()), float(best.mean()), sizes, tuple(channels), mean, deviation)


def _strength(strength: float | str) -> float:
    own = STRENGTHS.get(strength, strength) if isinstance(strength, str) else strength
    if not is_number(own) or not 0 < own < 1:
        raise ParameterError(f"strength={strength!r} must be weak, medium, strong, or Cohen's w between 0 and 1")
    return float(own)


def _at_epsilons(channel: Channel, class_shares: Sequence[float]) -> dict[float, Channel]:
    """Return the channel at several epsilons, its own among them."""
    asked, record = questions_of(channel, class_shares), channel.record
    assert isinstance(record, SampledFields)  # noqa: S101 - the caller looked
    own, found = stated_epsilon(channel), {}
    for epsilon in epsilons_beside(own, asked):
        selections = [question.selection if epsilon == own else question.at(epsilon).selection for question in asked]
        questions = tuple(replace(q, selection=s) for q, s in zip(record.questions, selections, strict=True))
        found[epsilon] = replace(channel, record=replace(record, questions=questions))
    return found


def _fitted(channel: Channel, codes: Ints, labels: Ints, rng: np.random.Generator) -> SampledForestClassifier:
    import pandas as pd

    def words(told: Sequence[str], n: int) -> NDArray[np.uint64]:
        return rng.integers(0, 2**64, (len(told), n), dtype=np.uint64)

    assert channel.record is not None  # noqa: S101 - the caller looked
    answers = channel.record.answer(codes, labels, [""] * len(codes), words)
    return SampledForestClassifier(channel=channel).fit(pd.DataFrame(answers))


def _accuracy(model: SampledForestClassifier, rows: Any, chances: Floats) -> float:
    """Return how often the model is right, on average over the labels that such people have."""
    guessed = model.predict_proba(rows).argmax(axis=1)
    return float(chances[np.arange(len(guessed)), guessed].mean())


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
