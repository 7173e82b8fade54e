"""Randomized response to any number of fields with few values, the label too."""

from collections.abc import Sequence
from dataclasses import replace

from privet.local.channels.channel import Channel
from privet.local.channels.number_checks import check_epsilon
from privet.local.channels.random_answer import RandomAnswer
from privet.local.channels.secret import Secret
from privet.local.channels.transformer import Disturbance, check_one_of
from privet.schema import Attribute, Numeric, Schema

DEFAULT_CELLS = 4


class RandomizedResponse(Disturbance):
    """Give the true answer with chance ``keep``, else any other; numbers are cut into cells first.

    Parameters
    ----------
    schema : Schema
        What is public about the table.
    epsilon : float, optional
        The local epsilon of all disturbed fields of a record together, in equal shares.
    keep : float, optional
        Instead of ``epsilon``: the chance of the true answer, above 1 over the number of answers.
    bins : int
        The cells of a number that declares none.
    label : bool
        Whether the label is disturbed too.
    covers_missing : bool
        Whether a missing value is an answer like any other. Otherwise it stays missing, for all to see.
    columns, person, secret
        As for `UniformNoise`; by default all columns.
    """

    def __init__(
        self, schema: Schema, *, epsilon: float | None = None, keep: float | None = None, bins: int = DEFAULT_CELLS,
        label: bool = False, covers_missing: bool = False, columns: Sequence[str] | None = None,
        person: str | None = None, secret: Secret | None = None,
    ) -> None:  # fmt: skip
        self.schema = schema
        self.epsilon = epsilon
        self.keep = keep
        self.bins = bins
        self.label = label
        self.covers_missing = covers_missing
        self.columns = columns
        self.person = person
        self.secret = secret

    @property
    def channel(self) -> Channel:
        """The channel that the parameters describe."""
        check_one_of(epsilon=self.epsilon, keep=self.keep)
        cells = {a.name: _in_cells(a, self.bins) for a in self._chosen()}
        schema = self.schema.with_attributes(cells.get(a.name, a) for a in self.schema.attributes)
        n_fields = len(cells) + bool(self.label)
        covers = bool(self.covers_missing)
        columns = [
            self._answer(name, a.n_values + covers, n_fields, covers_missing=covers) for name, a in cells.items()
        ]
        label = self._answer(schema.target, len(schema.classes), n_fields) if self.label else None
        return Channel.of(schema, columns, label=label)

    def _answer(self, field: str, n_answers: int, n_fields: int, *, covers_missing: bool = False) -> RandomAnswer:
        if self.epsilon is None:
            return RandomAnswer(field, n_answers, self.keep, covers_missing)  # type: ignore[arg-type]
        check_epsilon(self.epsilon)
        return RandomAnswer.of_epsilon(field, n_answers, self.epsilon / n_fields, covers_missing=covers_missing)


def _in_cells(attribute: Attribute, n_bins: int) -> Attribute:
    return replace(attribute, bins=n_bins) if isinstance(attribute, Numeric) and attribute.is_open else attribute
