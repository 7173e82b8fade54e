"""Receipts: what was released, by which mechanism, with which parameters.

An event is an immutable record of one release. It does not say what the release costs; `accounting` does. Events nest:
releases about the same rows are `Sequential`, or `Jointly` where a delta is stated for all of them at once, and
releases about disjoint rows are `Parallel`. The meaning of an existing event never changes, because model files and
ledgers hold events for years.
"""

import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias

from privet.errors import ModelFileError
from privet.rng import NoiseSource


@dataclass(frozen=True)
class NoNoise:
    """Exact values were released: epsilon is infinite."""

    what: str


@dataclass(frozen=True)
class DiscreteLaplace:
    """Integers plus integer noise X with P(X = x) proportional to exp(-|x| / scale).

    ``epsilon`` was requested; noise of ``scale >= sensitivity / epsilon`` was drawn.
    """

    what: str
    epsilon: float
    sensitivity: int
    scale: Fraction


@dataclass(frozen=True)
class NoiseShares:
    """A sum of ``parties`` parts, each with a share of integer noise; ``honest`` shares make a `DiscreteLaplace`.

    ``epsilon`` was requested; the noise of ``honest`` shares has ``scale >= sensitivity / epsilon``.
    """

    what: str
    epsilon: float
    sensitivity: int
    scale: Fraction
    honest: int
    parties: int


@dataclass(frozen=True)
class SurvivingNoiseShares(NoiseShares):
    """The `NoiseShares` of a sum of which up to ``dropouts`` of ``roster`` parties could vanish; ``parties`` count."""

    roster: int
    dropouts: int


@dataclass(frozen=True)
class DiscreteGaussian:
    """Integers plus integer noise X with P(X = x) proportional to exp(-x^2 / (2 sigma^2)).

    ``rho`` of zero-concentrated DP was requested; noise of ``sigma^2 >= sensitivity_squared / (2 rho)`` was drawn.
    """

    what: str
    rho: float
    sensitivity_squared: int
    sigma: Fraction


@dataclass(frozen=True)
class PermuteAndFlip:
    """One of ``candidates`` was chosen by score, at ``rate <= epsilon / (2 sensitivity)`` per unit of score.

    A ``monotone`` score moves in one direction only when a row is added. Its rate may be twice as high.
    """

    what: str
    epsilon: float
    sensitivity: int
    candidates: int
    monotone: bool
    rate: Fraction


@dataclass(frozen=True)
class ObjectivePerturbation:
    """The minimiser of an objective with Laplace noise, each tree's its own, as in files of earlier versions.

    A row's gradient moves its log density by at most ``linear``.

    ``epsilon`` was requested, for ``rows`` rows at once; for one row,
    `objective_perturbation.pure_objective_epsilon` follows from ``linear`` and ``curvature``.
    """

    what: str
    epsilon: float
    linear: float
    curvature: float
    classes: int
    rows: int


@dataclass(frozen=True)
class KNormObjective(ObjectivePerturbation):
    """The same with K-norm noise, at the same price: trees of about as many leaves share theirs.

    Whatever accounts for the one accounts for the other.
    """


@dataclass(frozen=True)
class GaussianObjective:
    """The minimiser of an objective with normal noise in ``numbers`` directions; a row touches ``trees`` of them.

    ``delta`` at ``epsilon`` was requested; `objective_perturbation.gaussian_objective_delta` gives that of the drawn
    noise.
    """

    what: str
    epsilon: float
    delta: float
    sigma: Fraction
    curvature: float
    trees: int
    classes: int
    numbers: int


@dataclass(frozen=True)
class NormalObjective:
    """The minimiser of an objective with normal noise in ``numbers`` directions; a row touches ``trees`` of them.

    For a unit of ``rows`` rows. It has no cost of its own: `Jointly` states that of a whole fit.
    """

    what: str
    sigma: Fraction
    curvature: float
    trees: int
    classes: int
    numbers: int
    rows: int


@dataclass(frozen=True)
class Seeded:
    """A release whose noise came from a seed and can be subtracted: epsilon is infinite."""

    part: "Event"


@dataclass(frozen=True)
class Unproven:
    """A release of a method as in its paper, whose epsilon is claimed but not proven. Epsilon counts as infinite."""

    part: "Event"
    because: str


@dataclass(frozen=True)
class Sequential:
    """Releases about the same rows: their costs add up."""

    parts: tuple["Event", ...]


@dataclass(frozen=True)
class Jointly:
    """Releases about the same rows, accounted for together: some `NormalObjective`, the others of pure epsilon.

    ``delta`` at ``epsilon`` was requested; `joint_loss.joint_delta` gives that of what was really drawn.
    """

    parts: tuple["Event", ...]
    epsilon: float
    delta: float


@dataclass(frozen=True)
class Parallel:
    """Releases about disjoint rows: the largest cost counts. ``because`` says why they are disjoint."""

    parts: tuple["Event", ...]
    because: str


