"""Noise on numbers: uniform, normal, Laplace; by its scale, by the papers' privacy, or by a local epsilon."""

import math
from collections.abc import Sequence
from typing import ClassVar

from privet.errors import ParameterError
from privet.local.channels.channel import Channel
from privet.local.channels.columns import AddedNoise
from privet.local.channels.noise_distribution import Gaussian, Laplace, NoiseDistribution, Uniform
from privet.local.channels.number_checks import check_epsilon, check_share, is_number
from privet.local.channels.secret import Secret
from privet.local.channels.transformer import Disturbance, check_one_of
from privet.schema import Numeric, Schema


class _AddedNoise(Disturbance):
    """Noise of one distribution, on numbers; by its scale, or by the privacy that agrawal2000 measures."""

    distribution: ClassVar[type[NoiseDistribution]]
    scale: float | None
    privacy: float | None
    confidence: float

    @property
    def channel(self) -> Channel:
        """The channel that the parameters describe."""
        numbers = [a for a in self._chosen(Numeric) if isinstance(a, Numeric)]
        return Channel.of(self.schema, [AddedNoise(a, self._noise_for(a, len(numbers))) for a in numbers])

    def _noise_for(self, attribute: Numeric, n_columns: int) -> NoiseDistribution:  # noqa: ARG002 - epsilon is shared out
        check_one_of(scale=self.scale, privacy=self.privacy)
        if self.privacy is None:
            return self.distribution(self.scale)  # type: ignore[arg-type]
        check_share("confidence", self.confidence)
        if not (is_number(self.privacy) and 0 < self.privacy < math.inf):
            raise ParameterError(f"privacy={self.privacy!r} must be above 0: 1.0 hides a value in its whole range")
        return self.distribution.of_width(self.privacy * (attribute.high - attribute.low), self.confidence)


class UniformNoise(_AddedNoise):
    """Add noise that is uniform on [-scale, scale].

    Parameters
    ----------
    schema : Schema
        What is public about the table.
    scale : float, optional
        Half the width of the noise, in the units of the columns.
    privacy : float, optional
        Instead of ``scale``: the width of the interval that holds a value with ``confidence``, as a share of its range.
        1.0 is agrawal2000's "100 % privacy". It is no differential privacy.
    confidence : float
        For ``privacy``.
    columns : sequence of str, optional
        The columns to disturb; by default all numbers.
    person : str, optional
        The column that says whose row it is.
    secret : Secret, optional
        Fixes every answer; by default a new one at each fit.
    """

    distribution: ClassVar[type[NoiseDistribution]] = Uniform

    def __init__(
        self, schema: Schema, *, scale: float | None = None, privacy: float | None = None, confidence: float = 0.95,
        columns: Sequence[str] | None = None, person: str | None = None, secret: Secret | None = None,
    ) -> None:  # fmt: skip
        self.schema = schema
        self.scale = scale
        self.privacy = privacy
        self.confidence = confidence
        self.columns = columns
        self.person = person
        self.secret = secret


class GaussianNoise(UniformNoise):
    """Add normal noise with standard deviation ``scale``; the other parameters are those of `UniformNoise`."""

    distribution = Gaussian


class LaplaceNoise(_AddedNoise):
    """Add Laplace noise, which has a local epsilon; the other parameters are those of `UniformNoise`.

    Parameters
    ----------
    epsilon : float, optional
        Instead of ``scale`` or ``privacy``: the local epsilon of all disturbed columns of a record together, in equal
        shares.
    """

    distribution = Laplace

    def __init__(
        self, schema: Schema, *, epsilon: float | None = None, scale: float | None = None,
        privacy: float | None = None, confidence: float = 0.95, columns: Sequence[str] | None = None,
        person: str | None = None, secret: Secret | None = None,
    ) -> None:  # fmt: skip
        self.schema = schema
        self.epsilon = epsilon
        self.scale = scale
        self.privacy = privacy
        self.confidence = confidence
        self.columns = columns
        self.person = person
        self.secret = secret

    def _noise_for(self, attribute: Numeric, n_columns: int) -> NoiseDistribution:
        check_one_of(scale=self.scale, privacy=self.privacy, epsilon=self.epsilon)
        if self.epsilon is None:
            return super()._noise_for(attribute, n_columns)
        check_epsilon(self.epsilon)
        # A little more noise than the formula, so that rounding never exceeds what was asked for.
        share = self.epsilon / n_columns * (1 - 2e-6)
        return Laplace((attribute.high - attribute.low) / share)
