"""What the six ways to disturb a table share, as scikit-learn transformers.

Nothing is learnt from rows: ``channel`` follows from the parameters alone and can be published before anybody answers.
"""

from abc import abstractmethod
from collections.abc import Iterable, Sequence
from typing import Any, Self

from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from privet.errors import ParameterError, SchemaError
from privet.local.channels.channel import Channel
from privet.local.channels.perturb import perturb
from privet.local.channels.secret import Secret
from privet.schema import Attribute, Schema


class Disturbance(TransformerMixin, BaseEstimator):  # type: ignore[misc]
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


def check_one_of(**given: float | None) -> None:
    """Refuse all but one way to say how strong the disturbance is."""
    if sum(value is not None for value in given.values()) != 1:
        raise ParameterError(f"give exactly one of {_listed(given)}: it says how strongly the values are disturbed")


def _listed(names: Iterable[str]) -> str:
    *others, last = names
    return f"{', '.join(others)} or {last}"
