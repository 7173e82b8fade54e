"""The guarantee of a model of disturbed records: its channel, on the scales that apply to it.

A local epsilon is a proven bound; the papers' measures, such as the width of an interval, are none. The two are never
mixed: a record has one epsilon or none, and every field its own scale.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Self

from privet.errors import ChannelError, ModelFileError
from privet.estimator import public_facts
from privet.local.channels.channel import DIGITS, Channel
from privet.privacy.guarantee import (
    NOT_PRIVATE,
    PAPER,
    SOUND,
    all_text,
    few,
    installed_versions,
    of_hundred,
    right_guesses,
    rounded_up,
    times,
)

NOBODY = "nobody: values are disturbed before they leave their owner"
# What a guarantee is about; the other entries put it in words.
_FACTS = ("local_epsilon", "delta", "mode", "fields", "given_clear", "leaks")


@dataclass(frozen=True)
class LocalGuarantee:
    """What a model that was grown from disturbed records promises.

    Attributes
    ----------
    channel : Channel
        What happened to which field.
    versions : dict
        The software that made the model.
    doubts : tuple of str
        The fields whose answers do not look as if they had come through the channel. Nothing is then promised.
    """

    channel: Channel
    versions: dict[str, str] = field(default_factory=installed_versions)
    doubts: tuple[str, ...] = ()

    @property
    def epsilon(self) -> float:
        """The local epsilon of a record: the sum over its disturbed fields; infinite where there is none."""
        return math.inf if self.doubts else self.channel.local_epsilon

    @property
    def delta(self) -> float:
        """The chance that the bound fails: none."""
        return 0.0

    @property
    def trust(self) -> str:
        """Who has to be trusted."""
        if self.doubts:
            return "not known: the answers do not look as if they had come through the channel"
        return NOBODY if self.mode != NOT_PRIVATE else "whoever holds the rows"

    @property
    def leaks(self) -> tuple[str, ...]:
        """What was read from clear rows; no promise covers it."""
        coded = () if self.channel.record is None else self.channel.record.leaks
        return tuple(dict.fromkeys([*self.channel.schema.leaks, *self.channel.leaks, *coded]))

    @property
    def public(self) -> tuple[str, ...]:
        """What was declared public beforehand."""
        return (*public_facts(self.channel.schema), "the channel", "the method and its parameters")

    @property
    def given_clear(self) -> tuple[str, ...]:
        """The fields that were given as they are."""
        names = [name for name in self.channel.schema.names if name not in self.channel.disturbed]
        record = self.channel.record
        hides_label = self.channel.label is not None or (record is not None and record.hides_label)
        return (*names, *(() if hides_label else (self.channel.schema.target,)))

    @property
    def as_they_are(self) -> tuple[str, ...]:
        """The fields that everybody can read, the label first: those given clear, and those that are always kept."""
        certain = [name for name, own in self.channel.fields.items() if own.is_certain and name]
        names = dict.fromkeys([*self.given_clear, *certain])
        return tuple(sorted(names, key=lambda name: name != self.channel.schema.target))

    @property
    def assumptions(self) -> tuple[str, ...]:
        """What nobody can check."""
        if self.channel.is_clear:
            return ()
        once = "each person answered once through this channel, with a secret that nobody else has"
        fields = zip(self.channel.columns, self.channel.schema.attributes, strict=True)
        seen = [own for own, a in fields if not (own.is_clear or own.hides_missing or a.never_missing)]
        missing = "which answers are missing is no secret"
        order = "the order of the rows says nothing"
        if self.channel.record is not None:
            return (once, order, *self.channel.record.assumptions)
        return (once, order, missing) if seen else (once, order)

    @property
    def neighbours(self) -> str:
        """Two records that an answer must not tell apart."""
        if self.channel.record is not None:
            return self.channel.record.neighbours
        return "any two records that differ in the disturbed fields only"

    @property
    def mode(self) -> str:
        """``"sound"`` where a local epsilon bounds all disturbed fields, else ``"paper"`` or ``"not private"``."""
        if self.channel.hides_nothing:
            return NOT_PRIVATE
        return SOUND if math.isfinite(self.epsilon) else PAPER

    @property
    def reason(self) -> str:
        """Why the mode is not sound; empty where it is."""
        if self.mode == SOUND:
            return ""
        if self.channel.hides_nothing:
            return "its rows were given as they are"
        if self.doubts:
            return (
                f"the answers in {few(self.doubts)} do not look as if they had come through the channel: of a million "
                "honest collections at most one looks so"
            )
        if self.channel.record is not None:
            return self.channel.record.reason
        fields = self.channel.fields.items()
        loose = [name for name, own in fields if math.isinf(own.local_epsilon) and name not in self.as_they_are]
        if not loose:
            kept = [name for name in self.as_they_are if name not in self.given_clear]
            return f"{few(kept)} went through a channel that always keeps the true answer"
        was = "was" if len(loose) == 1 else "were"
        return (
            f"{few(loose)} {was} disturbed before leaving the owner, which hides a value in an interval of stated "
            "width, but no epsilon bounds what an answer gives away"
        )

    @property
    def fields(self) -> list[dict[str, Any]]:
        """Every field with what happens to it, each measure on its own scale."""
        record, label = self.channel.record, self.channel.label
        if record is not None:
            return record.describe()
        channels = [*self.channel.columns, *([] if label is None else [label])]
        return [{"field": own.name, **own.describe()} for own in channels]

    @property
    def sentence(self) -> str:
        """The promise in one sentence."""
        if self.mode == NOT_PRIVATE:
            return f"This model is not private: {self.reason}."
        clear = ""
        if self.as_they_are:
            clear = f"Given as they are, and protected by nothing: {few(self.as_they_are)}. "
        if self.mode == PAPER:
            leaked = f"; {few(self.leaks)} were read from clear rows besides" if self.leaks else ""
            return f"{clear}None proven: {self.reason}{leaked}."
        opening = f"Nobody had to be trusted{' with the rest' if clear else ''}: any"
        if self.leaks:
            opening = f"Apart from {few(self.leaks)}, read from clear rows and covered by no promise: any"
        epsilon = rounded_up(self.epsilon, DIGITS)
        return (
            f"{clear}{opening} answers of a person are as likely whatever the disturbed fields of their record hold, "
            f"up to a factor e^{epsilon}{times(self.epsilon)} (pure local differential privacy, epsilon = "
            f"{epsilon}{self._together}; neighbours: "
            f"{self.neighbours}; provided that {'; '.join(self.assumptions)}; "
            f"public beforehand: {'; '.join(self.public)})."
        )

    @property
    def _together(self) -> str:
        """What the epsilon is the sum of."""
        if self.channel.record is not None:
            return self.channel.record.together
        n_fields = len(self.channel.fields)
        return f", the sum over {n_fields} fields" if n_fields > 1 else ""

    def __str__(self) -> str:
        return self.sentence

    def to_json(self) -> dict[str, Any]:
        """Return the guarantee as plain JSON values."""
        return {
            "local_epsilon": None if math.isinf(self.epsilon) else self.epsilon,
            "delta": self.delta,
            "neighbours": self.neighbours,
            "trust": self.trust,
            "mode": self.mode,
            "reason": self.reason,
            "fields": self.fields,
            "given_clear": list(self.given_clear),
            "public": list(self.public),
            "leaks": list(self.leaks),
            "assumptions": list(self.assumptions),
            **({"doubts": list(self.doubts)} if self.doubts else {}),
            "channel": self.channel.to_json(),
            "versions": dict(self.versions),
            "sentence": self.sentence,
        }

    @classmethod
    def from_json(cls, data: object) -> Self:
        """Read a guarantee back; whatever does not follow from its channel is refused."""
        if not isinstance(data, Mapping) or not {"channel", "versions"} <= set(data):
            raise ModelFileError("the guarantee lacks a field or has one too many; the file is damaged")
        versions = data["versions"]
        if not isinstance(versions, dict) or not all_text([*versions, *versions.values()]):
            raise ModelFileError("the guarantee's versions are not what privet writes there; the file is damaged")
        doubts = data.get("doubts", [])
        if not isinstance(doubts, list) or not all_text(doubts):
            raise ModelFileError("the guarantee's doubts are not what privet writes there; the file is damaged")
        try:
            guarantee = cls(Channel.from_json(data["channel"]), versions, tuple(doubts))
        except ChannelError as error:
            raise ModelFileError(f"the guarantee's channel is damaged: {error}") from error
        # Words may be put better in a later version; what they are about may not differ.
        expected = guarantee.to_json()
        if set(expected) != set(data) or any(expected[name] != data[name] for name in _FACTS):
            raise ModelFileError("the guarantee does not follow from its channel; the file was changed")
        return guarantee


def price_in_words(channel: Channel) -> str:
    """Return what all that a person sends costs, in odds; for channels that have a local epsilon."""
    given = LocalGuarantee(channel).given_clear
    between = f"two records that are alike in {few(given)}" if given else "any two records"
    return (
        f"All that a person sends costs local epsilon {rounded_up(channel.local_epsilon, DIGITS)}: whoever sees it and "
        f"guesses between {between}, held to be equally likely, is right at most "
        f"{of_hundred(right_guesses(channel.local_epsilon))} times of 100."
    )
