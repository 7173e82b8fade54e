"""What is public: the attributes with their domains, the classes, and about how many rows there are."""

from privet.schema.attribute import Attribute, Categorical, Label, Numeric
from privet.schema.infer import infer_schema
from privet.schema.schema import Schema

__all__ = ["Attribute", "Categorical", "Label", "Numeric", "Schema", "infer_schema"]
