"""Shares of the people by attributes and class, estimated from answers, with intervals. See sampled_forest.md."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from privet.errors import ParameterError
from privet.local.channels.sampling.question import Support
from privet.local.channels.sampling.sampled_fields import SampledFields
from privet.local.sampled_forest.answers import checked_weights
from privet.local.sampled_forest.class_tables import NORMAL_95, class_balance, class_tables, joint_table, label_tables
from privet.schema import Attribute, Categorical, Label

if TYPE_CHECKING:
    import pandas as pd

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class JointShares:
    """The share of the people in each cell of some attributes and the label.

    Attributes
    ----------
    attributes : tuple of Numeric or Categorical
        None, one or two of the schema's; the label is always there.
    classes : tuple of labels
        The classes, under the name ``target``.
    shares : float array
        Unbiased, so below 0 at times; an axis for each attribute, and the classes last.
    margins : float array
        How far from each the truth lies at most, 95 times of 100.
    """

    attributes: tuple[Attribute, ...]
    target: str
    classes: tuple[Label, ...]
    shares: Floats
    margins: Floats

    @classmethod
    def of(cls, record: SampledFields, supports: Sequence[Support], names: Sequence[str]) -> Self:
        """Return the shares by the attributes with these names, from all questions that tell."""
        schema = record.schema
        unknown = [name for name in names if name not in schema.names]
        if unknown:
            raise ParameterError(f"the channel has no field {unknown[0]!r}; choose from {', '.join(schema.names)}")
        if len(set(names)) != len(names) or len(names) > 2:
            raise ParameterError("name one attribute, or two different ones; people are asked about no more at once")
        attributes = tuple(a for a in schema.attributes if a.name in names)
        shape = (*(a.n_values + (not a.never_missing) for a in attributes), len(schema.classes))
        shares, margins = _estimated(record, supports, [a.name for a in attributes])
        return cls(attributes, schema.target, tuple(schema.classes), shares.reshape(shape), margins.reshape(shape))

    def to_frame(self) -> "pd.DataFrame":
        """Return a line a cell: the attributes' values, the class, the share, and the ends of its interval."""
        import pandas as pd

        names = [*(a.name for a in self.attributes), self.target]
        values: list[list[Label | None]] = [*(_values(a) for a in self.attributes), list(self.classes)]
        places = np.unravel_index(np.arange(self.shares.size), self.shares.shape)
        columns: dict[str, Any] = {
            name: pd.Series([own[j] for j in place.tolist()], dtype=object)
            for name, own, place in zip(names, values, places, strict=True)
        }
        share, margin = self.shares.ravel(), self.margins.ravel()
        ends = {"low": np.clip(share - margin, 0.0, 1.0), "high": np.clip(share + margin, 0.0, 1.0)}
        return pd.DataFrame({**columns, "share": share, **ends})


def joint_shares(answers: Any, record: SampledFields, names: Sequence[str], weights: Any = None) -> JointShares:
    """Return the shares of the people by attributes and class, from a table of answers.

    Parameters
    ----------
    answers : table
        With the channel's columns, a row a person.
    record : SampledFields
        The channel's record.
    names : sequence of str
        Of no attribute, of one or of two; two must have been asked for together.
    weights : array, optional
        Survey weights of the people who answered, above 0.
    """
    return JointShares.of(record, record.supports(answers, checked_weights(weights, len(answers))), names)


def _estimated(record: SampledFields, supports: Sequence[Support], names: list[str]) -> tuple[Floats, Floats]:
    """Return shares and margins by attributes in the schema's order and by class."""
    tables = class_tables(record, supports)
    if not names:
        found = [own for own in [*tables, *label_tables(record, supports)] if own is not None]
        if not found:
            raise ParameterError("nobody answered, so nothing can be told; collect answers first")
        balance, error = class_balance(found)
        return balance, np.full_like(balance, NORMAL_95 * error)
    if len(names) == 1:
        table = tables[record.schema.names.index(names[0])]
    else:
        asked = zip(record.questions, supports, strict=True)
        table = next((joint_table(own, q.shape) for q, own in asked if q.fields == names and own.n > 0), None)
    if table is None:
        raise ParameterError(
            f"nobody was asked about {' and '.join(map(repr, names))} together with the label; "
            "choose another, or make the channel with pairs="
        )
    return table.shares()


def _values(attribute: Attribute) -> list[Label | None]:
    """Return what each code stands for: a category, a range in words, None for a missing value."""
    if isinstance(attribute, Categorical):
        return [*attribute.categories, None]
    edges = [f"{float(edge):,.10g}" for edge in attribute.borders]
    return [*(f"{low} to {high}" for low, high in pairwise(edges)), None]
