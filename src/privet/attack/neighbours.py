"""Pairs of tables that differ in one row, or in one person's rows, chosen so that the difference shows."""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from privet.privacy.unit import EACH_ROW, Unit
from privet.schema import Attribute, Date, Numeric, Schema

if TYPE_CHECKING:
    import pandas as pd

# Rows of each kind beside the row in question: enough for a choice of attribute, few enough that one row tips it.
_CROWD = 20


@dataclass(frozen=True, eq=False)
class Table:
    """Rows, with one column for each attribute of the schema, and their labels."""

    X: NDArray[np.object_]
    y: NDArray[Any]

    def plus(self, row: "Table") -> "Table":
        """Return these rows and ``row``."""
        return Table(np.vstack([self.X, row.X]), np.concatenate([self.y, row.y]))


@dataclass(frozen=True)
class Neighbours:
    """Two tables: the second has ``row``, the first does not.

    Where the unit is a person, all rows of ``row`` belong to one person, and so do the rows ``beyond`` the bound, which
    a fit must not use. Every other row is a person of its own.
    """

    name: str
    without: Table
    row: Table
    beyond: Table | None = None

    @property
    def with_row(self) -> Table:
        """The table with the row."""
        table = self.without.plus(self.row)
        return table if self.beyond is None else table.plus(self.beyond)

    def of_a_person(self, max_rows: int) -> "Neighbours":
        """Return the same case for a person who has the row twice as often as it may be used."""
        rows = Table(np.repeat(self.row.X, max_rows, axis=0), np.repeat(self.row.y, max_rows))
        return replace(self, row=rows, beyond=rows)

    def with_people(self, table: Table, names: list[str], column: str) -> "pd.DataFrame":
        """Return the rows of one of the two tables, with the person of each row in ``column``."""
        import pandas as pd

        people = np.minimum(np.arange(len(table.y)), len(self.without.y))
        return pd.DataFrame(table.X, columns=names).assign(**{column: people})


def worst_cases(schema: Schema, unit: Unit = EACH_ROW) -> list[Neighbours]:
    """Return neighbours in which one row, or person, shows as much as possible, each in another part of a release."""
    first, last = schema.ends[0], schema.ends[-1]
    low, high = [_value(a, last=False) for a in schema.attributes], [_value(a, last=True) for a in schema.attributes]
    row = table_of([high], [last])
    crowd = table_of([low] * _CROWD, [first] * _CROWD)
    cases = [
        Neighbours("a row, or an empty table", empty_table(schema), row),
        Neighbours("a row alone in its leaf, beside a crowd", crowd, row),
    ]
    both = crowd.plus(table_of([high] * _CROWD, [last] * _CROWD))
    # Jointly fitted weights move most for a row that the others make unlikely.
    cases.append(Neighbours("a row that contradicts its leaf", both, table_of([low], [last])))
    if len(schema.attributes) > 1:
        # Every attribute separates the classes. The row agrees with all but the first.
        cases.append(Neighbours("a row that tips a choice", both, table_of([[low[0], *high[1:]]], [last])))
        # In such a small node, scores that are scaled by its size may jump.
        alone, second = table_of([low], [first]), table_of([[high[0], *low[1:]]], [last])
        cases.append(Neighbours("a second row, which one attribute tells from the first", alone, second))
    return cases if unit.column is None else [case.of_a_person(unit.max_rows) for case in cases]


def table_of(rows: list[list[Any]], labels: list[Any]) -> Table:
    """Return rows of mixed types, each value as it is."""
    X = np.empty((len(rows), len(rows[0])), dtype=object)
    X[:] = rows
    return Table(X, np.array(labels))


def empty_table(schema: Schema) -> Table:
    """Return a table without rows."""
    return Table(np.empty((0, len(schema.attributes)), dtype=object), np.array(schema.ends)[:0])


def _value(attribute: Attribute, *, last: bool) -> Any:
    if isinstance(attribute, Numeric):
        number = attribute.high if last else attribute.low
        return attribute.written(number) if isinstance(attribute, Date) else number
    return attribute.categories[-1 if last else 0]
