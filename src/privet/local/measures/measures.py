"""How private is it? What ``privet perturb --explain`` prints about a channel.

A local epsilon is proven, whatever an attacker knows. The other measures are about an attacker who knows what is
written beside them, and on average. They are never mixed.
"""

import math
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from privet.local.channels.cells import FieldValues
from privet.local.channels.channel import Channel
from privet.local.channels.field_channel import CLEAR_KIND, FieldChannel
from privet.local.measures.anonymity import record_anonymity
from privet.local.measures.filtering import Recovered, attack, attributes_in
from privet.local.measures.posterior import BestGuess, PosteriorEntropy, Prior
from privet.privacy.guarantee import rounded_up, times
from privet.schema.encoding import Encoder
from privet.schema.table import column_names, column_of, columns_of

if TYPE_CHECKING:
    from privet.local.channels.record_complement import Complement

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
        yield f"  local epsilon: {epsilon_in_words(self.local_epsilon)}"
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


@dataclass(frozen=True)
class RecordMeasures:
    """The measures of flipped records.

    Attributes
    ----------
    keep : float
        The chance that a record is given as it is.
    binary_anonymity : float
        By the coding's frequencies, the mean over attributes; without a unit, 1 at most.
    of_rows : float, optional
        Binary anonymity of whole records, by how often each occurs in the rows.
    told_apart : float, optional
        How often somebody who knows the frequency of each record says rightly whether an answer is flipped.
    """

    keep: float
    binary_anonymity: float
    of_rows: float | None = None
    told_apart: float | None = None

    @classmethod
    def of(cls, record: "Complement", codes: NDArray[Any] | None) -> Self:
        """Return the measures of records; ``codes`` are encoded clear rows, if there are any."""
        anonymity = record.coding.anonymity(record.keep)
        if codes is None or not len(codes):
            return cls(record.keep, anonymity)
        bits = record.coding.bits(codes)
        return cls(record.keep, anonymity, record_anonymity(bits, record.keep), _told_apart(bits, record.keep))

    def to_json(self) -> dict[str, Any]:
        """Return the measures as plain JSON values."""
        return {
            "keep": self.keep,
            "binary_anonymity": self.binary_anonymity,
            "binary_anonymity_of_rows": self.of_rows,
            "told_apart": self.told_apart,
        }

    def lines(self) -> Iterator[str]:
        """Yield the measures in plain English."""
        yield f"Records are given as they are with a chance of {self.keep:g}, and else with every bit flipped."
        yield "  local epsilon: none"
        yield f"  binary anonymity: {self.binary_anonymity:.3f} of 1, the mean over fields by the coding's frequencies"
        if self.of_rows is not None and self.told_apart is not None:
            yield f"  binary anonymity of the whole rows given: {self.of_rows:.3f}"
            yield (
                f"  best guess: who knows how frequent each of these rows is tells for {percent(self.told_apart)} of "
                f"the answers whether they are flipped; without that knowledge, for {percent(self.keep)}"
            )


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
            yield f"All disturbed fields together: local epsilon {epsilon_in_words(self.local_epsilon)}"
        elif any(part.channel != CLEAR_KIND for part in self.fields):
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
    values = {} if rows is None else _values_in(rows, channel)
    epsilon = channel.local_epsilon if math.isfinite(channel.local_epsilon) else None
    if channel.record is not None:
        codes = np.column_stack([own.codes for own in values.values()]) if values else None
        flipped = None if channel.flips is None else RecordMeasures.of(channel.flips, codes)
        return Measures((), flipped, epsilon, rows is not None)
    recovered = {} if rows is None else attack(rows, channel, person=person)
    fields = [
        FieldMeasures.of(column.name, column, _prior(column, values), recovered.get(column.name))
        for column in channel.columns
    ]
    if channel.label is not None:
        target = channel.schema.target
        if target in (column_names(rows) or [] if rows is not None else []):
            labels = Encoder(channel.schema).encode_labels(column_of(rows, target)).astype(np.int64)
            values[target] = FieldValues(channel.label_attribute, None, labels)
        fields.append(FieldMeasures.of(target, channel.label, _prior(channel.label, values)))
    return Measures(tuple(fields), None, epsilon, rows is not None)


def _values_in(rows: Any, channel: Channel) -> dict[str, FieldValues]:
    """Return the fields of clear rows, by name."""
    table = attributes_in(rows, channel.schema)
    codes = Encoder(channel.schema).encode(table).astype(np.int64)
    columns = columns_of(table, channel.schema.names)
    return {a.name: FieldValues(a, columns[j], codes[:, j]) for j, a in enumerate(channel.schema.attributes)}


def _prior(column: FieldChannel, values: dict[str, FieldValues]) -> Prior | None:
    """Return how a field's values are spread in the rows, None for evenly."""
    return column.prior(values[column.name]) if column.name in values else None


def _told_apart(bits: NDArray[np.uint8], keep: float) -> float:
    """Return how often it is rightly told whether an answer is flipped, by who knows each record's frequency."""
    packed = [row.tobytes() for row in np.packbits(bits, axis=1)]
    mirrors = [row.tobytes() for row in np.packbits(1 - bits, axis=1)]
    counts = Counter(packed)
    # An answer is a record that was kept or the mirror image of one that was flipped: the likelier one is guessed.
    answers = {**dict(zip(packed, mirrors, strict=True)), **dict(zip(mirrors, packed, strict=True))}
    right = sum(max(keep * counts[seen], (1 - keep) * counts[mirror]) for seen, mirror in answers.items())
    return right / len(packed)


def epsilon_in_words(epsilon: float | None) -> str:
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
