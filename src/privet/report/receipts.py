"""The receipts of a guarantee, read out: which mechanism released what, with how much noise, at which price."""

import math
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from fractions import Fraction
from typing import Any

from privet.errors import ParameterError
from privet.privacy import events
from privet.privacy.accounting import pure_epsilon
from privet.privacy.mechanisms.spread import standard_deviation

_NAMES = {
    "NoNoise": "no noise: exact values",
    "DiscreteLaplace": "discrete Laplace noise",
    "DiscreteGaussian": "discrete Gaussian noise",
    "PermuteAndFlip": "permute-and-flip selection",
    "Seeded": "noise from a seed, which can be taken off again",
    "Sequential": "the same rows: costs add up",
    "Parallel": "disjoint rows: the dearest counts",
}


@dataclass(frozen=True)
class Receipt:
    """One event, alone or around others; ``depth`` says how deep it stands."""

    depth: int
    mechanism: str
    name: str
    what: str
    sensitivity: float | None
    scale: float | None
    standard_deviation: float | None
    epsilon: float
    n_parts: int

    def to_json(self) -> dict[str, Any]:
        """Return plain values."""
        return asdict(self)


def receipts(event: events.Event, depth: int = 0) -> Iterator[Receipt]:
    """Yield ``event`` and everything in it, from the outside in."""
    parts = _parts(event)
    yield replace(_read(event), depth=depth, n_parts=len(parts))
    for part in parts:
        yield from receipts(part, depth + 1)


def single_releases(event: events.Event) -> list[Receipt]:
    """Return what was released, without the compositions around it."""
    return [receipt for receipt in receipts(event) if not receipt.n_parts]


def _read(event: events.Event) -> Receipt:
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
        epsilon=pure_epsilon(event),
        n_parts=0,
    )


def _parts(event: events.Event) -> tuple[events.Event, ...]:
    alone = (event.part,) if isinstance(event, events.Seeded) else ()
    return event.parts if isinstance(event, events.Sequential | events.Parallel) else alone


def _deviation(event: events.Event) -> float | None:
    try:
        return None if _parts(event) else standard_deviation(event)
    except ParameterError:  # a choice adds no noise to a value
        return None
