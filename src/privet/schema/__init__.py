"""What is public: attributes with their domains, classes, and roughly how many rows there are; tables as codes.

`attribute`, `numeric`, `days` and `schema` declare, by the rules of `labels`. `infer` reads a schema
from rows (a leak), or drafts one that `review` goes through, and `acceptance` says who accepted what. `table`
reads any library's tables, `encoding` turns them into codes, by the rule of `labels` for numbers and their text;
`persons` identifies people.
"""

from typing import TYPE_CHECKING

from privet.lazy import lazy_names

if TYPE_CHECKING:
    from privet.schema.attribute import Attribute as Attribute
    from privet.schema.attribute import Categorical as Categorical
    from privet.schema.days import Date as Date
    from privet.schema.infer import infer_schema as infer_schema
    from privet.schema.labels import Label as Label
    from privet.schema.numeric import Numeric as Numeric
    from privet.schema.schema import Schema as Schema
else:
    # Imported on first use: a schema that is read and written needs no compiled kernels.
    _HOMES = {
        "Attribute": "privet.schema.attribute",
        "Categorical": "privet.schema.attribute",
        "Date": "privet.schema.days",
        "Label": "privet.schema.labels",
        "Numeric": "privet.schema.numeric",
        "Schema": "privet.schema.schema",
        "infer_schema": "privet.schema.infer",
    }
    __getattr__, __dir__, __all__ = lazy_names(__name__, _HOMES)
