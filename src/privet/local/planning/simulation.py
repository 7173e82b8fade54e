"""Models of made-up people, to see what accuracy may be expected: drawn from the schema, no row is read."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privet.checks import check_whole
from privet.datasets.stand_in import StandIn, checked_strength
from privet.errors import ParameterError
from privet.local.channels.cells import Floats
from privet.local.channels.channel import Channel
from privet.local.channels.sampling.sampled_fields import SampledFields
from privet.local.planning.answers_plan import checked_class_shares, checked_people, epsilons_beside, stated_epsilon
from privet.local.planning.question_design import questions_of
from privet.local.sampled_forest.sampled_forest import SampledForestClassifier
from privet.rng import public_generator

Ints = NDArray[np.int64]
_TEST_PEOPLE = 4_000
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
    own, sizes = checked_strength(strength), tuple(sorted({max(n // 4, 1), n, 4 * n}))
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
