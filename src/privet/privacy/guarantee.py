"""The guarantee of a model, as one record and one sentence.

The record says who is protected, at which epsilon and delta, and what they do not cover. It is made from the receipts
of the mechanisms, is stored in the model file, and is checked against its receipts when the file is read.
"""

import math
import platform
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from decimal import ROUND_CEILING, Decimal
from functools import cache
from importlib.metadata import version
from typing import Any, Self

import numpy as np

from privet.errors import ModelFileError, ParameterError
from privet.privacy import events
from privet.privacy.accounting import epsilon_at, stated_delta
from privet.privacy.unit import EACH_ROW, Unit

SOUND, PAPER, NOT_PRIVATE = "sound", "paper", "not private"
_NOT_PRIVATE_BECAUSE = {
    events.NoNoise: "it was fitted with epsilon=inf, so exact numbers were released",
    events.Seeded: "its noise came from a seed (unsafe_seeded_noise=True) and can be taken off again",
}
CURATOR = "the curator who held the rows"


@cache
def _versions() -> dict[str, str]:
    return {"privet": version("privet"), "numpy": np.__version__, "python": platform.python_version()}


def installed_versions() -> dict[str, str]:
    """Return the versions of the installed software."""
    return dict(_versions())


@dataclass(frozen=True)
class Guarantee:
    """What a model promises.

    Attributes
    ----------
    epsilon, delta : float
        The cost of all releases together; infinite if the model is not private.
    neighbours : str
        Which two tables the model must not distinguish.
    unit : str
        The unit of privacy: a row, or all rows with the same value in the column of this name.
    max_rows : int
        The largest number of rows that were used of each unit.
    trust : str
        Who must be trusted.
    public : tuple of str
        What was declared public beforehand.
    leaks : tuple of str
        What was read from the rows without noise, because the caller explicitly allowed it. Nothing protects it.
    assumptions : tuple of str
        What the caller asserts and nobody can check.
    mode : str
        ``"sound"``, ``"not private"``, or ``"paper"`` for a method as in its paper, where nothing is proven.
    reason : str
        Why the mode is not sound; empty if it is.
    event : Event
        The receipts.
    versions : dict
        The software that made the model.
    """

    epsilon: float
    delta: float
    event: events.Event
    public: tuple[str, ...]
    leaks: tuple[str, ...] = ()
    assumptions: tuple[str, ...] = ()
    neighbours: str = EACH_ROW.neighbours
    unit: str = EACH_ROW.name
    max_rows: int = EACH_ROW.max_rows
    trust: str = CURATOR
    mode: str = SOUND
    reason: str = ""
    versions: dict[str, str] = field(default_factory=installed_versions)

    @classmethod
    def from_event(
        cls,
        event: events.Event,
        *,
        public: Sequence[str],
        leaks: Sequence[str] = (),
        assumptions: Sequence[str] = (),
        unit: Unit = EACH_ROW,
        trust: str = CURATOR,
    ) -> Self:
        """Return the guarantee of ``event``. Exact values and noise from a seed guarantee nothing."""
        delta = stated_delta(event)
        epsilon = epsilon_at(event, delta)
        kinds = {type(release) for release in events.releases(event)}
        reasons = [reason for kind, reason in _NOT_PRIVATE_BECAUSE.items() if kind in kinds]
        mode = NOT_PRIVATE
        unproven = {release.because for release in events.releases(event) if isinstance(release, events.Unproven)}
        if not reasons and unproven:
            mode, reasons = PAPER, sorted(unproven)
        if math.isinf(epsilon) and not reasons:
            reasons = ["no finite epsilon bounds what it gives away"]
        return cls(
            epsilon, delta, event, tuple(public), tuple(leaks), tuple(assumptions),
            neighbours=unit.neighbours, unit=unit.name, max_rows=unit.max_rows, trust=trust,
            mode=mode if reasons else SOUND, reason=", and ".join(reasons),
        )  # fmt: skip

    @property
    def sentence(self) -> str:
        """The guarantee in one sentence."""
        if self.mode == NOT_PRIVATE:
            return f"This model is not private: {self.reason}."
        if self.mode == PAPER:
            return f"None proven: {self.reason}."
        opening = "The"
        if self.leaks:
            opening = f"Apart from {few(self.leaks)}, read from the rows without noise and covered by no promise: the"
        provided = f"provided that {'; '.join(self.assumptions)}; " if self.assumptions else ""
        epsilon = rounded_up(self.epsilon)
        kind, apart = f"pure differential privacy, epsilon = {epsilon}", ""
        if self.delta > 0:
            delta = rounded_up(self.delta)
            kind, apart = f"approximate differential privacy, epsilon = {epsilon}, delta = {delta}", f" plus {delta}"
        return (
            f"{opening} chance of any outcome of this fit is the same whether or not {self.protects.subject} in the "
            f"table, up to a factor e^{epsilon}{times(self.epsilon)}{apart} ({kind}, "
            f"neighbours: {self.neighbours}; {provided}trusted: {self.trust}; "
            f"public beforehand: {'; '.join(self.public)})."
        )

    @property
    def protects(self) -> Unit:
        """The unit of privacy."""
        return Unit(self.unit, self.max_rows)

    def __str__(self) -> str:
        return self.sentence

    def to_json(self) -> dict[str, Any]:
        """Return the guarantee as plain JSON values."""
        data = asdict(self)
        data["epsilon"] = "inf" if math.isinf(self.epsilon) else self.epsilon
        data["event"] = events.to_json(self.event)
        lists = {name: list(data[name]) for name in ("public", "leaks", "assumptions")}
        return {**data, **lists, "sentence": self.sentence}

    @classmethod
    def from_json(cls, data: object) -> Self:
        """Read a guarantee. It is refused if it does not follow from its receipts."""
        if not isinstance(data, Mapping) or set(data) != {*cls.__dataclass_fields__, "sentence"}:
            raise ModelFileError("the guarantee lacks a field or has one too many; the file is damaged")
        lists = {name: _texts(data[name], name) for name in ("public", "leaks", "assumptions")}
        versions = data["versions"]
        if not isinstance(versions, dict) or not all_text([*versions, *versions.values()]):
            raise ModelFileError("the guarantee's versions are not what privet writes there; the file is damaged")
        event, unit = events.from_json(data["event"]), _unit_from_json(data)
        [trust] = _texts([data["trust"]], "trust")  # the class of the method checks it
        guarantee = replace(cls.from_event(event, unit=unit, trust=trust, **lists), versions=versions)
        if guarantee.to_json() != data:
            raise ModelFileError("the guarantee does not follow from its receipts; the file was changed")
        return guarantee


