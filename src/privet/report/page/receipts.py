"""The receipts of a guarantee, read out: which mechanism released what, with how much noise, at which epsilon."""

import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from fractions import Fraction
from typing import Any

from privet.central.weights.released_weights import DIGITS, LATER_DIGITS
from privet.errors import ParameterError
from privet.privacy import events
from privet.privacy.accounting import stated_delta, stated_epsilon
from privet.privacy.mechanisms.deviation import standard_deviation

_NAMES = {
    "NoNoise": "no noise: exact values",
    "DiscreteLaplace": "discrete Laplace noise",
    "NoiseShares": "discrete Laplace noise in shares",
    "SurvivingNoiseShares": "discrete Laplace noise in shares",
    "DiscreteGaussian": "discrete Gaussian noise",
    "PermuteAndFlip": "permute-and-flip selection",
    "ObjectivePerturbation": "Laplace noise in the objective",
    "KNormObjective": "K-norm noise in the objective",
    "GaussianObjective": "normal noise in the objective",
    "NormalObjective": "normal noise in the objective",
    "Sequential": "the same rows: epsilons add up",
    "Jointly": "the same rows: one epsilon and delta for all",
    "Parallel": "disjoint rows: the largest epsilon counts",
}
_VOID = {"Seeded": "from a seed and so not secret", "Unproven": "epsilon not proven"}


@dataclass(frozen=True)
class Receipt:
    """One event, alone or around others; ``depth`` says how deep it stands.

    ``asked`` is the epsilon that was asked for where the release does not keep to it, and ``epsilon`` is infinite.
    ``epsilon`` is None for a release that has none of its own and is paid for with those around it. ``delta`` is what
    is stated beside epsilon, 0 except for normal noise.
    """

    depth: int
    mechanism: str
    name: str
    what: str
    sensitivity: float | None
    scale: float | None
    standard_deviation: float | None
    epsilon: float | None
    n_parts: int
    asked: float | None = None
    delta: float = 0.0

    @property
    def is_choice(self) -> bool:
        """Whether something was chosen by score; its sensitivity is then in steps of the score."""
        return self.mechanism == "PermuteAndFlip"

    @property
    def is_fine(self) -> bool:
        """Whether its numbers are the last digits of weights, in steps of their grid."""
        return self.what in (DIGITS, LATER_DIGITS)

    def to_json(self) -> dict[str, Any]:
        """Return plain values."""
        return asdict(self)


def receipts(event: events.Event, depth: int = 0) -> Iterator[Receipt]:
    """Yield ``event`` and everything in it, from the outside in."""
    parts = _parts(event)
    yield replace(_read(event), depth=depth, n_parts=len(parts))
    for part in parts:
        yield from receipts(part, depth + 1)


def folded(event: events.Event, depth: int = 0) -> Iterator[tuple[int, Receipt]]:
    """Yield the same with equal parts of a composition as one, and how many there are."""
    parts = _parts(event)
    yield 1, replace(_read(event), depth=depth, n_parts=len(parts))
    for part, times in Counter(parts).items():
        (_, first), *below = folded(part, depth + 1)
        yield times, first
        yield from below


def single_releases(event: events.Event) -> list[Receipt]:
    """Return what was released, without the compositions around it."""
    return [receipt for receipt in receipts(event) if not receipt.n_parts]


def batch_epsilons(event: events.Event) -> list[float]:
    """Return the epsilon of each batch of rows."""
    batches = event.parts if isinstance(event, events.Parallel) else (event,)
    return [stated_epsilon(batch) for batch in batches]


def _read(event: events.Event) -> Receipt:
    if isinstance(event, events.Seeded | events.Unproven):
        return _void(event)
    fields = vars(event)
    squared = fields.get("sensitivity_squared")
    scale = fields.get("scale", fields.get("sigma"))
    kind = type(event).__name__
    return Receipt(
        depth=0,
        mechanism=kind,
        name=_NAMES.get(kind, kind),
        what=str(fields.get("what", fields.get("because", ""))),
        sensitivity=math.sqrt(squared) if squared is not None else fields.get("sensitivity"),
        scale=float(scale) if isinstance(scale, Fraction) else None,
        standard_deviation=_deviation(event),
        epsilon=None if isinstance(event, events.NormalObjective) else stated_epsilon(event),
        n_parts=0,
        delta=stated_delta(event),
    )


def _void(event: events.Seeded | events.Unproven) -> Receipt:
    """Return the release itself, named with what voids its epsilon: there may be hundreds, so each has one line."""
    inside = _read(event.part)
    asked = inside.epsilon if inside.asked is None else inside.asked
    name = f"{inside.name}, {_VOID[type(event).__name__]}"
    return replace(inside, name=name, epsilon=stated_epsilon(event), asked=asked)


def _parts(event: events.Event) -> tuple[events.Event, ...]:
    if isinstance(event, events.Seeded | events.Unproven):
        return _parts(event.part)
    return event.parts if isinstance(event, events.Sequential | events.Jointly | events.Parallel) else ()


def _deviation(event: events.Event) -> float | None:
    try:
        return None if _parts(event) else standard_deviation(event)
    except ParameterError:  # a choice adds no noise to a value
        return None
