"""How private is it? What ``privet perturb --explain`` prints about a channel.

A local epsilon is proven, whatever an attacker knows. The other measures are about an attacker who knows what is
written beside them, and on average. They are never mixed.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privet.local.channels.channel import Channel
from privet.local.channels.columns import Clear, ColumnChannel
from privet.local.channels.random_answer import RandomAnswer
from privet.local.measures.field_measures import FieldMeasures, Prior, told
from privet.local.measures.filtering import attack, attributes_in, numbers_in
from privet.local.measures.posterior import Histogram
from privet.local.measures.record_measures import RecordMeasures
from privet.schema.encoding import Encoder
from privet.schema.table import column_names, column_of

NOT_PROMISED = {
    "local_epsilon": "it bounds what the answers add to what is known already, and says nothing of that; fields add "
    "up, and so do answers about a value that has changed",
    "interval": "it takes the attacker to know the answer and nothing else: near an end of the range, or beside fields "
    "that go together with this one, a value is hidden less",
    "posterior_entropy": "it is a mean over all people, for values spread as assumed: some answers give their value "
    "away",
    "best_guess": "it looks at one field at a time: others may tell more",
    "filtering": "these are known filters on numbers alone, tried on one draw of the noise: other attacks may recover "
    "more",
    "binary_anonymity": "it is a mean and no bound, of one attribute at a time: of a whole record the mirror image "
    "hardly ever occurs, and whoever knows such rows can tell which of the two it is",
}
OWNERS_ONLY = (
    "Exact numbers about the rows given: they belong to whoever holds those rows, and are not to be published."
)
EVENLY = "No rows were given: values are taken to be spread evenly, and no attack was tried."


@dataclass(frozen=True)
class Measures:
    """The measures of a channel.

    Attributes
    ----------
    fields : tuple of FieldMeasures
        One for each field, the label included where it is disturbed; none where records are flipped as a whole.
    record : RecordMeasures, optional
        Where they are.
    local_epsilon : float, optional
        Of all disturbed fields together, where each has one.
    from_rows : bool
        Whether clear rows were looked at; the measures are then exact numbers about them.
    """

    fields: tuple[FieldMeasures, ...]
    record: RecordMeasures | None
    local_epsilon: float | None
    from_rows: bool

    @property
    def not_promised(self) -> dict[str, str]:
        """What each measure that is given does not promise, by its name."""
        given = {name for part in self.fields for name, value in part.to_json().items() if value is not None}
        given |= {"binary_anonymity"} if self.record is not None else set()
        return {name: sentence for name, sentence in NOT_PROMISED.items() if name in given}

    def to_json(self) -> dict[str, Any]:
        """Return the measures as plain JSON values."""
        return {
            "from_rows": self.from_rows,
            "note": OWNERS_ONLY if self.from_rows else EVENLY,
            "local_epsilon": self.local_epsilon,
            "fields": [part.to_json() for part in self.fields],
            "record": None if self.record is None else self.record.to_json(),
            "not_promised": self.not_promised,
        }

    def __str__(self) -> str:
        return "\n".join(self.lines())

    def lines(self) -> Iterator[str]:
        """Yield the measures in plain English; names are quoted, with control characters spelled out."""
        yield OWNERS_ONLY if self.from_rows else EVENLY
        for field in self.fields:
            yield from field.lines()
        if self.record is not None:
            yield from self.record.lines()
        if self.local_epsilon is not None:
            yield f"All disturbed fields together: local epsilon {told(self.local_epsilon)}"
        elif any(part.channel != Clear.kind for part in self.fields):
            yield "All disturbed fields together: no local epsilon, since not every one of them has one"
        if self.not_promised:
            yield "Each measure has its own scale, and this is what it does not promise:"
        for name, sentence in self.not_promised.items():
            yield f"  {name.replace('_', ' ')}: {sentence}"


def measure(channel: Channel, rows: Any = None, *, person: str | None = None) -> Measures:
    """Return how private answers through ``channel`` are.

    Parameters
    ----------
    channel : Channel
        What happens to which field.
    rows : table, optional
        Clear rows of whoever asks. Values are then taken to be spread as they are in the rows instead of evenly, and
        what an attacker recovers is tried out on them, with a secret that is thrown away. The figures are then exact
        numbers about the rows.
    person : str, optional
        A column of ``rows`` that says whose row it is.
    """
    codes = None if rows is None else Encoder(channel.schema).encode(attributes_in(rows, channel.schema))
    epsilon = channel.local_epsilon if math.isfinite(channel.local_epsilon) else None
    if channel.record is not None:
        return Measures((), RecordMeasures.of(channel.record, codes), None, rows is not None)
    recovered = {} if rows is None else attack(rows, channel, person=person)
    fields = [
        FieldMeasures.of(name, column, _prior(channel, j, column, rows, codes), recovered.get(name))
        for j, (name, column) in enumerate(zip(channel.schema.names, channel.columns, strict=True))
    ]
    if channel.label is not None:
        fields.append(FieldMeasures.of(channel.schema.target, channel.label, _label_prior(channel, rows)))
    return Measures(tuple(fields), None, epsilon, rows is not None)


def _prior(channel: Channel, j: int, column: ColumnChannel, rows: Any, codes: NDArray[Any] | None) -> Prior | None:
    """Return how an attribute's values are spread in the rows, None for evenly."""
    if codes is None or isinstance(column, Clear):
        return None
    if isinstance(column, RandomAnswer):
        return _shares(codes[:, j], column.n_answers)
    low, high = column.attribute.low, column.attribute.high
    numbers = numbers_in(rows, channel.schema, j)
    present = numbers[~np.isnan(numbers)]
    return Histogram.of(present, low, high) if len(present) else None


def _label_prior(channel: Channel, rows: Any) -> NDArray[np.float64] | None:
    schema = channel.schema
    if rows is None or schema.target not in (column_names(rows) or []):
        return None
    return _shares(Encoder(schema).encode_labels(column_of(rows, schema.target)), len(schema.classes))


def _shares(codes: NDArray[Any], n_answers: int) -> NDArray[np.float64] | None:
    """Return how frequent the first codes are among themselves; a missing value that shows is none of them."""
    counts = np.bincount(codes, minlength=n_answers)[:n_answers]
    return counts / counts.sum() if counts.sum() else None
