"""The transformer that gives a coded record as it is, or with every bit flipped."""

from collections.abc import Mapping, Sequence
from typing import Any

from privet.errors import ParameterError, SchemaError
from privet.local.channels.channel import Channel
from privet.local.channels.coding import Coding, Frequencies
from privet.local.channels.complement import Complement
from privet.local.channels.secret import Secret
from privet.local.channels.transformer import Disturbance
from privet.schema import Schema


class RecordComplement(Disturbance):
    """Code records in bits, and flip all bits of a record at once with chance ``1 - theta`` (Szűcs 2013).

    Parameters
    ----------
    schema : Schema
        What is public about the table.
    theta : float
        The chance that a record is given as it is; above 1/2.
    label : bool
        Whether the label, one of two classes, is flipped with the record.
    frequencies, quartiles : mappings, optional
        Public facts that decide the codes, as in `Coding.of`.
    coding : Coding, optional
        Instead of them: a coding, such as one estimated from an earlier, disguised wave by `Coding.from_answers`, or
        one read from clear rows by `Coding.from_rows`, a leak that the channel then carries.
    person, secret
        As for `UniformNoise`.

    Notes
    -----
    This is plausible deniability between a record and its mirror image, and no local differential privacy.
    """

    columns = None

    def __init__(
        self, schema: Schema, *, theta: float = 0.8, label: bool = False, frequencies: Frequencies | None = None,
        quartiles: Mapping[str, Sequence[float]] | None = None, coding: Coding | None = None,
        person: str | None = None, secret: Secret | None = None,
    ) -> None:  # fmt: skip
        self.schema = schema
        self.theta = theta
        self.label = label
        self.frequencies = frequencies
        self.quartiles = quartiles
        self.coding = coding
        self.person = person
        self.secret = secret

    @property
    def channel(self) -> Channel:
        """The channel that the parameters describe."""
        self._chosen()
        if not isinstance(self.coding, Coding | None):
            raise ParameterError("coding must be a Coding, such as one made by Coding.of; or leave it out")
        coding = self.coding or Coding.of(self.schema, self.frequencies, self.quartiles)
        if self.label and len(self.schema.classes) != 2:
            raise SchemaError("a label can be flipped only where there are two classes; leave it clear")
        record = Complement(coding, self.theta, bool(self.label))
        return Channel.of(coding.schema, [], record=record, leaks=coding.leaks)

    def transform(self, X: Any) -> Any:
        """Return the bits of the people in ``X``, one column a bit; those who answered before answer the same again."""
        return super().transform(X)
