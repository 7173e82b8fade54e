"""What all models of parties with different columns share: whose the columns are, and tables without those of some."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar

from privet.central.released_classifier import ReleasedClassifier
from privet.errors import DataError, ParameterError
from privet.partitioned.structure import Round
from privet.schema import Schema
from privet.schema.table import as_arrow, as_table, check_present, column_names, columns_of


class SplitColumns(ReleasedClassifier):
    """A model of parties who hold different attributes of the same rows."""

    trust: ClassVar[str] = "each party with its own columns and the class, nobody with the columns of another"
    # The attributes of each party, in the order of the schema.
    parties: Any

    def check_parameters(self) -> float:
        """Refuse a parameter that is out of its range, and return epsilon."""
        if isinstance(self.schema, Schema) and (
            not isinstance(self.parties, Mapping)
            or list(self.parties) != sorted(self.parties)
            or not all(self.parties.values())
            or not all(isinstance(names, list) for names in self.parties.values())
            or [name for names in self.parties.values() for name in names] != list(self.schema.names)
        ):
            raise ParameterError("parties must say which of the schema's attributes each holds, in the schema's order")
        return super().check_parameters()

    def columns_in(self, found: Iterable[str]) -> list[str]:
        """Return the attributes that a prediction uses from a table with the columns ``found``.

        All columns of a party may be absent. If some are present, all must be.
        """
        names = set(found)
        wanted = [name for own in self.parties.values() if names & set(own) for name in own]
        check_present(list(names), wanted or list(self.schema_.names))
        return wanted

    def _completed(self, table: Any) -> Any:
        """Return the table with nulls in the columns of absent parties."""
        table = as_table(table)
        found = column_names(table)
        if found is None:
            return table
        present = self.columns_in(str(name) for name in found)
        if len(present) == self.n_features_in_:
            return table
        import pyarrow as pa

        columns = columns_of(table, present, others_allowed=True)
        known = {name: as_arrow(column, name) for name, column in zip(present, columns, strict=True)}
        sizes = {len(column) for column in known.values()}
        if len(sizes) != 1:
            raise DataError("the table's columns have different lengths; pass one value per row in every column")
        return pa.table({name: known.get(name, pa.nulls(max(sizes))) for name in self.schema_.names})


def joined_schema(parts: Sequence[Round]) -> Schema:
    """Return the schema of all attributes, party after party."""
    attributes = tuple(attribute for part in parts for attribute in part.schema.attributes)
    return replace(parts[0].schema, attributes=attributes)
