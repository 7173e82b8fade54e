"""What stands for each code of an attribute in a table."""

from privet.schema.attribute import Attribute, Categorical
from privet.schema.labels import Label


def labels_of(attribute: Attribute) -> list[Label]:
    """Return what stands for each code in a table: the category, or the middle of the cell."""
    if isinstance(attribute, Categorical):
        return list(attribute.categories)
    return [float(middle) for middle in attribute.middles]