def _unit_from_json(data: Mapping[str, Any]) -> Unit:
    try:
        return Unit(data["unit"], data["max_rows"])
    except ParameterError as error:
        raise ModelFileError("the guarantee's unit is not what privet writes there; the file is damaged") from error


def rounded_up(epsilon: float, digits: int = 12) -> str:
    """Return epsilon to this many digits, rounded up, since shares of it add up to slightly less."""
    exact = Decimal(repr(float(epsilon)))
    if not (exact and exact.is_finite()):
        return repr(float(epsilon)).removesuffix(".0")
    rounded = exact.quantize(Decimal(1).scaleb(exact.adjusted() + 1 - digits), ROUND_CEILING)
    return repr(float(rounded)).removesuffix(".0")


def left_over(epsilon: float) -> str:
    """Return what is left of a budget, to twelve places. Smaller rests come from the rounding of shares."""
    return rounded_up(float(epsilon)) if math.isinf(epsilon) else f"{epsilon:.12f}".rstrip("0").rstrip(".")


def times(epsilon: float) -> str:
    """Return e^epsilon to three digits, rounded up: a guarantee must not look better than it is."""
    if epsilon > 50:
        return ", which is next to no promise at all"
    # Enough digits to distinguish it from 1.
    digits = 2 + max(1, -math.floor(math.log10(math.expm1(epsilon))))
    step = 10.0 ** (math.floor(epsilon / math.log(10)) - digits + 1)
    return f" = {math.ceil(math.exp(epsilon) / step) * step:.{digits}g}"


def right_guesses(epsilon: float, delta: float = 0.0) -> float:
    """Return the largest share of right guesses where one unit was in the table with a chance of one half.

    The bounds on false alarms and misses meet at the false-alarm rate (1 - delta) / (1 + e^epsilon), where
    the rate of misses is the same.
    """
    shrink = math.exp(-epsilon)
    return min((1 + delta * shrink) / (1 + shrink), 1.0)


def of_hundred(share: float) -> int:
    """Return how many of 100 that is, rounded up."""
    return math.ceil(Decimal(share) * 100)


def few(names: Sequence[str], most: int = 3) -> str:
    """Return the first ``most`` names and the number of the others."""
    shown = ", ".join(names[:most])
    return shown if len(names) <= most else f"{shown} and {len(names) - most} more"


def _texts(value: object, name: str) -> list[str]:
    if not isinstance(value, list) or not all_text(value):
        raise ModelFileError(f"the guarantee's {name} is not what privet writes there; the file is damaged")
    return value


def all_text(values: Sequence[object]) -> bool:
    """Return whether all of them are text."""
    return all(isinstance(value, str) for value in values)
