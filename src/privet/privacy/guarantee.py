"""What a model promises: one record, one sentence.

The record says who is protected from what, at which price, and what the price does not cover. It is made from the
receipts of the mechanisms, travels in the model file, and is checked against its receipts when it is read back.
"""

import math
import platform
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cache
from importlib.metadata import version
from typing import Any, Self

import numpy as np

from privet.errors import ModelFileError
from privet.privacy import events
from privet.privacy.accounting import epsilon_at

SOUND, PAPER, NOT_PRIVATE = "sound", "paper", "not private"
ONE_ROW = "one row more or less"
CURATOR = "the curator who held the rows"


@cache
def _installed_versions() -> dict[str, str]:
    return {"privet": version("privet"), "numpy": np.__version__, "python": platform.python_version()}


@dataclass(frozen=True)
class Guarantee:
    """What a model promises.

    Attributes
    ----------
    epsilon, delta : float
        What all releases cost together; infinite where the model is not private.
    neighbours : str
        Two tables that the model must not tell apart.
    unit : str
        What one neighbour more stands for.
    trust : str
        Who has to be trusted.
    public : tuple of str
        What was declared public beforehand.
    leaks : tuple of str
        What was read from the rows without noise, because the caller asked for it by name. No promise covers it.
    assumptions : tuple of str
        What the caller promised and nobody can check.
    mode : str
        ``"sound"``, ``"paper"`` (none proven) or ``"not private"``.
    reason : str
        Why the mode is not sound; empty where it is.
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
    neighbours: str = ONE_ROW
    unit: str = "row"
    trust: str = CURATOR
    mode: str = SOUND
    reason: str = ""
    versions: dict[str, str] = field(default_factory=lambda: dict(_installed_versions()))

    @classmethod
    def from_event(
        cls,
        event: events.Event,
        *,
        public: Sequence[str],
        leaks: Sequence[str] = (),
        assumptions: Sequence[str] = (),
        secure_noise: bool = True,
    ) -> Self:
        """Return what ``event`` promises; noise that came from a seed promises nothing."""
        epsilon = epsilon_at(event, 0.0)
        mode, reason = SOUND, ""
        if math.isinf(epsilon):
            mode, reason = NOT_PRIVATE, "it was fitted with epsilon=inf, so exact counts were released"
        if not secure_noise:
            mode, reason = (
                NOT_PRIVATE,
                "its noise came from a seed (unsafe_seeded_noise=True) and can be taken off again",
            )
        return cls(
            math.inf if mode == NOT_PRIVATE else epsilon,
            0.0, event, tuple(public), tuple(leaks), tuple(assumptions), mode=mode, reason=reason,
        )  # fmt: skip

    @property
    def sentence(self) -> str:
        """The promise in one sentence."""
        if self.mode == NOT_PRIVATE:
            return f"This model is not private: {self.reason}."
        if self.mode == PAPER:
            return f"No privacy is proven for this model: {self.reason}."
        exception = ""
        if self.leaks:
            exception = f"Apart from {_few(self.leaks)}, read from the rows without noise and covered by no promise: "
        sure = f"the same whether or not any one {self.unit} was in the table, up to a factor e^{self.epsilon:g}"
        sure += f" = {math.exp(self.epsilon):.3g}" if self.epsilon < 50 else ""
        sure += f" and a probability of {self.delta:g}" if self.delta else ""
        return (
            f"{exception}{'t' if exception else 'T'}he chance of any outcome of this fit is {sure} "
            f"({'approximate' if self.delta else 'pure'} differential privacy, epsilon = {self.epsilon:g}"
            f"{f', delta = {self.delta:g}' if self.delta else ''}, neighbours: {self.neighbours}; "
            f"trusted: {self.trust}; public beforehand: {'; '.join(self.public)})."
        )

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
        """Read a guarantee back; one that promises more than its receipts is refused."""
        if not isinstance(data, Mapping) or set(data) != {*cls.__dataclass_fields__, "sentence"}:
            raise ModelFileError("the guarantee lacks a field or has one too many; the file is damaged")
        fields = {name: _read_field(name, data[name]) for name in cls.__dataclass_fields__}
        guarantee = cls(**fields)
        stated = guarantee.epsilon if guarantee.mode == SOUND else math.inf
        if stated < epsilon_at(guarantee.event, guarantee.delta) or data["sentence"] != guarantee.sentence:
            raise ModelFileError("the guarantee promises more than its receipts do; the file was changed")
        return guarantee


def _few(names: Sequence[str], most: int = 3) -> str:
    shown = ", ".join(names[:most])
    return shown if len(names) <= most else f"{shown} and {len(names) - most} more"


def _read_field(name: str, value: object) -> Any:
    if name == "event":
        return events.from_json(value)
    if name == "epsilon" and value == "inf":
        return math.inf
    if name in {"epsilon", "delta"}:
        most = math.inf if name == "epsilon" else 1.0
        good = isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value < most
    elif name in {"public", "leaks", "assumptions"}:
        good = isinstance(value, list) and all(isinstance(item, str) for item in value)
        value = tuple(value) if isinstance(value, list) else value
    elif name == "versions":
        good = isinstance(value, dict) and all(isinstance(item, str) for item in value.values())
    else:
        good = isinstance(value, str) and (name != "mode" or value in {SOUND, PAPER, NOT_PRIVATE})
    if not good:
        raise ModelFileError(f"the guarantee's {name} is not what privet writes there; the file is damaged")
    return float(value) if name in {"epsilon", "delta"} else value  # type: ignore[arg-type]