Event: TypeAlias = (
    NoNoise
    | DiscreteLaplace
    | NoiseShares
    | SurvivingNoiseShares
    | DiscreteGaussian
    | PermuteAndFlip
    | ObjectivePerturbation
    | KNormObjective
    | GaussianObjective
    | NormalObjective
    | Seeded
    | Unproven
    | Sequential
    | Jointly
    | Parallel
)

_EVENTS = (
    NoNoise, DiscreteLaplace, NoiseShares, SurvivingNoiseShares, DiscreteGaussian, PermuteAndFlip,
    ObjectivePerturbation, KNormObjective, GaussianObjective, NormalObjective, Seeded, Unproven, Sequential, Jointly,
    Parallel,
)  # fmt: skip
_KINDS: dict[str, Any] = {kind.__name__: kind for kind in _EVENTS}

# Releases compose to a small depth. A file that nests deeper was not written by privet.
_MAX_DEPTH = 32


def drawn_from(noise: NoiseSource, event: Event) -> Event:
    """Return the receipt of a release with noise from ``noise``."""
    return event if noise.secure else Seeded(event)


def releases(event: Event) -> Iterator[Event]:
    """Yield ``event`` and all events inside it."""
    yield event
    parts = (
        event.parts
        if isinstance(event, Sequential | Jointly | Parallel)
        else (event.part,)
        if isinstance(event, Seeded | Unproven)
        else ()
    )
    for part in parts:
        yield from releases(part)


def to_json(event: Event) -> dict[str, Any]:
    """Return ``event`` as plain JSON values."""
    fields = {name: _plain(value) for name, value in vars(event).items()}
    return {"event": type(event).__name__, **fields}


def from_json(data: object, *, _depth: int = 0) -> Event:
    """Read an event. Anything that `to_json` could not have written is an error."""
    if not isinstance(data, Mapping) or str(data.get("event")) not in _KINDS or _depth > _MAX_DEPTH:
        raise ModelFileError(
            "the guarantee holds a receipt of an unknown kind; the file is damaged or of a later version"
        )
    kind = _KINDS[str(data["event"])]
    wanted = set(kind.__dataclass_fields__)
    if set(data) != wanted | {"event"}:
        raise ModelFileError(f"a {kind.__name__} receipt must hold {sorted(wanted)}; the file is damaged")
    event: Event = kind(**{name: _READERS[name](data[name], _depth) for name in wanted})
    return event


def _plain(value: object) -> object:
    if isinstance(value, Fraction):
        return f"{value.numerator}/{value.denominator}"
    if isinstance(value, _EVENTS):
        return to_json(value)
    if isinstance(value, tuple):
        return [to_json(part) for part in value]
    return value


def _damaged(name: str) -> ModelFileError:
    return ModelFileError(f"a receipt's {name} is not what privet writes there; the file is damaged")


def _text(name: str) -> Any:
    def read(value: object, _depth: int) -> str:
        if not isinstance(value, str) or len(value) > 1000:
            raise _damaged(name)
        return value

    return read


def _positive(name: str) -> Any:
    def read(value: object, _depth: int) -> float:
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 < value <= sys.float_info.max:
            raise _damaged(name)
        return float(value)

    return read


def _whole(name: str, least: int = 1) -> Any:
    def read(value: object, _depth: int) -> int:
        if isinstance(value, bool) or not isinstance(value, int) or not least <= value < 2**63:
            raise _damaged(name)
        return value

    return read


def _fraction(name: str) -> Any:
    def read(value: object, _depth: int) -> Fraction:
        top, _, bottom = value.partition("/") if isinstance(value, str) and len(value) < 60 else ("", "", "")
        if not (top.isdecimal() and bottom.isdecimal() and int(top) > 0 and int(bottom) > 0):
            raise _damaged(name)
        return Fraction(int(top), int(bottom))

    return read


def _flag(value: object, _depth: int) -> bool:
    if not isinstance(value, bool):
        raise _damaged("monotone")
    return value


def _parts(value: object, depth: int) -> tuple[Event, ...]:
    if not isinstance(value, list) or not value:
        raise _damaged("parts")
    return tuple(from_json(part, _depth=depth + 1) for part in value)


_READERS: dict[str, Any] = {
    "what": _text("what"),
    "because": _text("because"),
    "epsilon": _positive("epsilon"),
    "delta": _positive("delta"),
    "rho": _positive("rho"),
    "curvature": _positive("curvature"),
    "linear": _positive("linear"),
    "classes": _whole("classes", least=2),
    "rows": _whole("rows"),
    "trees": _whole("trees"),
    "numbers": _whole("numbers"),
    "sensitivity": _whole("sensitivity"),
    "sensitivity_squared": _whole("sensitivity_squared"),
    "candidates": _whole("candidates"),
    "honest": _whole("honest"),
    "parties": _whole("parties"),
    "roster": _whole("roster"),
    "dropouts": _whole("dropouts"),
    "scale": _fraction("scale"),
    "sigma": _fraction("sigma"),
    "rate": _fraction("rate"),
    "monotone": _flag,
    "part": lambda value, depth: from_json(value, _depth=depth + 1),
    "parts": _parts,
}
