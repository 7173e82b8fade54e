"""How private one field is: its interval, its local epsilon, what is left to be unsure of, how often a guess is right.

Each measure has a scale of its own, and none can be turned into another.
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Self

from privet.local.channels.field_channel import CLEAR_KIND, FieldChannel
from privet.local.measures.filtering import Recovered
from privet.local.measures.posterior import BestGuess, PosteriorEntropy, Prior
from privet.privacy.guarantee import rounded_up, times


@dataclass(frozen=True)
class FieldMeasures:
    """The measures of one field; those that do not apply are None."""

    field: str
    channel: str
    local_epsilon: float | None = None
    widths: Mapping[float, float] | None = None
    posterior_entropy: PosteriorEntropy | None = None
    best_guess: BestGuess | None = None
    filtering: Recovered | None = None

    @classmethod
    def of(cls, field: str, column: FieldChannel, prior: Prior | None, filtering: Recovered | None = None) -> Self:
        """Return the measures of a field whose values are spread as ``prior``."""
        if column.is_clear:
            return cls(field, column.kind)
        epsilon = column.local_epsilon if math.isfinite(column.local_epsilon) else None
        return cls(field, column.kind, epsilon, filtering=filtering, **column.measures(prior))

    def to_json(self) -> dict[str, Any]:
        """Return the measures as plain JSON values."""
        parts = {name: getattr(self, name) for name in ("posterior_entropy", "best_guess", "filtering")}
        return {
            "field": self.field,
            "channel": self.channel,
            "local_epsilon": self.local_epsilon,
            "interval": self._intervals(),
            **{name: None if part is None else part.to_json() for name, part in parts.items()},
        }

    def lines(self) -> Iterator[str]:
        """Yield the measures in plain English; the name is quoted, with control characters spelled out."""
        if self.channel == CLEAR_KIND:
            yield f"{self.field!r} is given as it is."
            return
        yield f"{self.field!r} ({self.channel.replace('_', ' ')})"
        yield f"  local epsilon: {told(self.local_epsilon)}"
        if self.widths is not None:
            yield f"  interval: {_several(self._intervals() or [])}"
        if self.posterior_entropy is not None:
            yield f"  posterior entropy: {self._left(self.posterior_entropy)}"
        if self.best_guess is not None:
            yield f"  best guess: {_hits(self.best_guess)}"
        if self.filtering is not None:
            yield f"  filtering: {_errors(self.filtering)}"

    def _intervals(self) -> list[dict[str, float]] | None:
        if self.widths is None or self.posterior_entropy is None:
            return None
        out_of = self.posterior_entropy.out_of
        return [{"confidence": c, "width": width, "share": width / out_of} for c, width in self.widths.items()]

    def _left(self, left: PosteriorEntropy) -> str:
        if self.widths is not None:
            return (
                f"with the answer one is as unsure as of a number anywhere in a width of {left.after:.4g} "
                f"({percent(left.share)} of the range); without it, of {left.before:.4g}"
            )
        return (
            f"with the answer one is as unsure as between {left.after:.3g} equally likely values of "
            f"{left.out_of:g}; without it, {left.before:.3g}"
        )


def told(epsilon: float | None) -> str:
    """Return a local epsilon in words."""
    return "none" if epsilon is None else f"{rounded_up(epsilon)}, a factor of e^{rounded_up(epsilon)}{times(epsilon)}"


def percent(share: float) -> str:
    """Return a share in per cent, to three digits."""
    return f"{100 * share:.3g} %"


def _several(intervals: list[dict[str, float]]) -> str:
    each = [
        f"{part['width']:.4g} ({percent(part['share'])} of the range) with {100 * part['confidence']:g} % confidence"
        for part in intervals
    ]
    return f"the answer leaves the value in a width of {', '.join(each)}"


def _hits(guess: BestGuess) -> str:
    return (
        f"right for {percent(guess.answer)} of people with the answer itself, for {percent(guess.best)} with the "
        f"likeliest value given the answer, for {percent(guess.naive)} without any answer"
    )


def _errors(recovered: Recovered) -> str:
    return (
        f"off by {percent(recovered.answer)} of the range on average with the answer itself, "
        f"{percent(recovered.linear)} with the best linear estimate, {percent(recovered.spectral)} with the spectral "
        f"filter, {percent(recovered.naive)} without any answer"
    )
