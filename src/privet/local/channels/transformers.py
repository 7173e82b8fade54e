"""The ways to disturb a table as scikit-learn transformers: what they share, and the three that add noise.

Nothing is learnt from rows: ``channel`` follows from the parameters alone and can be published before anybody answers.
"""

import math
from abc import abstractmethod
from collections.abc import Iterable, Sequence
from typing import Any, ClassVar, Self

from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from privet.checks import is_number
from privet.errors import ParameterError, SchemaError
from privet.local.channels.added_noise import AddedNoise
from privet.local.channels.channel import Channel, check_askable
from privet.local.channels.distributions import Gaussian, Laplace, NoiseDistribution, Uniform
from privet.local.channels.perturb import perturb
from privet.local.channels.secret import Secret
from privet.schema import Attribute, Numeric, Schema


class ChannelTransformer(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """What all six share: the schema, which columns, whose rows, and the secret that fixes the answers."""

    schema: Schema
    columns: Sequence[str] | None
    person: str | None
    secret: Secret | None
    channel_: Channel
    secret_: Secret

    @property
    @abstractmethod
    def channel(self) -> Channel:
        """The channel that the parameters describe."""

    def fit(self, X: Any = None, y: Any = None) -> Self:  # noqa: ARG002 - nothing is learnt from rows
        """Check the parameters, and make a secret where none was given."""
        self.channel_ = self.channel
        self.secret_ = Secret() if self.secret is None else self.secret
        return self

    def transform(self, X: Any) -> Any:
        """Return the answers of the people in ``X``; those who answered before answer the same again.

        Without a column ``person`` that tells them apart, one secret answers for one table only.
        """
        check_is_fitted(self, "channel_")
        return perturb(X, self.channel_, self.secret_, person=self.person)

    def _chosen(self, kind: type[Attribute] | None = None) -> list[Attribute]:
        """Return the attributes to disturb: those named, or all of the ``kind`` that this disturbance can."""
        if not isinstance(self.schema, Schema):
            raise SchemaError("a disturbance needs a Schema; load one with Schema.load(path)")
        check_askable(self.schema)
        attributes = {a.name: a for a in self.schema.attributes}
        names = list(attributes) if self.columns is None else list(self.columns)
        if isinstance(self.columns, str):
            raise ParameterError(f"columns must be a list of names; write [{self.columns!r}]")
        unknown = [name for name in names if name not in attributes]
        if unknown:
            raise ParameterError(f"the schema has no attribute {unknown[0]!r}; columns must be some of its names")
        fitting = [attributes[name] for name in names if kind is None or isinstance(attributes[name], kind)]
        if self.columns is not None and len(fitting) < len(names):
            raise ParameterError(
                f"{type(self).__name__} disturbs numbers only; leave categories out, or use RandomizedResponse"
            )
        if not fitting:
            raise ParameterError(f"the schema has no column for {type(self).__name__}; it would disturb nothing")
        return fitting


class _AddedNoise(ChannelTransformer):
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


def check_share(name: str, value: object) -> None:
    """Refuse what does not lie between 0 and 1."""
    if not (is_number(value) and 0 < value < 1):
        raise ParameterError(f"{name}={value!r} must lie between 0 and 1")


def check_epsilon(epsilon: object) -> None:
    """Refuse what is no local epsilon."""
    if not (is_number(epsilon) and 0 < epsilon < math.inf):
        raise ParameterError(f"epsilon={epsilon!r} must be above 0 and finite; smaller hides more")


def check_one_of(**given: float | None) -> None:
    """Refuse all but one way to say how strong the disturbance is."""
    if sum(value is not None for value in given.values()) != 1:
        raise ParameterError(f"give exactly one of {_listed(given)}: it says how strongly the values are disturbed")


def _listed(names: Iterable[str]) -> str:
    *others, last = names
    return f"{', '.join(others)} or {last}"
