"""What is public: attributes with their domains, classes, and roughly how many rows there are; tables as codes.

`attribute` and `schema` declare, `infer` reads a schema from rows (a leak), `table` reads any library's tables,
`encoding` turns them into codes, `persons` identifies people.
"""

from privet.schema.attribute import Attribute, Categorical, Label, Numeric
from privet.schema.infer import infer_schema
from privet.schema.schema import Schema

__all__ = ["Attribute", "Categorical", "Label", "Numeric", "Schema", "infer_schema"]
