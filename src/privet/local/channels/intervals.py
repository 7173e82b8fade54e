"""Value-class membership: a number's interval instead of the number."""

import math
from collections.abc import Sequence
from dataclasses import replace

from privet.errors import ParameterError
from privet.local.channels.channel import Channel
from privet.local.channels.columns import IntervalMembership
from privet.local.channels.number_checks import check_share
from privet.local.channels.secret import Secret
from privet.local.channels.transformer import Disturbance
from privet.schema import Numeric, Schema


class Intervals(Disturbance):
    """Give a number's interval instead of the number.

    Parameters
    ----------
    schema : Schema
        What is public about the table.
    bins : int, optional
        How many intervals of equal width; by default the cells that an attribute declares.
    privacy : float, optional
        Instead of ``bins``: the width that holds a value with ``confidence``, as a share of its range.
    confidence : float
        For ``privacy``.
    columns, person, secret
        As for `UniformNoise`; without noise the secret decides nothing.
    """

    def __init__(
        self, schema: Schema, *, bins: int | None = None, privacy: float | None = None, confidence: float = 0.95,
        columns: Sequence[str] | None = None, person: str | None = None, secret: Secret | None = None,
    ) -> None:  # fmt: skip
        self.schema = schema
        self.bins = bins
        self.privacy = privacy
        self.confidence = confidence
        self.columns = columns
        self.person = person
        self.secret = secret

    @property
    def channel(self) -> Channel:
        """The channel that the parameters describe."""
        numbers = [a for a in self._chosen(Numeric) if isinstance(a, Numeric)]
        return Channel.of(self.schema, [IntervalMembership(self._cut(a)) for a in numbers])

    def _cut(self, attribute: Numeric) -> Numeric:
        if self.bins is not None and self.privacy is not None:
            raise ParameterError("give bins or privacy, not both")
        n_bins = self.bins
        if self.privacy is not None:
            check_share("privacy", self.privacy)
            check_share("confidence", self.confidence)
            n_bins = max(1, math.floor(self.confidence / self.privacy * (1 + 1e-12)))
        if n_bins is None and attribute.is_open:
            raise ParameterError(f"{attribute.name!r} declares no cells; pass bins, or declare its bins or edges")
        return attribute if n_bins is None else replace(attribute, bins=n_bins, edges=None)
