"""Who declared that a domain which was read from the rows is public, and on which day.

A value that is read off the rows and merely accepted is still derived from the rows. So an acceptance is no proof: the
guarantee holds provided that what was accepted was public before, and it says who declared that. Name and day are
therefore as public as the model.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Self

from privet.checks import is_day
from privet.errors import SchemaError

MOST_LETTERS = 100


@dataclass(frozen=True)
class Acceptance:
    """A declaration that a domain was public before anybody looked at the rows.

    Parameters
    ----------
    by : str
        Who declares it: a name or a role. It is in the schema, in every model and in its guarantee.
    on : str
        The day, such as "2026-11-19".
    together : bool
        All domains were accepted at once and none was looked at, as for a table that is public anyway.
    """

    by: str
    on: str
    together: bool = False

    def __post_init__(self) -> None:
        is_name = isinstance(self.by, str) and 1 <= len(self.by) <= MOST_LETTERS and self.by == self.by.strip()
        if not is_name or not self.by.isprintable():
            raise SchemaError(
                f"who accepts must be named: a name or a role of up to {MOST_LETTERS} letters, on one line"
            )
        if not is_day(self.on):
            raise SchemaError('the day of an acceptance must be written like "2026-11-19"')
        if not isinstance(self.together, bool):
            raise SchemaError("together must be true or false; leave it out where each entry was looked at")

    @classmethod
    def from_json(cls, data: object) -> Self:
        """Read an acceptance from plain JSON values."""
        if not isinstance(data, Mapping) or not {"by", "on"} <= set(data) <= {"by", "on", "together"}:
            raise SchemaError('accepted must have the keys "by" and "on": who declared it public, and on which day')
        return cls(**data)

    def to_json(self) -> dict[str, Any]:
        """Return the acceptance as plain JSON values."""
        return {"by": self.by, "on": self.on, **({"together": True} if self.together else {})}


def assumptions_of(accepted: Iterable[tuple[str, Acceptance | None]]) -> tuple[str, ...]:
    """Return what was accepted as assumptions of a guarantee, one for each person and day."""
    by_acceptance: dict[Acceptance, list[str]] = {}
    for what, acceptance in accepted:
        if acceptance is not None:
            by_acceptance.setdefault(acceptance, []).append(what)
    return tuple(_sentence(acceptance, what) for acceptance, what in by_acceptance.items())


def _sentence(acceptance: Acceptance, what: list[str]) -> str:
    declared = f"as {acceptance.by} declared on {acceptance.on}"
    if acceptance.together:
        return f"the table's ranges, categories and classes, all read from its rows, were public before, {declared}"
    return f"{', '.join(_by_kind(what))}, read from the rows, were public before, {declared}"


def _by_kind(what: list[str]) -> list[str]:
    """Return what was accepted with each kind said once: "categories of 'sex' and 'job'"."""
    names: dict[str, list[str]] = {}
    for entry in what:
        kind, _, name = entry.partition(" of ")
        names.setdefault(kind, []).append(name)
    return [f"{kind} of {', '.join(own[:-1])} and {own[-1]}" if len(own) > 1 else f"{kind} of {own[0]}"
            for kind, own in names.items()]  # fmt: skip
